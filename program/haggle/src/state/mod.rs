//! The accounts written by the program, and the rules that depend on them alone.
//!
//! [`negotiation`] defines the layout. The rules that read and change it are beside it by subject: [`turn`]
//! (parties, clock, turns, extensions), [`ledger`] (the vault's obligations), [`bond`], [`milestones`],
//! [`zopa`] and [`metadata`]. They emit no events and move no tokens.

pub mod bond;
mod config;
pub mod ledger;
pub mod metadata;
pub mod milestones;
mod negotiation;
pub mod turn;
pub mod zopa;

pub use config::{Defaults, ProtocolConfig};
pub use negotiation::{
    BondReason, BondState, Negotiation, NegotiationStatus, OfferSide, ZopaPhase,
};

use crate::schema::table::Record;

/// The table rows.
pub const ACCOUNTS: &[&Record] = &[Negotiation::RECORD, ProtocolConfig::RECORD];
