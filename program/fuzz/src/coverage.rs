//! What the virtual machine did, from its trace of registers: the branches it took, which guide libFuzzer, how the call
//! ended, and what the program wrote.

use solana_program_runtime::invoke_context::{Executable, RegisterTrace};
use solana_program_runtime::solana_sbpf::ebpf;
use solana_program_runtime::solana_sbpf::program::SBPFVersion;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// How many directions of branches can be counted.
const MOST_DIRECTIONS: usize = 1 << 14;
/// How many kinds of outcomes can be counted.
const MOST_OUTCOMES: usize = 1 << 12;

/// libFuzzer reads what is in this section as coverage, and clears it before each run.
#[link_section = "__libfuzzer_extra_counters"]
static DIRECTIONS: [AtomicU8; MOST_DIRECTIONS] = [const { AtomicU8::new(0) }; MOST_DIRECTIONS];

/// The same for what calls answer: a case that is the first to get an answer out of an instruction is worth keeping.
#[link_section = "__libfuzzer_extra_counters"]
static OUTCOMES: [AtomicU8; MOST_OUTCOMES] = [const { AtomicU8::new(0) }; MOST_OUTCOMES];

/// Tells libFuzzer that a run had this outcome.
pub fn count_outcome(outcome: usize) {
    OUTCOMES[outcome % MOST_OUTCOMES].store(1, Ordering::Relaxed);
}

/// What an instruction of the program does, as far as the trace is read.
#[derive(Clone, Copy)]
enum Does {
    /// Nothing that is looked at.
    Compute,
    /// A branch that depends on something, with its number.
    Branch(usize),
    /// Writes so many bytes at a register and an offset.
    Store { base: u8, offset: i16, size: u64 },
    /// Calls the runtime's function of this name.
    Syscall(&'static str),
    /// Returns.
    Exit,
}

/// How a call ended inside the program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum End {
    /// The program returned this.
    Returned(u64),
    /// A call of the runtime did not come back.
    InSyscall(&'static str),
    /// Some other instruction could not be executed.
    Fault {
        /// The instruction's number.
        at: u64,
    },
    /// The program was never started.
    #[default]
    NotStarted,
}

/// Calls another program.
pub const INVOKE: &str = "sol_invoke_signed_c";
const MEMCPY: &str = "sol_memcpy_";
const MEMMOVE: &str = "sol_memmove_";
const MEMSET: &str = "sol_memset_";

/// The program's instructions.
pub struct Text {
    does: Vec<Does>,
    branches: usize,
}

/// What the trace of one call shows.
#[derive(Default)]
pub struct Traced {
    /// How the call ended.
    pub end: End,
    /// How often the program called another one.
    pub calls: usize,
    /// The addresses that the program wrote to in the memory that holds its accounts, in order. Writes of the runtime's
    /// memory functions are among them.
    pub writes: Vec<Range<u64>>,
}

impl Text {
    /// Reads a program.
    ///
    /// # Panics
    /// When it is of another version of the instruction set than those that this module knows, or has too many branches.
    pub fn of(program: &Executable) -> Self {
        assert!(
            [SBPFVersion::V0, SBPFVersion::V3].contains(&program.get_sbpf_version()),
            "only programs of SBF versions 0 and 3 can be read"
        );
        let (_, text) = program.get_text_bytes();
        let mut branches = 0;
        let mut does = Vec::new();
        let mut second_half = false;
        for at in 0..text.len() / ebpf::INSN_SIZE {
            let instruction = ebpf::get_insn_unchecked(text, at);
            does.push(if std::mem::take(&mut second_half) {
                Does::Compute
            } else {
                second_half = instruction.opc == ebpf::LD_DW_IMM;
                Self::classify(&instruction, program, &mut branches)
            });
        }
        assert!(2 * branches <= MOST_DIRECTIONS, "{branches} branches");
        Self { does, branches }
    }

    fn classify(instruction: &ebpf::Insn, program: &Executable, branches: &mut usize) -> Does {
        const CLASS: u8 = 0x07;
        const STORES: [u8; 2] = [ebpf::BPF_ST, ebpf::BPF_STX];
        const JUMPS: [u8; 2] = [ebpf::BPF_JMP64, ebpf::BPF_JMP32];
        const SIZE: u8 = 0x18;
        match instruction.opc {
            ebpf::EXIT => Does::Exit,
            // From version 3 on a call says itself that it goes to a function of the program's.
            ebpf::CALL_IMM
                if instruction.src == 0 || program.get_sbpf_version() == SBPFVersion::V0 =>
            {
                let key = instruction.imm as u32;
                let syscalls = program.get_loader().get_function_registry();
                match syscalls.lookup_by_key(key) {
                    // There are a few dozen names, and programs are read once.
                    Some((name, _)) => {
                        Does::Syscall(String::from_utf8_lossy(name).into_owned().leak())
                    }
                    None => Does::Compute,
                }
            }
            ebpf::CALL_IMM | ebpf::CALL_REG | ebpf::JA => Does::Compute,
            opcode if JUMPS.contains(&(opcode & CLASS)) => {
                *branches += 1;
                Does::Branch(*branches - 1)
            }
            opcode if STORES.contains(&(opcode & CLASS)) => Does::Store {
                base: instruction.dst,
                offset: instruction.off,
                size: [4, 2, 1, 8][usize::from((opcode & SIZE) >> 3)],
            },
            _ => Does::Compute,
        }
    }

    /// In how many directions the program's branches can go.
    pub fn directions(&self) -> usize {
        2 * self.branches
    }

    /// Reads a trace, counts the directions that its branches took for libFuzzer, and marks them in `seen`.
    pub fn read(&self, trace: RegisterTrace, seen: &mut [bool]) -> Traced {
        const PC: usize = 11;
        let mut writes = Vec::new();
        let mut write = |at: u64, size: u64| {
            if at >= ebpf::MM_INPUT_START && size > 0 {
                writes.push(at..at.saturating_add(size));
            }
        };
        let (mut end, mut calls) = (End::NotStarted, 0);
        for (step, registers) in trace.iter().enumerate() {
            let pc = registers[PC];
            end = End::Fault { at: pc };
            match self.does[pc as usize] {
                Does::Compute => {}
                Does::Branch(number) => {
                    if let Some(next) = trace.get(step + 1) {
                        let direction = 2 * number + usize::from(next[PC] != pc + 1);
                        seen[direction] = true;
                        let counter = &DIRECTIONS[direction];
                        let count = counter.load(Ordering::Relaxed).saturating_add(1);
                        counter.store(count, Ordering::Relaxed);
                    }
                }
                Does::Store { base, offset, size } => {
                    let base = registers[usize::from(base)];
                    write(base.wrapping_add_signed(offset.into()), size);
                }
                Does::Syscall(name) => {
                    if [MEMCPY, MEMMOVE, MEMSET].contains(&name) {
                        write(registers[1], registers[3]);
                    }
                    calls += usize::from(name == INVOKE);
                    end = End::InSyscall(name);
                }
                Does::Exit => end = End::Returned(registers[0]),
            }
        }
        Traced { end, calls, writes }
    }
}
