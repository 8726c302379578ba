//! Solid cells, bone nodes and transfer, on shapes whose inside is known.

mod bones;

use super::touched::touched_cells;
use super::*;
use crate::math::{Point, Point64, Vec64};
use crate::mesh::TriMesh;
use crate::mesh::shapes::{ball, joined, moved, tube};
use crate::progress::Progress;
use crate::rig::Skeleton;

fn solid(mesh: &TriMesh, resolution: u32) -> VoxelDomain {
    VoxelDomain::of(mesh, resolution, &Progress::new()).expect("nobody cancels")
}

fn chain(points: &[[f64; 3]]) -> Skeleton {
    let joints = points.iter().enumerate().map(|(index, at)| {
        (
            format!("j{index}"),
            index.checked_sub(1),
            Point64::from(*at),
        )
    });
    Skeleton::from_positions(&joints.collect::<Vec<_>>()).expect("a chain")
}

fn reversed(mut mesh: TriMesh) -> TriMesh {
    for triangle in &mut mesh.triangles {
        triangle.swap(1, 2);
    }
    mesh
}

/// Numbers in 0..1 that look random.
struct Dice(u64);

impl Dice {
    fn roll(&mut self) -> f64 {
        self.0 = self
            .0
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 11) as f64 / (1_u64 << 53) as f64
    }
}

/// Corners of the part of a triangle within a cell.
fn cut(triangle: [Vec64; 3], cell: [u32; 3]) -> Vec<Vec64> {
    let mut polygon = triangle.to_vec();
    for axis in 0..3 {
        for (plane, sign) in [
            (f64::from(cell[axis]), 1.0),
            (f64::from(cell[axis]) + 1.0, -1.0),
        ] {
            let side = |p: &Vec64| (p[axis] - plane) * sign;
            let mut kept = Vec::new();
            for k in 0..polygon.len() {
                let (a, b) = (polygon[k], polygon[(k + 1) % polygon.len()]);
                if side(&a) >= 0.0 {
                    kept.push(a);
                }
                if (side(&a) >= 0.0) != (side(&b) >= 0.0) {
                    kept.push(a + (b - a) * (side(&a) / (side(&a) - side(&b))));
                }
            }
            polygon = kept;
        }
    }
    polygon
}

#[test]
fn a_triangle_touches_the_cells_that_it_has_a_part_in() {
    let grid = Grid {
        origin: Point64::origin(),
        edge: 1.0,
        cells: [9, 8, 7],
    };
    let mut dice = Dice(1);
    for size in [0.3, 2.0, 9.0] {
        for _ in 0..40 {
            let mut corner =
                |base: [f64; 3]| Vec64::from(base.map(|c| c + size * (dice.roll() - 0.5)));
            let base = [4.0, 4.0, 3.5];
            let triangle = [corner(base), corner(base), corner(base)];
            let touched =
                touched_cells(&grid, &[triangle], &Progress::new()).expect("nobody cancels");
            for (place, &touched) in touched.iter().enumerate() {
                let part = cut(triangle, grid.cell(place));
                assert_eq!(
                    touched,
                    !part.is_empty(),
                    "{triangle:?} {:?}",
                    grid.cell(place)
                );
            }
        }
    }
}

#[test]
fn winding_numbers_of_the_tree_are_those_of_the_sum() {
    let mesh = joined(&[
        ball(Point::origin(), 1.0, 24, 40),
        tube(0.2, 3.0, 30, 12, false),
    ]);
    let corners = |t: &[u32; 3]| t.map(|v| mesh.positions[v as usize].coords.cast::<f64>());
    let tree = WindingTree::new(mesh.triangles.iter().map(corners).collect());
    let mut dice = Dice(7);
    let mut point = || Point64::from([0, 1, 2].map(|_| 4.0 * dice.roll() - 2.0));
    let points: Vec<Point64> = (0..500).map(|_| point()).collect();
    let exact = mesh.winding_numbers(&points);
    for (point, exact) in points.iter().zip(exact) {
        let found = tree.at(&point.coords);
        assert!((found - exact).abs() < 0.05, "{point}: {found}, {exact}");
    }
}

#[test]
fn a_ball_is_full_and_nothing_else() {
    let domain = solid(&ball(Point::origin(), 1.0, 32, 48), 32);
    let center = |cell: &[u32; 3]| {
        domain
            .grid
            .position(cell.map(|at| f64::from(at) + 0.5))
            .coords
    };
    let reach = domain.grid.edge * 0.87;
    assert!(
        domain
            .cells
            .iter()
            .all(|cell| center(cell).norm() < 1.0 + reach)
    );
    let lookup = Lookup::of(&domain.cells);
    for place in 0..domain.grid.len() {
        let cell = domain.grid.cell(place);
        assert!(
            center(&cell).norm() > 0.98 || lookup.find(cell).is_some(),
            "{cell:?}"
        );
    }
    assert!(domain.part_of_node.iter().all(|&part| part == 0));
}

/// Where the winding number is clear, a cell is solid if it is above a half; open, closed, and inside out.
#[test]
fn cells_are_solid_where_the_winding_number_says_so() {
    let whole = ball(Point::origin(), 1.0, 24, 32);
    let upper = |t: &&[u32; 3]| t.iter().all(|&v| whole.positions[v as usize].y >= -0.01);
    let half = TriMesh {
        positions: whole.positions.clone(),
        triangles: whole.triangles.iter().filter(upper).copied().collect(),
    };
    // A small hole at a tip.
    let mut pierced = whole.clone();
    pierced.triangles.truncate(pierced.triangles.len() - 8);
    for mesh in [
        half.clone(),
        reversed(half),
        pierced,
        tube(0.3, 3.0, 30, 16, false),
        whole,
    ] {
        let domain = solid(&mesh, 30);
        let lookup = Lookup::of(&domain.cells);
        let center = |place| {
            domain
                .grid
                .position(domain.grid.cell(place).map(|at| f64::from(at) + 0.5))
        };
        let centers: Vec<Point64> = (0..domain.grid.len()).map(center).collect();
        let (mut inside, mut outside) = (0, 0);
        for (place, winding) in mesh.winding_numbers(&centers).into_iter().enumerate() {
            let is_solid = lookup.find(domain.grid.cell(place)).is_some();
            if winding.abs() > 0.53 {
                assert!(is_solid, "{winding} at {}", centers[place]);
                inside += 1;
            } else if winding.abs() < 0.47 && is_solid {
                let distances = mesh
                    .positions
                    .iter()
                    .map(|p| (p.cast::<f64>() - centers[place]).norm());
                let nearest = distances.fold(f64::INFINITY, f64::min);
                // Touched: its centre is near the surface, whose triangles are smaller than this.
                assert!(nearest < 0.3, "{winding} at {}", centers[place]);
                outside += 1;
            }
        }
        assert!(inside > 30 && outside > 0, "{inside} {outside}");
    }
}

/// Otherwise a ball would have 520 000 cells, and its weights would take minutes and gigabytes.
#[test]
fn thick_bodies_have_coarser_cells() {
    let thick = solid(&ball(Point::origin(), 1.0, 32, 48), 100);
    assert!(
        (18_000..26_000).contains(&thick.cells.len()),
        "{}",
        thick.cells.len()
    );
    let finer = solid(&ball(Point::origin(), 1.0, 32, 48), 150);
    assert!(finer.cells.len() > 3 * thick.cells.len());
    let slender = solid(&tube(1.0, 20.0, 20, 24, true), 100);
    assert_eq!(slender.grid.cells[1], 102);
}

#[test]
fn a_shell_inside_of_another_does_not_hollow_it() {
    let outer = ball(Point::origin(), 1.0, 24, 32);
    let inner = ball(Point::origin(), 0.5, 16, 24);
    let alone = solid(&outer, 40);
    for other in [inner.clone(), reversed(inner)] {
        assert_eq!(
            solid(&joined(&[outer.clone(), other.clone()]), 40).cells,
            alone.cells
        );
        assert_eq!(
            solid(&joined(&[reversed(outer.clone()), other]), 40).cells,
            alone.cells
        );
    }
}

#[test]
fn the_mirror_image_has_the_mirrored_cells() {
    let mesh = joined(&[
        tube(0.5, 3.0, 20, 12, true),
        ball(Point::new(0.7, 1.0, 0.2), 0.4, 12, 16),
    ]);
    let mut image = reversed(mesh.clone());
    for position in &mut image.positions {
        position.x = -position.x;
    }
    let (one, other) = (solid(&mesh, 37), solid(&image, 37));
    let count = one.grid.cells[0];
    let mut flipped: Vec<[u32; 3]> = other
        .cells
        .iter()
        .map(|&[x, y, z]| [count - 1 - x, y, z])
        .collect();
    flipped.sort_unstable_by_key(|&[x, y, z]| [z, y, x]);
    assert_eq!(one.cells, flipped);
}

#[test]
fn meshes_that_are_none_give_few_cells_or_none() {
    let nan = f32::NAN;
    let point = |x: f32| Point::new(x, 0.0, 0.0);
    let mesh = |positions: Vec<Point>, triangles: Vec<[u32; 3]>| TriMesh {
        positions,
        triangles,
    };
    assert!(solid(&TriMesh::default(), 100).cells.is_empty());
    assert!(solid(&mesh(vec![point(nan)], vec![]), 100).cells.is_empty());
    assert_eq!(solid(&mesh(vec![point(3.0)], vec![]), 100).cells.len(), 8);
    assert!(
        !solid(&mesh(vec![point(1.0); 3], vec![[0, 1, 2]]), 100)
            .cells
            .is_empty()
    );
    assert!(
        !solid(
            &mesh(
                vec![point(1.0), point(2.0), point(3.0)],
                vec![[0, 1, 2], [0, 7, 1]]
            ),
            100
        )
        .cells
        .is_empty()
    );
    assert!(
        !solid(
            &mesh(
                vec![point(-3e38), point(3e38), Point::new(0.0, 3e38, 1.0)],
                vec![[0, 1, 2]]
            ),
            9
        )
        .cells
        .is_empty()
    );
    assert!(
        !solid(
            &mesh(
                vec![point(0.0), point(1e-44), Point::new(0.0, 1e-44, 0.0)],
                vec![[0, 1, 2]]
            ),
            9
        )
        .cells
        .is_empty()
    );
    let broken = mesh(
        vec![
            point(0.0),
            point(1.0),
            Point::new(0.0, 1.0, nan),
            Point::new(0.0, 1.0, 0.0),
        ],
        vec![[0, 1, 2], [0, 1, 3]],
    );
    assert!(
        solid(&broken, 1000)
            .grid
            .cells
            .iter()
            .all(|&count| count <= MOST_CELLS + 2)
    );
}

#[test]
fn ten_thousand_parts_are_no_trouble() {
    let one = ball(Point::origin(), 0.02, 3, 4);
    let parts: Vec<TriMesh> = (0..10_000)
        .map(|k| {
            moved(
                one.clone(),
                crate::math::Vec3::new((k % 100) as f32, (k / 100) as f32, 0.0),
            )
        })
        .collect();
    let mesh = joined(&parts);
    let skeleton = chain(&[[0.0, 50.0, 0.0], [99.0, 50.0, 0.0]]);
    let binding = VoxelBinding::of(&mesh, &skeleton, 200, BONE_RADIUS, &Progress::new())
        .expect("nobody cancels");
    assert!(binding.part_has_bone.len() > 5000);
    assert!(binding.parts_without_bones() > 4000);
}

/// Prints how long the steps take.
#[test]
#[ignore = "measures"]
fn time_of_solid_cells() {
    for (rings, sectors) in [(83, 84), (316, 316)] {
        let mesh = joined(&[
            ball(Point::origin(), 1.0, rings, sectors),
            moved(
                tube(0.2, 3.0, 40, 20, true),
                crate::math::Vec3::new(0.0, 0.0, 0.0),
            ),
        ]);
        for holes in [false, true] {
            let mut mesh = mesh.clone();
            if holes {
                mesh.triangles.truncate(mesh.triangles.len() - 5);
            }
            let start = std::time::Instant::now();
            let domain = solid(&mesh, 100);
            println!(
                "{} triangles, holes {holes}: {} cells, {:.1} ms",
                mesh.triangles.len(),
                domain.cells.len(),
                start.elapsed().as_secs_f64() * 1e3
            );
        }
    }
}
