//! The search for every instruction's worst combination. It visits every reachable combination of the
//! conditions that change the cost: the state, the signers, the optional accounts, metadata, the bond, the
//! conditions of the recipients, and the amounts. [`super::milestones`] contains the search over milestones.
//!
//! Every address uses the first bump, no created address already holds lamports, and nothing follows the
//! row's last account. The cost of further bumps is measured separately.

use super::super::fixture::{
    nonce_of, zopa_commitment, Call, Deal, Fixture, BUYER_PRICE, ESCROW, NOW, OFFER, SELLER_PRICE,
    STRANGER, TOO_MUCH,
};
use super::cases::Points;
use super::combinations::{with_huge_amounts, with_recipients, Condition, Milestones};
use super::meter::{measure, units, Measured};
use super::milestones;
use super::start::{after, deal_with_bumps, metadata, Start};
use crate::constants::MAX_ROUNDS;
use crate::instructions::create_negotiation::NegotiationParams;
use crate::schema::declare::Flag;
use crate::state::Negotiation;
use pinocchio::Address;

/// An instruction's worst combination.
pub struct Worst {
    /// The instruction's name.
    pub instruction: &'static str,
    /// The combination.
    pub combination: String,
    /// The compute units.
    pub units: u64,
    /// The parts of the compute units; none until the first visit.
    pub parts: Option<Measured>,
    /// The number of combinations that the search has visited.
    pub visited: usize,
    /// The compute units for each further bump, and the number of addresses whose bump counts.
    pub bumps: Option<(u64, usize)>,
}

impl Worst {
    /// An empty search.
    pub fn of(instruction: &'static str) -> Self {
        Self {
            instruction,
            combination: String::new(),
            units: 0,
            parts: None,
            visited: 0,
            bumps: None,
        }
    }

    /// Visits a combination.
    #[track_caller]
    pub fn visit(&mut self, fixture: &Fixture, call: &Call, combination: impl FnOnce() -> String) {
        assert_eq!(call.row.name, self.instruction);
        let units = units(fixture, call);
        self.visited += 1;
        if units > self.units {
            self.units = units;
            self.combination = combination();
            self.parts = Some(measure(&self.combination, fixture, call));
        }
    }

    /// Adds another mint's search result.
    pub fn include(&mut self, mint: &str, other: Self) {
        assert_eq!(self.instruction, other.instruction);
        self.visited += other.visited;
        if other.units > self.units {
            self.units = other.units;
            self.combination = format!("{mint}, {}", other.combination);
            self.parts = other.parts;
        }
    }

    /// The search with the compute units for each further bump: the difference between a combination at the
    /// first bumps and the same combination with the second bump for a single address. `addresses` is the
    /// number of addresses whose bump counts.
    #[must_use]
    pub fn with_bumps(self, first: u64, second: u64, addresses: usize) -> Self {
        Self {
            bumps: Some((second - first, addresses)),
            ..self
        }
    }
}

/// The worst combination of every instruction, in table order.
///
/// In `another` mint of the same token program, it visits fewer states of milestones (see
/// [`milestones::all`]).
pub fn all(start: &Start, another: bool) -> Vec<Worst> {
    let points = Points::reach(start);
    let mut found = administration();
    found.push(create(start));
    found.push(accept_invitation(start));
    found.extend(sealed_prices(start));
    found.push(submit_offer(start));
    found.push(accept_offer(start));
    found.push(reject(start));
    found.push(expire(start));
    found.push(close(&points));
    found.push(claim_payout(&points));
    found.extend(milestones::all(start, another));
    found
}

fn administration() -> Vec<Worst> {
    let unconfigured = Fixture::unconfigured();
    let configured = Fixture::new();
    let proposed = after(&configured, &configured.propose(STRANGER));
    [
        (
            "initialize_config",
            &unconfigured,
            unconfigured.initialize(),
        ),
        (
            "update_config",
            &configured,
            configured.update(&Fixture::config()),
        ),
        ("set_paused", &configured, configured.set_paused(Flag::ON)),
        (
            "propose_authority",
            &configured,
            configured.propose(STRANGER),
        ),
        (
            "accept_authority",
            &proposed,
            proposed.accept_authority(STRANGER),
        ),
    ]
    .into_iter()
    .map(|(name, fixture, call)| {
        let mut worst = Worst::of(name);
        worst.visit(fixture, &call, || "the only one".to_owned());
        worst
    })
    .collect()
}

/// Terms with every combination of metadata, sealed prices, bond and milestones.
fn all_terms() -> Vec<(String, NegotiationParams)> {
    let mut all = Vec::new();
    for (kind, metadata) in metadata().into_iter().enumerate() {
        for (with, terms) in [
            ("no bond", Fixture::terms()),
            ("a bond", Fixture::bonded_terms()),
            ("sealed prices", Fixture::sealed_terms()),
        ] {
            all.push((
                format!("{with}, metadata of kind {kind}"),
                NegotiationParams { metadata, ..terms },
            ));
        }
        for count in 1..=8 {
            for zopa_enabled in [Flag::OFF, Flag::ON] {
                all.push((
                    format!(
                        "{count} milestones, {}metadata of kind {kind}",
                        if zopa_enabled == Flag::ON {
                            "sealed prices, "
                        } else {
                            ""
                        }
                    ),
                    NegotiationParams {
                        metadata,
                        zopa_enabled,
                        ..Milestones::terms(count, true)
                    },
                ));
            }
        }
    }
    all
}

fn create(start: &Start) -> Worst {
    let mut worst = Worst::of("create_negotiation");
    for source in Condition::sources() {
        let mut fixture = start.new.clone();
        source.apply(&mut fixture, &start.deal.buyer_token_account);
        for (combination, terms) in all_terms() {
            let call = fixture.create(&start.deal, &terms);
            worst.visit(&fixture, &call, || {
                format!("{combination}, {source:?} source")
            });
        }
    }
    let deal = deal_with_bumps(start.deal.buyer, start.deal.seller, u8::MAX - 1, u8::MAX);
    let first = units(
        &start.new,
        &start.new.create(&start.deal, &Fixture::terms()),
    );
    let second = units(&start.new, &start.new.create(&deal, &Fixture::terms()));
    worst.with_bumps(first, second, 2)
}

fn accept_invitation(start: &Start) -> Worst {
    let mut worst = Worst::of("accept_invitation");
    let created = start.created(&Fixture::terms());
    let call = created.accept_invitation(&start.deal);
    worst.visit(&created, &call, || "without a bond".to_owned());
    for source in Condition::sources() {
        for (with, terms) in [
            ("no bond", Fixture::terms()),
            ("a bond", Fixture::bonded_terms()),
        ] {
            let mut created = start.created(&terms);
            source.apply(&mut created, &start.deal.seller_token_account);
            let call = created.accept_invitation_with_bond(&start.deal);
            worst.visit(&created, &call, || {
                format!("{with}, all accounts, {source:?} source")
            });
        }
    }
    worst
}

fn commit(fixture: &Fixture, deal: &Deal, agent: Address, price: u64) -> Call {
    let created_at = fixture.created_at(deal);
    let commitment = zopa_commitment(deal, created_at, agent, price, nonce_of(agent));
    fixture.commit(deal, agent, commitment)
}

/// Both have committed, the seller to this price, and the buyer has revealed.
pub fn revealed(start: &Start, sellers_price: u64) -> [Fixture; 4] {
    let deal = &start.deal;
    let (buyer, seller) = (deal.buyer, deal.seller);
    let sealed = start.invited(&Fixture::sealed_terms());
    let first = after(&sealed, &commit(&sealed, deal, buyer, BUYER_PRICE));
    let both = after(&first, &commit(&first, deal, seller, sellers_price));
    let reveal = both.reveal(deal, buyer, BUYER_PRICE, nonce_of(buyer));
    let revealed = after(&both, &reveal);
    [sealed, first, both, revealed]
}

fn sealed_prices(start: &Start) -> [Worst; 2] {
    let deal = &start.deal;
    let (buyer, seller) = (deal.buyer, deal.seller);
    let mut commits = Worst::of("submit_zopa_commitment");
    let mut reveals = Worst::of("reveal_zopa_price");
    let [sealed, first, both, with_zone] = revealed(start, SELLER_PRICE);
    let [_, _, _, without_zone] = revealed(start, TOO_MUCH);
    commits.visit(&sealed, &commit(&sealed, deal, buyer, BUYER_PRICE), || {
        "the buyer's".into()
    });
    commits.visit(&first, &commit(&first, deal, seller, SELLER_PRICE), || {
        "the seller's".into()
    });

    for conditions in Condition::pairs() {
        for (which, fixture, agent, price) in [
            ("the buyer's", &both, buyer, BUYER_PRICE),
            (
                "the seller's, with a zone",
                &with_zone,
                seller,
                SELLER_PRICE,
            ),
            (
                "the seller's, without a zone",
                &without_zone,
                seller,
                TOO_MUCH,
            ),
        ] {
            let fixture = with_recipients(fixture, deal, conditions);
            let all = fixture.reveal_and_end(deal, agent, price, nonce_of(agent));
            reveals.visit(&fixture, &all, || {
                format!("{which}, all accounts, {conditions:?}")
            });
            if which != "the seller's, without a zone" {
                let few = fixture.reveal(deal, agent, price, nonce_of(agent));
                reveals.visit(&fixture, &few, || which.to_owned());
            }
        }
    }
    let bumps = further_bumps(|start| {
        let [_, _, _, fixture] = revealed(start, TOO_MUCH);
        let call = fixture.reveal_and_end(
            &start.deal,
            start.deal.seller,
            TOO_MUCH,
            nonce_of(start.deal.seller),
        );
        (fixture, call)
    });
    [commits, reveals.with_bumps(bumps[0], bumps[1], 2)]
}

/// The compute units to record a payment for the buyer, with the first and the second bump for the buyer's
/// associated token account.
pub fn further_bumps(at: impl Fn(&Start) -> (Fixture, Call)) -> [u64; 2] {
    [u8::MAX, u8::MAX - 1].map(|bump| {
        let start = Start::with_bumps(bump, u8::MAX);
        let (mut fixture, call) = at(&start);
        Condition::Frozen.apply(&mut fixture, &start.deal.buyer_token_account);
        units(&fixture, &call)
    })
}

fn submit_offer(start: &Start) -> Worst {
    let deal = &start.deal;
    let mut worst = Worst::of("submit_offer");
    let terms = [Fixture::terms()]
        .into_iter()
        .chain((1..=8).map(|count| Milestones::terms(count, true)));
    for (count, terms) in terms.enumerate() {
        for (point, fixture, offerer) in [
            ("the first", start.invited(&terms), deal.buyer),
            ("the seller's", start.offered(&terms), deal.seller),
            ("the buyer's", start.countered(&terms), deal.buyer),
        ] {
            for (kind, metadata) in metadata().into_iter().enumerate() {
                for (extension, pending, asked) in [
                    ("no extension", 0, 0),
                    ("a requested", 0, 60),
                    ("a granted", 60, 30),
                    ("a smaller pending", 30, 60),
                    ("an unanswered", 60, 0),
                ] {
                    let before = fixture.negotiation(deal);
                    let capped = before.global_deadline - before.response_window / 2;
                    for second in [fixture.now, capped] {
                        let mut fixture = fixture.at(second);
                        fixture.set_negotiation(
                            deal,
                            &Negotiation {
                                pending_extension: pending,
                                turn_deadline: second + 1,
                                ..before
                            },
                        );
                        let call =
                            fixture.offer_with_extension(deal, offerer, OFFER, &metadata, asked);
                        worst.visit(&fixture, &call, || {
                            format!(
                                "{point}, {count} milestones, metadata of kind {kind}, {extension}{}",
                                if second == capped {
                                    ", the turn cut short"
                                } else {
                                    ""
                                }
                            )
                        });
                    }
                }
            }
        }
    }
    worst
}

fn accept_offer(start: &Start) -> Worst {
    let deal = &start.deal;
    let mut worst = Worst::of("accept_offer");
    let everything = ESCROW / 100 * 98;
    let mut points = Vec::new();
    for (with, terms) in [
        ("no bond", Fixture::terms()),
        ("a bond", Fixture::bonded_terms()),
    ]
    .into_iter()
    .chain([1, 8].map(|count| ("milestones", Milestones::terms(count, true))))
    {
        let offered = start.offered(&terms);
        points.push((format!("by the seller, {with}"), offered, deal.seller));
        let countered = start.countered(&terms);
        points.push((format!("by the buyer, {with}"), countered, deal.buyer));
        let invited = start.invited(&terms);
        let offer = invited.offer(deal, deal.buyer, everything);
        let whole = after(&invited, &offer);
        points.push((format!("of the whole escrow, {with}"), whole, deal.seller));
    }
    let [_, _, _, revealed] = revealed(start, SELLER_PRICE);
    let reveal = revealed.reveal(deal, deal.seller, SELLER_PRICE, nonce_of(deal.seller));
    let midpoint = after(&revealed, &reveal);
    points.push((
        "the midpoint, by the buyer".into(),
        midpoint.clone(),
        deal.buyer,
    ));
    points.push(("the midpoint, by the seller".into(), midpoint, deal.seller));
    for (point, fixture, acceptor) in &points {
        for conditions in Condition::pairs() {
            let fixture = with_recipients(fixture, deal, conditions);
            let call = fixture.accept_offer(deal, *acceptor);
            worst.visit(&fixture, &call, || format!("{point}, {conditions:?}"));
        }
        let mut frozen = fixture.clone();
        frozen.freeze(&deal.escrow_vault);
        worst.visit(&frozen, &frozen.accept_offer(deal, *acceptor), || {
            format!("{point}, a frozen vault")
        });
    }
    let bumps = further_bumps(|start| {
        let fixture = start.offered(&Fixture::terms());
        let call = fixture.accept_offer(&start.deal, start.deal.seller);
        (fixture, call)
    });
    worst.with_bumps(bumps[0], bumps[1], 2)
}

/// The points where a negotiation can end with no agreement, with the accounts for any held bond.
fn open_points(start: &Start) -> Vec<(String, Fixture, bool)> {
    let mut points = Vec::new();
    for (with, terms) in [
        ("no bond", Fixture::terms()),
        ("a bond", Fixture::bonded_terms()),
    ] {
        points.push((format!("Created, {with}"), start.created(&terms), false));
        let bond = terms.bond_required > 0;
        points.push((format!("invited, {with}"), start.invited(&terms), bond));
        points.push((format!("Proposed, {with}"), start.offered(&terms), bond));
        points.push((format!("Countered, {with}"), start.countered(&terms), bond));
    }
    let [sealed, first, both, revealed] = revealed(start, SELLER_PRICE);
    for (point, fixture) in [
        ("before commitments", sealed),
        ("after one commitment", first),
        ("after both commitments", both),
        ("after the buyer's reveal", revealed.clone()),
    ] {
        points.push((point.to_owned(), fixture, true));
    }
    let deal = &start.deal;
    let reveal = revealed.reveal(deal, deal.seller, SELLER_PRICE, nonce_of(deal.seller));
    let midpoint = after(&revealed, &reveal);
    let offer = midpoint.offer(deal, deal.buyer, OFFER);
    let replaced = after(&midpoint, &offer);
    points.push(("the midpoint".into(), midpoint, true));
    points.push(("the midpoint replaced".into(), replaced, true));
    // The bond pays the decay of half of the offers.
    for (last, point) in [
        ("the buyer's", start.offered(&Fixture::bonded_terms())),
        ("the seller's", start.countered(&Fixture::bonded_terms())),
    ] {
        let mut fixture = point;
        let before = fixture.negotiation(deal);
        let current_round = MAX_ROUNDS - before.current_round % 2;
        fixture.set_negotiation(
            deal,
            &Negotiation {
                current_round,
                max_rounds: MAX_ROUNDS,
                ..before
            },
        );
        let offers = format!("{current_round} offers, the last one {last}, a bond");
        points.push((offers, fixture, true));
    }
    points
}

fn reject(start: &Start) -> Worst {
    let deal = &start.deal;
    let mut worst = Worst::of("reject_negotiation");
    for (point, fixture, bond) in open_points(start) {
        for (who, rejector) in [("the buyer", deal.buyer), ("the seller", deal.seller)] {
            let forfeits =
                rejector == deal.seller && fixture.negotiation(deal).rejection_forfeits_bond();
            for conditions in Condition::pairs() {
                let fixture = with_recipients(&fixture, deal, conditions);
                let few = fixture.reject(deal, rejector);
                let all = few
                    .clone()
                    .given("seller_token_account", deal.seller_token_account);
                let needs =
                    bond || rejector == deal.seller && fixture.negotiation(deal).bond_required > 0;
                if !needs || forfeits {
                    worst.visit(&fixture, &few, || {
                        format!("{point}, by {who}, {conditions:?}")
                    });
                }
                if !forfeits {
                    worst.visit(&fixture, &all, || {
                        format!("{point}, by {who}, all accounts, {conditions:?}")
                    });
                }
            }
        }
    }
    let bumps = further_bumps(|start| {
        let fixture = start.offered(&Fixture::terms());
        let call = fixture.reject(&start.deal, start.deal.seller);
        (fixture, call)
    });
    worst.with_bumps(bumps[0], bumps[1], 2)
}

fn expire(start: &Start) -> Worst {
    let deal = &start.deal;
    let mut worst = Worst::of("expire_negotiation");
    for (point, fixture, bond) in open_points(start) {
        let fixture = fixture.at(NOW + 86_400);
        let forfeits = fixture.negotiation(deal).seller_owes_reveal();
        for conditions in Condition::pairs() {
            let fixture = with_recipients(&fixture, deal, conditions);
            let few = fixture.expire(deal);
            let all = few
                .clone()
                .given("seller_token_account", deal.seller_token_account);
            if !bond || forfeits {
                worst.visit(&fixture, &few, || format!("{point}, {conditions:?}"));
            }
            worst.visit(&fixture, &all, || {
                format!("{point}, all accounts, {conditions:?}")
            });
        }
    }
    let bumps = further_bumps(|start| {
        let fixture = start.offered(&Fixture::terms()).at(NOW + 300);
        let call = fixture.expire(&start.deal);
        (fixture, call)
    });
    worst.with_bumps(bumps[0], bumps[1], 2)
}

fn close(points: &Points) -> Worst {
    let deal = &points.deal;
    let mut worst = Worst::of("close_negotiation");
    let accounts = [
        "treasury_token_account",
        "buyer_token_account",
        "seller_token_account",
    ];
    for (point, fixture, needed) in points.finished() {
        for (vault, lamports, tokens) in [
            ("", 0, 0),
            (", with a donation", 0, 1),
            (", with lamports", 1, 0),
            (", with synced lamports", 1, 1),
        ] {
            // A donation goes to the treasury, except lamports that were synced into wrapped SOL.
            let needed = needed | u8::from(tokens > 0);
            for given in (0..8u8).filter(|given| needed & !given == 0) {
                // The negotiation stays open if an account cannot be paid.
                for condition in [Condition::Plain, Condition::Extended] {
                    if !Condition::all().contains(&condition) {
                        continue;
                    }
                    let mut fixture = fixture.clone();
                    fixture.donate(&deal.escrow_vault, tokens);
                    fixture.change(&deal.escrow_vault, |account| account.lamports += lamports);
                    let full = fixture.close(deal, STRANGER);
                    let mut call = full.clone();
                    for (at, account) in accounts.iter().enumerate() {
                        if given & (1 << at) == 0 {
                            call = call.without(account);
                        } else {
                            condition.apply(&mut fixture, &full.address_of(account));
                        }
                    }
                    worst.visit(&fixture, &call, || {
                        format!("{point}{vault}, accounts {given:03b}, {condition:?}")
                    });
                }
            }
        }
    }
    worst
}

fn claim_payout(points: &Points) -> Worst {
    let deal = &points.deal;
    let mut worst = Worst::of("claim_payout");
    for (who, party, account) in [
        ("the buyer", deal.buyer, deal.buyer_token_account),
        ("the seller", deal.seller, deal.seller_token_account),
    ] {
        for condition in Condition::all() {
            if *condition == Condition::Frozen {
                continue;
            }
            for huge in [false, true] {
                let mut fixture = points.recorded.clone();
                if huge {
                    with_huge_amounts(&mut fixture, deal);
                }
                condition.apply(&mut fixture, &account);
                let recorded = fixture.negotiation(deal);
                let amount = if party == deal.buyer {
                    recorded.claimable_buyer
                } else {
                    recorded.claimable_seller
                };
                let call = fixture.claim(deal, party, amount);
                worst.visit(&fixture, &call, || format!("by {who}, {condition:?}"));
            }
        }
    }
    worst
}
