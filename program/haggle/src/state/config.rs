//! The protocol's configuration, a single account.

use crate::declare::{account, Flag};
use crate::{constants, table::Seed, ID};
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
