//! Mints and token accounts of both token programs, as they are on chain.
//!
//! The mint tells the program, as it does on chain: what is made for [`MINT_2022`] belongs to Token-2022, what is made for any
//! other mint of the stage to SPL Token.

use super::{owned, MINT, MINT_2022, NATIVE_MINT};
use crate::runtime::programs;
use pinocchio::Address;
use solana_account::Account;
use std::cell::Cell;

thread_local! {
    static CURRENCY: Cell<Address> = const { Cell::new(MINT) };
}

/// Runs a test with [`super::Stage::deal`], and so every point in a negotiation's life, in this mint.
pub fn in_mint<T>(mint: Address, test: impl FnOnce() -> T) -> T {
    let before = CURRENCY.replace(mint);
    let result = test();
    CURRENCY.set(before);
    result
}

/// Runs a test once in a mint of SPL Token and once in one of Token-2022.
pub fn under_both_token_programs(test: impl Fn()) {
    for mint in [MINT, MINT_2022] {
        in_mint(mint, &test);
    }
}

/// The mint that the stage's negotiation is in now.
pub fn currency() -> Address {
    CURRENCY.get()
}

/// The token program of one of the stage's mints.
pub fn program_of(mint: &Address) -> Address {
    if *mint == MINT_2022 {
        programs::TOKEN_2022
    } else {
        programs::TOKEN
    }
}

/// The token account that everyone can derive from a wallet and a mint.
pub fn associated(wallet: &Address, mint: &Address) -> Address {
    associated_under(&program_of(mint), wallet, mint)
}

/// The same for a token program that need not be the mint's.
pub fn associated_under(program: &Address, wallet: &Address, mint: &Address) -> Address {
    let seeds = [wallet.as_ref(), program.as_ref(), mint.as_ref()];
    Address::find_program_address(&seeds, &programs::ASSOCIATED_TOKEN).0
}

/// A mint of SPL Token with six decimals.
pub fn mint(supply: u64) -> Account {
    let mut data = vec![0; 82];
    data[36..44].copy_from_slice(&supply.to_le_bytes());
    data[44] = 6;
    data[45] = 1;
    owned(programs::TOKEN, data)
}

/// A mint of Token-2022 with six decimals and these extensions, each a number and a value.
pub fn mint_2022(supply: u64, extensions: &[(u16, Vec<u8>)]) -> Account {
    extended(mint(supply).data, 1, extensions)
}

/// A token account of the mint's token program.
pub fn token_account(mint: &Address, owner: &Address, amount: u64) -> Account {
    let mut data = vec![0; 165];
    data[..32].copy_from_slice(mint.as_ref());
    data[32..64].copy_from_slice(owner.as_ref());
    data[64..72].copy_from_slice(&amount.to_le_bytes());
    data[108] = 1;
    let mut account = owned(program_of(mint), data);
    if *mint == NATIVE_MINT {
        account.data[109] = 1;
        account.data[113..121].copy_from_slice(&account.lamports.to_le_bytes());
        account.lamports += amount;
    }
    account
}

/// A token account of Token-2022 with these extensions, each a number and a value.
pub fn token_account_2022(
    mint: &Address,
    owner: &Address,
    amount: u64,
    extensions: &[(u16, Vec<u8>)],
) -> Account {
    extended(token_account(mint, owner, amount).data, 2, extensions)
}

/// An account of Token-2022: its data up to the extensions, the byte that says what it is, and the extensions.
fn extended(mut data: Vec<u8>, what: u8, extensions: &[(u16, Vec<u8>)]) -> Account {
    if !extensions.is_empty() {
        data.resize(165, 0);
        data.push(what);
        for (number, value) in extensions {
            data.extend(number.to_le_bytes());
            data.extend((value.len() as u16).to_le_bytes());
            data.extend(value);
        }
    }
    owned(programs::TOKEN_2022, data)
}
