//! What is over stays over: after its end no action on a negotiation is possible, whatever the clock says.

use super::stage::{Call, Deal, Stage, BUYER, NOW, OFFER, SELLER, STRANGER};
use crate::error::{Framework, HaggleError};
use pinocchio::error::ProgramError;

/// Every action that an open negotiation knows, by everyone who could try it.
fn actions(stage: &Stage, deal: &Deal) -> Vec<Call> {
    let mut calls = vec![stage.accept_invitation(deal), stage.expire(deal)];
    for who in [BUYER, SELLER, STRANGER] {
        calls.push(stage.offer(deal, who, OFFER));
        calls.push(stage.accept_offer(deal, who));
        calls.push(stage.reject(deal, who));
    }
    calls
}

#[test]
fn nothing_happens_to_a_negotiation_that_is_over() {
    for (stage, deal) in [
        Stage::settled(),
        Stage::settled_with_both_kept(),
        Stage::rejected(),
        Stage::expired(),
    ] {
        for now in [i64::MIN, NOW, NOW + 299, NOW + 300, NOW + 3_600, i64::MAX] {
            for call in actions(&stage, &deal) {
                stage.at(now).refuses(&call, HaggleError::InvalidState);
            }
        }
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
