//! Pictures show what they should, where they should. Needs an adapter (software Vulkan will do).

use std::sync::Arc;

use image::RgbaImage;
use sinew::character::{
    Attachment, Character, Image, Material, NormalMap, SourceFaces, SourceMesh,
};
use sinew::gpu::GpuError;
use sinew::math::{Point, Vec3};
use sinew::mesh::TriMesh;
use sinew::render::{
    Background, BoneGlyph, BoneState, Camera, CharacterPicture, Ground, MeshFrame, MeshModel,
    MeshStyle, NamedView, Overlay, OverlayLayer, Projection, RenderTarget, Renderer, Scene,
    WIRE_COLOR,
};

use crate::common::drawn::{ball, renderer, uploaded};

fn on_white(mesh: &MeshFrame, style: MeshStyle) -> Scene<'_> {
    Scene {
        background: Background::WHITE,
        ground: None,
        ..Scene::of(mesh, style, 0.0)
    }
}

const SIZE: u32 = 160;

fn shot(renderer: &Renderer, camera: &Camera, scene: &Scene<'_>) -> RgbaImage {
    renderer
        .render_to_image(camera, scene, SIZE, SIZE)
        .expect("a picture")
}

fn front_of(mesh: &TriMesh, projection: Projection) -> Camera {
    let mut camera = Camera {
        projection,
        ..Camera::default()
    };
    camera.look_from(NamedView::Front);
    camera.frame(&mesh.bounds(), 1.0);
    camera
}

fn is_white(pixel: image::Rgba<u8>) -> bool {
    pixel.0 == [255; 4]
}

#[test]
fn a_ball_covers_exactly_the_pixels_whose_rays_meet_it() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    for projection in [Projection::Perspective, Projection::Orthographic] {
        let camera = front_of(&mesh, projection);
        let picture = shot(renderer, &camera, &on_white(&frame, MeshStyle::default()));
        let (mut inside, mut outside) = (0, 0);
        for (x, y, pixel) in picture.enumerate_pixels() {
            let ray = camera.ray_through([x as f32 + 0.5, y as f32 + 0.5], [SIZE as f32; 2]);
            let miss = ray.origin.coords.cross(&ray.direction).norm();
            // Between the two lies the outline: about two pixels and the flatness of the ball's faces.
            if miss < 0.95 {
                assert!(!is_white(*pixel), "{projection:?}: hole at {x}, {y}");
                inside += 1;
            } else if miss > 1.04 {
                assert!(
                    is_white(*pixel),
                    "{projection:?}: {pixel:?} beside the ball at {x}, {y}"
                );
                outside += 1;
            }
        }
        assert!(
            inside > 5000 && outside > 3000,
            "{inside} inside, {outside} outside"
        );
    }
}

#[test]
fn light_comes_from_above_and_clay_stays_neutral() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let picture = shot(
        renderer,
        &front_of(&mesh, Projection::Perspective),
        &on_white(&frame, MeshStyle::default()),
    );
    let at = |x: f32, y: f32| {
        picture
            .get_pixel((x * SIZE as f32) as u32, (y * SIZE as f32) as u32)
            .0
    };
    let luma = |p: [u8; 4]| p[..3].iter().map(|&c| u32::from(c)).sum::<u32>();
    assert!(
        luma(at(0.4, 0.25)) > luma(at(0.5, 0.5)),
        "above is brighter than the middle"
    );
    assert!(
        luma(at(0.5, 0.5)) > luma(at(0.6, 0.82)),
        "the middle is brighter than below"
    );
    assert!(luma(at(0.6, 0.82)) > 90, "shadows are not black");
    for p in [at(0.4, 0.25), at(0.5, 0.5), at(0.6, 0.82)] {
        assert!(p[0].abs_diff(p[2]) < 50, "clay is no colour: {p:?}");
    }
}

const MAGENTA: [u8; 4] = [255, 0, 255, 255];

/// A square of plain colour in the middle of the ball, facing the front.
fn square(layer: OverlayLayer) -> Overlay {
    let mut overlay = Overlay::new(layer);
    let corner = |x, y| Point::new(x, y, 0.0);
    let none = [Vec3::zeros(); 3];
    overlay.triangle(
        [corner(-0.4, -0.4), corner(0.4, -0.4), corner(0.4, 0.4)],
        none,
        MAGENTA,
    );
    overlay.triangle(
        [corner(-0.4, -0.4), corner(0.4, 0.4), corner(-0.4, 0.4)],
        none,
        MAGENTA,
    );
    overlay
}

fn is_magenta(pixel: image::Rgba<u8>) -> bool {
    pixel.0[0] > 200 && pixel.0[1] < 90 && pixel.0[2] > 200
}

#[test]
fn overlays_in_front_are_visible_through_the_skin_and_inner_ones_are_not() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let camera = front_of(&mesh, Projection::Perspective);
    let seen = |layer: OverlayLayer, opacity: f32| {
        let overlay = square(layer);
        let mut scene = on_white(
            &frame,
            MeshStyle {
                opacity,
                ..MeshStyle::default()
            },
        );
        scene.overlays.push(&overlay);
        shot(renderer, &camera, &scene)
    };
    let middle = SIZE / 2;
    assert!(is_magenta(
        *seen(OverlayLayer::Front, 1.0).get_pixel(middle, middle)
    ));
    assert!(is_magenta(
        *seen(OverlayLayer::FrontGlass, 1.0).get_pixel(middle, middle)
    ));
    assert!(!is_magenta(
        *seen(OverlayLayer::Solid, 1.0).get_pixel(middle, middle)
    ));
    let ghost = seen(OverlayLayer::Solid, 0.4).get_pixel(middle, middle).0;
    assert!(
        ghost[0] > ghost[1] + 20 && ghost[2] > ghost[1] + 20,
        "a see-through skin shows {ghost:?}"
    );
}

#[test]
fn a_bone_and_a_line_are_seen_in_front_and_only_there() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let camera = front_of(&mesh, Projection::Perspective);
    let bare = shot(renderer, &camera, &on_white(&frame, MeshStyle::default()));
    let mut overlay = Overlay::new(OverlayLayer::Front);
    let bone = BoneGlyph {
        head: Point::new(-0.5, 0.0, 0.0),
        tail: Point::new(0.5, 0.0, 0.0),
        state: BoneState::Selected,
    };
    overlay.bones(&[bone], 0.05);
    overlay.line(
        &Point::new(0.0, 0.5, 0.0),
        &Point::new(0.0, 0.9, 0.0),
        [0, 0, 255, 255],
        3.0,
    );
    let mut scene = on_white(&frame, MeshStyle::default());
    scene.overlays.push(&overlay);
    let picture = shot(renderer, &camera, &scene);
    let size = [SIZE as f32; 2];
    let pixel_of = |p: Point| {
        camera
            .project(&p, size)
            .map(|[x, y]| picture.get_pixel(x as u32, y as u32).0)
            .expect("visible")
    };
    let bone_color = pixel_of(Point::new(-0.2, 0.02, 0.0));
    assert!(
        bone_color[0] > bone_color[2] + 60,
        "the bone is orange, not {bone_color:?}"
    );
    let line_color = pixel_of(Point::new(0.0, 0.7, 0.0));
    assert!(
        line_color[2] > 200 && line_color[0] < 60,
        "the line is blue, not {line_color:?}"
    );
    let changed = bare
        .pixels()
        .zip(picture.pixels())
        .filter(|(a, b)| a != b)
        .count();
    assert!((60..2500).contains(&changed), "{changed} pixels changed");
}

/// A square with a texture of four colours, its upper left corner transparent.
fn poster(alpha_cutoff: Option<f32>) -> Character {
    let rgba = vec![
        255, 0, 0, 0, 0, 255, 0, 255, 0, 0, 255, 255, 255, 255, 0, 255,
    ];
    let wide = |row: &[u8]| {
        row.chunks(4)
            .flat_map(|pixel| pixel.repeat(8))
            .collect::<Vec<u8>>()
    };
    let big = rgba.chunks(8).flat_map(|row| wide(row).repeat(8)).collect();
    let corner = |x, y| Point::new(x, y, 0.0);
    Character {
        meshes: vec![SourceMesh {
            name: "poster".into(),
            positions: vec![
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ],
            triangles: vec![[0, 1, 2], [0, 2, 3]],
            normals: None,
            tex_coords: Some(vec![[0.0, 1.0], [1.0, 1.0], [1.0, 0.0], [0.0, 0.0]]),
            faces: SourceFaces::default(),
            material: Some(0),
            attachment: Attachment::Unweighted,
        }],
        materials: vec![Material {
            name: "four colours".into(),
            base_color: [1.0; 4],
            base_color_image: Some(Arc::new(Image::new(16, 16, big))),
            alpha_cutoff,
            ..Material::default()
        }],
        ..Character::default()
    }
}

fn poster_shot(renderer: &Renderer, character: &Character, style: MeshStyle) -> RgbaImage {
    tilted_shot(renderer, character, style, Vec3::z())
}

/// The same with another normal everywhere.
fn tilted_shot(
    renderer: &Renderer,
    character: &Character,
    style: MeshStyle,
    normal: Vec3,
) -> RgbaImage {
    let positions = character.bind_positions();
    let camera = Camera::framing(&sinew::mesh::Bounds::of(&positions), NamedView::Front, 1.0);
    let picture = CharacterPicture {
        character,
        positions: &positions,
        normals: &vec![normal; positions.len()],
        overlays: &[],
        camera: &camera,
        style,
        background: Background::WHITE,
        ground: None,
        size: [SIZE; 2],
    };
    renderer.picture(&picture).expect("a picture")
}

/// Tangent space of the poster is that of the world: u grows along x, and v falls along y.
#[test]
fn a_normal_map_of_one_normal_is_drawn_as_that_normal() {
    let Some(renderer) = renderer() else { return };
    for [x, y] in [[0.0, 0.0], [0.6, 0.0], [-0.6, 0.0], [0.0, 0.5], [0.3, -0.6]] {
        let normal = Vec3::new(x, y, (1.0 - x * x - y * y).sqrt());
        let byte = |c: f32| ((c * 0.5 + 0.5) * 255.0).round() as u8;
        let texel = [byte(normal.x), byte(normal.y), byte(normal.z), 255];
        let mut mapped = poster(None);
        mapped.materials[0].normal_map = Some(NormalMap {
            image: Arc::new(Image::new(1, 1, texel.to_vec())),
            scale: 1.0,
        });
        let style = MeshStyle::default;
        let expected = tilted_shot(renderer, &poster(None), style(), normal);
        let drawn = poster_shot(renderer, &mapped, style());
        // A byte of the map is a tone or two of the picture.
        let pairs = expected.pixels().zip(drawn.pixels());
        let off = pairs.flat_map(|(a, b)| (0..3).map(move |c| a.0[c].abs_diff(b.0[c])));
        let worst = off.max().unwrap_or(0);
        assert!(worst <= 6, "normal {normal:?}: off by {worst}");
        if x != 0.0 || y != 0.0 {
            let flat = poster_shot(renderer, &poster(None), style());
            assert!(flat != drawn, "the map changes nothing");
        }
    }
}

#[test]
fn textures_are_upright_and_cut_out_where_asked() {
    let Some(renderer) = renderer() else { return };
    let (low, high) = (SIZE * 3 / 10, SIZE * 7 / 10);
    let quarters = |picture: &RgbaImage| {
        [(low, low), (high, low), (low, high), (high, high)].map(|(x, y)| *picture.get_pixel(x, y))
    };
    let strongest = |p: image::Rgba<u8>| p.0[..3].iter().map(|&c| c > 130).collect::<Vec<_>>();

    let opaque = quarters(&poster_shot(renderer, &poster(None), MeshStyle::default()));
    let expected = [
        [true, false, false],
        [false, true, false],
        [false, false, true],
        [true, true, false],
    ];
    assert_eq!(opaque.map(strongest), expected, "{opaque:?}");

    let cut = quarters(&poster_shot(
        renderer,
        &poster(Some(0.5)),
        MeshStyle::default(),
    ));
    assert!(is_white(cut[0]), "a hole shows {:?}", cut[0]);
    assert_eq!(cut.map(strongest)[1..], expected[1..]);

    let clay = quarters(&poster_shot(
        renderer,
        &poster(None),
        MeshStyle {
            materials: false,
            ..MeshStyle::default()
        },
    ));
    assert!(
        clay.iter().all(|p| p.0[0].abs_diff(p.0[2]) < 60),
        "clay has no colours: {clay:?}"
    );
}

#[test]
fn edges_darken_some_pixels_and_leave_most() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let camera = front_of(&mesh, Projection::Perspective);
    let plain = shot(renderer, &camera, &on_white(&frame, MeshStyle::default()));
    let wired = shot(
        renderer,
        &camera,
        &on_white(
            &frame,
            MeshStyle {
                wireframe: Some(WIRE_COLOR),
                ..MeshStyle::default()
            },
        ),
    );
    let darker = plain
        .pixels()
        .zip(wired.pixels())
        .filter(|(a, b)| b.0[1].saturating_add(12) < a.0[1])
        .count();
    let lighter = plain
        .pixels()
        .zip(wired.pixels())
        .filter(|(a, b)| b.0[1] > a.0[1].saturating_add(12))
        .count();
    assert!(darker > 1500, "only {darker} pixels are darker");
    assert!(lighter < 200, "{lighter} pixels are lighter");
}

#[test]
fn the_floor_is_dark_under_the_ball_and_clear_far_away() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let mut camera = front_of(&mesh, Projection::Perspective);
    camera.pitch = 0.35;
    camera.distance *= 1.6;
    let mut scene = on_white(&frame, MeshStyle::default());
    scene.ground = Some(Ground {
        height: -1.0,
        grid: None,
    });
    let picture = shot(renderer, &camera, &scene);
    let at = |p: Point| {
        camera
            .project(&p, [SIZE as f32; 2])
            .map(|[x, y]| picture.get_pixel(x as u32, y as u32).0[0])
            .expect("visible")
    };
    let (under, beside) = (
        at(Point::new(1.25, -1.0, -0.35)),
        at(Point::new(-1.9, -1.0, 0.9)),
    );
    assert!(
        under < 215 && beside > 235,
        "{under} under the ball, {beside} beside it"
    );
}

/// Occlusion looks at neighbours of every pixel; at the edges of the picture there are none on one side.
#[test]
fn the_floor_is_as_bright_at_the_edges_of_a_picture_as_inside() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let mut camera = front_of(&mesh, Projection::Perspective);
    camera.pitch = 0.9;
    let mut scene = on_white(&frame, MeshStyle::default());
    scene.ground = Some(Ground {
        height: -1.0,
        grid: None,
    });
    let picture = shot(renderer, &camera, &scene);
    let at = |x: u32, y: u32| i32::from(picture.get_pixel(x, y).0[0]);
    let (last, inside) = (SIZE - 1, SIZE - 13);
    for k in (0..SIZE / 8).chain(SIZE * 7 / 8..SIZE - 16) {
        for (edge, within) in [
            (at(k, last), at(k, inside)),
            (at(last, k), at(inside, k)),
            (at(k, 0), at(k, 12)),
            (at(0, k), at(12, k)),
        ] {
            assert!((edge - within).abs() <= 4, "{k}: {edge} and {within}");
        }
    }
}

#[test]
fn the_same_scene_gives_the_same_bytes_also_after_others() {
    let Some(renderer) = renderer() else { return };
    let mesh = ball();
    let frame = uploaded(renderer, &mesh);
    let mut scene = on_white(&frame, MeshStyle::default());
    scene.ground = Some(Ground {
        height: -1.0,
        grid: Some(0.25),
    });
    let camera = Camera::framing(&mesh.bounds(), NamedView::ThreeQuarter, 1.0);
    let mut target = RenderTarget::new(renderer, SIZE, SIZE);
    renderer.render(&mut target, &camera, &scene);
    let first = target.read(renderer.gpu()).expect("a picture");
    renderer.render(
        &mut target,
        &Camera::framing(&mesh.bounds(), NamedView::Top, 1.0),
        &Scene::default(),
    );
    renderer.render(&mut target, &camera, &scene);
    assert!(first == target.read(renderer.gpu()).expect("a picture"));
}

#[test]
fn empty_and_invalid_scenes_are_drawn() {
    let Some(renderer) = renderer() else { return };
    let gpu = renderer.gpu();
    assert!(matches!(
        renderer.render_to_image(&Camera::default(), &Scene::default(), 0, 9),
        Err(GpuError::Size { .. })
    ));
    let mut tiny = RenderTarget::new(renderer, 0, 0);
    assert_eq!(tiny.size(), [1, 1]);
    renderer.render(&mut tiny, &Camera::default(), &Scene::default());

    let mesh = ball();
    let camera = front_of(&mesh, Projection::Perspective);
    let mut frame = uploaded(renderer, &mesh);
    let good = shot(renderer, &camera, &on_white(&frame, MeshStyle::default()));
    let mut broken = mesh.positions.clone();
    broken[100] = Point::new(f32::NAN, f32::INFINITY, 0.0);
    frame.update(gpu, &broken, &mesh.vertex_normals());
    assert!(
        good == shot(renderer, &camera, &on_white(&frame, MeshStyle::default())),
        "the last good position stays"
    );

    let nowhere = vec![Point::new(f32::NAN, f32::NAN, f32::NAN); mesh.positions.len()];
    frame.update(
        gpu,
        &nowhere,
        &vec![Vec3::new(f32::NAN, 0.0, 0.0); nowhere.len()],
    );
    frame.update(gpu, &[], &[]);
    let picture = shot(renderer, &camera, &on_white(&frame, MeshStyle::default()));
    assert!(picture.pixels().copied().all(is_white));
    let empty = uploaded(renderer, &TriMesh::default());
    let style = MeshStyle {
        wireframe: Some(WIRE_COLOR),
        opacity: 0.5,
        ..MeshStyle::default()
    };
    assert!(
        shot(renderer, &camera, &on_white(&empty, style))
            .pixels()
            .copied()
            .all(is_white)
    );
    let bad_index = TriMesh {
        positions: mesh.positions,
        triangles: vec![[0, 1, 9_999_999]],
    };
    let model = MeshModel::of_triangles(renderer, &bad_index.triangles, bad_index.positions.len());
    let mut frame = MeshFrame::new(renderer, &model);
    frame.update(
        gpu,
        &bad_index.positions,
        &vec![Vec3::z(); bad_index.positions.len()],
    );
    assert!(
        shot(renderer, &camera, &on_white(&frame, style))
            .pixels()
            .copied()
            .all(is_white)
    );
}
