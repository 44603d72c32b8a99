use super::*;
use crate::fields::fields;
use haggle_program::state::ProtocolConfig;

/// Changes the configuration field's first byte.
fn change_field(account: &mut AccountSharedData, name: &str) {
    let fields = fields(ProtocolConfig::RECORD);
    let field = fields.iter().find(|field| field.name == name);
    let at = 8 + field.expect("the field exists").at;
    account.data_as_mut_slice()[at] ^= 1;
}

#[test]
fn a_change_of_the_configuration_without_its_authority_is_found() {
    let mut bench = Bench::new();
    for instruction in [
        "update_config",
        "set_paused",
        "propose_authority",
        "accept_authority",
    ] {
        let scene = format!("{instruction} (SPL Token)");
        bench.finds(&scene, "without the authority's signature", |sample| {
            sample.prepared.call.list[0].1 = false;
        });
    }
    bench.finds(
        "accept_authority (SPL Token)",
        "without the authority's signature",
        |sample| change_field(sample.after("config"), "authority"),
    );
}

#[test]
fn a_configuration_without_the_upgrade_authority_is_found() {
    const AUTHORITY: usize = 13;
    let mut bench = Bench::new();
    bench.finds(
        "initialize_config (SPL Token)",
        "without the upgrade authority's signature",
        |sample| {
            sample.before("program_data").data_as_mut_slice()[AUTHORITY] ^= 1;
            sample.after("program_data").data_as_mut_slice()[AUTHORITY] ^= 1;
        },
    );
}

#[test]
fn a_change_of_a_field_that_is_not_the_instructions_is_found() {
    let mut bench = Bench::new();
    for (instruction, field) in [
        ("update_config", "authority"),
        ("set_paused", "treasury"),
        ("propose_authority", "authority"),
        ("accept_authority", "default_protocol_fee_bps"),
        ("close_negotiation", "treasury"),
    ] {
        let scene = format!("{instruction} (SPL Token)");
        bench.finds(&scene, &format!("changes {field} of"), |sample| {
            change_field(sample.after("config"), field);
        });
    }
}
