//! The buyer disputes a milestone.

use crate::error::HaggleError;
use crate::event::MilestoneDisputed;
use crate::runtime::sysvar;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::{Negotiation, NegotiationStatus};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Disputes the milestone that is under review. The arbiter then decides it, and the seller may claim another.
    pub fn dispute_milestone(
        /// Which milestone, from 0.
        index: u8,
    );
    accounts {
        /// The buyer.
        buyer: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
    }
}

/// Takes the milestone out of the review.
///
/// # Errors
/// InvalidParams without such a milestone, InvalidState unless it is under review, ResponseWindowExpired, Unauthorized.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let buyer = *accounts.buyer.address();
    // SAFETY: `load` has checked the account, and nothing else borrows it.
    let negotiation = unsafe { Negotiation::of(&mut accounts.negotiation) };

    let bit = negotiation.milestone_bit(args.index)?;
    if negotiation.status != NegotiationStatus::Accepted
        || negotiation.milestone_under_review() != bit
    {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    if negotiation.is_overdue(now) {
        return Err(HaggleError::ResponseWindowExpired.into());
    }
    if !address_eq(&buyer, &negotiation.buyer) {
        return Err(HaggleError::Unauthorized.into());
    }

    negotiation.milestones_disputed |= bit;

    MilestoneDisputed {
        negotiation_id: id,
        index: args.index,
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
    fn the_buyer_disputes_and_the_slot_is_free() {
        for index in 0..3 {
            let (mut stage, deal) = Stage::accepted(&THIRDS);
            stage.claims(&deal, index);
            stage.now = NOW + 1_000;
            let before = stage.clone();
            let call = stage.dispute(&deal, index);
            stage.run(&call).succeeds().emitted(&[event(
                MilestoneDisputed::RECORD,
                &MilestoneDisputed {
                    negotiation_id: deal.negotiation,
                    index,
                    timestamp: NOW + 1_000,
                },
            )]);
            assert_negotiation(
                &stage.negotiation(&deal),
                &Negotiation {
                    milestones_disputed: 1 << index,
                    ..before.negotiation(&deal)
                },
            );
            assert_eq!(stage.changed_since(&before), [deal.negotiation]);
            stage.claims(&deal, (index + 1) % 3);
        }
    }

    #[test]
    fn only_what_is_under_review_can_be_disputed() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        let unclaimed = stage.clone();
        stage.claims(&deal, 1);
        for index in [0, 2] {
            let call = stage.dispute(&deal, index);
            stage.refuses(&call, HaggleError::InvalidState);
        }
        let call = stage.dispute(&deal, 1);
        unclaimed.at(NOW).refuses(&call, HaggleError::InvalidState);
        let mut released = stage.clone();
        let release = stage.release(&deal, BUYER, 1);
        released.run(&release).succeeds();
        released.refuses(&call, HaggleError::InvalidState);
        stage.run(&call).succeeds();
        stage.refuses(&call, HaggleError::InvalidState);
        let resolve = stage.resolve(&deal, 1, 5_000, Flag::OFF);
        stage.run(&resolve).succeeds();
        stage.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn there_has_to_be_such_a_milestone() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 2);
        for index in [3, 7, 8, 10, 255] {
            let call = stage.dispute(&deal, index);
            stage.refuses(&call, HaggleError::InvalidParams);
        }
        for (mut stage, deal) in [Stage::offered(), Stage::settled()] {
            let call = stage.dispute(&deal, 0);
            stage.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn there_is_nothing_to_dispute_before_an_agreement_or_after_the_end() {
        let (mut stage, deal) = Stage::offered_with(&Stage::milestone_terms(&THIRDS), PRICE);
        let call = stage.dispute(&deal, 0);
        stage.refuses(&call, HaggleError::InvalidState);
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 0);
        stage.now = MILESTONE_DEADLINE;
        let settle = stage.settle_deadline(&deal);
        stage.run(&settle).succeeds();
        for now in [NOW, MILESTONE_DEADLINE] {
            stage.at(now).refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn silence_until_the_last_second_is_consent() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.now = NOW + 5;
        stage.claims(&deal, 0);
        let call = stage.dispute(&deal, 0);
        let end = NOW + 5 + REVIEW;
        for now in [end, end + 1, MILESTONE_DEADLINE, i64::MAX] {
            stage
                .at(now)
                .refuses(&call, HaggleError::ResponseWindowExpired);
        }
        stage.now = end - 1;
        stage.run(&call).succeeds();
    }

    #[test]
    fn only_the_buyer_disputes() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.claims(&deal, 0);
        for who in [SELLER, STRANGER, ARBITER] {
            let call = stage.dispute(&deal, 0).with("buyer", who);
            stage.refuses(&call, HaggleError::Unauthorized);
            stage
                .at(NOW + REVIEW)
                .refuses(&call, HaggleError::ResponseWindowExpired);
            let call = stage.dispute(&deal, 1).with("buyer", who);
            stage
                .at(NOW + REVIEW)
                .refuses(&call, HaggleError::InvalidState);
            let call = stage.dispute(&deal, 3).with("buyer", who);
            stage
                .at(NOW + REVIEW)
                .refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::accepted(&THIRDS);
        stage.pause();
        stage.claims_and_disputes(&deal, 0);
    }
}
