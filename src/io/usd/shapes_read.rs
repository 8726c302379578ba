//! `BlendShape` prims → morphs: one for each name of a mesh, with its in-between shapes; and their weights in animations.
//!
//! A mesh lists names (`skel:blendShapes`) and prims (`skel:blendShapeTargets`); an animation lists names (`blendShapes`) and a weight
//! for each (`blendShapeWeights`). Weight 0 is rest: the points of a mesh have no displacements.

use std::collections::BTreeMap;

use super::influences_read::index_of;
use super::keys::thinned;
use super::layer::{Prim, Property};
use super::scene::Scene;
use crate::character::{Morph, MorphShape, MorphTarget, SourceMesh};
use crate::io::error::{Parsed, bad};
use crate::math::Vec3;
use crate::rig::MorphTrack;

/// Most displacements of a character. Many names may share one prim, so that the size of the file is no limit.
const MOST_OFFSETS: usize = 50_000_000;

/// Weights that stay below this are at rest.
const LEAST_WEIGHT: f64 = 1e-9;

/// The morphs of all meshes.
#[derive(Default)]
pub(super) struct UsdShapes {
    pub(super) morphs: Vec<Morph>,
    /// Of each morph, its name in animations, and the skeleton that its mesh is bound to.
    bound: Vec<(String, Option<usize>)>,
    /// Shapes that are missing or do not fit their mesh.
    pub(super) unreadable: usize,
    offsets: usize,
}

impl UsdShapes {
    /// Adds those of a prim, whose mesh is the character's `index`-th.
    pub(super) fn add(
        &mut self,
        scene: &Scene<'_>,
        prim: usize,
        (index, mesh): (usize, &SourceMesh),
    ) -> Parsed<()> {
        let holder = scene.prims[prim];
        let names = holder.texts("skel:blendShapes");
        let targets = holder.property("skel:blendShapeTargets");
        let targets = targets.map_or(&[][..], |property| &property.targets);
        let skeleton = skeleton_of(scene, prim);
        self.unreadable += names.len().saturating_sub(targets.len());
        for (name, path) in names.iter().zip(targets) {
            let shape = scene.find(path).map(|found| scene.prims[found]);
            let shape = shape.filter(|shape| shape.kind == "BlendShape");
            let shapes = shape.and_then(|shape| shapes_of(shape, index, mesh));
            let (Some(shape), Some(shapes)) = (shape, shapes) else {
                self.unreadable += 1;
                continue;
            };
            let targets = shapes.iter().flat_map(|shape| &shape.targets);
            self.offsets += targets.map(|target| target.vertices.len()).sum::<usize>();
            if self.offsets > MOST_OFFSETS {
                return bad(format!(
                    "the blend shapes have more than {MOST_OFFSETS} displacements, the maximum for a character"
                ));
            }
            self.bound.push((name.clone(), skeleton));
            self.morphs.push(Morph {
                name: if shape.meta("displayName").is_some() {
                    shape.title()
                } else {
                    name.clone()
                },
                mesh: mesh.name.clone(),
                rest_weight: 0.0,
                shapes,
            });
        }
        Ok(())
    }

    /// The weights in an animation; those that stay at rest are left out.
    pub(super) fn tracks(
        &self,
        scene: &Scene<'_>,
        animation: usize,
        secs: &impl Fn(f64) -> f64,
    ) -> Vec<MorphTrack> {
        let prim = scene.prims[animation];
        let names = prim.texts("blendShapes");
        let is_source = |&skeleton: &usize| {
            let target = scene.prims[skeleton].target("skel:animationSource");
            target.and_then(|path| scene.find(path)) == Some(animation)
        };
        let sources: Vec<usize> = scene.of_kind("Skeleton").filter(is_source).collect();
        let is_moved = |skeleton: &Option<usize>| {
            sources.is_empty() || skeleton.is_none_or(|skeleton| sources.contains(&skeleton))
        };
        let mut tracks = Vec::new();
        for (place, name) in names.iter().enumerate() {
            let own = self.bound.iter().enumerate();
            let mut own = own
                .filter(|(_, (bound, skeleton))| bound == name && is_moved(skeleton))
                .map(|(control, _)| control)
                .peekable();
            if own.peek().is_none() {
                continue;
            }
            let keys = weights_of(prim, place, names.len());
            let (times, weights): (Vec<f64>, Vec<f64>) =
                keys.map(|(code, weight)| (secs(code), weight)).unzip();
            if weights.iter().all(|weight| weight.abs() < LEAST_WEIGHT) {
                continue;
            }
            let curve = thinned(&times, &weights);
            tracks.extend(own.map(|control| MorphTrack {
                control,
                curve: curve.clone(),
            }));
        }
        tracks
    }
}

/// Time codes of the weights of an animation.
pub(super) fn weight_codes(prim: &Prim) -> impl Iterator<Item = f64> {
    let property = prim.property("blendShapeWeights");
    let property = property.filter(|_| !prim.texts("blendShapes").is_empty());
    let samples = property.map_or(&[][..], |property| &property.samples);
    samples.iter().map(|(code, _)| *code)
}

/// Codes and weights of one of `count` names; samples of another length are left out.
fn weights_of(prim: &Prim, place: usize, count: usize) -> impl Iterator<Item = (f64, f64)> {
    let property = prim.property("blendShapeWeights");
    let samples = property.map_or(&[][..], |property| &property.samples);
    samples.iter().filter_map(move |(code, value)| {
        let numbers = value.numbers();
        let weight = numbers.get(place).filter(|_| numbers.len() == count)?;
        (weight.is_finite() && code.is_finite()).then_some((*code, *weight))
    })
}

/// The `Skeleton` prim that a mesh is bound to, by itself or by a prim above it.
fn skeleton_of(scene: &Scene<'_>, prim: usize) -> Option<usize> {
    let target = |prim: usize| scene.prims[prim].target("skel:skeleton");
    scene.find(scene.upwards(prim).find_map(target)?)
}

/// The shape of a prim and those in between, by ascending weight; `None` if they do not fit the mesh.
fn shapes_of(prim: &Prim, index: usize, mesh: &SourceMesh) -> Option<Vec<MorphShape>> {
    let points = mesh.file_vertices();
    let indices = prim.numbers("pointIndices");
    let indices: Vec<usize> = if indices.is_empty() {
        (0..points).collect()
    } else {
        let known = |&number: &f64| index_of(number).filter(|&point| point < points);
        indices.iter().map(known).collect::<Option<_>>()?
    };
    let vectors = |numbers: &[f64]| -> Option<Vec<Vec3>> {
        let vector = |c: &[f64]| Vec3::new(c[0] as f32, c[1] as f32, c[2] as f32);
        let vectors: Vec<Vec3> = numbers.chunks_exact(3).map(vector).collect();
        (vectors.len() == indices.len() && numbers.len().is_multiple_of(3)).then_some(vectors)
    };
    let shape = |at: f64, offsets: &[f64], normals: &[f64]| -> Option<MorphShape> {
        let normals = vectors(normals).filter(|all| all.iter().flatten().all(|c| c.is_finite()));
        let target = target_of(
            index,
            mesh,
            &indices,
            (&vectors(offsets)?, normals.as_deref()),
        );
        let targets = Some(target).filter(|target| !target.vertices.is_empty());
        Some(MorphShape {
            at,
            targets: targets.into_iter().collect(),
        })
    };
    let normals = prim.numbers("normalOffsets");
    let mut shapes = vec![shape(1.0, prim.numbers("offsets"), normals)?];
    for (at, property) in in_between(prim) {
        if shapes.iter().all(|known| known.at != at) {
            let offsets = property.first()?.numbers();
            let normals = prim.numbers(&format!("{}:normalOffsets", property.name));
            shapes.push(shape(at, offsets, normals)?);
        }
    }
    shapes.sort_by(|a, b| a.at.total_cmp(&b.at));
    Some(shapes)
}

/// The shapes in between, with the weights at which they apply.
fn in_between(prim: &Prim) -> impl Iterator<Item = (f64, &Property)> {
    prim.properties.iter().filter_map(|property| {
        let name = property.name.strip_prefix("inbetweens:")?;
        let at = *property.meta("weight")?.numbers().first()?;
        let is_usable = at.is_finite() && at != 0.0 && !name.contains(':');
        is_usable.then_some((at, property))
    })
}

/// Displacements of points; copies of a point move as it does.
fn target_of(
    index: usize,
    mesh: &SourceMesh,
    indices: &[usize],
    (offsets, normals): (&[Vec3], Option<&[Vec3]>),
) -> MorphTarget {
    let mut of_point: BTreeMap<usize, (Vec3, Vec3)> = BTreeMap::new();
    for (place, (&point, offset)) in indices.iter().zip(offsets).enumerate() {
        let normal = normals.map_or_else(Vec3::zeros, |normals| normals[place]);
        let sum = of_point.entry(point).or_default();
        sum.0 += offset;
        sum.1 += normal;
    }
    of_point.retain(|_, (offset, normal)| *offset != Vec3::zeros() || *normal != Vec3::zeros());
    let points = mesh.file_vertices();
    let copies = (points..).zip(&mesh.faces.copies);
    let copies = copies.map(|(copy, &point)| (copy, point as usize));
    let own = of_point.keys().map(|&point| (point, point));
    let moved: Vec<(usize, (Vec3, Vec3))> = (own.chain(copies))
        .filter_map(|(vertex, point)| Some((vertex, *of_point.get(&point)?)))
        .collect();
    MorphTarget {
        mesh: index,
        vertices: moved.iter().map(|(vertex, _)| *vertex as u32).collect(),
        offsets: moved.iter().map(|(_, (offset, _))| *offset).collect(),
        normals: if normals.is_some() {
            moved.iter().map(|(_, (_, normal))| *normal).collect()
        } else {
            Vec::new()
        },
    }
}
