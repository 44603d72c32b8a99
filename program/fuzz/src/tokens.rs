//! Token program account layouts, as far as the invariants depend on them.

use crate::fixtures::fixture::NATIVE_MINT;
use crate::runtime::programs;
use pinocchio::Address;
use solana_account::{AccountSharedData, ReadableAccount, WritableAccount};
use std::collections::BTreeMap;
use std::ops::Range;

/// The amount's byte range.
pub const AMOUNT: Range<usize> = 64..72;
/// The offset of the account state.
pub const STATE: usize = 108;
/// The usable state.
pub const INITIALIZED: u8 = 1;
/// The frozen state.
pub const FROZEN: u8 = 2;

const MINT_SIZE: usize = 82;
const MINT_IS_INITIALIZED: usize = 45;
const ACCOUNT_SIZE: usize = 165;
const MULTISIG_SIZE: usize = 355;
const IS_MINT: u8 = 1;
const IS_ACCOUNT: u8 = 2;
const IS_NATIVE: Range<usize> = 109..113;

/// The account's delegate: a four-byte tag, then the address, and behind other fields the approved amount.
const DELEGATE: Range<usize> = 72..108;
const DELEGATED_AMOUNT: Range<usize> = 121..129;
/// The account's close authority: a four-byte tag, then the address.
const CLOSE_AUTHORITY: Range<usize> = 129..165;

/// Token account contents.
pub struct Tokens {
    /// The owning token program.
    pub program: Address,
    /// The mint.
    pub mint: Address,
    /// The owner.
    pub owner: Address,
    /// The balance (base units).
    pub amount: u64,
    /// Whether the account has a delegate or close authority, so that a signer other than the owner can take
    /// from the account.
    pub shared: bool,
}

/// A change of power over an account.
#[derive(Clone, Copy)]
pub enum Power {
    /// The adversary becomes the delegate, with an approved amount that can be 0.
    Delegate,
    /// The adversary becomes close authority.
    Close,
    /// The adversary becomes both.
    Both,
    /// Delegate and close authority are removed.
    Revoke,
    /// The mint's freeze authority freezes the account.
    Freeze,
    /// The mint's freeze authority thaws the account.
    Thaw,
}

impl Power {
    /// The changes, ordered by their numbers in a case.
    pub const ALL: [Self; 6] = [
        Self::Delegate,
        Self::Close,
        Self::Both,
        Self::Revoke,
        Self::Freeze,
        Self::Thaw,
    ];

    /// Changes token accounts only; every other account stays as it is; wrapped SOL cannot be frozen.
    pub fn apply(self, account: &mut AccountSharedData, adversary: &Address, amount: u64) {
        match Tokens::of(account) {
            None => return,
            Some(tokens) if tokens.mint == NATIVE_MINT && matches!(self, Self::Freeze) => return,
            Some(_) => {}
        }
        let data = account.data_as_mut_slice();
        let authority = |data: &mut [u8], field: Range<usize>| {
            data[field.start..field.start + 4].copy_from_slice(&1u32.to_le_bytes());
            data[field.start + 4..field.end].copy_from_slice(adversary.as_ref());
        };
        if matches!(self, Self::Delegate | Self::Both) {
            authority(data, DELEGATE);
            data[DELEGATED_AMOUNT].copy_from_slice(&amount.to_le_bytes());
        }
        if matches!(self, Self::Close | Self::Both) {
            authority(data, CLOSE_AUTHORITY);
        }
        match self {
            Self::Revoke => {
                data[DELEGATE].fill(0);
                data[DELEGATED_AMOUNT].fill(0);
                data[CLOSE_AUTHORITY].fill(0);
            }
            Self::Freeze => data[STATE] = FROZEN,
            Self::Thaw => data[STATE] = INITIALIZED,
            _ => {}
        }
    }
}

impl Tokens {
    /// An initialized token account's contents. Returns None for every other account.
    pub fn of(account: &AccountSharedData) -> Option<Self> {
        let data = account.data();
        if !(is_token_program(account.owner()) && data.len() == ACCOUNT_SIZE
            || is_extended(account, IS_ACCOUNT))
            || ![INITIALIZED, FROZEN].contains(&data[STATE])
        {
            return None;
        }
        let address = |at: usize| {
            let mut bytes = [0; 32];
            bytes.copy_from_slice(&data[at..at + 32]);
            Address::new_from_array(bytes)
        };
        let mut amount = [0; 8];
        amount.copy_from_slice(&data[AMOUNT]);
        Some(Self {
            program: *account.owner(),
            mint: address(0),
            owner: address(32),
            amount: u64::from_le_bytes(amount),
            shared: data[DELEGATE.start..DELEGATE.start + 4] != [0; 4]
                || data[CLOSE_AUTHORITY.start..CLOSE_AUTHORITY.start + 4] != [0; 4],
        })
    }
}

/// Reports whether an account resembling a mint or token account can come from a token program: mints are
/// initialized or empty, and exactly the wrapped SOL accounts are native and hold lamports for their tokens.
pub fn is_sound(account: &AccountSharedData) -> bool {
    const RESERVE: Range<usize> = 113..121;
    let data = account.data();
    if is_mint(account) {
        return data[MINT_IS_INITIALIZED] == 1 || data.iter().all(|byte| *byte == 0);
    }
    let Some(tokens) = Tokens::of(account) else {
        return true;
    };
    let tag = &data[IS_NATIVE];
    if tokens.mint != NATIVE_MINT {
        return tag == [0; 4];
    }
    let mut reserve = [0; 8];
    reserve.copy_from_slice(&data[RESERVE]);
    let backed = u64::from_le_bytes(reserve).checked_add(tokens.amount);
    tag == [1, 0, 0, 0] && backed.is_some_and(|backed| backed <= account.lamports())
}

/// The sum of the tokens in the accounts, for each mint.
pub fn supplies<'a>(
    accounts: impl Iterator<Item = &'a AccountSharedData>,
) -> BTreeMap<(Address, Address), u128> {
    let mut supplies = BTreeMap::new();
    for tokens in accounts.filter_map(Tokens::of) {
        if tokens.amount > 0 {
            *supplies.entry((tokens.program, tokens.mint)).or_default() +=
                u128::from(tokens.amount);
        }
    }
    supplies
}

/// Reports whether the account is a mint.
pub fn is_mint(account: &AccountSharedData) -> bool {
    is_token_program(account.owner()) && account.data().len() == MINT_SIZE
        || is_extended(account, IS_MINT)
}

fn is_token_program(program: &Address) -> bool {
    programs::TOKENS.contains(&program)
}

/// Reports whether the account is a Token-2022 account of this type with extensions.
fn is_extended(account: &AccountSharedData, kind: u8) -> bool {
    *account.owner() == programs::TOKEN_2022
        && account.data().len() != MULTISIG_SIZE
        && account.data().get(ACCOUNT_SIZE) == Some(&kind)
}
