//! The protocol's constants: sizes, ranges and defaults.

use crate::schema::table::{Constant, Value};

macro_rules! constants {
    ($( $(#[doc = $doc:literal])* pub const $name:ident: $ty:ty = $kind:ident($value:expr); )*) => {
        $( $(#[doc = $doc])* pub const $name: $ty = $value; )*

        /// The rows of the table.
        pub const CONSTANTS: &[Constant] = &[
            $( Constant { name: stringify!($name), docs: &[$($doc),*], value: Value::$kind($value) }, )*
        ];
    };
}

constants! {
    /// The protocol's namespace. The addresses of accounts are derived without it.
    pub const PROGRAM_SEED: &str = Text("haggle");
    /// First seed of a negotiation's address; the buyer, the seller and the session id (u64, little endian) follow.
    pub const NEGOTIATION_SEED: &str = Text("negotiation");
    /// First seed of a vault's address; the negotiation follows.
    pub const VAULT_SEED: &str = Text("vault");
    /// The seed of the configuration's address.
    pub const CONFIG_SEED: &str = Text("config");
    /// The limit of a negotiation account's size in bytes, discriminator included.
    pub const MAX_NEGOTIATION_SIZE: u64 = U64(512);
    /// The least escrow, in base units of its mint (lamports where the mint is wrapped SOL).
    pub const MIN_ESCROW_LAMPORTS: u64 = U64(100_000);
    /// The length of an offer's metadata in bytes.
    pub const MAX_METADATA_LEN: u64 = U64(64);
    /// The version that a negotiation account is written with.
    pub const NEGOTIATION_VERSION: u8 = U8(1);
    /// A whole in basis points.
    pub const BPS_DENOMINATOR: u64 = U64(10_000);
    /// The fewest rounds a negotiation can be created with.
    pub const MIN_ROUNDS: u8 = U8(1);
    /// The most rounds a negotiation can be created with.
    pub const MAX_ROUNDS: u8 = U8(20);
    /// The rounds that the specification proposes.
    pub const DEFAULT_MAX_ROUNDS: u8 = U8(10);
    /// The most that the escrow can lose each round, in basis points.
    pub const MAX_DECAY_RATE_BPS: u16 = U16(1_000);
    /// The decay per round that the specification proposes, in basis points.
    pub const DEFAULT_DECAY_RATE_BPS: u16 = U16(200);
    /// The shortest time to answer, in seconds.
    pub const MIN_RESPONSE_WINDOW: i64 = I64(60);
    /// The longest time to answer, in seconds.
    pub const MAX_RESPONSE_WINDOW: i64 = I64(3_600);
    /// The time to answer that the specification proposes, in seconds.
    pub const DEFAULT_RESPONSE_WINDOW: i64 = I64(300);
    /// The nearest global deadline, in seconds from creation.
    pub const MIN_DEADLINE_SECONDS: i64 = I64(60);
    /// The farthest global deadline, in seconds from creation.
    pub const MAX_DEADLINE_SECONDS: i64 = I64(86_400);
    /// The lowest minimum offer, in basis points of the effective escrow.
    pub const MIN_OFFER_BPS_FLOOR: u16 = U16(100);
    /// The highest minimum offer, in basis points of the effective escrow.
    pub const MIN_OFFER_BPS_CEILING: u16 = U16(9_000);
    /// The minimum offer that the specification proposes, in basis points of the effective escrow.
    pub const DEFAULT_MIN_OFFER_BPS: u16 = U16(1_000);
    /// The highest protocol fee, in basis points of what is paid.
    pub const MAX_PROTOCOL_FEE_BPS: u16 = U16(500);
    /// The protocol fee that the specification proposes, in basis points of what is paid.
    pub const DEFAULT_PROTOCOL_FEE_BPS: u16 = U16(50);
    /// The most milestones that a price can be paid in.
    pub const MAX_MILESTONES: u8 = U8(8);
    /// The shortest time that a buyer has to look at a claimed milestone, in seconds; a longer response window is it instead.
    pub const MIN_REVIEW_WINDOW: i64 = I64(3_600);
    /// The farthest deadline of milestones, in seconds from creation.
    pub const MAX_MILESTONE_SECONDS: i64 = I64(31_536_000);
    /// What a sealed reservation price starts with before it is hashed; the negotiation, the agent, the price (u64, little
    /// endian) and a nonce of 32 bytes follow.
    pub const ZOPA_DOMAIN: &str = Text("haggle-zopa");
    /// Metadata that says nothing: all bytes are zero.
    pub const METADATA_NONE: u8 = U8(0);
    /// Metadata with the terms of a service: quality tier u8, SLA in milliseconds u32, quantity u32, strategy hash
    /// of 32 bytes, benchmark price u64 in base units, then zeros.
    pub const METADATA_TERMS: u8 = U8(1);
}
