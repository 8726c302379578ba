//! A character as read from files: source meshes, skeleton, clips, materials, and notes on repairs.
//!
//! The *source vertices* are the vertices of all [`SourceMesh`]es, concatenated in file order (nodes
//! depth-first from the scene's roots, primitives in order). They are never welded or reordered. Where a
//! file has several texture coordinates or normals at a vertex, copies of it follow ([`SourceFaces`]);
//! exports per vertex leave the copies out.

mod bone_edit_error;
mod bones;
mod bytes;
mod document;
mod faces;
mod flesh;
mod helper_rig;
mod helpers;
mod image;
mod meeting;
mod morph;
mod muscle;
mod paint;
mod place;
mod rerig;
mod retargeted;
mod scaled;
mod up_axis;

pub use bone_edit_error::BoneEditError;
use bones::same_structure;
pub use bones::{BONE_FACTORS, BoneFactor, BoneMap, BoneSettings, MEETING_FACTORS, MOST_JIGGLE};
pub use document::{SourceDocument, SourcePrimitive};
pub use faces::{MaterialSection, PolygonGroup, Polygons, SourceFaces};
pub use flesh::{
    FleshBase, FleshFactors, FleshSettings, LEAST_SIM_VERTICES, SimVertices, UNIT_RANGE,
};
pub use helper_rig::{Corrective, HelperRig, SpringJoint};
pub use helpers::common_placement;
pub use image::Image;
pub use meeting::Meeting;
pub use morph::{Expression, Morph, MorphControl, MorphShape, MorphTarget};
pub use muscle::{
    MOST_MUSCLES, MUSCLE_VALUES, Muscle, MuscleEditError, MuscleMeeting, MuscleShape, MuscleText,
    MuscleValue, sanitized_muscle_name,
};
pub use paint::{
    Brush, BrushKind, BrushPoint, FleshPaint, PaintMap, PaintSurface, codes_of, runs_of,
};
pub use place::{PartError, PartMap, Place};
pub use retargeted::{MatchedBy, Motion, MotionChoices, RetargetedClip};
pub use up_axis::UpAxis;

use std::collections::BTreeMap;
use std::sync::Arc;

use crate::math::{Affine, Point, Point64, Vec3, Vec64, transform_point};
use crate::mesh::Bounds;
use crate::rig::{Clip, Skeleton, Stance};
use crate::weights::SkinWeights;

/// How a source mesh is attached to the skeleton.
#[derive(Debug, Clone, PartialEq)]
pub enum Attachment {
    /// Skinned by the file.
    Skinned {
        /// Influences on joints of the character's skeleton.
        weights: SkinWeights,
        /// Inverse bind matrix of every joint of the skeleton *for this mesh* (identity for joints its skin does not use).
        joint_from_mesh: Vec<Affine>,
    },
    /// A rigid prop attached to a joint.
    Rigid {
        /// The joint.
        joint: usize,
        /// Constant placement in the joint's frame.
        joint_from_mesh: Affine,
    },
    /// Not attached: it stays at its position in the file.
    Static {
        /// Constant placement.
        world_from_mesh: Affine,
    },
    /// An unskinned mesh in world space that belongs to the whole skeleton but has no weights (OBJ,
    /// OFF).
    Unweighted,
}

/// One primitive of one node, as in the file.
#[derive(Debug, Clone, PartialEq)]
pub struct SourceMesh {
    /// Name of the node or object.
    pub name: String,
    /// Positions as in the file (glTF: in mesh space), then copies ([`SourceFaces::copies`]).
    pub positions: Vec<Point>,
    /// Triangles; polygons, strips and fans are already triangulated.
    pub triangles: Vec<[u32; 3]>,
    /// Normals as in the file, if usable.
    pub normals: Option<Vec<Vec3>>,
    /// First texture coordinates.
    pub tex_coords: Option<Vec<[f32; 2]>>,
    /// Index into [`Character::materials`]; of several, the first.
    pub material: Option<usize>,
    /// The file's vertices, polygons and materials.
    pub faces: SourceFaces,
    /// Its attachment.
    pub attachment: Attachment,
}

/// Surface appearance.
#[derive(Debug, Clone, PartialEq)]
pub struct Material {
    /// Name as in the file.
    pub name: String,
    /// Linear base colour and opacity.
    pub base_color: [f32; 4],
    /// Base-colour texture, sRGB.
    pub base_color_image: Option<Arc<Image>>,
    /// Draw both sides.
    pub double_sided: bool,
    /// Discard where alpha is below this (glTF `MASK`).
    pub alpha_cutoff: Option<f32>,
    /// Normals in tangent space.
    pub normal_map: Option<NormalMap>,
}

impl Default for Material {
    /// White and opaque, without a name.
    fn default() -> Self {
        Self {
            name: String::new(),
            base_color: [1.0; 4],
            base_color_image: None,
            double_sided: false,
            alpha_cutoff: None,
            normal_map: None,
        }
    }
}

/// A texture of normals in tangent space: red along growing u, green along falling v (up in the image), blue outwards.
#[derive(Debug, Clone, PartialEq)]
pub struct NormalMap {
    /// Components −1 to 1 as 0 to 255, linear.
    pub image: Arc<Image>,
    /// Factor on red and green.
    pub scale: f32,
}

/// Severity of a note.
#[derive(
    Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, serde::Serialize, serde::Deserialize,
)]
#[serde(rename_all = "lowercase")]
pub enum Severity {
    /// Information.
    Info,
    /// A defect of the file that was repaired or omitted.
    Mended,
    /// The result may differ from the user's expectation.
    Warning,
}

/// Note on a mesh without joints.
pub const NO_SKELETON: &str = "the character has no skeleton; to pose it, build one in edit mode or add a .skel, .tgf, .bvh or a rigged .glb or .fbx";

/// A message from reading, one sentence for the user.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct Note {
    /// Its severity.
    pub severity: Severity,
    /// One sentence.
    pub text: String,
    /// Number of affected elements, 0 if not applicable.
    pub count: usize,
}

/// A character as read from its files.
#[derive(Debug, Clone, Default)]
pub struct Character {
    /// Name for titles: the file's stem or the built-in's name.
    pub name: String,
    /// In export order.
    pub meshes: Vec<SourceMesh>,
    /// Joints; empty if the file has none.
    pub skeleton: Skeleton,
    /// Animations.
    pub clips: Vec<Clip>,
    /// Morph targets.
    pub morphs: Arc<[Morph]>,
    /// Combinations of morphs.
    pub expressions: Arc<[Expression]>,
    /// Materials of the meshes.
    pub materials: Vec<Material>,
    /// Messages from reading.
    pub notes: Vec<Note>,
    /// Length of one unit of the file in metres: from the format, or guessed.
    pub metres_per_unit: f64,
    /// The same as the format or the file specifies it, plausible or not; `None` if neither does.
    pub declared_metres_per_unit: Option<f64>,
    /// Initial user settings of the tissue.
    pub flesh: FleshSettings,
    /// Humanoid bone names (VRM, such as `leftUpperArm`) that the file assigns to joints; empty if
    /// it does not.
    pub humanoid: BTreeMap<String, usize>,
    /// Whether the file states that its weights were computed from its joints; if that still holds,
    /// they contain no additional information.
    pub computed_weights: bool,
    /// The glTF document that the meshes come from, if they come from one.
    pub document: Option<Arc<SourceDocument>>,
    /// Whether the character looks along −Z, as in VRM 0, instead of +Z.
    pub faces_negative_z: bool,
    /// Clips that were retargeted from another skeleton, and how.
    pub retargets: Vec<RetargetedClip>,
}

impl SourceMesh {
    /// An unskinned mesh, from a format without joints.
    #[must_use]
    pub fn bare(name: impl Into<String>, positions: Vec<Point>, triangles: Vec<[u32; 3]>) -> Self {
        Self {
            name: name.into(),
            positions,
            triangles,
            normals: None,
            tex_coords: None,
            material: None,
            faces: SourceFaces::default(),
            attachment: Attachment::Unweighted,
        }
    }

    /// Positions in the bind pose, in world space, where tissue is built. By linear blending with
    /// the bind pose's joints, which is one constant transform for every vertex unless the file's
    /// inverse bind matrices are inconsistent.
    #[must_use]
    pub fn bind_positions(&self, skeleton: &Skeleton) -> Vec<Point> {
        self.positions_at(&skeleton.bind_transforms())
    }

    /// Positions in world space by linear blending with the file's own weights (glTF 2.0, 3.7.3.3)
    /// and joints at `world_from_joint`.
    #[must_use]
    pub fn positions_at(&self, world_from_joint: &[Affine]) -> Vec<Point> {
        match &self.attachment {
            Attachment::Skinned {
                weights,
                joint_from_mesh,
            } => {
                let world_from_mesh: Vec<_> = world_from_joint
                    .iter()
                    .zip(joint_from_mesh)
                    .map(|(w, j)| (w * j).to_homogeneous())
                    .collect();
                let place = |(vertex, position): (usize, &Point)| {
                    let mut blended = nalgebra::Matrix4::zeros();
                    for (joint, weight) in weights.of(vertex) {
                        blended += world_from_mesh[joint] * f64::from(weight);
                    }
                    Point::from(
                        (blended * position.cast::<f64>().to_homogeneous())
                            .xyz()
                            .cast::<f32>(),
                    )
                };
                self.positions.iter().enumerate().map(place).collect()
            }
            Attachment::Rigid {
                joint,
                joint_from_mesh,
            } => {
                let world_from_mesh = world_from_joint[*joint] * joint_from_mesh;
                self.positions
                    .iter()
                    .map(|p| transform_point(&world_from_mesh, p))
                    .collect()
            }
            Attachment::Static { world_from_mesh } => self
                .positions
                .iter()
                .map(|p| transform_point(world_from_mesh, p))
                .collect(),
            Attachment::Unweighted => self.positions.clone(),
        }
    }

    /// Whether the mesh is flesh (skinned by the file, or without weights yet) rather than a prop.
    #[must_use]
    pub fn is_skin(&self) -> bool {
        matches!(
            self.attachment,
            Attachment::Skinned { .. } | Attachment::Unweighted
        )
    }
}

impl Character {
    /// Total number of source vertices, with copies at seams.
    #[must_use]
    pub fn source_vertices(&self) -> usize {
        self.meshes.iter().map(|mesh| mesh.positions.len()).sum()
    }

    /// Total number of triangles.
    #[must_use]
    pub fn source_triangles(&self) -> usize {
        self.meshes.iter().map(|mesh| mesh.triangles.len()).sum()
    }

    /// All source vertices in the bind pose, in world space.
    #[must_use]
    pub fn bind_positions(&self) -> Vec<Point> {
        self.meshes
            .iter()
            .flat_map(|mesh| mesh.bind_positions(&self.skeleton))
            .collect()
    }

    /// Limbs, soles and ground, as feet need them to stand: by all vertices in the bind pose. `None` for a body without limbs.
    #[must_use]
    pub fn stance(&self) -> Option<Stance> {
        let skin = self.bind_positions();
        let up = UpAxis::guess(&self.skeleton, &Bounds::of(&skin));
        let skin: Vec<Point64> = skin.iter().map(|vertex| vertex.cast()).collect();
        Stance::of(&self.skeleton, &Vec64::from(up.axis), &skin)
    }

    /// All triangles, indexing the concatenated source vertices.
    #[must_use]
    pub fn triangles(&self) -> Vec<[u32; 3]> {
        let mut offset = 0_u32;
        let mut all = Vec::with_capacity(self.source_triangles());
        for mesh in &self.meshes {
            all.extend(mesh.triangles.iter().map(|t| t.map(|v| v + offset)));
            offset += u32::try_from(mesh.positions.len()).unwrap_or(u32::MAX);
        }
        all
    }

    /// Adds a note for the user.
    pub fn note(&mut self, severity: Severity, count: usize, text: impl Into<String>) {
        self.notes.push(Note {
            severity,
            text: text.into(),
            count,
        });
    }
}
