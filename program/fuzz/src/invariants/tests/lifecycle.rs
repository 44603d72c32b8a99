use super::*;

const STATUS: usize = 80;

#[test]
fn a_negotiation_that_does_not_keep_its_rules_is_found() {
    const BUYER: usize = 8;
    let mut bench = Bench::new();
    let scene = "accept_offer (SPL Token)";
    bench.finds(scene, "buyer of", |sample| {
        sample.after("negotiation").data_as_mut_slice()[BUYER] ^= 1;
    });
    bench.finds(scene, "goes from", |sample| {
        sample.after("negotiation").data_as_mut_slice()[STATUS] = 0;
    });
    bench.finds(scene, "no longer a negotiation", |sample| {
        sample.after("negotiation").data_as_mut_slice()[0] ^= 1;
    });
}

#[test]
fn a_change_of_another_account_of_the_programs_is_found() {
    let mut bench = Bench::new();
    bench.finds(
        "close_negotiation (SPL Token)",
        "no longer a configuration",
        |sample| sample.after("config").data_as_mut_slice()[0] ^= 1,
    );
    let scene = "expire_negotiation with all accounts (SPL Token)";
    bench.finds(scene, "2 negotiations", |sample| {
        let other = sample.before("negotiation").clone();
        *sample.before("seller_token_account") = other.clone();
        *sample.after("seller_token_account") = other;
        sample.after("seller_token_account").data_as_mut_slice()[STATUS] = 6;
    });
    bench.finds(scene, "has lost something", |sample| {
        let empty = AccountSharedData::new(1, 9, &crate::ID);
        *sample.before("seller_token_account") = empty.clone();
        *sample.after("seller_token_account") = empty;
        sample.after("seller_token_account").data_as_mut_slice()[0] = 1;
    });
}

#[test]
fn a_vault_that_does_not_cover_its_debts_is_found() {
    let mut bench = Bench::new();
    bench.finds("accept_offer (SPL Token)", "and holds", |sample| {
        sample.move_tokens("escrow_vault", "seller_token_account", 1);
    });
    // A payment with no state change.
    bench.finds("claim_payout (SPL Token)", "and holds", |sample| {
        *sample.after("negotiation") = sample.before("negotiation").clone();
    });
}
