//! Instruction data of invalid length or out of range.

use super::fixture::{width, Fixture};
use super::scenes::scenes;
use super::virtual_machine;
use crate::error::Framework;
use crate::instructions::INSTRUCTIONS;
use crate::schema::table::{Field, Kind, Type};
use mollusk_svm::program::loader_keys::LOADER_V3;
use mollusk_svm::result::ProgramResult;
use pinocchio::error::ProgramError;
use solana_instruction::Instruction;

#[test]
fn data_of_another_length_is_refused() {
    for mut scene in scenes() {
        let data = scene.call.data.clone();
        for length in 8..data.len() {
            let call = scene.call.clone().with_data(&data[..length]);
            scene
                .fixture
                .refuses(&call, Framework::InstructionDidNotDeserialize);
        }
        for more in [1, 8, 1_000] {
            let longer = [&data[..], &vec![0; more]].concat();
            let call = scene.call.clone().with_data(longer);
            scene
                .fixture
                .refuses(&call, Framework::InstructionDidNotDeserialize);
        }
    }
}

#[test]
fn data_without_a_discriminator_is_refused() {
    for mut scene in scenes() {
        for length in 0..8 {
            let call = scene.call.clone().with_data(&scene.call.data[..length]);
            scene.fixture.refuses(&call, Framework::InstructionMissing);
        }
    }
}

#[test]
fn a_discriminator_that_differs_in_one_bit_is_unknown() {
    for mut scene in scenes() {
        for bit in 0..64 {
            let mut data = scene.call.data.clone();
            data[bit / 8] ^= 1 << (bit % 8);
            let call = scene.call.clone().with_data(data);
            scene
                .fixture
                .refuses(&call, Framework::InstructionFallbackNotFound);
        }
    }
}

#[test]
fn unknown_instructions_are_refused_before_accounts_are_read() {
    let mut fixture = Fixture::new();
    let mut call = fixture.initialize();
    call.accounts.clear();
    fixture.refuses(
        &call.clone().with_data([0; 8]),
        Framework::InstructionFallbackNotFound,
    );
    fixture.refuses(&call.clone().with_data([]), Framework::InstructionMissing);
    fixture.refuses(&call.with_data([0; 7]), Framework::InstructionMissing);
}

/// The offsets of bytes with a limited range, and the number of their values.
fn limited(fields: &[Field], mut at: usize, found: &mut Vec<(usize, usize)>) {
    for field in fields {
        match field.ty {
            Type::Bool => found.push((at, 2)),
            Type::Defined(def) => match def.kind {
                Kind::Enum(variants) => found.push((at, variants.len())),
                Kind::Struct(fields) => limited(fields, at, found),
            },
            _ => {}
        }
        at += width(&field.ty);
    }
}

#[test]
fn a_flag_or_an_enum_out_of_its_range_is_refused() {
    let mut cases = 0;
    for mut scene in scenes() {
        let mut places = Vec::new();
        limited(scene.call.row.args, 8, &mut places);
        for (at, values) in places {
            for value in values..256 {
                let mut data = scene.call.data.clone();
                data[at] = value as u8;
                let call = scene.call.clone().with_data(data);
                scene
                    .fixture
                    .refuses(&call, Framework::InstructionDidNotDeserialize);
                cases += 1;
            }
        }
    }
    assert!(cases >= 254, "only {cases} values were tried");
}

#[test]
fn no_two_instructions_share_a_discriminator() {
    for (at, row) in INSTRUCTIONS.iter().enumerate() {
        for other in &INSTRUCTIONS[at + 1..] {
            assert_ne!(
                row.discriminator, other.discriminator,
                "{} and {}",
                row.name, other.name
            );
        }
    }
}

#[test]
fn the_program_refuses_to_run_at_another_address() {
    let elsewhere = super::fixture::named("another deployment");
    let mut machine = virtual_machine::machine();
    machine.add_program_with_loader_and_elf(&elsewhere, &LOADER_V3, virtual_machine::elf());
    for scene in scenes() {
        let instruction = Instruction {
            program_id: elsewhere,
            accounts: scene.call.accounts.clone(),
            data: scene.call.data.clone(),
        };
        let mut accounts: Vec<_> = Vec::new();
        for meta in &instruction.accounts {
            if accounts.iter().all(|(address, _)| *address != meta.pubkey) {
                accounts.push((meta.pubkey, scene.fixture.account(&meta.pubkey)));
            }
        }
        let result = machine.process_instruction(&instruction, &accounts);
        let mismatch = ProgramError::from(Framework::DeclaredProgramIdMismatch);
        assert_eq!(
            result.program_result,
            ProgramResult::Failure(mismatch),
            "{}",
            scene.name
        );
    }
}
