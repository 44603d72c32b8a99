//! Calls that create: the configuration and negotiations.

use super::super::deal::{BUYER, SELLER};
use super::super::ledger::{SYSTEM, TOKEN};
use super::super::model::{negotiation_address, vault_address, Kind};
use super::calls::instruction;
use super::Story;
use solana_address::Address;
use solana_instruction::Instruction;

impl Story<'_> {
    fn treasury(&self) -> Address {
        self.world
            .ledger
            .held(&self.cast.treasury_tokens)
            .map_or(self.cast.stranger, |held| held.owner)
    }

    pub(super) fn initialize(&mut self) -> Instruction {
        let mut arguments = vec![];
        let treasury = if self.chance.percent(97) {
            self.treasury()
        } else {
            Address::default()
        };
        arguments.extend(treasury.as_ref());
        let decay_bps = self.around(0, 1_000) as u16;
        let window = self.around(60, 3_600) as i64;
        let fee_bps = self.around(0, 500) as u16;
        let max_rounds = self.around(1, 20) as u8;
        arguments.extend(decay_bps.to_le_bytes());
        arguments.extend(window.to_le_bytes());
        arguments.extend(fee_bps.to_le_bytes());
        arguments.push(max_rounds);
        let authority = self.mostly(self.cast.deployer, &[self.cast.stranger]);
        let keys = [
            authority,
            self.desk.fixed.config,
            self.desk.fixed.program_data,
            SYSTEM,
        ];
        instruction(Kind::Initialize, &keys, &arguments)
    }

    pub(super) fn create(&mut self, at: usize) -> Instruction {
        let slot = self.slots[at].clone();
        let mut parties = slot.parties;
        let mut addresses = [slot.negotiation, slot.vault];
        let richest = self.cast.tokens[&parties[BUYER]];
        let richest = richest
            .into_iter()
            .max_by_key(|account| self.world.ledger.amount(account));
        let mut accounts = (richest.unwrap(), self.cast.mint);
        match self.chance.between(0, 59) {
            0 => {
                parties[SELLER] = parties[BUYER];
                addresses[0] = negotiation_address(&parties, slot.session_id).0;
                addresses[1] = vault_address(&addresses[0]).0;
            }
            1 if parties[BUYER] == self.cast.buyer => {
                accounts = (self.cast.blank_tokens, self.cast.blank_mint)
            }
            _ => {}
        }
        let available = self.world.ledger.amount(&accounts.0).max(100_000);
        let escrow = match self.chance.between(0, 19) {
            0 => 100_000,
            1 => 99_999,
            2 => available,
            3 => available.saturating_add(1),
            4 => 5_000_000,
            _ => self
                .chance
                .between(100_000, available.min(self.funds / 2 + 1).max(100_000)),
        };
        let mut arguments = slot.session_id.to_le_bytes().to_vec();
        arguments.extend(escrow.to_le_bytes());
        arguments.extend(self.chance.bytes());
        let long = self.chance.percent(70);
        arguments.push(if long {
            self.chance.between(6, 20) as u8
        } else {
            self.around(1, 4) as u8
        });
        let decay_bps = if self.chance.percent(15) {
            0
        } else {
            self.around(0, 1_000) as u16
        };
        arguments.extend(decay_bps.to_le_bytes());
        arguments.extend((self.around(60, 3_600) as i64).to_le_bytes());
        let ahead = match self.chance.percent(40) {
            true => self.chance.between_i64(60, 2_000),
            false => self.around(60, 86_400) as i64,
        };
        let deadline = match self.chance.between(0, 99) {
            0 => i64::MAX,
            1 => i64::MIN,
            _ => self.world.now.saturating_add(ahead),
        };
        arguments.extend(deadline.to_le_bytes());
        arguments.extend((self.around(100, 9_000) as u16).to_le_bytes());
        // Whether prices are sealed, the bond, and the milestones with their arbiter: there is none of it in these stories,
        // and a single byte of it is out of range, but for the bond's.
        let mut sealed_bond_milestones = [0; 66];
        if self.chance.percent(2) {
            let place = self.chance.index(66 - 8);
            let place = if place == 0 { 0 } else { place + 8 };
            sealed_bond_milestones[place] = self.chance.between(1, 255) as u8;
        }
        arguments.extend(sealed_bond_milestones);
        arguments.extend(self.metadata());
        let [buyer, seller] = parties;
        let [negotiation, vault] = addresses;
        let (tokens, mint) = accounts;
        let config = self.desk.fixed.config;
        let keys = [
            buyer,
            seller,
            negotiation,
            vault,
            tokens,
            mint,
            config,
            TOKEN,
            SYSTEM,
        ];
        instruction(Kind::Create, &keys, &arguments)
    }
}
