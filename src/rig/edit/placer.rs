//! Places joints in the centre of the flesh.
//!
//! A click is a ray: the first interval of flesh along it is halved, and the point is moved to the
//! centre of the limb's cross-section. The limb's axis at a point is the direction least aligned
//! with the surrounding normals: the eigenvector of the smallest eigenvalue of `Σ n nᵀ / d²` over
//! the normals `n` hit, at distances `d`, in all directions. In the plane across it, the point is
//! moved so that it bisects the chords through it: with `u` the directions of the chords, `m` the
//! signed distances of their midpoints and weights `w = 1 / length²`, which suppress distant
//! surfaces (an arm beside the trunk), the step is
//!
//! ```text
//!     x = (Σ w u uᵀ)⁻¹ Σ w m u
//! ```

use nalgebra::{Matrix2, Matrix3, SymmetricEigen, Vector2};

use super::flesh_ray::{Piece, pieces};
use super::mirror::Mirror;
use super::symmetry;
use crate::math::{Point64, Vec64};
use crate::mesh::{Crossing, TriMesh, TriangleTree};

/// Number of chords across a limb.
const CHORDS: usize = 12;
/// Number of steps towards the centre; for a circle the first one is exact.
const STEPS: usize = 6;
/// Number of directions in which the surface around a point is sampled.
const AROUND: usize = 60;
/// Minimum depth of a joint below the surface, as a fraction of the size.
const UNDER: f64 = 0.004;

/// Finds positions inside the flesh of a static mesh.
#[derive(Debug, Clone)]
pub struct Placer {
    tree: TriangleTree,
    size: f64,
    /// Whether the mesh's normals point outwards as a whole.
    outward: bool,
    mirror: Option<Mirror>,
    normals: Vec<Vec64>,
    bounds: crate::mesh::Bounds,
    points: Vec<crate::math::Point>,
}

/// A position for a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placed {
    /// World position, in the centre of the flesh.
    pub position: Point64,
    /// Mean distance to the skin in the cross-section.
    pub radius: f64,
    /// Direction of the limb, of unit length.
    pub axis: Vec64,
    /// Where the pointer's ray hit the skin.
    pub surface: Point64,
}

/// The cross-section of a limb at a point.
struct CrossSection {
    step: Vec64,
    radius: f64,
    axis: Vec64,
}

impl Placer {
    /// Prepares a mesh in the bind pose.
    ///
    /// # Panics
    /// If a triangle index is out of range.
    #[must_use]
    pub fn new(mesh: &TriMesh) -> Self {
        let normal = |triangle: usize| {
            let [a, b, c] = mesh.corners(triangle).map(nalgebra::OPoint::cast::<f64>);
            (b - a)
                .cross(&(c - a))
                .try_normalize(0.0)
                .unwrap_or_else(Vec64::zeros)
        };
        let bounds = mesh.bounds();
        let points = mesh
            .positions
            .iter()
            .copied()
            .filter(|p| p.iter().all(|c| c.is_finite()))
            .collect();
        let tree = TriangleTree::new(mesh);
        let triangles = 0..mesh.triangles.len();
        let mirror = symmetry::find(mesh, &tree);
        let outward = signed_volume(mesh, &bounds) >= 0.0;
        Self {
            size: f64::from(bounds.size()).max(1e-12),
            outward,
            mirror,
            normals: triangles.map(normal).collect(),
            bounds,
            tree,
            points,
        }
    }

    /// The mesh's plane of symmetry, if it has one.
    #[must_use]
    pub fn mirror(&self) -> Option<&Mirror> {
        self.mirror.as_ref()
    }

    /// Diagonal of the mesh's bounding box.
    #[must_use]
    pub fn size(&self) -> f64 {
        self.size
    }

    /// The mesh's finite vertices.
    #[must_use]
    pub fn points(&self) -> &[crate::math::Point] {
        &self.points
    }

    /// Bounding box of the mesh.
    #[must_use]
    pub fn bounds(&self) -> &crate::mesh::Bounds {
        &self.bounds
    }

    /// The centre of the first interval of flesh along a ray; `None` if the ray hits nothing, or
    /// only open surfaces.
    #[must_use]
    pub fn under(&self, origin: &Point64, direction: &Vec64) -> Option<Placed> {
        self.all_under(origin, direction).next()
    }

    /// The centres of all intervals of flesh along a ray, the nearest first.
    pub(crate) fn all_under(
        &self,
        origin: &Point64,
        direction: &Vec64,
    ) -> impl Iterator<Item = Placed> + '_ {
        let direction = direction.try_normalize(1e-300).unwrap_or_else(Vec64::z);
        let finite = origin.iter().all(|c| c.is_finite());
        let found = if finite {
            pieces(&self.tree, origin, &direction, self.size, self.outward)
        } else {
            Vec::new()
        };
        let origin = *origin;
        found.into_iter().map(move |[from, to]: Piece| {
            let middle = origin + direction * (0.5 * (from + to));
            let (position, radius, axis) = self.centred(&middle);
            Placed {
                position,
                radius,
                axis,
                surface: origin + direction * from,
            }
        })
    }

    /// Number of intervals of flesh along a ray.
    #[must_use]
    pub(crate) fn count_under(&self, origin: &Point64, direction: &Vec64) -> usize {
        let finite = origin.iter().all(|c| c.is_finite());
        let direction = direction.try_normalize(1e-300).filter(|_| finite);
        direction.map_or(0, |direction| {
            pieces(&self.tree, origin, &direction, self.size, self.outward).len()
        })
    }

    /// The centre of the interval of flesh nearest to a point, along a line through the point;
    /// `None` if the line hits nothing.
    #[must_use]
    pub(crate) fn halved(&self, point: &Point64, direction: &Vec64) -> Option<Point64> {
        let direction = direction.try_normalize(1e-300)?;
        let before = 4.0 * self.size;
        let origin = point - direction * before;
        let far = |piece: &Piece| (piece[0] - before).max(before - piece[1]).max(0.0);
        let found = pieces(&self.tree, &origin, &direction, self.size, self.outward);
        let nearest = found.into_iter().min_by(|a, b| far(a).total_cmp(&far(b)))?;
        Some(origin + direction * (0.5 * (nearest[0] + nearest[1])))
    }

    /// The centre of the limb at an interior point, its radius and its direction.
    #[must_use]
    pub(crate) fn centred(&self, inside: &Point64) -> (Point64, f64, Vec64) {
        let mut point = *inside;
        let (mut radius, mut axis) = (0.0, Vec64::y());
        for _ in 0..STEPS {
            let Some(section) = self.section(&point) else {
                break;
            };
            (radius, axis) = (section.radius, section.axis);
            if !section.step.iter().all(|c| c.is_finite()) {
                break;
            }
            point += section.step;
            if section.step.norm() < 1e-6 * self.size {
                break;
            }
        }
        (point, radius, axis)
    }

    /// Whether a point is inside the flesh, by a majority of rays.
    #[must_use]
    pub(crate) fn is_inside(&self, point: &Point64) -> bool {
        const RAYS: usize = 7;
        if !point.iter().all(|c| c.is_finite()) {
            return false;
        }
        let votes = directions(RAYS).filter(|direction| {
            let (mut depth, mut count) = (0, 0);
            self.tree
                .crossings(point, direction, [0.0, f64::INFINITY], |crossing| {
                    depth += if crossing.outward == self.outward {
                        1
                    } else {
                        -1
                    };
                    count += 1;
                });
            depth > 0 && count > 0
        });
        2 * votes.count() > RAYS
    }

    /// The point itself if it is inside the flesh, otherwise the nearest point at the minimum depth
    /// below the skin.
    #[must_use]
    pub(crate) fn kept_inside(&self, point: &Point64) -> Point64 {
        if self.is_inside(point) {
            return *point;
        }
        let Some(closest) = self.tree.closest(point, f64::INFINITY, |_| true) else {
            return *point;
        };
        let inward = (closest.point - point).try_normalize(1e-12 * self.size);
        let inward = inward.unwrap_or_else(|| {
            let normal = self.normals[closest.triangle as usize];
            if self.outward { -normal } else { normal }
        });
        // Not beyond the centre of a thin part.
        let mut room = 2.0 * UNDER * self.size;
        self.tree.crossings(
            &closest.point,
            &inward,
            [1e-6 * self.size, room],
            |crossing| room = room.min(crossing.t),
        );
        closest.point + inward * (0.5 * room)
    }

    /// Distance to the end of the flesh along a direction, and the skin's normal there; `None` if
    /// it does not end. Interior walls (an eye, a tooth) do not count: the flesh ends where as many
    /// surfaces were left as were entered.
    fn free(
        &self,
        point: &Point64,
        direction: &Vec64,
        met: &mut Vec<Crossing>,
    ) -> Option<(f64, Vec64)> {
        met.clear();
        let from = 1e-7 * self.size;
        self.tree
            .crossings(point, direction, [from, 3.0 * self.size], |crossing| {
                met.push(crossing);
            });
        met.sort_by(|a, b| a.t.total_cmp(&b.t));
        let leaves = |crossing: &Crossing| crossing.outward == self.outward;
        let mut depth: i32 = met
            .iter()
            .map(|crossing| if leaves(crossing) { 1 } else { -1 })
            .sum();
        // If the mesh is open, the first exit is used.
        let counts = depth > 0;
        let end = met.iter().find(|crossing| {
            depth -= if leaves(crossing) { 1 } else { -1 };
            leaves(crossing) && (depth <= 0 || !counts)
        });
        end.map(|crossing| (crossing.t, self.normals[crossing.triangle as usize]))
    }

    fn section(&self, point: &Point64) -> Option<CrossSection> {
        let axis = self.axis_at(point)?;
        let side = if axis.x.abs() < 0.6 {
            Vec64::x()
        } else {
            Vec64::y()
        };
        let u = axis.cross(&side).try_normalize(1e-12)?;
        let v = axis.cross(&u);
        let (mut matrix, mut right) = (Matrix2::zeros(), Vector2::zeros());
        let (mut sum, mut count) = (0.0, 0.0);
        let mut met = Vec::new();
        for chord in 0..CHORDS {
            let angle = std::f64::consts::PI * (chord as f64 + 0.25) / CHORDS as f64;
            let flat = Vector2::new(angle.cos(), angle.sin());
            let direction = u * flat.x + v * flat.y;
            let ahead = self.free(point, &direction, &mut met);
            let (Some((ahead, _)), Some((behind, _))) =
                (ahead, self.free(point, &-direction, &mut met))
            else {
                continue;
            };
            let weight = 1.0 / (ahead + behind).powi(2).max(1e-18 * self.size * self.size);
            matrix += flat * flat.transpose() * weight;
            right += flat * (weight * 0.5 * (ahead - behind));
            sum += 0.5 * (ahead + behind);
            count += 1.0;
        }
        // Fewer than two chords leave a direction undetermined.
        let step = if count >= 2.0 {
            matrix.try_inverse()? * right
        } else {
            return None;
        };
        Some(CrossSection {
            step: u * step.x + v * step.y,
            radius: sum / count,
            axis,
        })
    }

    /// The direction of the limb around a point.
    fn axis_at(&self, point: &Point64) -> Option<Vec64> {
        let mut turned = Matrix3::zeros();
        let (mut met, mut crossings) = (0, Vec::new());
        for direction in directions(AROUND) {
            if let Some((distance, normal)) = self.free(point, &direction, &mut crossings) {
                turned += normal * normal.transpose()
                    / distance.powi(2).max(1e-18 * self.size * self.size);
                met += 1;
            }
        }
        if met < 4 || !turned.iter().all(|c| c.is_finite()) {
            return None;
        }
        let eigen = SymmetricEigen::new(turned);
        eigen
            .eigenvectors
            .column(eigen.eigenvalues.imin())
            .into_owned()
            .try_normalize(1e-12)
    }
}

/// Directions spread evenly over the sphere (spiral), approximately in opposite pairs.
fn directions(count: usize) -> impl Iterator<Item = Vec64> {
    let golden = std::f64::consts::PI * (3.0 - 5.0_f64.sqrt());
    (0..count).map(move |k| {
        let y = 1.0 - 2.0 * (k as f64 + 0.5) / count as f64;
        let (r, phi) = ((1.0 - y * y).sqrt(), golden * k as f64 + 0.137);
        Vec64::new(r * phi.cos(), y, r * phi.sin())
    })
}

/// Six times the enclosed volume of the mesh.
fn signed_volume(mesh: &TriMesh, bounds: &crate::mesh::Bounds) -> f64 {
    let center = bounds.center();
    (0..mesh.triangles.len())
        .map(|triangle| {
            let [a, b, c] = mesh.corners(triangle).map(|p| (p - center).cast::<f64>());
            let volume = a.dot(&b.cross(&c));
            if volume.is_finite() { volume } else { 0.0 }
        })
        .sum()
}
