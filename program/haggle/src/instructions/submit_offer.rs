//! One side offers a price.

use crate::error::{HaggleError, Result};
use crate::event::OfferSubmitted;
use crate::math::bps;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::{metadata, Negotiation, NegotiationStatus, OfferSide};
use pinocchio::AccountView;

instruction! {
    /// Offers a price. An offer starts the next round, whose decay is taken from the escrow. The buyer opens,
    /// then turns alternate.
    pub fn submit_offer(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The negotiation's current_round, as the signer saw it.
        expected_round: u8,
        /// The price in the mint's base units, from the minimum offer to the effective escrow after this
        /// round's decay.
        amount: u64,
        /// The requested extension of the deadline in seconds; 0 for none. If the previous offer's request is
        /// pending, the smaller request is granted and neither stays pending.
        deadline_extension: u32,
        /// Structured metadata with a known kind: 0, 1 or 2.
        metadata: [u8; 64],
    );
    accounts<'a> {
        /// The party whose turn it is.
        offerer: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
    }
    effects {
        result: "offered",
        actors: &[Actor { account: "offerer", role: Role::Party }],
        guards: &[
            Guard::CreatedAtIs("created_at"),
            Guard::Status,
            Guard::RoundIs("expected_round"),
            Guard::ZopaStep,
        ],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[],
        events: &["OfferSubmitted"],
    }
}

/// Makes the offer the current one.
///
/// # Errors
/// InvalidParams, InvalidState, NoZopa, Expired, ResponseWindowExpired, Unauthorized, StaleState,
/// NotYourTurn, MaxRoundsReached, OfferTooLow, OfferExceedsEscrow.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let (mut negotiation, offerer) = (accounts.negotiation, accounts.offerer.address());

    metadata::check(&args.metadata)?;
    let extension = negotiation.agree_on_extension(args.deadline_extension)?;
    negotiation.check_bargaining()?;
    negotiation.check_compared()?;
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(offerer)?;
    negotiation.check_round(args.created_at, args.expected_round)?;
    if side != negotiation.turn() {
        return Err(HaggleError::NotYourTurn.into());
    }
    if negotiation.current_round >= negotiation.max_rounds {
        return Err(HaggleError::MaxRoundsReached.into());
    }
    let amount = args.amount;
    let escrow = negotiation.escrow_after_round()?;
    if amount < bps::floored(escrow, negotiation.min_offer_bps) {
        return Err(HaggleError::OfferTooLow.into());
    }
    if amount > escrow {
        return Err(HaggleError::OfferExceedsEscrow.into());
    }

    negotiation.effective_escrow = escrow;
    negotiation.current_offer_amount = amount;
    negotiation.current_offer_by = *offerer;
    negotiation.offer_side = side;
    negotiation.current_round = negotiation
        .current_round
        .checked_add(1)
        .ok_or(HaggleError::Overflow)?;
    negotiation.last_offer_at = now;
    negotiation.metadata = args.metadata;
    negotiation.status = if side == OfferSide::Buyer {
        NegotiationStatus::Proposed
    } else {
        NegotiationStatus::Countered
    };
    negotiation.global_deadline = extension.global_deadline;
    negotiation.pending_extension = extension.pending;
    negotiation.start_turn(now)?;

    OfferSubmitted {
        negotiation_id: *negotiation.address(),
        offerer: *offerer,
        amount,
        round: negotiation.current_round,
        effective_escrow: escrow,
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
        args_of, assert_negotiation, event, Call, Deal, Fixture, BUYER, CREATED, ESCROW, NOW,
        OFFER, SELLER, STRANGER,
    };
    use pinocchio::Address;

    /// The escrow after one and after two rounds of 200 bps.
    const AFTER_1: u64 = 4_900_000;
    const AFTER_2: u64 = 4_802_000;

    fn call_with(
        fixture: &Fixture,
        deal: &Deal,
        offerer: Address,
        change: impl FnOnce(&mut Args),
    ) -> Call {
        let mut args = Args {
            created_at: fixture.created_at(deal),
            expected_round: fixture.negotiation(deal).current_round,
            amount: OFFER,
            deadline_extension: 0,
            metadata: [0; 64],
        };
        change(&mut args);
        fixture.call("submit_offer", deal, offerer, args_of(&args))
    }

    #[test]
    fn the_buyer_opens_and_the_seller_counters() {
        let (mut fixture, deal) = Fixture::invited();
        let before = fixture.clone();
        let mut metadata = [0; 64];
        metadata[..6].copy_from_slice(&[1, 3, 0xe8, 3, 0, 0]);
        fixture.now = NOW + 10;
        let call = fixture.offer_with(&deal, BUYER, OFFER, &metadata);
        fixture.run(&call).succeeds().emitted(&[event(
            OfferSubmitted::RECORD,
            &OfferSubmitted {
                negotiation_id: deal.negotiation,
                offerer: BUYER,
                amount: OFFER,
                round: 1,
                effective_escrow: AFTER_1,
                timestamp: NOW + 10,
            },
        )]);
        let opened = Negotiation {
            status: NegotiationStatus::Proposed,
            current_round: 1,
            current_offer_amount: OFFER,
            current_offer_by: BUYER,
            offer_side: OfferSide::Buyer,
            effective_escrow: AFTER_1,
            last_offer_at: NOW + 10,
            metadata,
            turn_deadline: NOW + 310,
            ..before.negotiation(&deal)
        };
        assert_negotiation(&fixture.negotiation(&deal), &opened);

        fixture.now = NOW + 20;
        let call = fixture.offer(&deal, SELLER, 4_000_000);
        fixture.run(&call).succeeds().emitted(&[event(
            OfferSubmitted::RECORD,
            &OfferSubmitted {
                negotiation_id: deal.negotiation,
                offerer: SELLER,
                amount: 4_000_000,
                round: 2,
                effective_escrow: AFTER_2,
                timestamp: NOW + 20,
            },
        )]);
        let countered = Negotiation {
            status: NegotiationStatus::Countered,
            current_round: 2,
            current_offer_amount: 4_000_000,
            current_offer_by: SELLER,
            offer_side: OfferSide::Seller,
            effective_escrow: AFTER_2,
            last_offer_at: NOW + 20,
            metadata: [0; 64],
            turn_deadline: NOW + 320,
            ..opened
        };
        assert_negotiation(&fixture.negotiation(&deal), &countered);
        for (address, account) in &before.accounts {
            if *address != deal.negotiation {
                assert!(fixture.account(address) == *account);
            }
        }
    }

    #[test]
    fn six_rounds_decay_as_published() {
        let (mut fixture, deal) = Fixture::invited();
        for (round, escrow) in [
            4_900_000, 4_802_000, 4_705_960, 4_611_841, 4_519_604, 4_429_212,
        ]
        .into_iter()
        .enumerate()
        {
            let who = if round % 2 == 0 { BUYER } else { SELLER };
            let call = fixture.offer(&deal, who, OFFER);
            fixture.run(&call).succeeds();
            assert_eq!({ fixture.negotiation(&deal).effective_escrow }, escrow);
        }
        assert_eq!(
            ESCROW - { fixture.negotiation(&deal).effective_escrow },
            570_788
        );
    }

    #[test]
    fn ten_rounds_decay_by_18_3_percent() {
        let mut terms = Fixture::terms();
        terms.max_rounds = 10;
        let (mut fixture, deal) = Fixture::invited_with(&terms);
        for round in 0..10 {
            let who = if round % 2 == 0 { BUYER } else { SELLER };
            let call = fixture.offer(&deal, who, OFFER);
            fixture.run(&call).succeeds();
        }
        let lost = ESCROW - { fixture.negotiation(&deal).effective_escrow };
        assert_eq!(lost * 1_000 / ESCROW, 182);
        assert_eq!((lost * 10_000 / ESCROW + 5) / 10, 183);
    }

    #[test]
    fn without_decay_the_escrow_stays() {
        let mut terms = Fixture::terms();
        terms.decay_rate_bps = 0;
        let (mut fixture, deal) = Fixture::invited_with(&terms);
        let call = fixture.offer(&deal, BUYER, ESCROW);
        fixture.run(&call).succeeds();
        assert_eq!({ fixture.negotiation(&deal).effective_escrow }, ESCROW);
    }

    #[test]
    fn the_seller_cannot_open() {
        let (mut fixture, deal) = Fixture::invited();
        let call = fixture.offer(&deal, SELLER, OFFER);
        fixture.refuses(&call, HaggleError::NotYourTurn);
    }

    #[test]
    fn a_side_cannot_offer_twice_in_a_row() {
        let (mut fixture, deal) = Fixture::offered();
        let call = fixture.offer(&deal, BUYER, OFFER);
        fixture.refuses(&call, HaggleError::NotYourTurn);
        let (mut fixture, deal) = Fixture::countered();
        let call = fixture.offer(&deal, SELLER, OFFER);
        fixture.refuses(&call, HaggleError::NotYourTurn);
    }

    #[test]
    fn a_stranger_cannot_offer() {
        let (mut fixture, deal) = Fixture::invited();
        let call = fixture.offer(&deal, STRANGER, OFFER);
        fixture.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn an_offer_needs_an_accepted_invitation() {
        let (mut fixture, deal) = Fixture::created();
        for who in [BUYER, SELLER] {
            let call = fixture.offer(&deal, who, OFFER);
            fixture.refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn an_offer_above_the_escrow_is_refused() {
        let (mut fixture, deal) = Fixture::invited();
        let call = fixture.offer(&deal, BUYER, AFTER_1 + 1);
        fixture.refuses(&call, HaggleError::OfferExceedsEscrow);
        let call = fixture.offer(&deal, BUYER, u64::MAX);
        fixture.refuses(&call, HaggleError::OfferExceedsEscrow);
        let call = fixture.offer(&deal, BUYER, AFTER_1);
        fixture.run(&call).succeeds();
        let call = fixture.offer(&deal, SELLER, AFTER_2 + 1);
        fixture.refuses(&call, HaggleError::OfferExceedsEscrow);
        let call = fixture.offer(&deal, SELLER, AFTER_2);
        fixture.run(&call).succeeds();
    }

    #[test]
    fn an_offer_below_the_minimum_is_refused() {
        let (mut fixture, deal) = Fixture::invited();
        let call = fixture.offer(&deal, BUYER, AFTER_1 / 10 - 1);
        fixture.refuses(&call, HaggleError::OfferTooLow);
        let call = fixture.offer(&deal, BUYER, 0);
        fixture.refuses(&call, HaggleError::OfferTooLow);
        let call = fixture.offer(&deal, BUYER, AFTER_1 / 10);
        fixture.run(&call).succeeds();
    }

    #[test]
    fn the_minimum_is_rounded_down() {
        let mut terms = Fixture::terms();
        terms.escrow_amount = 100_001;
        terms.decay_rate_bps = 0;
        terms.min_offer_bps = 8_999;
        let (mut fixture, deal) = Fixture::invited_with(&terms);
        // 100,001 * 0.8999 = 89,990.8999
        let call = fixture.offer(&deal, BUYER, 89_989);
        fixture.refuses(&call, HaggleError::OfferTooLow);
        let call = fixture.offer(&deal, BUYER, 89_990);
        fixture.run(&call).succeeds();
    }

    #[test]
    fn all_rounds_can_be_used_and_no_more() {
        for max_rounds in [1, 2, 20] {
            let mut terms = Fixture::terms();
            terms.max_rounds = max_rounds;
            let (mut fixture, deal) = Fixture::invited_with(&terms);
            let who = |round: u8| [BUYER, SELLER][usize::from(round % 2)];
            for round in 0..max_rounds {
                let call = fixture.offer(&deal, who(round), OFFER);
                fixture.run(&call).succeeds();
            }
            let call = fixture.offer(&deal, who(max_rounds), OFFER);
            fixture.refuses(&call, HaggleError::MaxRoundsReached);
        }
    }

    #[test]
    fn an_offer_after_the_turn_is_refused() {
        let (mut fixture, deal) = Fixture::invited();
        let deadline = fixture.negotiation(&deal).turn_deadline;
        assert_eq!(deadline, NOW + 300);
        let call = fixture.offer(&deal, BUYER, OFFER);
        for late in [deadline, deadline + 1] {
            fixture.now = late;
            fixture.refuses(&call, HaggleError::ResponseWindowExpired);
        }
        fixture.now = NOW + 3_599;
        fixture.refuses(&call, HaggleError::ResponseWindowExpired);
        fixture.now = NOW + 3_600;
        fixture.refuses(&call, HaggleError::Expired);
        fixture.now = deadline - 1;
        fixture.run(&call).succeeds();
    }

    #[test]
    fn the_turn_ends_by_the_global_deadline() {
        let mut terms = Fixture::terms();
        terms.response_window = 3_600;
        terms.global_deadline = NOW + 600;
        let (mut fixture, deal) = Fixture::invited_with(&terms);
        fixture.now = NOW + 599;
        let call = fixture.offer(&deal, BUYER, OFFER);
        fixture.run(&call).succeeds();
        assert_eq!({ fixture.negotiation(&deal).turn_deadline }, NOW + 600);
        let call = fixture.offer(&deal, SELLER, OFFER);
        fixture.now = NOW + 600;
        fixture.refuses(&call, HaggleError::Expired);
    }

    #[test]
    fn an_offer_for_another_round_is_stale() {
        let (mut fixture, deal) = Fixture::countered();
        for round in [0, 1, 3, u8::MAX] {
            let call = call_with(&fixture, &deal, BUYER, |args| args.expected_round = round);
            fixture.refuses(&call, HaggleError::StaleState);
        }
    }

    #[test]
    fn an_offer_waits_for_the_comparison() {
        for (mut fixture, deal) in [
            Fixture::sealed(),
            Fixture::buyer_committed(),
            Fixture::both_committed(),
            Fixture::buyer_revealed(),
        ] {
            for who in [BUYER, SELLER, STRANGER] {
                let call = fixture.offer(&deal, who, OFFER);
                fixture.refuses(&call, HaggleError::InvalidState);
                let call = fixture.accept_offer(&deal, who);
                fixture.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn metadata_is_structured() {
        // For every kind, any bytes are valid up to the last field's end; no kind holds text.
        for (kind, end, is_accepted) in [
            (0, 1, true),
            (0, 2, false),
            (1, 1, true),
            (1, 50, true),
            (1, 51, false),
            (1, 64, false),
            (2, 1, true),
            (2, 33, true),
            (2, 34, false),
            (2, 64, false),
            (3, 1, false),
            (b'{', 1, false),
            (u8::MAX, 1, false),
        ] {
            let (mut fixture, deal) = Fixture::invited();
            let mut metadata = [0; 64];
            metadata[..end].fill(0xa5);
            metadata[0] = kind;
            let call = fixture.offer_with(&deal, BUYER, OFFER, &metadata);
            if is_accepted {
                fixture.run(&call).succeeds();
                assert_eq!({ fixture.negotiation(&deal).metadata }, metadata);
            } else {
                fixture.refuses(&call, HaggleError::InvalidParams);
            }
        }
        // Two equal words after the fields.
        let (mut fixture, deal) = Fixture::invited();
        let mut metadata = [0; 64];
        (metadata[0], metadata[40], metadata[48]) = (2, 0xa5, 0xa5);
        let call = fixture.offer_with(&deal, BUYER, OFFER, &metadata);
        fixture.refuses(&call, HaggleError::InvalidParams);
    }

    #[test]
    fn the_first_error_in_the_order_of_the_checks_wins() {
        // Each step corrects the fault of the step before: arguments, status, clock, party, state, turn,
        // rounds.
        let (created, deal) = Fixture::created();
        let mut terms = Fixture::terms();
        terms.max_rounds = 1;
        let (mut fixture, _) = Fixture::invited_with(&terms);
        let call = fixture.offer(&deal, BUYER, OFFER);
        fixture.run(&call).succeeds();
        let mut args = Args {
            created_at: CREATED,
            expected_round: 9,
            amount: 0,
            deadline_extension: u32::MAX,
            metadata: [3; 64],
        };
        let call = |signer, args: &Args| created.call("submit_offer", &deal, signer, args_of(args));

        let late = NOW + 300;
        created
            .at(late)
            .refuses(&call(STRANGER, &args), HaggleError::InvalidParams);
        args.metadata = [0; 64];
        let mut asked = created.at(late);
        let mut negotiation = asked.negotiation(&deal);
        negotiation.pending_extension = u32::MAX;
        asked.set_negotiation(&deal, &negotiation);
        asked.refuses(&call(STRANGER, &args), HaggleError::InvalidParams);
        args.deadline_extension = 0;
        created
            .at(late)
            .refuses(&call(STRANGER, &args), HaggleError::InvalidState);
        fixture
            .at(late)
            .refuses(&call(STRANGER, &args), HaggleError::ResponseWindowExpired);
        fixture.refuses(&call(STRANGER, &args), HaggleError::Unauthorized);
        fixture.refuses(&call(BUYER, &args), HaggleError::StaleState);
        args.expected_round = 1;
        fixture.refuses(&call(BUYER, &args), HaggleError::NotYourTurn);
        fixture.refuses(&call(SELLER, &args), HaggleError::MaxRoundsReached);
    }

    #[test]
    fn a_turn_that_ends_beyond_the_clock_overflows() {
        let (mut fixture, deal) = Fixture::invited();
        let mut negotiation = fixture.negotiation(&deal);
        negotiation.global_deadline = i64::MAX;
        negotiation.turn_deadline = i64::MAX;
        fixture.set_negotiation(&deal, &negotiation);
        let call = fixture.offer(&deal, BUYER, OFFER);
        fixture
            .at(i64::MAX - 299)
            .refuses(&call, HaggleError::Overflow);
        fixture.now = i64::MAX - 300;
        fixture.run(&call).succeeds();
    }
}
