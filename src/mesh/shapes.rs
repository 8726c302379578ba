//! Shapes for tests.

use super::TriMesh;
use crate::math::{Point, Vec3};

/// A tube around the y axis from y = 0, closed at its ends if asked.
pub(crate) fn tube(radius: f32, length: f32, rings: u32, sectors: u32, closed: bool) -> TriMesh {
    let mut mesh = TriMesh::default();
    for ring in 0..=rings {
        for sector in 0..sectors {
            let phi = std::f32::consts::TAU * sector as f32 / sectors as f32;
            mesh.positions.push(Point::new(
                radius * phi.cos(),
                length * ring as f32 / rings as f32,
                -radius * phi.sin(),
            ));
        }
    }
    let at = |ring: u32, sector: u32| ring * sectors + sector % sectors;
    for ring in 0..rings {
        for sector in 0..sectors {
            let [a, b, c, d] = [
                at(ring, sector),
                at(ring, sector + 1),
                at(ring + 1, sector),
                at(ring + 1, sector + 1),
            ];
            mesh.triangles.extend([[a, b, c], [b, d, c]]);
        }
    }
    if closed {
        let tips = mesh.positions.len() as u32;
        mesh.positions
            .extend([Point::origin(), Point::new(0.0, length, 0.0)]);
        for sector in 0..sectors {
            mesh.triangles
                .push([tips, at(0, sector + 1), at(0, sector)]);
            mesh.triangles
                .push([tips + 1, at(rings, sector), at(rings, sector + 1)]);
        }
    }
    mesh
}

/// A closed ball.
pub(crate) fn ball(center: Point, radius: f32, rings: u32, sectors: u32) -> TriMesh {
    let mut mesh = TriMesh::default();
    for ring in 1..rings {
        for sector in 0..sectors {
            let (theta, phi) = (
                std::f32::consts::PI * ring as f32 / rings as f32,
                std::f32::consts::TAU * sector as f32 / sectors as f32,
            );
            mesh.positions.push(
                center
                    + Vec3::new(
                        theta.sin() * phi.cos(),
                        theta.cos(),
                        -theta.sin() * phi.sin(),
                    ) * radius,
            );
        }
    }
    let at = |ring: u32, sector: u32| (ring - 1) * sectors + sector % sectors;
    for ring in 1..rings - 1 {
        for sector in 0..sectors {
            let [a, b, c, d] = [
                at(ring, sector),
                at(ring, sector + 1),
                at(ring + 1, sector),
                at(ring + 1, sector + 1),
            ];
            mesh.triangles.extend([[a, c, b], [b, c, d]]);
        }
    }
    let tips = mesh.positions.len() as u32;
    mesh.positions
        .extend([center + Vec3::y() * radius, center - Vec3::y() * radius]);
    for sector in 0..sectors {
        mesh.triangles
            .push([tips, at(1, sector), at(1, sector + 1)]);
        mesh.triangles
            .push([tips + 1, at(rings - 1, sector + 1), at(rings - 1, sector)]);
    }
    mesh
}

/// Concatenates meshes without welding.
pub(crate) fn joined(meshes: &[TriMesh]) -> TriMesh {
    let mut all = TriMesh::default();
    for mesh in meshes {
        let first = all.positions.len() as u32;
        all.positions.extend_from_slice(&mesh.positions);
        all.triangles
            .extend(mesh.triangles.iter().map(|t| t.map(|v| v + first)));
    }
    all
}

/// The mesh, translated.
pub(crate) fn moved(mut mesh: TriMesh, by: Vec3) -> TriMesh {
    for position in &mut mesh.positions {
        *position += by;
    }
    mesh
}
