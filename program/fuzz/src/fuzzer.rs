//! Runs cases and keeps count.

use crate::case::{hex, Case};
use crate::chance::Chance;
use crate::coverage::count_outcome;
use crate::laws::{judge, Outcome};
use crate::libfuzzer::{leave, mutate_raw, Target};
use crate::machine::Machine;
use crate::mutation::{cross, mutate};
use crate::staging::Staged;
use crate::story;
use crate::tally::Tally;
use crate::world::Worlds;
use haggle_program::instructions::INSTRUCTIONS;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// How often a worker writes down what it has counted.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// Cases can be run in it.
pub struct Fuzzer {
    /// The worlds and the valid calls.
    pub worlds: Worlds,
    machine: Machine,
    seen: Vec<bool>,
}

impl Fuzzer {
    /// Makes the worlds and loads the program.
    pub fn new() -> Self {
        let worlds = Worlds::new();
        let machine = Machine::new();
        let seen = vec![false; machine.directions()];
        Self {
            worlds,
            machine,
            seen,
        }
    }

    /// The directions that the program's branches have taken so far.
    pub fn seen(&self) -> &[bool] {
        &self.seen
    }

    /// Runs a case.
    ///
    /// # Errors
    /// The law that it broke.
    pub fn run(&mut self, case: &Case) -> Result<(Option<&'static str>, Outcome), String> {
        let staged = case.stage(&self.worlds);
        let run = self.machine.run(&staged.call, &mut self.seen);
        let outcome = judge(&staged, &run)?;
        count_outcome(place_of(&staged, outcome));
        Ok((staged.row.map(|row| row.name), outcome))
    }

    /// Takes changes away from a case for as long as it breaks the same law.
    pub fn shrink(&mut self, case: &Case) -> Case {
        let law = |broken: Result<_, String>| broken.err().map(|text| kind_of(&text).to_owned());
        let wanted = law(self.run(case));
        let mut smallest = case.clone();
        let mut at = 0;
        while at < smallest.edits.len() {
            let mut smaller = smallest.clone();
            smaller.edits.remove(at);
            if law(self.run(&smaller)) == wanted {
                (smallest, at) = (smaller, 0);
            } else {
                at += 1;
            }
        }
        smallest
    }
}

/// The part of a broken law's description that does not name an account or an amount.
fn kind_of(law: &str) -> &str {
    law.split(|letter: char| letter.is_ascii_digit() || letter.is_ascii_uppercase())
        .next()
        .unwrap_or(law)
}

/// A number for what an instruction answered: libFuzzer keeps the first case of each.
fn place_of(staged: &Staged<'_>, outcome: Outcome) -> usize {
    const ANSWERS: usize = 64;
    let row = staged.row.map_or(INSTRUCTIONS.len(), |named| {
        let mut rows = INSTRUCTIONS.iter();
        rows.position(|row| row.name == named.name).unwrap_or(0)
    });
    let answer = match outcome {
        Outcome::Succeeded => 0,
        Outcome::Refused => 1,
        Outcome::Impossible => 2,
        Outcome::Returned(code) => 3 + (code as usize % 1_000) % (ANSWERS - 3),
    };
    row * ANSWERS + answer
}

/// A process that libFuzzer drives.
pub struct Worker {
    state: Mutex<State>,
    tally: PathBuf,
}

struct State {
    fuzzer: Fuzzer,
    tally: Tally,
    reported: Instant,
}

impl Worker {
    /// It writes what it counts to the file `tally`.
    pub fn new(tally: PathBuf) -> Self {
        Self {
            state: Mutex::new(State {
                fuzzer: Fuzzer::new(),
                tally: Tally::default(),
                reported: Instant::now(),
            }),
            tally,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic ends the process")
    }

    fn report(&self, state: &mut State) {
        state.tally.seen = state.fuzzer.seen().to_vec();
        state.reported = Instant::now();
        if let Err(error) = state.tally.write(&self.tally) {
            eprintln!("{}: {error}", self.tally.display());
        }
    }
}

impl Target for Worker {
    fn run(&self, bytes: &[u8]) {
        let state = &mut *self.state();
        let case = Case::decode(bytes);
        match state.fuzzer.run(&case) {
            Ok((row, outcome)) => state.tally.count(row, outcome),
            Err(law) => {
                state.tally.executions += 1;
                let smallest = state.fuzzer.shrink(&case);
                let found = state.fuzzer.run(&smallest).err().unwrap_or(law);
                eprintln!("{}", story::tell(&state.fuzzer.worlds, &smallest, &found));
                state.tally.broken = Some(hex(&smallest.encode()));
                self.report(state);
                leave(story::BROKEN);
            }
        }
        if state.tally.executions.is_multiple_of(256) && state.reported.elapsed() > REPORT_EVERY {
            self.report(state);
        }
    }

    fn mutate(&self, case: &[u8], most: usize, seed: u32) -> Vec<u8> {
        let mut case = Case::decode(case);
        let mut chance = Chance::new(seed.into());
        let worlds = &self.state().fuzzer.worlds;
        mutate(&mut case, worlds, &mut chance, &mut mutate_raw);
        fitting(case, most)
    }

    fn cross(&self, one: &[u8], other: &[u8], most: usize, seed: u32) -> Vec<u8> {
        let mut chance = Chance::new(seed.into());
        let (one, other) = (Case::decode(one), Case::decode(other));
        fitting(cross(&one, &other, &mut chance), most)
    }

    fn end(&self) {
        self.report(&mut self.state());
    }
}

/// The case's bytes, without its last changes when they are too many.
fn fitting(mut case: Case, most: usize) -> Vec<u8> {
    loop {
        let bytes = case.encode();
        if bytes.len() <= most || case.edits.pop().is_none() {
            return bytes;
        }
    }
}
