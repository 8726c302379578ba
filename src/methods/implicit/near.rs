//! The fields near a vertex.

/// Most fields that are composed at a vertex.
pub(super) const MOST: usize = 12;

/// The fields near a vertex in the order of the tree, each with the junction to the one before.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Near {
    pub(super) count: u8,
    pub(super) fields: [u16; MOST],
    pub(super) links: [u16; MOST],
}

impl Near {
    pub(super) const NONE: Self = Self {
        count: 0,
        fields: [0; MOST],
        links: [0; MOST],
    };

    /// The fields.
    pub(super) fn fields(&self) -> &[u16] {
        &self.fields[..usize::from(self.count)]
    }

    /// Of every field the junction to the one before.
    pub(super) fn links(&self) -> impl Iterator<Item = u16> + '_ {
        self.links[..usize::from(self.count)].iter().copied()
    }
}
