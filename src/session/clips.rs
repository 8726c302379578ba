//! All clips that can be played: the character's own, and after them those made by the user.

use std::sync::Arc;

use crate::methods::Subject;
use crate::rig::{Clip, KeyedClip};

/// Clips by index: first those of the files, then the takes. Cheap to copy.
#[derive(Debug, Clone, Copy, Default)]
pub struct Clips<'a> {
    files: &'a [Clip],
    takes: &'a [Arc<KeyedClip>],
}

impl<'a> Clips<'a> {
    /// Of these files and takes.
    #[must_use]
    pub fn new(files: &'a [Clip], takes: &'a [Arc<KeyedClip>]) -> Self {
        Self { files, takes }
    }

    /// How many there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.files.len() + self.takes.len()
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// One of them, as it is played.
    #[must_use]
    pub fn get(&self, index: usize) -> Option<&'a Clip> {
        self.files
            .get(index)
            .or_else(|| self.take(index).map(|take| take.clip()))
    }

    /// One of them with its keys, if it is the user's.
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

    /// Their names, in order.
    #[must_use]
    pub fn names(&self) -> Vec<String> {
        self.iter().map(|clip| clip.name.clone()).collect()
    }

    /// A name that no clip has: the wanted one, or with a number.
    #[must_use]
    pub fn free_name(&self, wanted: &str) -> String {
        free_name(wanted, |name| self.iter().any(|clip| clip.name == name))
    }
}

/// The wanted name, or the first with a number that is not taken.
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

/// The character with the takes among its clips, at the same indices as in [`Clips`]: what bakes, renders and exports see. Everything
/// that was derived is shared.
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
