//! Sealed reservation prices: committed to by hash, compared only once both sides are bound.

use crate::error::HaggleError;
use crate::state::{Negotiation, NegotiationStatus, OfferSide, ZopaPhase};
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::Address;

/// A step of the comparison. They are taken in this order, each within its turn.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Step {
    /// A side commits to its reservation price.
    Commit(OfferSide),
    /// A side reveals it.
    Reveal(OfferSide),
}

impl Negotiation {
    /// The step that comes next.
    ///
    /// # Errors
    /// InvalidState when there is none: it is not enabled, over, or the negotiation is not under way.
    #[inline(always)]
    pub fn zopa_step(&self) -> Result<Step, ProgramError> {
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

    /// Refuses offers while reservation prices are being compared.
    ///
    /// # Errors
    /// InvalidState.
    #[inline(always)]
    pub fn check_compared(&self) -> ProgramResult {
        let phase = self.zopa_phase;
        if phase == ZopaPhase::Skipped || phase == ZopaPhase::Revealed {
            Ok(())
        } else {
            Err(HaggleError::InvalidState.into())
        }
    }

    /// Whether the current offer is the price in the middle of the zone, which no side has made and either may accept.
    #[inline(always)]
    pub fn has_midpoint(&self, negotiation_id: &Address) -> bool {
        pinocchio::address::address_eq(&self.current_offer_by, negotiation_id)
    }
}
