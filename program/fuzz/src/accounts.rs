//! Additional token accounts besides the scenes' accounts, in every state that matters to payments, and the
//! names of all addresses.

use crate::environment::SYSVARS;
use crate::fixtures::fixture::{
    associated, in_mint, named, token_account, Fixture, ARBITER, AUTHORITY, BUYER, MINT, MINT_2022,
    NATIVE_MINT, OTHER_MINT, SELLER, STRANGER, TREASURY,
};
use crate::fixtures::scenes::{
    deals, FOREIGN_CONFIG, FROZEN_ACCOUNT, OTHER_PROGRAM_DATA, SECOND_CONFIG,
};
use crate::runtime::programs;
use crate::tokens::{self, Power};
use crate::ID;
use haggle_program::state::ProtocolConfig;
use pinocchio::Address;
use solana_account::{Account, AccountSharedData};
use std::collections::BTreeMap;

/// The wallet of the adversary.
pub const ADVERSARY: Address = STRANGER;

/// The wallets of all participants.
pub const WALLETS: [Address; 6] = [BUYER, SELLER, ADVERSARY, ARBITER, TREASURY, AUTHORITY];

/// The Token-2022 type byte for token accounts, then extensions: a number, a length, a value.
const EXTENSIONS: [(&str, &[u8]); 5] = [
    ("extended token account", &[2, 7, 0, 0, 0]),
    ("token account that requires memos", &[2, 8, 0, 1, 0, 1]),
    ("token account with optional memos", &[2, 8, 0, 1, 0, 0]),
    (
        "token account with a CPI guard",
        &[2, 7, 0, 0, 0, 11, 0, 1, 0, 1],
    ),
    (
        "token account with withheld fees",
        &[2, 2, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0],
    ),
];

/// Token accounts of the parties, the treasury and the adversary. The adversary is the delegate or close
/// authority of some accounts.
pub fn bystanders() -> Vec<(String, Account)> {
    let mut accounts = Vec::new();
    for (who, owner) in parties() {
        for (kind, mint) in [
            ("SPL Token", MINT),
            ("Token-2022", MINT_2022),
            ("wrapped SOL", NATIVE_MINT),
        ] {
            let mut add = |what: &str, change: &dyn Fn(&mut Account)| {
                let mut account = token_account(&mint, &owner, 1_000_000);
                change(&mut account);
                accounts.push((format!("{who}'s {what} ({kind})"), account));
            };
            add("second token account", &|_| {});
            add("frozen token account", &|account| {
                account.data[tokens::STATE] = tokens::FROZEN;
            });
            add("uninitialised token account", &|account| {
                account.data.fill(0);
            });
            for (what, power, amount) in [
                ("delegated token account", Power::Delegate, 1_000_000),
                ("token account with a delegate of 0", Power::Delegate, 0),
                ("closable token account", Power::Close, 0),
                ("delegated and closable token account", Power::Both, 7),
            ] {
                add(what, &|account| {
                    let mut shared = AccountSharedData::from(account.clone());
                    power.apply(&mut shared, &ADVERSARY, amount);
                    *account = shared.into();
                });
            }
            if mint == NATIVE_MINT {
                continue;
            }
            add("token account in another mint", &|account| {
                account.data[..32].copy_from_slice(OTHER_MINT.as_ref());
            });
            add("token account of another program", &|account| {
                account.owner = named("another program");
            });
            add("full token account", &|account| {
                account.data[tokens::AMOUNT].fill(0xff);
            });
            for (what, extensions) in EXTENSIONS {
                add(what, &|account| account.data.extend(extensions));
            }
        }
    }
    accounts
}

fn parties() -> [(&'static str, Address); 4] {
    [
        ("buyer", BUYER),
        ("seller", SELLER),
        ("stranger", STRANGER),
        ("treasury", TREASURY),
    ]
}

/// The names of all addresses.
pub fn names() -> BTreeMap<Address, String> {
    let mut names: BTreeMap<Address, String> = [
        (AUTHORITY, "authority"),
        (MINT, "mint"),
        (MINT_2022, "mint of Token-2022"),
        (NATIVE_MINT, "mint of wrapped SOL"),
        (ARBITER, "arbiter"),
        (OTHER_MINT, "other mint"),
        (SECOND_CONFIG, "second config"),
        (FOREIGN_CONFIG, "another program's config"),
        (OTHER_PROGRAM_DATA, "another program's data"),
        (FROZEN_ACCOUNT, "buyer's frozen account"),
        (ProtocolConfig::ADDRESS, "config"),
        (Fixture::program_data(), "program data"),
        (ID, "the program"),
        (programs::SYSTEM, "system program"),
        (programs::TOKEN, "token program"),
        (programs::TOKEN_2022, "Token-2022"),
        (programs::ASSOCIATED_TOKEN, "associated token program"),
        (named("nobody"), "nobody"),
        (named("nothing"), "nothing"),
    ]
    .map(|(address, name)| (address, name.to_owned()))
    .into();
    for (who, address) in parties() {
        names.insert(address, who.to_owned());
        for (what, mint) in [
            ("", MINT),
            (" (Token-2022)", MINT_2022),
            (" (wrapped SOL)", NATIVE_MINT),
            (" in the other mint", OTHER_MINT),
        ] {
            let account = associated(&address, &mint);
            names.insert(account, format!("{who}'s associated token account{what}"));
        }
    }
    for (name, _) in bystanders() {
        names.insert(named(&name), name);
    }
    let deals = in_mint(MINT, deals);
    for (number, deal) in deals.iter().enumerate() {
        names.insert(deal.negotiation, format!("negotiation {number}"));
        names.insert(deal.escrow_vault, format!("vault {number}"));
    }
    for address in SYSVARS {
        names.insert(address, address.to_string());
    }
    names
}
