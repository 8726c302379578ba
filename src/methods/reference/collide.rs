//! Detection of skin points that penetrate the body.

use std::collections::{BTreeMap, HashMap};

use rayon::prelude::*;

use super::contact::{PenaltyContact, PenaltyContacts};
use super::embed::Embedding;
use super::inside::Inside;
use super::lattice::{Element, Lattice, trilinear};
use super::pieces;
use crate::math::{Point64, Vec64};

/// Stiffness of the penalty relative to a cube of flesh on the same area.
const PENALTY: f64 = 30.0;
/// Points closer than this many cells to their exit at rest are neighbours and do not collide. The penalty grows from
/// zero there to its full value at twice the distance, so that contacts do not start or end abruptly.
const NEIGHBOURS: f64 = 2.0;
/// Maximum cosine between the normals of two skins in contact.
const FACING: f64 = 0.3;
/// Newton steps to the coordinates of a point in a deformed element, and their tolerance.
const INVERSE_STEPS: usize = 20;
const INVERSE_ACCURACY: f64 = 1e-9;

/// The colliding skin in its lattice.
pub(super) struct Collider<'a> {
    pub lattice: &'a Lattice,
    pub inside: &'a Inside<'a>,
    /// The vertices of the skin, and the area around each.
    pub skin: &'a Embedding,
    pub areas: &'a [f64],
}

/// Elements, indexed by the cubes that their bounding boxes intersect.
struct Cubes {
    side: f64,
    elements: HashMap<[i32; 3], Vec<u32>>,
}

impl Cubes {
    fn of(boxes: &[[Vec64; 2]], side: f64) -> Self {
        let mut elements: HashMap<[i32; 3], Vec<u32>> = HashMap::new();
        for (index, [min, max]) in boxes.iter().enumerate() {
            let [from, to] = [min, max].map(|corner| corner.map(|c| (c / side).floor() as i32));
            for x in from.x..=to.x {
                for y in from.y..=to.y {
                    for z in from.z..=to.z {
                        elements.entry([x, y, z]).or_default().push(index as u32);
                    }
                }
            }
        }
        Self { side, elements }
    }

    fn at(&self, point: &Point64) -> &[u32] {
        let place = point.coords.map(|c| (c / self.side).floor() as i32);
        self.elements
            .get(&[place.x, place.y, place.z])
            .map_or(&[], Vec::as_slice)
    }
}

impl Collider<'_> {
    /// Finds the contacts for positions of the nodes.
    pub fn contacts(&self, nodes: &[Point64]) -> PenaltyContacts {
        let corners: Vec<[Vec64; 8]> = (self.lattice.elements.par_iter())
            .map(|element| element.corners_at(nodes))
            .collect();
        let boxes: Vec<[Vec64; 2]> = corners.iter().map(bounds).collect();
        if boxes.iter().flatten().flatten().any(|c| !c.is_finite()) {
            return PenaltyContacts::none();
        }
        let mean = boxes
            .iter()
            .map(|[min, max]| (max - min).max())
            .sum::<f64>()
            / boxes.len().max(1) as f64;
        let cubes = Cubes::of(&boxes, 1.5 * mean.max(f64::MIN_POSITIVE));
        let skin: Vec<Point64> = (0..self.skin.len())
            .map(|vertex| self.skin.place(vertex, nodes))
            .collect();
        let normals = self.normals(&skin);
        let found = |vertex: usize| {
            let point = &skin[vertex];
            let rest = self.rest_of(vertex);
            let own = self.component(self.skin.elements[vertex]);
            let mut best: Option<(f64, Point64, u32, f64, bool)> = None;
            for &index in cubes.at(point) {
                let [min, max] = &boxes[index as usize];
                if !(0..3).all(|axis| min[axis] <= point[axis] && point[axis] <= max[axis]) {
                    continue;
                }
                let element = &self.lattice.elements[index as usize];
                let Some(local) = local_of(&corners[index as usize], point) else {
                    continue;
                };
                let material = element.origin + local * element.side;
                if !self.holds(element, &material) {
                    continue;
                }
                let Some(exit) = self.inside.tree.closest(&material, f64::INFINITY, |_| true)
                else {
                    continue;
                };
                let is_other = element.component != own;
                let is_near = !is_other && (exit.point - rest).norm() < NEIGHBOURS * element.side;
                if is_near || best.is_some_and(|(least, ..)| least <= exit.distance) {
                    continue;
                }
                best = Some((
                    exit.distance,
                    exit.point,
                    exit.triangle,
                    element.side,
                    is_other,
                ));
            }
            let (_, exit, triangle, side, is_other) = best?;
            let mut contact = self.contact(vertex, &exit, triangle, &normals)?;
            if !is_other {
                let apart = (exit - rest).norm() / (NEIGHBOURS * side) - 1.0;
                contact.stiffness *= apart.clamp(0.0, 1.0);
            }
            Some(contact)
        };
        let all: Vec<Option<PenaltyContact>> = (0..skin.len()).into_par_iter().map(found).collect();
        PenaltyContacts(all.into_iter().flatten().collect())
    }

    fn component(&self, element: u32) -> u32 {
        self.lattice.elements[element as usize].component
    }

    fn rest_of(&self, vertex: usize) -> Point64 {
        self.inside.mesh.positions[vertex].cast()
    }

    /// Whether a rest point in an element's cell lies in the element's piece of the body.
    fn holds(&self, element: &Element, material: &Point64) -> bool {
        let pieces = &self.lattice.pieces[element.cell as usize];
        let cell = self.lattice.octree.cells[element.cell as usize];
        let distance = |sample: usize| {
            (pieces::position(&self.lattice.octree, cell, sample) - material).norm_squared()
        };
        let nearest = (0..pieces::SAMPLES)
            .filter(|&sample| pieces.piece[sample] != pieces::OUTSIDE)
            .min_by(|&a, &b| distance(a).total_cmp(&distance(b)));
        nearest.is_some_and(|sample| pieces.piece[sample] == element.piece)
            && self.inside.winding(material) > 0
    }

    fn contact(
        &self,
        vertex: usize,
        exit: &Point64,
        triangle: u32,
        normals: &[Vec64],
    ) -> Option<PenaltyContact> {
        let corners = self.inside.mesh.triangles[triangle as usize];
        let weights = barycentric(exit, corners.map(|v| self.rest_of(v as usize)));
        let normal: Vec64 = (corners.iter().zip(weights))
            .map(|(&v, weight)| normals[v as usize] * weight)
            .sum();
        let normal = normal.try_normalize(1e-12)?;
        // Skins in contact face each other; in a crumpled crease the nearest point is not the exit.
        if normal.dot(&normals[vertex]) > FACING {
            return None;
        }
        let index = self.lattice.element_near(self.inside, exit, |_| true)?;
        let element = &self.lattice.elements[index as usize];
        let mut nodes: BTreeMap<u32, f64> = BTreeMap::new();
        for (node, weight) in self.skin.on(vertex) {
            *nodes.entry(node as u32).or_default() += weight;
        }
        for (node, weight) in element.weights(&element.local(exit)) {
            *nodes.entry(node).or_default() -= weight;
        }
        Some(PenaltyContact {
            vertex: vertex as u32,
            nodes: nodes.into_iter().collect(),
            normal,
            stiffness: PENALTY * self.areas[vertex] / element.side,
        })
    }

    /// Unit normals of the vertices of a deformed skin.
    fn normals(&self, skin: &[Point64]) -> Vec<Vec64> {
        let mut normals = vec![Vec64::zeros(); skin.len()];
        for triangle in &self.inside.mesh.triangles {
            let [a, b, c] = triangle.map(|v| skin[v as usize]);
            let normal = (b - a).cross(&(c - a));
            for &v in triangle {
                normals[v as usize] += normal;
            }
        }
        for normal in &mut normals {
            *normal = normal.try_normalize(0.0).unwrap_or_else(Vec64::zeros);
        }
        normals
    }
}

fn bounds(corners: &[Vec64; 8]) -> [Vec64; 2] {
    let mut bounds = [corners[0]; 2];
    for corner in corners {
        bounds = [bounds[0].inf(corner), bounds[1].sup(corner)];
    }
    bounds
}

/// Coordinates of a point in a deformed element; `None` if it lies outside.
fn local_of(corners: &[Vec64; 8], point: &Point64) -> Option<Vec64> {
    let mut local = Vec64::repeat(0.5);
    for _ in 0..INVERSE_STEPS {
        let weights = trilinear(&local);
        let at: Vec64 = corners
            .iter()
            .zip(weights)
            .map(|(corner, w)| corner * w)
            .sum();
        let columns = [0, 1, 2].map(|axis| {
            let at_end = |end: f64| {
                let mut place = local;
                place[axis] = end;
                let weights = trilinear(&place);
                corners
                    .iter()
                    .zip(weights)
                    .map(|(corner, w)| corner * w)
                    .sum::<Vec64>()
            };
            at_end(1.0) - at_end(0.0)
        });
        let derivative = nalgebra::Matrix3::from_columns(&columns);
        let step = derivative.try_inverse()? * (point.coords - at);
        local += step;
        if step.norm() < INVERSE_ACCURACY {
            let is_inside = local.iter().all(|c| (0.0..=1.0).contains(c));
            // An inverted element contains no point.
            return (is_inside && derivative.determinant() > 0.0).then_some(local);
        }
        if local.iter().any(|c| !(-1.0..=2.0).contains(c)) {
            return None;
        }
    }
    None
}

fn barycentric(point: &Point64, [a, b, c]: [Point64; 3]) -> [f64; 3] {
    let normal = (b - a).cross(&(c - a));
    let area = normal.norm_squared().max(f64::MIN_POSITIVE);
    let of = |from: &Point64, to: &Point64| (to - from).cross(&(point - from)).dot(&normal) / area;
    [of(&b, &c), of(&c, &a), of(&a, &b)]
}
