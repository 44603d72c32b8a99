//! What a call has changed, and the events that tell so.

use super::{event, Deal, Stage};
use crate::event::{BondSettled, NegotiationSettled, PayoutRecorded};
use pinocchio::Address;

impl Stage {
    /// The accounts that differ from those of an earlier snapshot, in the order of their addresses.
    pub fn changed_since(&self, before: &Self) -> Vec<Address> {
        let mut addresses: Vec<_> = self.accounts.keys().chain(before.accounts.keys()).collect();
        addresses.sort();
        addresses.dedup();
        addresses
            .into_iter()
            .filter(|address| self.account(address) != before.account(address))
            .copied()
            .collect()
    }

    /// NegotiationSettled of a negotiation as it is now.
    pub fn settled_event(&self, deal: &Deal, settled_amount: u64, protocol_fee: u64) -> Vec<u8> {
        let negotiation = self.negotiation(deal);
        event(
            NegotiationSettled::RECORD,
            &NegotiationSettled {
                negotiation_id: deal.negotiation,
                buyer: deal.buyer,
                seller: deal.seller,
                settled_amount,
                total_rounds: negotiation.current_round,
                protocol_fee,
                escrow_decay_total: negotiation.escrow_amount - negotiation.effective_escrow,
                timestamp: self.now,
                token_mint: deal.token_mint,
                service_hash: negotiation.service_hash,
                metadata: negotiation.metadata,
            },
        )
    }

    /// BondSettled now.
    pub fn bond_event(&self, deal: &Deal, to: Address, amount: u64) -> Vec<u8> {
        event(
            BondSettled::RECORD,
            &BondSettled {
                negotiation_id: deal.negotiation,
                to,
                amount,
                timestamp: self.now,
            },
        )
    }

    /// PayoutRecorded now.
    pub fn recorded_event(&self, deal: &Deal, party: Address, amount: u64) -> Vec<u8> {
        event(
            PayoutRecorded::RECORD,
            &PayoutRecorded {
                negotiation_id: deal.negotiation,
                party,
                amount,
                timestamp: self.now,
            },
        )
    }
}
