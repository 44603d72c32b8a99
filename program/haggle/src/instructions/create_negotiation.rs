//! The buyer deposits the escrow and invites a seller.

use crate::constants::{
    BPS_DENOMINATOR, MAX_DEADLINE_SECONDS, MAX_DECAY_RATE_BPS, MAX_MILESTONES,
    MAX_MILESTONE_SECONDS, MAX_RESPONSE_WINDOW, MAX_ROUNDS, MIN_DEADLINE_SECONDS,
    MIN_ESCROW_LAMPORTS, MIN_OFFER_BPS_CEILING, MIN_OFFER_BPS_FLOOR, MIN_RESPONSE_WINDOW,
    MIN_ROUNDS, NEGOTIATION_SEED, NEGOTIATION_VERSION, VAULT_SEED,
};
use crate::error::{Framework, HaggleError};
use crate::escrow::{vault_seeds, Authority};
use crate::event::NegotiationCreated;
use crate::runtime::sysvar::Rent;
use crate::schema::declare::{instruction, packed, Flag};
use crate::schema::table::Meta;
use crate::state::milestones::earliest_milestone_deadline;
use crate::state::{
    BondState, Negotiation, NegotiationStatus, OfferSide, ProtocolConfig, ZopaPhase,
};
use crate::token::account::{check_token_account, Currency, Mint, TokenAccount};
use crate::token::call::TokenCall;
use crate::{runtime::pda, runtime::programs, runtime::sysvar, schema::check, state::metadata, ID};
use pinocchio::address::address_eq;
use pinocchio::error::{ProgramError, ProgramResult};
use pinocchio::{AccountView, Address};

packed! {
    /// The terms of a negotiation. The SDK fills in what its caller leaves out, from the configuration's defaults.
    pub struct NegotiationParams {
        /// The deposit, in base units of the mint, at least 100,000.
        pub escrow_amount: u64,
        /// SHA-256 of the service's description.
        pub service_hash: [u8; 32],
        /// How many offers can be made, 1 to 20.
        pub max_rounds: u8,
        /// What the escrow loses each round, in basis points, 0 to 1,000.
        pub decay_rate_bps: u16,
        /// The time to answer, in seconds, 60 to 3,600.
        pub response_window: i64,
        /// When the negotiation expires at the latest, in Unix seconds, 60 to 86,400 from now.
        pub global_deadline: i64,
        /// The least offer, in basis points of the effective escrow, 100 to 9,000.
        pub min_offer_bps: u16,
        /// Whether reservation prices are compared under seal first. Takes a bond.
        pub zopa_enabled: Flag,
        /// What the seller has to deposit, in base units of the mint; 0 for no bond.
        pub bond_required: u64,
        /// Who decides disputes about milestones, neither party; zeros without milestones.
        pub arbiter: Address,
        /// The number of milestones, at most 8; 0 when the price is paid at once.
        pub milestone_count: u8,
        /// Each milestone's share of the price, in basis points, together 10,000; zeros behind the last.
        pub milestone_bps: [u16; 8],
        /// When milestones that nobody claimed fall back to the buyer, in Unix seconds: a review window for each after
        /// global_deadline at the earliest, 365 days from now at the latest; 0 without milestones.
        pub milestone_deadline: i64,
        /// Structured metadata: all zeros, or kind 1.
        pub metadata: [u8; 64],
    }
}

instruction! {
    /// Deposits the escrow and invites a seller. The negotiation can be rejected by either side, or expires.
    pub fn create_negotiation(
        /// A number that this pair has not used before.
        session_id: u64,
        /// The terms.
        params: NegotiationParams,
    );
    accounts {
        /// Who buys: deposits the escrow and pays the rent, which comes back when the negotiation is closed.
        buyer: Meta::WRITE.signs(),
        /// Who is invited to sell; not the buyer.
        seller: Meta::READ,
        /// The negotiation that is made.
        negotiation: Meta::WRITE.owned_by(&[&programs::SYSTEM]).derived(Negotiation::SEEDS),
        /// The vault that is made.
        escrow_vault: Meta::WRITE.owned_by(&[&programs::SYSTEM]).derived(Negotiation::VAULT_SEEDS),
        /// The buyer's token account that the deposit comes from.
        buyer_token_account: Meta::WRITE,
        /// The mint of the deposit.
        token_mint: Meta::READ.owned_by(programs::TOKENS),
        /// The configuration, which fixes the fee.
        config: Meta::READ
            .holds(ProtocolConfig::RECORD)
            .at(&ProtocolConfig::ADDRESS)
            .derived(ProtocolConfig::SEEDS),
        /// The token program of the mint.
        token_program: Meta::READ.one_of(programs::TOKENS),
        /// Creates the accounts.
        system_program: Meta::READ.at(&programs::SYSTEM),
    }
}

impl NegotiationParams {
    /// Refuses terms out of their ranges.
    ///
    /// # Errors
    /// InvalidParams.
    #[inline(always)]
    fn check(&self, buyer: &Address, seller: &Address, now: i64) -> ProgramResult {
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

    /// Escrow and bond are of one mint, whose supply they cannot exceed. Sealed prices need a bond, or a seller could look at
    /// the buyer's price and walk away.
    #[inline(always)]
    fn has_valid_bond(&self) -> bool {
        let bond = self.bond_required;
        { self.escrow_amount }.checked_add(bond).is_some()
            && (bond > 0 || self.zopa_enabled == Flag::OFF)
    }

    /// Milestones have a share each and all of the price together, somebody neutral who decides disputes, and the time that
    /// their reviews take.
    #[inline(always)]
    fn has_valid_milestones(&self, buyer: &Address, seller: &Address, now: i64) -> bool {
        let count = self.milestone_count;
        let deadline = self.milestone_deadline;
        let arbiter = self.arbiter;
        let has_arbiter = !address_eq(&arbiter, &Address::new_from_array([0; 32]));
        if count == 0 {
            return !has_arbiter && deadline == 0 && { self.milestone_bps } == [0; 8];
        }
        let mut sum = 0u64;
        for (index, share) in { self.milestone_bps }.into_iter().enumerate() {
            if (index < count as usize) != (share > 0) {
                return false;
            }
            sum = sum.saturating_add(share as u64);
        }
        let earliest =
            earliest_milestone_deadline(self.global_deadline, count, self.response_window);
        count <= MAX_MILESTONES
            && sum == BPS_DENOMINATOR
            && has_arbiter
            && !address_eq(&arbiter, buyer)
            && !address_eq(&arbiter, seller)
            && deadline >= earliest
            && deadline <= now.saturating_add(MAX_MILESTONE_SECONDS)
    }
}

/// The canonical bump of a PDA, if `account` is at its address.
///
/// # Errors
/// 2006.
#[inline(always)]
fn bump_of(account: &AccountView, seeds: &[&[u8]]) -> Result<u8, ProgramError> {
    #[cfg(any(target_os = "solana", target_arch = "bpf"))]
    match Address::try_find_program_address(seeds, &ID) {
        Some((address, bump)) if address_eq(&address, account.address()) => Ok(bump),
        _ => Err(Framework::ConstraintSeeds.into()),
    }
    #[cfg(not(any(target_os = "solana", target_arch = "bpf")))]
    panic!(
        "only the virtual machine searches the bump of {seeds:?} for {:?}: {:?}",
        account.address(),
        Framework::ConstraintSeeds
    )
}

/// Creates the negotiation and its vault, and moves the escrow there.
///
/// # Errors
/// 2006 for the wrong addresses, UnsupportedMint, InvalidParams, Paused; the token program's when the buyer has too little.
#[inline(always)]
pub fn process(accounts: &[AccountView], data: &[u8]) -> ProgramResult {
    let args = Args::decode(data)?;
    let mut accounts = Accounts::load(accounts)?;
    let params = &args.params;
    let id = *accounts.negotiation.address();
    let buyer = *accounts.buyer.address();
    let seller = *accounts.seller.address();
    let mint = *accounts.token_mint.address();
    let session_id = { args.session_id }.to_le_bytes();

    let bump = bump_of(
        &accounts.negotiation,
        &[
            NEGOTIATION_SEED.as_bytes(),
            buyer.as_ref(),
            seller.as_ref(),
            &session_id,
        ],
    )?;
    let vault_bump = bump_of(
        &accounts.escrow_vault,
        &[VAULT_SEED.as_bytes(), id.as_ref()],
    )?;
    accounts.check_fixed_pdas()?;
    check_token_account(
        &accounts.buyer_token_account,
        &Currency::of(&accounts.token_mint),
        &buyer,
    )?;
    accounts.check_programs()?;
    check::token_program(&accounts.token_program, &accounts.token_mint)?;
    Mint::check(&accounts.token_mint)?;

    let now = sysvar::now()?;
    params.check(&buyer, &seller, now)?;
    // SAFETY: `load` has checked the account.
    let config = unsafe { ProtocolConfig::read(&accounts.config) };
    if config.is_paused != Flag::OFF {
        return Err(HaggleError::Paused.into());
    }

    let negotiation = Negotiation {
        buyer,
        seller,
        session_id: args.session_id,
        status: NegotiationStatus::Created,
        current_round: 0,
        current_offer_amount: 0,
        current_offer_by: Address::new_from_array([0; 32]),
        offer_side: OfferSide::Buyer,
        service_hash: params.service_hash,
        escrow_amount: params.escrow_amount,
        effective_escrow: params.escrow_amount,
        token_mint: mint,
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
        bump,
        vault_bump,
        version: NEGOTIATION_VERSION,
        turn_deadline: params.global_deadline,
        pending_extension: 0,
        bond_required: params.bond_required,
        bond_state: BondState::None,
        buyer_price: 0,
        seller_price: 0,
        arbiter: params.arbiter,
        milestone_count: params.milestone_count,
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
    pda::create(
        &accounts.negotiation,
        &authority.seeds(),
        Negotiation::SIZE,
        &ID,
        &accounts.buyer,
        &rent,
    )?;
    // SAFETY: the account has just been made for it.
    unsafe { negotiation.write(&mut accounts.negotiation) };
    emit_created(&id, &negotiation, now);

    let vault_bump = [vault_bump];
    pda::create(
        &accounts.escrow_vault,
        &vault_seeds(&id, &vault_bump),
        TokenAccount::SIZE,
        accounts.token_mint.owner(),
        &accounts.buyer,
        &rent,
    )?;
    deposit(&accounts, params.escrow_amount)
}

/// Makes the vault a token account of the negotiation's and moves the escrow there.
#[inline(always)]
fn deposit(accounts: &Accounts, amount: u64) -> ProgramResult {
    let mut call = TokenCall::new(
        &accounts.buyer_token_account,
        &accounts.token_mint,
        &accounts.buyer,
    )?;
    call.initialize(&accounts.escrow_vault, accounts.negotiation.address())?;
    call.transfer(&accounts.escrow_vault, amount)?;
    // SAFETY: no reference to these accounts' data is used any more.
    unsafe { call.invoke(&[]) };
    Ok(())
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
        milestone_count: negotiation.milestone_count,
        milestone_bps: negotiation.milestone_bps,
        milestone_deadline: negotiation.milestone_deadline,
        metadata: negotiation.metadata,
    }
    .emit();
}

#[cfg(test)]
#[allow(clippy::arithmetic_side_effects)]
mod tests {
    use super::*;
    use crate::tests::stage::{
        assert_negotiation, associated, event, mint, named, owned, rent, token_account, wallet,
        Deal, Stage, ARBITER, BUYER, ESCROW, FUNDS, LAMPORTS, MINT, NATIVE_MINT, NOW, OTHER_MINT,
        SELLER, STRANGER,
    };

    fn metadata_of_kind_1() -> [u8; 64] {
        let mut metadata = [0xa5; 64];
        metadata[0] = 1;
        metadata[50..].fill(0);
        metadata
    }

    #[test]
    fn the_buyer_deposits_and_the_terms_are_kept() {
        let mut stage = Stage::new();
        let deal = Deal::between(BUYER, SELLER, 0x0102_0304_0506_0708, MINT);
        let terms = NegotiationParams {
            escrow_amount: 1_234_567,
            service_hash: *named("translation").as_array(),
            max_rounds: 7,
            decay_rate_bps: 123,
            response_window: 456,
            global_deadline: NOW + 7_890,
            min_offer_bps: 2_345,
            metadata: metadata_of_kind_1(),
            ..Stage::terms()
        };
        let mut config = Stage::config();
        config.default_protocol_fee_bps = 77;
        stage.set_config(&config);

        let call = stage.create(&deal, &terms);
        let outcome = stage.run(&call);

        let zero = Address::new_from_array([0; 32]);
        let expected = Negotiation {
            buyer: BUYER,
            seller: SELLER,
            session_id: 0x0102_0304_0506_0708,
            status: NegotiationStatus::Created,
            current_round: 0,
            current_offer_amount: 0,
            current_offer_by: zero,
            offer_side: OfferSide::Buyer,
            service_hash: *named("translation").as_array(),
            escrow_amount: 1_234_567,
            effective_escrow: 1_234_567,
            token_mint: MINT,
            max_rounds: 7,
            decay_rate_bps: 123,
            response_window: 456,
            global_deadline: NOW + 7_890,
            min_offer_bps: 2_345,
            protocol_fee_bps: 77,
            zopa_enabled: Flag::OFF,
            created_at: NOW,
            last_offer_at: 0,
            settled_at: 0,
            settled_amount: 0,
            buyer_commitment: [0; 32],
            seller_commitment: [0; 32],
            zopa_phase: ZopaPhase::Skipped,
            metadata: metadata_of_kind_1(),
            bump: deal.bump,
            vault_bump: deal.vault_bump,
            version: 1,
            turn_deadline: NOW + 7_890,
            pending_extension: 0,
            bond_required: 0,
            bond_state: BondState::None,
            buyer_price: 0,
            seller_price: 0,
            arbiter: zero,
            milestone_count: 0,
            milestone_bps: [0; 8],
            milestones_decided: 0,
            milestones_claimed: 0,
            milestones_disputed: 0,
            milestone_deadline: 0,
            claimable_buyer: 0,
            claimable_seller: 0,
            paid_gross: 0,
        };
        outcome.succeeds().emitted(&[event(
            NegotiationCreated::RECORD,
            &NegotiationCreated {
                negotiation_id: deal.negotiation,
                buyer: BUYER,
                seller: SELLER,
                escrow_amount: 1_234_567,
                token_mint: MINT,
                max_rounds: 7,
                decay_rate_bps: 123,
                global_deadline: NOW + 7_890,
                timestamp: NOW,
                session_id: 0x0102_0304_0506_0708,
                service_hash: *named("translation").as_array(),
                response_window: 456,
                min_offer_bps: 2_345,
                protocol_fee_bps: 77,
                zopa_enabled: Flag::OFF,
                bond_required: 0,
                arbiter: zero,
                milestone_count: 0,
                milestone_bps: [0; 8],
                milestone_deadline: 0,
                metadata: metadata_of_kind_1(),
            },
        )]);
        assert_negotiation(&stage.negotiation(&deal), &expected);
        assert_eq!(stage.account(&deal.negotiation).data.len(), 512);
        assert_eq!(
            stage.account(&deal.escrow_vault),
            token_account(&MINT, &deal.negotiation, 1_234_567)
        );
        assert_eq!(stage.balance(&deal.buyer_token_account), FUNDS - 1_234_567);
        assert_eq!(stage.balance(&deal.seller_token_account), 0);
        assert_eq!(stage.lamports(&deal.negotiation), rent(512));
        assert_eq!(stage.lamports(&BUYER), LAMPORTS - rent(512) - rent(165));
        assert_eq!(stage.lamports(&SELLER), LAMPORTS);
    }

    #[test]
    fn the_buyer_can_pay_from_any_token_account_of_its_own() {
        let (mut stage, deal) = (Stage::new(), Stage::deal());
        let second = named("the buyer's second account");
        stage.put(second, token_account(&MINT, &BUYER, ESCROW));
        let call = stage
            .create(&deal, &Stage::terms())
            .with("buyer_token_account", second);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&second), 0);
        assert_eq!(stage.balance(&deal.buyer_token_account), FUNDS);
        assert_eq!(stage.balance(&deal.escrow_vault), ESCROW);
    }

    #[test]
    fn addresses_with_lamports_on_them_are_used_all_the_same() {
        for (to_negotiation, to_vault) in [
            (1, 0),
            (0, 1),
            (rent(512) - 1, rent(165) - 1),
            (rent(512), rent(165)),
            (rent(512) + 1, rent(165) + 1),
        ] {
            let (mut stage, deal) = (Stage::new(), Stage::deal());
            stage.put(deal.negotiation, wallet(to_negotiation));
            stage.put(deal.escrow_vault, wallet(to_vault));
            let call = stage.create(&deal, &Stage::terms());
            stage.run(&call).succeeds();
            let (negotiation, vault) = (to_negotiation.max(rent(512)), to_vault.max(rent(165)));
            assert_eq!(stage.lamports(&deal.negotiation), negotiation);
            assert_eq!(stage.lamports(&deal.escrow_vault), vault);
            let paid = negotiation - to_negotiation + vault - to_vault;
            assert_eq!(stage.lamports(&BUYER), LAMPORTS - paid);
            assert_eq!(stage.balance(&deal.escrow_vault), ESCROW);
            assert_negotiation(
                &stage.negotiation(&deal),
                &Stage::created().0.negotiation(&deal),
            );
        }
    }

    #[test]
    fn a_pair_can_have_several_negotiations_at_once() {
        let mut stage = Stage::new();
        for session_id in [0, 1, u64::MAX] {
            let deal = Deal::between(BUYER, SELLER, session_id, MINT);
            let call = stage.create(&deal, &Stage::terms());
            stage.run(&call).succeeds();
            assert_eq!({ stage.negotiation(&deal).session_id }, session_id);
        }
        assert_eq!(
            stage.balance(&Stage::deal().buyer_token_account),
            FUNDS - 3 * ESCROW
        );
    }

    #[test]
    fn a_session_cannot_be_created_twice() {
        let (mut stage, deal) = Stage::created();
        let call = stage.create(&deal, &Stage::terms());
        stage.refuses(&call, Framework::AccountOwnedByWrongProgram);
    }

    #[test]
    fn nothing_is_created_while_the_protocol_is_paused() {
        let mut stage = Stage::new();
        stage.set_config(&ProtocolConfig {
            is_paused: Flag::ON,
            ..Stage::config()
        });
        let call = stage.create(&Stage::deal(), &Stage::terms());
        stage.refuses(&call, HaggleError::Paused);
    }

    #[test]
    fn nobody_buys_from_itself() {
        let mut stage = Stage::new();
        let deal = Deal::between(BUYER, BUYER, 1, MINT);
        let call = stage.create(&deal, &Stage::terms());
        stage.refuses(&call, HaggleError::InvalidParams);
    }

    type Change = fn(&mut NegotiationParams);

    fn with(change: Change) -> NegotiationParams {
        let mut terms = Stage::terms();
        change(&mut terms);
        terms
    }

    #[test]
    fn each_term_is_taken_up_to_its_limits() {
        let cases: [(&str, Change); 14] = [
            ("escrow 100,000", |terms| terms.escrow_amount = 100_000),
            ("all that the buyer has", |terms| {
                terms.escrow_amount = FUNDS
            }),
            ("rounds 1", |terms| terms.max_rounds = 1),
            ("rounds 20", |terms| terms.max_rounds = 20),
            ("decay 0", |terms| terms.decay_rate_bps = 0),
            ("decay 1,000", |terms| terms.decay_rate_bps = 1_000),
            ("window 60", |terms| terms.response_window = 60),
            ("window 3,600", |terms| terms.response_window = 3_600),
            ("deadline 60 s ahead", |terms| {
                terms.global_deadline = NOW + 60
            }),
            ("deadline 86,400 s ahead", |terms| {
                terms.global_deadline = NOW + 86_400
            }),
            ("minimum 100", |terms| terms.min_offer_bps = 100),
            ("minimum 9,000", |terms| terms.min_offer_bps = 9_000),
            ("metadata of kind 0", |terms| terms.metadata = [0; 64]),
            ("metadata of kind 1", |terms| {
                terms.metadata = metadata_of_kind_1()
            }),
        ];
        for (case, change) in cases {
            let mut stage = Stage::new();
            let deal = Stage::deal();
            let call = stage.create(&deal, &with(change));
            println!("{case}");
            stage.run(&call).succeeds();
            assert_eq!(stage.balance(&deal.escrow_vault), {
                with(change).escrow_amount
            });
        }
    }

    #[test]
    fn each_term_beyond_its_limits_is_refused() {
        let cases: [(&str, Change); 21] = [
            ("escrow 99,999", |terms| terms.escrow_amount = 99_999),
            ("escrow 0", |terms| terms.escrow_amount = 0),
            ("rounds 0", |terms| terms.max_rounds = 0),
            ("rounds 21", |terms| terms.max_rounds = 21),
            ("decay 1,001", |terms| terms.decay_rate_bps = 1_001),
            ("window 59", |terms| terms.response_window = 59),
            ("window 3,601", |terms| terms.response_window = 3_601),
            ("window below zero", |terms| terms.response_window = -1),
            ("deadline 59 s ahead", |terms| {
                terms.global_deadline = NOW + 59
            }),
            ("deadline 86,401 s ahead", |terms| {
                terms.global_deadline = NOW + 86_401
            }),
            ("deadline now", |terms| terms.global_deadline = NOW),
            ("deadline past", |terms| terms.global_deadline = NOW - 60),
            ("deadline never", |terms| terms.global_deadline = i64::MAX),
            ("deadline before time", |terms| {
                terms.global_deadline = i64::MIN
            }),
            ("minimum 99", |terms| terms.min_offer_bps = 99),
            ("minimum 9,001", |terms| terms.min_offer_bps = 9_001),
            ("metadata of kind 2", |terms| terms.metadata[0] = 2),
            ("metadata of kind 0 with content", |terms| {
                terms.metadata[1] = 1
            }),
            ("metadata of kind 0 with a last byte", |terms| {
                terms.metadata[63] = 1
            }),
            ("the padding of kind 1, first byte", |terms| {
                terms.metadata = metadata_of_kind_1();
                terms.metadata[50] = 1;
            }),
            ("the padding of kind 1, last byte", |terms| {
                terms.metadata = metadata_of_kind_1();
                terms.metadata[63] = 1;
            }),
        ];
        for (case, change) in cases {
            let mut stage = Stage::new();
            let call = stage.create(&Stage::deal(), &with(change));
            println!("{case}");
            stage.refuses(&call, HaggleError::InvalidParams);
        }
    }

    /// Sealed prices, a bond, and three milestones.
    fn terms_with_everything() -> NegotiationParams {
        NegotiationParams {
            zopa_enabled: Flag::ON,
            bond_required: 987_654,
            arbiter: ARBITER,
            milestone_count: 3,
            milestone_bps: [2_500, 3_333, 4_167, 0, 0, 0, 0, 0],
            milestone_deadline: NOW + 3_600 + 3 * 3_600,
            ..Stage::terms()
        }
    }

    #[test]
    fn sealed_prices_a_bond_and_milestones_are_kept_and_told() {
        let mut stage = Stage::new();
        let deal = Stage::deal();
        let terms = terms_with_everything();
        let mut plain = stage.clone();
        let call = plain.create(&deal, &Stage::terms());
        plain.run(&call).succeeds();
        let call = stage.create(&deal, &terms);
        stage.run(&call).succeeds().emitted(&[event(
            NegotiationCreated::RECORD,
            &NegotiationCreated {
                negotiation_id: deal.negotiation,
                buyer: BUYER,
                seller: SELLER,
                escrow_amount: ESCROW,
                token_mint: MINT,
                max_rounds: 6,
                decay_rate_bps: 200,
                global_deadline: NOW + 3_600,
                timestamp: NOW,
                session_id: 1,
                service_hash: *named("service").as_array(),
                response_window: 300,
                min_offer_bps: 1_000,
                protocol_fee_bps: 50,
                zopa_enabled: Flag::ON,
                bond_required: 987_654,
                arbiter: ARBITER,
                milestone_count: 3,
                milestone_bps: [2_500, 3_333, 4_167, 0, 0, 0, 0, 0],
                milestone_deadline: NOW + 14_400,
                metadata: [0; 64],
            },
        )]);
        assert_negotiation(
            &stage.negotiation(&deal),
            &Negotiation {
                zopa_enabled: Flag::ON,
                zopa_phase: ZopaPhase::NotStarted,
                bond_required: 987_654,
                arbiter: ARBITER,
                milestone_count: 3,
                milestone_bps: [2_500, 3_333, 4_167, 0, 0, 0, 0, 0],
                milestone_deadline: NOW + 14_400,
                ..plain.negotiation(&deal)
            },
        );
        // The bond is the seller's, and comes later.
        assert_eq!(stage.balance(&deal.escrow_vault), ESCROW);
    }

    /// The first shares of milestones of which each has one, together 10,000.
    fn shares(count: u8) -> [u16; 8] {
        let mut shares = [0; 8];
        shares[..usize::from(count)].fill(1);
        shares[usize::from(count) - 1] = 10_001 - u16::from(count);
        shares
    }

    #[test]
    fn milestones_are_one_to_eight() {
        for count in 0..=u8::MAX {
            let mut stage = Stage::new();
            let mut terms = terms_with_everything();
            terms.milestone_count = count;
            terms.milestone_bps = shares(count.clamp(1, 8));
            terms.milestone_deadline = NOW + 365 * 86_400;
            let call = stage.create(&Stage::deal(), &terms);
            if (1..=8).contains(&count) {
                stage.run(&call).succeeds();
            } else {
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn what_belongs_to_milestones_is_zero_without_them() {
        let cases: [(&str, Change); 5] = [
            ("an arbiter", |terms| terms.arbiter = ARBITER),
            ("a first share", |terms| {
                terms.milestone_bps = [1, 0, 0, 0, 0, 0, 0, 0]
            }),
            ("a last share", |terms| {
                terms.milestone_bps = [0, 0, 0, 0, 0, 0, 0, 1]
            }),
            ("all of the price", |terms| {
                terms.milestone_bps = [10_000, 0, 0, 0, 0, 0, 0, 0]
            }),
            ("a milestone deadline", |terms| {
                terms.milestone_deadline = NOW + 86_400
            }),
        ];
        for (case, change) in cases {
            let mut stage = Stage::new();
            let call = stage.create(&Stage::deal(), &with(change));
            println!("{case}");
            stage.refuses(&call, HaggleError::InvalidParams);
        }
    }

    #[test]
    fn shares_are_one_for_each_milestone_and_together_the_price() {
        let cases: [([u16; 8], u8, bool); 16] = [
            ([10_000, 0, 0, 0, 0, 0, 0, 0], 1, true),
            ([9_999, 0, 0, 0, 0, 0, 0, 0], 1, false),
            ([10_001, 0, 0, 0, 0, 0, 0, 0], 1, false),
            ([0, 0, 0, 0, 0, 0, 0, 0], 1, false),
            ([10_000, 0, 0, 0, 0, 0, 0, 0], 2, false),
            ([9_999, 1, 0, 0, 0, 0, 0, 0], 2, true),
            ([1, 9_999, 0, 0, 0, 0, 0, 0], 2, true),
            ([0, 10_000, 0, 0, 0, 0, 0, 0], 2, false),
            ([5_000, 5_000, 0, 0, 0, 0, 0, 0], 1, false),
            ([5_000, 4_999, 1, 0, 0, 0, 0, 0], 2, false),
            ([5_000, 4_999, 0, 0, 0, 0, 0, 1], 2, false),
            ([5_000, 4_999, 0, 0, 0, 0, 0, 0], 2, false),
            ([5_000, 5_001, 0, 0, 0, 0, 0, 0], 2, false),
            ([1_250; 8], 8, true),
            ([1_250; 8], 7, false),
            // Together 10,000 if a sum were kept in sixteen bits.
            ([65_535, 10_001, 0, 0, 0, 0, 0, 0], 2, false),
        ];
        for (milestone_bps, milestone_count, is_taken) in cases {
            let mut stage = Stage::new();
            let mut terms = terms_with_everything();
            terms.milestone_bps = milestone_bps;
            terms.milestone_count = milestone_count;
            terms.milestone_deadline = NOW + 86_400;
            let call = stage.create(&Stage::deal(), &terms);
            println!("{milestone_count}: {milestone_bps:?}");
            if is_taken {
                stage.run(&call).succeeds();
            } else {
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn the_arbiter_is_somebody_and_neither_party() {
        for (arbiter, is_taken) in [
            (ARBITER, true),
            (STRANGER, true),
            (Address::new_from_array([0; 32]), false),
            (BUYER, false),
            (SELLER, false),
        ] {
            let mut stage = Stage::new();
            let mut terms = terms_with_everything();
            terms.arbiter = arbiter;
            let call = stage.create(&Stage::deal(), &terms);
            if is_taken {
                stage.run(&call).succeeds();
            } else {
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn milestones_have_time_for_their_reviews_and_a_year_at_most() {
        const YEAR: i64 = 365 * 86_400;
        for (response_window, global_deadline, count, earliest) in [
            (60, 3_600, 1, 3_600 + 3_600),
            (3_600, 3_600, 1, 3_600 + 3_600),
            (300, 60, 8, 60 + 8 * 3_600),
            (3_600, 86_400, 8, 86_400 + 8 * 3_600),
        ] {
            let terms = |milestone_deadline: i64| NegotiationParams {
                response_window,
                global_deadline: NOW + global_deadline,
                milestone_count: count,
                milestone_bps: shares(count),
                milestone_deadline,
                ..terms_with_everything()
            };
            for deadline in [NOW + earliest, NOW + earliest + 1, NOW + YEAR] {
                let mut stage = Stage::new();
                let call = stage.create(&Stage::deal(), &terms(deadline));
                stage.run(&call).succeeds();
            }
            for deadline in [
                i64::MIN,
                -1,
                0,
                NOW,
                NOW + earliest - 1,
                NOW + YEAR + 1,
                i64::MAX,
            ] {
                let mut stage = Stage::new();
                let call = stage.create(&Stage::deal(), &terms(deadline));
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn sealed_prices_take_a_bond() {
        for (zopa_enabled, bond_required, is_taken) in [
            (Flag::ON, 0, false),
            (Flag::ON, 1, true),
            (Flag::OFF, 0, true),
            (Flag::OFF, 1, true),
        ] {
            let mut stage = Stage::new();
            let deal = Stage::deal();
            let mut terms = Stage::terms();
            terms.zopa_enabled = zopa_enabled;
            terms.bond_required = bond_required;
            let call = stage.create(&deal, &terms);
            if is_taken {
                stage.run(&call).succeeds();
                let phase = stage.negotiation(&deal).zopa_phase;
                assert_eq!(phase == ZopaPhase::Skipped, zopa_enabled == Flag::OFF);
            } else {
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn a_flag_is_zero_or_one() {
        for zopa_enabled in [Flag(2), Flag(u8::MAX)] {
            let mut stage = Stage::new();
            let mut terms = terms_with_everything();
            terms.zopa_enabled = zopa_enabled;
            let call = stage.create(&Stage::deal(), &terms);
            stage.refuses(&call, Framework::InstructionDidNotDeserialize);
        }
    }

    #[test]
    fn escrow_and_bond_fit_one_vault() {
        for (escrow_amount, bond_required, is_taken) in [
            (ESCROW, u64::MAX - ESCROW, true),
            (ESCROW, u64::MAX - ESCROW + 1, false),
            (ESCROW, u64::MAX, false),
            (u64::MAX, 0, true),
            (u64::MAX, 1, false),
            (u64::MAX - 1, 1, true),
            (u64::MAX, u64::MAX, false),
        ] {
            let mut stage = Stage::new();
            let deal = Stage::deal();
            stage.set_balance(&deal.buyer_token_account, escrow_amount);
            let mut terms = Stage::terms();
            terms.escrow_amount = escrow_amount;
            terms.bond_required = bond_required;
            let call = stage.create(&deal, &terms);
            if is_taken {
                stage.run(&call).succeeds();
                assert_eq!(stage.balance(&deal.escrow_vault), escrow_amount);
            } else {
                stage.refuses(&call, HaggleError::InvalidParams);
            }
        }
    }

    #[test]
    fn the_deadline_counts_from_the_chains_clock() {
        let terms = with(|terms| terms.global_deadline = NOW + 60);
        let mut stage = Stage::new();
        stage.now = NOW + 1;
        let call = stage.create(&Stage::deal(), &terms);
        stage.refuses(&call, HaggleError::InvalidParams);
        stage.now = NOW;
        stage.run(&call).succeeds();
        assert_eq!({ stage.negotiation(&Stage::deal()).created_at }, NOW);
    }

    #[test]
    fn a_buyer_without_the_money_is_told_so_by_the_token_program() {
        let (mut stage, deal) = (Stage::new(), Stage::deal());
        let before = stage.accounts.clone();
        let call = stage.create(&deal, &with(|terms| terms.escrow_amount = FUNDS + 1));
        let outcome = stage.run(&call);
        assert_eq!(outcome.error_code(), Some(1), "insufficient funds");
        assert!(stage.accounts == before);
    }

    #[test]
    fn a_frozen_account_cannot_pay() {
        let (mut stage, deal) = (Stage::new(), Stage::deal());
        stage.freeze(&deal.buyer_token_account);
        let before = stage.accounts.clone();
        let call = stage.create(&deal, &Stage::terms());
        let outcome = stage.run(&call);
        assert_eq!(outcome.error_code(), Some(17), "account frozen");
        assert!(stage.accounts == before);
    }

    #[test]
    fn a_buyer_without_lamports_for_the_rent_is_told_so_by_the_system_program() {
        let (mut stage, deal) = (Stage::new(), Stage::deal());
        stage.put(BUYER, wallet(rent(512) + rent(165) - 1));
        let before = stage.accounts.clone();
        let call = stage.create(&deal, &Stage::terms());
        let outcome = stage.run(&call);
        assert_eq!(
            outcome.error_code(),
            Some(1),
            "negative result of a transfer"
        );
        assert!(stage.accounts == before);
    }

    #[test]
    fn the_rent_is_what_the_chain_asks() {
        const MOST: u64 = u32::MAX as u64;
        for (price, factor, per_byte) in [
            (6_960, 1.0, 6_960),
            (3_480, 2.0, 6_960),
            (1, 1.0, 1),
            (MOST, 1.0, MOST),
            (MOST, 2.0, MOST * 2),
        ] {
            let (mut stage, deal) = (Stage::new(), Stage::deal());
            stage.rent = (price, factor);
            stage.put(BUYER, wallet(u64::MAX / 4));
            let call = stage.create(&deal, &Stage::terms());
            stage.run(&call).succeeds();
            assert_eq!(stage.lamports(&deal.negotiation), (128 + 512) * per_byte);
            assert_eq!(stage.lamports(&deal.escrow_vault), (128 + 165) * per_byte);
        }
    }

    #[test]
    fn a_rent_beyond_all_reason_is_refused() {
        for rent in [
            (6_960, 1.5),
            (6_960, 0.0),
            (6_960, -1.0),
            (1 << 32, 1.0),
            (u64::MAX, 1.0),
        ] {
            let mut stage = Stage::new();
            stage.rent = rent;
            let call = stage.create(&Stage::deal(), &Stage::terms());
            stage.refuses(&call, HaggleError::Overflow);
        }
    }

    #[test]
    fn what_is_no_mint_is_refused() {
        let whole = mint(0).data;
        let mut uninitialised = whole.clone();
        uninitialised[45] = 0;
        let longer = [&whole[..], &[0]].concat();
        let account = token_account(&MINT, &BUYER, 0).data;
        for (case, data) in [
            ("not initialised", uninitialised),
            ("a byte short", whole[..81].to_vec()),
            ("a byte long", longer),
            ("a token account", account),
        ] {
            let mut stage = Stage::new();
            let fake = named("no mint");
            let deal = Deal::between(BUYER, SELLER, 1, fake);
            stage.put(fake, owned(programs::TOKEN, data));
            stage.put(
                deal.buyer_token_account,
                token_account(&fake, &BUYER, FUNDS),
            );
            let call = stage.create(&deal, &Stage::terms());
            println!("{case}");
            stage.refuses(&call, HaggleError::UnsupportedMint);
        }
    }

    #[test]
    fn the_account_that_pays_holds_this_mint_for_the_buyer() {
        let cases = [
            ("another mint", associated(&BUYER, &OTHER_MINT)),
            ("another owner", associated(&SELLER, &MINT)),
            ("no account", named("nothing")),
            ("a wallet", BUYER),
        ];
        for (case, account) in cases {
            let mut stage = Stage::new();
            let call = stage
                .create(&Stage::deal(), &Stage::terms())
                .with("buyer_token_account", account);
            println!("{case}");
            stage.refuses(&call, Framework::ConstraintRaw);
        }
    }

    #[test]
    fn a_delegate_cannot_deposit_the_buyers_tokens() {
        let mut stage = Stage::new();
        stage.change(&associated(&BUYER, &MINT), |account| {
            account.data[72] = 1;
            account.data[76..108].copy_from_slice(STRANGER.as_ref());
            account.data[121..129].copy_from_slice(&FUNDS.to_le_bytes());
        });
        let deal = Deal::between(STRANGER, SELLER, 1, MINT);
        let call = stage
            .create(&deal, &Stage::terms())
            .with("buyer_token_account", associated(&BUYER, &MINT));
        stage.refuses(&call, Framework::ConstraintRaw);
    }

    #[test]
    fn addresses_of_another_bump_are_refused() {
        let (stage, deal) = (Stage::new(), Stage::deal());
        let call = stage.create(&deal, &Stage::terms());
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
                    stage.clone().refuses(
                        &call.clone().with(account, address),
                        Framework::ConstraintSeeds,
                    );
                    tried += 1;
                }
            }
        }
        assert!(tried > 100, "only {tried} bumps were tried");
    }

    #[test]
    fn wrapped_sol_is_deposited_like_any_other_token() {
        let mut stage = Stage::new();
        let deal = Deal::between(BUYER, SELLER, 1, NATIVE_MINT);
        stage.put(
            deal.buyer_token_account,
            token_account(&NATIVE_MINT, &BUYER, FUNDS),
        );
        let call = stage.create(&deal, &Stage::terms());
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&deal.escrow_vault), ESCROW);
        assert_eq!(stage.lamports(&deal.escrow_vault), rent(165) + ESCROW);
    }

    #[test]
    fn lamports_sent_ahead_to_a_vault_of_wrapped_sol_are_a_donation() {
        let mut stage = Stage::new();
        let deal = Deal::between(BUYER, SELLER, 1, NATIVE_MINT);
        stage.put(
            deal.buyer_token_account,
            token_account(&NATIVE_MINT, &BUYER, FUNDS),
        );
        stage.put(deal.escrow_vault, wallet(LAMPORTS));
        let call = stage.create(&deal, &Stage::terms());
        stage.run(&call).succeeds();
        assert_eq!(
            stage.balance(&deal.escrow_vault),
            LAMPORTS - rent(165) + ESCROW
        );
        assert_eq!({ stage.negotiation(&deal).effective_escrow }, ESCROW);
        assert_eq!(stage.lamports(&deal.escrow_vault), LAMPORTS + ESCROW);
    }
}
