//! Accounts as the chain keeps them, and the token program's layout as its documentation gives it.

use solana_account::Account;
use solana_address::{address, Address};
use std::collections::BTreeMap;
use std::sync::OnceLock;

pub const SYSTEM: Address = address!("11111111111111111111111111111111");
pub const TOKEN: Address = address!("TokenkegQfeZyiNwAJbNbGKPFXCWuBvf9Ss623VQ5DA");
pub const ASSOCIATED_TOKEN: Address = address!("ATokenGPvbdGVxr1b2hvZbsiqW5xWH25efTNsLJA8knL");
pub const LOADER: Address = address!("BPFLoaderUpgradeab1e11111111111111111111111");
pub const WRAPPED_SOL: Address = address!("So11111111111111111111111111111111111111112");

pub const TOKEN_ACCOUNT_SIZE: usize = 165;
pub const MINT_SIZE: usize = 82;
pub const INITIALIZED: u8 = 1;
pub const FROZEN: u8 = 2;

/// What an account must keep so that it lives forever, in lamports.
pub fn rent(size: usize) -> u64 {
    static OF_NOTHING_AND_OF_A_BYTE: OnceLock<(u64, u64)> = OnceLock::new();
    let (nothing, byte) = OF_NOTHING_AND_OF_A_BYTE.get_or_init(|| {
        let rent = mollusk_svm::sysvar::Sysvars::default().rent;
        let nothing = rent.minimum_balance(0);
        (nothing, rent.minimum_balance(1) - nothing)
    });
    nothing + byte * size as u64
}

/// A wallet, or, without lamports, nothing.
pub fn wallet(lamports: u64) -> Account {
    Account {
        lamports,
        ..Account::default()
    }
}

pub fn mint(initialized: bool) -> Account {
    let mut data = vec![0; MINT_SIZE];
    data[44] = 6;
    data[45] = u8::from(initialized);
    Account {
        lamports: rent(MINT_SIZE),
        data,
        owner: TOKEN,
        ..Account::default()
    }
}

/// A token account. One of wrapped SOL keeps what it holds in lamports too.
pub fn token_account(mint: &Address, owner: &Address, amount: u64) -> Account {
    let mut data = vec![0; TOKEN_ACCOUNT_SIZE];
    data[..32].copy_from_slice(mint.as_ref());
    data[32..64].copy_from_slice(owner.as_ref());
    data[64..72].copy_from_slice(&amount.to_le_bytes());
    data[108] = INITIALIZED;
    let mut lamports = rent(TOKEN_ACCOUNT_SIZE);
    if *mint == WRAPPED_SOL {
        data[109] = 1;
        data[113..121].copy_from_slice(&lamports.to_le_bytes());
        lamports += amount;
    }
    Account {
        lamports,
        data,
        owner: TOKEN,
        ..Account::default()
    }
}

/// What is read of a token account.
#[derive(Clone, Copy)]
pub struct Held {
    pub mint: Address,
    pub owner: Address,
    pub amount: u64,
    pub state: u8,
}

pub fn held(account: &Account) -> Option<Held> {
    if account.owner != TOKEN || account.data.len() != TOKEN_ACCOUNT_SIZE {
        return None;
    }
    let word = |at: usize| <[u8; 32]>::try_from(&account.data[at..at + 32]).unwrap();
    Some(Held {
        mint: Address::new_from_array(word(0)),
        owner: Address::new_from_array(word(32)),
        amount: u64::from_le_bytes(account.data[64..72].try_into().unwrap()),
        state: account.data[108],
    })
}

pub fn associated(wallet: &Address, mint: &Address) -> Address {
    let seeds = [wallet.as_ref(), TOKEN.as_ref(), mint.as_ref()];
    Address::find_program_address(&seeds, &ASSOCIATED_TOKEN).0
}

/// All accounts there are.
#[derive(Clone, Default)]
pub struct Ledger(pub BTreeMap<Address, Account>);

impl Ledger {
    /// An account that nobody has created has no lamports and belongs to the system program.
    pub fn get(&self, address: &Address) -> Account {
        self.0.get(address).cloned().unwrap_or_default()
    }

    pub fn set(&mut self, address: Address, account: Account) {
        self.0.insert(address, account);
    }

    pub fn change(&mut self, address: &Address) -> &mut Account {
        self.0.entry(*address).or_default()
    }

    pub fn held(&self, address: &Address) -> Option<Held> {
        self.0.get(address).and_then(held)
    }

    pub fn amount(&self, address: &Address) -> u64 {
        self.held(address).map_or(0, |held| held.amount)
    }

    /// Moves tokens, and with wrapped SOL the lamports that they are.
    pub fn transfer(&mut self, from: &Address, to: &Address, amount: u64) {
        let wrapped = self.held(from).unwrap().mint == WRAPPED_SOL;
        for (address, comes) in [(from, false), (to, true)] {
            let account = self.change(address);
            let before = u64::from_le_bytes(account.data[64..72].try_into().unwrap());
            let moved = |value: u64| {
                if comes {
                    value + amount
                } else {
                    value - amount
                }
            };
            account.data[64..72].copy_from_slice(&moved(before).to_le_bytes());
            if wrapped {
                account.lamports = moved(account.lamports);
            }
        }
    }

    pub fn move_lamports(&mut self, from: &Address, to: &Address, lamports: u64) {
        self.change(from).lamports -= lamports;
        self.change(to).lamports += lamports;
    }

    /// How many tokens of a mint all accounts hold together.
    pub fn supply(&self, mint: &Address) -> u128 {
        let amounts = self
            .0
            .values()
            .filter_map(held)
            .filter(|held| held.mint == *mint);
        amounts.map(|held| u128::from(held.amount)).sum()
    }

    pub fn lamports(&self) -> u128 {
        self.0
            .values()
            .map(|account| u128::from(account.lamports))
            .sum()
    }
}
