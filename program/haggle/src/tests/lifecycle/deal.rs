//! What a negotiation and the configuration are, written down from docs/PROTOCOL.md and not from the program: each field by hand
//! at its place in the account.

use super::ledger::{associated, Ledger, INITIALIZED};
use crate::declare::discriminator;
use solana_address::Address;

pub const CREATED: u8 = 0;
pub const PROPOSED: u8 = 1;
pub const COUNTERED: u8 = 2;
pub const SETTLED: u8 = 4;
pub const EXPIRED: u8 = 5;
pub const REJECTED: u8 = 6;

pub const NEGOTIATION_SIZE: usize = 512;
pub const CONFIG_SIZE: usize = 143;

/// The two sides of a deal, as its byte for the side of an offer has them.
pub const BUYER: usize = 0;
pub const SELLER: usize = 1;

pub const NEGOTIATION: [u8; 8] = discriminator("account", "Negotiation");
pub const CONFIG: [u8; 8] = discriminator("account", "ProtocolConfig");

pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = const_crypto::sha2::Sha256::new();
    for part in parts {
        hash = hash.update(part);
    }
    hash.finalize()
}

/// `amount * bps / 10,000`, rounded down.
pub fn floored(amount: u64, bps: u16) -> u64 {
    u64::try_from(u128::from(amount) * u128::from(bps) / 10_000).unwrap()
}

/// `amount * bps / 10,000`, rounded half up.
pub fn rounded(amount: u64, bps: u16) -> u64 {
    u64::try_from((u128::from(amount) * u128::from(bps) + 5_000) / 10_000).unwrap()
}

#[derive(Clone, Debug)]
pub struct Deal {
    pub parties: [Address; 2],
    pub session_id: u64,
    pub status: u8,
    pub round: u8,
    pub offer: u64,
    /// The side whose offer stands.
    pub offer_by: Option<usize>,
    pub service_hash: [u8; 32],
    pub escrow: u64,
    pub effective: u64,
    pub mint: Address,
    pub max_rounds: u8,
    pub decay_bps: u16,
    pub window: i64,
    pub deadline: i64,
    pub min_offer_bps: u16,
    pub fee_bps: u16,
    pub created_at: i64,
    pub last_offer_at: i64,
    pub settled_at: i64,
    pub metadata: [u8; 64],
    pub bump: u8,
    pub vault: Address,
    pub vault_bump: u8,
    pub turn_deadline: i64,
    pub claimable: [u64; 2],
    /// What has been agreed on and paid, fee included; zero without an agreement.
    pub paid: u64,
}

impl Deal {
    pub fn is_open(&self) -> bool {
        self.status <= COUNTERED
    }

    pub fn is_bargaining(&self) -> bool {
        self.status == PROPOSED || self.status == COUNTERED
    }

    /// The buyer opens, then turns alternate.
    pub fn turn(&self) -> usize {
        match self.offer_by {
            Some(BUYER) => SELLER,
            _ => BUYER,
        }
    }

    pub fn side_of(&self, party: &Address) -> Option<usize> {
        self.parties.iter().position(|known| known == party)
    }

    pub fn fee(&self) -> u64 {
        floored(self.paid, self.fee_bps)
    }

    pub fn decay(&self) -> u64 {
        self.escrow - self.effective
    }

    /// What the escrow is worth if one more offer is made.
    pub fn next_effective(&self) -> u64 {
        self.effective - rounded(self.effective, self.decay_bps)
    }

    /// What the vault must hold at least: all of the escrow until the end, then what has not been delivered and what is the
    /// treasury's.
    pub fn owed(&self) -> u64 {
        if self.is_open() {
            self.escrow
        } else {
            self.claimable[BUYER] + self.claimable[SELLER] + self.fee() + self.decay()
        }
    }

    /// The 512 bytes of the account.
    pub fn bytes(&self) -> Vec<u8> {
        let offer_by = self
            .offer_by
            .map_or([0; 32], |side| self.parties[side].to_bytes());
        let mut bytes = Vec::with_capacity(NEGOTIATION_SIZE);
        bytes.extend(NEGOTIATION);
        bytes.extend(self.parties[BUYER].as_ref());
        bytes.extend(self.parties[SELLER].as_ref());
        bytes.extend(self.session_id.to_le_bytes());
        bytes.extend([self.status, self.round]);
        bytes.extend(self.offer.to_le_bytes());
        bytes.extend(offer_by);
        bytes.push(self.offer_by.unwrap_or(BUYER) as u8);
        bytes.extend(self.service_hash);
        bytes.extend(self.escrow.to_le_bytes());
        bytes.extend(self.effective.to_le_bytes());
        bytes.extend(self.mint.as_ref());
        bytes.push(self.max_rounds);
        bytes.extend(self.decay_bps.to_le_bytes());
        bytes.extend(self.window.to_le_bytes());
        bytes.extend(self.deadline.to_le_bytes());
        bytes.extend(self.min_offer_bps.to_le_bytes());
        bytes.extend(self.fee_bps.to_le_bytes());
        bytes.push(0); // Sealed prices are not compared,
        bytes.extend(self.created_at.to_le_bytes());
        bytes.extend(self.last_offer_at.to_le_bytes());
        bytes.extend(self.settled_at.to_le_bytes());
        bytes.extend(self.paid.to_le_bytes());
        bytes.extend([0; 32 + 32]); // nobody commits to one,
        bytes.push(4); // and the phase is Skipped.
        bytes.extend(self.metadata);
        bytes.extend([self.bump, self.vault_bump, 1]);
        bytes.extend(self.turn_deadline.to_le_bytes());
        bytes.extend([0; 4]); // No extension is pending;
        bytes.extend([0; 8 + 1 + 8 + 8]); // no bond, no revealed prices;
        bytes.extend([0; 32 + 1 + 16 + 3 + 8]); // no arbiter, no milestones.
        bytes.extend(self.claimable[BUYER].to_le_bytes());
        bytes.extend(self.claimable[SELLER].to_le_bytes());
        bytes.extend(self.paid.to_le_bytes());
        assert_eq!(bytes.len(), NEGOTIATION_SIZE);
        bytes
    }

    /// What a seller who read the account signs for.
    pub fn terms_hash(&self, negotiation: &Address) -> [u8; 32] {
        sha256(&[negotiation.as_ref(), &self.bytes()])
    }
}

#[derive(Clone, Debug)]
pub struct Config {
    pub authority: Address,
    pub treasury: Address,
    pub decay_bps: u16,
    pub window: i64,
    pub fee_bps: u16,
    pub max_rounds: u8,
    pub closed: u64,
    pub volume: u64,
    pub fees: u64,
    pub paused: bool,
    pub bump: u8,
}

impl Config {
    /// The 143 bytes of the account.
    pub fn bytes(&self) -> Vec<u8> {
        let mut bytes = Vec::with_capacity(CONFIG_SIZE);
        bytes.extend(CONFIG);
        bytes.extend(self.authority.as_ref());
        bytes.extend(self.treasury.as_ref());
        bytes.extend(self.decay_bps.to_le_bytes());
        bytes.extend(self.window.to_le_bytes());
        bytes.extend(self.fee_bps.to_le_bytes());
        bytes.push(self.max_rounds);
        bytes.extend(self.closed.to_le_bytes());
        bytes.extend(self.volume.to_le_bytes());
        bytes.extend(self.fees.to_le_bytes());
        bytes.push(u8::from(self.paused));
        bytes.push(self.bump);
        bytes.extend([0; 32]); // Nobody is named as the next authority.
        assert_eq!(bytes.len(), CONFIG_SIZE);
        bytes
    }
}

/// Whether a party's account takes a payment; if not, whether the payment is recorded (false) or refused (None).
pub fn receives(
    ledger: &Ledger,
    account: &Address,
    mint: &Address,
    party: &Address,
) -> Option<bool> {
    match ledger.held(account) {
        Some(held) if held.mint == *mint && held.owner == *party && held.state == INITIALIZED => {
            Some(true)
        }
        _ if *account == associated(party, mint) => Some(false),
        _ => None,
    }
}
