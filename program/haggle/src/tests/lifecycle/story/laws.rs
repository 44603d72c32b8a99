//! The laws that hold after every step, and the calls that would break them.

use super::super::deal::{Deal, BUYER};
use super::super::ledger::{rent, TOKEN, TOKEN_ACCOUNT_SIZE, WRAPPED_SOL};
use super::super::model::Kind;
use super::calls::instruction;
use super::running::{run, show};
use super::{Slot, Story};
use crate::ID;
use solana_address::Address;
use solana_instruction::Instruction;

impl Story<'_> {
    pub(super) fn check_laws(&mut self) -> Result<(), String> {
        // Wrapped SOL becomes lamports when an account is closed.
        let supply = self.world.ledger.supply(&self.cast.mint);
        if self.cast.mint != WRAPPED_SOL && supply != self.supply {
            return Err(format!("there are {supply} tokens and not {}", self.supply));
        }
        let lamports = self.world.ledger.lamports();
        if lamports != self.lamports {
            return Err(format!(
                "there are {lamports} lamports and not {}",
                self.lamports
            ));
        }
        for at in 0..self.slots.len() {
            let slot = self.slots[at].clone();
            if let Some(deal) = self.deal(at).cloned() {
                self.check_vault(&slot, &deal)?;
                if deal.is_open() {
                    self.check_act_or_expire(&slot, &deal)?;
                } else {
                    self.check_final(&slot, &deal)?;
                }
            }
        }
        Ok(())
    }

    /// The vault never holds less than what is owed. Of wrapped SOL the lamports count, of which the token program may take
    /// some for tokens or for rent.
    fn check_vault(&self, slot: &Slot, deal: &Deal) -> Result<(), String> {
        let holds = match self.cast.mint == WRAPPED_SOL {
            true => self.world.ledger.get(&slot.vault).lamports - rent(TOKEN_ACCOUNT_SIZE),
            false => self.world.ledger.amount(&slot.vault),
        };
        if holds < deal.owed() {
            return Err(format!(
                "the vault holds {holds}, and {} are owed",
                deal.owed()
            ));
        }
        Ok(())
    }

    /// At any second exactly one is possible: that a party acts, or that anyone expires.
    fn check_act_or_expire(&mut self, slot: &Slot, deal: &Deal) -> Result<(), String> {
        let acts = self.would_succeed(&self.valid_reject(slot, deal, deal.parties[BUYER]));
        let expires = self.would_succeed(&self.valid_expire(slot));
        if acts == expires {
            return Err(format!(
                "at {} acting is {acts} and expiring is {expires}:\n{deal:#?}",
                self.world.now
            ));
        }
        Ok(())
    }

    /// Nothing but claiming and closing is left.
    fn check_final(&mut self, slot: &Slot, deal: &Deal) -> Result<(), String> {
        let mut round = vec![deal.round];
        round.extend(deal.offer.to_le_bytes());
        let [buyer, seller] = deal.parties;
        let [to_buyer, to_seller] = deal.parties.map(|party| self.cast.tokens[&party][0]);
        let mint = self.cast.mint;
        let hash = deal.terms_hash(&slot.negotiation);
        let accept = [round.as_slice(), &deal.metadata].concat();
        let offer = [round.as_slice(), &[0; 4 + 64]].concat();
        let mut calls = vec![
            instruction(
                Kind::AcceptInvitation,
                &[seller, slot.negotiation, ID, ID, ID, ID],
                &hash,
            ),
            self.valid_expire(slot),
        ];
        for party in [buyer, seller] {
            let keys = [
                party,
                slot.negotiation,
                slot.vault,
                to_buyer,
                to_seller,
                mint,
                TOKEN,
            ];
            calls.push(instruction(Kind::AcceptOffer, &keys, &accept));
            calls.push(instruction(Kind::Offer, &[party, slot.negotiation], &offer));
            calls.push(self.valid_reject(slot, deal, party));
        }
        // One of them at a time: there are many steps.
        let call = &calls[self.chance.index(calls.len())];
        if self.would_succeed(call) {
            return Err(format!(
                "{}\nchanges a negotiation that is over:\n{deal:#?}",
                show(call)
            ));
        }
        Ok(())
    }

    fn would_succeed(&mut self, call: &Instruction) -> bool {
        self.desk.tally.probes += 1;
        run(self.desk.machine, &self.world, call).is_ok()
    }

    fn valid_reject(&self, slot: &Slot, deal: &Deal, party: Address) -> Instruction {
        let to_buyer = self.cast.tokens[&slot.parties[BUYER]][0];
        let keys = [
            party,
            slot.negotiation,
            slot.vault,
            to_buyer,
            ID,
            self.cast.mint,
            TOKEN,
        ];
        instruction(Kind::Reject, &keys, &[deal.round])
    }

    fn valid_expire(&self, slot: &Slot) -> Instruction {
        let to_buyer = self.cast.tokens[&slot.parties[BUYER]][0];
        let keys = [
            slot.negotiation,
            slot.vault,
            to_buyer,
            ID,
            self.cast.mint,
            TOKEN,
        ];
        instruction(Kind::Expire, &keys, &[])
    }
}
