//! What every instruction costs, measured on the deployed file, against its ceiling and against program/CU.md.

use super::stage::{associated, named, rent, token_account, wallet, Call, Deal, Stage};
use super::stage::{ESCROW, FUNDS, LAMPORTS, MINT, NOW, OFFER, STRANGER};
use crate::constants::METADATA_TERMS;
use crate::instructions::create_negotiation::NegotiationParams;
use crate::programs;
use crate::state::{Negotiation, ProtocolConfig};
use crate::token::TokenAccount;
use pinocchio::Address;
use std::fmt::Write;
use std::path::{Path, PathBuf};

/// An instruction's ceiling in compute units, and what was estimated before the program was written.
struct Budget {
    instruction: &'static str,
    ceiling: u64,
    estimate: &'static str,
}

const fn budget(instruction: &'static str, ceiling: u64, estimate: &'static str) -> Budget {
    Budget {
        instruction,
        ceiling,
        estimate,
    }
}

const BUDGETS: [Budget; 9] = [
    budget("initialize_config", 2_100, "none"),
    budget("create_negotiation", 9_500, "50,000 to 80,000"),
    budget("accept_invitation", 1_200, "10,000 to 20,000"),
    budget("submit_offer", 900, "15,000 to 30,000"),
    budget("accept_offer", 3_500, "50,000 to 80,000"),
    budget("reject_negotiation", 2_500, "40,000 to 60,000"),
    budget("expire_negotiation", 2_500, "40,000 to 60,000"),
    budget("close_negotiation", 3_200, "5,000 to 10,000"),
    budget("claim_payout", 2_300, "none"),
];

/// What a payment that has to be recorded may cost more.
const RECORDING: u64 = 1_700;
/// What delivering to one party, and to both, may cost more when a negotiation is closed.
const DELIVERING: u64 = 500;
const DELIVERING_TO_BOTH: u64 = 1_100;
/// What the accounts of a bond may cost more where there is none: in accept_invitation, and at an end without agreement.
const BOND_ACCOUNTS: u64 = 1_600;
const BOND_ACCOUNT: u64 = 700;

/// How a case counts.
#[derive(Clone, Copy, PartialEq)]
enum Weight {
    /// The one that a user meets.
    Typical,
    /// One of the others that best and worst are chosen from.
    Other,
    /// Beyond the conditions of the ceilings: listed on its own, with what it may cost more than the ceiling; where there is
    /// no such figure, luck or the generosity of others decides, and nothing is asked.
    Apart(Option<u64>),
}
use Weight::{Apart, Other, Typical};

struct Measured {
    instruction: &'static str,
    case: &'static str,
    weight: Weight,
    units: u64,
    /// What the token program used of them.
    tokens: u64,
}

impl Measured {
    fn net(&self) -> u64 {
        self.units - self.tokens
    }

    /// What the case may cost.
    fn ceiling(&self) -> Option<u64> {
        let budget = BUDGETS
            .iter()
            .find(|budget| budget.instruction == self.instruction);
        let ceiling = budget.expect("each instruction has a budget").ceiling;
        match self.weight {
            Typical | Other => Some(ceiling),
            Apart(more) => more.map(|more| ceiling + more),
        }
    }
}

/// Runs calls and keeps what they cost.
#[derive(Default)]
struct Meter(Vec<Measured>);

impl Meter {
    /// Runs a call on a copy of the stage.
    fn measure(&mut self, weight: Weight, case: &'static str, stage: &Stage, call: &Call) {
        let outcome = stage.clone().run(call);
        outcome.succeeds();
        self.0.push(Measured {
            instruction: call.row.name,
            case,
            weight,
            units: outcome.units,
            tokens: outcome
                .logs
                .iter()
                .filter_map(|line| used_by_tokens(line))
                .sum(),
        });
    }
}

/// The compute units in a line like "Program Tokenkeg... consumed 452 of 198000 compute units".
fn used_by_tokens(line: &str) -> Option<u64> {
    let rest = line.strip_prefix(&format!("Program {} consumed ", programs::TOKEN))?;
    rest.split(' ').next()?.parse().ok()
}

/// A stage and a deal whose addresses all have the first bump, which is what the ceilings are for.
fn first_bumps() -> (Stage, Deal) {
    let mut stage = Stage::new();
    let [buyer, seller] = ["buyer", "seller"].map(wallet_with_first_bump);
    for (who, amount) in [(buyer, FUNDS), (seller, 0)] {
        stage.put(who, wallet(LAMPORTS));
        stage.put(associated(&who, &MINT), token_account(&MINT, &who, amount));
    }
    let deal = deal_with_bumps(buyer, seller, u8::MAX, u8::MAX);
    (stage, deal)
}

/// A wallet whose associated token account has the first bump.
fn wallet_with_first_bump(role: &str) -> Address {
    let bump = |wallet: &Address| {
        let seeds = [wallet.as_ref(), programs::TOKEN.as_ref(), MINT.as_ref()];
        Address::find_program_address(&seeds, &programs::ASSOCIATED_TOKEN).1
    };
    let mut wallets = (0u32..).map(|number| named(&format!("{role} {number}")));
    wallets
        .find(|wallet| bump(wallet) == u8::MAX)
        .expect("every second wallet is one")
}

fn deal_with_bumps(buyer: Address, seller: Address, bump: u8, vault_bump: u8) -> Deal {
    let mut deals = (0..).map(|session_id| Deal::between(buyer, seller, session_id, MINT));
    deals
        .find(|deal| deal.bump == bump && deal.vault_bump == vault_bump)
        .expect("some session has them")
}

fn metadata() -> [u8; 64] {
    let mut metadata = [0; 64];
    metadata[..50].fill(0x5a);
    metadata[0] = METADATA_TERMS;
    metadata
}

/// The points of one negotiation that are measured from.
struct Points {
    deal: Deal,
    new: Stage,
    created: Stage,
    invited: Stage,
    offered: Stage,
    countered: Stage,
}

impl Points {
    fn reach() -> Self {
        let (new, deal) = first_bumps();
        let after = |stage: &Stage, call: &Call| {
            let mut stage = stage.clone();
            stage.run(call).succeeds();
            stage
        };
        let created = after(&new, &new.create(&deal, &Stage::terms()));
        let invited = after(&created, &created.accept_invitation(&deal));
        let offer = invited.offer_with(&deal, deal.buyer, OFFER, &metadata());
        let offered = after(&invited, &offer);
        let countered = after(
            &offered,
            &offered.offer(&deal, deal.seller, OFFER + 500_000),
        );
        Self {
            deal,
            new,
            created,
            invited,
            offered,
            countered,
        }
    }

    /// The offer has been accepted. What could not be delivered meanwhile, because these accounts were frozen, is kept.
    fn settled(&self, frozen: &[Address]) -> Stage {
        let mut stage = self.offered.clone();
        for account in frozen {
            stage.freeze(account);
        }
        let call = stage.accept_offer(&self.deal, self.deal.seller);
        stage.run(&call).succeeds();
        for account in frozen {
            stage.thaw(account);
        }
        stage
    }
}

fn measure() -> Vec<Measured> {
    let points = Points::reach();
    let mut meter = Meter::default();
    initialize_config(&mut meter);
    create_negotiation(&mut meter, &points);
    accept_invitation(&mut meter, &points);
    submit_offer(&mut meter, &points);
    accept_offer(&mut meter, &points);
    reject_negotiation(&mut meter, &points);
    expire_negotiation(&mut meter, &points);
    close_negotiation(&mut meter, &points);
    claim_payout(&mut meter, &points);
    meter.0
}

fn initialize_config(meter: &mut Meter) {
    let mut stage = Stage::unconfigured();
    let call = stage.initialize();
    meter.measure(Typical, "once", &stage, &call);
    stage.put(ProtocolConfig::ADDRESS, wallet(1));
    meter.measure(Apart(None), "lamports sent ahead", &stage, &call);
}

fn create_negotiation(meter: &mut Meter, points: &Points) {
    let (stage, deal) = (&points.new, &points.deal);
    let call = stage.create(deal, &Stage::terms());
    meter.measure(Typical, "without metadata", stage, &call);
    let terms = NegotiationParams {
        metadata: metadata(),
        ..Stage::terms()
    };
    meter.measure(Other, "with metadata", stage, &stage.create(deal, &terms));

    for (case, bump, vault_bump) in [
        ("second bump of the negotiation", u8::MAX - 1, u8::MAX),
        ("second bump of the vault", u8::MAX, u8::MAX - 1),
    ] {
        let deal = deal_with_bumps(deal.buyer, deal.seller, bump, vault_bump);
        meter.measure(
            Apart(None),
            case,
            stage,
            &stage.create(&deal, &Stage::terms()),
        );
    }
    for (case, for_negotiation, for_vault) in [
        ("a lamport sent ahead to both", 1, 1),
        (
            "all rent sent ahead to both",
            rent(Negotiation::SIZE),
            rent(TokenAccount::SIZE),
        ),
    ] {
        let mut stage = stage.clone();
        stage.put(deal.negotiation, wallet(for_negotiation));
        stage.put(deal.escrow_vault, wallet(for_vault));
        meter.measure(Apart(None), case, &stage, &call);
    }
}

/// The same call with an account that had been left out.
fn including(mut call: Call, account: &str, address: Address) -> Call {
    let place = call.place(account);
    call.accounts[place].pubkey = address;
    call.accounts[place].is_writable = call.row.accounts[place].meta.writable;
    call
}

fn accept_invitation(meter: &mut Meter, points: &Points) {
    let (stage, deal) = (&points.created, &points.deal);
    let mut call = stage.accept_invitation(deal);
    meter.measure(Typical, "as it is", stage, &call);
    for (account, address) in [
        ("escrow_vault", deal.escrow_vault),
        ("seller_token_account", deal.seller_token_account),
        ("token_mint", deal.token_mint),
        ("token_program", programs::TOKEN),
    ] {
        call = including(call, account, address);
    }
    meter.measure(
        Apart(Some(BOND_ACCOUNTS)),
        "with the accounts of a bond",
        stage,
        &call,
    );
}

fn submit_offer(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    for (weight, case, stage, offerer, metadata) in [
        (
            Other,
            "the first, without metadata",
            &points.invited,
            deal.buyer,
            [0; 64],
        ),
        (
            Other,
            "the first, with metadata",
            &points.invited,
            deal.buyer,
            metadata(),
        ),
        (
            Typical,
            "the seller's, without metadata",
            &points.offered,
            deal.seller,
            [0; 64],
        ),
        (
            Other,
            "the seller's, with metadata",
            &points.offered,
            deal.seller,
            metadata(),
        ),
        (
            Other,
            "the buyer's, without metadata",
            &points.countered,
            deal.buyer,
            [0; 64],
        ),
        (
            Other,
            "the buyer's, with metadata",
            &points.countered,
            deal.buyer,
            metadata(),
        ),
    ] {
        let call = stage.offer_with(deal, offerer, OFFER, &metadata);
        meter.measure(weight, case, stage, &call);
    }
}

fn accept_offer(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    let by_seller = points.offered.accept_offer(deal, deal.seller);
    meter.measure(Typical, "by the seller", &points.offered, &by_seller);
    let by_buyer = points.countered.accept_offer(deal, deal.buyer);
    meter.measure(Other, "by the buyer", &points.countered, &by_buyer);

    let mut stage = points.invited.clone();
    let everything = ESCROW / 100 * 98;
    let call = stage.offer(deal, deal.buyer, everything);
    stage.run(&call).succeeds();
    let call = stage.accept_offer(deal, deal.seller);
    meter.measure(Other, "for the whole effective escrow", &stage, &call);

    let [buyers, sellers] = [deal.buyer_token_account, deal.seller_token_account];
    let cases: [(_, _, &[Address]); 4] = [
        (RECORDING, "recorded for the buyer", &[buyers]),
        (RECORDING, "recorded for the seller", &[sellers]),
        (2 * RECORDING, "recorded for both", &[buyers, sellers]),
        (
            2 * RECORDING,
            "recorded for both, since the vault is frozen",
            &[deal.escrow_vault],
        ),
    ];
    for (more, case, frozen) in cases {
        let mut stage = points.offered.clone();
        for account in frozen {
            stage.freeze(account);
        }
        meter.measure(Apart(Some(more)), case, &stage, &by_seller);
    }
}

fn reject_negotiation(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    for (weight, case, stage, rejector) in [
        (
            Other,
            "by the buyer, when Created",
            &points.created,
            deal.buyer,
        ),
        (
            Other,
            "by the seller, when Created",
            &points.created,
            deal.seller,
        ),
        (
            Typical,
            "by the seller, when Proposed",
            &points.offered,
            deal.seller,
        ),
        (
            Other,
            "by the buyer, when Countered",
            &points.countered,
            deal.buyer,
        ),
    ] {
        meter.measure(weight, case, stage, &stage.reject(deal, rejector));
    }
    let call = points.offered.reject(deal, deal.seller);
    beyond_an_end(meter, deal, &points.offered, &call);
}

fn expire_negotiation(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    for (weight, case, stage, after) in [
        (Other, "when Created", &points.created, 3_600),
        (Typical, "when Proposed", &points.offered, 300),
        (Other, "when Countered", &points.countered, 300),
    ] {
        let stage = stage.at(NOW + after);
        meter.measure(weight, case, &stage, &stage.expire(deal));
    }
    let stage = points.offered.at(NOW + 300);
    beyond_an_end(meter, deal, &stage, &stage.expire(deal));
}

/// What else can come with an end without an agreement.
fn beyond_an_end(meter: &mut Meter, deal: &Deal, stage: &Stage, call: &Call) {
    let with_account = including(
        call.clone(),
        "seller_token_account",
        deal.seller_token_account,
    );
    let case = "with the account of a bond";
    meter.measure(Apart(Some(BOND_ACCOUNT)), case, stage, &with_account);
    for (case, frozen) in [
        ("recorded for the buyer", deal.buyer_token_account),
        (
            "recorded for the buyer, since the vault is frozen",
            deal.escrow_vault,
        ),
    ] {
        let mut stage = stage.clone();
        stage.freeze(&frozen);
        meter.measure(Apart(Some(RECORDING)), case, &stage, call);
    }
}

fn close_negotiation(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    let mut refunded = points.created.clone();
    let call = refunded.reject(deal, deal.seller);
    refunded.run(&call).succeeds();
    let full = refunded.close(deal, STRANGER);
    let bare = full
        .clone()
        .without("buyer_token_account")
        .without("seller_token_account");
    let nothing = bare.clone().without("treasury_token_account");
    meter.measure(Other, "with nothing for the treasury", &refunded, &nothing);
    let settled = points.settled(&[]);
    meter.measure(Typical, "with fee and decay", &settled, &bare);
    meter.measure(
        Other,
        "with fee and decay, and accounts not needed",
        &settled,
        &full,
    );

    let [buyers, sellers] = [deal.buyer_token_account, deal.seller_token_account];
    let cases: [(_, _, &[Address]); 3] = [
        (DELIVERING, "delivering to the buyer", &[buyers]),
        (DELIVERING, "delivering to the seller", &[sellers]),
        (DELIVERING_TO_BOTH, "delivering to both", &[buyers, sellers]),
    ];
    for (more, case, frozen) in cases {
        meter.measure(Apart(Some(more)), case, &points.settled(frozen), &full);
    }
}

fn claim_payout(meter: &mut Meter, points: &Points) {
    let deal = &points.deal;
    let stage = points.settled(&[deal.buyer_token_account, deal.seller_token_account]);
    let kept = stage.negotiation(deal);
    let call = stage.claim(deal, deal.seller, kept.claimable_seller);
    meter.measure(Typical, "by the seller", &stage, &call);
    let call = stage.claim(deal, deal.buyer, kept.claimable_buyer);
    meter.measure(Other, "by the buyer", &stage, &call);
}

const HEAD: &str = "\
# Compute units

<!-- Written by `make cu` from measurements. Do not edit: a test compares it. -->

What each instruction costs, measured by running the deployed file in a validator's virtual machine, with SPL Token as
p-token 1.0.0, every address at its first bump and nothing sent ahead to it. Net is without what the token program used.
The ceilings are the design's, and exceeding one fails the tests; the estimates are those made before the program was written.
Three ceilings were corrected, because what the chain itself charges left no room:
- initialize_config, 2,100: creating an account costs 946 for the call and 150 in the system program, its event 315, reading
  the rent some 110, before any instruction of ours. (1,500 is meant for administration that creates nothing.)
- claim_payout, 2,300: it does what reject_negotiation does, the vault's address, the clock, an event and a transfer, for
  some 1,600 units of system calls, and that one's ceiling is 2,500.
- close_negotiation when it delivers to both parties, 4,300: each delivery is 288 units of event and 220 of transfer. For one
  delivery 3,700 holds.

| instruction | best | typical | worst | ceiling | net: best | typical | worst | estimated |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
";

const CASES: &str = "
## Each case

In italics what is beyond these conditions: a payment that cannot be delivered and is recorded, or is delivered with closing;
accounts of a bond where there is none; a further bump to try; lamports sent ahead to an address that is created.

| instruction | case | compute units | token program | net | ceiling |
|---|---|--:|--:|--:|--:|
";

/// The whole of program/CU.md.
fn page(measured: &[Measured]) -> String {
    let mut page = String::from(HEAD);
    for budget in &BUDGETS {
        let cases: Vec<_> = measured
            .iter()
            .filter(|case| {
                case.instruction == budget.instruction && !matches!(case.weight, Apart(_))
            })
            .collect();
        let typical = cases
            .iter()
            .find(|case| case.weight == Typical)
            .expect("one case is typical");
        let range = |value: fn(&Measured) -> u64| {
            let values = || cases.iter().map(|case| value(case));
            let best = values().min().expect("there are cases");
            let worst = values().max().expect("there are cases");
            [best, value(typical), worst].map(grouped).join(" | ")
        };
        let units = range(|case| case.units);
        let ceiling = grouped(budget.ceiling);
        let net = range(Measured::net);
        let row = [budget.instruction, &units, &ceiling, &net, budget.estimate].join(" | ");
        writeln!(page, "| {row} |").expect("a string takes everything");
    }
    page.push_str(CASES);
    for case in measured {
        let name = match case.weight {
            Typical => format!("{} (typical)", case.case),
            Other => case.case.to_owned(),
            Apart(_) => format!("*{}*", case.case),
        };
        let [units, tokens, net] = [case.units, case.tokens, case.net()].map(grouped);
        let ceiling = case.ceiling().map_or("none".to_owned(), grouped);
        let row = [case.instruction, &name, &units, &tokens, &net, &ceiling].join(" | ");
        writeln!(page, "| {row} |").expect("a string takes everything");
    }
    page
}

/// A number with commas between its thousands.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}

/// Whether the file comes from Anza's compiler. The committed figures are those of the other one, which everyone can install;
/// the ceilings are for both.
fn is_built_by_platform_tools() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("cargo-build-sbf").is_file())
}

fn committed_page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("CU.md")
}

#[test]
fn no_instruction_costs_more_than_its_ceiling() {
    let measured = measure();
    let over: Vec<_> = measured
        .iter()
        .filter_map(|case| {
            let ceiling = case.ceiling().filter(|ceiling| case.units > *ceiling)?;
            Some(format!(
                "{}, {}: {} > {ceiling}",
                case.instruction, case.case, case.units
            ))
        })
        .collect();
    assert!(over.is_empty(), "over the ceiling:\n{}", over.join("\n"));
}

#[test]
fn the_committed_compute_units_are_the_measured_ones() {
    let measured = page(&measure());
    let path = committed_page();
    if std::env::var_os("HAGGLE_WRITE_CU").is_some() {
        std::fs::write(&path, &measured).expect("program/CU.md can be written");
        println!("{measured}");
    }
    if is_built_by_platform_tools() {
        return;
    }
    let committed = std::fs::read_to_string(&path).expect("program/CU.md is there: `make cu`");
    let changed: Vec<_> = measured
        .lines()
        .filter(|line| !committed.lines().any(|known| known == *line))
        .collect();
    let changed = changed.join("\n");
    assert!(
        committed == measured,
        "program/CU.md is out of date: run `make cu`.\n{changed}"
    );
}
