//! A bar of two bones for tests: a closed cylinder along y, of radius 1 from −5 to 5, that bends at the origin.

use std::sync::Arc;

use nalgebra::{Unit, UnitQuaternion};

use super::{Actor, Frame, MethodId, Subject};
use crate::character::{Attachment, Character, FleshBase, SourceMesh};
use crate::dynamics::Params;
use crate::math::{Affine, Point, Point64, Vec3, Vec64};
use crate::mesh::TriMesh;
use crate::mesh::shapes::{moved, tube};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Half the width of the smooth ramp of weights.
pub(super) const HALF_WIDTH: f32 = 1.5;

/// The weight of the second bone: a polynomial ramp with continuous second derivatives, odd about y = 0.
pub(super) fn ramp(y: f32) -> f32 {
    let t = ((y + HALF_WIDTH) / (2.0 * HALF_WIDTH)).clamp(0.0, 1.0);
    t * t * t * (t * (t * 6.0 - 15.0) + 10.0)
}

/// The surface, with this many rings and sectors.
pub(super) fn surface(rings: u32, sectors: u32) -> TriMesh {
    moved(tube(1.0, 10.0, rings, sectors, true), Vec3::y() * -5.0)
}

/// Its normals: the caps have hard edges only where vertices are split, which they are not, so those of the side go up to the rim.
pub(super) fn normals(mesh: &TriMesh) -> Vec<Vec3> {
    let of = |p: &Point| {
        let side = Vec3::new(p.x, 0.0, p.z);
        side.try_normalize(1e-3)
            .unwrap_or_else(|| Vec3::y() * p.y.signum())
    };
    mesh.positions.iter().map(of).collect()
}

/// A skeleton of joints at these heights on the y axis, each the parent of the next.
pub(super) fn skeleton(heights: &[f64]) -> Skeleton {
    let joints: Vec<(String, Option<usize>, Point64)> = heights
        .iter()
        .enumerate()
        .map(|(k, &y)| (format!("j{k}"), k.checked_sub(1), Point64::new(0.0, y, 0.0)))
        .collect();
    Skeleton::from_positions(&joints).unwrap()
}

/// A mesh that is skinned by the given weights.
pub(super) fn skinned(
    mesh: TriMesh,
    normals: Option<Vec<Vec3>>,
    skeleton: &Skeleton,
    weights: SkinWeights,
) -> SourceMesh {
    let joint_from_mesh = skeleton
        .bind_transforms()
        .iter()
        .map(|world| world.try_inverse().unwrap())
        .collect();
    SourceMesh {
        normals,
        attachment: Attachment::Skinned {
            weights,
            joint_from_mesh,
        },
        ..SourceMesh::bare("bar", mesh.positions, mesh.triangles)
    }
}

/// A tube of 40 by 24 quads around three joints, at −5, 0 and 5, with flesh on this base; `closed` at its ends or not.
pub(super) fn flesh_bar(closed: bool, base: FleshBase) -> Arc<Subject> {
    flesh_bar_of(40, 24, closed, base)
}

/// The same of this many rings and sectors.
pub(super) fn flesh_bar_of(
    rings: u32,
    sectors: u32,
    closed: bool,
    base: FleshBase,
) -> Arc<Subject> {
    let mesh = moved(tube(1.0, 10.0, rings, sectors, closed), Vec3::y() * -5.0);
    let skeleton = skeleton(&[-5.0, 0.0, 5.0]);
    let rows = mesh
        .positions
        .iter()
        .map(|p| [(0, 1.0 - ramp(p.y)), (1, ramp(p.y))]);
    let weights = SkinWeights::from_rows(rows).0;
    let mut character = Character {
        meshes: vec![skinned(mesh, None, &skeleton, weights)],
        skeleton,
        ..Character::default()
    };
    character.flesh.base = base;
    subject(character)
}

/// The bar of two joints, at −5 and 0.
pub(super) fn bar(rings: u32, sectors: u32) -> Character {
    let mesh = surface(rings, sectors);
    let skeleton = skeleton(&[-5.0, 0.0]);
    let rows = mesh
        .positions
        .iter()
        .map(|p| [(0, 1.0 - ramp(p.y)), (1, ramp(p.y))]);
    let weights = SkinWeights::from_rows(rows).0;
    let normals = normals(&mesh);
    Character {
        meshes: vec![skinned(mesh, Some(normals), &skeleton, weights)],
        skeleton,
        ..Character::default()
    }
}

pub(super) fn subject(character: Character) -> Arc<Subject> {
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).unwrap())
}

/// The bind pose with each joint after the first turned about its own origin by an angle about an axis, the rest of the chain with it.
pub(super) fn turned(subject: &Subject, axis: Vec64, angle: f64) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for local in pose.locals.iter_mut().skip(1) {
        local.rotation *= UnitQuaternion::from_axis_angle(&Unit::new_normalize(axis), angle);
    }
    skeleton.world_from_joint(&pose)
}

/// Binds with the method's parameter `normals` set to a name.
pub(super) fn bound(subject: &Arc<Subject>, method: MethodId, normals: &str) -> Actor {
    let mut values = ParamValues::default();
    let specs = method.descriptor().params;
    values.set_text(specs, "normals", normals).unwrap();
    let physics = Params::default();
    Actor::bind_with(subject, method, &physics, &values, &Progress::new()).unwrap()
}

pub(super) fn advance(actor: &mut Actor, world_from_joint: &[Affine]) {
    actor
        .advance(&Frame {
            world_from_joint,
            dt_secs: 0.0,
        })
        .unwrap();
}

/// Enclosed volume.
pub(super) fn volume(positions: &[Point], triangles: &[[u32; 3]]) -> f64 {
    let of = |t: &[u32; 3]| {
        let [a, b, c] = t.map(|v| positions[v as usize].coords.cast::<f64>());
        a.dot(&b.cross(&c)) / 6.0
    };
    triangles.iter().map(of).sum()
}

/// Perimeter of a ring of vertices.
pub(super) fn girth(positions: &[Point], ring: u32, sectors: u32) -> f64 {
    let at = |k: u32| positions[(ring * sectors + k % sectors) as usize].cast::<f64>();
    (0..sectors).map(|k| (at(k + 1) - at(k)).norm()).sum()
}

/// A percentile of the edges' lengths over those at rest.
pub(super) fn stretch(
    now: &[Point],
    rest: &[Point],
    triangles: &[[u32; 3]],
    percentile: f64,
) -> f32 {
    let mut ratios: Vec<f32> = triangles
        .iter()
        .flat_map(|&[a, b, c]| [[a, b], [b, c], [c, a]])
        .map(|[a, b]| {
            let length = |p: &[Point]| (p[a as usize] - p[b as usize]).norm();
            length(now) / length(rest)
        })
        .collect();
    ratios.sort_by(f32::total_cmp);
    ratios[((ratios.len() - 1) as f64 * percentile) as usize]
}
