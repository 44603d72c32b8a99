//! The layouts of SPL Token's accounts, as far as they decide whether money can be paid.

use crate::error::{Framework, HaggleError};
use crate::programs;
use pinocchio::address::address_eq;
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::{AccountView, Address};

/// A mint. Its accounts cannot be closed, so what was checked once stays true.
pub struct Mint;

impl Mint {
    const SIZE: usize = 82;
    const DECIMALS: usize = 44;
    const IS_INITIALIZED: usize = 45;

    /// Refuses what escrow cannot be held in. A mint of SPL Token only has to be one.
    ///
    /// # Errors
    /// UnsupportedMint.
    #[inline(always)]
    pub fn check(account: &AccountView) -> ProgramResult {
        // SAFETY: the byte is read only when there are enough, and nothing borrows them.
        if account.data_len() == Self::SIZE
            && unsafe { *account.data_ptr().add(Self::IS_INITIALIZED) } == 1
        {
            Ok(())
        } else {
            Err(HaggleError::UnsupportedMint.into())
        }
    }

    /// How many digits of an amount stand behind the point, or nothing for what is too short to be a mint.
    #[inline(always)]
    pub fn decimals(account: &AccountView) -> Result<u8, ProgramError> {
        if account.data_len() < Self::SIZE {
            return Err(HaggleError::UnsupportedMint.into());
        }
        // SAFETY: there are enough bytes, and nothing borrows them.
        Ok(unsafe { *account.data_ptr().add(Self::DECIMALS) })
    }
}

/// A token account, as far as it decides whether money can be paid. To be let go before another program is called.
pub struct TokenAccount<'a>(&'a [u8; TokenAccount::SIZE]);

impl<'a> TokenAccount<'a> {
    /// The size of an SPL token account in bytes.
    pub const SIZE: usize = 165;
    const OWNER: usize = 32;
    const AMOUNT: usize = 64;
    const STATE: usize = 108;
    const IS_NATIVE: usize = 109;
    const INITIALIZED: u8 = 1;
    const FROZEN: u8 = 2;

    /// The token account in `account`, if the token program says that it is one.
    #[inline(always)]
    pub fn of(account: &'a AccountView) -> Option<Self> {
        if address_eq(account.owner(), &programs::TOKEN) && account.data_len() == Self::SIZE {
            // SAFETY: the length is right, and nothing borrows the data mutably.
            Some(Self(unsafe { &*account.data_ptr().cast() }))
        } else {
            None
        }
    }

    #[inline(always)]
    fn address_at(&self, offset: usize) -> &Address {
        // SAFETY: both addresses end long before the account does, and an address is any bytes.
        unsafe { &*self.0.as_ptr().add(offset).cast() }
    }

    /// Whether it holds tokens of `mint`.
    #[inline(always)]
    pub fn is_for(&self, mint: &Address) -> bool {
        address_eq(self.address_at(0), mint)
    }

    /// Whether it holds tokens of `mint` for `owner`.
    #[inline(always)]
    pub fn is_of(&self, mint: &Address, owner: &Address) -> bool {
        self.is_for(mint) && address_eq(self.address_at(Self::OWNER), owner)
    }

    /// How many base units it holds.
    #[inline(always)]
    pub fn amount(&self) -> u64 {
        let mut amount = [0; 8];
        amount.copy_from_slice(&self.0[Self::AMOUNT..Self::AMOUNT + 8]);
        u64::from_le_bytes(amount)
    }

    /// Whether it can receive tokens.
    #[inline(always)]
    pub fn can_receive(&self) -> bool {
        self.0[Self::STATE] == Self::INITIALIZED
    }

    /// Whether the mint's freeze authority has frozen it.
    #[inline(always)]
    pub fn is_frozen(&self) -> bool {
        self.0[Self::STATE] == Self::FROZEN
    }

    /// Whether it holds wrapped SOL.
    #[inline(always)]
    pub fn is_native(&self) -> bool {
        self.0[Self::IS_NATIVE] != 0
    }
}

/// Is it a token account of this mint and this owner?
///
/// # Errors
/// 2003.
#[inline(always)]
pub fn check_token_account(
    account: &AccountView,
    mint: &Address,
    owner: &Address,
) -> Result<(), ProgramError> {
    match TokenAccount::of(account) {
        Some(token) if token.is_of(mint, owner) => Ok(()),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

/// Whether a party's account can be paid to at the end of a negotiation. If it cannot, no one is held up: the payment is
/// recorded instead, provided the account is the one that everyone can derive from the party's wallet.
///
/// # Errors
/// 2003 when it can neither be paid to nor is the party's associated token account.
#[inline(always)]
pub fn is_payable(
    account: &AccountView,
    mint: &Address,
    party: &Address,
) -> Result<bool, ProgramError> {
    match TokenAccount::of(account) {
        Some(token) if token.is_of(mint, party) && token.can_receive() => Ok(true),
        _ if is_associated(account, mint, party) => Ok(false),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

// Only looked at when a payment cannot be delivered.
#[cold]
#[inline(never)]
fn is_associated(account: &AccountView, mint: &Address, wallet: &Address) -> bool {
    let seeds: [&[u8]; 3] = [wallet.as_ref(), programs::TOKEN.as_ref(), mint.as_ref()];
    match Address::derive_program_address(&seeds, &programs::ASSOCIATED_TOKEN) {
        Some((address, _)) => address_eq(&address, account.address()),
        None => false,
    }
}
