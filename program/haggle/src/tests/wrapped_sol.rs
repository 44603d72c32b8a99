//! Wrapped SOL: tokens and lamports move together, rent is the buyer's, and lamports that become tokens
//! change no payment.

use super::fixture::{
    associated, event, rent, token_account, wallet, Deal, Fixture, BUYER, ESCROW, FUNDS, LAMPORTS,
    NATIVE_MINT, NOW, OFFER, SELLER, STRANGER, TREASURY,
};
use crate::event::NegotiationClosed;

/// The fee on [`OFFER`], and a single round's decay.
const FEE: u64 = 15_000;
const DECAY: u64 = 100_000;

/// The seller has accepted [`OFFER`].
fn settled() -> (Fixture, Deal) {
    let (mut fixture, deal) = Fixture::offered_in_wrapped_sol();
    let call = fixture.accept_offer(&deal, SELLER);
    fixture.run(&call).succeeds();
    (fixture, deal)
}

/// Closes, and requires that the treasury gets `swept` and the buyer gets `lamports` in addition to the rent.
#[track_caller]
fn assert_closes(mut fixture: Fixture, deal: &Deal, swept: u64, lamports: u64) {
    let call = fixture.close(deal, STRANGER);
    fixture.run(&call).succeeds().emitted(&[event(
        NegotiationClosed::RECORD,
        &NegotiationClosed {
            negotiation_id: deal.negotiation,
            closed_by: STRANGER,
            swept,
            timestamp: NOW,
        },
    )]);
    assert!(!fixture.exists(&deal.negotiation) && !fixture.exists(&deal.escrow_vault));
    assert_eq!(fixture.lamports(&BUYER), LAMPORTS + lamports);
    let treasury = associated(&TREASURY, &NATIVE_MINT);
    assert_eq!(fixture.balance(&treasury), swept);
    assert_eq!(fixture.lamports(&treasury), rent(165) + swept);
}

#[test]
fn a_payment_moves_its_lamports() {
    let (fixture, deal) = settled();
    for (account, amount) in [
        (deal.seller_token_account, OFFER - FEE),
        (deal.buyer_token_account, FUNDS - ESCROW + 4_900_000 - OFFER),
        (deal.escrow_vault, FEE + DECAY),
    ] {
        assert_eq!(fixture.balance(&account), amount);
        assert_eq!(fixture.lamports(&account), rent(165) + amount);
    }
}

#[test]
fn a_claim_moves_its_lamports() {
    let (mut fixture, deal) = Fixture::offered_in_wrapped_sol();
    fixture.freeze(&deal.seller_token_account);
    let call = fixture.accept_offer(&deal, SELLER);
    fixture.run(&call).succeeds();
    fixture.thaw(&deal.seller_token_account);
    let before = fixture.lamports(&deal.seller_token_account);
    let call = fixture.claim(&deal, SELLER, OFFER - FEE);
    fixture.run(&call).succeeds();
    assert_eq!(fixture.balance(&deal.seller_token_account), OFFER - FEE);
    assert_eq!(
        fixture.lamports(&deal.seller_token_account),
        before + OFFER - FEE
    );
}

#[test]
fn lamports_sent_ahead_to_a_vault_are_a_donation() {
    let mut fixture = Fixture::new();
    let deal = Deal::between(BUYER, SELLER, 1, NATIVE_MINT);
    fixture.put(
        deal.buyer_token_account,
        token_account(&NATIVE_MINT, &BUYER, FUNDS),
    );
    fixture.put(deal.escrow_vault, wallet(LAMPORTS));
    let call = fixture.create(&deal, &Fixture::terms());
    fixture.run(&call).succeeds();
    assert_eq!(
        fixture.balance(&deal.escrow_vault),
        LAMPORTS - rent(165) + ESCROW
    );
    assert_eq!({ fixture.negotiation(&deal).effective_escrow }, ESCROW);
    assert_eq!(fixture.lamports(&deal.escrow_vault), LAMPORTS + ESCROW);
}

#[test]
fn unsynced_lamports_go_to_the_buyer() {
    let (mut fixture, deal) = settled();
    fixture.change(&deal.escrow_vault, |account| account.lamports += 123);
    assert_closes(fixture, &deal, FEE + DECAY, 123);
}

#[test]
fn synced_lamports_go_to_the_buyer() {
    let (mut fixture, deal) = settled();
    fixture.change(&deal.escrow_vault, |account| account.lamports += 123);
    fixture.donate(&deal.escrow_vault, 123);
    assert_closes(fixture, &deal, FEE + DECAY, 123);
}

#[test]
fn a_vault_with_too_few_tokens_sweeps_the_rest() {
    let (mut fixture, deal) = settled();
    fixture.set_balance(&deal.escrow_vault, FEE);
    assert_closes(fixture, &deal, FEE, DECAY);
}
