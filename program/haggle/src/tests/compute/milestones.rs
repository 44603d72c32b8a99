//! A price that is paid by milestones.

use super::super::stage::{Stage, MILESTONE_DEADLINE, OFFER, REVIEW};
use super::ceilings::{A_BOND, RECORDING};
use super::meter::Meter;
use super::meter::Weight::{Apart, Other, Typical};
use super::points::{after, bonded, Points};
use crate::schema::declare::Flag;

/// As many milestones as there can be.
pub const EIGHTHS: [u16; 8] = [1_250; 8];

/// The milestones' five instructions.
pub fn milestones(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    let (buyer, sellers) = (deal.buyer, deal.seller_token_account);
    let accepted = |shares: &[u16]| {
        let stage = bonded(points, &Stage::milestone_terms(shares));
        let stage = after(&stage, &stage.offer(deal, buyer, OFFER));
        after(&stage, &stage.accept_offer(deal, deal.seller))
    };
    let first = accepted(&EIGHTHS);
    let mut last = first.clone();
    for index in 0..7 {
        last.claims_and_is_paid(deal, index);
    }
    let mut disputed = first.clone();
    for index in 0..7 {
        disputed.claims_and_disputes(deal, index);
    }
    let claimed = after(&first, &first.claim_milestone(deal, 0));
    let last_claimed = after(&last, &last.claim_milestone(deal, 7));

    meter.measure(
        Typical,
        "the first of eight",
        &first,
        &first.claim_milestone(deal, 0),
    );
    meter.measure(
        Other,
        "the last of eight",
        &last,
        &last.claim_milestone(deal, 7),
    );

    let call = claimed.release(deal, buyer, 0);
    meter.measure(Typical, "the first of eight, by the buyer", &claimed, &call);
    let single = accepted(&[10_000]);
    let single = after(&single, &single.claim_milestone(deal, 0));
    let case = "the only one, with the bond";
    meter.measure(
        Apart(Some(A_BOND)),
        case,
        &single,
        &single.release(deal, buyer, 0),
    );
    let case = "the last of eight, with the bond";
    let call = last_claimed.release(deal, buyer, 7);
    meter.measure(Apart(Some(A_BOND)), case, &last_claimed, &call);
    let mut frozen = claimed.clone();
    frozen.freeze(&sellers);
    let call = frozen.release(deal, buyer, 0);
    meter.measure(
        Apart(Some(RECORDING)),
        "recorded for the seller",
        &frozen,
        &call,
    );

    let call = claimed.dispute(deal, 0);
    meter.measure(Typical, "the first of eight", &claimed, &call);
    let call = last_claimed.dispute(deal, 7);
    meter.measure(Other, "the last of eight", &last_claimed, &call);

    let call = disputed.resolve(deal, 0, 5_000, Flag::OFF);
    meter.measure(
        Typical,
        "the first of eight, half and half",
        &disputed,
        &call,
    );
    let call = disputed.resolve(deal, 0, 10_000, Flag::OFF);
    meter.measure(
        Other,
        "the first of eight, all to the seller",
        &disputed,
        &call,
    );
    let call = disputed.resolve(deal, 0, 5_000, Flag::ON);
    let case = "with the bond forfeited";
    meter.measure(Apart(Some(A_BOND)), case, &disputed, &call);
    let stage = after(&last_claimed, &last_claimed.dispute(deal, 7));
    let call = stage.resolve(deal, 7, 5_000, Flag::OFF);
    let case = "the last of eight, with the bond";
    meter.measure(Apart(Some(2 * A_BOND)), case, &stage, &call);

    let unclaimed = first.at(MILESTONE_DEADLINE);
    let case = "eight that nobody claimed, with the bond";
    meter.measure(Other, case, &unclaimed, &unclaimed.settle_deadline(deal));
    let stage = last_claimed.at(MILESTONE_DEADLINE);
    let case = "one of eight that was claimed, with the bond";
    meter.measure(Other, case, &stage, &stage.settle_deadline(deal));
    let mut stage = after(&disputed, &disputed.claim_milestone(deal, 7));
    stage.now = MILESTONE_DEADLINE + REVIEW;
    let call = stage.settle_deadline(deal);
    let case = "seven disputed and one claimed, with the bond";
    meter.measure(Typical, case, &stage, &call);
    for account in [deal.buyer_token_account, sellers] {
        stage.freeze(&account);
    }
    let case = "recorded for both";
    meter.measure(Apart(Some(2 * RECORDING)), case, &stage, &call);
}
