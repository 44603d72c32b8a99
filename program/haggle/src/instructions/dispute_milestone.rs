//! The buyer disputes a milestone.

use crate::error::{HaggleError, Result};
use crate::event::MilestoneDisputed;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::Negotiation;
use pinocchio::address::address_eq;
use pinocchio::AccountView;

instruction! {
    /// Disputes the milestone under review. The arbiter then decides it, and the seller can claim another
    /// one.
    pub fn dispute_milestone(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The milestone, from 0.
        index: u8,
        /// The complaint hash. Only the event keeps it.
        evidence: [u8; 32],
    );
    accounts<'a> {
        /// The buyer.
        buyer: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
    }
    effects {
        result: "milestone disputed",
        actors: &[Actor { account: "buyer", role: Role::Buyer }],
        guards: &[Guard::CreatedAtIs("created_at"), Guard::Milestone("index")],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[],
        events: &["MilestoneDisputed"],
    }
}

/// Ends the review.
///
/// # Errors
/// InvalidParams without this milestone, InvalidState unless it is under review, ResponseWindowExpired,
/// Unauthorized, StaleState.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let mut negotiation = accounts.negotiation;

    let bit = negotiation.milestone_bit(args.index)?;
    negotiation.check_under_review(bit)?;
    let now = sysvar::now()?;
    if negotiation.is_overdue(now) {
        return Err(HaggleError::ResponseWindowExpired.into());
    }
    if !address_eq(accounts.buyer.address(), &negotiation.buyer) {
        return Err(HaggleError::Unauthorized.into());
    }
    negotiation.check_deal(args.created_at)?;

    negotiation.milestones_disputed |= bit;

    MilestoneDisputed {
        negotiation_id: *negotiation.address(),
        index: args.index,
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
        assert_negotiation, event, Fixture, ARBITER, BUYER, COMPLAINT, MILESTONE_DEADLINE, NOW,
        PRICE, REVIEW, SELLER, STRANGER, THIRDS,
    };

    #[test]
    fn the_buyer_disputes_and_another_milestone_can_be_claimed() {
        for index in 0..3 {
            let (mut fixture, deal) = Fixture::accepted(&THIRDS);
            fixture.claims(&deal, index);
            fixture.now = NOW + 1_000;
            let before = fixture.clone();
            let call = fixture.dispute(&deal, index);
            fixture.run(&call).succeeds().emitted(&[event(
                MilestoneDisputed::RECORD,
                &MilestoneDisputed {
                    negotiation_id: deal.negotiation,
                    index,
                    evidence: COMPLAINT,
                    timestamp: NOW + 1_000,
                },
            )]);
            assert_negotiation(
                &fixture.negotiation(&deal),
                &Negotiation {
                    milestones_disputed: 1 << index,
                    ..before.negotiation(&deal)
                },
            );
            assert_eq!(fixture.changed_since(&before), [deal.negotiation]);
            fixture.claims(&deal, (index + 1) % 3);
        }
    }

    #[test]
    fn only_the_milestone_under_review_can_be_disputed() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        let unclaimed = fixture.clone();
        fixture.claims(&deal, 1);
        for index in [0, 2] {
            let call = fixture.dispute(&deal, index);
            fixture.refuses(&call, HaggleError::InvalidState);
        }
        let call = fixture.dispute(&deal, 1);
        unclaimed.at(NOW).refuses(&call, HaggleError::InvalidState);
        let mut released = fixture.clone();
        let release = fixture.release(&deal, BUYER, 1);
        released.run(&release).succeeds();
        released.refuses(&call, HaggleError::InvalidState);
        fixture.run(&call).succeeds();
        fixture.refuses(&call, HaggleError::InvalidState);
        let resolve = fixture.resolve(&deal, 1, 5_000);
        fixture.run(&resolve).succeeds();
        fixture.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn a_dispute_needs_an_existing_milestone() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 2);
        for index in [3, 7, 8, 10, 255] {
            let call = fixture.dispute(&deal, index);
            fixture.refuses(&call, HaggleError::InvalidParams);
        }
        for (mut fixture, deal) in [Fixture::offered(), Fixture::settled()] {
            let call = fixture.dispute(&deal, 0);
            fixture.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn a_dispute_needs_an_accepted_price_that_is_not_settled() {
        let (mut fixture, deal) = Fixture::offered_with(&Fixture::milestone_terms(&THIRDS), PRICE);
        let call = fixture.dispute(&deal, 0);
        fixture.refuses(&call, HaggleError::InvalidState);
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 0);
        fixture.now = MILESTONE_DEADLINE;
        let settle = fixture.settle_deadline(&deal);
        fixture.run(&settle).succeeds();
        for now in [NOW, MILESTONE_DEADLINE] {
            fixture.at(now).refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn a_dispute_after_the_review_is_refused() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.now = NOW + 5;
        fixture.claims(&deal, 0);
        let call = fixture.dispute(&deal, 0);
        let end = NOW + 5 + REVIEW;
        for now in [end, end + 1, MILESTONE_DEADLINE, i64::MAX] {
            fixture
                .at(now)
                .refuses(&call, HaggleError::ResponseWindowExpired);
        }
        fixture.now = end - 1;
        fixture.run(&call).succeeds();
    }

    #[test]
    fn only_the_buyer_disputes() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 0);
        for who in [SELLER, STRANGER, ARBITER] {
            let call = fixture.dispute(&deal, 0).with("buyer", who);
            fixture.refuses(&call, HaggleError::Unauthorized);
            fixture
                .at(NOW + REVIEW)
                .refuses(&call, HaggleError::ResponseWindowExpired);
            let call = fixture.dispute(&deal, 1).with("buyer", who);
            fixture
                .at(NOW + REVIEW)
                .refuses(&call, HaggleError::InvalidState);
            let call = fixture.dispute(&deal, 3).with("buyer", who);
            fixture
                .at(NOW + REVIEW)
                .refuses(&call, HaggleError::InvalidParams);
        }
    }
}
