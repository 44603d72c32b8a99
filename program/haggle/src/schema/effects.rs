//! Instruction effects: signers, required state, payments.
//!
//! The program does not read them: `load` and the handlers enforce the rules, and the ELF does not contain
//! this row part. The host tool `program/idl` renders it as `idl/effects.json`. The SDK uses this file to
//! generate the table that spending policy, idempotency, preconditions, the indexer and the command line
//! read. [`check`] compares each row to the accounts and arguments while the program compiles.

use crate::event::EVENTS;
use crate::schema::lookup::{field_of, find_field, index_of, is_equal};
use crate::schema::table::{Account, Field};

/// The instruction's effects.
pub struct Effects {
    /// The effect as outputs show it, such as "offer accepted".
    pub result: &'static str,
    /// The accounts that sign, and act by signing. Empty: nobody's signature is required.
    pub actors: &'static [Actor],
    /// The parts of the negotiation's state required by the instruction.
    pub guards: &'static [Guard],
    /// The actions that count as the same action.
    pub idempotency: Idempotency,
    /// The arguments with deadlines, which are later if the same action is built again. A dot separates
    /// struct and field.
    pub deadlines: &'static [&'static str],
    /// The payments that the instruction can make.
    pub payments: &'static [Payment],
    /// The names of the events that the instruction can log; it always logs the first.
    pub events: &'static [&'static str],
}

/// An account that signs an instruction.
pub struct Actor {
    /// The account.
    pub account: &'static str,
    /// The role required by the program.
    pub role: Role,
}

/// A part in a negotiation or in the protocol.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Role {
    /// The buyer.
    Buyer,
    /// The seller.
    Seller,
    /// The buyer or the seller, whichever signs.
    Party,
    /// The arbiter of the milestones.
    Arbiter,
    /// The authority of the configuration.
    Authority,
    /// The treasury.
    Treasury,
    /// Any signer.
    Anyone,
    /// The program: the account is a negotiation, a vault or the configuration.
    Program,
}

impl Role {
    /// The name in the table of effects.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Buyer => "buyer",
            Self::Seller => "seller",
            Self::Party => "party",
            Self::Arbiter => "arbiter",
            Self::Authority => "authority",
            Self::Treasury => "treasury",
            Self::Anyone => "anyone",
            Self::Program => "program",
        }
    }
}

/// A negotiation state component that instructions depend on. The program compares it with an argument where
/// there is one. Otherwise the program's rules depend on it, and the caller must compare it.
#[derive(Clone, Copy)]
pub enum Guard {
    /// The address holds no negotiation.
    Absent,
    /// The time of creation, which distinguishes deals sharing an address.
    CreatedAt,
    /// As `CreatedAt`, compared with this argument.
    CreatedAtIs(&'static str),
    /// All invitation terms, by the hash in this argument.
    TermsAre(&'static str),
    /// The status.
    Status,
    /// The stage, determined by the status, the milestones and their disputes.
    Stage,
    /// The due step of the comparison of reservation prices.
    ZopaStep,
    /// The number of offers, compared with this argument.
    RoundIs(&'static str),
    /// The amount of the current offer, compared with this argument.
    OfferIs(&'static str),
    /// The metadata, compared with this argument.
    MetadataIs(&'static str),
    /// The mask of the decided milestones, compared with this argument.
    DecidedIs(&'static str),
    /// The milestone state for the index in this argument.
    Milestone(&'static str),
    /// The recorded payout of the signing party, compared with this argument.
    PayoutIs(&'static str),
}

impl Guard {
    /// The name in the table of effects.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Absent => "absent",
            Self::CreatedAt | Self::CreatedAtIs(_) => "created_at",
            Self::TermsAre(_) => "terms",
            Self::Status => "status",
            Self::Stage => "stage",
            Self::ZopaStep => "zopa_step",
            Self::RoundIs(_) => "round",
            Self::OfferIs(_) => "offer",
            Self::MetadataIs(_) => "metadata",
            Self::DecidedIs(_) => "decided",
            Self::Milestone(_) => "milestone",
            Self::PayoutIs(_) => "payout",
        }
    }

    /// The argument.
    pub const fn argument(self) -> Option<&'static str> {
        match self {
            Self::Absent | Self::CreatedAt | Self::Status | Self::Stage | Self::ZopaStep => None,
            Self::CreatedAtIs(argument)
            | Self::TermsAre(argument)
            | Self::RoundIs(argument)
            | Self::OfferIs(argument)
            | Self::MetadataIs(argument)
            | Self::DecidedIs(argument)
            | Self::Milestone(argument)
            | Self::PayoutIs(argument) => Some(argument),
        }
    }

    /// Reports whether it distinguishes the deal from all others with this address.
    const fn names_deal(self) -> bool {
        matches!(self, Self::CreatedAtIs(_) | Self::TermsAre(_))
    }
}

/// The actions that count as the same action.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Idempotency {
    /// Equal arguments on a negotiation: the program executes the instruction at most once.
    Content,
    /// Equal addresses: the program executes it once until the account is closed.
    Address,
    /// None: the instruction can be meant again with the same content.
    Random,
}

impl Idempotency {
    /// The name in the table of effects.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Content => "content",
            Self::Address => "address",
            Self::Random => "random",
        }
    }
}

/// A payment.
pub struct Payment {
    /// The reason for it.
    pub money: Money,
    /// The payer.
    pub from: Role,
    /// The account that loses the amount.
    pub source: &'static str,
    /// The recipient.
    pub to: Role,
    /// The account that gets the amount.
    pub destination: &'static str,
}

/// The reason for a payment.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Money {
    /// The buyer's deposit.
    Escrow,
    /// The seller's deposit, or the part returned or forfeited.
    Bond,
    /// All or part of the price, less the fee.
    Price,
    /// A part of the escrow that the buyer gets back.
    Refund,
    /// An earlier payment that could not be delivered.
    Payout,
    /// Fee, decay and donations.
    Fee,
    /// The account rent, in lamports.
    Rent,
}

impl Money {
    /// The name in the table of effects.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Escrow => "escrow",
            Self::Bond => "bond",
            Self::Price => "price",
            Self::Refund => "refund",
            Self::Payout => "payout",
            Self::Fee => "fee",
            Self::Rent => "rent",
        }
    }
}

/// A payment from the vault to the buyer's token account.
pub const fn to_buyer(money: Money) -> Payment {
    Payment {
        money,
        from: Role::Program,
        source: "escrow_vault",
        to: Role::Buyer,
        destination: "buyer_token_account",
    }
}

/// A payment from the vault to the seller's token account.
pub const fn to_seller(money: Money) -> Payment {
    Payment {
        money,
        from: Role::Program,
        source: "escrow_vault",
        to: Role::Seller,
        destination: "seller_token_account",
    }
}

/// Requires that the effects match the row's accounts and arguments: the actors sign, every account that can
/// lose or get money is in a payment, and every argument that names the signer's view of the state is a
/// guard. The program calls it while it compiles.
pub const fn check(effects: &Effects, accounts: &[Account], args: &[Field]) {
    assert!(!effects.result.is_empty(), "the row has no result");
    check_actors(effects, accounts);
    check_payments(effects, accounts);
    check_guards(effects, args);
    let mut index = 0usize;
    while index < effects.deadlines.len() {
        let _ = field_of(args, head(effects.deadlines[index]));
        index = index.saturating_add(1);
    }
    assert!(!effects.events.is_empty(), "the row has no event");
    index = 0;
    while index < effects.events.len() {
        assert!(is_event(effects.events[index]), "no event has this name");
        index = index.saturating_add(1);
    }
}

const fn check_actors(effects: &Effects, accounts: &[Account]) {
    let mut index = 0usize;
    while index < effects.actors.len() {
        let at = index_of(accounts, effects.actors[index].account);
        assert!(accounts[at].meta.signer, "an actor does not sign");
        index = index.saturating_add(1);
    }
    index = 0;
    let mut signers = 0usize;
    while index < accounts.len() {
        if accounts[index].meta.signer {
            signers = signers.saturating_add(1);
        }
        index = index.saturating_add(1);
    }
    assert!(signers == effects.actors.len(), "a signer is no actor");
}

const fn check_payments(effects: &Effects, accounts: &[Account]) {
    let mut index = 0usize;
    while index < effects.payments.len() {
        let payment = &effects.payments[index];
        let source = index_of(accounts, payment.source);
        let destination = index_of(accounts, payment.destination);
        assert!(accounts[source].meta.writable, "a source is not writable");
        assert!(
            accounts[destination].meta.writable,
            "a destination is not writable"
        );
        index = index.saturating_add(1);
    }
    index = 0;
    while index < accounts.len() {
        let meta = &accounts[index].meta;
        // A writable account of the program's own types changes the record.
        assert!(
            !meta.writable || meta.holds.is_some() || is_paid(effects, accounts[index].name),
            "no payment has this writable account"
        );
        index = index.saturating_add(1);
    }
}

const fn is_paid(effects: &Effects, account: &str) -> bool {
    let mut index = 0usize;
    while index < effects.payments.len() {
        let payment = &effects.payments[index];
        if is_equal(payment.source, account) || is_equal(payment.destination, account) {
            return true;
        }
        index = index.saturating_add(1);
    }
    false
}

const fn check_guards(effects: &Effects, args: &[Field]) {
    let mut names_deal = false;
    let mut index = 0usize;
    while index < effects.guards.len() {
        let guard = effects.guards[index];
        names_deal = names_deal || guard.names_deal();
        if let Some(argument) = guard.argument() {
            let _ = field_of(args, argument);
        }
        index = index.saturating_add(1);
    }
    assert!(
        names_deal || !matches!(effects.idempotency, Idempotency::Content),
        "an instruction that the program executes once names its deal"
    );
    index = 0;
    while index < args.len() {
        assert!(
            !is_view(args[index].name) || is_guard(effects, args[index].name),
            "an argument with the signer's view of the state is no guard"
        );
        index = index.saturating_add(1);
    }
    assert!(
        find_field(args, "valid_until").is_none() || !effects.deadlines.is_empty(),
        "valid_until is no deadline"
    );
}

/// Reports whether the argument states the signer's view of the state.
const fn is_view(argument: &str) -> bool {
    let prefix = b"expected_";
    let name = argument.as_bytes();
    let mut index = 0usize;
    while index < prefix.len() && index < name.len() && name[index] == prefix[index] {
        index = index.saturating_add(1);
    }
    index == prefix.len() || is_equal(argument, "created_at") || is_equal(argument, "terms_hash")
}

const fn is_guard(effects: &Effects, argument: &str) -> bool {
    let mut index = 0usize;
    while index < effects.guards.len() {
        if let Some(name) = effects.guards[index].argument() {
            if is_equal(name, argument) {
                return true;
            }
        }
        index = index.saturating_add(1);
    }
    false
}

const fn is_event(name: &str) -> bool {
    let mut index = 0usize;
    while index < EVENTS.len() {
        if is_equal(EVENTS[index].def.name, name) {
            return true;
        }
        index = index.saturating_add(1);
    }
    false
}

/// The path up to the first dot.
const fn head(path: &str) -> &str {
    let bytes = path.as_bytes();
    let mut index = 0usize;
    while index < bytes.len() {
        if bytes[index] == b'.' {
            return path.split_at(index).0;
        }
        index = index.saturating_add(1);
    }
    path
}
