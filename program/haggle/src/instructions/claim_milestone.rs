//! The seller claims a milestone.

use crate::error::{HaggleError, Result};
use crate::event::MilestoneClaimed;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::{Negotiation, NegotiationStatus};
use pinocchio::address::address_eq;
use pinocchio::AccountView;

instruction! {
    /// Claims a milestone, in any order, only one at a time. The buyer then has a review window to release or
    /// dispute the milestone; afterwards anyone can release it.
    pub fn claim_milestone(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The milestone, from 0.
        index: u8,
        /// The delivery hash. Only the event keeps it.
        evidence: [u8; 32],
    );
    accounts<'a> {
        /// The seller.
        seller: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
    }
    effects {
        result: "milestone claimed",
        actors: &[Actor { account: "seller", role: Role::Seller }],
        guards: &[Guard::CreatedAtIs("created_at"), Guard::Milestone("index")],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[],
        events: &["MilestoneClaimed"],
    }
}

/// Starts the review.
///
/// # Errors
/// InvalidParams without this milestone, InvalidState before the agreement, while another milestone is under
/// review, and after the first claim; Expired, ResponseWindowExpired if the review window does not fit before
/// the deadline, Unauthorized, StaleState.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let mut negotiation = accounts.negotiation;

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
    if !address_eq(accounts.seller.address(), &negotiation.seller) {
        return Err(HaggleError::Unauthorized.into());
    }
    negotiation.check_deal(args.created_at)?;

    negotiation.milestones_claimed |= bit;
    negotiation.turn_deadline = review_deadline;

    MilestoneClaimed {
        negotiation_id: *negotiation.address(),
        index: args.index,
        review_deadline,
        evidence: args.evidence,
        timestamp: now,
    }
    .emit();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::tests::fixture::{
        assert_negotiation, event, Fixture, ARBITER, BUYER, EVIDENCE, MILESTONE_DEADLINE, NOW,
        PRICE, REVIEW, SELLER, STRANGER, THIRDS,
    };

    #[test]
    fn the_seller_claims_and_the_review_begins() {
        for index in 0..3 {
            let (mut fixture, deal) = Fixture::accepted(&THIRDS);
            fixture.now = NOW + 1_000;
            let before = fixture.clone();
            let call = fixture.claim_milestone(&deal, index);
            fixture.run(&call).succeeds().emitted(&[event(
                MilestoneClaimed::RECORD,
                &MilestoneClaimed {
                    negotiation_id: deal.negotiation,
                    index,
                    review_deadline: NOW + 1_000 + REVIEW,
                    evidence: EVIDENCE,
                    timestamp: NOW + 1_000,
                },
            )]);
            assert_negotiation(
                &fixture.negotiation(&deal),
                &Negotiation {
                    milestones_claimed: 1 << index,
                    turn_deadline: NOW + 1_000 + REVIEW,
                    ..before.negotiation(&deal)
                },
            );
            assert_eq!(fixture.changed_since(&before), [deal.negotiation]);
        }
    }

    #[test]
    fn eight_milestones_can_be_claimed_in_any_order() {
        let (mut fixture, deal) = Fixture::accepted(&[1_250; 8]);
        let mut claimed = 0;
        for index in [7, 0, 3, 1, 6, 2, 5, 4] {
            fixture.now += 10;
            fixture.claims_and_disputes(&deal, index);
            claimed |= 1 << index;
            let negotiation = fixture.negotiation(&deal);
            assert_eq!(negotiation.milestones_claimed, claimed);
            assert_eq!(negotiation.milestones_disputed, claimed);
            assert_eq!({ negotiation.turn_deadline }, fixture.now + REVIEW);
        }
    }

    #[test]
    fn one_milestone_is_under_review_at_a_time() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 1);
        // Silence after the review window does not free the slot by itself.
        for now in [NOW, NOW + REVIEW, MILESTONE_DEADLINE - REVIEW] {
            for index in 0..3 {
                let call = fixture.claim_milestone(&deal, index);
                fixture.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
        let mut released = fixture.clone();
        let call = fixture.release(&deal, BUYER, 1);
        released.run(&call).succeeds();
        released.claims(&deal, 2);
        let call = fixture.dispute(&deal, 1);
        fixture.run(&call).succeeds();
        fixture.claims(&deal, 2);
    }

    #[test]
    fn a_milestone_is_claimed_once() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims_and_is_paid(&deal, 0);
        fixture.claims_and_disputes(&deal, 1);
        for index in [0, 1] {
            let call = fixture.claim_milestone(&deal, index);
            fixture.refuses(&call, HaggleError::InvalidState);
        }
        let call = fixture.resolve(&deal, 1, 0);
        fixture.run(&call).succeeds();
        let call = fixture.claim_milestone(&deal, 1);
        fixture.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn a_claim_needs_an_existing_milestone() {
        for (shares, beyond) in [
            (&[10_000][..], [1, 2, 7, 8, 128, 255]),
            (&THIRDS, [3, 4, 7, 8, 16, 255]),
            (&[1_250; 8], [8, 9, 15, 16, 128, 255]),
        ] {
            let (mut fixture, deal) = Fixture::accepted(shares);
            for index in beyond {
                let call = fixture.claim_milestone(&deal, index);
                fixture.refuses(&call, HaggleError::InvalidParams);
            }
            fixture.claims(&deal, shares.len() as u8 - 1);
        }
        for (mut fixture, deal) in [Fixture::created(), Fixture::offered(), Fixture::settled()] {
            for index in [0, 1, 7, 255] {
                let call = fixture.claim_milestone(&deal, index);
                fixture.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn a_claim_needs_an_accepted_price_that_is_not_settled() {
        let terms = Fixture::milestone_terms(&THIRDS);
        let (mut offered, deal) = Fixture::offered_with(&terms, PRICE);
        let (created, _) = Fixture::created_with(&terms);
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
        for fixture in [created, offered, rejected, settled] {
            for now in [NOW, MILESTONE_DEADLINE] {
                let call = fixture.claim_milestone(&deal, 0);
                fixture.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn a_claim_needs_its_whole_review_window() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        let call = fixture.claim_milestone(&deal, 2);
        let last = MILESTONE_DEADLINE - REVIEW;
        for now in [last + 1, last + 2, MILESTONE_DEADLINE - 1] {
            fixture
                .at(now)
                .refuses(&call, HaggleError::ResponseWindowExpired);
        }
        for now in [MILESTONE_DEADLINE, MILESTONE_DEADLINE + 1, i64::MAX] {
            fixture.at(now).refuses(&call, HaggleError::Expired);
        }
        fixture.now = last;
        fixture.run(&call).succeeds();
        assert_eq!(
            { fixture.negotiation(&deal).turn_deadline },
            MILESTONE_DEADLINE
        );
    }

    #[test]
    fn only_the_seller_claims() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        for who in [BUYER, STRANGER, ARBITER] {
            let call = fixture.claim_milestone(&deal, 0).with("seller", who);
            fixture.refuses(&call, HaggleError::Unauthorized);
            // The checks come in this order: index, state, clock, signer.
            fixture
                .at(MILESTONE_DEADLINE)
                .refuses(&call, HaggleError::Expired);
            let mut claimed = fixture.at(MILESTONE_DEADLINE);
            let mut negotiation = claimed.negotiation(&deal);
            negotiation.milestones_claimed = 1;
            claimed.set_negotiation(&deal, &negotiation);
            claimed.refuses(&call, HaggleError::InvalidState);
            let call = fixture.claim_milestone(&deal, 3).with("seller", who);
            claimed.refuses(&call, HaggleError::InvalidParams);
        }
    }
}
