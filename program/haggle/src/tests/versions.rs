//! Account layout versions.

use super::fixture::under_both_token_programs;
use super::scenes::scenes;
use crate::error::Framework;
use std::collections::BTreeSet;

/// The instructions that neither read nor write an existing negotiation.
const WITHOUT_NEGOTIATION: [&str; 6] = [
    "accept_authority",
    "create_negotiation",
    "initialize_config",
    "propose_authority",
    "set_paused",
    "update_config",
];

#[test]
fn a_negotiation_of_another_version_is_refused() {
    under_both_token_programs(|| {
        let mut skipped = BTreeSet::new();
        for mut scene in scenes() {
            if WITHOUT_NEGOTIATION.contains(&scene.call.row.name) {
                skipped.insert(scene.call.row.name);
                continue;
            }
            for version in [0, 2, u8::MAX] {
                let mut negotiation = scene.fixture.negotiation(&scene.deal);
                negotiation.version = version;
                scene.fixture.set_negotiation(&scene.deal, &negotiation);
                println!("{}", scene.name);
                let error = Framework::AccountDidNotDeserialize;
                scene.fixture.refuses(&scene.call, error);
            }
        }
        assert_eq!(skipped, BTreeSet::from(WITHOUT_NEGOTIATION));
    });
}
