//! Case descriptions: calls, outcomes, and the violated invariant.

use crate::call::{Origin, Prepared};
use crate::case::{hex, Case};
use crate::environment::Environments;
use crate::fuzzer::Fuzzer;
use solana_account::ReadableAccount;
use std::fmt::Write;

/// The exit status for workers that found a violation.
pub const VIOLATION: i32 = 77;

/// The first words when describing a case with a violation.
pub const HEADLINE: &str = "Invariant violated: ";

/// Runs a case and describes it.
pub fn describe(fuzzer: &mut Fuzzer, case: &Case) -> String {
    let mut runs = Vec::new();
    let result = fuzzer.run(case, &mut |observed| {
        let outcome = match observed.outcome {
            Ok(outcome) if observed.prepared.withheld => format!("withheld; now {outcome:?}"),
            Ok(outcome) => format!("{outcome:?}"),
            Err(_) => "violates the invariant".to_owned(),
        };
        runs.push((Call::of(observed.prepared), outcome));
    });
    let environments = &fuzzer.environments;
    let mut text = match &result {
        Ok(()) => "No invariant violated\n".to_owned(),
        Err(violation) => format!("{HEADLINE}{violation}\n"),
    };
    let mut line = |part: String| writeln!(text, "{part}").expect("a string has no limit");
    line(format!(
        "  environment {}",
        environments.environment(case.environment).name
    ));
    let last = runs.len().saturating_sub(1);
    let ops = case.calls();
    for (number, (call, outcome)) in runs.iter().enumerate() {
        line(format!(
            "  call {number}      {} from {}: {outcome}",
            call.row,
            call.origin(environments)
        ));
        for op in ops.get(number).into_iter().flat_map(|ops| ops.iter()) {
            line(format!("    {op}"));
        }
        if number == last {
            call.lines(environments).into_iter().for_each(&mut line);
        }
    }
    line(format!(
        "  replay      make fuzz REPLAY={}",
        hex(&case.encode())
    ));
    // Violations contain addresses; their names follow.
    if let Err(violation) = &result {
        for (address, name) in &environments.names {
            if violation.contains(&address.to_string()) {
                line(format!("  {address} is {name}"));
            }
        }
    }
    text
}

/// The call details needed for the description.
struct Call {
    row: &'static str,
    origin: Origin,
    data: Vec<u8>,
    accounts: Vec<Account>,
    now: i64,
    rent: (u64, f64),
    possible: bool,
}

struct Account {
    name: &'static str,
    address: pinocchio::Address,
    signs: bool,
    writable: bool,
    lamports: u64,
    size: usize,
    owner: pinocchio::Address,
}

impl Call {
    fn of(prepared: &Prepared) -> Self {
        let call = &prepared.call;
        let entries = call.list.iter().enumerate();
        Self {
            row: prepared.row.map_or("no known instruction", |row| row.name),
            origin: prepared.origin,
            data: call.data.clone(),
            accounts: entries
                .map(|(place, (at, signs, writable))| {
                    let (address, account) = &call.accounts[*at];
                    let declared = prepared.row.and_then(|row| row.accounts.get(place));
                    Account {
                        name: declared.map_or("additional", |account| account.name),
                        address: *address,
                        signs: *signs,
                        writable: *writable,
                        lamports: account.lamports(),
                        size: account.data().len(),
                        owner: *account.owner(),
                    }
                })
                .collect(),
            now: call.sysvars.now,
            rent: call.sysvars.rent,
            possible: prepared.possible,
        }
    }

    fn origin(&self, environments: &Environments) -> String {
        match self.origin {
            Origin::Given(call) => format!("the valid call {}", environments.call(call).name),
            Origin::Move => "the negotiation's state".to_owned(),
            Origin::Repeat(index) => format!("call {index}, signed before"),
        }
    }

    fn lines(&self, environments: &Environments) -> Vec<String> {
        let mut lines = vec![format!(
            "  data        {} bytes {}",
            self.data.len(),
            hex(&self.data)
        )];
        for (place, account) in self.accounts.iter().enumerate() {
            lines.push(format!(
                "  {place:>2} {:<26}{}{} {} ({} lamports, {} bytes, of {})",
                account.name,
                if account.signs { "S" } else { "-" },
                if account.writable { "W" } else { "-" },
                environments.name(&account.address),
                account.lamports,
                account.size,
                environments.name(&account.owner),
            ));
        }
        lines.push(format!("  clock       {}, rent {:?}", self.now, self.rent));
        let possible = if self.possible { "yes" } else { "no" };
        lines.push(format!("  a chain can hold these accounts: {possible}"));
        lines
    }
}
