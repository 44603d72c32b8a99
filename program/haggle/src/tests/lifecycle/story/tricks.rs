//! What people do to the accounts that are theirs, and issuers to those of others.

use super::super::ledger::{
    rent, token_account, FROZEN, INITIALIZED, TOKEN_ACCOUNT_SIZE, WRAPPED_SOL,
};
use super::Story;
use solana_account::Account;
use solana_address::Address;

#[derive(Clone, Copy, Debug)]
enum Trick {
    Freeze,
    ThawAll,
    CloseAccount,
    Reassign,
    Reopen,
    FreezeVault,
    Donate,
    GiveLamports,
    Govern,
    ChangeReserve,
}

impl Story<'_> {
    pub(super) fn trick(&mut self, at: usize) {
        let slot = self.slots[at].clone();
        let party = self.chance.pick(&slot.parties);
        let mine = self.cast.tokens[&party][self.chance.index(2)];
        let is_wrapped = self.cast.mint == WRAPPED_SOL;
        let vault_exists = self.deal(at).is_some();
        let trick = self.chance.weighted(&[
            (14, Trick::Freeze),
            (20, Trick::ThawAll),
            (10, Trick::CloseAccount),
            (8, Trick::Reassign),
            (12, Trick::Reopen),
            (8, Trick::FreezeVault),
            (8, Trick::Donate),
            (5, Trick::GiveLamports),
            (5, Trick::Govern),
            (if is_wrapped { 8 } else { 0 }, Trick::ChangeReserve),
        ]);
        match trick {
            Trick::Freeze => {
                let whose = self
                    .chance
                    .weighted(&[(8, mine), (2, self.cast.treasury_tokens)]);
                self.set_state(&whose, FROZEN);
            }
            Trick::ThawAll => {
                for account in self.token_accounts() {
                    self.set_state(&account, INITIALIZED);
                }
            }
            Trick::CloseAccount => self.close_account(&mine, &party),
            Trick::Reassign => {
                let stranger = self.cast.stranger;
                if self.world.ledger.held(&mine).is_some() {
                    self.world.ledger.change(&mine).data[32..64].copy_from_slice(stranger.as_ref());
                }
            }
            Trick::Reopen => {
                for (owner, accounts) in self.cast.tokens.clone() {
                    for account in accounts {
                        self.reopen(&account, &owner);
                    }
                }
            }
            Trick::FreezeVault if vault_exists => self.set_state(&slot.vault, FROZEN),
            Trick::Donate if vault_exists => {
                let amount = self.chance.between(1, 20);
                if self.world.ledger.amount(&self.cast.strangers_tokens) >= amount {
                    self.world
                        .ledger
                        .transfer(&self.cast.strangers_tokens, &slot.vault, amount);
                    self.slots[at].donated += amount;
                }
            }
            Trick::GiveLamports => {
                let to = self.chance.pick(&[slot.vault, slot.negotiation]);
                let lamports = self.chance.between(1, 5_000_000);
                self.world
                    .ledger
                    .move_lamports(&self.cast.stranger, &to, lamports);
            }
            Trick::Govern => self.govern(),
            Trick::ChangeReserve if vault_exists => self.change_reserve(at),
            Trick::FreezeVault | Trick::Donate | Trick::ChangeReserve => {}
        }
        self.say(|_| format!("{trick:?}"));
    }

    fn token_accounts(&self) -> Vec<Address> {
        let mut accounts: Vec<_> = self.cast.tokens.values().flatten().copied().collect();
        accounts.extend(self.slots.iter().map(|slot| slot.vault));
        accounts
    }

    fn set_state(&mut self, account: &Address, state: u8) {
        if self.world.ledger.held(account).is_some() {
            self.world.ledger.change(account).data[108] = state;
        }
    }

    fn close_account(&mut self, account: &Address, owner: &Address) {
        let ledger = &mut self.world.ledger;
        let Some(held) = ledger.held(account) else {
            return;
        };
        // The buyer's funds would go too far away to begin another negotiation.
        if held.amount > 1_000 && self.chance.percent(90) {
            return;
        }
        ledger.transfer(account, &self.cast.strangers_tokens, held.amount);
        let lamports = ledger.get(account).lamports;
        ledger.move_lamports(account, owner, lamports);
        ledger.set(*account, Account::default());
    }

    fn reopen(&mut self, account: &Address, owner: &Address) {
        let ledger = &mut self.world.ledger;
        match ledger.held(account) {
            None => {
                let missing = rent(TOKEN_ACCOUNT_SIZE).saturating_sub(ledger.get(account).lamports);
                ledger.move_lamports(&self.cast.deployer, account, missing);
                ledger.set(*account, token_account(&self.cast.mint, owner, 0));
            }
            Some(_) => ledger.change(account).data[32..64].copy_from_slice(owner.as_ref()),
        }
    }

    /// What the instructions that change the configuration will be able to do.
    fn govern(&mut self) {
        let what = self.chance.between(0, 3);
        let fee_bps = self.chance.between(0, 500) as u16;
        let Some(config) = self.world.config.as_mut() else {
            return;
        };
        match what {
            0 => config.paused = !config.paused,
            1 => config.paused = false,
            2 => config.fee_bps = fee_bps,
            _ => {
                config.volume = u64::MAX - 1;
                config.fees = u64::MAX - 1;
            }
        }
        self.world.ledger.change(&self.desk.fixed.config).data = config.bytes();
    }

    /// Rent rises or falls, and somebody has the token program count a vault of wrapped SOL anew.
    fn change_reserve(&mut self, at: usize) {
        let vault = self.slots[at].vault;
        let lamports = self.world.ledger.get(&vault).lamports;
        let reserve = match self.chance.percent(50) {
            true => rent(TOKEN_ACCOUNT_SIZE) + self.chance.between(1, 2_000_000),
            false => rent(TOKEN_ACCOUNT_SIZE),
        };
        let Some(amount) = lamports.checked_sub(reserve) else {
            return;
        };
        let account = self.world.ledger.change(&vault);
        account.data[113..121].copy_from_slice(&reserve.to_le_bytes());
        account.data[64..72].copy_from_slice(&amount.to_le_bytes());
    }
}
