//! What a worker counts, in a file that the process that started it reads.

use crate::laws::Outcome;
use std::collections::BTreeMap;
use std::path::Path;
use std::{fs, io};

/// What has been counted.
#[derive(Default, Clone, PartialEq, Debug)]
pub struct Tally {
    /// How many cases were run.
    pub executions: u64,
    /// How often each instruction succeeded.
    pub succeeded: BTreeMap<String, u64>,
    /// How often the program returned each error.
    pub returned: BTreeMap<u32, u64>,
    /// How often a program that was called refused.
    pub refused: u64,
    /// How often the runtime refused on accounts that no chain can hold.
    pub impossible: u64,
    /// The directions that the program's branches have taken.
    pub seen: Vec<bool>,
    /// The case that broke a law, in hexadecimal digits.
    pub broken: Option<String>,
}

impl Tally {
    /// Counts a case.
    pub fn count(&mut self, instruction: Option<&str>, outcome: Outcome) {
        self.executions += 1;
        match outcome {
            Outcome::Succeeded => {
                let name = instruction.unwrap_or_default();
                // Most cases find the name there already.
                match self.succeeded.get_mut(name) {
                    Some(count) => *count += 1,
                    None => {
                        self.succeeded.insert(name.to_owned(), 1);
                    }
                }
            }
            Outcome::Returned(code) => *self.returned.entry(code).or_default() += 1,
            Outcome::Refused => self.refused += 1,
            Outcome::Impossible => self.impossible += 1,
        }
    }

    /// Adds what another process has counted.
    pub fn add(&mut self, other: &Self) {
        self.executions += other.executions;
        for (name, count) in &other.succeeded {
            *self.succeeded.entry(name.clone()).or_default() += count;
        }
        for (code, count) in &other.returned {
            *self.returned.entry(*code).or_default() += count;
        }
        self.refused += other.refused;
        self.impossible += other.impossible;
        self.seen
            .resize(self.seen.len().max(other.seen.len()), false);
        for (seen, also) in self.seen.iter_mut().zip(&other.seen) {
            *seen |= also;
        }
        self.broken = self.broken.take().or_else(|| other.broken.clone());
    }

    /// How many directions have been seen.
    pub fn covered(&self) -> usize {
        self.seen.iter().filter(|seen| **seen).count()
    }

    /// Writes the tally so that a reader finds all of it or the one before.
    ///
    /// # Errors
    /// When the file cannot be written.
    pub fn write(&self, path: &Path) -> io::Result<()> {
        let mut lines = vec![
            format!("executions {}", self.executions),
            format!("refused {}", self.refused),
            format!("impossible {}", self.impossible),
        ];
        for (name, count) in &self.succeeded {
            lines.push(format!("succeeded {name} {count}"));
        }
        for (code, count) in &self.returned {
            lines.push(format!("returned {code} {count}"));
        }
        if let Some(case) = &self.broken {
            lines.push(format!("broken {case}"));
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

    /// Reads what has been written; nothing has been counted where there is no file yet.
    pub fn read(path: &Path) -> Self {
        let mut tally = Self::default();
        for line in fs::read_to_string(path).unwrap_or_default().lines() {
            let words: Vec<_> = line.split(' ').collect();
            let number = |word: &str| word.parse().unwrap_or(0);
            match words[..] {
                ["executions", count] => tally.executions = number(count),
                ["refused", count] => tally.refused = number(count),
                ["impossible", count] => tally.impossible = number(count),
                ["succeeded", name, count] => {
                    tally.succeeded.insert(name.to_owned(), number(count));
                }
                ["returned", code, count] => {
                    tally.returned.insert(number(code) as u32, number(count));
                }
                ["broken", case] => tally.broken = Some(case.to_owned()),
                ["seen", seen] => tally.seen = seen.chars().map(|mark| mark == '1').collect(),
                _ => {}
            }
        }
        tally
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tally_reads_back_the_same_and_adds_up() {
        let mut tally = Tally::default();
        tally.count(Some("submit_offer"), Outcome::Succeeded);
        tally.count(Some("submit_offer"), Outcome::Returned(6002));
        tally.count(None, Outcome::Returned(101));
        tally.count(Some("accept_offer"), Outcome::Refused);
        tally.count(Some("accept_offer"), Outcome::Impossible);
        tally.seen = vec![true, false, true];
        tally.broken = Some("00ff".to_owned());
        let folder = std::env::temp_dir().join(format!("haggle-tally-{}", std::process::id()));
        fs::create_dir_all(&folder).unwrap();
        let path = folder.join("tally");
        assert_eq!(Tally::read(&path), Tally::default());
        tally.write(&path).unwrap();
        assert_eq!(Tally::read(&path), tally);
        fs::remove_dir_all(folder).unwrap();

        let mut sum = Tally {
            seen: vec![false, true],
            ..Tally::default()
        };
        sum.add(&tally);
        sum.add(&tally);
        assert_eq!((sum.executions, sum.covered()), (10, 3));
        assert_eq!(sum.succeeded["submit_offer"], 2);
    }
}
