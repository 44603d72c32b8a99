//! The program's ELF, and the Mollusk instance that builds the environments.

use haggle_program::ID;
use mollusk_svm::program::loader_keys::LOADER_V3;
use mollusk_svm::Mollusk;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The environment variable that names another ELF than the built one.
pub const ELF_VARIABLE: &str = "HAGGLE_FUZZ_ELF";

/// The path of the ELF.
pub fn elf_path() -> PathBuf {
    match std::env::var_os(ELF_VARIABLE) {
        Some(path) => path.into(),
        None => Path::new(env!("CARGO_MANIFEST_DIR")).join("../../sdk/localnet/haggle.so"),
    }
}

/// The ELF, which `make program` builds.
pub fn elf() -> &'static [u8] {
    static ELF: OnceLock<Vec<u8>> = OnceLock::new();
    ELF.get_or_init(|| {
        // The runtime's log takes longer than the runtime.
        if std::env::var_os("RUST_LOG").is_none() {
            std::env::set_var("RUST_LOG", "off");
        }
        let path = elf_path();
        std::fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    })
}

/// Mollusk with Haggle and the SPL token programs.
pub fn machine() -> Mollusk {
    let elf = elf();
    let mut machine = Mollusk::default();
    machine.add_program_with_loader_and_elf(&ID, &LOADER_V3, elf);
    mollusk_svm_programs_token::token::add_program(&mut machine);
    mollusk_svm_programs_token::token2022::add_program(&mut machine);
    mollusk_svm_programs_token::associated_token::add_program(&mut machine);
    machine
}
