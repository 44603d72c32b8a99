//! Making the accounts whose addresses are derived.

use crate::runtime::sysvar::Rent;
use pinocchio::cpi::{Seed, Signer};
use pinocchio::error::ProgramResult;
use pinocchio::{AccountView, Address};
use pinocchio_system::instructions::{Allocate, Assign, CreateAccount, Transfer};

/// Makes an account at a PDA, of `size` bytes and owned by `owner`; `payer` pays what is missing of its rent. Lamports that
/// somebody has sent there before do not hinder it.
///
/// # Errors
/// What the system program answers, when the payer has too little or the account exists.
#[inline(always)]
pub fn create(
    account: &AccountView,
    seeds: &[Seed<'_>],
    size: usize,
    owner: &Address,
    payer: &AccountView,
    rent: &Rent,
) -> ProgramResult {
    let lamports = rent.exempt(size);
    let signer = [Signer::from(seeds)];
    if account.lamports() == 0 {
        return CreateAccount {
            from: payer,
            to: account,
            lamports,
            space: size as u64,
            owner,
        }
        .invoke_signed(&signer);
    }
    let missing = lamports.saturating_sub(account.lamports());
    if missing > 0 {
        Transfer {
            from: payer,
            to: account,
            lamports: missing,
        }
        .invoke()?;
    }
    Allocate {
        account,
        space: size as u64,
    }
    .invoke_signed(&signer)?;
    Assign { account, owner }.invoke_signed(&signer)
}
