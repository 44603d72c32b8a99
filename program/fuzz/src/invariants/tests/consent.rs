use super::*;
use crate::fixtures::fixture::associated;
use haggle_program::schema::declare::bytes_of;
use haggle_program::state::Negotiation;

const DAY: i64 = 86_400;

fn negotiation_of(sample: &mut Sample<'_>) -> Negotiation {
    *negotiation(sample.before("negotiation")).expect("the negotiation exists")
}

#[test]
fn an_action_without_a_signature_is_found() {
    let mut bench = Bench::new();
    for (scene, signer) in [
        ("accept_invitation (SPL Token)", "seller"),
        ("submit_offer (SPL Token)", "offerer"),
        ("accept_offer (SPL Token)", "acceptor"),
        ("accept_offer of the midpoint (SPL Token)", "acceptor"),
        ("reject_negotiation (SPL Token)", "rejector"),
        (
            "submit_zopa_commitment of the seller's (SPL Token)",
            "agent",
        ),
        ("reveal_zopa_price with a zone (SPL Token)", "agent"),
        ("claim_milestone (SPL Token)", "seller"),
        ("release_milestone by the buyer (SPL Token)", "releaser"),
        ("dispute_milestone (SPL Token)", "buyer"),
        ("resolve_dispute (SPL Token)", "arbiter"),
        ("settle_by_agreement (SPL Token)", "buyer"),
        ("settle_by_agreement (SPL Token)", "seller"),
        ("claim_payout (SPL Token)", "party"),
    ] {
        bench.finds(scene, "without consent", |sample| {
            let at = sample.at(signer);
            let mut list = sample.prepared.call.list.iter_mut();
            let entry = list.find(|entry| entry.0 == at);
            entry.expect("the signer is in the list").1 = false;
        });
    }
}

#[test]
fn an_action_out_of_its_time_is_found() {
    type Time = fn(&Negotiation) -> i64;
    let turn_ends: Time = |negotiation| negotiation.turn_deadline;
    let turn_lasts: Time = |negotiation| negotiation.turn_deadline - 1;
    let milestones_end: Time = |negotiation| negotiation.milestone_deadline;
    let milestones_last: Time = |negotiation| negotiation.milestone_deadline - 1;
    let arbitration_ends: Time = |negotiation| {
        let review = i64::from(negotiation.review_hours) * 3_600;
        review.max(DAY) + negotiation.milestone_deadline
    };
    let mut bench = Bench::new();
    for (scene, time) in [
        ("accept_invitation", turn_ends),
        ("submit_offer", turn_ends),
        ("accept_offer", turn_ends),
        ("submit_zopa_commitment of the buyer's", turn_ends),
        ("reveal_zopa_price of the buyer's", turn_ends),
        ("reject_negotiation", turn_ends),
        ("expire_negotiation", turn_lasts),
        ("claim_milestone", milestones_end),
        ("dispute_milestone", turn_ends),
        ("release_milestone after silence", turn_lasts),
        ("resolve_dispute", arbitration_ends),
        ("settle_deadline", milestones_last),
        ("settle_by_agreement", |_| i64::MAX),
    ] {
        bench.finds(
            &format!("{scene} (SPL Token)"),
            "without consent",
            |sample| {
                let negotiation = negotiation_of(sample);
                sample.prepared.call.sysvars.now = time(&negotiation);
            },
        );
    }
}

#[test]
fn the_end_of_an_open_negotiations_accounts_is_found() {
    let mut bench = Bench::new();
    bench.finds(
        "close_negotiation (SPL Token)",
        "without consent",
        |sample| {
            let mut open = negotiation_of(sample);
            open.status = haggle_program::state::NegotiationStatus::Proposed;
            sample.before("negotiation").data_as_mut_slice()[8..].copy_from_slice(bytes_of(&open));
        },
    );
}

/// In a negotiation with a bond a rejecting seller leaves the token account out exactly if it forfeits the
/// bond.
#[test]
fn a_sellers_rejection_without_consent_to_the_bonds_destination_is_found() {
    // The index of reject_negotiation among the suggestions, and a bit of the variant that names or leaves
    // out the account against the rule.
    const REJECT: u8 = 2;
    const AGAINST: u8 = 1 << 6;
    let mut bench = Bench::new();
    for (scene, forfeits) in [
        // Before the deposit.
        ("accept_invitation with a bond (SPL Token)", false),
        // The seller's reveal is due.
        ("reveal_zopa_price with a zone (SPL Token)", true),
        // Both prices are revealed, and the buyer has made no offer since.
        ("accept_offer of the midpoint (SPL Token)", true),
    ] {
        let rejected = |variant| Case {
            environment: bench.scene(scene),
            ops: vec![a_move(REJECT, variant)],
        };
        let (valid, refused) = (rejected(0), rejected(AGAINST));
        let error = if forfeits { 6013 } else { 3005 };
        let verdict = bench.sample(&refused).verdict();
        assert_eq!(verdict, Ok(Outcome::Returned(error)), "{scene}");
        bench.finds_in(&valid, "without consent", |sample| {
            let accounts = &mut sample.prepared.call.accounts;
            let other = if forfeits {
                let negotiation = accounts
                    .iter()
                    .find_map(|(_, account)| negotiation(account));
                let terms = negotiation.expect("the negotiation exists");
                let address = associated(&terms.seller, &terms.token_mint);
                let account = sample.chain.account(&address);
                accounts.push((address, account.clone()));
                sample.run.after.push(account);
                accounts.len() - 1
            } else {
                let mut accounts = accounts.iter();
                let program = accounts.position(|(address, _)| *address == crate::ID);
                program.expect("the program is among the accounts")
            };
            let row = sample.prepared.row.expect("the data names an instruction");
            let mut declared = row.accounts.iter();
            let place = declared.position(|account| account.name == "seller_token_account");
            sample.prepared.call.list[place.expect("the row has it")].0 = other;
        });
    }
}
