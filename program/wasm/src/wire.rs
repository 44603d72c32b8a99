//! The layout of requests and responses.

use litesvm::types::TransactionMetadata;
use solana_account::{AccountSharedData, ReadableAccount};
use solana_address::Address;

/// Reads a request. Every method fails at the request's end.
pub struct Reader<'a>(pub &'a [u8]);

impl<'a> Reader<'a> {
    pub fn take(&mut self, length: usize) -> Result<&'a [u8], String> {
        let (taken, rest) = self.0.split_at_checked(length).ok_or("request too short")?;
        self.0 = rest;
        Ok(taken)
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], String> {
        self.take(N)?
            .try_into()
            .map_err(|_| "request too short".into())
    }

    pub fn u8(&mut self) -> Result<u8, String> {
        Ok(self.array::<1>()?[0])
    }

    pub fn u64(&mut self) -> Result<u64, String> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub fn address(&mut self) -> Result<Address, String> {
        Ok(Address::new_from_array(self.array()?))
    }
}

/// Writes a byte string with its length.
pub fn bytes(out: &mut Vec<u8>, value: &[u8]) {
    out.extend_from_slice(&(value.len() as u32).to_le_bytes());
    out.extend_from_slice(value);
}

fn count(out: &mut Vec<u8>, value: usize) {
    out.extend_from_slice(&(value as u32).to_le_bytes());
}

/// Writes an account with its address. An absent account has no lamports.
pub fn account(out: &mut Vec<u8>, address: &Address, account: &AccountSharedData) {
    out.extend_from_slice(address.as_ref());
    out.extend_from_slice(&account.lamports().to_le_bytes());
    out.extend_from_slice(account.owner().as_ref());
    out.push(account.executable().into());
    out.extend_from_slice(&account.rent_epoch().to_le_bytes());
    bytes(out, account.data());
}

/// Writes a list of accounts.
pub fn accounts<'a>(
    out: &mut Vec<u8>,
    list: impl ExactSizeIterator<Item = (&'a Address, &'a AccountSharedData)>,
) {
    count(out, list.len());
    for (address, stored) in list {
        account(out, address, stored);
    }
}

/// Writes what a transaction consumed, logged, returned and called.
pub fn metadata(out: &mut Vec<u8>, meta: &TransactionMetadata) {
    out.extend_from_slice(&meta.compute_units_consumed.to_le_bytes());
    out.extend_from_slice(meta.return_data.program_id.as_ref());
    bytes(out, &meta.return_data.data);
    count(out, meta.logs.len());
    for line in &meta.logs {
        bytes(out, line.as_bytes());
    }
    count(out, meta.inner_instructions.len());
    for list in &meta.inner_instructions {
        count(out, list.len());
        for inner in list {
            out.push(inner.instruction.program_id_index);
            out.push(inner.stack_height);
            bytes(out, &inner.instruction.accounts);
            bytes(out, &inner.instruction.data);
        }
    }
}
