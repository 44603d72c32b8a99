//! Both token programs: which mints and accounts are let through, and that neither program's pass for the other's.

use super::scenes::{scenes, Scene};
use super::stage::{
    associated, associated_under, in_mint, mint_2022, named, program_of, token_account,
    token_account_2022, under_both_token_programs, Deal, Stage, BUYER, FUNDS, MINT, MINT_2022,
    SELLER,
};
use crate::error::{Framework, HaggleError};
use crate::runtime::programs;
use crate::ID;
use pinocchio::Address;
use solana_account::Account;

const IMMUTABLE_OWNER: u16 = 7;
const MEMO_TRANSFER: u16 = 8;
const CPI_GUARD: u16 = 11;

/// What the seller gets of the offer at [`Stage::offered`].
const NET: u64 = 2_985_000;

fn other_program(mint: &Address) -> Address {
    if program_of(mint) == programs::TOKEN {
        programs::TOKEN_2022
    } else {
        programs::TOKEN
    }
}

/// The value that Token-2022 gives an extension, as far as its length counts.
fn value_of(number: u16) -> Vec<u8> {
    let length = match number {
        1 => 108,
        3 | 12 | 14 | 16 | 18 | 20 | 22 => 64,
        19 => 32 + 32 + 4 + 6 + 4 + 3 + 4 + 9 + 4,
        21 => 80,
        23 => 72,
        _ => 33,
    };
    vec![0; length]
}

fn created_with_mint(mint: Account) -> (Stage, Deal, super::stage::Call) {
    in_mint(MINT_2022, || {
        let mut stage = Stage::new();
        stage.put(MINT_2022, mint);
        let deal = Stage::deal();
        let call = stage.create(&deal, &Stage::terms());
        (stage, deal, call)
    })
}

#[test]
fn each_mint_extension_is_let_through_or_refused() {
    for number in (1..=40).chain([0x1200, 0xffff]) {
        let mint = mint_2022(FUNDS, &[(number, value_of(number))]);
        let (mut stage, deal, call) = created_with_mint(mint);
        if (18..=23).contains(&number) {
            stage.run(&call).succeeds();
            let vault = stage.account(&deal.escrow_vault);
            assert_eq!((vault.owner, vault.data.len()), (programs::TOKEN_2022, 165));
        } else {
            stage.refuses(&call, HaggleError::UnsupportedMint);
        }
    }
}

#[test]
fn a_mint_with_every_harmless_extension_carries_a_whole_negotiation() {
    let extensions: Vec<_> = (18..=23).map(|number| (number, value_of(number))).collect();
    let (mut stage, deal, call) = created_with_mint(mint_2022(FUNDS, &extensions));
    stage.run(&call).succeeds();
    for call in [
        Stage::accept_invitation,
        |stage: &Stage, deal: &Deal| stage.offer(deal, BUYER, 3_000_000),
        |stage: &Stage, deal: &Deal| stage.accept_offer(deal, SELLER),
        |stage: &Stage, deal: &Deal| stage.close(deal, BUYER),
    ] {
        let call = call(&stage, &deal);
        stage.run(&call).succeeds();
    }
    assert_eq!(stage.balance(&deal.seller_token_account), NET);
    assert!(!stage.exists(&deal.escrow_vault) && !stage.exists(&deal.negotiation));
}

#[test]
fn what_is_not_quite_a_mint_of_token_2022_is_refused() {
    let whole = mint_2022(FUNDS, &[(18, value_of(18))]);
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
        let (mut stage, _, call) = created_with_mint(mint);
        stage.refuses(&call, HaggleError::UnsupportedMint);
    }
    // SPL Token knows no extensions.
    let mut stage = Stage::new();
    let mut long = whole;
    long.owner = programs::TOKEN;
    stage.put(MINT, long);
    let call = stage.create(&Stage::deal(), &Stage::terms());
    stage.refuses(&call, HaggleError::UnsupportedMint);
}

/// The scenes whose calls name a token program, under both.
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
        scene.stage.refuses(&call, Framework::InvalidProgramId);
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
            let mut account = scene.stage.account(&scene.call.address_of(row.name));
            let owner = Address::new_from_array(account.data[32..64].try_into().unwrap());
            account.owner = other;
            for address in [
                named("of the other program"),
                associated_under(&other, &owner, &mint),
            ] {
                scene.stage.put(address, account.clone());
                let call = scene.call.clone().with(row.name, address);
                scene.stage.refuses(&call, Framework::ConstraintRaw);
            }
        }
    });
}

/// Accounts of the seller's under Token-2022, and whether they can receive.
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
fn an_associated_account_that_cannot_receive_holds_up_nobody() {
    for (what, account, receives) in states() {
        in_mint(MINT_2022, || {
            let (mut stage, deal) = Stage::offered();
            let before = stage.account(&deal.seller_token_account);
            stage.put(deal.seller_token_account, account);
            let call = stage.accept_offer(&deal, SELLER);
            stage.run(&call).succeeds();
            let kept = stage.negotiation(&deal).claimable_seller;
            assert_eq!(kept, if receives { 0 } else { NET }, "{what}");
            if receives {
                assert_eq!(stage.balance(&deal.seller_token_account), NET, "{what}");
                return;
            }
            // Opened again, or put in order, it can be paid.
            let claim = stage.claim(&deal, SELLER, NET);
            // A claim may go to anybody's account, also to one that is the seller's no more.
            if what != "given away" {
                stage.refuses(&claim, Framework::ConstraintRaw);
            }
            stage.put(deal.seller_token_account, before);
            stage.run(&claim).succeeds();
            assert_eq!(stage.balance(&deal.seller_token_account), NET, "{what}");
        });
    }
}

#[test]
fn any_other_account_that_cannot_receive_is_refused() {
    for (what, account, receives) in states() {
        in_mint(MINT_2022, || {
            let (mut stage, deal) = Stage::offered();
            let aside = named("aside");
            stage.put(aside, account);
            let call = stage
                .accept_offer(&deal, SELLER)
                .with("seller_token_account", aside);
            if receives {
                stage.run(&call).succeeds();
                assert_eq!(stage.balance(&aside), NET, "{what}");
            } else {
                stage.refuses(&call, Framework::ConstraintRaw);
            }
        });
    }
}

#[test]
fn an_account_of_another_shape_is_no_token_account() {
    let whole = token_account_2022(&MINT_2022, &BUYER, FUNDS, &[(IMMUTABLE_OWNER, vec![])]);
    for length in [0, 82, 164, 166, 355] {
        in_mint(MINT_2022, || {
            let mut stage = Stage::new();
            let deal = Stage::deal();
            let mut account = whole.clone();
            account.data.resize(length, 0);
            if length == 166 {
                account.data[165] = 0;
            }
            stage.put(deal.buyer_token_account, account);
            let call = stage.create(&deal, &Stage::terms());
            stage.refuses(&call, Framework::ConstraintRaw);
        });
    }
}

#[test]
fn a_required_memo_or_a_freeze_delays_closing_until_the_payout_is_fetched() {
    in_mint(MINT_2022, || {
        let (mut stage, deal) = Stage::offered();
        let memo = [(MEMO_TRANSFER, vec![1])];
        let account = token_account_2022(&MINT_2022, &SELLER, 0, &memo);
        stage.put(deal.seller_token_account, account);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        let close = stage.close(&deal, BUYER);
        stage.refuses(&close, HaggleError::PayoutPending);
        let elsewhere = named("elsewhere");
        stage.put(elsewhere, token_account(&MINT_2022, &SELLER, 0));
        let call = close.with("seller_token_account", elsewhere);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&elsewhere), NET);
    });
}

#[test]
fn a_mint_that_grows_an_extension_afterwards_changes_nothing() {
    in_mint(MINT_2022, || {
        let (mut stage, deal) = Stage::offered();
        let mint = mint_2022(FUNDS, &[(18, value_of(18)), (19, value_of(19))]);
        stage.put(MINT_2022, mint);
        let call = stage.accept_offer(&deal, SELLER);
        stage.run(&call).succeeds();
        assert_eq!(stage.balance(&associated(&SELLER, &MINT_2022)), NET);
    });
}
