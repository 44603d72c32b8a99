use super::*;
use crate::accounts::{ADVERSARY, WALLETS};
use crate::fields::fields;
use crate::fixtures::fixture::{BUYER, SELLER, TREASURY};
use crate::tokens::Power;
use haggle_program::state::Negotiation;
use pinocchio::Address;

const BUYERS: &str = "buyer_token_account";
const SELLERS: &str = "seller_token_account";
const TREASURYS: &str = "treasury_token_account";
const VAULT: &str = "escrow_vault";

#[test]
fn a_payment_of_a_unit_too_little_or_too_much_is_found() {
    let mut bench = Bench::new();
    // For each scene, the accounts that the unit moves from and to.
    for (scene, from, to) in [
        ("accept_offer (SPL Token)", BUYERS, SELLERS),
        ("accept_offer (SPL Token)", SELLERS, BUYERS),
        (
            "reject_negotiation with a bond (SPL Token)",
            BUYERS,
            SELLERS,
        ),
        (
            "reject_negotiation with a bond (Token-2022)",
            SELLERS,
            BUYERS,
        ),
        (
            "expire_negotiation with a bond (SPL Token)",
            BUYERS,
            SELLERS,
        ),
        (
            "reveal_zopa_price without a zone (SPL Token)",
            SELLERS,
            BUYERS,
        ),
        ("release_milestone by the buyer (SPL Token)", SELLERS, VAULT),
        (
            "release_milestone that forfeits a part of the bond (SPL Token)",
            BUYERS,
            SELLERS,
        ),
        ("resolve_dispute (SPL Token)", BUYERS, SELLERS),
        ("settle_deadline (SPL Token)", BUYERS, SELLERS),
        ("settle_deadline (Token-2022)", SELLERS, BUYERS),
        ("settle_by_agreement (SPL Token)", BUYERS, SELLERS),
        (
            "close_negotiation with recorded payouts (SPL Token)",
            TREASURYS,
            SELLERS,
        ),
    ] {
        bench.finds(scene, "instead of", |sample| {
            sample.move_tokens(from, to, 1)
        });
    }
}

#[test]
fn a_claimed_payout_that_misses_its_destination_is_found() {
    let mut bench = Bench::new();
    bench.finds("claim_payout (SPL Token)", "its destination", |sample| {
        sample.move_tokens("destination_token_account", VAULT, 1);
    });
}

#[test]
fn rent_for_anyone_but_the_buyer_is_found() {
    let mut bench = Bench::new();
    for currency in ["SPL Token", "wrapped SOL"] {
        let scene = format!("close_negotiation ({currency})");
        bench.finds(&scene, "moves", |sample| {
            add_lamports(sample.after("config"), 1);
            add_lamports(sample.after("buyer"), -1);
        });
    }
}

#[test]
fn a_payment_instead_of_a_recorded_payout_is_found() {
    let mut bench = Bench::new();
    let fields = fields(Negotiation::RECORD);
    let mut recorded = fields.iter().filter(|leaf| leaf.name == "claimable_buyer");
    let at = 8 + recorded.next().expect("the field exists").at;
    for (scene, place) in [
        ("expire_negotiation (SPL Token)", 2),
        ("settle_by_agreement (SPL Token)", 4),
    ] {
        for kind in 0..3 {
            for amount in [0, 1_000_000] {
                let shared = Op::Power {
                    place,
                    kind,
                    amount,
                };
                let case = bench.case(scene, &[shared]);
                bench.finds_in(&case, "alone controls", |sample| {
                    let data = sample.after("negotiation").data_as_mut_slice();
                    let payout = u64::from_le_bytes(data[at..at + 8].try_into().unwrap()) as i64;
                    assert!(payout > 0);
                    data[at..at + 8].fill(0);
                    sample.move_tokens(VAULT, BUYERS, payout);
                });
            }
        }
    }
}

/// A party's amount can be paid to an account that the adversary can empty, too, only if the party is the
/// only declared signer. The sender of close_negotiation cannot do so.
#[test]
fn a_payment_to_an_account_with_another_authority_is_found_unless_its_owner_signs_alone() {
    let mut bench = Bench::new();
    let recorded = "close_negotiation with recorded payouts (SPL Token)";
    let bonded = "reject_negotiation with a bond (SPL Token)";
    let agreed = "settle_by_agreement (SPL Token)";
    for (scene, signer, account, is_found) in [
        ("accept_offer (SPL Token)", SELLER, SELLERS, false),
        ("accept_offer (SPL Token)", SELLER, BUYERS, true),
        (bonded, SELLER, SELLERS, false),
        (bonded, SELLER, BUYERS, true),
        ("expire_negotiation (SPL Token)", ADVERSARY, BUYERS, true),
        (
            "release_milestone by the buyer (SPL Token)",
            BUYER,
            SELLERS,
            true,
        ),
        ("resolve_dispute (SPL Token)", ADVERSARY, BUYERS, true),
        ("resolve_dispute (SPL Token)", ADVERSARY, SELLERS, true),
        ("settle_deadline (SPL Token)", ADVERSARY, BUYERS, true),
        (agreed, BUYER, BUYERS, true),
        (agreed, BUYER, SELLERS, true),
        (recorded, ADVERSARY, BUYERS, true),
        (recorded, BUYER, BUYERS, true),
        (recorded, SELLER, SELLERS, true),
        (recorded, TREASURY, TREASURYS, true),
    ] {
        let case = if scene == recorded {
            closed_by(&bench, scene, signer)
        } else {
            bench.case(scene, &[])
        };
        for power in [Power::Delegate, Power::Close, Power::Both] {
            let mut sample = bench.sample(&case);
            assert_eq!(sample.verdict(), Ok(Outcome::Succeeded), "{scene}");
            // The same payment, to an account with the additional authority already set before the call.
            power.apply(sample.before(account), &ADVERSARY, 0);
            power.apply(sample.after(account), &ADVERSARY, 0);
            if is_found {
                finds(&sample, "alone controls");
            } else {
                assert_eq!(sample.verdict(), Ok(Outcome::Succeeded), "{scene}");
            }
        }
    }
}

fn closed_by(bench: &Bench, scene: &str, closer: Address) -> Case {
    let wallet = WALLETS.iter().position(|wallet| *wallet == closer);
    let signer = Op::Signer {
        place: 0,
        wallet: wallet.expect("the closer is a participant") as u8,
    };
    bench.case(scene, &[signer])
}
