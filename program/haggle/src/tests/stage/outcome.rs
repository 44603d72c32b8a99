//! What came of a call, and what a test asks of it.

use super::fields::differing_fields;
use mollusk_svm::result::ProgramResult;
use pinocchio::error::ProgramError;

/// What came of a call.
pub struct Outcome {
    /// What the program answered.
    pub result: ProgramResult,
    /// The transaction's log.
    pub logs: Vec<String>,
    /// The compute units that were used.
    pub units: u64,
    pub(super) what: String,
}

impl Outcome {
    /// Fails the test unless the call succeeded.
    #[track_caller]
    pub fn succeeds(&self) -> &Self {
        assert_eq!(
            self.result,
            ProgramResult::Success,
            "{}, {} units\n{}",
            self.what,
            self.units,
            self.logs.join("\n")
        );
        self
    }

    /// Fails the test unless the program answered with exactly this error.
    #[track_caller]
    pub fn refused(&self, error: impl Into<ProgramError>) {
        assert_eq!(
            self.result,
            ProgramResult::Failure(error.into()),
            "{}, {} units\n{}",
            self.what,
            self.units,
            self.logs.join("\n")
        );
    }

    /// The number of the program's error, if it answered with one.
    pub fn error_code(&self) -> Option<u32> {
        match self.result {
            ProgramResult::Failure(ProgramError::Custom(code)) => Some(code),
            _ => None,
        }
    }

    /// The events in the log, as they were written.
    pub fn events(&self) -> Vec<Vec<u8>> {
        self.logs
            .iter()
            .filter_map(|line| line.strip_prefix("Program data: "))
            .map(from_base64)
            .collect()
    }

    /// Fails the test unless exactly these events were written, in this order (see [`event`]).
    #[track_caller]
    pub fn emitted(&self, expected: &[Vec<u8>]) -> &Self {
        let found = self.events();
        let names = |events: &[Vec<u8>]| -> Vec<&str> {
            events
                .iter()
                .map(|event| {
                    crate::event::EVENTS
                        .iter()
                        .find(|row| event.starts_with(&row.discriminator))
                        .map_or("?", |row| row.def.name)
                })
                .collect()
        };
        assert_eq!(names(&found), names(expected), "{}", self.what);
        for (found, expected) in found.iter().zip(expected) {
            let row = crate::event::EVENTS
                .iter()
                .find(|row| expected.starts_with(&row.discriminator))
                .expect("an expected event has a row");
            assert_eq!(found.len(), expected.len(), "{}", row.def.name);
            let differing = differing_fields(row, &found[8..], &expected[8..]);
            assert!(
                differing.is_empty(),
                "{} of {}: {differing:#?}",
                row.def.name,
                self.what
            );
        }
        self
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u8> = text
        .bytes()
        .take_while(|digit| *digit != b'=')
        .map(|digit| {
            let value = ALPHABET.iter().position(|letter| *letter == digit);
            value.expect("the log writes base64") as u8
        })
        .collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group
            .iter()
            .fold(0u32, |bits, digit| bits << 6 | u32::from(*digit))
            << (6 * (4 - group.len()));
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}
