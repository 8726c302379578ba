//! Vertex normals that are smooth across seams and sharp where the file's normals are sharp.

use rayon::prelude::*;

use super::VertexTriangles;
use super::weld::weld_points;
use crate::math::{Point, Vec3};

/// Source vertices at equal positions share a normal if the file's normals differ by less than 60°.
const SHARP: f32 = 0.5;
/// Minimum number of vertices per task.
const MIN_TASK: usize = 1024;

/// Source vertices grouped by shared normal; computed once.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalGroups {
    group_of: Vec<u32>,
    /// One source vertex of each group.
    member: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    triangles_of_group: VertexTriangles,
    /// Twice the area vector of every triangle in the last pose.
    area_vectors: Vec<Vec3>,
    details: Option<Details>,
}

/// Normals given at rest, relative to the normals that the triangles have there.
#[derive(Debug, Clone, PartialEq)]
struct Details {
    /// The ends of the longest edge at each group, source vertices, beginning with its own; twice its own if it has none.
    edges: Vec<[u32; 2]>,
    /// The given normal of each source vertex in the frame of its group.
    local: Vec<Vec3>,
}

/// A unit normal, and the component of an edge that is orthogonal to it: a frame that turns with the surface.
#[derive(Clone, Copy)]
struct EdgeFrame {
    normal: Vec3,
    along: Vec3,
    /// The reciprocal length of `along`.
    per_length: f32,
}

impl EdgeFrame {
    /// At the first end of an edge; `None` if normal and edge are parallel.
    #[inline]
    fn at([from, to]: [u32; 2], positions: &[Point], normal: Vec3) -> Option<Self> {
        let edge = positions[to as usize] - positions[from as usize];
        let along = edge - normal * normal.dot(&edge);
        let squared = along.norm_squared();
        // Of almost parallel ones, the direction is rounding error.
        (squared > 1e-8 * edge.norm_squared()).then(|| Self {
            normal,
            along,
            per_length: 1.0 / squared.sqrt(),
        })
    }

    /// A direction given along the tangent, across it and along the normal.
    #[inline]
    fn to_world(self, local: &Vec3) -> Vec3 {
        let tangential = self.along * local.x + self.normal.cross(&self.along) * local.y;
        tangential * self.per_length + self.normal * local.z
    }

    /// The inverse of [`EdgeFrame::to_world`].
    fn to_local(self, world: &Vec3) -> Vec3 {
        let across = self.normal.cross(&self.along);
        Vec3::new(
            self.along.dot(world) * self.per_length,
            across.dot(world) * self.per_length,
            self.normal.dot(world),
        )
    }
}

impl NormalGroups {
    /// Groups vertices closer than `tolerance`. `file_normals` has one entry per vertex, zero where
    /// the file has none.
    #[must_use]
    pub fn new(
        positions: &[Point],
        triangles: &[[u32; 3]],
        file_normals: &[Vec3],
        tolerance: f32,
    ) -> Self {
        let (place_of, places) = weld_points(positions, tolerance);
        // Groups at equal positions are chained, the latest first.
        let mut latest: Vec<Option<u32>> = vec![None; places.len()];
        let mut before: Vec<Option<u32>> = Vec::with_capacity(places.len());
        let mut member: Vec<u32> = Vec::with_capacity(places.len());
        let mut group_of = Vec::with_capacity(positions.len());
        for (vertex, &place) in place_of.iter().enumerate() {
            let normal = file_normals[vertex];
            let fits = |group: u32| {
                let other = file_normals[member[group as usize] as usize];
                normal.dot(&other) >= SHARP * normal.norm() * other.norm()
            };
            let latest = &mut latest[place as usize];
            // Of several matches the earliest is used.
            let here = std::iter::successors(*latest, |&group| before[group as usize])
                .filter(|&group| fits(group))
                .last();
            let group = here.unwrap_or_else(|| {
                let group = member.len() as u32;
                member.push(vertex as u32);
                before.push(latest.replace(group));
                group
            });
            group_of.push(group);
        }
        let triangles: Vec<[u32; 3]> = triangles
            .iter()
            .map(|t| t.map(|v| group_of[v as usize]))
            .collect();
        Self {
            triangles_of_group: VertexTriangles::of(member.len(), &triangles),
            area_vectors: vec![Vec3::zeros(); triangles.len()],
            group_of,
            member,
            triangles,
            details: None,
        }
    }

    /// From now on, [`NormalGroups::normals_into`] writes these unit normals for these positions, and for others it turns them with
    /// the surface. One normal and one position per source vertex.
    pub fn keep_normals(&mut self, positions: &[Point], normals: &[Vec3]) {
        self.details = None;
        let mut smooth = vec![Vec3::y(); normals.len()];
        self.normals_into(positions, &mut smooth);
        let place = |group: u32| positions[self.member[group as usize] as usize];
        let length = |a: u32, b: u32| (place(a) - place(b)).norm_squared();
        let mut edge: Vec<u32> = (0..self.member.len() as u32).collect();
        for &[a, b, c] in &self.triangles {
            for (from, to) in [(a, b), (b, c), (c, a), (b, a), (c, b), (a, c)] {
                if length(from, to) > length(from, edge[from as usize]) {
                    edge[from as usize] = to;
                }
            }
        }
        let ends = self.member.iter().zip(edge);
        let edges: Vec<[u32; 2]> = ends
            .map(|(&own, other)| [own, self.member[other as usize]])
            .collect();
        let of_vertex = normals.iter().zip(&smooth).zip(&self.group_of);
        let local = of_vertex.map(|((normal, smooth), &group)| {
            EdgeFrame::at(edges[group as usize], positions, *smooth)
                .map_or_else(Vec3::z, |frame| frame.to_local(normal))
        });
        let local = local.collect();
        self.details = Some(Details { edges, local });
    }

    /// The group of every source vertex.
    #[must_use]
    pub fn group_of(&self) -> &[u32] {
        &self.group_of
    }

    /// The source vertex that represents each group's position.
    #[must_use]
    pub fn members(&self) -> &[u32] {
        &self.member
    }

    /// The triangles, with group indices.
    #[must_use]
    pub fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// Writes the unit normal of every source vertex. Does not allocate.
    pub fn normals_into(&mut self, positions: &[Point], normals: &mut [Vec3]) {
        let Self {
            group_of,
            member,
            triangles,
            triangles_of_group,
            area_vectors,
            details,
        } = self;
        let corner = |group: u32| positions[member[group as usize] as usize];
        area_vectors
            .par_iter_mut()
            .zip(&*triangles)
            .with_min_len(MIN_TASK)
            .for_each(|(area, &[a, b, c])| {
                let origin = corner(a);
                *area = (corner(b) - origin).cross(&(corner(c) - origin));
            });
        let area_vectors = &*area_vectors;
        normals
            .par_iter_mut()
            .zip(&*group_of)
            .with_min_len(MIN_TASK)
            .enumerate()
            .for_each(|(vertex, (normal, &group))| {
                // Most groups have one vertex: another loop over the groups costs more than it saves.
                let area = triangles_of_group.sum_at(group, area_vectors);
                let smooth = area.try_normalize(1e-30).unwrap_or_else(Vec3::y);
                let detailed = details.as_ref().and_then(|Details { edges, local }| {
                    let frame = EdgeFrame::at(edges[group as usize], positions, smooth)?;
                    Some(frame.to_world(&local[vertex]))
                });
                *normal = detailed.unwrap_or(smooth);
            });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_sharp_edge_stays_sharp_and_a_seam_disappears() {
        // Two faces of a cube that share an edge, with separate vertices.
        let p = Point::new;
        let positions = [
            p(0.0, 0.0, 0.0),
            p(1.0, 0.0, 0.0),
            p(0.0, 1.0, 0.0),
            p(0.0, 0.0, 0.0),
            p(1.0, 0.0, 0.0),
            p(0.0, 0.0, 1.0),
        ];
        let triangles = [[0, 1, 2], [4, 3, 5]];
        let mut out = vec![Vec3::zeros(); 6];
        let sharp: Vec<Vec3> = [
            Vec3::z(),
            Vec3::z(),
            Vec3::z(),
            Vec3::y(),
            Vec3::y(),
            Vec3::y(),
        ]
        .to_vec();
        NormalGroups::new(&positions, &triangles, &sharp, 1e-6).normals_into(&positions, &mut out);
        assert!(
            (out[0] - Vec3::z()).norm() < 1e-6
                && (out[3] - out[5]).norm() < 1e-6
                && out[0].dot(&out[3]).abs() < 1e-6
        );
        NormalGroups::new(&positions, &triangles, &[Vec3::zeros(); 6], 1e-6)
            .normals_into(&positions, &mut out);
        assert!((out[0] - out[3]).norm() < 1e-6 && out[0].dot(&out[2]) < 0.9);
    }

    /// A strip of two triangles; its normals tilt away from those of the triangles.
    #[test]
    fn kept_normals_are_those_given_at_rest_and_turn_with_the_surface() {
        let p = Point::new;
        let positions = [
            p(0.0, 0.0, 0.0),
            p(1.0, 0.0, 0.0),
            p(1.0, 1.0, 0.2),
            p(0.0, 1.0, 0.1),
        ];
        let triangles = [[0, 1, 2], [0, 2, 3]];
        let given: Vec<Vec3> = [[0.3, 0.1], [-0.4, 0.2], [0.0, 0.7], [0.6, -0.5]]
            .map(|[x, y]| Vec3::new(x, y, 1.0).normalize())
            .to_vec();
        let mut groups = NormalGroups::new(&positions, &triangles, &given, 1e-6);
        groups.keep_normals(&positions, &given);
        let mut out = vec![Vec3::zeros(); 4];
        groups.normals_into(&positions, &mut out);
        let worst = |out: &[Vec3], wanted: &[Vec3]| {
            let pairs = out.iter().zip(wanted);
            pairs.map(|(a, b)| (a - b).norm()).fold(0.0, f32::max)
        };
        assert!(worst(&out, &given) < 1e-6, "{out:?}");
        let turn = nalgebra::Rotation3::from_euler_angles(0.7, -1.1, 2.0);
        let turned = positions.map(|point| turn * point + Vec3::new(3.0, -1.0, 2.0));
        groups.normals_into(&turned, &mut out);
        let wanted: Vec<Vec3> = given.iter().map(|normal| turn * normal).collect();
        assert!(worst(&out, &wanted) < 1e-5, "{out:?}");
        // A collapsed surface has no direction.
        groups.normals_into(&[Point::origin(); 4], &mut out);
        assert!(out.iter().all(|normal| (normal.norm() - 1.0).abs() < 1e-6));
    }
}
