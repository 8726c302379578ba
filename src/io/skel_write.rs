//! Writing skeletons.

use std::io::Write;
use std::path::Path;

use super::{IoError, write_atomically};
use crate::rig::Skeleton;

/// Writes the skeleton's joints in the bind pose as `.skel`; tails of leaf bones become joints.
///
/// # Errors
/// [`IoError::Write`]; no partial file is left.
pub fn write_skel(path: &Path, skeleton: &Skeleton) -> Result<(), IoError> {
    let text = super::fps::skel_text(skeleton);
    write_atomically(path, |out| out.write_all(text.as_bytes()))
}
