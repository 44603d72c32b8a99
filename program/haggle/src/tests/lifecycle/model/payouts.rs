//! Paying out what was kept, and closing what is over: claim_payout and close_negotiation.

use super::super::deal::{BUYER, SELLER};
use super::super::ledger::{INITIALIZED, WRAPPED_SOL};
use super::arguments::Reader;
use super::errors::{INVALID_PARAMS, INVALID_STATE, PAYOUT_PENDING, STALE, UNAUTHORIZED};
use super::rule_order::refuse;
use super::{Case, Next};
use crate::ID;
use solana_account::Account;

impl Case<'_> {
    pub(super) fn claim(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [signer, negotiation, vault, to, mint, token_program, ..] = *self.keys else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let destination = self.world.ledger.held(&to);
        let takes =
            destination.is_some_and(|held| held.mint == deal.mint && held.state == INITIALIZED);
        let mut wrong = self.wrong_vault(deal, vault, mint, token_program);
        wrong.when(!takes || to == vault, 2003);
        wrong.worst()?;

        let amount = arguments.u64();
        refuse(amount == 0, INVALID_PARAMS)?;
        refuse(deal.is_open(), INVALID_STATE)?;
        let side = deal.side_of(&signer).ok_or(UNAUTHORIZED)?;
        refuse(amount != deal.claimable[side], STALE)?;
        refuse(!self.can_pay(&vault, amount), PAYOUT_PENDING)?;

        let by = if side == BUYER { "buyer" } else { "seller" };
        let mut deal = deal.clone();
        deal.claimable[side] = 0;
        let mut next = self.wrote(negotiation, deal, &format!("claimed by the {by}"));
        next.world.ledger.transfer(&vault, &to, amount);
        Ok(next)
    }

    pub(super) fn close(&self) -> Result<Next, u32> {
        let [closer, negotiation, vault, config, buyer, treasury, to_buyer, to_seller, mint, token_program, ..] =
            *self.keys
        else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let rules = self.world.config.as_ref().unwrap();
        let recipients = [
            (treasury, rules.treasury),
            (to_buyer, deal.parties[BUYER]),
            (to_seller, deal.parties[SELLER]),
        ];
        let mut wrong = self.wrong_vault(deal, vault, mint, token_program);
        wrong.when(config != self.fixed.config, 2006);
        wrong.when(buyer != deal.parties[BUYER], 2001);
        for (account, owner) in recipients {
            wrong.when(account != ID && !self.belongs(&account, deal, owner), 2003);
        }
        wrong.worst()?;

        refuse(deal.is_open(), INVALID_STATE)?;
        let takes = recipients.map(|(account, _)| {
            account != ID
                && self
                    .world
                    .ledger
                    .held(&account)
                    .is_some_and(|held| held.state == INITIALIZED)
        });
        let balance = self.world.ledger.amount(&vault);
        let [for_buyer, for_seller] = deal.claimable;
        let kept = for_buyer + for_seller;
        refuse(
            balance < kept || (balance > 0 && !self.can_pay(&vault, kept)),
            PAYOUT_PENDING,
        )?;
        // Of wrapped SOL the treasury gets what the protocol earned; the rest goes to the buyer with the rent.
        let earned = if deal.mint == WRAPPED_SOL {
            deal.fee() + deal.decay()
        } else {
            u64::MAX
        };
        let swept = earned.min(balance - kept);
        let amounts = [swept, for_buyer, for_seller];
        let pending = amounts
            .into_iter()
            .zip(takes)
            .any(|(amount, takes)| amount > 0 && !takes);
        refuse(pending, PAYOUT_PENDING)?;

        let mut world = self.world.clone();
        let ledger = &mut world.ledger;
        for ((account, _), amount) in recipients.into_iter().zip(amounts) {
            if amount > 0 {
                ledger.transfer(&vault, &account, amount);
            }
        }
        for account in [vault, negotiation] {
            let lamports = ledger.get(&account).lamports;
            ledger.move_lamports(&account, &buyer, lamports);
            ledger.set(account, Account::default());
        }
        let mut rules = rules.clone();
        rules.closed += 1;
        rules.volume = rules.volume.saturating_add(deal.paid);
        rules.fees = rules.fees.saturating_add(deal.fee());
        ledger.change(&config).data = rules.bytes();
        world.config = Some(rules);
        world.deals.remove(&negotiation);

        let by = match deal.side_of(&closer) {
            Some(BUYER) => "the buyer",
            Some(_) => "the seller",
            None => "a stranger",
        };
        let mut outcomes = vec![format!("closed by {by}")];
        for (happened, what) in [
            (for_buyer > 0, "delivering what was kept for the buyer"),
            (for_seller > 0, "delivering what was kept for the seller"),
            (swept == 0, "with nothing for the treasury"),
            (
                balance - kept > deal.fee() + deal.decay(),
                "with a donation",
            ),
        ] {
            if happened {
                outcomes.push(format!("closed {what}"));
            }
        }
        Ok(Next { world, outcomes })
    }
}
