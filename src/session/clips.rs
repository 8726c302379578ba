//! All clips that can be played: the character's, followed by the user's takes.

use std::sync::Arc;

use crate::character::Character;
use crate::methods::Subject;
use crate::rig::{Clip, KeyedClip};

/// Clips by index: the character's, then the takes. Cheap to copy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clips<'a> {
    files: &'a [Clip],
    takes: &'a [Arc<KeyedClip>],
}

impl<'a> Clips<'a> {
    /// From the character's clips and the takes.
    #[must_use]
    pub fn new(files: &'a [Clip], takes: &'a [Arc<KeyedClip>]) -> Self {
        Self { files, takes }
    }

    /// Number of clips.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len() + self.takes.len()
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// A clip in playable form.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&'a Clip> {
        self.files
            .get(index)
            .or_else(|| self.take(index).map(|take| take.clip()))
    }

    /// A clip with its keys, if it is a take.
    #[must_use]
    pub fn take(&self, index: usize) -> Option<&'a Arc<KeyedClip>> {
        index
            .checked_sub(self.files.len())
            .and_then(|take| self.takes.get(take))
    }

    /// The index of the first take.
    #[must_use]
    pub fn first_take(&self) -> usize {
        self.files.len()
    }

    /// All of them, in order.
    pub fn iter(&self) -> impl Iterator<Item = &'a Clip> + use<'a> {
        self.files
            .iter()
            .chain(self.takes.iter().map(|take| take.clip()))
    }

    /// All names, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.iter().map(|clip| clip.name.clone()).collect()
    }

    /// An unused name: the wanted one, or with a number appended.
    #[must_use]
    pub fn free_name(&self, wanted: &str) -> String {
        free_name(wanted, |name| self.iter().any(|clip| clip.name == name))
    }
}

/// The wanted name, or with the first number that makes it unused.
pub(super) fn free_name(wanted: &str, taken: impl Fn(&str) -> bool) -> String {
    let wanted = wanted.trim();
    if !taken(wanted) {
        return wanted.to_owned();
    }
    let mut number = 2_u32;
    loop {
        let name = format!("{wanted} {number}");
        if !taken(&name) || number == u32::MAX {
            return name;
        }
        number += 1;
    }
}

/// Names the body that stands on the planted feet of takes.
pub(super) fn stand(takes: &mut [Arc<KeyedClip>], character: &Character) {
    let mut stance = None;
    for take in takes.iter_mut().filter(|take| !take.feet().is_empty()) {
        let stance = stance.get_or_insert_with(|| character.stance().map(Arc::new));
        let rules = take.feet().clone();
        Arc::make_mut(take).set_feet(rules, stance.clone());
    }
}

/// The character with the takes among its clips, at the same indices as in [`Clips`]: the input of bake, render and export. Derived
/// stages are shared.
#[must_use]
pub fn with_takes(subject: &Arc<Subject>, takes: &[Arc<KeyedClip>]) -> Arc<Subject> {
    if takes.is_empty() {
        return subject.clone();
    }
    let mut character = (*subject.character).clone();
    character
        .clips
        .extend(takes.iter().map(|take| take.clip().clone()));
    Arc::new(subject.with_clips(Arc::new(character)))
}
