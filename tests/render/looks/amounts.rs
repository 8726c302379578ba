//! Colours of numbers on the skin: weights, distances, stretch.

use std::sync::Arc;

use image::RgbaImage;
use sinew::math::{Point, Vec3};
use sinew::progress::Progress;
use sinew::render::{
    ColorMap, Look, MeshColors, MeshDraw, MeshStyle, NamedView, Scene, SkinPaint, SkinQuantity,
    weights_of,
};
use sinew::weights::WeightMethod;

use super::{SIZE, camera_at, cylinder, on_white, shot};
use crate::common::drawn::{ball, renderer, uploaded};

#[test]
fn weights_of_all_joints_add_up_to_one() {
    let subject = cylinder();
    let mut sum = vec![0.0_f32; subject.bind_positions.len()];
    for joint in 0..subject.character.skeleton.len() {
        let weights = weights_of(subject, joint);
        assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
        sum.iter_mut()
            .zip(weights)
            .for_each(|(sum, weight)| *sum += weight);
    }
    // A few roundings of numbers below 1.
    assert!(
        sum.iter().all(|sum| (sum - 1.0).abs() < 1e-5),
        "{:?}",
        sum.iter().copied().reduce(f32::min)
    );
    assert!(weights_of(subject, 999).iter().all(|weight| *weight == 0.0));
}

#[test]
fn a_difference_is_between_the_weights_of_two_methods() {
    let subject = cylinder();
    let by = |id| subject.weighted(WeightMethod::from_id(id).expect("is registered"));
    let [one, other] = ["distance", "geodesic"].map(by);
    let method = other.weight_method();
    for subject in [&one, &other] {
        let made = subject.make_weights(&Progress::new());
        made.expect("nobody cancels");
    }
    let known = subject.weighted_if_made(method).expect("is known now");
    assert!(Arc::ptr_eq(&known, &other));
    let joint = subject.character.skeleton.len() - 1;
    let mut paint = SkinPaint::default();
    let quantity = SkinQuantity::WeightDifference {
        joint,
        against: &other,
    };
    let legend = paint.update(&one, &quantity, ColorMap::default());
    let labels = format!(": {} minus {}", one.weight_method().label(), method.label());
    assert!(legend.title.ends_with(&labels), "{}", legend.title);
    let [ours, theirs] = [&one, &other].map(|subject| weights_of(subject, joint));
    let expected: Vec<f32> = ours.iter().zip(&theirs).map(|(a, b)| a - b).collect();
    assert_eq!(paint.numbers(), expected);
    assert!(expected.iter().any(|difference| difference.abs() > 0.02));
}

#[test]
fn a_method_compared_with_itself_shows_no_difference() {
    let subject = cylinder();
    let positions: &[Point] = &subject.bind_positions;
    let mut paint = SkinPaint::default();
    let quantity = SkinQuantity::Difference {
        positions,
        others: positions,
        methods: ["a", "b"],
        max_mm: None,
    };
    let legend = paint.update(subject, &quantity, ColorMap::Heat);
    assert_eq!((legend.unit, legend.range[0]), ("mm", 0.0));
    assert!(paint.numbers().iter().all(|mm| *mm == 0.0));
    assert!(
        paint
            .colors()
            .iter()
            .all(|color| *color == ColorMap::Heat.rgba(0.0))
    );

    let shift = Vec3::new(0.003, -0.004, 0.0) * subject.size;
    let moved: Vec<Point> = positions.iter().map(|p| p + shift).collect();
    let quantity = SkinQuantity::Difference {
        positions,
        others: &moved,
        methods: ["a", "b"],
        max_mm: None,
    };
    let legend = paint.update(subject, &quantity, ColorMap::Heat);
    let expected = 0.005 * subject.size * subject.character.metres_per_unit as f32 * 1e3;
    // Coordinates of about the size, rounded to f32.
    assert!(
        paint
            .numbers()
            .iter()
            .all(|mm| (mm / expected - 1.0).abs() < 1e-3),
        "{} is not {expected}",
        paint.numbers()[0]
    );
    assert!(
        (expected..expected * 2.6).contains(&legend.range[1]),
        "{:?} for {expected}",
        legend.range
    );
}

#[test]
fn uniform_scaling_shows_uniform_strain() {
    let subject = cylinder();
    let mut paint = SkinPaint::default();
    for (factor, percent) in [(1.0, 0.0), (1.2, 20.0), (0.9, -10.0)] {
        let positions: Vec<Point> = subject.bind_positions.iter().map(|p| p * factor).collect();
        let legend = paint.update(
            subject,
            &SkinQuantity::Strain {
                positions: &positions,
            },
            ColorMap::Even,
        );
        assert!(
            (legend.range[0] + legend.range[1]).abs() < 1e-6,
            "as far below nothing as above"
        );
        let skin = paint
            .numbers()
            .iter()
            .zip(&subject.skin.skin_from_source)
            .filter(|(_, skin)| skin.is_some());
        // Lengths of edges of a hundredth of the size, in f32.
        assert!(
            skin.clone()
                .all(|(number, _)| (number - percent).abs() < 0.05),
            "grown by {factor}"
        );
        assert!(skin.count() > 100);
    }
}

#[test]
fn numbers_keep_their_hue_on_the_skin() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let mut colors = MeshColors::new(renderer, frame.model());
    let blue = ColorMap::Diverging.rgba(0.0);
    colors.update(renderer.gpu(), &vec![blue; mesh.positions.len()]);
    let style = Look::default().data_style();
    let scene = Scene {
        meshes: vec![MeshDraw {
            mesh: &frame,
            colors: Some(&colors),
            style,
        }],
        ..on_white(&frame, style)
    };
    let picture = shot(renderer, &camera_at(NamedView::Front, &mesh), &scene);
    let middle = picture.get_pixel(SIZE / 2, SIZE / 2).0;
    assert!(
        (0..3).all(|c| middle[c].abs_diff(blue[c]) <= 3),
        "{middle:?} is not {blue:?}"
    );
    let edge = picture.get_pixel(SIZE * 3 / 20, SIZE / 2).0;
    assert!(
        edge[2] > edge[0] + 40 && edge[2] > edge[1] && edge[2] < middle[2],
        "{edge:?} at the side"
    );
    let wired = MeshStyle {
        wireframe: Some(sinew::render::WIRE_COLOR),
        ..style
    };
    let scene = Scene {
        meshes: vec![MeshDraw {
            mesh: &frame,
            colors: Some(&colors),
            style: wired,
        }],
        ..on_white(&frame, style)
    };
    let wired = shot(renderer, &camera_at(NamedView::Front, &mesh), &scene);
    let blue = |p: &&image::Rgba<u8>| p.0[2] > p.0[0].saturating_add(30);
    let mean = |picture: &RgbaImage| picture.pixels().filter(blue).count();
    assert!(
        mean(&wired) * 10 > mean(&picture) * 9,
        "with edges it is still blue"
    );
}
