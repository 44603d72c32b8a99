//! Tokens and lamports are conserved, and only signers pay.

use super::effect::Effect;
use super::Verdict;
use crate::fixtures::fixture::NATIVE_MINT;
use crate::runtime::programs;
use crate::tokens::{supplies, Tokens};
use pinocchio::Address;
use solana_account::ReadableAccount;

/// Requires that accounts which are not writable, or not in the row, stay unchanged, and that none becomes
/// executable.
pub fn only_writable_accounts_change(effect: &Effect<'_>) -> Verdict {
    let count = effect.row.accounts.len();
    for change in &effect.changes {
        let may_change = change.writable && change.place.is_some_and(|place| place < count);
        if change.before.executable() != change.after.executable()
            || (!may_change && change.before != change.after)
        {
            return Err(format!("{} has changed and may not", change.address));
        }
    }
    Ok(())
}

/// Requires that the sum of all lamports is constant.
pub fn lamports_are_conserved(effect: &Effect<'_>) -> Verdict {
    let (mut before, mut after) = (0u128, 0u128);
    for change in &effect.changes {
        before += u128::from(change.before.lamports());
        after += u128::from(change.after.lamports());
    }
    if before == after {
        Ok(())
    } else {
        Err(format!("there were {before} lamports and are {after}"))
    }
}

/// Requires that every mint's token sum is constant. Wrapped SOL is covered by the lamports: closing an
/// account turns tokens into lamports.
pub fn tokens_are_conserved(effect: &Effect<'_>) -> Verdict {
    let before = supplies(effect.changes.iter().map(|change| change.before));
    let after = supplies(effect.changes.iter().map(|change| change.after));
    for kind in before.keys().chain(after.keys()) {
        let (was, is) = (before.get(kind), after.get(kind));
        if was != is && kind.1 != NATIVE_MINT {
            return Err(format!(
                "of the tokens of {} there were {was:?} and are {is:?}",
                kind.1
            ));
        }
    }
    Ok(())
}

/// Requires that only signers, the call's negotiation and the vault pay.
pub fn only_signers_pay(effect: &Effect<'_>) -> Verdict {
    for change in &effect.changes {
        let is_wallet = *change.before.owner() == programs::SYSTEM;
        if is_wallet && !change.signs && change.after.lamports() < change.before.lamports() {
            return Err(format!(
                "{} has lost lamports and has not signed",
                change.address
            ));
        }
        let Some(before) = Tokens::of(change.before) else {
            continue;
        };
        let after = Tokens::of(change.after).map_or(0, |tokens| tokens.amount);
        if after < before.amount && !has_agreed(effect, &before.owner) {
            return Err(format!(
                "{} has lost tokens, and its owner {} has not signed",
                change.address, before.owner
            ));
        }
    }
    Ok(())
}

fn has_agreed(effect: &Effect<'_>, owner: &Address) -> bool {
    let deal = effect.deal.as_ref().filter(|deal| deal.before.is_some());
    let signs = effect.change(owner).is_some_and(|change| change.signs);
    signs || deal.is_some_and(|deal| deal.address == owner)
}
