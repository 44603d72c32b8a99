//! What DESIGN says will happen: the exact error of an instruction, or the exact accounts it leaves behind.
//!
//! It reads the raw instruction, as the program does, and shares none of its rules.

use super::deal::{
    floored, receives, Config, Deal, BUYER, CONFIG, CONFIG_SIZE, COUNTERED, CREATED, EXPIRED,
    NEGOTIATION, NEGOTIATION_SIZE, PROPOSED, REJECTED, SELLER, SETTLED,
};
use super::ledger::{
    rent, token_account, Ledger, FROZEN, INITIALIZED, LOADER, MINT_SIZE, SYSTEM, TOKEN,
    TOKEN_ACCOUNT_SIZE, WRAPPED_SOL,
};
use crate::ID;
use solana_account::Account;
use solana_address::Address;
use solana_instruction::{AccountMeta, Instruction};
use std::collections::{BTreeMap, BTreeSet};

/// The nine instructions.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Debug)]
pub enum Kind {
    Initialize,
    Create,
    AcceptInvitation,
    Offer,
    AcceptOffer,
    Reject,
    Expire,
    Close,
    Claim,
}

pub const KINDS: [Kind; 9] = [
    Kind::Initialize,
    Kind::Create,
    Kind::AcceptInvitation,
    Kind::Offer,
    Kind::AcceptOffer,
    Kind::Reject,
    Kind::Expire,
    Kind::Close,
    Kind::Claim,
];

/// Who must own an account, and what must be in it.
#[derive(Clone, Copy, PartialEq)]
pub enum Must {
    /// Anything: the address decides, or nothing does.
    Be,
    BeNegotiation,
    BeConfig,
    BeNew,
    BeTokens,
    BeLoaders,
}
use Must::{Be, BeConfig, BeLoaders, BeNegotiation, BeNew, BeTokens};

/// An account's place in an instruction: s signs, w is written to, ? may be left out.
pub type Place = (&'static str, Must);

impl Kind {
    pub fn name(self) -> &'static str {
        match self {
            Self::Initialize => "initialize_config",
            Self::Create => "create_negotiation",
            Self::AcceptInvitation => "accept_invitation",
            Self::Offer => "submit_offer",
            Self::AcceptOffer => "accept_offer",
            Self::Reject => "reject_negotiation",
            Self::Expire => "expire_negotiation",
            Self::Close => "close_negotiation",
            Self::Claim => "claim_payout",
        }
    }

    pub fn discriminator(self) -> [u8; 8] {
        const fn of(name: &str) -> [u8; 8] {
            crate::declare::discriminator("global", name)
        }
        match self {
            Self::Initialize => const { of("initialize_config") },
            Self::Create => const { of("create_negotiation") },
            Self::AcceptInvitation => const { of("accept_invitation") },
            Self::Offer => const { of("submit_offer") },
            Self::AcceptOffer => const { of("accept_offer") },
            Self::Reject => const { of("reject_negotiation") },
            Self::Expire => const { of("expire_negotiation") },
            Self::Close => const { of("close_negotiation") },
            Self::Claim => const { of("claim_payout") },
        }
    }

    /// The arguments' length in bytes.
    pub fn arguments(self) -> usize {
        match self {
            Self::Initialize => 32 + 2 + 8 + 2 + 1,
            Self::Create => 8 + (8 + 32 + 1 + 2 + 8 + 8 + 2 + 1 + 8 + 32 + 1 + 16 + 8 + 64),
            Self::AcceptInvitation => 32,
            Self::Offer => 1 + 8 + 4 + 64,
            Self::AcceptOffer => 1 + 8 + 64,
            Self::Reject => 1,
            Self::Expire | Self::Close => 0,
            Self::Claim => 8,
        }
    }

    #[rustfmt::skip]
    pub fn places(self) -> &'static [Place] {
        match self {
            Self::Initialize => &[("sw", Be), ("w", BeNew), ("", BeLoaders), ("", Be)],
            Self::Create => &[
                ("sw", Be), ("", Be), ("w", BeNew), ("w", BeNew), ("w", Be), ("", BeTokens), ("", BeConfig), ("", Be), ("", Be),
            ],
            Self::AcceptInvitation => &[("s", Be), ("w", BeNegotiation), ("w?", Be), ("w?", Be), ("?", Be), ("?", Be)],
            Self::Offer => &[("s", Be), ("w", BeNegotiation)],
            Self::AcceptOffer => &[("s", Be), ("w", BeNegotiation), ("w", Be), ("w", Be), ("w", Be), ("", Be), ("", Be)],
            Self::Reject => &[("s", Be), ("w", BeNegotiation), ("w", Be), ("w", Be), ("w?", Be), ("", Be), ("", Be)],
            Self::Expire => &[("w", BeNegotiation), ("w", Be), ("w", Be), ("w?", Be), ("", Be), ("", Be)],
            Self::Close => &[
                ("s", Be), ("w", BeNegotiation), ("w", Be), ("w", BeConfig), ("w", Be), ("w?", Be), ("w?", Be), ("w?", Be),
                ("", Be), ("", Be),
            ],
            Self::Claim => &[("s", Be), ("w", BeNegotiation), ("w", Be), ("w", Be), ("", Be), ("", Be)],
        }
    }
}

pub const INVALID_STATE: u32 = 6000;
pub const UNAUTHORIZED: u32 = 6001;
pub const NOT_YOUR_TURN: u32 = 6002;
pub const PAST_DEADLINE: u32 = 6003;
pub const PAST_WINDOW: u32 = 6004;
pub const TOO_LOW: u32 = 6005;
pub const TOO_HIGH: u32 = 6006;
pub const MAX_ROUNDS: u32 = 6007;
pub const INVALID_PARAMS: u32 = 6008;
pub const PAUSED: u32 = 6009;
pub const OVERFLOW: u32 = 6012;
pub const STALE: u32 = 6013;
pub const UNSUPPORTED_MINT: u32 = 6014;
pub const PAYOUT_PENDING: u32 = 6015;
/// What the system program and the token program answer when there is too little.
pub const TOO_LITTLE: u32 = 1;
/// What the token program answers for a frozen account.
pub const ACCOUNT_FROZEN: u32 = 17;

/// Everything there is at a point in time.
#[derive(Clone)]
pub struct World {
    pub now: i64,
    pub ledger: Ledger,
    /// The negotiations whose accounts exist.
    pub deals: BTreeMap<Address, Deal>,
    pub config: Option<Config>,
    /// The program's upgrade authority.
    pub deployer: Address,
}

/// The addresses that never change.
pub struct Fixed {
    pub config: Address,
    pub config_bump: u8,
    /// The loader's account of the program.
    pub program_data: Address,
}

impl Fixed {
    pub fn derive() -> Self {
        let (config, config_bump) = Address::find_program_address(&[b"config"], &ID);
        let program_data = Address::find_program_address(&[ID.as_ref()], &LOADER).0;
        Self {
            config,
            config_bump,
            program_data,
        }
    }
}

pub fn negotiation_address(parties: &[Address; 2], session_id: u64) -> (Address, u8) {
    let session = session_id.to_le_bytes();
    let [buyer, seller] = parties;
    Address::find_program_address(
        &[b"negotiation", buyer.as_ref(), seller.as_ref(), &session],
        &ID,
    )
}

pub fn vault_address(negotiation: &Address) -> (Address, u8) {
    Address::find_program_address(&[b"vault", negotiation.as_ref()], &ID)
}

/// What an instruction that succeeds leaves behind, and what a reader of statistics would call it.
pub struct Next {
    pub world: World,
    pub outcomes: Vec<String>,
}

/// The accounts that are not what they should be, of which the most severe is answered: a PDA, a stored key, a token
/// account, a program.
#[derive(Default)]
struct WrongAddresses(BTreeSet<usize>);

impl WrongAddresses {
    const ORDER: [u32; 4] = [2006, 2001, 2003, 3008];

    fn when(&mut self, wrong: bool, code: u32) {
        if wrong {
            self.0
                .insert(Self::ORDER.iter().position(|known| *known == code).unwrap());
        }
    }

    fn worst(&self) -> Result<(), u32> {
        self.0
            .first()
            .map_or(Ok(()), |worst| Err(Self::ORDER[*worst]))
    }
}

fn refuse(when: bool, code: u32) -> Result<(), u32> {
    if when {
        Err(code)
    } else {
        Ok(())
    }
}

/// Reads the arguments from left to right.
struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> [u8; N] {
        let (taken, rest) = self.0.split_first_chunk::<N>().unwrap();
        self.0 = rest;
        *taken
    }

    fn u8(&mut self) -> u8 {
        self.take::<1>()[0]
    }

    fn u16(&mut self) -> u16 {
        u16::from_le_bytes(self.take())
    }

    fn u32(&mut self) -> u32 {
        u32::from_le_bytes(self.take())
    }

    fn u64(&mut self) -> u64 {
        u64::from_le_bytes(self.take())
    }

    fn i64(&mut self) -> i64 {
        i64::from_le_bytes(self.take())
    }

    fn address(&mut self) -> Address {
        Address::new_from_array(self.take())
    }
}

/// Kind 0 is all zero; kind 1 has 50 bytes, then zeros.
fn is_metadata(metadata: &[u8; 64]) -> bool {
    match metadata[0] {
        0 => *metadata == [0; 64],
        1 => metadata[50..] == [0; 14],
        _ => false,
    }
}

/// Predicts an instruction.
pub fn predict(world: &World, fixed: &Fixed, instruction: &Instruction) -> Result<Next, u32> {
    refuse(instruction.program_id != ID, 4100)?;
    let Some((tag, arguments)) = instruction.data.split_first_chunk::<8>() else {
        return Err(100);
    };
    let kind = KINDS
        .into_iter()
        .find(|kind| kind.discriminator() == *tag)
        .ok_or(101u32)?;
    refuse(arguments.len() != kind.arguments(), 102)?;
    // The only flag or enum among the arguments: whether prices are compared under seal.
    refuse(kind == Kind::Create && arguments[8 + 61] > 1, 102)?;

    check_places(world, instruction, kind.places())?;
    let keys: Vec<_> = instruction
        .accounts
        .iter()
        .map(|meta| meta.pubkey)
        .collect();
    let case = Case {
        world,
        fixed,
        keys: &keys,
    };
    let arguments = Reader(arguments);
    match kind {
        Kind::Initialize => case.initialize(arguments),
        Kind::Create => case.create(arguments),
        Kind::AcceptInvitation => case.accept_invitation(arguments),
        Kind::Offer => case.offer(arguments),
        Kind::AcceptOffer => case.accept_offer(arguments),
        Kind::Reject => case.reject(arguments),
        Kind::Expire => case.expire(),
        Kind::Close => case.close(),
        Kind::Claim => case.claim(arguments),
    }
}

/// How many accounts there are, then all flags, then all owners, then all contents.
fn check_places(world: &World, instruction: &Instruction, places: &[Place]) -> Result<(), u32> {
    refuse(instruction.accounts.len() < places.len(), 3005)?;
    let given: Vec<_> = places
        .iter()
        .zip(&instruction.accounts)
        .filter(|((flags, _), meta)| !(flags.contains('?') && meta.pubkey == ID))
        .map(|((flags, must), meta)| (*flags, *must, meta.pubkey))
        .collect();
    for (flags, _, key) in &given {
        // An account that stands in two places has the rights of both; a program that is called is never written to.
        let has = |right: fn(&AccountMeta) -> bool| {
            instruction
                .accounts
                .iter()
                .any(|meta| meta.pubkey == *key && right(meta))
        };
        refuse(flags.contains('s') && !has(|meta| meta.is_signer), 3010)?;
        let writable = has(|meta| meta.is_writable && meta.pubkey != ID);
        refuse(flags.contains('w') && !writable, 2000)?;
    }
    for (_, must, key) in &given {
        let owner = match must {
            Be => continue,
            BeNegotiation | BeConfig => ID,
            BeNew => SYSTEM,
            BeTokens => TOKEN,
            BeLoaders => LOADER,
        };
        refuse(world.ledger.get(key).owner != owner, 3007)?;
    }
    for (_, must, key) in &given {
        let (discriminator, size) = match must {
            BeNegotiation => (NEGOTIATION, NEGOTIATION_SIZE),
            BeConfig => (CONFIG, CONFIG_SIZE),
            _ => continue,
        };
        let data = world.ledger.get(key).data;
        refuse(data.len() < 8, 3001)?;
        refuse(data[..8] != discriminator, 3002)?;
        refuse(data.len() != size, 3003)?;
    }
    Ok(())
}

struct Case<'a> {
    world: &'a World,
    fixed: &'a Fixed,
    keys: &'a [Address],
}

impl Case<'_> {
    fn initialize(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [authority, config, program_data, system, ..] = *self.keys else {
            unreachable!()
        };
        let mut wrong = WrongAddresses::default();
        wrong.when(config != self.fixed.config, 2006);
        wrong.when(program_data != self.fixed.program_data, 2006);
        wrong.when(system != SYSTEM, 3008);
        wrong.worst()?;

        let treasury = arguments.address();
        let decay_bps = arguments.u16();
        let window = arguments.i64();
        let fee_bps = arguments.u16();
        let max_rounds = arguments.u8();
        let in_range = treasury != Address::default()
            && decay_bps <= 1_000
            && (60..=3_600).contains(&window)
            && fee_bps <= 500
            && (1..=20).contains(&max_rounds);
        refuse(!in_range, INVALID_PARAMS)?;
        refuse(authority != self.world.deployer, UNAUTHORIZED)?;

        let mut world = self.world.clone();
        let made = Config {
            authority,
            treasury,
            decay_bps,
            window,
            fee_bps,
            max_rounds,
            closed: 0,
            volume: 0,
            fees: 0,
            paused: false,
            bump: self.fixed.config_bump,
        };
        make(&mut world.ledger, &authority, &config, ID, made.bytes())?;
        world.config = Some(made);
        Ok(Next {
            world,
            outcomes: vec!["configured".into()],
        })
    }

    fn create(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [buyer, seller, negotiation, vault, tokens, mint, config, token_program, system, ..] =
            *self.keys
        else {
            unreachable!()
        };
        let parties = [buyer, seller];
        let session_id = arguments.u64();
        let (address, bump) = negotiation_address(&parties, session_id);
        let (vault_pda, vault_bump) = vault_address(&negotiation);
        let held = self.world.ledger.held(&tokens);
        let mut wrong = WrongAddresses::default();
        wrong.when(
            negotiation != address || vault != vault_pda || config != self.fixed.config,
            2006,
        );
        wrong.when(
            held.is_none_or(|held| held.mint != mint || held.owner != buyer),
            2003,
        );
        wrong.when(token_program != TOKEN || system != SYSTEM, 3008);
        wrong.worst()?;
        let mint_account = self.world.ledger.get(&mint);
        refuse(
            mint_account.data.len() != MINT_SIZE || mint_account.data[45] != 1,
            UNSUPPORTED_MINT,
        )?;

        let now = self.world.now;
        let rules = self.world.config.as_ref().unwrap();
        let deal = Deal {
            parties,
            session_id,
            status: CREATED,
            round: 0,
            offer: 0,
            offer_by: None,
            escrow: arguments.u64(),
            service_hash: arguments.take(),
            max_rounds: arguments.u8(),
            decay_bps: arguments.u16(),
            window: arguments.i64(),
            deadline: arguments.i64(),
            min_offer_bps: arguments.u16(),
            effective: 0,
            mint,
            fee_bps: rules.fee_bps,
            created_at: now,
            last_offer_at: 0,
            settled_at: 0,
            metadata: [0; 64],
            bump,
            vault,
            vault_bump,
            turn_deadline: 0,
            claimable: [0; 2],
            paid: 0,
        };
        let ahead = i128::from(deal.deadline) - i128::from(now);
        let later_capabilities = arguments.take::<{ 1 + 8 + 32 + 1 + 16 + 8 }>();
        let metadata = arguments.take();
        let in_range = buyer != seller
            && deal.escrow >= 100_000
            && (1..=20).contains(&deal.max_rounds)
            && deal.decay_bps <= 1_000
            && (60..=3_600).contains(&deal.window)
            && (60..=86_400).contains(&ahead)
            && (100..=9_000).contains(&deal.min_offer_bps)
            && later_capabilities == [0; 66]
            && is_metadata(&metadata);
        refuse(!in_range, INVALID_PARAMS)?;
        refuse(rules.paused, PAUSED)?;

        let deal = Deal {
            metadata,
            effective: deal.escrow,
            turn_deadline: deal.deadline,
            ..deal
        };
        let mut world = self.world.clone();
        make(&mut world.ledger, &buyer, &negotiation, ID, deal.bytes())?;
        let empty = token_account(&mint, &negotiation, 0).data;
        make(&mut world.ledger, &buyer, &vault, TOKEN, empty)?;
        if mint == WRAPPED_SOL {
            // Lamports that were there before and are not needed as rent count as tokens.
            let account = world.ledger.change(&vault);
            let excess = account.lamports - rent(TOKEN_ACCOUNT_SIZE);
            account.data[64..72].copy_from_slice(&excess.to_le_bytes());
        }
        let held = held.unwrap();
        refuse(held.state == FROZEN, ACCOUNT_FROZEN)?;
        refuse(held.amount < deal.escrow, TOO_LITTLE)?;
        world.ledger.transfer(&tokens, &vault, deal.escrow);
        world.deals.insert(negotiation, deal);
        Ok(Next {
            world,
            outcomes: vec!["created".into()],
        })
    }

    fn accept_invitation(&self, mut arguments: Reader) -> Result<Next, u32> {
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

    fn offer(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [signer, negotiation, ..] = *self.keys else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let expected_round = arguments.u8();
        let amount = arguments.u64();
        let extension = arguments.u32();
        let metadata = arguments.take();

        refuse(extension != 0 || !is_metadata(&metadata), INVALID_PARAMS)?;
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

    fn accept_offer(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [signer, negotiation, vault, to_buyer, to_seller, mint, token_program, ..] = *self.keys
        else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let buyer_gets = receives(
            &self.world.ledger,
            &to_buyer,
            &deal.mint,
            &deal.parties[BUYER],
        );
        let seller_gets = receives(
            &self.world.ledger,
            &to_seller,
            &deal.mint,
            &deal.parties[SELLER],
        );
        let mut wrong = self.wrong_vault(deal, vault, mint, token_program);
        wrong.when(buyer_gets.is_none() || seller_gets.is_none(), 2003);
        wrong.worst()?;

        refuse(
            !deal.is_bargaining() || deal.offer_by.is_none(),
            INVALID_STATE,
        )?;
        self.in_time(deal)?;
        let side = deal.side_of(&signer).ok_or(UNAUTHORIZED)?;
        let is_as_seen = arguments.u8() == deal.round
            && arguments.u64() == deal.offer
            && arguments.take() == deal.metadata;
        refuse(!is_as_seen, STALE)?;
        refuse(Some(side) == deal.offer_by, NOT_YOUR_TURN)?;

        let by = if side == BUYER { "buyer" } else { "seller" };
        let to_the_unit = deal.offer == deal.effective;
        let settled_at = self.world.now;
        let deal = Deal {
            status: SETTLED,
            settled_at,
            paid: deal.offer,
            ..deal.clone()
        };
        let buyer = (to_buyer, buyer_gets == Some(true));
        let seller = (to_seller, seller_gets == Some(true));
        let mut next = self.divide(negotiation, deal, buyer, seller);
        next.outcomes.push(format!("settled, accepted by the {by}"));
        if to_the_unit {
            next.outcomes
                .push("settled for the whole effective escrow".into());
        }
        Ok(next)
    }

    fn reject(&self, mut arguments: Reader) -> Result<Next, u32> {
        let [signer, negotiation, vault, to_buyer, to_seller, mint, token_program, ..] = *self.keys
        else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let buyer_gets =
            self.check_refund(deal, [vault, to_buyer, to_seller, mint, token_program])?;

        refuse(!deal.is_open(), INVALID_STATE)?;
        self.in_time(deal)?;
        let side = deal.side_of(&signer).ok_or(UNAUTHORIZED)?;
        refuse(arguments.u8() != deal.round, STALE)?;

        let by = if side == BUYER { "buyer" } else { "seller" };
        let outcome = format!("rejected by the {by} {}", stage(deal));
        let deal = Deal {
            status: REJECTED,
            ..deal.clone()
        };
        let mut next = self.divide(negotiation, deal, (to_buyer, buyer_gets), (ID, false));
        next.outcomes.push(outcome);
        Ok(next)
    }

    fn expire(&self) -> Result<Next, u32> {
        let [negotiation, vault, to_buyer, to_seller, mint, token_program, ..] = *self.keys else {
            unreachable!()
        };
        let deal = &self.world.deals[&negotiation];
        let buyer_gets =
            self.check_refund(deal, [vault, to_buyer, to_seller, mint, token_program])?;
        refuse(!deal.is_open() || self.in_time(deal).is_ok(), INVALID_STATE)?;

        let which = if self.in_time(deal) == Err(PAST_WINDOW) {
            "window"
        } else {
            "deadline"
        };
        let outcome = format!("expired past the {which} {}", stage(deal));
        let deal = Deal {
            status: EXPIRED,
            ..deal.clone()
        };
        let mut next = self.divide(negotiation, deal, (to_buyer, buyer_gets), (ID, false));
        next.outcomes.push(outcome);
        Ok(next)
    }

    /// The accounts of an end without an agreement, and whether the buyer's can be paid to. The seller's is only needed for
    /// a bond, and has to be right all the same when it is given.
    fn check_refund(&self, deal: &Deal, accounts: [Address; 5]) -> Result<bool, u32> {
        let [vault, to_buyer, to_seller, mint, token_program] = accounts;
        let buyer_gets = receives(
            &self.world.ledger,
            &to_buyer,
            &deal.mint,
            &deal.parties[BUYER],
        );
        let mut wrong = self.wrong_vault(deal, vault, mint, token_program);
        wrong.when(buyer_gets.is_none(), 2003);
        if to_seller != ID {
            let seller_gets = receives(
                &self.world.ledger,
                &to_seller,
                &deal.mint,
                &deal.parties[SELLER],
            );
            wrong.when(seller_gets.is_none(), 2003);
        }
        wrong.worst()?;
        Ok(buyer_gets == Some(true))
    }

    fn claim(&self, mut arguments: Reader) -> Result<Next, u32> {
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

    fn close(&self) -> Result<Next, u32> {
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

    /// Acting at or after the deadline fails.
    fn in_time(&self, deal: &Deal) -> Result<(), u32> {
        refuse(self.world.now >= deal.deadline, PAST_DEADLINE)?;
        refuse(self.world.now >= deal.turn_deadline, PAST_WINDOW)
    }

    fn next_turn(&self, deal: &Deal) -> Result<i64, u32> {
        let end = self.world.now.checked_add(deal.window).ok_or(OVERFLOW)?;
        Ok(end.min(deal.deadline))
    }

    fn belongs(&self, account: &Address, deal: &Deal, owner: Address) -> bool {
        self.world
            .ledger
            .held(account)
            .is_some_and(|held| held.mint == deal.mint && held.owner == owner)
    }

    /// A vault cannot pay while it is frozen, or when the rent of wrapped SOL has risen at its tokens' cost.
    fn can_pay(&self, vault: &Address, amount: u64) -> bool {
        self.world
            .ledger
            .held(vault)
            .is_some_and(|held| held.state != FROZEN && held.amount >= amount)
    }

    fn wrong_vault(
        &self,
        deal: &Deal,
        vault: Address,
        mint: Address,
        program: Address,
    ) -> WrongAddresses {
        let mut wrong = WrongAddresses::default();
        wrong.when(vault != deal.vault, 2006);
        wrong.when(mint != deal.mint, 2001);
        wrong.when(program != TOKEN, 3008);
        wrong
    }

    /// The world with a deal as it is now.
    fn wrote(&self, negotiation: Address, deal: Deal, outcome: &str) -> Next {
        let mut world = self.world.clone();
        world.ledger.change(&negotiation).data = deal.bytes();
        world.deals.insert(negotiation, deal);
        Next {
            world,
            outcomes: vec![outcome.into()],
        }
    }

    /// The end of a deal: the seller gets the price less the fee, the buyer what is left of the effective escrow; what cannot
    /// be delivered is kept.
    fn divide(
        &self,
        negotiation: Address,
        mut deal: Deal,
        buyer: (Address, bool),
        seller: (Address, bool),
    ) -> Next {
        let shares = [deal.effective - deal.paid, deal.paid - deal.fee()];
        let vault = deal.vault;
        let pays = self.can_pay(&vault, shares[BUYER] + shares[SELLER]);
        let accounts = [buyer, seller];
        let delivered = [BUYER, SELLER].map(|side| accounts[side].1 && pays);
        let ended = if deal.status == SETTLED {
            "price"
        } else {
            "refund"
        };
        let mut outcomes = vec![];
        for (side, party) in [(BUYER, "buyer"), (SELLER, "seller")] {
            if shares[side] > 0 && !delivered[side] {
                deal.claimable[side] = shares[side];
                outcomes.push(format!("{ended}: kept for the {party}"));
            } else if shares[side] > 0 {
                outcomes.push(format!("{ended}: delivered to the {party}"));
            }
        }
        let mut next = self.wrote(negotiation, deal, "over");
        for side in [SELLER, BUYER] {
            if delivered[side] && shares[side] > 0 {
                next.world
                    .ledger
                    .transfer(&vault, &accounts[side].0, shares[side]);
            }
        }
        next.outcomes = outcomes;
        next
    }
}

/// Creates an account, whatever lamports have been sent ahead to its address.
fn make(
    ledger: &mut Ledger,
    payer: &Address,
    address: &Address,
    owner: Address,
    data: Vec<u8>,
) -> Result<(), u32> {
    let missing = rent(data.len()).saturating_sub(ledger.get(address).lamports);
    refuse(ledger.get(payer).lamports < missing, TOO_LITTLE)?;
    ledger.move_lamports(payer, address, missing);
    let account = ledger.change(address);
    account.owner = owner;
    account.data = data;
    Ok(())
}

/// Where a deal stands when it ends without an agreement.
fn stage(deal: &Deal) -> &'static str {
    match (deal.status, deal.offer_by) {
        (CREATED, _) => "while Created",
        (PROPOSED, None) => "before the first offer",
        (PROPOSED, _) => "while Proposed",
        _ => "while Countered",
    }
}
