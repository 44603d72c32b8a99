//! A negotiation's addresses.

use super::{associated, pda};
use crate::constants::{NEGOTIATION_SEED, VAULT_SEED};
use pinocchio::Address;

/// One negotiation: its parties, its addresses and the token accounts of its parties.
#[derive(Clone, Copy)]
pub struct Deal {
    /// Who pays.
    pub buyer: Address,
    /// Who is paid.
    pub seller: Address,
    /// What tells this pair's negotiations apart.
    pub session_id: u64,
    /// The negotiation's address.
    pub negotiation: Address,
    /// The bump of the negotiation's address.
    pub bump: u8,
    /// The vault's address.
    pub escrow_vault: Address,
    /// The bump of the vault's address.
    pub vault_bump: u8,
    /// The mint of the escrow.
    pub token_mint: Address,
    /// The buyer's associated token account.
    pub buyer_token_account: Address,
    /// The seller's associated token account.
    pub seller_token_account: Address,
}

impl Deal {
    /// The addresses that follow from the parties, the session and the mint.
    pub fn between(buyer: Address, seller: Address, session_id: u64, token_mint: Address) -> Self {
        let (negotiation, bump) = pda(&[
            NEGOTIATION_SEED.as_bytes(),
            buyer.as_ref(),
            seller.as_ref(),
            &session_id.to_le_bytes(),
        ]);
        let (escrow_vault, vault_bump) = pda(&[VAULT_SEED.as_bytes(), negotiation.as_ref()]);
        Self {
            buyer,
            seller,
            session_id,
            negotiation,
            bump,
            escrow_vault,
            vault_bump,
            token_mint,
            buyer_token_account: associated(&buyer, &token_mint),
            seller_token_account: associated(&seller, &token_mint),
        }
    }
}
