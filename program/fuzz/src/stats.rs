//! Worker statistics, in a file read by the worker's parent process.

use crate::fuzzer::Observed;
use crate::invariants::Outcome;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// Worker statistics.
#[derive(Default, Clone, PartialEq, Debug)]
pub struct Stats {
    /// The executions of the program: the calls of all cases.
    pub executions: u64,
    /// Successes per instruction.
    pub succeeded: BTreeMap<String, u64>,
    /// Occurrences per program error.
    pub returned: BTreeMap<u32, u64>,
    /// Counters of single events.
    pub events: Events,
    /// The directions that the program's branches have taken.
    pub seen: Vec<bool>,
    /// The case that violated an invariant, in hexadecimal digits.
    pub violation: Option<String>,
}

macro_rules! events {
    ($( $(#[doc = $doc:literal])* $name:ident, )*) => {
        /// Counters of single events.
        #[derive(Default, Clone, PartialEq, Debug)]
        pub struct Events {
            $( $(#[doc = $doc])* pub $name: u64, )*
        }

        impl Events {
            fn each(&mut self) -> Vec<(&'static str, &mut u64)> {
                vec![$( (stringify!($name), &mut self.$name) ),*]
            }
        }
    };
}

events! {
    /// The cases.
    cases,
    /// Refusals by a program that the program called.
    refused,
    /// Refusals by the runtime, on accounts impossible on chain.
    impossible,
    /// Repetitions of signed calls.
    repeats,
    /// Repetitions of signed calls after recreating the address's deal.
    repeats_in_later_deals,
    /// Deal creations reusing an earlier deal's address.
    recreations,
    /// Calls that recorded a payout.
    recorded_payouts,
}

impl Stats {
    /// Counts a call.
    pub fn count(&mut self, observed: &Observed<'_>) {
        self.executions += 1;
        let events = &mut self.events;
        events.repeats += u64::from(observed.prepared.repeats.is_some());
        events.repeats_in_later_deals += u64::from(observed.of_earlier_deal);
        events.recreations += u64::from(observed.recreates);
        events.recorded_payouts += u64::from(observed.records);
        if let Ok(outcome) = observed.outcome {
            self.count_outcome(observed.prepared.row.map(|row| row.name), outcome);
        }
    }

    fn count_outcome(&mut self, instruction: Option<&str>, outcome: Outcome) {
        match outcome {
            Outcome::Succeeded => {
                let name = instruction.unwrap_or_default();
                // Usually the name is in the map, and nothing is allocated.
                match self.succeeded.get_mut(name) {
                    Some(count) => *count += 1,
                    None => {
                        self.succeeded.insert(name.to_owned(), 1);
                    }
                }
            }
            Outcome::Returned(code) => *self.returned.entry(code).or_default() += 1,
            Outcome::Refused => self.events.refused += 1,
            Outcome::Impossible => self.events.impossible += 1,
        }
    }

    /// Adds the statistics of another worker.
    pub fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        for (name, count) in &other.succeeded {
            *self.succeeded.entry(name.clone()).or_default() += count;
        }
        for (code, count) in &other.returned {
            *self.returned.entry(*code).or_default() += count;
        }
        let mut others = other.events.clone();
        for ((_, sum), (_, count)) in self.events.each().into_iter().zip(others.each()) {
            *sum += *count;
        }
        self.seen
            .resize(self.seen.len().max(other.seen.len()), false);
        for (seen, also) in self.seen.iter_mut().zip(&other.seen) {
            *seen |= also;
        }
        self.violation = self.violation.take().or_else(|| other.violation.clone());
    }

    /// The number of directions that were taken.
    pub fn covered(&self) -> usize {
        self.seen.iter().filter(|seen| **seen).count()
    }

    /// Writes the statistics. A reader finds either these or the previous ones.
    ///
    /// # Errors
    /// If the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut lines = vec![format!("executions {}", self.executions)];
        for (name, count) in self.events.clone().each() {
            lines.push(format!("event {name} {count}"));
        }
        for (name, count) in &self.succeeded {
            lines.push(format!("succeeded {name} {count}"));
        }
        for (code, count) in &self.returned {
            lines.push(format!("returned {code} {count}"));
        }
        if let Some(case) = &self.violation {
            lines.push(format!("violation {case}"));
        }
        let seen: String = self
            .seen
            .iter()
            .map(|seen| if *seen { '1' } else { '0' })
            .collect();
        lines.push(format!("seen {seen}"));
        let new = path.with_extension("new");
        fs::write(&new, lines.join("\n"))?;
        fs::rename(new, path)
    }

    /// Reads the statistics. If there is no file yet, all counters are 0.
    pub fn read(path: &Path) -> Self {
        let mut stats = Self::default();
        for line in fs::read_to_string(path).unwrap_or_default().lines() {
            let words: Vec<_> = line.split(' ').collect();
            let number = |word: &str| word.parse().unwrap_or(0);
            match words[..] {
                ["executions", count] => stats.executions = number(count),
                ["event", name, count] => {
                    for (known, counter) in stats.events.each() {
                        if known == name {
                            *counter = number(count);
                        }
                    }
                }
                ["succeeded", name, count] => {
                    stats.succeeded.insert(name.to_owned(), number(count));
                }
                ["returned", code, count] => {
                    stats.returned.insert(number(code) as u32, number(count));
                }
                ["violation", case] => stats.violation = Some(case.to_owned()),
                ["seen", seen] => stats.seen = seen.chars().map(|mark| mark == '1').collect(),
                _ => {}
            }
        }
        stats
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn statistics_read_back_the_same_and_add_up() {
        let mut stats = Stats {
            executions: 3,
            ..Stats::default()
        };
        stats.count_outcome(Some("submit_offer"), Outcome::Succeeded);
        stats.count_outcome(Some("submit_offer"), Outcome::Returned(6002));
        stats.count_outcome(None, Outcome::Returned(101));
        stats.count_outcome(Some("accept_offer"), Outcome::Refused);
        stats.count_outcome(Some("accept_offer"), Outcome::Impossible);
        stats.events.repeats_in_later_deals = 7;
        stats.seen = vec![true, false, true];
        stats.violation = Some("00ff".to_owned());
        let folder = std::env::temp_dir().join(format!("haggle-stats-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("stats");
        assert_eq!(Stats::read(&path), Stats::default());
        stats.write(&path).unwrap();
        assert_eq!(Stats::read(&path), stats);
        fs::remove_dir_all(folder).unwrap();

        let mut sum = Stats {
            seen: vec![false, true],
            ..Stats::default()
        };
        sum.add(&stats);
        sum.add(&stats);
        assert_eq!((sum.executions, sum.covered()), (6, 3));
        assert_eq!(sum.succeeded["submit_offer"], 2);
        assert_eq!(sum.events.repeats_in_later_deals, 14);
    }
}
