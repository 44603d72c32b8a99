//! Rent and lamports: the program pays the chain's rent, tolerates lamports at every address, and returns
//! every lamport.

use super::fixture::{
    assert_config, assert_negotiation, rent, under_both_token_programs, wallet, Fixture, AUTHORITY,
    BUYER, ESCROW, LAMPORTS, STRANGER,
};
use crate::error::HaggleError;
use crate::state::ProtocolConfig;

#[test]
fn a_creation_pays_only_the_rent_that_its_addresses_lack() {
    under_both_token_programs(|| {
        let mut plain = Fixture::new();
        let deal = Fixture::deal();
        let call = plain.create(&deal, &Fixture::terms());
        plain.run(&call).succeeds();
        for (to_negotiation, to_vault) in [
            (0, 0),
            (1, 0),
            (0, 1),
            (rent(512) - 1, rent(165) - 1),
            (rent(512), rent(165)),
            (rent(512) + 1, rent(165) + 1),
        ] {
            let mut fixture = Fixture::new();
            fixture.put(deal.negotiation, wallet(to_negotiation));
            fixture.put(deal.escrow_vault, wallet(to_vault));
            fixture.run(&call).succeeds();
            let (negotiation, vault) = (to_negotiation.max(rent(512)), to_vault.max(rent(165)));
            assert_eq!(fixture.lamports(&deal.negotiation), negotiation);
            assert_eq!(fixture.lamports(&deal.escrow_vault), vault);
            let paid = negotiation - to_negotiation + vault - to_vault;
            assert_eq!(fixture.lamports(&BUYER), LAMPORTS - paid);
            assert_eq!(fixture.balance(&deal.escrow_vault), ESCROW);
            assert_negotiation(&fixture.negotiation(&deal), &plain.negotiation(&deal));
        }
    });
}

#[test]
fn a_configuration_pays_only_the_rent_that_its_address_lacks() {
    for sent in [0, 1, rent(143) - 1, rent(143), rent(143) + 1, LAMPORTS] {
        let mut fixture = Fixture::unconfigured();
        fixture.put(ProtocolConfig::ADDRESS, wallet(sent));
        let call = fixture.initialize();
        fixture.run(&call).succeeds();
        assert_config(&fixture.protocol_config(), &Fixture::config());
        let held = sent.max(rent(143));
        assert_eq!(fixture.lamports(&ProtocolConfig::ADDRESS), held);
        assert_eq!(fixture.lamports(&AUTHORITY), LAMPORTS - (held - sent));
    }
}

#[test]
fn a_buyer_with_less_than_the_rent_cannot_create() {
    let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
    fixture.put(BUYER, wallet(rent(512) + rent(165) - 1));
    let before = fixture.accounts.clone();
    let call = fixture.create(&deal, &Fixture::terms());
    let outcome = fixture.run(&call);
    // The system program's error for a transfer beyond the balance.
    assert_eq!(outcome.error_code(), Some(1));
    assert!(fixture.accounts == before);
    fixture.put(BUYER, wallet(rent(512) + rent(165)));
    fixture.run(&call).succeeds();
    assert_eq!(fixture.lamports(&BUYER), 0);
}

#[test]
fn the_rent_follows_the_chains_price_and_factor() {
    const MOST: u64 = u32::MAX as u64;
    for (price, factor, per_byte) in [
        (6_960, 1.0, 6_960),
        (3_480, 2.0, 6_960),
        (1, 1.0, 1),
        (MOST, 1.0, MOST),
        (MOST, 2.0, MOST * 2),
    ] {
        let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
        fixture.rent = (price, factor);
        fixture.put(BUYER, wallet(u64::MAX / 4));
        let call = fixture.create(&deal, &Fixture::terms());
        fixture.run(&call).succeeds();
        assert_eq!(fixture.lamports(&deal.negotiation), (128 + 512) * per_byte);
        assert_eq!(fixture.lamports(&deal.escrow_vault), (128 + 165) * per_byte);
    }
}

#[test]
fn an_impossible_rent_is_refused() {
    for rent in [
        (6_960, 1.5),
        (6_960, 0.0),
        (6_960, -1.0),
        (1 << 32, 1.0),
        (u64::MAX, 1.0),
    ] {
        let mut fixture = Fixture::new();
        fixture.rent = rent;
        let call = fixture.create(&Fixture::deal(), &Fixture::terms());
        fixture.refuses(&call, HaggleError::Overflow);
    }
}

#[test]
fn a_close_returns_every_lamport_to_the_buyer() {
    under_both_token_programs(|| {
        for had in [0, LAMPORTS] {
            let (mut fixture, deal) = Fixture::settled();
            fixture.put(BUYER, wallet(had));
            fixture.change(&deal.negotiation, |account| account.lamports += 11);
            fixture.change(&deal.escrow_vault, |account| account.lamports += 22);
            let call = fixture.close(&deal, STRANGER);
            fixture.run(&call).succeeds();
            let returned = rent(512) + rent(165) + 33;
            assert_eq!(fixture.lamports(&BUYER), had + returned);
            assert_eq!(fixture.lamports(&STRANGER), LAMPORTS);
        }
    });
}
