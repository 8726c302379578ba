//! Round ends of parts at joints where other parts continue them.
//!
//! Vaillant et al. 2013 (section 3.1) close a part by one point beyond each joint. Skin on one side only, as at a shoulder, leaves the field
//! open there: what lies inside of the body at rest sticks out of it as the joint turns. Here an end is half a ball about its joint, as large
//! as the skin allows: it looks the same however the joint turns, and it is inside of the body in the bind pose.

use crate::math::{Point64, Vec64};
use crate::rig::Skeleton;
use crate::weights::Segment;

use super::hrbf::Sample;

/// Radius of an end, as a part of the distance of the joint from the skin: a little inside of it.
const SHARE: f64 = 0.9;
/// The least one, as a part of the radius of its part.
const LEAST: f64 = 0.25;
/// Points on a ring about the direction out of the part, and their angle from it, rad.
const RINGS: [(u32, f64); 2] = [(6, 45.0 * DEGREE), (8, 80.0 * DEGREE)];
/// Skin of the part this near, in radii, and at most this far beside a point closes the part there by itself.
const NEAR: f64 = 2.5;
const BESIDE: f64 = 40.0 * DEGREE;
const DEGREE: f64 = std::f64::consts::PI / 180.0;

/// Where a part ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Cap {
    /// The joint that the part meets others at.
    pub(super) joint: Point64,
    /// Unit vector out of the part.
    out: Vec64,
}

/// The ends of the part of a joint: at the children where it goes on ([`parts_below`]), and at the joint itself if an ancestor has a part.
pub(super) fn caps(
    skeleton: &Skeleton,
    segments: &[Segment],
    joint: usize,
    has_part: &[bool],
    goes_on: &[bool],
) -> Vec<Cap> {
    let mut caps = Vec::new();
    let mut away = Vec64::zeros();
    for segment in segments.iter().filter(|s| s.joint as usize == joint) {
        let Some(along) = (segment.ends[1] - segment.ends[0]).try_normalize(0.0) else {
            continue;
        };
        away += along;
        let end = segment.end_joint as usize;
        if end != joint && goes_on[end] {
            caps.push(Cap {
                joint: segment.ends[1],
                out: along,
            });
        }
    }
    let parent_of = |joint: usize| skeleton.joints()[joint].parent;
    if skeleton.ancestors(joint).any(|above| has_part[above]) {
        let here = skeleton.bind_position(joint);
        let from_parent = parent_of(joint).map(|parent| here - skeleton.bind_position(parent));
        let along = away
            .try_normalize(1e-9)
            .or_else(|| from_parent.and_then(|d| d.try_normalize(0.0)));
        caps.extend(along.map(|along| Cap {
            joint: here,
            out: -along,
        }));
    }
    caps
}

/// Whether a joint or one below it has a part.
pub(super) fn parts_below(skeleton: &Skeleton, has_part: &[bool]) -> Vec<bool> {
    let mut has = has_part.to_vec();
    for (index, joint) in skeleton.joints().iter().enumerate().rev() {
        if let Some(parent) = joint.parent.filter(|_| has[index]) {
            has[parent] = true;
        }
    }
    has
}

impl Cap {
    /// Points on half a ball about the joint, without those that lie beside skin of the part. `thickness`: the distance of the joint from the
    /// skin; `radius`: that of the part; `skin`: its vertices.
    pub(super) fn samples(&self, thickness: f64, radius: f64, skin: &[Point64]) -> Vec<Sample> {
        let ball = (SHARE * thickness).clamp(LEAST * radius, radius);
        let sample = |normal: Vec64| Sample {
            at: self.joint + normal * ball,
            normal,
        };
        // Mirrored parts get mirrored rings.
        let axis = if self.out.x.abs() < 0.6 {
            Vec64::x()
        } else {
            Vec64::y()
        };
        let first = self.out.cross(&axis).normalize();
        let second = self.out.cross(&first);
        let near: Vec<Vec64> = skin
            .iter()
            .map(|vertex| vertex - self.joint)
            .filter(|d| d.norm() < NEAR * ball)
            .filter_map(|d| d.try_normalize(0.0))
            .collect();
        let cosine = BESIDE.cos();
        let mut samples = vec![sample(self.out)];
        for (count, polar) in RINGS {
            for k in 0..count {
                let turn = std::f64::consts::TAU * f64::from(k) / f64::from(count);
                let side = first * turn.cos() + second * turn.sin();
                let normal = self.out * polar.cos() + side * polar.sin();
                if near.iter().all(|d| d.dot(&normal) <= cosine) {
                    samples.push(sample(normal));
                }
            }
        }
        samples
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cap(out: Vec64) -> Cap {
        Cap {
            joint: Point64::new(1.0, 2.0, 3.0),
            out: out.normalize(),
        }
    }

    #[test]
    fn an_end_is_half_a_ball_about_its_joint() {
        for out in [Vec64::x(), -Vec64::x(), Vec64::new(0.2, -1.0, 0.4)] {
            let cap = cap(out);
            let samples = cap.samples(0.3, 0.5, &[]);
            assert_eq!(samples.len(), 15);
            for sample in samples {
                let d = sample.at - cap.joint;
                assert!((d.norm() - 0.27).abs() < 1e-12 && d.dot(&cap.out) > 0.0);
                assert!((sample.normal - d.normalize()).norm() < 1e-12);
            }
        }
        // Never much thinner than the part, and never thicker.
        for (thickness, radius, ball) in [(0.0, 1.0, 0.25), (3.0, 1.0, 1.0)] {
            let first = cap(Vec64::x()).samples(thickness, radius, &[])[0];
            assert!((first.at.x - 1.0 - ball).abs() < 1e-12);
        }
    }

    #[test]
    fn skin_beside_an_end_closes_it_there() {
        let cap = cap(Vec64::x());
        let above = [cap.joint + Vec64::new(0.0, 0.4, 0.0)];
        let samples = cap.samples(0.3, 0.5, &above);
        assert!(samples.len() < 15);
        let highest = samples.iter().map(|s| s.normal.y).fold(-1.0, f64::max);
        let lowest = samples.iter().map(|s| s.normal.y).fold(1.0, f64::min);
        assert!(highest < 0.77 && lowest < -0.9, "{highest} {lowest}");
    }

    #[test]
    fn mirrored_ends_have_mirrored_points() {
        for out in [Vec64::new(0.9, 0.3, -0.2), Vec64::new(0.3, 0.9, 0.1)] {
            let mirrored = |v: Vec64| Vec64::new(-v.x, v.y, v.z);
            let ours = cap(out).samples(0.3, 0.5, &[]);
            let theirs = cap(mirrored(out)).samples(0.3, 0.5, &[]);
            for sample in ours {
                let normal = mirrored(sample.normal);
                assert!(theirs.iter().any(|s| (s.normal - normal).norm() < 1e-12));
            }
        }
    }
}
