//! One side accepts the offer that stands, and the price is paid, or kept for milestones.

use crate::error::HaggleError;
use crate::escrow::{Authority, Division, Recipient, Vault};
use crate::event::OfferAccepted;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::settlement::{settle, Paid};
use crate::state::{Negotiation, NegotiationStatus};
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::error::ProgramResult;
use pinocchio::AccountView;

instruction! {
    /// Accepts the other side's offer, or the price in the middle of the zone: the seller is paid the price less the fee and
    /// gets its bond back, the buyer gets the rest of the effective escrow. With milestones the price and the bond stay in
    /// the vault until they are decided. Fee and decay stay there until the negotiation is closed.
    pub fn accept_offer(
        /// The round that the signer has seen.
        expected_round: u8,
        /// The price that the signer has seen, in base units of the mint.
        expected_amount: u64,
        /// The metadata that the signer has seen.
        expected_metadata: [u8; 64],
    );
    accounts {
        /// The party that did not make the offer.
        acceptor: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault.
        escrow_vault: Meta::WRITE.derived(Negotiation::VAULT_SEEDS),
        /// A token account of the buyer's; if it cannot receive, the associated one, and the payment is recorded.
        buyer_token_account: Meta::WRITE,
        /// A token account of the seller's; if it cannot receive, the associated one, and the payment is recorded.
        seller_token_account: Meta::WRITE,
        /// The mint of the escrow.
        token_mint: Meta::READ.stored_in("negotiation"),
        /// The token program of the mint.
        token_program: Meta::READ.one_of(programs::TOKENS),
    }
}

/// Settles the negotiation, or starts its milestones.
///
/// # Errors
/// InvalidState without an offer, NoZopa, Expired, ResponseWindowExpired, Unauthorized, StaleState, NotYourTurn for one's own offer.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let acceptor = *accounts.acceptor.address();
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the reference is done with before the token program is called.
    let negotiation = unsafe { Negotiation::of(&mut view) };
    let vault = Vault::of(
        &accounts.negotiation,
        negotiation,
        &accounts.escrow_vault,
        &accounts.token_mint,
    )?;
    let currency = vault.currency();
    let to_buyer = Recipient::of(&accounts.buyer_token_account, &currency, &negotiation.buyer)?;
    let to_seller = Recipient::of(
        &accounts.seller_token_account,
        &currency,
        &negotiation.seller,
    )?;
    accounts.check_programs()?;
    check::token_program(&accounts.token_program, &accounts.token_mint)?;

    negotiation.check_bargaining()?;
    if !negotiation.has_offer() {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(&acceptor)?;
    let amount = negotiation.current_offer_amount;
    if args.expected_round != negotiation.current_round
        || args.expected_amount != amount
        || args.expected_metadata != negotiation.metadata
    {
        return Err(HaggleError::StaleState.into());
    }
    if side == negotiation.offer_side && !negotiation.has_midpoint(&id) {
        return Err(HaggleError::NotYourTurn.into());
    }

    let owed = negotiation.owed()?;
    negotiation.settled_amount = amount;
    OfferAccepted {
        negotiation_id: id,
        accepted_by: acceptor,
        amount,
        round: negotiation.current_round,
        timestamp: now,
    }
    .emit();

    let rest = { negotiation.effective_escrow }
        .checked_sub(amount)
        .ok_or(HaggleError::Overflow)?;
    let division = if negotiation.milestone_count > 0 {
        negotiation.status = NegotiationStatus::Accepted;
        Division {
            buyer: rest,
            seller: 0,
        }
    } else {
        let paid = Paid::count(negotiation, amount)?;
        let bond = settle(&id, negotiation, now)?;
        Division {
            buyer: rest,
            seller: paid.net,
        }
        .with(bond)?
    };
    let payments = division.deliver(owed, &vault, negotiation, to_buyer, to_seller, now)?;
    let authority = Authority::of(negotiation);
    vault.pay(payments, &authority)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::event::NegotiationSettled;
    use crate::event::PayoutRecorded;
    use crate::instructions::create_negotiation::NegotiationParams;
    use crate::state::BondState;
    use crate::tests::stage::{
        args_of, assert_negotiation, associated, event, named, rent, token_account, Deal, Stage,
        BOND, BUYER, ESCROW, FUNDS, MIDPOINT, MINT, NOW, OFFER, OTHER_MINT, PRICE, SELLER,
        STRANGER, THIRDS,
    };
    use pinocchio::Address;

    const FEE: u64 = 15_000;
    const AFTER_1: u64 = 4_900_000;
    const DECAY: u64 = ESCROW - AFTER_1;

    fn accepted_event(stage: &Stage, deal: &Deal, acceptor: Address) -> Vec<u8> {
        let negotiation = stage.negotiation(deal);
        event(
            OfferAccepted::RECORD,
            &OfferAccepted {
                negotiation_id: deal.negotiation,
                accepted_by: acceptor,
                amount: negotiation.settled_amount,
                round: negotiation.current_round,
                timestamp: stage.now,
            },
        )
    }

    fn settled_event(
        stage: &Stage,
        deal: &Deal,
        protocol_fee: u64,
        escrow_decay_total: u64,
    ) -> Vec<u8> {
        let negotiation = stage.negotiation(deal);
        event(
            NegotiationSettled::RECORD,
            &NegotiationSettled {
                negotiation_id: deal.negotiation,
                buyer: BUYER,
                seller: SELLER,
                settled_amount: negotiation.settled_amount,
                total_rounds: negotiation.current_round,
                protocol_fee,
                escrow_decay_total,
                timestamp: stage.now,
                token_mint: MINT,
                service_hash: *named("service").as_array(),
                metadata: negotiation.metadata,
            },
        )
    }

    fn recorded_event(stage: &Stage, deal: &Deal, party: Address, amount: u64) -> Vec<u8> {
        event(
            PayoutRecorded::RECORD,
            &PayoutRecorded {
                negotiation_id: deal.negotiation,
                party,
                amount,
                timestamp: stage.now,
            },
        )
    }

    #[test]
    fn the_seller_is_paid_and_the_buyer_gets_the_rest() {
        let (mut stage, deal) = Stage::offered();
        let before = stage.clone();
        stage.now = NOW + 7;
        let call = stage.accept_offer(&deal, SELLER);
        let outcome = stage.run(&call);
        outcome.succeeds();
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Settled,
                settled_at: NOW + 7,
                settled_amount: OFFER,
                paid_gross: OFFER,
                ..before.negotiation(&deal)
            },
        );
        outcome.emitted(&[
            event(
                OfferAccepted::RECORD,
                &OfferAccepted {
                    negotiation_id: deal.negotiation,
                    accepted_by: SELLER,
                    amount: OFFER,
                    round: 1,
                    timestamp: NOW + 7,
                },
            ),
            event(
                NegotiationSettled::RECORD,
                &NegotiationSettled {
                    negotiation_id: deal.negotiation,
                    buyer: BUYER,
                    seller: SELLER,
                    settled_amount: OFFER,
                    total_rounds: 1,
                    protocol_fee: FEE,
                    escrow_decay_total: DECAY,
                    timestamp: NOW + 7,
                    token_mint: MINT,
                    service_hash: *named("service").as_array(),
                    metadata: [0; 64],
                },
            ),
        ]);
        assert_eq!(stage.balance(&deal.seller_token_account), OFFER - FEE);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + AFTER_1 - OFFER
        );
        assert_eq!(stage.balance(&deal.escrow_vault), FEE + DECAY);
        for account in [deal.negotiation, deal.escrow_vault, BUYER, SELLER] {
            assert_eq!(stage.lamports(&account), before.lamports(&account));
        }
    }

    #[test]
    fn the_buyer_accepts_the_sellers_offer() {
        let (mut stage, deal) = Stage::countered();
        let call = stage.accept_offer(&deal, BUYER);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            accepted_event(&stage, &deal, BUYER),
            settled_event(&stage, &deal, 17_500, 198_000),
        ]);
        assert_eq!({ stage.negotiation(&deal).settled_amount }, 3_500_000);
        assert_eq!(stage.balance(&deal.seller_token_account), 3_482_500);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + 4_802_000 - 3_500_000
        );
        assert_eq!(stage.balance(&deal.escrow_vault), 17_500 + 198_000);
    }

    #[test]
    fn the_metadata_of_the_offer_is_what_is_settled() {
        let (mut stage, deal) = Stage::invited();
        let mut metadata = [7; 64];
        metadata[0] = 1;
        metadata[50..].fill(0);
        let call = stage.offer_with(&deal, BUYER, OFFER, &metadata);
        stage.run(&call).succeeds();
        let call = stage.accept_offer(&deal, SELLER);
        let outcome = stage.run(&call);
        assert_eq!({ stage.negotiation(&deal).metadata }, metadata);
        outcome.succeeds().emitted(&[
            accepted_event(&stage, &deal, SELLER),
            settled_event(&stage, &deal, FEE, DECAY),
        ]);
    }

    /// The terms, the offer, and what the seller, the buyer and the vault end with.
    type Division = (&'static str, fn(&mut NegotiationParams), u16, u64, [u64; 3]);

    #[test]
    fn every_unit_of_the_escrow_is_accounted_for() {
        let cases: [Division; 6] = [
            (
                "all of the escrow",
                |_| {},
                50,
                4_900_000,
                [4_875_500, 0, 124_500],
            ),
            (
                "no decay",
                |terms| terms.decay_rate_bps = 0,
                50,
                5_000_000,
                [4_975_000, 0, 25_000],
            ),
            (
                "no fee",
                |_| {},
                0,
                3_000_000,
                [3_000_000, 1_900_000, 100_000],
            ),
            (
                "the highest fee",
                |_| {},
                500,
                3_000_001,
                [2_850_001, 1_899_999, 250_000],
            ),
            (
                "neither",
                |terms| terms.decay_rate_bps = 0,
                0,
                4_999_999,
                [4_999_999, 1, 0],
            ),
            (
                // 100,001 loses 1,234.01, and 9,999 pays a fee of 76.9923.
                "odd amounts",
                |terms| {
                    terms.escrow_amount = 100_001;
                    terms.decay_rate_bps = 123;
                    terms.min_offer_bps = 100;
                },
                77,
                9_999,
                [9_923, 88_772, 1_306],
            ),
        ];
        for (case, change, fee, offer, [seller, buyer, vault]) in cases {
            let mut terms = Stage::terms();
            change(&mut terms);
            let mut stage = Stage::new();
            let mut config = Stage::config();
            config.default_protocol_fee_bps = fee;
            stage.set_config(&config);
            let deal = Stage::deal();
            let escrow = terms.escrow_amount;
            let call = stage.create(&deal, &terms);
            stage.run(&call).succeeds();
            let call = stage.accept_invitation(&deal);
            stage.run(&call).succeeds();
            let call = stage.offer(&deal, BUYER, offer);
            stage.run(&call).succeeds();
            let call = stage.accept_offer(&deal, SELLER);
            stage.run(&call).succeeds();
            println!("{case}");
            assert_eq!(seller + buyer + vault, escrow);
            assert_eq!(stage.balance(&deal.seller_token_account), seller);
            assert_eq!(
                stage.balance(&deal.buyer_token_account),
                FUNDS - escrow + buyer
            );
            assert_eq!(stage.balance(&deal.escrow_vault), vault);
        }
    }

    #[test]
    fn the_fee_is_the_one_at_creation() {
        let (mut stage, deal) = Stage::offered();
        let mut config = Stage::config();
        config.default_protocol_fee_bps = 500;
        stage.set_config(&config);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.seller_token_account), OFFER - FEE);
    }

    #[test]
    fn nobody_accepts_its_own_offer() {
        let (mut stage, deal) = Stage::offered();
        let call = stage.accept_offer(&deal, BUYER);
        stage.refuses(&call, HaggleError::NotYourTurn);
        let (mut stage, deal) = Stage::countered();
        let call = stage.accept_offer(&deal, SELLER);
        stage.refuses(&call, HaggleError::NotYourTurn);
    }

    #[test]
    fn a_stranger_cannot_accept() {
        let (mut stage, deal) = Stage::offered();
        let call = stage.accept_offer(&deal, STRANGER);
        stage.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn there_has_to_be_an_offer() {
        for (mut stage, deal) in [Stage::created(), Stage::invited()] {
            for who in [BUYER, SELLER] {
                let call = stage.accept_offer(&deal, who);
                stage.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn the_last_offer_can_be_accepted() {
        let mut terms = Stage::terms();
        terms.max_rounds = 1;
        let (mut stage, deal) = Stage::invited_with(&terms);
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
    }

    #[test]
    fn one_second_too_late_is_too_late() {
        let (mut stage, deal) = Stage::offered();
        let call = stage.accept_offer(&deal, SELLER);
        for late in [NOW + 300, NOW + 301, NOW + 3_599] {
            stage
                .at(late)
                .refuses(&call, HaggleError::ResponseWindowExpired);
        }
        for late in [NOW + 3_600, NOW + 3_601] {
            stage.at(late).refuses(&call, HaggleError::Expired);
        }
        stage.now = NOW + 299;
        stage.run(&call).succeeds();
    }

    #[test]
    fn another_offer_than_the_signer_saw_is_stale() {
        let (mut stage, deal) = Stage::offered();
        let seen = Args {
            expected_round: 1,
            expected_amount: OFFER,
            expected_metadata: [0; 64],
        };
        let mut first_byte = seen;
        first_byte.expected_metadata[0] = 1;
        let mut last_byte = seen;
        last_byte.expected_metadata[63] = 1;
        for args in [
            Args {
                expected_round: 0,
                ..seen
            },
            Args {
                expected_round: 2,
                ..seen
            },
            Args {
                expected_amount: OFFER - 1,
                ..seen
            },
            Args {
                expected_amount: OFFER + 1,
                ..seen
            },
            first_byte,
            last_byte,
        ] {
            let call = stage.call("accept_offer", &deal, SELLER, args_of(&args));
            stage.refuses(&call, HaggleError::StaleState);
        }
        let call = stage.call("accept_offer", &deal, SELLER, args_of(&seen));
        stage.run(&call).succeeds();
    }

    #[test]
    fn parties_can_be_paid_to_any_account_of_their_own() {
        let (mut stage, deal) = Stage::offered();
        for (who, account) in [(BUYER, "second"), (SELLER, "third")] {
            stage.put(named(account), token_account(&MINT, &who, 5));
        }
        let call = stage
            .accept_offer(&deal, SELLER)
            .with("buyer_token_account", named("second"))
            .with("seller_token_account", named("third"));
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&named("second")), 5 + AFTER_1 - OFFER);
        assert_eq!(stage.balance(&named("third")), 5 + OFFER - FEE);
        assert_eq!(stage.balance(&deal.buyer_token_account), FUNDS - ESCROW);
        assert_eq!(stage.balance(&deal.seller_token_account), 0);
    }

    type Spite = (&'static str, fn(&mut Stage, &Address));

    /// What a party can do to its token account so that it cannot receive.
    const SPITES: [Spite; 5] = [
        ("frozen", |stage, account| stage.freeze(account)),
        ("closed", |stage, account| {
            stage.accounts.remove(account);
        }),
        ("reassigned", |stage, account| {
            stage.change(account, |account| {
                account.data[32..64].copy_from_slice(STRANGER.as_ref())
            });
        }),
        (
            "of a mint that was closed and made again",
            |stage, account| {
                stage.change(account, |account| {
                    account.data[..32].copy_from_slice(OTHER_MINT.as_ref())
                });
            },
        ),
        ("uninitialised", |stage, account| {
            stage.change(account, |account| account.data[108] = 0)
        }),
    ];

    #[test]
    fn what_the_seller_cannot_receive_is_kept_for_it() {
        for (spite, spoil) in SPITES {
            let (mut stage, deal) = Stage::offered();
            spoil(&mut stage, &deal.seller_token_account);
            let spoilt = stage.account(&deal.seller_token_account);
            let call = stage.accept_offer(&deal, SELLER);
            println!("{spite}");
            let outcome = stage.run(&call);
            outcome.succeeds().emitted(&[
                accepted_event(&stage, &deal, SELLER),
                settled_event(&stage, &deal, FEE, DECAY),
                recorded_event(&stage, &deal, SELLER, OFFER - FEE),
            ]);
            let negotiation = stage.negotiation(&deal);
            assert_eq!(
                (negotiation.claimable_buyer, negotiation.claimable_seller),
                (0, OFFER - FEE)
            );
            assert!(stage.account(&deal.seller_token_account) == spoilt);
            assert_eq!(
                stage.balance(&deal.buyer_token_account),
                FUNDS - ESCROW + AFTER_1 - OFFER
            );
            assert_eq!(stage.balance(&deal.escrow_vault), FEE + DECAY + OFFER - FEE);
        }
    }

    #[test]
    fn what_the_buyer_cannot_receive_is_kept_for_it() {
        for (spite, spoil) in SPITES {
            let (mut stage, deal) = Stage::offered();
            spoil(&mut stage, &deal.buyer_token_account);
            let spoilt = stage.account(&deal.buyer_token_account);
            let call = stage.accept_offer(&deal, SELLER);
            println!("{spite}");
            let outcome = stage.run(&call);
            outcome.succeeds().emitted(&[
                accepted_event(&stage, &deal, SELLER),
                settled_event(&stage, &deal, FEE, DECAY),
                recorded_event(&stage, &deal, BUYER, AFTER_1 - OFFER),
            ]);
            let negotiation = stage.negotiation(&deal);
            assert_eq!(
                (negotiation.claimable_buyer, negotiation.claimable_seller),
                (AFTER_1 - OFFER, 0)
            );
            assert!(stage.account(&deal.buyer_token_account) == spoilt);
            assert_eq!(stage.balance(&deal.seller_token_account), OFFER - FEE);
            assert_eq!(
                stage.balance(&deal.escrow_vault),
                FEE + DECAY + AFTER_1 - OFFER
            );
        }
    }

    #[test]
    fn only_the_associated_account_may_be_unable_to_receive() {
        for (spite, spoil) in SPITES {
            for (account, owner) in [
                ("buyer_token_account", BUYER),
                ("seller_token_account", SELLER),
            ] {
                let (mut stage, deal) = Stage::offered();
                let other = named("a spoilt account");
                stage.put(other, token_account(&MINT, &owner, 0));
                spoil(&mut stage, &other);
                let call = stage.accept_offer(&deal, SELLER).with(account, other);
                println!("{spite}");
                stage.refuses(&call, Framework::ConstraintRaw);
            }
        }
    }

    #[test]
    fn the_associated_account_of_another_mint_is_refused() {
        let (mut stage, deal) = Stage::offered();
        for (account, owner) in [
            ("buyer_token_account", BUYER),
            ("seller_token_account", SELLER),
        ] {
            let other = associated(&owner, &OTHER_MINT);
            let call = stage.accept_offer(&deal, SELLER).with(account, other);
            stage.refuses(&call, Framework::ConstraintRaw);
        }
    }

    #[test]
    fn a_frozen_vault_keeps_everything() {
        let (mut stage, deal) = Stage::offered();
        stage.freeze(&deal.escrow_vault);
        let call = stage.accept_offer(&deal, SELLER);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            accepted_event(&stage, &deal, SELLER),
            settled_event(&stage, &deal, FEE, DECAY),
            recorded_event(&stage, &deal, BUYER, AFTER_1 - OFFER),
            recorded_event(&stage, &deal, SELLER, OFFER - FEE),
        ]);
        let negotiation = stage.negotiation(&deal);
        assert_eq!(
            (negotiation.claimable_buyer, negotiation.claimable_seller),
            (AFTER_1 - OFFER, OFFER - FEE)
        );
        assert_eq!(stage.balance(&deal.escrow_vault), ESCROW);
    }

    #[test]
    fn nothing_is_recorded_where_nothing_is_due() {
        let (mut stage, deal) = Stage::invited();
        let call = stage.offer(&deal, BUYER, AFTER_1);
        stage.run(&call).succeeds();
        stage.freeze(&deal.buyer_token_account);
        let call = stage.accept_offer(&deal, SELLER);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            accepted_event(&stage, &deal, SELLER),
            settled_event(&stage, &deal, 24_500, DECAY),
        ]);
        assert_eq!({ stage.negotiation(&deal).claimable_buyer }, 0);
    }

    #[test]
    fn tokens_that_somebody_sends_to_the_vault_change_nothing() {
        let (mut stage, deal) = Stage::offered();
        stage.donate(&deal.escrow_vault, 1_000);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.seller_token_account), OFFER - FEE);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + AFTER_1 - OFFER
        );
        assert_eq!(stage.balance(&deal.escrow_vault), FEE + DECAY + 1_000);
    }

    #[test]
    fn wrapped_sol_is_paid_with_its_lamports() {
        let (mut stage, deal) = Stage::offered_in_wrapped_sol();
        let rent = rent(165);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        for (account, amount) in [
            (deal.seller_token_account, OFFER - FEE),
            (deal.buyer_token_account, FUNDS - ESCROW + AFTER_1 - OFFER),
            (deal.escrow_vault, FEE + DECAY),
        ] {
            assert_eq!(stage.balance(&account), amount);
            assert_eq!(stage.lamports(&account), rent + amount);
        }
    }

    #[test]
    fn a_vault_that_holds_too_little_keeps_everything() {
        let due = AFTER_1 - FEE;
        for held in [0, OFFER, due - 1, due] {
            let (mut stage, deal) = Stage::offered_in_wrapped_sol();
            stage.set_balance(&deal.escrow_vault, held);
            let call = stage.accept_offer(&deal, SELLER);
            stage.run(&call).succeeds();
            let negotiation = stage.negotiation(&deal);
            let kept = (negotiation.claimable_buyer, negotiation.claimable_seller);
            if held < due {
                assert_eq!(kept, (AFTER_1 - OFFER, OFFER - FEE));
                assert_eq!(stage.balance(&deal.escrow_vault), held);
            } else {
                assert_eq!(kept, (0, 0));
                assert_eq!(stage.balance(&deal.escrow_vault), 0);
            }
            assert_eq!(negotiation.status, NegotiationStatus::Settled);
        }
    }

    #[test]
    fn money_that_does_not_add_up_is_not_moved() {
        type Change = fn(&mut Negotiation);
        let cases: [(&str, Change); 3] = [
            ("an offer above the escrow", |negotiation| {
                negotiation.current_offer_amount = AFTER_1 + 1;
            }),
            ("an escrow that has grown", |negotiation| {
                negotiation.effective_escrow = ESCROW + 1;
            }),
            ("a fee above the price", |negotiation| {
                negotiation.protocol_fee_bps = 10_001;
            }),
        ];
        for (case, change) in cases {
            let (mut stage, deal) = Stage::offered();
            let mut negotiation = stage.negotiation(&deal);
            change(&mut negotiation);
            stage.set_negotiation(&deal, &negotiation);
            let call = stage.accept_offer(&deal, SELLER);
            println!("{case}");
            stage.refuses(&call, HaggleError::Overflow);
        }
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::offered();
        stage.pause();
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
    }

    #[test]
    fn with_milestones_the_price_and_the_bond_stay() {
        let (mut stage, deal) = Stage::offered_with(&Stage::milestone_terms(&THIRDS), PRICE);
        let before = stage.clone();
        stage.now = NOW + 7;
        let call = stage.accept_offer(&deal, SELLER);
        let outcome = stage.run(&call);
        outcome.succeeds();
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Accepted,
                settled_amount: PRICE,
                ..before.negotiation(&deal)
            },
        );
        outcome.emitted(&[accepted_event(&stage, &deal, SELLER)]);
        assert_eq!(stage.balance(&deal.seller_token_account), 0);
        assert_eq!(
            stage.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + AFTER_1 - PRICE
        );
        assert_eq!(stage.balance(&deal.escrow_vault), DECAY + PRICE + BOND);
    }

    #[test]
    fn with_milestones_what_the_buyer_cannot_receive_is_kept_and_can_be_fetched() {
        let (mut stage, deal) = Stage::offered_with(&Stage::milestone_terms(&THIRDS), PRICE);
        stage.freeze(&deal.buyer_token_account);
        let call = stage.accept_offer(&deal, SELLER);
        let outcome = stage.run(&call);
        outcome.succeeds().emitted(&[
            accepted_event(&stage, &deal, SELLER),
            recorded_event(&stage, &deal, BUYER, AFTER_1 - PRICE),
        ]);
        let negotiation = stage.negotiation(&deal);
        assert_eq!({ negotiation.claimable_buyer }, AFTER_1 - PRICE);
        assert_eq!(negotiation.status, NegotiationStatus::Accepted);
        stage.thaw(&deal.buyer_token_account);
        let call = stage.claim(&deal, BUYER, AFTER_1 - PRICE);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), DECAY + PRICE + BOND);
        // The rest of its life goes on as if nothing had happened.
        stage.claims_and_is_paid(&deal, 0);
        assert_eq!(stage.balance(&deal.seller_token_account), 994_900);
    }

    #[test]
    fn both_accounts_have_to_be_right_even_where_nothing_is_paid_to_one() {
        let (mut stage, deal) = Stage::offered_with(&Stage::milestone_terms(&THIRDS), PRICE);
        let call = stage
            .accept_offer(&deal, SELLER)
            .with("seller_token_account", deal.buyer_token_account);
        stage.refuses(&call, Framework::ConstraintRaw);
    }

    #[test]
    fn a_bond_goes_back_in_the_same_transfer_as_the_price() {
        let mut terms = Stage::terms();
        terms.bond_required = BOND;
        for frozen in [false, true] {
            let (mut stage, deal) = Stage::offered_with(&terms, OFFER);
            let before = stage.clone();
            if frozen {
                stage.freeze(&deal.seller_token_account);
            }
            let call = stage.accept_offer(&deal, SELLER);
            let outcome = stage.run(&call);
            outcome.succeeds();
            let mut events = vec![
                accepted_event(&stage, &deal, SELLER),
                settled_event(&stage, &deal, FEE, DECAY),
                stage.bond_event(&deal, SELLER, BOND),
            ];
            let (paid, kept) = if frozen {
                events.push(recorded_event(&stage, &deal, SELLER, OFFER - FEE + BOND));
                (0, OFFER - FEE + BOND)
            } else {
                (OFFER - FEE + BOND, 0)
            };
            outcome.emitted(&events);
            assert_negotiation(
                &stage.negotiation(&deal),
                &Negotiation {
                    status: NegotiationStatus::Settled,
                    settled_at: NOW,
                    settled_amount: OFFER,
                    paid_gross: OFFER,
                    bond_state: BondState::Returned,
                    claimable_seller: kept,
                    ..before.negotiation(&deal)
                },
            );
            assert_eq!(stage.balance(&deal.seller_token_account), paid);
            assert_eq!(stage.balance(&deal.escrow_vault), FEE + DECAY + kept);
        }
    }

    #[test]
    fn either_side_accepts_the_midpoint() {
        for who in [BUYER, SELLER] {
            let (mut stage, deal) = Stage::with_midpoint();
            let before = stage.clone();
            let call = stage.accept_offer(&deal, who);
            let outcome = stage.run(&call);
            outcome.succeeds();
            let negotiation = stage.negotiation(&deal);
            assert_eq!({ negotiation.settled_amount }, MIDPOINT);
            assert_eq!(negotiation.status, NegotiationStatus::Settled);
            outcome.emitted(&[
                accepted_event(&stage, &deal, who),
                // No round has been played, so nothing has decayed.
                settled_event(&stage, &deal, 17_500, 0),
                stage.bond_event(&deal, SELLER, BOND),
            ]);
            assert_eq!(
                stage.balance(&deal.buyer_token_account)
                    - before.balance(&deal.buyer_token_account),
                ESCROW - MIDPOINT
            );
            assert_eq!(
                stage.balance(&deal.seller_token_account)
                    - before.balance(&deal.seller_token_account),
                MIDPOINT - 17_500 + BOND
            );
            assert_eq!(stage.balance(&deal.escrow_vault), 17_500);
        }
        let (mut stage, deal) = Stage::with_midpoint();
        let call = stage.accept_offer(&deal, STRANGER);
        stage.refuses(&call, HaggleError::Unauthorized);
        let late = stage.at(stage.negotiation(&deal).turn_deadline);
        let call = late.accept_offer(&deal, SELLER);
        late.at(late.now)
            .refuses(&call, HaggleError::ResponseWindowExpired);
    }

    #[test]
    fn an_offer_replaces_the_midpoint() {
        let (mut stage, deal) = Stage::with_midpoint();
        let midpoint = stage.accept_offer(&deal, SELLER);
        let call = stage.offer(&deal, BUYER, OFFER);
        stage.run(&call).succeeds();
        stage.refuses(&midpoint, HaggleError::StaleState);
        let own = stage.accept_offer(&deal, BUYER);
        stage.refuses(&own, HaggleError::NotYourTurn);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
    }

    #[test]
    fn there_is_nothing_to_accept_while_prices_are_compared_or_without_a_zone() {
        for (mut stage, deal) in [
            Stage::sealed(),
            Stage::buyer_committed(),
            Stage::both_committed(),
            Stage::buyer_revealed(),
        ] {
            for who in [BUYER, SELLER] {
                let call = stage.accept_offer(&deal, who);
                stage.refuses(&call, HaggleError::InvalidState);
            }
        }
        let (mut stage, deal) = Stage::without_zone();
        for who in [BUYER, SELLER, STRANGER] {
            let call = stage.accept_offer(&deal, who);
            stage.refuses(&call, HaggleError::NoZopa);
        }
    }
}
