//! Sheets of methods: how their camera stands.

use std::sync::Arc;

use image::RgbaImage;
use sinew::character::{Character, SourceMesh};
use sinew::math::{Point, Turn};
use sinew::methods::{MethodId, StepTimes, Subject};
use sinew::progress::Progress;
use sinew::render::{Look, NamedView, Projection};
use sinew::studio::{Shape, SheetDrawing, SheetSettings, SheetState, Snapshot};

use crate::common::drawn::renderer;

/// A tower on the ground, seen nowhere alike: its top is narrower and shifted to a corner. +Y is up, unless `turned` by a quarter
/// turn about +X: then +Z is.
fn tower(turned: bool) -> Arc<Subject> {
    tower_by(
        turned.then_some(|p: Point| Point::new(p.x, -p.z, p.y)),
        false,
    )
}

/// The tower with all vertices moved; `faces_negative_z` as its file says.
fn tower_by(turn: Option<fn(Point) -> Point>, faces_negative_z: bool) -> Arc<Subject> {
    let level = |y: f32, at: f32, side: f32| {
        [[-side, -side], [side, -side], [side, side], [-side, side]]
            .map(|[x, z]| Point::new(x + at, y, z + at))
    };
    let mut positions = [level(0.0, 0.0, 0.4), level(2.0, 0.15, 0.2)].concat();
    if let Some(turn) = turn {
        for p in &mut positions {
            *p = turn(*p);
        }
    }
    let triangles = vec![
        [0, 1, 2],
        [0, 2, 3],
        [4, 6, 5],
        [4, 7, 6],
        [0, 4, 5],
        [0, 5, 1],
        [1, 5, 6],
        [1, 6, 2],
        [2, 6, 7],
        [2, 7, 3],
        [3, 7, 4],
        [3, 4, 0],
    ];
    let mut character = Character {
        faces_negative_z,
        ..Character::default()
    };
    character
        .meshes
        .push(SourceMesh::bare("tower", positions, triangles));
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("a tower"))
}

fn state_of(subject: &Arc<Subject>) -> SheetState {
    let positions = subject.bind_positions.to_vec();
    let normals = subject.skin.mesh.vertex_normals();
    let snapshot = Snapshot {
        sequence: 1,
        subject: subject.clone(),
        method: MethodId::from_id("rigid").expect("a registered method"),
        shape: Shape::new(positions, normals, Vec::new()),
        world_from_joint: Vec::new(),
        time_secs: None,
        times: StepTimes::default(),
        contact: None,
        contacts: Vec::new(),
        velocities: Vec::new(),
        explained: None,
        body_field: None,
    };
    SheetState {
        snapshot: Arc::new(snapshot),
        ghosts: None,
    }
}

/// A sheet of one picture; `None` without an adapter.
fn sheet(subject: &Arc<Subject>, view: NamedView, stage: Turn) -> Option<RgbaImage> {
    let settings = SheetSettings {
        size: Some([160, 160]),
        look: Look::default(),
        compare: None,
        max_mm: None,
        joint: None,
        marks: Arc::default(),
        camera: None,
        view,
        projection: Projection::Perspective,
        world_from_stage: stage,
        focus: None,
        zoom: 1.0,
    };
    let mut drawing = SheetDrawing::new(renderer()?.gpu(), settings, 1).expect("a small sheet");
    drawing.frame(&subject.bind_positions);
    Some(drawing.draw(&[state_of(subject)]).expect("a picture"))
}

/// Share of the pixels that clearly differ.
fn difference(a: &RgbaImage, b: &RgbaImage) -> f64 {
    let differs = |(a, b): (&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 16)
    };
    let count = a
        .pixels()
        .zip(b.pixels())
        .filter(|&pair| differs(pair))
        .count();
    count as f64 / f64::from(a.width() * a.height())
}

#[test]
fn a_character_of_a_z_up_file_stands_upright() {
    let (standing, turned) = (tower(false), tower(true));
    let [up, turned_up] = [&standing, &turned].map(|subject| subject.up_axis());
    assert_eq!((up.name(), turned_up.name()), ("+Y".into(), "+Z".into()));
    for view in [NamedView::Front, NamedView::Right, NamedView::ThreeQuarter] {
        let Some(expected) = sheet(&standing, view, standing.world_from_stage()) else {
            return;
        };
        let actual = sheet(&turned, view, turned.world_from_stage()).expect("the same adapter");
        // The same picture, floor and shadow included, up to rounding at edges.
        let off = difference(&expected, &actual);
        assert!(off < 0.005, "{view:?}: {off}");
        // It would lie on its side with the camera of a Y-up file.
        let lying = sheet(&turned, view, Turn::identity()).expect("the same adapter");
        assert!(difference(&expected, &lying) > 0.05, "{view:?}");
    }
}

#[test]
fn the_front_of_a_character_that_looks_backwards_is_its_face() {
    let plain = tower(false);
    let half_turn: fn(Point) -> Point = |p| Point::new(-p.x, p.y, -p.z);
    let backwards = tower_by(Some(half_turn), true);
    for view in [NamedView::Front, NamedView::Right, NamedView::ThreeQuarter] {
        let Some(expected) = sheet(&plain, view, plain.world_from_stage()) else {
            return;
        };
        let actual = sheet(&backwards, view, backwards.world_from_stage()).expect("an adapter");
        let off = difference(&expected, &actual);
        assert!(off < 0.005, "{view:?}: {off}");
        let behind = sheet(&backwards, view, Turn::identity()).expect("an adapter");
        assert!(difference(&expected, &behind) > 0.02, "{view:?}");
    }
}
