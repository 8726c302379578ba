//! Tests of uploads and redraws. They need an adapter (software Vulkan suffices).

use super::pool::KEPT_PASSES;
use super::*;
use crate::gpu::{self, GpuContext};
use crate::io::builtin::load_builtin;
use crate::methods::{MethodId, StepTimes, Subject};
use crate::progress::Progress;
use crate::render::{NamedView, OnionSkins, Renderer, SkinColors};
use crate::studio::GhostSkin;

/// Counts textures instead of showing them.
#[derive(Default)]
struct Counted {
    made: u64,
    freed: Vec<u64>,
}

impl Textures for Counted {
    fn register(&mut self, _view: &wgpu::TextureView) -> u64 {
        self.made += 1;
        self.made
    }

    fn replace(&mut self, _texture: u64, _view: &wgpu::TextureView) {}

    fn free(&mut self, texture: u64) {
        self.freed.push(texture);
    }
}

fn painter() -> Option<GpuPainter> {
    match GpuContext::headless() {
        Ok(gpu) => Some(GpuPainter::with(Renderer::new(&gpu))),
        Err(error) if gpu::is_required() => panic!("SINEW_REQUIRE_GPU is set, but {error}"),
        Err(error) => {
            crate::skip::skipped(error);
            None
        }
    }
}

fn subject() -> Arc<Subject> {
    let character = load_builtin("cylinder").unwrap();
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).unwrap())
}

fn snapshot(subject: &Arc<Subject>, sequence: u64) -> Arc<Snapshot> {
    let positions = subject.bind_positions.to_vec();
    Arc::new(Snapshot {
        sequence,
        subject: subject.clone(),
        method: MethodId::LBS,
        shape: crate::studio::Shape::new(
            positions.clone(),
            vec![crate::math::Vec3::y(); positions.len()],
            Vec::new(),
        ),
        world_from_joint: subject.character.skeleton.bind_transforms(),
        time_secs: None,
        times: StepTimes::default(),
        contact: None,
        contacts: Vec::new(),
        velocities: Vec::new(),
        explained: None,
    })
}

fn picture<'a>(
    view: u32,
    snapshot: &'a Arc<Snapshot>,
    look: &'a Look,
    camera: &'a Camera,
) -> Picture<'a> {
    Picture {
        canvas: view,
        size: [64, 64],
        scale: 1.0,
        camera,
        snapshot: Some(snapshot),
        crowd: None,
        compare: None,
        selected: &[],
        hovered: None,
        look,
        marks: None,
        ghosts: None,
        paint: None,
        ground_height: 0.0,
        character_size: snapshot.subject.size,
    }
}

#[test]
fn a_state_is_uploaded_once_for_all_views() {
    let Some(mut painter) = painter() else { return };
    let mut textures = Counted::default();
    let (subject, camera) = (subject(), Camera::default());
    let plain = Look::default();
    let painted = Look {
        wireframe: true,
        colors: SkinColors::Strain,
        ..plain
    };
    for sequence in 1..=3 {
        let state = snapshot(&subject, sequence);
        for (view, look) in [(0, &plain), (1, &painted), (2, &plain)] {
            assert!(
                painter
                    .on(&mut textures)
                    .paint(&picture(view, &state, look, &camera))
                    .is_some()
            );
        }
        assert_eq!(painter.states_written(), sequence, "one state, three views");
    }
    assert_eq!(textures.made, 3);
}

#[test]
fn an_unchanged_picture_is_not_redrawn() {
    let Some(mut painter) = painter() else { return };
    let mut textures = Counted::default();
    let (subject, camera, look) = (subject(), Camera::default(), Look::default());
    let state = snapshot(&subject, 1);
    let mut ms = |picture: &Picture<'_>| {
        painter
            .on(&mut textures)
            .paint(picture)
            .expect("a picture")
            .ms
    };
    let same = picture(0, &state, &look, &camera);
    assert!(ms(&same) > 0.0);
    assert_eq!(ms(&same), 0.0, "nothing has changed");
    assert_eq!(
        ms(&Picture {
            selected: &[1],
            ..same
        }),
        0.0,
        "hidden selections do not change the picture"
    );
    let mut turned = camera;
    turned.look_from(NamedView::Back);
    assert!(
        ms(&Picture {
            camera: &turned,
            ..same
        }) > 0.0
    );
    assert!(
        ms(&Picture {
            look: &Look {
                normals: true,
                ..look
            },
            ..same
        }) > 0.0
    );
    let with = snapshot(&subject, 2);
    assert!(
        ms(&Picture {
            compare: Some(Comparison {
                with: &with,
                how: Compare::Wipe(0.5),
                max_mm: None,
                ghosts: None,
            }),
            ..same
        }) > 0.0
    );
}

#[test]
fn closed_views_are_dropped() {
    let Some(mut painter) = painter() else { return };
    let mut textures = Counted::default();
    let (subject, camera, look) = (subject(), Camera::default(), Look::default());
    let state = snapshot(&subject, 1);
    let gone = painter
        .on(&mut textures)
        .paint(&picture(7, &state, &look, &camera))
        .expect("a picture")
        .texture;
    for _ in 0..KEPT_PASSES + 3 {
        painter
            .on(&mut textures)
            .paint(&picture(0, &state, &look, &camera));
    }
    assert_eq!(textures.freed, [gone]);
    assert_eq!(
        painter.states_written(),
        1,
        "the state stays while a view shows it"
    );
}

#[test]
fn a_comparison_has_a_legend() {
    let Some(mut painter) = painter() else { return };
    let mut textures = Counted::default();
    let (subject, camera) = (subject(), Camera::default());
    let (state, with) = (snapshot(&subject, 1), snapshot(&subject, 2));
    let weights = Look {
        colors: SkinColors::Weights,
        ..Look::default()
    };
    let mut legends = |picture: &Picture<'_>| {
        painter
            .on(&mut textures)
            .paint(picture)
            .expect("a picture")
            .legends
    };
    let bare = picture(0, &state, &weights, &camera);
    assert!(legends(&bare).is_empty(), "no joint is selected");
    assert!(
        legends(&Picture {
            selected: &[1],
            ..bare
        })[0]
            .title
            .starts_with("Weight of")
    );
    let compare = Some(Comparison {
        with: &with,
        how: Compare::Difference,
        max_mm: Some(7.0),
        ghosts: None,
    });
    let shown = legends(&Picture {
        compare,
        selected: &[1],
        ..bare
    });
    assert_eq!(
        (shown.len(), shown[0].unit, shown[0].range),
        (1, "mm", [0.0, 7.0])
    );
}

#[test]
fn onion_skins_are_drawn_and_uploaded_once() {
    let Some(mut painter) = painter() else { return };
    let mut textures = Counted::default();
    let (subject, camera) = (subject(), Camera::default());
    let state = snapshot(&subject, 1);
    let skin = |offset_secs| GhostSkin {
        offset_secs,
        positions: state.positions().to_vec(),
        normals: state.normals().to_vec(),
    };
    let ghosts = Arc::new(GhostSkins {
        sequence: 1,
        subject: subject.clone(),
        skins: vec![skin(-0.1), skin(0.1)],
    });
    let look = Look {
        ghosts: OnionSkins {
            before: 1,
            after: 1,
            apart_secs: 0.1,
        },
        ..Look::default()
    };
    for turn in 0..3_u8 {
        let camera = Camera {
            yaw: f32::from(turn),
            ..camera
        };
        painter.on(&mut textures).paint(&Picture {
            ghosts: Some(&ghosts),
            ..picture(0, &state, &look, &camera)
        });
    }
    assert_eq!(painter.states_written(), 3, "the skin and its two ghosts");
}
