//! Soles: the extreme points of the skin under each foot.

use crate::math::{Affine, Point64, Vec64, origin_of};
use crate::rig::Skeleton;
use crate::rig::ik::{Limb, any_across};

/// Number of horizontal directions in which the extreme points are found.
const DIRECTIONS: usize = 12;
/// Angles of these directions below the horizon, radians.
const DOWN: [f64; 2] = [0.5, 1.05];
/// Skin farther from the ankle than this many lengths of the foot is not its sole.
const FOOT_LENGTHS: f64 = 2.2;

/// For every limb the points under its foot, each in the frame of its joint in the bind pose; none for arms.
pub(super) fn soles_of(
    skeleton: &Skeleton,
    bind: &[Affine],
    limbs: &[Limb],
    up: &Vec64,
    ground: f64,
    skin: &[Point64],
) -> Vec<Vec<(usize, Point64)>> {
    let feet: Vec<Option<Foot>> = limbs
        .iter()
        .map(|limb| {
            limb.is_leg
                .then(|| Foot::of(skeleton, bind, limb.end, up, ground))
        })
        .collect();
    let mut under: Vec<Vec<(usize, Point64)>> = vec![Vec::new(); limbs.len()];
    for vertex in skin {
        let near = feet.iter().enumerate().filter_map(|(limb, foot)| {
            let foot = foot.as_ref()?;
            Some((limb, foot, foot.distance(vertex, up)?))
        });
        if let Some((limb, foot, _)) = near.min_by(|a, b| a.2.total_cmp(&b.2)) {
            under[limb].push((foot.joint_at(vertex), *vertex));
        }
    }
    under
        .into_iter()
        .zip(&feet)
        .map(|(under, foot)| {
            let Some(foot) = foot else { return Vec::new() };
            let mut extreme = extremes(&under, up);
            if extreme.is_empty() {
                // Without skin: the places under the joints of the foot.
                let below = |&joint: &usize| {
                    let place = origin_of(&bind[joint]);
                    (joint, place + up * (ground - place.coords.dot(up)))
                };
                extreme = foot.joints.iter().map(below).collect();
            }
            extreme
                .into_iter()
                .filter_map(|(joint, vertex)| Some((joint, bind[joint].try_inverse()? * vertex)))
                .collect()
        })
        .collect()
}

/// The extreme points of each joint in directions that point down.
fn extremes(points: &[(usize, Point64)], up: &Vec64) -> Vec<(usize, Point64)> {
    let side = any_across(up);
    let front = up.cross(&side);
    let mut directions = vec![-up];
    for down in DOWN {
        directions.extend((0..DIRECTIONS).map(|k| {
            let angle = std::f64::consts::TAU * k as f64 / DIRECTIONS as f64;
            (side * angle.cos() + front * angle.sin()) * down.cos() - up * down.sin()
        }));
    }
    let mut joints: Vec<usize> = points.iter().map(|(joint, _)| *joint).collect();
    joints.sort_unstable();
    joints.dedup();
    let mut found: Vec<(usize, Point64)> = Vec::new();
    for joint in joints {
        let own = || points.iter().filter(|(of, _)| *of == joint);
        for direction in &directions {
            let far = |point: &(usize, Point64)| point.1.coords.dot(direction);
            if let Some(point) = own().max_by(|a, b| far(a).total_cmp(&far(b)))
                && !found.contains(point)
            {
                found.push(*point);
            }
        }
    }
    found
}

/// A foot in the bind pose.
struct Foot {
    ankle: Point64,
    /// Ankle and toe joints.
    joints: Vec<usize>,
    /// The first toe joint and its place.
    toe: Option<(usize, Point64)>,
    length: f64,
    /// Height of the ankle above the ground.
    height: f64,
    ground: f64,
}

impl Foot {
    fn of(skeleton: &Skeleton, bind: &[Affine], end: usize, up: &Vec64, ground: f64) -> Self {
        let mut joints = vec![end];
        let mut next = 0;
        while let Some(&joint) = joints.get(next).filter(|_| joints.len() < 64) {
            joints.extend(skeleton.children(joint));
            next += 1;
        }
        let ankle = origin_of(&bind[end]);
        let height = (ankle.coords.dot(up) - ground).max(0.0);
        let level = |joint: &usize| {
            let way = origin_of(&bind[*joint]) - ankle;
            (way - up * way.dot(up)).norm()
        };
        let toe = skeleton.children(end).iter().copied();
        let toe = toe.max_by(|a, b| level(a).total_cmp(&level(b)));
        let reach = joints.iter().map(level).fold(0.0, f64::max);
        Self {
            ankle,
            toe: toe.map(|toe| (toe, origin_of(&bind[toe]))),
            length: reach.max(height).max(f64::MIN_POSITIVE),
            joints,
            height,
            ground,
        }
    }

    /// The distance of a vertex from the ankle if it may belong to the sole: below the ankle, and near it.
    fn distance(&self, vertex: &Point64, up: &Vec64) -> Option<f64> {
        let way = vertex - self.ankle;
        let is_below = vertex.coords.dot(up) <= self.ground + self.height;
        let level = (way - up * way.dot(up)).norm();
        (is_below && level <= FOOT_LENGTHS * self.length).then_some(level)
    }

    /// The joint that carries a vertex: the toe joint beyond it, otherwise the ankle.
    fn joint_at(&self, vertex: &Point64) -> usize {
        match self.toe {
            Some((toe, place)) if (vertex - place).dot(&(place - self.ankle)) > 0.0 => toe,
            _ => self.joints[0],
        }
    }
}
