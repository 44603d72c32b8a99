//! The seller's bond: a deposit beside the escrow that shows that the seller means it.

use crate::event::BondSettled;
use crate::state::{BondState, Negotiation, OfferSide, ZopaPhase};
use pinocchio::Address;

impl Negotiation {
    /// What of the vault is the seller's bond, in base units.
    #[inline(always)]
    pub fn held_bond(&self) -> u64 {
        if self.bond_state == BondState::Held {
            self.bond_required
        } else {
            0
        }
    }

    /// Whether the seller owes the buyer, who has revealed its reservation price, its own: silence and walking away cost the
    /// bond from then on.
    #[inline(always)]
    pub fn seller_owes_reveal(&self) -> bool {
        self.zopa_phase == ZopaPhase::BothCommitted && self.buyer_price != 0
    }
}

/// Where a bond goes.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Bond {
    /// Back to the seller.
    Returned,
    /// To the buyer.
    Forfeited,
}

/// A bond that has left the seller's deposit. The negotiation does not count it as held any more.
#[derive(Clone, Copy)]
pub struct SettledBond {
    /// Whose it is now.
    pub side: OfferSide,
    /// How many base units; zero when none was held.
    pub amount: u64,
}

impl SettledBond {
    /// No bond.
    pub const NONE: Self = Self {
        side: OfferSide::Seller,
        amount: 0,
    };

    /// Takes the bond out of the deposit, if one is held.
    #[inline(always)]
    pub fn take(negotiation: &mut Negotiation, bond: Bond) -> Self {
        let amount = negotiation.held_bond();
        let (state, side) = match bond {
            Bond::Returned => (BondState::Returned, OfferSide::Seller),
            Bond::Forfeited => (BondState::Forfeited, OfferSide::Buyer),
        };
        if amount > 0 {
            negotiation.bond_state = state;
        }
        Self { side, amount }
    }

    /// Says so in the log, if one was held. Comes after the event of what ended the negotiation.
    #[inline(always)]
    pub fn emit(&self, negotiation_id: &Address, negotiation: &Negotiation, now: i64) {
        if self.amount == 0 {
            return;
        }
        BondSettled {
            negotiation_id: *negotiation_id,
            to: if self.side == OfferSide::Buyer {
                negotiation.buyer
            } else {
                negotiation.seller
            },
            amount: self.amount,
            timestamp: now,
        }
        .emit();
    }
}
