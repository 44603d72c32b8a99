//! Translates a case's calls into calls that the virtual machine runs.

use crate::accounts::{ADVERSARY, WALLETS};
use crate::case::Op;
use crate::chain::Chain;
use crate::environment::{is_reserved, Environments};
use crate::fields::row_of;
use crate::fixtures::fixture::named;
use crate::moves;
use crate::runtime::programs;
use crate::svm::{Call, Sysvars};
use crate::tokens::{self, Power, Tokens};
use crate::ID;
use haggle_program::instructions::INSTRUCTIONS;
use haggle_program::schema::table::Instruction as Row;
use pinocchio::Address;
use solana_account::{AccountSharedData, ReadableAccount, WritableAccount};

/// The maximum number of accounts in a call. The program ignores accounts from the seventeenth on.
const MAX_ACCOUNTS: usize = 24;
/// The largest account, in bytes.
const MAX_ACCOUNT_SIZE: usize = 2_048;
/// The maximum instruction data length, in bytes.
const MAX_DATA: usize = 1_024;

/// The programs that operations can make account owners.
pub const OWNERS: [Address; 6] = [
    programs::SYSTEM,
    programs::TOKEN,
    programs::TOKEN_2022,
    ID,
    programs::UPGRADEABLE_LOADER,
    named("another program"),
];

/// A call that is ready to be run.
pub struct Prepared {
    /// The call.
    pub call: Call,
    /// The instruction that the data names.
    pub row: Option<&'static Row>,
    /// Whether a chain can hold these accounts. If not, some account's contents could not have been written
    /// by the only program permitted to write it (Haggle or a token program).
    pub possible: bool,
    /// The index of the signed call that this call repeats without any change.
    pub repeats: Option<usize>,
    /// Whether the call is only signed now.
    pub withheld: bool,
    /// The origin of the call, for reports.
    pub origin: Origin,
    /// The accounts that operations changed before the call.
    changed: Vec<(Address, AccountSharedData)>,
    /// Whether a chain can hold the changed accounts.
    changes_possible: bool,
}

/// The call's origin.
#[derive(Clone, Copy)]
pub enum Origin {
    /// The valid call with this index.
    Given(u8),
    /// The negotiation's state.
    Move,
    /// The signed call with this index.
    Repeat(usize),
}

/// Prepares a call: `ops` contains the starting operation, then changes. Returns None if it repeats a call
/// and there is none.
pub fn prepare(environments: &Environments, chain: &Chain<'_>, ops: &[Op]) -> Option<Prepared> {
    let (start, edits) = ops.split_first()?;
    let mut draft = Draft::start(environments, chain, start)?;
    for op in edits {
        draft.apply(op);
    }
    Some(draft.finish())
}

impl Prepared {
    /// Writes the changes that came before the call to the chain.
    pub fn apply_changes(&self, chain: &mut Chain<'_>) {
        for (address, account) in &self.changed {
            chain.put(*address, account.clone());
        }
        // The time of creation identifies a deal, so the clock must not run backwards.
        let backwards = self.call.sysvars.now < chain.sysvars.now && !chain.signed.is_empty();
        chain.possible &= self.changes_possible && !backwards;
        chain.sysvars = self.call.sysvars;
    }

    /// The list of accounts: the address, whether it signs, whether it is writable.
    pub fn list(&self) -> Vec<(Address, bool, bool)> {
        let entries = self.call.list.iter();
        entries
            .map(|(at, signs, writable)| (self.call.accounts[*at].0, *signs, *writable))
            .collect()
    }

    /// The address passed for the named account.
    pub fn address_of(&self, account: &str) -> Option<&Address> {
        let row = self.row?;
        let place = row.accounts.iter().position(|meta| meta.name == account)?;
        let (at, ..) = self.call.list.get(place)?;
        Some(&self.call.accounts[*at].0)
    }

    /// Reports whether the address signs in the place of an account that the row declares as a signer.
    pub fn is_signed_by(&self, address: &Address) -> bool {
        let mut signers = self.declared_signers();
        signers.any(|(signer, signs)| signs && signer == address)
    }

    /// Reports whether the address signs, and the row declares no other signer.
    pub fn is_signed_only_by(&self, address: &Address) -> bool {
        self.is_signed_by(address) && self.declared_signers().count() == 1
    }

    /// The addresses in the places of the accounts that the row declares as signers, and whether each signs.
    fn declared_signers(&self) -> impl Iterator<Item = (&Address, bool)> {
        let declared = self.row.map_or(&[][..], |row| row.accounts);
        let entries = declared.iter().zip(&self.call.list);
        entries
            .filter(|(account, _)| account.meta.signer)
            .map(|(_, (at, signs, _))| (&self.call.accounts[*at].0, *signs))
    }
}

/// Reports whether every mint's tokens fit into a mint's supply.
fn supplies_fit(call: &Call) -> bool {
    tokens::supplies(call.accounts.iter().map(|(_, account)| account))
        .values()
        .all(|supply| *supply <= u64::MAX.into())
}

/// Reports whether the chain can hold the changed account. Anyone's own accounts can hold anything; a
/// negotiation, a configuration, a mint and a program can only be unchanged, and a vault can only receive
/// tokens and lamports and be frozen.
fn is_possible(chain: &Chain<'_>, address: &Address, account: &AccountSharedData) -> bool {
    let before = chain.account(address);
    if before == *account {
        return true;
    }
    if is_reserved(address) || before.executable() || *before.owner() == ID {
        return false;
    }
    if *account.owner() == ID && account.data().iter().any(|byte| *byte != 0) {
        return false;
    }
    if tokens::is_mint(&before) || !tokens::is_sound(account) {
        return false;
    }
    let is_vault =
        Tokens::of(&before).is_some_and(|tokens| chain.negotiation(&tokens.owner).is_some());
    !is_vault || is_same_vault(&before, account)
}

/// Reports whether the vault differs at most by donated tokens, added lamports, and a freeze.
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

/// A call under construction.
struct Draft<'a> {
    chain: &'a Chain<'a>,
    data: Vec<u8>,
    list: Vec<(Address, bool, bool)>,
    changed: Vec<(Address, AccountSharedData)>,
    sysvars: Sysvars,
    withheld: bool,
    origin: Origin,
}

impl<'a> Draft<'a> {
    fn start(environments: &Environments, chain: &'a Chain<'a>, start: &Op) -> Option<Self> {
        let mut sysvars = chain.sysvars;
        let (data, list, origin) = match *start {
            Op::Move {
                deal,
                choice,
                variant,
                wait,
            } => {
                let built = moves::build(chain, deal, choice, variant, wait);
                sysvars.now = built.now;
                (built.call.data, built.call.list, Origin::Move)
            }
            Op::Repeat { earlier } => {
                let at = usize::from(earlier).checked_rem(chain.signed.len())?;
                let signed = &chain.signed[at];
                let (data, list) = (signed.data.clone(), signed.list.clone());
                (data, list, Origin::Repeat(at))
            }
            Op::Given { call } => {
                let given = environments.call(call);
                (given.data.clone(), given.list.clone(), Origin::Given(call))
            }
            _ => return None,
        };
        Some(Self {
            chain,
            data,
            list,
            changed: Vec::new(),
            sysvars,
            withheld: false,
            origin,
        })
    }

    fn apply(&mut self, op: &Op) {
        match op {
            Op::Given { .. } | Op::Move { .. } | Op::Repeat { .. } => {}
            Op::Withhold {} => self.withheld = true,
            Op::Data { at, bytes } => overwrite(&mut self.data, *at, &bytes.0),
            Op::Cut { length } => self.data.truncate((*length).into()),
            Op::Append { bytes } => {
                self.data.extend(&bytes.0);
                self.data.truncate(MAX_DATA);
            }
            Op::Discriminator { row } => {
                let row = INSTRUCTIONS[usize::from(*row) % INSTRUCTIONS.len()];
                overwrite(&mut self.data, 0, &row.discriminator);
            }
            Op::Put { place, account } => {
                let address = self.pooled(*account);
                if let Some(entry) = self.at(*place) {
                    entry.0 = address;
                }
            }
            Op::Recipient { place, choice } => {
                let alternative = self.recipient(*place, *choice);
                if let (Some(address), Some(entry)) = (alternative, self.at(*place)) {
                    entry.0 = address;
                }
            }
            Op::Near { place, byte } => {
                if let Some((address, ..)) = self.at(*place).copied() {
                    let account = self.account(&address);
                    let twin = near(&address, *byte);
                    self.changed.retain(|(known, _)| *known != twin);
                    self.changed.push((twin, account));
                    self.at(*place).expect("the place exists").0 = twin;
                }
            }
            Op::Insert {
                place,
                account,
                flags,
            } => {
                if self.list.len() < MAX_ACCOUNTS {
                    let entry = (self.pooled(*account), flags & 1 != 0, flags & 2 != 0);
                    let place = usize::from(*place) % (self.list.len() + 1);
                    self.list.insert(place, entry);
                }
            }
            Op::Remove { place } => {
                if !self.list.is_empty() {
                    self.list.remove(usize::from(*place) % self.list.len());
                }
            }
            Op::Flags { place, flags } => {
                if let Some(entry) = self.at(*place) {
                    (entry.1, entry.2) = (flags & 1 != 0, flags & 2 != 0);
                }
            }
            Op::Signer { place, wallet } => {
                let wallet = WALLETS[usize::from(*wallet) % WALLETS.len()];
                if let Some(entry) = self.at(*place) {
                    (entry.0, entry.1) = (wallet, true);
                }
            }
            Op::Power {
                place,
                kind,
                amount,
            } => self.change(*place, |account| {
                let power = Power::ALL[usize::from(*kind) % Power::ALL.len()];
                power.apply(account, &ADVERSARY, *amount);
            }),
            Op::Content { place, at, bytes } => self.change(*place, |account| {
                overwrite(account.data_as_mut_slice(), *at, &bytes.0);
            }),
            Op::Size { place, size } => self.change(*place, |account| {
                account.resize(usize::from(*size) % MAX_ACCOUNT_SIZE, 0);
            }),
            Op::Owner { place, owner, byte } => self.change(*place, |account| {
                let owner = OWNERS[usize::from(*owner) % OWNERS.len()];
                account.set_owner(if *byte == 0 {
                    owner
                } else {
                    near(&owner, *byte)
                });
            }),
            // A quarter of all numbers: the chain's lamports sum to less than 2^64.
            Op::Lamports { place, lamports } => self.change(*place, |account| {
                account.set_lamports(lamports >> 2);
            }),
            Op::Clock { now } => self.sysvars.now = *now,
            Op::Rent { price, factor } => {
                let factors = [1.0, 2.0, 3.0];
                self.sysvars.rent = (*price, factors[usize::from(*factor) % factors.len()]);
            }
        }
    }

    fn pooled(&self, account: u16) -> Address {
        let pool = &self.chain.environment.pool;
        pool[usize::from(account) % pool.len()].0
    }

    /// A pool account with the same owner and mint as the token account in this place, counting from `choice`
    /// on.
    fn recipient(&mut self, place: u8, choice: u8) -> Option<Address> {
        let (address, ..) = *self.at(place)?;
        let tokens = Tokens::of(&self.account(&address))?;
        let accounts = self
            .chain
            .environment
            .token_accounts(&tokens.owner, &tokens.mint);
        let at = usize::from(choice).checked_rem(accounts.len())?;
        Some(accounts[at])
    }

    fn account(&self, address: &Address) -> AccountSharedData {
        let changed = self.changed.iter().find(|(known, _)| known == address);
        match changed {
            Some((_, account)) => account.clone(),
            None => self.chain.account(address),
        }
    }

    fn at(&mut self, place: u8) -> Option<&mut (Address, bool, bool)> {
        let length = self.list.len();
        self.list.get_mut(usize::from(place).checked_rem(length)?)
    }

    /// Changes an account. Programs and sysvars stay unchanged.
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

    fn finish(self) -> Prepared {
        let chain = self.chain;
        let repeats = match self.origin {
            Origin::Repeat(at) => {
                let signed = &chain.signed[at];
                (signed.data == self.data && signed.list == self.list).then_some(at)
            }
            _ => None,
        };
        // Only wallets sign.
        let wallets_sign = self.list.iter().all(|(address, signs, _)| {
            !signs || *chain.account(address).owner() == programs::SYSTEM
        });
        let changes_possible = self
            .changed
            .iter()
            .all(|(address, account)| is_possible(chain, address, account));
        let call = self.call();
        Prepared {
            row: row_of(&call.data),
            possible: chain.possible && wallets_sign && changes_possible && supplies_fit(&call),
            repeats,
            withheld: self.withheld,
            origin: self.origin,
            changed: self.changed,
            changes_possible,
            call,
        }
    }

    /// The call. As in transactions, an account's flags are the same in all places.
    fn call(&self) -> Call {
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
            accounts.push((ID, self.chain.account(&ID)));
        }
        Call {
            list: places
                .into_iter()
                .map(|at| (at, flags[at].0, flags[at].1))
                .collect(),
            accounts,
            data: self.data.clone(),
            sysvars: self.sysvars,
        }
    }
}

/// Changes a single byte of the address.
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
