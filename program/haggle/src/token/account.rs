//! Mint and token account layouts, as far as payments depend on them.

use crate::error::{Framework, HaggleError, Result};
use crate::runtime::programs;
use crate::token::extensions::{
    allow_receiving, is_extended_account, is_harmless_mint, BASE, MINT_BASE,
};
use pinocchio::address::address_eq;
use pinocchio::{AccountView, Address};

/// Requires a mint that can hold an escrow: an initialized SPL Token mint, or a
/// Token-2022 mint if the extensions cannot take, block, tax or hide tokens. Such a
/// mint cannot be closed or move to another program, so checking at creation is enough.
///
/// # Errors
/// UnsupportedMint.
#[inline(always)]
pub fn check_mint(account: &AccountView) -> Result {
    const IS_INITIALIZED: usize = 45;
    // SAFETY: the mint's program owns the data, and this program never changes it.
    let data = unsafe { account.borrow_unchecked() };
    let is_harmless = if address_eq(account.owner(), &programs::TOKEN) {
        data.len() == MINT_BASE
    } else {
        is_harmless_mint(data)
    };
    if is_harmless && data.get(IS_INITIALIZED) == Some(&1) {
        Ok(())
    } else {
        Err(HaggleError::UnsupportedMint.into())
    }
}

/// Reports whether the mint uses these decimals. They cannot change.
#[inline(always)]
pub fn has_decimals(mint: &AccountView, decimals: u8) -> bool {
    const DECIMALS: usize = 44;
    // SAFETY: the mint's program owns the data, and this program never changes it.
    let data = unsafe { mint.borrow_unchecked() };
    data.get(DECIMALS) == Some(&decimals)
}

/// A mint, with the mint's program if known.
#[derive(Clone, Copy)]
pub struct Currency<'a> {
    mint: &'a Address,
    program: Option<&'a Address>,
}

impl<'a> Currency<'a> {
    /// The mint's currency. If the mint's account is not given, either token program is accepted; only the
    /// mint's own program can create accounts for it.
    #[inline(always)]
    pub fn of(mint: &'a Address, account: Option<&'a AccountView>) -> Self {
        Self {
            mint,
            program: account.map(AccountView::owner),
        }
    }

    #[inline(always)]
    fn has_program(&self, program: &Address) -> bool {
        match self.program {
            Some(expected) => address_eq(program, expected),
            None => {
                address_eq(program, &programs::TOKEN) || address_eq(program, &programs::TOKEN_2022)
            }
        }
    }
}

/// A view of token account data. It must be dropped before another program is called.
pub struct TokenAccount<'a>(&'a [u8]);

impl<'a> TokenAccount<'a> {
    /// The smallest size of token accounts, in bytes.
    pub const SIZE: usize = BASE;
    const MINT: usize = 0;
    const OWNER: usize = 32;
    const AMOUNT: usize = 64;
    const DELEGATE: usize = 72;
    const STATE: usize = 108;
    const IS_NATIVE: usize = 109;
    const CLOSE_AUTHORITY: usize = 129;
    const INITIALIZED: u8 = 1;
    const FROZEN: u8 = 2;

    /// Reads `account`, if owned by a token program and as long as a token account.
    #[inline(always)]
    pub fn read(account: &'a AccountView) -> Option<Self> {
        Self::read_if(account, |program| {
            address_eq(program, &programs::TOKEN) || address_eq(program, &programs::TOKEN_2022)
        })
    }

    /// Reads `account`, if it holds this currency.
    #[inline(always)]
    pub fn of(account: &'a AccountView, currency: &Currency<'_>) -> Option<Self> {
        Self::read_if(account, |program| currency.has_program(program))
            .filter(|token| address_eq(token.address_at(Self::MINT), currency.mint))
    }

    #[inline(always)]
    fn read_if(
        account: &'a AccountView,
        is_token_program: impl Fn(&Address) -> bool,
    ) -> Option<Self> {
        // SAFETY: no mutable reference to the data exists, whichever program owns the account: the
        // instruction's kinds are loaded before `State` hands out references, and `holdings` reads only vaults,
        // which are not records. Users of this type drop it before a call that could change the data.
        let data = unsafe { account.borrow_unchecked() };
        if is_token_program(account.owner())
            && (data.len() == Self::SIZE || is_extended(account.owner(), data))
        {
            Some(Self(data))
        } else {
            None
        }
    }

    #[inline(always)]
    fn bytes<const N: usize>(&self, offset: usize) -> &'a [u8; N] {
        debug_assert!(offset.saturating_add(N) <= Self::SIZE);
        // SAFETY: `read_if` has checked that there are at least `SIZE` bytes, and no field of this type
        // extends past `SIZE`.
        unsafe { &*self.0.as_ptr().add(offset).cast() }
    }

    #[inline(always)]
    fn address_at(&self, offset: usize) -> &'a Address {
        // SAFETY: addresses are transparent 32-byte arrays.
        unsafe { &*self.bytes::<32>(offset).as_ptr().cast() }
    }

    /// Reports whether `owner` is the account's owner.
    #[inline(always)]
    pub fn is_of(&self, owner: &Address) -> bool {
        address_eq(self.address_at(Self::OWNER), owner)
    }

    /// The balance in base units.
    #[inline(always)]
    pub fn amount(&self) -> u64 {
        u64::from_le_bytes(*self.bytes(Self::AMOUNT))
    }

    /// Reports whether transferring to the account succeeds: it is initialized, not frozen, and extensions
    /// require nothing but a transfer.
    #[inline(always)]
    pub fn can_receive(&self) -> bool {
        *self.bytes(Self::STATE) == [Self::INITIALIZED]
            && (self.0.len() == Self::SIZE || allow_receiving(self.0))
    }

    /// Reports whether the account has a delegate, which can take tokens, or close authority, which can take
    /// lamports.
    #[inline(always)]
    pub fn has_other_authority(&self) -> bool {
        u32::from_le_bytes(*self.bytes(Self::DELEGATE))
            | u32::from_le_bytes(*self.bytes(Self::CLOSE_AUTHORITY))
            != 0
    }

    /// Reports whether the mint's freeze authority froze the account.
    #[inline(always)]
    pub fn is_frozen(&self) -> bool {
        *self.bytes(Self::STATE) == [Self::FROZEN]
    }

    /// Reports whether the account holds wrapped SOL.
    #[inline(always)]
    pub fn is_native(&self) -> bool {
        u32::from_le_bytes(*self.bytes(Self::IS_NATIVE)) != 0
    }
}

/// Only Token-2022 has longer accounts.
#[inline(never)]
fn is_extended(program: &Address, data: &[u8]) -> bool {
    address_eq(program, &programs::TOKEN_2022) && is_extended_account(data)
}

/// Requires this currency and this owner.
///
/// # Errors
/// 2003.
#[inline(always)]
pub fn check_token_account(
    account: &AccountView,
    currency: &Currency<'_>,
    owner: &Address,
) -> Result {
    match TokenAccount::of(account, currency) {
        Some(token) if token.is_of(owner) => Ok(()),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

/// Reports whether the party can be paid to this account. If not, the
/// account must be the party's associated token account; the payment is then
/// recorded instead. So no sender can choose another unpayable account.
///
/// An account with a delegate or close authority is paid only if the party signs: otherwise the sender of the
/// transaction could choose, among the party's accounts, an account under the sender's control.
///
/// # Errors
/// 2003 if the account cannot be paid and is not the party's associated token account.
#[inline(always)]
pub fn is_payable(
    account: &AccountView,
    currency: &Currency<'_>,
    party: &Address,
    party_signs: impl Fn() -> bool,
) -> Result<bool> {
    match TokenAccount::of(account, currency) {
        Some(token)
            if token.is_of(party)
                && token.can_receive()
                && (!token.has_other_authority() || party_signs()) =>
        {
            Ok(true)
        }
        _ if is_associated(account, currency, party) => Ok(false),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

// Runs only if a payment cannot be delivered.
#[cold]
#[inline(never)]
fn is_associated(account: &AccountView, currency: &Currency<'_>, wallet: &Address) -> bool {
    for program in programs::TOKENS {
        if currency.has_program(program) {
            let seeds: [&[u8]; 3] = [wallet.as_ref(), program.as_ref(), currency.mint.as_ref()];
            match Address::derive_program_address(&seeds, &programs::ASSOCIATED_TOKEN) {
                Some((address, _)) if address_eq(&address, account.address()) => return true,
                _ => {}
            }
        }
    }
    false
}
