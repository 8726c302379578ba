//! Characters whose flesh follows the bones alone: what graphics devices simulate.

use sinew::character::{Character, FleshBase, FleshSettings};

/// The character with its base on the bones.
pub fn on_bones(character: Character) -> Character {
    let flesh = FleshSettings {
        base: FleshBase::Bones,
        ..character.flesh.clone()
    };
    Character { flesh, ..character }
}
