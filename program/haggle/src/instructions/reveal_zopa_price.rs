//! One side reveals the reservation price that it has committed to.

use crate::constants::ZOPA_DOMAIN;
use crate::error::{Framework, HaggleError};
use crate::escrow::{Authority, Division, Recipient, Vault};
use crate::event::{NegotiationRejected, ZopaRevealed};
use crate::runtime::hash::sha256;
use crate::schema::declare::instruction;
use crate::schema::table::Meta;
use crate::state::bond::{Bond, SettledBond};
use crate::state::zopa::Step;
use crate::state::{Negotiation, NegotiationStatus, OfferSide, ZopaPhase};
use crate::token::account::Currency;
use crate::{runtime::programs, runtime::sysvar, schema::check};
use pinocchio::address::address_eq;
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::{AccountView, Address};

instruction! {
    /// Reveals a reservation price: the buyer first, then the seller, each within its turn. If the seller's leaves room for a
    /// deal, the price in the middle stands as an offer that either side may accept. If it does not, the negotiation ends:
    /// the escrow goes back to the buyer and the bond to the seller.
    pub fn reveal_zopa_price(
        /// The reservation price, in base units of the mint: 1 to the escrow.
        price: u64,
        /// The nonce of the commitment.
        nonce: [u8; 32],
    );
    accounts {
        /// The party whose turn it is.
        agent: Meta::READ.signs(),
        /// The negotiation.
        negotiation: Meta::WRITE.holds(Negotiation::RECORD),
        /// The vault; only where the prices leave no room for a deal.
        escrow_vault: Meta::WRITE.optional().derived(Negotiation::VAULT_SEEDS),
        /// A token account of the buyer's; if it cannot receive, the associated one, and the refund is recorded. Only where
        /// the prices leave no room for a deal.
        buyer_token_account: Meta::WRITE.optional(),
        /// A token account of the seller's that the bond goes back to; if it cannot receive, the associated one, and the
        /// bond is recorded. Only where the prices leave no room for a deal.
        seller_token_account: Meta::WRITE.optional(),
        /// The mint of the escrow; only where the prices leave no room for a deal.
        token_mint: Meta::READ.optional().stored_in("negotiation"),
        /// The token program of the mint; only where the prices leave no room for a deal.
        token_program: Meta::READ.optional().one_of(programs::TOKENS),
    }
}

/// Keeps the price, and after the second one says what follows.
///
/// # Errors
/// InvalidParams for a price out of its range, InvalidState when no price is to be revealed, Expired, ResponseWindowExpired
/// (also where the buyer's reveal would not leave the seller a whole window), Unauthorized, NotYourTurn,
/// ZopaCommitmentMismatch, 3005 without an account that ending needs.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let accounts = Accounts::load(accounts)?;
    let id = *accounts.negotiation.address();
    let agent = *accounts.agent.address();
    let mut view = accounts.negotiation;
    // SAFETY: `load` has checked the account; the reference is done with before the token program is called.
    let negotiation = unsafe { Negotiation::of(&mut view) };

    let vault = vault_if_given(&accounts, &id, negotiation)?;
    let currency = Currency::known_by(&negotiation.token_mint, &accounts.token_mint);
    let to_buyer =
        Recipient::if_given(&accounts.buyer_token_account, &currency, &negotiation.buyer)?;
    let to_seller = Recipient::if_given(
        &accounts.seller_token_account,
        &currency,
        &negotiation.seller,
    )?;
    if check::given(&accounts.token_program).is_some() {
        accounts.check_programs()?;
        check::token_program(&accounts.token_program, &accounts.token_mint)?;
    }

    let price = args.price;
    if price == 0 || price > negotiation.escrow_amount {
        return Err(HaggleError::InvalidParams.into());
    }
    let Step::Reveal(due) = negotiation.zopa_step()? else {
        return Err(HaggleError::InvalidState.into());
    };
    let now = sysvar::now()?;
    negotiation.check_clock(now)?;
    // Whoever reveals second has seen the other's price, and must not be able to say that there was no time.
    if due == OfferSide::Buyer
        && now.saturating_add(negotiation.response_window) > negotiation.global_deadline
    {
        return Err(HaggleError::ResponseWindowExpired.into());
    }
    if negotiation.side_of(&agent)? != due {
        return Err(HaggleError::NotYourTurn.into());
    }
    let committed = if due == OfferSide::Buyer {
        &negotiation.buyer_commitment
    } else {
        &negotiation.seller_commitment
    };
    // Compared as addresses are, and for the same reason.
    let revealed = commitment(&id, &agent, price, &args.nonce);
    if !address_eq(
        &Address::new_from_array(revealed),
        &Address::new_from_array(*committed),
    ) {
        return Err(HaggleError::ZopaCommitmentMismatch.into());
    }

    if due == OfferSide::Buyer {
        negotiation.buyer_price = price;
        negotiation.start_turn(now)?;
        emit_revealed(&id, negotiation, &agent, price, now);
        return Ok(());
    }
    if let Some(zone) = { negotiation.buyer_price }.checked_sub(price) {
        // Half of the zone above the seller's price: at most the buyer's.
        let midpoint = price.checked_add(zone / 2).ok_or(HaggleError::Overflow)?;
        negotiation.seller_price = price;
        negotiation.zopa_phase = ZopaPhase::Revealed;
        negotiation.current_offer_amount = midpoint;
        negotiation.current_offer_by = id;
        negotiation.start_turn(now)?;
        emit_revealed(&id, negotiation, &agent, price, now);
        return Ok(());
    }

    // No room for a deal: the negotiation ends here, in nobody's name but its own.
    let vault = vault.ok_or(Framework::AccountNotEnoughKeys)?;
    check::needed(&accounts.buyer_token_account)?;
    check::needed(&accounts.seller_token_account)?;
    check::needed(&accounts.token_program)?;

    let owed = negotiation.owed()?;
    negotiation.seller_price = price;
    negotiation.zopa_phase = ZopaPhase::Revealed;
    emit_revealed(&id, negotiation, &agent, price, now);
    let refund = Division::refund(negotiation);
    negotiation.status = NegotiationStatus::Rejected;
    NegotiationRejected {
        negotiation_id: id,
        rejected_by: id,
        refund_amount: refund.buyer,
        rounds_completed: negotiation.current_round,
        timestamp: now,
    }
    .emit();
    let bond = SettledBond::take(negotiation, Bond::Returned);
    bond.emit(&id, negotiation, now);
    let payments =
        refund
            .with(bond)?
            .deliver(owed, &vault, negotiation, to_buyer, to_seller, now)?;
    let authority = Authority::of(negotiation);
    vault.pay(payments, &authority)
}

/// The hash that a side commits to its price with.
#[inline(always)]
fn commitment(id: &Address, agent: &Address, price: u64, nonce: &[u8; 32]) -> [u8; 32] {
    sha256(&[
        ZOPA_DOMAIN.as_bytes(),
        id.as_ref(),
        agent.as_ref(),
        &price.to_le_bytes(),
        nonce,
    ])
}

/// The vault, which only ending needs, with the mint; what is given has to be right all the same.
///
/// # Errors
/// 2006, 2001.
#[inline(always)]
fn vault_if_given<'a>(
    accounts: &'a Accounts,
    id: &Address,
    negotiation: &Negotiation,
) -> Result<Option<Vault<'a>>, ProgramError> {
    match (
        check::given(&accounts.escrow_vault),
        check::given(&accounts.token_mint),
    ) {
        (Some(vault), Some(mint)) => {
            Vault::of(&accounts.negotiation, negotiation, vault, mint).map(Some)
        }
        (Some(vault), None) => {
            check::pda(negotiation.is_vault(id, vault.address()))?;
            Ok(None)
        }
        (None, Some(mint)) => {
            check::stored(mint, &negotiation.token_mint)?;
            Ok(None)
        }
        (None, None) => Ok(None),
    }
}

#[inline(always)]
fn emit_revealed(id: &Address, negotiation: &Negotiation, agent: &Address, price: u64, now: i64) {
    ZopaRevealed {
        negotiation_id: *id,
        agent: *agent,
        price,
        phase: negotiation.zopa_phase,
        midpoint: if negotiation.has_midpoint(id) {
            negotiation.current_offer_amount
        } else {
            0
        },
        timestamp: now,
    }
    .emit();
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::state::BondState;
    use crate::tests::stage::{
        assert_negotiation, assert_shares, associated, event, named, nonce_of, token_account, Call,
        Deal, Stage, BOND, BUYER, BUYER_PRICE, BUYER_REST, ENDING, ESCROW, FUNDS, MIDPOINT, MINT,
        NOW, OFFER, OTHER_MINT, SELLER, SELLER_FUNDS, SELLER_PRICE, STRANGER, TOO_MUCH,
    };

    fn revealed_event(
        stage: &Stage,
        deal: &Deal,
        agent: Address,
        price: u64,
        phase: ZopaPhase,
        midpoint: u64,
    ) -> Vec<u8> {
        event(
            ZopaRevealed::RECORD,
            &ZopaRevealed {
                negotiation_id: deal.negotiation,
                agent,
                price,
                phase,
                midpoint,
                timestamp: stage.now,
            },
        )
    }

    /// The first three events of an end without a zone.
    fn ending_events(stage: &Stage, deal: &Deal) -> [Vec<u8>; 3] {
        [
            revealed_event(stage, deal, SELLER, TOO_MUCH, ZopaPhase::Revealed, 0),
            event(
                NegotiationRejected::RECORD,
                &NegotiationRejected {
                    negotiation_id: deal.negotiation,
                    rejected_by: deal.negotiation,
                    refund_amount: ESCROW,
                    rounds_completed: 0,
                    timestamp: stage.now,
                },
            ),
            stage.bond_event(deal, SELLER, BOND),
        ]
    }

    /// The seller's reveal that leaves no zone is due.
    fn before_the_end() -> (Stage, Deal) {
        Stage::buyer_revealed_with(BUYER_PRICE, TOO_MUCH)
    }

    #[test]
    fn the_buyer_reveals_first() {
        let (mut stage, deal) = Stage::both_committed();
        let before = stage.clone();
        stage.now = NOW + 10;
        let call = stage.reveal(&deal, BUYER, BUYER_PRICE, nonce_of(BUYER));
        let phase = ZopaPhase::BothCommitted;
        stage.run(&call).succeeds().emitted(&[revealed_event(
            &stage,
            &deal,
            BUYER,
            BUYER_PRICE,
            phase,
            0,
        )]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                buyer_price: BUYER_PRICE,
                turn_deadline: NOW + 310,
                ..before.negotiation(&deal)
            },
        );
        stage.assert_untouched_since(&before, &[deal.negotiation]);
    }

    #[test]
    fn the_price_in_the_middle_stands_as_an_offer() {
        let (mut stage, deal) = Stage::buyer_revealed();
        let before = stage.clone();
        stage.now = NOW + 20;
        let call = stage.reveal(&deal, SELLER, SELLER_PRICE, nonce_of(SELLER));
        let phase = ZopaPhase::Revealed;
        stage.run(&call).succeeds().emitted(&[revealed_event(
            &stage,
            &deal,
            SELLER,
            SELLER_PRICE,
            phase,
            MIDPOINT,
        )]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                seller_price: SELLER_PRICE,
                zopa_phase: phase,
                current_offer_amount: MIDPOINT,
                current_offer_by: deal.negotiation,
                turn_deadline: NOW + 320,
                ..before.negotiation(&deal)
            },
        );
        stage.assert_untouched_since(&before, &[deal.negotiation]);
    }

    #[test]
    fn the_middle_is_rounded_down() {
        for (buyer_price, seller_price, midpoint) in [
            (1, 1, 1),
            (2, 1, 1),
            (3, 1, 2),
            (3, 2, 2),
            (4_000_000, 4_000_000, 4_000_000),
            (4_000_001, 4_000_000, 4_000_000),
            (ESCROW, 1, 2_500_000),
            (ESCROW, ESCROW, ESCROW),
            (ESCROW, ESCROW - 1, ESCROW - 1),
        ] {
            let (mut stage, deal) = Stage::buyer_revealed_with(buyer_price, seller_price);
            stage.reveals(&deal, SELLER, seller_price);
            let negotiation = stage.negotiation(&deal);
            assert_eq!({ negotiation.current_offer_amount }, midpoint);
            assert_eq!({ negotiation.effective_escrow }, ESCROW);
            assert_shares(
                &stage,
                &deal,
                BUYER_REST,
                SELLER_FUNDS - BOND,
                ESCROW + BOND,
            );
        }
    }

    #[test]
    fn one_unit_decides_whether_there_is_a_zone() {
        for (buyer_price, seller_price) in [
            (1, 2),
            (1, ESCROW),
            (BUYER_PRICE, TOO_MUCH),
            (ESCROW - 1, ESCROW),
        ] {
            let (mut stage, deal) = Stage::buyer_revealed_with(buyer_price, seller_price);
            let call = stage.reveal_last(&deal, seller_price);
            stage.run(&call).succeeds();
            let negotiation = stage.negotiation(&deal);
            assert_eq!({ negotiation.status }, NegotiationStatus::Rejected);
            assert_eq!({ negotiation.current_offer_amount }, 0);
            assert_shares(&stage, &deal, FUNDS, SELLER_FUNDS, 0);
        }
    }

    /// All tokens that there can be: an escrow of all but the bond's unit.
    fn richest(buyer_price: u64, seller_price: u64) -> (Stage, Deal) {
        let mut stage = Stage::new();
        let deal = Stage::deal();
        let mut terms = Stage::sealed_terms();
        terms.escrow_amount = u64::MAX - 1;
        terms.bond_required = 1;
        stage.set_balance(&deal.buyer_token_account, u64::MAX - 1);
        stage.set_balance(&deal.seller_token_account, 1);
        let call = stage.create(&deal, &terms);
        stage.run(&call).succeeds();
        let call = stage.accept_invitation_with_bond(&deal);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), u64::MAX);
        stage.commits(&deal, BUYER, buyer_price);
        stage.commits(&deal, SELLER, seller_price);
        stage.reveals(&deal, BUYER, buyer_price);
        (stage, deal)
    }

    #[test]
    fn nothing_overflows_with_all_the_tokens_there_can_be() {
        const ALL: u64 = u64::MAX - 1;
        for (buyer_price, seller_price) in
            [(ALL, ALL), (ALL, ALL - 1), (ALL, 1), (1, 1), (ALL - 1, 2)]
        {
            let (mut stage, deal) = richest(buyer_price, seller_price);
            stage.reveals(&deal, SELLER, seller_price);
            let midpoint = (u128::from(buyer_price) + u128::from(seller_price)) / 2;
            let found = stage.negotiation(&deal).current_offer_amount;
            assert_eq!(u128::from(found), midpoint);
            let call = stage.accept_offer(&deal, SELLER);
            stage.run(&call).succeeds();
        }
        for (buyer_price, seller_price) in [(1, ALL), (ALL - 1, ALL)] {
            let (mut stage, deal) = richest(buyer_price, seller_price);
            let call = stage.reveal_last(&deal, seller_price);
            stage.run(&call).succeeds();
            assert_eq!(stage.balance(&deal.buyer_token_account), ALL);
            assert_eq!(stage.balance(&deal.seller_token_account), 1);
            assert_eq!(stage.balance(&deal.escrow_vault), 0);
        }
    }

    #[test]
    fn without_a_zone_everyone_gets_its_money_back() {
        let (mut stage, deal) = before_the_end();
        let before = stage.clone();
        stage.now = NOW + 30;
        let call = stage.reveal_last(&deal, TOO_MUCH);
        stage
            .run(&call)
            .succeeds()
            .emitted(&ending_events(&stage, &deal));
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                status: NegotiationStatus::Rejected,
                seller_price: TOO_MUCH,
                zopa_phase: ZopaPhase::Revealed,
                bond_state: BondState::Returned,
                ..before.negotiation(&deal)
            },
        );
        assert_shares(&stage, &deal, FUNDS, SELLER_FUNDS, 0);
        for account in [deal.negotiation, deal.escrow_vault, BUYER, SELLER] {
            assert_eq!(stage.lamports(&account), before.lamports(&account));
        }
        let paid = [
            deal.negotiation,
            deal.escrow_vault,
            deal.buyer_token_account,
            deal.seller_token_account,
        ];
        stage.assert_untouched_since(&before, &paid);
    }

    #[test]
    fn what_cannot_be_received_is_kept_and_holds_nobody_up() {
        type Spite = (&'static str, fn(&mut Stage, &Deal), bool, bool);
        let spites: [Spite; 7] = [
            (
                "the buyer's frozen",
                |stage, deal| stage.freeze(&deal.buyer_token_account),
                true,
                false,
            ),
            (
                "the buyer's closed",
                |stage, deal| {
                    stage.accounts.remove(&deal.buyer_token_account);
                },
                true,
                false,
            ),
            (
                "the buyer's reassigned",
                |stage, deal| {
                    stage.change(&deal.buyer_token_account, |account| {
                        account.data[32..64].copy_from_slice(STRANGER.as_ref());
                    });
                },
                true,
                false,
            ),
            (
                "the seller's frozen",
                |stage, deal| stage.freeze(&deal.seller_token_account),
                false,
                true,
            ),
            (
                "the seller's closed",
                |stage, deal| {
                    stage.accounts.remove(&deal.seller_token_account);
                },
                false,
                true,
            ),
            (
                "both frozen",
                |stage, deal| {
                    stage.freeze(&deal.buyer_token_account);
                    stage.freeze(&deal.seller_token_account);
                },
                true,
                true,
            ),
            (
                "the vault frozen",
                |stage, deal| stage.freeze(&deal.escrow_vault),
                true,
                true,
            ),
        ];
        for (spite, spoil, buyer_waits, seller_waits) in spites {
            let (mut stage, deal) = before_the_end();
            spoil(&mut stage, &deal);
            let (had, sellers) = (
                stage.balance(&deal.buyer_token_account),
                stage.balance(&deal.seller_token_account),
            );
            let call = stage.reveal_last(&deal, TOO_MUCH);
            println!("{spite}");
            let mut events = ending_events(&stage, &deal).to_vec();
            if buyer_waits {
                events.push(stage.recorded_event(&deal, BUYER, ESCROW));
            }
            if seller_waits {
                events.push(stage.recorded_event(&deal, SELLER, BOND));
            }
            stage.run(&call).succeeds().emitted(&events);
            let kept = |waits: bool, amount: u64| if waits { amount } else { 0 };
            let (for_buyer, for_seller) = (kept(buyer_waits, ESCROW), kept(seller_waits, BOND));
            let negotiation = stage.negotiation(&deal);
            assert_eq!({ negotiation.claimable_buyer }, for_buyer);
            assert_eq!({ negotiation.claimable_seller }, for_seller);
            assert_eq!(negotiation.bond_state, BondState::Returned);
            assert_eq!(negotiation.status, NegotiationStatus::Rejected);
            assert_eq!(stage.balance(&deal.escrow_vault), for_buyer + for_seller);
            let buyers = stage.balance(&deal.buyer_token_account);
            assert_eq!(buyers, had + ESCROW - for_buyer);
            let now = stage.balance(&deal.seller_token_account);
            assert_eq!(now, sellers + BOND - for_seller);
        }
    }

    #[test]
    fn what_is_kept_at_the_end_can_be_claimed_and_is_delivered_with_closing() {
        let (mut stage, deal) = before_the_end();
        stage.freeze(&deal.buyer_token_account);
        stage.freeze(&deal.seller_token_account);
        let call = stage.reveal_last(&deal, TOO_MUCH);
        stage.run(&call).succeeds();
        stage.thaw(&deal.buyer_token_account);
        stage.thaw(&deal.seller_token_account);
        let mut claimed = stage.clone();
        for (who, amount) in [(BUYER, ESCROW), (SELLER, BOND)] {
            let call = claimed.claim(&deal, who, amount);
            claimed.run(&call).succeeds();
        }
        assert_shares(&claimed, &deal, FUNDS, SELLER_FUNDS, 0);
        for mut stage in [stage, claimed] {
            let call = stage.close(&deal, STRANGER);
            stage.run(&call).succeeds();
            assert!(!stage.exists(&deal.negotiation) && !stage.exists(&deal.escrow_vault));
            assert_shares(&stage, &deal, FUNDS, SELLER_FUNDS, 0);
        }
    }

    #[test]
    fn without_a_zone_nothing_is_left_but_to_close() {
        let (ended, deal) = Stage::without_zone();
        for now in [i64::MIN, NOW, NOW + 300, NOW + 3_600, i64::MAX] {
            let mut stage = ended.at(now);
            for who in [BUYER, SELLER, STRANGER] {
                for call in [
                    stage.offer(&deal, who, OFFER),
                    stage.accept_offer(&deal, who),
                ] {
                    stage.refuses(&call, HaggleError::NoZopa);
                }
                for call in [
                    stage.commit(&deal, who, [1; 32]),
                    stage.reveal(&deal, who, TOO_MUCH, nonce_of(SELLER)),
                    stage.reject(&deal, who),
                    stage.accept_invitation_with_bond(&deal).with("seller", who),
                ] {
                    stage.refuses(&call, HaggleError::InvalidState);
                }
            }
            let call = stage.expire(&deal);
            stage.refuses(&call, HaggleError::InvalidState);
        }
        let mut stage = ended;
        let call = stage.close(&deal, STRANGER);
        stage.run(&call).succeeds();
        assert!(!stage.exists(&deal.negotiation) && !stage.exists(&deal.escrow_vault));
        assert_shares(&stage, &deal, FUNDS, SELLER_FUNDS, 0);
        let config = stage.protocol_config();
        assert_eq!({ config.total_negotiations }, 1);
        assert_eq!({ config.total_settled_volume }, 0);
        assert_eq!({ config.total_fees_collected }, 0);
    }

    #[test]
    fn a_zone_that_a_party_walks_away_from_was_there() {
        for (buyer_price, seller_price) in [(BUYER_PRICE, SELLER_PRICE), (OFFER, OFFER)] {
            let (mut stage, deal) = Stage::buyer_revealed_with(buyer_price, seller_price);
            stage.reveals(&deal, SELLER, seller_price);
            let call = stage
                .reject(&deal, BUYER)
                .given("seller_token_account", deal.seller_token_account);
            stage.run(&call).succeeds();
            for call in [
                stage.offer(&deal, BUYER, OFFER),
                stage.accept_offer(&deal, SELLER),
            ] {
                stage.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn only_the_end_needs_the_accounts_of_the_end() {
        let (mut stage, deal) = before_the_end();
        let call = stage.reveal_last(&deal, TOO_MUCH);
        for account in ENDING {
            let call = call.clone().without(account);
            stage.refuses(&call, Framework::AccountNotEnoughKeys);
        }
        let bare = stage.reveal(&deal, SELLER, TOO_MUCH, nonce_of(SELLER));
        stage.refuses(&bare, Framework::AccountNotEnoughKeys);
        stage.run(&call).succeeds();

        for ((stage, deal), who, price) in [
            (Stage::both_committed(), BUYER, BUYER_PRICE),
            (Stage::buyer_revealed(), SELLER, SELLER_PRICE),
        ] {
            let call = stage.reveal_and_end(&deal, who, price, nonce_of(who));
            for account in ENDING {
                stage.clone().run(&call.clone().without(account)).succeeds();
            }
            let mut given = stage.clone();
            given.run(&call).succeeds();
            given.assert_untouched_since(&stage, &[deal.negotiation]);
        }
    }

    #[test]
    fn accounts_of_the_end_that_are_given_are_the_right_ones() {
        let (mut stage, deal) = before_the_end();
        let other = Deal::between(BUYER, SELLER, 2, MINT);
        let call = stage.create(&other, &Stage::terms());
        stage.run(&call).succeeds();
        let second = named("a second account of the buyer's");
        stage.put(second, token_account(&MINT, &BUYER, 0));
        stage.freeze(&second);
        let cases: [(&str, Address, Framework); 12] = [
            (
                "escrow_vault",
                other.escrow_vault,
                Framework::ConstraintSeeds,
            ),
            (
                "escrow_vault",
                deal.buyer_token_account,
                Framework::ConstraintSeeds,
            ),
            ("token_mint", OTHER_MINT, Framework::ConstraintHasOne),
            (
                "buyer_token_account",
                deal.seller_token_account,
                Framework::ConstraintRaw,
            ),
            (
                "buyer_token_account",
                deal.escrow_vault,
                Framework::ConstraintRaw,
            ),
            ("buyer_token_account", second, Framework::ConstraintRaw),
            (
                "buyer_token_account",
                associated(&BUYER, &OTHER_MINT),
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                deal.buyer_token_account,
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                deal.escrow_vault,
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                associated(&SELLER, &OTHER_MINT),
                Framework::ConstraintRaw,
            ),
            (
                "seller_token_account",
                named("nothing"),
                Framework::ConstraintRaw,
            ),
            (
                "token_program",
                programs::SYSTEM,
                Framework::InvalidProgramId,
            ),
        ];
        let bare = stage.reveal(&deal, SELLER, TOO_MUCH, nonce_of(SELLER));
        let full = stage.reveal_last(&deal, TOO_MUCH);
        for (account, address, error) in cases {
            println!("{account}");
            stage.refuses(&full.clone().with(account, address), error);
            stage.refuses(&bare.clone().given(account, address), error);
        }
        // Also where they are not needed.
        let (mut stage, deal) = Stage::buyer_revealed();
        stage.put(
            other.escrow_vault,
            token_account(&MINT, &other.negotiation, 1),
        );
        stage.put(second, token_account(&MINT, &BUYER, 0));
        stage.freeze(&second);
        let bare = stage.reveal(&deal, SELLER, SELLER_PRICE, nonce_of(SELLER));
        for (account, address, error) in cases {
            stage.refuses(&bare.clone().given(account, address), error);
        }
        for account in ENDING.into_iter().take(3) {
            let call = stage
                .reveal_and_end(&deal, SELLER, SELLER_PRICE, nonce_of(SELLER))
                .read_only(account);
            stage.refuses(&call, Framework::ConstraintMut);
        }
    }

    #[test]
    fn each_gets_it_in_any_account_of_its_own() {
        let (mut stage, deal) = before_the_end();
        stage.put(named("buyer's"), token_account(&MINT, &BUYER, 5));
        stage.put(named("seller's"), token_account(&MINT, &SELLER, 6));
        let call = stage
            .reveal_last(&deal, TOO_MUCH)
            .with("buyer_token_account", named("buyer's"))
            .with("seller_token_account", named("seller's"));
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&named("buyer's")), 5 + ESCROW);
        assert_eq!(stage.balance(&named("seller's")), 6 + BOND);
        assert_eq!(stage.balance(&deal.escrow_vault), 0);
    }

    #[test]
    fn tokens_that_somebody_sends_to_the_vault_stay_there() {
        let (mut stage, deal) = before_the_end();
        stage.donate(&deal.escrow_vault, 77);
        let call = stage.reveal_last(&deal, TOO_MUCH);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), 77);
        assert_eq!(stage.balance(&deal.buyer_token_account), FUNDS);
    }

    #[test]
    fn a_vault_that_holds_too_little_keeps_everything() {
        let (mut stage, deal) = before_the_end();
        stage.set_balance(&deal.escrow_vault, ESCROW + BOND - 1);
        let call = stage.reveal_last(&deal, TOO_MUCH);
        stage.run(&call).succeeds();
        let negotiation = stage.negotiation(&deal);
        assert_eq!({ negotiation.claimable_buyer }, ESCROW);
        assert_eq!({ negotiation.claimable_seller }, BOND);
        assert_eq!(stage.balance(&deal.escrow_vault), ESCROW + BOND - 1);
    }

    #[test]
    fn an_escrow_that_has_been_paid_from_is_not_refunded() {
        let (mut stage, deal) = before_the_end();
        let mut negotiation = stage.negotiation(&deal);
        negotiation.paid_gross = 1_000_000;
        stage.set_negotiation(&deal, &negotiation);
        let call = stage.reveal_last(&deal, TOO_MUCH);
        stage.refuses(&call, HaggleError::Overflow);
    }

    #[test]
    fn only_what_was_committed_to_can_be_revealed() {
        for ((mut stage, deal), who, other, price) in [
            (Stage::both_committed(), BUYER, SELLER, BUYER_PRICE),
            (Stage::buyer_revealed(), SELLER, BUYER, SELLER_PRICE),
        ] {
            let mut wrong: Vec<Call> = [price - 1, price + 1, 1, ESCROW, SELLER_PRICE + 7]
                .map(|price| stage.reveal_and_end(&deal, who, price, nonce_of(who)))
                .to_vec();
            wrong.push(stage.reveal_and_end(&deal, who, price, nonce_of(other)));
            for bit in 0..256 {
                let mut nonce = nonce_of(who);
                nonce[bit / 8] ^= 1 << (bit % 8);
                wrong.push(stage.reveal_and_end(&deal, who, price, nonce));
            }
            for call in wrong {
                stage.refuses(&call, HaggleError::ZopaCommitmentMismatch);
                // Before what is missing is told.
                let bare = ENDING.into_iter().fold(call, Call::without);
                stage.refuses(&bare, HaggleError::ZopaCommitmentMismatch);
            }
            stage.reveals(&deal, who, price);
        }
    }

    #[test]
    fn a_price_is_one_to_the_escrow() {
        for ((mut stage, deal), who) in [
            (Stage::both_committed_to(ESCROW + 1, ESCROW + 1), BUYER),
            (Stage::both_committed_to(0, 0), BUYER),
            (Stage::buyer_revealed_with(ESCROW, ESCROW + 1), SELLER),
            (Stage::buyer_revealed_with(1, 0), SELLER),
        ] {
            for price in [0, ESCROW + 1, u64::MAX] {
                let call = stage.reveal_and_end(&deal, who, price, nonce_of(who));
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
        for price in [1, ESCROW] {
            let (mut stage, deal) = Stage::buyer_revealed_with(price, price);
            stage.reveals(&deal, SELLER, price);
        }
    }

    #[test]
    fn a_seller_that_copies_the_buyers_commitment_cannot_reveal_it() {
        let (mut stage, deal) = Stage::buyer_committed();
        let copied = stage.negotiation(&deal).buyer_commitment;
        let call = stage.commit(&deal, SELLER, copied);
        stage.run(&call).succeeds();
        stage.reveals(&deal, BUYER, BUYER_PRICE);
        for nonce in [nonce_of(BUYER), nonce_of(SELLER)] {
            for price in [BUYER_PRICE, SELLER_PRICE] {
                let call = stage.reveal(&deal, SELLER, price, nonce);
                stage.refuses(&call, HaggleError::ZopaCommitmentMismatch);
            }
        }
        // It costs the copyist its bond.
        stage.now = NOW + 300;
        let call = stage.expire(&deal);
        stage.run(&call).succeeds();
        assert_shares(&stage, &deal, FUNDS + BOND, SELLER_FUNDS - BOND, 0);
    }

    #[test]
    fn a_commitment_counts_in_one_negotiation_only() {
        let (mut stage, first) = Stage::both_committed();
        let second = Deal::between(BUYER, SELLER, 2, MINT);
        let call = stage.create(&second, &Stage::sealed_terms());
        stage.run(&call).succeeds();
        let call = stage.accept_invitation_with_bond(&second);
        stage.run(&call).succeeds();
        let seen = stage.negotiation(&first);
        for (who, commitment) in [
            (BUYER, seen.buyer_commitment),
            (SELLER, seen.seller_commitment),
        ] {
            let call = stage.commit(&second, who, commitment);
            stage.run(&call).succeeds();
        }
        let call = stage.reveal(&second, BUYER, BUYER_PRICE, nonce_of(BUYER));
        stage.refuses(&call, HaggleError::ZopaCommitmentMismatch);
        stage.reveals(&first, BUYER, BUYER_PRICE);
    }

    #[test]
    fn there_is_a_time_for_it() {
        let points: [(&str, (Stage, Deal)); 9] = [
            ("not enabled", Stage::invited()),
            ("not enabled, with a bond", Stage::bonded()),
            (
                "before the seller takes part",
                Stage::created_with_bond(&Stage::sealed_terms()),
            ),
            ("before anyone commits", Stage::sealed()),
            ("before the seller commits", Stage::buyer_committed()),
            ("when both have revealed", Stage::with_midpoint()),
            ("when there is no zone", Stage::without_zone()),
            ("when it was settled", Stage::settled()),
            ("when it has expired", Stage::expired()),
        ];
        for (point, (mut stage, deal)) in points {
            for (who, price) in [
                (BUYER, BUYER_PRICE),
                (SELLER, SELLER_PRICE),
                (STRANGER, SELLER_PRICE),
            ] {
                println!("{point}");
                let call = stage.reveal(&deal, who, price, nonce_of(who));
                stage.refuses(&call, HaggleError::InvalidState);
            }
        }
    }

    #[test]
    fn each_reveals_once_and_in_its_turn() {
        let (mut stage, deal) = Stage::both_committed();
        let by_seller = stage.reveal(&deal, SELLER, SELLER_PRICE, nonce_of(SELLER));
        stage.refuses(&by_seller, HaggleError::NotYourTurn);
        let by_buyer = stage.reveal(&deal, BUYER, BUYER_PRICE, nonce_of(BUYER));
        stage.run(&by_buyer).succeeds();
        stage.refuses(&by_buyer, HaggleError::NotYourTurn);
        stage.run(&by_seller).succeeds();
        stage.refuses(&by_seller, HaggleError::InvalidState);
        stage.refuses(&by_buyer, HaggleError::InvalidState);
    }

    #[test]
    fn a_stranger_cannot() {
        for (mut stage, deal) in [Stage::both_committed(), Stage::buyer_revealed()] {
            for whose in [BUYER, SELLER] {
                let call = stage.reveal(&deal, STRANGER, BUYER_PRICE, nonce_of(whose));
                stage.refuses(&call, HaggleError::Unauthorized);
            }
        }
    }

    #[test]
    fn one_second_too_late_is_too_late() {
        for ((mut stage, deal), who, price) in [
            (Stage::both_committed(), BUYER, BUYER_PRICE),
            (Stage::buyer_revealed(), SELLER, SELLER_PRICE),
        ] {
            let deadline = stage.negotiation(&deal).turn_deadline;
            assert_eq!(deadline, NOW + 300);
            let call = stage.reveal(&deal, who, price, nonce_of(who));
            for late in [deadline, deadline + 1, NOW + 3_599] {
                stage
                    .at(late)
                    .refuses(&call, HaggleError::ResponseWindowExpired);
            }
            for late in [NOW + 3_600, i64::MAX] {
                stage.at(late).refuses(&call, HaggleError::Expired);
            }
            stage.now = deadline - 1;
            stage.run(&call).succeeds();
        }
    }

    #[test]
    fn the_buyers_reveal_leaves_the_seller_a_whole_window() {
        let mut terms = Stage::sealed_terms();
        terms.response_window = 1_800;
        let (mut stage, deal) = Stage::bonded_with(&terms);
        stage.commits(&deal, BUYER, BUYER_PRICE);
        stage.now = NOW + 1_000;
        stage.commits(&deal, SELLER, SELLER_PRICE);
        assert_eq!({ stage.negotiation(&deal).turn_deadline }, NOW + 2_800);
        // The turn would last until then, but a seller would have less than its half hour.
        let call = stage.reveal(&deal, BUYER, BUYER_PRICE, nonce_of(BUYER));
        for late in [NOW + 1_801, NOW + 2_799, NOW + 2_800] {
            for who in [BUYER, SELLER, STRANGER] {
                let call = call.clone().with("agent", who);
                stage
                    .at(late)
                    .refuses(&call, HaggleError::ResponseWindowExpired);
            }
        }
        let mut missed = stage.at(NOW + 2_800);
        let expire = missed
            .expire(&deal)
            .given("seller_token_account", deal.seller_token_account);
        missed.run(&expire).succeeds();
        assert_shares(&missed, &deal, FUNDS, SELLER_FUNDS, 0);

        stage.now = NOW + 1_800;
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&deal).turn_deadline }, NOW + 3_600);
        stage.now = NOW + 3_599;
        stage.reveals(&deal, SELLER, SELLER_PRICE);
        assert_eq!({ stage.negotiation(&deal).turn_deadline }, NOW + 3_600);
    }

    #[test]
    fn the_first_reason_to_refuse_is_the_one_that_is_told() {
        // Each step takes away the reason that was told before: argument, status, clock, party, turn, commitment, accounts.
        let (mut stage, deal) = before_the_end();
        let over = Stage::without_zone().0;
        let late = NOW + 300;
        let nothing = [9; 32];
        let out_of_range = stage.reveal(&deal, STRANGER, 0, nothing);
        let by_stranger = stage.reveal(&deal, STRANGER, 1, nothing);
        over.at(late)
            .refuses(&out_of_range, HaggleError::InvalidParams);
        over.at(late)
            .refuses(&by_stranger, HaggleError::InvalidState);
        stage
            .at(late)
            .refuses(&by_stranger, HaggleError::ResponseWindowExpired);
        stage.refuses(&by_stranger, HaggleError::Unauthorized);
        let by_buyer = stage.reveal(&deal, BUYER, 1, nothing);
        stage.refuses(&by_buyer, HaggleError::NotYourTurn);
        let wrong = stage.reveal(&deal, SELLER, 1, nothing);
        stage.refuses(&wrong, HaggleError::ZopaCommitmentMismatch);
        let bare = stage.reveal(&deal, SELLER, TOO_MUCH, nonce_of(SELLER));
        stage.refuses(&bare, Framework::AccountNotEnoughKeys);
    }

    #[test]
    fn a_pause_does_not_stop_it() {
        let (mut stage, deal) = Stage::both_committed();
        stage.pause();
        stage.reveals(&deal, BUYER, BUYER_PRICE);
        stage.reveals(&deal, SELLER, SELLER_PRICE);
    }
}
