//! An instruction that is about to be run, and how it can be changed.

use crate::schema::table::Instruction as Row;
use crate::ID;
use pinocchio::Address;
use solana_instruction::AccountMeta;

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

/// The bytes of an instruction's arguments.
pub fn args_of<T: Copy>(args: &T) -> &[u8] {
    // SAFETY: the arguments of an instruction are packed structs of Wire types, which have no padding.
    unsafe { core::slice::from_raw_parts((args as *const T).cast(), size_of::<T>()) }
}
