//! The composed field of a pose: the value of all parts together.

mod gather;

use super::field::{PartField, Valued};
use super::motions::dot;
use super::muscle::Muscles;
use super::near::{MOST, Near};
use super::operators::Tables;
use super::posed::PosedFields;
use super::tree::{Junction, Tree};

#[cfg(test)]
pub(super) use gather::FAINT;

type V = [f32; 3];

/// The composed field at a point.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Composite {
    /// f, 0 outside to 1 inside.
    pub(super) value: f32,
    pub(super) gradient: V,
    /// d of the deepest contact that the part of the vertex takes part in; 0 for none.
    pub(super) depth: f32,
    /// The value of the own side of that contact minus that of the other: positive on the own side of the contact surface.
    pub(super) side: f32,
    pub(super) side_gradient: V,
    /// The smaller of both values in that contact: above ½ where both parts would be.
    pub(super) overlap: f32,
    pub(super) overlap_gradient: V,
}

impl Composite {
    pub(super) const NONE: Self = Self {
        value: 0.0,
        gradient: [0.0; 3],
        depth: 0.0,
        side: 0.0,
        side_gradient: [0.0; 3],
        overlap: 0.0,
        overlap_gradient: [0.0; 3],
    };

    /// The field at a point beside, to first order.
    pub(super) fn shifted(&self, shift: V) -> Self {
        Self {
            value: self.value + dot(self.gradient, shift),
            side: self.side + dot(self.side_gradient, shift),
            overlap: self.overlap + dot(self.overlap_gradient, shift),
            ..*self
        }
    }
}

/// A group of fields.
#[derive(Clone, Copy)]
struct Group {
    /// The field with the largest value.
    field: u16,
    value: f32,
    gradient: V,
}

impl Group {
    const NOTHING: Self = Self {
        field: 0,
        value: 0.0,
        gradient: [0.0; 3],
    };

    /// Multiplies it by a factor with a gradient.
    fn scale(&mut self, (factor, slope): (f32, V)) {
        self.gradient = std::array::from_fn(|c| factor * self.gradient[c] + self.value * slope[c]);
        self.value *= factor;
    }
}

/// The fields, how they are composed, and where they are.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    pub(super) fields: &'a [PartField],
    pub(super) muscles: &'a Muscles,
    pub(super) tree: &'a Tree,
    pub(super) tables: &'static Tables,
    pub(super) posed: &'a PosedFields,
}

impl Field<'_> {
    /// Whether the box of a field that `is_other` may hold the point.
    pub(super) fn is_reached(&self, at: V, is_other: impl Fn(&PartField) -> bool) -> bool {
        let balls = self.posed.balls.iter().zip(self.fields);
        balls
            .filter(|(ball, _)| ball.holds(at))
            .any(|(_, field)| is_other(field))
    }

    /// The composed field at a point, for a vertex of a part.
    pub(super) fn at(&self, near: &Near, own: u16, at: V) -> Composite {
        self.composed(near, own, at, |slot| self.one(near.fields()[slot], at))
    }

    /// The composed field at a point. `one`: the field in a place of `near`.
    #[inline]
    fn composed(&self, near: &Near, own: u16, at: V, one: impl Fn(usize) -> Group) -> Composite {
        let mut composite = Composite::NONE;
        let (mut stack, mut links, mut top) = ([Group::NOTHING; MOST], [0_u16; MOST], 0);
        // The junction nearest to the root since the last field that is not 0.
        let mut pending: Option<u16> = None;
        for (slot, link) in near.links().enumerate() {
            let nearer = pending.is_none_or(|p| self.level(link) < self.level(p));
            if nearer {
                pending = Some(link);
            }
            let group = self.cut(near, one(slot), at);
            if group.value <= 0.0 {
                continue;
            }
            if let Some(link) = pending.filter(|_| top > 0) {
                while top > 1 && self.level(links[top - 1]) > self.level(link) {
                    let pair = [stack[top - 2], stack[top - 1]];
                    stack[top - 2] = self.join(links[top - 1], pair, at, own, &mut composite);
                    top -= 1;
                }
                links[top] = link;
            }
            stack[top] = group;
            top += 1;
            pending = None;
        }
        while top > 1 {
            let pair = [stack[top - 2], stack[top - 1]];
            stack[top - 2] = self.join(links[top - 1], pair, at, own, &mut composite);
            top -= 1;
        }
        composite.value = stack[0].value;
        composite.gradient = stack[0].gradient;
        composite
    }

    /// Of the fields near a point the one with the largest value, and that value; `None` where all are 0.
    pub(super) fn strongest(&self, near: &Near, at: V) -> Option<(u16, f32)> {
        let values = near
            .fields()
            .iter()
            .map(|&field| (field, self.cut(near, self.one(field, at), at).value));
        let strongest = values.fold((0, 0.0), |a, b| if b.1 > a.1 { b } else { a });
        (strongest.1 > 0.0).then_some(strongest)
    }

    /// The value of one field.
    pub(super) fn value_of(&self, field: u16, at: V) -> f32 {
        let seen = self.posed.seen(usize::from(field), at);
        self.in_bind(field, seen.source).value
    }

    /// A field with its muscles at a point of the bind pose.
    #[inline]
    fn in_bind(&self, field: u16, source: V) -> Valued {
        let part = self.fields[usize::from(field)].at(source);
        let swellings = &self.posed.swellings;
        self.muscles
            .joined(field, part, source, swellings, self.tables)
    }

    /// Whether a muscle moves the surface at a point.
    pub(super) fn swells_at(&self, near: &Near, at: V) -> bool {
        let some = !self.muscles.is_empty();
        some && near.fields().iter().any(|&field| {
            let seen = self.posed.seen(usize::from(field), at);
            self.muscles
                .moves_at(field, seen.source, &self.posed.swellings)
        })
    }

    /// The depth of the contact between two fields at a point; 0 where they do not press each other.
    pub(super) fn depth_between(&self, fields: [u16; 2], at: V) -> f32 {
        let [first, second] = [fields[0].min(fields[1]), fields[0].max(fields[1])];
        let link = self.tree.junction(first, second);
        match self.tree.links.get(usize::from(link)) {
            Some(junction) if junction.meets.operator.has_contact() => {
                self.depth(junction, [&self.one(first, at), &self.one(second, at)], at)
            }
            _ => 0.0,
        }
    }

    fn level(&self, link: u16) -> u16 {
        let link = self.tree.links.get(usize::from(link));
        link.map_or(u16::MAX, |link| link.level)
    }

    /// A field by itself.
    fn one(&self, field: u16, at: V) -> Group {
        let index = usize::from(field);
        let seen = self.posed.seen(index, at);
        let local = self.in_bind(field, seen.source);
        if local.value == 0.0 {
            return Group {
                field,
                ..Group::NOTHING
            };
        }
        Group {
            field,
            value: local.value,
            gradient: self.posed.gradient(index, &seen, local.gradient),
        }
    }

    /// What folds leave of a field.
    fn cut(&self, near: &Near, mut group: Group, at: V) -> Group {
        if !self.posed.has_closed {
            return group;
        }
        let own = &self.posed.folds[usize::from(group.field)];
        let is_cut = own.is_closed() && near.fields().contains(&own.parent);
        if is_cut {
            group.scale(own.left(at, false));
        }
        for &other in near.fields() {
            let fold = &self.posed.folds[usize::from(other)];
            if fold.is_closed() && fold.parent == group.field {
                group.scale(fold.left(at, true));
            }
        }
        group
    }

    /// d where two groups meet.
    fn depth(&self, junction: &Junction, [a, b]: [&Group; 2], at: V) -> f32 {
        let lengths = dot(a.gradient, a.gradient) * dot(b.gradient, b.gradient);
        let cosine = if lengths > 0.0 {
            dot(a.gradient, b.gradient) / lengths.sqrt()
        } else {
            1.0
        };
        let fold = &self.posed.folds[usize::from(b.field)];
        let meets = &junction.meets;
        let is_folded = meets.operator.has_contact() && fold.parent == a.field;
        let folded = if is_folded { fold.depth(at) } else { 0.0 };
        meets.depth(cosine, folded)
    }

    fn join(
        &self,
        link: u16,
        [a, b]: [Group; 2],
        at: V,
        own: u16,
        composite: &mut Composite,
    ) -> Group {
        let Some(junction) = self.tree.links.get(usize::from(link)) else {
            return a;
        };
        let depth = self.depth(junction, [&a, &b], at);
        let is_deepest = junction.meets.operator.has_contact() && depth > composite.depth;
        if is_deepest && (junction.first..junction.end).contains(&own) {
            let sign = if own < junction.middle { 1.0 } else { -1.0 };
            composite.depth = depth;
            composite.side = sign * (a.value - b.value);
            let smaller = if a.value < b.value { &a } else { &b };
            (composite.overlap, composite.overlap_gradient) = (smaller.value, smaller.gradient);
            composite.side_gradient =
                std::array::from_fn(|c| sign * (a.gradient[c] - b.gradient[c]));
        }
        let joined = self.tables.at(&junction.meets, a.value, b.value, depth);
        let [s, t] = joined.slopes;
        Group {
            field: if a.value < b.value { b.field } else { a.field },
            value: joined.value,
            gradient: std::array::from_fn(|c| s * a.gradient[c] + t * b.gradient[c]),
        }
    }
}
