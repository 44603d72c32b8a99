//! Sealed reservation prices: each side commits by hash, then reveals.

use crate::constants::ZOPA_DOMAIN;
use crate::error::{HaggleError, Result};
use crate::math::bps;
use crate::runtime::hash::sha256;
use crate::state::{Negotiation, NegotiationStatus, OfferSide, ZopaPhase};
use pinocchio::address::address_eq;
use pinocchio::Address;

/// A comparison step. The steps follow in this order, each within the acting side's turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A side commits to a reservation price.
    Commit(OfferSide),
    /// A side reveals a reservation price.
    Reveal(OfferSide),
}

impl Negotiation {
    /// The next step.
    ///
    /// # Errors
    /// InvalidState if there is none: the negotiation is not under way, does not use sealed prices, or has
    /// already compared them.
    #[inline(always)]
    pub fn zopa_step(&self) -> Result<Step> {
        if self.status != NegotiationStatus::Proposed {
            return Err(HaggleError::InvalidState.into());
        }
        match self.zopa_phase {
            ZopaPhase::NotStarted => Ok(Step::Commit(OfferSide::Buyer)),
            ZopaPhase::BuyerCommitted => Ok(Step::Commit(OfferSide::Seller)),
            ZopaPhase::BothCommitted if self.buyer_price == 0 => Ok(Step::Reveal(OfferSide::Buyer)),
            ZopaPhase::BothCommitted => Ok(Step::Reveal(OfferSide::Seller)),
            _ => Err(HaggleError::InvalidState.into()),
        }
    }

    /// Requires the comparison to be over, or the negotiation
    /// to have none: only then can the parties offer.
    ///
    /// # Errors
    /// InvalidState.
    #[inline(always)]
    pub fn check_compared(&self) -> Result {
        let phase = self.zopa_phase;
        if phase == ZopaPhase::Skipped || phase == ZopaPhase::Revealed {
            Ok(())
        } else {
            Err(HaggleError::InvalidState.into())
        }
    }

    /// Reports whether a reservation price is in range: from the minimum offer for the
    /// whole escrow, but at least 1, to the escrow. A party that commits to a price
    /// out of range cannot reveal it, and bears the consequences of not revealing.
    #[inline(always)]
    pub fn allows_price(&self, price: u64) -> bool {
        let escrow = self.escrow_amount;
        price != 0 && price >= bps::floored(escrow, self.min_offer_bps) && price <= escrow
    }

    /// An agent's commitment to a price.
    #[inline(always)]
    pub fn commitment(
        &self,
        negotiation_id: &Address,
        agent: &Address,
        price: u64,
        nonce: &[u8; 32],
    ) -> [u8; 32] {
        sha256(&[
            ZOPA_DOMAIN.as_bytes(),
            negotiation_id.as_ref(),
            &{ self.created_at }.to_le_bytes(),
            agent.as_ref(),
            &price.to_le_bytes(),
            nonce,
        ])
    }

    /// Reports whether the zone's midpoint is the current offer, which either side may accept.
    #[inline(always)]
    pub fn has_midpoint(&self, negotiation_id: &Address) -> bool {
        address_eq(&self.current_offer_by, negotiation_id)
    }

    /// Reports whether revealed reservation prices ended the negotiation, because they left no zone.
    #[inline(always)]
    pub fn ended_without_zone(&self) -> bool {
        self.status == NegotiationStatus::Rejected && self.zopa_phase == ZopaPhase::Revealed && {
            self.buyer_price
        } < {
            self.seller_price
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::tests::fixture::Fixture;

    #[test]
    fn a_price_is_from_the_minimum_offer_but_at_least_1_to_the_escrow() {
        let (fixture, deal) = Fixture::sealed();
        let mut negotiation = fixture.negotiation(&deal);
        // 100 bps of 99 round down to zero.
        for (escrow, min_offer_bps, least) in [
            (99, 100, 1),
            (100, 100, 1),
            (200, 100, 2),
            (100_001, 8_999, 89_990),
            (u64::MAX, 9_000, u64::MAX / 10 * 9 + 4),
        ] {
            negotiation.escrow_amount = escrow;
            negotiation.min_offer_bps = min_offer_bps;
            for (price, is_allowed) in [
                (0, false),
                (least - 1, false),
                (least, true),
                (escrow, true),
                (escrow.saturating_add(1), escrow == u64::MAX),
            ] {
                assert_eq!(negotiation.allows_price(price), is_allowed, "{price}");
            }
        }
    }
}
