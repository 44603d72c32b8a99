//! One side commits to its reservation price without showing it.

use crate::error::HaggleError;
use crate::event::ZopaCommitted;
use crate::runtime::sysvar;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::zopa::Step;
use crate::state::{Negotiation, OfferSide, ZopaPhase};
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Commits to a reservation price without showing it: the buyer first, then the seller, each within its turn. The hash
    /// names the negotiation and the side, so that one side's cannot be copied by the other.
    pub fn submit_zopa_commitment(
        /// SHA-256 of "haggle-zopa", the negotiation's address, the signer's address, the price (u64, little endian) and a
        /// nonce of 32 random bytes.
        commitment: [u8; 32],
    );
    accounts {
        /// The party whose turn it is.
        agent: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
    }
}

/// Keeps the commitment.
///
/// # Errors
/// InvalidParams for zeros, InvalidState when no commitment is due, Expired, ResponseWindowExpired, Unauthorized, NotYourTurn.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let agent = *accounts.agent.address();
    // SAFETY: `load` has checked the account, and nothing else borrows it.
    let negotiation = unsafe { Negotiation::of(&mut accounts.negotiation) };

    if args.commitment == [0; 32] {
        return Err(HaggleError::InvalidParams.into());
    }
    let Step::Commit(due) = negotiation.zopa_step()? else {
        return Err(HaggleError::InvalidState.into());
    };
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    if negotiation.side_of(&agent)? != due {
        return Err(HaggleError::NotYourTurn.into());
    }

    if due == OfferSide::Buyer {
        negotiation.buyer_commitment = args.commitment;
        negotiation.zopa_phase = ZopaPhase::BuyerCommitted;
    } else {
        negotiation.seller_commitment = args.commitment;
        negotiation.zopa_phase = ZopaPhase::BothCommitted;
    }
    negotiation.start_turn(now)?;

    ZopaCommitted {
        negotiation_id: id,
        agent,
        phase: negotiation.zopa_phase,
        timestamp: now,
    }
    .emit();
    Ok(())
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::state::NegotiationStatus;
    use crate::tests::stage::{
        assert_negotiation, event, Deal, Stage, BUYER, BUYER_PRICE, NOW, SELLER, SELLER_PRICE,
        STRANGER,
    };
    use pinocchio::Address;

    const COMMITMENT: [u8; 32] = [7; 32];

    fn committed_event(deal: &Deal, agent: Address, phase: ZopaPhase, now: i64) -> Vec<u8> {
        event(
            ZopaCommitted::RECORD,
            &ZopaCommitted {
                negotiation_id: deal.negotiation,
                agent,
                phase,
                timestamp: now,
            },
        )
    }

    #[test]
    fn the_buyer_commits_and_then_the_seller() {
        let (mut stage, deal) = Stage::sealed();
        let before = stage.clone();
        stage.now = NOW + 10;
        let sealed = Stage::commitment(&deal, BUYER, BUYER_PRICE);
        let call = stage.commit(&deal, BUYER, sealed);
        let phase = ZopaPhase::BuyerCommitted;
        stage
            .run(&call)
            .succeeds()
            .emitted(&[committed_event(&deal, BUYER, phase, NOW + 10)]);
        let by_buyer = Negotiation {
            buyer_commitment: sealed,
            zopa_phase: phase,
            turn_deadline: NOW + 310,
            ..before.negotiation(&deal)
        };
        assert_negotiation(&stage.negotiation(&deal), &by_buyer);

        stage.now = NOW + 20;
        let sealed = Stage::commitment(&deal, SELLER, SELLER_PRICE);
        let call = stage.commit(&deal, SELLER, sealed);
        let phase = ZopaPhase::BothCommitted;
        stage
            .run(&call)
            .succeeds()
            .emitted(&[committed_event(&deal, SELLER, phase, NOW + 20)]);
        let by_both = Negotiation {
            seller_commitment: sealed,
            zopa_phase: phase,
            turn_deadline: NOW + 320,
            ..by_buyer
        };
        assert_negotiation(&stage.negotiation(&deal), &by_both);
        stage.assert_untouched_since(&before, &[deal.negotiation]);
    }

    #[test]
    fn the_buyer_is_the_first() {
        let (mut stage, deal) = Stage::sealed();
        let call = stage.commit(&deal, SELLER, COMMITMENT);
        stage.refuses(&call, HaggleError::NotYourTurn);
    }

    #[test]
    fn nobody_takes_a_commitment_back() {
        let (mut stage, deal) = Stage::buyer_committed();
        let call = stage.commit(&deal, BUYER, COMMITMENT);
        stage.refuses(&call, HaggleError::NotYourTurn);
        let (mut stage, deal) = Stage::both_committed();
        for who in [BUYER, SELLER, STRANGER] {
            let call = stage.commit(&deal, who, COMMITMENT);
            stage.refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn there_is_a_time_for_it() {
        let rejected = || {
            let (mut stage, deal) = Stage::buyer_committed();
            let call = stage
                .reject(&deal, BUYER)
                .given("seller_token_account", deal.seller_token_account);
            stage.run(&call).succeeds();
            (stage, deal)
        };
        let points: [(&str, (Stage, Deal)); 9] = [
            ("not enabled", Stage::invited()),
            ("not enabled, with a bond", Stage::bonded()),
            (
                "before the seller takes part",
                Stage::created_with_bond(&Stage::sealed_terms()),
            ),
            ("when prices are revealed", Stage::buyer_revealed()),
            ("when the midpoint stands", Stage::with_midpoint()),
            ("when it is over", Stage::without_zone()),
            ("when it was rejected", rejected()),
            ("when it was settled", Stage::settled()),
            ("when it has expired", Stage::expired()),
        ];
        for (point, (mut stage, deal)) in points {
            for who in [BUYER, SELLER, STRANGER] {
                println!("{point}");
                let call = stage.commit(&deal, who, COMMITMENT);
                stage.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn a_stranger_cannot() {
        for (mut stage, deal) in [Stage::sealed(), Stage::buyer_committed()] {
            let call = stage.commit(&deal, STRANGER, COMMITMENT);
            stage.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn zeros_stand_for_no_commitment() {
        for (who, (mut stage, deal)) in
            [(BUYER, Stage::sealed()), (SELLER, Stage::buyer_committed())]
        {
            let call = stage.commit(&deal, who, [0; 32]);
            stage.refuses(&call, HaggleError::InvalidParams);
            for at in 0..32 {
                let mut commitment = [0; 32];
                commitment[at] = 1;
                let call = stage.commit(&deal, who, commitment);
                stage.clone().run(&call).succeeds();
            }
        }
    }

    #[test]
    fn one_second_too_late_is_too_late() {
        for (who, (mut stage, deal)) in
            [(BUYER, Stage::sealed()), (SELLER, Stage::buyer_committed())]
        {
            let deadline = stage.negotiation(&deal).turn_deadline;
            assert_eq!(deadline, NOW + 300);
            let call = stage.commit(&deal, who, COMMITMENT);
            for late in [deadline, deadline + 1, NOW + 3_599] {
                stage
                    .at(late)
                    .refuses(&call, HaggleError::ResponseWindowExpired);
            }
            for late in [NOW + 3_600, i64::MAX] {
                stage.at(late).refuses(&call, HaggleError::Expired);
            }
            stage.now = deadline - 1;
            stage.run(&call).succeeds();
        }
    }

    #[test]
    fn the_turn_ends_with_the_negotiation() {
        let mut terms = Stage::sealed_terms();
        terms.response_window = 3_600;
        for (at, turn_deadline) in [(0, 3_600), (1, 3_600), (3_599, 3_600)] {
            let (mut stage, deal) = Stage::bonded_with(&terms);
            stage.now = NOW + at;
            let call = stage.commit(&deal, BUYER, COMMITMENT);
            stage.run(&call).succeeds();
            assert_eq!(
                { stage.negotiation(&deal).turn_deadline },
                NOW + turn_deadline
            );
            let call = stage.commit(&deal, SELLER, COMMITMENT);
            stage.at(NOW + 3_600).refuses(&call, HaggleError::Expired);
            stage.at(NOW + 3_599).run(&call).succeeds();
        }
    }

    #[test]
    fn the_first_reason_to_refuse_is_the_one_that_is_told() {
        // Each step takes away the reason that was told before: argument, status, clock, party, turn.
        let (mut stage, deal) = Stage::buyer_committed();
        let skipped = Stage::bonded().0;
        let late = NOW + 300;
        let zeros = stage.commit(&deal, STRANGER, [0; 32]);
        let by_stranger = stage.commit(&deal, STRANGER, COMMITMENT);
        skipped.at(late).refuses(&zeros, HaggleError::InvalidParams);
        skipped
            .at(late)
            .refuses(&by_stranger, HaggleError::InvalidState);
        stage
            .at(late)
            .refuses(&by_stranger, HaggleError::ResponseWindowExpired);
        stage.refuses(&by_stranger, HaggleError::Unauthorized);
        let by_buyer = stage.commit(&deal, BUYER, COMMITMENT);
        stage.refuses(&by_buyer, HaggleError::NotYourTurn);
    }

    #[test]
    fn prices_are_compared_only_while_nothing_is_offered() {
        let (mut stage, deal) = Stage::sealed();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.status = NegotiationStatus::Countered;
        stage.set_negotiation(&deal, &negotiation);
        let call = stage.commit(&deal, BUYER, COMMITMENT);
        stage.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn a_clock_at_the_end_of_time_is_refused() {
        let (mut stage, deal) = Stage::sealed();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.global_deadline = i64::MAX;
        negotiation.turn_deadline = i64::MAX;
        stage.set_negotiation(&deal, &negotiation);
        let call = stage.commit(&deal, BUYER, COMMITMENT);
        stage
            .at(i64::MAX - 299)
            .refuses(&call, HaggleError::Overflow);
        stage.now = i64::MAX - 300;
        stage.run(&call).succeeds();
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::sealed();
        stage.pause();
        stage.commits(&deal, BUYER, BUYER_PRICE);
        stage.commits(&deal, SELLER, SELLER_PRICE);
    }
}
