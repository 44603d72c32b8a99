//! The two deposits: the buyer's escrow at creation and the seller's bond with the acceptance of the
//! invitation. Both come only from the depositor's token accounts, any of them.

use super::fixture::{
    associated, currency, in_mint, named, owned, program_of, token_account, Call, Deal, Fixture,
    BOND, BUYER, ESCROW, FUNDS, MINT, MINT_2022, NATIVE_MINT, OTHER_MINT, SELLER, SELLER_FUNDS,
    STRANGER,
};
use crate::error::Framework;
use pinocchio::Address;

/// Errors from token programs.
const INSUFFICIENT_FUNDS: u32 = 1;
const ACCOUNT_FROZEN: u32 = 17;

/// Another depositor token account, not the associated account.
const ASIDE: Address = named("a side account");

/// A call that deposits tokens.
struct Deposit {
    fixture: Fixture,
    deal: Deal,
    call: Call,
    depositor: Address,
    /// The name of the source in the row.
    source: &'static str,
    amount: u64,
}

impl Deposit {
    /// The depositor's associated token account, the source of the call.
    fn associated(&self) -> Address {
        associated(&self.depositor, &self.deal.token_mint)
    }

    /// The call with another source.
    fn from(&self, source: Address) -> Call {
        self.call.clone().with(self.source, source)
    }
}

/// Both deposits, using an SPL Token mint, wrapped SOL and a Token-2022 mint.
fn for_each_deposit(test: impl Fn(Deposit)) {
    for mint in [MINT, NATIVE_MINT, MINT_2022] {
        in_mint(mint, || {
            let (fixture, deal) = (Fixture::new(), Fixture::deal());
            test(Deposit {
                call: fixture.create(&deal, &Fixture::terms()),
                fixture,
                deal,
                depositor: BUYER,
                source: "buyer_token_account",
                amount: ESCROW,
            });
            let (fixture, deal) = Fixture::created_with_bond(&Fixture::bonded_terms());
            test(Deposit {
                call: fixture.accept_invitation_with_bond(&deal),
                fixture,
                deal,
                depositor: SELLER,
                source: "seller_token_account",
                amount: BOND,
            });
        });
    }
}

#[test]
fn a_deposit_moves_exactly_its_amount() {
    for_each_deposit(|deposit| {
        let (mut fixture, vault) = (deposit.fixture.clone(), deposit.deal.escrow_vault);
        let (had, held) = (
            fixture.balance(&deposit.associated()),
            fixture.balance(&vault),
        );
        let lamports = fixture.lamports(&deposit.associated());
        fixture.run(&deposit.call).succeeds();
        let left = had - deposit.amount;
        assert_eq!(fixture.balance(&deposit.associated()), left);
        assert_eq!(fixture.balance(&vault), held + deposit.amount);
        // Wrapped SOL moves along with lamports.
        let moved = if currency() == NATIVE_MINT {
            deposit.amount
        } else {
            0
        };
        let lamports = lamports - moved;
        assert_eq!(fixture.lamports(&deposit.associated()), lamports);
    });
}

#[test]
fn a_deposit_can_take_a_whole_balance_and_no_more() {
    for_each_deposit(|deposit| {
        let mut fixture = deposit.fixture.clone();
        fixture.set_balance(&deposit.associated(), deposit.amount - 1);
        let before = fixture.accounts.clone();
        let outcome = fixture.run(&deposit.call);
        assert_eq!(outcome.error_code(), Some(INSUFFICIENT_FUNDS));
        assert!(fixture.accounts == before);
        fixture.set_balance(&deposit.associated(), deposit.amount);
        fixture.run(&deposit.call).succeeds();
        assert_eq!(fixture.balance(&deposit.associated()), 0);
    });
}

#[test]
fn a_deposit_comes_from_any_account_of_the_depositor() {
    for_each_deposit(|deposit| {
        let mut fixture = deposit.fixture.clone();
        let mut account = token_account(&currency(), &deposit.depositor, deposit.amount + 1);
        // The depositor signs, so another authority over the account does not matter.
        for at in [72, 129] {
            account.data[at] = 1;
            account.data[at + 4..at + 36].copy_from_slice(STRANGER.as_ref());
        }
        fixture.put(ASIDE, account);
        let had = fixture.balance(&deposit.associated());
        fixture.run(&deposit.from(ASIDE)).succeeds();
        assert_eq!(fixture.balance(&ASIDE), 1);
        assert_eq!(fixture.balance(&deposit.associated()), had);
    });
}

#[test]
fn a_deposit_comes_from_no_other_account() {
    for_each_deposit(|deposit| {
        let mut fixture = deposit.fixture.clone();
        let mint = currency();
        fixture.donate(&associated(&STRANGER, &mint), FUNDS);
        // The right to spend from an account does not make the depositor the owner.
        let mut delegated = token_account(&mint, &STRANGER, FUNDS);
        delegated.data[72] = 1;
        delegated.data[76..108].copy_from_slice(deposit.depositor.as_ref());
        delegated.data[121..129].copy_from_slice(&FUNDS.to_le_bytes());
        fixture.put(named("delegated"), delegated);
        let empty = owned(program_of(&mint), vec![0; 165]);
        fixture.put(named("empty"), empty);
        for source in [
            associated(&STRANGER, &mint),
            associated(&deposit.depositor, &OTHER_MINT),
            named("delegated"),
            named("empty"),
            named("nothing"),
            deposit.depositor,
        ] {
            fixture.refuses(&deposit.from(source), Framework::ConstraintRaw);
        }
        if deposit.depositor == SELLER {
            for source in [deposit.deal.buyer_token_account, deposit.deal.escrow_vault] {
                fixture.refuses(&deposit.from(source), Framework::ConstraintRaw);
            }
        }
    });
}

#[test]
fn a_frozen_account_cannot_deposit() {
    for_each_deposit(|deposit| {
        for account in [deposit.associated(), deposit.deal.escrow_vault] {
            let mut fixture = deposit.fixture.clone();
            if !fixture.exists(&account) {
                continue;
            }
            fixture.freeze(&account);
            let before = fixture.accounts.clone();
            let outcome = fixture.run(&deposit.call);
            assert_eq!(outcome.error_code(), Some(ACCOUNT_FROZEN));
            assert!(fixture.accounts == before);
        }
    });
}

#[test]
fn the_largest_escrow_and_bond_fill_the_vault() {
    for mint in [MINT, MINT_2022] {
        in_mint(mint, || {
            let mut terms = Fixture::bonded_terms();
            terms.escrow_amount = u64::MAX - SELLER_FUNDS;
            terms.bond_required = SELLER_FUNDS;
            let (mut fixture, deal) = Fixture::bonded_with(&terms);
            assert_eq!(fixture.balance(&deal.escrow_vault), u64::MAX);
            let call = fixture
                .reject(&deal, BUYER)
                .given("seller_token_account", deal.seller_token_account);
            fixture.run(&call).succeeds();
            assert_eq!(fixture.balance(&deal.escrow_vault), 0);
            assert_eq!(fixture.balance(&deal.seller_token_account), SELLER_FUNDS);
        });
    }
}
