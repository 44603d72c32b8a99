//! The virtual machine with the deployed file and the cluster's token programs.

use crate::ID;
use mollusk_svm::program::loader_keys::LOADER_V3;
use mollusk_svm::Mollusk;
use solana_compute_budget::compute_budget::ComputeBudget;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

/// The program's file, built from these sources if it is out of date.
pub fn elf() -> &'static [u8] {
    static ELF: OnceLock<Vec<u8>> = OnceLock::new();
    ELF.get_or_init(|| {
        // The virtual machine's own log doubles the time of the tests; set RUST_LOG to enable it.
        if std::env::var_os("RUST_LOG").is_none() {
            std::env::set_var("RUST_LOG", "off");
        }
        run_tool("build-program");
        read(&workspace().with_file_name("sdk").join("localnet/haggle.so"))
    })
}

/// SPL Token 3.5, which lacks batches: used on clusters before activating p-token.
pub fn spl_token_without_batches() -> Vec<u8> {
    let path = run_tool("spl-token-without-batches");
    read(Path::new(path.trim_end()))
}

fn workspace() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
        .parent()
        .expect("the crate lies in the workspace")
}

/// Runs a script of toolchain/ and returns the output.
fn run_tool(name: &str) -> String {
    let script = workspace().with_file_name("toolchain").join(name);
    let output = Command::new(&script)
        // Cargo points these at the compiler of the host.
        .env_remove("LD_LIBRARY_PATH")
        .env_remove("RUSTC")
        .output()
        .unwrap_or_else(|error| panic!("{}: {error}", script.display()));
    assert!(
        output.status.success(),
        "{} fails:\n{}",
        script.display(),
        String::from_utf8_lossy(&output.stderr),
    );
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn read(file: &Path) -> Vec<u8> {
    std::fs::read(file).unwrap_or_else(|error| panic!("{}: {error}", file.display()))
}

/// A virtual machine with Haggle and the SPL token programs. [`super::fixture::Fixture::run`] keeps a virtual
/// machine for each thread, because creating it takes longer than most tests.
pub fn machine() -> Mollusk {
    let elf = elf();
    let mut machine = Mollusk::default();
    machine.add_program_with_loader_and_elf(&ID, &LOADER_V3, elf);
    mollusk_svm_programs_token::token::add_program(&mut machine);
    mollusk_svm_programs_token::token2022::add_program(&mut machine);
    mollusk_svm_programs_token::associated_token::add_program(&mut machine);
    machine
}

/// The costs charged by the machine.
pub fn machine_budget() -> ComputeBudget {
    ComputeBudget::new_with_defaults(true)
}
