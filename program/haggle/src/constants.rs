//! The protocol's constants: seeds, sizes, ranges and defaults.

use crate::schema::table::{Constant, Value};

macro_rules! constants {
    ($( $(#[doc = $doc:literal])* pub const $name:ident: $ty:ty = $kind:ident($value:expr); )*) => {
        $( $(#[doc = $doc])* pub const $name: $ty = $value; )*

        /// The table rows.
        pub const CONSTANTS: &[Constant] = &[
            $( Constant { name: stringify!($name), docs: &[$($doc),*], value: Value::$kind($value) }, )*
        ];
    };
}

/// An hour in seconds.
pub const SECONDS_PER_HOUR: i64 = 3_600;

constants! {
    /// The protocol's name. Address derivation does not use it.
    pub const PROGRAM_SEED: &str = Text("haggle");
    /// The first seed for negotiation addresses; buyer, seller and session id (u64, little endian) follow.
    pub const NEGOTIATION_SEED: &str = Text("negotiation");
    /// The first seed for vault addresses; then the negotiation.
    pub const VAULT_SEED: &str = Text("vault");
    /// The seed for the configuration address.
    pub const CONFIG_SEED: &str = Text("config");
    /// The negotiation account size in bytes, discriminator included.
    pub const MAX_NEGOTIATION_SIZE: u64 = U64(512);
    /// The smallest escrow, in the mint's base units (lamports for wrapped SOL).
    pub const MIN_ESCROW_LAMPORTS: u64 = U64(100_000);
    /// The length of metadata in bytes.
    pub const MAX_METADATA_LEN: u64 = U64(64);
    /// The negotiation account's layout version.
    pub const NEGOTIATION_VERSION: u8 = U8(1);
    /// The whole (100 %), in basis points.
    pub const BPS_DENOMINATOR: u64 = U64(10_000);
    /// The smallest max_rounds.
    pub const MIN_ROUNDS: u8 = U8(1);
    /// The largest max_rounds.
    pub const MAX_ROUNDS: u8 = U8(20);
    /// The default max_rounds.
    pub const DEFAULT_MAX_ROUNDS: u8 = U8(10);
    /// The highest decay per round, in basis points of the effective escrow.
    pub const MAX_DECAY_RATE_BPS: u16 = U16(1_000);
    /// The default decay per round, in basis points of the effective escrow.
    pub const DEFAULT_DECAY_RATE_BPS: u16 = U16(200);
    /// The shortest response window, in seconds.
    pub const MIN_RESPONSE_WINDOW: i64 = I64(60);
    /// The longest response window, in seconds.
    pub const MAX_RESPONSE_WINDOW: i64 = I64(3_600);
    /// The default response window, in seconds.
    pub const DEFAULT_RESPONSE_WINDOW: i64 = I64(300);
    /// The earliest global deadline, in seconds after creation.
    pub const MIN_DEADLINE_SECONDS: i64 = I64(60);
    /// The latest global deadline, in seconds after creation.
    pub const MAX_DEADLINE_SECONDS: i64 = I64(86_400);
    /// The lowest min_offer_bps, in basis points of the effective escrow.
    pub const MIN_OFFER_BPS_FLOOR: u16 = U16(100);
    /// The highest min_offer_bps, in basis points of the effective escrow.
    pub const MIN_OFFER_BPS_CEILING: u16 = U16(9_000);
    /// The default min_offer_bps, in basis points of the effective escrow.
    pub const DEFAULT_MIN_OFFER_BPS: u16 = U16(1_000);
    /// The highest protocol fee, in basis points of the paid price.
    pub const MAX_PROTOCOL_FEE_BPS: u16 = U16(500);
    /// The default protocol fee, in basis points of the paid price.
    pub const DEFAULT_PROTOCOL_FEE_BPS: u16 = U16(50);
    /// The maximum number of milestones.
    pub const MAX_MILESTONES: u8 = U8(8);
    /// The shortest time to review a claimed milestone, in hours.
    pub const MIN_REVIEW_HOURS: u8 = U8(1);
    /// The longest time to review a claimed milestone, in hours.
    pub const MAX_REVIEW_HOURS: u8 = U8(168);
    /// The default time to review a claimed milestone, in hours.
    pub const DEFAULT_REVIEW_HOURS: u8 = U8(24);
    /// The time that milestone_deadline leaves for each milestone in addition to the review, in seconds.
    pub const MILESTONE_SLACK: i64 = I64(60);
    /// The arbiter's shortest time after milestone_deadline,
    /// in seconds. A longer review window replaces it.
    pub const MIN_ARBITRATION_WINDOW: i64 = I64(86_400);
    /// The latest milestone deadline, in seconds after creation.
    pub const MAX_MILESTONE_SECONDS: i64 = I64(31_536_000);
    /// The first bytes hashed to commit to a reservation price; the negotiation, created_at (i64, little
    /// endian), the agent, the price (u64, little endian) and a nonce of 32 bytes follow.
    pub const ZOPA_DOMAIN: &str = Text("haggle-zopa");
    /// Metadata kind 0: all bytes are zero.
    pub const METADATA_NONE: u8 = U8(0);
    /// Metadata kind 1, service terms: quality tier u8, SLA in milliseconds u32, quantity u32, 32-byte
    /// strategy hash, benchmark price u64 (base units), then zeros.
    pub const METADATA_TERMS: u8 = U8(1);
    /// Metadata kind 2, a canonical terms document's SHA-256, 32 bytes, then zeros.
    pub const METADATA_TERMS_HASH: u8 = U8(2);
}
