//! The virtual machine with the file that is deployed and the token programs that the cluster runs.

use crate::ID;
use mollusk_svm::program::loader_keys::LOADER_V3;
use mollusk_svm::Mollusk;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The program's file, built now from these sources unless it is up to date, so that no test ever runs an older one.
pub fn elf() -> &'static [u8] {
    static ELF: OnceLock<Vec<u8>> = OnceLock::new();
    ELF.get_or_init(|| {
        // The machine's own log doubles the time of the tests; whoever wants it asks for it.
        if std::env::var_os("RUST_LOG").is_none() {
            std::env::set_var("RUST_LOG", "off");
        }
        let workspace = Path::new(env!("CARGO_MANIFEST_DIR"))
            .parent()
            .expect("the crate lies in the workspace");
        let build = workspace.with_file_name("toolchain").join("build-program");
        let built = Command::new(&build)
            // Cargo points these at the compiler of the host.
            .env_remove("LD_LIBRARY_PATH")
            .env_remove("RUSTC")
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", build.display()));
        assert!(
            built.status.success(),
            "the program's file cannot be built, and the tests do not run an older one; {} says:\n{}",
            build.display(),
            String::from_utf8_lossy(&built.stderr),
        );
        let file = workspace.join("target/deploy/haggle.so");
        std::fs::read(&file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
    })
}

/// A machine with the program and the token programs. Making one takes longer than most tests: see
/// [`super::stage::Stage::run`], which keeps one for each thread.
pub fn machine() -> Mollusk {
    let elf = elf();
    let mut machine = Mollusk::default();
    machine.add_program_with_loader_and_elf(&ID, &LOADER_V3, elf);
    mollusk_svm_programs_token::token::add_program(&mut machine);
    mollusk_svm_programs_token::token2022::add_program(&mut machine);
    mollusk_svm_programs_token::associated_token::add_program(&mut machine);
    machine
}
