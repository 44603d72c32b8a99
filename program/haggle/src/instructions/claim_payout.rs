//! A party fetches what could not be delivered to it.

use crate::declare::instruction;
use crate::error::{Framework, HaggleError};
use crate::escrow::{check_vault, Authority, Payment, TokenAccount, Vault};
use crate::event::PayoutClaimed;
use crate::programs;
use crate::state::{Negotiation, OfferSide};
use crate::table::Meta;
use pinocchio::error::ProgramResult;
use pinocchio::sysvars::clock::Clock;
use pinocchio::sysvars::Sysvar;
use pinocchio::AccountView;

instruction! {
    /// Fetches what is kept for the signer because it could not be delivered, to any token account the signer names.
    pub fn claim_payout(
        /// What the signer expects, in base units of the mint: all that is kept for it.
        amount: u64,
    );
    accounts {
        /// The party that something is kept for.
        party: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// The token account to pay to, whoever owns it.
        destination_token_account: Meta::WRITE,
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.at(&programs::TOKEN),
    }
}

/// Pays what is kept.
///
/// # Errors
/// 2003 when the destination cannot receive, InvalidParams for nothing, InvalidState while the negotiation is not over,
/// Unauthorized, StaleState for another amount than is kept, PayoutPending while the vault is frozen.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let party = *accounts.party.address();
    let vault = Vault {
        negotiation: &accounts.negotiation,
        account: &accounts.escrow_vault,
        mint: &accounts.token_mint,
    };
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the transfer at the end only takes its address and its seeds.
    let negotiation = unsafe { Negotiation::of(&mut view) };

    check_vault(&vault, negotiation)?;
    // Paying the vault to itself would leave the money to the treasury.
    let destination = &accounts.destination_token_account;
    let can_receive = match TokenAccount::of(destination) {
        Some(token) => token.is_for(&{ negotiation.token_mint }) && token.can_receive(),
        None => false,
    };
    if !can_receive || destination.address() == accounts.escrow_vault.address() {
        return Err(Framework::ConstraintRaw.into());
    }
    accounts.check_fixed_addresses()?;

    let amount = args.amount;
    if amount == 0 {
        return Err(HaggleError::InvalidParams.into());
    }
    if negotiation.is_open() {
        return Err(HaggleError::InvalidState.into());
    }
    let kept = if negotiation.side_of(&party)? == OfferSide::Buyer {
        negotiation.claimable_buyer
    } else {
        negotiation.claimable_seller
    };
    if amount != kept {
        return Err(HaggleError::StaleState.into());
    }
    if vault.is_frozen() {
        return Err(HaggleError::PayoutPending.into());
    }

    if negotiation.side_of(&party)? == OfferSide::Buyer {
        negotiation.claimable_buyer = 0;
    } else {
        negotiation.claimable_seller = 0;
    }
    PayoutClaimed {
        negotiation_id: id,
        party,
        amount,
        timestamp: Clock::get()?.unix_timestamp,
    }
    .emit();
    vault.pay(
        [Payment { to: destination, amount }],
        &Authority::of(negotiation),
    )
}
