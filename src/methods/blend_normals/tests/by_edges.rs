//! Normals of methods whose derivative is found from the edges of the deformed surface.

use super::*;
use crate::methods::Actor;

const METHODS: [MethodId; 3] = [MethodId::SWING_TWIST, MethodId::DDM, MethodId::DELTA_MUSH];

/// A bend and a twist by which all of the methods deform the bar smoothly.
fn motions() -> [(&'static str, Vec64, f64); 3] {
    [
        ("bend", Vec64::z(), 80.0),
        ("twist", Vec64::y(), 60.0),
        ("both", Vec64::new(0.3, 0.6, 1.0), 70.0),
    ]
}

/// The normals of the deformed triangles are off by what the tessellation hides; those from edges are as near to the surface.
#[test]
fn exact_normals_are_those_of_the_deformed_surface() {
    let subject = subject(bar(80, 48));
    for method in METHODS {
        for (what, axis, degrees) in motions() {
            let pose = turned(&subject, axis, degrees.to_radians());
            let of = |mode| {
                let mut actor = bound(&subject, method, mode);
                advance(&mut actor, &pose);
                actor
            };
            let [exact, blended, triangles] = ["exact", "blended", "triangles"].map(of);
            assert!(exact.positions() == triangles.positions());
            let error = |actor: &Actor| {
                let (mut sum, mut count) = (0.0, 0);
                for (vertex, at) in subject.bind_positions.iter().enumerate() {
                    // The rims of the caps are sharp.
                    if at.y.abs() < 1.6 {
                        sum += angle(&actor.normals()[vertex], &triangles.normals()[vertex]);
                        count += 1;
                    }
                }
                sum / f64::from(count)
            };
            let (exact, blended) = (error(&exact), error(&blended));
            println!("{method} {what}: exact {exact:.2}°, blended {blended:.2}°");
            assert!(exact < 0.6, "{method}, {what}: {exact}");
            assert!(blended > 3.0 * exact, "{method}, {what}: {blended}");
        }
    }
}

/// Normals that a file tilts against its triangles stay so at rest, and move with the character.
#[test]
fn normals_of_the_file_are_kept_in_motions_of_the_whole() {
    let mut character = bar(40, 24);
    let tilted: Vec<Vec3> = (character.meshes[0].normals.iter().flatten())
        .zip(&character.meshes[0].positions)
        .map(|(normal, at)| (normal + Vec3::new(0.3, 0.2 * at.y.sin(), -0.1)).normalize())
        .collect();
    character.meshes[0].normals = Some(tilted.clone());
    let subject = subject(character);
    let rest = subject.character.skeleton.bind_transforms();
    let turn = nalgebra::Rotation3::from_euler_angles(0.4, -1.1, 0.7);
    for method in METHODS {
        for mode in ["exact", "blended"] {
            let mut actor = bound(&subject, method, mode);
            for factor in [1.0, 3.0, 0.05] {
                let motion = affine(
                    &(turn.into_inner() * factor),
                    &(Vec64::new(0.3, 0.1, -2.0) * factor),
                );
                let world: Vec<Affine> = rest.iter().map(|joint| motion * joint).collect();
                advance(&mut actor, &world);
                for (now, file) in actor.normals().iter().zip(&tilted) {
                    let expected = turn.cast::<f32>() * file;
                    let apart = (now - expected).norm();
                    // Edges of a twentieth of the size, in `f32`.
                    assert!(apart < 1e-4, "{method}, {mode}, {factor}: {apart}");
                }
            }
        }
    }
}

/// Collapsed joints, and vertices without a triangle with an area.
#[test]
fn normals_are_unit_vectors_where_the_surface_collapses() {
    let mut character = bar(12, 8);
    let mesh = &mut character.meshes[0];
    mesh.triangles.push([0, 0, 5]);
    mesh.triangles.truncate(mesh.triangles.len() - 12);
    let subject = subject(character);
    let rest = subject.character.skeleton.bind_transforms();
    for method in METHODS {
        let mut actor = bound(&subject, method, "exact");
        for diagonal in [[1.0, 0.0, 1.0], [1.0, 0.0, 0.0], [1e-20; 3], [1e12; 3]] {
            let flat = nalgebra::Matrix3::from_diagonal(&Vec64::from(diagonal));
            let mut pose = rest.clone();
            for joint in &mut pose {
                *joint = affine(&flat, &Vec64::zeros()) * *joint;
            }
            advance(&mut actor, &pose);
            for normal in actor.normals() {
                let off = (normal.norm() - 1.0).abs();
                assert!(off < 1e-5, "{method}, {diagonal:?}: {normal}");
            }
        }
    }
}
