//! Balance: the hips move until the centre of mass is above the feet that stand.

use super::Stance;
use super::hold::move_joint;
use crate::math::{Point64, Vec64, origin_of};
use crate::rig::ik::{Figure, any_across, put_back};
use crate::rig::retarget::{JointRoles, Role};
use crate::rig::{Pose, Skeleton};

/// A foot stands if its sole is less than this above the ground, lengths of the leg.
const STANDING_HEIGHT: f64 = 0.03;
/// Points of a sole up to this height above its lowest one support the body, lengths of the leg.
const SUPPORT_HEIGHT: f64 = 0.03;
/// The centre of mass is brought into the support polygon shrunk to this part.
const SUPPORT_PART: f64 = 0.6;
/// Rounds of moving the hips: each leaves a fraction of the error, as the legs do not move with the hips.
const ROUNDS: usize = 12;

/// A part of the body.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Mass {
    joint: usize,
    /// Its centre, in the joint's frame.
    centre: Point64,
    /// Fraction of the body's mass.
    share: f64,
}

/// Masses by body part: P. de Leva, "Adjustments to Zatsiorsky–Seluyanov's segment inertia parameters", J. Biomechanics 29 (1996), table 4
/// (men, rounded). Parts without a joint are left out.
pub(super) fn masses_of(skeleton: &Skeleton, roles: &JointRoles) -> Vec<Mass> {
    let bind = skeleton.bind_transforms();
    let is_trunk = |role: Role| matches!(role, Role::Hips | Role::Spine);
    let trunk: usize = roles
        .iter()
        .filter(|(role, _)| is_trunk(*role))
        .map(|(_, joints)| joints.len())
        .sum();
    let mut masses = Vec::new();
    for (role, joints) in roles.iter() {
        let share = match role {
            role if is_trunk(role) => 0.4346 / trunk.max(1) as f64,
            Role::Head => 0.0694 / joints.len().max(1) as f64,
            Role::UpperArm(_) => 0.0271 / joints.len().max(1) as f64,
            Role::Forearm(_) => 0.0162 / joints.len().max(1) as f64,
            Role::Hand(_) => 0.0061 / joints.len().max(1) as f64,
            Role::Thigh(_) => 0.1416 / joints.len().max(1) as f64,
            Role::Shin(_) => 0.0433 / joints.len().max(1) as f64,
            Role::Foot(_) => 0.0137 / joints.len().max(1) as f64,
            _ => continue,
        };
        for &joint in joints {
            let place = origin_of(&bind[joint]);
            let far = |child: &&usize| (origin_of(&bind[**child]) - place).norm();
            let children = skeleton.children(joint).iter();
            let end = children.max_by(|a, b| far(a).total_cmp(&far(b)));
            let end = end.map_or(place, |&child| origin_of(&bind[child]));
            let Some(to_joint) = bind[joint].try_inverse() else {
                continue;
            };
            masses.push(Mass {
                joint,
                centre: to_joint * nalgebra::center(&place, &end),
                share,
            });
        }
    }
    masses
}

impl Stance {
    /// Moves the hips of a pose horizontally so that the centre of mass comes above the feet that stand, which keep their places; the
    /// hips come down where the legs are too short. Unchanged if no foot stands, or the joints are not those of a human.
    pub fn balance(&self, pose: &mut Pose) {
        let Some(hips) = self.hips.filter(|_| !self.masses.is_empty()) else {
            return;
        };
        if pose.locals.len() != self.skeleton.len() {
            return;
        }
        let start = Figure::new(&self.skeleton, pose.clone());
        let standing: Vec<usize> = (0..self.limbs.len())
            .filter(|&limb| self.stands(&start, limb))
            .collect();
        let support = self.support(&start, &standing);
        let Some(middle) = mean(&support) else {
            return;
        };
        let hull = convex_hull(&support);
        let mut figure = start.clone();
        for _ in 0..ROUNDS {
            let centre = self.level_of(&self.centre_of_mass(&figure).coords);
            let inside = nearest_in(&hull, middle, SUPPORT_PART, centre);
            let [right, front] = self.level_axes();
            let step = right * (inside[0] - centre[0]) + front * (inside[1] - centre[1]);
            move_joint(&mut figure, hips, &step);
            self.keep_feet(&start, &mut figure, hips, &standing);
        }
        if figure.is_finite() {
            *pose = figure.pose;
        }
    }

    /// Distance by which the centre of mass of a pose is outside of the feet that stand, seen from above, world units; 0 where it is
    /// above them. `None` if no foot stands, or the joints are not those of a human.
    #[must_use]
    pub fn imbalance(&self, pose: &Pose) -> Option<f64> {
        if self.masses.is_empty() || pose.locals.len() != self.skeleton.len() {
            return None;
        }
        let figure = Figure::new(&self.skeleton, pose.clone());
        let standing: Vec<usize> = (0..self.limbs.len())
            .filter(|&limb| self.stands(&figure, limb))
            .collect();
        let support = self.support(&figure, &standing);
        let middle = mean(&support)?;
        let centre = self.level_of(&self.centre_of_mass(&figure).coords);
        let inside = nearest_in(&convex_hull(&support), middle, 1.0, centre);
        Some((centre[0] - inside[0]).hypot(centre[1] - inside[1]))
    }

    fn centre_of_mass(&self, figure: &Figure<'_>) -> Point64 {
        let (mut sum, mut all) = (Vec64::zeros(), 0.0);
        for mass in &self.masses {
            sum += figure.point(mass.joint, &mass.centre).coords * mass.share;
            all += mass.share;
        }
        Point64::from(sum / all)
    }

    /// Whether the foot of a leg stands.
    fn stands(&self, figure: &Figure<'_>, limb: usize) -> bool {
        let known = &self.limbs[limb];
        !known.sole.is_empty() && self.height_of_sole(figure, limb) < STANDING_HEIGHT * known.length
    }

    /// The points on which the feet stand, seen from above.
    fn support(&self, figure: &Figure<'_>, standing: &[usize]) -> Vec<[f64; 2]> {
        let mut points = Vec::new();
        for &limb in standing {
            let known = &self.limbs[limb];
            let lowest = self.height_of_sole(figure, limb);
            for (joint, local) in &known.sole {
                let point = figure.point(*joint, local).coords;
                let height = point.dot(&self.up) - self.ground - lowest;
                if height < SUPPORT_HEIGHT * known.length {
                    points.push(self.level_of(&point));
                }
            }
        }
        points
    }

    /// Two horizontal unit vectors.
    fn level_axes(&self) -> [Vec64; 2] {
        let right = any_across(&self.up);
        [right, self.up.cross(&right)]
    }

    fn level_of(&self, point: &Vec64) -> [f64; 2] {
        self.level_axes().map(|axis| axis.dot(point))
    }

    /// Puts standing feet back where they were, after the hips have been lowered as far as the legs need.
    fn keep_feet(
        &self,
        start: &Figure<'_>,
        figure: &mut Figure<'_>,
        hips: usize,
        standing: &[usize],
    ) {
        let drops = standing.iter().map(|&limb| {
            let known = &self.limbs[limb];
            let place = start.place(known.limb.end);
            self.drop_to_reach(&figure.place(known.limb.upper), &place, known.length)
        });
        let drop = drops.fold(0.0, f64::max);
        move_joint(figure, hips, &(-self.up * drop));
        for &limb in standing {
            put_back(start, figure, self.limbs[limb].limb);
        }
    }
}

fn mean(points: &[[f64; 2]]) -> Option<[f64; 2]> {
    let sum = points
        .iter()
        .fold([0.0; 2], |sum, p| [sum[0] + p[0], sum[1] + p[1]]);
    (!points.is_empty()).then(|| sum.map(|sum| sum / points.len() as f64))
}

fn cross(o: [f64; 2], a: [f64; 2], b: [f64; 2]) -> f64 {
    (a[0] - o[0]) * (b[1] - o[1]) - (a[1] - o[1]) * (b[0] - o[0])
}

/// Convex hull, counter-clockwise (A. M. Andrew's monotone chain, 1979).
fn convex_hull(points: &[[f64; 2]]) -> Vec<[f64; 2]> {
    let mut sorted = points.to_vec();
    sorted.sort_by(|a, b| a[0].total_cmp(&b[0]).then(a[1].total_cmp(&b[1])));
    sorted.dedup();
    let half = |points: &mut dyn Iterator<Item = [f64; 2]>| {
        let mut chain: Vec<[f64; 2]> = Vec::new();
        for point in points {
            while let [.., a, b] = chain[..]
                && cross(a, b, point) <= 0.0
            {
                chain.pop();
            }
            chain.push(point);
        }
        chain.pop();
        chain
    };
    if sorted.len() < 3 {
        return sorted;
    }
    let mut hull = half(&mut sorted.iter().copied());
    hull.extend(half(&mut sorted.iter().rev().copied()));
    hull
}

/// The point of a hull, shrunk about a middle to a part of its size, nearest to a point.
fn nearest_in(hull: &[[f64; 2]], middle: [f64; 2], part: f64, point: [f64; 2]) -> [f64; 2] {
    let shrunk: Vec<[f64; 2]> = hull
        .iter()
        .map(|p| [0, 1].map(|k| middle[k] + (p[k] - middle[k]) * part))
        .collect();
    let edges = || shrunk.iter().zip(shrunk.iter().cycle().skip(1));
    if shrunk.len() > 2 && edges().all(|(a, b)| cross(*a, *b, point) >= 0.0) {
        return point;
    }
    let mut nearest = middle;
    let mut least = f64::INFINITY;
    for (a, b) in edges() {
        let way = [b[0] - a[0], b[1] - a[1]];
        let square = (way[0] * way[0] + way[1] * way[1]).max(f64::MIN_POSITIVE);
        let along = ((point[0] - a[0]) * way[0] + (point[1] - a[1]) * way[1]) / square;
        let along = along.clamp(0.0, 1.0);
        let on = [a[0] + way[0] * along, a[1] + way[1] * along];
        let distance = (point[0] - on[0]).hypot(point[1] - on[1]);
        if distance < least {
            (nearest, least) = (on, distance);
        }
    }
    nearest
}
