//! The accounts, and the virtual machine that runs instructions on them.

use std::collections::HashMap;

use mollusk_svm::program::loader_keys::LOADER_V3;
use mollusk_svm::Mollusk;
use mollusk_svm_programs_token::{associated_token, token, token2022};
use solana_account::Account;
use solana_address::Address;
use solana_instruction::Instruction;
use solana_svm_log_collector::LogCollector;

use crate::request::Request;
use crate::response;

/// The compute units available to a transaction with one instruction, unless it requests another limit. The
/// remaining units are logged.
const COMPUTE_UNITS: u64 = 200_000;

/// Accounts and a virtual machine. An account never set is empty, as on chain.
pub struct Store {
    machine: Mollusk,
    accounts: HashMap<Address, Account>,
}

impl Store {
    /// An empty chain with the system program, the associated token account program, and the deployed
    /// versions of SPL Token and Token-2022.
    pub fn new() -> Self {
        let mut machine = Mollusk::default();
        machine.compute_budget.compute_unit_limit = COMPUTE_UNITS;
        token::add_program(&mut machine);
        token2022::add_program(&mut machine);
        associated_token::add_program(&mut machine);
        Self {
            machine,
            accounts: HashMap::new(),
        }
    }

    /// Executes a request and returns the response.
    pub fn execute(&mut self, request: Request) -> Vec<u8> {
        match request {
            Request::Load(address, elf) => {
                self.machine
                    .add_program_with_loader_and_elf(&address, &LOADER_V3, &elf);
                response::done()
            }
            Request::Begin(accounts) => {
                self.accounts.clear();
                self.accounts.extend(accounts);
                response::done()
            }
            Request::Set(accounts) => {
                self.accounts.extend(accounts);
                response::done()
            }
            Request::Get(addresses) => {
                let accounts: Vec<_> = addresses
                    .into_iter()
                    .map(|address| (address, self.get(&address)))
                    .collect();
                response::accounts(&accounts)
            }
            Request::Clock(now) => {
                self.machine.sysvars.clock.unix_timestamp = now;
                response::done()
            }
            Request::Rent(size) => {
                response::number(self.machine.sysvars.rent.minimum_balance(size as usize))
            }
            Request::Run(instruction) => self.run(&instruction, true),
            Request::Probe(instruction) => self.run(&instruction, false),
            Request::Elf(address) => {
                match self.machine.program_cache.get_program_elf_bytes(&address) {
                    Some(elf) => response::file(&elf),
                    None => response::error(&format!("no ELF file of program {address}")),
                }
            }
        }
    }

    fn get(&self, address: &Address) -> Account {
        self.accounts.get(address).cloned().unwrap_or_default()
    }

    fn run(&mut self, instruction: &Instruction, keep: bool) -> Vec<u8> {
        let mut given: Vec<(Address, Account)> = Vec::with_capacity(instruction.accounts.len());
        for meta in &instruction.accounts {
            if given.iter().all(|(address, _)| *address != meta.pubkey) {
                given.push((meta.pubkey, self.get(&meta.pubkey)));
            }
        }
        let log = LogCollector::new_ref();
        self.machine.logger = Some(log.clone());
        let result = self.machine.process_instruction(instruction, &given);
        self.machine.logger = None;

        let changed: Vec<_> = result
            .resulting_accounts
            .into_iter()
            .zip(&given)
            .filter(|(after, before)| after != *before)
            .map(|(after, _)| after)
            .collect();
        if keep {
            self.accounts.extend(changed.iter().cloned());
        }
        let log = log.borrow().get_recorded_content().to_vec();
        response::outcome(
            &result.raw_result,
            result.compute_units_consumed,
            &log,
            &result.return_data,
            &changed,
        )
    }
}
