//! The same character at another size.

use sinew::character::Character;

/// Everything with a length becomes `factor` times as long; what a unit is stays.
pub fn scaled(character: &Character, factor: f64) -> Character {
    Character {
        metres_per_unit: character.metres_per_unit,
        declared_metres_per_unit: character.declared_metres_per_unit,
        ..character.scaled(factor)
    }
}
