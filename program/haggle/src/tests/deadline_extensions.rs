//! Extensions of the deadline: two offers in a row that request one grant the smaller one.

use super::fixture::{
    assert_negotiation, Call, Deal, Fixture, BUYER, CREATED, ESCROW, NOW, OFFER, SELLER, STRANGER,
};
use crate::error::HaggleError;
use crate::state::Negotiation;

/// An offer of the side whose turn it is, with a request for this many seconds.
fn extending(fixture: &Fixture, deal: &Deal, seconds: u32) -> Call {
    let offerer = [BUYER, SELLER][usize::from(fixture.negotiation(deal).current_round % 2)];
    fixture.offer_with_extension(deal, offerer, OFFER, &[0; 64], seconds)
}

/// The granted and the pending extension, in seconds.
fn extension(fixture: &Fixture, deal: &Deal) -> (i64, u32) {
    let negotiation = fixture.negotiation(deal);
    (
        negotiation.global_deadline - (NOW + 3_600),
        negotiation.pending_extension,
    )
}

#[test]
fn two_requests_in_a_row_grant_the_smaller_one() {
    const MOST: u32 = u32::MAX;
    // Each offer's request, and the resulting granted and pending extensions.
    type Case = &'static [(u32, (i64, u32))];
    let cases: [Case; 8] = [
        &[(0, (0, 0)), (0, (0, 0))],
        &[(600, (0, 600)), (600, (600, 0))],
        &[(600, (0, 600)), (599, (599, 0))],
        &[(599, (0, 599)), (600, (599, 0))],
        &[(MOST, (0, MOST)), (1, (1, 0)), (MOST, (1, MOST))],
        // An offer requesting nothing clears the pending request.
        &[
            (600, (0, 600)),
            (0, (0, 0)),
            (600, (0, 600)),
            (0, (0, 0)),
            (5, (0, 5)),
        ],
        // A grant clears the pending request.
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
        let (mut fixture, deal) = Fixture::invited();
        for (seconds, expected) in case {
            let call = extending(&fixture, &deal, *seconds);
            fixture.run(&call).succeeds();
            assert_eq!(extension(&fixture, &deal), *expected, "{case:?}");
        }
    }
}

#[test]
fn an_extension_changes_the_deadline_and_nothing_else() {
    let (mut fixture, deal) = Fixture::invited();
    let mut plain = fixture.clone();
    for seconds in [900, 800] {
        let call = extending(&fixture, &deal, seconds);
        let events = fixture.run(&call).succeeds().events();
        let call = extending(&plain, &deal, 0);
        assert_eq!(plain.run(&call).succeeds().events(), events);
    }
    assert_negotiation(
        &fixture.negotiation(&deal),
        &Negotiation {
            global_deadline: NOW + 3_600 + 800,
            ..plain.negotiation(&deal)
        },
    );
}

#[test]
fn the_turn_lasts_until_the_extended_deadline() {
    let mut terms = Fixture::terms();
    terms.response_window = 3_600;
    let (mut fixture, deal) = Fixture::invited_with(&terms);
    fixture.now = NOW + 100;
    let call = extending(&fixture, &deal, 500);
    fixture.run(&call).succeeds();
    // Only one side has requested.
    assert_eq!({ fixture.negotiation(&deal).turn_deadline }, NOW + 3_600);
    let call = extending(&fixture, &deal, 400);
    fixture.at(NOW + 3_600).refuses(&call, HaggleError::Expired);
    fixture.now = NOW + 3_599;
    fixture.run(&call).succeeds();
    assert_eq!({ fixture.negotiation(&deal).turn_deadline }, NOW + 4_000);
    let call = fixture.offer(&deal, BUYER, OFFER);
    fixture.at(NOW + 4_000).refuses(&call, HaggleError::Expired);
    fixture.now = NOW + 3_999;
    fixture.run(&call).succeeds();
}

#[test]
fn no_extension_reaches_beyond_a_day_from_creation() {
    const MOST: u32 = (CREATED + 86_400 - (NOW + 3_600)) as u32;
    for (first, second) in [(MOST, MOST), (MOST, u32::MAX), (u32::MAX, MOST)] {
        let (mut fixture, deal) = Fixture::invited();
        for seconds in [first, second] {
            let call = extending(&fixture, &deal, seconds);
            fixture.run(&call).succeeds();
        }
        assert_eq!(
            { fixture.negotiation(&deal).global_deadline },
            CREATED + 86_400
        );
        // From there on, not even a second is granted.
        let call = extending(&fixture, &deal, 1);
        fixture.run(&call).succeeds();
        let call = extending(&fixture, &deal, 1);
        fixture.refuses(&call, HaggleError::InvalidParams);
        let call = extending(&fixture, &deal, 0);
        fixture.run(&call).succeeds();
    }
    for (first, second) in [(MOST + 1, MOST + 1), (u32::MAX, u32::MAX)] {
        let (mut fixture, deal) = Fixture::invited();
        // A request alone has no effect.
        let call = extending(&fixture, &deal, first);
        fixture.run(&call).succeeds();
        let call = extending(&fixture, &deal, second);
        fixture.refuses(&call, HaggleError::InvalidParams);
    }
}

#[test]
fn an_extension_leaves_the_milestones_their_reviews() {
    // Two one-hour reviews, plus a minute of slack per review, fit if the bargaining lasts at most 78 minutes
    // longer.
    const MOST: u32 = 4_680;
    for (window, milestone_deadline) in [
        (300, NOW + 3_600 + 4_680 + 2 * 3_660),
        (3_600, NOW + 3_600 + 4_680 + 2 * 3_660),
    ] {
        let mut terms = Fixture::milestone_terms(&[4_000, 6_000]);
        terms.response_window = window;
        terms.milestone_deadline = milestone_deadline;
        let (mut fixture, deal) = Fixture::bonded_with(&terms);
        let call = extending(&fixture, &deal, u32::MAX);
        fixture.run(&call).succeeds();
        let call = extending(&fixture, &deal, MOST + 1);
        fixture.refuses(&call, HaggleError::InvalidParams);
        let call = extending(&fixture, &deal, MOST);
        fixture.run(&call).succeeds();
        assert_eq!(extension(&fixture, &deal), (i64::from(MOST), 0));
    }
}

#[test]
fn a_refused_offer_requests_nothing() {
    let (mut fixture, deal) = Fixture::invited();
    for (who, amount, error) in [
        (SELLER, OFFER, HaggleError::NotYourTurn),
        (STRANGER, OFFER, HaggleError::Unauthorized),
        (BUYER, 0, HaggleError::OfferTooLow),
        (BUYER, ESCROW, HaggleError::OfferExceedsEscrow),
    ] {
        let call = fixture.offer_with_extension(&deal, who, amount, &[0; 64], 60);
        fixture.refuses(&call, error);
    }
    assert_eq!(extension(&fixture, &deal), (0, 0));
}
