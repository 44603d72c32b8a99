//! Offers, and how they end.

use super::super::stage::{Call, Deal, Stage, ESCROW, NOW, OFFER};
use super::ceilings::{A_BOND, RECORDING};
use super::meter::Meter;
use super::meter::Weight::{Apart, Other, Typical};
use super::milestones::EIGHTHS;
use super::points::{bonded, metadata, Points};
use pinocchio::Address;

/// submit_offer.
pub fn submit_offer(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    for (weight, case, stage, offerer, metadata) in [
        (
            Other,
            "the first, without metadata",
            &points.invited,
            deal.buyer,
            [0; 64],
        ),
        (
            Other,
            "the first, with metadata",
            &points.invited,
            deal.buyer,
            metadata(),
        ),
        (
            Typical,
            "the seller's, without metadata",
            &points.offered,
            deal.seller,
            [0; 64],
        ),
        (
            Other,
            "the seller's, with metadata",
            &points.offered,
            deal.seller,
            metadata(),
        ),
        (
            Other,
            "the buyer's, without metadata",
            &points.countered,
            deal.buyer,
            [0; 64],
        ),
        (
            Other,
            "the buyer's, with metadata",
            &points.countered,
            deal.buyer,
            metadata(),
        ),
    ] {
        let call = stage.offer_with(deal, offerer, OFFER, &metadata);
        meter.measure(weight, case, stage, &call);
    }
}

/// accept_offer.
pub fn accept_offer(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    let by_seller = points.offered.accept_offer(deal, deal.seller);
    meter.measure(Typical, "by the seller", &points.offered, &by_seller);
    let by_buyer = points.countered.accept_offer(deal, deal.buyer);
    meter.measure(Other, "by the buyer", &points.countered, &by_buyer);

    let mut stage = points.invited.clone();
    let everything = ESCROW / 100 * 98;
    let call = stage.offer(deal, deal.buyer, everything);
    stage.run(&call).succeeds();
    let call = stage.accept_offer(deal, deal.seller);
    meter.measure(Other, "for the whole effective escrow", &stage, &call);

    let mut stage = bonded(points, &Stage::bonded_terms());
    let call = stage.offer(deal, deal.buyer, OFFER);
    stage.run(&call).succeeds();
    let call = stage.accept_offer(deal, deal.seller);
    let case = "with a bond to return";
    meter.measure(Apart(Some(A_BOND)), case, &stage, &call);

    let mut stage = bonded(points, &Stage::milestone_terms(&EIGHTHS));
    let call = stage.offer(deal, deal.buyer, OFFER);
    stage.run(&call).succeeds();
    let call = stage.accept_offer(deal, deal.seller);
    meter.measure(Other, "for eight milestones", &stage, &call);

    let [buyers, sellers] = [deal.buyer_token_account, deal.seller_token_account];
    let cases: [(_, _, &[Address]); 4] = [
        (RECORDING, "recorded for the buyer", &[buyers]),
        (RECORDING, "recorded for the seller", &[sellers]),
        (2 * RECORDING, "recorded for both", &[buyers, sellers]),
        (
            2 * RECORDING,
            "recorded for both, since the vault is frozen",
            &[deal.escrow_vault],
        ),
    ];
    for (more, case, frozen) in cases {
        let mut stage = points.offered.clone();
        for account in frozen {
            stage.freeze(account);
        }
        meter.measure(Apart(Some(more)), case, &stage, &by_seller);
    }
}

/// reject_negotiation.
pub fn reject_negotiation(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    for (weight, case, stage, rejector) in [
        (
            Other,
            "by the buyer, when Created",
            &points.created,
            deal.buyer,
        ),
        (
            Other,
            "by the seller, when Created",
            &points.created,
            deal.seller,
        ),
        (
            Typical,
            "by the seller, when Proposed",
            &points.offered,
            deal.seller,
        ),
        (
            Other,
            "by the buyer, when Countered",
            &points.countered,
            deal.buyer,
        ),
    ] {
        meter.measure(weight, case, stage, &stage.reject(deal, rejector));
    }
    let call = points.offered.reject(deal, deal.seller);
    beyond_an_end(meter, deal, &points.offered, &call);
    let stage = bonded(points, &Stage::bonded_terms());
    let call = stage
        .reject(deal, deal.seller)
        .given("seller_token_account", deal.seller_token_account);
    meter.measure(Apart(Some(A_BOND)), "with a bond", &stage, &call);
}

/// expire_negotiation.
pub fn expire_negotiation(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    for (weight, case, stage, after) in [
        (Other, "when Created", &points.created, 3_600),
        (Typical, "when Proposed", &points.offered, 300),
        (Other, "when Countered", &points.countered, 300),
    ] {
        let stage = stage.at(NOW + after);
        meter.measure(weight, case, &stage, &stage.expire(deal));
    }
    let stage = points.offered.at(NOW + 300);
    beyond_an_end(meter, deal, &stage, &stage.expire(deal));
    let stage = bonded(points, &Stage::bonded_terms()).at(NOW + 300);
    let call = stage
        .expire(deal)
        .given("seller_token_account", deal.seller_token_account);
    meter.measure(Apart(Some(A_BOND)), "with a bond", &stage, &call);
}

/// What else can come with an end without an agreement.
fn beyond_an_end(meter: &mut Meter, deal: &Deal, stage: &Stage, call: &Call) {
    let with_account = call
        .clone()
        .given("seller_token_account", deal.seller_token_account);
    let case = "with the account of a bond and none held";
    meter.measure(Apart(Some(A_BOND)), case, stage, &with_account);
    for (case, frozen) in [
        ("recorded for the buyer", deal.buyer_token_account),
        (
            "recorded for the buyer, since the vault is frozen",
            deal.escrow_vault,
        ),
    ] {
        let mut stage = stage.clone();
        stage.freeze(&frozen);
        meter.measure(Apart(Some(RECORDING)), case, &stage, call);
    }
}
