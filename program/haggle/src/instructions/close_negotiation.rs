//! The accounts of a negotiation that is over go, and everyone gets what is still in them.

use crate::declare::instruction;
use crate::error::{Framework, HaggleError};
use crate::escrow::{check_vault, Authority, Payment, TokenAccount, Vault};
use crate::event::{NegotiationClosed, PayoutClaimed};
use crate::state::{Negotiation, ProtocolConfig};
use crate::table::Meta;
use crate::{check, programs};
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::sysvars::clock::Clock;
use pinocchio::sysvars::Sysvar;
use pinocchio::{AccountView, Address};

instruction! {
    /// Closes a negotiation that is over: delivers what is still kept for a party, sends fee, decay and donations to the
    /// treasury, and all rent to the buyer. Anyone may.
    pub fn close_negotiation();
    accounts {
        /// Whoever closes.
        closer: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// The configuration, which keeps the totals.
        config: Meta::WRITE
            .holds(ProtocolConfig::RECORD)
            .at(&ProtocolConfig::ADDRESS)
            .derived(ProtocolConfig::SEEDS),
        /// The buyer, who gets the rent of both accounts.
        buyer: Meta::WRITE.stored_in("negotiation"),
        /// A token account of the treasury's; only where something goes there.
        treasury_token_account: Meta::WRITE.optional(),
        /// A token account of the buyer's; only where something is kept for the buyer.
        buyer_token_account: Meta::WRITE.optional(),
        /// A token account of the seller's; only where something is kept for the seller.
        seller_token_account: Meta::WRITE.optional(),
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.at(&programs::TOKEN),
    }
}

/// A party's account, if one is given, and whether it can receive.
///
/// # Errors
/// 2003 when it is not a token account of this mint and this owner.
#[inline(always)]
fn recipient(
    account: &AccountView,
    mint: &Address,
    owner: &Address,
) -> Result<bool, ProgramError> {
    let Some(account) = check::given(account) else {
        return Ok(false);
    };
    match TokenAccount::of(account) {
        Some(token) if token.is_of(mint, owner) => Ok(token.can_receive()),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

/// Closes the negotiation.
///
/// # Errors
/// InvalidState while it is not over; PayoutPending when something is kept for a party and cannot be delivered, or the vault
/// is frozen with something in it; 2003 when something goes to the treasury and no account of its that can receive is given.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let vault = Vault {
        negotiation: &accounts.negotiation,
        account: &accounts.escrow_vault,
        mint: &accounts.token_mint,
    };
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the calls at the end only take its address and its seeds.
    let negotiation = unsafe { Negotiation::of(&mut view) };
    let mint = negotiation.token_mint;
    let buyer = negotiation.buyer;
    let seller = negotiation.seller;

    check_vault(&vault, negotiation)?;
    check::stored(&accounts.buyer, &buyer)?;
    accounts.check_fixed_addresses()?;
    let mut config = ProtocolConfig::read(&accounts.config);
    let treasury_payable =
        recipient(&accounts.treasury_token_account, &mint, &{ config.treasury })?;
    let buyer_payable = recipient(&accounts.buyer_token_account, &mint, &buyer)?;
    let seller_payable = recipient(&accounts.seller_token_account, &mint, &seller)?;

    if !negotiation.is_over() {
        return Err(HaggleError::InvalidState.into());
    }
    let to_buyer = negotiation.claimable_buyer;
    let to_seller = negotiation.claimable_seller;
    let balance = vault.balance();
    let owed = to_buyer
        .checked_add(to_seller)
        .ok_or(HaggleError::Overflow)?;
    let swept = balance.checked_sub(owed).ok_or(HaggleError::Overflow)?;
    if (to_buyer > 0 && !buyer_payable)
        || (to_seller > 0 && !seller_payable)
        || (balance > 0 && vault.is_frozen())
    {
        return Err(HaggleError::PayoutPending.into());
    }
    if swept > 0 && !treasury_payable {
        return Err(Framework::ConstraintRaw.into());
    }

    let fee = negotiation.fee_on(negotiation.paid_gross);
    config.total_negotiations = { config.total_negotiations }.saturating_add(1);
    config.total_settled_volume =
        { config.total_settled_volume }.saturating_add(negotiation.paid_gross);
    config.total_fees_collected = { config.total_fees_collected }.saturating_add(fee);
    config.write(&mut accounts.config);
    negotiation.claimable_buyer = 0;
    negotiation.claimable_seller = 0;

    let now = Clock::get()?.unix_timestamp;
    for (party, amount) in [(buyer, to_buyer), (seller, to_seller)] {
        if amount > 0 {
            PayoutClaimed {
                negotiation_id: id,
                party,
                amount,
                timestamp: now,
            }
            .emit();
        }
    }
    NegotiationClosed {
        negotiation_id: id,
        closed_by: *accounts.closer.address(),
        swept,
        timestamp: now,
    }
    .emit();

    vault.pay_and_close(
        [
            Payment { to: &accounts.treasury_token_account, amount: swept },
            Payment { to: &accounts.buyer_token_account, amount: to_buyer },
            Payment { to: &accounts.seller_token_account, amount: to_seller },
        ],
        &accounts.buyer,
        &Authority::of(negotiation),
    )?;

    let rent = accounts.negotiation.lamports();
    let lamports = accounts
        .buyer
        .lamports()
        .checked_add(rent)
        .ok_or(HaggleError::Overflow)?;
    accounts.buyer.set_lamports(lamports);
    accounts.negotiation.close()
}
