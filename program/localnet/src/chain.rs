//! The embedded chain: surfpool's virtual machine, its block production and its RPC servers, without any
//! remote node.

use std::{net::TcpListener, thread};

use serde_json::{json, Value};
use solana_account::Account;
use solana_pubkey::Pubkey;
use surfpool_core::surfnet::{
    locker::SurfnetSvmLocker,
    svm::{SurfnetSvm, SurfnetSvmConfig},
};
use surfpool_types::{
    channel::{self, Receiver},
    BlockProductionMode, RpcConfig, SimnetConfig, SimnetEvent, SurfpoolConfig,
};
use tokio::runtime::Runtime;

use crate::program::Program;

const HOST: &str = "127.0.0.1";
/// The number of attempts to find free ports: another process can take a port between its discovery and its
/// use.
const PORT_ATTEMPTS: usize = 5;
/// The lamports that solana-test-validator gives to its --mint.
const FAUCET_LAMPORTS: u64 = 500_000_000 * 1_000_000_000;

pub struct Settings {
    pub programs: Vec<Program>,
    pub faucet: Option<Pubkey>,
    pub rpc_port: u16,
    pub ws_port: u16,
    pub slot_time: u64,
}

pub struct Chain {
    rpc_port: u16,
    ws_port: u16,
    events: Receiver<SimnetEvent>,
}

/// Starts a chain and returns when its servers answer.
pub fn start(settings: &Settings) -> Result<Chain, String> {
    let ports_given = settings.rpc_port != 0 && settings.ws_port != 0;
    let mut attempt = 1;
    loop {
        match start_once(settings) {
            Err(error) if !ports_given && attempt < PORT_ATTEMPTS && error.contains("in use") => {
                attempt += 1
            }
            outcome => return outcome,
        }
    }
}

fn start_once(settings: &Settings) -> Result<Chain, String> {
    let (rpc_port, ws_port) = choose_ports(settings)?;
    let simnet = SimnetConfig {
        offline_mode: true,
        remote_rpc_url: None,
        slot_time: settings.slot_time,
        block_production_mode: BlockProductionMode::Clock,
        instruction_profiling_enabled: false,
        ..Default::default()
    };
    let (mut svm, events, geyser_events) = SurfnetSvm::new(SurfnetSvmConfig {
        slot_time: simnet.slot_time,
        instruction_profiling_enabled: simnet.instruction_profiling_enabled,
        max_profiles: simnet.max_profiles,
        log_bytes_limit: simnet.log_bytes_limit,
        ..Default::default()
    })
    .map_err(|error| format!("cannot set up the virtual machine: {error}"))?;
    for program in &settings.programs {
        load(&mut svm, program)?;
    }
    if let Some(faucet) = settings.faucet {
        endow(&mut svm, faucet)?;
    }

    let config = SurfpoolConfig {
        simnets: vec![simnet],
        rpc: RpcConfig {
            bind_host: HOST.to_string(),
            bind_port: rpc_port,
            ws_port,
            ..Default::default()
        },
        ..Default::default()
    };
    let runtime = Runtime::new().map_err(|error| format!("cannot start threads: {error}"))?;
    let (commands, pending_commands) = channel::unbounded();
    let (failure, failed) = channel::bounded(1);
    thread::spawn(move || {
        let outcome = runtime.block_on(surfpool_core::runloops::start_local_surfnet_runloop(
            SurfnetSvmLocker::new(svm),
            config,
            commands,
            pending_commands,
            geyser_events,
        ));
        let reason = outcome.err().map(|error| error.to_string());
        let _ = failure.send(reason.unwrap_or_else(|| "the chain ended by itself".to_string()));
    });

    loop {
        channel::select! {
            recv(events) -> event => match event {
                Ok(SimnetEvent::CoreStarted(_)) => return Ok(Chain { rpc_port, ws_port, events }),
                Ok(SimnetEvent::Aborted(reason)) => return Err(reason),
                Ok(_) => {}
                Err(_) => return Err(failed.recv().unwrap_or_default()),
            },
            recv(failed) -> reason => return Err(reason.unwrap_or_default()),
        }
    }
}

fn load(svm: &mut SurfnetSvm, program: &Program) -> Result<(), String> {
    let accounts = program.accounts(|length| svm.inner.minimum_balance_for_rent_exemption(length));
    for (address, account) in accounts {
        svm.set_account(&address, account)
            .map_err(|error| format!("cannot load program {}: {error}", program.address()))?;
    }
    Ok(())
}

fn endow(svm: &mut SurfnetSvm, faucet: Pubkey) -> Result<(), String> {
    let account = Account {
        lamports: FAUCET_LAMPORTS,
        rent_epoch: u64::MAX,
        ..Default::default()
    };
    svm.set_account(&faucet, account)
        .map_err(|error| format!("cannot fund the faucet {faucet}: {error}"))
}

fn choose_ports(settings: &Settings) -> Result<(u16, u16), String> {
    // Both listeners stay open until both ports are known, so that the ports differ.
    let rpc = TcpListener::bind((HOST, settings.rpc_port))
        .map_err(|error| format!("--rpc-port {}: {error}", settings.rpc_port))?;
    let ws = TcpListener::bind((HOST, settings.ws_port))
        .map_err(|error| format!("--ws-port {}: {error}", settings.ws_port))?;
    let port = |listener: &TcpListener| listener.local_addr().map(|address| address.port());
    port(&rpc)
        .and_then(|rpc| Ok((rpc, port(&ws)?)))
        .map_err(|error| format!("cannot learn which ports are free: {error}"))
}

impl Chain {
    pub fn endpoints(&self) -> Value {
        json!({
            "rpc_url": format!("http://{HOST}:{}", self.rpc_port),
            "ws_url": format!("ws://{HOST}:{}", self.ws_port),
        })
    }

    /// Reads the chain's events until they end, and returns the reason of the end. The chain blocks or drops
    /// events that are not read.
    pub fn log_until_stopped(self, verbose: bool) -> String {
        while let Ok(event) = self.events.recv() {
            match event {
                SimnetEvent::ErrorLog(_, message) => eprintln!("error: {message}"),
                SimnetEvent::WarnLog(_, message) => eprintln!("warning: {message}"),
                SimnetEvent::Aborted(reason) => return reason,
                SimnetEvent::Shutdown => return "the chain shut itself down".to_string(),
                SimnetEvent::InfoLog(_, message) if verbose => eprintln!("info: {message}"),
                SimnetEvent::DebugLog(_, message) if verbose => eprintln!("debug: {message}"),
                SimnetEvent::TransactionProcessed(_, meta, error) if verbose => eprintln!(
                    "transaction {}: {}, {} compute units",
                    meta.signature,
                    error.map_or("ok".to_string(), |error| error.to_string()),
                    meta.compute_units_consumed
                ),
                _ => {}
            }
        }
        "the chain's event stream ended".to_string()
    }
}
