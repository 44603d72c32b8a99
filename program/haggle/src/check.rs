//! The checks of accounts, each with the one error it answers.
//!
//! Addresses are compared with `address_eq`, here and everywhere: `==` would be a call of the virtual machine's memcmp, which
//! costs three times as much.

use crate::error::Framework;
use crate::table::Meta;
use crate::ID;
use pinocchio::address::address_eq;
use pinocchio::error::ProgramError;
use pinocchio::{AccountView, Address};

/// An optional account, if it has been given: the program's own address in its place stands for none.
#[inline(always)]
pub fn given(account: &AccountView) -> Option<&AccountView> {
    if address_eq(account.address(), &ID) {
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
    // Whether it has been left out is only asked where something is missing.
    if meta.signer && !account.is_signer() && !is_left_out(account, meta) {
        return Err(Framework::AccountNotSigner.into());
    }
    if meta.writable && !account.is_writable() && !is_left_out(account, meta) {
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
        Some(owner) if !address_eq(account.owner(), owner) && !is_left_out(account, meta) => {
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

/// Is it the one PDA that belongs here?
///
/// # Errors
/// 2006.
#[inline(always)]
pub fn fixed_pda(account: &AccountView, meta: &Meta) -> Result<(), ProgramError> {
    if meta.seeds.is_empty() || is_at_fixed_address(account, meta) {
        Ok(())
    } else {
        Err(Framework::ConstraintSeeds.into())
    }
}

/// Is it the program that belongs here?
///
/// # Errors
/// 3008.
#[inline(always)]
pub fn program(account: &AccountView, meta: &Meta) -> Result<(), ProgramError> {
    if !meta.seeds.is_empty() || is_at_fixed_address(account, meta) {
        Ok(())
    } else {
        Err(Framework::InvalidProgramId.into())
    }
}

#[inline(always)]
fn is_at_fixed_address(account: &AccountView, meta: &Meta) -> bool {
    match meta.address {
        Some(address) => address_eq(account.address(), address) || is_left_out(account, meta),
        None => true,
    }
}

/// Is it the account that the negotiation or the configuration names?
///
/// # Errors
/// 2001.
#[inline(always)]
pub fn stored(account: &AccountView, address: &Address) -> Result<(), ProgramError> {
    if address_eq(account.address(), address) {
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
