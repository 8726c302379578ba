//! What lies around the simulation on the device is what the CPU has there: the base, every kind of upsampling, frames between two steps.
//! Needs an adapter (software Vulkan will do).

use std::sync::Arc;

use sinew::character::{BoneSettings, SimVertices};
use sinew::gpu::compute::{fetch, storage};
use sinew::gpu::surface::{BaseModel, Simulated, Surface, SurfaceError, SurfaceModel};
use sinew::math::{Affine, Point, Vec3};
use sinew::mesh::TriMesh;
use sinew::methods::recipe::{Blending, VertexSource};
use sinew::methods::{Reach, Recipe, Subject};
use sinew::progress::Progress;
use sinew::tissue::BaseFrame;
use sinew::upsample::{
    Directions, PlainUpsampling, Upsampling, UpsamplingKind, UpsamplingSettings,
};

use crate::common::drawn::{ball, renderer};
use crate::common::moved::{bent, worst};
use crate::common::on_bones::on_bones;
use crate::surfaces::{Input, POSITION_TOL, assert_agrees, output, some_rows, submit, upload_rows};

/// A character whose bones twist, stretch and hold.
fn subject(name: &str) -> Subject {
    let mut character = sinew::io::builtin::load_builtin(name).expect("built in");
    character.flesh.sim_vertices = SimVertices::About(600);
    for joint in 0..character.skeleton.len() {
        let settings = BoneSettings {
            twist: joint % 2 == 1,
            held: joint % 5 == 4,
            ..BoneSettings::default()
        };
        character.flesh.bones.insert(joint, settings);
    }
    Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds")
}

/// Joints that turn, and are further from each other than in the bind pose.
fn stretched(subject: &Subject, amount: f64) -> Vec<Affine> {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    for local in &mut pose.locals {
        local.translation *= 1.0 + 0.3 * amount;
    }
    let apart = skeleton.world_from_joint(&pose);
    // Turned where they are.
    apart
        .iter()
        .zip(bent(subject, amount))
        .map(|(apart, turned)| {
            let mut world = turned;
            for row in 0..3 {
                world.matrix_mut_unchecked()[(row, 3)] = apart.matrix()[(row, 3)];
            }
            world
        })
        .collect()
}

#[test]
fn the_base_agrees_with_the_cpu() {
    let Some(renderer) = renderer() else { return };
    let gpu = renderer.gpu();
    for name in ["cylinder", "arm", "gecko", "mannequin"] {
        let subject = subject(name);
        let anchors = &subject.flesh().expect("has flesh").tissue.anchors;
        let model = BaseModel::new(gpu, anchors).expect("fits the device");
        let (instances, steps, stride) = (2, 2, model.stride());
        let points = storage::<[f32; 4]>(gpu, "base", stride * instances);
        let mut base = model
            .on(gpu, &points, instances, steps)
            .expect("fits the device");
        let pose =
            |step: usize, instance: usize| stretched(&subject, 0.15 * (2 * step + instance) as f64);
        let mut frame = BaseFrame::default();
        for step in 0..steps {
            for instance in 0..instances {
                anchors.move_volumes(&pose(step, instance), &mut frame);
                base.set(step, instance, &frame);
            }
        }
        base.upload(gpu, steps);
        for step in 0..steps {
            submit(gpu, base.step(step));
            let out: Vec<[f32; 4]> = fetch(gpu, &points, stride * instances).expect("is read back");
            for instance in 0..instances {
                let mut expected = anchors.at_rest();
                anchors.place(&pose(step, instance), &mut frame, &mut expected);
                let own = &out[instance * stride..instance * stride + anchors.len()];
                let own: Vec<Point> = own.iter().map(|p| Point::new(p[0], p[1], p[2])).collect();
                let apart = worst(&own, &expected) / subject.size;
                assert!(
                    apart <= POSITION_TOL,
                    "{name}, step {step}, instance {instance}: {apart} of the size apart"
                );
            }
        }
        assert!(base.step(steps).is_none());
    }
}

/// A coarser ball.
fn coarse_ball() -> TriMesh {
    let fine = ball();
    let mut mesh = TriMesh::default();
    let (around, down, each) = (16_u32, 8_u32, 4_u32);
    for i in 0..=down {
        mesh.positions
            .extend((0..around).map(|j| fine.positions[(i * each * 64 + j * each) as usize]));
    }
    for i in 0..down {
        for j in 0..around {
            let (a, b) = (i * around + j, i * around + (j + 1) % around);
            mesh.triangles
                .extend([[a, a + around, b], [b, a + around, b + around]]);
        }
    }
    mesh
}

fn warped(p: &Point) -> Point {
    let (sin, cos) = (1.3 * p.y).sin_cos();
    Point::new(
        cos * p.x - sin * p.z + 0.2 * p.y * p.y,
        1.4 * p.y + 0.1 * p.x,
        sin * p.x + cos * p.z,
    ) + Vec3::new(3.0, -1.0, 0.5)
}

/// A recipe of nothing but an upsampling.
fn recipe(
    fine: &TriMesh,
    simulated: usize,
    plain: PlainUpsampling,
    directions: &Directions,
    normals: Vec<Vec3>,
) -> Recipe {
    let source = |direction: Option<(u32, [f32; 3])>| {
        direction.map_or(VertexSource::Still, |(vertex, normal)| {
            VertexSource::Flesh { vertex, normal }
        })
    };
    Recipe {
        positions: fine.positions.clone(),
        normals,
        sources: directions.plain().map(source).collect(),
        simulated,
        upsampling: Some(plain),
        bind: Vec::new(),
        palette: Vec::new(),
        influences: Vec::new(),
        blending: Blending::Linear,
        cloth: None,
        clusters: Vec::new(),
        blend_normals: None,
        normal_targets: Vec::new(),
        corners: Vec::new(),
        reach: Reach::default(),
    }
}

/// Moves a fine ball by a coarse one on both; `extra` vertices that nobody follows make names of rows long.
fn assert_kind(what: &str, coarse: &TriMesh, kind: UpsamplingKind, extra: usize) {
    let Some(renderer) = renderer() else { return };
    let fine = ball();
    let fine = if coarse.positions.len() == fine.positions.len() {
        coarse.clone()
    } else {
        fine
    };
    let upsampling = Upsampling::build(
        &fine,
        coarse,
        &UpsamplingSettings {
            kind,
            ..UpsamplingSettings::default()
        },
        &Progress::new(),
    )
    .expect("is built");
    let (mut frames, mut positions) = (upsampling.frames(), fine.positions.clone());
    upsampling.positions_into(&coarse.positions, &mut frames, &mut positions);
    let vertex_of: Vec<Option<u32>> = (0..fine.positions.len() as u32).map(Some).collect();
    let mut normals = fine.vertex_normals();
    let directions = Directions::normals(&frames, &vertex_of, &normals);
    let mut simulated: Vec<Point> = coarse.positions.iter().map(warped).collect();
    upsampling.positions_into(&simulated, &mut frames, &mut positions);
    directions.directions_into(&frames, &mut normals);
    simulated.resize(simulated.len() + extra, Point::origin());
    let recipe = recipe(
        &fine,
        simulated.len(),
        upsampling.plain(),
        &directions,
        fine.vertex_normals(),
    );
    let out = output(
        renderer.gpu(),
        recipe.clone(),
        &[Input {
            simulated: &simulated,
            world_from_joint: &[],
        }],
    );
    let device = (&*out.positions, &*out.normals);
    assert_agrees(
        what,
        &recipe,
        4.0,
        POSITION_TOL,
        device,
        (&positions, &normals),
    );
    let moved = worst(&positions, &fine.positions) > 1.0;
    assert_eq!(
        moved,
        !matches!(recipe.upsampling, Some(PlainUpsampling::Constant(_))),
        "{what}: all but what stands still moves"
    );
}

#[test]
fn every_kind_of_upsampling_agrees_with_the_cpu() {
    let coarse = coarse_ball();
    assert_kind("sums", &coarse, UpsamplingKind::MovingLeastSquares, 0);
    assert_kind(
        "sums over rows with long names",
        &coarse,
        UpsamplingKind::MovingLeastSquares,
        1 << 16,
    );
    assert_kind(
        "displacements",
        &coarse,
        UpsamplingKind::NormalDisplacement,
        0,
    );
    assert_kind("a copy", &ball(), UpsamplingKind::MovingLeastSquares, 0);
    let nothing = TriMesh {
        positions: vec![Point::new(f32::NAN, 0.0, 0.0); 3],
        triangles: Vec::new(),
    };
    assert_kind(
        "nothing to follow",
        &nothing,
        UpsamplingKind::MovingLeastSquares,
        0,
    );
}

/// Between two steps the skin goes on as its simulated vertices went.
#[test]
fn a_frame_between_steps_is_extrapolated() {
    let Some(renderer) = renderer() else { return };
    let gpu = renderer.gpu();
    let (fine, coarse) = (ball(), coarse_ball());
    let upsampling = Upsampling::build(
        &fine,
        &coarse,
        &UpsamplingSettings::default(),
        &Progress::new(),
    )
    .expect("is built");
    let (mut frames, mut positions) = (upsampling.frames(), fine.positions.clone());
    upsampling.positions_into(&coarse.positions, &mut frames, &mut positions);
    let vertex_of: Vec<Option<u32>> = (0..fine.positions.len() as u32).map(Some).collect();
    let directions = Directions::normals(&frames, &vertex_of, &fine.vertex_normals());
    let recipe = recipe(
        &fine,
        coarse.positions.len(),
        upsampling.plain(),
        &directions,
        fine.vertex_normals(),
    );
    let velocities: Vec<Point> = coarse
        .positions
        .iter()
        .map(|p| warped(p) - p)
        .map(Point::from)
        .collect();
    let secs = [0.25_f32, 0.0];
    let rows = some_rows(coarse.positions.len());
    let (at, stride) = upload_rows(gpu, &[&coarse.positions, &coarse.positions], &rows);
    let (speed, _) = upload_rows(gpu, &[&velocities, &velocities], &rows);
    let model =
        Arc::new(SurfaceModel::new(gpu, Arc::new(recipe.clone()), &rows).expect("fits the device"));
    let simulated = Simulated {
        positions: &at,
        velocities: Some(&speed),
        stride,
    };
    let mut surface = Surface::new(gpu, &model, Some(simulated), 2).expect("fits the device");
    assert_eq!(surface.dispatches().len(), 1, "nothing is ahead yet");
    surface.set_ahead(0, secs[0]);
    surface.upload(gpu);
    assert_eq!(surface.dispatches().len(), 2);
    submit(gpu, surface.dispatches());
    let (positions, normals) = surface.fetch(gpu).expect("is read back");
    let moved = secs.map(|secs| -> Vec<Point> {
        coarse
            .positions
            .iter()
            .zip(&velocities)
            .map(|(p, v)| p + v.coords * secs)
            .collect()
    });
    let inputs = [0, 1].map(|i| Input {
        simulated: &moved[i],
        world_from_joint: &[],
    });
    let expected = output(gpu, recipe.clone(), &inputs);
    let count = fine.positions.len();
    for own in [0..count, count..2 * count] {
        let device = (&positions[own.clone()], &normals[own.clone()]);
        assert_agrees(
            "ahead",
            &recipe,
            4.0,
            POSITION_TOL,
            device,
            (&expected.positions[own.clone()], &expected.normals[own]),
        );
    }
}

/// What does not fit together is said, not drawn.
#[test]
fn rows_of_another_character_are_rejected() {
    let Some(renderer) = renderer() else { return };
    let gpu = renderer.gpu();
    let (fine, coarse) = (ball(), coarse_ball());
    let upsampling = Upsampling::build(
        &fine,
        &coarse,
        &UpsamplingSettings::default(),
        &Progress::new(),
    )
    .expect("is built");
    let nobody = Directions::normals(
        &upsampling.frames(),
        &vec![None; fine.positions.len()],
        &fine.vertex_normals(),
    );
    let recipe = Arc::new(recipe(
        &fine,
        coarse.positions.len(),
        upsampling.plain(),
        &nobody,
        fine.vertex_normals(),
    ));
    let count = coarse.positions.len();
    let refused = |rows: &[u32]| {
        matches!(
            SurfaceModel::new(gpu, recipe.clone(), rows),
            Err(SurfaceError::Rows { .. })
        )
    };
    assert!(refused(&[]) && refused(&some_rows(count + 1)) && refused(&vec![count as u32; count]));
    let model = Arc::new(
        SurfaceModel::new(gpu, recipe.clone(), &some_rows(count)).expect("fits the device"),
    );
    let small = storage::<[f32; 4]>(gpu, "rows", count);
    let simulated = Simulated {
        positions: &small,
        velocities: None,
        stride: count,
    };
    assert!(Surface::new(gpu, &model, Some(simulated), 1).is_ok());
    assert!(matches!(
        Surface::new(gpu, &model, Some(simulated), 2),
        Err(SurfaceError::Rows { .. })
    ));
    assert!(matches!(
        Surface::new(gpu, &model, None, 1),
        Err(SurfaceError::Rows { .. })
    ));
}
