//! program/CU.md and program/cu.json.

use super::ceilings::{ceiling_of, CEILINGS};
use super::meter::Measured;
use super::search::Worst;
use super::Figures;
use std::fmt::Write;

const HEAD: &str = "\
# Compute units

<!-- Written by `make cu` from measurements. Do not edit: a test compares it. -->

Every figure comes from running the deployed file in a validator's virtual machine, with SPL Token as p-token
1.0.0. A figure that changes fails the tests until `make cu` has rewritten this page, and no figure may exceed its
ceiling.

- *Typical* is the first case of the instruction in the second table.
- *Worst* is the highest figure of all reachable combinations at the first bump of every address: state, signer,
  optional accounts, metadata, bond, milestones, amounts, donations, the conditions of the token accounts that pay
  and are paid, wrapped SOL, and a mint with every extension. A search visits them; the last two tables name the
  worst ones. Two things can cost more: accounts behind the last one of the list, and lamports sent ahead to an
  address that is created.
- *Each further bump* is the additional cost of the worst case for every bump that is tried for one of that many
  addresses: those of the negotiation and the vault at creation; later those of associated token accounts that a
  payment is recorded for.
- Token-2022 has no batches, so each of its transfers is a call of its own. Its associated token accounts have an
  immutable owner.

The typical figures without a check show its cost. created_at in the instructions that a party or the arbiter
signs costs at most 13 units, in claim_payout. The check of delegate and close authority of a paid account
costs at most 12 units, in settle_by_agreement. claim_milestone and dispute_milestone cost over 3 % more than
before they took a hash of the evidence: 32 units for its 32 bytes in the log, 8 to copy them.

| instruction | typical | ceiling | worst | ceiling | Token-2022: typical | worst | ceiling | each further bump |
|---|--:|--:|--:|--:|--:|--:|--:|--:|
";

const CASES: &str = "
## Cases

Units of a case are calls of other programs (the runtime's charge and the programs' own units), events, other
syscalls (address derivation, hashes, clock and rent, large copies), and the instructions of the program itself,
which are ours to reduce. In italics: cases beyond the conditions of *worst*.

| instruction | case | units | calls | events | syscalls | ours | Token-2022 | calls | events | syscalls | ours |
|---|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

const WORST: &str = "
## Worst combinations

| instruction | combinations | worst under SPL Token | units | calls | events | syscalls | ours |
|---|--:|---|--:|--:|--:|--:|--:|
";

const WORST_2022: &str = "
| instruction | combinations | worst under Token-2022 | units | calls | events | syscalls | ours |
|---|--:|---|--:|--:|--:|--:|--:|
";

/// Renders program/CU.md from the figures under SPL Token and under Token-2022.
pub fn page([spl, token_2022]: &[Figures; 2]) -> String {
    let mut page = String::from(HEAD);
    for ceiling in CEILINGS {
        let [typical, typical_2022] =
            [spl, token_2022].map(|figures| typical(figures, ceiling.instruction));
        let [worst, worst_2022] =
            [spl, token_2022].map(|figures| worst(figures, ceiling.instruction));
        let bumps = worst.bumps.map_or("none".to_owned(), |(units, addresses)| {
            format!("{} x {addresses}", grouped(units))
        });
        row(
            &mut page,
            &[
                ceiling.instruction.to_owned(),
                grouped(typical.units),
                grouped(ceiling.typical),
                grouped(worst.units),
                grouped(ceiling.worst[0]),
                grouped(typical_2022.units),
                grouped(worst_2022.units),
                grouped(ceiling.worst[1]),
                bumps,
            ],
        );
    }
    page.push_str(CASES);
    for (case, other) in spl.cases.iter().zip(&token_2022.cases) {
        assert_eq!(
            (case.instruction, &case.case),
            (other.instruction, &other.case)
        );
        let name = if case.is_beyond {
            format!("*{}*", case.case)
        } else {
            case.case.clone()
        };
        let mut cells = vec![case.instruction.to_owned(), name];
        cells.extend(units(case));
        cells.extend(units(other));
        row(&mut page, &cells);
    }
    for (head, figures) in [(WORST, spl), (WORST_2022, token_2022)] {
        page.push_str(head);
        for worst in &figures.worst {
            let parts = worst.parts.as_ref().expect("each search visits something");
            let mut cells = vec![
                worst.instruction.to_owned(),
                grouped(worst.visited as u64),
                worst.combination.clone(),
            ];
            cells.extend(units(parts));
            row(&mut page, &cells);
        }
    }
    page
}

/// The worst cases for clients that set a compute limit: program/cu.json.
pub fn json([spl, token_2022]: &[Figures; 2]) -> String {
    let rows: Vec<String> = CEILINGS
        .iter()
        .map(|ceiling| {
            let [worst, worst_2022] =
                [spl, token_2022].map(|figures| worst(figures, ceiling.instruction));
            let (bump, addresses) = worst.bumps.unwrap_or((0, 0));
            format!(
                "  \"{}\": {{ \"spl_token\": {}, \"token_2022\": {}, \"each_further_bump\": {bump}, \"addresses\": {addresses} }}",
                ceiling.instruction, worst.units, worst_2022.units
            )
        })
        .collect();
    format!("{{\n{}\n}}\n", rows.join(",\n"))
}

fn typical<'a>(figures: &'a Figures, instruction: &str) -> &'a Measured {
    let mut cases = figures.cases.iter();
    cases
        .find(|case| case.instruction == instruction)
        .expect("each instruction has a typical case")
}

fn worst<'a>(figures: &'a Figures, instruction: &str) -> &'a Worst {
    let mut worst = figures.worst.iter();
    worst
        .find(|worst| worst.instruction == ceiling_of(instruction).instruction)
        .expect("each instruction is searched")
}

/// The cells for the case's units and their parts.
fn units(case: &Measured) -> [String; 5] {
    [
        case.units,
        case.calls,
        case.events,
        case.syscalls(),
        case.ours,
    ]
    .map(grouped)
}

fn row(page: &mut String, cells: &[String]) {
    writeln!(page, "| {} |", cells.join(" | ")).expect("a string takes everything");
}

/// A number with thousands separated by commas.
fn grouped(number: u64) -> String {
    let digits = number.to_string();
    let mut grouped = String::new();
    for (at, digit) in digits.chars().enumerate() {
        if at > 0 && (digits.len() - at).is_multiple_of(3) {
            grouped.push(',');
        }
        grouped.push(digit);
    }
    grouped
}
