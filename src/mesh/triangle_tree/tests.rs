use super::super::shapes;
use super::*;

fn sphere() -> TriMesh {
    shapes::ball(Point::origin(), 1.0, 12, 20)
}

#[test]
fn closest_equals_brute_force() {
    let mesh = sphere();
    let tree = TriangleTree::new(&mesh);
    for k in 0..50 {
        let t = f64::from(k);
        let p = Point64::new(
            (t * 0.7).sin() * 2.0,
            (t * 1.3).cos(),
            (t * 2.1).sin() * 1.5,
        );
        let even = |triangle: u32| triangle.is_multiple_of(2);
        let found = tree.closest(&p, f64::INFINITY, even).unwrap();
        let brute = (0..mesh.triangles.len())
            .filter(|&t| even(t as u32))
            .map(|t| {
                let [a, b, c] = mesh.corners(t).map(nalgebra::OPoint::cast::<f64>);
                (closest_on_triangle(&p, &a, &b, &c) - p).norm()
            })
            .fold(f64::INFINITY, f64::min);
        assert!((found.distance - brute).abs() < 1e-12, "{found:?} {brute}");
    }
    assert!(
        tree.closest(&Point64::new(3.0, 0.0, 0.0), 1.0, |_| true)
            .is_none()
    );
    assert!(
        TriangleTree::new(&TriMesh::default())
            .closest(&Point64::origin(), 1.0, |_| true)
            .is_none()
    );
}

#[test]
fn best_equals_brute_force() {
    let mesh = sphere();
    let tree = TriangleTree::new(&mesh);
    for k in 0..50 {
        let t = f64::from(k);
        let p = Point64::new(
            (t * 0.7).sin() * 2.0,
            (t * 1.3).cos(),
            (t * 2.1).sin() * 1.5,
        );
        let penalty = |triangle: u32| {
            if triangle == 7 {
                f64::INFINITY
            } else {
                f64::from(triangle % 5) * 0.1
            }
        };
        let (found, sum) = tree.best(&p, penalty).unwrap();
        let of = |t: u32| {
            let corners = mesh.corners(t as usize);
            let [a, b, c]: [Point64; 3] = [corners[0].cast(), corners[1].cast(), corners[2].cast()];
            (closest_on_triangle(&p, &a, &b, &c) - p).norm() + penalty(t)
        };
        let brute = (0..mesh.triangles.len() as u32)
            .map(of)
            .fold(f64::INFINITY, f64::min);
        assert!(
            (sum - brute).abs() < 1e-12 && (of(found.triangle) - brute).abs() < 1e-12,
            "{found:?} {brute}"
        );
    }
    assert!(
        tree.best(&Point64::new(f64::NAN, 0.0, 0.0), |_| 0.0)
            .is_none()
    );
    assert!(tree.best(&Point64::origin(), |_| f64::INFINITY).is_none());
}

#[test]
fn a_ray_from_inside_crosses_once_and_from_outside_twice() {
    let tree = TriangleTree::new(&sphere());
    let direction = Vec64::new(0.3, 0.2, 0.9);
    let count = |origin: Point64| {
        let mut seen = Vec::new();
        tree.crossings(&origin, &direction, [0.0, f64::INFINITY], |c| {
            seen.push(c.outward);
        });
        seen.sort_unstable();
        seen
    };
    assert_eq!(count(Point64::new(0.1, 0.05, -0.1)), [true]);
    assert_eq!(count(Point64::from(direction * -4.0)), [false, true]);
    assert_eq!(count(Point64::from(direction * 4.0)), [] as [bool; 0]);
}

#[test]
fn all_overlapping_boxes_are_found() {
    let mesh = sphere();
    let tree = TriangleTree::new(&mesh);
    let around = Bounds {
        min: Point::new(0.2, 0.2, 0.2),
        max: Point::new(0.9, 0.8, 0.7),
    };
    let mut found = Vec::new();
    tree.meeting(&around, |t| found.push(t));
    found.sort_unstable();
    let brute: Vec<u32> = (0..mesh.triangles.len() as u32)
        .filter(|&t| meet(&Bounds::of(&mesh.corners(t as usize)), &around))
        .collect();
    assert_eq!(found, brute);
}
