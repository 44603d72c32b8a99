//! The compute units of every instruction, measured on the deployed file under SPL Token and Token-2022. They
//! are compared with their ceilings and program/CU.md.

mod cases;
mod ceilings;
mod combinations;
mod meter;
mod milestones;
mod page;
mod search;
mod start;

use super::fixture::{in_mint, MINT, MINT_2022, NATIVE_MINT};
use ceilings::{ceiling_of, corrections, CEILINGS, CORRECTIONS};
use combinations::{Milestones, HUGE};
use meter::Measured;
use search::Worst;
use start::Start;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// The measurements using a mint from a single token program.
pub struct Figures {
    /// The named cases. Every instruction's first case is typical.
    pub cases: Vec<Measured>,
    /// Every instruction's worst combination.
    pub worst: Vec<Worst>,
}

impl Figures {
    fn of(start: &Start) -> Self {
        Self {
            cases: cases::all(start),
            worst: search::all(start, false),
        }
    }

    /// Adds the combinations of another mint.
    fn include(&mut self, mint: &str, others: Vec<Worst>) {
        for (worst, other) in self.worst.iter_mut().zip(others) {
            worst.include(mint, other);
        }
    }
}

/// The figures under SPL Token and under Token-2022. They are measured once, on two threads.
fn figures() -> &'static [Figures; 2] {
    static FIGURES: OnceLock<[Figures; 2]> = OnceLock::new();
    FIGURES.get_or_init(|| {
        let spl_token = || {
            let mut figures = in_mint(MINT, || Figures::of(&Start::new()));
            let wrapped_sol = in_mint(NATIVE_MINT, || search::all(&Start::new(), true));
            figures.include("wrapped SOL", wrapped_sol);
            figures
        };
        let token_2022 = || {
            in_mint(MINT_2022, || {
                let mut figures = Figures::of(&Start::new());
                let extended = search::all(&Start::with_mint_extensions(), true);
                figures.include("a mint with every extension", extended);
                figures
            })
        };
        std::thread::scope(|scope| {
            [scope.spawn(spl_token), scope.spawn(token_2022)]
                .map(|thread| thread.join().expect("every case succeeds"))
        })
    })
}

/// Reports whether Anza's compiler built the file. The committed figures come from the upstream compiler,
/// which anyone can install. The ceilings apply to both.
fn is_built_by_platform_tools() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("cargo-build-sbf").is_file())
}

fn committed(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name(name)
}

#[test]
fn no_typical_case_exceeds_its_ceiling() {
    let [spl, _] = figures();
    for ceiling in CEILINGS {
        let typical = spl
            .cases
            .iter()
            .find(|case| case.instruction == ceiling.instruction)
            .expect("each instruction has a typical case");
        assert!(
            typical.units <= ceiling.typical,
            "{}: {} > {}",
            ceiling.instruction,
            typical.units,
            ceiling.typical
        );
    }
}

#[test]
fn no_reachable_combination_exceeds_the_ceiling_of_the_worst() {
    for (at, figures) in figures().iter().enumerate() {
        assert_eq!(figures.worst.len(), CEILINGS.len());
        for worst in &figures.worst {
            let ceiling = ceiling_of(worst.instruction).worst[at];
            let units = worst.units + corrections(worst.instruction);
            assert!(
                units <= ceiling,
                "{}, {}: {units} > {ceiling}",
                worst.instruction,
                worst.combination,
            );
        }
        for case in figures.cases.iter().filter(|case| !case.is_beyond) {
            let worst = figures
                .worst
                .iter()
                .find(|worst| worst.instruction == case.instruction);
            let found = worst.expect("each instruction is searched").units;
            assert!(
                case.units <= found,
                "{}, {}: {} > {found}, so the search misses it",
                case.instruction,
                case.case,
                case.units
            );
        }
    }
}

#[test]
fn the_committed_compute_units_are_the_measured_ones() {
    for (name, measured) in [
        ("CU.md", page::page(figures())),
        ("cu.json", page::json(figures())),
    ] {
        let path = committed(name);
        if std::env::var_os("HAGGLE_WRITE_CU").is_some() {
            std::fs::write(&path, &measured).expect("the file can be written");
        }
        if is_built_by_platform_tools() {
            continue;
        }
        let committed = std::fs::read_to_string(&path).unwrap_or_default();
        let changed: Vec<_> = measured
            .lines()
            .filter(|line| !committed.lines().any(|known| known == *line))
            .collect();
        assert!(
            committed == measured,
            "program/{name} is out of date: run `make cu`.\n{}",
            changed.join("\n")
        );
    }
}

/// A bond's share of amounts beyond 2^32 needs a long division, whose cost depends on the amounts only by the
/// digit corrections, at most four. The ceilings leave room for them.
#[test]
fn amounts_hardly_change_the_cost_of_a_long_division() {
    let start = in_mint(MINT, Start::new);
    let milestones = Milestones {
        count: 2,
        decided: 0b01,
        claimed: 0b11,
        disputed: 0,
        refunded: true,
        bond: true,
        huge: false,
    };
    let accepted = start.accepted(&Milestones::terms(2, true));
    let cost = |price: u64, bond: u64| {
        let mut fixture = accepted.clone();
        combinations::with_amounts(&mut fixture, &start.deal, price, bond);
        let fixture = milestones.apply(&fixture, &start.deal);
        let call = fixture
            .release(&start.deal, start.deal.buyer, 1)
            .given("buyer_token_account", start.deal.buyer_token_account);
        meter::units(&fixture, &call)
    };
    let mut costs = vec![cost(HUGE, HUGE)];
    for bits in 33..=62u32 {
        for amount in [
            1 << bits,
            (1 << bits) - 1,
            0x5555_5555_5555_5555 >> (63 - bits),
            0x9e37_79b9_7f4a_7c15 >> (64 - bits),
        ] {
            costs.extend([cost(amount, amount), cost(amount, u64::MAX - amount)]);
        }
    }
    // Half of this price times this bond, divided by the price, needs three corrections.
    let most = cost(0x0800_2c18_6cf8, 0xb040_9d43_f059_034b);
    let least = costs.iter().min().expect("there are costs");
    assert_eq!(costs.iter().max().max(Some(&most)), Some(&most));
    assert!((most - least) * 4 <= CORRECTIONS * 3, "{least} to {most}");
}

/// The deployment rent grows with the file.
#[test]
fn the_deployed_file_is_smaller_than_130_kb() {
    if !is_built_by_platform_tools() {
        let size = super::virtual_machine::elf().len();
        assert!(size < 130_000, "{size} bytes");
    }
}
