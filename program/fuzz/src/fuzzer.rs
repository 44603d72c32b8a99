//! Runs cases, and shrinks those that violate an invariant.

use crate::call::{prepare, Prepared};
use crate::case::Case;
use crate::chain::{Chain, DealId, Signed};
use crate::environment::Environments;
use crate::fields::{argument, index_of};
use crate::guidance;
use crate::invariants::effect::Effect;
use crate::invariants::{check, replay, Outcome};
use crate::svm::Svm;

/// Runs cases on a single virtual machine.
pub struct Fuzzer {
    /// The environments and the valid calls.
    pub environments: Environments,
    svm: Svm,
    seen: Vec<bool>,
}

/// A call that a case ran.
pub struct Observed<'a> {
    /// The call.
    pub prepared: &'a Prepared,
    /// The outcome, or the violated invariant.
    pub outcome: Result<Outcome, &'a str>,
    /// Whether it repeats a call signed for an earlier deal with this address.
    pub of_earlier_deal: bool,
    /// Whether it creates a deal reusing an earlier deal's address.
    pub recreates: bool,
    /// Whether it records a payout.
    pub records: bool,
}

impl Fuzzer {
    /// Builds the environments and loads the program.
    pub fn new() -> Self {
        let environments = Environments::new();
        let svm = Svm::new();
        let seen = vec![false; svm.directions()];
        Self {
            environments,
            svm,
            seen,
        }
    }

    /// The directions that the program's branches have taken so far.
    pub fn seen(&self) -> &[bool] {
        &self.seen
    }

    /// Runs a case. `observe` receives each finished call.
    ///
    /// # Errors
    /// The invariant violated in a call. Later calls do not run.
    pub fn run(
        &mut self,
        case: &Case,
        observe: &mut dyn FnMut(&Observed<'_>),
    ) -> Result<(), String> {
        let environment = self.environments.environment(case.environment);
        let mut chain = Chain::new(environment);
        let mut previous = None;
        for ops in case.calls() {
            let Some(prepared) = prepare(&self.environments, &chain, ops) else {
                continue;
            };
            prepared.apply_changes(&mut chain);
            let run = self.svm.run(&prepared.call, &mut self.seen);
            let of_earlier_deal = is_of_earlier_deal(&prepared, &chain);
            let mut observed = Observed {
                prepared: &prepared,
                outcome: Err(""),
                of_earlier_deal,
                recreates: false,
                records: false,
            };
            let (outcome, effect) = match check(&prepared, &run, &chain) {
                Ok(checked) => checked,
                Err(violation) => {
                    observed.outcome = Err(&violation);
                    observe(&observed);
                    return Err(violation);
                }
            };
            observed.outcome = Ok(outcome);
            guidance::count_answer(&prepared, outcome, of_earlier_deal, previous);
            let signed = sign(&prepared, &chain, effect.as_ref());
            match effect {
                Some(effect) if prepared.withheld && prepared.possible => {
                    guidance::count_withheld(&effect);
                }
                Some(effect) if !prepared.withheld => {
                    chain.possible &= prepared.possible;
                    chain.commit(&prepared.call.accounts, &run);
                    if chain.possible {
                        guidance::count_effect(&effect, &chain, previous);
                        observed.recreates = recreates(&effect, &chain);
                        observed.records = records(&effect);
                    }
                    previous = Some(index_of(effect.row));
                }
                _ => {}
            }
            chain.signed.push(signed);
            observe(&observed);
        }
        Ok(())
    }

    /// Removes operations from a case as long as it violates the same invariant.
    pub fn shrink(&mut self, case: &Case) -> Case {
        let mut kind = |case: &Case| {
            let violation = self.run(case, &mut |_| {}).err();
            violation.map(|text| kind_of(&text).to_owned())
        };
        let wanted = kind(case);
        let mut smallest = case.clone();
        let mut at = 0;
        while at < smallest.ops.len() {
            let mut smaller = smallest.clone();
            smaller.ops.remove(at);
            if kind(&smaller) == wanted {
                (smallest, at) = (smaller, 0);
            } else {
                at += 1;
            }
        }
        smallest
    }
}

/// The call as signed.
pub fn sign(prepared: &Prepared, chain: &Chain<'_>, effect: Option<&Effect<'_>>) -> Signed {
    if let Some(index) = prepared.repeats {
        return chain.signed[index].clone();
    }
    Signed {
        list: prepared.list(),
        data: prepared.call.data.clone(),
        deal: deal_of(prepared, chain).filter(|deal| can_be_for(prepared, chain, deal)),
        promised: effect.and_then(replay::outcome),
    }
}

fn is_of_earlier_deal(prepared: &Prepared, chain: &Chain<'_>) -> bool {
    let repeated = prepared.repeats.zip(deal_of(prepared, chain));
    repeated.is_some_and(|(index, now)| chain.signed[index].other_deal(&now).is_some())
}

/// The deal at the call's negotiation address.
fn deal_of(prepared: &Prepared, chain: &Chain<'_>) -> Option<DealId> {
    let address = prepared.address_of("negotiation")?;
    Some(chain.deal(address))
}

/// Reports whether the call's data can be for a deal: it contains no time of creation, or contains the
/// deal's.
fn can_be_for(prepared: &Prepared, chain: &Chain<'_>, deal: &DealId) -> bool {
    let named = prepared
        .row
        .and_then(|row| argument(row, &prepared.call.data, "created_at"));
    let Some(named) = named else {
        return true;
    };
    let negotiation = chain.negotiation(&deal.address);
    negotiation.is_some_and(|negotiation| named == negotiation.created_at.to_le_bytes())
}

fn recreates(effect: &Effect<'_>, chain: &Chain<'_>) -> bool {
    effect.deal.as_ref().is_some_and(|deal| {
        deal.before.is_none() && deal.after.is_some() && chain.deal(deal.address).number > 1
    })
}

fn records(effect: &Effect<'_>) -> bool {
    let deal = effect.deal.as_ref();
    deal.is_some_and(|deal| match (&deal.before, &deal.after) {
        (Some(before), Some(after)) => {
            let grows = |old: u64, new: u64| new > old;
            grows(before.claimable_buyer, after.claimable_buyer)
                || grows(before.claimable_seller, after.claimable_seller)
        }
        _ => false,
    })
}

/// The violation's description up to the first address or amount.
fn kind_of(violation: &str) -> &str {
    violation
        .split(|letter: char| letter.is_ascii_digit() || letter.is_ascii_uppercase())
        .next()
        .unwrap_or(violation)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Bytes, Op};

    fn a_move(choice: u8, variant: u8, wait: u8) -> Op {
        Op::Move {
            deal: 0,
            choice,
            variant,
            wait,
        }
    }

    /// The case's called instructions and their outcomes.
    fn outcomes(fuzzer: &mut Fuzzer, case: &Case) -> Vec<(&'static str, Outcome)> {
        let mut found = Vec::new();
        let result = fuzzer.run(case, &mut |observed| {
            let row = observed.prepared.row.expect("moves name instructions");
            found.push((
                row.name,
                observed.outcome.expect("no invariant is violated"),
            ));
        });
        assert_eq!(result, Ok(()));
        found
    }

    /// A case that withholds a call, creates a later deal with this address, and sends the call to the later
    /// deal.
    fn recreated(fuzzer: &Fuzzer, changes: &[Op]) -> Case {
        let names = fuzzer.environments.calls.iter();
        let names: Vec<_> = names.map(|call| call.name.as_str()).collect();
        let at = names
            .iter()
            .position(|name| *name == "submit_offer (SPL Token)");
        // The buyer rejects in round 0.
        let mut ops = vec![a_move(2, 1, 1), Op::Withhold {}];
        ops.extend_from_slice(changes);
        ops.extend([
            a_move(2, 0, 1),
            a_move(0, 0, 1),
            a_move(0, 8, 8),
            Op::Repeat { earlier: 0 },
            a_move(0, 0, 1),
            Op::Repeat { earlier: 0 },
        ]);
        let environment = at.expect("the scene exists") as u8;
        Case { environment, ops }
    }

    #[test]
    fn a_signature_is_stale_after_the_session_is_created_again() {
        let mut fuzzer = Fuzzer::new();
        let case = recreated(&fuzzer, &[]);
        let expected = [
            ("reject_negotiation", Outcome::Succeeded),
            ("reject_negotiation", Outcome::Succeeded),
            ("close_negotiation", Outcome::Succeeded),
            ("create_negotiation", Outcome::Succeeded),
            ("reject_negotiation", Outcome::Returned(6013)),
            ("accept_invitation", Outcome::Succeeded),
            ("reject_negotiation", Outcome::Returned(6013)),
        ];
        assert_eq!(outcomes(&mut fuzzer, &case), expected);
    }

    #[test]
    fn a_signature_can_name_a_deal_that_does_not_exist_yet() {
        let mut fuzzer = Fuzzer::new();
        let mut created_at = 0;
        let case = recreated(&fuzzer, &[]);
        let ran = fuzzer.run(&case, &mut |observed| {
            if observed.recreates {
                created_at = observed.prepared.call.sysvars.now;
            }
        });
        assert_eq!(ran, Ok(()));

        let bytes = Bytes(created_at.to_le_bytes().into());
        let case = recreated(&fuzzer, &[Op::Data { at: 8, bytes }]);
        let expected = [
            ("reject_negotiation", Outcome::Returned(6013)),
            ("reject_negotiation", Outcome::Succeeded),
            ("close_negotiation", Outcome::Succeeded),
            ("create_negotiation", Outcome::Succeeded),
            ("reject_negotiation", Outcome::Succeeded),
            ("close_negotiation", Outcome::Returned(6000)),
            ("reject_negotiation", Outcome::Returned(6000)),
        ];
        assert_eq!(outcomes(&mut fuzzer, &case), expected);
    }

    #[test]
    fn random_moves_reach_every_instruction_of_a_negotiation() {
        let mut fuzzer = Fuzzer::new();
        let mut rng = crate::rng::Rng::new(1);
        let mut reached = std::collections::BTreeSet::new();
        for _ in 0..2_000 {
            let case = Case {
                environment: rng.byte(),
                ops: (0..12)
                    .map(|_| a_move(rng.byte(), rng.byte(), rng.byte()))
                    .collect(),
            };
            for (name, outcome) in outcomes(&mut fuzzer, &case) {
                if outcome == Outcome::Succeeded {
                    reached.insert(name);
                }
            }
        }
        let administration = [
            "initialize_config",
            "update_config",
            "set_paused",
            "propose_authority",
            "accept_authority",
        ];
        for row in haggle_program::instructions::INSTRUCTIONS {
            let expected = !administration.contains(&row.name);
            assert_eq!(reached.contains(row.name), expected, "{}", row.name);
        }
    }
}
