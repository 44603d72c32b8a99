//! A negotiation keeps the terms, only moves forward, and the vault covers all debts.

use super::effect::{Change, Effect};
use super::solvency;
use super::Verdict;
use crate::environment::{config, negotiation};
use crate::fields::fields;
use crate::tokens::Tokens;
use crate::ID;
use haggle_program::schema::declare::bytes_of;
use haggle_program::state::{Negotiation, NegotiationStatus};
use pinocchio::Address;
use solana_account::{AccountSharedData, ReadableAccount, WritableAccount};

/// Requires that at most one negotiation changed, with unchanged terms and only forward moves.
pub fn negotiations_keep_their_rules(effect: &Effect<'_>) -> Verdict {
    let mut changed = 0;
    for change in &effect.changes {
        if change.before == change.after {
            continue;
        }
        if let Some(before) = negotiation(change.before) {
            changed += 1;
            match negotiation(change.after) {
                Some(after) => negotiation_keeps_its_rules(change.address, before, after)?,
                None if effect.row.name == "close_negotiation" && is_gone(change.after) => {}
                None => return Err(format!("{} is no longer a negotiation", change.address)),
            }
        } else if config(change.before).is_some() && config(change.after).is_none() {
            return Err(format!("{} is no longer a configuration", change.address));
        } else if *change.before.owner() == ID && config(change.before).is_none() {
            only_gains_lamports(change)?;
        }
    }
    if changed > 1 {
        return Err(format!("{changed} negotiations have changed"));
    }
    Ok(())
}

fn negotiation_keeps_its_rules(
    address: &Address,
    before: &Negotiation,
    after: &Negotiation,
) -> Verdict {
    if let Some(term) = changed_term(before, after) {
        return Err(format!("{term} of {address} has changed"));
    }
    if !follows(before.status, after.status) {
        return Err(format!(
            "{address} goes from {:?} to {:?}",
            before.status, after.status
        ));
    }
    Ok(())
}

/// Requires that vaults covering all debts before the call still cover them afterwards.
pub fn vault_stays_solvent(effect: &Effect<'_>) -> Verdict {
    let Some(deal) = &effect.deal else {
        return Ok(());
    };
    let (Some(before), Some(after)) = (&deal.before, &deal.after) else {
        return Ok(());
    };
    let Some(vault) = deal.vault.and_then(|vault| effect.change(&vault)) else {
        return Ok(());
    };
    let amount = |account| Tokens::of(account).map_or(0, |tokens| u128::from(tokens.amount));
    let (owed, owes) = (solvency::owed(before), solvency::owed(after));
    if amount(vault.before) >= owed && amount(vault.after) < owes {
        return Err(format!(
            "the vault of {} held {} for {owed} and holds {} for {owes}",
            deal.address,
            amount(vault.before),
            amount(vault.after)
        ));
    }
    Ok(())
}

fn is_gone(account: &AccountSharedData) -> bool {
    account.lamports() == 0 && account.data().is_empty()
}

/// Anyone can assign an empty account to the program. The program must not take from it either.
fn only_gains_lamports(change: &Change<'_>) -> Verdict {
    let mut as_before = change.after.clone();
    as_before.set_lamports(change.before.lamports());
    if as_before == *change.before && change.after.lamports() >= change.before.lamports() {
        Ok(())
    } else {
        Err(format!("{} has lost something", change.address))
    }
}

/// The negotiation status order.
fn follows(before: NegotiationStatus, after: NegotiationStatus) -> bool {
    use NegotiationStatus as S;
    let bargaining = [S::Proposed, S::Countered];
    before == after
        || (before == S::Created && [S::Proposed, S::Expired, S::Rejected].contains(&after))
        || (bargaining.contains(&before) && after != S::Created)
        || (before == S::Accepted && after == S::Settled)
}

/// The negotiation fields that instructions change. All others are constant.
const CHANGING: &[&str] = &[
    "status",
    "current_round",
    "current_offer_amount",
    "current_offer_by",
    "offer_side",
    "effective_escrow",
    "global_deadline",
    "last_offer_at",
    "settled_at",
    "settled_amount",
    "buyer_commitment",
    "seller_commitment",
    "zopa_phase",
    "metadata",
    "turn_deadline",
    "pending_extension",
    "bond_state",
    "buyer_price",
    "seller_price",
    "milestones_decided",
    "milestones_claimed",
    "milestones_disputed",
    "claimable_buyer",
    "claimable_seller",
    "paid_gross",
];

/// The changed constant field's name.
fn changed_term(before: &Negotiation, after: &Negotiation) -> Option<&'static str> {
    fields(Negotiation::RECORD)
        .into_iter()
        .filter(|field| !CHANGING.contains(&field.name))
        .find(|field| bytes_of(before)[field.range()] != bytes_of(after)[field.range()])
        .map(|field| field.name)
}
