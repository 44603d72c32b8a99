//! A negotiation's end is final: no action is possible at any time.

use super::fixture::ARBITRATION;
use super::fixture::{
    Call, Deal, Fixture, ARBITER, BUYER, BUYER_PRICE, MILESTONE_DEADLINE, NOW, OFFER, SELLER,
    STRANGER, THIRDS,
};
use crate::error::{Framework, HaggleError};
use pinocchio::error::ProgramError;

/// Every action on an open negotiation, by each possible signer.
fn actions(fixture: &Fixture, deal: &Deal) -> Vec<Call> {
    let mut calls = vec![
        fixture.accept_invitation(deal),
        fixture.accept_invitation_with_bond(deal),
        fixture.expire(deal),
        fixture.settle_deadline(deal),
        fixture.settle_by_agreement(deal, 5_000, 0),
        fixture.claim_milestone(deal, 0),
        fixture.dispute(deal, 0),
        fixture.resolve(deal, 0, 5_000),
    ];
    for who in [BUYER, SELLER, STRANGER, ARBITER] {
        calls.push(fixture.offer(deal, who, OFFER));
        calls.push(fixture.accept_offer(deal, who));
        calls.push(fixture.reject(deal, who));
        calls.push(fixture.commit(deal, who, [1; 32]));
        calls.push(fixture.reveal_and_end(deal, who, BUYER_PRICE, [1; 32]));
        calls.push(fixture.release(deal, who, 0));
    }
    calls
}

/// An ended negotiation for every kind of end.
fn endings() -> Vec<(Fixture, Deal)> {
    let (mut released, deal) = Fixture::accepted(&[10_000]);
    released.claims_and_is_paid(&deal, 0);
    let (mut resolved, _) = Fixture::accepted(&[10_000]);
    resolved.claims_and_disputes(&deal, 0);
    let call = resolved.resolve(&deal, 0, 5_000);
    resolved.run(&call).succeeds();
    let (mut settled, _) = Fixture::accepted(&THIRDS);
    settled.claims_and_disputes(&deal, 0);
    settled.claims(&deal, 1);
    settled.now = MILESTONE_DEADLINE + ARBITRATION;
    let call = settled.settle_deadline(&deal);
    settled.run(&call).succeeds();
    let (mut forfeited, _) = Fixture::buyer_revealed();
    forfeited.now = forfeited.negotiation(&deal).turn_deadline;
    let call = forfeited.expire(&deal);
    forfeited.run(&call).succeeds();
    vec![
        Fixture::settled(),
        Fixture::settled_with_recorded_payouts(),
        Fixture::rejected(),
        Fixture::expired(),
        Fixture::without_zone(),
        (released, deal),
        (resolved, deal),
        (settled, deal),
        (forfeited, deal),
    ]
}

/// The expected error: InvalidParams for an instruction with a milestone if the negotiation has none, NoZopa
/// for offers and acceptances if the prices left no zone, otherwise InvalidState.
fn refusal(fixture: &Fixture, deal: &Deal, call: &Call) -> HaggleError {
    let negotiation = fixture.negotiation(deal);
    let names_milestone = call.row.args.iter().any(|field| field.name == "index");
    let offers = ["submit_offer", "accept_offer"].contains(&call.row.name);
    if names_milestone && negotiation.milestone_count() == 0 {
        HaggleError::InvalidParams
    } else if offers && negotiation.ended_without_zone() {
        HaggleError::NoZopa
    } else {
        HaggleError::InvalidState
    }
}

#[test]
fn an_ended_negotiation_accepts_no_action() {
    for (fixture, deal) in endings() {
        assert!(fixture.negotiation(&deal).is_over());
        for now in [
            i64::MIN,
            NOW,
            NOW + 299,
            NOW + 300,
            NOW + 3_600,
            MILESTONE_DEADLINE,
            MILESTONE_DEADLINE + ARBITRATION,
            i64::MAX,
        ] {
            for call in actions(&fixture, &deal) {
                let error = refusal(&fixture, &deal, &call);
                fixture.at(now).refuses(&call, error);
            }
        }
    }
}

#[test]
fn neither_party_can_end_an_accepted_negotiation_alone() {
    let (mut accepted, deal) = Fixture::accepted(&THIRDS);
    accepted.claims(&deal, 0);
    let bargaining = [
        "accept_invitation",
        "submit_zopa_commitment",
        "reveal_zopa_price",
        "submit_offer",
        "accept_offer",
        "reject_negotiation",
        "expire_negotiation",
    ];
    for now in [
        NOW,
        NOW + 300,
        NOW + 3_600,
        MILESTONE_DEADLINE,
        MILESTONE_DEADLINE + ARBITRATION,
        i64::MAX,
    ] {
        for call in actions(&accepted, &deal) {
            if bargaining.contains(&call.row.name) {
                accepted.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
        let close = accepted.close(&deal, BUYER);
        accepted.at(now).refuses(&close, HaggleError::InvalidState);
    }
}

#[test]
fn every_end_accounts_for_every_unit() {
    for (mut fixture, deal) in endings() {
        let before = fixture.negotiation(&deal);
        let held = fixture.balance(&deal.escrow_vault);
        let fee = { before.paid_gross } * u64::from(before.protocol_fee_bps) / 10_000;
        let decay = before.escrow_amount - before.effective_escrow;
        let kept = before.claimable_buyer + before.claimable_seller;
        assert_eq!(held, decay + fee + kept);
        let treasury = fixture
            .close(&deal, STRANGER)
            .address_of("treasury_token_account");
        let call = fixture.close(&deal, STRANGER);
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&treasury), decay + fee);
        assert!(!fixture.exists(&deal.negotiation) && !fixture.exists(&deal.escrow_vault));
    }
}

#[test]
fn a_closed_negotiation_accepts_no_instruction() {
    let (settled, deal) = Fixture::settled();
    let (mut closed, _) = Fixture::closed();
    let mut calls = actions(&settled, &deal);
    calls.push(settled.close(&deal, STRANGER));
    calls.push(settled.claim(&deal, SELLER, 1));
    for call in calls {
        closed.refuses(&call, Framework::AccountOwnedByWrongProgram);
    }
}

#[test]
fn every_second_allows_either_an_action_or_the_expiry() {
    let not_yet = ProgramError::from(HaggleError::InvalidState);
    for (point, deadline) in [
        (Fixture::created(), NOW + 3_600),
        (Fixture::invited(), NOW + 300),
        (Fixture::offered(), NOW + 300),
        (Fixture::countered(), NOW + 300),
    ] {
        let (fixture, deal) = point;
        for now in [
            NOW,
            NOW + 299,
            NOW + 300,
            NOW + 301,
            NOW + 3_599,
            NOW + 3_600,
            NOW + 3_601,
        ] {
            let mut acting = fixture.at(now);
            let reject = acting.reject(&deal, BUYER);
            let acted = acting.run(&reject).error_code().is_none();
            let mut expiring = fixture.at(now);
            let expire = expiring.expire(&deal);
            let outcome = expiring.run(&expire);
            let expired = outcome.error_code().is_none();
            assert_eq!(acted, now < deadline);
            assert_eq!(expired, now >= deadline);
            if !expired {
                outcome.refused(not_yet.clone());
            }
        }
    }
}
