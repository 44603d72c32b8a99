//! The checks of accounts, each with the one error it answers.

use crate::error::Framework;
use crate::table::Meta;
use crate::ID;
use pinocchio::error::ProgramError;
use pinocchio::{AccountView, Address};

/// An optional account, if it has been given: the program's own address in its place stands for none.
#[inline(always)]
pub fn given(account: &AccountView) -> Option<&AccountView> {
    if *account.address() == ID {
        None
    } else {
        Some(account)
    }
}

#[inline(always)]
fn is_left_out(account: &AccountView, meta: &Meta) -> bool {
    meta.optional && given(account).is_none()
}

/// Has it signed, can it be written to?
///
/// # Errors
/// 3010, then 2000.
#[inline(always)]
pub fn flags(account: &AccountView, meta: &Meta) -> Result<(), ProgramError> {
    if is_left_out(account, meta) {
        return Ok(());
    }
    if meta.signer && !account.is_signer() {
        return Err(Framework::AccountNotSigner.into());
    }
    if meta.writable && !account.is_writable() {
        return Err(Framework::ConstraintMut.into());
    }
    Ok(())
}

/// Does it belong to the right program?
///
/// # Errors
/// 3007.
#[inline(always)]
pub fn owner(account: &AccountView, meta: &Meta) -> Result<(), ProgramError> {
    match meta.owner {
        Some(owner) if !is_left_out(account, meta) && !account.owned_by(owner) => {
            Err(Framework::AccountOwnedByWrongProgram.into())
        }
        _ => Ok(()),
    }
}

/// Does it hold a record of the right type?
///
/// # Errors
/// 3001 without a discriminator, 3002 with another one, 3003 with the wrong length behind it.
#[inline(always)]
pub fn record(account: &AccountView, meta: &Meta) -> Result<(), ProgramError> {
    let Some(record) = meta.holds else {
        return Ok(());
    };
    if account.data_len() < 8 {
        return Err(Framework::AccountDiscriminatorNotFound.into());
    }
    // SAFETY: there are eight bytes, and nothing borrows them.
    let found = unsafe { account.data_ptr().cast::<u64>().read_unaligned() };
    if found != u64::from_ne_bytes(record.discriminator) {
        return Err(Framework::AccountDiscriminatorMismatch.into());
    }
    if account.data_len() != record.size {
        return Err(Framework::AccountDidNotDeserialize.into());
    }
    Ok(())
}

/// Is it the account whose address never changes?
///
/// # Errors
/// 2006 where the address is a PDA's, otherwise 3008.
#[inline(always)]
pub fn fixed_address(account: &AccountView, meta: &Meta) -> Result<(), ProgramError> {
    match meta.address {
        Some(address) if !is_left_out(account, meta) && account.address() != address => {
            if meta.seeds.is_empty() {
                Err(Framework::InvalidProgramId.into())
            } else {
                Err(Framework::ConstraintSeeds.into())
            }
        }
        _ => Ok(()),
    }
}

/// Is it the account that the negotiation or the configuration names?
///
/// # Errors
/// 2001.
#[inline(always)]
pub fn stored(account: &AccountView, address: &Address) -> Result<(), ProgramError> {
    if account.address() == address {
        Ok(())
    } else {
        Err(Framework::ConstraintHasOne.into())
    }
}

/// Is it the PDA that belongs here?
///
/// # Errors
/// 2006.
#[inline(always)]
pub fn pda(is_it: bool) -> Result<(), ProgramError> {
    if is_it {
        Ok(())
    } else {
        Err(Framework::ConstraintSeeds.into())
    }
}
