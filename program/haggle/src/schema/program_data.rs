//! The loader's account with this program's upgrade authority.

use crate::error::Result;
use crate::runtime::programs;
use crate::schema::account::{Checked, Kind, Row};
use crate::schema::table::{Meta, Seed};
use crate::ID;
use pinocchio::{AccountView, Address};

const SEEDS: &[Seed] = &[Seed::Const(ID.as_array())];

const ADDRESS: Address = Address::new_from_array(
    const_crypto::ed25519::derive_program_address(
        &[ID.as_array()],
        programs::UPGRADEABLE_LOADER.as_array(),
    )
    .0,
);

/// The loader's account with this program's upgrade authority.
pub struct ProgramData<'a>(&'a AccountView);

impl<'a> Kind<'a> for ProgramData<'a> {
    const META: Meta = Meta::READ
        .owned_by(&[&programs::UPGRADEABLE_LOADER])
        .at(&ADDRESS)
        .derived_for(&programs::UPGRADEABLE_LOADER, SEEDS);

    #[inline(always)]
    fn load<R: Row, const I: usize>(_: u8, call: &Checked<'a, R>) -> Result<Self> {
        let account = call.account(I);
        Ok(Self(account))
    }
}

impl ProgramData<'_> {
    /// The upgrade authority, unless the program is immutable.
    #[inline(always)]
    pub fn upgrade_authority(&self) -> Option<&Address> {
        // A tag (u32, 3), a slot (u64), and an optional address.
        const TAG: [u8; 4] = [3, 0, 0, 0];
        // SAFETY: the loader owns the data, and this program never changes it.
        let data = unsafe { self.0.borrow_unchecked() };
        match data {
            [t0, t1, t2, t3, _, _, _, _, _, _, _, _, 1, authority @ ..]
                if [*t0, *t1, *t2, *t3] == TAG && authority.len() >= 32 =>
            {
                // SAFETY: there are 32 bytes, and any 32 bytes form an address.
                Some(unsafe { &*authority.as_ptr().cast::<Address>() })
            }
            _ => None,
        }
    }
}
