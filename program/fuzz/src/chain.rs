//! The chain's state during a case: accounts, clock, and all signed calls.

use crate::environment::{negotiation, Environment};
use crate::svm::{Run, Sysvars};
use haggle_program::state::Negotiation;
use pinocchio::Address;
use solana_account::AccountSharedData;
use std::collections::BTreeMap;

/// The year 10000 in Unix seconds. Near the maximum i64 a deal's deadlines overflow; no chain reaches such a
/// time.
const YEAR_10000: i64 = 253_402_300_800;

/// The chain's state.
pub struct Chain<'a> {
    /// The environment that the case started in.
    pub environment: &'a Environment,
    /// The clock and the rent.
    pub sysvars: Sysvars,
    /// Whether a real chain can be in this state. Forging an account or running the clock backwards makes it
    /// permanently false.
    pub possible: bool,
    /// The calls so far, also those that failed or were withheld.
    pub signed: Vec<Signed>,
    changed: BTreeMap<Address, AccountSharedData>,
    /// The number of creations at a negotiation's address since the case started.
    creations: BTreeMap<Address, u32>,
}

/// A signed call. The adversary can send it at any later time, as with a durable nonce.
#[derive(Clone)]
pub struct Signed {
    /// The list of accounts: the address, whether it signs, whether it is writable.
    pub list: Vec<(Address, bool, bool)>,
    /// The instruction's data.
    pub data: Vec<u8>,
    /// The deal signed for, found at the negotiation's address. None if the data contains another deal's time
    /// of creation, such as a later deal's.
    pub deal: Option<DealId>,
    /// The amounts that the call would have paid the buyer and the seller at the time of signing. None if it
    /// would have failed.
    pub promised: Option<[i128; 2]>,
}

impl Signed {
    /// The deal signed for, if different from `now`.
    pub fn other_deal(&self, now: &DealId) -> Option<&DealId> {
        self.deal.as_ref().filter(|meant| *meant != now)
    }
}

/// A deal. Deals sharing an address are numbered in creation order.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct DealId {
    /// The negotiation's address.
    pub address: Address,
    /// The number of the deal at this address.
    pub number: u32,
}

impl<'a> Chain<'a> {
    /// The environment's initial state.
    pub fn new(environment: &'a Environment) -> Self {
        Self {
            environment,
            sysvars: environment.sysvars,
            possible: true,
            signed: Vec::new(),
            changed: BTreeMap::new(),
            creations: BTreeMap::new(),
        }
    }

    /// An account; empty for unused addresses.
    pub fn account(&self, address: &Address) -> AccountSharedData {
        match self.changed.get(address) {
            Some(account) => account.clone(),
            None => self.environment.account(address),
        }
    }

    /// Replaces an account.
    pub fn put(&mut self, address: Address, account: AccountSharedData) {
        self.changed.insert(address, account);
    }

    /// The negotiation stored at this address.
    pub fn negotiation(&self, address: &Address) -> Option<Negotiation> {
        negotiation(&self.account(address)).copied()
    }

    /// The deal at a negotiation's address. The number is 0 until a deal is created.
    pub fn deal(&self, address: &Address) -> DealId {
        let first = u32::from(negotiation(&self.environment.account(address)).is_some());
        DealId {
            address: *address,
            number: first + self.creations.get(address).copied().unwrap_or(0),
        }
    }

    /// Stores the accounts as a successful call left them.
    pub fn commit(&mut self, accounts: &[(Address, AccountSharedData)], run: &Run) {
        for ((address, before), after) in accounts.iter().zip(&run.after) {
            if before == after {
                continue;
            }
            if negotiation(before).is_none() && negotiation(after).is_some() {
                *self.creations.entry(*address).or_default() += 1;
                self.possible &= self.sysvars.now < YEAR_10000;
            }
            self.changed.insert(*address, after.clone());
        }
    }
}
