//! The encoding of responses. The first byte is 0 for a result, 1 for an error; then the result or the error
//! text follows.

use solana_account::Account;
use solana_address::Address;
use solana_instruction::error::InstructionError;

/// A response with no result.
pub fn done() -> Vec<u8> {
    vec![0]
}

/// A response with an error.
pub fn error(problem: &str) -> Vec<u8> {
    [&[1], problem.as_bytes()].concat()
}

/// A response with a number (u64).
pub fn number(number: u64) -> Vec<u8> {
    [&[0], number.to_le_bytes().as_slice()].concat()
}

/// A response with accounts, in request order.
pub fn accounts(accounts: &[(Address, Account)]) -> Vec<u8> {
    let mut response = done();
    put_accounts(&mut response, accounts);
    response
}

/// A response with an ELF file.
pub fn file(content: &[u8]) -> Vec<u8> {
    let mut response = done();
    put_bytes(&mut response, content);
    response
}

/// A response with an instruction outcome: result (0 for success; 1 and the custom error number
/// (u32); 2 and the name of another error), compute units (u64), log, return data, and the
/// accounts that it changed.
pub fn outcome(
    result: &Result<(), InstructionError>,
    units: u64,
    log: &[String],
    returned: &[u8],
    changed: &[(Address, Account)],
) -> Vec<u8> {
    let mut response = done();
    match result {
        Ok(()) => response.push(0),
        Err(InstructionError::Custom(code)) => {
            response.push(1);
            response.extend(code.to_le_bytes());
        }
        Err(other) => {
            response.push(2);
            put_bytes(&mut response, format!("{other:?}").as_bytes());
        }
    }
    response.extend(units.to_le_bytes());
    put_count(&mut response, log.len());
    for line in log {
        put_bytes(&mut response, line.as_bytes());
    }
    put_bytes(&mut response, returned);
    put_accounts(&mut response, changed);
    response
}

/// Encodes accounts as [`crate::request::Request`] decodes them.
pub fn put_accounts(response: &mut Vec<u8>, accounts: &[(Address, Account)]) {
    put_count(response, accounts.len());
    for (address, account) in accounts {
        response.extend(address.as_ref());
        response.extend(account.lamports.to_le_bytes());
        response.extend(account.owner.as_ref());
        response.push(u8::from(account.executable));
        put_bytes(response, &account.data);
    }
}

/// Encodes a u16 count. No response exceeds it: an instruction lists at most 256 accounts, a request at most
/// 65,535, and the virtual machine limits the log.
fn put_count(response: &mut Vec<u8>, count: usize) {
    let count = u16::try_from(count).expect("a count fits in 16 bits");
    response.extend(count.to_le_bytes());
}

fn put_bytes(response: &mut Vec<u8>, bytes: &[u8]) {
    let size = u32::try_from(bytes.len()).expect("frames are shorter than 4 GiB");
    response.extend(size.to_le_bytes());
    response.extend(bytes);
}
