//! Runs calls and divides their compute units.

use super::super::fixture::{Call, Fixture};
use super::super::virtual_machine;
use crate::ID;
use mollusk_svm::Mollusk;
use std::cell::RefCell;

/// The compute units that the runtime charges for any call of the system program.
const SYSTEM_PROGRAM: u64 = 150;

/// The case's compute units.
pub struct Measured {
    /// The instruction's name.
    pub instruction: &'static str,
    /// The case.
    pub case: String,
    /// True if the case is beyond the conditions of the worst case: another bump, or lamports sent ahead.
    pub is_beyond: bool,
    /// All compute units.
    pub units: u64,
    /// Calls to other programs: the runtime's charge for each call, and the programs' own units.
    pub calls: u64,
    /// Events: the runtime's charge for logging them.
    pub events: u64,
    /// Instructions that the program itself executes.
    pub ours: u64,
}

impl Measured {
    /// All remaining syscalls: address derivation, hashes, clock and rent, large copies and comparisons.
    pub fn syscalls(&self) -> u64 {
        self.units - self.calls - self.events - self.ours
    }
}

thread_local! {
    /// A machine whose syscalls are free, so that only executed instructions cost compute units.
    static FREE: RefCell<Mollusk> = RefCell::new({
        let mut machine = virtual_machine::machine();
        let budget = &mut machine.compute_budget;
        budget.cpi_bytes_per_unit = u64::MAX;
        for cost in [
            &mut budget.create_program_address_units,
            &mut budget.invoke_units,
            &mut budget.log_64_units,
            &mut budget.log_pubkey_units,
            &mut budget.mem_op_base_cost,
            &mut budget.sha256_base_cost,
            &mut budget.sha256_byte_cost,
            &mut budget.syscall_base_cost,
            &mut budget.sysvar_base_cost,
        ] {
            *cost = 0;
        }
        machine
    });
}

/// Measures a call that succeeds.
#[track_caller]
pub fn measure(case: &str, fixture: &Fixture, call: &Call) -> Measured {
    let outcome = fixture.clone().run(call);
    outcome.succeeds();
    let free = FREE.with_borrow_mut(|machine| fixture.run_on(machine, call));
    free.succeeds();
    let budget = virtual_machine::machine_budget();
    let calls = called(&outcome.logs);
    let events = outcome.events();
    let event_bytes: u64 = events.iter().map(|event| event.len() as u64).sum();
    Measured {
        instruction: call.row.name,
        case: case.to_owned(),
        is_beyond: false,
        units: outcome.units,
        calls: calls.units + calls.count * budget.invoke_units,
        events: events.len() as u64 * 2 * budget.syscall_base_cost + event_bytes,
        // Only the cost of logged bytes is not in the budget.
        ours: free.units - called(&free.logs).units - event_bytes,
    }
}

/// The compute units of successful calls.
#[track_caller]
pub fn units(fixture: &Fixture, call: &Call) -> u64 {
    let outcome = fixture.clone().run(call);
    outcome.succeeds();
    outcome.units
}

/// Calls to other programs.
#[derive(Default)]
struct Called {
    count: u64,
    units: u64,
}

/// The logged calls to other programs.
fn called(logs: &[String]) -> Called {
    let mut called = Called::default();
    let system = format!("Program {} invoke [", crate::runtime::programs::SYSTEM);
    let own = format!("Program {ID} ");
    for line in logs.iter().filter(|line| !line.starts_with(&own)) {
        if line.starts_with("Program ") && line.contains(" invoke [") {
            called.count += 1;
            if line.starts_with(&system) {
                called.units += SYSTEM_PROGRAM;
            }
        }
        if let Some((_, rest)) = line.split_once(" consumed ") {
            let units = rest.split(' ').next().expect("a number follows");
            called.units += units.parse::<u64>().expect("a number follows");
        }
    }
    called
}
