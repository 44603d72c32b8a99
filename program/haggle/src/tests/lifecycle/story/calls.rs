//! Calls that make sense at this point of a negotiation, or nearly.

use super::super::deal::{Deal, BUYER};
use super::super::model::Kind;
use super::Story;
use crate::ID;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};

/// What an agent has read of a negotiation before it acts.
pub(super) struct Seen {
    pub(super) round: u8,
    pub(super) offer: u64,
    pub(super) metadata: [u8; 64],
    pub(super) turn: usize,
    pub(super) claimable: [u64; 2],
}

impl Seen {
    pub(super) fn of(deal: &Deal) -> Self {
        Self {
            round: deal.round,
            offer: deal.offer,
            metadata: deal.metadata,
            turn: deal.turn(),
            claimable: deal.claimable,
        }
    }
}

impl Story<'_> {
    /// A call that makes sense at this point, or nearly.
    pub(super) fn sensible(&mut self, kind: Kind, at: usize) -> Instruction {
        let slot = &self.slots[at].clone();
        let deal = self.deal(at).cloned();
        let deal = deal.as_ref();
        let nobody = Seen {
            round: 0,
            offer: 0,
            metadata: [0; 64],
            turn: BUYER,
            claimable: [0; 2],
        };
        let seen = &deal.map_or(nobody, Seen::of);
        match kind {
            Kind::Initialize => self.initialize(),
            Kind::Create => self.create(at),
            Kind::AcceptInvitation => self.accept_invitation(slot, deal),
            Kind::Offer => self.offer(slot, seen, deal),
            Kind::AcceptOffer => self.accept_offer(slot, seen),
            Kind::Reject => self.reject(slot, seen),
            Kind::Expire => self.expire(slot),
            Kind::Claim => self.claim(slot, seen),
            Kind::Close => self.close(slot, seen),
        }
    }

    pub(super) fn mostly(&mut self, who: Address, others: &[Address]) -> Address {
        match self.chance.percent(90) {
            true => who,
            false => self.chance.pick(others),
        }
    }

    pub(super) fn nearly(&mut self, round: u8) -> u8 {
        match self.chance.percent(96) {
            true => round,
            false => self.chance.pick(&[round.wrapping_sub(1), round + 1]),
        }
    }

    /// A number in a range, often at its ends, seldom one beyond them.
    pub(super) fn around(&mut self, low: u64, high: u64) -> u64 {
        match self.chance.between(0, 199) {
            0 => low.wrapping_sub(1),
            1 => high + 1,
            2..=13 => low,
            14..=25 => high,
            _ => self.chance.between(low, high),
        }
    }

    pub(super) fn metadata(&mut self) -> [u8; 64] {
        let mut metadata = [0; 64];
        match self.chance.between(0, 39) {
            0 => metadata[self.chance.index(64)] = self.chance.between(2, 255) as u8,
            1..=9 => {
                let (first, second) = (self.chance.bytes(), self.chance.bytes());
                metadata[0] = 1;
                metadata[1..33].copy_from_slice(&first);
                metadata[33..50].copy_from_slice(&second[..17]);
            }
            _ => {}
        }
        metadata
    }

    /// A token account that a party is to be paid to: mostly its own.
    pub(super) fn recipient(&mut self, party: &Address) -> Address {
        let own = self
            .cast
            .tokens
            .get(party)
            .copied()
            .unwrap_or([self.cast.strangers_tokens; 2]);
        self.chance
            .weighted(&[(64, own[0]), (32, own[1]), (4, self.cast.strangers_tokens)])
    }
}

/// A call with the flags that its places ask for. What is left out is neither signed for nor written to.
pub(super) fn instruction(kind: Kind, keys: &[Address], arguments: &[u8]) -> Instruction {
    let places = kind.places();
    assert_eq!(keys.len(), places.len());
    let accounts = places
        .iter()
        .zip(keys)
        .map(|((flags, _), key)| AccountMeta {
            pubkey: *key,
            is_signer: flags.contains('s'),
            is_writable: flags.contains('w') && *key != ID,
        });
    Instruction {
        program_id: ID,
        accounts: accounts.collect(),
        data: [kind.discriminator().as_slice(), arguments].concat(),
    }
}
