//! Picking: triangles by ray, joints and bones by screen distance.

use super::camera::{Camera, CameraRay};
use crate::math::Point;

/// Intersection of a ray with a mesh.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct SurfaceHit {
    /// Index of the triangle.
    pub triangle: usize,
    /// Barycentric coordinates; they sum to 1.
    pub barycentric: [f32; 3],
    /// Distance along the ray.
    pub distance: f32,
    /// The point itself.
    pub point: Point,
}

/// The nearest triangle hit by a ray, from either side (Möller, Trumbore 1997). Triangles with an
/// index out of range or a non-finite corner are ignored.
#[must_use]
pub fn pick_surface(
    ray: &CameraRay,
    positions: &[Point],
    triangles: &[[u32; 3]],
) -> Option<SurfaceHit> {
    let mut nearest: Option<SurfaceHit> = None;
    for (triangle, corners) in triangles.iter().enumerate() {
        let [Some(a), Some(b), Some(c)] = corners.map(|v| positions.get(v as usize)) else {
            continue;
        };
        let Some((distance, v, w)) = intersect(ray, a, b, c) else {
            continue;
        };
        if nearest.is_none_or(|hit| distance < hit.distance) {
            nearest = Some(SurfaceHit {
                triangle,
                barycentric: [1.0 - v - w, v, w],
                distance,
                point: ray.at(distance),
            });
        }
    }
    nearest
}

/// Distance along the ray and weights of `b` and `c`.
fn intersect(ray: &CameraRay, a: &Point, b: &Point, c: &Point) -> Option<(f32, f32, f32)> {
    let (e1, e2) = (b - a, c - a);
    let p = ray.direction.cross(&e2);
    let det = e1.dot(&p);
    if det == 0.0 || !det.is_finite() {
        return None;
    }
    let s = ray.origin - a;
    let v = s.dot(&p) / det;
    let q = s.cross(&e1);
    let w = ray.direction.dot(&q) / det;
    let distance = e2.dot(&q) / det;
    (v >= 0.0 && w >= 0.0 && v + w <= 1.0 && distance >= 0.0 && distance.is_finite())
        .then_some((distance, v, w))
}

/// The projected point nearest to `pixel` in a picture of `size`, if within `reach` pixels. Of
/// points at equal distance (within a pixel), the one closer to the eye.
#[must_use]
pub fn pick_point(
    camera: &Camera,
    size: [f32; 2],
    pixel: [f32; 2],
    points: &[Point],
    reach: f32,
) -> Option<usize> {
    let distance = |point: &Point| {
        let at = camera.project(point, size)?;
        Some((at[0] - pixel[0]).hypot(at[1] - pixel[1]))
    };
    nearest(
        camera,
        points.iter().map(|point| (distance(point), *point)),
        reach,
    )
}

/// The projected segment nearest to `pixel`, if within `reach` pixels. Of segments at equal
/// distance (within a pixel), the one whose midpoint is closer to the eye.
#[must_use]
pub fn pick_segment(
    camera: &Camera,
    size: [f32; 2],
    pixel: [f32; 2],
    segments: &[[Point; 2]],
    reach: f32,
) -> Option<usize> {
    let distance = |[start, end]: &[Point; 2]| {
        let (a, b) = (camera.project(start, size)?, camera.project(end, size)?);
        let span = [b[0] - a[0], b[1] - a[1]];
        let squared = span[0] * span[0] + span[1] * span[1];
        let along = ((pixel[0] - a[0]) * span[0] + (pixel[1] - a[1]) * span[1])
            / squared.max(f32::MIN_POSITIVE);
        let along = along.clamp(0.0, 1.0);
        Some((a[0] + along * span[0] - pixel[0]).hypot(a[1] + along * span[1] - pixel[1]))
    };
    nearest(
        camera,
        segments
            .iter()
            .map(|s| (distance(s), nalgebra::center(&s[0], &s[1]))),
        reach,
    )
}

fn nearest(
    camera: &Camera,
    candidates: impl Iterator<Item = (Option<f32>, Point)>,
    reach: f32,
) -> Option<usize> {
    let mut best: Option<(usize, f32, f32)> = None;
    for (index, (pixels, point)) in candidates.enumerate() {
        let Some(pixels) = pixels.filter(|&pixels| pixels <= reach) else {
            continue;
        };
        let depth = (camera.eye() - point).dot(&camera.axes().2);
        let better = best.is_none_or(|(_, old, old_depth)| {
            pixels < old - 1.0 || (pixels < old + 1.0 && depth < old_depth)
        });
        if better {
            best = Some((index, pixels, depth));
        }
    }
    best.map(|(index, ..)| index)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::math::Vec3;

    fn square(z: f32) -> (Vec<Point>, Vec<[u32; 3]>) {
        let corner = |x, y| Point::new(x, y, z);
        (
            vec![
                corner(-1.0, -1.0),
                corner(1.0, -1.0),
                corner(1.0, 1.0),
                corner(-1.0, 1.0),
            ],
            vec![[0, 1, 2], [0, 2, 3]],
        )
    }

    #[test]
    fn the_nearest_of_two_walls_is_hit_with_matching_barycentrics() {
        let (mut positions, mut triangles) = square(-2.0);
        let (near, faces) = square(0.5);
        triangles.extend(faces.iter().map(|t| t.map(|v| v + 4)));
        positions.extend(near);
        let ray = CameraRay {
            origin: Point::new(0.3, -0.4, 5.0),
            direction: -Vec3::z(),
        };
        let hit = pick_surface(&ray, &positions, &triangles).expect("a hit");
        assert!((hit.point - Point::new(0.3, -0.4, 0.5)).norm() < 1e-6);
        assert!(hit.triangle >= 2);
        let corners = triangles[hit.triangle].map(|v| positions[v as usize].coords);
        let blended: Vec3 = corners
            .iter()
            .zip(hit.barycentric)
            .map(|(c, w)| c * w)
            .sum();
        assert!((blended - hit.point.coords).norm() < 1e-6);
        assert!((hit.barycentric.iter().sum::<f32>() - 1.0).abs() < 1e-6);
    }

    #[test]
    fn nothing_is_hit_behind_beside_or_in_invalid_triangles() {
        let (mut positions, mut triangles) = square(0.0);
        let towards = |x, z, dz| CameraRay {
            origin: Point::new(x, 0.2, z),
            direction: Vec3::z() * dz,
        };
        assert_eq!(
            pick_surface(&towards(3.0, 5.0, -1.0), &positions, &triangles),
            None
        );
        assert_eq!(
            pick_surface(&towards(0.0, 5.0, 1.0), &positions, &triangles),
            None
        );
        assert!(pick_surface(&towards(0.0, -5.0, 1.0), &positions, &triangles).is_some());
        triangles[0][1] = 77;
        positions[3].x = f32::NAN;
        assert_eq!(
            pick_surface(&towards(0.0, 5.0, -1.0), &positions, &triangles),
            None
        );
    }

    #[test]
    fn the_pixel_of_a_point_picks_it_and_the_nearer_of_two_in_line() {
        let camera = Camera::default();
        let size = [800.0, 600.0];
        let points = [
            Point::new(0.2, 0.1, 0.0),
            Point::new(-0.3, 0.4, 0.2),
            Point::origin(),
        ];
        for (index, point) in points.iter().enumerate() {
            let pixel = camera.project(point, size).expect("visible");
            assert_eq!(pick_point(&camera, size, pixel, &points, 6.0), Some(index));
            assert_eq!(
                pick_point(&camera, size, [pixel[0] + 400.0, pixel[1]], &points, 6.0),
                None
            );
        }
        let ray = camera.ray_through([500.0, 200.0], size);
        let line = [ray.at(5.0), ray.at(3.0), ray.at(6.0)];
        assert_eq!(
            pick_point(&camera, size, [500.0, 200.0], &line, 6.0),
            Some(1)
        );
    }

    #[test]
    fn a_bone_is_picked_along_its_length_but_not_beyond_its_ends() {
        let camera = Camera::default();
        let size = [800.0, 600.0];
        let bone = [Point::new(-0.4, 0.0, 0.0), Point::new(0.4, 0.1, 0.0)];
        let at = |t: f32| {
            camera
                .project(&(bone[0] + (bone[1] - bone[0]) * t), size)
                .expect("visible")
        };
        for t in [0.0, 0.3, 1.0] {
            assert_eq!(pick_segment(&camera, size, at(t), &[bone], 4.0), Some(0));
        }
        assert_eq!(pick_segment(&camera, size, at(1.3), &[bone], 4.0), None);
    }
}
