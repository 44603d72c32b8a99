//! Worker processes driven by libFuzzer.

use crate::case::{hex, Case};
use crate::fuzzer::Fuzzer;
use crate::libfuzzer::{leave, mutate_raw, Target};
use crate::mutation::{cross, mutate};
use crate::report;
use crate::rng::Rng;
use crate::stats::Stats;
use std::path::PathBuf;
use std::sync::{Mutex, MutexGuard};
use std::time::{Duration, Instant};

/// The time between writes of the worker's statistics.
const REPORT_EVERY: Duration = Duration::from_secs(1);

/// A worker process driven by libFuzzer.
pub struct Worker {
    state: Mutex<State>,
    executions: u64,
    stats: PathBuf,
}

struct State {
    fuzzer: Fuzzer,
    stats: Stats,
    reported: Instant,
}

impl Worker {
    /// A worker that ends after this many executions of the program and writes statistics to a file.
    pub fn new(executions: u64, stats: PathBuf) -> Self {
        Self {
            state: Mutex::new(State {
                fuzzer: Fuzzer::new(),
                stats: Stats::default(),
                reported: Instant::now(),
            }),
            executions,
            stats,
        }
    }

    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().expect("a panic ends the process")
    }

    fn report(&self, state: &mut State) {
        state.stats.seen = state.fuzzer.seen().to_vec();
        state.reported = Instant::now();
        if let Err(error) = state.stats.write(&self.stats) {
            eprintln!("{}: {error}", self.stats.display());
        }
    }
}

impl Target for Worker {
    fn run(&self, bytes: &[u8]) {
        let state = &mut *self.state();
        let case = Case::decode(bytes);
        let stats = &mut state.stats;
        stats.events.cases += 1;
        let result = state
            .fuzzer
            .run(&case, &mut |observed| stats.count(observed));
        if result.is_err() {
            let smallest = state.fuzzer.shrink(&case);
            eprintln!("{}", report::describe(&mut state.fuzzer, &smallest));
            state.stats.violation = Some(hex(&smallest.encode()));
            self.report(state);
            leave(report::VIOLATION);
        }
        if state.stats.executions >= self.executions {
            self.report(state);
            leave(0);
        }
        if state.stats.events.cases.is_multiple_of(64) && state.reported.elapsed() > REPORT_EVERY {
            self.report(state);
        }
    }

    fn mutate(&self, case: &[u8], most: usize, seed: u32) -> Vec<u8> {
        let mut case = Case::decode(case);
        let mut rng = Rng::new(seed.into());
        let environments = &self.state().fuzzer.environments;
        mutate(&mut case, environments, &mut rng, &mut mutate_raw);
        fitting(case, most)
    }

    fn cross(&self, one: &[u8], other: &[u8], most: usize, seed: u32) -> Vec<u8> {
        let mut rng = Rng::new(seed.into());
        let (one, other) = (Case::decode(one), Case::decode(other));
        fitting(cross(&one, &other, &mut rng), most)
    }

    fn end(&self) {
        self.report(&mut self.state());
    }
}

/// The case's bytes, without the last operations if they are too many.
fn fitting(mut case: Case, most: usize) -> Vec<u8> {
    loop {
        let bytes = case.encode();
        if bytes.len() <= most || case.ops.pop().is_none() {
            return bytes;
        }
    }
}
