//! Each signature applies to a single deal, and pays the signers no less than at the time of signing.
//!
//! The adversary can send a signed call at any later time: it repeats the bytes, the accounts and the
//! signatures from the case's earlier call, even once the deal was closed and another deal was created at
//! this address.

use super::effect::Effect;
use super::Verdict;
use crate::chain::{Chain, DealId};

/// Requires signed calls that succeed later to be for this deal, and to pay the signers no less than
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

/// The amounts paid in the call to the buyer and the seller.
pub fn outcome(effect: &Effect<'_>) -> Option<[i128; 2]> {
    let deal = effect.deal.as_ref()?;
    let terms = deal.before.or(deal.after)?;
    Some([terms.buyer, terms.seller].map(|owner| effect.gain(&owner).total))
}

/// Reports whether the instruction's signature is for a single deal. Creation begins a deal, and anyone can
/// send the others.
fn is_for_one_deal(instruction: &str) -> bool {
    !matches!(
        instruction,
        "create_negotiation" | "close_negotiation" | "expire_negotiation" | "settle_deadline"
    )
}

/// Reports whether the instruction's arguments fix the outcome for the signers.
fn has_constant_outcome(instruction: &str) -> bool {
    matches!(
        instruction,
        "accept_offer" | "reject_negotiation" | "settle_by_agreement" | "claim_payout"
    )
}

fn described(deal: &DealId) -> String {
    format!("deal {} at {}", deal.number, deal.address)
}
