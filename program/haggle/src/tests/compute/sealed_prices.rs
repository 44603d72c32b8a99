//! Sealed reservation prices.

use super::super::stage::{nonce_of, zopa_commitment, Call, Deal, Stage};
use super::super::stage::{BUYER_PRICE, SELLER_PRICE, TOO_MUCH};
use super::ceilings::{ENDING, RECORDING};
use super::meter::Meter;
use super::meter::Weight::{Apart, Other, Typical};
use super::points::{after, bonded, Points};
use pinocchio::Address;

fn commit(stage: &Stage, deal: &Deal, agent: Address, price: u64) -> Call {
    let commitment = zopa_commitment(deal, agent, price, nonce_of(agent));
    stage.commit(deal, agent, commitment)
}

/// submit_zopa_commitment and reveal_zopa_price.
pub fn sealed_prices(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    let (buyer, seller) = (deal.buyer, deal.seller);
    let sealed = bonded(points, &Stage::sealed_terms());
    let buyers = commit(&sealed, deal, buyer, BUYER_PRICE);
    let committed = after(&sealed, &buyers);
    let revealed_with = |sellers| {
        let stage = after(&committed, &commit(&committed, deal, seller, sellers));
        let call = stage.reveal(deal, buyer, BUYER_PRICE, nonce_of(buyer));
        (after(&stage, &call), stage, call)
    };
    meter.measure(Typical, "the buyer's", &sealed, &buyers);
    let sellers = commit(&committed, deal, seller, SELLER_PRICE);
    meter.measure(Other, "the seller's", &committed, &sellers);

    let (revealed, stage, call) = revealed_with(SELLER_PRICE);
    meter.measure(Other, "the buyer's", &stage, &call);
    let call = revealed.reveal(deal, seller, SELLER_PRICE, nonce_of(seller));
    meter.measure(Typical, "the seller's, with a zone", &revealed, &call);
    let call = revealed.reveal_and_end(deal, seller, SELLER_PRICE, nonce_of(seller));
    let case = "with a zone and the accounts of an end";
    meter.measure(Apart(Some(ENDING)), case, &revealed, &call);

    let (mut stage, _, _) = revealed_with(TOO_MUCH);
    let call = stage.reveal_and_end(deal, seller, TOO_MUCH, nonce_of(seller));
    let case = "without a zone";
    meter.measure(Apart(Some(ENDING)), case, &stage, &call);
    for account in [deal.buyer_token_account, deal.seller_token_account] {
        stage.freeze(&account);
    }
    let case = "without a zone, recorded for both";
    let more = ENDING + 2 * RECORDING;
    meter.measure(Apart(Some(more)), case, &stage, &call);
}
