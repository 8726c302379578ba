//! What lies above the nodes of a scene, in time linear in their number.

use crate::math::Affine;

/// For every node of a scene its way up to a joint.
pub(super) struct AboveNodes {
    /// The nearest joint strictly above the node.
    pub joint: Vec<Option<usize>>,
    /// Product of the transforms of the nodes strictly between the node and that joint (or the
    /// world).
    pub between: Vec<Affine>,
}

impl AboveNodes {
    /// `order` has parents before children; nodes that are not in it count as roots.
    pub(super) fn of(
        order: &[usize],
        parent: &[Option<usize>],
        joint_of_node: &[Option<usize>],
        local: impl Fn(usize) -> Affine,
    ) -> Self {
        let mut above = Self {
            joint: vec![None; parent.len()],
            between: vec![Affine::identity(); parent.len()],
        };
        for &node in order {
            let Some(up) = parent[node] else { continue };
            if let Some(joint) = joint_of_node[up] {
                above.joint[node] = Some(joint);
            } else {
                above.joint[node] = above.joint[up];
                above.between[node] = above.between[up] * local(up);
            }
        }
        above
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::origin_of;
    use crate::rig::Trs;

    #[test]
    fn transforms_are_multiplied_up_to_the_nearest_joint() {
        // 0 is a joint at the top of the chain 0, 1, 2, 3; 4 is a root without a joint above 5.
        let parent = [None, Some(0), Some(1), Some(2), None, Some(4)];
        let joint_of_node = [Some(7), None, None, Some(8), None, None];
        let local = |node: usize| Trs::at([node as f64, 1.0, 0.0].into()).to_affine();
        let above = AboveNodes::of(&[0, 1, 2, 3, 4, 5], &parent, &joint_of_node, local);
        assert_eq!(above.joint, [None, Some(7), Some(7), Some(7), None, None]);
        let origins = above.between.iter().map(origin_of);
        let sums: Vec<[f64; 2]> = origins.map(|origin| [origin.x, origin.y]).collect();
        let expected = [
            [0.0, 0.0],
            [0.0, 0.0],
            [1.0, 1.0],
            [3.0, 2.0],
            [0.0, 0.0],
            [4.0, 1.0],
        ];
        assert_eq!(sums, expected);
    }
}
