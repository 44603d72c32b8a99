//! The checks of accounts, each with the one error it answers.
//!
//! Addresses are compared with `address_eq`, here and everywhere: `==` would be a call of the virtual machine's memcmp, which
//! costs three times as much.

use crate::constants::NEGOTIATION_VERSION;
use crate::error::Framework;
use crate::schema::table::{Meta, Record};
use crate::state::Negotiation;
use crate::ID;
use core::mem::offset_of;
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

/// An optional account that this call cannot do without.
///
/// # Errors
/// 3005 when it has been left out.
#[inline(always)]
pub fn needed(account: &AccountView) -> Result<&AccountView, ProgramError> {
    given(account).ok_or(Framework::AccountNotEnoughKeys.into())
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
    if meta.owners.is_empty()
        || is_among(account.owner(), meta.owners)
        || is_left_out(account, meta)
    {
        Ok(())
    } else {
        Err(Framework::AccountOwnedByWrongProgram.into())
    }
}

/// Does it hold a record of the right type?
///
/// # Errors
/// 3001 without a discriminator, 3002 with another one, 3003 with the wrong length or an unknown version behind it.
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
    if account.data_len() != record.size || !is_of_known_version(account, record) {
        return Err(Framework::AccountDidNotDeserialize.into());
    }
    Ok(())
}

/// Whether a negotiation has been written with the layout that this program knows: an older program never misreads what a
/// newer one wrote. Other records have no version.
#[inline(always)]
fn is_of_known_version(account: &AccountView, record: &Record) -> bool {
    const VERSION: usize = 8 + offset_of!(Negotiation, version);
    const NEGOTIATION: u64 = u64::from_ne_bytes(Negotiation::RECORD.discriminator);
    u64::from_ne_bytes(record.discriminator) != NEGOTIATION
        // SAFETY: the length has been found to be the record's, and nothing borrows the data.
        || unsafe { *account.data_ptr().add(VERSION) } == NEGOTIATION_VERSION
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
    let is_right = if meta.one_of.is_empty() {
        !meta.seeds.is_empty() || is_at_fixed_address(account, meta)
    } else {
        is_among(account.address(), meta.one_of) || is_left_out(account, meta)
    };
    if is_right {
        Ok(())
    } else {
        Err(Framework::InvalidProgramId.into())
    }
}

#[inline(always)]
fn is_among(address: &Address, addresses: &[&Address]) -> bool {
    for other in addresses {
        if address_eq(address, other) {
            return true;
        }
    }
    false
}

/// Is it the token program of the mint? Where either has been left out, there is nothing to compare.
///
/// # Errors
/// 3008.
#[inline(always)]
pub fn token_program(account: &AccountView, mint: &AccountView) -> Result<(), ProgramError> {
    match (given(account), given(mint)) {
        (Some(program), Some(mint)) if !address_eq(program.address(), mint.owner()) => {
            Err(Framework::InvalidProgramId.into())
        }
        _ => Ok(()),
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
