//! The layouts of the token programs' accounts, as far as they decide whether money can be paid.

use crate::error::{Framework, HaggleError};
use crate::runtime::programs;
use crate::schema::check;
use crate::token::extensions::{
    allow_receiving, is_extended_account, is_harmless_mint, BASE, MINT_BASE,
};
use pinocchio::address::address_eq;
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::{AccountView, Address};

/// A mint. Those that are let through cannot be closed, nor change their token program, so what was checked once stays true.
pub struct Mint;

impl Mint {
    const DECIMALS: usize = 44;
    const IS_INITIALIZED: usize = 45;

    /// Refuses what escrow cannot be held in. A mint of SPL Token only has to be one, a mint of Token-2022 must not have an
    /// extension that could keep the money from its owner.
    ///
    /// # Errors
    /// UnsupportedMint.
    #[inline(always)]
    pub fn check(account: &AccountView) -> ProgramResult {
        // SAFETY: nothing borrows the data mutably.
        let data = unsafe { account.borrow_unchecked() };
        let is_harmless = if address_eq(account.owner(), &programs::TOKEN) {
            data.len() == MINT_BASE
        } else {
            is_harmless_mint(data)
        };
        if is_harmless && data.get(Self::IS_INITIALIZED) == Some(&1) {
            Ok(())
        } else {
            Err(HaggleError::UnsupportedMint.into())
        }
    }

    /// How many digits of an amount stand behind the point, or nothing for what is too short to be a mint.
    #[inline(always)]
    pub fn decimals(account: &AccountView) -> Result<u8, ProgramError> {
        if account.data_len() < MINT_BASE {
            return Err(HaggleError::UnsupportedMint.into());
        }
        // SAFETY: there are enough bytes, and nothing borrows them.
        Ok(unsafe { *account.data_ptr().add(Self::DECIMALS) })
    }
}

/// The tokens that a negotiation is about: those of one mint, held in accounts of the mint's token program.
#[derive(Clone, Copy)]
pub struct Currency<'a> {
    mint: &'a Address,
    program: Option<&'a Address>,
}

impl<'a> Currency<'a> {
    /// The currency of a mint's account.
    #[inline(always)]
    pub fn of(mint: &'a AccountView) -> Self {
        Self {
            mint: mint.address(),
            program: Some(mint.owner()),
        }
    }

    /// The currency of a mint whose account may have been left out. Then either token program will do: it is one that knows
    /// this mint that has made an account for it.
    #[inline(always)]
    pub fn known_by(mint: &'a Address, account: &'a AccountView) -> Self {
        Self {
            mint,
            program: check::given(account).map(AccountView::owner),
        }
    }

    #[inline(always)]
    fn is_kept_by(&self, program: &Address) -> bool {
        match self.program {
            Some(expected) => address_eq(program, expected),
            None => {
                address_eq(program, &programs::TOKEN) || address_eq(program, &programs::TOKEN_2022)
            }
        }
    }
}

/// A token account, as far as it decides whether money can be paid. To be let go before another program is called.
pub struct TokenAccount<'a>(&'a [u8]);

impl<'a> TokenAccount<'a> {
    /// The size of a token account without extensions, in bytes.
    pub const SIZE: usize = BASE;
    const OWNER: usize = 32;
    const AMOUNT: usize = 64;
    const STATE: usize = 108;
    const IS_NATIVE: usize = 109;
    const INITIALIZED: u8 = 1;
    const FROZEN: u8 = 2;

    /// The token account in `account`, if it is one of the currency's token program.
    #[inline(always)]
    pub fn of(account: &'a AccountView, currency: &Currency<'_>) -> Option<Self> {
        // SAFETY: nothing borrows the data mutably.
        let data = unsafe { account.borrow_unchecked() };
        if currency.is_kept_by(account.owner())
            && (data.len() == Self::SIZE || is_extended(account.owner(), data))
        {
            Some(Self(data))
        } else {
            None
        }
    }

    #[inline(always)]
    fn byte(&self, offset: usize) -> u8 {
        // SAFETY: `of` has seen to it that there are `SIZE` bytes, and each offset lies below.
        unsafe { *self.0.as_ptr().add(offset) }
    }

    #[inline(always)]
    fn address_at(&self, offset: usize) -> &Address {
        // SAFETY: both addresses end long before the account does, and an address is any bytes.
        unsafe { &*self.0.as_ptr().add(offset).cast() }
    }

    /// Whether it holds this currency.
    #[inline(always)]
    pub fn is_in(&self, currency: &Currency<'_>) -> bool {
        address_eq(self.address_at(0), currency.mint)
    }

    /// Whether it holds this currency for `owner`.
    #[inline(always)]
    pub fn is_of(&self, currency: &Currency<'_>, owner: &Address) -> bool {
        self.is_in(currency) && address_eq(self.address_at(Self::OWNER), owner)
    }

    /// How many base units it holds.
    #[inline(always)]
    pub fn amount(&self) -> u64 {
        // SAFETY: the amount ends long before the account does.
        let amount = unsafe {
            self.0
                .as_ptr()
                .add(Self::AMOUNT)
                .cast::<u64>()
                .read_unaligned()
        };
        u64::from_le(amount)
    }

    /// Whether it can receive tokens: it is initialized, not frozen, and no extension asks for more than a transfer.
    #[inline(always)]
    pub fn can_receive(&self) -> bool {
        self.byte(Self::STATE) == Self::INITIALIZED
            && (self.0.len() == Self::SIZE || allow_receiving(self.0))
    }

    /// Whether the mint's freeze authority has frozen it.
    #[inline(always)]
    pub fn is_frozen(&self) -> bool {
        self.byte(Self::STATE) == Self::FROZEN
    }

    /// Whether it holds wrapped SOL.
    #[inline(always)]
    pub fn is_native(&self) -> bool {
        self.byte(Self::IS_NATIVE) != 0
    }
}

/// Only Token-2022 makes longer accounts.
#[inline(never)]
fn is_extended(program: &Address, data: &[u8]) -> bool {
    address_eq(program, &programs::TOKEN_2022) && is_extended_account(data)
}

/// Is it a token account of this currency and this owner?
///
/// # Errors
/// 2003.
#[inline(always)]
pub fn check_token_account(
    account: &AccountView,
    currency: &Currency<'_>,
    owner: &Address,
) -> Result<(), ProgramError> {
    match TokenAccount::of(account, currency) {
        Some(token) if token.is_of(currency, owner) => Ok(()),
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
    currency: &Currency<'_>,
    party: &Address,
) -> Result<bool, ProgramError> {
    match TokenAccount::of(account, currency) {
        Some(token) if token.is_of(currency, party) && token.can_receive() => Ok(true),
        _ if is_associated(account, currency, party) => Ok(false),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

// Only looked at when a payment cannot be delivered.
#[cold]
#[inline(never)]
fn is_associated(account: &AccountView, currency: &Currency<'_>, wallet: &Address) -> bool {
    for program in programs::TOKENS {
        if currency.is_kept_by(program) {
            let seeds: [&[u8]; 3] = [wallet.as_ref(), program.as_ref(), currency.mint.as_ref()];
            match Address::derive_program_address(&seeds, &programs::ASSOCIATED_TOKEN) {
                Some((address, _)) if address_eq(&address, account.address()) => return true,
                _ => {}
            }
        }
    }
    false
}
