mod by_edges;
mod derivatives;

use super::*;
use crate::character::{Attachment, Character, SourceMesh};
use crate::math::{Affine, Vec64, affine};
use crate::mesh::shapes::ball;
use crate::mesh::{TriMesh, vertex_normals_into};
use crate::methods::MethodId;
use crate::methods::test_bar::{
    advance, bar, bound, normals, ramp, skeleton, skinned, subject, surface, turned,
};
use crate::weights::SkinWeights;

const METHODS: [MethodId; 3] = [MethodId::LBS, MethodId::DQS, MethodId::COR];

/// How exact normals of a method are that one motion of the whole moves: those from edges of a tenth of the size are as exact as differences
/// of `f32` positions.
fn rounding(method: MethodId) -> f32 {
    if method == MethodId::COR { 2e-5 } else { 1e-6 }
}

fn angle(a: &Vec3, b: &Vec3) -> f64 {
    let (a, b) = (a.cast::<f64>(), b.cast::<f64>());
    a.cross(&b).norm().atan2(a.dot(&b)).to_degrees()
}

/// Mean angle between a method's normals on the side of a bar, up to `reach` from the joint, and those of the same bar tessellated eight
/// times as finely, deformed by the same method.
fn error_degrees(method: MethodId, mode: &str, (axis, degrees): (Vec64, f64), reach: f32) -> f64 {
    let (coarse, fine) = (subject(bar(80, 48)), subject(bar(640, 384)));
    let pose = turned(&coarse, axis, degrees.to_radians());
    let mut actor = bound(&coarse, method, mode);
    advance(&mut actor, &pose);
    let mut reference = bound(&fine, method, "triangles");
    advance(&mut reference, &pose);
    let mut exact = vec![Vec3::zeros(); fine.bind_positions.len()];
    vertex_normals_into(
        reference.positions(),
        &fine.character.triangles(),
        &mut exact,
    );
    let (mut sum, mut count) = (0.0, 0);
    for ring in 0..=80_usize {
        let y = coarse.bind_positions[ring * 48].y;
        if y.abs() < reach {
            for sector in 0..48 {
                let own = &actor.normals()[ring * 48 + sector];
                sum += angle(own, &exact[8 * ring * 384 + 8 * sector]);
                count += 1;
            }
        }
    }
    sum / f64::from(count)
}

#[test]
fn exact_normals_are_those_of_the_deformed_surface() {
    for method in METHODS {
        for (what, axis, degrees) in [
            ("bend", Vec64::z(), 90.0),
            ("twist", Vec64::y(), 90.0),
            ("both", Vec64::new(0.3, 0.6, 1.0), 110.0),
        ] {
            // Where weights vary.
            let [exact, blended] =
                ["exact", "blended"].map(|mode| error_degrees(method, mode, (axis, degrees), 1.6));
            println!("{method} {what}: exact {exact:.2}°, blended {blended:.2}°");
            assert!(exact < 0.6, "{method}, {what}: {exact}");
            if what == "twist" && method != MethodId::LBS {
                // Every ring is turned about its own centre, the normals with it.
                assert!(blended < 0.6, "{method}, {what}: {blended}");
            } else {
                assert!(blended > 10.0 * exact, "{method}, {what}: {blended}");
            }
        }
    }
}

/// Of the bar with elastic weights, 0.3° and 6.0° were measured; this ramp of weights is smoother and about as wide.
#[test]
fn the_table_of_a_bend_is_met() {
    let mean = |mode| error_degrees(MethodId::LBS, mode, (Vec64::z(), 90.0), 4.9);
    let [exact, blended] = ["exact", "blended"].map(mean);
    println!("whole bar: exact {exact:.3}°, blended {blended:.2}°");
    assert!(exact < 0.5, "{exact}");
    assert!((blended - 6.0).abs() < 1.5, "{blended}");
}

fn scaled(factor: f64) -> Affine {
    affine(&(nalgebra::Matrix3::identity() * factor), &Vec64::zeros())
}

#[test]
fn rest_keeps_the_files_normals_and_scale_changes_nothing() {
    for method in METHODS {
        let subject = subject(bar(40, 24));
        let file = normals(&surface(40, 24));
        for mode in ["exact", "blended"] {
            let mut actor = bound(&subject, method, mode);
            let rest = subject.character.skeleton.bind_transforms();
            for factor in [1.0, 3.0, 1e-4, 1e4] {
                let world: Vec<Affine> = rest.iter().map(|joint| scaled(factor) * joint).collect();
                advance(&mut actor, &world);
                for (now, file) in actor.normals().iter().zip(&file) {
                    assert!(
                        (now - file).norm() < rounding(method),
                        "{method}, {mode}: {now} {file}"
                    );
                }
            }
            let bent = turned(&subject, Vec64::new(0.1, 0.4, 1.0), 1.1);
            advance(&mut actor, &bent);
            let before = actor.normals().to_vec();
            let larger: Vec<Affine> = bent.iter().map(|joint| scaled(3.0) * joint).collect();
            advance(&mut actor, &larger);
            for (now, before) in actor.normals().iter().zip(&before) {
                let tolerance = 2e-5_f32.max(2.0 * rounding(method));
                assert!((now - before).norm() < tolerance, "{method}, {mode}");
            }
        }
    }
}

/// A ball on one joint that is scaled, sheared or mirrored.
#[test]
fn a_scaled_ball_has_the_normals_of_an_ellipsoid() {
    let mesh = ball(Point::origin(), 1.0, 24, 32);
    let file: Vec<Vec3> = mesh.positions.iter().map(|p| p.coords).collect();
    let skeleton = skeleton(&[0.0, 1.0]);
    let weights = SkinWeights::from_rows(mesh.positions.iter().map(|_| [(0, 0.75), (1, 0.25)])).0;
    let character = Character {
        meshes: vec![skinned(mesh.clone(), Some(file), &skeleton, weights)],
        skeleton,
        ..Character::default()
    };
    let subject = subject(character);
    let rest = subject.character.skeleton.bind_transforms();
    for (scale, sign) in [
        (Vec64::new(3.0, 0.5, 1.0), 1.0),
        (Vec64::new(-2.0, 1.0, 0.3), -1.0),
    ] {
        let motion = affine(
            &nalgebra::Matrix3::from_diagonal(&scale),
            &Vec64::new(5.0, 0.0, 1.0),
        );
        let world: Vec<Affine> = rest.iter().map(|joint| motion * joint).collect();
        for method in METHODS {
            for mode in ["exact", "blended"] {
                let mut actor = bound(&subject, method, mode);
                advance(&mut actor, &world);
                for (now, p) in actor.normals().iter().zip(&mesh.positions) {
                    let outside = p.coords.cast::<f64>().component_div(&scale).normalize();
                    let apart = (now.cast::<f64>() - outside * sign).norm();
                    assert!(
                        apart < f64::from(rounding(method)),
                        "{method}, {mode}, {scale}: {apart}"
                    );
                }
                // As the triangles are oriented.
                let mut of_triangles = vec![Vec3::zeros(); mesh.positions.len()];
                vertex_normals_into(actor.positions(), &mesh.triangles, &mut of_triangles);
                for (now, triangles) in actor.normals().iter().zip(&of_triangles) {
                    assert!(now.dot(triangles) > 0.5);
                }
            }
        }
    }
}

/// A square bar with split vertices along its edges and a seam across one face.
fn hard_edges() -> Character {
    let mut mesh = TriMesh::default();
    let mut file = Vec::new();
    let rows = 60_u32;
    for face in 0..4 {
        let turn = nalgebra::Rotation3::from_axis_angle(
            &Vec3::y_axis(),
            std::f32::consts::FRAC_PI_2 * face as f32,
        );
        // Each face of two strips that share no vertices.
        for strip in [[-1.0_f32, 0.0], [0.0, 1.0]] {
            let first = mesh.positions.len() as u32;
            for row in 0..=rows {
                let y = 10.0 * (row as f32 / rows as f32 - 0.5);
                for x in strip {
                    mesh.positions.push(turn * Point::new(x, y, 1.0));
                    file.push(turn * Vec3::z());
                }
            }
            for row in 0..rows {
                let a = first + 2 * row;
                mesh.triangles
                    .extend([[a, a + 1, a + 2], [a + 1, a + 3, a + 2]]);
            }
        }
    }
    let skeleton = skeleton(&[-5.0, 0.0]);
    let rows = mesh
        .positions
        .iter()
        .map(|p| [(0, 1.0 - ramp(p.y)), (1, ramp(p.y))]);
    let weights = SkinWeights::from_rows(rows).0;
    Character {
        meshes: vec![skinned(mesh, Some(file), &skeleton, weights)],
        skeleton,
        ..Character::default()
    }
}

#[test]
fn hard_edges_stay_hard_and_seams_do_not_show() {
    let subject = subject(hard_edges());
    let strip = 2 * 61;
    for method in METHODS {
        let mut actor = bound(&subject, method, "exact");
        advance(&mut actor, &turned(&subject, Vec64::x(), 1.2));
        let normals = actor.normals();
        for row in 0..=60_usize {
            for face in 0..4_usize {
                let at = |strip_index: usize, side: usize| {
                    &normals[(strip_index % 8) * strip + 2 * row + side]
                };
                // The two strips of a face meet in its middle.
                let seam = (at(2 * face, 1) - at(2 * face + 1, 0)).norm();
                assert!(seam < 1e-5, "{method}: {seam}");
                // Faces stay at right angles where the bar bends about their common edge's axis or not at all.
                let edge = angle(at(2 * face + 1, 1), at(2 * face + 2, 0));
                assert!(edge > 45.0, "{method}, row {row}, face {face}: {edge}°");
            }
        }
    }
}

#[test]
fn hopeless_vertices_fall_back() {
    // An isolated vertex, one in a triangle without area, one with NaN, and two joints that turn a normal into opposite directions.
    let skeleton = skeleton(&[0.0, 0.0]);
    let at = |x: f32| Point::new(x, 1.0, 0.0);
    let mesh = TriMesh {
        positions: vec![
            at(0.0),
            at(1.0),
            at(2.0),
            Point::new(f32::NAN, 0.0, 0.0),
            at(5.0),
            at(6.0),
        ],
        triangles: vec![[0, 1, 2], [0, 1, 3]],
    };
    let rows = [[(0, 0.6), (1, 0.4)], [(0, 0.5), (1, 0.5)]];
    let weights = SkinWeights::from_rows((0..6).map(|v| rows[usize::from(v == 5)])).0;
    let file = vec![Vec3::y(); 6];
    let character = Character {
        meshes: vec![skinned(mesh, Some(file), &skeleton, weights)],
        skeleton,
        ..Character::default()
    };
    let subject = subject(character);
    for method in METHODS {
        for mode in ["exact", "blended"] {
            let mut actor = bound(&subject, method, mode);
            for degrees in [0.0_f64, 90.0, 180.0] {
                advance(
                    &mut actor,
                    &turned(&subject, Vec64::z(), degrees.to_radians()),
                );
                for normal in actor.normals() {
                    assert!(
                        (normal.norm() - 1.0).abs() < 1e-5,
                        "{method}, {mode}: {normal}"
                    );
                }
            }
            if method == MethodId::LBS {
                // Half and half of +y and −y: the first joint's.
                assert!((actor.normals()[5] - Vec3::y()).norm() < 1e-5);
            }
        }
    }
}

#[test]
fn the_choice_can_be_changed_and_other_meshes_are_moved() {
    let mut character = bar(40, 24);
    let [prop, stone] = [4.0, 8.0].map(|y| ball(Point::new(0.0, y, 2.0), 0.5, 8, 12));
    let joint_from_mesh = character.skeleton.bind_transforms()[1]
        .try_inverse()
        .unwrap();
    let of = |name: &str, mesh: &TriMesh, attachment| SourceMesh {
        attachment,
        ..SourceMesh::bare(name, mesh.positions.clone(), mesh.triangles.clone())
    };
    let world_from_mesh = Affine::identity();
    character.meshes.push(of(
        "prop",
        &prop,
        Attachment::Rigid {
            joint: 1,
            joint_from_mesh,
        },
    ));
    character
        .meshes
        .push(of("stone", &stone, Attachment::Static { world_from_mesh }));
    let subject = subject(character);
    let pose = turned(&subject, Vec64::z(), 1.0);
    for method in METHODS {
        let mut of_triangles = bound(&subject, method, "triangles");
        advance(&mut of_triangles, &pose);
        let mut exact = bound(&subject, method, "exact");
        advance(&mut exact, &pose);
        assert!(exact.positions() == of_triangles.positions());
        let props = subject.bind_positions.len() - 2 * prop.positions.len()..;
        for (a, b) in exact.normals()[props.clone()]
            .iter()
            .zip(&of_triangles.normals()[props])
        {
            assert!((a - b).norm() < 1e-5, "{method}");
        }
        let mut values = ParamValues::default();
        for mode in ["exact", "triangles"] {
            values
                .set_text(method.descriptor().params, "normals", mode)
                .unwrap();
            of_triangles.set_values(&values).unwrap();
            advance(&mut of_triangles, &pose);
            let mut again = bound(&subject, method, mode);
            advance(&mut again, &pose);
            assert!(
                of_triangles.normals() == again.normals(),
                "{method}, {mode}"
            );
        }
    }
}

#[test]
fn normals_against_the_triangles_are_turned_around() {
    let mut character = bar(40, 24);
    let file = character.meshes[0].normals.as_mut().unwrap();
    for normal in file {
        *normal = -*normal;
    }
    let subject = subject(character);
    let mut actor = bound(&subject, MethodId::LBS, "exact");
    advance(&mut actor, &subject.character.skeleton.bind_transforms());
    for (now, outside) in actor.normals().iter().zip(normals(&surface(40, 24))) {
        assert!((now - outside).norm() < 1e-6);
    }
}

/// A mesh in another space than the world, with a mirrored and scaled bind transform, has the normals of the same mesh in world space.
#[test]
fn the_space_of_a_mesh_does_not_matter() {
    let plain = bar(40, 24);
    let mut other = plain.clone();
    let world_from_mesh = affine(
        &nalgebra::Matrix3::new(-2.0, 0.0, 0.0, 0.0, 0.0, 3.0, 0.0, 0.5, 0.0),
        &Vec64::new(0.3, -0.1, 0.2),
    );
    let back = world_from_mesh.try_inverse().unwrap();
    let mesh = &mut other.meshes[0];
    mesh.normals = None;
    for position in &mut mesh.positions {
        *position = crate::math::transform_point(&back, position);
    }
    if let Attachment::Skinned {
        joint_from_mesh, ..
    } = &mut mesh.attachment
    {
        for joint in joint_from_mesh {
            *joint *= world_from_mesh;
        }
    }
    let mut bare = plain;
    bare.meshes[0].normals = None;
    let (plain, other) = (subject(bare), subject(other));
    let pose = turned(&plain, Vec64::new(0.2, 0.6, 1.0), 1.0);
    {
        let method = MethodId::LBS;
        let actors = [&plain, &other].map(|subject| {
            let mut actor = bound(subject, method, "exact");
            advance(&mut actor, &pose);
            actor
        });
        for (a, b) in actors[0].normals().iter().zip(actors[1].normals()) {
            assert!((a - b).norm() < 1e-4, "{method}: {a} {b}");
        }
    }
}
