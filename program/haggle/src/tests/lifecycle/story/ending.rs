//! Calls that end a negotiation, with an agreement or without.

use super::super::ledger::TOKEN;
use super::super::model::Kind;
use super::calls::{instruction, Seen};
use super::{Slot, Story};
use crate::ID;
use solana_instruction::Instruction;

impl Story<'_> {
    pub(super) fn accept_offer(&mut self, slot: &Slot, seen: &Seen) -> Instruction {
        let [buyer, seller] = slot.parties;
        let turn = slot.parties[seen.turn];
        let signer = self.mostly(turn, &[slot.parties[1 - seen.turn], self.cast.stranger]);
        let to_buyer = self.recipient(&buyer);
        let to_seller = self.recipient(&seller);
        let mut arguments = vec![self.nearly(seen.round)];
        let amount = if self.chance.percent(97) {
            seen.offer
        } else {
            seen.offer.wrapping_sub(1)
        };
        arguments.extend(amount.to_le_bytes());
        arguments.extend(if self.chance.percent(97) {
            seen.metadata
        } else {
            self.metadata()
        });
        let keys = [
            signer,
            slot.negotiation,
            slot.vault,
            to_buyer,
            to_seller,
            self.cast.mint,
            TOKEN,
        ];
        instruction(Kind::AcceptOffer, &keys, &arguments)
    }

    pub(super) fn reject(&mut self, slot: &Slot, seen: &Seen) -> Instruction {
        let [buyer, seller] = slot.parties;
        let signer = self
            .chance
            .weighted(&[(46, buyer), (46, seller), (8, self.cast.stranger)]);
        let to_buyer = self.recipient(&buyer);
        let to_seller = if self.chance.percent(75) {
            ID
        } else {
            self.recipient(&seller)
        };
        let arguments = vec![self.nearly(seen.round)];
        let keys = [
            signer,
            slot.negotiation,
            slot.vault,
            to_buyer,
            to_seller,
            self.cast.mint,
            TOKEN,
        ];
        instruction(Kind::Reject, &keys, &arguments)
    }

    pub(super) fn expire(&mut self, slot: &Slot) -> Instruction {
        let [buyer, seller] = slot.parties;
        let to_buyer = self.recipient(&buyer);
        let to_seller = if self.chance.percent(75) {
            ID
        } else {
            self.recipient(&seller)
        };
        let keys = [
            slot.negotiation,
            slot.vault,
            to_buyer,
            to_seller,
            self.cast.mint,
            TOKEN,
        ];
        instruction(Kind::Expire, &keys, &[])
    }
}
