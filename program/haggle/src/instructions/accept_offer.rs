//! One side accepts the current offer. The price is paid, or kept for the milestones.

use crate::error::{HaggleError, Result};
use crate::escrow::{Delivery, Division, Recipient, Vault};
use crate::event::OfferAccepted;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::settlement::settle;
use crate::state::{BondReason, Negotiation, NegotiationStatus};
use crate::token::kinds::{Buyer, EscrowMint, Seller, TokenProgram};
use pinocchio::AccountView;

instruction! {
    /// Accepts the opposite side's offer, or the midpoint of the zone. The seller gets the price less the
    /// fee, plus the bond; the buyer gets the rest of the effective escrow. With milestones the price and the
    /// bond stay in the vault until the milestones are decided. Fee and decay stay in the vault until the
    /// negotiation is closed.
    pub fn accept_offer(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The negotiation's current_round, as the signer saw it.
        expected_round: u8,
        /// The offered price that the signer saw, in the mint's base units.
        expected_amount: u64,
        /// The negotiation metadata that the signer saw: the offer's, or for the midpoint the creation's.
        expected_metadata: [u8; 64],
    );
    accounts<'a> {
        /// The party that did not make the offer.
        acceptor: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault.
        escrow_vault: Vault<'a>,
        /// Any buyer token account. If it is not payable, it must be the associated account, and the payment
        /// is recorded.
        buyer_token_account: Recipient<'a, Buyer>,
        /// Any seller token account. If it is not payable, it must be the associated account, and the payment
        /// is recorded.
        seller_token_account: Recipient<'a, Seller>,
        /// The mint of the escrow.
        token_mint: EscrowMint,
        /// The mint's token program.
        token_program: TokenProgram,
    }
    effects {
        result: "offer accepted",
        actors: &[Actor { account: "acceptor", role: Role::Party }],
        guards: &[
            Guard::CreatedAtIs("created_at"),
            Guard::Status,
            Guard::RoundIs("expected_round"),
            Guard::ZopaStep,
            Guard::OfferIs("expected_amount"),
            Guard::MetadataIs("expected_metadata"),
        ],
        idempotency: Idempotency::Content,
        deadlines: &[],
        payments: &[to_buyer(Money::Refund), to_seller(Money::Price), to_seller(Money::Bond)],
        events: &["OfferAccepted", "NegotiationSettled", "BondSettled", "PayoutRecorded"],
    }
}

/// Settles the negotiation, or starts the milestones.
///
/// # Errors
/// InvalidState, also if no offer exists, NoZopa, Expired, ResponseWindowExpired, Unauthorized, StaleState,
/// NotYourTurn for the signer's own offer.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let (mut negotiation, acceptor) = (accounts.negotiation, accounts.acceptor.address());

    negotiation.check_bargaining()?;
    if !negotiation.has_offer() {
        return Err(HaggleError::InvalidState.into());
    }
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    let side = negotiation.side_of(acceptor)?;
    negotiation.check_round(args.created_at, args.expected_round)?;
    let amount = negotiation.current_offer_amount;
    if args.expected_amount != amount || args.expected_metadata != negotiation.metadata {
        return Err(HaggleError::StaleState.into());
    }
    if side == negotiation.offer_side && !negotiation.has_midpoint(negotiation.address()) {
        return Err(HaggleError::NotYourTurn.into());
    }

    let owed = negotiation.owed()?;
    let rest = { negotiation.effective_escrow }
        .checked_sub(amount)
        .ok_or(HaggleError::Overflow)?;
    negotiation.settled_amount = amount;
    OfferAccepted {
        negotiation_id: *negotiation.address(),
        accepted_by: *acceptor,
        amount,
        round: negotiation.current_round,
        timestamp: now,
    }
    .emit();

    let division = if negotiation.has_milestones() {
        negotiation.status = NegotiationStatus::Accepted;
        Division {
            buyer: rest,
            seller: 0,
        }
    } else {
        negotiation.paid_gross = { negotiation.paid_gross }
            .checked_add(amount)
            .ok_or(HaggleError::Overflow)?;
        let bond = settle(&mut negotiation, 0, BondReason::Settlement, now)?;
        Division {
            buyer: rest,
            seller: amount
                .checked_sub(negotiation.fee_on(amount))
                .ok_or(HaggleError::Overflow)?,
        }
        .with(bond)?
    };
    Delivery {
        division,
        owed,
        negotiation: &mut negotiation,
        vault: &accounts.escrow_vault,
        buyer: Some(&accounts.buyer_token_account),
        seller: Some(&accounts.seller_token_account),
        now,
    }
    .deliver()
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::constants::{METADATA_TERMS, METADATA_TERMS_HASH};
    use crate::event::NegotiationSettled;

    use crate::instructions::create_negotiation::NegotiationParams;
    use crate::state::BondState;
    use crate::tests::fixture::{
        args_of, assert_negotiation, event, named, Deal, Fixture, BOND, BUYER, CREATED, ESCROW,
        FUNDS, MINT, NOW, OFFER, PRICE, SELLER, STRANGER, THIRDS,
    };
    use pinocchio::Address;

    const FEE: u64 = 15_000;
    const AFTER_1: u64 = 4_900_000;
    const DECAY: u64 = ESCROW - AFTER_1;

    fn accepted_event(fixture: &Fixture, deal: &Deal, acceptor: Address) -> Vec<u8> {
        let negotiation = fixture.negotiation(deal);
        event(
            OfferAccepted::RECORD,
            &OfferAccepted {
                negotiation_id: deal.negotiation,
                accepted_by: acceptor,
                amount: negotiation.settled_amount,
                round: negotiation.current_round,
                timestamp: fixture.now,
            },
        )
    }

    #[test]
    fn the_seller_is_paid_and_the_buyer_gets_the_rest() {
        let (mut fixture, deal) = Fixture::offered();
        let before = fixture.clone();
        fixture.now = NOW + 7;
        let call = fixture.accept_offer(&deal, SELLER);
        let outcome = fixture.run(&call);
        outcome.succeeds();
        assert_negotiation(
            &fixture.negotiation(&deal),
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
        assert_eq!(fixture.balance(&deal.seller_token_account), OFFER - FEE);
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + AFTER_1 - OFFER
        );
        assert_eq!(fixture.balance(&deal.escrow_vault), FEE + DECAY);
        for account in [deal.negotiation, deal.escrow_vault, BUYER, SELLER] {
            assert_eq!(fixture.lamports(&account), before.lamports(&account));
        }
    }

    #[test]
    fn the_buyer_accepts_the_sellers_offer() {
        let (mut fixture, deal) = Fixture::countered();
        let call = fixture.accept_offer(&deal, BUYER);
        let outcome = fixture.run(&call);
        outcome.succeeds().emitted(&[
            accepted_event(&fixture, &deal, BUYER),
            fixture.settled_event(&deal, 3_500_000, 17_500),
        ]);
        assert_eq!({ fixture.negotiation(&deal).settled_amount }, 3_500_000);
        assert_eq!(fixture.balance(&deal.seller_token_account), 3_482_500);
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + 4_802_000 - 3_500_000
        );
        assert_eq!(fixture.balance(&deal.escrow_vault), 17_500 + 198_000);
    }

    #[test]
    fn the_acceptance_names_the_offers_metadata_and_the_settlement_logs_it() {
        let mut terms = [7; 64];
        terms[0] = METADATA_TERMS;
        terms[50..].fill(0);
        let mut terms_hash = [9; 64];
        terms_hash[0] = METADATA_TERMS_HASH;
        terms_hash[33..].fill(0);
        for metadata in [terms, terms_hash] {
            let (mut fixture, deal) = Fixture::invited();
            let call = fixture.offer_with(&deal, BUYER, OFFER, &metadata);
            fixture.run(&call).succeeds();
            for at in 0..64 {
                let mut expected_metadata = metadata;
                expected_metadata[at] ^= 1;
                let args = Args {
                    expected_metadata,
                    ..seen(1, OFFER)
                };
                let call = fixture.call("accept_offer", &deal, SELLER, args_of(&args));
                fixture.refuses(&call, HaggleError::StaleState);
            }
            let call = fixture.accept_offer(&deal, SELLER);
            let outcome = fixture.run(&call);
            assert_eq!({ fixture.negotiation(&deal).metadata }, metadata);
            outcome.succeeds().emitted(&[
                accepted_event(&fixture, &deal, SELLER),
                fixture.settled_event(&deal, OFFER, FEE),
            ]);
        }
    }

    /// The terms, the fee, the offer, and the final amounts of the seller, the buyer and the vault.
    type Case = (&'static str, fn(&mut NegotiationParams), u16, u64, [u64; 3]);

    #[test]
    fn every_unit_of_the_escrow_is_accounted_for() {
        let cases: [Case; 6] = [
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
            let mut terms = Fixture::terms();
            change(&mut terms);
            terms.max_fee_bps = fee;
            let mut fixture = Fixture::new();
            let mut config = Fixture::config();
            config.default_protocol_fee_bps = fee;
            fixture.set_config(&config);
            let deal = Fixture::deal();
            let escrow = terms.escrow_amount;
            let call = fixture.create(&deal, &terms);
            fixture.run(&call).succeeds();
            let call = fixture.accept_invitation(&deal);
            fixture.run(&call).succeeds();
            let call = fixture.offer(&deal, BUYER, offer);
            fixture.run(&call).succeeds();
            let call = fixture.accept_offer(&deal, SELLER);
            fixture.run(&call).succeeds();
            println!("{case}");
            assert_eq!(seller + buyer + vault, escrow);
            assert_eq!(fixture.balance(&deal.seller_token_account), seller);
            assert_eq!(
                fixture.balance(&deal.buyer_token_account),
                FUNDS - escrow + buyer
            );
            assert_eq!(fixture.balance(&deal.escrow_vault), vault);
        }
    }

    #[test]
    fn creation_fixes_the_fee() {
        let (mut fixture, deal) = Fixture::offered();
        let mut config = Fixture::config();
        config.default_protocol_fee_bps = 500;
        fixture.set_config(&config);
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&deal.seller_token_account), OFFER - FEE);
    }

    #[test]
    fn an_offerer_cannot_accept_its_own_offer() {
        let (mut fixture, deal) = Fixture::offered();
        let call = fixture.accept_offer(&deal, BUYER);
        fixture.refuses(&call, HaggleError::NotYourTurn);
        let (mut fixture, deal) = Fixture::countered();
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.refuses(&call, HaggleError::NotYourTurn);
    }

    #[test]
    fn a_stranger_cannot_accept() {
        let (mut fixture, deal) = Fixture::offered();
        let call = fixture.accept_offer(&deal, STRANGER);
        fixture.refuses(&call, HaggleError::Unauthorized);
    }

    #[test]
    fn an_acceptance_needs_an_offer() {
        for (mut fixture, deal) in [Fixture::created(), Fixture::invited()] {
            for who in [BUYER, SELLER] {
                let call = fixture.accept_offer(&deal, who);
                fixture.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn the_offer_of_the_last_round_can_be_accepted() {
        let mut terms = Fixture::terms();
        terms.max_rounds = 1;
        let (mut fixture, deal) = Fixture::invited_with(&terms);
        let call = fixture.offer(&deal, BUYER, OFFER);
        fixture.run(&call).succeeds();
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.run(&call).succeeds();
    }

    #[test]
    fn an_acceptance_after_the_turn_is_refused() {
        let (mut fixture, deal) = Fixture::offered();
        let call = fixture.accept_offer(&deal, SELLER);
        for late in [NOW + 300, NOW + 301, NOW + 3_599] {
            fixture
                .at(late)
                .refuses(&call, HaggleError::ResponseWindowExpired);
        }
        for late in [NOW + 3_600, NOW + 3_601] {
            fixture.at(late).refuses(&call, HaggleError::Expired);
        }
        fixture.now = NOW + 299;
        fixture.run(&call).succeeds();
    }

    /// Acceptance arguments without metadata.
    fn seen(expected_round: u8, expected_amount: u64) -> Args {
        Args {
            created_at: CREATED,
            expected_round,
            expected_amount,
            expected_metadata: [0; 64],
        }
    }

    #[test]
    fn an_acceptance_of_another_offer_is_stale() {
        let (mut fixture, deal) = Fixture::offered();
        let accept = |args: &Args| fixture.call("accept_offer", &deal, SELLER, args_of(args));
        let right = accept(&seen(1, OFFER));
        let wrong = [
            seen(0, OFFER),
            seen(2, OFFER),
            seen(1, OFFER - 1),
            seen(1, OFFER + 1),
        ]
        .map(|args| accept(&args));
        for call in wrong {
            fixture.refuses(&call, HaggleError::StaleState);
        }
        fixture.run(&right).succeeds();
    }

    #[test]
    fn an_offer_above_the_escrow_is_not_paid() {
        let (mut fixture, deal) = Fixture::offered();
        let mut negotiation = fixture.negotiation(&deal);
        negotiation.current_offer_amount = AFTER_1 + 1;
        fixture.set_negotiation(&deal, &negotiation);
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.refuses(&call, HaggleError::Overflow);
    }

    #[test]
    fn the_price_and_the_bond_of_milestones_stay_in_the_vault() {
        let (mut fixture, deal) = Fixture::offered_with(&Fixture::milestone_terms(&THIRDS), PRICE);
        let before = fixture.clone();
        fixture.now = NOW + 7;
        let call = fixture.accept_offer(&deal, SELLER);
        let outcome = fixture.run(&call);
        outcome.succeeds();
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Accepted,
                settled_amount: PRICE,
                ..before.negotiation(&deal)
            },
        );
        outcome.emitted(&[accepted_event(&fixture, &deal, SELLER)]);
        assert_eq!(fixture.balance(&deal.seller_token_account), 0);
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            FUNDS - ESCROW + AFTER_1 - PRICE
        );
        assert_eq!(fixture.balance(&deal.escrow_vault), DECAY + PRICE + BOND);
    }

    #[test]
    fn the_bond_is_returned_with_the_price() {
        let mut terms = Fixture::terms();
        terms.bond_required = BOND;
        for frozen in [false, true] {
            let (mut fixture, deal) = Fixture::offered_with(&terms, OFFER);
            let before = fixture.clone();
            if frozen {
                fixture.freeze(&deal.seller_token_account);
            }
            let call = fixture.accept_offer(&deal, SELLER);
            let outcome = fixture.run(&call);
            outcome.succeeds();
            let mut events = vec![
                accepted_event(&fixture, &deal, SELLER),
                fixture.settled_event(&deal, OFFER, FEE),
                fixture.bond_event(&deal, SELLER, BOND, BondReason::Settlement),
            ];
            let (paid, recorded) = if frozen {
                events.push(fixture.recorded_event(&deal, SELLER, OFFER - FEE + BOND));
                (0, OFFER - FEE + BOND)
            } else {
                (OFFER - FEE + BOND, 0)
            };
            outcome.emitted(&events);
            assert_negotiation(
                &fixture.negotiation(&deal),
                &Negotiation {
                    status: NegotiationStatus::Settled,
                    settled_at: NOW,
                    settled_amount: OFFER,
                    paid_gross: OFFER,
                    bond_state: BondState::Returned,
                    claimable_seller: recorded,
                    ..before.negotiation(&deal)
                },
            );
            assert_eq!(fixture.balance(&deal.seller_token_account), paid);
            assert_eq!(fixture.balance(&deal.escrow_vault), FEE + DECAY + recorded);
        }
    }

    #[test]
    fn an_acceptance_waits_for_the_comparison_and_fails_without_a_zone() {
        for (mut fixture, deal) in [
            Fixture::sealed(),
            Fixture::buyer_committed(),
            Fixture::both_committed(),
            Fixture::buyer_revealed(),
        ] {
            for who in [BUYER, SELLER] {
                let call = fixture.accept_offer(&deal, who);
                fixture.refuses(&call, HaggleError::InvalidState);
            }
        }
        let (mut fixture, deal) = Fixture::without_zone();
        for who in [BUYER, SELLER, STRANGER] {
            let call = fixture.accept_offer(&deal, who);
            fixture.refuses(&call, HaggleError::NoZopa);
        }
    }
}
