//! Tests of the camera.

use super::*;
use crate::mesh::Bounds;
use crate::render::Margins;

fn cameras() -> Vec<Camera> {
    let bounds = Bounds {
        min: Point::new(-1.0, -0.2, -0.5),
        max: Point::new(0.6, 2.0, 0.7),
    };
    let mut all = Vec::new();
    for (_, view) in NamedView::ALL {
        for projection in [Projection::Perspective, Projection::Orthographic] {
            let mut camera = Camera {
                projection,
                ..Camera::default()
            };
            camera.look_from(view);
            camera.frame(&bounds, 1.5);
            all.push(camera);
        }
    }
    all
}

const SIZE: [f32; 2] = [900.0, 600.0];
/// Remaining part with margins of 6 %.
const FILLED: f32 = 0.88;

/// f32 through two 4 × 4 products, at coordinates of a few hundred pixels.
const PIXEL_TOL: f32 = 0.02;

#[test]
fn projecting_a_point_on_the_ray_returns_the_pixel() {
    for camera in cameras() {
        for pixel in [[0.0, 0.0], [450.0, 300.0], [13.5, 577.25], [899.0, 1.0]] {
            let ray = camera.ray_through(pixel, SIZE);
            assert!((ray.direction.norm() - 1.0).abs() < 1e-5);
            for along in [0.5, 1.0, 1.7] {
                let back = camera
                    .project(&ray.at(camera.distance * along), SIZE)
                    .expect("in front of the eye");
                let error = (back[0] - pixel[0]).hypot(back[1] - pixel[1]);
                assert!(error < PIXEL_TOL, "{camera:?}: {pixel:?} became {back:?}");
            }
        }
    }
}

#[test]
fn framing_shows_every_corner_tightly() {
    let bounds = Bounds {
        min: Point::new(-1.0, -0.2, -0.5),
        max: Point::new(0.6, 2.0, 0.7),
    };
    for camera in cameras() {
        let mut furthest: f32 = 0.0;
        for corner in 0..8 {
            let pick = |bit: usize, axis: usize| {
                if corner & bit == 0 {
                    bounds.min[axis]
                } else {
                    bounds.max[axis]
                }
            };
            let point = Point::new(pick(1, 0), pick(2, 1), pick(4, 2));
            let clip = camera.clip_from_world(1.5) * point.to_homogeneous();
            let ndc = clip / clip.w;
            assert!(
                ndc.x.abs() <= 1.0 && ndc.y.abs() <= 1.0 && (0.0..=1.0).contains(&ndc.z),
                "{camera:?} {ndc:?}"
            );
            furthest = furthest.max(ndc.x.abs()).max(ndc.y.abs());
        }
        assert!(furthest > 0.85, "{camera:?} fills only {furthest}");
    }
}

#[test]
fn framed_points_touch_the_margin_on_both_sides() {
    let points: Vec<Point> = (0..40_u8)
        .map(|i| f32::from(i) * 0.7)
        .map(|t| Point::new(t.sin() * 2.0, t * 0.1, (1.3 * t).cos()))
        .collect();
    for mut camera in cameras() {
        camera.frame_points(&points, 1.5);
        let mut ends = [[f32::INFINITY, f32::NEG_INFINITY]; 2];
        for point in &points {
            let clip = camera.clip_from_world(1.5) * point.to_homogeneous();
            for axis in 0..2 {
                ends[axis] = [
                    ends[axis][0].min(clip[axis] / clip.w),
                    ends[axis][1].max(clip[axis] / clip.w),
                ];
            }
        }
        let full = ends
            .iter()
            .any(|[low, high]| (low + FILLED).abs() < 1e-3 && (high - FILLED).abs() < 1e-3);
        let inside = ends.iter().flatten().all(|e| e.abs() < FILLED + 1e-3);
        assert!(full && inside, "{camera:?}: {ends:?}");
    }
}

#[test]
fn margins_may_differ() {
    let points = [
        Point::new(-0.3, 0.0, 0.2),
        Point::new(0.2, 1.8, -0.1),
        Point::new(0.1, 0.7, 0.4),
    ];
    for mut camera in cameras() {
        camera.frame_points_within(
            &points,
            1.5,
            Margins {
                sides: 0.05,
                top: 0.1,
                bottom: 0.2,
            },
        );
        let seen = points.map(|point| camera.project(&point, SIZE).expect("in front of the eye"));
        let within = |[x, y]: &[f32; 2]| (44.5..=855.5).contains(x) && (59.5..=480.5).contains(y);
        assert!(seen.iter().all(within), "{camera:?}: {seen:?}");
        let top = seen.iter().map(|p| p[1]).fold(f32::INFINITY, f32::min);
        let low = seen.iter().map(|p| p[1]).fold(0.0, f32::max);
        let width = seen.iter().map(|p| p[0]).fold(0.0, f32::max)
            - seen.iter().map(|p| p[0]).fold(f32::INFINITY, f32::min);
        assert!(
            ((top - 60.0).abs() < 0.5 && (low - 480.0).abs() < 0.5) || (width - 810.0).abs() < 0.5,
            "{camera:?}: {seen:?}"
        );
    }
}

#[test]
fn the_front_view_has_plus_x_on_the_right_and_plus_y_up() {
    let mut camera = Camera::default();
    camera.look_from(NamedView::Front);
    let at = |p: Point| camera.project(&p, SIZE).expect("visible");
    let middle = at(Point::origin());
    assert!(at(Point::new(0.1, 0.0, 0.0))[0] > middle[0]);
    assert!(at(Point::new(0.0, 0.1, 0.0))[1] < middle[1]);
}

#[test]
fn zooming_keeps_the_point_under_the_mouse() {
    for mut camera in cameras() {
        let pixel = [700.0, 120.0];
        let ray = camera.ray_through(pixel, SIZE);
        let (_, _, back) = camera.axes();
        let point = ray.at((camera.target - ray.origin).dot(&back) / ray.direction.dot(&back));
        camera.zoom_towards(0.6, pixel, SIZE);
        let now = camera.project(&point, SIZE).expect("visible");
        assert!(
            (now[0] - pixel[0]).hypot(now[1] - pixel[1]) < PIXEL_TOL * 3.0,
            "{now:?}"
        );
    }
}

#[test]
fn panning_moves_the_target_plane_with_the_mouse() {
    for mut camera in cameras() {
        let point = camera.target;
        camera.pan([40.0, -25.0], SIZE);
        let now = camera.project(&point, SIZE).expect("visible");
        assert!(
            (now[0] - 490.0).abs() < PIXEL_TOL && (now[1] - 275.0).abs() < PIXEL_TOL,
            "{now:?}"
        );
    }
}

#[test]
fn non_finite_input_leaves_the_camera_finite() {
    let mut camera = Camera::default();
    camera.orbit(f32::NAN, 1.0);
    camera.pan([f32::INFINITY, 0.0], [0.0, 0.0]);
    camera.zoom_towards(0.0, [0.0, 0.0], [0.0, 0.0]);
    camera.zoom_towards(f32::NAN, [1.0, 1.0], [10.0, 10.0]);
    camera.frame(&Bounds::of([]), f32::NAN);
    assert_eq!(camera, Camera::default());
    assert!(
        camera
            .clip_from_world(f32::NAN)
            .iter()
            .all(|c| c.is_finite())
    );
}

#[test]
fn another_axis_can_be_up() {
    for up in [Vec3::z(), -Vec3::y(), Vec3::x(), -Vec3::z()] {
        let mut camera = Camera {
            target: Point::new(0.3, 0.1, -0.2),
            ..Camera::default()
        };
        camera.set_up(&(up * 3.0));
        assert!((camera.up() - up).norm() < 1e-6);
        for yaw in [0.0, 0.4, 2.0] {
            camera.orbit(yaw, 0.05);
            let (right, over, back) = camera.axes();
            assert!(right.dot(&up).abs() < 1e-6, "the horizon stays level");
            assert!((right.cross(&over) - back).norm() < 1e-6, "right-handed");
            assert!(
                (back.dot(&up) - camera.pitch.sin()).abs() < 1e-6,
                "the pitch is the height above the horizon"
            );
        }
    }
    let mut camera = Camera::default();
    camera.set_up(&Vec3::z());
    camera.look_from(NamedView::Front);
    assert!(
        (camera.axes().2 + Vec3::y()).norm() < 1e-6,
        "where +Z is up, characters look along -Y"
    );
    camera.set_up(&Vec3::new(f32::NAN, 0.0, 0.0));
    camera.set_up(&Vec3::zeros());
    assert!((camera.up() - Vec3::z()).norm() < 1e-6);
}

#[test]
fn a_framed_sphere_fills_the_picture_about_its_centre() {
    let (center, radius) = (Point::new(0.4, 1.7, -0.3), 0.25);
    for mut camera in cameras() {
        camera.frame_sphere(center, radius, 1.5, Margins::default());
        let middle = camera.project(&center, SIZE).expect("in front of the eye");
        assert!((middle[0] - 450.0).hypot(middle[1] - 300.0) < PIXEL_TOL);
        let mut furthest: f32 = 0.0;
        for step in 0..4000 {
            // Points all over the sphere: a spiral.
            let height: f32 = 1.0 - (step as f32 + 0.5) / 2000.0;
            let (sin, cos) = (step as f32 * 2.399_963).sin_cos();
            let ring = (1.0 - height * height).sqrt();
            let point = center + Vec3::new(cos * ring, height, sin * ring) * radius;
            let clip = camera.clip_from_world(1.5) * point.to_homogeneous();
            let ndc = clip / clip.w;
            assert!((0.0..=1.0).contains(&ndc.z), "{camera:?} {ndc:?}");
            furthest = furthest.max(ndc.y.abs());
        }
        assert!(
            furthest < FILLED + 1e-3 && furthest > FILLED - 0.01,
            "{camera:?} fills {furthest}"
        );
    }
}

#[test]
fn magnifying_enlarges_about_the_target() {
    for camera in cameras() {
        let mut nearer = camera;
        nearer.magnify(2.5);
        assert_eq!((nearer.target, nearer.eye()), (camera.target, camera.eye()));
        let (right, up, _) = camera.axes();
        let point = camera.target + (right * 0.1 + up * 0.05) * camera.radius;
        let offset = |camera: &Camera| {
            let pixel = camera.project(&point, SIZE).expect("in front of the eye");
            [pixel[0] - 450.0, pixel[1] - 300.0]
        };
        let (before, after) = (offset(&camera), offset(&nearer));
        for side in 0..2 {
            assert!((after[side] - 2.5 * before[side]).abs() < PIXEL_TOL * 5.0);
        }
        nearer.magnify(f32::NAN);
        nearer.magnify(0.0);
        assert!(nearer.fov > 0.0 && nearer.fov < camera.fov);
    }
}
