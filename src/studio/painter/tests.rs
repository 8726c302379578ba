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
        body_field: None,
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
        fields: None,
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

/// Paints until the pictures of the pass are finished and shown.
fn painted_by_thread(
    painter: &mut ThreadPainter,
    textures: &mut Counted,
    pictures: &[Picture<'_>],
) -> Vec<Option<Painted>> {
    loop {
        painter.begin_pass(textures);
        let mut on = painter.on(textures);
        let painted = pictures.iter().map(|picture| on.paint(picture)).collect();
        drop(on);
        if !painter.end_pass() && painter.has_taken_all() {
            return painted;
        }
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
}

#[test]
fn a_thread_draws_the_same_pictures() {
    let Some(mut direct) = painter() else { return };
    let mut textures = Counted::default();
    let (subject, camera, look) = (subject(), Camera::default(), Look::default());
    let mut other = camera;
    other.look_from(NamedView::Left);
    let state = snapshot(&subject, 1);
    let pictures = [
        picture(0, &state, &look, &camera),
        picture(1, &state, &look, &other),
    ];
    let gpu = direct.gpu().clone();
    let mut thread = ThreadPainter::start(&gpu, Arc::new(|| {})).expect("a second device");
    let painted = painted_by_thread(&mut thread, &mut textures, &pictures);
    assert_eq!(
        painted
            .iter()
            .map(|painted| painted.as_ref().map(|painted| painted.texture))
            .collect::<Vec<_>>(),
        [Some(1), Some(2)]
    );
    for picture in &pictures {
        direct.on(&mut NoTextures).paint(picture).expect("paints");
        let expected = direct.image(picture.canvas).expect("a picture");
        let shown = thread.shown_image(picture.canvas);
        assert!(shown.dimensions() == (64, 64) && shown == expected);
    }
    // A new size gets a new texture with the same number.
    let larger = Picture {
        size: [80, 64],
        ..pictures[0]
    };
    let painted = painted_by_thread(&mut thread, &mut textures, &[larger]);
    assert_eq!(painted[0].as_ref().map(|painted| painted.texture), Some(1));
    assert_eq!(thread.shown_image(0).dimensions(), (80, 64));
    assert_eq!(textures.made, 2);
    // The other view is gone.
    for _ in 0..=KEPT_PASSES {
        painted_by_thread(&mut thread, &mut textures, &[larger]);
    }
    assert_eq!(textures.freed, [2]);
}

#[test]
fn a_thread_shows_what_it_has_until_the_next_picture_is_finished() {
    let Some(direct) = painter() else { return };
    let mut textures = Counted::default();
    let (subject, camera, look) = (subject(), Camera::default(), Look::default());
    let states = [snapshot(&subject, 1), snapshot(&subject, 2)];
    let mut thread = ThreadPainter::start(direct.gpu(), Arc::new(|| {})).expect("a second device");
    let first = picture(0, &states[0], &look, &camera);
    thread.begin_pass(&mut textures);
    let empty = thread
        .on(&mut textures)
        .paint(&first)
        .expect("an empty one");
    assert!(empty.lags);
    assert!(thread.end_pass(), "ordered");
    painted_by_thread(&mut thread, &mut textures, &[first]);
    let second = picture(0, &states[1], &look, &camera);
    thread.begin_pass(&mut textures);
    let painted = thread.on(&mut textures).paint(&second);
    assert_eq!(
        painted.map(|painted| (painted.texture, painted.lags)),
        Some((1, false))
    );
    assert!(thread.end_pass());
    painted_by_thread(&mut thread, &mut textures, &[second]);
    // Nothing has changed: nothing is ordered.
    thread.begin_pass(&mut textures);
    assert!(thread.on(&mut textures).paint(&second).is_some());
    assert!(!thread.end_pass());
}
