//! Tissue of the flesh: volumetric bones, the base surface on them, and layers of tets between base and skin.
//!
//! Komaritzan & Botsch, "Projective Skinning" (PS), PACMCGIT 2018, sections 3 and 4.2; Komaritzan's thesis (FPS), sections 3.2.1 and
//! 3.2.2 and appendix A.
//!
//! | paper | here                 | shape | unit  | note                                                    |
//! |-------|----------------------|-------|-------|---------------------------------------------------------|
//! | xᵢ    | `SimMesh::positions` | n × 3 | world | skin vertex, bind pose                                  |
//! | sᵢ    | `foot_points[i]`     | n × 3 | world | foot point on the bone line                             |
//! | xᴮᵢ   | `base[i]`            | n × 3 | world | its copy on the volumetric skeleton                     |
//! | r     | `Bone::radius`, `Node::radius` | 1 | world | bone cylinder, joint sphere                       |
//!
//! The stages, in order: [`graph`] (joints → nodes and bone segments, tails for leaves, helpers left out), [`foot`] (foot points),
//! [`volumes`] (radii), [`shrink`] (base surface), [`layer`] (tets), [`anchors`] (how the base follows the bones).
//!
//! # Departures
//! - Where the file has weights, the foot point of a vertex is searched only on bones of joints with weight on it. An
//!   arm beside the body thus never gets foot points of the flank.
//! - Leaf joints get a tail. Joints without skin and bones outside the flesh are left out; both papers assume clean
//!   skeletons.
//! - Smoothing of foot points projects only onto bones that the vertex or its neighbours already use. Limbs that come
//!   close to each other in the stretched skeleton can't exchange vertices.
//! - At joints of more than two bones the papers leave base vertices free. Here they slide between the bone and the
//!   averaged joint frame as everywhere else, so that the simulation has no unknown inside the body.
//! - By default the base is the skin moved inwards by 0.6 of the smoothed offset to its foot points, and follows dual
//!   quaternion skinning by the skin's weights (`offset.rs`, [`Guide`]). It keeps its volume in bends, wide bones stay
//!   wide, and no tet is inverted at rest. With [`FleshBase::Bones`] it lies on cylinders, as in the papers; the points
//!   below refer to that case.
//! - The base slides in closed form (see [`anchors`]) instead of on sampled rings.
//! - Bones may stretch or twist, may be virtual, or may move the skin rigidly ([`crate::character::BoneSettings`]).
//! - Tets too flat for a usable deformation gradient are left out. Vertices that the other tets do not determine are
//!   placed by the bones.

pub mod anchors;
pub mod foot;
pub mod graph;
mod guide;
mod joint_regions;
pub mod layer;
mod offset;
pub mod parts;
mod quality;
pub mod shrink;
mod sides;
mod stretched_graph;
mod stretching_bone;
mod undetermined;
pub mod volumes;

pub use anchors::{Anchors, BaseFrame};
pub use graph::{Bone, BoneGraph, Node};
pub use guide::{Guide, GuideFrame};
pub use joint_regions::joint_regions;
pub use layer::{Corner, CornerKind, Layer, Tet};
pub use parts::{Parts, Skin, SkinComponent};
pub use quality::Quality;
pub(crate) use stretching_bone::FreeBone;

use anchors::CarriedVertex;
use foot::FootPoints;
use sides::Sides;

use crate::character::{FleshBase, FleshSettings, Note};
use crate::math::Point64;
use crate::mesh::{Bending, SimMesh, Topology, TriMesh};
use crate::progress::{Cancelled, Progress};
use crate::rig::Skeleton;
use crate::weights::SkinWeights;

/// Length scale at which bending of the skin is as stiff as stretching of the flesh, as a fraction of the limb radius.
const BENDING_LENGTH: f64 = 0.25;

/// The volumetric model in the bind pose. Immutable.
#[derive(Debug, Clone, serde::Serialize, serde::Deserialize)]
pub struct Tissue {
    /// Volumetric skeleton.
    pub graph: BoneGraph,
    /// For every skin vertex the bone on whose line its foot point lies.
    pub foot_bones: Vec<u32>,
    /// For every skin vertex its foot point, world space.
    pub foot_points: Vec<Point64>,
    /// For every skin vertex its base vertex, world space.
    pub base: Vec<Point64>,
    /// The tets, layer by layer from the skin inwards; at present one layer between skin and base. Unknowns are the
    /// skin vertices, then [`Tissue::interior`]. Prescribed points are the base vertices, then the positions of the
    /// carried unknowns.
    pub layers: Vec<Layer>,
    /// Rest positions of unknowns below the skin, world space; empty with a single layer.
    pub interior: Vec<Point64>,
    /// For every unknown its reference, a prescribed point: initial guesses move with it, and damping acts on the
    /// velocity relative to it. For a skin vertex it is the base vertex under it.
    pub references: Vec<u32>,
    /// Carried unknowns: those that the bones place instead of the simulation, ascending. They are the vertices of held
    /// bones, and those that usable tets do not determine.
    pub carried: Vec<u32>,
    /// How the bones move the prescribed points: the base vertices, then the carried unknowns. With [`Tissue::bending`]
    /// a [`Guide`] moves them instead.
    pub anchors: Anchors,
    /// Bending energy of the skin, if base and flesh are guided by the skin's weights; see [`FleshBase::Weights`].
    pub bending: Option<Bending>,
    /// Quality measures of the tets.
    pub quality: Quality,
    /// Notes about skeleton and skin for the user.
    pub notes: Vec<Note>,
}

/// Reasons why no tissue can be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum TissueError {
    /// There is no skeleton.
    #[error(
        "the character has no skeleton; flesh needs bones: give a .skel file or a rigged .glb beside the mesh"
    )]
    NoSkeleton,
    /// There are no skin triangles.
    #[error("the character has no skinned triangles, so there is no flesh to simulate")]
    NoSkin,
    /// No bone lies inside the skin.
    #[error(
        "none of the {joints} joints lies inside the skin; check that mesh and skeleton have the same unit, axes and place"
    )]
    OutsideSkin {
        /// Number of joints.
        joints: usize,
    },
    /// The equations of the flesh can't be set up.
    #[error("the flesh can't be simulated: {reason}")]
    Unsolvable {
        /// Error message of the solver.
        reason: String,
    },
    /// The caller cancelled.
    #[error(transparent)]
    Cancelled(#[from] Cancelled),
}

impl Tissue {
    /// Whether the array sizes match this mesh.
    #[must_use]
    pub fn is_of(&self, sim: &SimMesh) -> bool {
        let vertices = sim.mesh.positions.len();
        [
            self.base.len(),
            self.foot_bones.len(),
            self.foot_points.len(),
        ] == [vertices; 3]
            && self.references.len() == vertices + self.interior.len()
            && self.anchors.len() == vertices + self.carried.len()
    }

    /// Number of unknown points: skin vertices, then interior points.
    #[must_use]
    pub fn unknowns(&self) -> usize {
        self.references.len()
    }

    /// The prescribed point that places a carried unknown, given its index in [`Tissue::carried`].
    #[must_use]
    pub fn carried_place(&self, index: usize) -> u32 {
        (self.base.len() + index) as u32
    }

    /// All tets, layer by layer.
    pub fn tets(&self) -> impl Iterator<Item = &Tet> {
        self.layers.iter().flat_map(|layer| &layer.tets)
    }

    /// Builds the model in the bind pose. `weights` are those of the file, if any, one row per simulation vertex. Of
    /// the bones' `settings` only flags are used here, not factors. `thickness`, if any, is a factor on the distance from each
    /// simulation vertex to its base vertex, above 0 and at most 1.
    ///
    /// # Errors
    /// [`TissueError`] if there is nothing to build on, or the caller cancelled.
    pub fn build(
        sim: &SimMesh,
        skeleton: &Skeleton,
        weights: Option<&SkinWeights>,
        settings: &FleshSettings,
        thickness: Option<&[f32]>,
        progress: &Progress,
    ) -> Result<Self, TissueError> {
        if sim.mesh.triangles.is_empty() {
            return Err(TissueError::NoSkin);
        }
        if skeleton.is_empty() {
            return Err(TissueError::NoSkeleton);
        }
        let mesh = &sim.mesh;
        progress.report(0.1, "Placing bones");
        let (mut graph, notes) = graph::build(mesh, skeleton, weights)?;
        for bone in &mut graph.bones {
            let bone_settings = settings.bones.get(&bone.joint).copied().unwrap_or_default();
            (bone.is_virtual, bone.twists) = (bone_settings.is_virtual, bone_settings.twist);
        }
        progress.check()?;
        progress.report(0.3, "Matching skin and bones");
        let topology = Topology::of(mesh);
        let sides = Sides::of(mesh, &graph);
        let feet = foot::find(mesh, &topology, &graph, weights, progress)?;
        progress.report(0.7, "Inflating bones");
        volumes::fit_radii(&mut graph, mesh, &feet, &settings.radii);
        progress.check()?;
        progress.report(0.8, "Shrinking the skin");
        let limb_radius = limb_radius(mesh, &feet);
        let guided = settings.base == FleshBase::Weights;
        let mut shrunken = if guided {
            let base = offset::base(mesh, &topology, &feet, &sides);
            shrink::Shrunken {
                base,
                without_hit: 0,
            }
        } else {
            shrink::shrink(mesh, &graph, &feet)
        };
        if let Some(thickness) = thickness {
            thin_out(&mut shrunken.base, mesh, thickness);
        }
        let bending = guided.then(|| Bending::of(mesh, (BENDING_LENGTH * limb_radius).powi(3)));
        progress.check()?;
        progress.report(0.9, "Filling with tetrahedra");
        let mut layer = layer::fill_between(mesh, &shrunken.base, &sides.ranks);
        if guided {
            // Inverted tets are left out: guide and bending determine their vertices.
            for tet in layer.tets.iter_mut().filter(|tet| tet.is_inverted()) {
                tet.rest_inverse = None;
            }
        }
        let layers = vec![layer];
        let unknowns: Vec<Point64> = mesh.positions.iter().map(|p| p.cast::<f64>()).collect();
        let quality = Quality::of(
            &layers,
            &unknowns,
            &shrunken.base,
            shrunken.without_hit,
            limb_radius,
        );
        let is_held = |vertex: u32| {
            settings
                .bones
                .get(&graph.bones[feet.bones[vertex as usize] as usize].joint)
                .is_some_and(|bone| bone.held)
        };
        let mut carried = undetermined::undetermined(&layers, &unknowns, &shrunken.base);
        carried.extend((0..mesh.positions.len() as u32).filter(|&vertex| is_held(vertex)));
        carried.sort_unstable();
        carried.dedup();
        let carried_skin: Vec<CarriedVertex> = carried
            .iter()
            .map(|&vertex| CarriedVertex {
                vertex,
                rigid: is_held(vertex),
            })
            .collect();
        let anchors = Anchors::bind(&graph, skeleton, &feet, &shrunken.base, mesh, &carried_skin);
        Ok(Self {
            graph,
            foot_bones: feet.bones,
            foot_points: feet.points,
            base: shrunken.base,
            layers,
            interior: Vec::new(),
            references: (0..unknowns.len() as u32).collect(),
            carried,
            anchors,
            bending,
            quality,
            notes,
        })
    }
}

/// Moves the base towards the skin.
fn thin_out(base: &mut [Point64], mesh: &TriMesh, thickness: &[f32]) {
    for ((base, skin), factor) in base.iter_mut().zip(&mesh.positions).zip(thickness) {
        // Base vertices that stay are not rounded.
        if *factor < 1.0 {
            let skin = skin.cast::<f64>();
            *base = skin + (*base - skin) * f64::from(*factor);
        }
    }
}

/// Mean distance from the skin to its foot points, weighted by triangle area.
fn limb_radius(mesh: &TriMesh, feet: &FootPoints) -> f64 {
    let (mut sum, mut total) = (0.0, 0.0);
    for (index, triangle) in mesh.triangles.iter().enumerate() {
        let [a, b, c] = mesh.corners(index).map(nalgebra::OPoint::cast::<f64>);
        let area = (b - a).cross(&(c - a)).norm();
        let distance =
            |&v: &u32| (mesh.positions[v as usize].cast::<f64>() - feet.points[v as usize]).norm();
        sum += area * triangle.iter().map(distance).sum::<f64>() / 3.0;
        total += area;
    }
    // Skin without area or on the bone lines: returns a positive length, because others divide by it.
    if sum > 0.0 {
        sum / total
    } else {
        f64::from(mesh.bounds().size()).max(f64::MIN_POSITIVE) / 30.0
    }
}
