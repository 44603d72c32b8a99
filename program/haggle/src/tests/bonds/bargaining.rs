//! The bond while the parties bargain: where a rejection or an expiry forfeits it.

use super::assert_split;
use crate::error::{Framework, HaggleError};
use crate::state::{BondReason, BondState, Negotiation, NegotiationStatus};
use crate::tests::fixture::{
    assert_negotiation, assert_shares, named, under_both_token_programs, Call, Deal, Fixture, BOND,
    BUYER, BUYER_PRICE, ESCROW, FUNDS, MIDPOINT, NOW, PRICE, SELLER, SELLER_FUNDS, TOO_MUCH,
};
/// The call contains the account for a returned bond.
fn with_account(call: Call, deal: &Deal) -> Call {
    call.given("seller_token_account", deal.seller_token_account)
}

/// The buyer's first offer replaces the midpoint.
fn offered_over_midpoint() -> (Fixture, Deal) {
    let (mut fixture, deal) = Fixture::with_midpoint();
    let call = fixture.offer(&deal, BUYER, MIDPOINT);
    fixture.run(&call).succeeds();
    (fixture, deal)
}

/// The seller has answered the buyer's first offer.
fn countered_over_midpoint() -> (Fixture, Deal) {
    let (mut fixture, deal) = offered_over_midpoint();
    let call = fixture.offer(&deal, SELLER, MIDPOINT);
    fixture.run(&call).succeeds();
    (fixture, deal)
}

/// A point when nothing is agreed.
struct Point {
    name: &'static str,
    reach: fn() -> (Fixture, Deal),
    /// The escrow after the decay of the rounds so far.
    escrow: u64,
    /// Whether a rejection by the seller, and an expiry, forfeit the bond.
    forfeits: [bool; 2],
    /// The decay that the bond pays upon rejection, and upon expiry.
    delay: [u64; 2],
}

const fn point(
    name: &'static str,
    reach: fn() -> (Fixture, Deal),
    escrow: u64,
    forfeits: [bool; 2],
    delay: [u64; 2],
) -> Point {
    Point {
        name,
        reach,
        escrow,
        forfeits,
        delay,
    }
}

const NEVER: [bool; 2] = [false, false];

const POINTS: [Point; 8] = [
    point("the opening", Fixture::bonded, ESCROW, NEVER, [0, 0]),
    point("its commitment", Fixture::sealed, ESCROW, NEVER, [0, 0]),
    point(
        "the seller's commitment",
        Fixture::buyer_committed,
        ESCROW,
        NEVER,
        [0, 0],
    ),
    point(
        "the buyer's reveal",
        Fixture::both_committed,
        ESCROW,
        NEVER,
        [0, 0],
    ),
    point(
        "the seller's reveal",
        Fixture::buyer_revealed,
        ESCROW,
        [true, true],
        [0, 0],
    ),
    point(
        "the midpoint",
        Fixture::with_midpoint,
        ESCROW,
        [true, false],
        [0, 0],
    ),
    // The seller made no offer yet. If it falls silent, the buyer's offer was in vain.
    point(
        "the seller's answer",
        offered_over_midpoint,
        4_900_000,
        NEVER,
        [0, 100_000],
    ),
    point(
        "the buyer's answer",
        countered_over_midpoint,
        4_802_000,
        NEVER,
        [98_000, 0],
    ),
];

/// Runs the negotiation's end and requires the payments, the state and the events.
fn assert_end(
    before: &Fixture,
    deal: &Deal,
    call: &Call,
    escrow: u64,
    status: NegotiationStatus,
    to_buyer: u64,
) {
    let mut fixture = before.clone();
    let outcome = fixture.run(call);
    outcome.succeeds();
    let (state, reason, events) = match to_buyer {
        0 => (BondState::Returned, BondReason::NoDeal, 2),
        BOND => (BondState::Forfeited, BondReason::Forfeit, 2),
        _ => (BondState::Split, BondReason::NoDeal, 3),
    };
    let to_seller = BOND - to_buyer;
    let parts = [to_buyer, to_seller];
    assert_split(&fixture, deal, &outcome, state, parts, reason);
    assert_eq!(outcome.events().len(), events);
    assert_negotiation(
        &fixture.negotiation(deal),
        &Negotiation {
            status,
            bond_state: state,
            ..before.negotiation(deal)
        },
    );
    assert_shares(
        &fixture,
        deal,
        FUNDS - ESCROW + escrow + to_buyer,
        SELLER_FUNDS - BOND + to_seller,
        ESCROW - escrow,
    );
}

#[test]
fn a_rejection_by_the_seller_forfeits_the_bond_between_the_buyers_reveal_and_its_first_offer() {
    under_both_token_programs(|| {
        for point in POINTS {
            for rejector in [BUYER, SELLER] {
                let (mut fixture, deal) = (point.reach)();
                fixture.now = NOW + 9;
                println!("{} by {rejector}", point.name);
                let bare = fixture.reject(&deal, rejector);
                let full = with_account(bare.clone(), &deal);
                let forfeits = point.forfeits[0] && rejector == SELLER;
                let to_buyer = if forfeits { BOND } else { point.delay[0] };
                // Naming an account for the bond means that the seller does not agree to forfeit it.
                let call = if forfeits {
                    fixture.refuses(&full, HaggleError::StaleState);
                    bare
                } else {
                    fixture.refuses(&bare, Framework::AccountNotEnoughKeys);
                    full
                };
                let rejected = NegotiationStatus::Rejected;
                assert_end(&fixture, &deal, &call, point.escrow, rejected, to_buyer);
            }
        }
    });
}

#[test]
fn an_expiry_forfeits_the_bond_only_if_the_sellers_reveal_is_due() {
    under_both_token_programs(|| {
        for point in POINTS {
            let (mut fixture, deal) = (point.reach)();
            println!("{}", point.name);
            let bare = fixture.expire(&deal);
            let full = with_account(bare.clone(), &deal);
            for call in [&bare, &full] {
                fixture
                    .at(NOW + 299)
                    .refuses(call, HaggleError::InvalidState);
            }
            fixture.now = NOW + 300;
            let forfeits = point.forfeits[1];
            let to_buyer = if forfeits { BOND } else { point.delay[1] };
            let calls = if forfeits {
                vec![bare, full]
            } else {
                fixture.refuses(&bare, Framework::AccountNotEnoughKeys);
                vec![full]
            };
            for call in calls {
                let expired = NegotiationStatus::Expired;
                assert_end(&fixture, &deal, &call, point.escrow, expired, to_buyer);
            }
        }
    });
}

#[test]
fn prices_without_a_zone_cost_no_bond() {
    under_both_token_programs(|| {
        for (buyer_price, seller_price) in [
            (BUYER_PRICE, TOO_MUCH),
            (BUYER_PRICE, ESCROW),
            (500_000, 500_001),
        ] {
            let (fixture, deal) = Fixture::buyer_revealed_with(buyer_price, seller_price);
            let call = fixture.reveal_last(&deal, seller_price);
            let mut ended = fixture.clone();
            let outcome = ended.run(&call);
            outcome.succeeds();
            assert_split(
                &ended,
                &deal,
                &outcome,
                BondState::Returned,
                [0, BOND],
                BondReason::NoDeal,
            );
            assert_shares(&ended, &deal, FUNDS, SELLER_FUNDS, 0);
        }
    });
}

#[test]
fn an_agreement_without_milestones_returns_the_bond() {
    under_both_token_programs(|| {
        for reach in [
            Fixture::with_midpoint as fn() -> _,
            offered_over_midpoint,
            || Fixture::offered_with(&Fixture::bonded_terms(), PRICE),
        ] {
            let (mut fixture, deal) = reach();
            let call = fixture.accept_offer(&deal, SELLER);
            let outcome = fixture.run(&call);
            outcome.succeeds();
            assert_split(
                &fixture,
                &deal,
                &outcome,
                BondState::Returned,
                [0, BOND],
                BondReason::Settlement,
            );
        }
    });
}

#[test]
fn an_unaccepted_invitation_ends_without_a_bond() {
    under_both_token_programs(|| {
        let (fixture, deal) = Fixture::created_with_bond(&Fixture::sealed_terms());
        let late = fixture.at(NOW + 3_600);
        let by_seller = fixture.reject(&deal, SELLER);
        fixture
            .at(NOW)
            .refuses(&by_seller, Framework::AccountNotEnoughKeys);
        for (mut fixture, call) in [
            (fixture.clone(), fixture.reject(&deal, BUYER)),
            (fixture.clone(), with_account(by_seller, &deal)),
            (late.clone(), late.expire(&deal)),
        ] {
            let elsewhere = named("nothing");
            let named = call.clone().given("seller_token_account", elsewhere);
            fixture.refuses(&named, Framework::ConstraintRaw);
            let outcome = fixture.run(&call);
            outcome.succeeds();
            assert_split(
                &fixture,
                &deal,
                &outcome,
                BondState::None,
                [0, 0],
                BondReason::NoDeal,
            );
            assert_shares(&fixture, &deal, FUNDS, SELLER_FUNDS, 0);
        }
    });
}

/// A seller agrees to forfeit the bond by leaving the account out, so this signature is valid nowhere else.
#[test]
fn a_rejection_signed_without_an_account_forfeits_no_later_bond() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::created_with_bond(&Fixture::sealed_terms());
        let bare = fixture.reject(&deal, SELLER);
        let full = with_account(bare.clone(), &deal);
        fixture.refuses(&bare, Framework::AccountNotEnoughKeys);
        let call = fixture.accept_invitation_with_bond(&deal);
        fixture.run(&call).succeeds();
        fixture.commits(&deal, BUYER, BUYER_PRICE);
        fixture.commits(&deal, SELLER, BUYER_PRICE);
        fixture.refuses(&bare, Framework::AccountNotEnoughKeys);
        fixture.reveals(&deal, BUYER, BUYER_PRICE);
        fixture.refuses(&full, HaggleError::StaleState);
    });
}

/// Makes a number of offers, the buyer's first, with a bond of this amount.
fn bargained(bond: u64, rounds: u8) -> (Fixture, Deal) {
    let mut terms = Fixture::bonded_terms();
    terms.bond_required = bond;
    terms.max_rounds = 10;
    let (mut fixture, deal) = Fixture::bonded_with(&terms);
    for round in 0..rounds {
        let offerer = [BUYER, SELLER][usize::from(round % 2)];
        let call = fixture.offer(&deal, offerer, 1_000_000);
        fixture.run(&call).succeeds();
    }
    (fixture, deal)
}

/// The decay of ten rounds at the default rate: the seller offers in even rounds.
#[test]
fn both_sides_lose_their_own_delay() {
    const BUYERS: u64 = 461_937;
    const SELLERS: u64 = 452_699;
    for who in [BUYER, SELLER] {
        let (mut fixture, deal) = bargained(500_000, 10);
        let call = with_account(fixture.reject(&deal, who), &deal);
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&deal.buyer_token_account), FUNDS - BUYERS);
        assert_eq!(
            fixture.balance(&deal.seller_token_account),
            SELLER_FUNDS - SELLERS
        );
    }
}

/// The bond pays no more than the bond amount, and the seller is then paid nothing.
#[test]
fn a_small_bond_is_taken_whole() {
    for (bond, to_buyer) in [(97_999, 97_999), (98_000, 98_000), (98_001, 98_000)] {
        let (mut fixture, deal) = bargained(bond, 2);
        let call = with_account(fixture.reject(&deal, SELLER), &deal);
        fixture.refuses(
            &fixture.reject(&deal, SELLER),
            Framework::AccountNotEnoughKeys,
        );
        let outcome = fixture.run(&call);
        outcome.succeeds();
        let state = if to_buyer == bond {
            BondState::Forfeited
        } else {
            BondState::Split
        };
        let parts = [to_buyer, bond - to_buyer];
        assert_split(&fixture, &deal, &outcome, state, parts, BondReason::NoDeal);
    }
}

/// A turn that the global deadline cuts short is nobody's silence.
#[test]
fn a_turn_cut_short_leaves_each_side_its_own_delay() {
    for (response_window, to_buyer) in [(3_000, 100_000), (3_001, 0)] {
        let mut terms = Fixture::bonded_terms();
        terms.response_window = response_window;
        terms.global_deadline = NOW + 3_000;
        let (mut fixture, deal) = Fixture::bonded_with(&terms);
        let call = fixture.offer(&deal, BUYER, 1_000_000);
        fixture.run(&call).succeeds();
        fixture.now = NOW + 3_000;
        let call = with_account(fixture.expire(&deal), &deal);
        let expired = NegotiationStatus::Expired;
        assert_end(&fixture, &deal, &call, 4_900_000, expired, to_buyer);
    }
}
