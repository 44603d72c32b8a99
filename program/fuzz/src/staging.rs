//! From a case to a call that can be run.

use crate::case::{Case, Edit};
use crate::machine::{Call, Chain};
use crate::runtime::programs;
use crate::tokens::{self, Tokens};
use crate::world::{is_reserved, ValidCall, World, Worlds};
use crate::worlds::stage::named;
use crate::ID;
use haggle_program::instructions::INSTRUCTIONS;
use haggle_program::schema::table::Instruction as Row;
use pinocchio::Address;
use solana_account::{AccountSharedData, ReadableAccount, WritableAccount};

/// How many accounts a call can be given. The program does not look beyond the sixteenth.
const MOST_ACCOUNTS: usize = 24;
/// How large an account can be made, in bytes.
const MOST_BYTES: usize = 2_048;
/// How long the instruction's data can be made, in bytes.
const MOST_DATA: usize = 1_024;

/// The programs that an account can be given to.
pub const OWNERS: [Address; 6] = [
    programs::SYSTEM,
    programs::TOKEN,
    programs::TOKEN_2022,
    ID,
    programs::UPGRADEABLE_LOADER,
    named("another program"),
];

/// A case that is ready to be run.
pub struct Staged<'a> {
    /// The case's world.
    pub world: &'a World,
    /// The valid call that the case started from.
    pub origin: &'a ValidCall,
    /// The call.
    pub call: Call,
    /// The row of the table that the data names.
    pub row: Option<&'static Row>,
    /// Whether a chain can hold these accounts. On others an account that only the program or the token program can write
    /// says what neither would have written.
    pub possible: bool,
}

impl Case {
    /// The case's world and the valid call that it starts from.
    pub fn origin<'a>(&self, worlds: &'a Worlds) -> (&'a World, &'a ValidCall) {
        let world = usize::from(self.world) % worlds.worlds.len();
        let call = usize::from(self.call) % worlds.calls.len();
        (&worlds.worlds[world], &worlds.calls[call])
    }

    /// Makes the case's call.
    pub fn stage<'a>(&self, worlds: &'a Worlds) -> Staged<'a> {
        let (world, origin) = self.origin(worlds);
        let mut draft = Draft {
            world,
            data: origin.data.clone(),
            list: origin.list.clone(),
            changed: Vec::new(),
            chain: world.chain,
        };
        for edit in &self.edits {
            draft.apply(edit);
        }
        // Only wallets sign.
        let possible = draft.list.iter().all(|(address, signs, _)| {
            !signs || *world.account(address).owner() == programs::SYSTEM
        }) && draft.changed.iter().all(|(address, account)| {
            world.account(address) == *account || is_possible(world, address, account)
        });
        let row = draft.data.first_chunk::<8>().and_then(|first| {
            let mut rows = INSTRUCTIONS.iter();
            rows.find(|row| row.discriminator == *first).copied()
        });
        let call = draft.finish();
        Staged {
            world,
            origin,
            row,
            possible: possible && supplies_fit(&call),
            call,
        }
    }
}

/// Whether there are no more tokens of a mint than a mint can have.
fn supplies_fit(call: &Call) -> bool {
    tokens::supplies(call.accounts.iter().map(|(_, account)| account))
        .values()
        .all(|supply| *supply <= u64::MAX.into())
}

/// Whether an account that a case has changed can be like this on a chain. What anybody can write is; a negotiation, a
/// configuration, a mint and a program are only what they are in the world, and a vault can only be given tokens and be frozen.
fn is_possible(world: &World, address: &Address, account: &AccountSharedData) -> bool {
    let before = world.account(address);
    if is_reserved(address) || before.executable() || *before.owner() == ID {
        return false;
    }
    if *account.owner() == ID && account.data().iter().any(|byte| *byte != 0) {
        return false;
    }
    if tokens::is_mint(&before) || !tokens::is_sound(account) {
        return false;
    }
    let is_vault = world.negotiations().any(|(negotiation, _)| {
        Tokens::of(&before).is_some_and(|tokens| tokens.owner == *negotiation)
    });
    !is_vault || is_same_vault(&before, account)
}

/// Whether a vault differs at most by tokens that have been donated, lamports that have been sent, and by being frozen.
fn is_same_vault(before: &AccountSharedData, after: &AccountSharedData) -> bool {
    let (Some(old), Some(new)) = (Tokens::of(before), Tokens::of(after)) else {
        return false;
    };
    let mut donated = after.data().to_vec();
    donated[tokens::AMOUNT].copy_from_slice(&before.data()[tokens::AMOUNT]);
    donated[tokens::STATE] = before.data()[tokens::STATE];
    before.owner() == after.owner()
        && before.data() == donated
        && before.lamports() <= after.lamports()
        && old.amount <= new.amount
        && [tokens::INITIALIZED, tokens::FROZEN].contains(&after.data()[tokens::STATE])
}

/// A call while it is changed.
struct Draft<'a> {
    world: &'a World,
    data: Vec<u8>,
    list: Vec<(Address, bool, bool)>,
    changed: Vec<(Address, AccountSharedData)>,
    chain: Chain,
}

impl Draft<'_> {
    fn apply(&mut self, edit: &Edit) {
        match edit {
            Edit::Data { at, bytes } => overwrite(&mut self.data, *at, &bytes.0),
            Edit::Cut { length } => self.data.truncate((*length).into()),
            Edit::Append { bytes } => {
                self.data.extend(&bytes.0);
                self.data.truncate(MOST_DATA);
            }
            Edit::Discriminator { row } => {
                let row = INSTRUCTIONS[usize::from(*row) % INSTRUCTIONS.len()];
                overwrite(&mut self.data, 0, &row.discriminator);
            }
            Edit::Put { place, account } => {
                let address = self.pooled(*account);
                if let Some(entry) = self.at(*place) {
                    entry.0 = address;
                }
            }
            Edit::Near { place, byte } => {
                if let Some((address, ..)) = self.at(*place).copied() {
                    let account = self.account(&address);
                    let twin = near(&address, *byte);
                    self.changed.retain(|(known, _)| *known != twin);
                    self.changed.push((twin, account));
                    self.at(*place).expect("it is there").0 = twin;
                }
            }
            Edit::Insert {
                place,
                account,
                flags,
            } => {
                if self.list.len() < MOST_ACCOUNTS {
                    let entry = (self.pooled(*account), flags & 1 != 0, flags & 2 != 0);
                    let place = usize::from(*place) % (self.list.len() + 1);
                    self.list.insert(place, entry);
                }
            }
            Edit::Remove { place } => {
                if !self.list.is_empty() {
                    self.list.remove(usize::from(*place) % self.list.len());
                }
            }
            Edit::Flags { place, flags } => {
                if let Some(entry) = self.at(*place) {
                    (entry.1, entry.2) = (flags & 1 != 0, flags & 2 != 0);
                }
            }
            Edit::Content { place, at, bytes } => self.change(*place, |account| {
                overwrite(account.data_as_mut_slice(), *at, &bytes.0);
            }),
            Edit::Size { place, size } => self.change(*place, |account| {
                account.resize(usize::from(*size) % MOST_BYTES, 0);
            }),
            Edit::Owner { place, owner, byte } => self.change(*place, |account| {
                let owner = OWNERS[usize::from(*owner) % OWNERS.len()];
                account.set_owner(if *byte == 0 {
                    owner
                } else {
                    near(&owner, *byte)
                });
            }),
            // A quarter of all numbers: a chain's lamports add up to less than 2^64.
            Edit::Lamports { place, lamports } => self.change(*place, |account| {
                account.set_lamports(lamports >> 2);
            }),
            Edit::Clock { now } => self.chain.now = *now,
            Edit::Rent { price, factor } => {
                let factors = [1.0, 2.0, 3.0];
                self.chain.rent = (*price, factors[usize::from(*factor) % factors.len()]);
            }
        }
    }

    fn pooled(&self, account: u16) -> Address {
        self.world.pool[usize::from(account) % self.world.pool.len()].0
    }

    fn account(&self, address: &Address) -> AccountSharedData {
        let changed = self.changed.iter().find(|(known, _)| known == address);
        match changed {
            Some((_, account)) => account.clone(),
            None => self.world.account(address),
        }
    }

    fn at(&mut self, place: u8) -> Option<&mut (Address, bool, bool)> {
        let length = self.list.len();
        self.list.get_mut(usize::from(place).checked_rem(length)?)
    }

    /// Changes an account. Programs and what the runtime keeps itself stay what they are.
    fn change(&mut self, place: u8, change: impl FnOnce(&mut AccountSharedData)) {
        let Some((address, ..)) = self.at(place).copied() else {
            return;
        };
        let mut account = self.account(&address);
        self.changed.retain(|(known, _)| *known != address);
        if !account.executable() && !is_reserved(&address) {
            change(&mut account);
        }
        self.changed.push((address, account));
    }

    /// An account has the same flags wherever it is in the list, as in a transaction.
    fn finish(self) -> Call {
        let mut accounts: Vec<(Address, AccountSharedData)> = Vec::new();
        let mut flags: Vec<(bool, bool)> = Vec::new();
        let mut places = Vec::new();
        for (address, signs, writable) in &self.list {
            let at = accounts.iter().position(|(known, _)| known == address);
            let at = at.unwrap_or_else(|| {
                accounts.push((*address, self.account(address)));
                flags.push((false, false));
                accounts.len() - 1
            });
            flags[at].0 |= signs;
            flags[at].1 |= *writable && !is_reserved(address);
            places.push(at);
        }
        if !accounts.iter().any(|(address, _)| *address == ID) {
            accounts.push((ID, self.world.account(&ID)));
        }
        Call {
            list: places
                .into_iter()
                .map(|at| (at, flags[at].0, flags[at].1))
                .collect(),
            accounts,
            data: self.data,
            chain: self.chain,
        }
    }
}

/// An address that differs in one byte.
fn near(address: &Address, byte: u8) -> Address {
    let mut bytes = *address.as_array();
    bytes[usize::from(byte) % 32] ^= 1 + byte / 32;
    Address::new_from_array(bytes)
}

fn overwrite(data: &mut [u8], at: u16, bytes: &[u8]) {
    for (old, new) in data.iter_mut().skip(at.into()).zip(bytes) {
        *old = *new;
    }
}
