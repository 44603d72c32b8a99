//! Points in the life of a negotiation whose price is paid by milestones.

use super::{Deal, Stage, ARBITER, NOW};
use crate::instructions::create_negotiation::NegotiationParams;

/// The deadline of the milestones of [`Stage::milestone_terms`]: a day after creation.
pub const MILESTONE_DEADLINE: i64 = NOW + 86_400;

/// How long the buyer may look at a claimed milestone there, in seconds.
pub const REVIEW: i64 = 3_600;

/// The price of [`Stage::accepted`], which three shares of a third leave two units of.
pub const PRICE: u64 = 2_999_999;

/// Three tranches, of which the last one decided is worth two units more than its share of [`PRICE`].
pub const THIRDS: [u16; 3] = [3_333, 3_333, 3_334];

/// The bond of [`Stage::milestone_terms`], in base units.
pub const BOND: u64 = 250_000;

impl Stage {
    /// The terms of [`Self::terms`] with these tranches, an arbiter and a bond of [`BOND`].
    pub fn milestone_terms(shares: &[u16]) -> NegotiationParams {
        let mut milestone_bps = [0; 8];
        milestone_bps[..shares.len()].copy_from_slice(shares);
        NegotiationParams {
            bond_required: BOND,
            arbiter: ARBITER,
            milestone_count: shares.len() as u8,
            milestone_bps,
            milestone_deadline: MILESTONE_DEADLINE,
            ..Self::terms()
        }
    }

    /// The seller has accepted [`PRICE`], which is to be paid in these tranches.
    pub fn accepted(shares: &[u16]) -> (Self, Deal) {
        Self::accepted_with(&Self::milestone_terms(shares), PRICE)
    }

    /// The seller takes part on these terms, bond included, and has accepted this offer of the buyer's.
    pub fn accepted_with(terms: &NegotiationParams, offer: u64) -> (Self, Deal) {
        let (mut stage, deal) = Self::offered_with(terms, offer);
        let call = stage.accept_offer(&deal, deal.seller);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller takes part on these terms, bond included, and the buyer has made this offer.
    pub fn offered_with(terms: &NegotiationParams, offer: u64) -> (Self, Deal) {
        let (mut stage, deal) = Self::created_with(terms);
        stage.donate(&deal.seller_token_account, terms.bond_required);
        let call = if terms.bond_required > 0 {
            stage.accept_invitation_with_bond(&deal)
        } else {
            stage.accept_invitation(&deal)
        };
        stage.run(&call).succeeds();
        let call = stage.offer(&deal, deal.buyer, offer);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller claims a milestone.
    pub fn claims(&mut self, deal: &Deal, index: u8) {
        let call = self.claim_milestone(deal, index);
        self.run(&call).succeeds();
    }

    /// The seller claims a milestone and the buyer releases it.
    pub fn claims_and_is_paid(&mut self, deal: &Deal, index: u8) {
        self.claims(deal, index);
        let call = self.release(deal, deal.buyer, index);
        self.run(&call).succeeds();
    }

    /// The seller claims a milestone and the buyer disputes it.
    pub fn claims_and_disputes(&mut self, deal: &Deal, index: u8) {
        self.claims(deal, index);
        let call = self.dispute(deal, index);
        self.run(&call).succeeds();
    }
}
