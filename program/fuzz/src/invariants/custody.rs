//! Money reaches the owner.
//!
//! A successful call pays each party the amount due by the documented rules ([`super::entitlement`]), and
//! every other owner nothing. The amount reaches accounts that only the party controls: the party's token
//! accounts with neither delegate nor close authority, or the recorded payout. So no one else can reduce the
//! amount. It can reach another account of the party's only if the party is the only declared signer of the
//! instruction, and so has chosen the account. The sender of close_negotiation has made no such choice: the
//! rule for the instruction's accounts allows no exception.

use super::effect::{Change, Effect};
use super::entitlement::due;
use super::Verdict;
use crate::environment::config;
use crate::fixtures::fixture::NATIVE_MINT;
use crate::tokens::Tokens;
use pinocchio::Address;
use solana_account::ReadableAccount;

/// Requires that each party gains the amount due, and all others nothing.
pub fn parties_get_their_due(effect: &Effect<'_>) -> Verdict {
    let Some(deal) = &effect.deal else {
        return Ok(());
    };
    let Some(terms) = deal.before.or(deal.after) else {
        return Ok(());
    };
    let due = due(effect);
    let mut dues: Vec<(Address, i128)> = Vec::new();
    let treasury = effect.treasury().map(|treasury| (treasury, due.treasury));
    let parties = [(terms.buyer, due.buyer), (terms.seller, due.seller)];
    for (owner, amount) in parties.into_iter().chain(treasury) {
        match dues.iter_mut().find(|(known, _)| *known == owner) {
            Some((_, sum)) => *sum += amount,
            None => dues.push((owner, amount)),
        }
    }
    // Others: every token account owner in the call, except the vault's.
    for change in &effect.changes {
        if let Some(tokens) = Tokens::of(change.before) {
            let is_known = dues.iter().any(|(known, _)| *known == tokens.owner);
            if !is_known && tokens.owner != *deal.address {
                dues.push((tokens.owner, 0));
            }
        }
    }
    let claims = effect.row.name == "claim_payout";
    for (owner, amount) in dues {
        let signs = effect.prepared.is_signed_by(&owner);
        let gain = effect.gain(&owner);
        // A claimed payout can go to anyone's account.
        let fits = if claims {
            signs || gain.total >= amount
        } else {
            gain.total == amount
        };
        if !fits {
            return Err(format!(
                "{} pays {owner} {} instead of {amount}",
                effect.row.name, gain.total
            ));
        }
        if !chooses_account(effect, &owner) && gain.safe < amount {
            return Err(format!(
                "{} owes {owner} {amount}, and only {} reaches accounts that it alone controls",
                effect.row.name, gain.safe
            ));
        }
    }
    if claims {
        claimed_payout_arrives(effect)?;
    }
    Ok(())
}

/// Reports whether the party's amount can be paid to an account that others control, too.
fn chooses_account(effect: &Effect<'_>, party: &Address) -> bool {
    effect.row.name != "close_negotiation" && effect.prepared.is_signed_only_by(party)
}

/// A party can claim the payout to any account, and the account gets the whole payout.
fn claimed_payout_arrives(effect: &Effect<'_>) -> Verdict {
    let destination = effect.prepared.address_of("destination_token_account");
    let change = destination.and_then(|address| effect.change(address));
    let amount = |account| Tokens::of(account).map_or(0, |tokens| tokens.amount);
    let gained = change.map_or(0, |change| {
        i128::from(amount(change.after)) - i128::from(amount(change.before))
    });
    let claimed = i128::from(effect.number("amount"));
    if gained == claimed {
        Ok(())
    } else {
        Err(format!(
            "claim_payout of {claimed} pays its destination {gained}"
        ))
    }
}

/// Requires that lamports move only as rent: from the payer to new accounts, or from closed accounts to the
/// buyer. Wrapped SOL lamports follow the tokens. Lamports sent to a wrapped SOL vault's address ahead of
/// creation become tokens in the vault.
pub fn only_rent_moves(effect: &Effect<'_>) -> Verdict {
    for change in &effect.changes {
        let moved = i128::from(change.after.lamports())
            - i128::from(change.before.lamports())
            - wrapped(change);
        if moved != 0 && !is_part_of_rent(effect, change, moved > 0) {
            return Err(format!(
                "{} moves {moved} lamports to {}",
                effect.row.name, change.address
            ));
        }
    }
    Ok(())
}

/// The wrapped SOL tokens gained in the account.
fn wrapped(change: &Change<'_>) -> i128 {
    let amount = |account| match Tokens::of(account) {
        Some(tokens) if tokens.mint == NATIVE_MINT => i128::from(tokens.amount),
        _ => 0,
    };
    amount(change.after) - amount(change.before)
}

fn is_part_of_rent(effect: &Effect<'_>, change: &Change<'_>, gains: bool) -> bool {
    let is = |account| effect.prepared.address_of(account) == Some(change.address);
    match effect.row.name {
        "initialize_config" if gains => config(change.after).is_some(),
        "initialize_config" => is("authority"),
        "create_negotiation" if gains => is("negotiation") || is("escrow_vault"),
        "create_negotiation" => is("buyer") || is("escrow_vault"),
        "close_negotiation" if gains => is("buyer"),
        "close_negotiation" => is("negotiation") || is("escrow_vault"),
        _ => false,
    }
}
