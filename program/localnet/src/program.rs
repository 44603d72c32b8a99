//! The upgradeable loader's accounts of a deployed program: a Program account that points to a ProgramData
//! account, which holds the slot of the deployment, the upgrade authority and the ELF.

use std::{fs, path::Path};

use solana_account::Account;
use solana_pubkey::{pubkey, Pubkey};

const UPGRADEABLE_LOADER: Pubkey = pubkey!("BPFLoaderUpgradeab1e11111111111111111111111");
/// Tags of the loader's account states.
const PROGRAM: u32 = 2;
const PROGRAM_DATA: u32 = 3;

/// A program that the chain has from its first slot on.
pub struct Program {
    address: Pubkey,
    upgrade_authority: Pubkey,
    elf: Vec<u8>,
}

impl Program {
    pub fn read(address: Pubkey, file: &Path, upgrade_authority: Pubkey) -> Result<Self, String> {
        let elf = fs::read(file)
            .map_err(|error| format!("cannot read the program {}: {error}", file.display()))?;
        if !elf.starts_with(b"\x7fELF") {
            return Err(format!(
                "{} is not a program: it does not begin like an ELF file",
                file.display()
            ));
        }
        Ok(Self {
            address,
            upgrade_authority,
            elf,
        })
    }

    pub fn address(&self) -> Pubkey {
        self.address
    }

    /// The two accounts in the order in which the chain must load them: ProgramData first. `rent` returns the
    /// rent-exempt minimum for a size, in lamports.
    pub fn accounts(&self, rent: impl Fn(usize) -> u64) -> [(Pubkey, Account); 2] {
        let (program_data, _) =
            Pubkey::find_program_address(&[self.address.as_ref()], &UPGRADEABLE_LOADER);
        let account = |data: Vec<u8>, executable| Account {
            lamports: rent(data.len()),
            data,
            owner: UPGRADEABLE_LOADER,
            executable,
            rent_epoch: u64::MAX,
        };
        [
            (program_data, account(self.program_data(), false)),
            (
                self.address,
                account(
                    [&PROGRAM.to_le_bytes()[..], program_data.as_ref()].concat(),
                    true,
                ),
            ),
        ]
    }

    fn program_data(&self) -> Vec<u8> {
        let deployed_in_slot: u64 = 0;
        [
            &PROGRAM_DATA.to_le_bytes()[..],
            &deployed_in_slot.to_le_bytes(),
            &[1], // an authority follows
            self.upgrade_authority.as_ref(),
            &self.elf,
        ]
        .concat()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn program_data_stores_the_authority_before_the_elf() {
        let authority = Pubkey::new_from_array([7; 32]);
        let program = Program {
            address: Pubkey::new_from_array([9; 32]),
            upgrade_authority: authority,
            elf: vec![0xee; 3],
        };
        let [(data_address, data), (address, account)] = program.accounts(|length| length as u64);

        assert_eq!(data.data[..4], [3, 0, 0, 0]);
        assert_eq!(data.data[4..12], [0; 8]);
        assert_eq!(data.data[12], 1);
        assert_eq!(data.data[13..45], authority.to_bytes());
        assert_eq!(data.data[45..], [0xee; 3]);
        assert_eq!(data.lamports, 48);
        assert!(!data.executable);

        assert_eq!(address, program.address());
        assert_eq!(account.data[..4], [2, 0, 0, 0]);
        assert_eq!(account.data[4..], data_address.to_bytes());
        assert!(account.executable);
    }

    #[test]
    fn a_file_without_an_elf_header_is_refused() {
        let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("Cargo.toml");
        let error = Program::read(Pubkey::default(), &file, Pubkey::default())
            .err()
            .unwrap();
        assert!(error.contains("does not begin like an ELF file"), "{error}");
    }
}
