//! What must hold of every made character; a violation stops the generator.

use std::collections::{HashMap, HashSet};

use sinew::math::Point64;

use crate::polygonise::Mesh;

/// Numbers about a mesh.
#[derive(Debug)]
pub struct Report {
    /// Smallest angle in degrees.
    pub smallest_angle: f64,
    /// Share of triangles with an angle below 30°.
    pub thin_share: f64,
    /// Longest by shortest edge of the worst triangle.
    pub worst_ratio: f64,
    /// Pairs of triangles that cut through each other.
    pub self_intersections: usize,
    /// The place of the first of them.
    pub first_intersection: Option<Point64>,
}

/// Checks that the mesh is closed, manifold in edges and around vertices, and without handles.
///
/// # Errors
/// What is wrong.
pub fn closed_manifold(mesh: &Mesh) -> Result<(), String> {
    let mut directed = HashSet::new();
    for &[a, b, c] in &mesh.triangles {
        for edge in [(a, b), (b, c), (c, a)] {
            if !directed.insert(edge) {
                return Err(format!(
                    "edge {edge:?} is used twice in one direction at {}",
                    mesh.positions[edge.0 as usize]
                ));
            }
        }
    }
    if let Some(&(a, b)) = directed
        .iter()
        .filter(|&&(a, b)| !directed.contains(&(b, a)))
        .min()
    {
        return Err(format!(
            "edge {a}–{b} is open at {}",
            mesh.positions[a as usize]
        ));
    }
    let (corners, edges) = (
        mesh.positions.len() + mesh.triangles.len(),
        directed.len() / 2,
    );
    if corners != edges + 2 {
        return Err(format!(
            "the surface is no sphere: {corners} vertices and faces, {edges} edges"
        ));
    }
    // Around each vertex the triangles form one fan.
    let mut next: HashMap<u32, HashMap<u32, u32>> = HashMap::new();
    for &[a, b, c] in &mesh.triangles {
        for (v, p, q) in [(a, b, c), (b, c, a), (c, a, b)] {
            next.entry(v).or_default().insert(p, q);
        }
    }
    for (v, fan) in &next {
        let Some(&start) = fan.keys().min() else {
            continue;
        };
        let (mut at, mut steps) = (fan[&start], 1);
        while at != start {
            at = fan[&at];
            steps += 1;
        }
        if steps != fan.len() {
            return Err(format!(
                "the surface pinches at vertex {v}, {}",
                mesh.positions[*v as usize]
            ));
        }
    }
    Ok(())
}

/// Measures angles, edges and self-intersections.
pub fn measure(mesh: &Mesh) -> Report {
    let corner = |t: &[u32; 3]| t.map(|v| mesh.positions[v as usize]);
    let mut report = Report {
        smallest_angle: 180.0,
        thin_share: 0.0,
        worst_ratio: 1.0,
        self_intersections: 0,
        first_intersection: None,
    };
    let mut thin = 0;
    for t in &mesh.triangles {
        let p = corner(t);
        let angle = (0..3)
            .map(|i| (p[(i + 1) % 3] - p[i]).angle(&(p[(i + 2) % 3] - p[i])))
            .fold(f64::MAX, f64::min)
            .to_degrees();
        let lengths = [0, 1, 2].map(|i| (p[(i + 1) % 3] - p[i]).norm());
        let ratio = lengths.iter().copied().fold(0.0, f64::max)
            / lengths.iter().copied().fold(f64::MAX, f64::min);
        report.smallest_angle = report.smallest_angle.min(angle);
        report.worst_ratio = report.worst_ratio.max(ratio);
        thin += usize::from(angle < 30.0);
    }
    report.thin_share = thin as f64 / mesh.triangles.len() as f64;
    let hits = self_intersections(mesh);
    report.self_intersections = hits.len();
    report.first_intersection = hits.first().copied();
    report
}

/// Places where an edge of one triangle pierces another triangle that shares no vertex with it.
fn self_intersections(mesh: &Mesh) -> Vec<Point64> {
    let longest = mesh
        .triangles
        .iter()
        .map(|t| (mesh.positions[t[0] as usize] - mesh.positions[t[1] as usize]).norm())
        .fold(0.0, f64::max);
    let cell = longest.max(1e-6) * 1.2;
    let key = |p: &Point64| [p.x, p.y, p.z].map(|c| (c / cell).floor() as i64);
    let mut grid: HashMap<[i64; 3], Vec<usize>> = HashMap::new();
    for (index, t) in mesh.triangles.iter().enumerate() {
        let keys = t.map(|v| key(&mesh.positions[v as usize]));
        for x in (0..3).map(|i| keys[i][0]).min().unwrap_or(0)
            ..=(0..3).map(|i| keys[i][0]).max().unwrap_or(0)
        {
            for y in (0..3).map(|i| keys[i][1]).min().unwrap_or(0)
                ..=(0..3).map(|i| keys[i][1]).max().unwrap_or(0)
            {
                for z in (0..3).map(|i| keys[i][2]).min().unwrap_or(0)
                    ..=(0..3).map(|i| keys[i][2]).max().unwrap_or(0)
                {
                    grid.entry([x, y, z]).or_default().push(index);
                }
            }
        }
    }
    let mut found = Vec::new();
    for t in &mesh.triangles {
        for i in 0..3 {
            let (a, b) = (t[i], t[(i + 1) % 3]);
            if a > b {
                continue;
            }
            let (pa, pb) = (mesh.positions[a as usize], mesh.positions[b as usize]);
            let candidates = grid
                .get(&key(&nalgebra::center(&pa, &pb)))
                .into_iter()
                .flatten();
            let pierced = candidates.map(|&index| mesh.triangles[index]).any(|other| {
                !other.contains(&a)
                    && !other.contains(&b)
                    && pierces(pa, pb, other.map(|v| mesh.positions[v as usize]))
            });
            if pierced {
                found.push(pa);
            }
        }
    }
    found
}

/// Whether the segment meets the triangle (Möller and Trumbore 1997).
fn pierces(a: Point64, b: Point64, [p, q, r]: [Point64; 3]) -> bool {
    let (direction, e1, e2) = (b - a, q - p, r - p);
    let h = direction.cross(&e2);
    let det = e1.dot(&h);
    if det.abs() < 1e-18 {
        return false;
    }
    let s = a - p;
    let u = s.dot(&h) / det;
    let k = s.cross(&e1);
    let v = direction.dot(&k) / det;
    let t = e2.dot(&k) / det;
    u >= 0.0 && v >= 0.0 && u + v <= 1.0 && (0.0..=1.0).contains(&t)
}
