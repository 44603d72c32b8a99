//! Points in the life of a negotiation with a bond, and of one that compares sealed reservation prices first.

use super::{zopa_commitment, Call, Deal, Stage, BOND, BUYER, ESCROW, SELLER};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::schema::declare::Flag;
use pinocchio::Address;

/// The buyer's reservation price at the points below.
pub const BUYER_PRICE: u64 = 4_000_000;

/// The seller's reservation price at the points below.
pub const SELLER_PRICE: u64 = 3_000_001;

/// The price in the middle of that zone.
pub const MIDPOINT: u64 = 3_500_000;

/// A seller's price that leaves no zone: one unit more than the buyer's.
pub const TOO_MUCH: u64 = BUYER_PRICE + 1;

/// What the seller's token account holds in the beginning, at every point with a bond.
pub const SELLER_FUNDS: u64 = 1_000_000;

/// The nonce that an agent seals its price with.
pub fn nonce_of(agent: Address) -> [u8; 32] {
    const_crypto::sha2::Sha256::new()
        .update(b"nonce")
        .update(agent.as_ref())
        .finalize()
}

impl Stage {
    /// The terms of [`Self::terms`] with a bond of [`BOND`].
    pub fn bonded_terms() -> NegotiationParams {
        NegotiationParams {
            bond_required: BOND,
            ..Self::terms()
        }
    }

    /// The same with sealed reservation prices.
    pub fn sealed_terms() -> NegotiationParams {
        NegotiationParams {
            zopa_enabled: Flag::ON,
            ..Self::bonded_terms()
        }
    }

    /// The seller is invited, on terms with a bond, and could pay it.
    pub fn created_with_bond(terms: &NegotiationParams) -> (Self, Deal) {
        let (mut stage, deal) = Self::created_with(terms);
        stage.set_balance(&deal.seller_token_account, SELLER_FUNDS);
        (stage, deal)
    }

    /// The seller takes part and has deposited its bond; the buyer has to open, or to commit.
    pub fn bonded_with(terms: &NegotiationParams) -> (Self, Deal) {
        let (mut stage, deal) = Self::created_with_bond(terms);
        let call = stage.accept_invitation_with_bond(&deal);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has deposited its bond; the buyer has to open.
    pub fn bonded() -> (Self, Deal) {
        Self::bonded_with(&Self::bonded_terms())
    }

    /// The buyer has to commit to its reservation price.
    pub fn sealed() -> (Self, Deal) {
        Self::bonded_with(&Self::sealed_terms())
    }

    /// The buyer has committed to [`BUYER_PRICE`].
    pub fn buyer_committed() -> (Self, Deal) {
        let (mut stage, deal) = Self::sealed();
        stage.commits(&deal, BUYER, BUYER_PRICE);
        (stage, deal)
    }

    /// Both have committed, the seller to [`SELLER_PRICE`].
    pub fn both_committed() -> (Self, Deal) {
        Self::both_committed_to(BUYER_PRICE, SELLER_PRICE)
    }

    /// Both have committed to these prices.
    pub fn both_committed_to(buyer_price: u64, seller_price: u64) -> (Self, Deal) {
        let (mut stage, deal) = Self::sealed();
        stage.commits(&deal, BUYER, buyer_price);
        stage.commits(&deal, SELLER, seller_price);
        (stage, deal)
    }

    /// The buyer has revealed [`BUYER_PRICE`].
    pub fn buyer_revealed() -> (Self, Deal) {
        Self::buyer_revealed_with(BUYER_PRICE, SELLER_PRICE)
    }

    /// Both have committed to these prices, and the buyer has revealed its own.
    pub fn buyer_revealed_with(buyer_price: u64, seller_price: u64) -> (Self, Deal) {
        let (mut stage, deal) = Self::both_committed_to(buyer_price, seller_price);
        stage.reveals(&deal, BUYER, buyer_price);
        (stage, deal)
    }

    /// There is a zone, and [`MIDPOINT`] stands.
    pub fn with_midpoint() -> (Self, Deal) {
        let (mut stage, deal) = Self::buyer_revealed();
        stage.reveals(&deal, SELLER, SELLER_PRICE);
        (stage, deal)
    }

    /// The seller's [`TOO_MUCH`] has left no zone and ended the negotiation.
    pub fn without_zone() -> (Self, Deal) {
        let (mut stage, deal) = Self::buyer_revealed_with(BUYER_PRICE, TOO_MUCH);
        let call = stage.reveal_last(&deal, TOO_MUCH);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// An agent's commitment to a price, with its own nonce.
    pub fn commitment(deal: &Deal, agent: Address, price: u64) -> [u8; 32] {
        zopa_commitment(deal, agent, price, nonce_of(agent))
    }

    /// The seller's reveal with every account that ending takes.
    pub fn reveal_last(&self, deal: &Deal, price: u64) -> Call {
        self.reveal_and_end(deal, deal.seller, price, nonce_of(deal.seller))
    }

    /// An agent commits to a price.
    #[track_caller]
    pub fn commits(&mut self, deal: &Deal, agent: Address, price: u64) {
        let call = self.commit(deal, agent, Self::commitment(deal, agent, price));
        self.run(&call).succeeds();
    }

    /// An agent reveals a price that does not end the negotiation.
    #[track_caller]
    pub fn reveals(&mut self, deal: &Deal, agent: Address, price: u64) {
        let call = self.reveal(deal, agent, price, nonce_of(agent));
        self.run(&call).succeeds();
    }

    /// Fails the test if a call has changed any other account than these.
    #[track_caller]
    pub fn assert_untouched_since(&self, before: &Self, but: &[Address]) {
        for address in self.changed_since(before) {
            assert!(but.contains(&address), "{address}");
        }
    }
}

/// Everything that the buyer and the seller ever had is where it belongs: with them, or in the vault.
#[track_caller]
pub fn assert_shares(stage: &Stage, deal: &Deal, buyer: u64, seller: u64, vault: u64) {
    let found = [
        deal.buyer_token_account,
        deal.seller_token_account,
        deal.escrow_vault,
    ]
    .map(|account| stage.balance(&account));
    assert_eq!(found, [buyer, seller, vault]);
    assert_eq!(buyer + seller + vault, super::FUNDS + SELLER_FUNDS);
}

/// The buyer's balance once the escrow has been deposited.
pub const BUYER_REST: u64 = super::FUNDS - ESCROW;

/// The accounts of the seller's last reveal that it needs only when the prices leave no zone.
pub const ENDING: [&str; 5] = [
    "escrow_vault",
    "buyer_token_account",
    "seller_token_account",
    "token_mint",
    "token_program",
];
