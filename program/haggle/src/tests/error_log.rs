//! The line logged to name an error to Anchor clients: a single line on failure, none on success.

use super::fixture::{
    under_both_token_programs, Call, Fixture, BUYER, NOW, OFFER, SELLER, STRANGER,
};
use super::scenes::scenes;
use crate::error::{Framework, HaggleError, ERRORS};
use pinocchio::error::ProgramError;

/// The logged lines that Anchor clients read.
fn anchor_lines(logs: &[String]) -> Vec<&str> {
    logs.iter()
        .filter_map(|line| line.strip_prefix("Program log: "))
        .collect()
}

/// Requires exactly one line, with this name, number and message.
#[track_caller]
fn assert_logs(fixture: &Fixture, call: &Call, (name, code, message): (&str, u32, &str)) {
    let outcome = fixture.at(fixture.now).run(call);
    outcome.refused(ProgramError::Custom(code));
    let line = format!(
        "AnchorError occurred. Error Code: {name}. Error Number: {code}. Error Message: {message}."
    );
    assert_eq!(anchor_lines(&outcome.logs), [line]);
}

/// An IDL error's name, number and message.
fn row_of(error: HaggleError) -> (&'static str, u32, &'static str) {
    let row = ERRORS.iter().find(|row| row.code == error as u32);
    let row = row.expect("every error has a row");
    (row.name, row.code, row.message)
}

#[test]
fn a_failure_logs_the_errors_row_in_anchors_format() {
    under_both_token_programs(|| {
        let (fixture, deal) = Fixture::offered();
        let mut paused = Fixture::new();
        paused.pause();
        let create = paused.create(&deal, &Fixture::terms());
        let (mut sealed, _) = Fixture::both_committed();
        sealed.now = NOW + 1;
        let reveal = sealed.reveal(&deal, BUYER, OFFER, [0; 32]);
        for (fixture, call, error) in [
            (
                &fixture,
                fixture.close(&deal, BUYER),
                HaggleError::InvalidState,
            ),
            (
                &fixture,
                fixture.reject(&deal, STRANGER),
                HaggleError::Unauthorized,
            ),
            (
                &fixture,
                fixture.offer(&deal, BUYER, OFFER),
                HaggleError::NotYourTurn,
            ),
            (
                &fixture,
                fixture.offer(&deal, SELLER, 0),
                HaggleError::OfferTooLow,
            ),
            (
                &fixture,
                fixture.offer(&deal, SELLER, u64::MAX),
                HaggleError::OfferExceedsEscrow,
            ),
            (&paused, create, HaggleError::Paused),
            (&sealed, reveal, HaggleError::ZopaCommitmentMismatch),
        ] {
            assert_logs(fixture, &call, row_of(error));
        }
        // Anchor's framework errors are in no IDL, and use Anchor's names and messages.
        let call = fixture.reject(&deal, BUYER);
        let unsigned = call.clone().unsigned("rejector");
        let not_signer = Framework::AccountNotSigner as u32;
        let message = "The given account did not sign";
        assert_logs(
            &fixture,
            &unsigned,
            ("AccountNotSigner", not_signer, message),
        );
        let other = call.with("token_mint", STRANGER);
        let has_one = Framework::ConstraintHasOne as u32;
        let message = "A has one constraint was violated";
        assert_logs(&fixture, &other, ("ConstraintHasOne", has_one, message));
    });
}

#[test]
fn a_success_logs_no_error() {
    under_both_token_programs(|| {
        for mut scene in scenes() {
            let outcome = scene.fixture.run(&scene.call);
            let errors = outcome.succeeds().logs.iter();
            let lines: Vec<_> = errors.filter(|line| line.contains("AnchorError")).collect();
            assert!(lines.is_empty(), "{}: {lines:?}", scene.name);
        }
    });
}

/// Another program's error has no name of this program.
#[test]
fn an_error_of_the_token_program_logs_no_error_of_this_program() {
    under_both_token_programs(|| {
        let (mut fixture, deal) = (Fixture::new(), Fixture::deal());
        fixture.set_balance(&deal.buyer_token_account, OFFER);
        let call = fixture.create(&deal, &Fixture::terms());
        let outcome = fixture.run(&call);
        assert_eq!(outcome.error_code(), Some(1));
        assert!(!outcome.logs.iter().any(|line| line.contains("AnchorError")));
    });
}
