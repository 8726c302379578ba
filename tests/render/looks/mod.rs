//! Looks: shading, colours by numbers, comparisons, what is drawn inside. Pixels are measured, not compared with stored pictures.
//! Where something is drawn an adapter is needed (software Vulkan will do).

mod amounts;
mod extras;
mod fields;

use std::sync::{Arc, LazyLock};

use image::RgbaImage;
use sinew::math::{Point, Vec3};
use sinew::mesh::TriMesh;
use sinew::methods::Subject;
use sinew::progress::Progress;
use sinew::render::{
    Background, Camera, Ground, Light, Matcap, MeshFrame, MeshStyle, NamedView, Projection,
    RenderTarget, Renderer, Scene,
};
use sinew::session::{Source, open};

use crate::common::drawn::{ball, renderer, uploaded};

fn cylinder() -> &'static Arc<Subject> {
    static SUBJECT: LazyLock<Arc<Subject>> = LazyLock::new(|| {
        open(&Source::builtin("cylinder"), &Progress::new()).expect("the built-in cylinder")
    });
    &SUBJECT
}

const SIZE: u32 = 160;

fn shot(renderer: &Renderer, camera: &Camera, scene: &Scene<'_>) -> RgbaImage {
    renderer
        .render_to_image(camera, scene, SIZE, SIZE)
        .expect("a picture")
}

fn on_white(mesh: &MeshFrame, style: MeshStyle) -> Scene<'_> {
    Scene {
        background: Background::WHITE,
        ground: None,
        ..Scene::of(mesh, style, 0.0)
    }
}

fn camera_at(view: NamedView, mesh: &TriMesh) -> Camera {
    let mut camera = Camera {
        projection: Projection::Orthographic,
        ..Camera::default()
    };
    camera.look_from(view);
    camera.frame(&mesh.bounds(), 1.0);
    camera
}

#[test]
fn a_wipe_shows_each_side_as_it_is_alone() {
    let Some(renderer) = renderer() else { return };
    let (mesh, mut other) = (ball(), ball());
    other.positions.iter_mut().for_each(|p| p.y *= 0.6);
    let frames = [uploaded(renderer, &mesh), uploaded(renderer, &other)];
    let ground = Some(Ground {
        height: -1.0,
        grid: Some(0.5),
    });
    let scenes = [0, 1].map(|i| Scene {
        ground,
        ..Scene::of(&frames[i], MeshStyle::default(), -1.0)
    });
    let camera = Camera::framing(&mesh.bounds(), NamedView::ThreeQuarter, 1.0);
    let alone = [0, 1].map(|i: usize| shot(renderer, &camera, &scenes[i]));
    assert!(alone[0] != alone[1]);
    let mut target = RenderTarget::new(renderer, SIZE, SIZE);
    for column in [0, 57, SIZE / 2, SIZE] {
        renderer.render_wiped(&mut target, &camera, &scenes[0], &scenes[1], column);
        let picture = target.read(renderer.gpu()).expect("a picture");
        // Rasterisers may take the column at the line for either side.
        let at_line = |x: u32| (1..SIZE).contains(&column) && x.abs_diff(column) <= 1;
        for (x, y, pixel) in picture.enumerate_pixels().filter(|(x, ..)| !at_line(*x)) {
            let expected = alone[usize::from(x >= column)].get_pixel(x, y);
            assert_eq!(pixel, expected, "line at {column}, pixel {x}, {y}");
        }
    }
}

#[test]
fn flat_shading_has_one_tone_a_face_and_several_over_a_ball() {
    let Some(renderer) = renderer() else { return };
    let at = Point::new;
    let face = TriMesh {
        positions: vec![at(-1.0, -1.0, 0.4), at(1.2, -0.8, -0.3), at(0.1, 1.1, 0.2)],
        triangles: vec![[0, 1, 2]],
    };
    let frame = uploaded(renderer, &face);
    let style = MeshStyle {
        light: Light::Flat,
        ..MeshStyle::default()
    };
    let camera = Camera::framing(&face.bounds(), NamedView::Front, 1.0);
    let picture = shot(renderer, &camera, &on_white(&frame, style));
    let inside: Vec<[u8; 4]> = (0..200_u8)
        .map(|i| {
            let (u, v) = (
                0.1 + 0.35 * f32::from(i % 14) / 14.0,
                0.1 + 0.35 * f32::from(i / 14) / 15.0,
            );
            let point = face.positions[0]
                + (face.positions[1] - face.positions[0]) * u
                + (face.positions[2] - face.positions[0]) * v;
            let [x, y] = camera.project(&point, [SIZE as f32; 2]).expect("visible");
            picture.get_pixel(x as u32, y as u32).0
        })
        .collect();
    let spread = |c: usize| {
        inside.iter().map(|p| p[c]).max().unwrap_or(0)
            - inside.iter().map(|p| p[c]).min().unwrap_or(0)
    };
    // Normals come from differences between pixels: the last bit may differ.
    assert!(
        (0..3).all(|c| spread(c) <= 2),
        "tones from {:?} to {:?}",
        inside.iter().min(),
        inside.iter().max()
    );
    let mesh = ball();
    let round = uploaded(renderer, &mesh);
    let mut tones: Vec<[u8; 4]> = shot(renderer, &camera, &on_white(&round, style))
        .pixels()
        .map(|p| p.0)
        .collect();
    tones.sort_unstable();
    tones.dedup();
    assert!(tones.len() > 60, "a ball has {} tones", tones.len());
}

#[test]
fn a_matcap_turns_with_the_eye_and_each_has_its_own_look() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let mut means = Vec::new();
    for matcap in Matcap::ALL {
        let style = MeshStyle {
            light: Light::Matcap(matcap),
            ..MeshStyle::default()
        };
        let scene = Scene {
            occlusion: false,
            ..on_white(&frame, style)
        };
        let [front, left] = [NamedView::Front, NamedView::Left]
            .map(|view| shot(renderer, &camera_at(view, &mesh), &scene));
        let far = |(a, b): (&image::Rgba<u8>, &image::Rgba<u8>)| {
            (0..3).any(|c| a.0[c].abs_diff(b.0[c]) > 12)
        };
        let differ = front
            .pixels()
            .zip(left.pixels())
            .filter(|&pair| far(pair))
            .count();
        // The ball's outline is a polygon, and stripes have edges.
        let allowed = if matcap == Matcap::Zebra { 1200 } else { 260 };
        assert!(
            differ < allowed,
            "{matcap:?}: {differ} pixels differ between two sides of a ball"
        );
        let sum = |c: usize| {
            front.pixels().map(|p| u64::from(p.0[c])).sum::<u64>() / u64::from(SIZE * SIZE)
        };
        means.push([sum(0), sum(1), sum(2)]);
    }
    let apart = |a: &[u64; 3], b: &[u64; 3]| (0..3).map(|c| a[c].abs_diff(b[c])).sum::<u64>();
    for (i, a) in means.iter().enumerate() {
        assert!(
            means[..i].iter().all(|b| apart(a, b) > 6),
            "{:?} looks like another: {means:?}",
            Matcap::ALL[i]
        );
    }
}

#[test]
fn normals_as_colours_are_the_usual_ones() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let style = MeshStyle {
        light: Light::Matcap(Matcap::Normals),
        ..MeshStyle::default()
    };
    let camera = camera_at(NamedView::Front, &mesh);
    let picture = shot(renderer, &camera, &on_white(&frame, style));
    for n in [
        Vec3::new(0.0, 0.0, 1.0),
        Vec3::new(0.6, 0.0, 0.8),
        Vec3::new(0.0, -0.6, 0.8),
        Vec3::new(-0.48, 0.6, 0.64),
    ] {
        let [x, y] = camera
            .project(&Point::from(n), [SIZE as f32; 2])
            .expect("visible");
        let seen = picture.get_pixel(x as u32, y as u32).0;
        for c in 0..3 {
            let expected = (n[c] * 0.5 + 0.5) * 255.0;
            // A pixel is 0.014 of the ball wide, its faces are flat by as much.
            assert!(
                (f32::from(seen[c]) - expected).abs() < 6.0,
                "{n:?} became {seen:?}"
            );
        }
    }
}
