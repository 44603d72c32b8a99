//! program/CU.md.

use super::ceilings::{ceiling, BUDGETS};
use super::meter::Measured;
use super::meter::Weight::{Apart, Other, Typical};
use std::fmt::Write;

const HEAD: &str = "\
# Compute units

<!-- Written by `make cu` from measurements. Do not edit: a test compares it. -->

What each instruction costs, measured by running the deployed file in a validator's virtual machine, with SPL Token as
p-token 1.0.0, every address at its first bump and nothing sent ahead to it. Net is without what the token program used.
The ceilings are the design's, and exceeding one fails the tests; the estimates are those made before the program was written.
Token-2022 takes no batches and costs more itself: it has columns of its own, and a figure that changes fails the tests until
its line here is changed.
These ceilings were corrected:
- initialize_config, 2,100: creating an account costs 946 for the call and 150 in the system program, its event 315, reading
  the rent some 110, before any instruction of ours. (1,500 is meant for administration that creates nothing.)
- claim_payout, 2,300: it does what reject_negotiation does, the vault's address, the clock, an event and a transfer, for
  some 1,600 units of system calls, and that one's ceiling is 2,500.
- accept_offer, 3,700, and reject_negotiation, 2,600 (from 3,500 and 2,500): since bonds, milestones and the second token
  program came, each payment proves that what was owed is what is owed and what is paid, the token program is compared with
  the mint's owner, and the account's version is looked at. With a bond, 800 more (700): its event alone is 300.
- close_negotiation when it delivers to one party, 3,800, and to both, 4,400 (3,700 and 4,300): each delivery is 288 units of
  event and 220 of transfer, and each account can now be of either token program.
- reveal_zopa_price, 1,200, and 4,000 when it ends the negotiation (1,100 and 3,500): SHA-256, the clock and an event are
  some 800 units of system calls; ending it pays two parties, as accept_offer does, and writes three events to that one's two.
- resolve_dispute, 3,400 (3,000): it pays two parties in one call, as accept_offer does.
- settle_deadline, 4,700 (3,500): with eight milestones, a bond and both parties to pay it writes three events and does
  everything that accept_offer does, for 3,700, before it looks at the first of eight shares.

| instruction | best | typical | worst | ceiling | net: best | typical | worst | Token-2022: typical | estimated |
|---|--:|--:|--:|--:|--:|--:|--:|--:|--:|
";

const CASES: &str = "
## Each case

In italics what is beyond these conditions: a payment that cannot be delivered and is recorded, or is delivered with closing;
a bond; accounts of a bond where there is none; an end by revealing; a further bump to try; lamports sent ahead to an address
that is created.

| instruction | case | compute units | token program | net | ceiling | Token-2022 | net |
|---|---|--:|--:|--:|--:|--:|--:|
";

/// The whole of program/CU.md, from the cases in a mint of SPL Token and the same cases in one of Token-2022.
pub fn page(measured: &[Measured], under_2022: &[Measured]) -> String {
    let mut page = String::from(HEAD);
    for budget in &BUDGETS {
        let cases: Vec<_> = measured
            .iter()
            .filter(|case| {
                case.instruction == budget.instruction && !matches!(case.weight, Apart(_))
            })
            .collect();
        let typical = cases
            .iter()
            .find(|case| case.weight == Typical)
            .expect("one case is typical");
        let range = |value: fn(&Measured) -> u64| {
            let values = || cases.iter().map(|case| value(case));
            let best = values().min().expect("there are cases");
            let worst = values().max().expect("there are cases");
            [best, value(typical), worst].map(grouped).join(" | ")
        };
        let units = range(|case| case.units);
        let ceiling = grouped(budget.ceiling);
        let net = range(Measured::net);
        let typical_2022 = under_2022
            .iter()
            .find(|case| case.instruction == budget.instruction && case.weight == Typical)
            .map(|case| grouped(case.units))
            .expect("the same cases are measured");
        let row = [
            budget.instruction,
            &units,
            &ceiling,
            &net,
            &typical_2022,
            budget.estimate,
        ]
        .join(" | ");
        writeln!(page, "| {row} |").expect("a string takes everything");
    }
    page.push_str(CASES);
    for (case, other) in measured.iter().zip(under_2022) {
        assert_eq!(
            (case.instruction, case.case),
            (other.instruction, other.case)
        );
        let name = match case.weight {
            Typical => format!("{} (typical)", case.case),
            Other => case.case.to_owned(),
            Apart(_) => format!("*{}*", case.case),
        };
        let [units, tokens, net] = [case.units, case.tokens, case.net()].map(grouped);
        let ceiling = ceiling(case.instruction, case.weight).map_or("none".to_owned(), grouped);
        let [units_2022, net_2022] = [other.units, other.net()].map(grouped);
        let row = [
            case.instruction,
            &name,
            &units,
            &tokens,
            &net,
            &ceiling,
            &units_2022,
            &net_2022,
        ]
        .join(" | ");
        writeln!(page, "| {row} |").expect("a string takes everything");
    }
    page
}

/// A number with commas between its thousands.
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
