//! Splits vertices whose corners have different texture coordinates or normals.

use crate::math::Vec3;

/// Normals that differ by less are one: a tenth of a degree.
const SAME_NORMAL: f32 = 2e-3;

/// Copies of a vertex that are compared with a corner; a fan of a million triangles, each with a normal of its own, must not take
/// quadratic time.
const LONGEST_CHAIN: usize = 256;

/// Vertices with one texture coordinate and one normal each: those of the file, then copies.
#[derive(Debug, Default)]
pub(super) struct SplitVertices {
    /// The vertex of every corner.
    pub(super) of_corner: Vec<u32>,
    /// The file's vertex of every copy.
    pub(super) copies: Vec<u32>,
    /// Texture coordinates; zero where no corner uses a vertex.
    pub(super) tex_coords: Option<Vec<[f32; 2]>>,
    /// Unit normals; +Y where no corner uses a vertex.
    pub(super) normals: Option<Vec<Vec3>>,
}

/// Splits `vertices` vertices. `corners` holds the vertex of every corner, the other lists one value per corner.
pub(super) fn split(
    vertices: usize,
    corners: &[u32],
    tex_coords: Option<&[[f32; 2]]>,
    normals: Option<&[Vec3]>,
) -> SplitVertices {
    // The corner that gave a vertex its values, and the next vertex at the same place.
    let mut first_corner: Vec<Option<u32>> = vec![None; vertices];
    let mut next: Vec<Option<u32>> = vec![None; vertices];
    let mut copies = Vec::new();
    let same = |a: usize, b: usize| {
        tex_coords.is_none_or(|values| values[a] == values[b])
            && normals.is_none_or(|values| (values[a] - values[b]).norm() < SAME_NORMAL)
    };
    let mut of_corner = Vec::with_capacity(corners.len());
    for (corner, &vertex) in corners.iter().enumerate() {
        let head = vertex as usize;
        if first_corner[head].is_none() {
            first_corner[head] = Some(corner as u32);
        }
        let fits = |&candidate: &u32| {
            let first = first_corner[candidate as usize];
            first.is_some_and(|first| same(first as usize, corner))
        };
        let chain = std::iter::successors(Some(vertex), |&other| next[other as usize]);
        let found = chain.take(LONGEST_CHAIN).find(fits);
        of_corner.push(found.unwrap_or_else(|| {
            let copy = first_corner.len() as u32;
            first_corner.push(Some(corner as u32));
            next.push(next[head]);
            next[head] = Some(copy);
            copies.push(vertex);
            copy
        }));
    }
    let at_vertices = |corner: &Option<u32>| corner.map(|corner| corner as usize);
    let tex_coords = tex_coords.map(|values| {
        let value = |corner| at_vertices(corner).map_or([0.0; 2], |corner| values[corner]);
        first_corner.iter().map(value).collect()
    });
    let normals = normals.map(|values| {
        let value = |corner| at_vertices(corner).map_or_else(Vec3::y, |corner| values[corner]);
        first_corner.iter().map(value).collect()
    });
    SplitVertices {
        of_corner,
        copies,
        tex_coords,
        normals,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seam_splits_only_the_vertices_on_it() {
        // Two quads that share the edge 1–2; the second has other coordinates there.
        let corners = [0, 1, 2, 3, 1, 4, 5, 2];
        let uv = |u: f32| [u, 0.5];
        let uvs = [0.0, 0.3, 0.3, 0.0, 0.7, 1.0, 1.0, 0.7].map(uv);
        let made = split(7, &corners, Some(&uvs), None);
        assert_eq!(made.of_corner, [0, 1, 2, 3, 7, 4, 5, 8]);
        assert_eq!(made.copies, [1, 2]);
        let at = made.tex_coords.unwrap();
        let expected = [0.0, 0.3, 0.3, 0.0, 1.0, 1.0].map(uv);
        assert_eq!(at[..6], expected);
        assert_eq!(at[6..], [[0.0; 2], uv(0.7), uv(0.7)]);
        // Equal coordinates under other indices are one.
        assert!(
            split(6, &corners, Some(&[uv(0.1); 8]), None)
                .copies
                .is_empty()
        );
    }

    #[test]
    fn a_sharp_edge_splits_and_rounding_does_not() {
        let corners = [0, 1, 2, 2, 1, 3];
        let tilted = (Vec3::z() + Vec3::x() * 1e-4).normalize();
        let smooth = [Vec3::z(), Vec3::z(), Vec3::z(), tilted, tilted, Vec3::z()];
        assert!(split(4, &corners, None, Some(&smooth)).copies.is_empty());
        let sharp = [
            Vec3::z(),
            Vec3::z(),
            Vec3::z(),
            Vec3::x(),
            Vec3::x(),
            Vec3::x(),
        ];
        let made = split(4, &corners, None, Some(&sharp));
        assert_eq!(made.copies, [2, 1]);
        assert_eq!(made.of_corner, [0, 1, 2, 4, 5, 3]);
        assert_eq!(made.normals.unwrap()[4], Vec3::x());
        assert_eq!(made.tex_coords, None);
    }
}
