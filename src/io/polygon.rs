//! Triangulation of polygons.

use crate::math::{Point, Point64, Vec64};

/// Triangulates the polygons of one file. Ear clipping is quadratic in the number of corners; the
/// work for a whole file is limited, so that tangled polygons made to be slow do not delay it.
#[derive(Debug)]
pub(crate) struct Triangulator {
    /// Points that may still be tested against an ear; a test takes about 10 ns.
    tests_left: usize,
}

impl Default for Triangulator {
    fn default() -> Self {
        Self {
            tests_left: 100_000_000,
        }
    }
}

impl Triangulator {
    /// Appends the triangles of a polygon with its orientation: convex polygons as a fan, others by
    /// ear clipping in the plane of their area normal. A self-intersecting polygon still gets
    /// `n − 2` triangles. Indices must be valid.
    pub(crate) fn add(
        &mut self,
        corners: &[u32],
        positions: &[Point],
        triangles: &mut Vec<[u32; 3]>,
    ) {
        triangulate(corners, positions, triangles, &mut self.tests_left);
    }
}

fn triangulate(
    corners: &[u32],
    positions: &[Point],
    triangles: &mut Vec<[u32; 3]>,
    tests_left: &mut usize,
) {
    match *corners {
        [] | [_] | [_, _] => {}
        [a, b, c] => triangles.push([a, b, c]),
        _ => {
            let points: Vec<Point64> = corners
                .iter()
                .map(|&v| positions[v as usize].cast())
                .collect();
            // Ear clipping is quadratic; larger polygons are not expected in a skin.
            if is_convex(&points) || corners.len() > 2000 {
                triangles.extend(
                    corners[1..]
                        .windows(2)
                        .map(|edge| [corners[0], edge[0], edge[1]]),
                );
            } else {
                cut_ears(corners, &points, triangles, tests_left);
            }
        }
    }
}

/// Twice the vector area (Newell).
fn area_normal(points: &[Point64]) -> Vec64 {
    let first = points[0];
    points[1..]
        .windows(2)
        .map(|edge| (edge[0] - first).cross(&(edge[1] - first)))
        .sum()
}

fn turn(a: &Point64, b: &Point64, c: &Point64, normal: &Vec64) -> f64 {
    (b - a).cross(&(c - b)).dot(normal)
}

fn is_convex(points: &[Point64]) -> bool {
    let normal = area_normal(points);
    let n = points.len();
    (0..n).all(|i| {
        turn(
            &points[i],
            &points[(i + 1) % n],
            &points[(i + 2) % n],
            &normal,
        ) >= 0.0
    })
}

fn cut_ears(
    corners: &[u32],
    points: &[Point64],
    triangles: &mut Vec<[u32; 3]>,
    tests_left: &mut usize,
) {
    let normal = area_normal(points);
    let mut left: Vec<usize> = (0..corners.len()).collect();
    // Simple polygons need a fraction of this; self-intersecting ones must not take cubic time.
    let allowed = (4 * corners.len() * corners.len()).min(*tests_left);
    let mut tests = allowed;
    let mut start = 0;
    while left.len() > 3 {
        let n = left.len();
        let mut is_ear = |&i: &usize| {
            let [a, b, c] = [left[(i + n - 1) % n], left[i], left[(i + 1) % n]];
            let inside = |&p: &usize| {
                p != a
                    && p != b
                    && p != c
                    && is_inside(&points[p], [&points[a], &points[b], &points[c]], &normal)
            };
            if tests == 0 {
                return true;
            }
            let blocked = if turn(&points[a], &points[b], &points[c], &normal) > 0.0 {
                left.iter().position(inside)
            } else {
                Some(0)
            };
            tests = tests.saturating_sub(blocked.unwrap_or(n) + 1);
            blocked.is_none()
        };
        // No ear: the polygon is degenerate or self-intersecting; any corner will do.
        let ear = (0..n)
            .map(|i| (start + i) % n)
            .find(|i| is_ear(i))
            .unwrap_or(start % n);
        // The next ear is probably adjacent.
        start = ear.saturating_sub(1);
        triangles
            .push([left[(ear + n - 1) % n], left[ear], left[(ear + 1) % n]].map(|i| corners[i]));
        left.remove(ear);
    }
    triangles.push([left[0], left[1], left[2]].map(|i| corners[i]));
    *tests_left -= allowed - tests;
}

fn is_inside(p: &Point64, [a, b, c]: [&Point64; 3], normal: &Vec64) -> bool {
    turn(a, b, p, normal) >= 0.0 && turn(b, c, p, normal) >= 0.0 && turn(c, a, p, normal) >= 0.0
}

#[cfg(test)]
mod tests {
    use super::*;

    fn area(triangles: &[[u32; 3]], points: &[Point]) -> f32 {
        let twice = |t: &[u32; 3]| {
            let [a, b, c] = t.map(|v| points[v as usize]);
            (b - a).cross(&(c - a)).z
        };
        triangles.iter().map(twice).sum::<f32>() / 2.0
    }

    #[test]
    fn triangles_of_a_concave_polygon_cover_it_without_overlap() {
        // An arrow head: 7 corners, a reflex one at (1, 1).
        let points = [
            [0.0, 0.0],
            [4.0, 0.0],
            [4.0, 4.0],
            [3.0, 4.0],
            [3.0, 1.0],
            [1.0, 1.0],
            [0.0, 3.0],
        ];
        let points = points.map(|[x, y]| Point::new(x, y, 0.0));
        let mut triangles = Vec::new();
        Triangulator::default().add(&[0, 1, 2, 3, 4, 5, 6], &points, &mut triangles);
        assert_eq!(triangles.len(), 5);
        assert!(
            triangles.iter().all(|t| area(&[*t], &points) >= 0.0),
            "{triangles:?}"
        );
        assert!((area(&triangles, &points) - 8.0).abs() < 1e-5);
    }

    #[test]
    fn degenerate_polygons_terminate() {
        let points = [Point::origin(); 6];
        let mut triangles = Vec::new();
        Triangulator::default().add(&[0, 1, 2, 3, 4, 5], &points, &mut triangles);
        assert_eq!(triangles.len(), 4);
        let nan = [Point::new(f32::NAN, 0.0, 0.0); 5];
        Triangulator::default().add(&[0, 1, 2, 3, 4], &nan, &mut triangles);
        assert_eq!(triangles.len(), 7);
    }

    #[test]
    fn the_work_for_tangled_polygons_of_one_file_is_limited() {
        let n = 999_u32;
        let at = |i: u32| ((i * i * 3 + 7 * i) % 1009, (i * i * 5 + 7 * i) % 1009);
        let points: Vec<Point> = (0..n)
            .map(|i| Point::new(at(i).0 as f32, at(i).1 as f32, 0.0))
            .collect();
        let corners: Vec<u32> = (0..n).collect();
        let mut polygons = Triangulator {
            tests_left: 5_000_000,
        };
        let mut triangles = Vec::new();
        let mut left = Vec::new();
        for _ in 0..10 {
            polygons.add(&corners, &points, &mut triangles);
            left.push(polygons.tests_left);
        }
        assert_eq!(triangles.len(), 10 * (n as usize - 2));
        assert!(left[0] < 5_000_000 && left[9] == 0, "{left:?}");
    }
}
