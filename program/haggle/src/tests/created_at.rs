//! Tests that created_at identifies the deal in every signed instruction.

use super::fixture::{
    under_both_token_programs, Call, Fixture, BUYER, NOW, OFFER, SELLER, STRANGER,
};
use super::scenes::scenes;
use crate::error::{Framework, HaggleError};
use crate::instructions::INSTRUCTIONS;
use pinocchio::error::ProgramError;
use std::collections::BTreeSet;

/// The instructions signed by parties or the arbiter on an existing negotiation. accept_invitation's signed
/// hash covers created_at.
pub const NAMING_THEIR_DEAL: [&str; 11] = [
    "accept_offer",
    "claim_milestone",
    "claim_payout",
    "dispute_milestone",
    "reject_negotiation",
    "release_milestone",
    "resolve_dispute",
    "reveal_zopa_price",
    "settle_by_agreement",
    "submit_offer",
    "submit_zopa_commitment",
];

#[test]
fn each_instruction_that_a_party_signs_begins_with_created_at() {
    let mut naming: Vec<_> = INSTRUCTIONS
        .iter()
        .filter(|row| {
            let has = |name| row.accounts.iter().any(|account| account.name == name);
            let is_signed = row.accounts.iter().any(|account| account.meta.signer);
            has("negotiation") && is_signed
        })
        .map(|row| row.name)
        .filter(|name| {
            ![
                "create_negotiation",
                "accept_invitation",
                "close_negotiation",
            ]
            .contains(name)
        })
        .collect();
    naming.sort_unstable();
    assert_eq!(naming, NAMING_THEIR_DEAL);
    for row in INSTRUCTIONS {
        let place = row.args.iter().position(|arg| arg.name == "created_at");
        let expected = NAMING_THEIR_DEAL.contains(&row.name).then_some(0);
        assert_eq!(place, expected, "{}", row.name);
    }
}

/// The same call, signed for a deal created so many seconds later.
fn shifted(call: &Call, seconds: i64) -> Call {
    let mut data = call.data.clone();
    let (_, args) = data.split_at_mut(8);
    let created_at = i64::from_le_bytes(args[..8].try_into().expect("eight bytes"));
    args[..8].copy_from_slice(&created_at.wrapping_add(seconds).to_le_bytes());
    call.clone().with_data(data)
}

#[test]
fn another_created_at_is_stale_in_each_instruction() {
    under_both_token_programs(|| {
        let mut tested = BTreeSet::new();
        for scene in scenes() {
            if !NAMING_THEIR_DEAL.contains(&scene.call.row.name) {
                continue;
            }
            tested.insert(scene.call.row.name);
            println!("{}", scene.name);
            for seconds in [1, -1, 1 << 32, i64::MIN] {
                let mut fixture = scene.fixture.clone();
                let call = shifted(&scene.call, seconds);
                fixture.refuses(&call, HaggleError::StaleState);
            }
        }
        assert_eq!(tested, BTreeSet::from(NAMING_THEIR_DEAL));
    });
}

/// Calls for another created_at that have another fault too, with the error that comes first.
fn with_another_fault() -> Vec<(&'static str, Fixture, Call, ProgramError)> {
    let mut cases = Vec::new();
    let mut add = |name, fixture: &Fixture, call: Call, error: ProgramError| {
        cases.push((name, fixture.clone(), shifted(&call, 1), error));
    };
    let stale = || ProgramError::from(HaggleError::StaleState);
    let unauthorized = || ProgramError::from(HaggleError::Unauthorized);

    let (fixture, deal) = Fixture::offered();
    let call = |who| fixture.offer(&deal, who, OFFER);
    add(
        "offer by a stranger",
        &fixture,
        call(STRANGER),
        unauthorized(),
    );
    add("offer out of turn", &fixture, call(BUYER), stale());
    let call = |who| fixture.accept_offer(&deal, who);
    add(
        "accept by a stranger",
        &fixture,
        call(STRANGER),
        unauthorized(),
    );
    add("accept one's own offer", &fixture, call(BUYER), stale());
    let late = fixture.at(NOW + 300);
    let expired = HaggleError::ResponseWindowExpired.into();
    add(
        "reject too late",
        &late,
        fixture.reject(&deal, BUYER),
        expired,
    );
    let call = fixture.reject(&deal, STRANGER);
    add("reject by a stranger", &fixture, call, unauthorized());
    let (fixture, _) = Fixture::bonded();
    let call = fixture.reject(&deal, BUYER);
    add(
        "reject without an account for the bond",
        &fixture,
        call,
        stale(),
    );

    let (mut fixture, _) = Fixture::settled_with_recorded_payouts();
    let call = fixture.claim(&deal, STRANGER, 1);
    add("claim by a stranger", &fixture, call, unauthorized());
    fixture.freeze(&deal.escrow_vault);
    let call = fixture.claim(&deal, SELLER, 2_985_000);
    add("claim from a frozen vault", &fixture, call, stale());

    let (fixture, _) = Fixture::sealed();
    let call = |who| fixture.commit(&deal, who, [1; 32]);
    add(
        "commit by a stranger",
        &fixture,
        call(STRANGER),
        unauthorized(),
    );
    add("commit out of turn", &fixture, call(SELLER), stale());
    let (fixture, _) = Fixture::both_committed();
    let call = |who| fixture.reveal(&deal, who, OFFER, [0; 32]);
    add(
        "reveal by a stranger",
        &fixture,
        call(STRANGER),
        unauthorized(),
    );
    add("reveal out of turn", &fixture, call(SELLER), stale());
    add("reveal another price", &fixture, call(BUYER), stale());

    let (mut fixture, _) = Fixture::accepted(&[5_000, 5_000]);
    let call = fixture.claim_milestone(&deal, 0).with("seller", STRANGER);
    add(
        "claim a milestone as a stranger",
        &fixture,
        call,
        unauthorized(),
    );
    fixture.claims(&deal, 0);
    let call = fixture.dispute(&deal, 0).with("buyer", STRANGER);
    add("dispute as a stranger", &fixture, call, unauthorized());
    let call = fixture.release(&deal, STRANGER, 0);
    add("release as a stranger", &fixture, call, unauthorized());
    let call = fixture.dispute(&deal, 0);
    fixture.run(&call).succeeds();
    let call = fixture.resolve(&deal, 0, 0);
    let by_stranger = call.clone().with("arbiter", STRANGER);
    add(
        "resolve as a stranger",
        &fixture,
        by_stranger,
        unauthorized(),
    );
    let call = fixture.settle_by_agreement(&deal, 0, 0);
    let late = fixture.at(NOW + 60);
    add(
        "agree too late",
        &late,
        call.clone(),
        HaggleError::Expired.into(),
    );
    let by_stranger = call.with("seller", STRANGER);
    let has_one = Framework::ConstraintHasOne.into();
    add("agree as a stranger", &fixture, by_stranger, has_one);
    let call = fixture.resolve(&deal, 0, 0);
    fixture.run(&call).succeeds();
    fixture.claims(&deal, 1);
    let call = fixture.release(&deal, BUYER, 1);
    add(
        "release without an account for the bond",
        &fixture,
        call,
        stale(),
    );
    cases
}

#[test]
fn created_at_is_checked_after_the_party_and_before_the_turn() {
    under_both_token_programs(|| {
        for (name, mut fixture, call, error) in with_another_fault() {
            println!("{name}");
            fixture.refuses(&call, error);
        }
    });
}
