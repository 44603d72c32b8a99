//! A deadline has passed.

use crate::declare::instruction;
use crate::error::HaggleError;
use crate::escrow::{check_token_account, check_vault, divide, is_payable, Division, Vault};
use crate::event::NegotiationExpired;
use crate::state::{Negotiation, NegotiationStatus};
use crate::table::Meta;
use crate::{check, programs};
use pinocchio::error::ProgramResult;
use pinocchio::sysvars::clock::Clock;
use pinocchio::sysvars::Sysvar;
use pinocchio::AccountView;

instruction! {
    /// Ends a negotiation whose deadline or response window has passed: the buyer gets the escrow back, less the decay of the
    /// rounds so far. Anyone may.
    pub fn expire_negotiation();
    accounts {
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// A token account of the buyer's; if it cannot receive, the associated one, and the refund is recorded.
        buyer_token_account: Meta::WRITE,
        /// A token account of the seller's that the bond goes back to; only where there is one.
        seller_token_account: Meta::WRITE.optional(),
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.at(&programs::TOKEN),
    }
}

/// Ends the negotiation.
///
/// # Errors
/// InvalidState once it has ended, and as long as someone may still act.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let vault = Vault {
        negotiation: &accounts.negotiation,
        account: &accounts.escrow_vault,
        mint: &accounts.token_mint,
    };
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the transfer at the end only takes its address and its seeds.
    let negotiation = unsafe { Negotiation::of(&mut view) };
    let mint = negotiation.token_mint;

    check_vault(&vault, negotiation)?;
    let payable = is_payable(&accounts.buyer_token_account, &mint, &{ negotiation.buyer })?;
    if let Some(account) = check::given(&accounts.seller_token_account) {
        check_token_account(account, &mint, &{ negotiation.seller })?;
    }
    accounts.check_fixed_addresses()?;

    let now = Clock::get()?.unix_timestamp;
    if !negotiation.is_open() || !negotiation.is_overdue(now) {
        return Err(HaggleError::InvalidState.into());
    }

    let division = Division::refund(negotiation);
    negotiation.status = NegotiationStatus::Expired;
    NegotiationExpired {
        negotiation_id: id,
        refund_amount: division.buyer,
        rounds_completed: negotiation.current_round,
        timestamp: now,
    }
    .emit();
    divide(
        &vault,
        negotiation,
        &division,
        (&accounts.buyer_token_account, payable),
        None,
        now,
    )
}
