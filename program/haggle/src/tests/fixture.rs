//! The accounts for running any instruction: a mint, a buyer, a seller, a treasury, a configuration, and
//! negotiations at any point.
//!
//! ```ignore
//! let (mut fixture, deal) = Fixture::offered();
//! let call = fixture.accept_offer(&deal, deal.seller);
//! fixture.run(&call).succeeds();
//! assert_eq!(fixture.balance(&deal.seller_token_account), 2_985_000);
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
pub use milestones::{ARBITRATION, BOND, MILESTONE_DEADLINE, PRICE, REVIEW, THIRDS};
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
    associated, associated_under, currency, extension_value, in_mint, mint, mint_2022,
    mint_with_every_extension, program_of, token_account, token_account_2022,
    under_both_token_programs, DECIMALS, IMMUTABLE_OWNER,
};
pub use usual_calls::{metadata_of, zopa_commitment, COMPLAINT, EVIDENCE};

/// The time when every fixture begins.
pub const NOW: i64 = 1_800_000_000;

/// The time when the negotiation of [`Fixture::created`] and every later point is created: a second earlier,
/// because no negotiation can be closed in the second when it is created.
pub const CREATED: i64 = NOW - 1;

/// The escrow of [`Fixture::terms`]: the published cost scenario's escrow.
pub const ESCROW: u64 = 5_000_000;

/// The offer of [`Fixture::offered`].
pub const OFFER: u64 = 3_000_000;

/// The initial balance of the buyer's token account.
pub const FUNDS: u64 = 50_000_000;

/// The initial balance of every wallet, in lamports.
pub const LAMPORTS: u64 = 10_000_000_000;

/// The mint of wrapped SOL.
pub const NATIVE_MINT: Address =
    Address::from_str_const("So11111111111111111111111111111111111111112");

/// All accounts and the clock. A copy is a snapshot.
#[derive(Clone)]
pub struct Fixture {
    /// Every account that exists.
    pub accounts: BTreeMap<Address, Account>,
    /// The chain's clock, in Unix seconds.
    pub now: i64,
    /// The chain's rent: lamports per byte, and the factor to multiply by.
    pub rent: (u64, f64),
}

thread_local! {
    static MACHINE: RefCell<Mollusk> = RefCell::new(virtual_machine::machine());
}

/// The wallets and the mint of every fixture.
pub const BUYER: Address = named("buyer");
/// The seller's wallet.
pub const SELLER: Address = named("seller");
/// A wallet with no role.
pub const STRANGER: Address = named("stranger");
/// The wallet that fees and decay go to.
pub const TREASURY: Address = named("treasury");
/// The program's upgrade authority, and the configuration's.
pub const AUTHORITY: Address = named("authority");
/// The arbiter of disputes about milestones. The address holds no account.
pub const ARBITER: Address = named("arbiter");
/// The mint of [`Fixture::deal`], unless [`in_mint`] selects another one.
pub const MINT: Address = named("mint");
/// A Token-2022 mint.
pub const MINT_2022: Address = named("mint of Token-2022");
/// A mint not used in any negotiation.
pub const OTHER_MINT: Address = named("other mint");

impl Fixture {
    /// Wallets, mints, token accounts, but no program-owned accounts.
    pub fn unconfigured() -> Self {
        let mut fixture = Self {
            accounts: BTreeMap::new(),
            now: NOW,
            rent: (DEFAULT_LAMPORTS_PER_BYTE, 1.0),
        };
        for who in [BUYER, SELLER, STRANGER, TREASURY, AUTHORITY] {
            fixture.put(who, wallet(LAMPORTS));
            for mint in [MINT, MINT_2022, OTHER_MINT, currency()] {
                let amount = if who == BUYER { FUNDS } else { 0 };
                fixture.put(associated(&who, &mint), token_account(&mint, &who, amount));
            }
        }
        fixture.put(MINT, mint(FUNDS));
        fixture.put(MINT_2022, mint_2022(FUNDS, &[]));
        fixture.put(OTHER_MINT, mint(FUNDS));
        // With nine decimals on chain; here all mints fit the terms of the usual calls.
        fixture.put(NATIVE_MINT, mint(0));
        fixture.put(Self::program_data(), program_data(Some(&AUTHORITY)));
        for program in [
            programs::SYSTEM,
            programs::TOKEN,
            programs::TOKEN_2022,
            programs::ASSOCIATED_TOKEN,
            ID,
        ] {
            fixture.put(program, executable(&program));
        }
        fixture
    }

    /// [`Self::unconfigured`] with the configuration [`Self::config`].
    pub fn new() -> Self {
        let mut fixture = Self::unconfigured();
        let config = record(ProtocolConfig::RECORD, &Self::config());
        fixture.put(ProtocolConfig::ADDRESS, config);
        fixture
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

    /// The negotiation of all points below.
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
            milestone_bps: [0; 8],
            milestone_deadline: 0,
            review_hours: 0,
            metadata: [0; 64],
            max_fee_bps: 50,
            decimals: DECIMALS,
        }
    }

    /// Runs a call. A successful call updates the accounts.
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
        let (outcome, accounts) =
            MACHINE.with_borrow_mut(|machine| self.execute(machine, instruction, what));
        for (address, account) in accounts {
            self.put(address, account);
        }
        outcome
    }

    /// Runs a call on another virtual machine and discards all changes.
    pub fn run_on(&self, machine: &mut Mollusk, call: &Call) -> Outcome {
        let instruction = Instruction {
            program_id: ID,
            accounts: call.accounts.clone(),
            data: call.data.clone(),
        };
        self.execute(machine, &instruction, call.row.name).0
    }

    /// Runs an instruction, and returns the resulting accounts if it succeeds, otherwise none.
    fn execute(
        &self,
        machine: &mut Mollusk,
        instruction: &Instruction,
        what: &str,
    ) -> (Outcome, Vec<(Address, Account)>) {
        let mut given: Vec<(Address, Account)> = Vec::new();
        for meta in &instruction.accounts {
            if given.iter().all(|(address, _)| *address != meta.pubkey) {
                given.push((meta.pubkey, self.account(&meta.pubkey)));
            }
        }
        let logs = LogCollector::new_ref_with_limit(None);
        machine.logger = Some(logs.clone());
        machine.sysvars.clock.unix_timestamp = self.now;
        set_rent(&mut machine.sysvars.rent, self.rent);
        let result = machine.process_instruction(instruction, &given);
        machine.logger = None;
        let accounts = if result.program_result == ProgramResult::Success {
            result.resulting_accounts
        } else {
            Vec::new()
        };
        let logs = logs.borrow().get_recorded_content().to_vec();
        let outcome = Outcome {
            result: result.program_result,
            logs,
            units: result.compute_units_consumed,
            what: what.to_owned(),
        };
        (outcome, accounts)
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

    /// Sets an account. An account without lamports is removed.
    pub fn put(&mut self, address: Address, account: Account) {
        if account.lamports == 0 && account.data.is_empty() {
            self.accounts.remove(&address);
        } else {
            self.accounts.insert(address, account);
        }
    }

    /// The address's account; an empty system program account if there is none.
    pub fn account(&self, address: &Address) -> Account {
        self.accounts.get(address).cloned().unwrap_or_default()
    }

    /// Reports whether the account exists.
    pub fn exists(&self, address: &Address) -> bool {
        self.accounts.contains_key(address)
    }

    /// The negotiation record.
    #[track_caller]
    pub fn negotiation(&self, deal: &Deal) -> Negotiation {
        self.read(&deal.negotiation, Negotiation::RECORD)
    }

    /// The record of the configuration.
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
        // SAFETY: the data behind the discriminator is as long as `T`, and any bytes are valid for a Wire
        // type.
        unsafe { account.data.as_ptr().add(8).cast::<T>().read_unaligned() }
    }

    /// Replaces the negotiation record.
    pub fn set_negotiation(&mut self, deal: &Deal, negotiation: &Negotiation) {
        let data = event(Negotiation::RECORD, negotiation);
        self.change(&deal.negotiation, |account| account.data = data);
    }

    /// Replaces the record of the configuration.
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

    /// The same fixture at another time.
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

    /// The token account's balance; zero for missing accounts.
    pub fn balance(&self, token_account: &Address) -> u64 {
        self.accounts.get(token_account).map_or(0, |account| {
            let mut amount = [0; 8];
            amount.copy_from_slice(&account.data[64..72]);
            u64::from_le_bytes(amount)
        })
    }

    /// The account's lamports; zero for missing accounts.
    pub fn lamports(&self, address: &Address) -> u64 {
        self.accounts
            .get(address)
            .map_or(0, |account| account.lamports)
    }

    /// Mints tokens to the given account.
    pub fn donate(&mut self, token_account: &Address, amount: u64) {
        self.set_balance(token_account, self.balance(token_account) + amount);
    }

    /// Sets the token account's balance, and leaves the lamports unchanged, even for wrapped SOL.
    pub fn set_balance(&mut self, token_account: &Address, amount: u64) {
        self.change(token_account, |account| {
            account.data[64..72].copy_from_slice(&amount.to_le_bytes());
        });
    }

    /// Freezes the token account, as the mint's freeze authority can.
    pub fn freeze(&mut self, token_account: &Address) {
        self.change(token_account, |account| account.data[108] = 2);
    }

    /// Thaws the token account.
    pub fn thaw(&mut self, token_account: &Address) {
        self.change(token_account, |account| account.data[108] = 1);
    }

    /// The terms hash for accept_invitation: SHA-256 of the negotiation's address and account data.
    pub fn terms_hash(&self, deal: &Deal) -> [u8; 32] {
        const_crypto::sha2::Sha256::new()
            .update(deal.negotiation.as_ref())
            .update(&self.account(&deal.negotiation).data)
            .finalize()
    }
}

// The newest validators treat the factor as unused space; the clusters' accounts still include it.
#[allow(deprecated)]
fn set_rent(sysvar: &mut Rent, (lamports_per_byte, factor): (u64, f64)) {
    sysvar.lamports_per_byte = lamports_per_byte;
    sysvar.exemption_threshold = factor.to_le_bytes();
}
