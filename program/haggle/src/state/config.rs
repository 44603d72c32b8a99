//! The protocol's configuration, a single account.

use crate::error::HaggleError;
use crate::event::ConfigUpdated;
use crate::schema::declare::{account, Flag};
use crate::{constants, schema::table::Seed, ID};
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::{AccountView, Address};

account! {
    /// The protocol's configuration and its totals. There is one, at the PDA ["config"].
    pub struct ProtocolConfig {
        /// Who may change the configuration.
        pub authority: Address,
        /// The wallet whose token accounts receive fees and decay.
        pub treasury: Address,
        /// The decay per round that the SDK fills in, in basis points, 0 to 1,000.
        pub default_decay_rate_bps: u16,
        /// The time to answer that the SDK fills in, in seconds, 60 to 3,600.
        pub default_response_window: i64,
        /// The fee of negotiations created from now on, in basis points of what is paid, 0 to 500.
        pub default_protocol_fee_bps: u16,
        /// The number of rounds that the SDK fills in, 1 to 20.
        pub default_max_rounds: u8,
        /// How many negotiations have been closed.
        pub total_negotiations: u64,
        /// What closed negotiations have paid, fees included, in base units of whatever their mints were. Saturates.
        pub total_settled_volume: u64,
        /// The fees of closed negotiations, in base units of whatever their mints were. Saturates.
        pub total_fees_collected: u64,
        /// Whether creating negotiations is stopped.
        pub is_paused: Flag,
        /// The bump of the account's address.
        pub bump: u8,
        /// Who has been named to become the authority; zero when nobody has.
        pub pending_authority: Address,
    }
}

const _: () = assert!(ProtocolConfig::SIZE == 143);

/// What the authority decides.
pub struct Defaults {
    /// The wallet whose token accounts receive fees and decay.
    pub treasury: Address,
    /// The decay per round that the SDK fills in, in basis points.
    pub decay_rate_bps: u16,
    /// The time to answer that the SDK fills in, in seconds.
    pub response_window: i64,
    /// The fee of negotiations created from now on, in basis points of what is paid.
    pub protocol_fee_bps: u16,
    /// The number of rounds that the SDK fills in.
    pub max_rounds: u8,
}

impl Defaults {
    /// Whether each value is one that a negotiation can be created with, and there is a treasury.
    #[inline(always)]
    pub fn are_in_range(&self) -> bool {
        !address_eq(&self.treasury, &Address::new_from_array([0; 32]))
            && self.decay_rate_bps <= constants::MAX_DECAY_RATE_BPS
            && (constants::MIN_RESPONSE_WINDOW..=constants::MAX_RESPONSE_WINDOW)
                .contains(&self.response_window)
            && self.protocol_fee_bps <= constants::MAX_PROTOCOL_FEE_BPS
            && (constants::MIN_ROUNDS..=constants::MAX_ROUNDS).contains(&self.max_rounds)
    }
}

impl ProtocolConfig {
    /// The seeds of the account's address.
    pub const SEEDS: &'static [Seed] = &[Seed::Const(constants::CONFIG_SEED.as_bytes())];

    const DERIVED: ([u8; 32], u8) = const_crypto::ed25519::derive_program_address(
        &[constants::CONFIG_SEED.as_bytes()],
        ID.as_array(),
    );

    /// The account's address.
    pub const ADDRESS: Address = Address::new_from_array(Self::DERIVED.0);

    /// The bump of the account's address.
    pub const BUMP: u8 = Self::DERIVED.1;

    /// The configuration in an account that has been checked to hold one.
    ///
    /// # Safety
    /// `check::record` must have accepted the account, and no other reference to its data may be used while this one is.
    #[inline(always)]
    pub unsafe fn of(account: &mut AccountView) -> &mut Self {
        // SAFETY: the length is right, the struct is packed and takes any bytes.
        unsafe { &mut *account.data_mut_ptr().add(8).cast() }
    }

    /// Refuses anyone but the authority.
    ///
    /// # Errors
    /// Unauthorized.
    #[inline(always)]
    pub fn check_authority(&self, signer: &Address) -> ProgramResult {
        if address_eq(signer, &self.authority) {
            Ok(())
        } else {
            Err(HaggleError::Unauthorized.into())
        }
    }

    /// Takes over what the authority has decided.
    #[inline(always)]
    pub fn set(&mut self, defaults: &Defaults) {
        self.treasury = defaults.treasury;
        self.default_decay_rate_bps = defaults.decay_rate_bps;
        self.default_response_window = defaults.response_window;
        self.default_protocol_fee_bps = defaults.protocol_fee_bps;
        self.default_max_rounds = defaults.max_rounds;
    }

    /// Says in the log what the configuration is now.
    #[inline(always)]
    pub fn emit_updated(&self) {
        ConfigUpdated {
            authority: self.authority,
            treasury: self.treasury,
            default_decay_rate_bps: self.default_decay_rate_bps,
            default_response_window: self.default_response_window,
            default_protocol_fee_bps: self.default_protocol_fee_bps,
            default_max_rounds: self.default_max_rounds,
            is_paused: self.is_paused,
        }
        .emit();
    }

    /// Reads the configuration.
    ///
    /// # Safety
    /// `check::record` must have accepted the account, and nothing may borrow its data mutably.
    #[inline(always)]
    pub unsafe fn read(account: &AccountView) -> Self {
        // SAFETY: the length is right, the struct is packed and takes any bytes.
        unsafe { *account.data_ptr().add(8).cast() }
    }

    /// Writes the configuration.
    ///
    /// # Safety
    /// The account must be this program's, `SIZE` long and writable, and no reference to its data may be alive.
    #[inline(always)]
    pub unsafe fn write(&self, account: &mut AccountView) {
        // SAFETY: the length is right, and the struct has no padding.
        unsafe {
            let data = account.data_mut_ptr();
            data.cast::<[u8; 8]>().write(Self::RECORD.discriminator);
            data.add(8).cast::<Self>().write_unaligned(*self);
        }
    }
}
