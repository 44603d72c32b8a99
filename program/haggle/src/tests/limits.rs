//! The limits of the program's defences that docs/SECURITY_MODEL.md states, so that the document stays true.
use super::fixture::{named, token_account, Fixture, BUYER, MINT, NOW, SELLER, STRANGER};
use crate::error::HaggleError;

/// A signed claim not sent yet is valid for the next recorded payout of the same amount in the deal.
#[test]
fn an_unsent_claim_fits_the_next_payout_of_the_same_amount() {
    let mut terms = Fixture::milestone_terms(&[5_000, 5_000]);
    terms.bond_required = 0;
    let (mut fixture, deal) = Fixture::accepted_with(&terms, 2_000_000);
    fixture.freeze(&deal.seller_token_account);
    fixture.claims_and_is_paid(&deal, 0);
    let recorded = fixture.negotiation(&deal).claimable_seller;
    assert_eq!(recorded, 995_000);
    fixture.put(named("first"), token_account(&MINT, &SELLER, 0));
    fixture.put(named("second"), token_account(&MINT, &SELLER, 0));
    let withheld = fixture
        .claim(&deal, SELLER, recorded)
        .with("destination_token_account", named("first"));
    let other = fixture
        .claim(&deal, SELLER, recorded)
        .with("destination_token_account", named("second"));
    fixture.run(&other).succeeds();
    fixture.refuses(&withheld, HaggleError::StaleState);
    fixture.claims_and_is_paid(&deal, 1);
    fixture.run(&withheld).succeeds();
    assert_eq!(fixture.balance(&named("first")), recorded);
}

/// expire_negotiation has no signer, and the signer of close_negotiation has no choice.
#[test]
fn an_unsigned_expire_or_close_fits_a_later_deal() {
    let (mut fixture, deal) = Fixture::created();
    let (expire, close) = (fixture.expire(&deal), fixture.close(&deal, STRANGER));
    for call in [fixture.reject(&deal, BUYER), fixture.close(&deal, BUYER)] {
        fixture.run(&call).succeeds();
    }
    fixture.now = NOW + 10;
    let mut terms = Fixture::terms();
    terms.global_deadline = fixture.now + 60;
    let call = fixture.create(&deal, &terms);
    fixture.run(&call).succeeds();
    fixture.now += 60;
    fixture.run(&expire).succeeds();
    fixture.run(&close).succeeds();
    assert!(!fixture.exists(&deal.negotiation));
}

/// The holder of two signed agreements can send either one.
#[test]
fn either_of_two_signed_agreements_can_be_sent() {
    let (fixture, deal) = Fixture::accepted(&[10_000]);
    for bps in [0, 10_000] {
        let call = fixture.settle_by_agreement(&deal, bps, 0);
        fixture.clone().run(&call).succeeds();
    }
}

/// Donating a unit makes closing a negotiation without earnings require a treasury account.
#[test]
fn dust_in_the_vault_requires_an_account_of_the_treasury() {
    let (mut fixture, deal) = Fixture::created();
    let call = fixture.reject(&deal, SELLER);
    fixture.run(&call).succeeds();
    let close = fixture
        .close(&deal, STRANGER)
        .without("treasury_token_account");
    fixture.clone().run(&close).succeeds();
    fixture.donate(&deal.escrow_vault, 1);
    fixture.refuses(&close, HaggleError::PayoutPending);
}
