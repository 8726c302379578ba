//! A finer mesh of a character: every triangle in four.

use std::collections::HashMap;
use std::sync::Arc;

use crate::character::{Attachment, Character, SourceFaces, SourceMesh};
use crate::math::{Point, Vec3};
use crate::weights::SkinWeights;

/// The character with every triangle divided at the middles of its edges. A new vertex has the mean position, normal, texture coordinates
/// and weights of the edge; the two copies of an edge at a seam have the same middle. Morphs and the file's own document are left out.
pub(super) fn refined(character: &Character) -> Character {
    Character {
        meshes: character.meshes.iter().map(refined_mesh).collect(),
        morphs: Arc::default(),
        expressions: Arc::default(),
        document: None,
        ..character.clone()
    }
}

fn refined_mesh(mesh: &SourceMesh) -> SourceMesh {
    let mut middles: HashMap<[u32; 2], u32> = HashMap::new();
    let mut edges: Vec<[u32; 2]> = Vec::new();
    let first = mesh.positions.len() as u32;
    let mut middle = |a: u32, b: u32| {
        let edge = [a.min(b), a.max(b)];
        *middles.entry(edge).or_insert_with(|| {
            edges.push(edge);
            first + edges.len() as u32 - 1
        })
    };
    let mut triangles = Vec::with_capacity(4 * mesh.triangles.len());
    for &[a, b, c] in &mesh.triangles {
        let [ab, bc, ca] = [middle(a, b), middle(b, c), middle(c, a)];
        triangles.extend([[a, ab, ca], [b, bc, ab], [c, ca, bc], [ab, bc, ca]]);
    }
    let halfway = |a: &Point, b: &Point| Point::from((a.coords + b.coords) * 0.5);
    let between = |a: &Vec3, b: &Vec3| (a + b).try_normalize(1e-6).unwrap_or(*a);
    let mean = |a: &[f32; 2], b: &[f32; 2]| [0.5 * (a[0] + b[0]), 0.5 * (a[1] + b[1])];
    let attachment = match &mesh.attachment {
        Attachment::Skinned {
            weights,
            joint_from_mesh,
        } => Attachment::Skinned {
            weights: with_means(weights, &edges),
            joint_from_mesh: joint_from_mesh.clone(),
        },
        other => other.clone(),
    };
    SourceMesh {
        name: mesh.name.clone(),
        positions: with_middles(&mesh.positions, &edges, halfway),
        triangles,
        normals: mesh
            .normals
            .as_ref()
            .map(|normals| with_middles(normals, &edges, between)),
        tex_coords: mesh
            .tex_coords
            .as_ref()
            .map(|coords| with_middles(coords, &edges, mean)),
        material: mesh.material,
        faces: SourceFaces::default(),
        attachment,
    }
}

/// The values, then those of the middles of edges.
fn with_middles<T: Clone>(values: &[T], edges: &[[u32; 2]], mean: impl Fn(&T, &T) -> T) -> Vec<T> {
    let of_edges = edges
        .iter()
        .map(|&[a, b]| mean(&values[a as usize], &values[b as usize]));
    values.iter().cloned().chain(of_edges).collect()
}

fn with_means(weights: &SkinWeights, edges: &[[u32; 2]]) -> SkinWeights {
    let of_vertex = |vertex: usize| weights.row(vertex);
    let of_edge = |&[a, b]: &[u32; 2]| [of_vertex(a as usize), of_vertex(b as usize)].concat();
    let rows = (0..weights.len())
        .map(of_vertex)
        .chain(edges.iter().map(of_edge));
    SkinWeights::from_rows(rows).0
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::io::builtin::load_builtin;
    use crate::methods::Subject;
    use crate::progress::Progress;

    /// Number of edges that do not belong to exactly two triangles.
    fn open_edges(triangles: &[[u32; 3]]) -> usize {
        let mut uses: HashMap<[u32; 2], usize> = HashMap::new();
        for &[a, b, c] in triangles {
            for (a, b) in [(a, b), (b, c), (c, a)] {
                *uses.entry([a.min(b), a.max(b)]).or_default() += 1;
            }
        }
        uses.values().filter(|&&uses| uses != 2).count()
    }

    #[test]
    fn every_triangle_becomes_four_and_the_skin_stays_closed() {
        let coarse = load_builtin("cylinder").unwrap();
        let fine = refined(&coarse);
        let (before, after) = (&coarse.meshes[0], &fine.meshes[0]);
        assert_eq!(after.triangles.len(), 4 * before.triangles.len());
        assert_eq!(after.positions[..before.positions.len()], before.positions);
        assert_eq!(
            after.normals.as_ref().map(Vec::len),
            before.normals.as_ref().map(|_| after.positions.len())
        );
        // Middles lie between the ends, so that the area stays.
        let area = |mesh: &SourceMesh| -> f64 {
            let corner = |v: u32| mesh.positions[v as usize].cast::<f64>();
            let triangles = mesh.triangles.iter().map(|t| t.map(corner));
            triangles
                .map(|[a, b, c]| 0.5 * (b - a).cross(&(c - a)).norm())
                .sum()
        };
        assert!((area(after) / area(before) - 1.0).abs() < 1e-5);

        let weld = |character: Character| {
            Subject::build(Arc::new(character), &Progress::new())
                .unwrap()
                .skin
                .clone()
        };
        let skins = [weld(coarse.clone()), weld(fine.clone())];
        let open = skins
            .each_ref()
            .map(|skin| open_edges(&skin.mesh.triangles));
        assert_eq!(open, [0, 0], "the skin has a hole");
        // Euler: a closed surface of the same kind.
        let [before, after] = skins
            .each_ref()
            .map(|skin| [skin.mesh.positions.len(), skin.mesh.triangles.len()]);
        assert_eq!(after[0], before[0] + 3 * before[1] / 2);
    }

    #[test]
    fn weights_sum_to_one() {
        let fine = refined(&load_builtin("arm").unwrap());
        let mesh = &fine.meshes[0];
        let Attachment::Skinned { weights, .. } = &mesh.attachment else {
            panic!("the arm has weights")
        };
        assert_eq!(weights.len(), mesh.positions.len());
        for vertex in 0..weights.len() {
            let sum: f32 = weights.of(vertex).map(|(_, weight)| weight).sum();
            assert!((sum - 1.0).abs() < 1e-5, "vertex {vertex}: {sum}");
        }
    }
}
