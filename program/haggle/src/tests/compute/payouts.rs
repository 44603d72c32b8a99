//! What is left when a negotiation is over.

use super::super::stage::STRANGER;
use super::ceilings::{DELIVERING, DELIVERING_TO_BOTH};
use super::meter::Meter;
use super::meter::Weight::{Apart, Other, Typical};
use super::points::Points;
use pinocchio::Address;

/// close_negotiation.
pub fn close_negotiation(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    let mut refunded = points.created.clone();
    let call = refunded.reject(deal, deal.seller);
    refunded.run(&call).succeeds();
    let full = refunded.close(deal, STRANGER);
    let bare = full
        .clone()
        .without("buyer_token_account")
        .without("seller_token_account");
    let nothing = bare.clone().without("treasury_token_account");
    meter.measure(Other, "with nothing for the treasury", &refunded, &nothing);
    let settled = points.settled(&[]);
    meter.measure(Typical, "with fee and decay", &settled, &bare);
    meter.measure(
        Other,
        "with fee and decay, and accounts not needed",
        &settled,
        &full,
    );

    let [buyers, sellers] = [deal.buyer_token_account, deal.seller_token_account];
    let cases: [(_, _, &[Address]); 3] = [
        (DELIVERING, "delivering to the buyer", &[buyers]),
        (DELIVERING, "delivering to the seller", &[sellers]),
        (DELIVERING_TO_BOTH, "delivering to both", &[buyers, sellers]),
    ];
    for (more, case, frozen) in cases {
        meter.measure(Apart(Some(more)), case, &points.settled(frozen), &full);
    }
}

/// claim_payout.
pub fn claim_payout(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    let stage = points.settled(&[deal.buyer_token_account, deal.seller_token_account]);
    let kept = stage.negotiation(deal);
    let call = stage.claim(deal, deal.seller, kept.claimable_seller);
    meter.measure(Typical, "by the seller", &stage, &call);
    let call = stage.claim(deal, deal.buyer, kept.claimable_buyer);
    meter.measure(Other, "by the buyer", &stage, &call);
}
