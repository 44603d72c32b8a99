//! The invariants of every call.
//!
//! A call succeeds, returns one of the program's own errors, or ends when a called program refuses. It does
//! not fault, panic, exceed the compute unit limit, or do something that the runtime forbids. If it returns
//! an error, it wrote to no account. If it succeeds, no tokens or lamports are lost ([`conservation`]), the
//! negotiation keeps the rules ([`lifecycle`]), the right parties agree ([`consent`]) or the right authority
//! does ([`administration`]), money reaches the owner ([`custody`]), and signatures keep their meaning
//! ([`replay`]).
//!
//! Exceptions: The program writes the state before it calls token programs or checks for missing optional
//! accounts needed to pay. Following a refusal or this error, only the runtime restores the accounts. If no
//! chain can hold the accounts ([`Prepared::possible`]), the program did not write the contents, so only
//! faults, forbidden effects and the conservation of lamports are checked.

mod administration;
mod consent;
mod conservation;
mod custody;
pub mod effect;
mod entitlement;
mod lifecycle;
pub mod replay;
mod solvency;
#[cfg(test)]
mod tests;

use crate::call::Prepared;
use crate::chain::Chain;
use crate::coverage::{End, INVOKE};
use crate::environment::negotiation;
use crate::svm::Run;
use effect::Effect;
use haggle_program::error::ERRORS;
use solana_instruction::error::InstructionError;

/// The outcome when a call violates no invariant.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Outcome {
    /// The call succeeded.
    Succeeded,
    /// The program itself returned this error.
    Returned(u32),
    /// A program that it called refused.
    Refused,
    /// The runtime refused, or the program returned another status, on accounts impossible on chain.
    Impossible,
}

/// The codes of the framework's errors that the program returns.
pub const FRAMEWORK: [u32; 15] = [
    100, 101, 102, 2000, 2001, 2003, 2006, 3001, 3002, 3003, 3005, 3007, 3008, 3010, 4100,
];

/// The error for leaving out an optional account needed to pay.
const ACCOUNT_NOT_ENOUGH_KEYS: u32 = 3005;

/// The invariant's result: a description of the violation, if there is one.
pub type Verdict = Result<(), String>;

/// Checks a call against the invariants. The effect belongs to a successful call.
///
/// # Errors
/// The invariant that the call violates.
pub fn check<'a>(
    prepared: &'a Prepared,
    run: &'a Run,
    chain: &Chain<'_>,
) -> Result<(Outcome, Option<Effect<'a>>), String> {
    let outcome = ending(prepared, run)?;
    match outcome {
        Outcome::Succeeded => {
            let effect = success(prepared, run, chain)?;
            return Ok((outcome, Some(effect)));
        }
        Outcome::Returned(code) if prepared.possible => untouched(prepared, run, code)?,
        _ => {}
    }
    Ok((outcome, None))
}

fn ending(prepared: &Prepared, run: &Run) -> Result<Outcome, String> {
    match (run.end, &run.result) {
        (End::Returned(0), Ok(())) => Ok(Outcome::Succeeded),
        (End::Returned(0), Err(error)) => Err(format!(
            "the program succeeds and the runtime forbids its effects: {error:?}"
        )),
        (End::Returned(status), result) => match own_error(status) {
            Some(code) if *result == Err(InstructionError::Custom(code)) => {
                Ok(Outcome::Returned(code))
            }
            _ => Err(format!(
                "the program returns {status:#x}, which is none of its errors: {result:?}"
            )),
        },
        (End::InSyscall(INVOKE), Err(error)) if run.last_call_began && is_refusal(error) => {
            Ok(Outcome::Refused)
        }
        (End::InSyscall(INVOKE), Err(_)) if !prepared.possible => Ok(Outcome::Impossible),
        (End::InSyscall(name), result) => Err(format!("{name} does not return: {result:?}")),
        (End::Fault { at }, result) => Err(format!("instruction {at} faults: {result:?}")),
        (End::NotStarted, result) => Err(format!("the program is not started: {result:?}")),
    }
}

/// The program's own error for a returned status. Only custom codes are program errors.
fn own_error(status: u64) -> Option<u32> {
    let code = u32::try_from(status).ok()?;
    let known = ERRORS.iter().any(|row| row.code == code) || FRAMEWORK.contains(&code);
    known.then_some(code)
}

/// Reports whether the error was returned from a program, and not raised in the runtime.
fn is_refusal(error: &InstructionError) -> bool {
    use InstructionError as E;
    matches!(
        error,
        E::Custom(_)
            | E::InvalidArgument
            | E::InvalidInstructionData
            | E::InvalidAccountData
            | E::AccountDataTooSmall
            | E::InsufficientFunds
            | E::IncorrectProgramId
            | E::MissingRequiredSignature
            | E::AccountAlreadyInitialized
            | E::UninitializedAccount
            | E::AccountBorrowFailed
            | E::InvalidSeeds
            | E::AccountNotRentExempt
            | E::IllegalOwner
            | E::InvalidAccountOwner
            | E::ArithmeticOverflow
            | E::Immutable
            | E::IncorrectAuthority
            // The system program's error for a payer with a different owner.
            | E::ExternalAccountLamportSpend
    )
}

/// Requires calls returning an error to have written to no account.
fn untouched(prepared: &Prepared, run: &Run, code: u32) -> Verdict {
    let call = &prepared.call;
    if let Some(place) = run.headers_written.first() {
        return Err(format!(
            "it returns {code} after it has written to the lamports or the owner of account {place}"
        ));
    }
    for ((address, before), after) in call.accounts.iter().zip(&run.after) {
        let is_late = code == ACCOUNT_NOT_ENOUGH_KEYS && negotiation(before).is_some();
        if before != after && !is_late {
            return Err(format!("it returns {code} after it has changed {address}"));
        }
    }
    Ok(())
}

fn success<'a>(
    prepared: &'a Prepared,
    run: &'a Run,
    chain: &Chain<'_>,
) -> Result<Effect<'a>, String> {
    let Some(row) = prepared.row else {
        return Err("it succeeds with data that names no instruction".to_owned());
    };
    let effect = Effect::of(row, prepared, run, chain);
    conservation::only_writable_accounts_change(&effect)?;
    conservation::lamports_are_conserved(&effect)?;
    if prepared.possible {
        conservation::tokens_are_conserved(&effect)?;
        conservation::only_signers_pay(&effect)?;
        lifecycle::negotiations_keep_their_rules(&effect)?;
        lifecycle::vault_stays_solvent(&effect)?;
        consent::the_right_parties_agree(&effect)?;
        administration::the_authority_agrees(&effect)?;
        custody::parties_get_their_due(&effect)?;
        custody::only_rent_moves(&effect)?;
        replay::signatures_keep_their_meaning(&effect, chain)?;
    }
    Ok(effect)
}
