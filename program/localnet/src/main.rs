//! `haggle-localnet`: an embedded Solana chain (surfpool, offline) with programs loaded the way a deployment
//! leaves them: upgradeable, with a ProgramData account that names the upgrade authority. When the chain is
//! ready, it prints one line of JSON on stdout: `{"rpc_url":"http://...","ws_url":"ws://..."}`. Everything
//! else goes to stderr.

mod chain;
mod program;

use std::{
    io::{self, Read, Write},
    path::PathBuf,
    process::exit,
    thread,
};

use clap::Parser;
use signal_hook::{
    consts::{SIGINT, SIGTERM},
    iterator::Signals,
};
use solana_pubkey::Pubkey;

use crate::{chain::Settings, program::Program};

/// Runs a local Solana chain, offline and in memory, until SIGINT or SIGTERM.
///
/// Prints {"rpc_url":...,"ws_url":...} on stdout once it is ready; logs go to stderr.
/// The clock runs with real time and can be set forward with the RPC method surfnet_timeTravel.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// A program to load as upgradeable: its address and its ELF file. May be repeated
    #[arg(long, num_args = 2, value_names = ["ADDRESS", "ELF"], requires = "upgrade_authority")]
    program: Vec<String>,

    /// The upgrade authority that every loaded program's ProgramData account records
    #[arg(long, value_name = "ADDRESS")]
    upgrade_authority: Option<Pubkey>,

    /// An account that holds 500,000,000 SOL from the start
    #[arg(long, value_name = "ADDRESS")]
    faucet: Option<Pubkey>,

    /// Port of the JSON-RPC server on 127.0.0.1; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    rpc_port: u16,

    /// Port of the WebSocket server on 127.0.0.1; 0 is any free one
    #[arg(long, value_name = "PORT", default_value_t = 0)]
    ws_port: u16,

    /// Milliseconds between blocks. A transaction is confirmed after at most one, a blockhash expires after
    /// 150
    #[arg(long, value_name = "MILLISECONDS", default_value_t = 50, value_parser = clap::value_parser!(u64).range(10..=1_000))]
    slot_time: u64,

    /// Stop when stdin ends, so that a parent that dies leaves no chain behind
    #[arg(long)]
    exit_with_parent: bool,

    /// Log every event of the chain, not only warnings and errors
    #[arg(long, short)]
    verbose: bool,
}

fn main() {
    if let Err(error) = run(Arguments::parse()) {
        eprintln!("haggle-localnet: {error}");
        exit(1);
    }
}

fn run(arguments: Arguments) -> Result<(), String> {
    stop_on_signal()?;
    if arguments.exit_with_parent {
        stop_at_end_of_input();
    }
    let programs = load_programs(&arguments)?;
    let chain = chain::start(&Settings {
        programs,
        faucet: arguments.faucet,
        rpc_port: arguments.rpc_port,
        ws_port: arguments.ws_port,
        slot_time: arguments.slot_time,
    })?;
    announce(&chain.endpoints())?;
    Err(chain.log_until_stopped(arguments.verbose))
}

fn load_programs(arguments: &Arguments) -> Result<Vec<Program>, String> {
    let Some(authority) = arguments.upgrade_authority else {
        return Ok(Vec::new());
    };
    arguments
        .program
        .chunks_exact(2)
        .map(|pair| {
            let address = pair[0]
                .parse()
                .map_err(|error| format!("--program {}: not an address: {error}", pair[0]))?;
            Program::read(address, &PathBuf::from(&pair[1]), authority)
        })
        .collect()
}

fn announce(endpoints: &serde_json::Value) -> Result<(), String> {
    let mut stdout = io::stdout().lock();
    writeln!(stdout, "{endpoints}")
        .and_then(|()| stdout.flush())
        .map_err(|error| format!("cannot write the endpoints to stdout: {error}"))
}

/// Ends the process on SIGINT or SIGTERM. The chain is in memory, so no other step is necessary.
fn stop_on_signal() -> Result<(), String> {
    let mut signals = Signals::new([SIGINT, SIGTERM])
        .map_err(|error| format!("cannot listen for signals: {error}"))?;
    thread::spawn(move || {
        if signals.forever().next().is_some() {
            exit(0);
        }
    });
    Ok(())
}

fn stop_at_end_of_input() {
    thread::spawn(|| {
        let mut buffer = [0; 64];
        while matches!(io::stdin().read(&mut buffer), Ok(read) if read > 0) {}
        exit(0);
    });
}
