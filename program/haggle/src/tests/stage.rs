//! A small world in which every instruction can be run: a mint, a buyer, a seller, a treasury, a configuration, and
//! negotiations at any point.
//!
//! ```ignore
//! let (mut stage, deal) = Stage::offered();
//! let call = stage.accept_offer(&deal, deal.seller);
//! stage.run(&call).succeeds();
//! assert_eq!(stage.balance(&deal.seller_token_account), 2_985_000);
//! ```

use super::virtual_machine;
use crate::constants::{CONFIG_SEED, NEGOTIATION_SEED, VAULT_SEED};
use crate::declare::{bytes_of, Flag, Wire};
use crate::instructions::create_negotiation::NegotiationParams;
use crate::instructions::{
    accept_invitation, accept_offer, claim_payout, create_negotiation, initialize_config,
    reject_negotiation, submit_offer, INSTRUCTIONS,
};
use crate::programs;
use crate::state::{Negotiation, ProtocolConfig};
use crate::table::{Instruction as Row, Kind, Record, Type};
use crate::ID;
use mollusk_svm::result::ProgramResult;
use mollusk_svm::Mollusk;
use pinocchio::error::ProgramError;
use pinocchio::Address;
use solana_account::Account;
use solana_instruction::{AccountMeta, Instruction};
use solana_rent::{Rent, DEFAULT_LAMPORTS_PER_BYTE};
use solana_svm_log_collector::LogCollector;
use std::cell::RefCell;
use std::collections::BTreeMap;

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

/// An address that a name stands for. Nothing is derived from it and no program owns it.
pub const fn named(name: &str) -> Address {
    Address::new_from_array(
        const_crypto::sha2::Sha256::new()
            .update(name.as_bytes())
            .finalize(),
    )
}

/// A PDA of the program and its canonical bump.
pub fn pda(seeds: &[&[u8]]) -> (Address, u8) {
    Address::find_program_address(seeds, &ID)
}

/// The token account that everyone can derive from a wallet and a mint.
pub fn associated(wallet: &Address, mint: &Address) -> Address {
    let seeds = [wallet.as_ref(), programs::TOKEN.as_ref(), mint.as_ref()];
    Address::find_program_address(&seeds, &programs::ASSOCIATED_TOKEN).0
}

/// The least that an account of `size` bytes has to hold, in lamports.
pub fn rent(size: usize) -> u64 {
    Rent::default().minimum_balance(size)
}

/// An account of the system program's.
pub fn wallet(lamports: u64) -> Account {
    Account {
        lamports,
        ..Account::default()
    }
}

/// A mint of SPL Token with six decimals.
pub fn mint(supply: u64) -> Account {
    let mut data = vec![0; 82];
    data[36..44].copy_from_slice(&supply.to_le_bytes());
    data[44] = 6;
    data[45] = 1;
    owned(programs::TOKEN, data)
}

/// A token account of SPL Token.
pub fn token_account(mint: &Address, owner: &Address, amount: u64) -> Account {
    let mut data = vec![0; 165];
    data[..32].copy_from_slice(mint.as_ref());
    data[32..64].copy_from_slice(owner.as_ref());
    data[64..72].copy_from_slice(&amount.to_le_bytes());
    data[108] = 1;
    let mut account = owned(programs::TOKEN, data);
    if *mint == NATIVE_MINT {
        account.data[109] = 1;
        account.data[113..121].copy_from_slice(&account.lamports.to_le_bytes());
        account.lamports += amount;
    }
    account
}

/// An account of a program's with enough lamports for its data.
pub fn owned(program: Address, data: Vec<u8>) -> Account {
    Account {
        lamports: rent(data.len()),
        owner: program,
        data,
        ..Account::default()
    }
}

/// The loader's account of the program, which names its upgrade authority.
pub fn program_data(authority: Option<&Address>) -> Account {
    let mut data = vec![3, 0, 0, 0];
    data.extend(7u64.to_le_bytes());
    data.push(authority.is_some().into());
    data.extend(authority.map_or([0; 32], |authority| *authority.as_array()));
    data.extend([0x7f, b'E', b'L', b'F']);
    owned(programs::UPGRADEABLE_LOADER, data)
}

/// An account of the program's that holds a record.
pub fn record<T: Wire>(record: &Record, fields: &T) -> Account {
    owned(ID, [&record.discriminator, bytes_of(fields)].concat())
}

/// A line of the log as an event writes it.
pub fn event<T: Wire>(record: &Record, fields: &T) -> Vec<u8> {
    [&record.discriminator, bytes_of(fields)].concat()
}

/// One negotiation: its parties, its addresses and the token accounts of its parties.
#[derive(Clone, Copy)]
pub struct Deal {
    /// Who pays.
    pub buyer: Address,
    /// Who is paid.
    pub seller: Address,
    /// What tells this pair's negotiations apart.
    pub session_id: u64,
    /// The negotiation's address.
    pub negotiation: Address,
    /// The bump of the negotiation's address.
    pub bump: u8,
    /// The vault's address.
    pub escrow_vault: Address,
    /// The bump of the vault's address.
    pub vault_bump: u8,
    /// The mint of the escrow.
    pub token_mint: Address,
    /// The buyer's associated token account.
    pub buyer_token_account: Address,
    /// The seller's associated token account.
    pub seller_token_account: Address,
}

impl Deal {
    /// The addresses that follow from the parties, the session and the mint.
    pub fn between(buyer: Address, seller: Address, session_id: u64, token_mint: Address) -> Self {
        let (negotiation, bump) = pda(&[
            NEGOTIATION_SEED.as_bytes(),
            buyer.as_ref(),
            seller.as_ref(),
            &session_id.to_le_bytes(),
        ]);
        let (escrow_vault, vault_bump) = pda(&[VAULT_SEED.as_bytes(), negotiation.as_ref()]);
        Self {
            buyer,
            seller,
            session_id,
            negotiation,
            bump,
            escrow_vault,
            vault_bump,
            token_mint,
            buyer_token_account: associated(&buyer, &token_mint),
            seller_token_account: associated(&seller, &token_mint),
        }
    }
}

/// An instruction that is about to be run: its row of the table, an account for each of the row's, and its data.
#[derive(Clone)]
pub struct Call {
    /// The row of the table.
    pub row: &'static Row,
    /// The accounts in the order of the row; more may follow.
    pub accounts: Vec<AccountMeta>,
    /// The discriminator and the arguments.
    pub data: Vec<u8>,
}

impl Call {
    /// The place of an account in the row.
    pub fn place(&self, account: &str) -> usize {
        self.row
            .accounts
            .iter()
            .position(|row| row.name == account)
            .unwrap_or_else(|| panic!("{} has no account {account}", self.row.name))
    }

    /// The address that is given for an account.
    pub fn address_of(&self, account: &str) -> Address {
        self.accounts[self.place(account)].pubkey
    }

    /// Gives another address for an account.
    #[must_use]
    pub fn with(mut self, account: &str, address: Address) -> Self {
        let place = self.place(account);
        self.accounts[place].pubkey = address;
        self
    }

    /// Leaves an optional account out.
    #[must_use]
    pub fn without(self, account: &str) -> Self {
        let place = self.place(account);
        let mut call = self.with(account, ID);
        call.accounts[place].is_writable = false;
        call
    }

    /// Gives an optional account that had been left out.
    #[must_use]
    pub fn given(self, account: &str, address: Address) -> Self {
        let place = self.place(account);
        let mut call = self.with(account, address);
        call.accounts[place].is_writable = call.row.accounts[place].meta.writable;
        call
    }

    /// Takes an account's signature away.
    #[must_use]
    pub fn unsigned(mut self, account: &str) -> Self {
        let place = self.place(account);
        self.accounts[place].is_signer = false;
        self
    }

    /// Makes an account read-only.
    #[must_use]
    pub fn read_only(mut self, account: &str) -> Self {
        let place = self.place(account);
        self.accounts[place].is_writable = false;
        self
    }

    /// Gives other arguments, whatever they are.
    #[must_use]
    pub fn with_data(mut self, data: impl Into<Vec<u8>>) -> Self {
        self.data = data.into();
        self
    }
}

/// What came of a call.
pub struct Outcome {
    /// What the program answered.
    pub result: ProgramResult,
    /// The transaction's log.
    pub logs: Vec<String>,
    /// The compute units that were used.
    pub units: u64,
    what: String,
}

impl Outcome {
    /// Fails the test unless the call succeeded.
    #[track_caller]
    pub fn succeeds(&self) -> &Self {
        assert_eq!(
            self.result,
            ProgramResult::Success,
            "{}, {} units\n{}",
            self.what,
            self.units,
            self.logs.join("\n")
        );
        self
    }

    /// Fails the test unless the program answered with exactly this error.
    #[track_caller]
    pub fn refused(&self, error: impl Into<ProgramError>) {
        assert_eq!(
            self.result,
            ProgramResult::Failure(error.into()),
            "{}, {} units\n{}",
            self.what,
            self.units,
            self.logs.join("\n")
        );
    }

    /// The number of the program's error, if it answered with one.
    pub fn error_code(&self) -> Option<u32> {
        match self.result {
            ProgramResult::Failure(ProgramError::Custom(code)) => Some(code),
            _ => None,
        }
    }

    /// The events in the log, as they were written.
    pub fn events(&self) -> Vec<Vec<u8>> {
        self.logs
            .iter()
            .filter_map(|line| line.strip_prefix("Program data: "))
            .map(from_base64)
            .collect()
    }

    /// Fails the test unless exactly these events were written, in this order (see [`event`]).
    #[track_caller]
    pub fn emitted(&self, expected: &[Vec<u8>]) -> &Self {
        let found = self.events();
        let names = |events: &[Vec<u8>]| -> Vec<&str> {
            events
                .iter()
                .map(|event| {
                    crate::event::EVENTS
                        .iter()
                        .find(|row| event.starts_with(&row.discriminator))
                        .map_or("?", |row| row.def.name)
                })
                .collect()
        };
        assert_eq!(names(&found), names(expected), "{}", self.what);
        for (found, expected) in found.iter().zip(expected) {
            let row = crate::event::EVENTS
                .iter()
                .find(|row| expected.starts_with(&row.discriminator))
                .expect("an expected event has a row");
            assert_eq!(found.len(), expected.len(), "{}", row.def.name);
            let differing = differing_fields(row, &found[8..], &expected[8..]);
            assert!(
                differing.is_empty(),
                "{} of {}: {differing:#?}",
                row.def.name,
                self.what
            );
        }
        self
    }
}

fn from_base64(text: &str) -> Vec<u8> {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits: Vec<u8> = text
        .bytes()
        .take_while(|digit| *digit != b'=')
        .map(|digit| {
            let value = ALPHABET.iter().position(|letter| *letter == digit);
            value.expect("the log writes base64") as u8
        })
        .collect();
    let mut bytes = Vec::new();
    for group in digits.chunks(4) {
        let bits = group
            .iter()
            .fold(0u32, |bits, digit| bits << 6 | u32::from(*digit))
            << (6 * (4 - group.len()));
        bytes.extend(&bits.to_be_bytes()[1..group.len()]);
    }
    bytes
}

/// How many bytes a value of a type takes.
pub fn width(ty: &Type) -> usize {
    match ty {
        Type::Bool | Type::U8 => 1,
        Type::U16 => 2,
        Type::U32 => 4,
        Type::U64 | Type::I64 => 8,
        Type::Pubkey => 32,
        Type::Array(element, length) => width(element) * length,
        Type::Defined(def) => match def.kind {
            Kind::Enum(_) => 1,
            Kind::Struct(fields) => fields.iter().map(|field| width(&field.ty)).sum(),
        },
    }
}

/// The fields of a record in which two of them differ, each with both values.
pub fn differing_fields(record: &Record, found: &[u8], expected: &[u8]) -> Vec<String> {
    let Kind::Struct(fields) = record.def.kind else {
        unreachable!("records are structs");
    };
    let mut at = 0;
    let mut differing = Vec::new();
    for field in fields {
        let end = at + width(&field.ty);
        if found[at..end] != expected[at..end] {
            differing.push(format!(
                "{}: {} instead of {}",
                field.name,
                shown(&found[at..end]),
                shown(&expected[at..end])
            ));
        }
        at = end;
    }
    assert_eq!(
        (found.len(), expected.len()),
        (at, at),
        "{}",
        record.def.name
    );
    differing
}

fn shown(bytes: &[u8]) -> String {
    if bytes.len() > 8 {
        return format!("{bytes:02x?}");
    }
    let mut number = [0; 8];
    number[..bytes.len()].copy_from_slice(bytes);
    u64::from_le_bytes(number).to_string()
}

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
/// The mint of [`Stage::deal`].
pub const MINT: Address = named("mint");
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
            for mint in [MINT, OTHER_MINT] {
                let amount = if who == BUYER { FUNDS } else { 0 };
                stage.put(associated(&who, &mint), token_account(&mint, &who, amount));
            }
        }
        stage.put(MINT, mint(FUNDS));
        stage.put(OTHER_MINT, mint(FUNDS));
        let mut native = mint(0);
        native.data[44] = 9;
        stage.put(NATIVE_MINT, native);
        stage.put(Self::program_data(), program_data(Some(&AUTHORITY)));
        for program in [
            programs::SYSTEM,
            programs::TOKEN,
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
        Deal::between(BUYER, SELLER, 1, MINT)
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

    // Points in the life of a negotiation.

    /// The buyer has deposited; the seller is invited.
    pub fn created() -> (Self, Deal) {
        Self::created_with(&Self::terms())
    }

    /// The same with other terms.
    pub fn created_with(terms: &NegotiationParams) -> (Self, Deal) {
        let mut stage = Self::new();
        let deal = Self::deal();
        let call = stage.create(&deal, terms);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller takes part; the buyer has to open.
    pub fn invited() -> (Self, Deal) {
        Self::invited_with(&Self::terms())
    }

    /// The same with other terms.
    pub fn invited_with(terms: &NegotiationParams) -> (Self, Deal) {
        let (mut stage, deal) = Self::created_with(terms);
        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The buyer has offered [`OFFER`] in the first round.
    pub fn offered() -> (Self, Deal) {
        let (mut stage, deal) = Self::invited();
        let call = stage.offer(&deal, deal.buyer, OFFER);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The same as [`Self::offered`] in wrapped SOL.
    pub fn offered_in_wrapped_sol() -> (Self, Deal) {
        let mut stage = Self::new();
        let deal = Deal::between(BUYER, SELLER, 1, NATIVE_MINT);
        for (who, amount) in [(BUYER, FUNDS), (SELLER, 0), (STRANGER, 0), (TREASURY, 0)] {
            let account = token_account(&NATIVE_MINT, &who, amount);
            stage.put(associated(&who, &NATIVE_MINT), account);
        }
        let call = stage.create(&deal, &Self::terms());
        stage.run(&call).succeeds();
        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds();
        let call = stage.offer(&deal, deal.buyer, OFFER);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has asked for half a million more in the second round.
    pub fn countered() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        let call = stage.offer(&deal, deal.seller, OFFER + 500_000);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has accepted [`OFFER`] after one round.
    pub fn settled() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        let call = stage.accept_offer(&deal, deal.seller);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has walked away from [`OFFER`].
    pub fn rejected() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        let call = stage.reject(&deal, deal.seller);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// The seller has not answered [`OFFER`].
    pub fn expired() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        stage.now = stage.negotiation(&deal).turn_deadline;
        let call = stage.expire(&deal);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    /// [`OFFER`] is settled while neither party's token account could receive, so both payments are kept. The accounts can
    /// receive again.
    pub fn settled_with_both_kept() -> (Self, Deal) {
        let (mut stage, deal) = Self::offered();
        stage.freeze(&deal.buyer_token_account);
        stage.freeze(&deal.seller_token_account);
        let call = stage.accept_offer(&deal, deal.seller);
        stage.run(&call).succeeds();
        stage.thaw(&deal.buyer_token_account);
        stage.thaw(&deal.seller_token_account);
        (stage, deal)
    }

    /// The negotiation's accounts are gone.
    pub fn closed() -> (Self, Deal) {
        let (mut stage, deal) = Self::settled();
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        (stage, deal)
    }

    // Calls that would succeed at the right point.

    /// A call with the accounts that its row and the deal name. Whoever signs is `signer`.
    pub fn call(&self, name: &str, deal: &Deal, signer: Address, args: &[u8]) -> Call {
        let row = INSTRUCTIONS
            .iter()
            .find(|row| row.name == name)
            .unwrap_or_else(|| panic!("there is no instruction {name}"));
        let accounts = row
            .accounts
            .iter()
            .map(|account| AccountMeta {
                pubkey: if account.meta.signer {
                    signer
                } else {
                    self.usual(account.name, deal, signer)
                },
                is_signer: account.meta.signer,
                is_writable: account.meta.writable,
            })
            .collect();
        Call {
            row,
            accounts,
            data: [&row.discriminator, args].concat(),
        }
    }

    fn usual(&self, account: &str, deal: &Deal, signer: Address) -> Address {
        match account {
            "buyer" => deal.buyer,
            "seller" => deal.seller,
            "negotiation" => deal.negotiation,
            "escrow_vault" => deal.escrow_vault,
            "buyer_token_account" => deal.buyer_token_account,
            "seller_token_account" => deal.seller_token_account,
            "treasury_token_account" => associated(&TREASURY, &deal.token_mint),
            "destination_token_account" => associated(&signer, &deal.token_mint),
            "token_mint" => deal.token_mint,
            "token_program" => programs::TOKEN,
            "system_program" => programs::SYSTEM,
            "config" => ProtocolConfig::ADDRESS,
            "program_data" => Self::program_data(),
            _ => panic!("nothing is known of an account {account}"),
        }
    }

    /// initialize_config with the values of [`Self::config`].
    pub fn initialize(&self) -> Call {
        let config = Self::config();
        let args = initialize_config::Args {
            treasury: config.treasury,
            default_decay_rate_bps: config.default_decay_rate_bps,
            default_response_window: config.default_response_window,
            default_protocol_fee_bps: config.default_protocol_fee_bps,
            default_max_rounds: config.default_max_rounds,
        };
        self.call(
            "initialize_config",
            &Self::deal(),
            AUTHORITY,
            args_of(&args),
        )
    }

    /// create_negotiation by the buyer.
    pub fn create(&self, deal: &Deal, terms: &NegotiationParams) -> Call {
        let args = create_negotiation::Args {
            session_id: deal.session_id,
            params: *terms,
        };
        self.call("create_negotiation", deal, deal.buyer, args_of(&args))
    }

    /// accept_invitation by the seller, on the terms of the account as it is now, without the accounts for a bond.
    pub fn accept_invitation(&self, deal: &Deal) -> Call {
        let args = accept_invitation::Args {
            terms_hash: self.terms_hash(deal),
        };
        self.call("accept_invitation", deal, deal.seller, args_of(&args))
            .without("escrow_vault")
            .without("seller_token_account")
            .without("token_mint")
            .without("token_program")
    }

    /// submit_offer without metadata, in the round that the negotiation is in.
    pub fn offer(&self, deal: &Deal, offerer: Address, amount: u64) -> Call {
        self.offer_with(deal, offerer, amount, &[0; 64])
    }

    /// submit_offer in the round that the negotiation is in.
    pub fn offer_with(
        &self,
        deal: &Deal,
        offerer: Address,
        amount: u64,
        metadata: &[u8; 64],
    ) -> Call {
        let args = submit_offer::Args {
            expected_round: self.negotiation(deal).current_round,
            amount,
            deadline_extension: 0,
            metadata: *metadata,
        };
        self.call("submit_offer", deal, offerer, args_of(&args))
    }

    /// accept_offer of the offer as it is now.
    pub fn accept_offer(&self, deal: &Deal, acceptor: Address) -> Call {
        let negotiation = self.negotiation(deal);
        let args = accept_offer::Args {
            expected_round: negotiation.current_round,
            expected_amount: negotiation.current_offer_amount,
            expected_metadata: negotiation.metadata,
        };
        self.call("accept_offer", deal, acceptor, args_of(&args))
    }

    /// reject_negotiation in the round that the negotiation is in, without the account for a bond.
    pub fn reject(&self, deal: &Deal, rejector: Address) -> Call {
        let args = reject_negotiation::Args {
            expected_round: self.negotiation(deal).current_round,
        };
        self.call("reject_negotiation", deal, rejector, args_of(&args))
            .without("seller_token_account")
    }

    /// expire_negotiation, without the account for a bond.
    pub fn expire(&self, deal: &Deal) -> Call {
        self.call("expire_negotiation", deal, STRANGER, &[])
            .without("seller_token_account")
    }

    /// close_negotiation with every account it can take.
    pub fn close(&self, deal: &Deal, closer: Address) -> Call {
        self.call("close_negotiation", deal, closer, &[])
    }

    /// claim_payout to the party's associated token account.
    pub fn claim(&self, deal: &Deal, party: Address, amount: u64) -> Call {
        let args = claim_payout::Args { amount };
        self.call("claim_payout", deal, party, args_of(&args))
    }

    // Running and looking.

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

/// The bytes of an instruction's arguments.
pub fn args_of<T: Copy>(args: &T) -> &[u8] {
    // SAFETY: the arguments of an instruction are packed structs of Wire types, which have no padding.
    unsafe { core::slice::from_raw_parts((args as *const T).cast(), size_of::<T>()) }
}

/// Fails the test unless two negotiations agree in each field.
#[track_caller]
pub fn assert_negotiation(found: &Negotiation, expected: &Negotiation) {
    let differing = differing_fields(Negotiation::RECORD, bytes_of(found), bytes_of(expected));
    assert!(differing.is_empty(), "{differing:#?}");
}

/// Fails the test unless two configurations agree in each field.
#[track_caller]
pub fn assert_config(found: &ProtocolConfig, expected: &ProtocolConfig) {
    let differing = differing_fields(ProtocolConfig::RECORD, bytes_of(found), bytes_of(expected));
    assert!(differing.is_empty(), "{differing:#?}");
}

// The machine takes programs from its cache; in the accounts they only have to look like one.
fn executable(program: &Address) -> Account {
    use mollusk_svm::program::loader_keys::{LOADER_V2, LOADER_V3, NATIVE_LOADER};
    let owner = if *program == programs::SYSTEM {
        NATIVE_LOADER
    } else if *program == ID {
        LOADER_V3
    } else {
        LOADER_V2
    };
    Account {
        lamports: 1,
        owner,
        executable: true,
        ..Account::default()
    }
}
