//! A party claims a recorded payout.

use crate::error::{HaggleError, Result};
use crate::escrow::{pay, Payment, Vault};
use crate::event::PayoutClaimed;
use crate::runtime::sysvar;
use crate::schema::account::{Signer, State};
use crate::schema::instruction::instruction;
use crate::state::{Negotiation, OfferSide};
use crate::token::kinds::{Destination, EscrowMint, TokenProgram};
use pinocchio::AccountView;

instruction! {
    /// Pays the signer's recorded payout to any token account that the signer names.
    pub fn claim_payout(
        /// The negotiation's created_at seen by the signer.
        created_at: i64,
        /// The recorded payout that the signer saw, in the mint's base units. InvalidParams if zero.
        amount: u64,
    );
    accounts<'a> {
        /// The party with the recorded payout.
        party: Signer<'a>,
        /// The negotiation.
        negotiation: State<'a, Negotiation>,
        /// The vault.
        escrow_vault: Vault<'a>,
        /// The receiving token account, with any owner.
        destination_token_account: Destination<'a>,
        /// The mint of the escrow.
        token_mint: EscrowMint,
        /// The mint's token program.
        token_program: TokenProgram,
    }
    effects {
        result: "payout claimed",
        actors: &[Actor { account: "party", role: Role::Party }],
        guards: &[Guard::CreatedAtIs("created_at"), Guard::PayoutIs("amount")],
        idempotency: Idempotency::Random,
        deadlines: &[],
        payments: &[
            Payment {
                money: Money::Payout,
                from: Role::Program,
                source: "escrow_vault",
                to: Role::Party,
                destination: "destination_token_account",
            },
        ],
        events: &["PayoutClaimed"],
    }
}

/// Pays the recorded payout.
///
/// # Errors
/// InvalidParams for zero, InvalidState while the negotiation is neither agreed nor ended, Unauthorized, StaleState for
/// another amount than the recorded one, PayoutPending while the vault is frozen or holds too little.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let (mut negotiation, party) = (accounts.negotiation, accounts.party.address());

    let amount = args.amount;
    if amount == 0 {
        return Err(HaggleError::InvalidParams.into());
    }
    if negotiation.is_open() {
        return Err(HaggleError::InvalidState.into());
    }
    let side = negotiation.side_of(party)?;
    negotiation.check_deal(args.created_at)?;
    if amount != negotiation.claimable(side) {
        return Err(HaggleError::StaleState.into());
    }
    let holdings = accounts.escrow_vault.holdings()?;
    if holdings.is_frozen() || holdings.amount() < amount {
        return Err(HaggleError::PayoutPending.into());
    }

    if side == OfferSide::Buyer {
        negotiation.claimable_buyer = 0;
    } else {
        negotiation.claimable_seller = 0;
    }
    PayoutClaimed {
        negotiation_id: *negotiation.address(),
        party: *party,
        amount,
        timestamp: sysvar::now()?,
    }
    .emit();
    let payment = Payment {
        to: accounts.destination_token_account.view(),
        amount,
    };
    pay(&negotiation, &accounts.escrow_vault, &payment)
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::error::Framework;
    use crate::runtime::programs;
    use crate::tests::fixture::{
        assert_negotiation, associated, event, named, owned, token_account, wallet, Deal, Fixture,
        BUYER, FUNDS, MINT, NOW, OTHER_MINT, SELLER, STRANGER, THIRDS,
    };
    use pinocchio::Address;

    /// The recorded payouts of `Fixture::settled_with_recorded_payouts`, and the fee and the decay.
    const BUYERS: u64 = 1_900_000;
    const SELLERS: u64 = 2_985_000;
    const EARNED: u64 = 115_000;
    const FUNDS_LEFT: u64 = FUNDS - 5_000_000;

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

    #[test]
    fn each_party_claims_its_recorded_payout() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        let before = fixture.clone();
        fixture.now = NOW + 1_000_000;
        let call = fixture.claim(&deal, SELLER, SELLERS);
        fixture.run(&call).succeeds().emitted(&[claimed_event(
            &deal,
            SELLER,
            SELLERS,
            NOW + 1_000_000,
        )]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                claimable_seller: 0,
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(fixture.balance(&deal.seller_token_account), SELLERS);
        assert_eq!(fixture.balance(&deal.escrow_vault), BUYERS + EARNED);

        let call = fixture.claim(&deal, BUYER, BUYERS);
        fixture.run(&call).succeeds().emitted(&[claimed_event(
            &deal,
            BUYER,
            BUYERS,
            NOW + 1_000_000,
        )]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                claimable_buyer: 0,
                claimable_seller: 0,
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(
            fixture.balance(&deal.buyer_token_account),
            FUNDS_LEFT + BUYERS
        );
        assert_eq!(fixture.balance(&deal.escrow_vault), EARNED);
    }

    #[test]
    fn a_claim_pays_any_account_that_the_party_names() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        fixture.put(
            named("a cold wallet"),
            token_account(&MINT, &named("another owner"), 0),
        );
        let other = Deal::between(BUYER, SELLER, 2, MINT);
        let call = fixture.create(&other, &Fixture::terms());
        fixture.run(&call).succeeds();
        for destination in [
            named("a cold wallet"),
            associated(&STRANGER, &MINT),
            deal.buyer_token_account,
            other.escrow_vault,
        ] {
            let mut fixture = fixture.clone();
            let before = fixture.balance(&destination);
            let call = fixture
                .claim(&deal, SELLER, SELLERS)
                .with("destination_token_account", destination);
            fixture.run(&call).succeeds();
            assert_eq!(fixture.balance(&destination), before + SELLERS);
            assert_eq!(fixture.balance(&deal.escrow_vault), BUYERS + EARNED);
        }
    }

    #[test]
    fn a_destination_that_cannot_receive_is_refused() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        fixture.put(named("frozen"), token_account(&MINT, &SELLER, 0));
        fixture.freeze(&named("frozen"));
        fixture.put(named("uninitialised"), owned(programs::TOKEN, vec![0; 165]));
        fixture.put(named("wallet"), wallet(1_000_000));
        let mut foreign = token_account(&MINT, &SELLER, 0);
        foreign.owner = named("another token program");
        fixture.put(named("foreign"), foreign);
        let mut longer = token_account(&MINT, &SELLER, 0);
        longer.data.push(0);
        fixture.put(named("longer"), longer);
        for destination in [
            named("frozen"),
            named("uninitialised"),
            named("wallet"),
            named("nothing"),
            named("foreign"),
            named("longer"),
            associated(&SELLER, &OTHER_MINT),
            deal.escrow_vault,
            MINT,
        ] {
            let call = fixture
                .claim(&deal, SELLER, SELLERS)
                .with("destination_token_account", destination);
            fixture.refuses(&call, Framework::ConstraintRaw);
        }
    }

    #[test]
    fn a_claim_of_another_amount_is_stale() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        for amount in [1, SELLERS - 1, SELLERS + 1, BUYERS, u64::MAX] {
            let call = fixture.claim(&deal, SELLER, amount);
            fixture.refuses(&call, HaggleError::StaleState);
        }
        let call = fixture.claim(&deal, BUYER, SELLERS);
        fixture.refuses(&call, HaggleError::StaleState);
    }

    #[test]
    fn a_claim_of_zero_is_refused() {
        for (mut fixture, deal) in [
            Fixture::created(),
            Fixture::settled(),
            Fixture::settled_with_recorded_payouts(),
        ] {
            let call = fixture.claim(&deal, SELLER, 0);
            fixture.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn a_payout_is_claimed_once() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        let call = fixture.claim(&deal, SELLER, SELLERS);
        fixture.run(&call).succeeds();
        fixture.refuses(&call, HaggleError::StaleState);
    }

    #[test]
    fn a_claim_needs_an_agreement_or_an_end() {
        for (mut fixture, deal) in [
            Fixture::created(),
            Fixture::invited(),
            Fixture::offered(),
            Fixture::countered(),
        ] {
            for party in [BUYER, SELLER, STRANGER] {
                let call = fixture.claim(&deal, party, 1);
                fixture.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn a_delivered_payment_cannot_be_claimed() {
        for (mut fixture, deal) in [Fixture::settled(), Fixture::rejected(), Fixture::expired()] {
            for party in [BUYER, SELLER] {
                for amount in [1, BUYERS, SELLERS, 4_900_000] {
                    let call = fixture.claim(&deal, party, amount);
                    fixture.refuses(&call, HaggleError::StaleState);
                }
            }
        }
    }

    #[test]
    fn a_stranger_cannot_claim() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        for amount in [BUYERS, SELLERS] {
            let call = fixture.claim(&deal, STRANGER, amount);
            fixture.refuses(&call, HaggleError::Unauthorized);
        }
    }

    #[test]
    fn a_frozen_vault_pays_once_it_is_thawed() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        fixture.freeze(&deal.escrow_vault);
        for (party, amount) in [(BUYER, BUYERS), (SELLER, SELLERS)] {
            let call = fixture.claim(&deal, party, amount);
            fixture.refuses(&call, HaggleError::PayoutPending);
            let mut fixture = fixture.clone();
            fixture.thaw(&deal.escrow_vault);
            fixture.run(&call).succeeds();
        }
    }

    #[test]
    fn a_vault_that_holds_one_unit_too_little_pays_once_it_is_filled() {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        fixture.set_balance(&deal.escrow_vault, SELLERS - 1);
        let call = fixture.claim(&deal, SELLER, SELLERS);
        fixture.refuses(&call, HaggleError::PayoutPending);
        fixture.set_balance(&deal.escrow_vault, SELLERS);
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&deal.escrow_vault), 0);
    }

    #[test]
    fn a_recorded_payout_is_claimed_while_milestones_are_open() {
        let (mut fixture, deal) = Fixture::accepted(&THIRDS);
        fixture.freeze(&deal.seller_token_account);
        fixture.claims_and_is_paid(&deal, 0);
        fixture.thaw(&deal.seller_token_account);
        let before = fixture.clone();
        let recorded = 994_900;
        for amount in [1, recorded - 1, recorded + 1] {
            let call = fixture.claim(&deal, SELLER, amount);
            fixture.refuses(&call, HaggleError::StaleState);
        }
        let close = fixture.close(&deal, SELLER);
        fixture.refuses(&close, HaggleError::InvalidState);
        let call = fixture.claim(&deal, SELLER, recorded);
        let now = fixture.now;
        fixture
            .run(&call)
            .succeeds()
            .emitted(&[claimed_event(&deal, SELLER, recorded, now)]);
        assert_negotiation(
            &fixture.negotiation(&deal),
            &Negotiation {
                claimable_seller: 0,
                ..before.negotiation(&deal)
            },
        );
        assert_eq!(fixture.balance(&deal.seller_token_account), recorded);
        assert_eq!(
            fixture.balance(&deal.escrow_vault),
            before.balance(&deal.escrow_vault) - recorded
        );
        let call = fixture.claim(&deal, SELLER, recorded);
        fixture.refuses(&call, HaggleError::StaleState);
    }
}
