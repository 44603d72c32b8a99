//! Clock and rent.
//!
//! The generic syscall reads only the needed bytes: the current library's typed readers return nothing when
//! they are built for upstream's BPF target.

use crate::error::{HaggleError, Result};
use pinocchio::sysvars::clock::CLOCK_ID;
use pinocchio::sysvars::get_sysvar;
use pinocchio::sysvars::rent::{ACCOUNT_STORAGE_OVERHEAD, RENT_ID};

/// The chain's clock, in Unix seconds.
///
/// # Errors
/// The runtime's errors.
#[inline(always)]
pub fn now() -> Result<i64> {
    // Slot, the epoch's start, epoch and the leader schedule's epoch precede it, eight bytes each.
    const UNIX_TIMESTAMP: usize = 4 * 8;
    let mut bytes = [0; 8];
    get_sysvar(&mut bytes, &CLOCK_ID, UNIX_TIMESTAMP)?;
    Ok(i64::from_le_bytes(bytes))
}

/// The rent of accounts.
pub struct Rent {
    lamports_per_byte: u64,
}

impl Rent {
    /// The chain's rent: lamports per byte times a factor, which is 1.0, or 2.0 on chains that still count by
    /// years. The virtual machine has no floating point, so the factor's bits are compared.
    ///
    /// # Errors
    /// Overflow for another factor, or for a price whose rent could exceed 64 bits; the runtime's errors.
    #[inline(always)]
    pub fn get() -> Result<Self> {
        const ONE: u64 = 1f64.to_bits();
        const TWO: u64 = 2f64.to_bits();
        // With this limit no account's rent exceeds 64 bits.
        const MAX_LAMPORTS_PER_BYTE: u64 = u32::MAX as u64;
        let mut bytes = [0; 16];
        get_sysvar(&mut bytes, &RENT_ID, 0)?;
        let [price, factor] = [&bytes[..8], &bytes[8..]].map(|half| {
            let mut word = [0; 8];
            word.copy_from_slice(half);
            u64::from_le_bytes(word)
        });
        if price > MAX_LAMPORTS_PER_BYTE {
            return Err(HaggleError::Overflow.into());
        }
        let lamports_per_byte = match factor {
            ONE => price,
            TWO => price.saturating_add(price),
            _ => return Err(HaggleError::Overflow.into()),
        };
        Ok(Self { lamports_per_byte })
    }

    /// The lamports that accounts of this size must hold. `size` must not exceed 10,240 bytes.
    // At most (128 + 10,240) * 2^33.
    #[allow(clippy::arithmetic_side_effects)]
    #[inline(always)]
    pub const fn exempt(&self, size: usize) -> u64 {
        (ACCOUNT_STORAGE_OVERHEAD + size as u64) * self.lamports_per_byte
    }
}
