//! Whole lives of negotiations, told at random: 20,000 and more sequences of what buyers, sellers and strangers do, each
//! step of which must end exactly as a model written from the design says, and leave the laws intact:
//!
//! - money is conserved to the unit: escrow = paid net + fee + decay + refund, delivered or kept;
//! - a vault never holds less than what is owed, and no token and no lamport comes into being or gets lost;
//! - at any second exactly one is possible: to act, or to expire;
//! - what is over stays over: nothing but claiming and closing changes anything;
//! - an error changes nothing.
//!
//! The seeds are fixed. A failure names its own: `HAGGLE_SEED=<seed> cargo test -p haggle-program lifecycle -- --nocapture`
//! tells that story alone, step by step.

mod chance;
mod deal;
mod ledger;
mod model;
mod story;
mod tally;

use super::virtual_machine::{elf, machine};
use model::Fixed;
use story::{tell, Desk, IMPOSTOR};
use tally::Tally;

/// How many stories are told, and by how many threads.
const SEQUENCES: u64 = 20_000;
const THREADS: u64 = 2;

fn machine_with_impostor() -> mollusk_svm::Mollusk {
    let mut machine = machine();
    machine.add_program_with_loader_and_elf(
        &IMPOSTOR,
        &mollusk_svm::program::loader_keys::LOADER_V3,
        elf(),
    );
    machine
}

/// Tells the stories of these seeds.
fn tell_all(seeds: impl Iterator<Item = u64>, aloud: bool) -> Tally {
    let mut machine = machine_with_impostor();
    let fixed = Fixed::derive();
    let mut tally = Tally::default();
    for seed in seeds {
        let desk = Desk {
            machine: &mut machine,
            fixed: &fixed,
            tally: &mut tally,
            aloud,
        };
        if let Err(what) = tell(seed, desk) {
            panic!("{what}\nTell it again: HAGGLE_SEED={seed} cargo test -p haggle-program lifecycle -- --nocapture");
        }
    }
    tally
}

#[test]
fn every_life_of_a_negotiation_goes_as_the_design_says() {
    if let Ok(seed) = std::env::var("HAGGLE_SEED") {
        let seed = seed.parse().expect("HAGGLE_SEED is a number");
        println!("{}", tell_all(std::iter::once(seed), true));
        return;
    }
    // Built once, before the threads ask for it.
    elf();
    let tellers: Vec<_> = (0..THREADS)
        .map(|thread| {
            std::thread::spawn(move || {
                tell_all(
                    (0..SEQUENCES).filter(|seed| seed % THREADS == thread),
                    false,
                )
            })
        })
        .collect();
    let mut tally = Tally::default();
    for teller in tellers {
        tally.add(teller.join().expect("each story goes as it should"));
    }
    println!("{tally}");
    assert_eq!(tally.sequences, SEQUENCES);
    assert!(
        tally.terminal * 2 >= tally.sequences,
        "too few sequences reach an end"
    );
    let complaints = tally.complaints();
    assert!(complaints.is_empty(), "{}", complaints.join("\n"));
}
