//! What the design says will happen: the exact error of an instruction, or the exact accounts it leaves behind.
//!
//! It reads the raw instruction, as the program does, and shares none of its rules.

mod arguments;
mod bargaining;
mod creating;
mod ending;
mod errors;
mod instructions;
mod payouts;
mod rule_order;

use super::deal::{Config, Deal};
use super::ledger::{Ledger, FROZEN, LOADER, TOKEN};
use crate::ID;
use arguments::Reader;
use errors::{OVERFLOW, PAST_DEADLINE, PAST_WINDOW};
pub use instructions::{Kind, KINDS};
use rule_order::{check_places, refuse, WrongAddresses};
use solana_address::Address;
use solana_instruction::Instruction;
use std::collections::BTreeMap;

/// Everything there is at a point in time.
#[derive(Clone)]
pub struct World {
    pub now: i64,
    pub ledger: Ledger,
    /// The negotiations whose accounts exist.
    pub deals: BTreeMap<Address, Deal>,
    pub config: Option<Config>,
    /// The program's upgrade authority.
    pub deployer: Address,
}

/// The addresses that never change.
pub struct Fixed {
    pub config: Address,
    pub config_bump: u8,
    /// The loader's account of the program.
    pub program_data: Address,
}

impl Fixed {
    pub fn derive() -> Self {
        let (config, config_bump) = Address::find_program_address(&[b"config"], &ID);
        let program_data = Address::find_program_address(&[ID.as_ref()], &LOADER).0;
        Self {
            config,
            config_bump,
            program_data,
        }
    }
}

pub fn negotiation_address(parties: &[Address; 2], session_id: u64) -> (Address, u8) {
    let session = session_id.to_le_bytes();
    let [buyer, seller] = parties;
    Address::find_program_address(
        &[b"negotiation", buyer.as_ref(), seller.as_ref(), &session],
        &ID,
    )
}

pub fn vault_address(negotiation: &Address) -> (Address, u8) {
    Address::find_program_address(&[b"vault", negotiation.as_ref()], &ID)
}

/// What an instruction that succeeds leaves behind, and what a reader of statistics would call it.
pub struct Next {
    pub world: World,
    pub outcomes: Vec<String>,
}

/// Predicts an instruction.
pub fn predict(world: &World, fixed: &Fixed, instruction: &Instruction) -> Result<Next, u32> {
    refuse(instruction.program_id != ID, 4100)?;
    let Some((tag, arguments)) = instruction.data.split_first_chunk::<8>() else {
        return Err(100);
    };
    let kind = KINDS
        .into_iter()
        .find(|kind| kind.discriminator() == *tag)
        .ok_or(101u32)?;
    refuse(arguments.len() != kind.arguments(), 102)?;
    // The only flag or enum among the arguments: whether prices are compared under seal.
    refuse(kind == Kind::Create && arguments[8 + 61] > 1, 102)?;

    check_places(world, instruction, kind.places())?;
    let keys: Vec<_> = instruction
        .accounts
        .iter()
        .map(|meta| meta.pubkey)
        .collect();
    let case = Case {
        world,
        fixed,
        keys: &keys,
    };
    let arguments = Reader(arguments);
    match kind {
        Kind::Initialize => case.initialize(arguments),
        Kind::Create => case.create(arguments),
        Kind::AcceptInvitation => case.accept_invitation(arguments),
        Kind::Offer => case.offer(arguments),
        Kind::AcceptOffer => case.accept_offer(arguments),
        Kind::Reject => case.reject(arguments),
        Kind::Expire => case.expire(),
        Kind::Close => case.close(),
        Kind::Claim => case.claim(arguments),
    }
}

struct Case<'a> {
    world: &'a World,
    fixed: &'a Fixed,
    keys: &'a [Address],
}

impl Case<'_> {
    /// Acting at or after the deadline fails.
    fn in_time(&self, deal: &Deal) -> Result<(), u32> {
        refuse(self.world.now >= deal.deadline, PAST_DEADLINE)?;
        refuse(self.world.now >= deal.turn_deadline, PAST_WINDOW)
    }

    fn next_turn(&self, deal: &Deal) -> Result<i64, u32> {
        let end = self.world.now.checked_add(deal.window).ok_or(OVERFLOW)?;
        Ok(end.min(deal.deadline))
    }

    fn belongs(&self, account: &Address, deal: &Deal, owner: Address) -> bool {
        self.world
            .ledger
            .held(account)
            .is_some_and(|held| held.mint == deal.mint && held.owner == owner)
    }

    /// A vault cannot pay while it is frozen, or when the rent of wrapped SOL has risen at its tokens' cost.
    fn can_pay(&self, vault: &Address, amount: u64) -> bool {
        self.world
            .ledger
            .held(vault)
            .is_some_and(|held| held.state != FROZEN && held.amount >= amount)
    }

    fn wrong_vault(
        &self,
        deal: &Deal,
        vault: Address,
        mint: Address,
        program: Address,
    ) -> WrongAddresses {
        let mut wrong = WrongAddresses::default();
        wrong.when(vault != deal.vault, 2006);
        wrong.when(mint != deal.mint, 2001);
        wrong.when(program != TOKEN, 3008);
        wrong
    }

    /// The world with a deal as it is now.
    fn wrote(&self, negotiation: Address, deal: Deal, outcome: &str) -> Next {
        let mut world = self.world.clone();
        world.ledger.change(&negotiation).data = deal.bytes();
        world.deals.insert(negotiation, deal);
        Next {
            world,
            outcomes: vec![outcome.into()],
        }
    }
}
