//! The operations on the accounts.

use agave_feature_set::FeatureSet;
use litesvm::types::TransactionMetadata;
use litesvm::LiteSVM;
use solana_account::{Account, AccountSharedData, ReadableAccount, WritableAccount};
use solana_address::Address;
use solana_program_binaries::{core_bpf_programs, spl_programs};
use solana_rent::Rent;
use solana_transaction::versioned::VersionedTransaction;
use solana_transaction_error::TransactionError;

use crate::wire::{self, Reader};

const SET_ACCOUNT: u32 = 1;
const ACCOUNT: u32 = 2;
const EXECUTE: u32 = 3;
const SIMULATE: u32 = 4;
const ACCOUNTS: u32 = 5;

type Accounts = Vec<(Address, AccountSharedData)>;

/// The accounts of a chain, with the native programs, the SPL programs and the sysvars.
pub struct Engine(LiteSVM);

impl Engine {
    pub fn new() -> Self {
        // As in solana-test-validator, all features are active. LiteSVM truncates logs at 10,000 bytes, as nodes do.
        let mut svm = LiteSVM::default()
            .with_feature_set(FeatureSet::all_enabled())
            .with_builtins()
            .with_sysvars()
            .with_feature_accounts()
            .with_transaction_history(0);
        // The programs of that validator's genesis: LiteSVM's own SPL Token consumes other compute units.
        let rent = Rent::default();
        let programs = spl_programs(&rent);
        let native = core_bpf_programs(&rent, |feature| {
            FeatureSet::all_enabled().is_active(feature)
        });
        let (data, executable): (Vec<_>, Vec<_>) = programs
            .into_iter()
            .chain(native)
            .partition(|(_, account)| !account.executable());
        for (address, account) in data.into_iter().chain(executable) {
            svm.set_account(address, account.into())
                .expect("the programs of a genesis can be loaded");
        }
        Self(svm)
    }

    pub fn call(
        &mut self,
        operation: u32,
        request: &[u8],
        out: &mut Vec<u8>,
    ) -> Result<(), String> {
        match operation {
            SET_ACCOUNT => self.set_account(request),
            ACCOUNT => {
                let address = Reader(request).address()?;
                wire::account(out, &address, &self.account(&address));
                Ok(())
            }
            EXECUTE => self.transaction(request, out, true),
            SIMULATE => self.transaction(request, out, false),
            ACCOUNTS => {
                wire::accounts(out, self.0.accounts_db().inner.iter());
                Ok(())
            }
            _ => Err(format!("operation {operation} unknown")),
        }
    }

    fn account(&self, address: &Address) -> AccountSharedData {
        self.0
            .accounts_db()
            .get_account(address)
            .unwrap_or_default()
    }

    /// An account without lamports is removed. The loader verifies a program; a sysvar must decode.
    fn set_account(&mut self, request: &[u8]) -> Result<(), String> {
        let mut request = Reader(request);
        let address = request.address()?;
        let account = Account {
            lamports: request.u64()?,
            owner: request.address()?,
            executable: request.u8()? != 0,
            rent_epoch: request.u64()?,
            data: request.0.to_vec(),
        };
        self.0
            .set_account(address, account)
            .map_err(|error| error.to_string())
    }

    /// LiteSVM's send_transaction panics if a program that a transaction has written cannot be loaded, and
    /// charges no fee if loading fails. So every transaction is a simulation, and its accounts are stored here.
    fn transaction(
        &mut self,
        request: &[u8],
        out: &mut Vec<u8>,
        commit: bool,
    ) -> Result<(), String> {
        let transaction: VersionedTransaction =
            wincode::deserialize(request).map_err(|error| format!("transaction: {error}"))?;
        let payer = *transaction
            .message
            .static_account_keys()
            .first()
            .ok_or("transaction: no accounts")?;
        let (meta, error, changed) = match self.0.simulate_transaction(transaction) {
            Ok(info) => {
                let changed = self.changed(info.post_accounts);
                (info.meta, None, changed)
            }
            Err(failed) if is_charged(&failed.err, &failed.meta) => {
                let changed = self.charged(payer, failed.meta.fee);
                (failed.meta, Some(failed.err), changed)
            }
            Err(mut failed) => {
                failed.meta.fee = 0;
                (failed.meta, Some(failed.err), Vec::new())
            }
        };
        if commit {
            self.store(&changed)?;
        }
        let charged = error.as_ref().is_none_or(|error| is_charged(error, &meta));
        out.push(charged.into());
        match error {
            None => wire::bytes(out, b""),
            Some(error) => wire::bytes(
                out,
                &serde_json::to_vec(&error).map_err(|error| error.to_string())?,
            ),
        }
        out.extend_from_slice(&meta.fee.to_le_bytes());
        wire::metadata(out, &meta);
        wire::accounts(
            out,
            changed.iter().map(|(address, account)| (address, account)),
        );
        Ok(())
    }

    fn changed(&self, after: Accounts) -> Accounts {
        after
            .into_iter()
            .filter(|(address, account)| self.account(address) != *account)
            .collect()
    }

    fn charged(&self, payer: Address, fee: u64) -> Accounts {
        let mut account = self.account(&payer);
        account.set_lamports(account.lamports().saturating_sub(fee));
        vec![(payer, account)]
    }

    /// Stores all of the accounts or none. Program data precedes the programs that are loaded from it.
    fn store(&mut self, changed: &Accounts) -> Result<(), String> {
        let (first, then): (Vec<_>, Vec<_>) = changed
            .iter()
            .partition(|(_, account)| !account.executable());
        let before: Vec<_> = first
            .iter()
            .chain(&then)
            .map(|(address, _)| (*address, self.account(address)))
            .collect();
        for (stored, (address, account)) in first.into_iter().chain(then).enumerate() {
            let Err(error) = self.0.set_account(*address, account.clone().into()) else {
                continue;
            };
            for (address, account) in before.into_iter().take(stored) {
                self.0
                    .set_account(address, account.into())
                    .map_err(|error| error.to_string())?;
            }
            return Err(format!("account {address}: {error}"));
        }
        Ok(())
    }
}

/// Reports whether a failed transaction is part of a block and pays its fee: Agave executed it, or could load
/// its fee payer and not its programs.
fn is_charged(error: &TransactionError, meta: &TransactionMetadata) -> bool {
    match error {
        TransactionError::InstructionError(..)
        | TransactionError::UnbalancedTransaction
        | TransactionError::ProgramAccountNotFound
        | TransactionError::InvalidProgramForExecution
        | TransactionError::MaxLoadedAccountsDataSizeExceeded => meta.fee > 0,
        // The check of the fee payer returns the same error, before anything is logged.
        TransactionError::InsufficientFundsForRent { .. } => !meta.logs.is_empty(),
        _ => false,
    }
}
