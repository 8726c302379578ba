//! Closed meshes along z.

use sinew::math::Point;
use sinew::mesh::TriMesh;

/// A box between two corners.
pub fn cuboid(min: [f32; 3], max: [f32; 3]) -> TriMesh {
    let positions = (0..8)
        .map(|k| {
            let at = |axis: usize| {
                if k >> axis & 1 == 1 {
                    max[axis]
                } else {
                    min[axis]
                }
            };
            Point::new(at(0), at(1), at(2))
        })
        .collect();
    let quads = [
        [0, 2, 3, 1],
        [4, 5, 7, 6],
        [0, 1, 5, 4],
        [2, 6, 7, 3],
        [0, 4, 6, 2],
        [1, 3, 7, 5],
    ];
    let triangles = quads
        .iter()
        .flat_map(|&[a, b, c, d]| [[a, b, c], [a, c, d]])
        .collect();
    TriMesh {
        positions,
        triangles,
    }
}

/// Several meshes as one.
pub fn together(meshes: &[TriMesh]) -> TriMesh {
    let mut all = TriMesh::default();
    for mesh in meshes {
        let first = all.positions.len() as u32;
        all.positions.extend_from_slice(&mesh.positions);
        all.triangles
            .extend(mesh.triangles.iter().map(|t| t.map(|v| first + v)));
    }
    all
}

/// A surface of revolution about z through points (radius, z), closed if the last is the first; points with radius 0 are poles.
pub fn turned(profile: &[[f32; 2]], sectors: u32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for &[radius, z] in profile {
        for k in 0..sectors {
            let angle = k as f32 / sectors as f32 * std::f32::consts::TAU;
            mesh.positions
                .push(Point::new(radius * angle.cos(), radius * angle.sin(), z));
        }
    }
    for ring in 0..profile.len() as u32 - 1 {
        for k in 0..sectors {
            let next = (k + 1) % sectors;
            let [a, b] = [ring * sectors + k, ring * sectors + next];
            let [c, d] = [a + sectors, b + sectors];
            mesh.triangles.extend([[a, b, d], [a, d, c]]);
        }
    }
    mesh
}

/// A solid cylinder from z = 0 on.
pub fn cylinder(radius: f32, length: f32, sectors: u32) -> TriMesh {
    let rings = 12;
    let mut profile = vec![[0.0, 0.0], [0.5 * radius, 0.0]];
    profile.extend((0..=rings).map(|k| [radius, length * k as f32 / rings as f32]));
    profile.extend([[0.5 * radius, length], [0.0, length]]);
    turned(&profile, sectors)
}

/// A pipe from z = 0 on.
pub fn pipe(inner: f32, outer: f32, length: f32, sectors: u32) -> TriMesh {
    let rings = 8;
    let z = |k: u32| length * k as f32 / rings as f32;
    let mut profile: Vec<[f32; 2]> = (0..=rings).map(|k| [outer, z(k)]).collect();
    profile.extend((0..=rings).rev().map(|k| [inner, z(k)]));
    profile.push([outer, 0.0]);
    turned(&profile, sectors)
}
