//! The midpoint of the zone: an offer that the seller's reveal makes, either side accepts, and the buyer's
//! first offer replaces.

use super::fixture::{
    assert_negotiation, assert_shares, event, Fixture, BOND, BUYER, BUYER_PRICE, BUYER_REST,
    ESCROW, MIDPOINT, NOW, OFFER, SELLER, SELLER_FUNDS, SELLER_PRICE, STRANGER,
};
use crate::error::HaggleError;
use crate::event::OfferAccepted;
use crate::state::{BondReason, Negotiation, NegotiationStatus, OfferSide};

#[test]
fn the_midpoint_is_rounded_down() {
    for (buyer_price, seller_price, midpoint) in [
        (500_000, 500_000, 500_000),
        (500_001, 500_000, 500_000),
        (500_002, 500_000, 500_001),
        (500_002, 500_001, 500_001),
        (4_000_000, 4_000_000, 4_000_000),
        (4_000_001, 4_000_000, 4_000_000),
        (ESCROW, 500_000, 2_750_000),
        (ESCROW, ESCROW, ESCROW),
        (ESCROW, ESCROW - 1, ESCROW - 1),
    ] {
        let (mut fixture, deal) = Fixture::buyer_revealed_with(buyer_price, seller_price);
        fixture.reveals(&deal, SELLER, seller_price);
        let negotiation = fixture.negotiation(&deal);
        assert_eq!({ negotiation.current_offer_amount }, midpoint);
        assert_eq!({ negotiation.effective_escrow }, ESCROW);
        assert_shares(
            &fixture,
            &deal,
            BUYER_REST,
            SELLER_FUNDS - BOND,
            ESCROW + BOND,
        );
    }
}

#[test]
fn the_largest_prices_do_not_overflow() {
    /// The largest mint supply, less a one-unit bond.
    const ALL: u64 = u64::MAX - 1;
    /// The lowest price for this escrow.
    const LEAST: u64 = ALL / 100;
    let revealed = |buyer_price: u64, seller_price: u64| {
        let mut terms = Fixture::sealed_terms();
        terms.escrow_amount = ALL;
        terms.bond_required = 1;
        terms.min_offer_bps = 100;
        let (mut fixture, deal) = Fixture::bonded_with(&terms);
        assert_eq!(fixture.balance(&deal.escrow_vault), u64::MAX);
        fixture.commits(&deal, BUYER, buyer_price);
        fixture.commits(&deal, SELLER, seller_price);
        fixture.reveals(&deal, BUYER, buyer_price);
        (fixture, deal)
    };
    for (buyer_price, seller_price) in [
        (ALL, ALL),
        (ALL, ALL - 1),
        (ALL, LEAST),
        (LEAST, LEAST),
        (ALL - 1, LEAST + 1),
    ] {
        let (mut fixture, deal) = revealed(buyer_price, seller_price);
        fixture.reveals(&deal, SELLER, seller_price);
        let midpoint = (u128::from(buyer_price) + u128::from(seller_price)) / 2;
        let found = fixture.negotiation(&deal).current_offer_amount;
        assert_eq!(u128::from(found), midpoint);
        fixture.set_balance(&deal.seller_token_account, 0);
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.run(&call).succeeds();
    }
    for (buyer_price, seller_price) in [(LEAST, ALL), (ALL - 1, ALL)] {
        let (mut fixture, deal) = revealed(buyer_price, seller_price);
        let call = fixture.reveal_last(&deal, seller_price);
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&deal.buyer_token_account), ALL);
        assert_eq!(fixture.balance(&deal.seller_token_account), SELLER_FUNDS);
        assert_eq!(fixture.balance(&deal.escrow_vault), 0);
    }
}

#[test]
fn a_rejection_of_a_midpoint_is_not_an_end_without_a_zone() {
    for (buyer_price, seller_price) in [(BUYER_PRICE, SELLER_PRICE), (OFFER, OFFER)] {
        let (mut fixture, deal) = Fixture::buyer_revealed_with(buyer_price, seller_price);
        fixture.reveals(&deal, SELLER, seller_price);
        let call = fixture
            .reject(&deal, BUYER)
            .given("seller_token_account", deal.seller_token_account);
        fixture.run(&call).succeeds();
        for call in [
            fixture.offer(&deal, BUYER, OFFER),
            fixture.accept_offer(&deal, SELLER),
        ] {
            fixture.refuses(&call, HaggleError::InvalidState);
        }
    }
}

#[test]
fn the_buyers_first_offer_replaces_the_midpoint() {
    let (mut fixture, deal) = Fixture::with_midpoint();
    let before = fixture.clone();
    fixture.now = NOW + 50;
    let call = fixture.offer(&deal, SELLER, OFFER);
    fixture.refuses(&call, HaggleError::NotYourTurn);
    let midpoint = fixture.accept_offer(&deal, BUYER);
    let call = fixture.offer(&deal, BUYER, OFFER);
    fixture.run(&call).succeeds();
    assert_negotiation(
        &fixture.negotiation(&deal),
        &Negotiation {
            current_round: 1,
            current_offer_amount: OFFER,
            current_offer_by: BUYER,
            offer_side: OfferSide::Buyer,
            effective_escrow: 4_900_000,
            last_offer_at: NOW + 50,
            turn_deadline: NOW + 350,
            ..before.negotiation(&deal)
        },
    );
    // Neither side can accept the midpoint now, and the current offer is the buyer's own.
    for who in [BUYER, SELLER] {
        let call = midpoint.clone().with("acceptor", who);
        fixture.refuses(&call, HaggleError::StaleState);
    }
    let call = fixture.accept_offer(&deal, BUYER);
    fixture.refuses(&call, HaggleError::NotYourTurn);
    let call = fixture.accept_offer(&deal, SELLER);
    fixture.run(&call).succeeds();
}

#[test]
fn either_side_accepts_the_midpoint() {
    for who in [BUYER, SELLER] {
        let (mut fixture, deal) = Fixture::with_midpoint();
        let before = fixture.clone();
        let call = fixture.accept_offer(&deal, who);
        let outcome = fixture.run(&call);
        outcome.succeeds();
        let negotiation = fixture.negotiation(&deal);
        assert_eq!({ negotiation.settled_amount }, MIDPOINT);
        assert_eq!(negotiation.status, NegotiationStatus::Settled);
        outcome.emitted(&[
            event(
                OfferAccepted::RECORD,
                &OfferAccepted {
                    negotiation_id: deal.negotiation,
                    accepted_by: who,
                    amount: MIDPOINT,
                    round: 0,
                    timestamp: NOW,
                },
            ),
            // No round has passed, so nothing has decayed.
            fixture.settled_event(&deal, MIDPOINT, 17_500),
            fixture.bond_event(&deal, SELLER, BOND, BondReason::Settlement),
        ]);
        assert_eq!(
            fixture.balance(&deal.buyer_token_account) - before.balance(&deal.buyer_token_account),
            ESCROW - MIDPOINT
        );
        assert_eq!(
            fixture.balance(&deal.seller_token_account)
                - before.balance(&deal.seller_token_account),
            MIDPOINT - 17_500 + BOND
        );
        assert_eq!(fixture.balance(&deal.escrow_vault), 17_500);
    }
    let (mut fixture, deal) = Fixture::with_midpoint();
    let call = fixture.accept_offer(&deal, STRANGER);
    fixture.refuses(&call, HaggleError::Unauthorized);
    let late = fixture.at(fixture.negotiation(&deal).turn_deadline);
    let call = late.accept_offer(&deal, SELLER);
    late.at(late.now)
        .refuses(&call, HaggleError::ResponseWindowExpired);
}
