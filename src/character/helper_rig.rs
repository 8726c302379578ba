//! A character with helper joints that its pose drives.

use std::sync::Arc;

use super::Character;
use crate::weights::decomposition::Decomposition;

/// Helper joints and weights that were fitted to a simulated character, and the character with them.
#[derive(Debug)]
pub struct HelperRig {
    /// The character with helpers, weights, and keys of the helpers in its clips ([`Character::with_helpers`]).
    pub character: Arc<Character>,
    /// The drivers of the helpers.
    pub decomposition: Decomposition,
}
