//! Normals that are smooth across seams and sharp where the file is sharp.

use super::{vertex_normals_into, weld};
use crate::math::{Point, Vec3};

/// Source vertices at one place share a normal if the file's normals there differ by less than 60°.
const SHARP: f32 = 0.5;

/// Which source vertices share a normal; made once.
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
    /// Groups vertices closer than `tolerance`. `file_normals` has one entry a vertex, zero where the file has none.
    #[must_use]
    pub fn new(positions: &[Point], triangles: &[[u32; 3]], file_normals: &[Vec3], tolerance: f32) -> Self {
        let welded = weld(positions, &[], tolerance);
        let mut at_place: Vec<Vec<u32>> = vec![Vec::new(); welded.mesh.positions.len()];
        let mut group_of = Vec::with_capacity(positions.len());
        let mut member: Vec<u32> = Vec::new();
        for (vertex, &place) in welded.welded_from_input.iter().enumerate() {
            let normal = file_normals[vertex];
            let groups = &mut at_place[place as usize];
            let fits = |group: &u32| {
                let other = file_normals[member[*group as usize] as usize];
                normal.dot(&other) >= SHARP * normal.norm() * other.norm()
            };
            let group = groups.iter().copied().find(fits).unwrap_or_else(|| {
                member.push(vertex as u32);
                groups.push(member.len() as u32 - 1);
                member.len() as u32 - 1
            });
            group_of.push(group);
        }
        let triangles = triangles.iter().map(|t| t.map(|v| group_of[v as usize])).collect();
        let (positions, normals) = (vec![Point::origin(); member.len()], vec![Vec3::y(); member.len()]);
        Self { group_of, member, triangles, positions, normals }
    }

    /// Writes the unit normal of every source vertex. Allocates nothing.
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
        // Two faces of a cube that meet in an edge, with vertices of their own.
        let p = Point::new;
        let positions = [p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 1.0, 0.0), p(0.0, 0.0, 0.0), p(1.0, 0.0, 0.0), p(0.0, 0.0, 1.0)];
        let triangles = [[0, 1, 2], [4, 3, 5]];
        let mut out = vec![Vec3::zeros(); 6];
        let sharp: Vec<Vec3> = [Vec3::z(), Vec3::z(), Vec3::z(), Vec3::y(), Vec3::y(), Vec3::y()].to_vec();
        NormalGroups::new(&positions, &triangles, &sharp, 1e-6).normals_into(&positions, &mut out);
        assert!((out[0] - Vec3::z()).norm() < 1e-6 && (out[3] - out[5]).norm() < 1e-6 && out[0].dot(&out[3]).abs() < 1e-6);
        NormalGroups::new(&positions, &triangles, &[Vec3::zeros(); 6], 1e-6).normals_into(&positions, &mut out);
        assert!((out[0] - out[3]).norm() < 1e-6 && out[0].dot(&out[2]) < 0.9);
    }
}
