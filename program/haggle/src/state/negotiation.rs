//! The negotiation account layout.

use crate::constants;
use crate::schema::declare::{account, wire_enum, Flag};
use crate::schema::table::{Seed, Version};
use pinocchio::Address;

wire_enum! {
    /// The negotiation status. Settled, Expired and Rejected are final.
    pub enum NegotiationStatus {
        /// The buyer has deposited the escrow, and the seller is invited.
        Created = 0,
        /// The seller has accepted the invitation, or the buyer made the latest offer.
        Proposed = 1,
        /// The seller made the latest offer.
        Countered = 2,
        /// The parties have agreed on a price, which is paid by milestones.
        Accepted = 3,
        /// The price is paid.
        Settled = 4,
        /// A deadline passed, and the escrow is refunded.
        Expired = 5,
        /// One side rejected, or the reservation prices left no zone, and the escrow is refunded.
        Rejected = 6,
    }
}

wire_enum! {
    /// A negotiation side.
    pub enum OfferSide {
        /// The side that pays.
        Buyer = 0,
        /// The side that is paid.
        Seller = 1,
    }
}

wire_enum! {
    /// The phase of comparing sealed reservation prices.
    pub enum ZopaPhase {
        /// No side has committed to a price.
        NotStarted = 0,
        /// The buyer has committed to a price.
        BuyerCommitted = 1,
        /// Both sides have committed to a price.
        BothCommitted = 2,
        /// Both prices are revealed.
        Revealed = 3,
        /// The negotiation has no sealed prices.
        Skipped = 4,
    }
}

wire_enum! {
    /// The seller's bond state.
    pub enum BondState {
        /// There is no bond.
        None = 0,
        /// The bond is in the vault.
        Held = 1,
        /// The whole bond is returned to the seller.
        Returned = 2,
        /// The whole bond goes to the buyer.
        Forfeited = 3,
        /// A part goes to the buyer, the rest returns to the seller.
        Split = 4,
    }
}

wire_enum! {
    /// Why a bond has left the deposit.
    pub enum BondReason {
        /// The price is settled. The buyer's share of the
        /// bond equals the refunded share of the price.
        Settlement = 0,
        /// There is no deal. The buyer's part is the decay borne by the seller.
        NoDeal = 1,
        /// The seller has seen the buyer's reservation price and walked away.
        Forfeit = 2,
        /// Both parties have agreed on the parts.
        Agreement = 3,
    }
}

account! {
    /// A negotiation, at the PDA ["negotiation", buyer, seller, session_id]. Amounts use token_mint's base
    /// units, rates in basis points, times in the chain clock's Unix seconds.
    pub struct Negotiation {
        /// The party that pays.
        pub buyer: Address,
        /// The party that is paid.
        pub seller: Address,
        /// A number that distinguishes the negotiations between the same buyer and seller.
        pub session_id: u64,
        /// The status.
        pub status: NegotiationStatus,
        /// The number of offers so far.
        pub current_round: u8,
        /// The latest offered amount, or the midpoint.
        pub current_offer_amount: u64,
        /// The party that made the latest offer; the negotiation's own address for the midpoint; zero until
        /// the first offer.
        pub current_offer_by: Address,
        /// The side that made the latest offer. Meaningless if no offer exists, or for the midpoint.
        pub offer_side: OfferSide,
        /// The service description's SHA-256.
        pub service_hash: [u8; 32],
        /// The deposit.
        pub escrow_amount: u64,
        /// The deposit less the decay of all rounds so far.
        pub effective_escrow: u64,
        /// The deposited mint.
        pub token_mint: Address,
        /// The maximum number of offers, 1 to 20.
        pub max_rounds: u8,
        /// The escrow's decay per round, 0 to 1,000.
        pub decay_rate_bps: u16,
        /// The time to answer, in seconds, 60 to 3,600.
        pub response_window: i64,
        /// The bargaining deadline.
        pub global_deadline: i64,
        /// The minimum offer, as a share of the effective escrow, 100 to 9,000.
        pub min_offer_bps: u16,
        /// The fee on the paid price, 0 to 500, fixed at creation.
        pub protocol_fee_bps: u16,
        /// Whether the parties compare sealed reservation prices before they bargain.
        pub zopa_enabled: Flag,
        /// The time of creation. Combined with the address, this identifies the deal.
        pub created_at: i64,
        /// The latest offer's time; zero before the first offer.
        pub last_offer_at: i64,
        /// The time of settlement; zero unless settled.
        pub settled_at: i64,
        /// The agreed price, fee included; zero unless agreed.
        pub settled_amount: u64,
        /// The commitment to the buyer's reservation price; zero unless committed.
        pub buyer_commitment: [u8; 32],
        /// The commitment to the seller's reservation price; zero unless committed.
        pub seller_commitment: [u8; 32],
        /// The reservation price comparison's phase.
        pub zopa_phase: ZopaPhase,
        /// The latest offer's structured metadata, or the creation's before the first offer.
        pub metadata: [u8; 64],
        /// The negotiation address bump.
        pub bump: u8,
        /// The vault address bump.
        pub vault_bump: u8,
        /// The layout version.
        pub version: u8,
        /// The end of the current turn or milestone review.
        pub turn_deadline: i64,
        /// The deadline extension requested in the latest offer and not granted by the opposite side, in
        /// seconds.
        pub pending_extension: u32,
        /// The seller's bond, deposited with accept_invitation; zero means none.
        pub bond_required: u64,
        /// The bond state.
        pub bond_state: BondState,
        /// The buyer's reservation price; zero unless revealed.
        pub buyer_price: u64,
        /// The seller's reservation price; zero unless revealed.
        pub seller_price: u64,
        /// The arbiter of disputes about milestones; zero unless milestones exist.
        pub arbiter: Address,
        /// The time to review a claimed milestone, in hours, 1 to 168; zero unless milestones exist.
        pub review_hours: u8,
        /// Each milestone's price share. Milestone i exists if the share is nonzero.
        pub milestone_bps: [u16; 8],
        /// The decided milestones, a bit each.
        pub milestones_decided: u8,
        /// The claimed milestones, a bit each.
        pub milestones_claimed: u8,
        /// The disputed milestones, a bit each.
        pub milestones_disputed: u8,
        /// The milestone deadline; zero unless milestones exist.
        pub milestone_deadline: i64,
        /// The buyer's recorded, claimable payout.
        pub claimable_buyer: u64,
        /// The seller's recorded, claimable payout.
        pub claimable_seller: u64,
        /// The price part paid so far, fee included.
        pub paid_gross: u64,
    }
    version: Some(Version { field: "version", value: constants::NEGOTIATION_VERSION });
    const SEEDS: &'static [Seed] = &[
        Seed::Const(constants::NEGOTIATION_SEED.as_bytes()),
        Seed::Account("buyer"),
        Seed::Account("seller"),
        Seed::Arg("session_id"),
    ];
}

const _: () = assert!(Negotiation::SIZE == constants::MAX_NEGOTIATION_SIZE as usize);

impl Negotiation {
    /// The vault address seeds.
    pub const VAULT_SEEDS: &'static [Seed] = &[
        Seed::Const(constants::VAULT_SEED.as_bytes()),
        Seed::Account("negotiation"),
    ];
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_at_the_documented_offsets() {
        use core::mem::offset_of;
        let at = [
            offset_of!(Negotiation, buyer),
            offset_of!(Negotiation, seller),
            offset_of!(Negotiation, session_id),
            offset_of!(Negotiation, status),
            offset_of!(Negotiation, metadata),
            offset_of!(Negotiation, bump),
        ];
        assert_eq!(at.map(|offset| 8 + offset), [8, 40, 72, 80, 324, 388]);
        assert_eq!(Negotiation::SIZE, 512);
    }
}
