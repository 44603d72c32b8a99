//! One sequence: random people with random terms do random, mostly sensible things, and everything that comes of it is
//! compared with the model and with the laws.

use super::chance::Chance;
use super::deal::{Deal, BUYER, CREATED, NEGOTIATION_SIZE, SELLER};
use super::ledger::{
    associated, mint, rent, token_account, wallet, Ledger, FROZEN, INITIALIZED, LOADER, SYSTEM,
    TOKEN, TOKEN_ACCOUNT_SIZE, WRAPPED_SOL,
};
use super::model::{negotiation_address, predict, vault_address, Fixed, Kind, World, KINDS};
use super::tally::Tally;
use crate::ID;
use mollusk_svm::program::loader_keys::{LOADER_V2, LOADER_V3, NATIVE_LOADER};
use mollusk_svm::Mollusk;
use solana_account::Account;
use solana_address::Address;
use solana_instruction::error::InstructionError;
use solana_instruction::{AccountMeta, Instruction};
use std::collections::BTreeMap;

/// Where the same file has been deployed a second time, by somebody else.
pub const IMPOSTOR: Address = Address::new_from_array([77; 32]);

/// What a story is told with.
pub struct Desk<'a> {
    pub machine: &'a mut Mollusk,
    pub fixed: &'a Fixed,
    pub tally: &'a mut Tally,
    /// Whether each step is printed.
    pub aloud: bool,
}

/// A negotiation that there may be: its parties, its session, its addresses.
#[derive(Clone)]
struct Slot {
    parties: [Address; 2],
    session_id: u64,
    negotiation: Address,
    vault: Address,
    /// What has left the vault for the parties, and what came into it that is not escrow.
    paid_out: u64,
    donated: u64,
    was_closed: bool,
    /// The hash of the terms that the seller saw first.
    first_terms: Option<[u8; 32]>,
}

impl Slot {
    fn new(parties: [Address; 2], session_id: u64) -> Self {
        let negotiation = negotiation_address(&parties, session_id).0;
        let vault = vault_address(&negotiation).0;
        Self {
            parties,
            session_id,
            negotiation,
            vault,
            paid_out: 0,
            donated: 0,
            was_closed: false,
            first_terms: None,
        }
    }
}

struct Cast {
    buyer: Address,
    stranger: Address,
    deployer: Address,
    mint: Address,
    /// For each party its associated token account and another one of the same mint.
    tokens: BTreeMap<Address, [Address; 2]>,
    strangers_tokens: Address,
    treasury_tokens: Address,
    /// A mint that is none yet, and the buyer's token account of it.
    blank_mint: Address,
    blank_tokens: Address,
    /// Accounts that look like others and are not.
    oddities: [Address; 5],
}

struct Story<'a> {
    chance: Chance,
    world: World,
    cast: Cast,
    slots: Vec<Slot>,
    desk: Desk<'a>,
    supply: u128,
    lamports: u128,
    /// The most that an escrow can be.
    funds: u64,
    reached_an_end: bool,
}

/// Tells the story of a seed.
///
/// # Errors
/// What was not as it should have been.
pub fn tell(seed: u64, desk: Desk) -> Result<(), String> {
    let mut story = Story::begin(seed, desk);
    story.go_on()?;
    story.desk.tally.sequences += 1;
    story.desk.tally.terminal += u64::from(story.reached_an_end);
    Ok(())
}

fn address(chance: &mut Chance) -> Address {
    Address::new_from_array(chance.bytes())
}

impl<'a> Story<'a> {
    fn begin(seed: u64, desk: Desk<'a>) -> Self {
        let mut chance = Chance::from_seed(seed);
        let [buyer, seller, stranger, deployer] = [(); 4].map(|()| address(&mut chance));
        let is_wrapped = chance.percent(20);
        let token_mint = if is_wrapped {
            WRAPPED_SOL
        } else {
            address(&mut chance)
        };
        let treasury = match chance.between(0, 19) {
            0 => buyer,
            1 => seller,
            _ => address(&mut chance),
        };
        let other_mint = address(&mut chance);
        let funds = match chance.between(0, 19) {
            0 if !is_wrapped => u64::MAX - 10_000_000,
            1..=5 => 1_000_000_000_000_000,
            _ => 20_000_000,
        };

        let mut ledger = Ledger::default();
        for person in [buyer, seller, stranger, deployer, treasury] {
            ledger.set(person, wallet(1_000_000_000_000));
        }
        ledger.set(token_mint, mint(true));
        ledger.set(other_mint, mint(true));
        let mut tokens = BTreeMap::new();
        for (party, amounts) in [(buyer, [funds, 0]), (seller, [0, 1_000_000])] {
            let accounts = [associated(&party, &token_mint), address(&mut chance)];
            for (account, amount) in accounts.into_iter().zip(amounts) {
                ledger.set(account, token_account(&token_mint, &party, amount));
            }
            ledger.set(
                address(&mut chance),
                token_account(&other_mint, &party, 1_000_000),
            );
            tokens.insert(party, accounts);
        }
        let [strangers_tokens, treasury_tokens, blank_mint, blank_tokens] =
            [(); 4].map(|()| address(&mut chance));
        ledger.set(strangers_tokens, token_account(&token_mint, &stranger, 500));
        ledger.set(treasury_tokens, token_account(&token_mint, &treasury, 0));
        ledger.set(blank_mint, mint(false));
        ledger.set(blank_tokens, token_account(&blank_mint, &buyer, 1_000_000));

        for (program, owner) in [(SYSTEM, NATIVE_LOADER), (TOKEN, LOADER_V2), (ID, LOADER_V3)] {
            ledger.set(
                program,
                Account {
                    lamports: 1,
                    owner,
                    executable: true,
                    ..Account::default()
                },
            );
        }
        let mut loaders = vec![3, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1];
        loaders.extend(deployer.as_ref());
        let loaders = Account {
            lamports: rent(loaders.len()),
            data: loaders,
            owner: LOADER,
            ..Account::default()
        };
        ledger.set(desk.fixed.program_data, loaders);
        let oddities = oddities(&mut chance, &mut ledger, &desk.fixed.config);

        let now = match chance.between(0, 49) {
            0 | 1 => i64::MAX - chance.between_i64(100, 8_000),
            2 => -chance.between_i64(1, 1_000_000),
            _ => chance.between_i64(1_700_000_000, 1_900_000_000),
        };
        let session_id = chance.word();
        let mut slots = vec![Slot::new([buyer, seller], session_id)];
        if chance.percent(25) {
            slots.push(match chance.percent(50) {
                true => Slot::new([buyer, seller], session_id.wrapping_add(1)),
                false => Slot::new([seller, buyer], session_id),
            });
        }
        for slot in &slots {
            for account in [slot.negotiation, slot.vault] {
                if chance.percent(15) {
                    ledger.set(
                        account,
                        wallet(chance.between(1, 2 * rent(NEGOTIATION_SIZE))),
                    );
                }
            }
        }

        let supply = ledger.supply(&token_mint);
        let lamports = ledger.lamports();
        let world = World {
            now,
            ledger,
            deals: BTreeMap::new(),
            config: None,
            deployer,
        };
        let cast = Cast {
            buyer,
            stranger,
            deployer,
            mint: token_mint,
            tokens,
            strangers_tokens,
            treasury_tokens,
            blank_mint,
            blank_tokens,
            oddities,
        };
        Self {
            chance,
            world,
            cast,
            slots,
            desk,
            supply,
            lamports,
            funds,
            reached_an_end: false,
        }
        .with_treasury(treasury)
    }

    /// The treasury is decided on before the configuration exists.
    fn with_treasury(mut self, treasury: Address) -> Self {
        self.world.config = None;
        self.cast
            .tokens
            .entry(treasury)
            .or_insert([self.cast.treasury_tokens; 2]);
        self
    }

    fn treasury(&self) -> Address {
        self.world
            .ledger
            .held(&self.cast.treasury_tokens)
            .map_or(self.cast.stranger, |held| held.owner)
    }

    fn go_on(&mut self) -> Result<(), String> {
        let first = self.initialize();
        let first = self.perhaps_spoilt(first, 8);
        self.call(first)?;
        while self.world.config.is_none() {
            let again = self.initialize();
            self.call(again)?;
        }
        let steps = self.chance.between(6, 30);
        for _ in 0..steps {
            self.step()?;
            self.check_laws()?;
        }
        // Most stories are told to the end.
        for at in 0..self.slots.len() {
            if self.chance.percent(85) {
                self.finish(at)?;
            }
        }
        Ok(())
    }

    fn step(&mut self) -> Result<(), String> {
        let at = self.chance.index(self.slots.len());
        let choices = self.likely_steps(at);
        match self.chance.weighted(choices) {
            Step::Call(kind) => {
                let call = self.sensible(kind, at);
                let call = self.perhaps_spoilt(call, 14);
                self.call(call)
            }
            Step::AnyCall => {
                let kind = self.chance.pick(&KINDS);
                let call = self.sensible(kind, at);
                let call = self.perhaps_spoilt(call, 30);
                self.call(call)
            }
            Step::Trick => {
                self.trick(at);
                Ok(())
            }
            Step::Wait => {
                self.wait(at);
                Ok(())
            }
        }
    }

    /// What may be done next, and how often it is.
    fn likely_steps(&self, at: usize) -> &'static [(u64, Step)] {
        let Some(deal) = self.deal(at) else {
            return &[
                (80, Step::Call(Kind::Create)),
                (6, Step::AnyCall),
                (10, Step::Trick),
                (4, Step::Wait),
            ];
        };
        if !deal.is_open() {
            return match deal.claimable {
                [0, 0] => &[
                    (4, Step::Call(Kind::Claim)),
                    (40, Step::Call(Kind::Close)),
                    (30, Step::AnyCall),
                    (20, Step::Trick),
                    (6, Step::Wait),
                ],
                _ => &[
                    (40, Step::Call(Kind::Claim)),
                    (10, Step::Call(Kind::Close)),
                    (10, Step::AnyCall),
                    (30, Step::Trick),
                    (10, Step::Wait),
                ],
            };
        }
        if self.world.now >= deal.turn_deadline {
            return &[
                (35, Step::Call(Kind::Expire)),
                (15, Step::Call(Kind::Offer)),
                (10, Step::Call(Kind::Reject)),
                (20, Step::AnyCall),
                (10, Step::Trick),
                (10, Step::Wait),
            ];
        }
        match (deal.status, deal.offer_by) {
            (CREATED, _) => &[
                (62, Step::Call(Kind::AcceptInvitation)),
                (6, Step::Call(Kind::Reject)),
                (4, Step::Call(Kind::Expire)),
                (10, Step::AnyCall),
                (10, Step::Trick),
                (8, Step::Wait),
            ],
            (_, None) => &[
                (66, Step::Call(Kind::Offer)),
                (5, Step::Call(Kind::Reject)),
                (4, Step::Call(Kind::Expire)),
                (8, Step::AnyCall),
                (9, Step::Trick),
                (8, Step::Wait),
            ],
            _ => &[
                (54, Step::Call(Kind::Offer)),
                (14, Step::Call(Kind::AcceptOffer)),
                (4, Step::Call(Kind::Reject)),
                (4, Step::Call(Kind::Expire)),
                (7, Step::AnyCall),
                (11, Step::Trick),
                (6, Step::Wait),
            ],
        }
    }

    /// Ends and closes a negotiation as its parties would in the end.
    fn finish(&mut self, at: usize) -> Result<(), String> {
        let Some(deal) = self.deal(at).cloned() else {
            return Ok(());
        };
        if deal.is_open() {
            if self.world.now < deal.turn_deadline && self.chance.percent(60) {
                self.world.now = deal.turn_deadline;
            }
            let kind = match self.world.now < deal.turn_deadline {
                true if deal.offer_by.is_some() => {
                    self.chance.pick(&[Kind::AcceptOffer, Kind::Reject])
                }
                true => Kind::Reject,
                false => Kind::Expire,
            };
            let call = self.sensible(kind, at);
            self.call(call)?;
            self.check_laws()?;
        }
        for _ in 0..2 {
            self.trick(at);
            let call = self.sensible(Kind::Close, at);
            self.call(call)?;
            self.check_laws()?;
        }
        Ok(())
    }

    fn deal(&self, at: usize) -> Option<&Deal> {
        self.world.deals.get(&self.slots[at].negotiation)
    }

    // Time.

    /// Lets time pass: a little, or to the second around a deadline.
    fn wait(&mut self, at: usize) {
        let now = self.world.now;
        let mut until = vec![
            now.saturating_add(1),
            now.saturating_add(self.chance.between_i64(1, 50)),
        ];
        if let Some((turn, global)) = self
            .deal(at)
            .map(|deal| (deal.turn_deadline, deal.deadline))
        {
            let end = if self.chance.percent(70) {
                turn
            } else {
                global
            };
            until.extend([end - 1, end - 1, end, end.saturating_add(1)]);
        }
        until.retain(|time| *time >= now);
        self.world.now = self.chance.pick(&until);
        self.say(|story| format!("it is {} (+{})", story.world.now, story.world.now - now));
    }

    fn say(&self, what: impl FnOnce(&Self) -> String) {
        if self.desk.aloud {
            println!("{}", what(self));
        }
    }

    // What people do to the accounts that are theirs, and issuers to those of others.

    fn trick(&mut self, at: usize) {
        let slot = self.slots[at].clone();
        let party = self.chance.pick(&slot.parties);
        let mine = self.cast.tokens[&party][self.chance.index(2)];
        let is_wrapped = self.cast.mint == WRAPPED_SOL;
        let vault_exists = self.deal(at).is_some();
        let trick = self.chance.weighted(&[
            (14, Trick::Freeze),
            (20, Trick::ThawAll),
            (10, Trick::CloseAccount),
            (8, Trick::Reassign),
            (12, Trick::Reopen),
            (8, Trick::FreezeVault),
            (8, Trick::Donate),
            (5, Trick::GiveLamports),
            (5, Trick::Govern),
            (if is_wrapped { 8 } else { 0 }, Trick::ChangeReserve),
        ]);
        match trick {
            Trick::Freeze => {
                let whose = self
                    .chance
                    .weighted(&[(8, mine), (2, self.cast.treasury_tokens)]);
                self.set_state(&whose, FROZEN);
            }
            Trick::ThawAll => {
                for account in self.token_accounts() {
                    self.set_state(&account, INITIALIZED);
                }
            }
            Trick::CloseAccount => self.close_account(&mine, &party),
            Trick::Reassign => {
                let stranger = self.cast.stranger;
                if self.world.ledger.held(&mine).is_some() {
                    self.world.ledger.change(&mine).data[32..64].copy_from_slice(stranger.as_ref());
                }
            }
            Trick::Reopen => {
                for (owner, accounts) in self.cast.tokens.clone() {
                    for account in accounts {
                        self.reopen(&account, &owner);
                    }
                }
            }
            Trick::FreezeVault if vault_exists => self.set_state(&slot.vault, FROZEN),
            Trick::Donate if vault_exists => {
                let amount = self.chance.between(1, 20);
                if self.world.ledger.amount(&self.cast.strangers_tokens) >= amount {
                    self.world
                        .ledger
                        .transfer(&self.cast.strangers_tokens, &slot.vault, amount);
                    self.slots[at].donated += amount;
                }
            }
            Trick::GiveLamports => {
                let to = self.chance.pick(&[slot.vault, slot.negotiation]);
                let lamports = self.chance.between(1, 5_000_000);
                self.world
                    .ledger
                    .move_lamports(&self.cast.stranger, &to, lamports);
            }
            Trick::Govern => self.govern(),
            Trick::ChangeReserve if vault_exists => self.change_reserve(at),
            Trick::FreezeVault | Trick::Donate | Trick::ChangeReserve => {}
        }
        self.say(|_| format!("{trick:?}"));
    }

    fn token_accounts(&self) -> Vec<Address> {
        let mut accounts: Vec<_> = self.cast.tokens.values().flatten().copied().collect();
        accounts.extend(self.slots.iter().map(|slot| slot.vault));
        accounts
    }

    fn set_state(&mut self, account: &Address, state: u8) {
        if self.world.ledger.held(account).is_some() {
            self.world.ledger.change(account).data[108] = state;
        }
    }

    fn close_account(&mut self, account: &Address, owner: &Address) {
        let ledger = &mut self.world.ledger;
        let Some(held) = ledger.held(account) else {
            return;
        };
        // The buyer's funds would go too far away to begin another negotiation.
        if held.amount > 1_000 && self.chance.percent(90) {
            return;
        }
        ledger.transfer(account, &self.cast.strangers_tokens, held.amount);
        let lamports = ledger.get(account).lamports;
        ledger.move_lamports(account, owner, lamports);
        ledger.set(*account, Account::default());
    }

    fn reopen(&mut self, account: &Address, owner: &Address) {
        let ledger = &mut self.world.ledger;
        match ledger.held(account) {
            None => {
                let missing = rent(TOKEN_ACCOUNT_SIZE).saturating_sub(ledger.get(account).lamports);
                ledger.move_lamports(&self.cast.deployer, account, missing);
                ledger.set(*account, token_account(&self.cast.mint, owner, 0));
            }
            Some(_) => ledger.change(account).data[32..64].copy_from_slice(owner.as_ref()),
        }
    }

    /// What the instructions that change the configuration will be able to do.
    fn govern(&mut self) {
        let what = self.chance.between(0, 3);
        let fee_bps = self.chance.between(0, 500) as u16;
        let Some(config) = self.world.config.as_mut() else {
            return;
        };
        match what {
            0 => config.paused = !config.paused,
            1 => config.paused = false,
            2 => config.fee_bps = fee_bps,
            _ => {
                config.volume = u64::MAX - 1;
                config.fees = u64::MAX - 1;
            }
        }
        self.world.ledger.change(&self.desk.fixed.config).data = config.bytes();
    }

    /// Rent rises or falls, and somebody has the token program count a vault of wrapped SOL anew.
    fn change_reserve(&mut self, at: usize) {
        let vault = self.slots[at].vault;
        let lamports = self.world.ledger.get(&vault).lamports;
        let reserve = match self.chance.percent(50) {
            true => rent(TOKEN_ACCOUNT_SIZE) + self.chance.between(1, 2_000_000),
            false => rent(TOKEN_ACCOUNT_SIZE),
        };
        let Some(amount) = lamports.checked_sub(reserve) else {
            return;
        };
        let account = self.world.ledger.change(&vault);
        account.data[113..121].copy_from_slice(&reserve.to_le_bytes());
        account.data[64..72].copy_from_slice(&amount.to_le_bytes());
    }

    // Calls.

    /// A call that makes sense at this point, or nearly.
    fn sensible(&mut self, kind: Kind, at: usize) -> Instruction {
        let slot = self.slots[at].clone();
        let deal = self.deal(at).cloned();
        let [buyer, seller] = slot.parties;
        let nobody = Seen {
            round: 0,
            offer: 0,
            metadata: [0; 64],
            turn: BUYER,
            claimable: [0; 2],
        };
        let seen = deal.as_ref().map_or(nobody, Seen::of);
        let mint = self.cast.mint;
        let fixed_config = self.desk.fixed.config;
        let (keys, arguments): (Vec<Address>, Vec<u8>) = match kind {
            Kind::Initialize => return self.initialize(),
            Kind::Create => return self.create(at),
            Kind::AcceptInvitation => {
                let signer = self.mostly(seller, &[buyer, self.cast.stranger]);
                let hash = match (&deal, slot.first_terms) {
                    (Some(_), Some(first)) if self.chance.percent(8) => first,
                    (Some(deal), _) if self.chance.percent(95) => {
                        deal.terms_hash(&slot.negotiation)
                    }
                    _ => self.chance.bytes(),
                };
                let mut bond = [slot.vault, self.cast.tokens[&seller][0], mint, TOKEN];
                for account in &mut bond {
                    if self.chance.percent(80) {
                        *account = ID;
                    }
                }
                (
                    [[signer, slot.negotiation].as_slice(), &bond].concat(),
                    hash.to_vec(),
                )
            }
            Kind::Offer => {
                let turn = slot.parties[seen.turn];
                let signer = self.mostly(turn, &[slot.parties[1 - seen.turn], self.cast.stranger]);
                let mut arguments = vec![self.nearly(seen.round)];
                let amount = self.offer_amount(deal.as_ref());
                arguments.extend(amount.to_le_bytes());
                let extension = if self.chance.percent(98) {
                    0
                } else {
                    self.chance.between(1, 100) as u32
                };
                arguments.extend(extension.to_le_bytes());
                arguments.extend(self.metadata());
                (vec![signer, slot.negotiation], arguments)
            }
            Kind::AcceptOffer => {
                let turn = slot.parties[seen.turn];
                let signer = self.mostly(turn, &[slot.parties[1 - seen.turn], self.cast.stranger]);
                let to_buyer = self.recipient(&buyer);
                let to_seller = self.recipient(&seller);
                let mut arguments = vec![self.nearly(seen.round)];
                let amount = if self.chance.percent(97) {
                    seen.offer
                } else {
                    seen.offer.wrapping_sub(1)
                };
                arguments.extend(amount.to_le_bytes());
                arguments.extend(if self.chance.percent(97) {
                    seen.metadata
                } else {
                    self.metadata()
                });
                (
                    vec![
                        signer,
                        slot.negotiation,
                        slot.vault,
                        to_buyer,
                        to_seller,
                        mint,
                        TOKEN,
                    ],
                    arguments,
                )
            }
            Kind::Reject => {
                let signer =
                    self.chance
                        .weighted(&[(46, buyer), (46, seller), (8, self.cast.stranger)]);
                let to_buyer = self.recipient(&buyer);
                let to_seller = if self.chance.percent(75) {
                    ID
                } else {
                    self.recipient(&seller)
                };
                let arguments = vec![self.nearly(seen.round)];
                (
                    vec![
                        signer,
                        slot.negotiation,
                        slot.vault,
                        to_buyer,
                        to_seller,
                        mint,
                        TOKEN,
                    ],
                    arguments,
                )
            }
            Kind::Expire => {
                let to_buyer = self.recipient(&buyer);
                let to_seller = if self.chance.percent(75) {
                    ID
                } else {
                    self.recipient(&seller)
                };
                (
                    vec![
                        slot.negotiation,
                        slot.vault,
                        to_buyer,
                        to_seller,
                        mint,
                        TOKEN,
                    ],
                    vec![],
                )
            }
            Kind::Claim => {
                let likely = match seen.claimable {
                    [0, _] => SELLER,
                    [_, 0] => BUYER,
                    _ => self.chance.index(2),
                };
                let signer = self.mostly(
                    slot.parties[likely],
                    &[slot.parties[1 - likely], self.cast.stranger],
                );
                let amount = match self.chance.between(0, 19) {
                    0 => 0,
                    1 => seen.claimable[likely].wrapping_add(1),
                    _ => seen.claimable[likely],
                };
                let mut choices = vec![self.recipient(&signer), self.cast.strangers_tokens];
                choices.extend(self.slots.iter().map(|slot| slot.vault));
                let to = match self.chance.percent(80) {
                    true => choices[0],
                    false => self.chance.pick(&choices),
                };
                (
                    vec![signer, slot.negotiation, slot.vault, to, mint, TOKEN],
                    amount.to_le_bytes().to_vec(),
                )
            }
            Kind::Close => {
                let closer = self.chance.pick(&[buyer, seller, self.cast.stranger]);
                let mut accounts = [
                    self.cast.treasury_tokens,
                    self.recipient(&buyer),
                    self.recipient(&seller),
                ];
                let needed = [true, seen.claimable[BUYER] > 0, seen.claimable[SELLER] > 0];
                for (account, needed) in accounts.iter_mut().zip(needed) {
                    if self.chance.percent(if needed { 4 } else { 60 }) {
                        *account = ID;
                    }
                }
                let head = [closer, slot.negotiation, slot.vault, fixed_config, buyer];
                (
                    [head.as_slice(), &accounts, &[mint, TOKEN]].concat(),
                    vec![],
                )
            }
        };
        instruction(kind, &keys, &arguments)
    }

    fn initialize(&mut self) -> Instruction {
        let mut arguments = vec![];
        let treasury = if self.chance.percent(97) {
            self.treasury()
        } else {
            Address::default()
        };
        arguments.extend(treasury.as_ref());
        let decay_bps = self.around(0, 1_000) as u16;
        let window = self.around(60, 3_600) as i64;
        let fee_bps = self.around(0, 500) as u16;
        let max_rounds = self.around(1, 20) as u8;
        arguments.extend(decay_bps.to_le_bytes());
        arguments.extend(window.to_le_bytes());
        arguments.extend(fee_bps.to_le_bytes());
        arguments.push(max_rounds);
        let authority = self.mostly(self.cast.deployer, &[self.cast.stranger]);
        let keys = [
            authority,
            self.desk.fixed.config,
            self.desk.fixed.program_data,
            SYSTEM,
        ];
        instruction(Kind::Initialize, &keys, &arguments)
    }

    fn create(&mut self, at: usize) -> Instruction {
        let slot = self.slots[at].clone();
        let mut parties = slot.parties;
        let mut addresses = [slot.negotiation, slot.vault];
        let richest = self.cast.tokens[&parties[BUYER]];
        let richest = richest
            .into_iter()
            .max_by_key(|account| self.world.ledger.amount(account));
        let mut accounts = (richest.unwrap(), self.cast.mint);
        match self.chance.between(0, 59) {
            0 => {
                parties[SELLER] = parties[BUYER];
                addresses[0] = negotiation_address(&parties, slot.session_id).0;
                addresses[1] = vault_address(&addresses[0]).0;
            }
            1 if parties[BUYER] == self.cast.buyer => {
                accounts = (self.cast.blank_tokens, self.cast.blank_mint)
            }
            _ => {}
        }
        let available = self.world.ledger.amount(&accounts.0).max(100_000);
        let escrow = match self.chance.between(0, 19) {
            0 => 100_000,
            1 => 99_999,
            2 => available,
            3 => available.saturating_add(1),
            4 => 5_000_000,
            _ => self
                .chance
                .between(100_000, available.min(self.funds / 2 + 1).max(100_000)),
        };
        let mut arguments = slot.session_id.to_le_bytes().to_vec();
        arguments.extend(escrow.to_le_bytes());
        arguments.extend(self.chance.bytes());
        let long = self.chance.percent(70);
        arguments.push(if long {
            self.chance.between(6, 20) as u8
        } else {
            self.around(1, 4) as u8
        });
        let decay_bps = if self.chance.percent(15) {
            0
        } else {
            self.around(0, 1_000) as u16
        };
        arguments.extend(decay_bps.to_le_bytes());
        arguments.extend((self.around(60, 3_600) as i64).to_le_bytes());
        let ahead = match self.chance.percent(40) {
            true => self.chance.between_i64(60, 2_000),
            false => self.around(60, 86_400) as i64,
        };
        let deadline = match self.chance.between(0, 99) {
            0 => i64::MAX,
            1 => i64::MIN,
            _ => self.world.now.saturating_add(ahead),
        };
        arguments.extend(deadline.to_le_bytes());
        arguments.extend((self.around(100, 9_000) as u16).to_le_bytes());
        let mut later_capabilities = [0; 66];
        if self.chance.percent(2) {
            later_capabilities[self.chance.index(66)] = self.chance.between(1, 255) as u8;
        }
        arguments.extend(later_capabilities);
        arguments.extend(self.metadata());
        let [buyer, seller] = parties;
        let [negotiation, vault] = addresses;
        let (tokens, mint) = accounts;
        let config = self.desk.fixed.config;
        let keys = [
            buyer,
            seller,
            negotiation,
            vault,
            tokens,
            mint,
            config,
            TOKEN,
            SYSTEM,
        ];
        instruction(Kind::Create, &keys, &arguments)
    }

    fn mostly(&mut self, who: Address, others: &[Address]) -> Address {
        match self.chance.percent(90) {
            true => who,
            false => self.chance.pick(others),
        }
    }

    fn nearly(&mut self, round: u8) -> u8 {
        match self.chance.percent(96) {
            true => round,
            false => self.chance.pick(&[round.wrapping_sub(1), round + 1]),
        }
    }

    /// A number in a range, often at its ends, seldom one beyond them.
    fn around(&mut self, low: u64, high: u64) -> u64 {
        match self.chance.between(0, 199) {
            0 => low.wrapping_sub(1),
            1 => high + 1,
            2..=13 => low,
            14..=25 => high,
            _ => self.chance.between(low, high),
        }
    }

    fn offer_amount(&mut self, deal: Option<&Deal>) -> u64 {
        let Some(deal) = deal else {
            return self.chance.between(0, 5_000_000);
        };
        let most = deal.next_effective();
        let least = super::deal::floored(most, deal.min_offer_bps);
        match self.chance.between(0, 29) {
            0 => least - 1,
            1 => most + 1,
            2 => 0,
            3 => u64::MAX,
            4..=5 => least,
            6..=8 => most,
            _ => self.chance.between(least, most),
        }
    }

    fn metadata(&mut self) -> [u8; 64] {
        let mut metadata = [0; 64];
        match self.chance.between(0, 39) {
            0 => metadata[self.chance.index(64)] = self.chance.between(2, 255) as u8,
            1..=9 => {
                let (first, second) = (self.chance.bytes(), self.chance.bytes());
                metadata[0] = 1;
                metadata[1..33].copy_from_slice(&first);
                metadata[33..50].copy_from_slice(&second[..17]);
            }
            _ => {}
        }
        metadata
    }

    /// A token account that a party is to be paid to: mostly its own.
    fn recipient(&mut self, party: &Address) -> Address {
        let own = self
            .cast
            .tokens
            .get(party)
            .copied()
            .unwrap_or([self.cast.strangers_tokens; 2]);
        self.chance
            .weighted(&[(64, own[0]), (32, own[1]), (4, self.cast.strangers_tokens)])
    }

    /// The call, or in so many of a hundred cases one with a single thing wrong.
    fn perhaps_spoilt(&mut self, mut call: Instruction, percent: u64) -> Instruction {
        if !self.chance.percent(percent) {
            return call;
        }
        let places = call.accounts.len();
        let place = self.chance.index(places);
        match self.chance.between(0, 11) {
            0 => call.accounts[place].is_signer = false,
            1 | 2 => call.accounts[place].is_writable = false,
            3..=5 => {
                let index = self.chance.index(self.world.ledger.0.len());
                call.accounts[place].pubkey = *self.world.ledger.0.keys().nth(index).unwrap();
            }
            6 => call.accounts[place.min(1)].pubkey = self.chance.pick(&self.cast.oddities),
            7 => call.accounts[place].pubkey = call.accounts[self.chance.index(places)].pubkey,
            8 => call.accounts.truncate(place),
            9 => self.spoil_data(&mut call.data),
            10 => {
                call.program_id = if self.chance.percent(30) {
                    IMPOSTOR
                } else {
                    ID
                }
            }
            _ => call
                .accounts
                .push(AccountMeta::new_readonly(self.cast.stranger, false)),
        }
        call
    }

    fn spoil_data(&mut self, data: &mut Vec<u8>) {
        match self.chance.between(0, 3) {
            0 => data.truncate(self.chance.index(8)),
            1 => data[self.chance.index(8)] ^= 1 << self.chance.index(8),
            2 => data.truncate(data.len() - 1),
            _ => data.push(0),
        }
    }

    // Running.

    /// Runs a call and compares all that it does with the model.
    fn call(&mut self, call: Instruction) -> Result<(), String> {
        let kind = KINDS
            .into_iter()
            .find(|kind| call.data.starts_with(&kind.discriminator()));
        let expected = predict(&self.world, self.desk.fixed, &call);
        let found = run(self.desk.machine, &self.world, &call);
        self.desk.tally.instructions += 1;
        self.say(|_| {
            let name = kind.map_or("something else", Kind::name);
            format!("{name}: {:?}", expected.as_ref().map(|next| &next.outcomes))
        });
        let next = match (expected, found) {
            (Ok(next), Ok(found)) => {
                for (address, account) in found {
                    let expected = next.world.ledger.get(&address);
                    if account != expected {
                        return Err(format!(
                            "{}\nleaves {address} as\n{account:?}\nand not as\n{expected:?}",
                            show(&call)
                        ));
                    }
                }
                next
            }
            (Err(expected), Err(Answer::Code(found))) if expected == found => {
                self.desk.tally.error(kind, found);
                return Ok(());
            }
            (expected, found) => {
                let expected = expected.map(|next| next.outcomes);
                let found = found.map(|_| "success");
                return Err(format!(
                    "{}\nanswers {found:?}, and not {expected:?}",
                    show(&call)
                ));
            }
        };
        let before = std::mem::replace(&mut self.world, next.world);
        for outcome in next.outcomes {
            self.desk.tally.outcome(outcome);
        }
        self.follow(&before)
    }

    /// Keeps the books of each negotiation, from what is in its vault and not from what the model says of payments.
    fn follow(&mut self, before: &World) -> Result<(), String> {
        for at in 0..self.slots.len() {
            let slot = &mut self.slots[at];
            let was = before.deals.get(&slot.negotiation);
            let is = self.world.deals.get(&slot.negotiation);
            let [held_before, holds] =
                [before, &self.world].map(|world| u128::from(world.ledger.amount(&slot.vault)));
            match (was, is) {
                (None, Some(deal)) => {
                    slot.paid_out = 0;
                    slot.donated = u64::try_from(holds - u128::from(deal.escrow)).unwrap();
                    if slot.was_closed {
                        self.desk
                            .tally
                            .outcome("created again after closing".into());
                    }
                    if before.ledger.get(&slot.negotiation).lamports
                        + before.ledger.get(&slot.vault).lamports
                        > 0
                    {
                        self.desk
                            .tally
                            .outcome("created where lamports had been sent ahead".into());
                    }
                    slot.first_terms
                        .get_or_insert(deal.terms_hash(&slot.negotiation));
                }
                (Some(_), Some(deal)) if holds <= held_before => {
                    slot.paid_out += u64::try_from(held_before - holds).unwrap();
                    let left = deal.owed();
                    if slot.paid_out.checked_add(left) != Some(deal.escrow) {
                        return Err(format!(
                            "of an escrow of {} {} have been paid and {left} are left",
                            deal.escrow, slot.paid_out
                        ));
                    }
                    if was.is_some_and(Deal::is_open) && !deal.is_open() {
                        self.reached_an_end = true;
                        if deal.paid > 0 && deal.round == deal.max_rounds {
                            self.desk
                                .tally
                                .outcome("settled after the last round".into());
                        }
                    }
                }
                (Some(_), Some(deal)) => {
                    // Somebody had a payout of another negotiation sent here.
                    slot.donated += u64::try_from(holds - held_before).unwrap();
                    assert!(deal.escrow > 0);
                }
                (Some(deal), None) => {
                    slot.was_closed = true;
                    let everything = held_before + u128::from(slot.paid_out);
                    let expected = u128::from(deal.escrow) + u128::from(slot.donated);
                    if self.cast.mint != WRAPPED_SOL && everything != expected {
                        return Err(format!(
                            "{everything} came out of a vault that got {expected}"
                        ));
                    }
                }
                (None, None) => {}
            }
        }
        Ok(())
    }

    // The laws.

    fn check_laws(&mut self) -> Result<(), String> {
        // Wrapped SOL becomes lamports when an account is closed.
        let supply = self.world.ledger.supply(&self.cast.mint);
        if self.cast.mint != WRAPPED_SOL && supply != self.supply {
            return Err(format!("there are {supply} tokens and not {}", self.supply));
        }
        let lamports = self.world.ledger.lamports();
        if lamports != self.lamports {
            return Err(format!(
                "there are {lamports} lamports and not {}",
                self.lamports
            ));
        }
        for at in 0..self.slots.len() {
            let slot = self.slots[at].clone();
            if let Some(deal) = self.deal(at).cloned() {
                self.check_vault(&slot, &deal)?;
                if deal.is_open() {
                    self.check_act_or_expire(&slot, &deal)?;
                } else {
                    self.check_final(&slot, &deal)?;
                }
            }
        }
        Ok(())
    }

    /// The vault never holds less than what is owed. Of wrapped SOL the lamports count, of which the token program may take
    /// some for tokens or for rent.
    fn check_vault(&self, slot: &Slot, deal: &Deal) -> Result<(), String> {
        let holds = match self.cast.mint == WRAPPED_SOL {
            true => self.world.ledger.get(&slot.vault).lamports - rent(TOKEN_ACCOUNT_SIZE),
            false => self.world.ledger.amount(&slot.vault),
        };
        if holds < deal.owed() {
            return Err(format!(
                "the vault holds {holds}, and {} are owed",
                deal.owed()
            ));
        }
        Ok(())
    }

    /// At any second exactly one is possible: that a party acts, or that anyone expires.
    fn check_act_or_expire(&mut self, slot: &Slot, deal: &Deal) -> Result<(), String> {
        let acts = self.would_succeed(&self.reject(slot, deal, deal.parties[BUYER]));
        let expires = self.would_succeed(&self.expire(slot));
        if acts == expires {
            return Err(format!(
                "at {} acting is {acts} and expiring is {expires}:\n{deal:#?}",
                self.world.now
            ));
        }
        Ok(())
    }

    /// Nothing but claiming and closing is left.
    fn check_final(&mut self, slot: &Slot, deal: &Deal) -> Result<(), String> {
        let mut round = vec![deal.round];
        round.extend(deal.offer.to_le_bytes());
        let [buyer, seller] = deal.parties;
        let [to_buyer, to_seller] = deal.parties.map(|party| self.cast.tokens[&party][0]);
        let mint = self.cast.mint;
        let hash = deal.terms_hash(&slot.negotiation);
        let accept = [round.as_slice(), &deal.metadata].concat();
        let offer = [round.as_slice(), &[0; 4 + 64]].concat();
        let mut calls = vec![
            instruction(
                Kind::AcceptInvitation,
                &[seller, slot.negotiation, ID, ID, ID, ID],
                &hash,
            ),
            self.expire(slot),
        ];
        for party in [buyer, seller] {
            let keys = [
                party,
                slot.negotiation,
                slot.vault,
                to_buyer,
                to_seller,
                mint,
                TOKEN,
            ];
            calls.push(instruction(Kind::AcceptOffer, &keys, &accept));
            calls.push(instruction(Kind::Offer, &[party, slot.negotiation], &offer));
            calls.push(self.reject(slot, deal, party));
        }
        // One of them at a time: there are many steps.
        let call = &calls[self.chance.index(calls.len())];
        if self.would_succeed(call) {
            return Err(format!(
                "{}\nchanges a negotiation that is over:\n{deal:#?}",
                show(call)
            ));
        }
        Ok(())
    }

    fn would_succeed(&mut self, call: &Instruction) -> bool {
        self.desk.tally.probes += 1;
        run(self.desk.machine, &self.world, call).is_ok()
    }

    fn reject(&self, slot: &Slot, deal: &Deal, party: Address) -> Instruction {
        let to_buyer = self.cast.tokens[&slot.parties[BUYER]][0];
        let keys = [
            party,
            slot.negotiation,
            slot.vault,
            to_buyer,
            ID,
            self.cast.mint,
            TOKEN,
        ];
        instruction(Kind::Reject, &keys, &[deal.round])
    }

    fn expire(&self, slot: &Slot) -> Instruction {
        let to_buyer = self.cast.tokens[&slot.parties[BUYER]][0];
        let keys = [
            slot.negotiation,
            slot.vault,
            to_buyer,
            ID,
            self.cast.mint,
            TOKEN,
        ];
        instruction(Kind::Expire, &keys, &[])
    }
}

#[derive(Clone, Copy)]
enum Step {
    Call(Kind),
    AnyCall,
    Trick,
    Wait,
}

#[derive(Clone, Copy, Debug)]
enum Trick {
    Freeze,
    ThawAll,
    CloseAccount,
    Reassign,
    Reopen,
    FreezeVault,
    Donate,
    GiveLamports,
    Govern,
    ChangeReserve,
}

/// What an agent has read of a negotiation before it acts.
struct Seen {
    round: u8,
    offer: u64,
    metadata: [u8; 64],
    turn: usize,
    claimable: [u64; 2],
}

impl Seen {
    fn of(deal: &Deal) -> Self {
        Self {
            round: deal.round,
            offer: deal.offer,
            metadata: deal.metadata,
            turn: deal.turn(),
            claimable: deal.claimable,
        }
    }
}

/// What a call that failed answered.
#[derive(Debug)]
enum Answer {
    Code(u32),
    #[allow(dead_code)] // A report shows it.
    Other(InstructionError),
    ChangedSomething,
}

/// Runs a call on a copy of the accounts it names.
fn run(
    machine: &mut Mollusk,
    world: &World,
    call: &Instruction,
) -> Result<Vec<(Address, Account)>, Answer> {
    let mut given: Vec<(Address, Account)> = Vec::with_capacity(call.accounts.len());
    for meta in &call.accounts {
        if given.iter().all(|(address, _)| *address != meta.pubkey) {
            given.push((meta.pubkey, world.ledger.get(&meta.pubkey)));
        }
    }
    machine.sysvars.clock.unix_timestamp = world.now;
    let result = machine.process_instruction(call, &given);
    match result.raw_result {
        Ok(()) => Ok(result.resulting_accounts),
        Err(_) if result.resulting_accounts != given => Err(Answer::ChangedSomething),
        Err(InstructionError::Custom(code)) => Err(Answer::Code(code)),
        Err(other) => Err(Answer::Other(other)),
    }
}

/// A call with the flags that its places ask for. What is left out is neither signed for nor written to.
fn instruction(kind: Kind, keys: &[Address], arguments: &[u8]) -> Instruction {
    let places = kind.places();
    assert_eq!(keys.len(), places.len());
    let accounts = places
        .iter()
        .zip(keys)
        .map(|((flags, _), key)| AccountMeta {
            pubkey: *key,
            is_signer: flags.contains('s'),
            is_writable: flags.contains('w') && *key != ID,
        });
    Instruction {
        program_id: ID,
        accounts: accounts.collect(),
        data: [kind.discriminator().as_slice(), arguments].concat(),
    }
}

/// A call as a report shows it.
fn show(call: &Instruction) -> String {
    let kind = KINDS
        .into_iter()
        .find(|kind| call.data.starts_with(&kind.discriminator()));
    let accounts = call.accounts.iter().map(|meta| {
        let signer = if meta.is_signer { " signer" } else { "" };
        let writable = if meta.is_writable { " writable" } else { "" };
        format!("\n  {}{signer}{writable}", meta.pubkey)
    });
    let accounts: String = accounts.collect();
    let name = kind.map_or("something else", Kind::name);
    format!("{name} of {}{accounts}\n  {:?}", call.program_id, call.data)
}

/// Accounts that look like others and are not, and the configuration, which is none of the accounts that it is put in place of.
fn oddities(chance: &mut Chance, ledger: &mut Ledger, config: &Address) -> [Address; 5] {
    let foreign = address(chance);
    let mut negotiation = vec![0; NEGOTIATION_SIZE];
    negotiation[..8].copy_from_slice(&super::deal::NEGOTIATION);
    let [hollow, short, copied, tokens] = [
        (ID, vec![0; 4]),
        (ID, negotiation[..NEGOTIATION_SIZE - 1].to_vec()),
        (foreign, negotiation),
        (foreign, token_account(&foreign, &foreign, 1).data),
    ]
    .map(|(owner, data)| {
        let place = address(chance);
        let account = Account {
            lamports: rent(data.len()),
            data,
            owner,
            ..Account::default()
        };
        ledger.set(place, account);
        place
    });
    [hollow, short, copied, tokens, *config]
}
