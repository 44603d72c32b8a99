//! A small world in which every instruction can be run: a mint, a buyer, a seller, a treasury, a configuration, and
//! negotiations at any point.
//!
//! ```ignore
//! let (mut stage, deal) = Stage::offered();
//! let call = stage.accept_offer(&deal, deal.seller);
//! stage.run(&call).succeeds();
//! assert_eq!(stage.balance(&deal.seller_token_account), 2_985_000);
//! ```

mod accounts;
mod call;
mod changes;
mod deal;
mod fields;
mod life;
mod milestones;
mod outcome;
mod sealed;
mod tokens;
mod usual_calls;

use super::virtual_machine;
use crate::constants::CONFIG_SEED;
use crate::instructions::create_negotiation::NegotiationParams;
use crate::runtime::programs;
use crate::schema::declare::{Flag, Wire};
use crate::schema::table::Record;
use crate::state::{Negotiation, ProtocolConfig};
use crate::ID;
use accounts::executable;
pub use accounts::{event, named, owned, pda, program_data, record, rent, wallet};
pub use call::{args_of, Call};
pub use deal::Deal;
pub use fields::{assert_config, assert_negotiation, width};
pub use milestones::{BOND, MILESTONE_DEADLINE, PRICE, REVIEW, THIRDS};
use mollusk_svm::result::ProgramResult;
use mollusk_svm::Mollusk;
pub use outcome::Outcome;
use pinocchio::error::ProgramError;
use pinocchio::Address;
pub use sealed::{
    assert_shares, nonce_of, BUYER_PRICE, BUYER_REST, ENDING, MIDPOINT, SELLER_FUNDS, SELLER_PRICE,
    TOO_MUCH,
};
use solana_account::Account;
use solana_instruction::Instruction;
use solana_rent::{Rent, DEFAULT_LAMPORTS_PER_BYTE};
use solana_svm_log_collector::LogCollector;
use std::cell::RefCell;
use std::collections::BTreeMap;
pub use tokens::{
    associated, associated_under, currency, in_mint, mint, mint_2022, program_of, token_account,
    token_account_2022, under_both_token_programs,
};
pub use usual_calls::zopa_commitment;

/// The time at which every stage begins.
pub const NOW: i64 = 1_800_000_000;

/// The escrow of [`Stage::terms`]: that of the published cost scenario.
pub const ESCROW: u64 = 5_000_000;

/// The offer of [`Stage::offered`].
pub const OFFER: u64 = 3_000_000;

/// What the buyer's token account holds in the beginning.
pub const FUNDS: u64 = 50_000_000;

/// What every wallet has in the beginning, in lamports.
pub const LAMPORTS: u64 = 10_000_000_000;

/// The mint of wrapped SOL.
pub const NATIVE_MINT: Address =
    Address::from_str_const("So11111111111111111111111111111111111111112");

/// All accounts and the clock. A copy is a snapshot.
#[derive(Clone)]
pub struct Stage {
    /// Every account that exists.
    pub accounts: BTreeMap<Address, Account>,
    /// The chain's clock, in Unix seconds.
    pub now: i64,
    /// The chain's rent: lamports per byte, and the factor by which they are multiplied.
    pub rent: (u64, f64),
}

thread_local! {
    static MACHINE: RefCell<Mollusk> = RefCell::new(virtual_machine::machine());
}

/// The wallets and the mint of every stage.
pub const BUYER: Address = named("buyer");
/// The other party.
pub const SELLER: Address = named("seller");
/// Someone who is no party.
pub const STRANGER: Address = named("stranger");
/// The wallet that fees and decay go to.
pub const TREASURY: Address = named("treasury");
/// The program's upgrade authority, and the configuration's.
pub const AUTHORITY: Address = named("authority");
/// Who decides disputes about milestones. Nothing is in its account.
pub const ARBITER: Address = named("arbiter");
/// The mint of [`Stage::deal`], if no other one is asked for with [`in_mint`].
pub const MINT: Address = named("mint");
/// A mint of Token-2022.
pub const MINT_2022: Address = named("mint of Token-2022");
/// A mint that no negotiation of the stage is in.
pub const OTHER_MINT: Address = named("other mint");

impl Stage {
    /// Wallets, mints and token accounts, and nothing of the program's.
    pub fn unconfigured() -> Self {
        let mut stage = Self {
            accounts: BTreeMap::new(),
            now: NOW,
            rent: (DEFAULT_LAMPORTS_PER_BYTE, 1.0),
        };
        for who in [BUYER, SELLER, STRANGER, TREASURY, AUTHORITY] {
            stage.put(who, wallet(LAMPORTS));
            for mint in [MINT, MINT_2022, OTHER_MINT] {
                let amount = if who == BUYER { FUNDS } else { 0 };
                stage.put(associated(&who, &mint), token_account(&mint, &who, amount));
            }
        }
        stage.put(MINT, mint(FUNDS));
        stage.put(MINT_2022, mint_2022(FUNDS, &[]));
        stage.put(OTHER_MINT, mint(FUNDS));
        let mut native = mint(0);
        native.data[44] = 9;
        stage.put(NATIVE_MINT, native);
        stage.put(Self::program_data(), program_data(Some(&AUTHORITY)));
        for program in [
            programs::SYSTEM,
            programs::TOKEN,
            programs::TOKEN_2022,
            programs::ASSOCIATED_TOKEN,
            ID,
        ] {
            stage.put(program, executable(&program));
        }
        stage
    }

    /// The same with the configuration that [`Self::config`] shows.
    pub fn new() -> Self {
        let mut stage = Self::unconfigured();
        let config = record(ProtocolConfig::RECORD, &Self::config());
        stage.put(ProtocolConfig::ADDRESS, config);
        stage
    }

    /// The configuration of [`Self::new`].
    pub fn config() -> ProtocolConfig {
        ProtocolConfig {
            authority: AUTHORITY,
            treasury: TREASURY,
            default_decay_rate_bps: 200,
            default_response_window: 300,
            default_protocol_fee_bps: 50,
            default_max_rounds: 10,
            total_negotiations: 0,
            total_settled_volume: 0,
            total_fees_collected: 0,
            is_paused: Flag::OFF,
            bump: pda(&[CONFIG_SEED.as_bytes()]).1,
            pending_authority: Address::new_from_array([0; 32]),
        }
    }

    /// The loader's account of the program.
    pub fn program_data() -> Address {
        Address::find_program_address(&[ID.as_ref()], &programs::UPGRADEABLE_LOADER).0
    }

    /// The negotiation that the points below are of.
    pub fn deal() -> Deal {
        Deal::between(BUYER, SELLER, 1, currency())
    }

    /// The terms of that negotiation: six rounds, 200 bps of decay, five minutes to answer, one hour at most.
    pub fn terms() -> NegotiationParams {
        NegotiationParams {
            escrow_amount: ESCROW,
            service_hash: *named("service").as_array(),
            max_rounds: 6,
            decay_rate_bps: 200,
            response_window: 300,
            global_deadline: NOW + 3_600,
            min_offer_bps: 1_000,
            zopa_enabled: Flag::OFF,
            bond_required: 0,
            arbiter: Address::new_from_array([0; 32]),
            milestone_count: 0,
            milestone_bps: [0; 8],
            milestone_deadline: 0,
            metadata: [0; 64],
        }
    }

    /// Runs a call. If it succeeds, the accounts are what it made of them; otherwise nothing has changed.
    pub fn run(&mut self, call: &Call) -> Outcome {
        let instruction = Instruction {
            program_id: ID,
            accounts: call.accounts.clone(),
            data: call.data.clone(),
        };
        self.run_instruction(&instruction, call.row.name)
    }

    /// Runs an instruction of any program.
    pub fn run_instruction(&mut self, instruction: &Instruction, what: &str) -> Outcome {
        let mut given: Vec<(Address, Account)> = Vec::new();
        for meta in &instruction.accounts {
            if given.iter().all(|(address, _)| *address != meta.pubkey) {
                given.push((meta.pubkey, self.account(&meta.pubkey)));
            }
        }
        MACHINE.with_borrow_mut(|machine| {
            let logs = LogCollector::new_ref_with_limit(None);
            machine.logger = Some(logs.clone());
            machine.sysvars.clock.unix_timestamp = self.now;
            set_rent(&mut machine.sysvars.rent, self.rent);
            let result = machine.process_instruction(instruction, &given);
            machine.logger = None;
            if result.program_result == ProgramResult::Success {
                for (address, account) in result.resulting_accounts {
                    self.put(address, account);
                }
            }
            let logs = logs.borrow().get_recorded_content().to_vec();
            Outcome {
                result: result.program_result,
                logs,
                units: result.compute_units_consumed,
                what: what.to_owned(),
            }
        })
    }

    /// Fails the test unless a call is refused with this error and changes no account.
    #[track_caller]
    pub fn refuses(&mut self, call: &Call, error: impl Into<ProgramError>) {
        let before = self.accounts.clone();
        self.run(call).refused(error);
        assert!(
            self.accounts == before,
            "a refused call has changed an account"
        );
    }

    /// Puts an account in its place. One without lamports does not exist.
    pub fn put(&mut self, address: Address, account: Account) {
        if account.lamports == 0 && account.data.is_empty() {
            self.accounts.remove(&address);
        } else {
            self.accounts.insert(address, account);
        }
    }

    /// An account; where there is none, an empty one of the system program's.
    pub fn account(&self, address: &Address) -> Account {
        self.accounts.get(address).cloned().unwrap_or_default()
    }

    /// Whether there is an account.
    pub fn exists(&self, address: &Address) -> bool {
        self.accounts.contains_key(address)
    }

    /// What is in the account of a negotiation.
    #[track_caller]
    pub fn negotiation(&self, deal: &Deal) -> Negotiation {
        self.read(&deal.negotiation, Negotiation::RECORD)
    }

    /// What is in the account of the configuration.
    #[track_caller]
    pub fn protocol_config(&self) -> ProtocolConfig {
        self.read(&ProtocolConfig::ADDRESS, ProtocolConfig::RECORD)
    }

    #[track_caller]
    fn read<T: Wire>(&self, address: &Address, record: &Record) -> T {
        let account = self.accounts.get(address).expect("the account exists");
        assert_eq!(account.owner, ID);
        assert_eq!(account.data[..8], record.discriminator);
        assert_eq!(account.data.len(), 8 + size_of::<T>());
        // SAFETY: the length is right, and a Wire type takes any bytes.
        unsafe { account.data.as_ptr().add(8).cast::<T>().read_unaligned() }
    }

    /// Writes a negotiation's account as it could have become in another way.
    pub fn set_negotiation(&mut self, deal: &Deal, negotiation: &Negotiation) {
        let data = event(Negotiation::RECORD, negotiation);
        self.change(&deal.negotiation, |account| account.data = data);
    }

    /// Writes the configuration's account as another instruction could have.
    pub fn set_config(&mut self, config: &ProtocolConfig) {
        let data = event(ProtocolConfig::RECORD, config);
        self.change(&ProtocolConfig::ADDRESS, |account| account.data = data);
    }

    /// Pauses the protocol.
    pub fn pause(&mut self) {
        let config = self.protocol_config();
        self.set_config(&ProtocolConfig {
            is_paused: Flag::ON,
            ..config
        });
    }

    /// The same stage at another time.
    #[must_use]
    pub fn at(&self, now: i64) -> Self {
        Self {
            now,
            ..self.clone()
        }
    }

    /// Changes an account that exists.
    #[track_caller]
    pub fn change(&mut self, address: &Address, change: impl FnOnce(&mut Account)) {
        change(self.accounts.get_mut(address).expect("the account exists"));
    }

    /// What a token account holds; nothing where there is none.
    pub fn balance(&self, token_account: &Address) -> u64 {
        self.accounts.get(token_account).map_or(0, |account| {
            let mut amount = [0; 8];
            amount.copy_from_slice(&account.data[64..72]);
            u64::from_le_bytes(amount)
        })
    }

    /// The lamports of an account; none where there is none.
    pub fn lamports(&self, address: &Address) -> u64 {
        self.accounts
            .get(address)
            .map_or(0, |account| account.lamports)
    }

    /// Adds tokens to a token account, from nowhere.
    pub fn donate(&mut self, token_account: &Address, amount: u64) {
        self.set_balance(token_account, self.balance(token_account) + amount);
    }

    /// Makes a token account hold so many tokens. Lamports stay as they are, also of wrapped SOL.
    pub fn set_balance(&mut self, token_account: &Address, amount: u64) {
        self.change(token_account, |account| {
            account.data[64..72].copy_from_slice(&amount.to_le_bytes());
        });
    }

    /// Freezes a token account, as its mint's freeze authority can.
    pub fn freeze(&mut self, token_account: &Address) {
        self.change(token_account, |account| account.data[108] = 2);
    }

    /// Thaws a token account.
    pub fn thaw(&mut self, token_account: &Address) {
        self.change(token_account, |account| account.data[108] = 1);
    }

    /// SHA-256 of the negotiation's address and the data of its account: what a seller agrees to.
    pub fn terms_hash(&self, deal: &Deal) -> [u8; 32] {
        const_crypto::sha2::Sha256::new()
            .update(deal.negotiation.as_ref())
            .update(&self.account(&deal.negotiation).data)
            .finalize()
    }
}

// The factor counts as empty space in the newest validators; the clusters' accounts still have it.
#[allow(deprecated)]
fn set_rent(sysvar: &mut Rent, (lamports_per_byte, factor): (u64, f64)) {
    sysvar.lamports_per_byte = lamports_per_byte;
    sysvar.exemption_threshold = factor.to_le_bytes();
}
