//! The amounts owed to each party in a call, by the documented rules, computed only from the prior state and
//! the arguments. Nothing here is shared with the program's own arithmetic.

use super::effect::Effect;
use super::solvency::{bond, decay, fee, sum_of, tranches, undecided, wide, BPS};
use crate::fixtures::fixture::NATIVE_MINT;
use crate::tokens::Tokens;
use haggle_program::state::{Negotiation, OfferSide, ZopaPhase};

/// The amounts for a single call in the negotiation mint's base units. A deposit is negative.
#[derive(Default, Debug, PartialEq, Eq)]
pub struct Due {
    /// The buyer's.
    pub buyer: i128,
    /// The seller's.
    pub seller: i128,
    /// The treasury's.
    pub treasury: i128,
}

/// The amounts owed when calling the instruction. Calls with no negotiation owe nothing.
pub fn due(effect: &Effect<'_>) -> Due {
    let Some(deal) = &effect.deal else {
        return Due::default();
    };
    match (effect.row.name, &deal.before, &deal.after) {
        ("create_negotiation", None, Some(created)) => Due {
            buyer: -i128::from(created.escrow_amount),
            ..Due::default()
        },
        (_, Some(before), _) => Rules { effect, before }.due(),
        _ => Due::default(),
    }
}

struct Rules<'a> {
    effect: &'a Effect<'a>,
    before: &'a Negotiation,
}

impl Rules<'_> {
    fn due(&self) -> Due {
        let before = self.before;
        match self.effect.row.name {
            "accept_invitation" => Due {
                seller: -i128::from(before.bond_required),
                ..Due::default()
            },
            "accept_offer" => self.accepted(),
            "reject_negotiation" => {
                let seller = self.effect.prepared.is_signed_by(&before.seller);
                if seller && rejection_forfeits_bond(before) {
                    self.ended(bond(before))
                } else {
                    self.ended(sellers_delay(before, None))
                }
            }
            "expire_negotiation" => {
                if seller_owes_reveal(before) {
                    self.ended(bond(before))
                } else {
                    self.ended(sellers_delay(before, silent(before)))
                }
            }
            "reveal_zopa_price" => {
                let price = self.effect.number("price");
                if before.buyer_price != 0 && price > before.buyer_price {
                    self.ended(0)
                } else {
                    Due::default()
                }
            }
            "release_milestone" => {
                let tranche = sum_of(before, self.milestone());
                self.decided(self.milestone(), tranche, 0, Bond::AsDecided)
            }
            "resolve_dispute" => {
                let tranche = sum_of(before, self.milestone());
                let gross = tranche * u128::from(self.effect.number("seller_bps")) / BPS;
                self.decided(self.milestone(), gross, 0, Bond::AsDecided)
            }
            "settle_deadline" => {
                let waiting = !before.milestones_decided;
                let disputed = before.milestones_disputed & waiting;
                let claimed = before.milestones_claimed & waiting & !disputed;
                let (mut sellers, mut buyers) = (0, 0);
                for (index, tranche) in tranches(before).into_iter().enumerate() {
                    if disputed & (1 << index) != 0 {
                        sellers += tranche / 2;
                        buyers += tranche - tranche / 2;
                    }
                }
                self.decided(
                    0xff,
                    sum_of(before, claimed) + sellers,
                    buyers,
                    Bond::AsDecided,
                )
            }
            "settle_by_agreement" => {
                let share = u128::from(self.effect.number("seller_bps"));
                let of_bond = u128::from(self.effect.number("bond_to_buyer_bps"));
                let gross = undecided(before) * share / BPS;
                self.decided(0xff, gross, 0, Bond::Agreed(bond(before) * of_bond / BPS))
            }
            "close_negotiation" => Due {
                treasury: self.swept(),
                ..Due::default()
            },
            _ => Due::default(),
        }
    }

    /// The mask of the milestone that the arguments name.
    fn milestone(&self) -> u8 {
        1u8.checked_shl(self.effect.number("index") as u32)
            .unwrap_or(0)
    }

    /// Ends with no agreement: at most `bond_to_buyer` of the bond is the buyer's.
    fn ended(&self, bond_to_buyer: u128) -> Due {
        let bond = bond(self.before);
        let part = bond_to_buyer.min(bond);
        Due {
            buyer: i128::from(self.before.effective_escrow) + signed(part),
            seller: signed(bond - part),
            treasury: 0,
        }
    }

    /// The agreement on a price: with milestones only the rest of the escrow is paid.
    fn accepted(&self) -> Due {
        let before = self.before;
        let price = wide(before.current_offer_amount);
        let rest = i128::from(before.effective_escrow) - signed(price);
        let has_milestones = { before.milestone_bps } != [0; 8];
        Due {
            buyer: rest,
            seller: if has_milestones {
                0
            } else {
                signed(price - fee(before, price) + bond(before))
            },
            treasury: 0,
        }
    }

    /// The decision on the undecided milestones in `mask`: `gross` for the seller, the rest of their tranches
    /// for the buyer. `unresolved` is the buyer's part of disputes that the arbiter did not decide.
    fn decided(&self, mask: u8, gross: u128, unresolved: u128, decision: Bond) -> Due {
        let before = self.before;
        let mask = mask & !before.milestones_decided;
        let paid_before = wide(before.paid_gross);
        let paid = paid_before + gross;
        let net = gross - (fee(before, paid) - fee(before, paid_before));
        let rest = sum_of(before, mask).saturating_sub(gross);
        let price = wide(before.settled_amount);
        let exist = (0..8).filter(|index| before.milestone_bps[*index] != 0);
        let all = exist.fold(0, |all, index| all | 1u8 << index);
        let settles = (before.milestones_decided | mask) & all == all;
        let held = bond(before);
        let (to_buyer, to_seller) = match decision {
            Bond::Agreed(part) => (part, held - part),
            Bond::AsDecided if !settles => (0, 0),
            Bond::AsDecided => {
                let returned = price.saturating_sub(paid).saturating_sub(unresolved);
                let part = (held * returned).checked_div(price).unwrap_or(0);
                (part, held - part)
            }
        };
        Due {
            buyer: signed(rest + to_buyer),
            seller: signed(net + to_seller),
            treasury: 0,
        }
    }

    /// The treasury's amount at closing: the vault's balance less recorded payouts; of wrapped SOL only decay
    /// and fee.
    fn swept(&self) -> i128 {
        let before = self.before;
        let vault = self.effect.deal.as_ref().and_then(|deal| deal.vault);
        let tokens = vault
            .and_then(|vault| self.effect.change(&vault))
            .and_then(|change| Tokens::of(change.before));
        let balance = tokens.map_or(0, |tokens| wide(tokens.amount));
        let recorded = wide(before.claimable_buyer) + wide(before.claimable_seller);
        let rest = balance.saturating_sub(recorded);
        let earned = decay(before) + fee(before, wide(before.paid_gross));
        signed(if before.token_mint == NATIVE_MINT {
            rest.min(earned)
        } else {
            rest
        })
    }
}

/// The decision on a held bond.
enum Bond {
    /// The share of the price that goes back to the buyer, once all milestones are decided.
    AsDecided,
    /// This part for the buyer, the rest for the seller.
    Agreed(u128),
}

/// Reports whether the seller loses the bond by rejecting: the seller's reveal is due, or both prices are
/// revealed and the buyer made no offer since.
pub fn rejection_forfeits_bond(negotiation: &Negotiation) -> bool {
    let revealed = negotiation.zopa_phase == ZopaPhase::Revealed;
    seller_owes_reveal(negotiation) || (revealed && negotiation.current_round == 0)
}

/// Reports whether only the buyer's price is revealed.
fn seller_owes_reveal(negotiation: &Negotiation) -> bool {
    negotiation.zopa_phase == ZopaPhase::BothCommitted && negotiation.buyer_price != 0
}

/// The side that makes the next offer: the buyer opens, then turns alternate.
pub fn turn(negotiation: &Negotiation) -> OfferSide {
    if negotiation.current_round == 0 || negotiation.offer_side == OfferSide::Seller {
        OfferSide::Buyer
    } else {
        OfferSide::Seller
    }
}

fn signed(amount: u128) -> i128 {
    i128::try_from(amount).unwrap_or(i128::MAX)
}

/// The side whose whole response window after the latest offer ran out, if this turn lasted as long.
fn silent(negotiation: &Negotiation) -> Option<OfferSide> {
    let window = i128::from(negotiation.turn_deadline) - i128::from(negotiation.last_offer_at);
    let is_whole = window == i128::from(negotiation.response_window);
    match negotiation.current_round {
        0 => None,
        round if is_whole && round % 2 == 1 => Some(OfferSide::Seller),
        _ if is_whole => Some(OfferSide::Buyer),
        _ => None,
    }
}

/// The decay of the offers that the seller made or left unanswered.
fn sellers_delay(negotiation: &Negotiation, silent: Option<OfferSide>) -> u128 {
    let rate = u128::from(negotiation.decay_rate_bps);
    let rounds = negotiation.current_round;
    let mut worth = wide(negotiation.escrow_amount);
    let mut total = 0;
    for round in 1..=rounds {
        let left = worth - (worth * rate + BPS / 2) / BPS;
        let by_seller = silent
            .filter(|_| round == rounds)
            .map_or(round % 2 == 0, |side| side == OfferSide::Seller);
        if by_seller {
            total += worth - left;
        }
        worth = left;
    }
    total
}
