//! Coverage-guided fuzzing of the program's entry point, in the ELF that is deployed.
//!
//! ```text
//! haggle-fuzz run EXECUTIONS [--workers N] [--seed N] [--corpus DIR] [--logs DIR] [--floor PERCENT]
//! haggle-fuzz replay CASE...
//! ```
//!
//! A [`case`] is a short scenario: calls on a single [`environment`]'s accounts, which [`call`] and [`moves`]
//! build and the [`svm`] runs. After every call the [`invariants`] are checked.
//!
//! libFuzzer chooses and mutates the cases. It keeps a case that reaches something new: a program branch
//! direction ([`coverage`]), or a new movement of money ([`guidance`]). The [`mutation`] gives an adversary
//! the means of real adversaries: delegates and close authorities on other people's token accounts, signed
//! calls that it can send later, and sessions that are created again.

mod accounts;
mod call;
mod campaign;
mod case;
mod chain;
mod coverage;
mod elf;
mod environment;
mod fields;
mod fuzzer;
mod guidance;
mod invariants;
mod libfuzzer;
mod moves;
mod mutation;
mod report;
mod rng;
mod stats;
mod svm;
mod tokens;
mod worker;

/// The fixtures and the valid calls of the program's own tests.
#[allow(dead_code, unused_imports)]
#[path = "../../haggle/src/tests"]
mod fixtures {
    pub(crate) use crate::elf as virtual_machine;
    pub mod fixture;
    pub mod scenes;
}

// The paths that program test files use to refer to the program.
use haggle_program::{constants, event, instructions, runtime, schema, state, ID};

use case::{from_hex, Case};
use fuzzer::Fuzzer;
use std::path::PathBuf;
use std::process::ExitCode;
use worker::Worker;

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match arguments.split_first() {
        Some((command, rest)) if command == "run" => run(rest),
        Some((command, rest)) if command == "replay" => replay(rest),
        Some((command, rest)) if command == "worker" => work(rest),
        _ => usage(),
    }
}

fn usage() -> ExitCode {
    eprintln!(
        "usage: haggle-fuzz run EXECUTIONS [--workers N] [--seed N] [--corpus DIR] [--logs DIR] \
         [--floor PERCENT]\n       haggle-fuzz replay CASE..."
    );
    ExitCode::FAILURE
}

/// The value behind an option's name.
fn option<T: std::str::FromStr>(arguments: &[String], name: &str) -> Result<Option<T>, String> {
    let Some(at) = arguments.iter().position(|argument| argument == name) else {
        return Ok(None);
    };
    let value = arguments.get(at + 1).and_then(|value| value.parse().ok());
    value
        .map(Some)
        .ok_or(format!("{name}: value missing or invalid"))
}

fn campaign_of(arguments: &[String]) -> Result<campaign::Campaign, String> {
    let executions = arguments.first().and_then(|first| first.parse().ok());
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let logs: PathBuf = option(arguments, "--logs")?.unwrap_or_else(|| {
        std::env::temp_dir().join(format!("haggle-fuzz-{}", std::process::id()))
    });
    Ok(campaign::Campaign {
        executions: executions.ok_or("EXECUTIONS: number missing or invalid")?,
        workers: option(arguments, "--workers")?.unwrap_or(cores).max(1),
        seed: option(arguments, "--seed")?.unwrap_or_else(|| std::process::id().max(1)),
        corpus: option(arguments, "--corpus")?.unwrap_or_else(|| logs.join("corpus")),
        floor: option(arguments, "--floor")?.unwrap_or(0),
        logs,
    })
}

fn run(arguments: &[String]) -> ExitCode {
    match campaign_of(arguments) {
        Ok(campaign) => campaign.run(environment::Environments::new().calls.len()),
        Err(error) => {
            eprintln!("fuzz: {error}");
            usage()
        }
    }
}

/// Runs cases, given as hexadecimal digits, and describes each.
fn replay(arguments: &[String]) -> ExitCode {
    let mut fuzzer = Fuzzer::new();
    let mut code = ExitCode::SUCCESS;
    for digits in arguments {
        let Some(bytes) = from_hex(digits) else {
            eprintln!("fuzz: {digits}: not hexadecimal digits");
            return ExitCode::FAILURE;
        };
        let case = Case::decode(&bytes);
        if fuzzer.run(&case, &mut |_| {}).is_err() {
            code = ExitCode::FAILURE;
        }
        println!("{}", report::describe(&mut fuzzer, &case));
    }
    code
}

/// The worker started by [`campaign::Campaign`]. Arguments: the number of executions, the file for the
/// statistics, then libFuzzer's.
fn work(arguments: &[String]) -> ExitCode {
    let [executions, stats, rest @ ..] = arguments else {
        return usage();
    };
    let Ok(executions) = executions.parse() else {
        return usage();
    };
    let mut given = vec!["haggle-fuzz".to_owned()];
    given.extend_from_slice(rest);
    libfuzzer::drive(Box::new(Worker::new(executions, stats.into())), &given)
}
