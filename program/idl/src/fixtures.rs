//! Test vectors for other implementations of the wire format: values, and their bytes in the program's own
//! packed structs.

mod instructions;
mod records;
mod sample;

use const_crypto::ed25519::derive_program_address;
use const_crypto::sha2::Sha256;
use haggle_program::constants::{NEGOTIATION_SEED, VAULT_SEED};
use haggle_program::state::{Negotiation, ProtocolConfig};
use pinocchio::Address;
use sample::{hex, Sample, Source};
use serde_json::{json, Value};

/// The file of the fixtures.
pub fn fixtures_json() -> String {
    let fixtures = json!({
        "program": haggle_program::ID.to_string(),
        "accounts": records::accounts(),
        "events": records::events(),
        "instructions": instructions::instructions(),
        "config_address": { "address": ProtocolConfig::ADDRESS.to_string(), "bump": ProtocolConfig::BUMP },
        "negotiation_addresses": negotiation_addresses(),
        "terms_hashes": terms_hashes(),
    });
    let mut text = serde_json::to_string_pretty(&fixtures).expect("the keys are all text");
    text.push('\n');
    text
}

/// The addresses of negotiations and their vaults.
fn negotiation_addresses() -> Vec<Value> {
    let mut source = Source::Distinct(3);
    [0, 1, u64::MAX]
        .into_iter()
        .chain((0..5).map(|n| n << (8 * n)))
        .map(|session_id| {
            let buyer = Address::sample(&mut source);
            let seller = Address::sample(&mut source);
            let seeds = [
                NEGOTIATION_SEED.as_bytes().to_vec(),
                buyer.to_bytes().to_vec(),
                seller.to_bytes().to_vec(),
                session_id.to_le_bytes().to_vec(),
            ];
            let (negotiation, bump) = derived(&seeds, &haggle_program::ID);
            let seeds = [
                VAULT_SEED.as_bytes().to_vec(),
                negotiation.to_bytes().to_vec(),
            ];
            let (vault, vault_bump) = derived(&seeds, &haggle_program::ID);
            json!({
                "buyer": buyer.to_string(),
                "seller": seller.to_string(),
                "session_id": session_id,
                "negotiation": negotiation.to_string(),
                "bump": bump,
                "vault": vault.to_string(),
                "vault_bump": vault_bump,
            })
        })
        .collect()
}

/// Terms hashes: SHA-256 of the negotiation's address and account data.
fn terms_hashes() -> Vec<Value> {
    Source::all()
        .into_iter()
        .map(|(_, mut source)| {
            let address = Address::sample(&mut source);
            let account = records::encoded(Negotiation::RECORD, &Negotiation::sample(&mut source));
            json!({
                "address": address.to_string(),
                "account": hex(&account),
                "hash": hex(&sha256(&[address.as_ref(), &account].concat())),
            })
        })
        .collect()
}

fn sha256(data: &[u8]) -> [u8; 32] {
    Sha256::new().update(data).finalize()
}

/// The program's PDA for some seeds, and the bump.
fn derived(seeds: &[Vec<u8>], program: &Address) -> (Address, u8) {
    let seeds: Vec<&[u8]> = seeds.iter().map(Vec::as_slice).collect();
    let (address, bump) = derive_program_address(&seeds, program.as_array());
    (Address::new_from_array(address), bump)
}

#[cfg(test)]
mod tests {
    use super::*;
    use haggle_program::event::EVENTS;
    use haggle_program::state::ACCOUNTS;
    use std::collections::BTreeSet;

    #[test]
    fn every_row_of_the_table_has_a_fixture() {
        let names = |fixtures: Vec<Value>| -> BTreeSet<String> {
            let name = |fixture: &Value| fixture["name"].as_str().unwrap_or_default().to_owned();
            fixtures.iter().map(name).collect()
        };
        let rows = |names: Vec<&str>| names.into_iter().map(str::to_owned).collect();
        assert_eq!(
            names(records::accounts()),
            rows(ACCOUNTS.iter().map(|row| row.def.name).collect())
        );
        assert_eq!(
            names(records::events()),
            rows(EVENTS.iter().map(|row| row.def.name).collect())
        );
        assert_eq!(
            names(instructions::instructions()),
            rows(
                haggle_program::instructions::INSTRUCTIONS
                    .iter()
                    .map(|row| row.name)
                    .collect()
            )
        );
    }
}
