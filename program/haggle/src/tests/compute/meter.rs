//! Runs calls and keeps what they cost.

use super::super::stage::{Call, Stage};
use crate::runtime::programs;

/// How a case counts.
#[derive(Clone, Copy, PartialEq)]
pub enum Weight {
    /// The one that a user meets.
    Typical,
    /// One of the others that best and worst are chosen from.
    Other,
    /// Beyond the conditions of the ceilings: listed on its own, with what it may cost more than the ceiling; where there is
    /// no such figure, luck or the generosity of others decides, and nothing is asked.
    Apart(Option<u64>),
}

/// What a case has cost.
pub struct Measured {
    /// The instruction's name.
    pub instruction: &'static str,
    /// What is particular to the case.
    pub case: &'static str,
    /// How it counts.
    pub weight: Weight,
    /// Compute units, all included.
    pub units: u64,
    /// What the token program used of them.
    pub tokens: u64,
}

impl Measured {
    /// Without what the token program used.
    pub fn net(&self) -> u64 {
        self.units - self.tokens
    }
}

/// Everything that has been measured so far.
#[derive(Default)]
pub struct Meter(pub Vec<Measured>);

impl Meter {
    /// Runs a call on a copy of the stage.
    #[track_caller]
    pub fn measure(&mut self, weight: Weight, case: &'static str, stage: &Stage, call: &Call) {
        let outcome = stage.clone().run(call);
        outcome.succeeds();
        self.0.push(Measured {
            instruction: call.row.name,
            case,
            weight,
            units: outcome.units,
            tokens: outcome
                .logs
                .iter()
                .filter_map(|line| used_by_tokens(line))
                .sum(),
        });
    }
}

/// The compute units in a line like "Program Tokenkeg... consumed 452 of 198000 compute units".
fn used_by_tokens(line: &str) -> Option<u64> {
    let rest = [programs::TOKEN, programs::TOKEN_2022]
        .iter()
        .find_map(|program| line.strip_prefix(&format!("Program {program} consumed ")))?;
    rest.split(' ').next()?.parse().ok()
}
