//! One side walks away.

use crate::declare::instruction;
use crate::error::HaggleError;
use crate::escrow::{check_token_account, check_vault, divide, is_payable, Division, Vault};
use crate::event::NegotiationRejected;
use crate::state::{Negotiation, NegotiationStatus};
use crate::table::Meta;
use crate::{check, programs};
use pinocchio::error::ProgramResult;
use pinocchio::sysvars::clock::Clock;
use pinocchio::sysvars::Sysvar;
use pinocchio::AccountView;

instruction! {
    /// Walks away: the buyer gets the escrow back, less the decay of the rounds so far. Either party may, in time, at any
    /// point before an agreement.
    pub fn reject_negotiation(
        /// The round that the signer has seen.
        expected_round: u8,
    );
    accounts {
        /// Either party.
        rejector: Meta::READ.signs(),
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
/// InvalidState once it has ended, Expired, ResponseWindowExpired, Unauthorized, StaleState.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let rejector = *accounts.rejector.address();
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

    if !negotiation.is_open() {
        return Err(HaggleError::InvalidState.into());
    }
    let now = Clock::get()?.unix_timestamp;
    negotiation.check_clock(now)?;
    negotiation.side_of(&rejector)?;
    if args.expected_round != negotiation.current_round {
        return Err(HaggleError::StaleState.into());
    }

    let division = Division::refund(negotiation);
    negotiation.status = NegotiationStatus::Rejected;
    NegotiationRejected {
        negotiation_id: id,
        rejected_by: rejector,
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
