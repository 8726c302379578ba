//! From the simulation mesh to the source vertices.

use std::borrow::Cow;
use std::collections::HashSet;
use std::sync::Arc;

use rayon::prelude::*;

use super::riding::Riding;
use super::{BindError, Subject};
use crate::character::Place;
use crate::math::{Affine, Point, Vec3};
use crate::mesh::TriMesh;
use crate::progress::Progress;
use crate::tissue::{Guide, GuideFrame};
use crate::upsample::{Directions, Frames, ShellCoupling, Smoothing, Upsampling};
use crate::weights::by_distance;

/// Minimum number of vertices per task.
const MIN_TASK: usize = 2048;

/// Maps simulated vertices to every source vertex of the skin: the flesh, then cloth and props. Includes the buffers of one
/// frame.
pub(super) struct SourceMap {
    subject: Arc<Subject>,
    upsampled: Option<Upsampled>,
    /// Shells close to each other, if there are any.
    shells: Option<Shells>,
    /// Cloth and props, if there are any.
    riding: Option<Riding>,
    /// Positions of the whole skin; none where the simulation mesh is the skin.
    skin: Vec<Point>,
}

struct Upsampled {
    upsampling: Arc<Upsampling>,
    frames: Frames,
    flesh: Vec<Point>,
    normals: Directions,
    guides: Option<Guides>,
}

/// How skinning moves simulation mesh and flesh: with it only what elasticity adds is upsampled.
///
/// The simulated points are taken back to the bind pose by the transforms of their own vertices, upsampled there, and posed by those of
/// the fine vertices. So detail that the simulation mesh does not have follows the joints as in dual quaternion skinning.
struct Guides {
    coarse: Guide,
    fine: Guide,
    coarse_frame: GuideFrame,
    fine_frame: GuideFrame,
    unposed: Vec<Point>,
    smoothing: Smoothing,
}

impl Guides {
    /// `None` if the flesh is not guided.
    fn bind(subject: &Subject) -> Option<Self> {
        let coarse = subject.guide_of(&subject.sim().skin_from_sim)?;
        let body = subject.body();
        let fine = subject.guide_of(&body.skin_from_flesh)?;
        let simulated: HashSet<u32> = subject.sim().skin_from_sim.iter().copied().collect();
        let held = (0u32..).zip(&body.skin_from_flesh);
        let held = held.filter(|(_, skin)| simulated.contains(skin));
        Some(Self {
            coarse_frame: coarse.at_rest(),
            fine_frame: fine.at_rest(),
            unposed: vec![Point::origin(); coarse.len()],
            smoothing: Smoothing::of(&body.flesh, fine.weights(), held.map(|(flesh, _)| flesh)),
            coarse,
            fine,
        })
    }

    /// The transforms of the fine guide in this pose.
    fn pose_fine(&mut self, world_from_joint: &[Affine]) {
        if !self.fine_frame.is_of(world_from_joint) {
            self.fine.pose(world_from_joint, &mut self.fine_frame);
        }
    }

    /// The simulated points in the bind pose. `posed` are the transforms of the coarse guide in this pose, if they are known.
    fn move_to_bind_pose(
        &mut self,
        simulated: &[Point],
        world_from_joint: &[Affine],
        posed: Option<&GuideFrame>,
    ) -> &[Point] {
        self.pose_fine(world_from_joint);
        let posed = posed.unwrap_or_else(|| {
            self.coarse.pose(world_from_joint, &mut self.coarse_frame);
            &self.coarse_frame
        });
        posed.apply_inverse(simulated, &mut self.unposed);
        &self.unposed
    }

    /// Poses the fine points.
    fn pose(&mut self, flesh: &mut [Point]) {
        self.fine_frame.apply_in_place(flesh);
        self.smoothing
            .apply(|vertex| self.fine_frame.rotation(vertex), flesh);
    }
}

/// The coupling of shells of guided flesh.
struct Shells {
    coupling: ShellCoupling,
    /// Guide of the flesh, with its transforms where they are not known.
    guide: Guide,
    frame: GuideFrame,
    /// Guide of the partners of the coupled vertices.
    of_partners: Guide,
    partner_frame: GuideFrame,
    /// The coupled vertices, each with the position of its partner at rest.
    pairs: Vec<(u32, Point)>,
    /// Positions of the flesh at rest, and in the last pose.
    rest: Vec<Point>,
    flesh: Vec<Point>,
}

/// Width of the gaps between shells that are coupled, limb radii.
const SHELL_REACH: f64 = 0.4;

impl Shells {
    /// `None` if the flesh is not guided or no shells are close to each other.
    fn bind(subject: &Subject) -> Option<Self> {
        let body = subject.body();
        let guide = subject.guide_of(&body.skin_from_flesh)?;
        let mesh = &subject.skin.mesh;
        let flesh_from_skin = body.flesh_from_skin(mesh.positions.len());
        let is_still = |vertex: usize| {
            let part = body.parts.part_of_vertex[vertex] as usize;
            matches!(body.parts.parts[part].place, Place::Rigid { .. })
        };
        let limb_radius = subject.flesh().ok()?.tissue.quality.limb_radius;
        let reach = (SHELL_REACH * limb_radius) as f32;
        let coupling = ShellCoupling::of(
            mesh,
            &body.parts.part_of_vertex,
            &flesh_from_skin,
            is_still,
            reach.max(mean_edge(&body.flesh)),
        )?;
        let partners: Vec<u32> = coupling.partners().map(|(_, partner)| partner).collect();
        let of_partners = subject.guide_of(&partners)?;
        let pairs = coupling.partners();
        Some(Self {
            pairs: pairs
                .map(|(flesh, partner)| (flesh, mesh.positions[partner as usize]))
                .collect(),
            coupling,
            frame: guide.at_rest(),
            guide,
            partner_frame: of_partners.at_rest(),
            of_partners,
            rest: body.flesh.positions.clone(),
            flesh: body.flesh.positions.clone(),
        })
    }

    /// The coupled flesh. `posed` are the guide transforms of the flesh in this pose, if they are known.
    fn couple(
        &mut self,
        flesh: &[Point],
        world_from_joint: &[Affine],
        posed: Option<&GuideFrame>,
    ) -> &[Point] {
        let posed = posed.unwrap_or_else(|| {
            self.guide.pose(world_from_joint, &mut self.frame);
            &self.frame
        });
        self.of_partners
            .pose(world_from_joint, &mut self.partner_frame);
        self.flesh.copy_from_slice(flesh);
        let (rest, pairs, partners) = (&self.rest, &self.pairs, &self.partner_frame);
        let drift = |k: usize| {
            let (vertex, partner) = &pairs[k];
            let own = posed.apply_one(*vertex as usize, partner);
            (own - partners.apply_one(k, partner)).norm()
        };
        self.coupling.apply(
            |vertex| posed.apply_one(vertex, &rest[vertex]),
            drift,
            &mut self.flesh,
        );
        &self.flesh
    }
}

fn mean_edge(mesh: &TriMesh) -> f32 {
    let edges = (0..mesh.triangles.len()).flat_map(|triangle| {
        let [a, b, c] = mesh.corners(triangle);
        [(b - a).norm(), (c - b).norm(), (a - c).norm()]
    });
    let sum: f64 = edges.map(f64::from).sum();
    (sum / (3 * mesh.triangles.len()).max(1) as f64) as f32
}

impl SourceMap {
    /// `normals` are those of all source vertices in the bind pose.
    pub(super) fn bind(
        subject: &Arc<Subject>,
        normals: &[Vec3],
        progress: &Progress,
    ) -> Result<Self, BindError> {
        let body = subject.body();
        let upsampled = subject.upsampling().map(|upsampling| {
            let (mut frames, mut flesh) = (upsampling.frames(), body.flesh.positions.clone());
            upsampling.positions_into(&subject.sim().mesh.positions, &mut frames, &mut flesh);
            let flesh_from_skin = body.flesh_from_skin(subject.skin.mesh.positions.len());
            let flesh_from_source: Vec<Option<u32>> = subject
                .skin
                .skin_from_source
                .iter()
                .map(|skin| skin.and_then(|skin| flesh_from_skin[skin as usize]))
                .collect();
            let normals = Directions::normals(&frames, &flesh_from_source, normals);
            Upsampled {
                upsampling: upsampling.clone(),
                frames,
                flesh,
                normals,
                guides: Guides::bind(subject),
            }
        });
        let riding = (!body.parts.all_flesh()).then(|| {
            let skeleton = &subject.character.skeleton;
            let mesh = &subject.skin.mesh;
            let of_file = subject
                .file_weights()
                .filter(|weights| weights.is_complete());
            let weights =
                of_file.map_or_else(|| Cow::Owned(by_distance(mesh, skeleton)), Cow::Borrowed);
            Riding::bind(mesh, &body.parts, skeleton, Some(&weights), progress)
        });
        let riding = riding.transpose()?;
        let skin = if riding.is_some() {
            subject.skin.mesh.positions.clone()
        } else {
            Vec::new()
        };
        Ok(Self {
            subject: subject.clone(),
            upsampled,
            shells: Shells::bind(subject),
            riding,
            skin,
        })
    }

    /// Whether this guide moves the simulation mesh, and upsampling takes it into account.
    pub(super) fn is_guided_by(&self, guide: &Guide) -> bool {
        let guides = self.upsampled.as_ref().and_then(|map| map.guides.as_ref());
        guides.is_some_and(|guides| guides.coarse.weights() == guide.weights())
    }

    /// Computes beforehand what [`SourceMap::follow`] needs of a pose; it does not depend on the simulated points. Allocates nothing.
    pub(super) fn prepare(&mut self, world_from_joint: &[Affine]) {
        let guides = self.upsampled.as_mut().and_then(|map| map.guides.as_mut());
        if let Some(guides) = guides {
            guides.pose_fine(world_from_joint);
        }
    }

    /// Writes the source vertices of the skin. `posed` are the transforms in this pose of a guide of which
    /// [`SourceMap::is_guided_by`] is true, if they are known. Allocates nothing.
    pub(super) fn follow(
        &mut self,
        simulated: &[Point],
        world_from_joint: &[Affine],
        posed: Option<&GuideFrame>,
        source: &mut [Point],
    ) {
        let (flesh, posed) = match &mut self.upsampled {
            None => (simulated, posed),
            Some(Upsampled {
                upsampling,
                frames,
                flesh,
                guides,
                ..
            }) => {
                let posed = match guides {
                    None => {
                        upsampling.positions_into(simulated, frames, flesh);
                        None
                    }
                    Some(guides) => {
                        let unposed = guides.move_to_bind_pose(simulated, world_from_joint, posed);
                        upsampling.positions_into(unposed, frames, flesh);
                        guides.pose(flesh);
                        Some(&guides.fine_frame)
                    }
                };
                (&flesh[..], posed)
            }
        };
        let flesh = match &mut self.shells {
            Some(shells) => shells.couple(flesh, world_from_joint, posed),
            None => flesh,
        };
        let skin = match &mut self.riding {
            // The whole skin is flesh.
            None => flesh,
            Some(riding) => {
                for (position, &vertex) in flesh.iter().zip(&self.subject.body().skin_from_flesh) {
                    self.skin[vertex as usize] = *position;
                }
                riding.place(&mut self.skin, world_from_joint);
                &self.skin
            }
        };
        source
            .par_iter_mut()
            .zip(&self.subject.skin.skin_from_source)
            .with_min_len(MIN_TASK)
            .for_each(|(position, vertex)| {
                if let Some(vertex) = vertex {
                    *position = skin[*vertex as usize];
                }
            });
    }

    /// The frames with which the upsampling transforms normals.
    pub(super) fn directions(&self) -> Option<&Directions> {
        self.upsampled.as_ref().map(|upsampled| &upsampled.normals)
    }

    /// Cloth and props.
    pub(super) fn riding(&self) -> Option<&Riding> {
        self.riding.as_ref()
    }

    /// Whether [`SourceMap::normals_into`] writes those of all source vertices.
    pub(super) fn carries_all_normals(&self) -> bool {
        self.upsampled
            .as_ref()
            .is_some_and(|upsampled| upsampled.guides.is_none())
            && self.riding.is_none()
            && self
                .subject
                .skin
                .skin_from_source
                .iter()
                .all(Option::is_some)
    }

    /// Writes the normals that the upsampling transforms. Allocates nothing.
    pub(super) fn normals_into(&self, normals: &mut [Vec3]) {
        if let Some(Upsampled {
            frames,
            normals: directions,
            guides: None,
            ..
        }) = &self.upsampled
        {
            directions.directions_into(frames, normals);
        }
    }
}
