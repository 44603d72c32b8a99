//! The checks that follow from a row, each returning a single error.
//!
//! An instruction's generated `load` runs them in this order, each check for all accounts before the next
//! check: [`flags`], [`owner`], [`record`], [`derived`], [`stored`], then token accounts (each kind's
//! `load`), then [`program`].
//!
//! Addresses are compared with `address_eq`, here and everywhere: `==` calls the virtual machine's memcmp,
//! which costs three times as much.

use crate::error::{Framework, Result};
use crate::runtime::pda;
use crate::schema::account::{Call, Checked, Row};
use crate::schema::lookup::{field_of, index_of, offset_in, offset_of};
use crate::schema::table::{Bump, Record, Seed};
use pinocchio::address::address_eq;
use pinocchio::Address;

/// Requires the signature and the writable flag of account `I` of row `R`.
///
/// # Errors
/// 3010, then 2000.
#[inline(always)]
pub fn flags<R: Row, const I: usize>(call: &Call<'_, R>) -> Result<()> {
    let meta = const { &R::ACCOUNTS[I].meta };
    let account = call.account(I);
    if meta.signer && !account.is_signer() && !call.is_left_out::<I>() {
        return Err(Framework::AccountNotSigner.into());
    }
    if meta.writable && !account.is_writable() && !call.is_left_out::<I>() {
        return Err(Framework::ConstraintMut.into());
    }
    Ok(())
}

/// Requires one of the declared owners.
///
/// # Errors
/// 3007.
#[inline(always)]
pub fn owner<R: Row, const I: usize>(call: &Call<'_, R>) -> Result<()> {
    let owners = const { R::ACCOUNTS[I].meta.owners };
    let account = call.account(I);
    if owners.is_empty() || is_among(account.owner(), owners) || call.is_left_out::<I>() {
        Ok(())
    } else {
        Err(Framework::AccountOwnedByWrongProgram.into())
    }
}

/// Requires a record of the declared type.
///
/// # Errors
/// 3001 if the discriminator is missing, 3002 if it differs, 3003 if the length or version differs.
#[inline(always)]
pub fn record<R: Row, const I: usize>(call: &Call<'_, R>) -> Result<()> {
    let Some(record) = (const { R::ACCOUNTS[I].meta.holds }) else {
        return Ok(());
    };
    let account = call.account(I);
    if account.data_len() < 8 {
        return Err(Framework::AccountDiscriminatorNotFound.into());
    }
    // SAFETY: the data contains no less than eight bytes, and `load` creates the first reference to them
    // after this check.
    let found = unsafe { account.data_ptr().cast::<u64>().read_unaligned() };
    if found != u64::from_ne_bytes(record.discriminator) {
        return Err(Framework::AccountDiscriminatorMismatch.into());
    }
    if account.data_len() != record.size {
        return Err(Framework::AccountDidNotDeserialize.into());
    }
    if let Some((offset, value)) = const { version_of::<R, I>() } {
        // SAFETY: the offset belongs to a record field, and the data is as long as the record.
        if unsafe { *account.data_ptr().add(offset) } != value {
            return Err(Framework::AccountDidNotDeserialize.into());
        }
    }
    Ok(())
}

/// The offset and the value of the record version in account `I`, if the type defines it.
const fn version_of<R: Row, const I: usize>() -> Option<(usize, u8)> {
    let Some(record) = R::ACCOUNTS[I].meta.holds else {
        return None;
    };
    match &record.version {
        Some(version) => Some((offset_in(record, version.field), version.value)),
        None => None,
    }
}

/// Requires the declared PDA, and returns the bump: the canonical one where the row says so, otherwise the
/// stored one. Returns 0 for accounts without seeds, with a constant address, or left out.
///
/// # Errors
/// 2006.
#[inline(always)]
pub fn derived<R: Row, const I: usize>(call: &Checked<'_, R>) -> Result<u8> {
    let meta = const { &R::ACCOUNTS[I].meta };
    let account = call.account(I);
    if meta.seeds.is_empty() || call.is_left_out::<I>() {
        return Ok(0);
    }
    if let Some(address) = meta.address {
        return if address_eq(account.address(), address) {
            Ok(0)
        } else {
            Err(Framework::ConstraintSeeds.into())
        };
    }
    let seeds = [
        seed::<R, I, 0>(call),
        seed::<R, I, 1>(call),
        seed::<R, I, 2>(call),
        seed::<R, I, 3>(call),
    ];
    let seeds = &seeds[..const { R::ACCOUNTS[I].meta.seeds.len() }];
    let found = match const { bump_of::<R, I>() } {
        None => pda::find(seeds),
        Some((holder, offset)) => {
            // SAFETY: the call is `Checked`, so this account holds the record whose field starts at the
            // offset.
            let bump = unsafe { *call.account(holder).data_ptr().add(offset) };
            Some((pda::with_bump(seeds, bump), bump))
        }
    };
    match found {
        Some((address, bump)) if address_eq(&address, account.address()) => Ok(bump),
        _ => Err(Framework::ConstraintSeeds.into()),
    }
}

/// The account that stores the bump of account `I`, and the data offset.
const fn bump_of<R: Row, const I: usize>() -> Option<(usize, usize)> {
    match R::ACCOUNTS[I].meta.bump {
        Bump::Canonical => None,
        Bump::Stored { account, field } => {
            let holder = index_of(R::ACCOUNTS, account);
            Some((holder, offset_in(held_by::<R>(holder), field)))
        }
    }
}

const fn held_by<R: Row>(holder: usize) -> &'static Record {
    match R::ACCOUNTS[holder].meta.holds {
        Some(record) => record,
        None => panic!("the account holds no record"),
    }
}

/// A seed, with names resolved to places.
#[derive(Clone, Copy)]
enum Place {
    Const(&'static [u8]),
    Account(usize),
    Arg(usize, usize),
}

const fn place_of<R: Row, const I: usize, const S: usize>() -> Place {
    let seeds = R::ACCOUNTS[I].meta.seeds;
    if S >= seeds.len() {
        return Place::Const(&[]);
    }
    match seeds[S] {
        Seed::Const(bytes) => Place::Const(bytes),
        Seed::Account(name) => Place::Account(index_of(R::ACCOUNTS, name)),
        Seed::Arg(name) => Place::Arg(offset_of(R::ARGS, name), field_of(R::ARGS, name).ty.width()),
    }
}

#[inline(always)]
fn seed<'a, R: Row, const I: usize, const S: usize>(call: &Call<'a, R>) -> &'a [u8] {
    match const { place_of::<R, I, S>() } {
        Place::Const(bytes) => bytes,
        Place::Account(index) => call.account(index).address().as_ref(),
        // `Args::decode` has checked the length; otherwise the seed is empty and the address wrong.
        Place::Arg(offset, width) => call.args(offset, width),
    }
}

/// Requires the address named in an instruction's record.
///
/// # Errors
/// 2001.
#[inline(always)]
pub fn stored<R: Row, const I: usize>(call: &Checked<'_, R>) -> Result<()> {
    let Some((holder, offset)) = (const { field_with_address::<R, I>() }) else {
        return Ok(());
    };
    let account = call.account(I);
    // SAFETY: the call is `Checked`, so this account holds the record whose field starts at the offset; any
    // 32 bytes form an address.
    let address = unsafe {
        &*call
            .account(holder)
            .data_ptr()
            .add(offset)
            .cast::<Address>()
    };
    if address_eq(account.address(), address) || call.is_left_out::<I>() {
        Ok(())
    } else {
        Err(Framework::ConstraintHasOne.into())
    }
}

const fn field_with_address<R: Row, const I: usize>() -> Option<(usize, usize)> {
    match R::ACCOUNTS[I].meta.stored_in {
        None => None,
        Some(account) => {
            let holder = index_of(R::ACCOUNTS, account);
            Some((holder, offset_in(held_by::<R>(holder), R::ACCOUNTS[I].name)))
        }
    }
}

/// Requires the declared program.
///
/// # Errors
/// 3008.
#[inline(always)]
pub fn program<R: Row, const I: usize>(call: &Call<'_, R>) -> Result<()> {
    let meta = const { &R::ACCOUNTS[I].meta };
    let account = call.account(I);
    let is_right = if let Some(owned) = const { owned_by::<R, I>() } {
        // If the owned account is left out, any of the declared programs is right.
        match call.given(owned) {
            Some(owned) => address_eq(account.address(), owned.owner()),
            None => is_among(account.address(), meta.one_of),
        }
    } else if !meta.one_of.is_empty() {
        is_among(account.address(), meta.one_of)
    } else {
        match meta.address {
            Some(address) if meta.seeds.is_empty() => address_eq(account.address(), address),
            _ => return Ok(()),
        }
    };
    if is_right || call.is_left_out::<I>() {
        Ok(())
    } else {
        Err(Framework::InvalidProgramId.into())
    }
}

const fn owned_by<R: Row, const I: usize>() -> Option<usize> {
    match R::ACCOUNTS[I].meta.owner_of {
        Some(account) => Some(index_of(R::ACCOUNTS, account)),
        None => None,
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
