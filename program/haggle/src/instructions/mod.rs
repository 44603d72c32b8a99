//! One file per instruction: its row of the table, its rules, its tests.

use crate::error::Framework;
use crate::table::Instruction;
use crate::ID;
use pinocchio::address::address_eq;
use pinocchio::error::ProgramResult;
use pinocchio::{AccountView, Address};

macro_rules! instructions {
    ($($name:ident),* $(,)?) => {
        $( pub mod $name; )*

        /// The rows of the table.
        pub const INSTRUCTIONS: &[&Instruction] = &[$(&$name::ROW),*];

        /// Runs the instruction that the first eight bytes of the data name.
        ///
        /// # Errors
        /// 4100 when the program runs at another address than its own, 100 without eight bytes, 101 when no instruction
        /// has them, otherwise the instruction's.
        #[inline(always)]
        pub fn dispatch(program_id: &Address, accounts: &mut [AccountView], data: &[u8]) -> ProgramResult {
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
    create_negotiation,
    accept_invitation,
    submit_offer,
    accept_offer,
    reject_negotiation,
    expire_negotiation,
    close_negotiation,
    claim_payout,
];
