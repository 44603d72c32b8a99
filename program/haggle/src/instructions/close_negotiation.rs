//! The accounts of a negotiation that is over go, and everyone gets what is still in them.

use crate::error::{Framework, HaggleError};
use crate::escrow::{Authority, Payment, Vault};
use crate::event::{NegotiationClosed, PayoutClaimed};
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::{Negotiation, ProtocolConfig};
use crate::token::account::{Currency, TokenAccount};
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::{AccountView, Address};

instruction! {
    /// Closes a negotiation that is over: delivers what is still kept for a party, sends fee, decay and donations to the
    /// treasury, and all rent to the buyer. Anyone may.
    pub fn close_negotiation();
    accounts {
        /// Whoever closes.
        closer: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// The configuration, which keeps the totals.
        config: Meta::WRITE
            .holds(ProtocolConfig::RECORD)
            .at(&ProtocolConfig::ADDRESS)
            .derived(ProtocolConfig::SEEDS),
        /// The buyer, who gets the rent of both accounts.
        buyer: Meta::WRITE.stored_in("negotiation"),
        /// A token account of the treasury's; only where something goes there.
        treasury_token_account: Meta::WRITE.optional(),
        /// A token account of the buyer's; only where something is kept for the buyer.
        buyer_token_account: Meta::WRITE.optional(),
        /// A token account of the seller's; only where something is kept for the seller.
        seller_token_account: Meta::WRITE.optional(),
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.one_of(programs::TOKENS),
    }
}

/// Whether an owner's account is given and can receive.
///
/// # Errors
/// 2003 when it is not a token account of this currency and this owner.
#[inline(always)]
fn is_recipient(
    account: &AccountView,
    currency: &Currency<'_>,
    owner: &Address,
) -> Result<bool, ProgramError> {
    let Some(account) = check::given(account) else {
        return Ok(false);
    };
    match TokenAccount::of(account, currency) {
        Some(token) if token.is_of(currency, owner) => Ok(token.can_receive()),
        _ => Err(Framework::ConstraintRaw.into()),
    }
}

/// What goes to the treasury: fee, decay and what anyone donated. Of wrapped SOL only fee and decay: anyone can have the
/// token program count a vault's surplus lamports as tokens, also such as were rent before the rent fell, and rent is the
/// buyer's. What is left of them goes there when the vault is closed.
///
/// # Errors
/// PayoutPending when the vault holds too little for what is kept, Overflow if the decay were negative.
#[inline(always)]
fn swept(
    holdings: &TokenAccount<'_>,
    negotiation: &Negotiation,
    fee: u64,
) -> Result<u64, ProgramError> {
    let kept = { negotiation.claimable_buyer }
        .checked_add(negotiation.claimable_seller)
        .ok_or(HaggleError::Overflow)?;
    let rest = holdings
        .amount()
        .checked_sub(kept)
        .ok_or(HaggleError::PayoutPending)?;
    if !holdings.is_native() {
        return Ok(rest);
    }
    let earned = { negotiation.escrow_amount }
        .checked_sub(negotiation.effective_escrow)
        .and_then(|decay| decay.checked_add(fee))
        .ok_or(HaggleError::Overflow)?;
    Ok(if rest < earned { rest } else { earned })
}

/// Closes the negotiation.
///
/// # Errors
/// InvalidState while it is not over; PayoutPending when something is kept for a party, or goes to the treasury, and cannot be
/// delivered to the account given, or the vault is frozen or holds too little.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the reference is done with before the token program is called.
    let negotiation = unsafe { Negotiation::of(&mut view) };
    let buyer = negotiation.buyer;
    let seller = negotiation.seller;

    accounts.check_fixed_pdas()?;
    let vault = Vault::of(
        &accounts.negotiation,
        negotiation,
        &accounts.escrow_vault,
        &accounts.token_mint,
    )?;
    check::stored(&accounts.buyer, &buyer)?;
    // SAFETY: `load` has checked the account.
    let mut config = unsafe { ProtocolConfig::read(&accounts.config) };
    let treasury = config.treasury;
    let currency = vault.currency();
    let treasury_payable = is_recipient(&accounts.treasury_token_account, &currency, &treasury)?;
    let buyer_payable = is_recipient(&accounts.buyer_token_account, &currency, &buyer)?;
    let seller_payable = is_recipient(&accounts.seller_token_account, &currency, &seller)?;
    accounts.check_programs()?;
    check::token_program(&accounts.token_program, &accounts.token_mint)?;

    if !negotiation.is_over() {
        return Err(HaggleError::InvalidState.into());
    }
    let fee = negotiation.fee_on(negotiation.paid_gross);
    let to_buyer = negotiation.claimable_buyer;
    let to_seller = negotiation.claimable_seller;
    let holdings = vault.holdings()?;
    let to_treasury = swept(&holdings, negotiation, fee)?;
    if (to_buyer > 0 && !buyer_payable)
        || (to_seller > 0 && !seller_payable)
        || (to_treasury > 0 && !treasury_payable)
        || (holdings.amount() > 0 && holdings.is_frozen())
    {
        return Err(HaggleError::PayoutPending.into());
    }

    config.total_negotiations = { config.total_negotiations }.saturating_add(1);
    config.total_settled_volume =
        { config.total_settled_volume }.saturating_add(negotiation.paid_gross);
    config.total_fees_collected = { config.total_fees_collected }.saturating_add(fee);
    // SAFETY: it has been read from there.
    unsafe { config.write(&mut accounts.config) };
    negotiation.claimable_buyer = 0;
    negotiation.claimable_seller = 0;

    let now = sysvar::now()?;
    for (party, amount) in [(buyer, to_buyer), (seller, to_seller)] {
        if amount > 0 {
            PayoutClaimed {
                negotiation_id: id,
                party,
                amount,
                timestamp: now,
            }
            .emit();
        }
    }
    NegotiationClosed {
        negotiation_id: id,
        closed_by: *accounts.closer.address(),
        swept: to_treasury,
        timestamp: now,
    }
    .emit();

    let authority = Authority::of(negotiation);
    vault.pay_and_close(
        [
            Payment {
                to: &accounts.treasury_token_account,
                amount: to_treasury,
            },
            Payment {
                to: &accounts.buyer_token_account,
                amount: to_buyer,
            },
            Payment {
                to: &accounts.seller_token_account,
                amount: to_seller,
            },
        ],
        // By way of the negotiation's own account: the runtime shows no caller what a call has paid to an executable one, which a
        // buyer's wallet can become.
        &accounts.negotiation,
        &authority,
    )?;

    let rent = accounts.negotiation.lamports();
    let lamports = accounts
        .buyer
        .lamports()
        .checked_add(rent)
        .ok_or(HaggleError::Overflow)?;
    accounts.buyer.set_lamports(lamports);
    accounts.negotiation.close()
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::tests::stage::{
        assert_config, associated, event, named, owned, rent, token_account, wallet, Call, Deal,
        Stage, AUTHORITY, BUYER, FUNDS, LAMPORTS, MINT, NATIVE_MINT, NOW, OFFER, OTHER_MINT,
        SELLER, STRANGER, TREASURY,
    };

    /// What `Stage::settled_with_both_kept` keeps for each.
    const BUYERS: u64 = 1_900_000;
    const SELLERS: u64 = 2_985_000;
    /// The fee on `OFFER`, and the decay of one round.
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

    /// Without any account that could be paid to.
    fn bare(stage: &Stage, deal: &Deal) -> Call {
        stage
            .close(deal, STRANGER)
            .without("treasury_token_account")
            .without("buyer_token_account")
            .without("seller_token_account")
    }

    #[track_caller]
    fn assert_gone(stage: &Stage, deal: &Deal) {
        assert!(!stage.exists(&deal.negotiation));
        assert!(!stage.exists(&deal.escrow_vault));
    }

    #[test]
    fn anyone_closes_and_the_rent_goes_to_the_buyer() {
        let (mut stage, deal) = Stage::settled();
        stage.now = NOW + 50;
        let call = stage
            .close(&deal, STRANGER)
            .without("buyer_token_account")
            .without("seller_token_account");
        stage.run(&call).succeeds().emitted(&[closed_event(
            &deal,
            STRANGER,
            FEE + DECAY,
            NOW + 50,
        )]);
        assert_gone(&stage, &deal);
        assert_eq!(stage.balance(&treasury_account()), FEE + DECAY);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS_LEFT + BUYERS
        );
        assert_eq!(stage.balance(&deal.seller_token_account), SELLERS);
        assert_eq!(stage.lamports(&BUYER), LAMPORTS);
        assert_eq!(stage.lamports(&STRANGER), LAMPORTS);
        assert_config(
            &stage.protocol_config(),
            &ProtocolConfig {
                total_negotiations: 1,
                total_settled_volume: OFFER,
                total_fees_collected: FEE,
                ..Stage::config()
            },
        );
    }

    #[test]
    fn without_a_settlement_only_the_number_counts() {
        for (mut stage, deal) in [Stage::rejected(), Stage::expired()] {
            let now = stage.now;
            let call = stage.close(&deal, SELLER);
            stage
                .run(&call)
                .succeeds()
                .emitted(&[closed_event(&deal, SELLER, DECAY, now)]);
            assert_gone(&stage, &deal);
            assert_eq!(stage.balance(&treasury_account()), DECAY);
            assert_eq!(stage.balance(&deal.buyer_token_account), FUNDS - DECAY);
            assert_config(
                &stage.protocol_config(),
                &ProtocolConfig {
                    total_negotiations: 1,
                    ..Stage::config()
                },
            );
        }
    }

    #[test]
    fn an_open_negotiation_cannot_be_closed() {
        for (stage, deal) in [
            Stage::created(),
            Stage::invited(),
            Stage::offered(),
            Stage::countered(),
        ] {
            for who in [BUYER, SELLER, STRANGER, TREASURY, AUTHORITY] {
                for now in [NOW, NOW + 3_600, i64::MAX] {
                    let call = stage.close(&deal, who);
                    stage.at(now).refuses(&call, HaggleError::InvalidState);
                }
            }
        }
    }

    #[test]
    fn the_closer_can_be_anyone_who_also_has_another_part() {
        for who in [BUYER, SELLER, TREASURY, AUTHORITY] {
            let (mut stage, deal) = Stage::settled();
            let call = stage.close(&deal, who);
            stage
                .run(&call)
                .succeeds()
                .emitted(&[closed_event(&deal, who, FEE + DECAY, NOW)]);
            assert_gone(&stage, &deal);
            assert_eq!(stage.lamports(&BUYER), LAMPORTS);
        }
    }

    #[test]
    fn what_is_kept_is_delivered() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds().emitted(&[
            claimed_event(&deal, BUYER, BUYERS, NOW),
            claimed_event(&deal, SELLER, SELLERS, NOW),
            closed_event(&deal, STRANGER, FEE + DECAY, NOW),
        ]);
        assert_gone(&stage, &deal);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS_LEFT + BUYERS
        );
        assert_eq!(stage.balance(&deal.seller_token_account), SELLERS);
        assert_eq!(stage.balance(&treasury_account()), FEE + DECAY);
    }

    #[test]
    fn it_is_delivered_to_any_account_that_the_party_owns() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        for (name, owner) in [("second", BUYER), ("third", SELLER), ("fourth", TREASURY)] {
            stage.put(named(name), token_account(&MINT, &owner, 0));
        }
        let call = stage
            .close(&deal, STRANGER)
            .with("buyer_token_account", named("second"))
            .with("seller_token_account", named("third"))
            .with("treasury_token_account", named("fourth"));
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&named("second")), BUYERS);
        assert_eq!(stage.balance(&named("third")), SELLERS);
        assert_eq!(stage.balance(&named("fourth")), FEE + DECAY);
    }

    #[test]
    fn what_cannot_be_delivered_keeps_the_negotiation() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        let call = stage.close(&deal, STRANGER);
        for account in [
            "buyer_token_account",
            "seller_token_account",
            "treasury_token_account",
        ] {
            stage.refuses(&call.clone().without(account), HaggleError::PayoutPending);
            let mut frozen = stage.clone();
            frozen.freeze(&call.address_of(account));
            frozen.refuses(&call, HaggleError::PayoutPending);
        }
        stage.refuses(&bare(&stage, &deal), HaggleError::PayoutPending);
        stage.run(&call).succeeds();
    }

    #[test]
    fn an_account_that_nothing_goes_to_may_be_left_out_or_frozen() {
        for account in ["buyer_token_account", "seller_token_account"] {
            let (mut stage, deal) = Stage::settled();
            let call = stage.close(&deal, STRANGER);
            stage.clone().run(&call.clone().without(account)).succeeds();
            stage.freeze(&call.address_of(account));
            stage.run(&call).succeeds();
        }
    }

    #[test]
    fn an_account_that_is_given_is_the_right_ones() {
        let (mut stage, deal) = Stage::settled();
        stage.put(named("uninitialised"), owned(programs::TOKEN, vec![0; 165]));
        let owners = [
            ("treasury_token_account", TREASURY),
            ("buyer_token_account", BUYER),
            ("seller_token_account", SELLER),
        ];
        for (account, owner) in owners {
            for (_, another) in owners.iter().filter(|(_, another)| *another != owner) {
                let call = stage
                    .close(&deal, STRANGER)
                    .with(account, associated(another, &MINT));
                stage.refuses(&call, Framework::ConstraintRaw);
            }
            for address in [
                associated(&owner, &OTHER_MINT),
                associated(&STRANGER, &MINT),
                named("uninitialised"),
                named("nothing"),
                owner,
                deal.escrow_vault,
            ] {
                let call = stage.close(&deal, STRANGER).with(account, address);
                // The buyer's wallet is there twice and writable; as a token account it is none all the same.
                stage.refuses(&call, Framework::ConstraintRaw);
            }
        }
    }

    #[test]
    fn nothing_for_the_treasury_needs_no_account_of_its() {
        let mut terms = Stage::terms();
        terms.decay_rate_bps = 0;
        let mut stage = Stage::new();
        stage.set_config(&ProtocolConfig {
            default_protocol_fee_bps: 0,
            ..Stage::config()
        });
        let deal = Stage::deal();
        let call = stage.create(&deal, &terms);
        stage.run(&call).succeeds();
        let call = stage.accept_invitation(&deal);
        stage.run(&call).succeeds();
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();

        let mut donated = stage.clone();
        donated.donate(&deal.escrow_vault, 1);
        donated.refuses(&bare(&stage, &deal), HaggleError::PayoutPending);

        stage
            .run(&bare(&stage, &deal))
            .succeeds()
            .emitted(&[closed_event(&deal, STRANGER, 0, NOW)]);
        assert_gone(&stage, &deal);
    }

    #[test]
    fn rejected_before_any_round_nothing_is_left_but_rent() {
        let (mut stage, deal) = Stage::created();
        let call = stage.reject(&deal, SELLER);
        stage.run(&call).succeeds();
        stage.run(&bare(&stage, &deal)).succeeds();
        assert_gone(&stage, &deal);
        assert_eq!(stage.lamports(&BUYER), LAMPORTS);
        assert_eq!(stage.balance(&deal.buyer_token_account), FUNDS);
    }

    #[test]
    fn donations_go_to_the_treasury() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        stage.donate(&deal.escrow_vault, 777);
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds().emitted(&[
            claimed_event(&deal, BUYER, BUYERS, NOW),
            claimed_event(&deal, SELLER, SELLERS, NOW),
            closed_event(&deal, STRANGER, FEE + DECAY + 777, NOW),
        ]);
        assert_eq!(stage.balance(&treasury_account()), FEE + DECAY + 777);
        assert_eq!(stage.balance(&deal.seller_token_account), SELLERS);
        assert_eq!({ stage.protocol_config().total_fees_collected }, FEE);
    }

    #[test]
    fn lamports_that_were_sent_to_the_accounts_go_to_the_buyer() {
        let (mut stage, deal) = Stage::settled();
        stage.change(&deal.negotiation, |account| account.lamports += 11);
        stage.change(&deal.escrow_vault, |account| account.lamports += 22);
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        assert_eq!(stage.lamports(&BUYER), LAMPORTS + 33);
    }

    #[test]
    fn a_frozen_vault_is_closed_when_it_is_thawed_or_empty() {
        let (mut stage, deal) = Stage::settled();
        stage.freeze(&deal.escrow_vault);
        let call = stage.close(&deal, STRANGER);
        stage.refuses(&call, HaggleError::PayoutPending);
        stage.thaw(&deal.escrow_vault);
        stage.run(&call).succeeds();

        let (mut stage, deal) = Stage::created();
        let call = stage.reject(&deal, SELLER);
        stage.run(&call).succeeds();
        stage.freeze(&deal.escrow_vault);
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        assert_gone(&stage, &deal);
    }

    #[test]
    fn a_vault_that_holds_too_little_for_what_is_kept_stays() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        stage.set_balance(&deal.escrow_vault, BUYERS + SELLERS - 1);
        let call = stage.close(&deal, STRANGER);
        stage.refuses(&call, HaggleError::PayoutPending);
        stage.set_balance(&deal.escrow_vault, BUYERS + SELLERS);
        stage
            .run(&call.without("treasury_token_account"))
            .succeeds();
        assert_gone(&stage, &deal);
    }

    #[test]
    fn what_one_party_fetched_the_other_need_not_wait_for() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        let call = stage.claim(&deal, SELLER, SELLERS);
        stage.run(&call).succeeds();
        let call = stage.close(&deal, STRANGER).without("seller_token_account");
        stage.run(&call).succeeds().emitted(&[
            claimed_event(&deal, BUYER, BUYERS, NOW),
            closed_event(&deal, STRANGER, FEE + DECAY, NOW),
        ]);
        assert_eq!(stage.balance(&deal.seller_token_account), SELLERS);
    }

    #[test]
    fn the_treasury_is_the_one_of_the_day() {
        let (mut stage, deal) = Stage::settled();
        stage.set_config(&ProtocolConfig {
            treasury: AUTHORITY,
            ..Stage::config()
        });
        let call = stage.close(&deal, STRANGER);
        stage.refuses(&call, Framework::ConstraintRaw);
        let call = call.with("treasury_token_account", associated(&AUTHORITY, &MINT));
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&associated(&AUTHORITY, &MINT)), FEE + DECAY);
    }

    #[test]
    fn a_treasury_that_buys_is_given_its_one_account_twice() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        stage.set_config(&ProtocolConfig {
            treasury: BUYER,
            ..Stage::config()
        });
        let call = stage
            .close(&deal, STRANGER)
            .with("treasury_token_account", deal.buyer_token_account);
        stage.run(&call).succeeds();
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS_LEFT + BUYERS + FEE + DECAY
        );
    }

    #[test]
    fn totals_saturate_so_that_no_worthless_mint_can_block_anyone() {
        let (mut stage, deal) = Stage::settled();
        stage.set_config(&ProtocolConfig {
            total_negotiations: u64::MAX,
            total_settled_volume: u64::MAX - OFFER + 1,
            total_fees_collected: u64::MAX - FEE,
            ..Stage::config()
        });
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        assert_config(
            &stage.protocol_config(),
            &ProtocolConfig {
                total_negotiations: u64::MAX,
                total_settled_volume: u64::MAX,
                total_fees_collected: u64::MAX,
                ..Stage::config()
            },
        );
    }

    #[test]
    fn a_session_can_be_used_again_and_closed_again() {
        let (mut stage, deal) = Stage::closed();
        let call = stage.create(&deal, &Stage::terms());
        stage.run(&call).succeeds();
        let call = stage.reject(&deal, SELLER);
        stage.run(&call).succeeds();
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        assert_eq!({ stage.protocol_config().total_negotiations }, 2);
    }

    #[test]
    fn wrapped_sol_that_was_never_synced_goes_to_the_buyer() {
        let (mut stage, deal) = Stage::offered_in_wrapped_sol();
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        stage.change(&deal.escrow_vault, |account| account.lamports += 123);
        let call = stage.close(&deal, STRANGER);
        stage
            .run(&call)
            .succeeds()
            .emitted(&[closed_event(&deal, STRANGER, FEE + DECAY, NOW)]);
        assert_gone(&stage, &deal);
        assert_eq!(stage.lamports(&BUYER), LAMPORTS + 123);
        let treasury = associated(&TREASURY, &NATIVE_MINT);
        assert_eq!(stage.balance(&treasury), FEE + DECAY);
        assert_eq!(stage.lamports(&treasury), rent(165) + FEE + DECAY);
    }

    #[test]
    fn wrapped_sol_that_was_synced_goes_to_the_buyer_as_well() {
        let (mut stage, deal) = Stage::offered_in_wrapped_sol();
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        stage.change(&deal.escrow_vault, |account| account.lamports += 123);
        stage.donate(&deal.escrow_vault, 123);
        let call = stage.close(&deal, STRANGER);
        stage
            .run(&call)
            .succeeds()
            .emitted(&[closed_event(&deal, STRANGER, FEE + DECAY, NOW)]);
        assert_eq!(stage.lamports(&BUYER), LAMPORTS + 123);
        assert_eq!(
            stage.balance(&associated(&TREASURY, &NATIVE_MINT)),
            FEE + DECAY
        );
    }

    #[test]
    fn a_vault_of_wrapped_sol_that_lost_some_to_rent_sweeps_what_there_is() {
        let (mut stage, deal) = Stage::offered_in_wrapped_sol();
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        stage.set_balance(&deal.escrow_vault, FEE);
        let call = stage.close(&deal, STRANGER);
        stage
            .run(&call)
            .succeeds()
            .emitted(&[closed_event(&deal, STRANGER, FEE, NOW)]);
        assert_eq!(stage.balance(&associated(&TREASURY, &NATIVE_MINT)), FEE);
        assert_eq!(stage.lamports(&BUYER), LAMPORTS + DECAY);
    }

    #[test]
    fn a_buyer_whose_wallet_is_empty_gets_the_rent_all_the_same() {
        let (mut stage, deal) = Stage::settled();
        stage.put(BUYER, wallet(0));
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        assert_eq!(stage.lamports(&BUYER), rent(512) + rent(165));
    }

    #[test]
    fn money_that_does_not_add_up_is_not_moved() {
        let (mut stage, deal) = Stage::settled_with_both_kept();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.claimable_buyer = u64::MAX;
        negotiation.claimable_seller = 1;
        stage.set_negotiation(&deal, &negotiation);
        let call = stage.close(&deal, STRANGER);
        stage.refuses(&call, HaggleError::Overflow);
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::settled();
        stage.pause();
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        assert_eq!(
            stage.protocol_config().is_paused,
            crate::schema::declare::Flag::ON
        );
    }
}
