//! The ends, with an agreement or without, and how the escrow is divided: accept_offer, reject_negotiation and
//! expire_negotiation.

use super::super::deal::{
    receives, Deal, BUYER, CREATED, EXPIRED, PROPOSED, REJECTED, SELLER, SETTLED,
};
use super::arguments::Reader;
use super::errors::{INVALID_STATE, NOT_YOUR_TURN, PAST_WINDOW, STALE, UNAUTHORIZED};
use super::rule_order::refuse;
use super::{Case, Next};
use crate::ID;
use solana_address::Address;

impl Case<'_> {
    pub(super) fn accept_offer(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [signer, negotiation, vault, to_buyer, to_seller, mint, token_program, ..] = *self.keys
        else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let buyer_gets = receives(
            &self.world.ledger,
            &to_buyer,
            &deal.mint,
            &deal.parties[BUYER],
        );
        let seller_gets = receives(
            &self.world.ledger,
            &to_seller,
            &deal.mint,
            &deal.parties[SELLER],
        );
        let mut wrong = self.wrong_vault(deal, vault, mint, token_program);
        wrong.when(buyer_gets.is_none() || seller_gets.is_none(), 2003);
        wrong.worst()?;

        refuse(
            !deal.is_bargaining() || deal.offer_by.is_none(),
            INVALID_STATE,
        )?;
        self.in_time(deal)?;
        let side = deal.side_of(&signer).ok_or(UNAUTHORIZED)?;
        let is_as_seen = arguments.u8() == deal.round
            && arguments.u64() == deal.offer
            && arguments.take() == deal.metadata;
        refuse(!is_as_seen, STALE)?;
        refuse(Some(side) == deal.offer_by, NOT_YOUR_TURN)?;

        let by = if side == BUYER { "buyer" } else { "seller" };
        let to_the_unit = deal.offer == deal.effective;
        let settled_at = self.world.now;
        let deal = Deal {
            status: SETTLED,
            settled_at,
            paid: deal.offer,
            ..deal.clone()
        };
        let buyer = (to_buyer, buyer_gets == Some(true));
        let seller = (to_seller, seller_gets == Some(true));
        let mut next = self.divide(negotiation, deal, buyer, seller);
        next.outcomes.push(format!("settled, accepted by the {by}"));
        if to_the_unit {
            next.outcomes
                .push("settled for the whole effective escrow".into());
        }
        Ok(next)
    }

    pub(super) fn reject(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [signer, negotiation, vault, to_buyer, to_seller, mint, token_program, ..] = *self.keys
        else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let buyer_gets =
            self.check_refund(deal, [vault, to_buyer, to_seller, mint, token_program])?;

        refuse(!deal.is_open(), INVALID_STATE)?;
        self.in_time(deal)?;
        let side = deal.side_of(&signer).ok_or(UNAUTHORIZED)?;
        refuse(arguments.u8() != deal.round, STALE)?;

        let by = if side == BUYER { "buyer" } else { "seller" };
        let outcome = format!("rejected by the {by} {}", stage(deal));
        let deal = Deal {
            status: REJECTED,
            ..deal.clone()
        };
        let mut next = self.divide(negotiation, deal, (to_buyer, buyer_gets), (ID, false));
        next.outcomes.push(outcome);
        Ok(next)
    }

    pub(super) fn expire(&self) -> Result<Next, u32> {
        let [negotiation, vault, to_buyer, to_seller, mint, token_program, ..] = *self.keys else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let buyer_gets =
            self.check_refund(deal, [vault, to_buyer, to_seller, mint, token_program])?;
        refuse(!deal.is_open() || self.in_time(deal).is_ok(), INVALID_STATE)?;

        let which = if self.in_time(deal) == Err(PAST_WINDOW) {
            "window"
        } else {
            "deadline"
        };
        let outcome = format!("expired past the {which} {}", stage(deal));
        let deal = Deal {
            status: EXPIRED,
            ..deal.clone()
        };
        let mut next = self.divide(negotiation, deal, (to_buyer, buyer_gets), (ID, false));
        next.outcomes.push(outcome);
        Ok(next)
    }

    /// The accounts of an end without an agreement, and whether the buyer's can be paid to. The seller's is only needed for
    /// a bond, and has to be right all the same when it is given.
    fn check_refund(&self, deal: &Deal, accounts: [Address; 5]) -> Result<bool, u32> {
        let [vault, to_buyer, to_seller, mint, token_program] = accounts;
        let buyer_gets = receives(
            &self.world.ledger,
            &to_buyer,
            &deal.mint,
            &deal.parties[BUYER],
        );
        let mut wrong = self.wrong_vault(deal, vault, mint, token_program);
        wrong.when(buyer_gets.is_none(), 2003);
        if to_seller != ID {
            let seller_gets = receives(
                &self.world.ledger,
                &to_seller,
                &deal.mint,
                &deal.parties[SELLER],
            );
            wrong.when(seller_gets.is_none(), 2003);
        }
        wrong.worst()?;
        Ok(buyer_gets == Some(true))
    }

    /// The end of a deal: the seller gets the price less the fee, the buyer what is left of the effective escrow; what cannot
    /// be delivered is kept.
    fn divide(
        &self,
        negotiation: Address,
        mut deal: Deal,
        buyer: (Address, bool),
        seller: (Address, bool),
    ) -> Next {
        let shares = [deal.effective - deal.paid, deal.paid - deal.fee()];
        let vault = deal.vault;
        let pays = self.can_pay(&vault, shares[BUYER] + shares[SELLER]);
        let accounts = [buyer, seller];
        let delivered = [BUYER, SELLER].map(|side| accounts[side].1 && pays);
        let ended = if deal.status == SETTLED {
            "price"
        } else {
            "refund"
        };
        let mut outcomes = vec![];
        for (side, party) in [(BUYER, "buyer"), (SELLER, "seller")] {
            if shares[side] > 0 && !delivered[side] {
                deal.claimable[side] = shares[side];
                outcomes.push(format!("{ended}: kept for the {party}"));
            } else if shares[side] > 0 {
                outcomes.push(format!("{ended}: delivered to the {party}"));
            }
        }
        let mut next = self.wrote(negotiation, deal, "over");
        for side in [SELLER, BUYER] {
            if delivered[side] && shares[side] > 0 {
                next.world
                    .ledger
                    .transfer(&vault, &accounts[side].0, shares[side]);
            }
        }
        next.outcomes = outcomes;
        next
    }
}

/// Where a deal stands when it ends without an agreement.
fn stage(deal: &Deal) -> &'static str {
    match (deal.status, deal.offer_by) {
        (CREATED, _) => "while Created",
        (PROPOSED, None) => "before the first offer",
        (PROPOSED, _) => "while Proposed",
        _ => "while Countered",
    }
}
