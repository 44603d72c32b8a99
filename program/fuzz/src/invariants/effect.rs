//! A successful call's effect: every account before and after the call.

use crate::call::Prepared;
use crate::chain::Chain;
use crate::environment::{config, negotiation};
use crate::fields;
use crate::svm::Run;
use crate::tokens::Tokens;
use haggle_program::schema::table::Instruction as Row;
use haggle_program::state::Negotiation;
use pinocchio::Address;
use solana_account::AccountSharedData;

/// An account before and after the call.
pub struct Change<'a> {
    /// The address.
    pub address: &'a Address,
    /// The account before the call.
    pub before: &'a AccountSharedData,
    /// The account after the call.
    pub after: &'a AccountSharedData,
    /// Whether it signs.
    pub signs: bool,
    /// Whether it is writable.
    pub writable: bool,
    /// The account's first place in the list of accounts, if it is in the list.
    pub place: Option<usize>,
}

impl Change<'_> {
    /// The change in balance for token accounts with this owner and mint; 0 for every other account. With
    /// `safe`, balances of accounts with a delegate or close authority count as 0.
    fn tokens_gained(&self, owner: &Address, mint: &Address, safe: bool) -> i128 {
        let amount = |account: &AccountSharedData| match Tokens::of(account) {
            Some(tokens)
                if tokens.owner == *owner && tokens.mint == *mint && !(safe && tokens.shared) =>
            {
                i128::from(tokens.amount)
            }
            _ => 0,
        };
        amount(self.after) - amount(self.before)
    }
}

/// A successful call's effect.
pub struct Effect<'a> {
    /// The instruction.
    pub row: &'static Row,
    /// The call.
    pub prepared: &'a Prepared,
    /// The accounts.
    pub changes: Vec<Change<'a>>,
    /// The negotiation that the call is about, if it is about one.
    pub deal: Option<Deal<'a>>,
}

/// The call's negotiation, before and after the call.
pub struct Deal<'a> {
    /// The address.
    pub address: &'a Address,
    /// The negotiation before the call. None until created.
    pub before: Option<Negotiation>,
    /// The negotiation after the call. None once closed.
    pub after: Option<Negotiation>,
    /// The vault.
    pub vault: Option<Address>,
}

/// An amount gained by a party.
#[derive(Clone, Copy, Default, Debug)]
pub struct Gain {
    /// In all token accounts, plus the recorded payout.
    pub total: i128,
    /// In token accounts that only the party controls, and as a recorded payout.
    pub safe: i128,
}

impl<'a> Effect<'a> {
    /// The successful call's effect.
    pub fn of(row: &'static Row, prepared: &'a Prepared, run: &'a Run, chain: &Chain<'_>) -> Self {
        let call = &prepared.call;
        let accounts = call.accounts.iter().zip(&run.after).enumerate();
        let changes: Vec<_> = accounts
            .map(|(at, ((address, before), after))| {
                let place = call.list.iter().position(|entry| entry.0 == at);
                let (_, signs, writable) = place.map_or((at, false, false), |p| call.list[p]);
                Change {
                    address,
                    before,
                    after,
                    signs,
                    writable,
                    place,
                }
            })
            .collect();
        let deal = prepared.address_of("negotiation").and_then(|address| {
            let change = changes.iter().find(|change| change.address == address)?;
            Some(Deal {
                address,
                before: negotiation(change.before).copied(),
                after: negotiation(change.after).copied(),
                vault: chain.environment.vault_of(address),
            })
        });
        Self {
            row,
            prepared,
            changes,
            deal,
        }
    }

    /// The change to the account in the call.
    pub fn change(&self, address: &Address) -> Option<&Change<'a>> {
        let mut changes = self.changes.iter();
        changes.find(|change| change.address == address)
    }

    /// The treasury that the call's configuration names.
    pub fn treasury(&self) -> Option<Address> {
        let mut changes = self.changes.iter();
        changes.find_map(|change| config(change.before).map(|config| config.treasury))
    }

    /// An argument (up to eight bytes).
    pub fn number(&self, name: &str) -> u64 {
        fields::number(self.row, &self.prepared.call.data, name)
    }

    /// An argument that is a time in Unix seconds.
    pub fn time(&self, name: &str) -> i64 {
        self.number(name) as i64
    }

    /// The clock.
    pub fn now(&self) -> i64 {
        self.prepared.call.sysvars.now
    }

    /// The amount gained by the owner in the negotiation's mint.
    pub fn gain(&self, owner: &Address) -> Gain {
        let Some(deal) = &self.deal else {
            return Gain::default();
        };
        let Some(terms) = deal.before.or(deal.after) else {
            return Gain::default();
        };
        let mint = terms.token_mint;
        let recorded = |negotiation: &Option<Negotiation>| {
            let mut sum = 0;
            if let Some(negotiation) = negotiation {
                if negotiation.buyer == *owner {
                    sum += i128::from(negotiation.claimable_buyer);
                }
                if negotiation.seller == *owner {
                    sum += i128::from(negotiation.claimable_seller);
                }
            }
            sum
        };
        let recorded = recorded(&deal.after) - recorded(&deal.before);
        let sum = |safe| {
            let changes = self.changes.iter();
            changes
                .map(|change| change.tokens_gained(owner, &mint, safe))
                .sum::<i128>()
        };
        Gain {
            total: recorded + sum(false),
            safe: recorded + sum(true),
        }
    }
}
