//! Packs recipes into the layout of the shaders.

use super::layout::{
    BLENDED, BlendNormal, BoneDeformer, ClothControl, ClothTangent, DEFORMED, EdgeTangents, FLESH,
    GatheredNormal, LAST, SIMULATED, SourceVertex, StiffCluster, StiffPoint, StiffVertex,
    SurfaceStand, TangentEdge, UNMOVED, WeightSlope,
};
use crate::math::Vec3;
use crate::methods::Recipe;
use crate::methods::recipe::{
    self, BlendNormals, Cloth, Cluster, Deformer, NormalRow, VertexSource,
};
use crate::methods::riding::FRAMES;
use crate::upsample::{PlainDisplacement, PlainSums};

/// Fine vertices, or riders, per tile.
const TILE: usize = 64;
/// Words of two numbers before those of the neighbours.
const HEAD: usize = 4;
/// Numbers per rider: ten, and two for each of its control points.
const RIDER: usize = 10 + 2 * FRAMES;

/// The source word of every source vertex.
pub(super) fn sources(
    recipe: &Recipe,
    row_of_vertex: &[u32],
    is_followed: bool,
) -> Vec<SourceVertex> {
    let pack = |source: &VertexSource| match *source {
        VertexSource::Still => SourceVertex::default(),
        VertexSource::Blended { rest, first } => SourceVertex {
            name: BLENDED | first,
            x: rest.x,
            y: rest.y,
            z: rest.z,
        },
        VertexSource::Deformed { rest, first } => SourceVertex {
            name: DEFORMED | first,
            x: rest.x,
            y: rest.y,
            z: rest.z,
        },
        VertexSource::Simulated(vertex) => SourceVertex {
            name: SIMULATED | row_of_vertex[vertex as usize],
            ..SourceVertex::default()
        },
        VertexSource::Flesh {
            vertex,
            normal: [x, y, z],
        } if is_followed => SourceVertex {
            name: FLESH | vertex,
            x,
            y,
            z,
        },
        VertexSource::Flesh { .. } => SourceVertex::default(),
    };
    recipe.sources.iter().map(pack).collect()
}

/// The influences of all blended vertices.
pub(super) fn influences(recipe: &Recipe) -> Vec<[u32; 2]> {
    let pack = |influence: &crate::methods::recipe::Influence| {
        [
            influence.entry | if influence.is_last { LAST } else { 0 },
            influence.weight.to_bits(),
        ]
    };
    recipe.influences.iter().map(pack).collect()
}

/// The constant part of deformers.
pub(super) fn deformers(deformers: &[Deformer]) -> Vec<BoneDeformer> {
    let pack = |deformer: &Deformer| BoneDeformer {
        pivot: deformer.pivot.coords.cast::<f32>().into(),
        joint: deformer.joint,
        axis: deformer.axis.cast::<f32>().into(),
        parent: deformer.parent,
    };
    deformers.iter().map(pack).collect()
}

/// Sums over rows, in tiles; `is_long` if row indices need more than 16 bits.
pub(super) fn sums(plain: &PlainSums, row_of_vertex: &[u32], is_long: bool) -> Vec<[u32; 2]> {
    let words = HEAD + plain.width * if is_long { 2 } else { 1 };
    let mut packed = vec![[0; 2]; plain.first.len().div_ceil(TILE) * TILE * words];
    let both = |low: i16, high: i16| {
        u32::from(low.cast_unsigned()) | u32::from(high.cast_unsigned()) << 16
    };
    for (vertex, &first) in plain.first.iter().enumerate() {
        let tile = vertex / TILE * TILE * words + vertex % TILE;
        let mut put = |word: usize, value: [u32; 2]| packed[tile + word * TILE] = value;
        let ([u0, u1, u2], [x, y, z]) = (
            plain.units[vertex].map(f32::to_bits),
            plain.remainders[vertex].map(f32::to_bits),
        );
        put(0, [row_of_vertex[first as usize], u0]);
        put(1, [u1, u2]);
        put(2, [x, y]);
        put(3, [z, 0]);
        let own = vertex * plain.width..(vertex + 1) * plain.width;
        for (k, (&name, &[w0, w1, w2])) in plain.names[own.clone()]
            .iter()
            .zip(&plain.weights[own])
            .enumerate()
        {
            let row = row_of_vertex[name as usize];
            if is_long {
                put(HEAD + 2 * k, [row, both(w0, w1)]);
                put(HEAD + 2 * k + 1, [both(w2, 0), 0]);
            } else {
                put(
                    HEAD + k,
                    [row | u32::from(w0.cast_unsigned()) << 16, both(w1, w2)],
                );
            }
        }
    }
    packed
}

/// Vertices placed relative to triangles of rows.
pub(super) fn stands(plain: &[PlainDisplacement], row_of_vertex: &[u32]) -> Vec<SurfaceStand> {
    let row = |vertex: u32| row_of_vertex[vertex as usize];
    let pack = |stand: &PlainDisplacement| {
        let &PlainDisplacement {
            corners,
            share: [share_b, share_c],
            local,
        } = stand;
        SurfaceStand {
            corner: corners.map(row),
            share_b,
            local,
            share_c,
        }
    };
    plain.iter().map(pack).collect()
}

/// Start and end of each row's adjacent triangles, and their corners.
pub(super) fn around_rows(
    triangles: &[[u32; 3]],
    row_of_vertex: &[u32],
) -> (Vec<[u32; 2]>, Vec<[u32; 3]>) {
    let mut own: Vec<Vec<[u32; 3]>> = vec![Vec::new(); row_of_vertex.len()];
    for triangle in triangles {
        let rows = triangle.map(|vertex| row_of_vertex[vertex as usize]);
        for row in rows {
            own[row as usize].push(rows);
        }
    }
    let mut end = 0;
    let around = own.iter().map(|triangles| {
        let begin = end;
        end += triangles.len() as u32;
        [begin, end]
    });
    (around.collect(), own.concat())
}

/// Vertices whose normals are gathered.
pub(super) fn normal_targets(recipe: &Recipe) -> Vec<GatheredNormal> {
    let pack = |target: &crate::methods::recipe::NormalTarget| {
        let [begin, end] = target.triangles;
        GatheredNormal {
            vertex: target.vertex,
            begin,
            end,
            pad: 0,
        }
    };
    recipe.normal_targets.iter().map(pack).collect()
}

/// What the normals of all source vertices are computed from.
pub(super) fn blend_normals(normals: &BlendNormals) -> (Vec<BlendNormal>, Vec<WeightSlope>) {
    let vertex = |row: &NormalRow| BlendNormal {
        rest: row.rest.into(),
        first: row.first.unwrap_or(UNMOVED),
        normal: row.normal.into(),
        tangent: row.tangent.into(),
        ..BlendNormal::default()
    };
    let slope = |slope: &recipe::WeightSlope| WeightSlope {
        name: slope.entry | if slope.is_last { LAST } else { 0 },
        weight: slope.weight,
        along_u: slope.along[0],
        along_v: slope.along[1],
    };
    (
        normals.rows.iter().map(vertex).collect(),
        normals.slopes.iter().map(slope).collect(),
    )
}

/// The edges that tangents are made of.
pub(super) fn edge_tangents(edges: &recipe::EdgeTangents) -> (Vec<EdgeTangents>, Vec<TangentEdge>) {
    let row = |row: &recipe::EdgeRow| EdgeTangents {
        up: row.up.into(),
        begin: row.edges[0],
        end: row.edges[1],
        lift_u: row.lift[0],
        lift_v: row.lift[1],
        pad: 0,
    };
    let edge = |edge: &recipe::TangentEdge| TangentEdge {
        to: edge.to,
        along_u: edge.along[0],
        along_v: edge.along[1],
    };
    (
        edges.rows.iter().map(row).collect(),
        edges.edges.iter().map(edge).collect(),
    )
}

/// Control points and their patches.
pub(super) fn controls(cloth: &Cloth) -> (Vec<ClothControl>, Vec<ClothTangent>) {
    let control = |control: &crate::methods::riding::Control| ClothControl {
        rest: control.rest.into(),
        vertex: control.vertex,
        axis_u: control.axes.column(0).into_owned().into(),
        patch_begin: control.patch[0],
        axis_v: control.axes.column(1).into_owned().into(),
        patch_end: control.patch[1],
        axis_n: control.axes.column(2).into_owned().into(),
        pad: 0,
    };
    let tangent = |&(vertex, [along_u, along_v]): &(u32, [f32; 2])| ClothTangent {
        vertex,
        along_u,
        along_v,
    };
    (
        cloth.controls.iter().map(control).collect(),
        cloth.patches.iter().map(tangent).collect(),
    )
}

/// Data of cloth vertices, in tiles.
pub(super) fn riders(cloth: &Cloth) -> Vec<u32> {
    let mut packed = vec![0; cloth.riders.len().div_ceil(TILE) * TILE * RIDER];
    for (index, rider) in cloth.riders.iter().enumerate() {
        let tile = index / TILE * TILE * RIDER + index % TILE;
        let head = rider
            .arm
            .iter()
            .chain([&rider.close])
            .map(|value| value.to_bits())
            .chain(rider.triangle);
        let shares = rider.barycentric.iter().map(|value| value.to_bits());
        let frames = rider
            .frames
            .iter()
            .zip(&rider.weights)
            .flat_map(|(&frame, weight)| [frame, weight.to_bits()]);
        for (word, value) in head.chain(shares).chain(frames).enumerate() {
            packed[tile + word * TILE] = value;
        }
    }
    packed
}

/// Clusters, their patches and their vertices.
pub(super) fn clusters(
    recipe: &[Cluster],
) -> (Vec<StiffCluster>, Vec<StiffPoint>, Vec<StiffVertex>) {
    let (mut clusters, mut points, mut vertices) = (Vec::new(), Vec::new(), Vec::new());
    for cluster in recipe {
        let (patch_begin, begin) = (points.len() as u32, vertices.len() as u32);
        let point = |&(vertex, weight, rest): &(u32, f32, Vec3)| StiffPoint {
            rest: rest.into(),
            weight,
            vertex,
            ..StiffPoint::default()
        };
        points.extend(cluster.patch.iter().map(point));
        vertices.extend(cluster.vertices.iter().map(|&(vertex, rest)| StiffVertex {
            rest: rest.into(),
            vertex,
        }));
        clusters.push(StiffCluster {
            patch_begin,
            patch_end: points.len() as u32,
            begin,
            end: vertices.len() as u32,
        });
    }
    (clusters, points, vertices)
}
