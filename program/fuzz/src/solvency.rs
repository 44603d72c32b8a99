//! What a negotiation's vault owes, by the rule of the documents: while it is open the escrow; once a price is agreed on decay, fee on
//! what has been paid, and the milestones that are not decided; in the end decay and fee. The seller's bond while it is held, and what is
//! kept for either party, come on top.

use haggle_program::state::{BondState, Negotiation, NegotiationStatus};

const BPS: u128 = 10_000;

/// In base units.
pub fn owed(negotiation: &Negotiation) -> u128 {
    let escrow = wide(negotiation.escrow_amount);
    let earned = escrow.saturating_sub(wide(negotiation.effective_escrow))
        + wide(negotiation.paid_gross) * u128::from(negotiation.protocol_fee_bps) / BPS;
    let of_escrow = match negotiation.status {
        NegotiationStatus::Created | NegotiationStatus::Proposed | NegotiationStatus::Countered => {
            escrow
        }
        NegotiationStatus::Accepted => earned + undecided(negotiation),
        _ => earned,
    };
    let bond = if negotiation.bond_state == BondState::Held {
        wide(negotiation.bond_required)
    } else {
        0
    };
    of_escrow + bond + wide(negotiation.claimable_buyer) + wide(negotiation.claimable_seller)
}

fn wide(amount: u64) -> u128 {
    amount.into()
}

/// The tranches that are not decided: the price less those that are, each rounded down.
fn undecided(negotiation: &Negotiation) -> u128 {
    let price = wide(negotiation.settled_amount);
    let shares = negotiation.milestone_bps;
    let count = usize::from(negotiation.milestone_count).min(shares.len());
    let decided: u128 = (0..count)
        .filter(|index| negotiation.milestones_decided & (1 << index) != 0)
        .map(|index| price * u128::from(shares[index]) / BPS)
        .sum();
    price.saturating_sub(decided)
}
