use super::*;
use crate::math::{Point64, Vec64, affine, transform_point};
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::mesh::{Bounds, closest_on_triangle};
use crate::tissue::SkinComponent;

const RADIUS: f32 = 0.1;

/// A limb along y with a sleeve around it and a button on it.
struct SleeveScene {
    mesh: TriMesh,
    parts: Parts,
    skeleton: Skeleton,
    flesh: usize,
}

fn scene(sleeve_radius: f32) -> SleeveScene {
    let limb = tube(RADIUS, 1.0, 80, 32, true);
    let sleeve = moved(tube(sleeve_radius, 0.8, 64, 40, false), Vec3::y() * 0.1);
    let button = ball(Point::new(0.0, 0.5, RADIUS + 0.01), 0.02, 6, 8);
    let sword = ball(Point::new(0.5, 0.9, 0.0), 0.05, 6, 8);
    let shells = [limb, sleeve, button, sword];
    let places = [
        (Place::Flesh, None),
        (Place::Rides, None),
        (Place::Rides, Some(0)),
        (Place::Rigid { joint: 0 }, None),
    ];
    let part_of_vertex = (0..4)
        .flat_map(|part: u32| std::iter::repeat_n(part, shells[part as usize].positions.len()))
        .collect();
    let part = |(place, cluster): (Place, Option<u32>)| SkinComponent {
        name: String::new(),
        mesh: String::new(),
        vertices: 0,
        triangles: 0,
        area: 0.0,
        bounds: Bounds::of([]),
        place,
        cluster,
        by_user: false,
        reason: String::new(),
    };
    let skeleton =
        Skeleton::from_positions(&[("root".to_owned(), None, Point64::new(0.0, 0.1, 0.0))])
            .unwrap();
    let parts = Parts {
        part_of_vertex,
        parts: places.into_iter().map(part).collect(),
    };
    SleeveScene {
        flesh: shells[0].positions.len(),
        mesh: joined(&shells),
        parts,
        skeleton,
    }
}

impl SleeveScene {
    fn riding(&self) -> Riding {
        Riding::bind(
            &self.mesh,
            &self.parts,
            &self.skeleton,
            None,
            &Progress::new(),
        )
        .unwrap()
    }

    /// Positions with the flesh moved by `map` and all other vertices set to NaN.
    fn placed(&self, map: impl Fn(&Point) -> Point, world_from_joint: &[Affine]) -> Vec<Point> {
        let mut riding = self.riding();
        assert_eq!(riding.len(), self.mesh.positions.len() - self.flesh);
        let mut positions =
            vec![Point::new(f32::NAN, f32::NAN, f32::NAN); self.mesh.positions.len()];
        positions
            .iter_mut()
            .zip(&self.mesh.positions)
            .take(self.flesh)
            .for_each(|(p, rest)| *p = map(rest));
        riding.place(&mut positions, world_from_joint);
        positions
    }

    fn of_part(&self, part: u32) -> impl Iterator<Item = usize> + '_ {
        (0..self.mesh.positions.len()).filter(move |&v| self.parts.part_of_vertex[v] == part)
    }

    /// Smallest and largest ratio of an edge's length to its rest length.
    fn stretch(&self, part: u32, now: &[Point]) -> (f32, f32) {
        let edges = self
            .mesh
            .triangles
            .iter()
            .filter(|t| self.parts.part_of_vertex[t[0] as usize] == part);
        edges
            .flat_map(|t| [[t[0], t[1]], [t[1], t[2]], [t[2], t[0]]])
            .fold((f32::INFINITY, 0.0), |(low, high), [a, b]| {
                let length = |p: &[Point]| (p[a as usize] - p[b as usize]).norm();
                let ratio = length(now) / length(&self.mesh.positions);
                (low.min(ratio), high.max(ratio))
            })
    }
}

fn joints(scene: &SleeveScene) -> Vec<Affine> {
    scene.skeleton.bind_transforms()
}

/// Bends the y axis by `angle` between y = 0.3 and y = 0.7, around the z axis.
fn bent(p: &Point, angle: f32) -> Point {
    let (from, to) = (0.3, 0.7);
    let at = |y: f32| angle * ((y - from) / (to - from)).clamp(0.0, 1.0);
    // The centre line, as the sum of many short steps.
    let steps = 2000;
    let mut middle = Vec3::zeros();
    for k in 0..steps {
        let y = p.y * (k as f32 + 0.5) / steps as f32;
        middle += Vec3::new(-at(y).sin(), at(y).cos(), 0.0) * (p.y / steps as f32);
    }
    let turn = at(p.y);
    Point::from(middle + Vec3::new(turn.cos(), turn.sin(), 0.0) * p.x + Vec3::z() * p.z)
}

/// Distance to the flesh, negative inside.
fn outside(scene: &SleeveScene, now: &[Point], vertex: usize) -> f64 {
    let p = now[vertex].cast::<f64>();
    let flesh = scene
        .mesh
        .triangles
        .iter()
        .filter(|t| (t[0] as usize) < scene.flesh);
    let nearest = flesh.map(|t| {
        let [a, b, c] = t.map(|v| now[v as usize].cast::<f64>());
        let q = closest_on_triangle(&p, &a, &b, &c);
        ((q - p).norm(), (p - q).dot(&(b - a).cross(&(c - a))))
    });
    let (distance, side) = nearest.min_by(|a, b| a.0.total_cmp(&b.0)).unwrap();
    if side >= 0.0 { distance } else { -distance }
}

#[test]
fn rest_stays_and_a_rigid_motion_is_followed() {
    let scene = scene(0.115);
    let off = |now: &[Point], map: &Affine| {
        scene
            .mesh
            .positions
            .iter()
            .zip(now)
            .map(|(rest, p)| (transform_point(map, rest) - p).norm())
            .fold(0.0, f32::max)
    };
    let still = scene.placed(|p| *p, &joints(&scene));
    assert!(
        off(&still, &Affine::identity()) < 1e-6,
        "{}",
        off(&still, &Affine::identity())
    );
    let turn = nalgebra::Rotation3::from_scaled_axis(Vec64::new(0.4, -1.0, 2.0));
    let motion = affine(turn.matrix(), &Vec64::new(0.3, -0.2, 0.1));
    let world: Vec<Affine> = joints(&scene).iter().map(|joint| motion * joint).collect();
    let now = scene.placed(|p| transform_point(&motion, p), &world);
    assert!(off(&now, &motion) < 2e-6, "{}", off(&now, &motion));
}

#[test]
fn a_sleeve_stays_outside_of_a_bending_limb_and_does_not_tear() {
    for offset in [0.002, 0.015, 0.04] {
        let scene = scene(RADIUS + offset);
        let now = scene.placed(|p| bent(p, 1.57), &joints(&scene));
        let depths: Vec<f64> = scene.of_part(1).map(|v| outside(&scene, &now, v)).collect();
        let least = depths.iter().copied().fold(f64::INFINITY, f64::min);
        let most = depths.iter().copied().fold(0.0, f64::max);
        let (shortest, longest) = scene.stretch(1, &now);
        println!(
            "offset {offset}: distance {least:.4}..{most:.4}, stretch {shortest:.2}..{longest:.2}"
        );
        assert!(
            least > 0.4 * f64::from(offset) && most < 1.6 * f64::from(offset),
            "offset {offset}: {least} {most}"
        );
        // The bend itself stretches an edge at this radius by 1 ± r / 0.255.
        let own = (RADIUS + offset) / (0.4 / 1.57);
        assert!(
            longest < (1.0 + own) * 1.25 && shortest > (1.0 - own) * 0.6,
            "offset {offset}: {shortest} {longest}"
        );
    }
}

#[test]
fn a_button_keeps_its_shape_and_its_place() {
    let scene = scene(0.115);
    let now = scene.placed(|p| bent(p, 1.57), &joints(&scene));
    let (shortest, longest) = scene.stretch(2, &now);
    assert!(
        shortest > 1.0 - 1e-4 && longest < 1.0 + 1e-4,
        "{shortest} {longest}"
    );
    let middle = |p: &[Point]| {
        Point::from(
            scene.of_part(2).map(|v| p[v].coords).sum::<Vec3>() / scene.of_part(2).count() as f32,
        )
    };
    let expected = bent(&middle(&scene.mesh.positions), 1.57);
    assert!(
        (middle(&now) - expected).norm() < 0.006,
        "{} {expected}",
        middle(&now)
    );
}

#[test]
fn the_number_of_threads_does_not_matter() {
    let scene = scene(0.115);
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new()
            .num_threads(threads)
            .build()
            .unwrap();
        pool.install(|| scene.placed(|p| bent(p, 1.2), &joints(&scene)))
    };
    assert_eq!(with(1), with(4));
}

#[test]
fn flesh_that_collapses_gives_no_nan() {
    let scene = scene(0.115);
    for map in [
        |_: &Point| Point::origin(),
        |p: &Point| Point::new(0.0, p.y, 0.0),
        |p: &Point| Point::new(p.x, 0.0, p.z),
    ] {
        let now = scene.placed(map, &joints(&scene));
        assert!(now.iter().all(|p| p.iter().all(|c| c.is_finite())));
    }
}

/// Run by hand: `cargo test --release --lib riding -- --ignored --nocapture`.
#[test]
#[ignore = "a measurement"]
fn frame_time() {
    let limb = tube(RADIUS, 1.0, 160, 80, true);
    let sleeve = moved(tube(0.11, 0.8, 100, 50, false), Vec3::y() * 0.1);
    let mut scene = scene(0.115);
    let part_of_vertex = [&limb, &sleeve]
        .into_iter()
        .zip(0..)
        .flat_map(|(shell, part)| std::iter::repeat_n(part, shell.positions.len()));
    scene.parts.part_of_vertex = part_of_vertex.collect();
    scene.mesh = joined(&[limb, sleeve]);
    let start = std::time::Instant::now();
    let mut riding = scene.riding();
    println!("bind {:.1} ms", start.elapsed().as_secs_f64() * 1e3);
    let mut positions: Vec<Point> = scene.mesh.positions.iter().map(|p| bent(p, 1.0)).collect();
    let world = joints(&scene);
    let mut times: Vec<f64> = (0..200)
        .map(|_| {
            let start = std::time::Instant::now();
            riding.place(&mut positions, &world);
            start.elapsed().as_secs_f64() * 1e3
        })
        .collect();
    times.sort_by(f64::total_cmp);
    println!(
        "{} riding vertices: median {:.3} ms",
        riding.len(),
        times[100]
    );
}
