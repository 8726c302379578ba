use nalgebra::{Matrix3, Unit};

use super::binding::Binding;
use super::*;
use crate::character::{Character, SourceMesh};
use crate::math::{Affine, Point64, Quat, Vec64, affine, transform_point};
use crate::mesh::{SkinMesh, TriMesh};
use crate::methods::deformer::{Bent, Deformer, Skinning, sin_cos, swing_and_twist};
use crate::methods::lbs::LinearBlend;
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::weights::SkinWeights;
use crate::weights::elastic::tests::{bar_character, line_bar};
use crate::weights::elastic::{ElasticFields, JointFields, fields_of};
use crate::weights::voxel::{Transfer, VoxelBinding};

/// The bar of 48 × 81 vertices at h = 0.25.
struct Bar {
    character: Character,
    fields: ElasticFields,
    skin: SkinMesh,
}

fn character(mesh: &TriMesh, skeleton: &Skeleton) -> Character {
    Character {
        meshes: vec![SourceMesh::bare(
            "bar",
            mesh.positions.clone(),
            mesh.triangles.clone(),
        )],
        skeleton: skeleton.clone(),
        ..Character::default()
    }
}

impl Bar {
    /// With bones that are lines.
    fn new() -> Self {
        Self::with_bones(0.0)
    }

    /// With bones of this radius, as a part of the distance to the skin.
    fn with_bones(radius: f64) -> Self {
        let (mesh, skeleton) = bar_character();
        let character = character(&mesh, &skeleton);
        let skin = SkinMesh::weld(
            &mesh.positions,
            &mesh.triangles,
            &vec![true; mesh.positions.len()],
        );
        let progress = Progress::new();
        let binding = VoxelBinding::of(&skin.mesh, &skeleton, 40, radius, &progress).unwrap();
        let fields = fields_of(&binding, &skin.mesh, &skeleton, &progress).unwrap();
        Self {
            character,
            fields,
            skin,
        }
    }

    /// With the bones, cells and fields of the prototype: one joint, no blending of deformers.
    fn of_prototype() -> Self {
        let mut bar = Self::new();
        let (domain, [swing, twist]) = line_bar();
        // The prototype's bar is along z, this one along y.
        let turned: Vec<Point> = bar
            .skin
            .mesh
            .positions
            .iter()
            .map(|p| Point::new(p.z, p.x, p.y))
            .collect();
        let transfer = Transfer::to(&turned, &domain);
        bar.fields.offsets = (0..=turned.len() as u32).collect();
        let at = |vertex: usize, field: &[f64]| -> f32 {
            let parts = transfer.of(vertex);
            parts.map(|(node, part)| part * field[node]).sum::<f64>() as f32
        };
        bar.fields.entries = (0..turned.len())
            .map(|vertex| JointFields {
                joint: 1,
                blend: 1.0,
                swing: at(vertex, &swing),
                twist: at(vertex, &twist),
            })
            .collect();
        let weights = bar
            .fields
            .entries
            .iter()
            .map(|own| [(0, 1.0 - own.swing), (1, own.swing)]);
        bar.fields.weights = SkinWeights::from_rows(weights.collect::<Vec<_>>()).0;
        bar
    }

    fn method(&self) -> SwingTwist {
        let skin_from_source = &self.skin.skin_from_source;
        SwingTwist::of(Binding::of(&self.character, skin_from_source, &self.fields))
    }

    /// Linear blending by the elastic weights.
    fn linear(&self) -> LinearBlend {
        let row = |skin: &Option<u32>| self.fields.weights.row(skin.unwrap() as usize);
        let rows = self.skin.skin_from_source.iter().map(row);
        let weights = SkinWeights::from_rows(rows).0;
        LinearBlend::bind(&self.character, &[Some(weights)])
    }

    /// Joint transforms with the upper joint turned.
    fn pose(&self, turn: Quat) -> Vec<Affine> {
        let mut pose = self.character.skeleton.rest_pose();
        pose.locals[1].rotation *= turn;
        self.character.skeleton.world_from_joint(&pose)
    }

    fn volume(&self, positions: &[Point]) -> f64 {
        let of = |&[a, b, c]: &[u32; 3]| {
            let [a, b, c] = [a, b, c].map(|v| positions[v as usize].coords.cast::<f64>());
            a.dot(&b.cross(&c)) / 6.0
        };
        self.character.meshes[0].triangles.iter().map(of).sum()
    }

    /// Change of the volume, and of the perimeter of the ring round the joint.
    fn changes(&self, skinner: &mut dyn Skinner, turn: Quat) -> [f64; 2] {
        let moved = skin(skinner, &self.pose(turn));
        let rest = &self.character.meshes[0].positions;
        [
            self.volume(&moved) / self.volume(rest) - 1.0,
            girth(&moved) / girth(rest) - 1.0,
        ]
    }
}

fn girth(positions: &[Point]) -> f64 {
    let ring = &positions[40 * 48..41 * 48];
    (0..48)
        .map(|k| f64::from((ring[k] - ring[(k + 1) % 48]).norm()))
        .sum()
}

fn skin(skinner: &mut dyn Skinner, world: &[Affine]) -> Vec<Point> {
    let mut out = vec![Point::new(f32::NAN, f32::NAN, f32::NAN); 81 * 48 + 2];
    let frame = Frame {
        world_from_joint: world,
        dt_secs: 0.0,
    };
    skinner.skin(&frame, &mut out).unwrap();
    out
}

fn worst(a: &[Point], b: &[Point]) -> f32 {
    let distances = a.iter().zip(b).map(|(a, b)| (a - b).norm());
    distances.max_by(f32::total_cmp).unwrap()
}

fn bend(degrees: f64) -> Quat {
    Quat::from_axis_angle(&Vec64::x_axis(), degrees.to_radians())
}

fn twist(degrees: f64) -> Quat {
    Quat::from_axis_angle(&Vec64::y_axis(), degrees.to_radians())
}

#[test]
fn a_bar_bends_and_twists_as_in_the_prototype() {
    let bar = Bar::of_prototype();
    let mut method = bar.method();
    let cases = [
        (bend(90.0), -0.046, -0.140),
        (bend(90.0) * twist(90.0), -0.047, -0.140),
        (twist(90.0), -0.001, 0.0),
        (twist(170.0), -0.002, 0.0),
    ];
    for (turn, volume, girth) in cases {
        let changes = bar.changes(&mut method, turn);
        println!("{changes:.4?}, prototype {volume} {girth}");
        assert!((changes[0] - volume).abs() < 0.007, "{changes:?}");
        assert!((changes[1] - girth).abs() < 0.005, "{changes:?}");
    }
    // What it improves on.
    let lbs = bar.changes(&mut bar.linear(), twist(90.0));
    assert!(lbs[1] < -0.25, "{lbs:?}");
}

#[test]
fn bends_do_not_bulge() {
    let bar = Bar::of_prototype();
    let world = bar.pose(bend(90.0));
    let posed = skin(&mut bar.method(), &world);
    let linear = skin(&mut bar.linear(), &world);
    let farthest = |positions: &[Point]| {
        let distances = positions[30 * 48..51 * 48].iter().map(|p| p.coords.norm());
        distances.fold(0.0, f32::max)
    };
    assert!(farthest(&posed) <= 1.01 * farthest(&linear));
    assert!(worst(&posed, &linear) < 1e-4, "a bend is linear blending");
}

#[test]
fn rest_is_rest_and_bones_are_rigid() {
    let bar = Bar::with_bones(0.5);
    let mut method = bar.method();
    let rest = bar.character.meshes[0].positions.clone();
    assert!(worst(&skin(&mut method, &bar.pose(Quat::identity())), &rest) < 1e-6 * 10.0);
    let world = bar.pose(bend(70.0) * twist(60.0));
    let moved = skin(&mut method, &world);
    let bind = bar.character.skeleton.bind_transforms();
    let mut rigid = [0; 2];
    for (vertex, at) in rest.iter().enumerate() {
        let own = bar.fields.of(vertex).iter().find(|own| own.joint == 1);
        let [s, t] = own.map_or([0.0; 2], |own| [own.swing, own.twist]);
        let joint = usize::from(s.min(t) > 0.5);
        let is_rigid = if joint == 1 {
            s.min(t) > 0.99
        } else {
            s.max(t) < 0.01
        };
        if is_rigid {
            rigid[joint] += 1;
            let expected = transform_point(&(world[joint] * bind[joint].inverse()), at);
            let off = (moved[vertex] - expected).norm();
            // 1 % of what a twist of 1.05 rad moves the skin by, and of what the swing moves the vertex by.
            let limit = 0.011
                + if s > 0.0 && s < 1.0 {
                    0.012 * at.coords.norm()
                } else {
                    0.0
                };
            assert!(off < limit, "vertex {vertex}: {off}");
        }
    }
    assert!(rigid[0] > 1000 && rigid[1] > 1000, "{rigid:?}");
}

#[test]
fn trivial_deformers_are_linear_blending() {
    let mut bar = Bar::new();
    for own in &mut bar.fields.entries {
        (own.swing, own.twist) = (1.0, 1.0);
    }
    let rows = (0..bar.fields.weights.len()).map(|vertex| {
        let own = bar.fields.of(vertex).iter();
        own.map(|own| (own.joint, own.blend)).collect::<Vec<_>>()
    });
    bar.fields.weights = SkinWeights::from_rows(rows.collect::<Vec<_>>()).0;
    let world = bar.pose(bend(80.0) * twist(30.0));
    let (ours, linear) = (
        skin(&mut bar.method(), &world),
        skin(&mut bar.linear(), &world),
    );
    assert!(worst(&ours, &linear) < 1e-6 * 10.0);
}

/// A joint with parent, both somewhere, turned, moved, stretched.
fn somewhere() -> (Deformer, [Skinning; 2], [Affine; 2]) {
    let turn = |angle: f64, axis: [f64; 3]| {
        Quat::from_axis_angle(&Unit::new_normalize(axis.into()), angle)
            .to_rotation_matrix()
            .into_inner()
    };
    let stretch = Matrix3::new(1.2, 0.1, 0.0, 0.1, 0.8, 0.05, 0.0, 0.05, 1.1);
    let parent = affine(
        &(turn(0.9, [1.0, 2.0, -1.0]) * stretch * 1.7),
        &Vec64::new(1.0, 2.0, 3.0),
    );
    let own = affine(
        &(turn(2.8, [0.3, 1.0, 0.4]) * stretch),
        &Vec64::new(0.2, -0.1, 0.3),
    );
    let deformer = Deformer {
        joint: 1,
        parent: 0,
        pivot: Point64::new(0.5, 0.2, -0.4),
        axis: Vec64::new(0.6, 0.0, 0.8),
    };
    let motions = [parent, parent * own];
    let skinning = motions.map(|motion| Skinning::of(&motion, &Affine::identity()));
    (deformer, skinning, motions)
}

fn point_of([x, y, z, _]: [f32; 4]) -> Point {
    Point::new(x, y, z)
}

#[test]
fn sines_are_those_of_the_library() {
    for step in -1000..=1000_i16 {
        let angle = f32::from(step) / 1000.0 * std::f32::consts::PI;
        let (sin, cos) = angle.sin_cos();
        let own = sin_cos(angle);
        assert!(
            (own[0] - sin).abs() < 3e-7 && (own[1] - cos).abs() < 3e-7,
            "{angle}"
        );
    }
    assert_eq!(sin_cos(0.0), [0.0, 1.0]);
}

/// Motions without stretch and with a small one take different ways to the same result.
#[test]
fn plain_and_general_deformers_agree() {
    let (deformer, _, _) = somewhere();
    let turn = Quat::from_euler_angles(0.9, 0.5, -0.4);
    let motion = |stretch: f64| {
        let linear = turn.to_rotation_matrix().into_inner() * (1.0 + stretch);
        affine(&linear, &Vec64::new(0.2, -0.1, 0.3))
    };
    let parent = affine(
        &Matrix3::new(0.0, -1.0, 0.0, 1.0, 0.0, 0.0, 0.0, 0.0, 1.0),
        &Vec64::new(1.0, 2.0, 3.0),
    );
    let [plain, general] = [0.0, 2e-6].map(|stretch| {
        [parent, parent * motion(stretch)].map(|motion| Skinning::of(&motion, &Affine::identity()))
    });
    let point = Point::new(0.7, -0.3, 1.1);
    for (s, t) in [(0.0, 0.3), (0.3, 0.8), (0.9, 0.1), (1.0, 1.0)] {
        let at = [&plain, &general]
            .map(|own| point_of(deformer.posed(own).apply(&point, &bent(s, t), own)));
        assert!((at[0] - at[1]).norm() < 2e-5, "{at:?}");
    }
}

fn bent(s: f32, t: f32) -> Bent {
    Bent {
        deformer: 0,
        blend: 1.0,
        swing: s,
        twist: t,
    }
}

#[test]
fn the_ends_of_the_fields_are_the_motions_of_parent_and_joint() {
    let (deformer, mut skinning, motions) = somewhere();
    let point = Point::new(0.7, -0.3, 1.1);
    let check = |skinning: &[Skinning], motions: &[Affine; 2]| {
        let posed = deformer.posed(skinning);
        for (value, motion) in [0.0, 1.0].into_iter().zip(motions) {
            let at = point_of(posed.apply(&point, &bent(value, value), skinning));
            let expected = transform_point(motion, &point);
            assert!((at - expected).norm() < 1e-5, "{at} instead of {expected}");
        }
        let between = posed.apply(&point, &bent(0.4, 0.6), skinning);
        assert!(between.iter().all(|c| c.is_finite()));
    };
    check(&skinning, &motions);
    // A parent of scale 0, and a joint that reflects.
    let flat = affine(&Matrix3::zeros(), &Vec64::new(1.0, 0.0, 0.0));
    let reflected = motions[0]
        * affine(
            &Matrix3::from_diagonal(&Vec64::new(-1.0, 1.0, 1.0)),
            &Vec64::zeros(),
        );
    for motions in [[flat, motions[1]], [motions[0], reflected]] {
        skinning = motions.map(|motion| Skinning::of(&motion, &Affine::identity()));
        check(&skinning, &motions);
    }
}

#[test]
fn swing_times_twist_is_the_rotation() {
    let z = Vec64::new(0.36, 0.48, 0.8);
    for step in 0..60 {
        let k = f64::from(step);
        let axis = Unit::new_normalize(Vec64::new(k.sin(), (2.0 * k).cos(), (0.7 * k).sin()));
        let rotation = Quat::from_axis_angle(&axis, 0.3 * k);
        let (swing, angle) = swing_and_twist(&rotation, &z);
        assert!(swing.imag().dot(&z).abs() < 1e-9);
        assert!(angle > -std::f64::consts::PI && angle <= std::f64::consts::PI);
        let product = swing * Quat::from_axis_angle(&Unit::new_normalize(z), angle);
        assert!(product.angle_to(&rotation) < 1e-7);
    }
    // Half a turn about an axis across z has no twist.
    let across = Unit::new_normalize(z.cross(&Vec64::x()));
    let (_, angle) = swing_and_twist(&Quat::from_axis_angle(&across, std::f64::consts::PI), &z);
    assert_eq!(angle, 0.0);
}

#[test]
fn half_turns_are_finite() {
    let bar = Bar::new();
    let mut method = bar.method();
    for turn in [
        bend(180.0),
        twist(180.0),
        bend(-180.0),
        bend(150.0) * twist(179.9),
    ] {
        let moved = skin(&mut method, &bar.pose(turn));
        assert!(moved.iter().all(|p| p.iter().all(|c| c.is_finite())));
    }
    // Beyond 120° the ring keeps what linear blending loses.
    let [ours, linear] = [
        bar.changes(&mut bar.method(), bend(150.0))[0],
        bar.changes(&mut bar.linear(), bend(150.0))[0],
    ];
    assert!(ours > linear, "{ours} and {linear}");
}

#[test]
fn scaled_characters_scale() {
    let bar = Bar::new();
    let world = bar.pose(bend(50.0));
    let straight = skin(&mut bar.method(), &world);
    for factor in [0.01, 100.0] {
        let scale: Affine = affine(&(Matrix3::identity() * factor), &Vec64::zeros());
        let scaled: Vec<Affine> = world.iter().map(|world| scale * world).collect();
        let moved = skin(&mut bar.method(), &scaled);
        let expected: Vec<Point> = straight.iter().map(|p| p * factor as f32).collect();
        assert!(worst(&moved, &expected) < 1e-5 * factor as f32 * 10.0);
    }
}
