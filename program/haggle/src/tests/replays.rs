//! Every signature names a deal and has no effect on any other deal, whether the pair re-creates a session or
//! negotiates in several. A transaction under a durable nonce stays valid until the nonce is advanced by the
//! signer.

use super::created_at::NAMING_THEIR_DEAL;
use super::fixture::{
    args_of, named, nonce_of, token_account, under_both_token_programs, zopa_commitment, Call,
    Deal, Fixture, BOND, BUYER, BUYER_PRICE, CREATED, FUNDS, NOW, OFFER, PRICE, SELLER,
    SELLER_FUNDS, SELLER_PRICE, STRANGER, THIRDS,
};
use super::virtual_machine::machine;
use crate::error::HaggleError;
use crate::instructions::create_negotiation::NegotiationParams;
use crate::instructions::settle_by_agreement;
use crate::ID;
use mollusk_svm::result::ProgramResult;
use pinocchio::error::ProgramError;
use pinocchio::Address;
use solana_instruction::Instruction;

/// One negotiation step: the terms, the way to it from the creation, and the calls that are possible there.
struct Step {
    name: &'static str,
    terms: NegotiationParams,
    path: fn(&mut Fixture, &Deal),
    calls: fn(&Fixture, &Deal) -> Vec<Call>,
}

fn run(fixture: &mut Fixture, call: &Call) {
    fixture.run(call).succeeds();
}

fn invite(fixture: &mut Fixture, deal: &Deal) {
    let call = if fixture.negotiation(deal).bond_required > 0 {
        fixture.set_balance(&deal.seller_token_account, SELLER_FUNDS);
        fixture.accept_invitation_with_bond(deal)
    } else {
        fixture.accept_invitation(deal)
    };
    run(fixture, &call);
}

fn offer(fixture: &mut Fixture, deal: &Deal) {
    invite(fixture, deal);
    let call = fixture.offer(deal, BUYER, PRICE);
    run(fixture, &call);
}

fn accept(fixture: &mut Fixture, deal: &Deal) {
    offer(fixture, deal);
    let call = fixture.accept_offer(deal, SELLER);
    run(fixture, &call);
}

fn settle_frozen(fixture: &mut Fixture, deal: &Deal) {
    fixture.freeze(&deal.buyer_token_account);
    fixture.freeze(&deal.seller_token_account);
    accept(fixture, deal);
    fixture.thaw(&deal.buyer_token_account);
    fixture.thaw(&deal.seller_token_account);
}

fn commit_one(fixture: &mut Fixture, deal: &Deal) {
    invite(fixture, deal);
    fixture.commits(deal, BUYER, BUYER_PRICE);
}

fn commit_both(fixture: &mut Fixture, deal: &Deal) {
    commit_one(fixture, deal);
    fixture.commits(deal, SELLER, SELLER_PRICE);
}

fn reveal_one(fixture: &mut Fixture, deal: &Deal) {
    commit_both(fixture, deal);
    fixture.reveals(deal, BUYER, BUYER_PRICE);
}

fn reveal_both(fixture: &mut Fixture, deal: &Deal) {
    reveal_one(fixture, deal);
    fixture.reveals(deal, SELLER, SELLER_PRICE);
}

fn claim(fixture: &mut Fixture, deal: &Deal) {
    accept(fixture, deal);
    fixture.claims(deal, 0);
}

fn dispute(fixture: &mut Fixture, deal: &Deal) {
    accept(fixture, deal);
    fixture.claims_and_disputes(deal, 0);
}

fn committing(fixture: &Fixture, deal: &Deal, agent: Address, price: u64) -> Call {
    fixture.commit(deal, agent, fixture.commitment(deal, agent, price))
}

/// An agreement that never expires.
fn agree(fixture: &Fixture, deal: &Deal, seller_bps: u16) -> Call {
    let args = settle_by_agreement::Args {
        created_at: fixture.created_at(deal),
        expected_decided: 0,
        valid_until: i64::MAX,
        seller_bps,
        bond_to_buyer_bps: 5_000,
    };
    fixture
        .settle_by_agreement(deal, 0, 0)
        .with_data([&settle_by_agreement::ROW.discriminator, args_of(&args)].concat())
}

fn steps() -> Vec<Step> {
    let plain = Fixture::terms();
    let sealed = Fixture::sealed_terms();
    let tranches = Fixture::milestone_terms(&THIRDS);
    vec![
        Step {
            name: "created",
            terms: plain,
            path: |_, _| {},
            calls: |fixture, deal| {
                vec![
                    fixture.accept_invitation(deal),
                    fixture.reject(deal, BUYER),
                    fixture.reject(deal, SELLER),
                ]
            },
        },
        Step {
            name: "invited",
            terms: plain,
            path: invite,
            calls: |fixture, deal| vec![fixture.offer(deal, BUYER, PRICE)],
        },
        Step {
            name: "offered",
            terms: plain,
            path: offer,
            calls: |fixture, deal| {
                vec![
                    fixture.offer(deal, SELLER, PRICE),
                    fixture.accept_offer(deal, SELLER),
                    fixture.reject(deal, SELLER),
                ]
            },
        },
        Step {
            name: "settled with recorded payouts",
            terms: plain,
            path: settle_frozen,
            calls: |fixture, deal| {
                let negotiation = fixture.negotiation(deal);
                vec![
                    fixture.claim(deal, BUYER, negotiation.claimable_buyer),
                    fixture.claim(deal, SELLER, negotiation.claimable_seller),
                ]
            },
        },
        Step {
            name: "sealed",
            terms: sealed,
            path: invite,
            calls: |fixture, deal| vec![committing(fixture, deal, BUYER, BUYER_PRICE)],
        },
        Step {
            name: "buyer committed",
            terms: sealed,
            path: commit_one,
            calls: |fixture, deal| vec![committing(fixture, deal, SELLER, SELLER_PRICE)],
        },
        Step {
            name: "both committed",
            terms: sealed,
            path: commit_both,
            calls: |fixture, deal| vec![fixture.reveal(deal, BUYER, BUYER_PRICE, nonce_of(BUYER))],
        },
        Step {
            name: "buyer revealed",
            terms: sealed,
            path: reveal_one,
            calls: |fixture, deal| {
                vec![
                    fixture.reveal(deal, SELLER, SELLER_PRICE, nonce_of(SELLER)),
                    fixture.reject(deal, SELLER),
                ]
            },
        },
        Step {
            name: "midpoint",
            terms: sealed,
            path: reveal_both,
            calls: |fixture, deal| {
                vec![
                    fixture.accept_offer(deal, BUYER),
                    fixture.accept_offer(deal, SELLER),
                    fixture.offer(deal, BUYER, PRICE),
                ]
            },
        },
        Step {
            name: "accepted",
            terms: tranches,
            path: accept,
            calls: |fixture, deal| {
                vec![
                    fixture.claim_milestone(deal, 0),
                    agree(fixture, deal, 5_000),
                ]
            },
        },
        Step {
            name: "claimed",
            terms: tranches,
            path: claim,
            calls: |fixture, deal| vec![fixture.release(deal, BUYER, 0), fixture.dispute(deal, 0)],
        },
        Step {
            name: "disputed",
            terms: tranches,
            path: dispute,
            calls: |fixture, deal| {
                vec![
                    fixture.resolve(deal, 0, 5_000),
                    agree(fixture, deal, 10_000),
                ]
            },
        },
    ]
}

/// The same terms for a creation at this time.
fn terms_at(terms: &NegotiationParams, created_at: i64) -> NegotiationParams {
    let later = created_at - CREATED;
    NegotiationParams {
        global_deadline: terms.global_deadline + later,
        milestone_deadline: if terms.milestone_deadline == 0 {
            0
        } else {
            terms.milestone_deadline + later
        },
        ..*terms
    }
}

/// Rejects and closes the negotiation, and creates it again at this time.
fn create_again(fixture: &mut Fixture, deal: &Deal, terms: &NegotiationParams, created_at: i64) {
    let call = fixture.reject(deal, BUYER);
    run(fixture, &call);
    fixture.now = created_at;
    let call = fixture.close(deal, BUYER);
    run(fixture, &call);
    let call = fixture.create(deal, &terms_at(terms, created_at));
    run(fixture, &call);
}

#[test]
fn no_signature_for_a_closed_deal_reaches_the_next_one() {
    under_both_token_programs(|| {
        for step in steps() {
            let (created, deal) = Fixture::created_with(&step.terms);
            let mut first = created.clone();
            (step.path)(&mut first, &deal);
            let signed = (step.calls)(&first, &deal);
            // The next second, and years later, as a durable nonce allows.
            for created_at in [CREATED + 1, CREATED + 1_000_000_000] {
                let mut second = created.clone();
                create_again(&mut second, &deal, &step.terms, created_at);
                (step.path)(&mut second, &deal);
                println!("{}, created at {created_at}", step.name);
                let current = (step.calls)(&second, &deal);
                assert_eq!(current.len(), signed.len());
                for (replayed, current) in signed.iter().zip(&current) {
                    // Only the deal differs, as the current call shows.
                    second.refuses(replayed, HaggleError::StaleState);
                    second.clone().run(current).succeeds();
                }
            }
        }
    });
}

#[test]
fn each_signed_instruction_is_replayed() {
    let mut replayed: Vec<_> = steps()
        .iter()
        .flat_map(|step| {
            let (mut fixture, deal) = Fixture::created_with(&step.terms);
            (step.path)(&mut fixture, &deal);
            (step.calls)(&fixture, &deal)
        })
        .map(|call| call.row.name)
        .filter(|name| *name != "accept_invitation")
        .collect();
    replayed.sort_unstable();
    replayed.dedup();
    assert_eq!(replayed, NAMING_THEIR_DEAL);
}

/// Runs calls in a single transaction.
fn in_one_transaction(fixture: &mut Fixture, calls: &[Call]) -> ProgramResult {
    let instructions: Vec<_> = calls
        .iter()
        .map(|call| Instruction {
            program_id: ID,
            accounts: call.accounts.clone(),
            data: call.data.clone(),
        })
        .collect();
    let accounts: Vec<_> = fixture.accounts.clone().into_iter().collect();
    let mut machine = machine();
    machine.sysvars.clock.unix_timestamp = fixture.now;
    let result = machine.process_instruction_chain(&instructions, &accounts);
    if result.program_result == ProgramResult::Success {
        for (address, account) in result.resulting_accounts {
            fixture.put(address, account);
        }
    }
    result.program_result
}

/// The attack found in an audit: the buyer rejects, closes and re-creates the session in a single transaction
/// while the seller's acceptance of the buyer's offer is in flight, with a price that is worth less to the
/// seller.
#[test]
fn a_session_re_created_in_one_transaction_is_another_deal() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::invited();
        let signed = fixture.offer(&deal, BUYER, OFFER);
        let mut worse = Fixture::terms();
        worse.decay_rate_bps = 1_000;
        let again = [
            fixture.reject(&deal, BUYER),
            fixture.close(&deal, BUYER),
            fixture.create(&deal, &worse),
        ];
        // Closing fails in the second of creation, and so does the transaction.
        let mut same_second = fixture.at(CREATED);
        let result = in_one_transaction(&mut same_second, &again);
        let refused = ProgramError::from(HaggleError::InvalidState);
        assert_eq!(result, ProgramResult::Failure(refused));
        assert_eq!({ same_second.negotiation(&deal).created_at }, CREATED);

        let result = in_one_transaction(&mut fixture, &again);
        assert_eq!(result, ProgramResult::Success);
        assert_eq!({ fixture.negotiation(&deal).created_at }, NOW);
        let call = fixture.accept_invitation(&deal);
        run(&mut fixture, &call);
        fixture.refuses(&signed, HaggleError::StaleState);
    });
}

/// close_negotiation takes no created_at, so an old signature can close a later deal. It pays only accounts
/// without another authority.
#[test]
fn a_close_signed_for_an_earlier_deal_pays_no_account_with_another_authority() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::rejected();
        let aside = named("a side account");
        let mut account = token_account(&deal.token_mint, &BUYER, 0);
        account.data[72] = 1;
        account.data[76..108].copy_from_slice(STRANGER.as_ref());
        account.data[121..129].fill(0xff);
        fixture.put(aside, account);
        let close = fixture
            .close(&deal, BUYER)
            .with("buyer_token_account", aside);
        let call = fixture.close(&deal, STRANGER);
        run(&mut fixture, &call);
        fixture.now += 10;
        let call = fixture.create(&deal, &Fixture::terms());
        run(&mut fixture, &call);
        fixture.freeze(&deal.buyer_token_account);
        let call = fixture.reject(&deal, BUYER);
        run(&mut fixture, &call);
        fixture.now += 1;
        fixture.refuses(&close, HaggleError::PayoutPending);
    });
}

#[test]
fn an_invitation_to_other_terms_is_another_one() {
    under_both_token_programs(|| {
        type Change = fn(&mut NegotiationParams);
        let changes: [(&str, Change); 3] = [
            ("the same terms", |_| {}),
            ("a higher bond", |terms| terms.bond_required = SELLER_FUNDS),
            ("a higher decay", |terms| terms.decay_rate_bps = 1_000),
        ];
        for (name, change) in changes {
            let mut terms = Fixture::bonded_terms();
            let (mut fixture, deal) = Fixture::created_with_bond(&terms);
            let signed = fixture.accept_invitation_with_bond(&deal);
            change(&mut terms);
            create_again(&mut fixture, &deal, &terms, NOW);
            println!("{name}");
            fixture.refuses(&signed, HaggleError::StaleState);
        }
    });
}

/// Another session of the pair with the same terms.
fn second_session(fixture: &mut Fixture, first: &Deal, terms: &NegotiationParams) -> Deal {
    let second = Deal::between(BUYER, SELLER, 2, first.token_mint);
    fixture.now = CREATED;
    let call = fixture.create(&second, terms);
    run(fixture, &call);
    fixture.now = NOW;
    second
}

#[test]
fn an_invitation_to_another_session_is_another_one() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::created();
        let other = second_session(&mut fixture, &deal, &Fixture::terms());
        let call = fixture
            .accept_invitation(&deal)
            .with("negotiation", other.negotiation);
        fixture.refuses(&call, HaggleError::StaleState);
    });
}

#[test]
fn a_commitment_of_an_earlier_deal_does_not_open_in_a_later_one() {
    under_both_token_programs(|| {
        let terms = Fixture::sealed_terms();
        let (mut fixture, deal) = Fixture::created_with_bond(&terms);
        let earlier = |agent, price| zopa_commitment(&deal, CREATED, agent, price, nonce_of(agent));
        create_again(&mut fixture, &deal, &terms, NOW);
        invite(&mut fixture, &deal);
        for (agent, price) in [(BUYER, BUYER_PRICE), (SELLER, SELLER_PRICE)] {
            assert_ne!(
                earlier(agent, price),
                fixture.commitment(&deal, agent, price)
            );
        }
        // The seller's commitment comes from the earlier deal, so that the seller's reveal fails.
        let mut by_seller = fixture.clone();
        by_seller.commits(&deal, BUYER, BUYER_PRICE);
        let call = by_seller.commit(&deal, SELLER, earlier(SELLER, SELLER_PRICE));
        run(&mut by_seller, &call);
        by_seller.reveals(&deal, BUYER, BUYER_PRICE);
        let call = by_seller.reveal(&deal, SELLER, SELLER_PRICE, nonce_of(SELLER));
        by_seller.refuses(&call, HaggleError::ZopaCommitmentMismatch);

        let call = fixture.commit(&deal, BUYER, earlier(BUYER, BUYER_PRICE));
        run(&mut fixture, &call);
        fixture.commits(&deal, SELLER, SELLER_PRICE);
        let call = fixture.reveal(&deal, BUYER, BUYER_PRICE, nonce_of(BUYER));
        fixture.refuses(&call, HaggleError::ZopaCommitmentMismatch);
    });
}

#[test]
fn a_commitment_opens_in_one_session_only() {
    under_both_token_programs(|| {
        let (mut fixture, first) = Fixture::both_committed();
        let second = second_session(&mut fixture, &first, &Fixture::sealed_terms());
        let call = fixture.accept_invitation_with_bond(&second);
        run(&mut fixture, &call);
        let seen = fixture.negotiation(&first);
        for (agent, commitment) in [
            (BUYER, seen.buyer_commitment),
            (SELLER, seen.seller_commitment),
        ] {
            let call = fixture.commit(&second, agent, commitment);
            run(&mut fixture, &call);
        }
        let call = fixture.reveal(&second, BUYER, BUYER_PRICE, nonce_of(BUYER));
        fixture.refuses(&call, HaggleError::ZopaCommitmentMismatch);
        fixture.reveals(&first, BUYER, BUYER_PRICE);
    });
}

#[test]
fn a_seller_cannot_reveal_a_copy_of_the_buyers_commitment() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::buyer_committed();
        let copied = fixture.negotiation(&deal).buyer_commitment;
        let call = fixture.commit(&deal, SELLER, copied);
        run(&mut fixture, &call);
        fixture.reveals(&deal, BUYER, BUYER_PRICE);
        for nonce in [nonce_of(BUYER), nonce_of(SELLER)] {
            for price in [BUYER_PRICE, SELLER_PRICE] {
                let call = fixture.reveal(&deal, SELLER, price, nonce);
                fixture.refuses(&call, HaggleError::ZopaCommitmentMismatch);
            }
        }
        // The copy costs the seller the bond.
        fixture.now = NOW + 300;
        let call = fixture.expire(&deal);
        run(&mut fixture, &call);
        assert_eq!(fixture.balance(&deal.buyer_token_account), FUNDS + BOND);
        assert_eq!(
            fixture.balance(&deal.seller_token_account),
            SELLER_FUNDS - BOND
        );
    });
}

#[test]
fn a_session_can_be_used_and_closed_again() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = Fixture::closed();
        for created_at in [NOW, NOW + 1, NOW + 2] {
            fixture.now = created_at;
            let call = fixture.create(&deal, &Fixture::terms());
            run(&mut fixture, &call);
            let call = fixture.reject(&deal, SELLER);
            run(&mut fixture, &call);
            let close = fixture.close(&deal, STRANGER);
            fixture.refuses(&close, HaggleError::InvalidState);
            fixture.now += 1;
            run(&mut fixture, &close);
            assert!(!fixture.exists(&deal.negotiation));
        }
        assert_eq!({ fixture.protocol_config().total_negotiations }, 4);
    });
}
