//! What every instruction costs, measured on the deployed file under both token programs, against its ceiling and against
//! program/CU.md.

mod bargaining;
mod beginning;
mod ceilings;
mod meter;
mod milestones;
mod page;
mod payouts;
mod points;
mod sealed_prices;

use super::stage::{in_mint, MINT, MINT_2022};
use ceilings::ceiling;
use meter::{Measured, Meter};
use page::page;
use pinocchio::Address;
use points::Points;
use std::path::{Path, PathBuf};

/// Every case, in a mint of either token program.
fn measure(mint: Address) -> Vec<Measured> {
    in_mint(mint, || {
        let points = Points::reach();
        let mut meter = Meter::default();
        beginning::initialize_config(&mut meter);
        beginning::administration(&mut meter);
        beginning::create_negotiation(&mut meter, &points);
        beginning::accept_invitation(&mut meter, &points);
        sealed_prices::sealed_prices(&mut meter, &points);
        bargaining::submit_offer(&mut meter, &points);
        bargaining::accept_offer(&mut meter, &points);
        bargaining::reject_negotiation(&mut meter, &points);
        bargaining::expire_negotiation(&mut meter, &points);
        payouts::close_negotiation(&mut meter, &points);
        payouts::claim_payout(&mut meter, &points);
        milestones::milestones(&mut meter, &points);
        meter.0
    })
}

/// Whether the file comes from Anza's compiler. The committed figures are those of the other one, which everyone can install;
/// the ceilings are for both.
fn is_built_by_platform_tools() -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.join("cargo-build-sbf").is_file())
}

fn committed_page() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).with_file_name("CU.md")
}

#[test]
fn no_instruction_costs_more_than_its_ceiling() {
    let measured = measure(MINT);
    let over: Vec<_> = measured
        .iter()
        .filter_map(|case| {
            let ceiling =
                ceiling(case.instruction, case.weight).filter(|ceiling| case.units > *ceiling)?;
            Some(format!(
                "{}, {}: {} > {ceiling}",
                case.instruction, case.case, case.units
            ))
        })
        .collect();
    assert!(over.is_empty(), "over the ceiling:\n{}", over.join("\n"));
}

#[test]
fn the_committed_compute_units_are_the_measured_ones() {
    let measured = page(&measure(MINT), &measure(MINT_2022));
    let path = committed_page();
    if std::env::var_os("HAGGLE_WRITE_CU").is_some() {
        std::fs::write(&path, &measured).expect("program/CU.md can be written");
        println!("{measured}");
    }
    if is_built_by_platform_tools() {
        return;
    }
    let committed = std::fs::read_to_string(&path).expect("program/CU.md is there: `make cu`");
    let changed: Vec<_> = measured
        .lines()
        .filter(|line| !committed.lines().any(|known| known == *line))
        .collect();
    let changed = changed.join("\n");
    assert!(
        committed == measured,
        "program/CU.md is out of date: run `make cu`.\n{changed}"
    );
}
