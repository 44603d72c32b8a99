//! The configuration only changes with the authority's signature. Closing a negotiation adds to the totals.

use super::effect::{Change, Effect};
use super::Verdict;
use crate::environment::config;
use crate::fields::fields;
use haggle_program::schema::declare::bytes_of;
use haggle_program::state::ProtocolConfig;
use pinocchio::Address;
use solana_account::ReadableAccount;

/// The fields changeable in each instruction.
const CHANGING: [(&str, &[&str]); 5] = [
    (
        "update_config",
        &[
            "treasury",
            "default_decay_rate_bps",
            "default_response_window",
            "default_protocol_fee_bps",
            "default_max_rounds",
        ],
    ),
    ("set_paused", &["is_paused"]),
    ("propose_authority", &["pending_authority"]),
    ("accept_authority", &["authority", "pending_authority"]),
    (
        "close_negotiation",
        &[
            "total_negotiations",
            "total_settled_volume",
            "total_fees_collected",
        ],
    ),
];

/// Requires the signature for each configuration change, and that the instruction changes no other field.
pub fn the_authority_agrees(effect: &Effect<'_>) -> Verdict {
    for change in &effect.changes {
        match (config(change.before), config(change.after)) {
            (None, Some(_)) => the_upgrade_authority_creates(effect)?,
            (Some(before), Some(after)) if change.before.data() != change.after.data() => {
                only_its_fields_change(effect, change, before, after)?;
                the_signer_is_right(effect, before, after)?;
            }
            _ => {}
        }
    }
    Ok(())
}

fn only_its_fields_change(
    effect: &Effect<'_>,
    change: &Change<'_>,
    before: &ProtocolConfig,
    after: &ProtocolConfig,
) -> Verdict {
    let mut rows = CHANGING.iter();
    let row = rows.find(|(name, _)| *name == effect.row.name);
    let changing = row.map_or(&[][..], |(_, fields)| fields);
    for field in fields(ProtocolConfig::RECORD) {
        let range = field.range();
        if bytes_of(before)[range.clone()] != bytes_of(after)[range]
            && !changing.contains(&field.name)
        {
            return Err(format!(
                "{} changes {} of {}",
                effect.row.name, field.name, change.address
            ));
        }
    }
    Ok(())
}

fn the_signer_is_right(
    effect: &Effect<'_>,
    before: &ProtocolConfig,
    after: &ProtocolConfig,
) -> Verdict {
    let signs = |authority: &Address| effect.prepared.is_signed_by(authority);
    let agreed = match effect.row.name {
        "close_negotiation" => true,
        "accept_authority" => {
            signs(&before.pending_authority) && after.authority == before.pending_authority
        }
        _ => signs(&before.authority),
    };
    if agreed {
        Ok(())
    } else {
        Err(format!(
            "{} succeeds without the authority's signature",
            effect.row.name
        ))
    }
}

/// The loader's account stores the upgrade authority behind a tag, a slot and the optional address's tag.
fn the_upgrade_authority_creates(effect: &Effect<'_>) -> Verdict {
    const TAG: usize = 12;
    let loaders = effect.prepared.address_of("program_data");
    let change = loaders.and_then(|address| effect.change(address));
    let authority = change.and_then(|change| match change.before.data().get(TAG..) {
        Some([1, address @ ..]) => address.first_chunk::<32>(),
        _ => None,
    });
    let signs = authority.is_some_and(|address| {
        let address = Address::new_from_array(*address);
        effect.prepared.is_signed_by(&address)
    });
    if signs && effect.row.name == "initialize_config" {
        Ok(())
    } else {
        Err(format!(
            "{} creates a configuration without the upgrade authority's signature",
            effect.row.name
        ))
    }
}
