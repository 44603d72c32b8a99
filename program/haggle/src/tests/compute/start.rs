//! The negotiation points that measurements start from. All addresses use the first bump.

use super::super::fixture::{
    associated, currency, metadata_of, mint_with_every_extension, named, program_of, token_account,
    token_account_2022, wallet, Call, Deal, Fixture, CREATED, FUNDS, IMMUTABLE_OWNER, LAMPORTS,
    NOW, OFFER, TREASURY,
};
use crate::constants::{METADATA_TERMS, METADATA_TERMS_HASH};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::runtime::programs;
use pinocchio::Address;

/// A wallet whose associated token account has this bump.
pub fn wallet_with_bump(role: &str, bump: u8) -> Address {
    let found = |wallet: &Address| {
        let (program, mint) = (program_of(&currency()), currency());
        let seeds = [wallet.as_ref(), program.as_ref(), mint.as_ref()];
        Address::find_program_address(&seeds, &programs::ASSOCIATED_TOKEN).1
    };
    let mut wallets = (0u32..).map(|number| named(&format!("{role} {number}")));
    wallets
        .find(|wallet| found(wallet) == bump)
        .expect("every second wallet has the next bump")
}

/// A pair's deal with the given bumps.
pub fn deal_with_bumps(buyer: Address, seller: Address, bump: u8, vault_bump: u8) -> Deal {
    let mut deals = (0..).map(|session_id| Deal::between(buyer, seller, session_id, currency()));
    deals
        .find(|deal| deal.bump == bump && deal.vault_bump == vault_bump)
        .expect("some session has them")
}

/// Metadata of every kind, with all bytes used.
pub fn metadata() -> [[u8; 64]; 3] {
    [
        [0; 64],
        metadata_of(METADATA_TERMS, 50),
        metadata_of(METADATA_TERMS_HASH, 33),
    ]
}

/// The points in a negotiation that measurements start from.
pub struct Start {
    /// The negotiation's addresses.
    pub deal: Deal,
    /// The point before the creation.
    pub new: Fixture,
}

impl Start {
    /// A buyer and a seller with money, whose addresses all have the first bump.
    pub fn new() -> Self {
        Self::with_bumps(u8::MAX, u8::MAX)
    }

    /// The same in a Token-2022 mint carrying every extension that the program accepts.
    pub fn with_mint_extensions() -> Self {
        let mut start = Self::new();
        start.new.put(currency(), mint_with_every_extension());
        start
    }

    /// The same as [`Self::new`], given the bumps for the parties' associated token accounts.
    pub fn with_bumps(buyers: u8, sellers: u8) -> Self {
        let mint = currency();
        let mut new = Fixture::new().at(CREATED);
        let buyer = wallet_with_bump("buyer", buyers);
        let seller = wallet_with_bump("seller", sellers);
        for (who, amount) in [(buyer, FUNDS), (seller, FUNDS), (TREASURY, 0)] {
            new.put(who, wallet(LAMPORTS));
            // Under Token-2022, the associated token account program makes accounts with immutable owners.
            let account = if program_of(&mint) == programs::TOKEN {
                token_account(&mint, &who, amount)
            } else {
                token_account_2022(&mint, &who, amount, &[(IMMUTABLE_OWNER, vec![])])
            };
            new.put(associated(&who, &mint), account);
        }
        let deal = deal_with_bumps(buyer, seller, u8::MAX, u8::MAX);
        Self { deal, new }
    }

    /// The seller is invited on these terms.
    pub fn created(&self, terms: &NegotiationParams) -> Fixture {
        let call = self.new.create(&self.deal, terms);
        after(&self.new, &call).at(NOW)
    }

    /// The seller has accepted the invitation, and deposited a bond that the terms require.
    pub fn invited(&self, terms: &NegotiationParams) -> Fixture {
        let created = self.created(terms);
        let call = if terms.bond_required > 0 {
            created.accept_invitation_with_bond(&self.deal)
        } else {
            created.accept_invitation(&self.deal)
        };
        after(&created, &call)
    }

    /// The buyer has offered with metadata.
    pub fn offered(&self, terms: &NegotiationParams) -> Fixture {
        let invited = self.invited(terms);
        let [_, terms, _] = metadata();
        let call = invited.offer_with(&self.deal, self.deal.buyer, OFFER, &terms);
        after(&invited, &call)
    }

    /// The seller has made a counteroffer.
    pub fn countered(&self, terms: &NegotiationParams) -> Fixture {
        let offered = self.offered(terms);
        let call = offered.offer(&self.deal, self.deal.seller, OFFER + 500_000);
        after(&offered, &call)
    }

    /// The seller has accepted the buyer's offer.
    pub fn accepted(&self, terms: &NegotiationParams) -> Fixture {
        let offered = self.offered(terms);
        let call = offered.accept_offer(&self.deal, self.deal.seller);
        after(&offered, &call)
    }
}

/// The fixture after calling.
#[track_caller]
pub fn after(fixture: &Fixture, call: &Call) -> Fixture {
    let mut fixture = fixture.clone();
    fixture.run(call).succeeds();
    fixture
}
