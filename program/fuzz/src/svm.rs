//! A validator's virtual machine, set up once for millions of calls.
//!
//! The program's own tests use Mollusk, which builds a new runtime environment and copies all accounts for
//! each call. This module uses the same parts, but keeps the constant ones, and also returns the call trace
//! and the accounts as the program left them, not rolled back if the call failed.

use crate::coverage::{End, Text, Traced};
use crate::{elf, ID};
use mollusk_svm::program::loader_keys::{LOADER_V2, LOADER_V3};
use mollusk_svm_programs_token::{token, token2022};
use pinocchio::Address;
use solana_account::{AccountSharedData, ReadableAccount};
use solana_clock::Clock;
use solana_hash::Hash;
use solana_instruction::error::InstructionError;
use solana_program_runtime::execution_budget::{
    SVMTransactionExecutionBudget, SVMTransactionExecutionCost,
};
use solana_program_runtime::invoke_context::{EnvironmentConfig, InvokeContext};
use solana_program_runtime::loaded_programs::{
    ProgramCacheForTxBatch, ProgramRuntimeEnvironment, ProgramRuntimeEnvironments,
};
use solana_program_runtime::program_cache_entry::{ProgramCacheEntry, ProgramCacheEntryType};
use solana_program_runtime::program_metrics::LoadProgramMetrics;
use solana_program_runtime::solana_sbpf::ebpf::MM_INPUT_START;
use solana_program_runtime::solana_sbpf::program::{BuiltinFunctionDefinition, BuiltinProgram};
use solana_program_runtime::sysvar_cache::SysvarCache;
use solana_rent::Rent;
use solana_svm_callback::InvokeContextCallback;
use solana_svm_feature_set::SVMFeatureSet;
use solana_svm_timings::ExecuteTimings;
use solana_syscalls::create_program_runtime_environment;
use solana_transaction_context::instruction_accounts::InstructionAccount;
use solana_transaction_context::transaction::TransactionContext;
use solana_transaction_context::MAX_ACCOUNTS_PER_TRANSACTION;
use std::borrow::Cow;
use std::cell::RefCell;
use std::ops::Range;
use std::sync::Arc;

/// The default instruction limit. A call that needs more is a finding.
const COMPUTE_UNITS: u64 = 200_000;

/// The sysvars that the program reads.
#[derive(Clone, Copy, PartialEq)]
pub struct Sysvars {
    /// The clock, in Unix seconds.
    pub now: i64,
    /// The rent: lamports per byte, and the factor to multiply by.
    pub rent: (u64, f64),
}

/// A call that can be run.
pub struct Call {
    /// The accounts, each once, the program among them.
    pub accounts: Vec<(Address, AccountSharedData)>,
    /// The list of accounts: an index into `accounts`, whether it signs, whether it is writable.
    pub list: Vec<(usize, bool, bool)>,
    /// The instruction's data.
    pub data: Vec<u8>,
    /// The clock and the rent.
    pub sysvars: Sysvars,
}

/// A call's result.
pub struct Run {
    /// The runtime's result.
    pub result: Result<(), InstructionError>,
    /// The end of the program itself.
    pub end: End,
    /// Whether the last program that the program called was started, and not refused by the runtime.
    pub last_call_began: bool,
    /// The accounts as the program left them, even upon failure. Lamports and owners that it changed without
    /// succeeding or calling another program are missing; `headers_written` contains them.
    pub after: Vec<AccountSharedData>,
    /// The accounts whose lamports or owner the program wrote to, as indices into the call's list.
    pub headers_written: Vec<usize>,
}

/// The virtual machine.
pub struct Svm {
    programs: ProgramCacheForTxBatch,
    environments: ProgramRuntimeEnvironments,
    features: SVMFeatureSet,
    budget: SVMTransactionExecutionBudget,
    cost: SVMTransactionExecutionCost,
    sysvars: SysvarCache,
    /// The sysvars in the cache.
    cached: Option<Sysvars>,
    text: Text,
}

/// A bank without stake or precompiled programs.
struct EmptyBank;

impl InvokeContextCallback for EmptyBank {}

impl Svm {
    /// A virtual machine with the fuzzed ELF plus the SPL token programs.
    pub fn new() -> Self {
        let features = SVMFeatureSet::all_enabled();
        let budget = SVMTransactionExecutionBudget {
            compute_unit_limit: COMPUTE_UNITS,
            ..SVMTransactionExecutionBudget::new_with_defaults(true)
        };
        let plain = create_program_runtime_environment(&features, &budget, false, false)
            .expect("the environment is a validator's");
        let traced = traced(&plain);

        let mut programs = ProgramCacheForTxBatch::default();
        let load = |loader: &Address, environment: &ProgramRuntimeEnvironment, elf: &[u8]| {
            let entry = ProgramCacheEntry::new(
                loader,
                environment.clone(),
                0,
                0,
                elf,
                elf.len(),
                &mut LoadProgramMetrics::default(),
            );
            Arc::new(entry.unwrap_or_else(|error| panic!("a program cannot be loaded: {error}")))
        };
        let program = load(&LOADER_V3, &traced, elf::elf());
        let ProgramCacheEntryType::Loaded(executable) = &program.program else {
            panic!("the program has not been loaded");
        };
        let text = Text::of(executable);
        programs.replenish(ID, program);
        for (id, loader, elf) in [
            (token::ID, LOADER_V2, token::ELF),
            (token2022::ID, LOADER_V3, token2022::ELF),
        ] {
            programs.replenish(id, load(&loader, &plain, elf));
        }
        let system = solana_system_program::system_processor::Entrypoint::register;
        let system = ProgramCacheEntry::new_builtin(0, 0, system);
        programs.replenish(haggle_program::runtime::programs::SYSTEM, Arc::new(system));
        for loader in [LOADER_V2, LOADER_V3] {
            let register = solana_bpf_loader_program::Entrypoint::register;
            let builtin = ProgramCacheEntry::new_builtin(0, 0, register);
            programs.replenish(loader, Arc::new(builtin));
        }
        Self {
            programs,
            environments: ProgramRuntimeEnvironments::new(traced.clone(), traced),
            features,
            budget,
            cost: SVMTransactionExecutionCost::default(),
            sysvars: SysvarCache::default(),
            cached: None,
            text,
        }
    }

    /// The number of directions of the program's branches.
    pub fn directions(&self) -> usize {
        self.text.directions()
    }

    /// Runs a call. The directions that the program's branches take are counted for libFuzzer and marked in
    /// `seen`.
    pub fn run(&mut self, call: &Call, seen: &mut [bool]) -> Run {
        self.set_sysvars(&call.sysvars);
        let mut context = self.context(call);
        let environment = EnvironmentConfig::new(
            Hash::default(),
            5_000,
            false,
            &EmptyBank,
            &self.features,
            &self.environments,
            &self.sysvars,
        );
        let mut runtime = InvokeContext::new(
            &mut context,
            &mut self.programs,
            environment,
            None,
            self.budget,
            self.cost,
        );
        let mut units = 0;
        let result = runtime.process_instruction(&mut units, &mut ExecuteTimings::default());

        let traced = RefCell::new(None::<Traced>);
        let seen = RefCell::new(seen);
        runtime.iterate_vm_traces(&|instruction, _, trace| {
            if instruction.get_index_in_trace() == 0 {
                *traced.borrow_mut() = Some(self.text.read(trace, &mut seen.borrow_mut()));
            }
        });
        drop(runtime);
        let inner_calls = context.number_of_cpis_in_trace();
        let after = context
            .deconstruct_without_keys()
            .expect("the call is over, and nothing borrows its accounts");
        let traced = traced.into_inner().unwrap_or_default();
        Run {
            result,
            end: traced.end,
            last_call_began: inner_calls > 0 && inner_calls == traced.calls,
            after,
            headers_written: headers_written(call, &traced.writes),
        }
    }

    fn set_sysvars(&mut self, sysvars: &Sysvars) {
        if self.cached == Some(*sysvars) {
            return;
        }
        self.sysvars.set_sysvar_for_tests(&Clock {
            unix_timestamp: sysvars.now,
            ..Clock::default()
        });
        self.sysvars.set_sysvar_for_tests(&rent(sysvars));
        self.cached = Some(*sysvars);
    }

    fn context<'a>(&self, call: &'a Call) -> TransactionContext<'a> {
        let mut context = TransactionContext::new(
            call.accounts.clone(),
            rent(&call.sysvars),
            self.budget.max_instruction_stack_depth,
            self.budget.max_instruction_trace_length,
            1,
        );
        let list: Vec<_> = call
            .list
            .iter()
            .map(|(at, signs, writable)| InstructionAccount::new(*at as u16, *signs, *writable))
            .collect();
        let mut first_places = vec![u16::MAX; MAX_ACCOUNTS_PER_TRANSACTION];
        for (place, (at, ..)) in call.list.iter().enumerate().rev() {
            first_places[*at] = place as u16;
        }
        let program = call.accounts.iter().position(|(address, _)| *address == ID);
        let program = program.expect("the program is among the accounts");
        context
            .configure_instruction_at_index(
                0,
                program as u16,
                list,
                first_places,
                Cow::Borrowed(&call.data),
                None,
            )
            .expect("there is room for one instruction");
        context
    }
}

/// The same runtime environment with a trace of registers, for the program only. The runtime's own switch for
/// the trace also makes the loader read symbols, which deployed ELF files lack.
fn traced(plain: &ProgramRuntimeEnvironment) -> ProgramRuntimeEnvironment {
    let mut config = plain.get_config().clone();
    config.enable_register_tracing = true;
    let mut environment = BuiltinProgram::new_loader(config);
    for (_, (name, function)) in plain.get_function_registry().iter() {
        let name = std::str::from_utf8(name).expect("the runtime's functions have names");
        environment
            .register_function(name, function)
            .expect("no name stands for two functions");
    }
    ProgramRuntimeEnvironment::from(environment)
}

// The newest validators ignore the factor; the clusters' sysvars still include it.
#[allow(deprecated)]
fn rent(sysvars: &Sysvars) -> Rent {
    let (lamports_per_byte, factor) = sysvars.rent;
    Rent {
        lamports_per_byte,
        exemption_threshold: factor.to_le_bytes(),
        ..Rent::default()
    }
}

/// The accounts, as indices into the list, whose lamports or owner the program wrote to.
///
/// The program input is the number of accounts, then for each account eight bytes of flags, address, owner,
/// lamports and size, data with 10,240 bytes to grow, padding to eight bytes, and eight bytes more; for a
/// repeated account it is eight bytes.
fn headers_written(call: &Call, writes: &[Range<u64>]) -> Vec<usize> {
    const OWNER: u64 = 8 + 32;
    const SIZE: u64 = OWNER + 32 + 8;
    const DATA: u64 = SIZE + 8;
    const ROOM_TO_GROW: u64 = 10_240;
    if writes.is_empty() {
        return Vec::new();
    }
    let mut written = Vec::new();
    let mut start = MM_INPUT_START + 8;
    for (place, (at, ..)) in call.list.iter().enumerate() {
        if call.list[..place].iter().any(|(earlier, ..)| earlier == at) {
            start += 8;
            continue;
        }
        let header = start + OWNER..start + SIZE;
        if writes
            .iter()
            .any(|write| write.start < header.end && header.start < write.end)
        {
            written.push(place);
        }
        let size = call.accounts[*at].1.data().len() as u64;
        start += DATA + (size + ROOM_TO_GROW).next_multiple_of(8) + 8;
    }
    written
}
