//! The sum owed by a negotiation's vault, by the documented rule: while the negotiation is open, the escrow;
//! after the agreement on a price, the decay, the fee on the paid part, and the undecided milestones; in the
//! end, decay and fee. The seller's bond while it is held, and recorded payouts, are added.

use haggle_program::state::{BondState, Negotiation, NegotiationStatus};

/// Basis points of the whole.
pub const BPS: u128 = 10_000;

/// The sum (base units).
pub fn owed(negotiation: &Negotiation) -> u128 {
    let escrow = wide(negotiation.escrow_amount);
    let earned = decay(negotiation) + fee(negotiation, wide(negotiation.paid_gross));
    let of_escrow = match negotiation.status {
        NegotiationStatus::Created | NegotiationStatus::Proposed | NegotiationStatus::Countered => {
            escrow
        }
        NegotiationStatus::Accepted => earned + undecided(negotiation),
        _ => earned,
    };
    of_escrow
        + bond(negotiation)
        + wide(negotiation.claimable_buyer)
        + wide(negotiation.claimable_seller)
}

/// The decay of all rounds so far.
pub fn decay(negotiation: &Negotiation) -> u128 {
    wide(negotiation.escrow_amount).saturating_sub(wide(negotiation.effective_escrow))
}

/// The fee on a paid amount.
pub fn fee(negotiation: &Negotiation, paid: u128) -> u128 {
    paid * u128::from(negotiation.protocol_fee_bps) / BPS
}

/// The bond in the vault.
pub fn bond(negotiation: &Negotiation) -> u128 {
    if negotiation.bond_state == BondState::Held {
        wide(negotiation.bond_required)
    } else {
        0
    }
}

/// The tranches of the price. Tranche i is the floored price of the shares 0 to i less the floored price of
/// the shares 0 to i-1.
pub fn tranches(negotiation: &Negotiation) -> [u128; 8] {
    let price = wide(negotiation.settled_amount);
    let (mut share, mut start) = (0, 0);
    { negotiation.milestone_bps }.map(|bps| {
        share += u128::from(bps);
        let end = price * share / BPS;
        let tranche = end - start;
        start = end;
        tranche
    })
}

/// The sum of the tranches of the milestones in a mask.
pub fn sum_of(negotiation: &Negotiation, mask: u8) -> u128 {
    let tranches = tranches(negotiation).into_iter().enumerate();
    let selected = tranches.filter(|(index, _)| mask & (1 << index) != 0);
    selected.map(|(_, tranche)| tranche).sum()
}

/// The price less the decided tranches.
pub fn undecided(negotiation: &Negotiation) -> u128 {
    let decided = sum_of(negotiation, negotiation.milestones_decided);
    wide(negotiation.settled_amount).saturating_sub(decided)
}

/// An amount that can be multiplied by another one.
pub fn wide(amount: u64) -> u128 {
    amount.into()
}
