//! The brush: touches of a painted map on the skin in the bind pose.

use super::PaintMap;
use crate::math::{Point, Vec3};
use crate::mesh::{SkinMesh, Topology};

/// What a touch does.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum BrushKind {
    /// Brings the map to a code.
    #[default]
    Paint,
    /// Takes paint away.
    Erase,
    /// Averages with neighbours.
    Smooth,
}

/// A brush.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Brush {
    /// What it does.
    pub kind: BrushKind,
    /// The code that [`BrushKind::Paint`] brings.
    pub code: i16,
    /// Radius, world units.
    pub radius: f32,
    /// How far one touch goes at its centre, 0 to 1.
    pub strength: f32,
}

/// Where the brush touches: a point of the skin in the bind pose, and the skin's normal there.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct BrushPoint {
    /// The point, world.
    pub position: Point,
    /// The normal, of length 1.
    pub normal: Vec3,
}

/// Skin that faces away from the touched point by more than this cosine is not painted: the other side of a thin part.
const OTHER_SIDE: f32 = -0.2;
/// Rounds of averaging in one touch that smooths.
const ROUNDS: usize = 2;

/// The skin that is painted: welded, so that copies of a vertex at seams get the same paint.
#[derive(Debug)]
pub struct PaintSurface {
    positions: Vec<Point>,
    normals: Vec<Vec3>,
    topology: Topology,
    /// Source vertices by vertex of the skin.
    sources: Vec<Vec<u32>>,
    source_vertices: usize,
}

impl PaintSurface {
    /// The skin of a character.
    #[must_use]
    pub fn of(skin: &SkinMesh) -> Self {
        let mesh = &skin.mesh;
        let mut sources = vec![Vec::new(); mesh.positions.len()];
        for (source, vertex) in (0_u32..).zip(&skin.skin_from_source) {
            if let Some(vertex) = vertex {
                sources[*vertex as usize].push(source);
            }
        }
        let mut normals = vec![Vec3::zeros(); mesh.positions.len()];
        for triangle in &mesh.triangles {
            let [a, b, c] = triangle.map(|v| mesh.positions[v as usize]);
            let area = (b - a).cross(&(c - a));
            for &corner in triangle {
                normals[corner as usize] += area;
            }
        }
        for normal in &mut normals {
            *normal = normal.try_normalize(f32::MIN_POSITIVE).unwrap_or_default();
        }
        Self {
            positions: mesh.positions.clone(),
            normals,
            topology: Topology::of(mesh),
            sources,
            source_vertices: skin.skin_from_source.len(),
        }
    }

    /// Number of source vertices.
    #[must_use]
    pub fn source_vertices(&self) -> usize {
        self.source_vertices
    }

    /// Sets the same code on the whole skin.
    pub fn fill(&self, code: i16, codes: &mut [i16]) {
        for &source in self.sources.iter().flatten() {
            codes[source as usize] = code;
        }
    }

    /// Touches a map, given by source vertex.
    ///
    /// # Panics
    /// If there are fewer codes than source vertices.
    pub fn touch(&self, map: PaintMap, brush: &Brush, at: &BrushPoint, codes: &mut [i16]) {
        let touched = self.touched(brush, at);
        for round in 0..ROUNDS {
            if round > 0 && brush.kind != BrushKind::Smooth {
                break;
            }
            let changed: Vec<i16> = touched
                .iter()
                .map(|&(vertex, share)| {
                    let own = f32::from(self.code(vertex, codes));
                    let wanted = match brush.kind {
                        BrushKind::Paint => f32::from(brush.code),
                        BrushKind::Erase => 0.0,
                        BrushKind::Smooth => self.mean_around(vertex, own, codes),
                    };
                    map.clamped(own + share * (wanted - own))
                })
                .collect();
            for (&(vertex, _), code) in touched.iter().zip(changed) {
                for &source in &self.sources[vertex] {
                    codes[source as usize] = code;
                }
            }
        }
    }

    /// Vertices within the radius on this side of the body, with how far a touch goes there.
    fn touched(&self, brush: &Brush, at: &BrushPoint) -> Vec<(usize, f32)> {
        let strength = brush.strength.clamp(0.0, 1.0);
        if !(brush.radius > 0.0 && strength > 0.0) {
            return Vec::new();
        }
        let square = brush.radius * brush.radius;
        let share = |(vertex, place): (usize, &Point)| {
            let part = (place - at.position).norm_squared() / square;
            let faces = self.normals[vertex].dot(&at.normal) >= OTHER_SIDE;
            (part < 1.0 && faces).then_some((vertex, strength * (1.0 - part) * (1.0 - part)))
        };
        self.positions
            .iter()
            .enumerate()
            .filter_map(share)
            .collect()
    }

    fn code(&self, vertex: usize, codes: &[i16]) -> i16 {
        self.sources[vertex]
            .first()
            .map_or(0, |&source| codes[source as usize])
    }

    fn mean_around(&self, vertex: usize, own: f32, codes: &[i16]) -> f32 {
        let neighbors = self.topology.neighbors(vertex);
        if neighbors.is_empty() {
            return own;
        }
        let sum: f32 = neighbors
            .iter()
            .map(|&other| f32::from(self.code(other as usize, codes)))
            .sum();
        sum / neighbors.len() as f32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two sheets of 21 × 21 vertices that face away from each other, 0.1 apart; the last vertex of the upper one has a copy.
    fn sheets() -> SkinMesh {
        let grid = |z: f32| {
            (0..441).map(move |v| Point::new((v % 21) as f32 * 0.1, (v / 21) as f32 * 0.1, z))
        };
        let mut positions: Vec<Point> = grid(0.1).chain(grid(0.0)).collect();
        let mut triangles = Vec::new();
        for (first, flips) in [(0_u32, false), (441, true)] {
            for cell in (0..400).map(|cell| first + cell / 20 * 21 + cell % 20) {
                for [a, b, c] in [[0, 1, 22], [0, 22, 21]] {
                    let [b, c] = if flips { [c, b] } else { [b, c] };
                    triangles.push([cell + a, cell + b, cell + c]);
                }
            }
        }
        positions.push(positions[440]);
        triangles.push([419, 418, 882]);
        let is_skin = vec![true; positions.len()];
        SkinMesh::weld(&positions, &triangles, &is_skin)
    }

    fn brush(kind: BrushKind) -> Brush {
        Brush {
            kind,
            code: 1000,
            radius: 0.45,
            strength: 1.0,
        }
    }

    fn at(x: f32, y: f32) -> BrushPoint {
        BrushPoint {
            position: Point::new(x, y, 0.1),
            normal: Vec3::z(),
        }
    }

    #[test]
    fn a_touch_falls_off_and_spares_the_other_side() {
        let surface = PaintSurface::of(&sheets());
        let mut codes = vec![0; surface.source_vertices()];
        surface.touch(
            PaintMap::Held,
            &brush(BrushKind::Paint),
            &at(1.0, 1.0),
            &mut codes,
        );
        assert_eq!(codes[220], 1000, "the centre");
        assert!(codes[222] < codes[221] && codes[221] < 1000 && codes[222] > 0);
        assert_eq!(codes[225], 0, "beyond the radius");
        assert!(
            codes[441..882].iter().all(|&code| code == 0),
            "the other side"
        );
        let painted = codes.clone();
        surface.touch(
            PaintMap::Held,
            &brush(BrushKind::Erase),
            &at(1.0, 1.0),
            &mut codes,
        );
        assert_eq!(codes[220], 0);
        assert!(
            codes
                .iter()
                .zip(&painted)
                .all(|(now, before)| now <= before)
        );
    }

    #[test]
    fn copies_get_the_same_paint_and_smoothing_averages() {
        let surface = PaintSurface::of(&sheets());
        let mut codes = vec![0; surface.source_vertices()];
        surface.touch(
            PaintMap::Held,
            &brush(BrushKind::Paint),
            &at(2.0, 2.0),
            &mut codes,
        );
        assert_eq!((codes[440], codes[882]), (1000, 1000));
        let spread = |codes: &[i16]| {
            codes[..441]
                .iter()
                .map(|code| i64::from(*code).pow(2))
                .sum::<i64>()
        };
        let before = spread(&codes);
        surface.touch(
            PaintMap::Held,
            &brush(BrushKind::Smooth),
            &at(2.0, 2.0),
            &mut codes,
        );
        assert!(
            spread(&codes) < before && codes[440] > 0,
            "{} {before}",
            spread(&codes)
        );
        let mut same = vec![700; surface.source_vertices()];
        surface.touch(
            PaintMap::Held,
            &brush(BrushKind::Smooth),
            &at(1.0, 1.0),
            &mut same,
        );
        assert!(same.iter().all(|&code| code == 700), "an even map stays");
        surface.fill(300, &mut same);
        assert!(same.iter().all(|&code| code == 300));
    }
}
