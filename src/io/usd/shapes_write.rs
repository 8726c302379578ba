//! Shapes of morphs as `BlendShape` prims, and their weights in animations.
//!
//! # Departures
//! - Weights are relative to rest: the points of a mesh are those at rest, and weight 0 is rest.
//! - In-between shapes are blend shapes of their own, with weights for them.

use std::collections::HashMap;

use super::joints_write::FPS;
use super::layer::{Prim, Property, Value};
use super::mesh_write::{apply_schema, vectors};
use super::names::SiblingNames;
use crate::character::{Character, MorphTarget, SourceMesh};
use crate::io::shapes::{ShapeRef, sampled, tracks_of};
use crate::math::Vec3;
use crate::rig::Clip;

/// The blend shapes of a file.
pub(super) struct BlendShapes {
    shapes: Vec<ShapeRef>,
    /// A name for each, different from all others.
    tokens: Vec<String>,
}

impl BlendShapes {
    /// Those that move something.
    pub(super) fn of(character: &Character) -> Self {
        let moves = |shape: &ShapeRef| {
            let targets = &character.morphs[shape.morph].shapes[shape.shape].targets;
            targets.iter().any(|target| !target.vertices.is_empty())
        };
        let shapes: Vec<ShapeRef> = ShapeRef::all(character).filter(moves).collect();
        let mut names = SiblingNames::default();
        let tokens = shapes
            .iter()
            .map(|shape| names.unique(&shape.name(character)));
        Self {
            tokens: tokens.collect(),
            shapes,
        }
    }

    /// Adds the shapes of a mesh, by index, whose prim is below `root`. `is_moved`: its points are in the bind pose instead of in its
    /// own space.
    pub(super) fn add_to(
        &self,
        prim: &mut Prim,
        root: &str,
        character: &Character,
        (index, is_moved): (usize, bool),
    ) {
        let mesh = &character.meshes[index];
        let path = format!("/{root}/{}", prim.name);
        let (mut names, mut paths) = (Vec::new(), Vec::new());
        for (shape_ref, token) in self.shapes.iter().zip(&self.tokens) {
            let targets = &character.morphs[shape_ref.morph].shapes[shape_ref.shape].targets;
            let own = targets.iter().filter(|target| target.mesh == index);
            for target in own.filter(|target| !target.vertices.is_empty()) {
                names.push(token.clone());
                paths.push(format!("{path}/{token}"));
                let mut shape = blend_shape(token, character, (mesh, target), is_moved);
                let name = shape_ref.name(character);
                if name != *token {
                    shape
                        .meta
                        .push(("displayName".to_owned(), Value::text(name)));
                }
                prim.children.push(shape);
            }
        }
        if names.is_empty() {
            return;
        }
        if prim.property("skel:skeleton").is_none() {
            apply_schema(prim, "SkelBindingAPI");
            let skeleton = format!("/{root}/Skeleton");
            prim.properties
                .push(Property::relationship("skel:skeleton", skeleton));
        }
        prim.properties.extend([
            Property::uniform("token[]", "skel:blendShapes", Value::Texts(names)),
            Property {
                name: "skel:blendShapeTargets".to_owned(),
                targets: paths,
                ..Property::default()
            },
        ]);
    }

    /// Adds the weights in a clip to its animation.
    pub(super) fn add_weights(&self, prim: &mut Prim, character: &Character, clip: &Clip) {
        if self.shapes.is_empty() {
            return;
        }
        let own = character.tracks_of_morphs(clip);
        let tracks = tracks_of(&self.shapes, &own);
        let Some((times, weights)) = sampled(character, &self.shapes, &tracks) else {
            return;
        };
        let rest = self.shapes.iter().map(|shape| shape.rest_weight(character));
        let rest: Vec<f64> = rest.collect();
        let rows = weights.chunks_exact(self.shapes.len());
        let beyond = |row: &[f32]| {
            row.iter()
                .zip(&rest)
                .map(|(&w, r)| f64::from(w) - r)
                .collect()
        };
        let samples = times.iter().zip(rows);
        prim.properties.extend([
            Property::uniform("token[]", "blendShapes", Value::Texts(self.tokens.clone())),
            Property {
                name: "blendShapeWeights".to_owned(),
                kind: "float[]".to_owned(),
                samples: samples
                    .map(|(time, row)| (time * FPS, Value::Numbers(beyond(row))))
                    .collect(),
                ..Property::default()
            },
        ]);
    }
}

/// A shape of one mesh. Copies of vertices move as the vertex that is written.
fn blend_shape(
    token: &str,
    character: &Character,
    (mesh, target): (&SourceMesh, &MorphTarget),
    is_moved: bool,
) -> Prim {
    let written = mesh.file_vertices();
    let has_normals =
        target.normals.len() == target.vertices.len() && written == mesh.positions.len();
    let place = |vertex: u32, offset: &Vec3| {
        if !is_moved {
            return *offset;
        }
        let linear = mesh.bind_linear(&character.skeleton, vertex as usize);
        (linear * offset.cast::<f64>()).cast::<f32>()
    };
    let mut offsets: HashMap<usize, Vec3> = HashMap::new();
    let mut order = Vec::with_capacity(target.vertices.len());
    for (&vertex, offset) in target.vertices.iter().zip(&target.offsets) {
        let at = mesh.file_vertex(vertex as usize);
        if offsets.insert(at, place(vertex, offset)).is_none() {
            order.push(at);
        }
    }
    let indices = order.iter().map(|&at| at as f64).collect();
    let mut prim = Prim::new("BlendShape", token);
    let moved = vectors(order.iter().map(|at| &offsets[at]));
    prim.properties.extend([
        Property::uniform("vector3f[]", "offsets", moved),
        Property::uniform("int[]", "pointIndices", Value::Numbers(indices)),
    ]);
    if has_normals && !is_moved {
        let normals = vectors(&target.normals);
        prim.properties
            .push(Property::uniform("vector3f[]", "normalOffsets", normals));
    }
    prim
}
