//! Running a call, comparing what it does with the model, and keeping the books.

use super::super::deal::Deal;
use super::super::ledger::WRAPPED_SOL;
use super::super::model::{predict, Kind, World, KINDS};
use super::Story;
use mollusk_svm::Mollusk;
use solana_account::Account;
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_instruction::Instruction;

impl Story<'_> {
    /// Runs a call and compares all that it does with the model.
    pub(super) fn call(&mut self, call: Instruction) -> Result<(), String> {
        let kind = KINDS
            .into_iter()
            .find(|kind| call.data.starts_with(&kind.discriminator()));
        let expected = predict(&self.world, self.desk.fixed, &call);
        let found = run(self.desk.machine, &self.world, &call);
        self.desk.tally.instructions += 1;
        self.say(|_| {
            let name = kind.map_or("something else", Kind::name);
            format!("{name}: {:?}", expected.as_ref().map(|next| &next.outcomes))
        });
        let next = match (expected, found) {
            (Ok(next), Ok(found)) => {
                for (address, account) in found {
                    let expected = next.world.ledger.get(&address);
                    if account != expected {
                        return Err(format!(
                            "{}\nleaves {address} as\n{account:?}\nand not as\n{expected:?}",
                            show(&call)
                        ));
                    }
                }
                next
            }
            (Err(expected), Err(Answer::Code(found))) if expected == found => {
                self.desk.tally.error(kind, found);
                return Ok(());
            }
            (expected, found) => {
                let expected = expected.map(|next| next.outcomes);
                let found = found.map(|_| "success");
                return Err(format!(
                    "{}\nanswers {found:?}, and not {expected:?}",
                    show(&call)
                ));
            }
        };
        let before = std::mem::replace(&mut self.world, next.world);
        for outcome in next.outcomes {
            self.desk.tally.outcome(outcome);
        }
        self.follow(&before)
    }

    /// Keeps the books of each negotiation, from what is in its vault and not from what the model says of payments.
    fn follow(&mut self, before: &World) -> Result<(), String> {
        for at in 0..self.slots.len() {
            let slot = &mut self.slots[at];
            let was = before.deals.get(&slot.negotiation);
            let is = self.world.deals.get(&slot.negotiation);
            let [held_before, holds] =
                [before, &self.world].map(|world| u128::from(world.ledger.amount(&slot.vault)));
            match (was, is) {
                (None, Some(deal)) => {
                    slot.paid_out = 0;
                    slot.donated = u64::try_from(holds - u128::from(deal.escrow)).unwrap();
                    if slot.was_closed {
                        self.desk
                            .tally
                            .outcome("created again after closing".into());
                    }
                    if before.ledger.get(&slot.negotiation).lamports
                        + before.ledger.get(&slot.vault).lamports
                        > 0
                    {
                        self.desk
                            .tally
                            .outcome("created where lamports had been sent ahead".into());
                    }
                    slot.first_terms
                        .get_or_insert(deal.terms_hash(&slot.negotiation));
                }
                (Some(_), Some(deal)) if holds <= held_before => {
                    slot.paid_out += u64::try_from(held_before - holds).unwrap();
                    let left = deal.owed();
                    if slot.paid_out.checked_add(left) != Some(deal.escrow) {
                        return Err(format!(
                            "of an escrow of {} {} have been paid and {left} are left",
                            deal.escrow, slot.paid_out
                        ));
                    }
                    if was.is_some_and(Deal::is_open) && !deal.is_open() {
                        self.reached_an_end = true;
                        if deal.paid > 0 && deal.round == deal.max_rounds {
                            self.desk
                                .tally
                                .outcome("settled after the last round".into());
                        }
                    }
                }
                (Some(_), Some(deal)) => {
                    // Somebody had a payout of another negotiation sent here.
                    slot.donated += u64::try_from(holds - held_before).unwrap();
                    assert!(deal.escrow > 0);
                }
                (Some(deal), None) => {
                    slot.was_closed = true;
                    let everything = held_before + u128::from(slot.paid_out);
                    let expected = u128::from(deal.escrow) + u128::from(slot.donated);
                    if self.cast.mint != WRAPPED_SOL && everything != expected {
                        return Err(format!(
                            "{everything} came out of a vault that got {expected}"
                        ));
                    }
                }
                (None, None) => {}
            }
        }
        Ok(())
    }
}

/// What a call that failed answered.
#[derive(Debug)]
pub(super) enum Answer {
    Code(u32),
    #[allow(dead_code)] // A report shows it.
    Other(InstructionError),
    ChangedSomething,
}

/// Runs a call on a copy of the accounts it names.
pub(super) fn run(
    machine: &mut Mollusk,
    world: &World,
    call: &Instruction,
) -> Result<Vec<(Address, Account)>, Answer> {
    let mut given: Vec<(Address, Account)> = Vec::with_capacity(call.accounts.len());
    for meta in &call.accounts {
        if given.iter().all(|(address, _)| *address != meta.pubkey) {
            given.push((meta.pubkey, world.ledger.get(&meta.pubkey)));
        }
    }
    machine.sysvars.clock.unix_timestamp = world.now;
    let result = machine.process_instruction(call, &given);
    match result.raw_result {
        Ok(()) => Ok(result.resulting_accounts),
        Err(_) if result.resulting_accounts != given => Err(Answer::ChangedSomething),
        Err(InstructionError::Custom(code)) => Err(Answer::Code(code)),
        Err(other) => Err(Answer::Other(other)),
    }
}

/// A call as a report shows it.
pub(super) fn show(call: &Instruction) -> String {
    let kind = KINDS
        .into_iter()
        .find(|kind| call.data.starts_with(&kind.discriminator()));
    let accounts = call.accounts.iter().map(|meta| {
        let signer = if meta.is_signer { " signer" } else { "" };
        let writable = if meta.is_writable { " writable" } else { "" };
        format!("\n  {}{signer}{writable}", meta.pubkey)
    });
    let accounts: String = accounts.collect();
    let name = kind.map_or("something else", Kind::name);
    format!("{name} of {}{accounts}\n  {:?}", call.program_id, call.data)
}
