//! A signature is for one deal, and pays its signers no less than at the time of signing.
//!
//! The adversary can send a signed call at any later time: it repeats the bytes, the accounts and the
//! signatures of an earlier call of the case, also after the deal was closed and another one was created at
//! the same address.

use super::effect::Effect;
use super::Verdict;
use crate::chain::{Chain, DealId};

/// Requires that a signed call which succeeds later is for this deal, and pays its signers no less than it
/// promised.
pub fn signatures_keep_their_meaning(effect: &Effect<'_>, chain: &Chain<'_>) -> Verdict {
    let (Some(index), Some(deal)) = (effect.prepared.repeats, &effect.deal) else {
        return Ok(());
    };
    let signed = &chain.signed[index];
    let now = chain.deal(deal.address);
    let other = signed.other_deal(&now);
    if let (Some(meant), true) = (other, is_for_one_deal(effect.row.name)) {
        return Err(format!(
            "{}, signed for {}, succeeds for {}",
            effect.row.name,
            described(meant),
            described(&now),
        ));
    }
    let (Some(promised), Some(before)) = (signed.promised, &deal.before) else {
        return Ok(());
    };
    if !has_constant_outcome(effect.row.name) {
        return Ok(());
    }
    for (owner, promised) in [before.buyer, before.seller].iter().zip(promised) {
        let gain = effect.gain(owner);
        if effect.prepared.is_signed_by(owner) && gain.total < promised {
            return Err(format!(
                "{} pays its signer {owner} {} and promised {promised}",
                effect.row.name, gain.total
            ));
        }
    }
    Ok(())
}

/// The amounts that a call pays the buyer and the seller.
pub fn outcome(effect: &Effect<'_>) -> Option<[i128; 2]> {
    let deal = effect.deal.as_ref()?;
    let terms = deal.before.or(deal.after)?;
    Some([terms.buyer, terms.seller].map(|owner| effect.gain(&owner).total))
}

/// Reports whether an instruction's signature is for one deal. Creation begins a deal, and anyone can send
/// the others.
fn is_for_one_deal(instruction: &str) -> bool {
    !matches!(
        instruction,
        "create_negotiation" | "close_negotiation" | "expire_negotiation" | "settle_deadline"
    )
}

/// Reports whether the arguments of an instruction fix its outcome for the signers.
fn has_constant_outcome(instruction: &str) -> bool {
    matches!(
        instruction,
        "accept_offer" | "reject_negotiation" | "settle_by_agreement" | "claim_payout"
    )
}

fn described(deal: &DealId) -> String {
    format!("deal {} at {}", deal.number, deal.address)
}
