//! The characters that come with Sinew, made by its own generator and embedded in the binary.

use super::error::IoError;
use crate::character::Character;

/// Names for `builtin:NAME`.
pub const NAMES: [&str; 4] = ["mannequin", "gecko", "cylinder", "arm"];

/// Reads a built-in character.
///
/// # Errors
/// [`IoError::UnknownBuiltin`] for another name than those of [`NAMES`].
pub fn load_builtin(name: &str) -> Result<Character, IoError> {
    match bytes_of(name) {
        Some(bytes) => super::read_gltf_bytes(name, bytes),
        None => Err(IoError::UnknownBuiltin { name: name.to_owned() }),
    }
}

/// The embedded GLB; `cargo run --release --example make_characters` makes the files.
fn bytes_of(name: &str) -> Option<&'static [u8]> {
    match name {
        "mannequin" => Some(include_bytes!("../../assets/mannequin.glb")),
        "gecko" => Some(include_bytes!("../../assets/gecko.glb")),
        "cylinder" => Some(include_bytes!("../../assets/cylinder.glb")),
        "arm" => Some(include_bytes!("../../assets/arm.glb")),
        _ => None,
    }
}
