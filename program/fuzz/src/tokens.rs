//! The layouts of the token programs' accounts, as far as laws are told by them.

use crate::runtime::programs;
use crate::worlds::stage::NATIVE_MINT;
use pinocchio::Address;
use solana_account::{AccountSharedData, ReadableAccount};
use std::collections::BTreeMap;
use std::ops::Range;

/// Where a token account keeps how much it holds.
pub const AMOUNT: Range<usize> = 64..72;
/// Where a token account keeps its state.
pub const STATE: usize = 108;
/// The state of a token account that can be used.
pub const INITIALIZED: u8 = 1;
/// The state of a token account that can not.
pub const FROZEN: u8 = 2;

const MINT_SIZE: usize = 82;
const MINT_IS_INITIALIZED: usize = 45;
const ACCOUNT_SIZE: usize = 165;
const MULTISIG_SIZE: usize = 355;
const IS_MINT: u8 = 1;
const IS_ACCOUNT: u8 = 2;
const IS_NATIVE: Range<usize> = 109..113;

/// What a token account holds.
pub struct Tokens {
    /// The token program.
    pub program: Address,
    /// The mint.
    pub mint: Address,
    /// Whose they are.
    pub owner: Address,
    /// How many base units.
    pub amount: u64,
}

impl Tokens {
    /// What an account of a token program holds; nothing when it is no token account in use.
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
        })
    }
}

/// Whether what looks like a token account or a mint says of itself what a token program could have written: a mint that it is in use or
/// empty, a token account that it is of wrapped SOL only where it is, with the lamports for it.
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

/// How many tokens of each mint the accounts hold.
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

/// Whether an account is a mint.
pub fn is_mint(account: &AccountSharedData) -> bool {
    is_token_program(account.owner()) && account.data().len() == MINT_SIZE
        || is_extended(account, IS_MINT)
}

fn is_token_program(program: &Address) -> bool {
    programs::TOKENS.contains(&program)
}

/// Whether an account is one of Token-2022 with extensions, and of this type.
fn is_extended(account: &AccountSharedData, kind: u8) -> bool {
    *account.owner() == programs::TOKEN_2022
        && account.data().len() != MULTISIG_SIZE
        && account.data().get(ACCOUNT_SIZE) == Some(&kind)
}
