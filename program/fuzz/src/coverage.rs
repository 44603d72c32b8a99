//! Call traces: the branches that the program took, which guide libFuzzer, the end of the call, and the
//! program's account writes.

use solana_program_runtime::invoke_context::{Executable, RegisterTrace};
use solana_program_runtime::solana_sbpf::ebpf;
use solana_program_runtime::solana_sbpf::program::SBPFVersion;
use std::ops::Range;
use std::sync::atomic::{AtomicU8, Ordering};

/// The most directions of branches.
const MOST_DIRECTIONS: usize = 1 << 14;
/// libFuzzer reads this section as coverage, and clears it before every run.
#[link_section = "__libfuzzer_extra_counters"]
static DIRECTIONS: [AtomicU8; MOST_DIRECTIONS] = [const { AtomicU8::new(0) }; MOST_DIRECTIONS];

/// The program's instruction kinds, as far as the trace is read.
#[derive(Clone, Copy)]
enum Kind {
    /// Any other instruction.
    Other,
    /// A conditional branch and the branch number.
    Branch(usize),
    /// Writes `size` bytes at a register and an offset.
    Store { base: u8, offset: i16, size: u64 },
    /// Calls the runtime's function of this name.
    Syscall(&'static str),
    /// Returns.
    Exit,
}

/// How a call ends inside the program.
#[derive(Clone, Copy, PartialEq, Eq, Default, Debug)]
pub enum End {
    /// The program returned this.
    Returned(u64),
    /// A call of the runtime did not return.
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
    kinds: Vec<Kind>,
    branches: usize,
}

/// The trace contents for a single call.
#[derive(Default)]
pub struct Traced {
    /// The end of the call.
    pub end: End,
    /// The number of calls to other programs.
    pub calls: usize,
    /// The addresses in the input, which holds the accounts, that the program wrote to, in order. Writes of
    /// the runtime's memory functions are included.
    pub writes: Vec<Range<u64>>,
}

impl Text {
    /// Reads a program.
    ///
    /// # Panics
    /// If the program has an unknown version of the instruction set, or too many branches.
    pub fn of(program: &Executable) -> Self {
        assert!(
            [SBPFVersion::V0, SBPFVersion::V3].contains(&program.get_sbpf_version()),
            "only programs of SBF versions 0 and 3 can be read"
        );
        let (_, text) = program.get_text_bytes();
        let mut branches = 0;
        let mut kinds = Vec::new();
        let mut second_half = false;
        for at in 0..text.len() / ebpf::INSN_SIZE {
            let instruction = ebpf::get_insn_unchecked(text, at);
            kinds.push(if std::mem::take(&mut second_half) {
                Kind::Other
            } else {
                second_half = instruction.opc == ebpf::LD_DW_IMM;
                Self::classify(&instruction, program, &mut branches)
            });
        }
        assert!(2 * branches <= MOST_DIRECTIONS, "{branches} branches");
        Self { kinds, branches }
    }

    fn classify(instruction: &ebpf::Insn, program: &Executable, branches: &mut usize) -> Kind {
        const CLASS: u8 = 0x07;
        const STORES: [u8; 2] = [ebpf::BPF_ST, ebpf::BPF_STX];
        const JUMPS: [u8; 2] = [ebpf::BPF_JMP64, ebpf::BPF_JMP32];
        const SIZE: u8 = 0x18;
        match instruction.opc {
            ebpf::EXIT => Kind::Exit,
            // From version 3 on the instruction itself distinguishes calls of the program's functions.
            ebpf::CALL_IMM
                if instruction.src == 0 || program.get_sbpf_version() == SBPFVersion::V0 =>
            {
                let key = instruction.imm as u32;
                let syscalls = program.get_loader().get_function_registry();
                match syscalls.lookup_by_key(key) {
                    // Leaks a few dozen names: programs are read once.
                    Some((name, _)) => {
                        Kind::Syscall(String::from_utf8_lossy(name).into_owned().leak())
                    }
                    None => Kind::Other,
                }
            }
            ebpf::CALL_IMM | ebpf::CALL_REG | ebpf::JA => Kind::Other,
            opcode if JUMPS.contains(&(opcode & CLASS)) => {
                *branches += 1;
                Kind::Branch(*branches - 1)
            }
            opcode if STORES.contains(&(opcode & CLASS)) => Kind::Store {
                base: instruction.dst,
                offset: instruction.off,
                size: [4, 2, 1, 8][usize::from((opcode & SIZE) >> 3)],
            },
            _ => Kind::Other,
        }
    }

    /// The number of directions of the program's branches.
    pub fn directions(&self) -> usize {
        2 * self.branches
    }

    /// Reads a trace, counts the directions taken at branches for libFuzzer, and marks them in `seen`.
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
            match self.kinds[pc as usize] {
                Kind::Other => {}
                Kind::Branch(number) => {
                    if let Some(next) = trace.get(step + 1) {
                        let direction = 2 * number + usize::from(next[PC] != pc + 1);
                        seen[direction] = true;
                        let counter = &DIRECTIONS[direction];
                        let count = counter.load(Ordering::Relaxed).saturating_add(1);
                        counter.store(count, Ordering::Relaxed);
                    }
                }
                Kind::Store { base, offset, size } => {
                    let base = registers[usize::from(base)];
                    write(base.wrapping_add_signed(offset.into()), size);
                }
                Kind::Syscall(name) => {
                    if [MEMCPY, MEMMOVE, MEMSET].contains(&name) {
                        write(registers[1], registers[3]);
                    }
                    calls += usize::from(name == INVOKE);
                    end = End::InSyscall(name);
                }
                Kind::Exit => end = End::Returned(registers[0]),
            }
        }
        Traced { end, calls, writes }
    }
}
