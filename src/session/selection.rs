//! Selection of joints. Part of the view: undo does not change it.

/// Selected joints in the order of selection; the last one is active: gizmos and fields refer to it.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selection {
    joints: Vec<usize>,
}

/// Operation on a selection.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum SelectHow {
    /// Replaces it.
    #[default]
    Replace,
    /// Extends it.
    Add,
    /// Inverts the selection state of the given joints.
    Toggle,
}

impl Selection {
    /// The active joint, for gizmos and fields.
    #[must_use]
    pub fn active(&self) -> Option<usize> {
        self.joints.last().copied()
    }

    /// All selected joints, the active one last.
    #[must_use]
    pub fn joints(&self) -> &[usize] {
        &self.joints
    }

    /// Whether a joint is selected.
    #[must_use]
    pub fn contains(&self, joint: usize) -> bool {
        self.joints.contains(&joint)
    }

    /// Selects one joint, or none.
    pub(super) fn set(&mut self, joint: Option<usize>) {
        self.joints.clear();
        self.joints.extend(joint);
    }

    /// Applies an operation with the joints below `count`; the last of them becomes active if it is selected afterwards.
    pub(super) fn change(&mut self, joints: &[usize], how: SelectHow, count: usize) {
        if how == SelectHow::Replace {
            self.joints.clear();
        }
        for &joint in joints.iter().filter(|&&joint| joint < count) {
            let was = self.contains(joint);
            self.joints.retain(|&other| other != joint);
            if !(was && how == SelectHow::Toggle) {
                self.joints.push(joint);
            }
        }
    }

    /// Removes joints from `count` on.
    pub(super) fn keep_below(&mut self, count: usize) {
        self.joints.retain(|&joint| joint < count);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn joints_are_replaced_added_and_toggled() {
        let mut selection = Selection::default();
        selection.change(&[3, 1, 99], SelectHow::Replace, 10);
        assert_eq!(
            (selection.joints(), selection.active()),
            (&[3, 1][..], Some(1))
        );
        selection.change(&[3, 4], SelectHow::Add, 10);
        assert_eq!(selection.joints(), [1, 3, 4]);
        selection.change(&[3, 5], SelectHow::Toggle, 10);
        assert_eq!(selection.joints(), [1, 4, 5]);
        selection.keep_below(5);
        assert_eq!(selection.active(), Some(4));
        selection.set(None);
        assert_eq!(selection.active(), None);
    }
}
