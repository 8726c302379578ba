//! Looks: shading, colours by numbers, comparisons, what is drawn inside. Pixels are measured, not compared with stored pictures.
//! Where something is drawn an adapter is needed (software Vulkan will do).

use std::sync::{Arc, LazyLock};

use image::RgbaImage;
use sinew::math::{Point, Vec3};
use sinew::mesh::TriMesh;
use sinew::progress::Progress;
use sinew::render::{
    Background, Camera, ColorMap, Cut, Extras, Ground, Layer, Light, Look, Marked, Matcap, MeshColors, MeshDraw, MeshFrame, MeshStyle,
    Moment, NamedView, Overlay, Projection, Quantity, Renderer, Scene, SkinPaint, Target, weights_of,
};
use sinew::session::{Source, open};
use sinew::skin::Subject;

mod drawn;
mod skip;

use drawn::{ball, renderer, uploaded};

fn cylinder() -> &'static Arc<Subject> {
    static SUBJECT: LazyLock<Arc<Subject>> =
        LazyLock::new(|| open(&Source::builtin("cylinder"), &Progress::new()).expect("the built-in cylinder"));
    &SUBJECT
}

const SIZE: u32 = 160;

fn shot(renderer: &Renderer, camera: &Camera, scene: &Scene<'_>) -> RgbaImage {
    renderer.render_to_image(camera, scene, SIZE, SIZE).expect("a picture")
}

fn on_white(mesh: &MeshFrame, style: MeshStyle) -> Scene<'_> {
    Scene { background: Background::WHITE, ground: None, ..Scene::of(mesh, style, 0.0) }
}

fn camera_at(view: NamedView, mesh: &TriMesh) -> Camera {
    let mut camera = Camera { projection: Projection::Orthographic, ..Camera::default() };
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
    let ground = Some(Ground { height: -1.0, grid: Some(0.5) });
    let scenes = [0, 1].map(|i| Scene { ground, ..Scene::of(&frames[i], MeshStyle::default(), -1.0) });
    let camera = Camera::framing(&mesh.bounds(), NamedView::ThreeQuarter, 1.0);
    let alone = [0, 1].map(|i: usize| shot(renderer, &camera, &scenes[i]));
    assert!(alone[0] != alone[1]);
    let mut target = Target::new(renderer, SIZE, SIZE);
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
    let face = TriMesh { positions: vec![at(-1.0, -1.0, 0.4), at(1.2, -0.8, -0.3), at(0.1, 1.1, 0.2)], triangles: vec![[0, 1, 2]] };
    let frame = uploaded(renderer, &face);
    let style = MeshStyle { light: Light::Flat, ..MeshStyle::default() };
    let camera = Camera::framing(&face.bounds(), NamedView::Front, 1.0);
    let picture = shot(renderer, &camera, &on_white(&frame, style));
    let inside: Vec<[u8; 4]> = (0..200_u8)
        .map(|i| {
            let (u, v) = (0.1 + 0.35 * f32::from(i % 14) / 14.0, 0.1 + 0.35 * f32::from(i / 14) / 15.0);
            let point = face.positions[0] + (face.positions[1] - face.positions[0]) * u + (face.positions[2] - face.positions[0]) * v;
            let [x, y] = camera.project(&point, [SIZE as f32; 2]).expect("visible");
            picture.get_pixel(x as u32, y as u32).0
        })
        .collect();
    let spread = |c: usize| inside.iter().map(|p| p[c]).max().unwrap_or(0) - inside.iter().map(|p| p[c]).min().unwrap_or(0);
    // Normals come from differences between pixels: the last bit may differ.
    assert!((0..3).all(|c| spread(c) <= 2), "tones from {:?} to {:?}", inside.iter().min(), inside.iter().max());
    let mesh = ball();
    let round = uploaded(renderer, &mesh);
    let mut tones: Vec<[u8; 4]> = shot(renderer, &camera, &on_white(&round, style)).pixels().map(|p| p.0).collect();
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
        let style = MeshStyle { light: Light::Matcap(matcap), ..MeshStyle::default() };
        let scene = Scene { occlusion: false, ..on_white(&frame, style) };
        let [front, left] = [NamedView::Front, NamedView::Left].map(|view| shot(renderer, &camera_at(view, &mesh), &scene));
        let far = |(a, b): (&image::Rgba<u8>, &image::Rgba<u8>)| (0..3).any(|c| a.0[c].abs_diff(b.0[c]) > 12);
        let differ = front.pixels().zip(left.pixels()).filter(|&pair| far(pair)).count();
        // The ball's outline is a polygon, and stripes have edges.
        let allowed = if matcap == Matcap::Zebra { 1200 } else { 260 };
        assert!(differ < allowed, "{matcap:?}: {differ} pixels differ between two sides of a ball");
        let sum = |c: usize| front.pixels().map(|p| u64::from(p.0[c])).sum::<u64>() / u64::from(SIZE * SIZE);
        means.push([sum(0), sum(1), sum(2)]);
    }
    let apart = |a: &[u64; 3], b: &[u64; 3]| (0..3).map(|c| a[c].abs_diff(b[c])).sum::<u64>();
    for (i, a) in means.iter().enumerate() {
        assert!(means[..i].iter().all(|b| apart(a, b) > 6), "{:?} looks like another: {means:?}", Matcap::ALL[i]);
    }
}

#[test]
fn normals_as_colours_are_the_usual_ones() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let style = MeshStyle { light: Light::Matcap(Matcap::Normals), ..MeshStyle::default() };
    let camera = camera_at(NamedView::Front, &mesh);
    let picture = shot(renderer, &camera, &on_white(&frame, style));
    for n in [Vec3::new(0.0, 0.0, 1.0), Vec3::new(0.6, 0.0, 0.8), Vec3::new(0.0, -0.6, 0.8), Vec3::new(-0.48, 0.6, 0.64)] {
        let [x, y] = camera.project(&Point::from(n), [SIZE as f32; 2]).expect("visible");
        let seen = picture.get_pixel(x as u32, y as u32).0;
        for c in 0..3 {
            let expected = (n[c] * 0.5 + 0.5) * 255.0;
            // A pixel is 0.014 of the ball wide, its faces are flat by as much.
            assert!((f32::from(seen[c]) - expected).abs() < 6.0, "{n:?} became {seen:?}");
        }
    }
}

#[test]
fn weights_of_all_joints_add_up_to_one() {
    let subject = cylinder();
    let mut sum = vec![0.0_f32; subject.bind_positions.len()];
    for joint in 0..subject.character.skeleton.len() {
        let weights = weights_of(subject, joint);
        assert!(weights.iter().all(|weight| (0.0..=1.0).contains(weight)));
        sum.iter_mut().zip(weights).for_each(|(sum, weight)| *sum += weight);
    }
    // A few roundings of numbers below 1.
    assert!(sum.iter().all(|sum| (sum - 1.0).abs() < 1e-5), "{:?}", sum.iter().copied().reduce(f32::min));
    assert!(weights_of(subject, 999).iter().all(|weight| *weight == 0.0));
}

#[test]
fn a_method_compared_with_itself_has_the_colour_of_nothing() {
    let subject = cylinder();
    let positions: &[Point] = &subject.bind_positions;
    let mut paint = SkinPaint::default();
    let quantity = Quantity::Difference { positions, others: positions, methods: ["a", "b"], max_mm: None };
    let legend = paint.update(subject, &quantity, ColorMap::Heat);
    assert_eq!((legend.unit, legend.range[0]), ("mm", 0.0));
    assert!(paint.numbers().iter().all(|mm| *mm == 0.0));
    assert!(paint.colors().iter().all(|color| *color == ColorMap::Heat.rgba(0.0)));

    let shift = Vec3::new(0.003, -0.004, 0.0) * subject.size;
    let moved: Vec<Point> = positions.iter().map(|p| p + shift).collect();
    let quantity = Quantity::Difference { positions, others: &moved, methods: ["a", "b"], max_mm: None };
    let legend = paint.update(subject, &quantity, ColorMap::Heat);
    let expected = 0.005 * subject.size * subject.character.metres_per_unit as f32 * 1e3;
    // Coordinates of about the size, rounded to f32.
    assert!(paint.numbers().iter().all(|mm| (mm / expected - 1.0).abs() < 1e-3), "{} is not {expected}", paint.numbers()[0]);
    assert!((expected..expected * 2.6).contains(&legend.range[1]), "{:?} for {expected}", legend.range);
}

#[test]
fn a_skin_that_grows_is_stretched_everywhere_alike() {
    let subject = cylinder();
    let mut paint = SkinPaint::default();
    for (factor, percent) in [(1.0, 0.0), (1.2, 20.0), (0.9, -10.0)] {
        let positions: Vec<Point> = subject.bind_positions.iter().map(|p| p * factor).collect();
        let legend = paint.update(subject, &Quantity::Strain { positions: &positions }, ColorMap::Even);
        assert!((legend.range[0] + legend.range[1]).abs() < 1e-6, "as far below nothing as above");
        let skin = paint.numbers().iter().zip(&subject.skin.skin_from_source).filter(|(_, skin)| skin.is_some());
        // Lengths of edges of a hundredth of the size, in f32.
        assert!(skin.clone().all(|(number, _)| (number - percent).abs() < 0.05), "grown by {factor}");
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
    let scene = Scene { meshes: vec![MeshDraw { mesh: &frame, colors: Some(&colors), style }], ..on_white(&frame, style) };
    let picture = shot(renderer, &camera_at(NamedView::Front, &mesh), &scene);
    let middle = picture.get_pixel(SIZE / 2, SIZE / 2).0;
    assert!((0..3).all(|c| middle[c].abs_diff(blue[c]) <= 3), "{middle:?} is not {blue:?}");
    let edge = picture.get_pixel(SIZE * 3 / 20, SIZE / 2).0;
    assert!(edge[2] > edge[0] + 40 && edge[2] > edge[1] && edge[2] < middle[2], "{edge:?} at the side");
    let wired = MeshStyle { wireframe: Some(sinew::render::WIRE_COLOR), ..style };
    let scene = Scene { meshes: vec![MeshDraw { mesh: &frame, colors: Some(&colors), style: wired }], ..on_white(&frame, style) };
    let wired = shot(renderer, &camera_at(NamedView::Front, &mesh), &scene);
    let mean = |picture: &RgbaImage| picture.pixels().filter(|p| p.0[2] > p.0[0] + 30).count();
    assert!(mean(&wired) * 10 > mean(&picture) * 9, "with edges it is still blue");
}

#[test]
fn lines_are_as_many_times_wider_as_points_have_pixels() {
    let Some(renderer) = renderer() else { return };
    let mut overlay = Overlay::new(Layer::Solid);
    overlay.line(&Point::new(-2.0, 0.0, 0.0), &Point::new(2.0, 0.0, 0.0), [0, 0, 0, 255], 3.0);
    let mesh = ball();
    let camera = camera_at(NamedView::Front, &mesh);
    let width = |scale: f32| {
        let scene = Scene { overlays: vec![&overlay], background: Background::WHITE, scale, ..Scene::default() };
        let picture = shot(renderer, &camera, &scene);
        (0..SIZE).map(|y| 1.0 - f32::from(picture.get_pixel(SIZE / 2, y).0[0]) / 255.0).sum::<f32>()
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
    let scene = Scene { background: Background::NONE, ..on_white(&frame, MeshStyle::default()) };
    let picture = shot(renderer, &camera, &scene);
    assert_eq!(picture.get_pixel(0, 0).0, [0; 4]);
    assert_eq!(picture.get_pixel(SIZE / 2, SIZE / 2).0[3], 255);
    let soft: Vec<_> = picture.pixels().filter(|p| (60..200).contains(&p.0[3])).collect();
    assert!(soft.len() > 40, "only {} pixels on the outline", soft.len());
    assert!(soft.iter().all(|p| p.0[0] > 60), "outlines are not blackened: {:?}", soft.iter().map(|p| p.0).min());
    let with_floor = Scene { ground: Some(Ground { height: -1.0, grid: None }), ..scene };
    let above = Camera { pitch: 0.5, ..camera };
    let shadowed = shot(renderer, &above, &with_floor);
    let dark = shadowed.pixels().filter(|p| (20..200).contains(&p.0[3]) && p.0[0] < 60).count();
    assert!(dark > 100, "the shadow is in the alpha: {dark} pixels");
}

#[test]
fn the_shadow_on_the_floor_ends_softly_and_without_grain() {
    let Some(renderer) = renderer() else { return };
    let mut mesh = ball();
    mesh.positions.iter_mut().for_each(|p| p.y += 1.0);
    let frame = uploaded(renderer, &mesh);
    let scene = Scene { ground: Some(Ground { height: -0.2, grid: None }), occlusion: false, ..on_white(&frame, MeshStyle::default()) };
    let mut camera = Camera::framing(&mesh.bounds(), NamedView::Top, 1.0);
    camera.distance *= 2.0;
    let picture = renderer.render_to_image(&camera, &scene, 400, 400).expect("a picture");
    // From the darkest place of the floor outwards, away from the ball.
    let floor = |x: u32, y: u32| f32::from(picture.get_pixel(x, y).0[0]);
    let is_floor = |x: u32, y: u32| {
        let p = picture.get_pixel(x, y).0;
        p[0].abs_diff(p[2]) <= 2
    };
    let dark = (0..400).flat_map(|y| (0..400).map(move |x| (x, y))).filter(|&(x, y)| is_floor(x, y));
    let (x, y) = dark.min_by(|a, b| floor(a.0, a.1).total_cmp(&floor(b.0, b.1))).expect("a shadow");
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
    let falls = profile.windows(2).map(|pair| pair[0] - pair[1]).fold(0.0, f32::max);
    assert!(falls <= 4.0, "outwards it gets darker again by {falls}: {profile:?}");
    let soft = profile.iter().filter(|v| **v > floor(x, y) + 10.0 && **v < 245.0).count();
    assert!(soft >= 4, "the edge is {soft} pixels wide");
}

fn moment(subject: &Arc<Subject>) -> (Vec<Vec3>, Vec<sinew::math::Affine>) {
    (vec![Vec3::y(); subject.bind_positions.len()], subject.character.skeleton.bind_transforms())
}

#[test]
fn both_sides_of_a_cut_are_all_of_the_flesh() {
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
    };
    let faces = |cut: Cut| {
        let mut extras = Extras::default();
        let look = Look { tets: true, cut: Some(cut), ..Look::default() };
        extras.update(&look, Some(&moment), &Marked::default());
        extras.overlays().iter().map(|overlay| overlay.triangles().len() / 3).sum::<usize>()
    };
    let tets = subject.tissue.as_ref().expect("flesh").tissue.quality.tets;
    for axis in 0..3 {
        for offset in [0.0, 0.3, 0.5] {
            let cut = Cut { axis, offset, flipped: false };
            let both = [faces(cut), faces(Cut { flipped: true, ..cut })];
            assert_eq!(both[0] + both[1], 4 * tets, "axis {axis} at {offset}: {both:?}");
        }
        assert_eq!(faces(Cut { axis, offset: 0.0, flipped: false }), 0);
        assert!(faces(Cut { axis, offset: 0.5, flipped: false }) > tets, "half of it, four faces each");
    }
}

#[test]
fn every_extra_draws_something_and_nothing_when_it_is_off() {
    let subject = cylinder();
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
    };
    let off = Look::default();
    let looks = [
        Look { bones: true, ..off },
        Look { bones: true, bones_in_front: false, ..off },
        Look { bone_volumes: true, ..off },
        Look { base_surface: true, ..off },
        Look { tets: true, ..off },
        Look { feet: true, ..off },
        Look { normals: true, ..off },
        Look { velocities: true, ..off },
    ];
    let mut extras = Extras::default();
    for look in looks {
        extras.update(&look, Some(&moment), &Marked::default());
        assert!(extras.overlays().iter().any(|overlay| !overlay.is_empty()), "{look:?}");
        assert_eq!(extras.legends().len(), usize::from(look.velocities));
        extras.update(&off, Some(&moment), &Marked::default());
        assert!(extras.overlays().iter().all(|overlay| overlay.is_empty()));
        extras.update(&look, None, &Marked::default());
        assert!(extras.overlays().iter().all(|overlay| overlay.is_empty()));
    }
}
