//! A deal only changes with the consent of the right party, or when that party's time is over.

use super::effect::Effect;
use super::entitlement::{rejection_forfeits_bond, turn};
use super::Verdict;
use crate::ID;
use haggle_program::state::{Negotiation, NegotiationStatus as Status, OfferSide};
use pinocchio::Address;

/// The arbiter's time after the milestones' deadline is at least a day, in seconds.
const DAY: i64 = 86_400;
const HOUR: i64 = 3_600;

/// Requires the consent that the instruction needs. A rejecting seller also consents to the bond's
/// destination.
pub fn the_right_parties_agree(effect: &Effect<'_>) -> Verdict {
    let Some(before) = effect.deal.as_ref().and_then(|deal| deal.before.as_ref()) else {
        return Ok(());
    };
    let agreed = Consent { effect, before }.is_given();
    if agreed {
        Ok(())
    } else {
        Err(format!(
            "{} succeeds without consent, at {} in status {:?}",
            effect.row.name,
            effect.now(),
            before.status
        ))
    }
}

struct Consent<'a> {
    effect: &'a Effect<'a>,
    before: &'a Negotiation,
}

impl Consent<'_> {
    fn is_given(&self) -> bool {
        let before = self.before;
        let (buyer, seller) = (self.signs(&before.buyer), self.signs(&before.seller));
        let now = self.effect.now();
        let in_turn = now < before.turn_deadline;
        let status = before.status;
        let bargaining = [Status::Proposed, Status::Countered].contains(&status);
        let open = status == Status::Created || bargaining;
        match self.effect.row.name {
            "accept_invitation" => status == Status::Created && seller && in_turn,
            "submit_offer" => bargaining && in_turn && self.signs(self.party(turn(before))),
            "accept_offer" => {
                let other = match before.offer_side {
                    OfferSide::Buyer => seller,
                    _ => buyer,
                };
                let midpoint = self.is_midpoint() && (buyer || seller);
                bargaining && in_turn && (other || midpoint)
            }
            "submit_zopa_commitment" | "reveal_zopa_price" => {
                status == Status::Proposed && in_turn && (buyer || seller)
            }
            "reject_negotiation" => {
                open && in_turn && (buyer || (seller && self.names_account_for_bond()))
            }
            "expire_negotiation" => open && !in_turn,
            "claim_milestone" => {
                status == Status::Accepted && seller && now < before.milestone_deadline
            }
            "dispute_milestone" => status == Status::Accepted && buyer && in_turn,
            "release_milestone" => status == Status::Accepted && (buyer || !in_turn),
            "resolve_dispute" => {
                let arbiter = self.signs(&before.arbiter);
                status == Status::Accepted && arbiter && now < self.arbitration_end()
            }
            "settle_deadline" => status == Status::Accepted && now >= self.settlement_time(),
            "settle_by_agreement" => {
                let valid = now < self.effect.time("valid_until");
                status == Status::Accepted && buyer && seller && valid
            }
            "claim_payout" => !open && (buyer || seller),
            "close_negotiation" => {
                [Status::Settled, Status::Expired, Status::Rejected].contains(&status)
            }
            _ => false,
        }
    }

    /// Reports whether the rejecting seller has agreed to the bond's destination. It leaves the token account
    /// out if it forfeits the bond, and names the account in every other state, even before the deposit.
    fn names_account_for_bond(&self) -> bool {
        let account = self.effect.prepared.address_of("seller_token_account");
        let names = account.is_some_and(|address| *address != ID);
        self.before.bond_required == 0 || names != rejection_forfeits_bond(self.before)
    }

    fn signs(&self, party: &Address) -> bool {
        self.effect.prepared.is_signed_by(party)
    }

    fn party(&self, side: OfferSide) -> &Address {
        match side {
            OfferSide::Buyer => &self.before.buyer,
            _ => &self.before.seller,
        }
    }

    fn is_midpoint(&self) -> bool {
        let deal = self.effect.deal.as_ref();
        deal.is_some_and(|deal| self.before.current_offer_by == *deal.address)
    }

    fn arbitration_end(&self) -> i64 {
        let review = i64::from(self.before.review_hours) * HOUR;
        { self.before.milestone_deadline }.saturating_add(review.max(DAY))
    }

    fn settlement_time(&self) -> i64 {
        let disputed = self.before.milestones_disputed & !self.before.milestones_decided;
        if disputed == 0 {
            self.before.milestone_deadline
        } else {
            self.arbitration_end()
        }
    }
}
