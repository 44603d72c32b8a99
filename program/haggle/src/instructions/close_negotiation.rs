//! Closes a finished negotiation's accounts.

use crate::error::{HaggleError, Result};
use crate::escrow::{pay_and_close, ClosingRecipient, Vault};
use crate::event::{NegotiationClosed, PayoutClaimed};
use crate::runtime::sysvar;
use crate::schema::account::{RentRecipient, Signer, State};
use crate::schema::instruction::instruction;
use crate::state::{Negotiation, ProtocolConfig};
use crate::token::account::TokenAccount;
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram, Treasury};
use pinocchio::{AccountView, Address};

instruction! {
    /// Closes a finished negotiation: delivers recorded payouts, sends fee and decay to the treasury, and all
    /// rent to the buyer. Donations to the vault go to the treasury, or in wrapped SOL to the buyer. Anyone
    /// can send it, but not in the second of creation. It pays no account with a delegate or close authority,
    /// regardless of the signer.
    pub fn close_negotiation();
    accounts<'a> {
        /// Any signer.
        closer: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault.
        escrow_vault: Vault<'a>,
        /// The configuration, which keeps the totals.
        config: State<'a, ProtocolConfig>,
        /// The buyer, which gets both accounts' rent.
        buyer: RentRecipient<'a>,
        /// A token account of the treasury; only if something goes there. An account of another owner or mint
        /// is ConstraintRaw (2003) even if nothing goes there; the same holds for the next two.
        treasury_token_account: Option<ClosingRecipient<'a, Treasury>>,
        /// Any buyer token account; only if the buyer has a recorded payout.
        buyer_token_account: Option<ClosingRecipient<'a, Buyer>>,
        /// Any seller token account; only if the seller has a recorded payout.
        seller_token_account: Option<ClosingRecipient<'a, Seller>>,
        /// The mint of the escrow.
        token_mint: EscrowMint,
        /// The mint's token program.
        token_program: TokenProgram,
    }
    effects {
        result: "closed",
        actors: &[Actor { account: "closer", role: Role::Anyone }],
        guards: &[Guard::CreatedAt, Guard::Stage],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[
            to_buyer(Money::Payout),
            to_seller(Money::Payout),
            Payment {
                money: Money::Fee,
                from: Role::Program,
                source: "escrow_vault",
                to: Role::Treasury,
                destination: "treasury_token_account",
            },
            Payment {
                money: Money::Rent,
                from: Role::Program,
                source: "negotiation",
                to: Role::Buyer,
                destination: "buyer",
            },
            Payment {
                money: Money::Rent,
                from: Role::Program,
                source: "escrow_vault",
                to: Role::Buyer,
                destination: "buyer",
            },
        ],
        events: &["NegotiationClosed", "PayoutClaimed"],
    }
}

/// The treasury's amount: fee, decay and donations. In wrapped SOL only fee and decay: anyone can turn a
/// vault's surplus lamports into tokens, also lamports that were rent before a fall of the rent, and rent
/// belongs to the buyer. The rest goes to the buyer with the vault's lamports.
///
/// # Errors
/// PayoutPending if the vault holds less than the recorded payouts.
#[inline(always)]
fn swept(holdings: &TokenAccount<'_>, negotiation: &Negotiation) -> Result<u64> {
    let recorded = { negotiation.claimable_buyer }
        .checked_add(negotiation.claimable_seller)
        .ok_or(HaggleError::Overflow)?;
    let rest = holdings
        .amount()
        .checked_sub(recorded)
        .ok_or(HaggleError::PayoutPending)?;
    if !holdings.is_native() {
        return Ok(rest);
    }
    let earned = negotiation.earned()?;
    Ok(if rest < earned { rest } else { earned })
}

/// Closes the negotiation.
///
/// # Errors
/// InvalidState until the negotiation ends, as well as in the second of creation; PayoutPending if a recorded payout or
/// the treasury's amount cannot be delivered to the given account, or the vault is frozen or holds too little.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (_, accounts) = load(accounts, data)?;
    let (mut negotiation, mut config) = (accounts.negotiation, accounts.config);

    let now = sysvar::now()?;
    // The next deal at this address is created later, so signatures for this deal are invalid there.
    if !negotiation.is_over() || now <= negotiation.created_at {
        return Err(HaggleError::InvalidState.into());
    }
    let (to_buyer, to_seller) = (negotiation.claimable_buyer, negotiation.claimable_seller);
    let holdings = accounts.escrow_vault.holdings()?;
    let to_treasury = swept(&holdings, &negotiation)?;
    if holdings.is_frozen() && holdings.amount() > 0 {
        return Err(HaggleError::PayoutPending.into());
    }
    let treasury = ClosingRecipient::payment(&accounts.treasury_token_account, to_treasury)?;
    let recorded = [
        ClosingRecipient::payment(&accounts.buyer_token_account, to_buyer)?,
        ClosingRecipient::payment(&accounts.seller_token_account, to_seller)?,
    ];

    let fee = negotiation.fee_on(negotiation.paid_gross);
    config.total_negotiations = { config.total_negotiations }.saturating_add(1);
    config.total_settled_volume =
        { config.total_settled_volume }.saturating_add(negotiation.paid_gross);
    config.total_fees_collected = { config.total_fees_collected }.saturating_add(fee);
    negotiation.claimable_buyer = 0;
    negotiation.claimable_seller = 0;

    emit_claimed(negotiation.address(), &negotiation.buyer, to_buyer, now);
    emit_claimed(negotiation.address(), &negotiation.seller, to_seller, now);
    NegotiationClosed {
        negotiation_id: *negotiation.address(),
        closed_by: *accounts.closer.address(),
        swept: to_treasury,
        timestamp: now,
    }
    .emit();

    // The vault's lamports go to the negotiation first: a caller does not see lamports paid by a called
    // program to an executable account, and a buyer's wallet can become executable.
    pay_and_close(&negotiation, &accounts.escrow_vault, treasury, recorded)?;
    negotiation.close(accounts.buyer.view())
}

/// Logs a recorded payout's delivery.
#[inline(always)]
pub fn emit_claimed(negotiation_id: &Address, party: &Address, amount: u64, timestamp: i64) {
    if amount > 0 {
        PayoutClaimed {
            negotiation_id: *negotiation_id,
            party: *party,
            amount,
            timestamp,
        }
        .emit();
    }
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;

    use crate::tests::fixture::{
        assert_config, associated, event, named, token_account, Call, Deal, Fixture, AUTHORITY,
        BUYER, CREATED, FUNDS, LAMPORTS, MINT, NOW, OFFER, SELLER, STRANGER, TREASURY,
    };

    /// The recorded payouts of `Fixture::settled_with_recorded_payouts`.
    const BUYERS: u64 = 1_900_000;
    const SELLERS: u64 = 2_985_000;
    /// The fee on `OFFER`, and a single round's decay.
    const FEE: u64 = 15_000;
    const DECAY: u64 = 100_000;
    const FUNDS_LEFT: u64 = FUNDS - 5_000_000;

    fn closed_event(deal: &Deal, closed_by: Address, swept: u64, now: i64) -> Vec<u8> {
        event(
            NegotiationClosed::RECORD,
            &NegotiationClosed {
                negotiation_id: deal.negotiation,
                closed_by,
                swept,
                timestamp: now,
            },
        )
    }

    fn claimed_event(deal: &Deal, party: Address, amount: u64, now: i64) -> Vec<u8> {
        event(
            PayoutClaimed::RECORD,
            &PayoutClaimed {
                negotiation_id: deal.negotiation,
                party,
                amount,
                timestamp: now,
            },
        )
    }

    fn treasury_account() -> Address {
        associated(&TREASURY, &MINT)
    }

    /// A closing call without payment accounts.
    fn bare(fixture: &Fixture, deal: &Deal) -> Call {
        fixture
            .close(deal, STRANGER)
            .without("treasury_token_account")
            .without("buyer_token_account")
            .without("seller_token_account")
    }

    #[track_caller]
    fn assert_gone(fixture: &Fixture, deal: &Deal) {
        assert!(!fixture.exists(&deal.negotiation));
        assert!(!fixture.exists(&deal.escrow_vault));
    }

    #[test]
    fn anyone_closes_and_the_rent_goes_to_the_buyer() {
        let (mut fixture, deal) = Fixture::settled();
        fixture.now = NOW + 50;
        let call = fixture
            .close(&deal, STRANGER)
            .without("buyer_token_account")
            .without("seller_token_account");
        fixture.run(&call).succeeds().emitted(&[closed_event(
            &deal,
            STRANGER,
            FEE + DECAY,
            NOW + 50,
        )]);
        assert_gone(&fixture, &deal);
        assert_eq!(fixture.balance(&treasury_account()), FEE + DECAY);
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            FUNDS_LEFT + BUYERS
        );
        assert_eq!(fixture.balance(&deal.seller_token_account), SELLERS);
        assert_eq!(fixture.lamports(&BUYER), LAMPORTS);
        assert_eq!(fixture.lamports(&STRANGER), LAMPORTS);
        assert_config(
            &fixture.protocol_config(),
            &ProtocolConfig {
                total_negotiations: 1,
                total_settled_volume: OFFER,
                total_fees_collected: FEE,
                ..Fixture::config()
            },
        );
    }

    #[test]
    fn a_negotiation_without_a_settlement_adds_only_to_the_number() {
        for (mut fixture, deal) in [Fixture::rejected(), Fixture::expired()] {
            let now = fixture.now;
            let call = fixture.close(&deal, SELLER);
            fixture
                .run(&call)
                .succeeds()
                .emitted(&[closed_event(&deal, SELLER, DECAY, now)]);
            assert_gone(&fixture, &deal);
            assert_eq!(fixture.balance(&treasury_account()), DECAY);
            assert_eq!(fixture.balance(&deal.buyer_token_account), FUNDS - DECAY);
            assert_config(
                &fixture.protocol_config(),
                &ProtocolConfig {
                    total_negotiations: 1,
                    ..Fixture::config()
                },
            );
        }
    }

    #[test]
    fn an_open_negotiation_cannot_be_closed() {
        for (fixture, deal) in [
            Fixture::created(),
            Fixture::invited(),
            Fixture::offered(),
            Fixture::countered(),
        ] {
            for who in [BUYER, SELLER, STRANGER, TREASURY, AUTHORITY] {
                for now in [NOW, NOW + 3_600, i64::MAX] {
                    let call = fixture.close(&deal, who);
                    fixture.at(now).refuses(&call, HaggleError::InvalidState);
                }
            }
        }
    }

    #[test]
    fn a_close_in_the_second_of_creation_is_refused() {
        let (mut rejected, deal) = Fixture::created();
        rejected.now = CREATED;
        let call = rejected.reject(&deal, SELLER);
        rejected.run(&call).succeeds();
        for fixture in [
            rejected,
            Fixture::settled().0,
            Fixture::settled_with_recorded_payouts().0,
        ] {
            let call = fixture.close(&deal, STRANGER);
            // A fork's clock can be behind the creation.
            for now in [i64::MIN, CREATED - 1, CREATED] {
                fixture.at(now).refuses(&call, HaggleError::InvalidState);
            }
            for now in [CREATED + 1, i64::MAX] {
                fixture.at(now).run(&call).succeeds();
            }
        }
    }

    #[test]
    fn the_closer_can_have_another_role() {
        for who in [BUYER, SELLER, TREASURY, AUTHORITY] {
            let (mut fixture, deal) = Fixture::settled();
            let call = fixture.close(&deal, who);
            fixture
                .run(&call)
                .succeeds()
                .emitted(&[closed_event(&deal, who, FEE + DECAY, NOW)]);
            assert_gone(&fixture, &deal);
            assert_eq!(fixture.lamports(&BUYER), LAMPORTS);
        }
    }

    #[test]
    fn recorded_payouts_are_delivered() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        let call = fixture.close(&deal, STRANGER);
        fixture.run(&call).succeeds().emitted(&[
            claimed_event(&deal, BUYER, BUYERS, NOW),
            claimed_event(&deal, SELLER, SELLERS, NOW),
            closed_event(&deal, STRANGER, FEE + DECAY, NOW),
        ]);
        assert_gone(&fixture, &deal);
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            FUNDS_LEFT + BUYERS
        );
        assert_eq!(fixture.balance(&deal.seller_token_account), SELLERS);
        assert_eq!(fixture.balance(&treasury_account()), FEE + DECAY);
    }

    #[test]
    fn recorded_payouts_go_to_any_account_of_the_party() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        for (name, owner) in [("second", BUYER), ("third", SELLER), ("fourth", TREASURY)] {
            fixture.put(named(name), token_account(&MINT, &owner, 0));
        }
        let call = fixture
            .close(&deal, STRANGER)
            .with("buyer_token_account", named("second"))
            .with("seller_token_account", named("third"))
            .with("treasury_token_account", named("fourth"));
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&named("second")), BUYERS);
        assert_eq!(fixture.balance(&named("third")), SELLERS);
        assert_eq!(fixture.balance(&named("fourth")), FEE + DECAY);
    }

    #[test]
    fn an_undeliverable_payout_delays_the_close() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        let call = fixture.close(&deal, STRANGER);
        for account in [
            "buyer_token_account",
            "seller_token_account",
            "treasury_token_account",
        ] {
            fixture.refuses(&call.clone().without(account), HaggleError::PayoutPending);
            let mut frozen = fixture.clone();
            frozen.freeze(&call.address_of(account));
            frozen.refuses(&call, HaggleError::PayoutPending);
        }
        fixture.refuses(&bare(&fixture, &deal), HaggleError::PayoutPending);
        fixture.run(&call).succeeds();
    }

    #[test]
    fn an_account_without_a_payout_can_be_left_out_or_frozen() {
        for account in ["buyer_token_account", "seller_token_account"] {
            let (mut fixture, deal) = Fixture::settled();
            let call = fixture.close(&deal, STRANGER);
            fixture
                .clone()
                .run(&call.clone().without(account))
                .succeeds();
            fixture.freeze(&call.address_of(account));
            fixture.run(&call).succeeds();
        }
    }

    #[test]
    fn close_needs_a_treasury_account_only_for_a_positive_amount() {
        let mut terms = Fixture::terms();
        terms.decay_rate_bps = 0;
        let mut fixture = Fixture::new();
        fixture.set_config(&ProtocolConfig {
            default_protocol_fee_bps: 0,
            ..Fixture::config()
        });
        let deal = Fixture::deal();
        fixture.now = CREATED;
        let call = fixture.create(&deal, &terms);
        fixture.run(&call).succeeds();
        fixture.now = NOW;
        let call = fixture.accept_invitation(&deal);
        fixture.run(&call).succeeds();
        let call = fixture.offer(&deal, BUYER, OFFER);
        fixture.run(&call).succeeds();
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.run(&call).succeeds();

        let mut donated = fixture.clone();
        donated.donate(&deal.escrow_vault, 1);
        donated.refuses(&bare(&fixture, &deal), HaggleError::PayoutPending);

        fixture
            .run(&bare(&fixture, &deal))
            .succeeds()
            .emitted(&[closed_event(&deal, STRANGER, 0, NOW)]);
        assert_gone(&fixture, &deal);
    }

    #[test]
    fn a_rejection_before_any_round_leaves_only_rent() {
        let (mut fixture, deal) = Fixture::created();
        let call = fixture.reject(&deal, SELLER);
        fixture.run(&call).succeeds();
        fixture.run(&bare(&fixture, &deal)).succeeds();
        assert_gone(&fixture, &deal);
        assert_eq!(fixture.lamports(&BUYER), LAMPORTS);
        assert_eq!(fixture.balance(&deal.buyer_token_account), FUNDS);
    }

    #[test]
    fn donations_go_to_the_treasury() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        fixture.donate(&deal.escrow_vault, 777);
        let call = fixture.close(&deal, STRANGER);
        fixture.run(&call).succeeds().emitted(&[
            claimed_event(&deal, BUYER, BUYERS, NOW),
            claimed_event(&deal, SELLER, SELLERS, NOW),
            closed_event(&deal, STRANGER, FEE + DECAY + 777, NOW),
        ]);
        assert_eq!(fixture.balance(&treasury_account()), FEE + DECAY + 777);
        assert_eq!(fixture.balance(&deal.seller_token_account), SELLERS);
        assert_eq!({ fixture.protocol_config().total_fees_collected }, FEE);
    }

    #[test]
    fn a_frozen_vault_is_closed_once_it_is_thawed_or_if_it_is_empty() {
        let (mut fixture, deal) = Fixture::settled();
        fixture.freeze(&deal.escrow_vault);
        let call = fixture.close(&deal, STRANGER);
        fixture.refuses(&call, HaggleError::PayoutPending);
        fixture.thaw(&deal.escrow_vault);
        fixture.run(&call).succeeds();

        let (mut fixture, deal) = Fixture::created();
        let call = fixture.reject(&deal, SELLER);
        fixture.run(&call).succeeds();
        fixture.freeze(&deal.escrow_vault);
        let call = fixture.close(&deal, STRANGER);
        fixture.run(&call).succeeds();
        assert_gone(&fixture, &deal);
    }

    #[test]
    fn a_vault_that_holds_too_little_for_recorded_payouts_stays_open() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        fixture.set_balance(&deal.escrow_vault, BUYERS + SELLERS - 1);
        let call = fixture.close(&deal, STRANGER);
        fixture.refuses(&call, HaggleError::PayoutPending);
        fixture.set_balance(&deal.escrow_vault, BUYERS + SELLERS);
        fixture
            .run(&call.without("treasury_token_account"))
            .succeeds();
        assert_gone(&fixture, &deal);
    }

    #[test]
    fn a_claimed_payout_does_not_delay_the_close() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        let call = fixture.claim(&deal, SELLER, SELLERS);
        fixture.run(&call).succeeds();
        let call = fixture
            .close(&deal, STRANGER)
            .without("seller_token_account");
        fixture.run(&call).succeeds().emitted(&[
            claimed_event(&deal, BUYER, BUYERS, NOW),
            closed_event(&deal, STRANGER, FEE + DECAY, NOW),
        ]);
        assert_eq!(fixture.balance(&deal.seller_token_account), SELLERS);
    }

    #[test]
    fn the_close_pays_the_current_treasury() {
        let (mut fixture, deal) = Fixture::settled();
        fixture.set_config(&ProtocolConfig {
            treasury: AUTHORITY,
            ..Fixture::config()
        });
        let call = fixture.close(&deal, STRANGER);
        fixture.refuses(&call, Framework::ConstraintRaw);
        let call = call.with("treasury_token_account", associated(&AUTHORITY, &MINT));
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&associated(&AUTHORITY, &MINT)), FEE + DECAY);
    }

    #[test]
    fn a_treasury_that_is_the_buyer_can_name_one_account_twice() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        fixture.set_config(&ProtocolConfig {
            treasury: BUYER,
            ..Fixture::config()
        });
        let call = fixture
            .close(&deal, STRANGER)
            .with("treasury_token_account", deal.buyer_token_account);
        fixture.run(&call).succeeds();
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            FUNDS_LEFT + BUYERS + FEE + DECAY
        );
    }

    #[test]
    fn totals_saturate() {
        let (mut fixture, deal) = Fixture::settled();
        fixture.set_config(&ProtocolConfig {
            total_negotiations: u64::MAX,
            total_settled_volume: u64::MAX - OFFER + 1,
            total_fees_collected: u64::MAX - FEE,
            ..Fixture::config()
        });
        let call = fixture.close(&deal, STRANGER);
        fixture.run(&call).succeeds();
        assert_config(
            &fixture.protocol_config(),
            &ProtocolConfig {
                total_negotiations: u64::MAX,
                total_settled_volume: u64::MAX,
                total_fees_collected: u64::MAX,
                ..Fixture::config()
            },
        );
    }

    #[test]
    fn inconsistent_amounts_are_not_paid() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        let mut negotiation = fixture.negotiation(&deal);
        negotiation.claimable_buyer = u64::MAX;
        negotiation.claimable_seller = 1;
        fixture.set_negotiation(&deal, &negotiation);
        let call = fixture.close(&deal, STRANGER);
        fixture.refuses(&call, HaggleError::Overflow);
    }
}
