//! All of a character that does not depend on the pose.

use std::sync::Arc;

use rayon::prelude::*;

use super::bend::Bends;
use super::composed::Field;
use super::field::PartField;
use super::fold::Fold;
use super::limbs::Limbs;
use super::motions::UNTURNED;
use super::muscle::Muscles;
use super::operators::{Meets, Tables};
use super::parts::joints_of_vertices;
use super::posed::{BoundFields, PosedFields};
use super::rings::Rings;
use super::samples::{PartShape, shapes};
use super::spread::Weighed;
use super::tree::Tree;
use super::twist::Twist;
use crate::character::Muscle;
use crate::math::{Affine, Point64, Vec64};
use crate::mesh::{Topology, TriMesh, TriangleTree, thickness};
use crate::methods::smoothing::Surface;
use crate::methods::{BindError, Subject};
use crate::numerics::lanes::Padded;
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::weights::{Segment, SkinWeights};

/// Least radius of a limb at a joint, as a part of the radius of its part.
const LEAST_FOLD: f64 = 0.2;
/// A vertex that belongs to no field.
pub(super) const NO_PART: u16 = u16::MAX;
/// Contacts shallower than this do not hold vertices on their side.
pub(super) const LEAST_DEPTH: f32 = 0.05;
/// How far on its own side a vertex in contact stays, in values of the fields.
pub(super) const MARGIN: f32 = 0.006;
/// A gradient below this, in one over the radius of the part, has no direction to follow.
pub(super) const WEAK: f32 = 0.05;
/// How far the gradient of the composed field is taken to stay the same, in depths of the limb's middle.
const STEADY: f32 = 0.03;

/// What a vertex is held to.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Held {
    /// Its field; [`NO_PART`] for none.
    pub(super) own: u16,
    /// The value of the composed field at rest.
    pub(super) iso: f32,
    /// Least difference between the values of the two sides of a contact.
    pub(super) margin: f32,
    /// Whether it may stay farther than that from a contact surface: not where parts touch at rest.
    pub(super) can_lift: bool,
    /// Gradients below this are weak; infinite for a vertex that no field holds.
    pub(super) weak: f32,
    /// How much of its relaxation in the surface is taken, 0 to 1.
    pub(super) relaxation: f32,
    /// How far the skin is from the middle of the limb.
    pub(super) depth: f32,
    /// How far the gradient of the composed field is taken to stay the same.
    pub(super) steady: f32,
}

/// A character bound to fields.
pub(super) struct Model {
    pub(super) fields: Arc<[PartField]>,
    /// Of every field, the fold at its joint.
    pub(super) folds: Arc<[Fold]>,
    /// Where parts twist along their bones.
    pub(super) twists: Arc<[Twist]>,
    /// Where they bend.
    pub(super) bends: Arc<Bends>,
    /// Where muscles are, and the muscles.
    pub(super) limbs: Arc<Limbs>,
    pub(super) muscles: Arc<Muscles>,
    pub(super) tree: Arc<Tree>,
    pub(super) tables: &'static Tables,
    pub(super) rings: Rings,
    /// Positions at rest, relative to the centre of the skin.
    pub(super) rest: Vec<Padded>,
    pub(super) held: Vec<Held>,
    pub(super) center: Point64,
    /// Diagonal of the skin's bounding box.
    pub(super) size: f32,
}

impl Model {
    pub(super) fn of(
        subject: &Arc<Subject>,
        operators: &[Meets],
        progress: &Progress,
    ) -> Result<Self, BindError> {
        let (mesh, weights) = (&subject.skin.mesh, subject.skin_weights());
        let skeleton = &subject.character.skeleton;
        progress.report(0.0, "Fields of the bones");
        let tables = Tables::shared()?;
        let surface = Surface::of(mesh);
        let topology = Topology::of(mesh);
        let joint_of = joints_of_vertices(mesh, &topology, skeleton, weights);
        let triangles = TriangleTree::new(mesh);
        let to_skin = |at: &Point64| distance(&triangles, at);
        let shapes = shapes(mesh, skeleton, &surface.center, &joint_of, &to_skin);
        progress.check()?;
        let fitted = fitted(mesh, &surface, &triangles, &shapes, &joint_of, progress)?;
        let mut has_part = vec![false; skeleton.len()];
        for field in &fitted {
            has_part[field.joint as usize] = true;
        }
        let tree = Tree::of(skeleton, &has_part, operators);
        let mut by_joint: Vec<Option<PartField>> = (0..skeleton.len()).map(|_| None).collect();
        for field in fitted {
            let joint = field.joint as usize;
            by_joint[joint] = Some(field);
        }
        let mut field_of = vec![NO_PART; skeleton.len()];
        let mut fields = Vec::new();
        for &joint in &tree.joints {
            if let Some(field) = by_joint[joint as usize].take() {
                field_of[joint as usize] = fields.len() as u16;
                fields.push(field);
            }
        }
        let folds = folds(skeleton, &surface.center, &triangles, &fields, &field_of);
        let padded = |p: &Point64| [p.x as f32, p.y as f32, p.z as f32, 0.0];
        let rest: Vec<Padded> = surface.positions.iter().map(padded).collect();
        let own = |joint: &Option<u32>| joint.map_or(NO_PART, |joint| field_of[joint as usize]);
        let under = thickness(mesh, &topology, &triangles, 0);
        let held = joint_of.iter().zip(under).map(|(joint, under)| Held {
            own: own(joint),
            iso: 0.0,
            margin: MARGIN,
            can_lift: false,
            weak: f32::INFINITY,
            relaxation: 1.0,
            depth: 0.5 * under as f32,
            steady: 0.0,
        });
        let bends = Bends::of(&fields, &folds, |fold, above, reach| {
            weighed(skeleton, weights, &surface.positions, fold, above, reach)
        });
        let (center, size) = (surface.center, surface.size);
        let limbs = Limbs::new(subject.character.clone(), triangles, center, size);
        let muscles = Muscles::of(&limbs, &subject.settings.muscles, &fields);
        let mut model = Self {
            limbs: Arc::new(limbs),
            muscles: Arc::new(muscles),
            held: held.collect(),
            rings: Rings::of(&surface, &rest),
            rest,
            twists: Twist::of(&fields, &folds).into(),
            bends: Arc::new(bends),
            folds: folds.into(),
            fields: fields.into(),
            tree: Arc::new(tree),
            tables,
            center: surface.center,
            size: surface.size as f32,
        };
        model.measure_rest(skeleton.len());
        Ok(model)
    }

    /// The fields in the bind pose.
    pub(super) fn bound(&self) -> BoundFields<'_> {
        BoundFields {
            fields: &self.fields,
            folds: &self.folds,
            twists: &self.twists,
            bends: &self.bends,
            muscles: &self.muscles,
        }
    }

    /// The fields in a pose.
    pub(super) fn field<'a>(&'a self, posed: &'a PosedFields) -> Field<'a> {
        Field {
            fields: &self.fields,
            muscles: &self.muscles,
            tree: &self.tree,
            tables: self.tables,
            posed,
        }
    }

    /// Composes by other operators, of every joint, from now on.
    pub(super) fn set_operators(&mut self, skeleton: &Skeleton, operators: &[Meets]) {
        Arc::make_mut(&mut self.tree).set_operators(skeleton, operators);
        self.measure_rest(skeleton.len());
    }

    /// Has other muscles from now on. Returns whether that changes anything.
    pub(super) fn set_muscles(&mut self, joints: usize, muscles: &[Muscle]) -> bool {
        let muscles = Muscles::of(&self.limbs, muscles, &self.fields);
        let differs = muscles != *self.muscles;
        if differs {
            self.muscles = Arc::new(muscles);
            self.measure_rest(joints);
        }
        differs
    }

    /// Sets how much of its relaxation each vertex of the skin takes; `None`: all of it.
    pub(super) fn set_relaxation(&mut self, painted: Option<Vec<f32>>) {
        let painted = painted.unwrap_or_default().into_iter();
        let all = painted.chain(std::iter::repeat(1.0));
        for (held, relaxation) in self.held.iter_mut().zip(all) {
            held.relaxation = relaxation;
        }
    }

    /// What vertices are held to is the composed field at rest.
    fn measure_rest(&mut self, joints: usize) {
        let mut posed = PosedFields::new(self.fields.len());
        let (here, unturned) = (Affine::identity(), UNTURNED);
        posed.follow(&self.bound(), &vec![here; joints], &vec![unturned; joints]);
        let mut held = std::mem::take(&mut self.held);
        let field = self.field(&posed);
        let rest = &self.rest;
        held.par_iter_mut().enumerate().for_each(|(vertex, held)| {
            let Some(part) = self.fields.get(usize::from(held.own)) else {
                return;
            };
            let [x, y, z, _] = rest[vertex];
            let near = field.near(held.own, [x, y, z]);
            let at = field.at(&near, held.own, [x, y, z]);
            held.iso = at.value;
            held.margin = if at.depth > LEAST_DEPTH {
                MARGIN.min(at.side)
            } else {
                MARGIN
            };
            held.steady = STEADY * part.radius.min(held.depth);
            let weak = WEAK / part.radius;
            let slope = super::motions::dot(at.gradient, at.gradient).sqrt();
            held.weak = if slope > 2.0 * weak {
                weak
            } else {
                f32::INFINITY
            };
            let edges = self.rings.around(vertex).iter();
            held.can_lift = held.margin >= MARGIN
                && edges
                    .map(|&(next, _)| middle(rest[vertex], rest[next as usize]))
                    .all(|middle| {
                        let at = field.at(&near, held.own, middle);
                        at.depth <= LEAST_DEPTH || at.side >= MARGIN
                    });
        });
        self.held = held;
    }

    /// How many vertices no field holds.
    #[cfg(test)]
    pub(super) fn free(&self) -> usize {
        self.held
            .iter()
            .filter(|held| held.weak.is_infinite())
            .count()
    }
}

/// The middle of two points.
pub(super) fn middle(a: Padded, b: Padded) -> [f32; 3] {
    std::array::from_fn(|c| 0.5 * (a[c] + b[c]))
}

/// The fields of all parts whose samples have one.
fn fitted(
    mesh: &TriMesh,
    surface: &Surface,
    tree: &TriangleTree,
    shapes: &[PartShape],
    joint_of: &[Option<u32>],
    progress: &Progress,
) -> Result<Vec<PartField>, BindError> {
    let normals = mesh.vertex_normals();
    let outside =
        |at: &Point64| signed_distance(mesh, &normals, tree, &(at + surface.center.coords));
    let fields: Result<Vec<Option<PartField>>, BindError> = shapes
        .par_iter()
        .map(|shape| {
            progress.check()?;
            let own = joint_of.iter().zip(&surface.positions);
            let own = own.filter(|(joint, _)| **joint == Some(shape.joint));
            let vertices: Vec<Point64> = own.map(|(_, position)| *position).collect();
            Ok(PartField::of(shape, &vertices, &outside))
        })
        .collect();
    Ok(fields?.into_iter().flatten().collect())
}

/// The fold at the joint of every field.
fn folds(
    skeleton: &Skeleton,
    center: &Point64,
    skin: &TriangleTree,
    fields: &[PartField],
    field_of: &[u16],
) -> Vec<Fold> {
    let mut along = vec![Vec64::zeros(); skeleton.len()];
    for segment in Segment::of(skeleton) {
        along[segment.joint as usize] += segment.ends[1] - segment.ends[0];
    }
    let fold = |field: &PartField| {
        let joint = field.joint as usize;
        let parent = skeleton
            .ancestors(joint)
            .find(|&above| field_of[above] != NO_PART);
        let Some(parent) = parent else {
            return Fold::NONE;
        };
        let at = skeleton.bind_position(joint);
        let (radius, own) = (distance(skin, &at), f64::from(field.radius));
        Fold {
            parent: field_of[parent],
            joint: field.joint,
            parent_joint: parent as u32,
            at: at - center.coords,
            parent_at: skeleton.bind_position(parent) - center.coords,
            along: along[joint],
            radius: radius.clamp(LEAST_FOLD * own, own) as f32,
        }
    };
    fields.iter().map(fold).collect()
}

/// The skin within a distance of a joint, and how much of it the limb below, that above and what that hangs at move. `limb`: the joints of that
/// above.
fn weighed(
    skeleton: &Skeleton,
    weights: &SkinWeights,
    positions: &[Point64],
    fold: &Fold,
    limb: &[u32],
    reach: f64,
) -> Vec<Weighed> {
    let joint = fold.joint as usize;
    let near = positions.iter().enumerate().filter_map(|(vertex, at)| {
        let from = at - fold.at;
        if from.norm() >= reach {
            return None;
        }
        let parent = fold.parent_joint as usize;
        let (mut below, mut above, mut beyond) = (0.0, 0.0, 0.0);
        for (other, weight) in weights.of(vertex) {
            if other == joint || skeleton.is_below(other, joint) {
                below += f64::from(weight);
            } else if limb.contains(&(other as u32)) {
                above += f64::from(weight);
            } else if skeleton.is_below(parent, other) {
                beyond += f64::from(weight);
            }
        }
        Some(Weighed {
            from,
            below,
            above,
            beyond,
        })
    });
    near.collect()
}

/// The distance of a point from the skin.
fn distance(skin: &TriangleTree, at: &Point64) -> f64 {
    skin.closest(at, f64::INFINITY, |_| true)
        .map_or(0.0, |closest| closest.distance)
}

/// The distance of a point from the skin, positive on the side that the normals point to.
fn signed_distance(
    mesh: &TriMesh,
    normals: &[crate::math::Vec3],
    tree: &TriangleTree,
    at: &Point64,
) -> f64 {
    let Some(closest) = tree.closest(at, f64::INFINITY, |_| true) else {
        return 0.0;
    };
    let corners = mesh.triangles[closest.triangle as usize];
    // The nearest corner decides where the closest point is on an edge or a corner.
    let nearest = corners.into_iter().min_by(|&a, &b| {
        let distance = |v: u32| (mesh.positions[v as usize].cast::<f64>() - closest.point).norm();
        distance(a).total_cmp(&distance(b))
    });
    let normal = nearest.map_or_else(crate::math::Vec64::zeros, |v| normals[v as usize].cast());
    let [a, b, c] = mesh
        .corners(closest.triangle as usize)
        .map(nalgebra::OPoint::cast::<f64>);
    let face = (b - a).cross(&(c - a)).try_normalize(0.0).unwrap_or(normal);
    if (at - closest.point).dot(&(normal + face)) < 0.0 {
        -closest.distance
    } else {
        closest.distance
    }
}
