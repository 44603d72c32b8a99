//! The events: the only trace that a closed negotiation leaves.
//!
//! An event is one logged `Program data:` line: the discriminator, then
//! the fields in Borsh. Amounts use the negotiation mint's base units,
//! rates in basis points, times in the chain clock's Unix seconds.

use crate::schema::declare::{bytes_of, event, Flag, Wire};
use crate::schema::table::Record;
use crate::state::{BondReason, ProtocolConfig, ZopaPhase};
use pinocchio::Address;

macro_rules! events {
    ($($name:ident),* $(,)?) => {
        /// The table rows.
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
    AgreementSettled,
    NegotiationSettled,
    NegotiationExpired,
    NegotiationRejected,
    BondSettled,
    PayoutRecorded,
    PayoutClaimed,
    NegotiationClosed,
];

event! {
    /// The protocol is configured for the first time.
    pub struct ConfigInitialized {
        /// The authority that can change the configuration.
        pub authority: Address,
        /// The wallet that receives fees and decay.
        pub treasury: Address,
        /// The proposed decay per round, in basis points.
        pub default_decay_rate_bps: u16,
        /// The proposed response window, in seconds.
        pub default_response_window: i64,
        /// The fee for new negotiations, in basis points.
        pub default_protocol_fee_bps: u16,
        /// The proposed number of rounds.
        pub default_max_rounds: u8,
        /// Whether the creation of negotiations is stopped.
        pub is_paused: Flag,
    }
}

event! {
    /// The configuration, the authority or the proposed authority
    /// changed. Existing negotiations keep their terms.
    pub struct ConfigUpdated {
        /// The authority that can change the configuration.
        pub authority: Address,
        /// The wallet that receives fees and decay.
        pub treasury: Address,
        /// The proposed decay per round, in basis points.
        pub default_decay_rate_bps: u16,
        /// The proposed response window, in seconds.
        pub default_response_window: i64,
        /// The fee for new negotiations, in basis points.
        pub default_protocol_fee_bps: u16,
        /// The proposed number of rounds.
        pub default_max_rounds: u8,
        /// Whether the creation of negotiations is stopped.
        pub is_paused: Flag,
    }
}

event! {
    /// A buyer deposited an escrow and invited a seller.
    pub struct NegotiationCreated {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The buyer, who deposited the escrow.
        pub buyer: Address,
        /// The invited seller.
        pub seller: Address,
        /// The deposit.
        pub escrow_amount: u64,
        /// The deposited mint.
        pub token_mint: Address,
        /// The maximum number of offers.
        pub max_rounds: u8,
        /// The escrow's decay per round.
        pub decay_rate_bps: u16,
        /// The bargaining deadline.
        pub global_deadline: i64,
        /// The event time.
        pub timestamp: i64,
        /// A number that distinguishes the negotiations of this pair.
        pub session_id: u64,
        /// The service description's SHA-256.
        pub service_hash: [u8; 32],
        /// The time to answer, in seconds.
        pub response_window: i64,
        /// The minimum offer, as a share of the effective escrow.
        pub min_offer_bps: u16,
        /// The fee on the paid price.
        pub protocol_fee_bps: u16,
        /// Whether the parties compare sealed reservation prices before they bargain.
        pub zopa_enabled: Flag,
        /// The bond that the seller must deposit.
        pub bond_required: u64,
        /// The arbiter of disputes about milestones; zero unless milestones exist.
        pub arbiter: Address,
        /// Each milestone's price share; zeros after the last.
        pub milestone_bps: [u16; 8],
        /// The milestone deadline; zero unless milestones exist.
        pub milestone_deadline: i64,
        /// The time to review a claimed milestone, in hours; zero unless milestones exist.
        pub review_hours: u8,
        /// Structured metadata.
        pub metadata: [u8; 64],
    }
}

event! {
    /// The seller accepted the invitation; the buyer opens.
    pub struct InvitationAccepted {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The seller.
        pub seller: Address,
        /// The seller's deposit.
        pub bond: u64,
        /// The deadline for the buyer's turn.
        pub turn_deadline: i64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// One side committed to a reservation price.
    pub struct ZopaCommitted {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The party that committed.
        pub agent: Address,
        /// The comparison phase after this step.
        pub phase: ZopaPhase,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// One side revealed a reservation price.
    pub struct ZopaRevealed {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The party that revealed.
        pub agent: Address,
        /// The reservation price.
        pub price: u64,
        /// The comparison phase after this step.
        pub phase: ZopaPhase,
        /// The zone's midpoint, which either side can accept; zero
        /// until both prices are revealed, and if no zone exists.
        pub midpoint: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// One side made an offer.
    pub struct OfferSubmitted {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The party that offered.
        pub offerer: Address,
        /// The offered price.
        pub amount: u64,
        /// The round, from 1.
        pub round: u8,
        /// The effective escrow after this round's decay.
        pub effective_escrow: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// One side accepted the other's offer, or the midpoint.
    pub struct OfferAccepted {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The party that accepted.
        pub accepted_by: Address,
        /// The agreed price.
        pub amount: u64,
        /// The offer's round; 0 for the midpoint.
        pub round: u8,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// The seller claimed a milestone, which the buyer can dispute within a review window.
    pub struct MilestoneClaimed {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The milestone, from 0.
        pub index: u8,
        /// The review window's end. From then on anyone can release the milestone.
        pub review_deadline: i64,
        /// The delivery hash, as stated by the seller.
        pub evidence: [u8; 32],
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// A milestone is paid.
    pub struct MilestoneReleased {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The milestone, from 0.
        pub index: u8,
        /// The seller's amount, after the fee.
        pub seller_amount: u64,
        /// The fee.
        pub fee: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// The buyer disputed a milestone; the arbiter decides.
    pub struct MilestoneDisputed {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The milestone, from 0.
        pub index: u8,
        /// The complaint hash, as stated by the buyer.
        pub evidence: [u8; 32],
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// The arbiter divided a disputed milestone.
    pub struct DisputeResolved {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The milestone, from 0.
        pub index: u8,
        /// The seller's amount, after the fee.
        pub seller_amount: u64,
        /// The fee.
        pub fee: u64,
        /// The buyer's amount, without the bond.
        pub buyer_amount: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// The milestone deadline passed, and all undecided milestones
    /// are decided. Each mask holds a bit for each milestone.
    pub struct DeadlineSettled {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The milestones that were claimed and not disputed. They are paid.
        pub released: u8,
        /// The disputed milestones. They are split in half.
        pub split: u8,
        /// The unclaimed milestones. They are refunded.
        pub refunded: u8,
        /// The seller's total amount, after the fee.
        pub seller_amount: u64,
        /// The fee on them.
        pub fee: u64,
        /// The buyer's amount, without the bond.
        pub buyer_amount: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// Both parties have ended an accepted negotiation with a split of their own.
    pub struct AgreementSettled {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The seller's amount for the undecided milestones, after the fee.
        pub seller_amount: u64,
        /// The fee on them.
        pub fee: u64,
        /// The buyer's amount, without the bond.
        pub buyer_amount: u64,
        /// The buyer's part of the bond.
        pub bond_to_buyer: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// The price is paid. The deposit is accounted for to the unit: it equals settled_amount
    /// (fee included) + decay + buyer's refund. A PayoutRecorded follows for each amount that
    /// could not be delivered.
    pub struct NegotiationSettled {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The buyer.
        pub buyer: Address,
        /// The seller.
        pub seller: Address,
        /// The paid price, fee included.
        pub settled_amount: u64,
        /// The number of offers.
        pub total_rounds: u8,
        /// The fee, a part of settled_amount.
        pub protocol_fee: u64,
        /// The decay of all rounds.
        pub escrow_decay_total: u64,
        /// The event time.
        pub timestamp: i64,
        /// The payment's mint.
        pub token_mint: Address,
        /// The service description's SHA-256.
        pub service_hash: [u8; 32],
        /// The metadata that the parties agreed on: the accepted offer's, or for the midpoint the creation's.
        pub metadata: [u8; 64],
    }
}

event! {
    /// A deadline passed, and the escrow is refunded. A PayoutRecorded
    /// follows for each amount that could not be delivered.
    pub struct NegotiationExpired {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The buyer's refund: the escrow less the decay.
        pub refund_amount: u64,
        /// The number of offers.
        pub rounds_completed: u8,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// One side rejected, or the reservation prices left no zone, and the escrow is refunded. A PayoutRecorded
    /// follows for each amount that could not be delivered.
    pub struct NegotiationRejected {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The party that rejected; the negotiation itself if the prices left no zone.
        pub rejected_by: Address,
        /// The buyer's refund: the escrow less the decay.
        pub refund_amount: u64,
        /// The number of offers.
        pub rounds_completed: u8,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// All or part of the seller's bond left the deposit.
    pub struct BondSettled {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The party that it belongs to now.
        pub to: Address,
        /// The amount.
        pub amount: u64,
        /// The event time.
        pub timestamp: i64,
        /// The reason for releasing the bond.
        pub reason: BondReason,
    }
}

event! {
    /// A payment could not be delivered; the party can claim it.
    pub struct PayoutRecorded {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The party.
        pub party: Address,
        /// The amount.
        pub amount: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// A recorded payment is delivered.
    pub struct PayoutClaimed {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The party.
        pub party: Address,
        /// The amount.
        pub amount: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

event! {
    /// The negotiation's accounts are closed. The rent went to the buyer.
    pub struct NegotiationClosed {
        /// The negotiation.
        pub negotiation_id: Address,
        /// The signer that closed it.
        pub closed_by: Address,
        /// The treasury's amount: fee, decay and, except in wrapped SOL, donations to the vault.
        pub swept: u64,
        /// The event time.
        pub timestamp: i64,
    }
}

impl ConfigUpdated {
    /// The configuration as it is now.
    #[inline(always)]
    pub fn of(config: &ProtocolConfig) -> Self {
        Self {
            authority: config.authority,
            treasury: config.treasury,
            default_decay_rate_bps: config.default_decay_rate_bps,
            default_response_window: config.default_response_window,
            default_protocol_fee_bps: config.default_protocol_fee_bps,
            default_max_rounds: config.default_max_rounds,
            is_paused: config.is_paused,
        }
    }
}

/// An event's logged bytes.
#[repr(C, packed)]
#[derive(Clone, Copy)]
struct Logged<E> {
    discriminator: [u8; 8],
    event: E,
}

// SAFETY: the struct is packed, so no padding exists, and any bytes are valid for both fields, as `E` is
// Wire.
unsafe impl<E: Wire> Wire for Logged<E> {
    const TYPE: crate::schema::table::Type = E::TYPE;
}

/// Logs an event as a single slice.
#[inline(always)]
pub fn log<E: Wire>(discriminator: [u8; 8], event: E) {
    let logged = Logged {
        discriminator,
        event,
    };
    let bytes = bytes_of(&logged);
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    {
        let slices = [bytes];
        // SAFETY: the syscall reads one slice, which outlives the call.
        unsafe {
            pinocchio::syscalls::sol_log_data(slices.as_ptr().cast(), slices.len() as u64);
        }
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    core::hint::black_box(bytes);
}
