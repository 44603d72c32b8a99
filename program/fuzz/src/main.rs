//! Coverage-guided fuzzing of the program's entry point, in the file that is deployed.
//!
//! ```text
//! haggle-fuzz run EXECUTIONS [--workers N] [--seed N] [--corpus DIR] [--logs DIR] [--floor PERCENT]
//! haggle-fuzz replay CASE...
//! ```
//!
//! libFuzzer chooses the cases. What guides it are the branches that the program itself takes in the virtual machine of a
//! validator: [`coverage`] reads them off the machine's trace and counts them where libFuzzer looks. [`laws`] says what must hold
//! after every call; [`world`], [`case`] and [`staging`] what the calls are.

mod campaign;
mod case;
mod chance;
mod coverage;
mod fuzzer;
mod laws;
mod layout;
mod libfuzzer;
mod machine;
mod mutation;
mod solvency;
mod staging;
mod story;
mod tally;
mod tokens;
mod virtual_machine;
mod world;

/// The worlds and the valid calls of the program's own tests.
#[allow(dead_code, unused_imports)]
#[path = "../../haggle/src/tests"]
mod worlds {
    pub(crate) use crate::virtual_machine;
    pub mod scenes;
    pub mod stage;
}

// Where the files of the program's tests look for the program.
use haggle_program::{constants, event, instructions, runtime, schema, state, ID};

use case::{from_hex, Case};
use fuzzer::{Fuzzer, Worker};
use std::path::PathBuf;
use std::process::ExitCode;

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
        "usage: haggle-fuzz run EXECUTIONS [--workers N] [--seed N] [--corpus DIR] [--logs DIR] [--floor PERCENT]\n       \
         haggle-fuzz replay CASE..."
    );
    ExitCode::FAILURE
}

/// The value that follows an option's name.
fn option<T: std::str::FromStr>(arguments: &[String], name: &str) -> Result<Option<T>, String> {
    let Some(at) = arguments.iter().position(|argument| argument == name) else {
        return Ok(None);
    };
    let value = arguments.get(at + 1).and_then(|value| value.parse().ok());
    value.map(Some).ok_or(format!("{name} wants a value"))
}

fn campaign_of(arguments: &[String]) -> Result<campaign::Campaign, String> {
    let executions = arguments.first().and_then(|first| first.parse().ok());
    let cores = std::thread::available_parallelism().map_or(1, |cores| cores.get() as u64);
    let logs: PathBuf = option(arguments, "--logs")?.unwrap_or_else(|| {
        std::env::temp_dir().join(format!("haggle-fuzz-{}", std::process::id()))
    });
    Ok(campaign::Campaign {
        executions: executions.ok_or("how many executions?")?,
        workers: option(arguments, "--workers")?.unwrap_or(cores).max(1),
        seed: option(arguments, "--seed")?.unwrap_or_else(|| std::process::id().max(1)),
        corpus: option(arguments, "--corpus")?.unwrap_or_else(|| logs.join("corpus")),
        floor: option(arguments, "--floor")?.unwrap_or(0),
        logs,
    })
}

fn run(arguments: &[String]) -> ExitCode {
    match campaign_of(arguments) {
        Ok(campaign) => campaign.run(world::Worlds::new().calls.len()),
        Err(error) => {
            eprintln!("fuzz: {error}");
            usage()
        }
    }
}

/// Runs cases that are given as hexadecimal digits, and tells the story of each.
fn replay(arguments: &[String]) -> ExitCode {
    let mut fuzzer = Fuzzer::new();
    let mut code = ExitCode::SUCCESS;
    for digits in arguments {
        let Some(bytes) = from_hex(digits) else {
            eprintln!("fuzz: {digits} are not hexadecimal digits");
            return ExitCode::FAILURE;
        };
        let case = Case::decode(&bytes);
        match fuzzer.run(&case) {
            Ok((_, outcome)) => {
                let text = format!("none; the call ends with {outcome:?}");
                println!("{}", story::tell(&fuzzer.worlds, &case, &text));
            }
            Err(law) => {
                println!("{}", story::tell(&fuzzer.worlds, &case, &law));
                code = ExitCode::FAILURE;
            }
        }
    }
    code
}

/// What [`campaign::Campaign`] starts: the file for the tally, then libFuzzer's arguments.
fn work(arguments: &[String]) -> ExitCode {
    let Some((tally, rest)) = arguments.split_first() else {
        return usage();
    };
    let mut given = vec!["haggle-fuzz".to_owned()];
    given.extend_from_slice(rest);
    libfuzzer::drive(Box::new(Worker::new(tally.into())), &given)
}
