//! The seller's bond: a deposit beside the escrow.

use crate::error::{HaggleError, Result};
use crate::math::{bps, proportion};
use crate::state::{BondState, Negotiation, OfferSide, ZopaPhase};

/// A bond taken from the seller's deposit, in base units.
#[derive(Clone, Copy)]
pub struct SettledBond {
    /// The buyer's part.
    pub to_buyer: u64,
    /// The seller's part.
    pub to_seller: u64,
}

impl SettledBond {
    /// No bond.
    pub const NONE: Self = Self {
        to_buyer: 0,
        to_seller: 0,
    };
}

impl Negotiation {
    /// The vault's bond, in base units.
    #[inline(always)]
    pub fn held_bond(&self) -> u64 {
        if self.bond_state == BondState::Held {
            self.bond_required
        } else {
            0
        }
    }

    /// Reports whether the seller still owes a reveal to the buyer, who has revealed a reservation price.
    /// Unless the seller reveals too, an expiry or a seller's rejection forfeits the bond.
    #[inline(always)]
    pub fn seller_owes_reveal(&self) -> bool {
        self.zopa_phase == ZopaPhase::BothCommitted && self.buyer_price != 0
    }

    /// Reports whether a seller's rejection forfeits the bond: the buyer's
    /// reservation price is revealed, and the buyer has made no offer since.
    #[inline(always)]
    pub fn rejection_forfeits_bond(&self) -> bool {
        self.seller_owes_reveal()
            || (self.zopa_phase == ZopaPhase::Revealed && self.current_round == 0)
    }

    /// The decay borne by the seller if there is no deal, in base units: the decay of the seller's offers, in
    /// even rounds. `silent` is the side that did not respond to the latest offer in a whole response window.
    /// It bears that offer's decay, whoever made it.
    #[inline(never)]
    pub fn delay_of_seller(&self, silent: Option<OfferSide>) -> u64 {
        let (mut escrow, mut borne) = (self.escrow_amount, 0u64);
        for round in 1..=self.current_round {
            let decay = bps::rounded(escrow, self.decay_rate_bps);
            escrow = escrow.saturating_sub(decay);
            let is_sellers = match silent {
                Some(side) if round == self.current_round => side == OfferSide::Seller,
                _ => round % 2 == 0,
            };
            if is_sellers {
                borne = borne.saturating_add(decay);
            }
        }
        borne
    }

    /// The side that did not answer the latest offer within a whole response window, once the turn is over.
    /// None if no offer exists, or if the global deadline has cut the turn short.
    #[inline(always)]
    pub fn silent_side(&self) -> Option<OfferSide> {
        let window_ends = { self.last_offer_at }.checked_add(self.response_window);
        if self.current_round > 0 && window_ends == Some(self.turn_deadline) {
            Some(self.turn())
        } else {
            None
        }
    }

    /// Takes any held bond from the deposit: at most
    /// `to_buyer` for the buyer, the rest for the seller.
    #[inline(always)]
    pub fn take_bond(&mut self, to_buyer: u64) -> SettledBond {
        let bond = self.held_bond();
        if bond == 0 {
            return SettledBond::NONE;
        }
        let to_buyer = if to_buyer < bond { to_buyer } else { bond };
        let to_seller = bond.saturating_sub(to_buyer);
        self.bond_state = if to_buyer == 0 {
            BondState::Returned
        } else if to_seller == 0 {
            BondState::Forfeited
        } else {
            BondState::Split
        };
        SettledBond {
            to_buyer,
            to_seller,
        }
    }

    /// The bond part forfeited by the milestones: the same share as the
    /// buyer got back of the price. `undecided_by_arbiter` is the buyer's
    /// part of disputes not decided by the arbiter. It forfeits nothing.
    ///
    /// # Errors
    /// Overflow if more was paid than the price.
    #[inline(always)]
    pub fn forfeited_share(&self, undecided_by_arbiter: u64) -> Result<u64> {
        let bond = self.held_bond();
        let refunded = { self.settled_amount }
            .checked_sub(self.paid_gross)
            .and_then(|unpaid| unpaid.checked_sub(undecided_by_arbiter))
            .ok_or(HaggleError::Overflow)?;
        if bond == 0 || refunded == 0 {
            return Ok(0);
        }
        Ok(proportion::floored(bond, refunded, self.settled_amount))
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::tests::fixture::{Fixture, BOND, PRICE, THIRDS};

    fn accepted() -> Negotiation {
        let (fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.negotiation(&deal)
    }

    #[test]
    fn amounts_decide_the_state_of_the_bond() {
        for (to_buyer, parts, state) in [
            (0, [0, BOND], BondState::Returned),
            (1, [1, BOND - 1], BondState::Split),
            (BOND - 1, [BOND - 1, 1], BondState::Split),
            (BOND, [BOND, 0], BondState::Forfeited),
            (BOND + 1, [BOND, 0], BondState::Forfeited),
            (u64::MAX, [BOND, 0], BondState::Forfeited),
        ] {
            let mut negotiation = accepted();
            let bond = negotiation.take_bond(to_buyer);
            assert_eq!([bond.to_buyer, bond.to_seller], parts);
            assert_eq!(negotiation.bond_state, state);
            assert_eq!(negotiation.held_bond(), 0);
            // A bond leaves the deposit once.
            let again = negotiation.take_bond(u64::MAX);
            assert_eq!([again.to_buyer, again.to_seller], [0, 0]);
            assert_eq!(negotiation.bond_state, state);
        }
    }

    #[test]
    fn the_forfeited_share_equals_the_refunded_share_without_undecided_disputes() {
        for (paid, undecided, share) in [
            (PRICE, 0, Ok(0)),
            (PRICE - 1, 0, Ok(0)),
            (PRICE - 1, 1, Ok(0)),
            (PRICE - 12, 0, Ok(1)),
            (PRICE - 12, 1, Ok(0)),
            (PRICE / 2, 0, Ok(125_000)),
            (0, 0, Ok(BOND)),
            (0, PRICE, Ok(0)),
            (0, PRICE + 1, Err(HaggleError::Overflow.into())),
            (PRICE + 1, 0, Err(HaggleError::Overflow.into())),
        ] {
            let mut negotiation = accepted();
            negotiation.paid_gross = paid;
            assert_eq!(negotiation.forfeited_share(undecided), share);
            negotiation.bond_state = BondState::Forfeited;
            assert_eq!(negotiation.forfeited_share(undecided), share.map(|_| 0));
        }
    }

    /// The default terms after some rounds, with a bond of 5.000000.
    fn bargained(round: u8) -> Negotiation {
        let mut negotiation = accepted();
        negotiation.bond_state = BondState::Held;
        negotiation.bond_required = 5_000_000;
        negotiation.escrow_amount = 5_000_000;
        negotiation.decay_rate_bps = 200;
        negotiation.current_round = round;
        negotiation
    }

    #[test]
    fn each_side_bears_the_decay_of_its_own_offers() {
        for (round, seller, silent_buyer, silent_seller) in [
            (0, 0, 0, 0),
            (1, 0, 0, 100_000),
            (2, 98_000, 0, 98_000),
            (3, 98_000, 98_000, 194_040),
            (4, 192_119, 98_000, 192_119),
            (10, 452_699, 369_324, 452_699),
        ] {
            let negotiation = bargained(round);
            assert_eq!(negotiation.delay_of_seller(None), seller);
            let of = |side| negotiation.delay_of_seller(Some(side));
            assert_eq!(of(OfferSide::Buyer), silent_buyer);
            assert_eq!(of(OfferSide::Seller), silent_seller);
        }
    }

    #[test]
    fn all_decay_is_borne_by_one_side() {
        for decay_rate_bps in [0, 1, 200, 1_000] {
            for round in 0..=20 {
                let mut negotiation = bargained(round);
                negotiation.decay_rate_bps = decay_rate_bps;
                let mut escrow = 5_000_000;
                let mut of_buyer = 0;
                for number in 1..=round {
                    let decay = bps::rounded(escrow, decay_rate_bps);
                    escrow -= decay;
                    of_buyer += if number % 2 == 1 { decay } else { 0 };
                }
                assert_eq!(
                    negotiation.delay_of_seller(None) + of_buyer,
                    5_000_000 - escrow
                );
            }
        }
    }

    #[test]
    fn only_a_whole_response_window_makes_a_side_silent() {
        let mut negotiation = bargained(1);
        negotiation.offer_side = OfferSide::Buyer;
        negotiation.last_offer_at = 1_000;
        negotiation.response_window = 300;
        negotiation.turn_deadline = 1_300;
        assert_eq!(negotiation.silent_side(), Some(OfferSide::Seller));
        negotiation.offer_side = OfferSide::Seller;
        assert_eq!(negotiation.silent_side(), Some(OfferSide::Buyer));
        negotiation.turn_deadline = 1_299;
        assert_eq!(negotiation.silent_side(), None);
        negotiation.turn_deadline = 1_300;
        negotiation.current_round = 0;
        assert_eq!(negotiation.silent_side(), None);
    }

    #[test]
    fn a_rejection_forfeits_from_the_buyers_reveal_to_the_first_offer() {
        for phase in 0..=4 {
            for (buyer_price, round) in [(0, 0), (1, 0), (1, 1), (1, 2)] {
                let mut negotiation = accepted();
                negotiation.zopa_phase = ZopaPhase(phase);
                negotiation.buyer_price = buyer_price;
                negotiation.current_round = round;
                let owes = negotiation.zopa_phase == ZopaPhase::BothCommitted && buyer_price > 0;
                assert_eq!(negotiation.seller_owes_reveal(), owes);
                let is_revealed = negotiation.zopa_phase == ZopaPhase::Revealed;
                let forfeits = owes || (is_revealed && round == 0);
                assert_eq!(negotiation.rejection_forfeits_bond(), forfeits);
            }
        }
    }
}
