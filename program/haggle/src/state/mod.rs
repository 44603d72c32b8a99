//! The accounts that the program owns.

pub mod bond;
mod config;
pub mod metadata;
pub mod milestones;
mod negotiation;
pub mod zopa;

pub use config::{Defaults, ProtocolConfig};
pub use negotiation::{BondState, Negotiation, NegotiationStatus, OfferSide, ZopaPhase};

use crate::schema::table::Record;

/// The rows of the table.
pub const ACCOUNTS: &[&Record] = &[Negotiation::RECORD, ProtocolConfig::RECORD];
