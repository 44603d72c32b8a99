//! What must hold after every call.
//!
//! A call may only succeed or return one of the program's own errors, or end with the refusal of a program that it calls. It
//! must not fault, panic, run out of compute units, or do what the runtime forbids. What it returns an error for, it has not
//! touched: no account's data, lamports or owner has been written to. (The refusal of a program that is called comes after the new state
//! has been written, because effects come before calls; there it is the runtime that takes everything back.) When it succeeds,
//! nothing is lost and nobody pays who has not signed.
//!
//! On accounts that no chain can hold ([`Staged::possible`]) a call can run into what the program trusts itself to have written, so
//! there a refusal of the runtime to sign for another address, and an error after the state has been written, are accepted.

use crate::coverage::{End, INVOKE};
use crate::layout::fields;
use crate::machine::Run;
use crate::runtime::programs;
use crate::solvency;
use crate::staging::Staged;
use crate::tokens::{supplies, Tokens};
use crate::world::{config, negotiation};
use crate::worlds::stage::NATIVE_MINT;
use crate::ID;
use haggle_program::error::ERRORS;
use haggle_program::schema::declare::bytes_of;
use haggle_program::state::{Negotiation, NegotiationStatus};
use pinocchio::Address;
use solana_account::{AccountSharedData, ReadableAccount, WritableAccount};
use solana_instruction::error::InstructionError;

/// How a call ended that kept the laws.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// It succeeded.
    Succeeded,
    /// The program returned this error of its own.
    Returned(u32),
    /// A program that it called refused.
    Refused,
    /// The runtime refused, or the program returned something else, on accounts that no chain can hold.
    Impossible,
}

/// The codes of the framework's errors that the program knows.
const FRAMEWORK: [u32; 15] = [
    100, 101, 102, 2000, 2001, 2003, 2006, 3001, 3002, 3003, 3005, 3007, 3008, 3010, 4100,
];

type Law = Result<(), String>;

/// Says how a call ended, or which law it broke.
///
/// # Errors
/// The law that it broke.
pub fn judge(staged: &Staged<'_>, run: &Run) -> Result<Outcome, String> {
    let outcome = ending(staged, run)?;
    match outcome {
        Outcome::Succeeded => success(staged, run)?,
        Outcome::Returned(code) if staged.possible => untouched(staged, run, code)?,
        _ => {}
    }
    Ok(outcome)
}

fn ending(staged: &Staged<'_>, run: &Run) -> Result<Outcome, String> {
    match (run.end, &run.result) {
        (End::Returned(0), Ok(())) => Ok(Outcome::Succeeded),
        (End::Returned(0), Err(error)) => Err(format!(
            "the program succeeds and the runtime forbids what it did: {error:?}"
        )),
        (End::Returned(status), result) => match own_error(status) {
            Some(code) if *result == Err(InstructionError::Custom(code)) => {
                Ok(Outcome::Returned(code))
            }
            _ => Err(format!(
                "the program returns {status:#x}, which is none of its errors: {result:?}"
            )),
        },
        (End::InSyscall(INVOKE), Err(error)) if run.last_call_began && is_refusal(error) => {
            Ok(Outcome::Refused)
        }
        (End::InSyscall(INVOKE), Err(_)) if !staged.possible => Ok(Outcome::Impossible),
        (End::InSyscall(name), result) => Err(format!("{name} does not come back: {result:?}")),
        (End::Fault { at }, result) => Err(format!("instruction {at} faults: {result:?}")),
        (End::NotStarted, result) => Err(format!("the program is not started: {result:?}")),
    }
}

/// The error of the program's own that a returned status stands for. Only custom codes are.
fn own_error(status: u64) -> Option<u32> {
    let code = u32::try_from(status).ok()?;
    let known = ERRORS.iter().any(|row| row.code == code) || FRAMEWORK.contains(&code);
    known.then_some(code)
}

/// Whether an error is one that a program answers with, and not one that the runtime stops it with.
fn is_refusal(error: &InstructionError) -> bool {
    use InstructionError as E;
    matches!(
        error,
        E::Custom(_)
            | E::InvalidArgument
            | E::InvalidInstructionData
            | E::InvalidAccountData
            | E::AccountDataTooSmall
            | E::InsufficientFunds
            | E::IncorrectProgramId
            | E::MissingRequiredSignature
            | E::AccountAlreadyInitialized
            | E::UninitializedAccount
            | E::AccountBorrowFailed
            | E::InvalidSeeds
            | E::AccountNotRentExempt
            | E::IllegalOwner
            | E::InvalidAccountOwner
            | E::ArithmeticOverflow
            | E::Immutable
            | E::IncorrectAuthority
            // The system program's, for a wallet that is not one of its accounts.
            | E::ExternalAccountLamportSpend
    )
}

/// What an error is returned for has not been touched.
fn untouched(staged: &Staged<'_>, run: &Run, code: u32) -> Law {
    let call = &staged.call;
    if let Some(place) = run.headers_written.first() {
        return Err(format!(
            "it returns {code} after it has written to the lamports or the owner of account {place}"
        ));
    }
    for ((address, before), after) in call.accounts.iter().zip(&run.after) {
        if before != after {
            return Err(format!("it returns {code} after it has changed {address}"));
        }
    }
    Ok(())
}

fn success(staged: &Staged<'_>, run: &Run) -> Law {
    let Some(row) = staged.row else {
        return Err("it succeeds with data that names no instruction".to_owned());
    };
    let changes = Changes::of(staged, run);
    changes.only_what_may_change(row.accounts.len())?;
    changes.lamports_are_conserved()?;
    if staged.possible {
        changes.tokens_are_conserved()?;
        changes.nobody_else_pays()?;
        changes.negotiations_keep_their_rules(row.name)?;
    }
    Ok(())
}

/// The accounts of a call before and after it.
struct Changes<'a> {
    accounts: Vec<Change<'a>>,
}

struct Change<'a> {
    address: &'a Address,
    before: &'a AccountSharedData,
    after: &'a AccountSharedData,
    signs: bool,
    writable: bool,
    /// The first place of it in the list of accounts, if it is there at all.
    place: Option<usize>,
}

impl<'a> Changes<'a> {
    fn of(staged: &'a Staged<'_>, run: &'a Run) -> Self {
        let call = &staged.call;
        let accounts = call.accounts.iter().zip(&run.after).enumerate();
        Self {
            accounts: accounts
                .map(|(at, ((address, before), after))| {
                    let place = call.list.iter().position(|entry| entry.0 == at);
                    let (_, signs, writable) = place.map_or((at, false, false), |p| call.list[p]);
                    Change {
                        address,
                        before,
                        after,
                        signs,
                        writable,
                        place,
                    }
                })
                .collect(),
        }
    }

    /// Accounts that are not writable stay as they are, and so does everything behind the accounts of the row. So do the flags
    /// that no program changes.
    fn only_what_may_change(&self, row_length: usize) -> Law {
        for change in &self.accounts {
            let may = change.writable && change.place.is_some_and(|place| place < row_length);
            if change.before.executable() != change.after.executable()
                || (!may && change.before != change.after)
            {
                return Err(format!("{} has changed and may not", change.address));
            }
        }
        Ok(())
    }

    fn lamports_are_conserved(&self) -> Law {
        let sum = |of: fn(&Change<'_>) -> u64| {
            self.accounts
                .iter()
                .map(|change| u128::from(of(change)))
                .sum::<u128>()
        };
        let (before, after) = (
            sum(|change| change.before.lamports()),
            sum(|change| change.after.lamports()),
        );
        if before == after {
            Ok(())
        } else {
            Err(format!("there were {before} lamports and are {after}"))
        }
    }

    /// Wrapped SOL is left to the law of lamports: closing its account makes lamports of tokens.
    fn tokens_are_conserved(&self) -> Law {
        let before = supplies(self.accounts.iter().map(|change| change.before));
        let after = supplies(self.accounts.iter().map(|change| change.after));
        for kind in before.keys().chain(after.keys()) {
            let (was, is) = (before.get(kind), after.get(kind));
            if was != is && kind.1 != NATIVE_MINT {
                return Err(format!(
                    "of the tokens of {} there were {was:?} and are {is:?}",
                    kind.1
                ));
            }
        }
        Ok(())
    }

    /// Only who has signed pays; except that a negotiation pays, and its vault.
    fn nobody_else_pays(&self) -> Law {
        for change in &self.accounts {
            let is_wallet = *change.before.owner() == programs::SYSTEM;
            if is_wallet && !change.signs && change.after.lamports() < change.before.lamports() {
                return Err(format!(
                    "{} has lost lamports and has not signed",
                    change.address
                ));
            }
            let Some(before) = Tokens::of(change.before) else {
                continue;
            };
            let after = Tokens::of(change.after).map_or(0, |tokens| tokens.amount);
            if after < before.amount && !self.has_agreed(&before.owner) {
                return Err(format!(
                    "{} has lost tokens, and its owner {} has not signed",
                    change.address, before.owner
                ));
            }
        }
        Ok(())
    }

    fn has_agreed(&self, owner: &Address) -> bool {
        self.accounts.iter().any(|change| {
            let is_negotiation = negotiation(change.before).is_some() && change.writable;
            change.address == owner && (change.signs || is_negotiation)
        })
    }

    /// At most one negotiation has changed, the one that the instruction is about; what it was created with stays; it
    /// only moves forward; and its vault covers what it owes if it did before.
    fn negotiations_keep_their_rules(&self, instruction: &str) -> Law {
        let mut changed = 0;
        for change in &self.accounts {
            if change.before == change.after {
                continue;
            }
            if let Some(before) = negotiation(change.before) {
                changed += 1;
                match negotiation(change.after) {
                    Some(after) => {
                        self.negotiation_keeps_its_rules(change.address, before, after)?
                    }
                    None if instruction == "close_negotiation" && is_gone(change.after) => {}
                    None => return Err(format!("{} is no negotiation any more", change.address)),
                }
            } else if config(change.before).is_some() && config(change.after).is_none() {
                return Err(format!("{} is no configuration any more", change.address));
            } else if *change.before.owner() == ID && config(change.before).is_none() {
                only_gains_lamports(change)?;
            }
        }
        if changed > 1 {
            return Err(format!("{changed} negotiations have changed"));
        }
        Ok(())
    }

    fn negotiation_keeps_its_rules(
        &self,
        address: &Address,
        before: &Negotiation,
        after: &Negotiation,
    ) -> Law {
        if let Some(term) = changed_term(before, after) {
            return Err(format!("{term} of {address} has changed"));
        }
        if !follows(before.status, after.status) {
            return Err(format!(
                "{address} goes from {:?} to {:?}",
                before.status, after.status
            ));
        }
        let vault = self.accounts.iter().find(|change| {
            Tokens::of(change.before).is_some_and(|tokens| tokens.owner == *address)
                && before.is_vault(address, change.address)
        });
        if let Some(vault) = vault {
            let amount =
                |account| Tokens::of(account).map_or(0, |tokens| u128::from(tokens.amount));
            let (owed, owes) = (solvency::owed(before), solvency::owed(after));
            if amount(vault.before) >= owed && amount(vault.after) < owes {
                return Err(format!(
                    "the vault of {address} held {} for {owed} and holds {} for {owes}",
                    amount(vault.before),
                    amount(vault.after)
                ));
            }
        }
        Ok(())
    }
}

fn is_gone(account: &AccountSharedData) -> bool {
    account.lamports() == 0 && account.data().is_empty()
}

/// Anyone can give an empty account to the program, which does not make it one that the program may take from.
fn only_gains_lamports(change: &Change<'_>) -> Law {
    let mut as_before = change.after.clone();
    as_before.set_lamports(change.before.lamports());
    if as_before == *change.before && change.after.lamports() >= change.before.lamports() {
        Ok(())
    } else {
        Err(format!("{} has lost something", change.address))
    }
}

/// The order of a negotiation's life.
fn follows(before: NegotiationStatus, after: NegotiationStatus) -> bool {
    use NegotiationStatus as S;
    let bargaining = [S::Proposed, S::Countered];
    before == after
        || (before == S::Created && [S::Proposed, S::Expired, S::Rejected].contains(&after))
        || (bargaining.contains(&before) && after != S::Created)
        || (before == S::Accepted && after == S::Settled)
}

/// The fields of a negotiation that instructions change; all others stay as they were created.
const CHANGING: &[&str] = &[
    "status",
    "current_round",
    "current_offer_amount",
    "current_offer_by",
    "offer_side",
    "effective_escrow",
    "global_deadline",
    "last_offer_at",
    "settled_at",
    "settled_amount",
    "buyer_commitment",
    "seller_commitment",
    "zopa_phase",
    "metadata",
    "turn_deadline",
    "pending_extension",
    "bond_state",
    "buyer_price",
    "seller_price",
    "milestones_decided",
    "milestones_claimed",
    "milestones_disputed",
    "claimable_buyer",
    "claimable_seller",
    "paid_gross",
];

/// The name of a field that has changed and should have stayed.
fn changed_term(before: &Negotiation, after: &Negotiation) -> Option<&'static str> {
    fields(Negotiation::RECORD)
        .into_iter()
        .filter(|field| !CHANGING.contains(&field.name))
        .find(|field| bytes_of(before)[field.range()] != bytes_of(after)[field.range()])
        .map(|field| field.name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Bytes, Case, Edit};
    use crate::machine::Machine;
    use crate::world::{scenes_in_both, Worlds};
    use crate::worlds::stage::{in_mint, MINT, MINT_2022};

    struct Bench {
        worlds: Worlds,
        machine: Machine,
        seen: Vec<bool>,
    }

    impl Bench {
        fn new() -> Self {
            let machine = Machine::new();
            Self {
                worlds: Worlds::new(),
                seen: vec![false; machine.directions()],
                machine,
            }
        }

        fn scene(&self, name: &str) -> u8 {
            let found = self.worlds.calls.iter().position(|call| call.name == name);
            found.unwrap_or_else(|| panic!("there is no scene {name}")) as u8
        }

        /// What is said of the case once the run has been changed.
        fn judged(
            &mut self,
            scene: u8,
            edits: &[Edit],
            change: impl FnOnce(&mut Run),
        ) -> Result<Outcome, String> {
            let case = Case {
                world: scene,
                call: scene,
                edits: edits.to_vec(),
            };
            let staged = case.stage(&self.worlds);
            let mut run = self.machine.run(&staged.call, &mut self.seen);
            change(&mut run);
            judge(&staged, &run)
        }
    }

    fn add_tokens(account: &mut AccountSharedData, difference: i64) {
        let amount = Tokens::of(account).expect("a token account").amount;
        let amount = amount.wrapping_add_signed(difference).to_le_bytes();
        account.data_as_mut_slice()[crate::tokens::AMOUNT].copy_from_slice(&amount);
    }

    #[test]
    fn every_valid_call_succeeds_and_leaves_what_mollusk_leaves() {
        let mut bench = Bench::new();
        for (number, (mut scene, name)) in scenes_in_both().into_iter().enumerate() {
            let case = Case {
                world: number as u8,
                call: number as u8,
                edits: Vec::new(),
            };
            let staged = case.stage(&bench.worlds);
            assert!(staged.possible, "{name}");
            let run = bench.machine.run(&staged.call, &mut bench.seen);
            assert_eq!(judge(&staged, &run), Ok(Outcome::Succeeded), "{name}");
            let mint = if name.ends_with("(Token-2022)") {
                MINT_2022
            } else {
                MINT
            };
            in_mint(mint, || {
                scene.stage.run(&scene.call).succeeds();
            });
            for ((address, _), after) in staged.call.accounts.iter().zip(&run.after) {
                let expected = AccountSharedData::from(scene.stage.account(address));
                assert_eq!(after.lamports(), expected.lamports(), "{name}: {address}");
                assert_eq!(after.data(), expected.data(), "{name}: {address}");
            }
        }
    }

    #[test]
    fn an_ending_that_is_not_one_of_the_programs_own_is_found() {
        let mut bench = Bench::new();
        let scene = bench.scene("accept_offer (SPL Token)");
        let failed = Err(InstructionError::ProgramFailedToComplete);
        for (end, result, found) in [
            (End::Fault { at: 7 }, failed.clone(), "faults"),
            (
                End::InSyscall("abort"),
                failed.clone(),
                "does not come back",
            ),
            (End::InSyscall(INVOKE), failed.clone(), "does not come back"),
            (End::NotStarted, failed.clone(), "is not started"),
            (End::Returned(0), failed, "the runtime forbids"),
            (
                End::Returned(5_999),
                Err(InstructionError::Custom(5_999)),
                "none of its errors",
            ),
        ] {
            let law = bench.judged(scene, &[], |run| (run.end, run.result) = (end, result));
            assert!(law.clone().is_err_and(|law| law.contains(found)), "{law:?}");
        }
    }

    #[test]
    fn an_error_after_a_change_is_found() {
        let mut bench = Bench::new();
        let scene = bench.scene("submit_offer (SPL Token)");
        let too_little = [Edit::Data {
            at: 9,
            bytes: Bytes(vec![0; 8]),
        }];
        let low = bench.judged(scene, &too_little, |_| {});
        assert_eq!(low, Ok(Outcome::Returned(6005)));
        for change in [
            |run: &mut Run| run.after[1].data_as_mut_slice()[80] ^= 1,
            |run: &mut Run| run.headers_written.push(1),
        ] {
            let law = bench.judged(scene, &too_little, change);
            assert!(
                law.clone().is_err_and(|law| law.contains("6005 after")),
                "{law:?}"
            );
        }
    }

    #[test]
    fn a_success_that_takes_too_much_is_found() {
        // The order of accept_offer's accounts.
        const NEGOTIATION: usize = 1;
        const VAULT: usize = 2;
        const BUYERS: usize = 3;
        const SELLERS: usize = 4;
        const MINT_ACCOUNT: usize = 5;
        let mut bench = Bench::new();
        let scene = bench.scene("accept_offer (SPL Token)");
        let mut finds = |what: &str, change: fn(&mut [AccountSharedData])| {
            let law = bench.judged(scene, &[], |run| change(&mut run.after));
            assert!(law.clone().is_err_and(|law| law.contains(what)), "{law:?}");
        };
        finds("has changed and may not", |after| {
            after[MINT_ACCOUNT].data_as_mut_slice()[44] = 7;
        });
        finds("lamports", |after| {
            let lamports = after[BUYERS].lamports();
            after[BUYERS].set_lamports(lamports + 1);
        });
        finds("of the tokens", |after| add_tokens(&mut after[SELLERS], 1));
        finds("has lost tokens", |after| {
            add_tokens(&mut after[BUYERS], -30_000_000);
            add_tokens(&mut after[SELLERS], 30_000_000);
        });
        finds("and holds", |after| {
            add_tokens(&mut after[VAULT], -1);
            add_tokens(&mut after[SELLERS], 1);
        });
        finds("buyer of", |after| {
            after[NEGOTIATION].data_as_mut_slice()[8] ^= 1
        });
        finds("goes from", |after| {
            after[NEGOTIATION].data_as_mut_slice()[80] = 0
        });
        finds("no negotiation any more", |after| {
            after[NEGOTIATION].data_as_mut_slice()[0] ^= 1;
        });
    }
}
