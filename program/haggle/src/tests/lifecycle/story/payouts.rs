//! Calls that pay out what was kept, and that close what is over.

use super::super::deal::{BUYER, SELLER};
use super::super::ledger::TOKEN;
use super::super::model::Kind;
use super::calls::{instruction, Seen};
use super::{Slot, Story};
use crate::ID;
use solana_instruction::Instruction;

impl Story<'_> {
    pub(super) fn claim(&mut self, slot: &Slot, seen: &Seen) -> Instruction {
        let likely = match seen.claimable {
            [0, _] => SELLER,
            [_, 0] => BUYER,
            _ => self.chance.index(2),
        };
        let signer = self.mostly(
            slot.parties[likely],
            &[slot.parties[1 - likely], self.cast.stranger],
        );
        let amount = match self.chance.between(0, 19) {
            0 => 0,
            1 => seen.claimable[likely].wrapping_add(1),
            _ => seen.claimable[likely],
        };
        let mut choices = vec![self.recipient(&signer), self.cast.strangers_tokens];
        choices.extend(self.slots.iter().map(|slot| slot.vault));
        let to = match self.chance.percent(80) {
            true => choices[0],
            false => self.chance.pick(&choices),
        };
        let keys = [
            signer,
            slot.negotiation,
            slot.vault,
            to,
            self.cast.mint,
            TOKEN,
        ];
        instruction(Kind::Claim, &keys, &amount.to_le_bytes())
    }

    pub(super) fn close(&mut self, slot: &Slot, seen: &Seen) -> Instruction {
        let [buyer, seller] = slot.parties;
        let closer = self.chance.pick(&[buyer, seller, self.cast.stranger]);
        let mut accounts = [
            self.cast.treasury_tokens,
            self.recipient(&buyer),
            self.recipient(&seller),
        ];
        let needed = [true, seen.claimable[BUYER] > 0, seen.claimable[SELLER] > 0];
        for (account, needed) in accounts.iter_mut().zip(needed) {
            if self.chance.percent(if needed { 4 } else { 60 }) {
                *account = ID;
            }
        }
        let head = [
            closer,
            slot.negotiation,
            slot.vault,
            self.desk.fixed.config,
            buyer,
        ];
        let keys = [head.as_slice(), &accounts, &[self.cast.mint, TOKEN]].concat();
        instruction(Kind::Close, &keys, &[])
    }
}
