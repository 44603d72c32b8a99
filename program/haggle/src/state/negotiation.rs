//! A negotiation: who bargains with whom over what, how far they are, and what the vault owes.

use crate::error::HaggleError;
use crate::schema::declare::{account, wire_enum, Flag};
use crate::schema::table::Seed;
use crate::state::milestones::earliest_milestone_deadline;
use crate::{constants, math::bps};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramError;
use pinocchio::{AccountView, Address};

wire_enum! {
    /// How far a negotiation is. Settled, Expired and Rejected are final.
    pub enum NegotiationStatus {
        /// The buyer has deposited the escrow; the seller is invited.
        Created = 0,
        /// The seller takes part, or the buyer has made the latest offer.
        Proposed = 1,
        /// The seller has made the latest offer.
        Countered = 2,
        /// The price is agreed on and is paid by milestones.
        Accepted = 3,
        /// The price has been paid.
        Settled = 4,
        /// A deadline has passed; the escrow has been refunded.
        Expired = 5,
        /// One side has walked away; the escrow has been refunded.
        Rejected = 6,
    }
}

wire_enum! {
    /// A side of a negotiation.
    pub enum OfferSide {
        /// The one who pays.
        Buyer = 0,
        /// The one who is paid.
        Seller = 1,
    }
}

wire_enum! {
    /// How far the comparison of sealed reservation prices is.
    pub enum ZopaPhase {
        /// Nobody has committed to a price.
        NotStarted = 0,
        /// The buyer has committed to a price.
        BuyerCommitted = 1,
        /// Both have committed to a price.
        BothCommitted = 2,
        /// Both prices are known.
        Revealed = 3,
        /// The negotiation does without.
        Skipped = 4,
    }
}

wire_enum! {
    /// Where the seller's bond is.
    pub enum BondState {
        /// There is none.
        None = 0,
        /// In the vault.
        Held = 1,
        /// Back with the seller.
        Returned = 2,
        /// Paid to the buyer.
        Forfeited = 3,
    }
}

/// The deadline after an offer, and what is still only proposed.
pub struct Extension {
    /// When the negotiation expires at the latest.
    pub global_deadline: i64,
    /// How many seconds more the offer's side has asked for without the other's consent yet.
    pub pending: u32,
}

account! {
    /// A negotiation, at the PDA ["negotiation", buyer, seller, session_id]. Amounts are in base units of token_mint,
    /// rates in basis points, times in Unix seconds of the chain's clock.
    pub struct Negotiation {
        /// Who pays.
        pub buyer: Address,
        /// Who is paid.
        pub seller: Address,
        /// The number that tells this pair's negotiations apart.
        pub session_id: u64,
        /// How far the negotiation is.
        pub status: NegotiationStatus,
        /// How many offers have been made.
        pub current_round: u8,
        /// The latest offer.
        pub current_offer_amount: u64,
        /// Who made the latest offer; zero before the first one.
        pub current_offer_by: Address,
        /// The side that made the latest offer; without one it means nothing.
        pub offer_side: OfferSide,
        /// SHA-256 of the service's description.
        pub service_hash: [u8; 32],
        /// The deposit.
        pub escrow_amount: u64,
        /// What is left of the deposit after the decay of all rounds so far.
        pub effective_escrow: u64,
        /// The mint of the deposit.
        pub token_mint: Address,
        /// How many offers can be made, 1 to 20.
        pub max_rounds: u8,
        /// What the escrow loses each round, 0 to 1,000.
        pub decay_rate_bps: u16,
        /// The time to answer, in seconds, 60 to 3,600.
        pub response_window: i64,
        /// When the negotiation expires at the latest.
        pub global_deadline: i64,
        /// The least offer, as a share of the effective escrow, 100 to 9,000.
        pub min_offer_bps: u16,
        /// The fee on what is paid, 0 to 500, fixed at creation.
        pub protocol_fee_bps: u16,
        /// Whether reservation prices are compared under seal first.
        pub zopa_enabled: Flag,
        /// When the negotiation was created.
        pub created_at: i64,
        /// When the latest offer was made; zero before the first one.
        pub last_offer_at: i64,
        /// When the price was paid; zero until then.
        pub settled_at: i64,
        /// The price agreed on, fee included; zero until then.
        pub settled_amount: u64,
        /// The buyer's sealed reservation price; zero before it is committed to.
        pub buyer_commitment: [u8; 32],
        /// The seller's sealed reservation price; zero before it is committed to.
        pub seller_commitment: [u8; 32],
        /// How far the comparison of reservation prices is.
        pub zopa_phase: ZopaPhase,
        /// The structured metadata of the latest offer, or of the creation before the first one.
        pub metadata: [u8; 64],
        /// The bump of the negotiation's address.
        pub bump: u8,
        /// The bump of the vault's address.
        pub vault_bump: u8,
        /// The version of this layout.
        pub version: u8,
        /// Until when whoever has to move may move; from then on anyone may expire the negotiation.
        pub turn_deadline: i64,
        /// The extension of the deadline, in seconds, that one side has proposed with its offer.
        pub pending_extension: u32,
        /// What the seller has to deposit to take part.
        pub bond_required: u64,
        /// Where the seller's deposit is.
        pub bond_state: BondState,
        /// The buyer's reservation price once it is revealed.
        pub buyer_price: u64,
        /// The seller's reservation price once it is revealed.
        pub seller_price: u64,
        /// Who decides disputes about milestones; zero without any.
        pub arbiter: Address,
        /// The number of milestones; zero when the price is paid at once.
        pub milestone_count: u8,
        /// Each milestone's share of the price.
        pub milestone_bps: [u16; 8],
        /// The milestones that have been decided, a bit each.
        pub milestones_decided: u8,
        /// The milestones that have been claimed, a bit each.
        pub milestones_claimed: u8,
        /// The milestones that are disputed, a bit each.
        pub milestones_disputed: u8,
        /// When milestones that nobody claimed fall back to the buyer; zero without any.
        pub milestone_deadline: i64,
        /// What is kept for the buyer because it could not be delivered.
        pub claimable_buyer: u64,
        /// What is kept for the seller because it could not be delivered.
        pub claimable_seller: u64,
        /// What has been paid out of the escrow, fee included.
        pub paid_gross: u64,
    }
}

const _: () = assert!(Negotiation::SIZE == constants::MAX_NEGOTIATION_SIZE as usize);

impl Negotiation {
    /// The seeds of the account's address.
    pub const SEEDS: &'static [Seed] = &[
        Seed::Const(constants::NEGOTIATION_SEED.as_bytes()),
        Seed::Account("buyer"),
        Seed::Account("seller"),
        Seed::Arg("session_id"),
    ];

    /// The seeds of the vault's address.
    pub const VAULT_SEEDS: &'static [Seed] = &[
        Seed::Const(constants::VAULT_SEED.as_bytes()),
        Seed::Account("negotiation"),
    ];

    /// The negotiation in an account that has been checked to hold one.
    ///
    /// # Safety
    /// `check::record` must have accepted the account, and no other reference to its data may be used while this one is:
    /// each instruction takes one and does not use it any more when it calls another program.
    #[inline(always)]
    pub unsafe fn of(account: &mut AccountView) -> &mut Self {
        // SAFETY: the length is right, the struct is packed and takes any bytes.
        unsafe { &mut *account.data_mut_ptr().add(8).cast() }
    }

    /// Writes a new negotiation.
    ///
    /// # Safety
    /// The account must be this program's, `SIZE` long and writable, and no reference to its data may be alive.
    #[inline(always)]
    pub unsafe fn write(&self, account: &mut AccountView) {
        // SAFETY: the length is right, and the struct has no padding.
        unsafe {
            let data = account.data_mut_ptr();
            data.cast::<[u8; 8]>().write(Self::RECORD.discriminator);
            data.add(8).cast::<Self>().write_unaligned(*self);
        }
    }

    /// The side that a party is on.
    ///
    /// # Errors
    /// Unauthorized for anyone else.
    #[inline(always)]
    pub fn side_of(&self, party: &Address) -> Result<OfferSide, ProgramError> {
        if address_eq(party, &self.buyer) {
            Ok(OfferSide::Buyer)
        } else if address_eq(party, &self.seller) {
            Ok(OfferSide::Seller)
        } else {
            Err(HaggleError::Unauthorized.into())
        }
    }

    /// Whether the parties are bargaining: the seller takes part and nothing is decided.
    #[inline(always)]
    pub fn is_bargaining(&self) -> bool {
        let status = self.status;
        status == NegotiationStatus::Proposed || status == NegotiationStatus::Countered
    }

    /// Whether the negotiation can still be acted on or expire.
    #[inline(always)]
    pub fn is_open(&self) -> bool {
        self.status == NegotiationStatus::Created || self.is_bargaining()
    }

    /// Whether nothing but paying out and closing is left.
    #[inline(always)]
    pub fn is_over(&self) -> bool {
        let status = self.status;
        status == NegotiationStatus::Settled
            || status == NegotiationStatus::Expired
            || status == NegotiationStatus::Rejected
    }

    /// Whether the revealed reservation prices have ended it, because they left no room for a deal.
    #[inline(always)]
    pub fn ended_without_zone(&self) -> bool {
        self.status == NegotiationStatus::Rejected && self.zopa_phase == ZopaPhase::Revealed && {
            self.buyer_price
        } < {
            self.seller_price
        }
    }

    /// Refuses offers and acceptances outside of the bargaining.
    ///
    /// # Errors
    /// NoZopa where the revealed reservation prices have ended it, otherwise InvalidState.
    #[inline(always)]
    pub fn check_bargaining(&self) -> Result<(), ProgramError> {
        if self.is_bargaining() {
            Ok(())
        } else if self.ended_without_zone() {
            Err(HaggleError::NoZopa.into())
        } else {
            Err(HaggleError::InvalidState.into())
        }
    }

    /// What the vault owes, in base units, according to the state alone: to the protocol, to the parties, and what is still
    /// to be decided.
    ///
    /// # Errors
    /// Overflow if money had not been conserved.
    #[inline(always)]
    pub fn owed(&self) -> Result<u64, ProgramError> {
        let escrow = if self.is_open() {
            self.escrow_amount
        } else {
            let undecided = if self.status == NegotiationStatus::Accepted {
                self.undecided()?
            } else {
                0
            };
            { self.escrow_amount }
                .checked_sub(self.effective_escrow)
                .and_then(|decay| decay.checked_add(self.fee_on(self.paid_gross)))
                .and_then(|earned| earned.checked_add(undecided))
                .ok_or(HaggleError::Overflow)?
        };
        escrow
            .checked_add(self.held_bond())
            .and_then(|sum| sum.checked_add(self.claimable_buyer))
            .and_then(|sum| sum.checked_add(self.claimable_seller))
            .ok_or(HaggleError::Overflow.into())
    }

    /// Whether there is an offer that can be accepted.
    #[inline(always)]
    pub fn has_offer(&self) -> bool {
        !address_eq(&self.current_offer_by, &Address::new_from_array([0; 32]))
    }

    /// The side that has to make the next offer: the buyer opens, then they alternate.
    #[inline(always)]
    pub fn turn(&self) -> OfferSide {
        if self.current_round == 0 || self.offer_side == OfferSide::Seller {
            OfferSide::Buyer
        } else {
            OfferSide::Seller
        }
    }

    /// Whether the time to act has passed, from which second on anyone may expire the negotiation.
    #[inline(always)]
    pub fn is_overdue(&self, now: i64) -> bool {
        now >= self.turn_deadline
    }

    /// Refuses to act when the time to do so has passed.
    ///
    /// # Errors
    /// Expired from the global deadline on, ResponseWindowExpired from the end of the turn on.
    #[inline(always)]
    pub fn check_clock(&self, now: i64) -> Result<(), ProgramError> {
        if !self.is_overdue(now) {
            Ok(())
        } else if now >= self.global_deadline {
            Err(HaggleError::Expired.into())
        } else {
            Err(HaggleError::ResponseWindowExpired.into())
        }
    }

    /// Gives whoever has to move next the time to do so.
    ///
    /// # Errors
    /// Overflow when the clock is out of this world.
    #[inline(always)]
    pub fn start_turn(&mut self, now: i64) -> Result<(), ProgramError> {
        let window_end = now
            .checked_add(self.response_window)
            .ok_or(HaggleError::Overflow)?;
        let deadline = self.global_deadline;
        self.turn_deadline = if window_end < deadline {
            window_end
        } else {
            deadline
        };
        Ok(())
    }

    /// What becomes of the deadline when the side that makes the next offer asks for `seconds` more: two proposals in a row
    /// grant the smaller, otherwise the new one is pending, so that nobody can lock up the other's funds alone.
    ///
    /// # Errors
    /// InvalidParams when the new deadline were more than a day from creation, or left the milestones too little time.
    #[inline(always)]
    pub fn agree_on_extension(&self, seconds: u32) -> Result<Extension, ProgramError> {
        let pending = self.pending_extension;
        if pending == 0 || seconds == 0 {
            return Ok(Extension {
                global_deadline: self.global_deadline,
                pending: seconds,
            });
        }
        let granted = if seconds < pending { seconds } else { pending };
        let global_deadline = { self.global_deadline }.saturating_add(granted as i64);
        if global_deadline > { self.created_at }.saturating_add(constants::MAX_DEADLINE_SECONDS)
            || (self.milestone_count > 0
                && earliest_milestone_deadline(
                    global_deadline,
                    self.milestone_count,
                    self.response_window,
                ) > self.milestone_deadline)
        {
            return Err(HaggleError::InvalidParams.into());
        }
        Ok(Extension {
            global_deadline,
            pending: 0,
        })
    }

    /// What the escrow is worth after one more round.
    ///
    /// # Errors
    /// Overflow never happens for a rate in its range.
    #[inline(always)]
    pub fn escrow_after_round(&self) -> Result<u64, ProgramError> {
        let escrow = self.effective_escrow;
        escrow
            .checked_sub(bps::rounded(escrow, self.decay_rate_bps))
            .ok_or(HaggleError::Overflow.into())
    }

    /// The fee on an amount that is paid.
    #[inline(always)]
    pub fn fee_on(&self, amount: u64) -> u64 {
        bps::floored(amount, self.protocol_fee_bps)
    }

    /// Whether `account` is at the address of this negotiation's vault.
    #[inline(always)]
    pub fn is_vault(&self, negotiation: &Address, account: &Address) -> bool {
        let vault = Address::derive_address(
            &[constants::VAULT_SEED.as_bytes(), negotiation.as_ref()],
            Some(self.vault_bump),
            &crate::ID,
        );
        address_eq(&vault, account)
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::tests::stage::{nonce_of, Stage, BUYER, BUYER_PRICE, OFFER, SELLER, STRANGER};

    #[test]
    fn fields_lie_where_the_documents_put_them() {
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

    #[test]
    fn an_account_of_another_version_is_never_misread() {
        let (stage, deal) = Stage::offered();
        let (settled, _) = Stage::settled_with_both_kept();
        let kept = settled.negotiation(&deal).claimable_buyer;
        let calls = [
            (&stage, stage.accept_invitation(&deal)),
            (&stage, stage.commit(&deal, BUYER, [1; 32])),
            (
                &stage,
                stage.reveal(&deal, BUYER, BUYER_PRICE, nonce_of(BUYER)),
            ),
            (&stage, stage.offer(&deal, SELLER, OFFER)),
            (&stage, stage.accept_offer(&deal, SELLER)),
            (&stage, stage.reject(&deal, BUYER)),
            (&stage, stage.expire(&deal)),
            (&stage, stage.claim_milestone(&deal, 0)),
            (&stage, stage.dispute(&deal, 0)),
            (&stage, stage.release(&deal, BUYER, 0)),
            (
                &stage,
                stage.resolve(&deal, 0, 5_000, crate::schema::declare::Flag::OFF),
            ),
            (&stage, stage.settle_deadline(&deal)),
            (&settled, settled.claim(&deal, BUYER, kept)),
            (&settled, settled.close(&deal, STRANGER)),
        ];
        for version in [0, 2, u8::MAX] {
            for (stage, call) in &calls {
                let mut stage = (*stage).clone();
                let mut negotiation = stage.negotiation(&deal);
                negotiation.version = version;
                stage.set_negotiation(&deal, &negotiation);
                stage.refuses(call, Framework::AccountDidNotDeserialize);
            }
        }
    }

    #[test]
    fn what_is_owed_is_escrow_bond_and_what_is_kept() {
        let (stage, deal) = Stage::bonded();
        let mut negotiation = stage.negotiation(&deal);
        let vault = stage.balance(&deal.escrow_vault);
        assert_eq!(negotiation.owed(), Ok(vault));
        negotiation.claimable_buyer = 3;
        negotiation.claimable_seller = 4;
        assert_eq!(negotiation.owed(), Ok(vault + 7));
        negotiation.bond_state = BondState::Returned;
        let escrow = negotiation.escrow_amount;
        assert_eq!(negotiation.owed(), Ok(escrow + 7));
        negotiation.claimable_seller = u64::MAX - escrow - 2;
        assert_eq!(negotiation.owed(), Err(HaggleError::Overflow.into()));
    }
}
