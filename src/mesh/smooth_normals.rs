//! Vertex normals that are smooth across seams and sharp where the file's normals are sharp.

use super::vertex_normals_into;
use super::weld::weld_points;
use crate::math::{Point, Vec3};

/// Source vertices at equal positions share a normal if the file's normals differ by less than 60°.
const SHARP: f32 = 0.5;

/// Source vertices grouped by shared normal; computed once.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalGroups {
    group_of: Vec<u32>,
    /// One source vertex of each group.
    member: Vec<u32>,
    triangles: Vec<[u32; 3]>,
    positions: Vec<Point>,
    normals: Vec<Vec3>,
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
        let triangles = triangles
            .iter()
            .map(|t| t.map(|v| group_of[v as usize]))
            .collect();
        let (positions, normals) = (
            vec![Point::origin(); member.len()],
            vec![Vec3::y(); member.len()],
        );
        Self {
            group_of,
            member,
            triangles,
            positions,
            normals,
        }
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
        for (position, &member) in self.positions.iter_mut().zip(&self.member) {
            *position = positions[member as usize];
        }
        vertex_normals_into(&self.positions, &self.triangles, &mut self.normals);
        for (normal, &group) in normals.iter_mut().zip(&self.group_of) {
            *normal = self.normals[group as usize];
        }
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
}
