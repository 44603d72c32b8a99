//! Milestones over several instructions: the windows that review_hours sets, amounts independent of order,
//! and the evidence.

use super::fixture::{
    args_of, event, under_both_token_programs, Call, Deal, Fixture, ARBITER, BUYER, NOW, PRICE,
    REVIEW, SELLER, STRANGER, THIRDS,
};
use crate::error::HaggleError;
use crate::event::{MilestoneClaimed, MilestoneDisputed};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::instructions::{claim_milestone, dispute_milestone};
use crate::state::NegotiationStatus;

/// Terms with this review window and the earliest possible deadline.
fn earliest_terms(review_hours: u8, shares: &[u16]) -> NegotiationParams {
    let mut terms = Fixture::milestone_terms(shares);
    let each = i64::from(review_hours) * 3_600 + 60;
    terms.review_hours = review_hours;
    terms.milestone_deadline = terms.global_deadline + shares.len() as i64 * each;
    terms
}

/// The seller has accepted [`PRICE`] on these terms.
fn accepted_with_review(review_hours: u8, shares: &[u16]) -> (Fixture, Deal) {
    Fixture::accepted_with(&earliest_terms(review_hours, shares), PRICE)
}

/// The review windows of the tests, and the arbiter's time after the deadline, in hours.
const WINDOWS: [(u8, i64); 5] = [(1, 24), (23, 24), (24, 24), (25, 25), (168, 168)];

/// Requires success from `from` to the second before `until`, and this error afterwards.
#[track_caller]
fn assert_possible(fixture: &Fixture, call: &Call, [from, until]: [i64; 2], after: HaggleError) {
    for now in [from, until - 1] {
        fixture.at(now).run(call).succeeds();
    }
    for now in [until, until + 1] {
        fixture.at(now).refuses(call, after);
    }
}

#[test]
fn review_hours_set_the_windows_of_buyer_seller_and_arbiter() {
    under_both_token_programs(|| {
        for (hours, arbitration) in WINDOWS {
            let window = i64::from(hours) * 3_600;
            let (accepted, deal) = accepted_with_review(hours, &THIRDS);
            let deadline = { accepted.negotiation(&deal).milestone_deadline };
            println!("{hours} h");

            // The seller claims while a whole review fits before the deadline.
            let claim = accepted.claim_milestone(&deal, 1);
            let last = deadline - window + 1;
            let late = HaggleError::ResponseWindowExpired;
            assert_possible(&accepted, &claim, [NOW, last], late);
            accepted.at(deadline).refuses(&claim, HaggleError::Expired);

            // The buyer disputes within the window, and once the window ends anyone releases.
            let mut claimed = accepted.at(NOW + 77);
            claimed.claims(&deal, 1);
            let end = NOW + 77 + window;
            assert_eq!({ claimed.negotiation(&deal).turn_deadline }, end);
            let dispute = claimed.dispute(&deal, 1);
            assert_possible(&claimed, &dispute, [NOW + 77, end], late);
            let release = claimed.release(&deal, STRANGER, 1);
            claimed
                .at(end - 1)
                .refuses(&release, HaggleError::Unauthorized);
            for now in [end, deadline, i64::MAX] {
                claimed.at(now).run(&release).succeeds();
            }
            let release = claimed.release(&deal, BUYER, 1);
            for now in [NOW + 77, end - 1, end] {
                claimed.at(now).run(&release).succeeds();
            }

            // The arbiter has a day after the deadline, or a longer review window; then anyone settles.
            let mut disputed = claimed.clone();
            disputed.run(&dispute).succeeds();
            let resolve = disputed.resolve(&deal, 1, 5_000);
            let end = deadline + arbitration * 3_600;
            assert_possible(&disputed, &resolve, [NOW + 77, end], HaggleError::Expired);
            let settle = disputed.settle_deadline(&deal);
            for (fixture, first) in [
                (&accepted, deadline),
                (&claimed, deadline),
                (&disputed, end),
            ] {
                fixture
                    .at(first - 1)
                    .refuses(&settle, HaggleError::InvalidState);
                fixture.at(first).run(&settle).succeeds();
            }
        }
    });
}

#[test]
fn the_earliest_deadline_leaves_time_for_every_review_and_a_minute_for_each() {
    under_both_token_programs(|| {
        for (hours, _) in WINDOWS {
            for shares in [&THIRDS[..], &[1_250; 8]] {
                let (mut fixture, deal) = accepted_with_review(hours, shares);
                let deadline = { fixture.negotiation(&deal).milestone_deadline };
                // The agreement comes in the last second, and every review lasts the full window.
                fixture.now = fixture.negotiation(&deal).global_deadline;
                for index in 0..shares.len() as u8 {
                    fixture.now += 60;
                    fixture.claims(&deal, index);
                    fixture.now = fixture.negotiation(&deal).turn_deadline;
                    let call = fixture.release(&deal, STRANGER, index);
                    fixture.run(&call).succeeds();
                }
                assert_eq!(fixture.now, deadline);
                let mut terms = earliest_terms(hours, shares);
                terms.milestone_deadline -= 1;
                let mut fresh = Fixture::new();
                let create = fresh.create(&deal, &terms);
                fresh.refuses(&create, HaggleError::InvalidParams);
                let status = fixture.negotiation(&deal).status;
                assert_eq!(status, NegotiationStatus::Settled);
            }
        }
    });
}

/// All orders of the three milestones.
const ORDERS: [[u8; 3]; 6] = [
    [0, 1, 2],
    [0, 2, 1],
    [1, 0, 2],
    [1, 2, 0],
    [2, 0, 1],
    [2, 1, 0],
];

/// The arbiter's share for the seller in basis points, by milestone; none for a released one.
type Decisions = [Option<u16>; 3];

#[test]
fn no_order_of_decisions_changes_an_amount() {
    // 2,999,999 splits into the tranches 999,899, 999,900 and 1,000,200.
    let cases: [(Decisions, [u64; 3]); 4] = [
        ([None, None, None], [999_899, 999_900, 1_000_200]),
        ([Some(3_333), None, None], [333_266, 999_900, 1_000_200]),
        ([None, Some(1), Some(9_999)], [999_899, 99, 1_000_099]),
        ([Some(5_000), Some(0), Some(5_000)], [499_949, 0, 500_100]),
    ];
    under_both_token_programs(|| {
        for (decisions, grosses) in cases {
            let mut ends = Vec::new();
            for order in ORDERS {
                let (mut fixture, deal) = Fixture::accepted(&THIRDS);
                for index in order {
                    let before = fixture.negotiation(&deal).paid_gross;
                    let call = match decisions[usize::from(index)] {
                        None => {
                            fixture.claims(&deal, index);
                            fixture
                                .release(&deal, BUYER, index)
                                .given("buyer_token_account", deal.buyer_token_account)
                        }
                        Some(seller_bps) => {
                            fixture.claims_and_disputes(&deal, index);
                            fixture.resolve(&deal, index, seller_bps)
                        }
                    };
                    fixture.run(&call).succeeds();
                    let after = fixture.negotiation(&deal).paid_gross;
                    assert_eq!(after - before, grosses[usize::from(index)], "{order:?}");
                }
                ends.push(
                    [
                        deal.buyer_token_account,
                        deal.seller_token_account,
                        deal.escrow_vault,
                    ]
                    .map(|account| fixture.balance(&account)),
                );
            }
            assert!(ends.iter().all(|end| *end == ends[0]), "{ends:?}");
        }
    });
}

#[test]
fn the_deadline_changes_no_tranche() {
    under_both_token_programs(|| {
        for order in ORDERS {
            for decided in 0..3 {
                let (mut fixture, deal) = Fixture::accepted(&THIRDS);
                for index in &order[..decided] {
                    fixture.claims_and_is_paid(&deal, *index);
                }
                let under_review = order[decided];
                fixture.claims(&deal, under_review);
                fixture.now = fixture.negotiation(&deal).milestone_deadline;
                let call = fixture.settle_deadline(&deal);
                fixture.run(&call).succeeds();
                let paid: u64 = order[..=decided]
                    .iter()
                    .map(|index| [999_899, 999_900, 1_000_200][usize::from(*index)])
                    .sum();
                assert_eq!({ fixture.negotiation(&deal).paid_gross }, paid);
            }
        }
    });
}

#[test]
fn claims_and_disputes_publish_a_hash_of_the_evidence_and_store_none() {
    under_both_token_programs(|| {
        let mut counting = [0; 32];
        for (byte, at) in counting.iter_mut().zip(0..) {
            *byte = at;
        }
        for evidence in [[0; 32], [0xff; 32], counting] {
            let (mut fixture, deal) = Fixture::accepted(&THIRDS);
            let created_at = fixture.created_at(&deal);
            let args = claim_milestone::Args {
                created_at,
                index: 2,
                evidence,
            };
            let call = fixture.call("claim_milestone", &deal, SELLER, args_of(&args));
            fixture.run(&call).succeeds().emitted(&[event(
                MilestoneClaimed::RECORD,
                &MilestoneClaimed {
                    negotiation_id: deal.negotiation,
                    index: 2,
                    review_deadline: NOW + REVIEW,
                    evidence,
                    timestamp: NOW,
                },
            )]);
            let mut plain = Fixture::accepted(&THIRDS).0;
            plain.claims(&deal, 2);
            assert!(fixture.accounts == plain.accounts);

            let args = dispute_milestone::Args {
                created_at,
                index: 2,
                evidence,
            };
            let call = fixture.call("dispute_milestone", &deal, BUYER, args_of(&args));
            fixture.run(&call).succeeds().emitted(&[event(
                MilestoneDisputed::RECORD,
                &MilestoneDisputed {
                    negotiation_id: deal.negotiation,
                    index: 2,
                    evidence,
                    timestamp: NOW,
                },
            )]);
            let call = plain.dispute(&deal, 2);
            plain.run(&call).succeeds();
            assert!(fixture.accounts == plain.accounts);
        }
    });
}

#[test]
fn the_releaser_gains_nothing_after_the_review() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.claims(&deal, 0);
        fixture.now = NOW + REVIEW;
        let mut ends = Vec::new();
        for releaser in [BUYER, SELLER, STRANGER, ARBITER] {
            let mut released = fixture.clone();
            let call = released.release(&deal, releaser, 0);
            released.run(&call).succeeds();
            ends.push(released.accounts);
        }
        assert!(ends.iter().all(|end| *end == ends[0]));
    });
}
