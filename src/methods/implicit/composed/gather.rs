//! Which fields are near a point.

use super::{Composite, Field, Group, V};
use crate::methods::implicit::near::{MOST, Near};
use crate::methods::implicit::operators::Operator;

/// A field below this changes the surface of another one by less than 0.0005, except where they are blended.
pub(in super::super) const FAINT: f32 = 0.02;

impl Field<'_> {
    /// The fields that are not 0 at the point, and the vertex's own; of many those with the largest values.
    pub(in super::super) fn near(&self, own: u16, at: V) -> Near {
        let value = |field| (self.value_of(field, at), ());
        self.gathered(own, at, (), value).0
    }

    /// Those of these fields that matter around the point, and the composed field there.
    pub(in super::super) fn near_and_value(&self, own: u16, at: V) -> (Near, Composite) {
        let value = |field| {
            let group = self.one(field, at);
            (group.value, group)
        };
        let (near, groups) = self.gathered(own, at, Group::NOTHING, value);
        let composite = self.composed(&near, own, at, |slot| groups[slot]);
        (self.without_faint(&near, own, &groups), composite)
    }

    /// Those of fields near a point that matter there.
    fn without_faint(&self, near: &Near, own: u16, groups: &[Group; MOST]) -> Near {
        let all = near.fields();
        let is_faint = |slot: usize| groups[slot].value < FAINT && all[slot] != own;
        let blends = |link| {
            let link = self.tree.links.get(usize::from(link));
            link.is_some_and(|link| link.meets.operator == Operator::Blend)
        };
        let is_simple = !(0..all.len()).any(is_faint) || near.links().skip(1).any(blends);
        if is_simple {
            return *near;
        }
        // A closed fold cuts both of its fields where both are near.
        let is_cut = |field: u16| {
            let folded = |child: u16, parent: u16| {
                let fold = &self.posed.folds[usize::from(child)];
                fold.parent == parent && fold.is_closed()
            };
            let mut others = all.iter();
            self.posed.has_closed
                && others.any(|&other| folded(other, field) || folded(field, other))
        };
        let mut left = Near::NONE;
        for (slot, &field) in all.iter().enumerate() {
            if is_faint(slot) && !is_cut(field) {
                continue;
            }
            let count = usize::from(left.count);
            left.fields[count] = field;
            left.count += 1;
        }
        self.link(&mut left);
        left
    }

    /// Finds the junctions of fields near a point.
    fn link(&self, near: &mut Near) {
        for k in 1..usize::from(near.count) {
            near.links[k] = self.tree.junction(near.fields[k - 1], near.fields[k]);
        }
    }

    /// The fields near a point, with something about each. `of`: the value of a field there, and that.
    #[inline]
    fn gathered<T: Copy>(
        &self,
        own: u16,
        at: V,
        nothing: T,
        of: impl Fn(u16) -> (f32, T),
    ) -> (Near, [T; MOST]) {
        let mut near = Near::NONE;
        let mut values = [0.0_f32; MOST];
        let mut found = [nothing; MOST];
        for (index, ball) in self.posed.balls.iter().enumerate() {
            if !ball.holds(at) {
                continue;
            }
            let is_own = index == usize::from(own);
            if !(is_own || self.posed.may_hold(index, self.muscles, at)) {
                continue;
            }
            let (mut value, about) = of(index as u16);
            if is_own {
                value = f32::INFINITY;
            }
            if value <= 0.0 {
                continue;
            }
            let count = usize::from(near.count);
            let slot = if count < MOST {
                near.count += 1;
                count
            } else {
                let least = (0..MOST).min_by(|&a, &b| values[a].total_cmp(&values[b]));
                let least = least.unwrap_or(0);
                if values[least] >= value {
                    continue;
                }
                // The order of the tree is kept.
                near.fields[least..].rotate_left(1);
                values[least..].rotate_left(1);
                found[least..].rotate_left(1);
                MOST - 1
            };
            near.fields[slot] = index as u16;
            (values[slot], found[slot]) = (value, about);
        }
        self.link(&mut near);
        (near, found)
    }
}
