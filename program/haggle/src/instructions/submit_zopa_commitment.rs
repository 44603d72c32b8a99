//! One side commits to a reservation price.

use crate::error::{HaggleError, Result};
use crate::event::ZopaCommitted;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::zopa::Step;
use crate::state::{Negotiation, OfferSide, ZopaPhase};
use pinocchio::AccountView;

instruction! {
    /// Commits to a reservation price: the buyer first, then the seller, each within their own turn. The hash
    /// covers the deal and the party, so the commitment is useless to the counterparty and in later deals.
    pub fn submit_zopa_commitment(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// SHA-256 of "haggle-zopa", the negotiation's address and created_at (i64, little endian), the
        /// signer's address, then the price (u64, little endian) and a nonce of 32 random bytes.
        /// reveal_zopa_price must accept the price. Zeros are InvalidParams.
        commitment: [u8; 32],
    );
    accounts<'a> {
        /// The party whose turn it is.
        agent: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
    }
    effects {
        result: "price committed",
        actors: &[Actor { account: "agent", role: Role::Party }],
        guards: &[Guard::CreatedAtIs("created_at"), Guard::Status, Guard::ZopaStep],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[],
        events: &["ZopaCommitted"],
    }
}

/// Stores the commitment.
///
/// # Errors
/// InvalidParams for zeros, InvalidState if no commitment is due, Expired, ResponseWindowExpired,
/// Unauthorized, StaleState, NotYourTurn.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let (mut negotiation, agent) = (accounts.negotiation, accounts.agent.address());

    if args.commitment == [0; 32] {
        return Err(HaggleError::InvalidParams.into());
    }
    let Step::Commit(due) = negotiation.zopa_step()? else {
        return Err(HaggleError::InvalidState.into());
    };
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(agent)?;
    negotiation.check_deal(args.created_at)?;
    if side != due {
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
        negotiation_id: *negotiation.address(),
        agent: *agent,
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
    use crate::tests::fixture::{
        assert_negotiation, event, Deal, Fixture, BUYER, BUYER_PRICE, NOW, SELLER, SELLER_PRICE,
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
        let (mut fixture, deal) = Fixture::sealed();
        let before = fixture.clone();
        fixture.now = NOW + 10;
        let sealed = fixture.commitment(&deal, BUYER, BUYER_PRICE);
        let call = fixture.commit(&deal, BUYER, sealed);
        let phase = ZopaPhase::BuyerCommitted;
        fixture
            .run(&call)
            .succeeds()
            .emitted(&[committed_event(&deal, BUYER, phase, NOW + 10)]);
        let by_buyer = Negotiation {
            buyer_commitment: sealed,
            zopa_phase: phase,
            turn_deadline: NOW + 310,
            ..before.negotiation(&deal)
        };
        assert_negotiation(&fixture.negotiation(&deal), &by_buyer);

        fixture.now = NOW + 20;
        let sealed = fixture.commitment(&deal, SELLER, SELLER_PRICE);
        let call = fixture.commit(&deal, SELLER, sealed);
        let phase = ZopaPhase::BothCommitted;
        fixture
            .run(&call)
            .succeeds()
            .emitted(&[committed_event(&deal, SELLER, phase, NOW + 20)]);
        let by_both = Negotiation {
            seller_commitment: sealed,
            zopa_phase: phase,
            turn_deadline: NOW + 320,
            ..by_buyer
        };
        assert_negotiation(&fixture.negotiation(&deal), &by_both);
        fixture.assert_untouched_since(&before, &[deal.negotiation]);
    }

    #[test]
    fn the_buyer_commits_first() {
        let (mut fixture, deal) = Fixture::sealed();
        let call = fixture.commit(&deal, SELLER, COMMITMENT);
        fixture.refuses(&call, HaggleError::NotYourTurn);
    }

    #[test]
    fn a_commitment_is_final() {
        let (mut fixture, deal) = Fixture::buyer_committed();
        let call = fixture.commit(&deal, BUYER, COMMITMENT);
        fixture.refuses(&call, HaggleError::NotYourTurn);
        let (mut fixture, deal) = Fixture::both_committed();
        for who in [BUYER, SELLER, STRANGER] {
            let call = fixture.commit(&deal, who, COMMITMENT);
            fixture.refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn a_commitment_needs_its_phase() {
        let rejected = || {
            let (mut fixture, deal) = Fixture::buyer_committed();
            let call = fixture
                .reject(&deal, BUYER)
                .given("seller_token_account", deal.seller_token_account);
            fixture.run(&call).succeeds();
            (fixture, deal)
        };
        let points: [(&str, (Fixture, Deal)); 9] = [
            ("not enabled", Fixture::invited()),
            ("not enabled, with a bond", Fixture::bonded()),
            (
                "invitation open",
                Fixture::created_with_bond(&Fixture::sealed_terms()),
            ),
            ("a price revealed", Fixture::buyer_revealed()),
            ("with a midpoint", Fixture::with_midpoint()),
            ("without a zone", Fixture::without_zone()),
            ("rejected", rejected()),
            ("settled", Fixture::settled()),
            ("expired", Fixture::expired()),
        ];
        for (point, (mut fixture, deal)) in points {
            for who in [BUYER, SELLER, STRANGER] {
                println!("{point}");
                let call = fixture.commit(&deal, who, COMMITMENT);
                fixture.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn a_stranger_cannot_commit() {
        for (mut fixture, deal) in [Fixture::sealed(), Fixture::buyer_committed()] {
            let call = fixture.commit(&deal, STRANGER, COMMITMENT);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn zeros_are_not_a_commitment() {
        for (who, (mut fixture, deal)) in [
            (BUYER, Fixture::sealed()),
            (SELLER, Fixture::buyer_committed()),
        ] {
            let call = fixture.commit(&deal, who, [0; 32]);
            fixture.refuses(&call, HaggleError::InvalidParams);
            for at in 0..32 {
                let mut commitment = [0; 32];
                commitment[at] = 1;
                let call = fixture.commit(&deal, who, commitment);
                fixture.clone().run(&call).succeeds();
            }
        }
    }

    #[test]
    fn a_commitment_after_the_turn_is_refused() {
        for (who, (mut fixture, deal)) in [
            (BUYER, Fixture::sealed()),
            (SELLER, Fixture::buyer_committed()),
        ] {
            let deadline = fixture.negotiation(&deal).turn_deadline;
            assert_eq!(deadline, NOW + 300);
            let call = fixture.commit(&deal, who, COMMITMENT);
            for late in [deadline, deadline + 1, NOW + 3_599] {
                fixture
                    .at(late)
                    .refuses(&call, HaggleError::ResponseWindowExpired);
            }
            for late in [NOW + 3_600, i64::MAX] {
                fixture.at(late).refuses(&call, HaggleError::Expired);
            }
            fixture.now = deadline - 1;
            fixture.run(&call).succeeds();
        }
    }

    #[test]
    fn the_turn_ends_by_the_global_deadline() {
        let mut terms = Fixture::sealed_terms();
        terms.response_window = 3_600;
        for (at, turn_deadline) in [(0, 3_600), (1, 3_600), (3_599, 3_600)] {
            let (mut fixture, deal) = Fixture::bonded_with(&terms);
            fixture.now = NOW + at;
            let call = fixture.commit(&deal, BUYER, COMMITMENT);
            fixture.run(&call).succeeds();
            assert_eq!(
                { fixture.negotiation(&deal).turn_deadline },
                NOW + turn_deadline
            );
            let call = fixture.commit(&deal, SELLER, COMMITMENT);
            fixture.at(NOW + 3_600).refuses(&call, HaggleError::Expired);
            fixture.at(NOW + 3_599).run(&call).succeeds();
        }
    }

    #[test]
    fn the_first_error_in_the_order_of_the_checks_wins() {
        // Each step corrects the fault of the step before: argument, status, clock, party, turn.
        let (mut fixture, deal) = Fixture::buyer_committed();
        let skipped = Fixture::bonded().0;
        let late = NOW + 300;
        let zeros = fixture.commit(&deal, STRANGER, [0; 32]);
        let by_stranger = fixture.commit(&deal, STRANGER, COMMITMENT);
        skipped.at(late).refuses(&zeros, HaggleError::InvalidParams);
        skipped
            .at(late)
            .refuses(&by_stranger, HaggleError::InvalidState);
        fixture
            .at(late)
            .refuses(&by_stranger, HaggleError::ResponseWindowExpired);
        fixture.refuses(&by_stranger, HaggleError::Unauthorized);
        let by_buyer = fixture.commit(&deal, BUYER, COMMITMENT);
        fixture.refuses(&by_buyer, HaggleError::NotYourTurn);
    }

    #[test]
    fn a_commitment_needs_the_status_before_the_first_offer() {
        let (mut fixture, deal) = Fixture::sealed();
        let mut negotiation = fixture.negotiation(&deal);
        negotiation.status = NegotiationStatus::Countered;
        fixture.set_negotiation(&deal, &negotiation);
        let call = fixture.commit(&deal, BUYER, COMMITMENT);
        fixture.refuses(&call, HaggleError::InvalidState);
    }

    #[test]
    fn a_turn_that_ends_beyond_the_clock_overflows() {
        let (mut fixture, deal) = Fixture::sealed();
        let mut negotiation = fixture.negotiation(&deal);
        negotiation.global_deadline = i64::MAX;
        negotiation.turn_deadline = i64::MAX;
        fixture.set_negotiation(&deal, &negotiation);
        let call = fixture.commit(&deal, BUYER, COMMITMENT);
        fixture
            .at(i64::MAX - 299)
            .refuses(&call, HaggleError::Overflow);
        fixture.now = i64::MAX - 300;
        fixture.run(&call).succeeds();
    }
}
