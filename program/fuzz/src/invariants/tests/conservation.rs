use super::*;

#[test]
fn a_changed_account_that_is_not_writable_is_found() {
    let mut bench = Bench::new();
    let scene = "accept_offer (SPL Token)";
    bench.finds(scene, "has changed and may not", |sample| {
        sample.after("token_mint").data_as_mut_slice()[44] = 7;
    });
    bench.finds(scene, "has changed and may not", |sample| {
        sample.after("escrow_vault").set_executable(true);
    });
}

#[test]
fn a_new_unit_is_found() {
    let mut bench = Bench::new();
    let scene = "accept_offer (SPL Token)";
    bench.finds(scene, "lamports and are", |sample| {
        add_lamports(sample.after("buyer_token_account"), 1);
    });
    bench.finds(scene, "of the tokens", |sample| {
        add_tokens(sample.after("seller_token_account"), 1);
    });
}

#[test]
fn a_payment_by_an_account_that_does_not_sign_is_found() {
    let mut bench = Bench::new();
    bench.finds("accept_offer (SPL Token)", "has lost tokens", |sample| {
        sample.move_tokens("buyer_token_account", "seller_token_account", 30_000_000);
    });
    bench.finds(
        "close_negotiation (SPL Token)",
        "has lost lamports",
        |sample| {
            let before = sample.before("buyer").lamports() as i64;
            let paid = sample.after("buyer").lamports() as i64 - before + 1;
            add_lamports(sample.after("buyer"), -paid);
            add_lamports(sample.after("config"), paid);
        },
    );
}
