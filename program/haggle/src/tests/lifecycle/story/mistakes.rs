//! Calls with a single thing wrong.

use super::{Story, IMPOSTOR};
use crate::ID;
use solana_instruction::{AccountMeta, Instruction};

impl Story<'_> {
    /// The call, or in so many of a hundred cases one with a single thing wrong.
    pub(super) fn perhaps_spoilt(&mut self, mut call: Instruction, percent: u64) -> Instruction {
        if !self.chance.percent(percent) {
            return call;
        }
        let places = call.accounts.len();
        let place = self.chance.index(places);
        match self.chance.between(0, 11) {
            0 => call.accounts[place].is_signer = false,
            1 | 2 => call.accounts[place].is_writable = false,
            3..=5 => {
                let index = self.chance.index(self.world.ledger.0.len());
                call.accounts[place].pubkey = *self.world.ledger.0.keys().nth(index).unwrap();
            }
            6 => call.accounts[place.min(1)].pubkey = self.chance.pick(&self.cast.oddities),
            7 => call.accounts[place].pubkey = call.accounts[self.chance.index(places)].pubkey,
            8 => call.accounts.truncate(place),
            9 => self.spoil_data(&mut call.data),
            10 => {
                call.program_id = if self.chance.percent(30) {
                    IMPOSTOR
                } else {
                    ID
                }
            }
            _ => call
                .accounts
                .push(AccountMeta::new_readonly(self.cast.stranger, false)),
        }
        call
    }

    fn spoil_data(&mut self, data: &mut Vec<u8>) {
        match self.chance.between(0, 3) {
            0 => data.truncate(self.chance.index(8)),
            1 => data[self.chance.index(8)] ^= 1 << self.chance.index(8),
            2 => data.truncate(data.len() - 1),
            _ => data.push(0),
        }
    }
}
