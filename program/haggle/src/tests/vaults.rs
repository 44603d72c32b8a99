//! The vault: a frozen or short vault delays payments and prevents no end, donations change no payment, and
//! the program refuses to pay inconsistent amounts.

use super::fixture::{currency, under_both_token_programs, Fixture, Outcome, ESCROW, MINT_2022};
use super::payments::{payments, Payment, PARTIES};
use crate::error::HaggleError;
use crate::state::Negotiation;

fn for_each_payment(test: impl Fn(Payment)) {
    under_both_token_programs(|| {
        for payment in payments() {
            println!("{}", payment.name);
            test(payment);
        }
    });
}

/// Runs the payment, whose vault cannot pay, and requires that everything is recorded and nothing moves.
fn records_everything(mut payment: Payment) -> Payment {
    let deal = payment.deal;
    let [buyers, sellers] = PARTIES.map(|party| payment.balance(party));
    let held = payment.fixture.balance(&deal.escrow_vault);
    let earlier = PARTIES.map(|party| payment.recorded(party));
    assert_eq!(earlier, [0, 0]);
    let outcome = payment.fixture.run(&payment.call);
    outcome.succeeds();
    assert_eq!(PARTIES.map(|party| payment.recorded(party)), payment.due);
    let recorded: Vec<_> = PARTIES
        .into_iter()
        .filter(|party| payment.due(*party) > 0)
        .map(|party| {
            let due = payment.due(party);
            payment.fixture.recorded_event(&deal, party.wallet(), due)
        })
        .collect();
    // The buyer's event is first; no events follow these.
    assert!(outcome.events().ends_with(&recorded));
    assert_eq!(
        PARTIES.map(|party| payment.balance(party)),
        [buyers, sellers]
    );
    assert_eq!(payment.fixture.balance(&deal.escrow_vault), held);
    payment
}

/// Both parties claim their recorded payouts.
fn claims_everything(mut payment: Payment) {
    for party in PARTIES {
        let (had, due) = (payment.balance(party), payment.due(party));
        if due > 0 {
            let call = payment.fixture.claim(&payment.deal, party.wallet(), due);
            payment.fixture.run(&call).succeeds();
        }
        assert_eq!(payment.balance(party), had + due);
        assert_eq!(payment.recorded(party), 0);
    }
}

#[test]
fn a_payment_moves_exactly_the_amounts_that_are_due() {
    for_each_payment(|mut payment| {
        let deal = payment.deal;
        let [buyers, sellers] = PARTIES.map(|party| payment.balance(party));
        let held = payment.fixture.balance(&deal.escrow_vault);
        payment.fixture.run(&payment.call).succeeds();
        let [to_buyer, to_seller] = payment.due;
        assert_eq!(
            PARTIES.map(|party| payment.balance(party)),
            [buyers + to_buyer, sellers + to_seller]
        );
        assert_eq!(
            payment.fixture.balance(&deal.escrow_vault),
            held - payment.sum()
        );
        assert_eq!(PARTIES.map(|party| payment.recorded(party)), [0, 0]);
    });
}

#[test]
fn a_frozen_vault_records_everything_and_pays_once_it_is_thawed() {
    for_each_payment(|mut payment| {
        let vault = payment.deal.escrow_vault;
        payment.fixture.freeze(&vault);
        let mut payment = records_everything(payment);
        payment.fixture.thaw(&vault);
        claims_everything(payment);
    });
}

#[test]
fn a_vault_that_holds_one_unit_too_little_records_everything() {
    for_each_payment(|mut payment| {
        let vault = payment.deal.escrow_vault;
        payment.fixture.set_balance(&vault, payment.sum() - 1);
        let mut payment = records_everything(payment);
        payment.fixture.donate(&vault, 1);
        claims_everything(payment);
    });
}

#[test]
fn a_vault_that_holds_exactly_the_amounts_due_pays_them() {
    for_each_payment(|mut payment| {
        let vault = payment.deal.escrow_vault;
        let [buyers, sellers] = PARTIES.map(|party| payment.balance(party));
        let [to_buyer, to_seller] = payment.due;
        payment.fixture.set_balance(&vault, payment.sum());
        payment.fixture.run(&payment.call).succeeds();
        assert_eq!(payment.fixture.balance(&vault), 0);
        assert_eq!(
            PARTIES.map(|party| payment.balance(party)),
            [buyers + to_buyer, sellers + to_seller]
        );
    });
}

#[test]
fn donations_to_a_vault_change_nothing() {
    for_each_payment(|mut payment| {
        let vault = payment.deal.escrow_vault;
        let mut plain = payment.clone();
        payment.fixture.donate(&vault, 1_000);
        let events = payment.fixture.run(&payment.call).succeeds().events();
        assert_eq!(plain.fixture.run(&plain.call).events(), events);
        plain.fixture.donate(&vault, 1_000);
        assert!(payment.fixture.accounts == plain.fixture.accounts);
    });
}

/// The transfers in a call: the token program calls.
fn transfers(outcome: &Outcome) -> usize {
    let calls = outcome
        .logs
        .iter()
        .filter(|line| line.starts_with("Program Token") && line.ends_with("invoke [2]"));
    calls.count()
}

#[test]
fn a_party_gets_escrow_and_bond_in_one_transfer() {
    for_each_payment(|mut payment| {
        let outcome = payment.fixture.run(&payment.call);
        outcome.succeeds();
        let paid = payment.due.iter().filter(|due| **due > 0).count();
        let calls = if currency() == MINT_2022 { paid } else { 1 };
        assert_eq!(transfers(&outcome), calls);
    });
}

type Change = fn(&mut Negotiation);

/// States never produced by instructions, paying out more than the vault owes.
const CONTRADICTIONS: [(&str, Change); 2] = [
    ("an escrow that has grown", |negotiation| {
        negotiation.effective_escrow = ESCROW + 1;
    }),
    ("more paid than the deposit", |negotiation| {
        negotiation.paid_gross = u64::MAX;
    }),
];

#[test]
fn inconsistent_amounts_are_not_paid() {
    for_each_payment(|mut payment| {
        for (contradiction, change) in CONTRADICTIONS {
            let mut negotiation = payment.fixture.negotiation(&payment.deal);
            let whole = negotiation;
            change(&mut negotiation);
            payment.fixture.set_negotiation(&payment.deal, &negotiation);
            println!("{contradiction}");
            let call = payment.call.clone();
            payment.fixture.refuses(&call, HaggleError::Overflow);
            payment.fixture.set_negotiation(&payment.deal, &whole);
        }
    });
}

#[test]
fn an_escrow_with_a_payment_before_the_end_is_not_refunded() {
    for_each_payment(|mut payment| {
        let mut negotiation = payment.fixture.negotiation(&payment.deal);
        if !negotiation.is_open() {
            return;
        }
        negotiation.paid_gross = 1_000_000;
        payment.fixture.set_negotiation(&payment.deal, &negotiation);
        let call = payment.call.clone();
        payment.fixture.refuses(&call, HaggleError::Overflow);
    });
}

#[test]
fn a_fee_above_the_price_is_not_paid() {
    under_both_token_programs(|| {
        let (mut accepted, deal) = Fixture::offered();
        let accept = accepted.accept_offer(&deal, deal.seller);
        let (mut claimed, _) = Fixture::accepted(&[10_000]);
        claimed.claims(&deal, 0);
        let release = claimed.release(&deal, deal.buyer, 0);
        let agree = claimed.settle_by_agreement(&deal, 10_000, 0);
        for (fixture, call) in [
            (&mut accepted, &accept),
            (&mut claimed.clone(), &release),
            (&mut claimed, &agree),
        ] {
            let mut negotiation = fixture.negotiation(&deal);
            negotiation.protocol_fee_bps = 10_001;
            fixture.set_negotiation(&deal, &negotiation);
            fixture.refuses(call, HaggleError::Overflow);
        }
    });
}
