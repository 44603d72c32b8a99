//! SPL Token and Token-2022: the accepted mints and accounts, and the refusal of accounts from the wrong
//! program.

use super::fixture::{
    associated, associated_under, extension_value, in_mint, mint_2022, mint_with_every_extension,
    named, program_of, token_account, token_account_2022, under_both_token_programs, Deal, Fixture,
    BUYER, CREATED, FUNDS, IMMUTABLE_OWNER, MINT, MINT_2022, NOW, SELLER,
};
use super::scenes::{scenes, Scene};
use super::virtual_machine;
use crate::error::{Framework, HaggleError};
use crate::runtime::programs;
use crate::ID;
use mollusk_svm::program::loader_keys::LOADER_V2;
use pinocchio::error::ProgramError;
use pinocchio::Address;
use solana_account::Account;

const MEMO_TRANSFER: u16 = 8;
const CPI_GUARD: u16 = 11;

/// The seller's payment for the offer of [`Fixture::offered`].
const NET: u64 = 2_985_000;

fn other_program(mint: &Address) -> Address {
    if program_of(mint) == programs::TOKEN {
        programs::TOKEN_2022
    } else {
        programs::TOKEN
    }
}

fn created_with_mint(mint: Account) -> (Fixture, Deal, super::fixture::Call) {
    in_mint(MINT_2022, || {
        let mut fixture = Fixture::new();
        fixture.put(MINT_2022, mint);
        let deal = Fixture::deal();
        let call = fixture.create(&deal, &Fixture::terms());
        (fixture, deal, call)
    })
}

#[test]
fn each_mint_extension_is_let_through_or_refused() {
    for number in (1..=40).chain([0x1200, 0xffff]) {
        let mint = mint_2022(FUNDS, &[(number, extension_value(number))]);
        let (mut fixture, deal, call) = created_with_mint(mint);
        if (18..=23).contains(&number) {
            fixture.run(&call).succeeds();
            let vault = fixture.account(&deal.escrow_vault);
            assert_eq!((vault.owner, vault.data.len()), (programs::TOKEN_2022, 165));
        } else {
            fixture.refuses(&call, HaggleError::UnsupportedMint);
        }
    }
}

#[test]
fn a_mint_with_every_harmless_extension_carries_a_whole_negotiation() {
    let (mut fixture, deal, call) = created_with_mint(mint_with_every_extension());
    fixture.now = CREATED;
    fixture.run(&call).succeeds();
    fixture.now = NOW;
    for call in [
        Fixture::accept_invitation,
        |fixture: &Fixture, deal: &Deal| fixture.offer(deal, BUYER, 3_000_000),
        |fixture: &Fixture, deal: &Deal| fixture.accept_offer(deal, SELLER),
        |fixture: &Fixture, deal: &Deal| fixture.close(deal, BUYER),
    ] {
        let call = call(&fixture, &deal);
        fixture.run(&call).succeeds();
    }
    assert_eq!(fixture.balance(&deal.seller_token_account), NET);
    assert!(!fixture.exists(&deal.escrow_vault) && !fixture.exists(&deal.negotiation));
}

#[test]
fn malformed_mints_of_token_2022_are_refused() {
    let whole = mint_2022(FUNDS, &[(18, extension_value(18))]);
    let mut cases = Vec::new();
    for length in (83..166).chain([168, 169, 170, 200, whole.data.len() - 1]) {
        let mut mint = whole.clone();
        mint.data.truncate(length);
        cases.push(mint);
    }
    for (at, byte) in [
        (45, 0),
        (45, 2),
        (82, 1),
        (164, 1),
        (165, 0),
        (165, 2),
        (165, 3),
    ] {
        let mut mint = whole.clone();
        mint.data[at] = byte;
        cases.push(mint);
    }
    let mut multisig = whole.clone();
    multisig.data.resize(355, 0);
    cases.push(multisig);
    cases.push(token_account(&MINT_2022, &BUYER, 0));
    cases.push(token_account_2022(
        &MINT_2022,
        &BUYER,
        0,
        &[(7, Vec::new())],
    ));
    for mint in cases {
        let (mut fixture, _, call) = created_with_mint(mint);
        fixture.refuses(&call, HaggleError::UnsupportedMint);
    }
    // SPL Token has no extensions.
    let mut fixture = Fixture::new();
    let mut long = whole;
    long.owner = programs::TOKEN;
    fixture.put(MINT, long);
    let call = fixture.create(&Fixture::deal(), &Fixture::terms());
    fixture.refuses(&call, HaggleError::UnsupportedMint);
}

/// Runs a test for each scene using tokens, under SPL Token and Token-2022.
fn each_scene_with_tokens(test: impl Fn(Scene)) {
    under_both_token_programs(|| {
        let mut tested = 0;
        for scene in scenes() {
            let row = scene.call.row;
            let names = row.accounts.iter().any(|row| row.name == "token_program");
            if names && scene.call.address_of("token_program") != ID {
                test(scene);
                tested += 1;
            }
        }
        assert!(tested >= 18, "only {tested} scenes");
    });
}

#[test]
fn the_other_token_program_is_refused() {
    each_scene_with_tokens(|mut scene| {
        let other = other_program(&scene.deal.token_mint);
        let call = scene.call.clone().with("token_program", other);
        scene.fixture.refuses(&call, Framework::InvalidProgramId);
    });
}

#[test]
fn an_account_of_the_other_token_program_is_refused_in_each_place() {
    each_scene_with_tokens(|mut scene| {
        let mint = scene.deal.token_mint;
        let other = other_program(&mint);
        for row in scene.call.row.accounts {
            if !row.name.ends_with("token_account") || scene.call.address_of(row.name) == ID {
                continue;
            }
            let mut account = scene.fixture.account(&scene.call.address_of(row.name));
            let owner = Address::new_from_array(account.data[32..64].try_into().unwrap());
            account.owner = other;
            for address in [
                named("of the other program"),
                associated_under(&other, &owner, &mint),
            ] {
                scene.fixture.put(address, account.clone());
                let call = scene.call.clone().with(row.name, address);
                scene.fixture.refuses(&call, Framework::ConstraintRaw);
            }
        }
    });
}

/// Token accounts of the seller under Token-2022, and whether they can receive.
fn states() -> Vec<(&'static str, Account, bool)> {
    let with =
        |extensions: &[(u16, Vec<u8>)]| token_account_2022(&MINT_2022, &SELLER, 0, extensions);
    let owner_changed = token_account(&MINT_2022, &BUYER, 0);
    let mut frozen = with(&[(IMMUTABLE_OWNER, vec![])]);
    frozen.data[108] = 2;
    let mut uninitialized = with(&[]);
    uninitialized.data[108] = 0;
    let mut cut = with(&[(MEMO_TRANSFER, vec![0])]);
    cut.data.pop();
    let mut typed_as_mint = with(&[(IMMUTABLE_OWNER, vec![])]);
    typed_as_mint.data[165] = 1;
    vec![
        ("plain", with(&[]), true),
        (
            "as the associated program makes it",
            with(&[(IMMUTABLE_OWNER, vec![])]),
            true,
        ),
        (
            "guarded against programs",
            with(&[(CPI_GUARD, vec![1])]),
            true,
        ),
        ("no memo required", with(&[(MEMO_TRANSFER, vec![0])]), true),
        (
            "all three",
            with(&[
                (IMMUTABLE_OWNER, vec![]),
                (CPI_GUARD, vec![1]),
                (MEMO_TRANSFER, vec![0]),
            ]),
            true,
        ),
        ("memo required", with(&[(MEMO_TRANSFER, vec![1])]), false),
        ("frozen", frozen, false),
        ("uninitialized", uninitialized, false),
        ("closed", Account::default(), false),
        ("given away", owner_changed, false),
        ("an unknown extension", with(&[(40, vec![0; 8])]), false),
        ("a cut extension", cut, false),
        ("with a mint's type", typed_as_mint, false),
    ]
}

#[test]
fn an_associated_account_that_cannot_receive_delays_no_other_party() {
    for (what, account, receives) in states() {
        in_mint(MINT_2022, || {
            let (mut fixture, deal) = Fixture::offered();
            let before = fixture.account(&deal.seller_token_account);
            fixture.put(deal.seller_token_account, account);
            let call = fixture.accept_offer(&deal, SELLER);
            fixture.run(&call).succeeds();
            let kept = fixture.negotiation(&deal).claimable_seller;
            assert_eq!(kept, if receives { 0 } else { NET }, "{what}");
            if receives {
                assert_eq!(fixture.balance(&deal.seller_token_account), NET, "{what}");
                return;
            }
            // A corrected account can be paid.
            let claim = fixture.claim(&deal, SELLER, NET);
            // A claim can go to an account of any owner, even an account that the seller gave away.
            if what != "given away" {
                fixture.refuses(&claim, Framework::ConstraintRaw);
            }
            fixture.put(deal.seller_token_account, before);
            fixture.run(&claim).succeeds();
            assert_eq!(fixture.balance(&deal.seller_token_account), NET, "{what}");
        });
    }
}

#[test]
fn any_other_account_that_cannot_receive_is_refused() {
    for (what, account, receives) in states() {
        in_mint(MINT_2022, || {
            let (mut fixture, deal) = Fixture::offered();
            let aside = named("aside");
            fixture.put(aside, account);
            let call = fixture
                .accept_offer(&deal, SELLER)
                .with("seller_token_account", aside);
            if receives {
                fixture.run(&call).succeeds();
                assert_eq!(fixture.balance(&aside), NET, "{what}");
            } else {
                fixture.refuses(&call, Framework::ConstraintRaw);
            }
        });
    }
}

#[test]
fn an_account_of_another_layout_is_not_a_token_account() {
    let whole = token_account_2022(&MINT_2022, &BUYER, FUNDS, &[(IMMUTABLE_OWNER, vec![])]);
    for length in [0, 82, 164, 166, 355] {
        in_mint(MINT_2022, || {
            let mut fixture = Fixture::new();
            let deal = Fixture::deal();
            let mut account = whole.clone();
            account.data.resize(length, 0);
            if length == 166 {
                account.data[165] = 0;
            }
            fixture.put(deal.buyer_token_account, account);
            let call = fixture.create(&deal, &Fixture::terms());
            fixture.refuses(&call, Framework::ConstraintRaw);
        });
    }
}

#[test]
fn a_required_memo_or_a_freeze_delays_the_close_until_the_payout_is_claimed() {
    in_mint(MINT_2022, || {
        let (mut fixture, deal) = Fixture::offered();
        let memo = [(MEMO_TRANSFER, vec![1])];
        let account = token_account_2022(&MINT_2022, &SELLER, 0, &memo);
        fixture.put(deal.seller_token_account, account);
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.run(&call).succeeds();
        let close = fixture.close(&deal, BUYER);
        fixture.refuses(&close, HaggleError::PayoutPending);
        let elsewhere = named("elsewhere");
        fixture.put(elsewhere, token_account(&MINT_2022, &SELLER, 0));
        let call = close.with("seller_token_account", elsewhere);
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&elsewhere), NET);
    });
}

#[test]
fn an_extension_added_to_a_mint_after_creation_changes_nothing() {
    in_mint(MINT_2022, || {
        let (mut fixture, deal) = Fixture::offered();
        let mint = mint_2022(
            FUNDS,
            &[(18, extension_value(18)), (19, extension_value(19))],
        );
        fixture.put(MINT_2022, mint);
        let call = fixture.accept_offer(&deal, SELLER);
        fixture.run(&call).succeeds();
        assert_eq!(fixture.balance(&associated(&SELLER, &MINT_2022)), NET);
    });
}

#[test]
fn a_cluster_without_batches_refuses_every_deposit() {
    const INVALID_INSTRUCTION: u32 = 12;
    let mut machine = virtual_machine::machine();
    let elf = virtual_machine::spl_token_without_batches();
    machine.add_program_with_loader_and_elf(&programs::TOKEN, &LOADER_V2, &elf);

    let (created, deal) = Fixture::created_with_bond(&Fixture::bonded_terms());
    for (fixture, call) in [
        (
            Fixture::new(),
            Fixture::new().create(&deal, &Fixture::terms()),
        ),
        (created.clone(), created.accept_invitation_with_bond(&deal)),
    ] {
        let outcome = fixture.run_on(&mut machine, &call);
        outcome.refused(ProgramError::Custom(INVALID_INSTRUCTION));
        let by_the_token_program = format!(
            "Program {} failed: custom program error: 0xc",
            programs::TOKEN
        );
        assert!(
            outcome.logs.contains(&by_the_token_program),
            "{:?}",
            outcome.logs
        );
    }
    // The same machine makes plain transfers, so paying a single party does not depend on batches.
    let reject = created.reject(&deal, BUYER);
    created.run_on(&mut machine, &reject).succeeds();
}
