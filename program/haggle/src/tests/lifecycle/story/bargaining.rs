//! Calls by which a seller takes part, and by which both bargain.

use super::super::deal::{floored, Deal};
use super::super::ledger::TOKEN;
use super::super::model::Kind;
use super::calls::{instruction, Seen};
use super::{Slot, Story};
use crate::ID;
use solana_instruction::Instruction;

impl Story<'_> {
    pub(super) fn accept_invitation(&mut self, slot: &Slot, deal: Option<&Deal>) -> Instruction {
        let [buyer, seller] = slot.parties;
        let signer = self.mostly(seller, &[buyer, self.cast.stranger]);
        let hash = match (deal, slot.first_terms) {
            (Some(_), Some(first)) if self.chance.percent(8) => first,
            (Some(deal), _) if self.chance.percent(95) => deal.terms_hash(&slot.negotiation),
            _ => self.chance.bytes(),
        };
        let mut bond = [
            slot.vault,
            self.cast.tokens[&seller][0],
            self.cast.mint,
            TOKEN,
        ];
        for account in &mut bond {
            if self.chance.percent(80) {
                *account = ID;
            }
        }
        let keys = [[signer, slot.negotiation].as_slice(), &bond].concat();
        instruction(Kind::AcceptInvitation, &keys, &hash)
    }

    pub(super) fn offer(&mut self, slot: &Slot, seen: &Seen, deal: Option<&Deal>) -> Instruction {
        let turn = slot.parties[seen.turn];
        let signer = self.mostly(turn, &[slot.parties[1 - seen.turn], self.cast.stranger]);
        let mut arguments = vec![self.nearly(seen.round)];
        let amount = self.offer_amount(deal);
        arguments.extend(amount.to_le_bytes());
        arguments.extend([0; 4]); // Nobody asks for more time in these stories.
        arguments.extend(self.metadata());
        let keys = [signer, slot.negotiation];
        instruction(Kind::Offer, &keys, &arguments)
    }

    fn offer_amount(&mut self, deal: Option<&Deal>) -> u64 {
        let Some(deal) = deal else {
            return self.chance.between(0, 5_000_000);
        };
        let most = deal.next_effective();
        let least = floored(most, deal.min_offer_bps);
        match self.chance.between(0, 29) {
            0 => least - 1,
            1 => most + 1,
            2 => 0,
            3 => u64::MAX,
            4..=5 => least,
            6..=8 => most,
            _ => self.chance.between(least, most),
        }
    }
}
