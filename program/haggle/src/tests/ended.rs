//! What is over stays over: after its end no action on a negotiation is possible, whatever the clock says.

use super::stage::{
    Call, Deal, Stage, ARBITER, BUYER, MILESTONE_DEADLINE, NOW, OFFER, REVIEW, SELLER, STRANGER,
    THIRDS,
};
use crate::error::{Framework, HaggleError};
use crate::schema::declare::Flag;
use pinocchio::error::ProgramError;

/// Every action that a negotiation knows before its end, by everyone who could try it.
fn actions(stage: &Stage, deal: &Deal) -> Vec<Call> {
    let mut calls = vec![
        stage.accept_invitation(deal),
        stage.accept_invitation_with_bond(deal),
        stage.expire(deal),
        stage.settle_deadline(deal),
        stage.claim_milestone(deal, 0),
        stage.dispute(deal, 0),
        stage.resolve(deal, 0, 5_000, Flag::OFF),
        stage.resolve(deal, 0, 5_000, Flag::ON),
    ];
    for who in [BUYER, SELLER, STRANGER, ARBITER] {
        calls.push(stage.offer(deal, who, OFFER));
        calls.push(stage.accept_offer(deal, who));
        calls.push(stage.reject(deal, who));
        calls.push(stage.commit(deal, who, [1; 32]));
        calls.push(stage.reveal_and_end(deal, who, 1, [1; 32]));
        calls.push(stage.release(deal, who, 0));
    }
    calls
}

/// Negotiations that are over, in every way in which they can be.
fn endings() -> Vec<(Stage, Deal)> {
    let (mut released, deal) = Stage::accepted(&[10_000]);
    released.claims_and_is_paid(&deal, 0);
    let (mut resolved, _) = Stage::accepted(&[10_000]);
    resolved.claims_and_disputes(&deal, 0);
    let call = resolved.resolve(&deal, 0, 5_000, Flag::ON);
    resolved.run(&call).succeeds();
    let (mut settled, _) = Stage::accepted(&THIRDS);
    settled.claims_and_disputes(&deal, 0);
    settled.claims(&deal, 1);
    settled.now = MILESTONE_DEADLINE + REVIEW;
    let call = settled.settle_deadline(&deal);
    settled.run(&call).succeeds();
    let (mut forfeited, _) = Stage::buyer_revealed();
    forfeited.now = forfeited.negotiation(&deal).turn_deadline;
    let call = forfeited.expire(&deal);
    forfeited.run(&call).succeeds();
    vec![
        Stage::settled(),
        Stage::settled_with_both_kept(),
        Stage::rejected(),
        Stage::expired(),
        Stage::without_zone(),
        (released, deal),
        (resolved, deal),
        (settled, deal),
        (forfeited, deal),
    ]
}

/// What is over answers InvalidState, and to offers and acceptances NoZopa where there was no zone. What has no milestones
/// answers to all that names one that there is none.
fn refusal(stage: &Stage, deal: &Deal, call: &Call) -> HaggleError {
    let negotiation = stage.negotiation(deal);
    let names_milestone = call.row.args.iter().any(|field| field.name == "index");
    let offers = ["submit_offer", "accept_offer"].contains(&call.row.name);
    if names_milestone && negotiation.milestone_count == 0 {
        HaggleError::InvalidParams
    } else if offers && negotiation.ended_without_zone() {
        HaggleError::NoZopa
    } else {
        HaggleError::InvalidState
    }
}

#[test]
fn nothing_happens_to_a_negotiation_that_is_over() {
    for (stage, deal) in endings() {
        assert!(stage.negotiation(&deal).is_over());
        for now in [
            i64::MIN,
            NOW,
            NOW + 299,
            NOW + 300,
            NOW + 3_600,
            MILESTONE_DEADLINE,
            MILESTONE_DEADLINE + REVIEW,
            i64::MAX,
        ] {
            for call in actions(&stage, &deal) {
                let error = refusal(&stage, &deal, &call);
                stage.at(now).refuses(&call, error);
            }
        }
    }
}

#[test]
fn nobody_walks_away_from_an_agreement() {
    let (mut accepted, deal) = Stage::accepted(&THIRDS);
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
        MILESTONE_DEADLINE + REVIEW,
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
fn every_unit_is_accounted_for_whatever_the_end() {
    for (mut stage, deal) in endings() {
        let before = stage.negotiation(&deal);
        let held = stage.balance(&deal.escrow_vault);
        let fee = { before.paid_gross } * u64::from(before.protocol_fee_bps) / 10_000;
        let decay = before.escrow_amount - before.effective_escrow;
        let kept = before.claimable_buyer + before.claimable_seller;
        assert_eq!(held, decay + fee + kept);
        let treasury = stage
            .close(&deal, STRANGER)
            .address_of("treasury_token_account");
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&treasury), decay + fee);
        assert!(!stage.exists(&deal.negotiation) && !stage.exists(&deal.escrow_vault));
    }
}

#[test]
fn nothing_happens_to_a_negotiation_that_is_closed() {
    let (settled, deal) = Stage::settled();
    let (mut closed, _) = Stage::closed();
    let mut calls = actions(&settled, &deal);
    calls.push(settled.close(&deal, STRANGER));
    calls.push(settled.claim(&deal, SELLER, 1));
    for call in calls {
        closed.refuses(&call, Framework::AccountOwnedByWrongProgram);
    }
}

#[test]
fn at_every_second_one_can_either_act_or_expire() {
    let not_yet = ProgramError::from(HaggleError::InvalidState);
    for (point, deadline) in [
        (Stage::created(), NOW + 3_600),
        (Stage::invited(), NOW + 300),
        (Stage::offered(), NOW + 300),
        (Stage::countered(), NOW + 300),
    ] {
        let (stage, deal) = point;
        for now in [
            NOW,
            NOW + 299,
            NOW + 300,
            NOW + 301,
            NOW + 3_599,
            NOW + 3_600,
            NOW + 3_601,
        ] {
            let mut acting = stage.at(now);
            let reject = acting.reject(&deal, BUYER);
            let acted = acting.run(&reject).error_code().is_none();
            let mut expiring = stage.at(now);
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
