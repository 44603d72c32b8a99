//! One file per instruction: the table row, the rules, the tests.

pub mod accept_authority;
pub mod accept_invitation;
pub mod accept_offer;
pub mod claim_milestone;
pub mod claim_payout;
pub mod close_negotiation;
pub mod create_negotiation;
pub mod dispute_milestone;
pub mod expire_negotiation;
pub mod initialize_config;
pub mod propose_authority;
pub mod reject_negotiation;
pub mod release_milestone;
pub mod resolve_dispute;
pub mod reveal_zopa_price;
pub mod set_paused;
pub mod settle_by_agreement;
pub mod settle_deadline;
pub mod submit_offer;
pub mod submit_zopa_commitment;
pub mod update_config;

use crate::error::{Framework, Result};
use crate::schema::table::Instruction;
use crate::ID;
use pinocchio::address::address_eq;
use pinocchio::{AccountView, Address};

macro_rules! instructions {
    ($($name:ident),* $(,)?) => {
        /// The rows of the table.
        pub const INSTRUCTIONS: &[&Instruction] = &[$(&$name::ROW),*];

        /// Runs the instruction that the first eight bytes of the data name.
        ///
        /// # Errors
        /// 4100 if the program runs at an unexpected address, 100 for less than eight bytes, 101 for an
        /// unknown discriminator, otherwise the instruction's.
        #[inline(always)]
        pub fn dispatch(program_id: &Address, accounts: &[AccountView], data: &[u8]) -> Result {
            if !address_eq(program_id, &ID) {
                return Err(Framework::DeclaredProgramIdMismatch.into());
            }
            let Some((discriminator, args)) = data.split_first_chunk::<8>() else {
                return Err(Framework::InstructionMissing.into());
            };
            match u64::from_le_bytes(*discriminator) {
                $( $name::TAG => $name::process(accounts, args), )*
                _ => Err(Framework::InstructionFallbackNotFound.into()),
            }
        }
    };
}

instructions![
    initialize_config,
    update_config,
    set_paused,
    propose_authority,
    accept_authority,
    create_negotiation,
    accept_invitation,
    submit_zopa_commitment,
    reveal_zopa_price,
    submit_offer,
    accept_offer,
    reject_negotiation,
    expire_negotiation,
    close_negotiation,
    claim_payout,
    claim_milestone,
    release_milestone,
    dispute_milestone,
    resolve_dispute,
    settle_deadline,
    settle_by_agreement,
];

#[cfg(test)]
mod tests {
    use super::INSTRUCTIONS;

    /// Dispatch would never call a file that the list above does not name.
    #[test]
    fn dispatch_reaches_each_file_of_this_folder() {
        let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("src/instructions");
        let files: std::collections::BTreeSet<_> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path().file_stem().unwrap().to_owned())
            .filter(|name| name != "mod")
            .collect();
        let rows = INSTRUCTIONS.iter().map(|row| row.name.into()).collect();
        assert_eq!(files, rows);
    }
}
