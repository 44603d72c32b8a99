//! In which order the rules that hold for the accounts of every instruction are checked.

use super::super::deal::{CONFIG, CONFIG_SIZE, NEGOTIATION, NEGOTIATION_SIZE};
use super::super::ledger::{LOADER, SYSTEM, TOKEN};
use super::instructions::Must::{Be, BeConfig, BeLoaders, BeNegotiation, BeNew, BeTokens};
use super::instructions::Place;
use super::World;
use crate::ID;
use solana_instruction::{AccountMeta, Instruction};
use std::collections::BTreeSet;

/// The accounts that are not what they should be, of which the most severe is answered: a PDA, a stored key, a token
/// account, a program.
#[derive(Default)]
pub(super) struct WrongAddresses(BTreeSet<usize>);

impl WrongAddresses {
    const ORDER: [u32; 4] = [2006, 2001, 2003, 3008];

    pub(super) fn when(&mut self, wrong: bool, code: u32) {
        if wrong {
            self.0
                .insert(Self::ORDER.iter().position(|known| *known == code).unwrap());
        }
    }

    pub(super) fn worst(&self) -> Result<(), u32> {
        self.0
            .first()
            .map_or(Ok(()), |worst| Err(Self::ORDER[*worst]))
    }
}

pub(super) fn refuse(when: bool, code: u32) -> Result<(), u32> {
    if when {
        Err(code)
    } else {
        Ok(())
    }
}

/// How many accounts there are, then all flags, then all owners, then all contents.
pub(super) fn check_places(
    world: &World,
    instruction: &Instruction,
    places: &[Place],
) -> Result<(), u32> {
    refuse(instruction.accounts.len() < places.len(), 3005)?;
    let given: Vec<_> = places
        .iter()
        .zip(&instruction.accounts)
        .filter(|((flags, _), meta)| !(flags.contains('?') && meta.pubkey == ID))
        .map(|((flags, must), meta)| (*flags, *must, meta.pubkey))
        .collect();
    for (flags, _, key) in &given {
        // An account that stands in two places has the rights of both; a program that is called is never written to.
        let has = |right: fn(&AccountMeta) -> bool| {
            instruction
                .accounts
                .iter()
                .any(|meta| meta.pubkey == *key && right(meta))
        };
        refuse(flags.contains('s') && !has(|meta| meta.is_signer), 3010)?;
        let writable = has(|meta| meta.is_writable && meta.pubkey != ID);
        refuse(flags.contains('w') && !writable, 2000)?;
    }
    for (_, must, key) in &given {
        let owner = match must {
            Be => continue,
            BeNegotiation | BeConfig => ID,
            BeNew => SYSTEM,
            BeTokens => TOKEN,
            BeLoaders => LOADER,
        };
        refuse(world.ledger.get(key).owner != owner, 3007)?;
    }
    for (_, must, key) in &given {
        let (discriminator, size) = match must {
            BeNegotiation => (NEGOTIATION, NEGOTIATION_SIZE),
            BeConfig => (CONFIG, CONFIG_SIZE),
            _ => continue,
        };
        let data = world.ledger.get(key).data;
        refuse(data.len() < 8, 3001)?;
        refuse(data[..8] != discriminator, 3002)?;
        refuse(data.len() != size, 3003)?;
    }
    Ok(())
}
