//! The composition of all fields along the skeleton.

use std::collections::BTreeMap;

use super::operators::{Meets, Operator};
use crate::rig::Skeleton;

/// Where two groups of fields are composed. Fields are numbered in the order of the tree.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Junction {
    /// The first field of the first group.
    pub(super) first: u16,
    /// The first field of the second group, right behind the first group.
    pub(super) middle: u16,
    /// Right behind the second group.
    pub(super) end: u16,
    /// Distance from the root: deeper junctions come first.
    pub(super) level: u16,
    pub(super) meets: Meets,
}

/// A binary tree: a part with all that hangs at its joint, of which what hangs at siblings is composed first.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Tree {
    /// The joints of the parts in the order of the tree.
    pub(super) joints: Vec<u32>,
    /// `links[k]` composes a group that ends with field k with one that begins with k + 1.
    pub(super) links: Vec<Junction>,
}

impl Tree {
    /// The tree of the joints that have a part; at most 65 535. `operators`: by joint, how its part meets the part that it hangs at.
    pub(super) fn of(skeleton: &Skeleton, has_part: &[bool], operators: &[Meets]) -> Self {
        let mut tree = Self {
            joints: Vec::new(),
            links: Vec::new(),
        };
        let roots: Vec<usize> = (0..skeleton.len())
            .filter(|&joint| skeleton.joints()[joint].parent.is_none())
            .collect();
        // Depth first without recursion: chains can be long.
        let mut order: Vec<usize> = Vec::new();
        let mut stack: Vec<usize> = roots.iter().rev().copied().collect();
        while let Some(joint) = stack.pop() {
            order.push(joint);
            stack.extend(skeleton.children(joint).iter().rev());
        }
        let mut field_of = vec![0_u16; skeleton.len()];
        for &joint in &order {
            field_of[joint] = tree.joints.len() as u16;
            if has_part[joint] && tree.joints.len() < usize::from(u16::MAX) {
                tree.joints.push(joint as u32);
            }
        }
        let ends = ends(skeleton, &order, &field_of, tree.joints.len() as u16);
        let none = Junction {
            first: 0,
            middle: 0,
            end: 0,
            level: 0,
            meets: Operator::Contact.into(),
        };
        tree.links = vec![none; tree.joints.len().saturating_sub(1)];
        let total = tree.joints.len() as u16;
        tree.join(0, total, 1, &starts(&roots, &field_of, &ends));
        let mut level_of = vec![1 + roots.len() as u16; skeleton.len()];
        for &joint in &order {
            let level = level_of[joint];
            let own = field_of[joint];
            let children = skeleton.children(joint);
            let groups = starts(children, &field_of, &ends);
            let first_below = groups.first().copied().unwrap_or(ends[joint]);
            let below = level.saturating_add(1);
            if first_below > own && first_below < ends[joint] {
                tree.link(own, first_below, ends[joint], level);
            }
            tree.join(first_below, ends[joint], below, &groups);
            for &child in children {
                level_of[child] = below.saturating_add(groups.len() as u16);
            }
        }
        tree.set_operators(skeleton, operators);
        tree
    }

    /// Sets how parts meet, by joint. Where several parts hang at one, as fingers at a palm, there is one operator for all of them: that
    /// of most, or of the first of as many.
    pub(super) fn set_operators(&mut self, skeleton: &Skeleton, operators: &[Meets]) {
        // The joints that hang at the same part, in the order of the tree.
        let mut hanging: BTreeMap<Option<usize>, Vec<Meets>> = BTreeMap::new();
        let mut part_above: Vec<Option<usize>> = Vec::with_capacity(self.joints.len());
        let mut has_part = vec![false; skeleton.len()];
        for &joint in &self.joints {
            has_part[joint as usize] = true;
        }
        for &joint in &self.joints {
            let mut above = skeleton.ancestors(joint as usize);
            let above = above.find(|&above| has_part[above]);
            part_above.push(above);
            let asked = operators.get(joint as usize).copied();
            hanging
                .entry(above)
                .or_default()
                .push(asked.unwrap_or(Operator::Contact.into()));
        }
        for link in &mut self.links {
            // The second group begins with a part that hangs where the groups meet.
            let above = part_above[usize::from(link.middle)];
            let most = hanging.get(&above).and_then(|of| most(of));
            link.meets = most.unwrap_or(Operator::Contact.into());
        }
    }

    fn link(&mut self, first: u16, middle: u16, end: u16, level: u16) {
        if let Some(link) = self.links.get_mut(usize::from(middle) - 1) {
            *link = Junction {
                first,
                middle,
                end,
                level,
                ..*link
            };
        }
    }

    /// Composes neighbouring groups that begin at `starts`, the first two first.
    fn join(&mut self, first: u16, end: u16, level: u16, starts: &[u16]) {
        for (k, &middle) in starts.iter().enumerate().skip(1) {
            let until = starts.get(k + 1).copied().unwrap_or(end);
            let depth = (starts.len() - 1 - k) as u16;
            self.link(first, middle, until, level.saturating_add(depth));
        }
    }

    /// The junction at which two fields are composed, the first one before the second.
    pub(super) fn junction(&self, first: u16, second: u16) -> u16 {
        let range = usize::from(first)..usize::from(second);
        let links = self.links[range.clone()].iter().zip(range);
        let top = links.min_by_key(|(link, _)| link.level);
        top.map_or(0, |(_, index)| index as u16)
    }
}

/// The most frequent of some operators, or the first of as many.
pub(super) fn most(operators: &[Meets]) -> Option<Meets> {
    let count = |of: Meets| operators.iter().filter(|&&other| other == of).count();
    let by_count = operators.iter().rev().copied();
    by_count.max_by_key(|&of| count(of))
}

/// Where the fields below every joint end.
fn ends(skeleton: &Skeleton, order: &[usize], field_of: &[u16], total: u16) -> Vec<u16> {
    let mut ends = vec![total; skeleton.len()];
    // The next joint in the order that is not below a joint is where its fields end.
    let mut stack: Vec<usize> = Vec::new();
    for &joint in order {
        while let Some(&top) = stack.last() {
            if skeleton.joints()[joint].parent == Some(top) {
                break;
            }
            ends[top] = field_of[joint];
            stack.pop();
        }
        stack.push(joint);
    }
    ends
}

/// Where the groups of fields below some joints begin; joints without fields have none.
fn starts(joints: &[usize], field_of: &[u16], ends: &[u16]) -> Vec<u16> {
    let own = joints
        .iter()
        .filter(|&&joint| field_of[joint] < ends[joint]);
    own.map(|&joint| field_of[joint]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Point64;

    /// A body with two legs and a spine with two arms, of two joints each.
    fn body() -> Skeleton {
        let joints = [
            ("hips", None),
            ("left", Some(0)),
            ("left-foot", Some(1)),
            ("right", Some(0)),
            ("right-foot", Some(3)),
            ("spine", Some(0)),
            ("arm", Some(5)),
            ("hand", Some(6)),
            ("other", Some(5)),
        ];
        let placed: Vec<_> = joints
            .iter()
            .enumerate()
            .map(|(k, (name, parent))| {
                let at = Point64::new(k as f64, 0.0, 0.0);
                ((*name).to_owned(), *parent, at)
            })
            .collect();
        Skeleton::from_positions(&placed).expect("a tree")
    }

    #[test]
    fn a_joint_is_composed_with_all_that_hangs_at_it() {
        let tree = Tree::of(&body(), &[true; 9], &[Operator::Contact.into(); 9]);
        assert_eq!(tree.joints, [0, 1, 2, 3, 4, 5, 6, 7, 8]);
        let span = |a: u16, b: u16| {
            let link = tree.links[usize::from(tree.junction(a, b))];
            (link.first, link.middle, link.end)
        };
        // Hips with all the rest; the legs with each other; both with the spine.
        assert_eq!(span(0, 7), (0, 1, 9));
        assert_eq!(span(1, 4), (1, 3, 5));
        assert_eq!(span(2, 3), (1, 3, 5));
        assert_eq!(span(2, 7), (1, 5, 9));
        assert_eq!(span(1, 2), (1, 2, 3));
        assert_eq!(span(5, 8), (5, 6, 9));
        assert_eq!(span(7, 8), (6, 8, 9));
    }

    #[test]
    fn every_group_is_composed_once_and_deeper_ones_first() {
        let skeleton = body();
        for missing in 0..9 {
            let mut has = [true; 9];
            has[missing] = false;
            let tree = Tree::of(&skeleton, &has, &[Operator::Contact.into(); 9]);
            assert_eq!((tree.joints.len(), tree.links.len()), (8, 7));
            for (index, link) in tree.links.iter().enumerate() {
                assert_eq!(usize::from(link.middle), index + 1);
                assert!(link.first < link.middle && link.middle < link.end);
                for other in &tree.links {
                    let inside =
                        other.first >= link.first && other.end <= link.end && other != link;
                    assert!(
                        !inside || other.level > link.level,
                        "{missing}: {link:?} {other:?}"
                    );
                }
            }
        }
    }

    #[test]
    fn operators_belong_to_what_hangs_at_a_part() {
        let mut operators = [Meets::from(Operator::Contact); 9];
        operators[7] = Operator::Bulge.into();
        (operators[1], operators[3]) = (Operator::Union.into(), Operator::Union.into());
        let tree = Tree::of(&body(), &[true; 9], &operators);
        let of = |a: u16, b: u16| tree.links[usize::from(tree.junction(a, b))].meets.operator;
        assert_eq!(of(6, 7), Operator::Bulge, "arm and hand");
        assert_eq!(of(5, 6), Operator::Contact);
        assert_eq!(of(1, 2), Operator::Contact, "a leg and its foot");
        // Two of the three that hang at the hips.
        for (a, b) in [(0, 1), (1, 3), (2, 5), (0, 8)] {
            assert_eq!(of(a, b), Operator::Union, "{a} {b}");
        }
        // Without a part of its own the arm leaves the hand at the spine, beside the other arm: the first of as many.
        let mut has = [true; 9];
        has[6] = false;
        let tree = Tree::of(&body(), &has, &operators);
        let link = tree.links[usize::from(tree.junction(5, 6))];
        assert_eq!(link.meets.operator, Operator::Bulge);
    }
}
