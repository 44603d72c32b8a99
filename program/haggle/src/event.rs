//! The events: all that is left of a negotiation once it is closed.
//!
//! An event is one `Program data:` line of the log: the discriminator, then the fields as Borsh packs them. Amounts are
//! in base units of the negotiation's mint, rates in basis points, times in Unix seconds of the chain's clock.

use crate::schema::declare::{event, Flag, Wire};
use crate::schema::table::Record;
use crate::state::ZopaPhase;
use pinocchio::Address;

macro_rules! events {
    ($($name:ident),* $(,)?) => {
        /// The rows of the table.
        pub const EVENTS: &[&Record] = &[$($name::RECORD),*];
    };
}

events![
    ConfigInitialized,
    ConfigUpdated,
    NegotiationCreated,
    InvitationAccepted,
    ZopaCommitted,
    ZopaRevealed,
    OfferSubmitted,
    OfferAccepted,
    MilestoneClaimed,
    MilestoneReleased,
    MilestoneDisputed,
    DisputeResolved,
    DeadlineSettled,
    NegotiationSettled,
    NegotiationExpired,
    NegotiationRejected,
    BondSettled,
    PayoutRecorded,
    PayoutClaimed,
    NegotiationClosed,
];

event! {
    /// The protocol has been configured for the first time.
    pub struct ConfigInitialized {
        /// Who may change the configuration.
        pub authority: Address,
        /// The wallet that fees and decay go to.
        pub treasury: Address,
        /// The decay per round that the SDK fills in, in basis points.
        pub default_decay_rate_bps: u16,
        /// The time to answer that the SDK fills in, in seconds.
        pub default_response_window: i64,
        /// The fee of negotiations created from now on, in basis points.
        pub default_protocol_fee_bps: u16,
        /// The number of rounds that the SDK fills in.
        pub default_max_rounds: u8,
        /// Whether creating negotiations is stopped.
        pub is_paused: Flag,
    }
}

event! {
    /// The configuration has been changed, or its authority. Negotiations under way keep the terms they were created with.
    pub struct ConfigUpdated {
        /// Who may change the configuration.
        pub authority: Address,
        /// The wallet that fees and decay go to.
        pub treasury: Address,
        /// The decay per round that the SDK fills in, in basis points.
        pub default_decay_rate_bps: u16,
        /// The time to answer that the SDK fills in, in seconds.
        pub default_response_window: i64,
        /// The fee of negotiations created from now on, in basis points.
        pub default_protocol_fee_bps: u16,
        /// The number of rounds that the SDK fills in.
        pub default_max_rounds: u8,
        /// Whether creating negotiations is stopped.
        pub is_paused: Flag,
    }
}

event! {
    /// A buyer has put money into escrow and invited a seller.
    pub struct NegotiationCreated {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who buys, and has deposited the escrow.
        pub buyer: Address,
        /// Who is invited to sell.
        pub seller: Address,
        /// The deposit.
        pub escrow_amount: u64,
        /// The mint of the deposit.
        pub token_mint: Address,
        /// How many offers can be made.
        pub max_rounds: u8,
        /// What the escrow loses each round.
        pub decay_rate_bps: u16,
        /// When the negotiation expires at the latest.
        pub global_deadline: i64,
        /// The time of this event.
        pub timestamp: i64,
        /// The number that tells this pair's negotiations apart.
        pub session_id: u64,
        /// SHA-256 of the service's description.
        pub service_hash: [u8; 32],
        /// The time to answer, in seconds.
        pub response_window: i64,
        /// The least offer, in basis points of the effective escrow.
        pub min_offer_bps: u16,
        /// The fee on what is paid.
        pub protocol_fee_bps: u16,
        /// Whether reservation prices are compared under seal first.
        pub zopa_enabled: Flag,
        /// What the seller has to deposit.
        pub bond_required: u64,
        /// Who decides disputes about milestones; zero without any.
        pub arbiter: Address,
        /// The number of milestones; zero when the price is paid at once.
        pub milestone_count: u8,
        /// Each milestone's share of the price.
        pub milestone_bps: [u16; 8],
        /// When milestones that nobody claimed fall back to the buyer; zero without any.
        pub milestone_deadline: i64,
        /// Structured metadata.
        pub metadata: [u8; 64],
    }
}

event! {
    /// The seller has taken part; the buyer opens. (The specification's diagram calls the instruction
    /// accept_negotiation.)
    pub struct InvitationAccepted {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who has accepted.
        pub seller: Address,
        /// What the seller has deposited.
        pub bond: u64,
        /// Until when the buyer has to make an offer.
        pub turn_deadline: i64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// One side has committed to its reservation price without showing it.
    pub struct ZopaCommitted {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who has committed.
        pub agent: Address,
        /// How far the comparison of reservation prices is now.
        pub phase: ZopaPhase,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// One side has revealed the reservation price that it had committed to.
    pub struct ZopaRevealed {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who has revealed.
        pub agent: Address,
        /// The reservation price.
        pub price: u64,
        /// How far the comparison of reservation prices is now.
        pub phase: ZopaPhase,
        /// The price in the middle, which either side may accept now; zero before both are revealed and without a zone.
        pub midpoint: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// One side has made an offer. (The seller's is what the specification's diagram calls CounterOffered.)
    pub struct OfferSubmitted {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who offers.
        pub offerer: Address,
        /// The price offered.
        pub amount: u64,
        /// The number of this round, from 1.
        pub round: u8,
        /// What the escrow is worth after this round's decay.
        pub effective_escrow: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// One side has accepted the other's offer.
    pub struct OfferAccepted {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who has accepted.
        pub accepted_by: Address,
        /// The price agreed on.
        pub amount: u64,
        /// The round that the offer was made in.
        pub round: u8,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// The seller says that a milestone has been reached; the buyer has a review window to dispute it.
    pub struct MilestoneClaimed {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Which milestone, from 0.
        pub index: u8,
        /// The end of the review window, from which on anyone may release the milestone.
        pub review_deadline: i64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// A milestone has been paid.
    pub struct MilestoneReleased {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Which milestone, from 0.
        pub index: u8,
        /// What the seller gets, fee already taken off.
        pub seller_amount: u64,
        /// The fee.
        pub fee: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// The buyer disputes a milestone; the arbiter decides.
    pub struct MilestoneDisputed {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Which milestone, from 0.
        pub index: u8,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// The arbiter has divided a disputed milestone.
    pub struct DisputeResolved {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Which milestone, from 0.
        pub index: u8,
        /// What the seller gets, fee already taken off.
        pub seller_amount: u64,
        /// The fee.
        pub fee: u64,
        /// What the buyer gets back, without a forfeited bond.
        pub buyer_amount: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// The time for milestones has passed and all that were undecided have been decided, each mask with a bit for every
    /// milestone.
    pub struct DeadlineSettled {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Those that had been claimed and not disputed: paid.
        pub released: u8,
        /// Those that were disputed: split in half.
        pub split: u8,
        /// Those that nobody had claimed: refunded.
        pub refunded: u8,
        /// What the seller gets for all of them, fee already taken off.
        pub seller_amount: u64,
        /// The fee on them.
        pub fee: u64,
        /// What the buyer gets back of them.
        pub buyer_amount: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// The price has been paid. With it the escrow is accounted for to the unit: settled_amount (fee included), the decay
    /// and the rest that the buyer gets back add up to the deposit. What could not be
    /// delivered stands in a PayoutRecorded that follows.
    pub struct NegotiationSettled {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who has bought.
        pub buyer: Address,
        /// Who has sold.
        pub seller: Address,
        /// What has been paid, fee included.
        pub settled_amount: u64,
        /// How many offers were made.
        pub total_rounds: u8,
        /// The fee, taken out of what has been paid.
        pub protocol_fee: u64,
        /// What the escrow has lost over all rounds.
        pub escrow_decay_total: u64,
        /// The time of this event.
        pub timestamp: i64,
        /// The mint of the payment.
        pub token_mint: Address,
        /// SHA-256 of the service's description.
        pub service_hash: [u8; 32],
        /// The metadata of the offer that was accepted.
        pub metadata: [u8; 64],
    }
}

event! {
    /// A deadline has passed and the escrow goes back. What could not be delivered stands in a PayoutRecorded that follows.
    pub struct NegotiationExpired {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// What is the buyer's again: the escrow less its decay.
        pub refund_amount: u64,
        /// How many offers were made.
        pub rounds_completed: u8,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// One side has walked away and the escrow goes back. What could not be delivered stands in a PayoutRecorded that follows.
    pub struct NegotiationRejected {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who has walked away.
        pub rejected_by: Address,
        /// What is the buyer's again: the escrow less its decay.
        pub refund_amount: u64,
        /// How many offers were made.
        pub rounds_completed: u8,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// The seller's bond has left the vault, or is kept for the one it belongs to now.
    pub struct BondSettled {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who it belongs to now: the seller, or the buyer when it is forfeited.
        pub to: Address,
        /// How much.
        pub amount: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// A payment could not be delivered and is kept for the party.
    pub struct PayoutRecorded {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who it is owed to.
        pub party: Address,
        /// How much.
        pub amount: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// A payment that had been kept has been delivered.
    pub struct PayoutClaimed {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who it was owed to.
        pub party: Address,
        /// How much.
        pub amount: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

event! {
    /// The negotiation's accounts are gone; rent has gone to the buyer, fee and decay to the treasury.
    pub struct NegotiationClosed {
        /// The negotiation's address.
        pub negotiation_id: Address,
        /// Who has closed it.
        pub closed_by: Address,
        /// What has gone to the treasury: fee, decay and, except in wrapped SOL, whatever somebody donated to the vault.
        pub swept: u64,
        /// The time of this event.
        pub timestamp: i64,
    }
}

/// The bytes of an event in the log.
#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Logged<E> {
    discriminator: [u8; 8],
    event: E,
}

/// Writes an event to the log as one slice.
#[inline(always)]
pub fn log<E: Wire>(discriminator: [u8; 8], event: E) {
    let logged = Logged {
        discriminator,
        event,
    };
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    {
        // SAFETY: packed structs of Wire types have no padding, so each byte is initialised.
        let bytes = unsafe {
            core::slice::from_raw_parts(
                (&logged as *const Logged<E>).cast::<u8>(),
                size_of::<Logged<E>>(),
            )
        };
        let slices = [bytes];
        // SAFETY: the syscall reads one slice that lives until it returns.
        unsafe {
            pinocchio::syscalls::sol_log_data(slices.as_ptr().cast(), slices.len() as u64);
        }
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    core::hint::black_box(&logged);
}
