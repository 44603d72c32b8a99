use super::*;

/// A valid call that is withheld and sent later.
fn delayed(bench: &Bench, scene: &str) -> Case {
    bench.case(scene, &[Op::Withhold {}, Op::Repeat { earlier: 0 }])
}

#[test]
fn a_signature_that_succeeds_for_another_deal_is_found() {
    let mut bench = Bench::new();
    for scene in [
        "accept_invitation",
        "submit_offer",
        "accept_offer",
        "reject_negotiation",
        "submit_zopa_commitment of the buyer's",
        "reveal_zopa_price of the buyer's",
        "claim_milestone",
        "dispute_milestone",
        "release_milestone by the buyer",
        "resolve_dispute",
        "settle_by_agreement",
        "claim_payout",
    ] {
        let case = delayed(&bench, &format!("{scene} (SPL Token)"));
        bench.finds_in(&case, "signed for", |sample| {
            let deal = sample.chain.signed[0].deal.as_mut();
            deal.expect("the call is about a deal").number -= 1;
        });
    }
}

#[test]
fn a_signature_that_pays_its_signer_less_than_it_promised_is_found() {
    let mut bench = Bench::new();
    for scene in [
        "accept_offer",
        "reject_negotiation with a bond",
        "settle_by_agreement",
        "claim_payout",
    ] {
        let case = delayed(&bench, &format!("{scene} (SPL Token)"));
        bench.finds_in(&case, "and promised", |sample| {
            let promised = sample.chain.signed[0].promised.as_mut();
            let promised = promised.expect("the call would have succeeded");
            *promised = promised.map(|amount| amount + 1);
        });
    }
}
