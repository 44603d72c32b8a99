//! Taking part and bargaining: accept_invitation and submit_offer.

use super::super::deal::{floored, Deal, BUYER, COUNTERED, CREATED, PROPOSED, SELLER};
use super::super::ledger::TOKEN;
use super::arguments::{is_metadata, Reader};
use super::errors::{
    INVALID_PARAMS, INVALID_STATE, MAX_ROUNDS, NOT_YOUR_TURN, STALE, TOO_HIGH, TOO_LOW,
    UNAUTHORIZED,
};
use super::rule_order::{refuse, WrongAddresses};
use super::{Case, Next};
use crate::ID;

impl Case<'_> {
    pub(super) fn accept_invitation(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [signer, negotiation, vault, tokens, mint, token_program, ..] = *self.keys else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let mut wrong = WrongAddresses::default();
        wrong.when(vault != ID && vault != deal.vault, 2006);
        wrong.when(mint != ID && mint != deal.mint, 2001);
        wrong.when(
            tokens != ID && !self.belongs(&tokens, deal, deal.parties[SELLER]),
            2003,
        );
        wrong.when(token_program != ID && token_program != TOKEN, 3008);
        wrong.worst()?;

        refuse(deal.status != CREATED, INVALID_STATE)?;
        self.in_time(deal)?;
        refuse(signer != deal.parties[SELLER], UNAUTHORIZED)?;
        refuse(arguments.take() != deal.terms_hash(&negotiation), STALE)?;

        let turn_deadline = self.next_turn(deal)?;
        let deal = Deal {
            status: PROPOSED,
            turn_deadline,
            ..deal.clone()
        };
        Ok(self.wrote(negotiation, deal, "invitation accepted"))
    }

    pub(super) fn offer(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [signer, negotiation, ..] = *self.keys else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let expected_round = arguments.u8();
        let amount = arguments.u64();
        let no_extension = arguments.take::<4>();
        assert_eq!(no_extension, [0; 4]);
        let metadata = arguments.take();

        refuse(!is_metadata(&metadata), INVALID_PARAMS)?;
        refuse(!deal.is_bargaining(), INVALID_STATE)?;
        self.in_time(deal)?;
        let side = deal.side_of(&signer).ok_or(UNAUTHORIZED)?;
        refuse(expected_round != deal.round, STALE)?;
        refuse(side != deal.turn(), NOT_YOUR_TURN)?;
        refuse(deal.round == deal.max_rounds, MAX_ROUNDS)?;
        let effective = deal.next_effective();
        refuse(amount < floored(effective, deal.min_offer_bps), TOO_LOW)?;
        refuse(amount > effective, TOO_HIGH)?;

        let turn_deadline = self.next_turn(deal)?;
        let deal = Deal {
            status: if side == BUYER { PROPOSED } else { COUNTERED },
            round: deal.round + 1,
            offer: amount,
            offer_by: Some(side),
            effective,
            last_offer_at: self.world.now,
            metadata,
            turn_deadline,
            ..deal.clone()
        };
        let outcome = if side == BUYER {
            "offer by the buyer"
        } else {
            "offer by the seller"
        };
        Ok(self.wrote(negotiation, deal, outcome))
    }
}
