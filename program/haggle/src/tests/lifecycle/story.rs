//! One sequence: random people with random terms do random, mostly sensible things, and everything that comes of it is
//! compared with the model and with the laws.

mod bargaining;
mod beginning;
mod calls;
mod creating;
mod ending;
mod laws;
mod mistakes;
mod payouts;
mod running;
mod tricks;

use super::chance::Chance;
use super::deal::{Deal, CREATED};
use super::model::{negotiation_address, vault_address, Fixed, Kind, World, KINDS};
use super::tally::Tally;
use mollusk_svm::Mollusk;
use solana_address::Address;
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

#[derive(Clone, Copy)]
enum Step {
    Call(Kind),
    AnyCall,
    Trick,
    Wait,
}

impl Story<'_> {
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
}
