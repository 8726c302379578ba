//! Mirror images of vertices and partners of joints.

use rayon::prelude::*;

use crate::math::Point64;
use crate::mesh::{TriMesh, TriangleTree};
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::rig::edit::{Mirror, Placer, Rig};
use crate::weights::WeightError;
use crate::weights::rows::{self, Row, RowSum};

/// Which weights are mirrored.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum MirrorFrom {
    /// Both sides: every vertex gets the mean of its weights and those of its mirror image.
    #[default]
    Both,
    /// The left side's are copied to the right; vertices on the plane get the mean.
    Left,
    /// The right side's are copied to the left.
    Right,
}

/// The side of the plane on which a vertex lies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum SideOfPlane {
    Left,
    Middle,
    Right,
}

/// The point of the surface that is the mirror image of a vertex.
#[derive(Debug, Clone, Copy, PartialEq)]
struct Image {
    corners: [u32; 3],
    /// How much each corner counts.
    parts: [f64; 3],
    side: SideOfPlane,
}

/// The mirror symmetry of a mesh with its skeleton in the bind pose.
#[derive(Debug, Clone, PartialEq)]
pub struct MirrorMap {
    partner: Vec<u32>,
    images: Vec<Option<Image>>,
}

impl MirrorMap {
    /// Finds the plane of symmetry, the partner of every joint (by name, otherwise by position; itself if there is none) and the
    /// mirror image of every vertex. `None` if there is no plane.
    ///
    /// # Errors
    /// [`WeightError::Cancelled`].
    pub fn find(
        mesh: &TriMesh,
        skeleton: &Skeleton,
        progress: &Progress,
    ) -> Result<Option<Self>, WeightError> {
        let rig = Rig::of(skeleton);
        let plane = Placer::new(mesh).mirror_of(&rig);
        progress.check()?;
        let Some(plane) = plane.filter(|plane| plane.normal.iter().all(|c| c.is_finite())) else {
            return Ok(None);
        };
        let partner_of = |joint: usize| plane.partner(&rig, joint).joint(joint).unwrap_or(joint);
        // Only pairs that agree in both directions.
        let partner = (0..skeleton.len()).map(|joint| {
            let other = partner_of(joint);
            let agrees = other < skeleton.len() && partner_of(other) == joint;
            (if agrees { other } else { joint }) as u32
        });
        let partner = partner.collect();
        let tree = TriangleTree::new(mesh);
        progress.check()?;
        let image = |vertex: usize| {
            if progress.is_cancelled() {
                return None;
            }
            image_of(mesh, &tree, &plane, vertex)
        };
        let images = (0..mesh.positions.len()).into_par_iter().map(image);
        let map = Self {
            partner,
            images: images.collect(),
        };
        progress.check()?;
        Ok(Some(map))
    }

    /// The mirrored rows, and how many vertices were mirrored. Locked vertices and those without an image keep their rows.
    pub(super) fn mirrored(
        &self,
        rows: &[Row],
        from: MirrorFrom,
        is_locked: impl Fn(usize) -> bool + Sync,
        progress: &Progress,
    ) -> Result<(Vec<Row>, usize), WeightError> {
        let image_of = |vertex: usize| self.images[vertex].filter(|_| !is_locked(vertex));
        let mirrored = |sum: &mut RowSum, vertex: usize| {
            let own = &rows[vertex];
            let Some(image) = image_of(vertex) else {
                return (own.clone(), false);
            };
            let own_part = match (from, image.side) {
                (MirrorFrom::Both, _) | (_, SideOfPlane::Middle) => 0.5,
                (MirrorFrom::Left, SideOfPlane::Left) | (MirrorFrom::Right, SideOfPlane::Right) => {
                    return (own.clone(), false);
                }
                _ => 0.0,
            };
            for (&corner, part) in image.corners.iter().zip(image.parts) {
                for &(joint, weight) in &rows[corner as usize] {
                    sum.add_one(self.partner[joint as usize], weight * part);
                }
            }
            let mut other = sum.take();
            rows::normalise(&mut other);
            if other.is_empty() {
                return (own.clone(), false);
            }
            // An empty row takes the image's weights whole.
            let own_part = if own.is_empty() { 0.0 } else { own_part };
            sum.add(own, own_part);
            sum.add(&other, 1.0 - own_part);
            (sum.take(), true)
        };
        let all: Vec<(Row, bool)> = (0..rows.len())
            .into_par_iter()
            .map_init(|| RowSum::new(self.partner.len()), mirrored)
            .collect();
        progress.check()?;
        let count = all.iter().filter(|(_, mirrored)| *mirrored).count();
        Ok((all.into_iter().map(|(row, _)| row).collect(), count))
    }
}

/// The closest point of the surface to the reflected vertex, if it is as near as the plane's tolerance.
fn image_of(mesh: &TriMesh, tree: &TriangleTree, plane: &Mirror, vertex: usize) -> Option<Image> {
    let position: Point64 = mesh.positions[vertex].cast();
    if !position.iter().all(|c| c.is_finite()) {
        return None;
    }
    let reflected = plane.reflect(&position);
    let found = tree.closest(&reflected, plane.snap, |_| true)?;
    let triangle = found.triangle as usize;
    let corners = mesh.corners(triangle).map(nalgebra::OPoint::cast::<f64>);
    let distance = plane.side(&position);
    // A thousandth of the tolerance, so that copying a side reaches the vertices next to the plane.
    let near = plane.snap * 1e-3;
    Some(Image {
        corners: mesh.triangles[triangle],
        parts: rows::barycentric(&corners, &found.point),
        side: if distance > near {
            SideOfPlane::Left
        } else if distance < -near {
            SideOfPlane::Right
        } else {
            SideOfPlane::Middle
        },
    })
}
