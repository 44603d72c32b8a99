//! `haggle-svm`: a Solana virtual machine that takes requests on stdin and returns responses on stdout. A
//! request sets accounts or runs an instruction; the response contains the result, log, compute units and
//! changed accounts.
//!
//! The differential tests in Go compare the program with their reference model on it; `tests/differential/svm` is
//! the client. It does not depend on Haggle: programs are ELF files, accounts are bytes.

mod frame;
mod request;
mod response;
mod store;

use std::io::{self, BufReader, BufWriter, Write};
use std::process::ExitCode;

use request::Request;
use store::Store;

fn main() -> ExitCode {
    // The virtual machine's own logging costs more time than the execution.
    if std::env::var_os("RUST_LOG").is_none() {
        std::env::set_var("RUST_LOG", "off");
    }
    match serve() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("haggle-svm: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Writes one response for each request until stdin ends.
///
/// # Errors
/// Errors from stdin and stdout, and errors for malformed frames.
fn serve() -> io::Result<()> {
    let mut requests = BufReader::new(io::stdin().lock());
    let mut responses = BufWriter::new(io::stdout().lock());
    let mut store = Store::new();
    while let Some(frame) = frame::read(&mut requests)? {
        let response = match Request::parse(&frame) {
            Ok(request) => store.execute(request),
            Err(problem) => response::error(&problem),
        };
        frame::write(&mut responses, &response)?;
        responses.flush()?;
    }
    Ok(())
}
