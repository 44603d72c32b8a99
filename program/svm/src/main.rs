//! `haggle-svm`: a Solana virtual machine that is told over stdin what there is and what to run, and answers over
//! stdout: what an instruction returned, what it logged, what it cost and which accounts it changed.
//!
//! It is what the differential tests in Go compare their reference model with (see `internal/machine`, the other end of
//! the conversation). It knows nothing of Haggle: programs come as ELF files, accounts as bytes.

mod answer;
mod frame;
mod question;
mod store;

use std::io::{self, BufReader, BufWriter, Write};
use std::process::ExitCode;

use question::Question;
use store::Store;

fn main() -> ExitCode {
    // The machine's own log would cost more time than the machine.
    if std::env::var_os("RUST_LOG").is_none() {
        std::env::set_var("RUST_LOG", "off");
    }
    match converse() {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("haggle-svm: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Answers each question with one frame until stdin ends.
fn converse() -> io::Result<()> {
    let mut asked = BufReader::new(io::stdin().lock());
    let mut answers = BufWriter::new(io::stdout().lock());
    let mut store = Store::new();
    while let Some(frame) = frame::read(&mut asked)? {
        let answer = match Question::parse(&frame) {
            Ok(question) => store.answer(question),
            Err(problem) => answer::refusal(&problem),
        };
        frame::write(&mut answers, &answer)?;
        answers.flush()?;
    }
    Ok(())
}
