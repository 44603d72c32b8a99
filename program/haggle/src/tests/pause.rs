//! A pause stops the creation of negotiations and nothing else.

use super::fixture::under_both_token_programs;
use super::scenes::scenes;
use crate::error::HaggleError;
use crate::schema::declare::Flag;

#[test]
fn a_pause_stops_only_creation() {
    under_both_token_programs(|| {
        for mut scene in scenes() {
            // The protocol is not configured yet.
            if scene.call.row.name == "initialize_config" {
                continue;
            }
            scene.fixture.pause();
            println!("{}", scene.name);
            if scene.call.row.name != "create_negotiation" {
                scene.fixture.run(&scene.call).succeeds();
                continue;
            }
            scene.fixture.refuses(&scene.call, HaggleError::Paused);
            let resume = scene.fixture.set_paused(Flag::OFF);
            scene.fixture.run(&resume).succeeds();
            scene.fixture.run(&scene.call).succeeds();
        }
    });
}
