//! The buyer deposits the escrow and invites a seller.

use crate::constants::{
    BPS_DENOMINATOR, MAX_DEADLINE_SECONDS, MAX_DECAY_RATE_BPS, MAX_MILESTONE_SECONDS,
    MAX_RESPONSE_WINDOW, MAX_REVIEW_HOURS, MAX_ROUNDS, MIN_DEADLINE_SECONDS, MIN_ESCROW_LAMPORTS,
    MIN_OFFER_BPS_CEILING, MIN_OFFER_BPS_FLOOR, MIN_RESPONSE_WINDOW, MIN_REVIEW_HOURS, MIN_ROUNDS,
    NEGOTIATION_VERSION,
};
use crate::error::{HaggleError, Result};
use crate::escrow::{Authority, NewVault};
use crate::event::NegotiationCreated;
use crate::runtime::sysvar::{self, Rent};
use crate::schema::account::{New, Payer, ReadOnly, SystemProgram, Wallet};
use crate::schema::declare::{packed, Flag};
use crate::schema::instruction::instruction;
use crate::state::milestones::{count, earliest_milestone_deadline};
use crate::state::{
    metadata, BondState, Negotiation, NegotiationStatus, OfferSide, ProtocolConfig, ZopaPhase,
};
use crate::token::kinds::{Creator, NewMint, Source, TokenProgram};
use pinocchio::address::address_eq;
use pinocchio::{AccountView, Address};

packed! {
    /// The negotiation terms.
    pub struct NegotiationParams {
        /// The deposit in the mint's base units, at least 100,000.
        pub escrow_amount: u64,
        /// SHA-256 of the service's description.
        pub service_hash: [u8; 32],
        /// The maximum number of offers, 1 to 20.
        pub max_rounds: u8,
        /// The decay of the escrow per round in basis points, 0 to 1,000.
        pub decay_rate_bps: u16,
        /// The time to answer in seconds, 60 to 3,600.
        pub response_window: i64,
        /// The deadline of the bargaining in Unix seconds, 60 to 86,400 from now.
        pub global_deadline: i64,
        /// The minimum offer in basis points of the effective escrow, 100 to 9,000.
        pub min_offer_bps: u16,
        /// Whether the parties compare sealed reservation prices before they bargain. Requires a bond.
        pub zopa_enabled: Flag,
        /// The bond that the seller must deposit, in the mint's base units; 0 for none.
        pub bond_required: u64,
        /// The arbiter of disputes about milestones, neither party; zero unless milestones exist.
        pub arbiter: Address,
        /// Each milestone's share of the price in basis points, together 10,000, with zeros behind the last;
        /// all zeros to pay the price at once.
        pub milestone_bps: [u16; 8],
        /// The deadline of the milestones in Unix seconds: at least the review window and 60 seconds for each
        /// milestone after global_deadline, at most 365 days from now; 0 without milestones.
        pub milestone_deadline: i64,
        /// The time to review a claimed milestone in hours, 1 to 168; 0 without milestones.
        pub review_hours: u8,
        /// Structured metadata with a known kind: 0, 1 or 2.
        pub metadata: [u8; 64],
        /// The highest protocol fee that the buyer agrees to, in basis points. A higher fee in the
        /// configuration is StaleState.
        pub max_fee_bps: u16,
        /// The mint's decimals, which determine the meaning of the amounts. Other decimals are InvalidParams.
        pub decimals: u8,
    }
}

instruction! {
    /// Deposits the escrow and invites a seller.
    pub fn create_negotiation(
        /// A number that distinguishes the negotiations of this pair. The negotiation's address must be
        /// unused or closed.
        session_id: u64,
        /// The terms.
        params: NegotiationParams,
    );
    accounts<'a> {
        /// The buyer. It deposits the escrow and pays the rent. Closing the
        /// negotiation returns the rent.
        buyer: Payer<'a>,
        /// The invited seller, not the buyer.
        seller: Wallet<'a>,
        /// The new negotiation.
        negotiation: New<'a, Negotiation>,
        /// The new vault.
        escrow_vault: NewVault<'a>,
        /// The buyer's token account, the source of the deposit. The buyer must own it: a delegate cannot
        /// deposit another owner's tokens.
        buyer_token_account: Source<'a, Creator>,
        /// The mint of the deposit.
        token_mint: NewMint<'a>,
        /// The configuration, which determines the fee.
        config: ReadOnly<'a, ProtocolConfig>,
        /// The mint's token program.
        token_program: TokenProgram,
        /// The system program.
        system_program: SystemProgram<'a>,
    }
    effects {
        result: "created",
        actors: &[Actor { account: "buyer", role: Role::Buyer }],
        guards: &[Guard::Absent],
        idempotency: Idempotency::Address,
        deadlines: &["params.global_deadline", "params.milestone_deadline"],
        payments: &[
            Payment {
                money: Money::Escrow,
                from: Role::Buyer,
                source: "buyer_token_account",
                to: Role::Program,
                destination: "escrow_vault",
            },
            Payment {
                money: Money::Rent,
                from: Role::Buyer,
                source: "buyer",
                to: Role::Program,
                destination: "negotiation",
            },
            Payment {
                money: Money::Rent,
                from: Role::Buyer,
                source: "buyer",
                to: Role::Program,
                destination: "escrow_vault",
            },
        ],
        events: &["NegotiationCreated"],
    }
}

impl NegotiationParams {
    /// Requires that every term is in range.
    ///
    /// # Errors
    /// InvalidParams.
    #[inline(always)]
    fn check(&self, buyer: &Address, seller: &Address, now: i64) -> Result {
        let window = self.response_window;
        let min_offer = self.min_offer_bps;
        let ahead = { self.global_deadline }
            .checked_sub(now)
            .ok_or(HaggleError::InvalidParams)?;
        let in_range = !address_eq(buyer, seller)
            && { self.escrow_amount } >= MIN_ESCROW_LAMPORTS
            && (MIN_ROUNDS..=MAX_ROUNDS).contains(&self.max_rounds)
            && { self.decay_rate_bps } <= MAX_DECAY_RATE_BPS
            && (MIN_RESPONSE_WINDOW..=MAX_RESPONSE_WINDOW).contains(&window)
            && (MIN_DEADLINE_SECONDS..=MAX_DEADLINE_SECONDS).contains(&ahead)
            && (MIN_OFFER_BPS_FLOOR..=MIN_OFFER_BPS_CEILING).contains(&min_offer)
            && self.has_valid_bond()
            && self.has_valid_milestones(buyer, seller, now);
        if !in_range {
            return Err(HaggleError::InvalidParams.into());
        }
        metadata::check(&self.metadata)
    }

    /// Reports whether escrow and bond fit into a mint's supply, and sealed prices have a bond: otherwise a
    /// seller could see the buyer's price and leave.
    #[inline(always)]
    fn has_valid_bond(&self) -> bool {
        let bond = self.bond_required;
        { self.escrow_amount }.checked_add(bond).is_some()
            && (bond > 0 || self.zopa_enabled == Flag::OFF)
    }

    /// Reports whether the milestones have shares of all of the price, a neutral arbiter, and enough time for
    /// their reviews. Without milestones all four terms must be zero.
    #[inline(always)]
    fn has_valid_milestones(&self, buyer: &Address, seller: &Address, now: i64) -> bool {
        let shares = self.milestone_bps;
        let deadline = self.milestone_deadline;
        let arbiter = self.arbiter;
        let has_arbiter = !address_eq(&arbiter, &Address::new_from_array([0; 32]));
        if shares == [0; 8] {
            return !has_arbiter && deadline == 0 && self.review_hours == 0;
        }
        let count = count(&shares);
        let mut sum = 0u64;
        for (index, share) in shares.into_iter().enumerate() {
            if (index < count as usize) != (share > 0) {
                return false;
            }
            sum = sum.saturating_add(share as u64);
        }
        let earliest = earliest_milestone_deadline(self.global_deadline, count, self.review_hours);
        sum == BPS_DENOMINATOR
            && has_arbiter
            && !address_eq(&arbiter, buyer)
            && !address_eq(&arbiter, seller)
            && (MIN_REVIEW_HOURS..=MAX_REVIEW_HOURS).contains(&self.review_hours)
            && deadline >= earliest
            && deadline <= now.saturating_add(MAX_MILESTONE_SECONDS)
    }
}

/// Creates the negotiation and the vault, and moves the escrow there.
///
/// # Errors
/// UnsupportedMint, InvalidParams for a term out of range or for other decimals, Paused, StaleState for a fee
/// above the signed maximum; the token program's error, ending the transaction, if the buyer's balance is too
/// low.
#[inline(never)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> Result {
    let (args, accounts) = load(accounts, data)?;
    let (params, config) = (&args.params, &accounts.config);
    let (buyer, seller) = (accounts.buyer.address(), accounts.seller.address());

    accounts.token_mint.check()?;
    let now = sysvar::now()?;
    params.check(buyer, seller, now)?;
    if !accounts.token_mint.has_decimals(params.decimals) {
        return Err(HaggleError::InvalidParams.into());
    }
    if config.is_paused != Flag::OFF {
        return Err(HaggleError::Paused.into());
    }
    if { config.default_protocol_fee_bps } > params.max_fee_bps {
        return Err(HaggleError::StaleState.into());
    }

    let negotiation = Negotiation {
        buyer: *buyer,
        seller: *seller,
        session_id: args.session_id,
        status: NegotiationStatus::Created,
        current_round: 0,
        current_offer_amount: 0,
        current_offer_by: Address::new_from_array([0; 32]),
        offer_side: OfferSide::Buyer,
        service_hash: params.service_hash,
        escrow_amount: params.escrow_amount,
        effective_escrow: params.escrow_amount,
        token_mint: *accounts.token_mint.view().address(),
        max_rounds: params.max_rounds,
        decay_rate_bps: params.decay_rate_bps,
        response_window: params.response_window,
        global_deadline: params.global_deadline,
        min_offer_bps: params.min_offer_bps,
        protocol_fee_bps: config.default_protocol_fee_bps,
        zopa_enabled: params.zopa_enabled,
        created_at: now,
        last_offer_at: 0,
        settled_at: 0,
        settled_amount: 0,
        buyer_commitment: [0; 32],
        seller_commitment: [0; 32],
        zopa_phase: if params.zopa_enabled == Flag::OFF {
            ZopaPhase::Skipped
        } else {
            ZopaPhase::NotStarted
        },
        metadata: params.metadata,
        bump: accounts.negotiation.bump(),
        vault_bump: accounts.escrow_vault.bump(),
        version: NEGOTIATION_VERSION,
        turn_deadline: params.global_deadline,
        pending_extension: 0,
        bond_required: params.bond_required,
        bond_state: BondState::None,
        buyer_price: 0,
        seller_price: 0,
        arbiter: params.arbiter,
        review_hours: params.review_hours,
        milestone_bps: params.milestone_bps,
        milestones_decided: 0,
        milestones_claimed: 0,
        milestones_disputed: 0,
        milestone_deadline: params.milestone_deadline,
        claimable_buyer: 0,
        claimable_seller: 0,
        paid_gross: 0,
    };

    let authority = Authority::of(&negotiation);
    let rent = Rent::get()?;
    let created =
        accounts
            .negotiation
            .create(&negotiation, &authority.seeds(), &accounts.buyer, &rent)?;
    emit_created(created.address(), &negotiation, now);
    accounts.escrow_vault.open(
        created.address(),
        &accounts.token_mint,
        &accounts.buyer,
        &accounts.buyer_token_account,
        params.escrow_amount,
        &rent,
    )
}

#[inline(always)]
fn emit_created(id: &Address, negotiation: &Negotiation, now: i64) {
    NegotiationCreated {
        negotiation_id: *id,
        buyer: negotiation.buyer,
        seller: negotiation.seller,
        escrow_amount: negotiation.escrow_amount,
        token_mint: negotiation.token_mint,
        max_rounds: negotiation.max_rounds,
        decay_rate_bps: negotiation.decay_rate_bps,
        global_deadline: negotiation.global_deadline,
        timestamp: now,
        session_id: negotiation.session_id,
        service_hash: negotiation.service_hash,
        response_window: negotiation.response_window,
        min_offer_bps: negotiation.min_offer_bps,
        protocol_fee_bps: negotiation.protocol_fee_bps,
        zopa_enabled: negotiation.zopa_enabled,
        bond_required: negotiation.bond_required,
        arbiter: negotiation.arbiter,
        milestone_bps: negotiation.milestone_bps,
        milestone_deadline: negotiation.milestone_deadline,
        review_hours: negotiation.review_hours,
        metadata: negotiation.metadata,
    }
    .emit();
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::constants::{NEGOTIATION_SEED, VAULT_SEED};
    use crate::error::Framework;
    use crate::runtime::programs;
    use crate::tests::fixture::{
        assert_negotiation, event, metadata_of, mint, named, owned, rent, token_account,
        under_both_token_programs, Deal, Fixture, ARBITER, BUYER, DECIMALS, ESCROW, FUNDS,
        LAMPORTS, MINT, NOW, SELLER,
    };
    use crate::ID;

    const ZERO: Address = Address::new_from_array([0; 32]);

    /// Sealed prices, a bond and three milestones; every term differs from the default.
    fn full_terms() -> NegotiationParams {
        NegotiationParams {
            escrow_amount: 1_234_567,
            service_hash: *named("translation").as_array(),
            max_rounds: 7,
            decay_rate_bps: 123,
            response_window: 456,
            global_deadline: NOW + 7_890,
            min_offer_bps: 2_345,
            zopa_enabled: Flag::ON,
            bond_required: 987_654,
            arbiter: ARBITER,
            milestone_bps: [2_500, 3_333, 4_167, 0, 0, 0, 0, 0],
            milestone_deadline: NOW + 7_890 + 3 * (2 * 3_600 + 60),
            review_hours: 2,
            metadata: metadata_of(1, 50),
            max_fee_bps: 77,
            decimals: DECIMALS,
        }
    }

    /// The negotiation that these terms create.
    fn negotiation_of(deal: &Deal, terms: &NegotiationParams, fee: u16) -> Negotiation {
        Negotiation {
            buyer: BUYER,
            seller: SELLER,
            session_id: deal.session_id,
            status: NegotiationStatus::Created,
            current_round: 0,
            current_offer_amount: 0,
            current_offer_by: ZERO,
            offer_side: OfferSide::Buyer,
            service_hash: terms.service_hash,
            escrow_amount: terms.escrow_amount,
            effective_escrow: terms.escrow_amount,
            token_mint: deal.token_mint,
            max_rounds: terms.max_rounds,
            decay_rate_bps: terms.decay_rate_bps,
            response_window: terms.response_window,
            global_deadline: terms.global_deadline,
            min_offer_bps: terms.min_offer_bps,
            protocol_fee_bps: fee,
            zopa_enabled: terms.zopa_enabled,
            created_at: NOW,
            last_offer_at: 0,
            settled_at: 0,
            settled_amount: 0,
            buyer_commitment: [0; 32],
            seller_commitment: [0; 32],
            zopa_phase: if terms.zopa_enabled == Flag::ON {
                ZopaPhase::NotStarted
            } else {
                ZopaPhase::Skipped
            },
            metadata: terms.metadata,
            bump: deal.bump,
            vault_bump: deal.vault_bump,
            version: 1,
            turn_deadline: terms.global_deadline,
            pending_extension: 0,
            bond_required: terms.bond_required,
            bond_state: BondState::None,
            buyer_price: 0,
            seller_price: 0,
            arbiter: terms.arbiter,
            review_hours: terms.review_hours,
            milestone_bps: terms.milestone_bps,
            milestones_decided: 0,
            milestones_claimed: 0,
            milestones_disputed: 0,
            milestone_deadline: terms.milestone_deadline,
            claimable_buyer: 0,
            claimable_seller: 0,
            paid_gross: 0,
        }
    }

    fn created_event(deal: &Deal, terms: &NegotiationParams, fee: u16) -> Vec<u8> {
        event(
            NegotiationCreated::RECORD,
            &NegotiationCreated {
                negotiation_id: deal.negotiation,
                buyer: BUYER,
                seller: SELLER,
                escrow_amount: terms.escrow_amount,
                token_mint: deal.token_mint,
                max_rounds: terms.max_rounds,
                decay_rate_bps: terms.decay_rate_bps,
                global_deadline: terms.global_deadline,
                timestamp: NOW,
                session_id: deal.session_id,
                service_hash: terms.service_hash,
                response_window: terms.response_window,
                min_offer_bps: terms.min_offer_bps,
                protocol_fee_bps: fee,
                zopa_enabled: terms.zopa_enabled,
                bond_required: terms.bond_required,
                arbiter: terms.arbiter,
                milestone_bps: terms.milestone_bps,
                milestone_deadline: terms.milestone_deadline,
                review_hours: terms.review_hours,
                metadata: terms.metadata,
            },
        )
    }

    #[test]
    fn the_terms_are_stored_and_published_and_the_escrow_is_deposited() {
        under_both_token_programs(|| {
            for (terms, fee) in [(Fixture::terms(), 0), (full_terms(), 77)] {
                let mut fixture = Fixture::new();
                let mint = Fixture::deal().token_mint;
                let deal = Deal::between(BUYER, SELLER, 0x0102_0304_0506_0708, mint);
                fixture.set_config(&ProtocolConfig {
                    default_protocol_fee_bps: fee,
                    ..Fixture::config()
                });
                let call = fixture.create(&deal, &terms);
                fixture
                    .run(&call)
                    .succeeds()
                    .emitted(&[created_event(&deal, &terms, fee)]);
                let expected = negotiation_of(&deal, &terms, fee);
                assert_negotiation(&fixture.negotiation(&deal), &expected);
                assert_eq!(fixture.account(&deal.negotiation).data.len(), 512);
                // The bond is the seller's, and not part of this deposit.
                let escrow = terms.escrow_amount;
                assert_eq!(
                    fixture.account(&deal.escrow_vault),
                    token_account(&mint, &deal.negotiation, escrow)
                );
                assert_eq!(fixture.balance(&deal.buyer_token_account), FUNDS - escrow);
                assert_eq!(fixture.balance(&deal.seller_token_account), 0);
                assert_eq!(fixture.lamports(&deal.negotiation), rent(512));
                assert_eq!(fixture.lamports(&BUYER), LAMPORTS - rent(512) - rent(165));
                assert_eq!(fixture.lamports(&SELLER), LAMPORTS);
            }
        });
    }

    #[test]
    fn a_pair_can_have_several_negotiations_at_once() {
        let mut fixture = Fixture::new();
        for session_id in [0, 1, u64::MAX] {
            let deal = Deal::between(BUYER, SELLER, session_id, MINT);
            let call = fixture.create(&deal, &Fixture::terms());
            fixture.run(&call).succeeds();
            assert_eq!({ fixture.negotiation(&deal).session_id }, session_id);
        }
        assert_eq!(
            fixture.balance(&Fixture::deal().buyer_token_account),
            FUNDS - 3 * ESCROW
        );
    }

    #[test]
    fn a_session_cannot_be_created_twice() {
        let (mut fixture, deal) = Fixture::created();
        let call = fixture.create(&deal, &Fixture::terms());
        fixture.refuses(&call, Framework::AccountOwnedByWrongProgram);
    }

    #[test]
    fn the_buyer_cannot_be_the_seller() {
        let mut fixture = Fixture::new();
        let deal = Deal::between(BUYER, BUYER, 1, MINT);
        let call = fixture.create(&deal, &Fixture::terms());
        fixture.refuses(&call, HaggleError::InvalidParams);
    }

    #[test]
    fn a_fee_above_the_signed_maximum_is_stale() {
        for fee in [0, 1, 49, 50, 51, 500] {
            for max_fee_bps in [0, 1, 49, 50, 51, 500, u16::MAX] {
                let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
                fixture.set_config(&ProtocolConfig {
                    default_protocol_fee_bps: fee,
                    ..Fixture::config()
                });
                let terms = NegotiationParams {
                    max_fee_bps,
                    ..Fixture::terms()
                };
                let call = fixture.create(&deal, &terms);
                if fee <= max_fee_bps {
                    fixture.run(&call).succeeds();
                    // The fee is the configuration's, and not the maximum.
                    assert_eq!({ fixture.negotiation(&deal).protocol_fee_bps }, fee);
                } else {
                    fixture.refuses(&call, HaggleError::StaleState);
                }
            }
        }
    }

    #[test]
    fn decimals_other_than_the_mints_are_refused() {
        under_both_token_programs(|| {
            for actual in [0, 6, 9, u8::MAX] {
                let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
                fixture.change(&deal.token_mint, |account| account.data[44] = actual);
                for decimals in 0..=u8::MAX {
                    let terms = NegotiationParams {
                        decimals,
                        ..Fixture::terms()
                    };
                    let call = fixture.create(&deal, &terms);
                    if decimals == actual {
                        fixture.clone().run(&call).succeeds();
                    } else {
                        fixture.refuses(&call, HaggleError::InvalidParams);
                    }
                }
            }
        });
    }

    #[test]
    fn a_flag_is_zero_or_one() {
        for zopa_enabled in [Flag(2), Flag(u8::MAX)] {
            let mut fixture = Fixture::new();
            let terms = NegotiationParams {
                zopa_enabled,
                ..full_terms()
            };
            let call = fixture.create(&Fixture::deal(), &terms);
            fixture.refuses(&call, Framework::InstructionDidNotDeserialize);
        }
    }

    #[test]
    fn the_deadline_counts_from_the_chains_clock() {
        let mut terms = Fixture::terms();
        terms.global_deadline = NOW + 60;
        let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
        let call = fixture.create(&deal, &terms);
        fixture
            .at(NOW + 1)
            .refuses(&call, HaggleError::InvalidParams);
        fixture.run(&call).succeeds();
        assert_eq!({ fixture.negotiation(&deal).created_at }, NOW);
    }

    #[test]
    fn the_first_error_in_the_order_of_the_checks_wins() {
        // Each step corrects the fault of the step before: mint, terms, pause, fee.
        let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
        let mut terms = Fixture::terms();
        terms.max_fee_bps = 49;
        let valid = terms;
        terms.max_rounds = 0;
        fixture.pause();
        let mut without_mint = fixture.clone();
        without_mint.change(&deal.token_mint, |account| account.data[45] = 0);
        let call = fixture.create(&deal, &terms);
        without_mint.refuses(&call, HaggleError::UnsupportedMint);
        fixture.refuses(&call, HaggleError::InvalidParams);
        let call = fixture.create(&deal, &valid);
        fixture.refuses(&call, HaggleError::Paused);
        let resume = fixture.set_paused(Flag::OFF);
        fixture.run(&resume).succeeds();
        fixture.refuses(&call, HaggleError::StaleState);
    }

    #[test]
    fn accounts_other_than_mints_are_refused() {
        let whole = mint(0).data;
        let mut uninitialised = whole.clone();
        uninitialised[45] = 0;
        for (case, data) in [
            ("not initialised", uninitialised),
            ("a byte short", whole[..81].to_vec()),
            ("a byte long", [&whole[..], &[0]].concat()),
            ("a token account", token_account(&MINT, &BUYER, 0).data),
        ] {
            let mut fixture = Fixture::new();
            let fake = named("no mint");
            let deal = Deal::between(BUYER, SELLER, 1, fake);
            fixture.put(fake, owned(programs::TOKEN, data));
            let account = token_account(&fake, &BUYER, FUNDS);
            fixture.put(deal.buyer_token_account, account);
            let call = fixture.create(&deal, &Fixture::terms());
            println!("{case}");
            fixture.refuses(&call, HaggleError::UnsupportedMint);
        }
    }

    #[test]
    fn addresses_of_another_bump_are_refused() {
        let (fixture, deal) = (Fixture::new(), Fixture::deal());
        let call = fixture.create(&deal, &Fixture::terms());
        let session_id = deal.session_id.to_le_bytes();
        let negotiation = [
            NEGOTIATION_SEED.as_bytes(),
            BUYER.as_ref(),
            SELLER.as_ref(),
            &session_id,
        ];
        let vault = [VAULT_SEED.as_bytes(), deal.negotiation.as_ref()];
        let mut tried = 0;
        for (account, seeds, canonical) in [
            ("negotiation", &negotiation[..], deal.bump),
            ("escrow_vault", &vault[..], deal.vault_bump),
        ] {
            for bump in (0..canonical).rev() {
                let bump = [bump];
                let with_bump = [seeds, &[&bump]].concat();
                if let Ok(address) = Address::create_program_address(&with_bump, &ID) {
                    fixture.clone().refuses(
                        &call.clone().with(account, address),
                        Framework::ConstraintSeeds,
                    );
                    tried += 1;
                }
            }
        }
        assert!(tried > 100, "only {tried} bumps were tried");
    }
}
