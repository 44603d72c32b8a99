//! The environments that cases start in, and the valid calls: those of the scenes of the program's own tests,
//! in which every instruction succeeds.

use crate::accounts::{bystanders, names};
use crate::fixtures::fixture::{
    associated, in_mint, named, owned, program_of, Call, Deal, Fixture, MINT, MINT_2022, SELLER,
    SELLER_FUNDS, STRANGER, TREASURY,
};
use crate::fixtures::scenes::{deals, scenes};
use crate::runtime::programs;
use crate::svm::Sysvars;
use crate::tokens::Tokens;
use crate::ID;
use haggle_program::schema::table::Instruction as Row;
use haggle_program::state::{Negotiation, ProtocolConfig};
use pinocchio::Address;
use solana_account::{AccountSharedData, ReadableAccount};
use std::collections::BTreeMap;

/// A few negotiations at one point of their lives, with the accounts of all participants.
pub struct Environment {
    /// The program test scene that it comes from, plus the token program name.
    pub name: String,
    /// The accounts available to calls, in a constant order.
    pub pool: Vec<(Address, AccountSharedData)>,
    /// The clock and the rent.
    pub sysvars: Sysvars,
    /// The negotiations that moves are about. Some may not exist.
    pub deals: Vec<Deal>,
    /// For each deal, the treasury's associated token account.
    pub treasury_accounts: Vec<Address>,
    /// Each account's place in the pool.
    places: BTreeMap<Address, usize>,
    /// Token accounts by owner and mint.
    token_accounts: BTreeMap<(Address, Address), Vec<Address>>,
}

/// A call that succeeds in some environment.
#[derive(Clone)]
pub struct ValidCall {
    /// The program test scene that it comes from, plus the token program name.
    pub name: String,
    /// The row in the program's table.
    pub row: &'static Row,
    /// The list of accounts: the address, whether it signs, whether it is writable.
    pub list: Vec<(Address, bool, bool)>,
    /// The instruction's data.
    pub data: Vec<u8>,
}

/// All environments. The call with a number succeeds in the environment with that number.
pub struct Environments {
    /// The environments.
    pub all: Vec<Environment>,
    /// The calls.
    pub calls: Vec<ValidCall>,
    /// The names of addresses in reports.
    pub names: BTreeMap<Address, String>,
}

/// A fixture and a call that succeeds in it.
pub struct Start {
    /// The scene name, plus the token program name.
    pub name: String,
    /// The fixture.
    pub fixture: Fixture,
    /// The call.
    pub call: Call,
    /// The negotiations.
    pub deals: Vec<Deal>,
}

/// The program test scenes under SPL Token and Token-2022, and some in wrapped SOL.
pub fn starts() -> Vec<Start> {
    let mut all = Vec::new();
    for (mint, program) in [(MINT, "SPL Token"), (MINT_2022, "Token-2022")] {
        let (scenes, deals) = in_mint(mint, || (scenes(), deals()));
        for mut scene in scenes {
            // One scene names SPL Token for every mint.
            for meta in &mut scene.call.accounts {
                if meta.pubkey == programs::TOKEN {
                    meta.pubkey = program_of(&mint);
                }
            }
            // Enough for the bonds of later deals.
            for deal in &deals {
                scene
                    .fixture
                    .donate(&deal.seller_token_account, SELLER_FUNDS);
            }
            all.push(Start {
                name: format!("{} ({program})", scene.name),
                fixture: scene.fixture,
                call: scene.call,
                deals: deals.to_vec(),
            });
        }
    }
    all.extend(starts_in_wrapped_sol());
    all
}

fn starts_in_wrapped_sol() -> Vec<Start> {
    let (offered, deal) = Fixture::offered_in_wrapped_sol();
    let mut overdue = offered.clone();
    overdue.now = overdue.negotiation(&deal).turn_deadline;
    let accept = offered.accept_offer(&deal, SELLER);
    let mut settled = offered.clone();
    settled.run(&accept).succeeds();
    let expire = overdue.expire(&deal);
    let close = settled.close(&deal, STRANGER);
    [
        ("accept_offer", offered, accept),
        ("expire_negotiation", overdue, expire),
        ("close_negotiation", settled, close),
    ]
    .map(|(name, fixture, call)| Start {
        name: format!("{name} (wrapped SOL)"),
        fixture,
        call,
        deals: vec![deal],
    })
    .into()
}

/// The accounts that the runtime itself writes.
pub const SYSVARS: [Address; 3] = [
    Address::from_str_const("SysvarC1ock11111111111111111111111111111111"),
    Address::from_str_const("SysvarRent111111111111111111111111111111111"),
    Address::from_str_const("Sysvar1nstructions1111111111111111111111111"),
];
const SYSVAR_OWNER: Address =
    Address::from_str_const("Sysvar1111111111111111111111111111111111111");

/// Reports whether the runtime treats an account as read-only in every transaction.
pub fn is_reserved(address: &Address) -> bool {
    *address == ID || *address == programs::SYSTEM || SYSVARS.contains(address)
}

impl Environments {
    /// Builds the environments.
    pub fn new() -> Self {
        let names = names();
        let (mut all, mut calls) = (Vec::new(), Vec::new());
        for start in starts() {
            let Start { name, call, .. } = &start;
            calls.push(ValidCall {
                name: name.clone(),
                row: call.row,
                list: call
                    .accounts
                    .iter()
                    .map(|meta| (meta.pubkey, meta.is_signer, meta.is_writable))
                    .collect(),
                data: call.data.clone(),
            });
            all.push(Environment::of(&start, &names));
        }
        assert!(
            all.len() <= 256,
            "a case has one byte for the environment's index"
        );
        Self { all, calls, names }
    }

    /// The environment with this index, modulo their number.
    pub fn environment(&self, index: u8) -> &Environment {
        &self.all[usize::from(index) % self.all.len()]
    }

    /// The valid call with this index, modulo their number.
    pub fn call(&self, index: u8) -> &ValidCall {
        &self.calls[usize::from(index) % self.calls.len()]
    }

    /// The address's name.
    pub fn name(&self, address: &Address) -> String {
        match self.names.get(address) {
            Some(name) => name.clone(),
            None => address.to_string(),
        }
    }
}

impl Environment {
    fn of(start: &Start, names: &BTreeMap<Address, String>) -> Self {
        let mut accounts = start.fixture.accounts.clone();
        for (name, account) in bystanders() {
            accounts.entry(named(&name)).or_insert(account);
        }
        for address in SYSVARS {
            // The runtime reads the instructions sysvar's owner and writes at the end of the account.
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
        let mut token_accounts: BTreeMap<_, Vec<_>> = BTreeMap::new();
        for (address, account) in &pool {
            if let Some(tokens) = Tokens::of(account) {
                let kind = (tokens.owner, tokens.mint);
                token_accounts.entry(kind).or_default().push(*address);
            }
        }
        Self {
            name: start.name.clone(),
            pool,
            sysvars: Sysvars {
                now: start.fixture.now,
                rent: start.fixture.rent,
            },
            deals: start.deals.clone(),
            treasury_accounts: start
                .deals
                .iter()
                .map(|deal| associated(&TREASURY, &deal.token_mint))
                .collect(),
            places,
            token_accounts,
        }
    }

    /// An account; empty for unused addresses.
    pub fn account(&self, address: &Address) -> AccountSharedData {
        match self.places.get(address) {
            Some(place) => self.pool[*place].1.clone(),
            None => AccountSharedData::default(),
        }
    }

    /// The owner's initial token accounts for a mint.
    pub fn token_accounts(&self, owner: &Address, mint: &Address) -> &[Address] {
        let found = self.token_accounts.get(&(*owner, *mint));
        found.map_or(&[], Vec::as_slice)
    }

    /// A negotiation's vault address. Returns None unless the address belongs to a deal.
    pub fn vault_of(&self, negotiation: &Address) -> Option<Address> {
        let deal = self
            .deals
            .iter()
            .find(|deal| deal.negotiation == *negotiation);
        deal.map(|deal| deal.escrow_vault)
    }

    /// The negotiations, with their addresses.
    pub fn negotiations(&self) -> impl Iterator<Item = (&Address, &Negotiation)> {
        self.pool
            .iter()
            .filter_map(|(address, account)| Some((address, negotiation(account)?)))
    }
}

/// The negotiation in an account. Returns None for every other account.
pub fn negotiation(account: &AccountSharedData) -> Option<&Negotiation> {
    let data = account.data();
    if *account.owner() == ID
        && data.len() == Negotiation::SIZE
        && data[..8] == Negotiation::RECORD.discriminator
    {
        // SAFETY: the length is right, the struct is packed, and any bytes are valid.
        Some(unsafe { &*data.as_ptr().add(8).cast() })
    } else {
        None
    }
}

/// The configuration in an account. Returns None for every other account.
pub fn config(account: &AccountSharedData) -> Option<&ProtocolConfig> {
    let data = account.data();
    if *account.owner() == ID
        && data.len() == ProtocolConfig::SIZE
        && data[..8] == ProtocolConfig::RECORD.discriminator
    {
        // SAFETY: the length is right, the struct is packed, and any bytes are valid.
        Some(unsafe { &*data.as_ptr().add(8).cast() })
    } else {
        None
    }
}
