//! The named cases: first a typical case for every instruction, then other frequent cases.

use super::super::fixture::{
    nonce_of, rent, wallet, Call, Fixture, ARBITRATION, BUYER_PRICE, MILESTONE_DEADLINE, NOW,
    OFFER, SELLER_PRICE, STRANGER, TOO_MUCH,
};
use super::combinations::Milestones;
use super::meter::{measure, Measured};
use super::search::revealed;
use super::start::{after, deal_with_bumps, metadata, Start};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::schema::declare::Flag;
use crate::state::{Negotiation, ProtocolConfig};
use crate::token::account::TokenAccount;
use pinocchio::Address;

/// Points where a negotiation has ended, or an offer is accepted.
pub struct Points {
    /// The negotiation's addresses.
    pub deal: super::super::fixture::Deal,
    /// The seller has rejected before any offer, so nothing is due to the treasury.
    pub refunded: Fixture,
    /// The offer is accepted and paid.
    pub settled: Fixture,
    /// The same, with both parties' payouts recorded.
    pub recorded: Fixture,
    /// The same, with the buyer's payout recorded.
    pub recorded_for_buyer: Fixture,
    /// The same, with the seller's payout recorded.
    pub recorded_for_seller: Fixture,
}

impl Points {
    /// Runs a negotiation to each point.
    pub fn reach(start: &Start) -> Self {
        let deal = start.deal;
        let created = start.created(&Fixture::terms());
        let refunded = after(&created, &created.reject(&deal, deal.seller));
        let offered = start.offered(&Fixture::terms());
        let settled_with = |frozen: &[Address]| {
            let mut fixture = offered.clone();
            for account in frozen {
                fixture.freeze(account);
            }
            let call = fixture.accept_offer(&deal, deal.seller);
            fixture.run(&call).succeeds();
            for account in frozen {
                fixture.thaw(account);
            }
            fixture
        };
        let [buyers, sellers] = [deal.buyer_token_account, deal.seller_token_account];
        Self {
            deal,
            refunded,
            settled: settled_with(&[]),
            recorded: settled_with(&[buyers, sellers]),
            recorded_for_buyer: settled_with(&[buyers]),
            recorded_for_seller: settled_with(&[sellers]),
        }
    }

    /// The points where closing is possible, with a bit for each token account that closing needs: the
    /// treasury's, the buyer's and the seller's.
    pub fn finished(&self) -> [(&'static str, &Fixture, u8); 5] {
        [
            ("refunded", &self.refunded, 0),
            ("settled", &self.settled, 1),
            ("recorded for the buyer", &self.recorded_for_buyer, 3),
            ("recorded for the seller", &self.recorded_for_seller, 5),
            ("recorded for both", &self.recorded, 7),
        ]
    }
}

/// Measures the named cases.
pub fn all(start: &Start) -> Vec<Measured> {
    let points = Points::reach(start);
    let mut cases = Vec::new();
    configuration(&mut cases);
    creation(&mut cases, start);
    sealed_prices(&mut cases, start);
    bargaining(&mut cases, start);
    payouts(&mut cases, &points);
    milestones(&mut cases, start);
    cases
}

fn beyond(case: Measured) -> Measured {
    Measured {
        is_beyond: true,
        ..case
    }
}

fn configuration(cases: &mut Vec<Measured>) {
    let mut fixture = Fixture::unconfigured();
    let call = fixture.initialize();
    cases.push(measure("once", &fixture, &call));
    fixture.put(ProtocolConfig::ADDRESS, wallet(1));
    cases.push(beyond(measure("a lamport sent ahead", &fixture, &call)));
    let fixture = Fixture::new();
    let call = fixture.update(&Fixture::config());
    cases.push(measure("all values", &fixture, &call));
    cases.push(measure("pause", &fixture, &fixture.set_paused(Flag::ON)));
    let propose = fixture.propose(STRANGER);
    cases.push(measure("a successor", &fixture, &propose));
    let fixture = after(&fixture, &propose);
    cases.push(measure(
        "by the successor",
        &fixture,
        &fixture.accept_authority(STRANGER),
    ));
}

fn creation(cases: &mut Vec<Measured>, start: &Start) {
    let (fixture, deal) = (&start.new, &start.deal);
    let call = fixture.create(deal, &Fixture::terms());
    cases.push(measure("without metadata", fixture, &call));
    let [_, terms, _] = metadata();
    let terms = NegotiationParams {
        metadata: terms,
        ..Milestones::terms(8, true)
    };
    let all = fixture.create(deal, &terms);
    cases.push(measure(
        "with metadata, a bond and eight milestones",
        fixture,
        &all,
    ));
    for (case, bump, vault_bump) in [
        ("second bump of the negotiation", u8::MAX - 1, u8::MAX),
        ("second bump of the vault", u8::MAX, u8::MAX - 1),
    ] {
        let deal = deal_with_bumps(deal.buyer, deal.seller, bump, vault_bump);
        let call = fixture.create(&deal, &Fixture::terms());
        cases.push(beyond(measure(case, fixture, &call)));
    }
    for (case, for_negotiation, for_vault) in [
        ("a lamport sent ahead to both addresses", 1, 1),
        (
            "all rent sent ahead to both addresses",
            rent(Negotiation::SIZE),
            rent(TokenAccount::SIZE),
        ),
    ] {
        let mut fixture = fixture.clone();
        fixture.put(deal.negotiation, wallet(for_negotiation));
        fixture.put(deal.escrow_vault, wallet(for_vault));
        cases.push(beyond(measure(case, &fixture, &call)));
    }

    let fixture = start.created(&Fixture::terms());
    let call = fixture.accept_invitation(deal);
    cases.push(measure("without a bond", &fixture, &call));
    let fixture = start.created(&Fixture::bonded_terms());
    let call = fixture.accept_invitation_with_bond(deal);
    cases.push(measure("with a bond", &fixture, &call));
}

fn sealed_prices(cases: &mut Vec<Measured>, start: &Start) {
    let deal = &start.deal;
    let (buyer, seller) = (deal.buyer, deal.seller);
    let [sealed, _, both, with_zone] = revealed(start, SELLER_PRICE);
    let [_, _, _, without_zone] = revealed(start, TOO_MUCH);
    let commit = sealed.commit(deal, buyer, sealed.commitment(deal, buyer, BUYER_PRICE));
    cases.push(measure("the buyer's", &sealed, &commit));
    let call = with_zone.reveal(deal, seller, SELLER_PRICE, nonce_of(seller));
    cases.push(measure("the seller's, with a zone", &with_zone, &call));
    let call = both.reveal(deal, buyer, BUYER_PRICE, nonce_of(buyer));
    cases.push(measure("the buyer's", &both, &call));
    let call = without_zone.reveal_and_end(deal, seller, TOO_MUCH, nonce_of(seller));
    cases.push(measure(
        "the seller's, without a zone",
        &without_zone,
        &call,
    ));
}

fn bargaining(cases: &mut Vec<Measured>, start: &Start) {
    let deal = &start.deal;
    let (buyer, seller) = (deal.buyer, deal.seller);
    let terms = Fixture::terms();
    let [none, metadata, _] = metadata();
    let offered = start.offered(&terms);
    let invited = start.invited(&terms);
    for (case, fixture, offerer, metadata) in [
        ("the seller's, without metadata", &offered, seller, none),
        ("the first, with metadata", &invited, buyer, metadata),
    ] {
        let call = fixture.offer_with(deal, offerer, OFFER, &metadata);
        cases.push(measure(case, fixture, &call));
    }

    let accept = offered.accept_offer(deal, seller);
    cases.push(measure("by the seller", &offered, &accept));
    let bonded = start.offered(&Fixture::bonded_terms());
    let call = bonded.accept_offer(deal, seller);
    cases.push(measure("with a bond", &bonded, &call));
    let milestones = start.offered(&Milestones::terms(8, true));
    let call = milestones.accept_offer(deal, seller);
    cases.push(measure("for eight milestones", &milestones, &call));
    let mut frozen = offered.clone();
    frozen.freeze(&deal.buyer_token_account);
    frozen.freeze(&deal.seller_token_account);
    cases.push(measure("recorded for both", &frozen, &accept));

    let with_bond = |call: Call| call.given("seller_token_account", deal.seller_token_account);
    let reject = offered.reject(deal, seller);
    cases.push(measure("by the seller", &offered, &reject));
    let call = with_bond(bonded.reject(deal, seller));
    cases.push(measure("with a bond", &bonded, &call));

    let overdue = offered.at(NOW + 300);
    cases.push(measure("Proposed", &overdue, &overdue.expire(deal)));
    let overdue = bonded.at(NOW + 300);
    let call = with_bond(overdue.expire(deal));
    cases.push(measure("with a bond", &overdue, &call));
}

fn payouts(cases: &mut Vec<Measured>, points: &Points) {
    let deal = &points.deal;
    let full = points.settled.close(deal, STRANGER);
    let bare = full
        .clone()
        .without("buyer_token_account")
        .without("seller_token_account");
    cases.push(measure("with fee and decay", &points.settled, &bare));
    let nothing = bare.without("treasury_token_account");
    cases.push(measure(
        "with nothing for the treasury",
        &points.refunded,
        &nothing,
    ));
    cases.push(measure(
        "delivering to both parties",
        &points.recorded,
        &full,
    ));

    let amount = points.recorded.negotiation(deal).claimable_seller;
    let call = points.recorded.claim(deal, deal.seller, amount);
    cases.push(measure("by the seller", &points.recorded, &call));
}

fn milestones(cases: &mut Vec<Measured>, start: &Start) {
    let deal = &start.deal;
    let accepted = start.accepted(&Milestones::terms(8, true));
    let claim = accepted.claim_milestone(deal, 0);
    cases.push(measure("the first of eight", &accepted, &claim));
    let claimed = after(&accepted, &claim);
    let release = claimed.release(deal, deal.buyer, 0);
    cases.push(measure(
        "the first of eight, by the buyer",
        &claimed,
        &release,
    ));
    let mut last = accepted.clone();
    for index in 0..7 {
        last.claims_and_is_paid(deal, index);
    }
    last.claims(deal, 7);
    let call = last.release(deal, deal.buyer, 7);
    cases.push(measure("the last of eight, with the bond", &last, &call));

    let dispute = claimed.dispute(deal, 0);
    cases.push(measure("the first of eight", &claimed, &dispute));
    let mut disputed = accepted.clone();
    for index in 0..7 {
        disputed.claims_and_disputes(deal, index);
    }
    let call = disputed.resolve(deal, 0, 5_000);
    cases.push(measure(
        "the first of eight, half and half",
        &disputed,
        &call,
    ));

    let mut overdue = disputed.clone();
    overdue.claims(deal, 7);
    overdue.now = MILESTONE_DEADLINE + ARBITRATION;
    let call = overdue.settle_deadline(deal);
    let case = "seven of eight disputed, one claimed";
    cases.push(measure(case, &overdue, &call));
    let unclaimed = accepted.at(MILESTONE_DEADLINE);
    let call = unclaimed.settle_deadline(deal);
    cases.push(measure("eight unclaimed", &unclaimed, &call));
    let call = disputed.settle_by_agreement(deal, 5_000, 2_500);
    cases.push(measure(
        "seven of eight disputed, half and half",
        &disputed,
        &call,
    ));
}
