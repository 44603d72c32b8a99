//! One side offers a price.

use crate::error::HaggleError;
use crate::event::OfferSubmitted;
use crate::math::bps;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::{Negotiation, NegotiationStatus, OfferSide};
use crate::{runtime::sysvar, state::metadata};
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Offers a price, which opens the next round and takes its decay from the escrow. The buyer opens, then turns alternate.
    /// (The seller's offer is what the specification's diagram calls submit_counter_offer.)
    pub fn submit_offer(
        /// The round that the signer has seen.
        expected_round: u8,
        /// The price, in base units of the mint: at least the minimum offer and at most the escrow after this round's decay.
        amount: u64,
        /// How many seconds longer the negotiation should take. Once both sides have asked for more time with offers that
        /// follow each other, the smaller of the two is granted.
        deadline_extension: u32,
        /// Structured metadata: all zeros, or kind 1.
        metadata: [u8; 64],
    );
    accounts {
        /// The party whose turn it is.
        offerer: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
    }
}

/// Makes the offer the current one.
///
/// # Errors
/// InvalidParams, InvalidState, NoZopa, Expired, ResponseWindowExpired, Unauthorized, StaleState, NotYourTurn, MaxRoundsReached,
/// OfferTooLow, OfferExceedsEscrow.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let offerer = *accounts.offerer.address();
    // SAFETY: `load` has checked the account, and nothing else borrows it.
    let negotiation = unsafe { Negotiation::of(&mut accounts.negotiation) };

    metadata::check(&args.metadata)?;
    let extension = negotiation.agree_on_extension(args.deadline_extension)?;
    negotiation.check_bargaining()?;
    negotiation.check_compared()?;
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(&offerer)?;
    if args.expected_round != negotiation.current_round {
        return Err(HaggleError::StaleState.into());
    }
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
    negotiation.current_offer_by = offerer;
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
        negotiation_id: id,
        offerer,
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
    use crate::state::BondState;
    use crate::tests::stage::{
        args_of, assert_negotiation, assert_shares, event, Call, Deal, Stage, BUYER, ESCROW, FUNDS,
        MIDPOINT, NOW, OFFER, SELLER, SELLER_FUNDS, STRANGER,
    };
    use pinocchio::Address;

    /// The escrow after one and after two rounds of 200 bps.
    const AFTER_1: u64 = 4_900_000;
    const AFTER_2: u64 = 4_802_000;

    fn call_with(
        stage: &Stage,
        deal: &Deal,
        offerer: Address,
        change: impl FnOnce(&mut Args),
    ) -> Call {
        let mut args = Args {
            expected_round: stage.negotiation(deal).current_round,
            amount: OFFER,
            deadline_extension: 0,
            metadata: [0; 64],
        };
        change(&mut args);
        stage.call("submit_offer", deal, offerer, args_of(&args))
    }

    #[test]
    fn the_buyer_opens_and_the_seller_counters() {
        let (mut stage, deal) = Stage::invited();
        let before = stage.clone();
        let mut metadata = [0; 64];
        metadata[..6].copy_from_slice(&[1, 3, 0xe8, 3, 0, 0]);
        stage.now = NOW + 10;
        let call = stage.offer_with(&deal, BUYER, OFFER, &metadata);
        stage.run(&call).succeeds().emitted(&[event(
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
        assert_negotiation(&stage.negotiation(&deal), &opened);

        stage.now = NOW + 20;
        let call = stage.offer(&deal, SELLER, 4_000_000);
        stage.run(&call).succeeds().emitted(&[event(
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
        assert_negotiation(&stage.negotiation(&deal), &countered);
        for (address, account) in &before.accounts {
            if *address != deal.negotiation {
                assert!(stage.account(address) == *account);
            }
        }
    }

    #[test]
    fn six_rounds_decay_as_published() {
        let (mut stage, deal) = Stage::invited();
        for (round, escrow) in [
            4_900_000, 4_802_000, 4_705_960, 4_611_841, 4_519_604, 4_429_212,
        ]
        .into_iter()
        .enumerate()
        {
            let who = if round % 2 == 0 { BUYER } else { SELLER };
            let call = stage.offer(&deal, who, OFFER);
            stage.run(&call).succeeds();
            assert_eq!({ stage.negotiation(&deal).effective_escrow }, escrow);
        }
        assert_eq!(
            ESCROW - { stage.negotiation(&deal).effective_escrow },
            570_788
        );
    }

    #[test]
    fn ten_rounds_decay_by_18_3_percent() {
        let mut terms = Stage::terms();
        terms.max_rounds = 10;
        let (mut stage, deal) = Stage::invited_with(&terms);
        for round in 0..10 {
            let who = if round % 2 == 0 { BUYER } else { SELLER };
            let call = stage.offer(&deal, who, OFFER);
            stage.run(&call).succeeds();
        }
        let lost = ESCROW - { stage.negotiation(&deal).effective_escrow };
        assert_eq!(lost * 1_000 / ESCROW, 182);
        assert_eq!((lost * 10_000 / ESCROW + 5) / 10, 183);
    }

    #[test]
    fn without_decay_the_escrow_stays() {
        let mut terms = Stage::terms();
        terms.decay_rate_bps = 0;
        let (mut stage, deal) = Stage::invited_with(&terms);
        let call = stage.offer(&deal, BUYER, ESCROW);
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&deal).effective_escrow }, ESCROW);
    }

    #[test]
    fn seller_cannot_open() {
        let (mut stage, deal) = Stage::invited();
        let call = stage.offer(&deal, SELLER, OFFER);
        stage.refuses(&call, HaggleError::NotYourTurn);
    }

    #[test]
    fn nobody_offers_twice_in_a_row() {
        let (mut stage, deal) = Stage::offered();
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.refuses(&call, HaggleError::NotYourTurn);
        let (mut stage, deal) = Stage::countered();
        let call = stage.offer(&deal, SELLER, OFFER);
        stage.refuses(&call, HaggleError::NotYourTurn);
    }

    #[test]
    fn a_stranger_cannot_offer() {
        let (mut stage, deal) = Stage::invited();
        let call = stage.offer(&deal, STRANGER, OFFER);
        stage.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn nobody_offers_before_the_seller_takes_part() {
        let (mut stage, deal) = Stage::created();
        for who in [BUYER, SELLER] {
            let call = stage.offer(&deal, who, OFFER);
            stage.refuses(&call, HaggleError::InvalidState);
        }
    }

    #[test]
    fn offer_one_unit_above_the_escrow_is_refused() {
        let (mut stage, deal) = Stage::invited();
        let call = stage.offer(&deal, BUYER, AFTER_1 + 1);
        stage.refuses(&call, HaggleError::OfferExceedsEscrow);
        let call = stage.offer(&deal, BUYER, u64::MAX);
        stage.refuses(&call, HaggleError::OfferExceedsEscrow);
        let call = stage.offer(&deal, BUYER, AFTER_1);
        stage.run(&call).succeeds();
        let call = stage.offer(&deal, SELLER, AFTER_2 + 1);
        stage.refuses(&call, HaggleError::OfferExceedsEscrow);
        let call = stage.offer(&deal, SELLER, AFTER_2);
        stage.run(&call).succeeds();
    }

    #[test]
    fn offer_one_unit_below_the_minimum_is_refused() {
        let (mut stage, deal) = Stage::invited();
        let call = stage.offer(&deal, BUYER, AFTER_1 / 10 - 1);
        stage.refuses(&call, HaggleError::OfferTooLow);
        let call = stage.offer(&deal, BUYER, 0);
        stage.refuses(&call, HaggleError::OfferTooLow);
        let call = stage.offer(&deal, BUYER, AFTER_1 / 10);
        stage.run(&call).succeeds();
    }

    #[test]
    fn the_minimum_is_rounded_down() {
        let mut terms = Stage::terms();
        terms.escrow_amount = 100_001;
        terms.decay_rate_bps = 0;
        terms.min_offer_bps = 8_999;
        let (mut stage, deal) = Stage::invited_with(&terms);
        // 100,001 * 0.8999 = 89,990.8999
        let call = stage.offer(&deal, BUYER, 89_989);
        stage.refuses(&call, HaggleError::OfferTooLow);
        let call = stage.offer(&deal, BUYER, 89_990);
        stage.run(&call).succeeds();
    }

    #[test]
    fn all_rounds_can_be_used_and_no_more() {
        for max_rounds in [1, 2, 20] {
            let mut terms = Stage::terms();
            terms.max_rounds = max_rounds;
            let (mut stage, deal) = Stage::invited_with(&terms);
            let who = |round: u8| [BUYER, SELLER][usize::from(round % 2)];
            for round in 0..max_rounds {
                let call = stage.offer(&deal, who(round), OFFER);
                stage.run(&call).succeeds();
            }
            let call = stage.offer(&deal, who(max_rounds), OFFER);
            stage.refuses(&call, HaggleError::MaxRoundsReached);
        }
    }

    #[test]
    fn one_second_too_late_is_too_late() {
        let (mut stage, deal) = Stage::invited();
        let deadline = stage.negotiation(&deal).turn_deadline;
        assert_eq!(deadline, NOW + 300);
        let call = stage.offer(&deal, BUYER, OFFER);
        for late in [deadline, deadline + 1] {
            stage.now = late;
            stage.refuses(&call, HaggleError::ResponseWindowExpired);
        }
        stage.now = NOW + 3_599;
        stage.refuses(&call, HaggleError::ResponseWindowExpired);
        stage.now = NOW + 3_600;
        stage.refuses(&call, HaggleError::Expired);
        stage.now = deadline - 1;
        stage.run(&call).succeeds();
    }

    #[test]
    fn the_turn_ends_with_the_negotiation() {
        let mut terms = Stage::terms();
        terms.response_window = 3_600;
        terms.global_deadline = NOW + 600;
        let (mut stage, deal) = Stage::invited_with(&terms);
        stage.now = NOW + 599;
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&deal).turn_deadline }, NOW + 600);
        let call = stage.offer(&deal, SELLER, OFFER);
        stage.now = NOW + 600;
        stage.refuses(&call, HaggleError::Expired);
    }

    #[test]
    fn an_offer_for_another_round_is_stale() {
        let (mut stage, deal) = Stage::countered();
        for round in [0, 1, 3, u8::MAX] {
            let call = call_with(&stage, &deal, BUYER, |args| args.expected_round = round);
            stage.refuses(&call, HaggleError::StaleState);
        }
    }

    #[test]
    fn an_offer_that_arrives_after_the_others_is_stale() {
        let (mut stage, deal) = Stage::invited();
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
        stage.refuses(&call, HaggleError::StaleState);
    }

    /// The side whose turn it is offers and asks for this many seconds more.
    fn extending(stage: &Stage, deal: &Deal, seconds: u32) -> Call {
        let who = [BUYER, SELLER][usize::from(stage.negotiation(deal).current_round % 2)];
        call_with(stage, deal, who, |args| args.deadline_extension = seconds)
    }

    /// The deadline, in seconds from the one of the terms, and what is pending.
    fn extension(stage: &Stage, deal: &Deal) -> (i64, u32) {
        let negotiation = stage.negotiation(deal);
        (
            negotiation.global_deadline - (NOW + 3_600),
            negotiation.pending_extension,
        )
    }

    #[test]
    fn the_deadline_moves_when_both_ask_one_after_the_other() {
        const MOST: u32 = u32::MAX;
        // What is asked for with each offer, and what has become of deadline and proposal after it.
        type Case = &'static [(u32, (i64, u32))];
        let cases: [Case; 8] = [
            &[(0, (0, 0)), (0, (0, 0))],
            &[(600, (0, 600)), (600, (600, 0))],
            &[(600, (0, 600)), (599, (599, 0))],
            &[(599, (0, 599)), (600, (599, 0))],
            &[(MOST, (0, MOST)), (1, (1, 0)), (MOST, (1, MOST))],
            // An offer that asks for nothing takes the proposal away.
            &[
                (600, (0, 600)),
                (0, (0, 0)),
                (600, (0, 600)),
                (0, (0, 0)),
                (5, (0, 5)),
            ],
            // What has been granted has to be asked for again.
            &[
                (600, (0, 600)),
                (700, (600, 0)),
                (50, (600, 50)),
                (40, (640, 0)),
                (30, (640, 30)),
                (20, (660, 0)),
            ],
            &[(0, (0, 0)), (7, (0, 7)), (9, (7, 0)), (0, (7, 0))],
        ];
        for case in cases {
            let (mut stage, deal) = Stage::invited();
            for (seconds, expected) in case {
                let call = extending(&stage, &deal, *seconds);
                stage.run(&call).succeeds();
                assert_eq!(extension(&stage, &deal), *expected, "{case:?}");
            }
        }
    }

    #[test]
    fn an_extension_changes_the_deadline_and_nothing_else() {
        let (mut stage, deal) = Stage::invited();
        let mut plain = stage.clone();
        for seconds in [900, 800] {
            let call = extending(&stage, &deal, seconds);
            let events = stage.run(&call).succeeds().events();
            let call = extending(&plain, &deal, 0);
            assert_eq!(plain.run(&call).succeeds().events(), events);
        }
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                global_deadline: NOW + 3_600 + 800,
                ..plain.negotiation(&deal)
            },
        );
    }

    #[test]
    fn the_turn_lasts_until_the_extended_deadline() {
        let mut terms = Stage::terms();
        terms.response_window = 3_600;
        let (mut stage, deal) = Stage::invited_with(&terms);
        stage.now = NOW + 100;
        let call = extending(&stage, &deal, 500);
        stage.run(&call).succeeds();
        // Only one has asked.
        assert_eq!({ stage.negotiation(&deal).turn_deadline }, NOW + 3_600);
        let call = extending(&stage, &deal, 400);
        stage.at(NOW + 3_600).refuses(&call, HaggleError::Expired);
        stage.now = NOW + 3_599;
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&deal).turn_deadline }, NOW + 4_000);
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.at(NOW + 4_000).refuses(&call, HaggleError::Expired);
        stage.now = NOW + 3_999;
        stage.run(&call).succeeds();
    }

    #[test]
    fn no_extension_reaches_beyond_a_day_from_creation() {
        const MOST: u32 = 86_400 - 3_600;
        for (first, second) in [(MOST, MOST), (MOST, u32::MAX), (u32::MAX, MOST)] {
            let (mut stage, deal) = Stage::invited();
            for seconds in [first, second] {
                let call = extending(&stage, &deal, seconds);
                stage.run(&call).succeeds();
            }
            assert_eq!({ stage.negotiation(&deal).global_deadline }, NOW + 86_400);
            // From there on not a second more.
            let call = extending(&stage, &deal, 1);
            stage.run(&call).succeeds();
            let call = extending(&stage, &deal, 1);
            stage.refuses(&call, HaggleError::InvalidParams);
            let call = extending(&stage, &deal, 0);
            stage.run(&call).succeeds();
        }
        for (first, second) in [(MOST + 1, MOST + 1), (u32::MAX, u32::MAX)] {
            let (mut stage, deal) = Stage::invited();
            // A proposal alone binds nobody.
            let call = extending(&stage, &deal, first);
            stage.run(&call).succeeds();
            let call = extending(&stage, &deal, second);
            stage.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn an_extension_leaves_the_milestones_their_reviews() {
        // Two reviews of an hour end at the milestones' deadline if the bargaining ends 78 minutes later than planned.
        const MOST: u32 = 4_680;
        for (window, milestone_deadline) in [
            (300, NOW + 3_600 + 4_680 + 2 * 3_600),
            (3_600, NOW + 3_600 + 4_680 + 2 * 3_600),
        ] {
            let mut terms = Stage::milestone_terms(&[4_000, 6_000]);
            terms.response_window = window;
            terms.milestone_deadline = milestone_deadline;
            let (mut stage, deal) = Stage::bonded_with(&terms);
            let call = extending(&stage, &deal, u32::MAX);
            stage.run(&call).succeeds();
            let call = extending(&stage, &deal, MOST + 1);
            stage.refuses(&call, HaggleError::InvalidParams);
            let call = extending(&stage, &deal, MOST);
            stage.run(&call).succeeds();
            assert_eq!(extension(&stage, &deal), (i64::from(MOST), 0));
        }
    }

    #[test]
    fn a_refused_offer_proposes_nothing() {
        let (mut stage, deal) = Stage::invited();
        for (who, amount, error) in [
            (SELLER, OFFER, HaggleError::NotYourTurn),
            (STRANGER, OFFER, HaggleError::Unauthorized),
            (BUYER, 0, HaggleError::OfferTooLow),
            (BUYER, ESCROW, HaggleError::OfferExceedsEscrow),
        ] {
            let call = call_with(&stage, &deal, who, |args| {
                args.amount = amount;
                args.deadline_extension = 60;
            });
            stage.refuses(&call, error);
        }
        assert_eq!(extension(&stage, &deal), (0, 0));
    }

    #[test]
    fn nothing_is_offered_while_prices_are_compared() {
        for (mut stage, deal) in [
            Stage::sealed(),
            Stage::buyer_committed(),
            Stage::both_committed(),
            Stage::buyer_revealed(),
        ] {
            for who in [BUYER, SELLER, STRANGER] {
                let call = stage.offer(&deal, who, OFFER);
                stage.refuses(&call, HaggleError::InvalidState);
                let call = stage.accept_offer(&deal, who);
                stage.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn the_buyers_first_offer_replaces_the_midpoint() {
        let (mut stage, deal) = Stage::with_midpoint();
        let before = stage.clone();
        stage.now = NOW + 50;
        let call = stage.offer(&deal, SELLER, OFFER);
        stage.refuses(&call, HaggleError::NotYourTurn);
        let midpoint = stage.accept_offer(&deal, BUYER);
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                current_round: 1,
                current_offer_amount: OFFER,
                current_offer_by: BUYER,
                offer_side: OfferSide::Buyer,
                effective_escrow: AFTER_1,
                last_offer_at: NOW + 50,
                turn_deadline: NOW + 350,
                ..before.negotiation(&deal)
            },
        );
        // The midpoint is gone, for both; the offer is the buyer's own.
        for who in [BUYER, SELLER] {
            let call = midpoint.clone().with("acceptor", who);
            stage.refuses(&call, HaggleError::StaleState);
        }
        let call = stage.accept_offer(&deal, BUYER);
        stage.refuses(&call, HaggleError::NotYourTurn);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
    }

    #[test]
    fn either_side_accepts_the_midpoint() {
        for who in [BUYER, SELLER] {
            let (mut stage, deal) = Stage::with_midpoint();
            let call = stage.accept_offer(&deal, STRANGER);
            stage.refuses(&call, HaggleError::Unauthorized);
            let call = stage.accept_offer(&deal, who);
            stage
                .at(NOW + 300)
                .refuses(&call, HaggleError::ResponseWindowExpired);
            stage.now = NOW + 299;
            stage.run(&call).succeeds();
            let negotiation = stage.negotiation(&deal);
            assert_eq!({ negotiation.settled_amount }, MIDPOINT);
            assert_eq!(negotiation.bond_state, BondState::Returned);
            let fee = MIDPOINT / 200;
            assert_shares(
                &stage,
                &deal,
                FUNDS - MIDPOINT,
                SELLER_FUNDS + MIDPOINT - fee,
                fee,
            );
        }
    }

    #[test]
    fn a_midpoint_may_be_below_the_minimum_of_offers() {
        let (mut stage, deal) = Stage::buyer_revealed_with(3, 2);
        stage.reveals(&deal, SELLER, 2);
        let call = stage.offer(&deal, BUYER, 2);
        stage.refuses(&call, HaggleError::OfferTooLow);
        let call = stage.accept_offer(&deal, BUYER);
        stage.run(&call).succeeds();
        assert_shares(&stage, &deal, FUNDS - 2, SELLER_FUNDS + 2, 0);
    }

    #[test]
    fn metadata_is_structured() {
        type Case = (&'static str, fn(&mut [u8; 64]), bool);
        let cases: [Case; 8] = [
            ("nothing", |_| {}, true),
            ("terms", |metadata| metadata[0] = 1, true),
            ("full terms", |metadata| metadata[..50].fill(1), true),
            ("an unknown kind", |metadata| metadata[0] = 2, false),
            (
                "text",
                |metadata| metadata[..5].copy_from_slice(b"hello"),
                false,
            ),
            ("nothing, and a byte", |metadata| metadata[1] = 1, false),
            (
                "terms and a byte of padding",
                |metadata| metadata[..51].fill(1),
                false,
            ),
            (
                "terms and the last byte",
                |metadata| {
                    metadata[0] = 1;
                    metadata[63] = 1;
                },
                false,
            ),
        ];
        for (case, change, is_taken) in cases {
            let (mut stage, deal) = Stage::invited();
            let mut metadata = [0; 64];
            change(&mut metadata);
            let call = stage.offer_with(&deal, BUYER, OFFER, &metadata);
            println!("{case}");
            if is_taken {
                stage.run(&call).succeeds();
                assert_eq!({ stage.negotiation(&deal).metadata }, metadata);
            } else {
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn the_first_reason_to_refuse_is_the_one_that_is_told() {
        // Each step takes away the reason that was told before: arguments, status, clock, party, state, turn, rounds, amount.
        let (created, deal) = Stage::created();
        let mut terms = Stage::terms();
        terms.max_rounds = 1;
        let (mut stage, _) = Stage::invited_with(&terms);
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
        let mut args = Args {
            expected_round: 9,
            amount: 0,
            deadline_extension: u32::MAX,
            metadata: [2; 64],
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
        stage
            .at(late)
            .refuses(&call(STRANGER, &args), HaggleError::ResponseWindowExpired);
        stage.refuses(&call(STRANGER, &args), HaggleError::Unauthorized);
        stage.refuses(&call(BUYER, &args), HaggleError::StaleState);
        args.expected_round = 1;
        stage.refuses(&call(BUYER, &args), HaggleError::NotYourTurn);
        stage.refuses(&call(SELLER, &args), HaggleError::MaxRoundsReached);
    }

    #[test]
    fn a_clock_at_the_end_of_time_is_refused() {
        let (mut stage, deal) = Stage::invited();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.global_deadline = i64::MAX;
        negotiation.turn_deadline = i64::MAX;
        stage.set_negotiation(&deal, &negotiation);
        let call = stage.offer(&deal, BUYER, OFFER);
        stage
            .at(i64::MAX - 299)
            .refuses(&call, HaggleError::Overflow);
        stage.now = i64::MAX - 300;
        stage.run(&call).succeeds();
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::invited();
        stage.pause();
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
    }
}
