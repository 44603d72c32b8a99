//! The seller's bond: the share that the milestones forfeit, the arbiter's forfeiture, and the ends reached
//! with no agreement.

mod bargaining;
mod milestones;

use super::fixture::{Deal, Fixture, Outcome, BUYER, SELLER};
use crate::event::BondSettled;
use crate::state::{BondReason, BondState};

/// The outcome's BondSettled events.
pub fn bond_events(outcome: &Outcome) -> Vec<Vec<u8>> {
    let mut events = outcome.events();
    events.retain(|event| event.starts_with(&BondSettled::RECORD.discriminator));
    events
}

/// Requires the bond's state and events when these amounts went to the parties, the buyer's event first.
#[track_caller]
pub fn assert_split(
    fixture: &Fixture,
    deal: &Deal,
    outcome: &Outcome,
    state: BondState,
    parts: [u64; 2],
    reason: BondReason,
) {
    assert_eq!(fixture.negotiation(deal).bond_state, state);
    let expected: Vec<_> = [BUYER, SELLER]
        .into_iter()
        .zip(parts)
        .filter(|(_, part)| *part > 0)
        .map(|(party, part)| fixture.bond_event(deal, party, part, reason))
        .collect();
    assert_eq!(bond_events(outcome), expected);
    assert!(outcome.events().ends_with(&expected));
}
