//! Girth at the joints: perimeter of the section through a joint by the plane that bisects its two bones.
//!
//! The section of the skin may have several loops (the other leg, a second shell); the shortest loop around the joint counts that is
//! all on its limb: on vertices that are, in the bind pose, nearest to one of the two bones or to a bone at their ends. A plane through
//! a shoulder may cut the chest, too: such a loop has no girth of the arm, and would lose most of it as soon as the arm is raised. A
//! joint without a loop of its limb, in the bind pose or in the frame, is left out.

use std::collections::HashMap;

use nalgebra::Vector2;
use rayon::prelude::*;

use super::{Better, Measure, MeasuredFrame, Metric, Place, Quantity, RestSkin, Spot, Unit};
use crate::math::{Affine, Point64, Vec64, origin_of};
use crate::mesh::{TriMesh, closest_on_segment};
use crate::progress::{Cancelled, Progress};

/// Bones shorter than this part of the size have no direction.
const NO_LENGTH: f64 = 1e-6;
/// A vertex is near a bone, too, that is farther than the nearest one by this factor.
const ALSO_NEAR: f64 = 1.05;

/// The metric.
pub static METRIC: Metric = Metric {
    quantities: &[
        Quantity {
            id: "girth_change_min",
            label: "Girth change, smallest",
            unit: Unit::Ratio,
            doc: "Change of the girth at the joint that loses most, as a part of the bind pose's: -0.1 is 10 % thinner.",
            better: Better::NearZero,
        },
        Quantity {
            id: "girth_change_max",
            label: "Girth change, largest",
            unit: Unit::Ratio,
            doc: "Change of the girth at the joint that gains most, as a part of the bind pose's.",
            better: Better::NearZero,
        },
    ],
    needs_reference: false,
    reads_flesh: false,
    bind: |rest, _| {
        Ok(Box::new(Girth {
            sections: Sections::of(rest),
            extremes: None,
        }))
    },
};

/// A joint between two bones.
#[derive(Debug, Clone, Copy)]
struct BentJoint {
    parent: usize,
    joint: usize,
    child: usize,
}

/// A section of the skin around a joint.
#[derive(Debug, Clone, PartialEq)]
pub struct Section {
    /// The joint.
    pub joint: usize,
    /// Its corners in order; the last one is joined to the first. World space.
    pub points: Vec<Point64>,
    /// Perimeter, world units.
    pub girth: f64,
    /// Change of the perimeter since the bind pose, as a part of that.
    pub change: f64,
}

/// The joints of a character that have a girth, with it in the bind pose.
#[derive(Debug, Clone)]
pub struct Sections {
    hinges: Vec<(BentJoint, f64)>,
    limbs: Limbs,
    least: f64,
}

/// Which bones the vertices of the skin are near in the bind pose.
#[derive(Debug, Clone)]
struct Limbs {
    vertices: Vec<Point64>,
    /// Distance of each vertex to the nearest bone.
    nearest: Vec<f64>,
    bones: Vec<Bone>,
}

/// A bone between two joints.
#[derive(Debug, Clone)]
struct Bone {
    joints: [usize; 2],
    ends: [Point64; 2],
}

impl Bone {
    fn distance(&self, p: &Point64) -> f64 {
        let [a, b] = &self.ends;
        (a + (b - a) * closest_on_segment(p, a, b) - p).norm()
    }
}

impl Limbs {
    fn of(rest: &RestSkin) -> Self {
        let joints = rest.joints.iter().enumerate();
        let bones: Vec<Bone> = joints
            .filter_map(|(joint, (parent, end))| {
                let parent = (*parent)?;
                Some(Bone {
                    joints: [parent, joint],
                    ends: [rest.joints[parent].1, *end],
                })
            })
            .collect();
        let vertices: Vec<Point64> = rest.mesh.positions.iter().map(|p| p.cast()).collect();
        let nearest = |p: &Point64| {
            let distances = bones.iter().map(|bone| bone.distance(p));
            distances.fold(f64::INFINITY, f64::min)
        };
        Self {
            nearest: vertices.par_iter().map(nearest).collect(),
            vertices,
            bones,
        }
    }

    /// The two bones of a joint, and those at their ends.
    fn around(&self, hinge: BentJoint) -> Vec<&Bone> {
        let ends = [hinge.parent, hinge.joint, hinge.child];
        let touches = |bone: &&Bone| bone.joints.iter().any(|joint| ends.contains(joint));
        self.bones.iter().filter(touches).collect()
    }

    /// Whether one of these bones is the nearest to a vertex, or nearly.
    fn is_near(&self, vertex: u32, bones: &[&Bone]) -> bool {
        let (p, nearest) = (
            &self.vertices[vertex as usize],
            self.nearest[vertex as usize],
        );
        bones
            .iter()
            .any(|bone| bone.distance(p) <= nearest * ALSO_NEAR)
    }
}

impl Sections {
    /// Finds the joints whose section in the bind pose is a loop around them.
    #[must_use]
    pub fn of(rest: &RestSkin) -> Self {
        let least = f64::from(rest.mesh.bounds().size()) * NO_LENGTH;
        let position = |joint: usize| rest.joints[joint].1;
        let mut sections = Self {
            hinges: Vec::new(),
            limbs: Limbs::of(rest),
            least,
        };
        let hinges = hinges(rest, least).into_iter().filter_map(|hinge| {
            let (girth, _) = sections.section_at(&rest.mesh, hinge, &position)?;
            (girth > least).then_some((hinge, girth))
        });
        sections.hinges = hinges.collect();
        sections
    }

    /// Number of joints that have a girth.
    #[must_use]
    pub fn len(&self) -> usize {
        self.hinges.len()
    }

    /// Whether no joint has a girth.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.hinges.is_empty()
    }

    /// The sections of a deformed skin by its joints' transforms; joints without a loop there are left out.
    ///
    /// # Errors
    /// [`Cancelled`].
    ///
    /// # Panics
    /// If there are fewer joints than the character has.
    pub fn at(
        &self,
        skin: &TriMesh,
        world_from_joint: &[Affine],
        progress: &Progress,
    ) -> Result<Vec<Section>, Cancelled> {
        let position = |joint: usize| origin_of(&world_from_joint[joint]);
        let section = |(hinge, rest): &(BentJoint, f64)| {
            progress.check()?;
            let found = self.section_at(skin, *hinge, &position);
            Ok(found.map(|(girth, points)| Section {
                joint: hinge.joint,
                points,
                girth,
                change: girth / rest - 1.0,
            }))
        };
        let all: Result<Vec<Option<Section>>, Cancelled> =
            self.hinges.par_iter().map(section).collect();
        Ok(all?.into_iter().flatten().collect())
    }

    /// Perimeter and corners of the section at a joint.
    fn section_at(
        &self,
        mesh: &TriMesh,
        hinge: BentJoint,
        position: &impl Fn(usize) -> Point64,
    ) -> Option<(f64, Vec<Point64>)> {
        let [parent, joint, child] = [hinge.parent, hinge.joint, hinge.child].map(position);
        let before = (joint - parent).try_normalize(self.least)?;
        let after = (child - joint).try_normalize(self.least)?;
        // Bones folded onto each other have no bisecting plane of this kind.
        let normal = (before + after).try_normalize(1e-3)?;
        let around = self.limbs.around(hinge);
        let is_of_limb = |vertex: u32| self.limbs.is_near(vertex, &around);
        shortest_loop(mesh, &joint, &normal, &is_of_limb)
    }
}

struct Girth {
    sections: Sections,
    /// The joints that lost and gained most in the last frame.
    extremes: Option<[(f64, usize); 2]>,
}

impl Measure for Girth {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        progress: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        let mut extent: Option<[(f64, usize); 2]> = None;
        if frame.world_from_joint.len() >= frame.rest.joints.len() {
            let found = self
                .sections
                .at(frame.skin, frame.world_from_joint, progress)?;
            for section in found {
                let here = (section.change, section.joint);
                let [low, high] = extent.unwrap_or([here; 2]);
                extent = Some([
                    if here.0 < low.0 { here } else { low },
                    if here.0 > high.0 { here } else { high },
                ]);
            }
        }
        self.extremes = extent;
        Ok(vec![
            extent.map(|[low, _]| low.0),
            extent.map(|[_, high]| high.0),
        ])
    }

    fn places(&self) -> Vec<Option<Place>> {
        let place = |(value, joint): (f64, usize)| Place {
            spot: Spot::Joint(joint as u32),
            value,
            unit: Unit::Ratio,
        };
        vec![
            self.extremes.map(|[low, _]| place(low)),
            self.extremes.map(|[_, high]| place(high)),
        ]
    }
}

/// All joints with a bone before and after; of several children the one with the smallest bend is used.
fn hinges(rest: &RestSkin, least: f64) -> Vec<BentJoint> {
    let direction =
        |from: usize, to: usize| (rest.joints[to].1 - rest.joints[from].1).try_normalize(least);
    let mut best: Vec<Option<(f64, usize)>> = vec![None; rest.joints.len()];
    for (child, (joint, _)) in rest.joints.iter().enumerate() {
        let Some(joint) = *joint else { continue };
        let before = rest.joints[joint]
            .0
            .and_then(|parent| direction(parent, joint));
        if let (Some(before), Some(after)) = (before, direction(joint, child)) {
            let straight = before.dot(&after);
            if best[joint].is_none_or(|(known, _)| straight > known) {
                best[joint] = Some((straight, child));
            }
        }
    }
    let hinge = |(joint, best): (usize, &Option<(f64, usize)>)| {
        Some(BentJoint {
            parent: rest.joints[joint].0?,
            joint,
            child: (*best)?.1,
        })
    };
    best.iter().enumerate().filter_map(hinge).collect()
}

/// Perimeter and corners of the shortest closed loop of the section of a mesh by a plane through `center` that encloses it, of those
/// whose vertices all are of the limb.
fn shortest_loop(
    mesh: &TriMesh,
    center: &Point64,
    normal: &Vec64,
    is_of_limb: &dyn Fn(u32) -> bool,
) -> Option<(f64, Vec<Point64>)> {
    let height = |vertex: u32| {
        (mesh.positions[vertex as usize].coords.cast::<f64>() - center.coords).dot(normal)
    };
    let heights: Vec<f64> = (0..mesh.positions.len() as u32).map(height).collect();
    // Each crossed triangle links the edge it is entered by to the edge it is left by; on closed surfaces these chains close.
    let mut next: HashMap<[u32; 2], [u32; 2]> = HashMap::new();
    for &triangle in &mesh.triangles {
        let above = triangle.map(|vertex| heights[vertex as usize] > 0.0);
        let edge = |k: usize| [triangle[k], triangle[(k + 1) % 3]];
        let up = (0..3).find(|&k| !above[k] && above[(k + 1) % 3]);
        let down = (0..3).find(|&k| above[k] && !above[(k + 1) % 3]);
        if let (Some(up), Some(down)) = (up, down) {
            let [from, to] = edge(down);
            // The neighbour enters where this one leaves: there the edge runs the other way.
            next.insert(edge(up), [to, from]);
        }
    }
    let across = normal
        .cross(&Vec64::ith(normal.iamin(), 1.0))
        .try_normalize(1e-12)?;
    let along = normal.cross(&across);
    let point = |[low, high]: [u32; 2]| {
        let [a, b] = [low, high].map(|v| mesh.positions[v as usize].coords.cast::<f64>());
        let [s, t] = [low, high].map(|v| heights[v as usize]);
        let offset = a + (b - a) * (s / (s - t)) - center.coords;
        Vector2::new(offset.dot(&across), offset.dot(&along))
    };
    let mut best: Option<(f64, Vec<Point64>)> = None;
    let mut starts: Vec<[u32; 2]> = next.keys().copied().collect();
    starts.sort_unstable();
    for start in starts {
        let (mut length, mut turn, mut edge) = (0.0, 0.0, start);
        let (mut corners, mut edges) = (Vec::new(), Vec::new());
        while let Some(following) = next.remove(&edge) {
            let [p, q] = [point(edge), point(following)];
            length += (q - p).norm();
            turn += p.perp(&q).atan2(p.dot(&q));
            corners.push(center + across * p.x + along * p.y);
            edges.push(edge);
            edge = following;
            if edge == start {
                let encloses = turn.abs() > std::f64::consts::PI;
                if encloses
                    && best.as_ref().is_none_or(|(known, _)| length < *known)
                    && edges
                        .as_flattened()
                        .iter()
                        .all(|&vertex| is_of_limb(vertex))
                {
                    best = Some((length, corners));
                }
                break;
            }
        }
    }
    best
}
