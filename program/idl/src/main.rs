//! Writes the program's IDL, the effects table, Anchor's project file and the SDK's fixtures from the program
//! crate's table.
//!
//! `make idl` runs this tool. The test below fails if the files on disk differ.

mod effects;
mod fixtures;
mod render;

use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// The files to write, relative to the repository root.
fn files() -> [(&'static str, String); 4] {
    [
        ("idl/haggle.json", render::idl_json()),
        ("idl/effects.json", effects::effects_json()),
        ("Anchor.toml", render::anchor_toml()),
        (
            "sdk/protocol/testdata/fixtures.json",
            fixtures::fixtures_json(),
        ),
    ]
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn main() -> ExitCode {
    for (name, content) in files() {
        let path = root().join(name);
        if let Some(folder) = path.parent() {
            if let Err(error) = std::fs::create_dir_all(folder) {
                eprintln!("cannot create the folder of {name}: {error}");
                return ExitCode::FAILURE;
            }
        }
        if let Err(error) = std::fs::write(&path, content) {
            eprintln!("cannot write {name}: {error}");
            return ExitCode::FAILURE;
        }
        println!("wrote {name}");
    }
    ExitCode::SUCCESS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_files_on_disk_match_the_table() {
        for (name, content) in files() {
            let on_disk = std::fs::read_to_string(root().join(name)).unwrap_or_default();
            assert!(
                on_disk == content,
                "{name} differs from the program's table: run `make idl` and commit the result"
            );
        }
    }

    // Computed with `printf global:submit_offer | sha256sum | cut -c1-16` and the like.
    #[test]
    fn discriminators_are_the_first_eight_bytes_of_sha256() {
        let idl = render::idl();
        let instruction = |name: &str| {
            let found = idl.instructions.iter().find(|row| row.name == name);
            hex(&found.expect(name).discriminator)
        };
        INSTRUCTION_VECTORS
            .iter()
            .for_each(|(name, expected)| assert_eq!(instruction(name), *expected, "{name}"));
        assert_eq!(INSTRUCTION_VECTORS.len(), idl.instructions.len());

        for (name, expected) in ACCOUNT_VECTORS {
            let found = idl.accounts.iter().find(|row| row.name == *name);
            assert_eq!(hex(&found.expect(name).discriminator), *expected, "{name}");
        }
        assert_eq!(ACCOUNT_VECTORS.len(), idl.accounts.len());

        for (name, expected) in EVENT_VECTORS {
            let found = idl.events.iter().find(|row| row.name == *name);
            assert_eq!(hex(&found.expect(name).discriminator), *expected, "{name}");
        }
        assert_eq!(EVENT_VECTORS.len(), idl.events.len());
    }

    fn hex(bytes: &[u8]) -> String {
        bytes.iter().map(|byte| format!("{byte:02x}")).collect()
    }

    const INSTRUCTION_VECTORS: &[(&str, &str)] = &[
        ("initialize_config", "d07f1501c2bec446"),
        ("update_config", "1d9efcbf0a53db63"),
        ("set_paused", "5b3c7dc0b0e1a6da"),
        ("propose_authority", "1494ecc64c77638e"),
        ("accept_authority", "6b56c65b210c6ba0"),
        ("create_negotiation", "aeb92ab001aabae5"),
        ("accept_invitation", "72463ef8cc3162ef"),
        ("submit_zopa_commitment", "9be78713593d35d0"),
        ("reveal_zopa_price", "5e6d4b366fcba261"),
        ("submit_offer", "69ec30b705e8d14d"),
        ("accept_offer", "e352ea8301123002"),
        ("reject_negotiation", "0641a6043b947e12"),
        ("expire_negotiation", "c7ea0d8716cbf298"),
        ("close_negotiation", "12e684661c5069b3"),
        ("claim_payout", "7ff0843ee3c69285"),
        ("claim_milestone", "d38698250352d6bd"),
        ("release_milestone", "3802c7a4b86ca7de"),
        ("dispute_milestone", "c7d14692882bb329"),
        ("resolve_dispute", "e706ca0660670ce6"),
        ("settle_deadline", "26b4d21c924194f0"),
        ("settle_by_agreement", "1fd24731ba55a50f"),
    ];

    const ACCOUNT_VECTORS: &[(&str, &str)] = &[
        ("Negotiation", "4d6a02319249d335"),
        ("ProtocolConfig", "cf5bfa1c98b3d7d1"),
    ];

    const EVENT_VECTORS: &[(&str, &str)] = &[
        ("ConfigInitialized", "b531c89c13a7b25b"),
        ("ConfigUpdated", "28f1e67a0b13c6c2"),
        ("NegotiationCreated", "71420f6433509055"),
        ("InvitationAccepted", "819fb1e3d0211733"),
        ("ZopaCommitted", "d19f615e6b2d7e26"),
        ("ZopaRevealed", "152541a5e740dd83"),
        ("OfferSubmitted", "0e51fdc37afe6eb8"),
        ("OfferAccepted", "51eeee738c120814"),
        ("MilestoneClaimed", "ef941219b1012728"),
        ("MilestoneReleased", "31e15bdf22a56db5"),
        ("MilestoneDisputed", "536ae5e49f3d7a10"),
        ("DisputeResolved", "7940f9998b80ecbb"),
        ("DeadlineSettled", "bf5fdb867ef06f6d"),
        ("AgreementSettled", "c9994fca0ea3e433"),
        ("NegotiationSettled", "5ce60a7a29784452"),
        ("NegotiationExpired", "39576227af364a36"),
        ("NegotiationRejected", "804eaa1a7ceb3108"),
        ("BondSettled", "bb96acd4e577a57b"),
        ("PayoutRecorded", "df483e78aee174dc"),
        ("PayoutClaimed", "c8276970743f3a95"),
        ("NegotiationClosed", "ef8dd1d396723614"),
    ];
}
