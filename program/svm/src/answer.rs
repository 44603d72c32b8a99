//! How answers are written. The first byte says whether there is one: 0, then what was asked for; 1, then why not, as text.

use solana_account::Account;
use solana_address::Address;
use solana_instruction::error::InstructionError;

/// An answer with nothing in it.
pub fn done() -> Vec<u8> {
    vec![0]
}

/// Why there is no answer.
pub fn refusal(problem: &str) -> Vec<u8> {
    [&[1], problem.as_bytes()].concat()
}

/// A number.
pub fn number(number: u64) -> Vec<u8> {
    [&[0], number.to_le_bytes().as_slice()].concat()
}

/// Accounts, in the order they were asked for.
pub fn accounts(accounts: &[(Address, Account)]) -> Vec<u8> {
    let mut answer = done();
    put_accounts(&mut answer, accounts);
    answer
}

/// What an instruction returned (0 success; 1 and the number of a custom error as u32; 2 and the name of another error), the
/// compute units it used as u64, its log, and the accounts that it changed.
pub fn outcome(
    result: &Result<(), InstructionError>,
    units: u64,
    log: &[String],
    changed: &[(Address, Account)],
) -> Vec<u8> {
    let mut answer = done();
    match result {
        Ok(()) => answer.push(0),
        Err(InstructionError::Custom(code)) => {
            answer.push(1);
            answer.extend(code.to_le_bytes());
        }
        Err(other) => {
            answer.push(2);
            put_bytes(&mut answer, format!("{other:?}").as_bytes());
        }
    }
    answer.extend(units.to_le_bytes());
    put_count(&mut answer, log.len());
    for line in log {
        put_bytes(&mut answer, line.as_bytes());
    }
    put_accounts(&mut answer, changed);
    answer
}

/// Writes accounts as [`crate::question::Question`] reads them.
pub fn put_accounts(answer: &mut Vec<u8>, accounts: &[(Address, Account)]) {
    put_count(answer, accounts.len());
    for (address, account) in accounts {
        answer.extend(address.as_ref());
        answer.extend(account.lamports.to_le_bytes());
        answer.extend(account.owner.as_ref());
        answer.push(u8::from(account.executable));
        put_bytes(answer, &account.data);
    }
}

/// More than fit a count are never given: an instruction has at most 256 accounts, and the virtual machine limits the log.
fn put_count(answer: &mut Vec<u8>, count: usize) {
    let count = u16::try_from(count).expect("no more than 65,535 are asked for");
    answer.extend(count.to_le_bytes());
}

fn put_bytes(answer: &mut Vec<u8>, bytes: &[u8]) {
    let size = u32::try_from(bytes.len()).expect("frames are shorter than 4 GiB");
    answer.extend(size.to_le_bytes());
    answer.extend(bytes);
}
