//! Addresses and accounts as they are on chain.

use crate::runtime::programs;
use crate::schema::declare::{bytes_of, Wire};
use crate::schema::table::Record;
use crate::ID;
use pinocchio::Address;
use solana_account::Account;
use solana_rent::Rent;

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

// The machine takes programs from its cache; in the accounts they only have to look like one.
pub(super) fn executable(program: &Address) -> Account {
    use mollusk_svm::program::loader_keys::{LOADER_V2, LOADER_V3, NATIVE_LOADER};
    let owner = if *program == programs::SYSTEM {
        NATIVE_LOADER
    } else if [ID, programs::TOKEN_2022].contains(program) {
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
