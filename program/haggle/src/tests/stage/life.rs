//! Points in the life of a negotiation.

use super::{
    associated, token_account, Deal, Stage, BUYER, FUNDS, NATIVE_MINT, OFFER, SELLER, STRANGER,
    TREASURY,
};
use crate::instructions::create_negotiation::NegotiationParams;

impl Stage {
    /// The buyer has deposited; the seller is invited.
    pub fn created() -> (Self, Deal) {
        Self::created_with(&Self::terms())
    }

    /// The same with other terms.
    pub fn created_with(terms: &NegotiationParams) -> (Self, Deal) {
        let mut stage = Self::new();
        let deal = Self::deal();
        let call = stage.create(&deal, terms);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller takes part; the buyer has to open.
    pub fn invited() -> (Self, Deal) {
        Self::invited_with(&Self::terms())
    }

    /// The same with other terms.
    pub fn invited_with(terms: &NegotiationParams) -> (Self, Deal) {
        let (mut stage, deal) = Self::created_with(terms);
        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The buyer has offered [`OFFER`] in the first round.
    pub fn offered() -> (Self, Deal) {
        let (mut stage, deal) = Self::invited();
        let call = stage.offer(&deal, deal.buyer, OFFER);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The same as [`Self::offered`] in wrapped SOL.
    pub fn offered_in_wrapped_sol() -> (Self, Deal) {
        let mut stage = Self::new();
        let deal = Deal::between(BUYER, SELLER, 1, NATIVE_MINT);
        for (who, amount) in [(BUYER, FUNDS), (SELLER, 0), (STRANGER, 0), (TREASURY, 0)] {
            let account = token_account(&NATIVE_MINT, &who, amount);
            stage.put(associated(&who, &NATIVE_MINT), account);
        }
        let call = stage.create(&deal, &Self::terms());
        stage.run(&call).succeeds();
        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds();
        let call = stage.offer(&deal, deal.buyer, OFFER);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has asked for half a million more in the second round.
    pub fn countered() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        let call = stage.offer(&deal, deal.seller, OFFER + 500_000);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has accepted [`OFFER`] after one round.
    pub fn settled() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        let call = stage.accept_offer(&deal, deal.seller);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has walked away from [`OFFER`].
    pub fn rejected() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        let call = stage.reject(&deal, deal.seller);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has not answered [`OFFER`].
    pub fn expired() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        stage.now = stage.negotiation(&deal).turn_deadline;
        let call = stage.expire(&deal);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// [`OFFER`] is settled while neither party's token account could receive, so both payments are kept. The accounts can
    /// receive again.
    pub fn settled_with_both_kept() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        stage.freeze(&deal.buyer_token_account);
        stage.freeze(&deal.seller_token_account);
        let call = stage.accept_offer(&deal, deal.seller);
        stage.run(&call).succeeds();
        stage.thaw(&deal.buyer_token_account);
        stage.thaw(&deal.seller_token_account);
        (stage, deal)
    }

    /// The negotiation's accounts are gone.
    pub fn closed() -> (Self, Deal) {
        let (mut stage, deal) = Self::settled();
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        (stage, deal)
    }
}
