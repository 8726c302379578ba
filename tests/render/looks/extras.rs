//! What is drawn beside and inside the skin: shadow, cut flesh, extras, transparency.

use std::sync::Arc;

use sinew::math::{Point, Vec3};
use sinew::methods::Subject;
use sinew::progress::Progress;
use sinew::render::{
    Background, Camera, CutPlane, Extras, Ground, Look, Marked, MeshStyle, Moment, NamedView,
    Overlay, OverlayLayer, Scene,
};

use super::{SIZE, camera_at, cylinder, on_white, shot};
use crate::common::drawn::{ball, renderer, uploaded};

#[test]
fn line_width_scales_with_pixels_per_point() {
    let Some(renderer) = renderer() else { return };
    let mut overlay = Overlay::new(OverlayLayer::Solid);
    overlay.line(
        &Point::new(-2.0, 0.0, 0.0),
        &Point::new(2.0, 0.0, 0.0),
        [0, 0, 0, 255],
        3.0,
    );
    let mesh = ball();
    let camera = camera_at(NamedView::Front, &mesh);
    let width = |scale: f32| {
        let scene = Scene {
            overlays: vec![&overlay],
            background: Background::WHITE,
            scale,
            ..Scene::default()
        };
        let picture = shot(renderer, &camera, &scene);
        (0..SIZE)
            .map(|y| 1.0 - f32::from(picture.get_pixel(SIZE / 2, y).0[0]) / 255.0)
            .sum::<f32>()
    };
    // Edges are soft, and grey is not linear: half a pixel on each side.
    assert!((width(1.0) - 3.0).abs() < 0.8, "{}", width(1.0));
    assert!((width(2.0) - 6.0).abs() < 0.8, "{}", width(2.0));
}

#[test]
fn without_a_background_pictures_are_see_through_with_straight_alpha() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let camera = camera_at(NamedView::Front, &mesh);
    let scene = Scene {
        background: Background::NONE,
        ..on_white(&frame, MeshStyle::default())
    };
    let picture = shot(renderer, &camera, &scene);
    assert_eq!(picture.get_pixel(0, 0).0, [0; 4]);
    assert_eq!(picture.get_pixel(SIZE / 2, SIZE / 2).0[3], 255);
    let soft: Vec<_> = picture
        .pixels()
        .filter(|p| (60..200).contains(&p.0[3]))
        .collect();
    assert!(soft.len() > 40, "only {} pixels on the outline", soft.len());
    assert!(
        soft.iter().all(|p| p.0[0] > 60),
        "outlines are not blackened: {:?}",
        soft.iter().map(|p| p.0).min()
    );
    let with_floor = Scene {
        ground: Some(Ground {
            height: -1.0,
            grid: None,
        }),
        ..scene
    };
    let above = Camera {
        pitch: 0.5,
        ..camera
    };
    let shadowed = shot(renderer, &above, &with_floor);
    let dark = shadowed
        .pixels()
        .filter(|p| (20..200).contains(&p.0[3]) && p.0[0] < 60)
        .count();
    assert!(dark > 100, "the shadow is in the alpha: {dark} pixels");
}

#[test]
fn the_shadow_on_the_floor_ends_softly_and_without_grain() {
    let Some(renderer) = renderer() else { return };
    let mut mesh = ball();
    mesh.positions.iter_mut().for_each(|p| p.y += 1.0);
    let frame = uploaded(renderer, &mesh);
    let scene = Scene {
        ground: Some(Ground {
            height: -0.2,
            grid: None,
        }),
        occlusion: false,
        ..on_white(&frame, MeshStyle::default())
    };
    let mut camera = Camera::framing(&mesh.bounds(), NamedView::Top, 1.0);
    camera.distance *= 2.0;
    let picture = renderer
        .render_to_image(&camera, &scene, 400, 400)
        .expect("a picture");
    // From the darkest place of the floor outwards, away from the ball.
    let floor = |x: u32, y: u32| f32::from(picture.get_pixel(x, y).0[0]);
    let is_floor = |x: u32, y: u32| {
        let p = picture.get_pixel(x, y).0;
        p[0].abs_diff(p[2]) <= 2
    };
    let dark = (0..400)
        .flat_map(|y| (0..400).map(move |x| (x, y)))
        .filter(|&(x, y)| is_floor(x, y));
    let (x, y) = dark
        .min_by(|a, b| floor(a.0, a.1).total_cmp(&floor(b.0, b.1)))
        .expect("a shadow");
    assert!(floor(x, y) < 200.0, "there is no shadow: {}", floor(x, y));
    let (dx, dy) = (x as f32 - 200.0, y as f32 - 200.0);
    let length = dx.hypot(dy).max(1.0);
    let (mut profile, mut step) = (Vec::new(), 0.0_f32);
    while step < 160.0 {
        let (px, py) = (x as f32 + dx / length * step, y as f32 + dy / length * step);
        if !(0.0..400.0).contains(&px) || !(0.0..400.0).contains(&py) {
            break;
        }
        profile.push(floor(px as u32, py as u32));
        step += 1.0;
    }
    let falls = profile
        .windows(2)
        .map(|pair| pair[0] - pair[1])
        .fold(0.0, f32::max);
    assert!(
        falls <= 4.0,
        "outwards it gets darker again by {falls}: {profile:?}"
    );
    let soft = profile
        .iter()
        .filter(|v| **v > floor(x, y) + 10.0 && **v < 245.0)
        .count();
    assert!(soft >= 4, "the edge is {soft} pixels wide");
}

fn moment(subject: &Arc<Subject>) -> (Vec<Vec3>, Vec<sinew::math::Affine>) {
    (
        vec![Vec3::y(); subject.bind_positions.len()],
        subject.character.skeleton.bind_transforms(),
    )
}

#[test]
fn the_two_sides_of_a_cut_add_up() {
    let subject = cylinder();
    let (normals, world_from_joint) = moment(subject);
    let moment = Moment {
        subject,
        positions: &subject.bind_positions,
        normals: &normals,
        simulated: &[],
        world_from_joint: &world_from_joint,
        contacts: &[],
        velocities: &[],
        fields: None,
    };
    let faces = |cut: CutPlane| {
        let mut extras = Extras::default();
        let look = Look {
            tets: true,
            cut: Some(cut),
            ..Look::default()
        };
        extras.update(&look, Some(&moment), &Marked::default());
        extras
            .overlays()
            .iter()
            .map(|overlay| overlay.triangles().len() / 3)
            .sum::<usize>()
    };
    let tets = subject.flesh().expect("flesh").tissue.quality.tets;
    for axis in 0..3 {
        for offset in [0.0, 0.3, 0.5] {
            let cut = CutPlane {
                axis,
                offset,
                flipped: false,
            };
            let both = [
                faces(cut),
                faces(CutPlane {
                    flipped: true,
                    ..cut
                }),
            ];
            assert_eq!(
                both[0] + both[1],
                4 * tets,
                "axis {axis} at {offset}: {both:?}"
            );
        }
        assert_eq!(
            faces(CutPlane {
                axis,
                offset: 0.0,
                flipped: false
            }),
            0
        );
        assert!(
            faces(CutPlane {
                axis,
                offset: 0.5,
                flipped: false
            }) > tets,
            "half of it, four faces each"
        );
    }
}

#[test]
fn every_extra_draws_something_and_nothing_when_it_is_off() {
    let subject = cylinder();
    subject
        .make_flesh(&Progress::new())
        .expect("is not cancelled");
    subject
        .make_voxels(&Progress::new())
        .expect("is not cancelled");
    let (normals, world_from_joint) = moment(subject);
    let velocities = vec![Vec3::new(0.0, subject.size, 0.0); normals.len()];
    let moment = Moment {
        subject,
        positions: &subject.bind_positions,
        normals: &normals,
        simulated: &subject.sim().mesh.positions,
        world_from_joint: &world_from_joint,
        contacts: &[],
        velocities: &velocities,
        fields: None,
    };
    let off = Look::default();
    let looks = [
        Look { bones: true, ..off },
        Look {
            bones: true,
            bones_in_front: false,
            ..off
        },
        Look {
            bone_volumes: true,
            ..off
        },
        Look {
            base_surface: true,
            ..off
        },
        Look { tets: true, ..off },
        Look { feet: true, ..off },
        Look {
            voxels: true,
            ..off
        },
        Look {
            normals: true,
            ..off
        },
        Look {
            velocities: true,
            ..off
        },
    ];
    let mut extras = Extras::default();
    for look in looks {
        extras.update(&look, Some(&moment), &Marked::default());
        assert!(
            extras.overlays().iter().any(|overlay| !overlay.is_empty()),
            "{look:?}"
        );
        assert_eq!(extras.legends().len(), usize::from(look.velocities));
        extras.update(&off, Some(&moment), &Marked::default());
        assert!(extras.overlays().iter().all(|overlay| overlay.is_empty()));
        extras.update(&look, None, &Marked::default());
        assert!(extras.overlays().iter().all(|overlay| overlay.is_empty()));
    }
}
