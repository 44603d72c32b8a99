//! Derived addresses, and the creation of accounts at them.

use crate::error::Result;
use crate::runtime::hash::sha256;
use crate::runtime::sysvar::Rent;
use crate::ID;
use pinocchio::cpi::{Seed, Signer};
use pinocchio::{AccountView, Address};
use pinocchio_system::instructions::{Allocate, Assign, CreateAccount, Transfer};

/// The maximum number of seeds for this program's addresses, bump not included.
pub const MAX_SEEDS: usize = 4;

/// This program's address for these seeds, and the canonical bump. None if no bump yields any address; no
/// seeds with this property are known.
#[inline(always)]
pub fn find(seeds: &[&[u8]]) -> Option<(Address, u8)> {
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    {
        Address::try_find_program_address(seeds, &ID)
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    panic!("only the virtual machine searches the bump of {seeds:?}")
}

/// This program's address for these seeds, at most [`MAX_SEEDS`], and this bump. The bump must be a stored
/// one: other bumps can give a point on the curve, which this function does not notice.
#[inline(always)]
pub fn with_bump(seeds: &[&[u8]], bump: u8) -> Address {
    const MARKER: &[u8] = b"ProgramDerivedAddress";
    let bump = [bump];
    let mut parts: [&[u8]; MAX_SEEDS + 3] = [&[]; MAX_SEEDS + 3];
    let mut count = 0usize;
    for part in seeds.iter().chain(&[&bump[..], ID.as_ref(), MARKER]) {
        parts[count] = part;
        count = count.saturating_add(1);
    }
    Address::new_from_array(sha256(&parts[..count]))
}

/// Creates an account of `size` bytes at a PDA and gives it to `owner`; `payer` pays the missing rent. It
/// succeeds if the address already has lamports.
///
/// # Errors
/// The system program's errors, if the payer's balance is too low or the account exists.
#[inline(always)]
pub fn create(
    account: &AccountView,
    seeds: &[Seed<'_>],
    size: usize,
    owner: &Address,
    payer: &AccountView,
    rent: &Rent,
) -> Result {
    let creation = CreateAccount {
        from: payer,
        to: account,
        lamports: rent.exempt(size),
        space: size as u64,
        owner,
    };
    let signer = [Signer::from(seeds)];
    if account.lamports() == 0 {
        Ok(creation.invoke_signed(&signer)?)
    } else {
        create_prefunded(&creation, &signer)
    }
}

/// The system program refuses to create an account holding lamports, so this takes three steps.
#[cold]
#[inline(never)]
fn create_prefunded(creation: &CreateAccount<'_, '_>, signer: &[Signer<'_, '_>; 1]) -> Result {
    let missing = creation.lamports.saturating_sub(creation.to.lamports());
    if missing > 0 {
        Transfer {
            from: creation.from,
            to: creation.to,
            lamports: missing,
        }
        .invoke()?;
    }
    Allocate {
        account: creation.to,
        space: creation.space,
    }
    .invoke_signed(signer)?;
    Ok(Assign {
        account: creation.to,
        owner: creation.owner,
    }
    .invoke_signed(signer)?)
}
