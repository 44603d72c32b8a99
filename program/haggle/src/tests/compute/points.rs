//! The points of one negotiation that are measured from. All addresses have the first bump, which is what the ceilings are for.

use super::super::stage::{
    associated, currency, named, program_of, token_account, wallet, Call, Deal, Stage, FUNDS,
    LAMPORTS, OFFER,
};
use crate::constants::METADATA_TERMS;
use crate::instructions::create_negotiation::NegotiationParams;
use crate::runtime::programs;
use pinocchio::Address;

/// A stage and a deal whose addresses all have the first bump, which is what the ceilings are for.
fn first_bumps() -> (Stage, Deal) {
    let mint = currency();
    let mut stage = Stage::new();
    let [buyer, seller] = ["buyer", "seller"].map(wallet_with_first_bump);
    for (who, amount) in [(buyer, FUNDS), (seller, FUNDS)] {
        stage.put(who, wallet(LAMPORTS));
        stage.put(associated(&who, &mint), token_account(&mint, &who, amount));
    }
    let deal = deal_with_bumps(buyer, seller, u8::MAX, u8::MAX);
    (stage, deal)
}

/// A wallet whose associated token account has the first bump.
fn wallet_with_first_bump(role: &str) -> Address {
    let bump = |wallet: &Address| {
        let (program, mint) = (program_of(&currency()), currency());
        let seeds = [wallet.as_ref(), program.as_ref(), mint.as_ref()];
        Address::find_program_address(&seeds, &programs::ASSOCIATED_TOKEN).1
    };
    let mut wallets = (0u32..).map(|number| named(&format!("{role} {number}")));
    wallets
        .find(|wallet| bump(wallet) == u8::MAX)
        .expect("every second wallet is one")
}

/// A pair's deal with these bumps.
pub fn deal_with_bumps(buyer: Address, seller: Address, bump: u8, vault_bump: u8) -> Deal {
    let mut deals = (0..).map(|session_id| Deal::between(buyer, seller, session_id, currency()));
    deals
        .find(|deal| deal.bump == bump && deal.vault_bump == vault_bump)
        .expect("some session has them")
}

/// Metadata of terms, none of it zero.
pub fn metadata() -> [u8; 64] {
    let mut metadata = [0; 64];
    metadata[..50].fill(0x5a);
    metadata[0] = METADATA_TERMS;
    metadata
}

/// The points of one negotiation that are measured from.
pub struct Points {
    /// The negotiation's addresses.
    pub deal: Deal,
    /// Nothing has happened.
    pub new: Stage,
    /// The seller is invited.
    pub created: Stage,
    /// The buyer has to open.
    pub invited: Stage,
    /// The buyer has offered.
    pub offered: Stage,
    /// The seller has made an offer of its own.
    pub countered: Stage,
}

impl Points {
    /// Gets there.
    pub fn reach() -> Self {
        let (new, deal) = first_bumps();
        let created = after(&new, &new.create(&deal, &Stage::terms()));
        let invited = after(&created, &created.accept_invitation(&deal));
        let offer = invited.offer_with(&deal, deal.buyer, OFFER, &metadata());
        let offered = after(&invited, &offer);
        let countered = after(
            &offered,
            &offered.offer(&deal, deal.seller, OFFER + 500_000),
        );
        Self {
            deal,
            new,
            created,
            invited,
            offered,
            countered,
        }
    }

    /// The offer has been accepted. What could not be delivered meanwhile, because these accounts were frozen, is kept.
    pub fn settled(&self, frozen: &[Address]) -> Stage {
        let mut stage = self.offered.clone();
        for account in frozen {
            stage.freeze(account);
        }
        let call = stage.accept_offer(&self.deal, self.deal.seller);
        stage.run(&call).succeeds();
        for account in frozen {
            stage.thaw(account);
        }
        stage
    }
}

/// The stage after a call.
#[track_caller]
pub fn after(stage: &Stage, call: &Call) -> Stage {
    let mut stage = stage.clone();
    stage.run(call).succeeds();
    stage
}

/// The seller takes part on these terms, and has deposited the bond that they ask for.
pub fn bonded(points: &Points, terms: &NegotiationParams) -> Stage {
    let deal = &points.deal;
    let created = after(&points.new, &points.new.create(deal, terms));
    after(&created, &created.accept_invitation_with_bond(deal))
}
