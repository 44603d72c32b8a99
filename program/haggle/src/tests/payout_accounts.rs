//! The recipients of payouts. The transaction sender cannot direct a payout to an account that anyone besides
//! the party can empty, and no party can use a token account to stop a negotiation.

use super::fixture::{
    associated, associated_under, currency, in_mint, named, program_of, token_account, wallet,
    Fixture, AUTHORITY, BUYER, ESCROW, LAMPORTS, MINT, MINT_2022, NATIVE_MINT, NOW, OTHER_MINT,
    SELLER, STRANGER, TREASURY,
};
use super::payments::{payments, Party, Payment};
use crate::error::{Framework, HaggleError};
use crate::runtime::programs;
use mollusk_svm::result::ProgramResult;
use pinocchio::Address;
use solana_account::Account;
use solana_instruction::{AccountMeta, Instruction};

/// Another token account held by the party, not the associated account.
const ASIDE: Address = named("a side account");

/// Runs a test using an SPL Token mint, wrapped SOL and a Token-2022 mint.
fn in_each_currency(test: impl Fn()) {
    for mint in [MINT, NATIVE_MINT, MINT_2022] {
        in_mint(mint, &test);
    }
}

/// Runs a test for each payment and each party with an account listed in the call, in each currency.
fn for_each_recipient(test: impl Fn(Payment, Party)) {
    in_each_currency(|| {
        for payment in payments() {
            for party in payment.recipients() {
                println!("{}, {party:?}, {}", payment.name, currency());
                test(payment.clone(), party);
            }
        }
    });
}

/// Makes `delegate` the token account's delegate, for `amount`.
fn delegate_to(account: &mut Account, delegate: Address, amount: u64) {
    account.data[72] = 1;
    account.data[76..108].copy_from_slice(delegate.as_ref());
    account.data[121..129].copy_from_slice(&amount.to_le_bytes());
}

/// Makes `authority` the token account's close authority.
fn close_by(account: &mut Account, authority: Address) {
    account.data[129] = 1;
    account.data[133..165].copy_from_slice(authority.as_ref());
}

type Change = fn(&mut Account);

/// The possible token account authorities besides the owner. The owner itself also counts as an authority:
/// the program does not compare.
const AUTHORITIES: [(&str, Change); 5] = [
    ("a delegate", |account| {
        delegate_to(account, STRANGER, u64::MAX)
    }),
    ("a delegate of amount 0", |account| {
        delegate_to(account, STRANGER, 0)
    }),
    ("a close authority", |account| close_by(account, STRANGER)),
    ("a delegate and a close authority", |account| {
        delegate_to(account, SELLER, 1);
        close_by(account, STRANGER);
    }),
    ("its owner as close authority", |account| {
        let owner = account.data[32..64].to_vec();
        account.data[129] = 1;
        account.data[133..165].copy_from_slice(&owner);
    }),
];

#[test]
fn a_payment_goes_to_any_account_of_the_party() {
    for_each_recipient(|mut payment, party| {
        let account = token_account(&currency(), &party.wallet(), 5);
        payment.fixture.put(ASIDE, account);
        let had = payment.balance(party);
        let call = payment.call.clone().with(party.account(), ASIDE);
        payment.fixture.run(&call).succeeds();
        assert_eq!(payment.fixture.balance(&ASIDE), 5 + payment.due(party));
        assert_eq!(payment.balance(party), had);
        assert_eq!(payment.recorded(party), 0);
    });
}

#[test]
fn a_side_account_with_another_authority_is_paid_only_if_its_owner_signs_alone() {
    for_each_recipient(|payment, party| {
        for (authority, give) in AUTHORITIES {
            let mut payment = payment.clone();
            let mut account = token_account(&currency(), &party.wallet(), 5);
            give(&mut account);
            payment.fixture.put(ASIDE, account);
            let call = payment.call.clone().with(party.account(), ASIDE);
            println!("{authority}");
            if payment.is_chosen_by(party) {
                payment.fixture.run(&call).succeeds();
                assert_eq!(payment.fixture.balance(&ASIDE), 5 + payment.due(party));
                assert_eq!(payment.recorded(party), 0);
            } else {
                payment.fixture.refuses(&call, Framework::ConstraintRaw);
            }
        }
    });
}

#[test]
fn an_associated_account_with_another_authority_is_paid_only_if_its_owner_signs_alone() {
    for_each_recipient(|payment, party| {
        for (authority, give) in AUTHORITIES {
            let mut payment = payment.clone();
            let (deal, due) = (payment.deal, payment.due(party));
            let account = party.associated(&deal);
            payment.fixture.change(&account, give);
            let had = payment.balance(party);
            println!("{authority}");
            let outcome = payment.fixture.run(&payment.call);
            outcome.succeeds();
            if payment.is_chosen_by(party) || due == 0 {
                assert_eq!(payment.balance(party), had + due);
                assert_eq!(payment.recorded(party), 0);
                continue;
            }
            assert_eq!(payment.balance(party), had);
            assert_eq!(payment.recorded(party), due);
            let events = outcome.events();
            let recorded = payment.fixture.recorded_event(&deal, party.wallet(), due);
            assert_eq!(events.last(), Some(&recorded));
            // The party claims the payout, also to the same account.
            let claim = payment.fixture.claim(&deal, party.wallet(), due);
            payment.fixture.run(&claim).succeeds();
            assert_eq!(payment.balance(party), had + due);
        }
    });
}

/// Signatures count only in places that the row declares as signers.
#[test]
fn a_signature_outside_the_row_does_not_count() {
    for_each_recipient(|payment, party| {
        if payment.is_chosen_by(party) {
            return;
        }
        for (authority, give) in AUTHORITIES {
            let mut payment = payment.clone();
            let mut account = token_account(&currency(), &party.wallet(), 0);
            give(&mut account);
            payment.fixture.put(ASIDE, account);
            let mut call = payment.call.clone().with(party.account(), ASIDE);
            let signer = AccountMeta::new(party.wallet(), true);
            call.accounts.push(signer);
            println!("{authority}");
            payment.fixture.refuses(&call, Framework::ConstraintRaw);
        }
    });
}

#[test]
fn other_owners_accounts_and_accounts_that_cannot_receive_are_refused() {
    for_each_recipient(|mut payment, party| {
        let (mint, owner, deal) = (currency(), party.wallet(), payment.deal);
        let plain = token_account(&mint, &owner, 0);
        let changed = |change: Change| {
            let mut account = plain.clone();
            change(&mut account);
            account
        };
        let aside = [
            ("frozen", changed(|account| account.data[108] = 2)),
            ("uninitialised", changed(|account| account.data[108] = 0)),
            (
                "empty",
                Account {
                    data: vec![0; 165],
                    ..plain.clone()
                },
            ),
            (
                "of another program",
                changed(|account| account.owner = named("another token program")),
            ),
            ("of another length", changed(|account| account.data.push(0))),
            ("another mint", token_account(&OTHER_MINT, &owner, 0)),
            ("a stranger's", token_account(&mint, &STRANGER, 0)),
            ("missing", Account::default()),
            ("a wallet", wallet(LAMPORTS)),
        ];
        for (name, account) in aside {
            payment.fixture.put(ASIDE, account);
            let call = payment.call.clone().with(party.account(), ASIDE);
            println!("{name}");
            payment.fixture.refuses(&call, Framework::ConstraintRaw);
        }
        let other_program = [programs::TOKEN, programs::TOKEN_2022]
            .into_iter()
            .find(|program| *program != program_of(&mint))
            .expect("there are two");
        for address in [
            party.other().associated(&deal),
            associated(&owner, &OTHER_MINT),
            associated_under(&other_program, &owner, &mint),
            associated(&STRANGER, &mint),
            associated(&TREASURY, &mint),
            deal.escrow_vault,
            owner,
        ] {
            let call = payment.call.clone().with(party.account(), address);
            payment.fixture.refuses(&call, Framework::ConstraintRaw);
        }
    });
}

type Obstacle = fn(&mut Fixture, &Address);

/// The ways that parties, or the mint's issuer, can make the associated account unable to receive.
const OBSTACLES: [(&str, Obstacle); 5] = [
    ("frozen", |fixture, account| fixture.freeze(account)),
    ("closed", |fixture, account| {
        fixture.accounts.remove(account);
    }),
    ("reassigned", |fixture, account| {
        fixture.change(account, |account| {
            account.data[32..64].copy_from_slice(STRANGER.as_ref());
        });
    }),
    ("of another mint", |fixture, account| {
        fixture.change(account, |account| {
            account.data[..32].copy_from_slice(OTHER_MINT.as_ref());
        });
    }),
    ("uninitialised", |fixture, account| {
        fixture.change(account, |account| account.data[108] = 0);
    }),
];

#[test]
fn an_associated_account_that_cannot_receive_delays_only_its_owner() {
    for_each_recipient(|payment, party| {
        for (obstacle, put_in_the_way) in OBSTACLES {
            let mut payment = payment.clone();
            let (deal, due) = (payment.deal, payment.due(party));
            let account = party.associated(&deal);
            let whole = payment.fixture.account(&account);
            put_in_the_way(&mut payment.fixture, &account);
            let unable = payment.fixture.account(&account);
            let others = payment.balance(party.other());
            let vault = payment.fixture.balance(&deal.escrow_vault);
            println!("{obstacle}");
            let outcome = payment.fixture.run(&payment.call);
            outcome.succeeds();

            assert_eq!(payment.recorded(party), due);
            assert_eq!(payment.recorded(party.other()), 0);
            assert!(payment.fixture.account(&account) == unable);
            let to_other = payment.due(party.other());
            assert_eq!(payment.balance(party.other()), others + to_other);
            assert_eq!(
                payment.fixture.balance(&deal.escrow_vault),
                vault - to_other
            );
            let recorded = payment.fixture.recorded_event(&deal, party.wallet(), due);
            assert_eq!(outcome.events().contains(&recorded), due > 0);
            if due == 0 {
                continue;
            }
            payment.fixture.put(account, whole);
            let had = payment.balance(party);
            let claim = payment.fixture.claim(&deal, party.wallet(), due);
            payment.fixture.run(&claim).succeeds();
            assert_eq!(payment.balance(party), had + due);
        }
    });
}

#[test]
fn a_paid_party_needs_an_account_in_the_call() {
    for_each_recipient(|mut payment, party| {
        let place = payment.call.place(party.account());
        if !payment.call.row.accounts[place].meta.optional {
            return;
        }
        let call = payment.call.clone().without(party.account());
        if payment.due(party) > 0 {
            payment
                .fixture
                .refuses(&call, Framework::AccountNotEnoughKeys);
        } else {
            payment.fixture.run(&call).succeeds();
        }
    });
}

/// Takes all tokens from the account as delegate.
fn drain(fixture: &Fixture, account: &Address, thief: Address) -> Instruction {
    let amount = fixture.balance(account);
    Instruction {
        program_id: program_of(&currency()),
        accounts: vec![
            AccountMeta::new(*account, false),
            AccountMeta::new(associated(&thief, &currency()), false),
            AccountMeta::new_readonly(thief, true),
        ],
        data: [&[3], &amount.to_le_bytes()[..]].concat(),
    }
}

/// The theft found in an audit: the buyer approved a stranger on an empty side account. The stranger expires
/// the negotiation to that account and takes the refund in the same transaction.
#[test]
fn a_delegate_cannot_take_a_refund_through_the_buyers_side_account() {
    in_each_currency(|| {
        let (mut fixture, deal) = Fixture::created();
        fixture.now = NOW + 3_600;
        let mut account = token_account(&currency(), &BUYER, 0);
        delegate_to(&mut account, STRANGER, ESCROW);
        fixture.put(ASIDE, account);
        let expire = fixture.expire(&deal);
        let theft = expire.clone().with("buyer_token_account", ASIDE);
        fixture.refuses(&theft, Framework::ConstraintRaw);

        // The refund is recorded for the buyer, so the stranger cannot take it, not even from the associated
        // account.
        fixture.change(&deal.buyer_token_account, |account| {
            delegate_to(account, STRANGER, u64::MAX);
        });
        fixture.set_balance(&deal.buyer_token_account, 0);
        fixture.run(&expire).succeeds();
        let drain = drain(&fixture, &deal.buyer_token_account, STRANGER);
        fixture.run_instruction(&drain, "drain");
        assert_eq!(fixture.balance(&associated(&STRANGER, &currency())), 0);
        assert_eq!({ fixture.negotiation(&deal).claimable_buyer }, ESCROW);
        for account in [ASIDE, deal.buyer_token_account] {
            let close = fixture
                .close(&deal, STRANGER)
                .with("buyer_token_account", account);
            fixture.refuses(&close, HaggleError::PayoutPending);
        }
    });
}

/// Closes a wrapped SOL account as close authority, which then receives the lamports.
fn close_account(account: &Address, thief: Address) -> Instruction {
    Instruction {
        program_id: programs::TOKEN,
        accounts: vec![
            AccountMeta::new(*account, false),
            AccountMeta::new(thief, false),
            AccountMeta::new_readonly(thief, true),
        ],
        data: vec![9],
    }
}

#[test]
fn a_close_authority_cannot_take_a_payout_in_wrapped_sol() {
    in_mint(NATIVE_MINT, || {
        let (mut fixture, deal) = Fixture::accepted(&[10_000]);
        fixture.claims(&deal, 0);
        fixture.now = fixture.negotiation(&deal).turn_deadline;
        let mut account = token_account(&NATIVE_MINT, &SELLER, 0);
        close_by(&mut account, STRANGER);
        fixture.put(ASIDE, account);
        let release = fixture
            .release(&deal, STRANGER, 0)
            .with("seller_token_account", ASIDE);
        fixture.refuses(&release, Framework::ConstraintRaw);
        // The seller itself can select that account, and loses the lamports to the authority that it named.
        let release = fixture
            .release(&deal, SELLER, 0)
            .with("seller_token_account", ASIDE);
        fixture.run(&release).succeeds();
        let paid = fixture.balance(&ASIDE);
        assert!(paid > 0);
        let held = fixture.lamports(&ASIDE);
        let theft = close_account(&ASIDE, STRANGER);
        let outcome = fixture.run_instruction(&theft, "close");
        assert_eq!(outcome.result, ProgramResult::Success);
        assert_eq!(fixture.lamports(&STRANGER), LAMPORTS + held);
    });
}

/// The recipients when closing, with their owners.
const CLOSING: [(&str, Address); 3] = [
    ("treasury_token_account", TREASURY),
    ("buyer_token_account", BUYER),
    ("seller_token_account", SELLER),
];

/// The closer's signature names no deal, so it can be for an earlier deal at this address.
#[test]
fn close_pays_no_account_with_another_authority() {
    in_each_currency(|| {
        let (settled, deal) = Fixture::settled_with_recorded_payouts();
        for (name, owner) in CLOSING {
            for (authority, give) in AUTHORITIES {
                for account in [associated(&owner, &currency()), ASIDE] {
                    for closer in [STRANGER, BUYER, SELLER, TREASURY, AUTHORITY] {
                        let mut fixture = settled.clone();
                        let mut shared = token_account(&currency(), &owner, 0);
                        give(&mut shared);
                        fixture.put(account, shared);
                        let call = fixture.close(&deal, closer).with(name, account);
                        println!("{name} with {authority}, closed by {closer}");
                        fixture.refuses(&call, HaggleError::PayoutPending);
                    }
                }
            }
        }
    });
}

/// The party that builds an agreement names both accounts, and the opposite party signs them.
#[test]
fn an_agreement_pays_no_account_with_another_authority() {
    in_each_currency(|| {
        for (party, other) in [(Party::Buyer, SELLER), (Party::Seller, BUYER)] {
            let (mut fixture, deal) = Fixture::accepted(&[10_000]);
            let mut account = token_account(&currency(), &party.wallet(), 0);
            delegate_to(&mut account, other, u64::MAX);
            fixture.put(ASIDE, account);
            let agreement = fixture.settle_by_agreement(&deal, 5_000, 0);
            let call = agreement.with(party.account(), ASIDE);
            fixture.refuses(&call, Framework::ConstraintRaw);
        }
    });
}

#[test]
fn close_accepts_an_account_with_another_authority_if_nothing_is_due_to_it() {
    in_each_currency(|| {
        let (settled, deal) = Fixture::settled();
        let (mut rejected, _) = Fixture::created();
        let call = rejected.reject(&deal, SELLER);
        rejected.run(&call).succeeds();
        for (name, owner) in CLOSING {
            for (_, give) in AUTHORITIES {
                let mut fixture = if owner == TREASURY {
                    rejected.clone()
                } else {
                    settled.clone()
                };
                let mut shared = token_account(&currency(), &owner, 0);
                give(&mut shared);
                fixture.put(ASIDE, shared);
                let call = fixture.close(&deal, STRANGER).with(name, ASIDE);
                fixture.run(&call).succeeds();
                assert_eq!(fixture.balance(&ASIDE), 0);
                assert!(!fixture.exists(&deal.negotiation));
            }
        }
    });
}

/// The account owner's signature changes nothing in any place of the call.
#[test]
fn close_ignores_the_signature_of_an_owner() {
    in_each_currency(|| {
        let (mut fixture, deal) = Fixture::settled_with_recorded_payouts();
        for (name, owner) in CLOSING {
            let mut shared = token_account(&currency(), &owner, 0);
            close_by(&mut shared, STRANGER);
            fixture.put(ASIDE, shared);
            let mut call = fixture.close(&deal, STRANGER).with(name, ASIDE);
            call.accounts.push(AccountMeta::new(owner, true));
            fixture.refuses(&call, HaggleError::PayoutPending);
        }
        // The row lists the buyer as a lamport recipient and not as a signer.
        let mut shared = token_account(&currency(), &BUYER, 0);
        close_by(&mut shared, STRANGER);
        fixture.put(ASIDE, shared);
        let mut call = fixture
            .close(&deal, STRANGER)
            .with("buyer_token_account", ASIDE);
        let place = call.place("buyer");
        call.accounts[place].is_signer = true;
        fixture.refuses(&call, HaggleError::PayoutPending);
    });
}

#[test]
fn close_refuses_an_account_of_another_owner_or_mint() {
    in_each_currency(|| {
        for (mut fixture, deal) in [Fixture::settled(), Fixture::settled_with_recorded_payouts()] {
            for (name, owner) in CLOSING {
                let others = [BUYER, SELLER, TREASURY, STRANGER]
                    .into_iter()
                    .filter(|other| *other != owner)
                    .map(|other| associated(&other, &currency()));
                let wrong = others.chain([
                    associated(&owner, &OTHER_MINT),
                    deal.escrow_vault,
                    named("nothing"),
                    owner,
                ]);
                for address in wrong {
                    let call = fixture.close(&deal, STRANGER).with(name, address);
                    fixture.refuses(&call, Framework::ConstraintRaw);
                }
            }
        }
    });
}
