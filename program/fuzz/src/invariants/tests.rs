//! Each invariant reports a violation: a valid call's result is changed to violate the invariant.

mod administration;
mod consent;
mod conservation;
mod custody;
mod lifecycle;
mod replay;

use super::*;
use crate::case::{Bytes, Case, Op};
use crate::environment::{starts, Environments};
use crate::fuzzer::sign;
use crate::svm::Svm;
use crate::tokens::{Tokens, AMOUNT};
use solana_account::{AccountSharedData, ReadableAccount, WritableAccount};

struct Bench {
    environments: Environments,
    svm: Svm,
    seen: Vec<bool>,
}

/// A finished call, not yet checked.
struct Sample<'a> {
    prepared: Prepared,
    run: Run,
    chain: Chain<'a>,
}

impl Sample<'_> {
    /// The account's index in the row.
    fn at(&self, account: &str) -> usize {
        let row = self.prepared.row.expect("the data names an instruction");
        let mut accounts = row.accounts.iter();
        let place = accounts.position(|known| known.name == account);
        let place = place.unwrap_or_else(|| panic!("{} has no {account}", row.name));
        self.prepared.call.list[place].0
    }

    fn before(&mut self, account: &str) -> &mut AccountSharedData {
        let at = self.at(account);
        &mut self.prepared.call.accounts[at].1
    }

    fn after(&mut self, account: &str) -> &mut AccountSharedData {
        let at = self.at(account);
        &mut self.run.after[at]
    }

    /// Moves tokens from one account to another in the result.
    fn move_tokens(&mut self, from: &str, to: &str, amount: i64) {
        add_tokens(self.after(from), -amount);
        add_tokens(self.after(to), amount);
    }

    fn verdict(&self) -> Result<Outcome, String> {
        check(&self.prepared, &self.run, &self.chain).map(|(outcome, _)| outcome)
    }
}

impl Bench {
    fn new() -> Self {
        let svm = Svm::new();
        Self {
            environments: Environments::new(),
            seen: vec![false; svm.directions()],
            svm,
        }
    }

    fn scene(&self, name: &str) -> u8 {
        let mut calls = self.environments.calls.iter();
        let found = calls.position(|call| call.name == name);
        found.unwrap_or_else(|| panic!("no scene is called {name}")) as u8
    }

    /// The scene's valid call with the given changes.
    fn case(&self, scene: &str, changes: &[Op]) -> Case {
        let mut case = Case::of_valid_call(self.scene(scene));
        case.ops.extend_from_slice(changes);
        case
    }

    /// The case's last call, already run.
    fn sample(&mut self, case: &Case) -> Sample<'_> {
        let environment = self.environments.environment(case.environment);
        let mut chain = Chain::new(environment);
        let calls = case.calls();
        for (number, ops) in calls.iter().enumerate() {
            let prepared = crate::call::prepare(&self.environments, &chain, ops);
            let prepared = prepared.expect("the call can be prepared");
            prepared.apply_changes(&mut chain);
            let run = self.svm.run(&prepared.call, &mut self.seen);
            if number + 1 == calls.len() {
                return Sample {
                    prepared,
                    run,
                    chain,
                };
            }
            let checked = check(&prepared, &run, &chain);
            let (_, effect) = checked.expect("no invariant is violated");
            let signed = sign(&prepared, &chain, effect.as_ref());
            if effect.is_some() && !prepared.withheld {
                chain.commit(&prepared.call.accounts, &run);
            }
            chain.signed.push(signed);
        }
        panic!("the case has no call");
    }

    /// Requires that applying `change` to a valid call or the result violates an invariant with these words.
    #[track_caller]
    fn finds(&mut self, scene: &str, words: &str, change: impl FnOnce(&mut Sample<'_>)) {
        let case = self.case(scene, &[]);
        self.finds_in(&case, words, change);
    }

    #[track_caller]
    fn finds_in(&mut self, case: &Case, words: &str, change: impl FnOnce(&mut Sample<'_>)) {
        let mut sample = self.sample(case);
        assert_eq!(sample.verdict(), Ok(Outcome::Succeeded), "without a change");
        change(&mut sample);
        finds(&sample, words);
    }
}

#[track_caller]
fn finds(sample: &Sample<'_>, words: &str) {
    let verdict = sample.verdict();
    assert!(
        verdict.clone().is_err_and(|text| text.contains(words)),
        "{verdict:?}"
    );
}

fn add_tokens(account: &mut AccountSharedData, difference: i64) {
    let amount = Tokens::of(account).expect("a token account").amount;
    let amount = amount.wrapping_add_signed(difference).to_le_bytes();
    account.data_as_mut_slice()[AMOUNT].copy_from_slice(&amount);
}

fn add_lamports(account: &mut AccountSharedData, difference: i64) {
    account.set_lamports(account.lamports().wrapping_add_signed(difference));
}

/// A move for the first deal, with no waiting. The choice is an index into the instructions suggested by the
/// deal's state.
fn a_move(choice: u8, variant: u8) -> Op {
    Op::Move {
        deal: 0,
        choice,
        variant,
        wait: 1,
    }
}

#[test]
fn every_valid_call_succeeds_with_the_same_result_as_in_mollusk() {
    let mut bench = Bench::new();
    for (number, mut start) in starts().into_iter().enumerate() {
        let name = &start.name;
        let sample = bench.sample(&Case::of_valid_call(number as u8));
        assert!(sample.prepared.possible, "{name}");
        assert_eq!(sample.verdict(), Ok(Outcome::Succeeded), "{name}");
        start.fixture.run(&start.call).succeeds();
        let accounts = sample.prepared.call.accounts.iter();
        for ((address, _), after) in accounts.zip(&sample.run.after) {
            let expected = AccountSharedData::from(start.fixture.account(address));
            assert_eq!(after.lamports(), expected.lamports(), "{name}: {address}");
            assert_eq!(after.data(), expected.data(), "{name}: {address}");
        }
    }
}

#[test]
fn an_end_that_is_not_the_programs_own_is_found() {
    let mut bench = Bench::new();
    let failed = Err(InstructionError::ProgramFailedToComplete);
    for (end, result, found) in [
        (End::Fault { at: 7 }, failed.clone(), "faults"),
        (End::InSyscall("abort"), failed.clone(), "does not return"),
        (End::InSyscall(INVOKE), failed.clone(), "does not return"),
        (End::NotStarted, failed.clone(), "is not started"),
        (End::Returned(0), failed, "the runtime forbids"),
        (
            End::Returned(5_999),
            Err(InstructionError::Custom(5_999)),
            "none of its errors",
        ),
    ] {
        bench.finds("accept_offer (SPL Token)", found, |sample| {
            (sample.run.end, sample.run.result) = (end, result);
        });
    }
}

#[test]
fn an_error_after_a_change_is_found() {
    let mut bench = Bench::new();
    let too_little = Op::Data {
        at: 17,
        bytes: Bytes(vec![0; 8]),
    };
    let case = bench.case("submit_offer (SPL Token)", &[too_little]);
    let changes: [fn(&mut Sample<'_>); 2] = [
        |sample| sample.after("negotiation").data_as_mut_slice()[80] ^= 1,
        |sample| sample.run.headers_written.push(1),
    ];
    for change in changes {
        let mut sample = bench.sample(&case);
        assert_eq!(sample.verdict(), Ok(Outcome::Returned(6005)));
        change(&mut sample);
        finds(&sample, "6005 after");
    }
}

#[test]
fn a_success_without_an_instruction_is_found() {
    let mut bench = Bench::new();
    bench.finds(
        "accept_offer (SPL Token)",
        "names no instruction",
        |sample| {
            sample.prepared.row = None;
        },
    );
}
