//! The seller says that a milestone has been reached.

use crate::error::HaggleError;
use crate::event::MilestoneClaimed;
use crate::runtime::sysvar;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::{Negotiation, NegotiationStatus};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Claims a milestone, in any order, one at a time. The buyer then has a review window to release or dispute it; from
    /// its end on anyone may release it.
    pub fn claim_milestone(
        /// Which milestone, from 0.
        index: u8,
    );
    accounts {
        /// The seller.
        seller: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
    }
}

/// Starts the review.
///
/// # Errors
/// InvalidParams without such a milestone, InvalidState before the price is agreed on, while another milestone is under review
/// and for one that has been claimed; Expired, ResponseWindowExpired when no whole review window is left, Unauthorized.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let seller = *accounts.seller.address();
    // SAFETY: `load` has checked the account, and nothing else borrows it.
    let negotiation = unsafe { Negotiation::of(&mut accounts.negotiation) };

    let bit = negotiation.milestone_bit(args.index)?;
    if negotiation.status != NegotiationStatus::Accepted
        || negotiation.milestone_under_review() != 0
        || negotiation.milestones_claimed & bit != 0
    {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    if now >= negotiation.milestone_deadline {
        return Err(HaggleError::Expired.into());
    }
    let review_deadline = now
        .checked_add(negotiation.review_window())
        .ok_or(HaggleError::Overflow)?;
    if review_deadline > negotiation.milestone_deadline {
        return Err(HaggleError::ResponseWindowExpired.into());
    }
    if !address_eq(&seller, &negotiation.seller) {
        return Err(HaggleError::Unauthorized.into());
    }

    negotiation.milestones_claimed |= bit;
    negotiation.turn_deadline = review_deadline;

    MilestoneClaimed {
        negotiation_id: id,
        index: args.index,
        review_deadline,
        timestamp: now,
    }
    .emit();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::schema::declare::Flag;
    use crate::tests::stage::{
        assert_negotiation, event, Stage, ARBITER, BUYER, MILESTONE_DEADLINE, NOW, PRICE, REVIEW,
        SELLER, STRANGER, THIRDS,
    };

    #[test]
    fn the_seller_claims_and_the_review_begins() {
        for index in 0..3 {
            let (mut stage, deal) = Stage::accepted(&THIRDS);
            stage.now = NOW + 1_000;
            let before = stage.clone();
            let call = stage.claim_milestone(&deal, index);
            stage.run(&call).succeeds().emitted(&[event(
                MilestoneClaimed::RECORD,
                &MilestoneClaimed {
                    negotiation_id: deal.negotiation,
                    index,
                    review_deadline: NOW + 1_000 + REVIEW,
                    timestamp: NOW + 1_000,
                },
            )]);
            assert_negotiation(
                &stage.negotiation(&deal),
                &Negotiation {
                    milestones_claimed: 1 << index,
                    turn_deadline: NOW + 1_000 + REVIEW,
                    ..before.negotiation(&deal)
                },
            );
            assert_eq!(stage.changed_since(&before), [deal.negotiation]);
        }
    }

    #[test]
    fn all_eight_can_be_claimed_one_after_the_other_in_any_order() {
        let (mut stage, deal) = Stage::accepted(&[1_250; 8]);
        let mut claimed = 0;
        for index in [7, 0, 3, 1, 6, 2, 5, 4] {
            stage.now += 10;
            stage.claims_and_disputes(&deal, index);
            claimed |= 1 << index;
            let negotiation = stage.negotiation(&deal);
            assert_eq!(negotiation.milestones_claimed, claimed);
            assert_eq!(negotiation.milestones_disputed, claimed);
            assert_eq!({ negotiation.turn_deadline }, stage.now + REVIEW);
        }
    }

    #[test]
    fn one_is_under_review_at_a_time() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 1);
        // Silence after the review window does not free the slot by itself.
        for now in [NOW, NOW + REVIEW, MILESTONE_DEADLINE - REVIEW] {
            for index in 0..3 {
                let call = stage.claim_milestone(&deal, index);
                stage.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
        let mut released = stage.clone();
        let call = stage.release(&deal, BUYER, 1);
        released.run(&call).succeeds();
        released.claims(&deal, 2);
        let call = stage.dispute(&deal, 1);
        stage.run(&call).succeeds();
        stage.claims(&deal, 2);
    }

    #[test]
    fn each_can_be_claimed_once() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims_and_is_paid(&deal, 0);
        stage.claims_and_disputes(&deal, 1);
        for index in [0, 1] {
            let call = stage.claim_milestone(&deal, index);
            stage.refuses(&call, HaggleError::InvalidState);
        }
        let call = stage.resolve(&deal, 1, 0, Flag::OFF);
        stage.run(&call).succeeds();
        let call = stage.claim_milestone(&deal, 1);
        stage.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn there_has_to_be_such_a_milestone() {
        for (shares, beyond) in [
            (&[10_000][..], [1, 2, 7, 8, 128, 255]),
            (&THIRDS, [3, 4, 7, 8, 16, 255]),
            (&[1_250; 8], [8, 9, 15, 16, 128, 255]),
        ] {
            let (mut stage, deal) = Stage::accepted(shares);
            for index in beyond {
                let call = stage.claim_milestone(&deal, index);
                stage.refuses(&call, HaggleError::InvalidParams);
            }
            stage.claims(&deal, shares.len() as u8 - 1);
        }
        for (mut stage, deal) in [Stage::created(), Stage::offered(), Stage::settled()] {
            for index in [0, 1, 7, 255] {
                let call = stage.claim_milestone(&deal, index);
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn there_is_nothing_to_claim_before_an_agreement_or_after_the_end() {
        let terms = Stage::milestone_terms(&THIRDS);
        let (mut offered, deal) = Stage::offered_with(&terms, PRICE);
        let (created, _) = Stage::created_with(&terms);
        let mut rejected = offered.clone();
        let call = rejected
            .reject(&deal, BUYER)
            .given("seller_token_account", deal.seller_token_account);
        rejected.run(&call).succeeds();
        let mut settled = offered.clone();
        let call = settled.accept_offer(&deal, SELLER);
        settled.run(&call).succeeds();
        settled.now = MILESTONE_DEADLINE;
        let call = settled.settle_deadline(&deal);
        settled.run(&call).succeeds();
        offered.now = NOW + 1;
        for stage in [created, offered, rejected, settled] {
            for now in [NOW, MILESTONE_DEADLINE] {
                let call = stage.claim_milestone(&deal, 0);
                stage.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn a_claim_needs_its_whole_review_window() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        let call = stage.claim_milestone(&deal, 2);
        let last = MILESTONE_DEADLINE - REVIEW;
        for now in [last + 1, last + 2, MILESTONE_DEADLINE - 1] {
            stage
                .at(now)
                .refuses(&call, HaggleError::ResponseWindowExpired);
        }
        for now in [MILESTONE_DEADLINE, MILESTONE_DEADLINE + 1, i64::MAX] {
            stage.at(now).refuses(&call, HaggleError::Expired);
        }
        stage.now = last;
        stage.run(&call).succeeds();
        assert_eq!(
            { stage.negotiation(&deal).turn_deadline },
            MILESTONE_DEADLINE
        );
    }

    #[test]
    fn only_the_seller_claims() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        for who in [BUYER, STRANGER, ARBITER] {
            let call = stage.claim_milestone(&deal, 0).with("seller", who);
            stage.refuses(&call, HaggleError::Unauthorized);
            // The clock is looked at before the signer, the state before the clock, the index before the state.
            stage
                .at(MILESTONE_DEADLINE)
                .refuses(&call, HaggleError::Expired);
            let mut taken = stage.at(MILESTONE_DEADLINE);
            let mut negotiation = taken.negotiation(&deal);
            negotiation.milestones_claimed = 1;
            taken.set_negotiation(&deal, &negotiation);
            taken.refuses(&call, HaggleError::InvalidState);
            let call = stage.claim_milestone(&deal, 3).with("seller", who);
            taken.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.pause();
        stage.claims(&deal, 0);
    }
}
