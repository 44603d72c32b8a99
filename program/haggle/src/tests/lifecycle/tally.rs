//! What happened how often.

use super::model::Kind;
use std::collections::BTreeMap;
use std::fmt::{Display, Formatter, Result};

/// What every run must have met this often.
const OFTEN: u64 = 100;

/// Every error that a wrong call, a wrong party or a wrong moment can bring about in the nine instructions: those of the
/// framework, those of the protocol (without sealed prices: 6010 and 6011), and those that the system program and the token
/// program pass on.
const ERRORS: [(u32, &str); 31] = [
    (1, "system or token program: too little"),
    (17, "token program: frozen"),
    (100, "InstructionMissing"),
    (101, "InstructionFallbackNotFound"),
    (102, "InstructionDidNotDeserialize"),
    (2000, "ConstraintMut"),
    (2001, "ConstraintHasOne"),
    (2003, "ConstraintRaw"),
    (2006, "ConstraintSeeds"),
    (3001, "AccountDiscriminatorNotFound"),
    (3002, "AccountDiscriminatorMismatch"),
    (3003, "AccountDidNotDeserialize"),
    (3005, "AccountNotEnoughKeys"),
    (3007, "AccountOwnedByWrongProgram"),
    (3008, "InvalidProgramId"),
    (3010, "AccountNotSigner"),
    (4100, "DeclaredProgramIdMismatch"),
    (6000, "InvalidState"),
    (6001, "Unauthorized"),
    (6002, "NotYourTurn"),
    (6003, "Expired"),
    (6004, "ResponseWindowExpired"),
    (6005, "OfferTooLow"),
    (6006, "OfferExceedsEscrow"),
    (6007, "MaxRoundsReached"),
    (6008, "InvalidParams"),
    (6009, "Paused"),
    (6012, "Overflow"),
    (6013, "StaleState"),
    (6014, "UnsupportedMint"),
    (6015, "PayoutPending"),
];

/// Every way a negotiation can go on and end.
const OUTCOMES: [&str; 41] = [
    "configured",
    "created",
    "created where lamports had been sent ahead",
    "created again after closing",
    "invitation accepted",
    "offer by the buyer",
    "offer by the seller",
    "settled, accepted by the buyer",
    "settled, accepted by the seller",
    "settled after the last round",
    "settled for the whole effective escrow",
    "price: delivered to the buyer",
    "price: delivered to the seller",
    "price: kept for the buyer",
    "price: kept for the seller",
    "rejected by the buyer while Created",
    "rejected by the buyer before the first offer",
    "rejected by the buyer while Proposed",
    "rejected by the buyer while Countered",
    "rejected by the seller while Created",
    "rejected by the seller before the first offer",
    "rejected by the seller while Proposed",
    "rejected by the seller while Countered",
    "expired past the deadline while Created",
    "expired past the deadline before the first offer",
    "expired past the deadline while Proposed",
    "expired past the deadline while Countered",
    "expired past the window before the first offer",
    "expired past the window while Proposed",
    "expired past the window while Countered",
    "refund: delivered to the buyer",
    "refund: kept for the buyer",
    "claimed by the buyer",
    "claimed by the seller",
    "closed by the buyer",
    "closed by the seller",
    "closed by a stranger",
    "closed delivering what was kept for the buyer",
    "closed delivering what was kept for the seller",
    "closed with nothing for the treasury",
    "closed with a donation",
];

/// Counts of what happened.
#[derive(Default)]
pub struct Tally {
    pub sequences: u64,
    pub terminal: u64,
    pub instructions: u64,
    pub probes: u64,
    errors: BTreeMap<u32, u64>,
    answers: BTreeMap<(Kind, u32), u64>,
    outcomes: BTreeMap<String, u64>,
}

impl Tally {
    pub fn error(&mut self, kind: Option<Kind>, code: u32) {
        *self.errors.entry(code).or_default() += 1;
        if let Some(kind) = kind {
            *self.answers.entry((kind, code)).or_default() += 1;
        }
    }

    pub fn outcome(&mut self, outcome: String) {
        *self.outcomes.entry(outcome).or_default() += 1;
    }

    pub fn add(&mut self, other: Self) {
        self.sequences += other.sequences;
        self.terminal += other.terminal;
        self.instructions += other.instructions;
        self.probes += other.probes;
        for (code, count) in other.errors {
            *self.errors.entry(code).or_default() += count;
        }
        for (answer, count) in other.answers {
            *self.answers.entry(answer).or_default() += count;
        }
        for (outcome, count) in other.outcomes {
            *self.outcomes.entry(outcome).or_default() += count;
        }
    }

    /// What was expected and is too rare, and what happened and is not in the lists.
    pub fn complaints(&self) -> Vec<String> {
        let mut complaints = vec![];
        for (code, name) in ERRORS {
            let count = self.errors.get(&code).copied().unwrap_or_default();
            if count < OFTEN {
                complaints.push(format!("error {code} {name}: {count} times only"));
            }
        }
        for outcome in OUTCOMES {
            let count = self.outcomes.get(outcome).copied().unwrap_or_default();
            if count < OFTEN {
                complaints.push(format!("{outcome}: {count} times only"));
            }
        }
        let strange = self
            .errors
            .keys()
            .filter(|code| ERRORS.iter().all(|(known, _)| known != *code));
        complaints.extend(strange.map(|code| format!("error {code} is not in the list")));
        let strange = self
            .outcomes
            .keys()
            .filter(|outcome| !OUTCOMES.contains(&outcome.as_str()));
        complaints.extend(strange.map(|outcome| format!("\"{outcome}\" is not in the list")));
        complaints
    }
}

impl Display for Tally {
    fn fmt(&self, page: &mut Formatter) -> Result {
        writeln!(
            page,
            "{} sequences, {} with an end, {} instructions, {} probes on copies",
            self.sequences, self.terminal, self.instructions, self.probes
        )?;
        writeln!(page, "\n   times  outcome")?;
        for (outcome, count) in &self.outcomes {
            writeln!(page, "{count:8}  {outcome}")?;
        }
        writeln!(page, "\n   times  error")?;
        for (code, count) in &self.errors {
            let name = ERRORS
                .iter()
                .find(|(known, _)| known == code)
                .map_or("", |(_, name)| name);
            let by: Vec<_> = self
                .answers
                .iter()
                .filter(|((_, known), _)| known == code)
                .map(|((kind, _), count)| format!("{} {count}", kind.name()))
                .collect();
            writeln!(page, "{count:8}  {code:4} {name}: {}", by.join(", "))?;
        }
        Ok(())
    }
}
