//! The accounts that the program owns.

mod config;
mod negotiation;

pub use config::{Defaults, ProtocolConfig};
pub use negotiation::{BondState, Negotiation, NegotiationStatus, OfferSide, ZopaPhase};

use crate::table::Record;

/// The rows of the table.
pub const ACCOUNTS: &[&Record] = &[Negotiation::RECORD, ProtocolConfig::RECORD];
