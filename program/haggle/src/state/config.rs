//! The protocol's configuration, a single account.

use crate::error::{HaggleError, Result};
use crate::schema::declare::{account, Flag};
use crate::schema::table::Seed;
use crate::{constants, ID};
use pinocchio::address::address_eq;
use pinocchio::Address;

account! {
    /// The protocol's configuration and totals: one account, at the PDA ["config"].
    pub struct ProtocolConfig {
        /// The authority that can change the configuration.
        pub authority: Address,
        /// The wallet whose token accounts receive fees and decay.
        pub treasury: Address,
        /// The proposed decay per round in basis points, 0 to 1,000. Clients use it as a default.
        pub default_decay_rate_bps: u16,
        /// The proposed response window in seconds, 60 to 3,600. Clients use it as a default.
        pub default_response_window: i64,
        /// The fee for new negotiations in basis points of the paid price, 0 to 500.
        pub default_protocol_fee_bps: u16,
        /// The proposed number of rounds, 1 to 20. Clients use it as a default.
        pub default_max_rounds: u8,
        /// The number of closed negotiations.
        pub total_negotiations: u64,
        /// The paid prices of closed negotiations, fees included, totaling all mints'
        /// base units. Saturates.
        pub total_settled_volume: u64,
        /// The fees of closed negotiations, totaling all mints' base units. Saturates.
        pub total_fees_collected: u64,
        /// Whether creating negotiations is stopped.
        pub is_paused: Flag,
        /// The account address bump.
        pub bump: u8,
        /// The authority's named successor; zero unless named.
        pub pending_authority: Address,
    }
    version: None;
    const SEEDS: &'static [Seed] = &[Seed::Const(constants::CONFIG_SEED.as_bytes())];
    const FIXED: Option<(&'static Address, u8)> =
        Some((&ProtocolConfig::ADDRESS, ProtocolConfig::BUMP));
}

const _: () = assert!(ProtocolConfig::SIZE == 143);

/// The values chosen by the authority.
pub struct Defaults {
    /// The wallet whose token accounts receive fees and decay.
    pub treasury: Address,
    /// The proposed decay per round in basis points.
    pub decay_rate_bps: u16,
    /// The proposed response window in seconds.
    pub response_window: i64,
    /// The fee for new negotiations in basis points of the paid price.
    pub protocol_fee_bps: u16,
    /// The proposed number of rounds.
    pub max_rounds: u8,
}

impl Defaults {
    /// Requires a treasury, and values valid for creating negotiations.
    ///
    /// # Errors
    /// InvalidParams.
    #[inline(always)]
    pub fn check(&self) -> Result {
        let in_range = !address_eq(&self.treasury, &Address::new_from_array([0; 32]))
            && self.decay_rate_bps <= constants::MAX_DECAY_RATE_BPS
            && (constants::MIN_RESPONSE_WINDOW..=constants::MAX_RESPONSE_WINDOW)
                .contains(&self.response_window)
            && self.protocol_fee_bps <= constants::MAX_PROTOCOL_FEE_BPS
            && (constants::MIN_ROUNDS..=constants::MAX_ROUNDS).contains(&self.max_rounds);
        if in_range {
            Ok(())
        } else {
            Err(HaggleError::InvalidParams.into())
        }
    }
}

impl ProtocolConfig {
    const DERIVED: ([u8; 32], u8) = const_crypto::ed25519::derive_program_address(
        &[constants::CONFIG_SEED.as_bytes()],
        ID.as_array(),
    );

    /// The account's address.
    pub const ADDRESS: Address = Address::new_from_array(Self::DERIVED.0);

    /// The account address bump.
    pub const BUMP: u8 = Self::DERIVED.1;

    /// Requires the authority.
    ///
    /// # Errors
    /// Unauthorized.
    #[inline(always)]
    pub fn check_authority(&self, signer: &Address) -> Result {
        if address_eq(signer, &self.authority) {
            Ok(())
        } else {
            Err(HaggleError::Unauthorized.into())
        }
    }
}
