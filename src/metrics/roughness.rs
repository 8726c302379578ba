//! Roughness: change of the dihedral angles against the bind pose, and creases.

use std::collections::HashMap;

use super::{Better, Measure, MeasuredFrame, Metric, Place, Quantity, RestSkin, Spot, Unit};
use crate::math::Vec64;
use crate::mesh::TriMesh;
use crate::progress::{Cancelled, Progress};

/// An edge whose dihedral angle changes by more than this is a crease, degrees.
const CREASE_DEG: f64 = 45.0;

/// The metric.
pub static METRIC: Metric = Metric {
    quantities: &[
        Quantity {
            id: "roughness_deg",
            label: "Roughness",
            unit: Unit::Degrees,
            doc: "Root mean square change of the angle between neighbouring triangles.",
            better: Better::Lower,
        },
        Quantity {
            id: "new_creases",
            label: "New creases",
            unit: Unit::Count,
            doc: "Edges whose dihedral angle differs from the bind pose's by more than 45°.",
            better: Better::Lower,
        },
    ],
    needs_reference: false,
    reads_flesh: false,
    bind: |rest, _| Ok(Box::new(Roughness::new(rest))),
};

/// Edges between two triangles.
struct Roughness {
    hinges: Vec<EdgePair>,
    rest_angles: Vec<f64>,
    /// The edge whose angle changed most in the last frame.
    sharpest: Option<Place>,
}

/// Two triangles with a common edge, which the first one runs through from `from` to `to`.
#[derive(Debug, Clone, Copy)]
struct EdgePair {
    from: u32,
    to: u32,
    triangles: [u32; 2],
}

impl Roughness {
    fn new(rest: &RestSkin) -> Self {
        // Only pairs of triangles that are consistently oriented: the second runs through the edge the other way.
        let mut directed: HashMap<[u32; 2], Option<u32>> = HashMap::new();
        for (index, &[a, b, c]) in rest.mesh.triangles.iter().enumerate() {
            for edge in [[a, b], [b, c], [c, a]] {
                let triangle = Some(index as u32);
                directed
                    .entry(edge)
                    .and_modify(|known| *known = None)
                    .or_insert(triangle);
            }
        }
        let triangle_at = |edge: [u32; 2]| directed.get(&edge).copied().flatten();
        let hinge = |&[from, to]: &[u32; 2]| {
            let triangles = [triangle_at([from, to])?, triangle_at([to, from])?];
            Some(EdgePair {
                from,
                to,
                triangles,
            })
        };
        let all = rest.topology.edges.iter().filter_map(hinge);
        let (hinges, rest_angles) = all
            .filter_map(|hinge| Some((hinge, dihedral(&rest.mesh, hinge)?)))
            .unzip();
        Self {
            hinges,
            rest_angles,
            sharpest: None,
        }
    }
}

impl Measure for Roughness {
    fn measure(
        &mut self,
        frame: &MeasuredFrame<'_>,
        _: &Progress,
    ) -> Result<Vec<Option<f64>>, Cancelled> {
        let (mut squares, mut count, mut creases) = (0.0, 0_usize, 0_usize);
        let mut sharpest: Option<(f64, EdgePair)> = None;
        for (&hinge, rest) in self.hinges.iter().zip(&self.rest_angles) {
            let Some(angle) = dihedral(frame.skin, hinge) else {
                continue;
            };
            let turn = (angle - rest).to_degrees();
            let change = (turn + 180.0).rem_euclid(360.0) - 180.0;
            squares += change * change;
            count += 1;
            creases += usize::from(change.abs() > CREASE_DEG);
            if sharpest.is_none_or(|(known, _)| change.abs() > known) {
                sharpest = Some((change.abs(), hinge));
            }
        }
        self.sharpest = sharpest.map(|(value, hinge)| Place {
            spot: Spot::Edge([hinge.from, hinge.to]),
            value,
            unit: Unit::Degrees,
        });
        let rms = (count > 0).then(|| (squares / count as f64).sqrt());
        Ok(vec![rms, Some(creases as f64)])
    }

    fn places(&self) -> Vec<Option<Place>> {
        vec![self.sharpest; 2]
    }
}

/// The signed angle between the normals of two triangles about their common edge, radians; `None` if one has no area.
fn dihedral(mesh: &TriMesh, hinge: EdgePair) -> Option<f64> {
    let at = |vertex: u32| mesh.positions[vertex as usize].coords.cast::<f64>();
    let axis = (at(hinge.to) - at(hinge.from)).try_normalize(0.0)?;
    let [m, n] = hinge.triangles.map(|triangle| {
        let [a, b, c] = mesh.triangles[triangle as usize].map(at);
        (b - a).cross(&(c - a))
    });
    let has_area = |normal: &Vec64| normal.norm_squared() > 0.0;
    (has_area(&m) && has_area(&n)).then(|| m.cross(&n).dot(&axis).atan2(m.dot(&n)))
}
