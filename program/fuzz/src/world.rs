//! The worlds that calls are made in, and the valid calls: those with which the program's own tests show every instruction
//! succeed.

use crate::machine::Chain;
use crate::runtime::programs;
use crate::tokens;
use crate::worlds::scenes::{
    deals, scenes, Scene, FOREIGN_CONFIG, FROZEN_ACCOUNT, OTHER_PROGRAM_DATA, SECOND_CONFIG,
};
use crate::worlds::stage::{
    associated, in_mint, named, owned, program_of, token_account, Stage, ARBITER, AUTHORITY, BUYER,
    MINT, MINT_2022, OTHER_MINT, SELLER, STRANGER, TREASURY,
};
use crate::ID;
use haggle_program::schema::table::Instruction as Row;
use haggle_program::state::{Negotiation, ProtocolConfig};
use pinocchio::Address;
use solana_account::{Account, AccountSharedData, ReadableAccount};
use std::collections::BTreeMap;

/// One point in the life of a few negotiations, with everyone's accounts.
pub struct World {
    /// The scene of the program's tests that it comes from, and the token program.
    pub name: String,
    /// Every account that a call can be given, in an order that stays the same.
    pub pool: Vec<(Address, AccountSharedData)>,
    /// The chain.
    pub chain: Chain,
    /// The place of each account in the pool.
    places: BTreeMap<Address, usize>,
}

/// A call that succeeds in one of the worlds.
pub struct ValidCall {
    /// The scene of the program's tests that it comes from, and the token program.
    pub name: String,
    /// Its row of the program's table.
    pub row: &'static Row,
    /// The list of accounts: the address, whether it signs, whether it is writable.
    pub list: Vec<(Address, bool, bool)>,
    /// The instruction's data.
    pub data: Vec<u8>,
}

/// All of them. The call with a number succeeds in the world with that number.
pub struct Worlds {
    /// The worlds.
    pub worlds: Vec<World>,
    /// The calls.
    pub calls: Vec<ValidCall>,
    /// What addresses are called in stories.
    pub names: BTreeMap<Address, String>,
}

/// The scenes with each of the two token programs.
pub fn scenes_in_both() -> Vec<(Scene, String)> {
    let mut all = Vec::new();
    for (mint, program) in [(MINT, "SPL Token"), (MINT_2022, "Token-2022")] {
        for mut scene in in_mint(mint, scenes) {
            // One scene names SPL Token whatever the mint is.
            for meta in &mut scene.call.accounts {
                if meta.pubkey == programs::TOKEN {
                    meta.pubkey = program_of(&mint);
                }
            }
            let name = format!("{} ({program})", scene.name);
            all.push((scene, name));
        }
    }
    all
}

/// What the runtime itself keeps accounts of.
const SYSVARS: [Address; 3] = [
    Address::from_str_const("SysvarC1ock11111111111111111111111111111111"),
    Address::from_str_const("SysvarRent111111111111111111111111111111111"),
    Address::from_str_const("Sysvar1nstructions1111111111111111111111111"),
];
const SYSVAR_OWNER: Address =
    Address::from_str_const("Sysvar1111111111111111111111111111111111111");

/// Whether the runtime takes the account as read-only, whatever a transaction says.
pub fn is_reserved(address: &Address) -> bool {
    *address == ID || *address == programs::SYSTEM || SYSVARS.contains(address)
}

impl Worlds {
    /// Plays the scenes.
    pub fn new() -> Self {
        let names = names();
        let (mut worlds, mut calls) = (Vec::new(), Vec::new());
        for (scene, name) in scenes_in_both() {
            worlds.push(World::of(name.clone(), &scene.stage, &names));
            calls.push(ValidCall {
                name,
                row: scene.call.row,
                list: scene
                    .call
                    .accounts
                    .iter()
                    .map(|meta| (meta.pubkey, meta.is_signer, meta.is_writable))
                    .collect(),
                data: scene.call.data,
            });
        }
        Self {
            worlds,
            calls,
            names,
        }
    }

    /// What an address is called.
    pub fn name(&self, address: &Address) -> String {
        match self.names.get(address) {
            Some(name) => name.clone(),
            None => address.to_string(),
        }
    }
}

impl World {
    fn of(name: String, stage: &Stage, names: &BTreeMap<Address, String>) -> Self {
        let mut accounts = stage.accounts.clone();
        for (name, account) in bystanders() {
            accounts.entry(named(&name)).or_insert(account);
        }
        for address in SYSVARS {
            // The runtime looks at the one of the transaction's instructions: at its owner, and for room at its end.
            accounts.insert(address, owned(SYSVAR_OWNER, vec![0; 64]));
        }
        for address in names.keys() {
            accounts.entry(*address).or_default();
        }
        let pool: Vec<_> = accounts
            .into_iter()
            .map(|(address, account)| (address, AccountSharedData::from(account)))
            .collect();
        let places = pool
            .iter()
            .enumerate()
            .map(|(place, (address, _))| (*address, place))
            .collect();
        Self {
            name,
            pool,
            chain: Chain {
                now: stage.now,
                rent: stage.rent,
            },
            places,
        }
    }

    /// An account; an empty one where there is none.
    pub fn account(&self, address: &Address) -> AccountSharedData {
        match self.places.get(address) {
            Some(place) => self.pool[*place].1.clone(),
            None => AccountSharedData::default(),
        }
    }

    /// The negotiations, with their addresses.
    pub fn negotiations(&self) -> impl Iterator<Item = (&Address, &Negotiation)> {
        self.pool
            .iter()
            .filter_map(|(address, account)| Some((address, negotiation(account)?)))
    }
}

/// The negotiation in an account, if it is one.
pub fn negotiation(account: &AccountSharedData) -> Option<&Negotiation> {
    let data = account.data();
    if *account.owner() == ID
        && data.len() == Negotiation::SIZE
        && data[..8] == Negotiation::RECORD.discriminator
    {
        // SAFETY: the length is right, the struct is packed and takes any bytes.
        Some(unsafe { &*data.as_ptr().add(8).cast() })
    } else {
        None
    }
}

/// The configuration in an account, if it is one.
pub fn config(account: &AccountSharedData) -> Option<&ProtocolConfig> {
    let data = account.data();
    if *account.owner() == ID
        && data.len() == ProtocolConfig::SIZE
        && data[..8] == ProtocolConfig::RECORD.discriminator
    {
        // SAFETY: the length is right, the struct is packed and takes any bytes.
        Some(unsafe { &*data.as_ptr().add(8).cast() })
    } else {
        None
    }
}

/// Token accounts in every state that can stand in a party's way, beside those of the scenes.
fn bystanders() -> Vec<(String, Account)> {
    let mut accounts = Vec::new();
    for (who, owner) in parties() {
        for (program, mint) in [("SPL Token", MINT), ("Token-2022", MINT_2022)] {
            let mut add = |what: &str, change: &dyn Fn(&mut Account)| {
                let mut account = token_account(&mint, &owner, 1_000_000);
                change(&mut account);
                accounts.push((format!("{who}'s {what} ({program})"), account));
            };
            add("second token account", &|_| {});
            add("frozen token account", &|account| {
                account.data[tokens::STATE] = tokens::FROZEN
            });
            add("token account not initialised", &|account| {
                account.data.fill(0)
            });
            add("token account with a delegate", &|account| {
                account.data[72] = 1;
                account.data[76..108].copy_from_slice(STRANGER.as_ref());
                account.data[121..129].copy_from_slice(&1_000_000u64.to_le_bytes());
            });
            add("token account that a stranger may close", &|account| {
                account.data[129] = 1;
                account.data[133..165].copy_from_slice(STRANGER.as_ref());
            });
            add("token account of another mint", &|account| {
                account.data[..32].copy_from_slice(OTHER_MINT.as_ref());
            });
            add("token account of another program", &|account| {
                account.owner = named("another program");
            });
            add("token account that is full", &|account| {
                account.data[tokens::AMOUNT].fill(0xff)
            });
            // The account's type, then extensions: a number, a length, a value.
            for (what, extensions) in [
                ("extended token account", &[2, 7, 0, 0, 0][..]),
                ("token account that wants memos", &[2, 8, 0, 1, 0, 1]),
                ("token account that wants no memos", &[2, 8, 0, 1, 0, 0]),
                (
                    "token account that is guarded",
                    &[2, 7, 0, 0, 0, 11, 0, 1, 0, 1],
                ),
                (
                    "token account that fees are kept in",
                    &[2, 2, 0, 8, 0, 0, 0, 0, 0, 0, 0, 0, 0],
                ),
            ] {
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

fn names() -> BTreeMap<Address, String> {
    let mut names: BTreeMap<Address, String> = [
        (AUTHORITY, "authority"),
        (MINT, "mint"),
        (MINT_2022, "mint of Token-2022"),
        (ARBITER, "arbiter"),
        (OTHER_MINT, "other mint"),
        (SECOND_CONFIG, "second config"),
        (FOREIGN_CONFIG, "another program's config"),
        (OTHER_PROGRAM_DATA, "another program's data"),
        (FROZEN_ACCOUNT, "buyer's frozen account"),
        (ProtocolConfig::ADDRESS, "config"),
        (Stage::program_data(), "program data"),
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
            (" in the other mint", OTHER_MINT),
        ] {
            let account = associated(&address, &mint);
            names.insert(account, format!("{who}'s associated token account{what}"));
        }
    }
    for (name, _) in bystanders() {
        names.insert(named(&name), name);
    }
    for (number, deal) in deals().iter().enumerate() {
        names.insert(deal.negotiation, format!("negotiation {number}"));
        names.insert(deal.escrow_vault, format!("vault {number}"));
    }
    for address in SYSVARS {
        names.insert(address, address.to_string());
    }
    names
}
