//! Summary of a character in numbers and sentences, for `info` and for the window's panel.

mod findings;

pub use crate::character::UpAxis;
pub use findings::{Finding, FindingKind, FindingPlace};

use std::path::PathBuf;

use serde::Serialize;

use findings::CheckupInput;

use crate::character::{Attachment, Character, Note, RetargetedClip};
use crate::math::Point64;
use crate::mesh::Topology;
use crate::methods::Subject;
use crate::progress::{Cancelled, Progress};
use crate::render::PositionMark;
use crate::rig::retarget::JointPair;
use crate::tissue::{Quality, SkinComponent};

/// Summary of a character.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Checkup {
    /// Display name.
    pub name: String,
    /// Vertices of all source meshes.
    pub source_vertices: usize,
    /// Triangles of all source meshes.
    pub source_triangles: usize,
    /// Vertices of the welded skin, or of all meshes if none is skinned; this also holds for the parts and edges below.
    pub skin_vertices: usize,
    /// Vertices of the simulation mesh.
    pub simulated_vertices: usize,
    /// Connected parts of the welded skin.
    pub skin_parts: usize,
    /// Boundary edges of the welded skin.
    pub boundary_edges: usize,
    /// Non-manifold edges of the welded skin (more than two triangles).
    pub non_manifold_edges: usize,
    /// Diagonal of the bind pose's bounding box, file units.
    pub size: f32,
    /// Length of one unit of the file in metres.
    pub metres_per_unit: f64,
    /// Extent along the up axis, units of the file.
    pub height: f32,
    /// Up axis of the file.
    pub up_axis: UpAxis,
    /// Connected parts of the skin, as [`crate::tissue::Parts`] numbers them; empty without a skeleton.
    pub parts: Vec<PartSummary>,
    /// Findings, most severe first.
    pub findings: Vec<Finding>,
    /// Source meshes in export order.
    pub meshes: Vec<MeshSummary>,
    /// Joints, parents first.
    pub joints: Vec<JointSummary>,
    /// Animations.
    pub clips: Vec<ClipSummary>,
    /// Names of morph targets, as MESH/NAME.
    pub morphs: Vec<String>,
    /// Names of expressions.
    pub expressions: Vec<String>,
    /// Clips retargeted from motions of other skeletons.
    pub motions: Vec<MotionSummary>,
    /// Materials' names.
    pub materials: Vec<String>,
    /// Quality of the tissue; `None` if there is none.
    pub tissue: Option<Quality>,
    /// Why there is no tissue.
    pub tissue_refused: Option<String>,
    /// Notes: what was found and what was done about it.
    pub notes: Vec<Note>,
}

/// All notes on a character: of its files, then of its tissue if that has been computed.
#[must_use]
pub fn all_notes(subject: &Subject) -> Vec<Note> {
    let flesh = subject.flesh_if_made().and_then(Result::ok);
    let of_flesh = flesh.iter().flat_map(|flesh| &flesh.tissue.notes);
    subject
        .character
        .notes
        .iter()
        .chain(of_flesh)
        .cloned()
        .collect()
}

/// One connected part of the skin.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct PartSummary {
    /// Name as in `--part`.
    pub name: String,
    /// Vertices.
    pub vertices: usize,
    /// Triangles.
    pub triangles: usize,
    /// Diagonal of its bounding box, file units.
    pub size: f64,
    /// "flesh", "ride" or "rigid:JOINT".
    pub place: String,
    /// Whether the user set it.
    pub by_user: bool,
    /// Reason.
    pub reason: String,
}

/// One source mesh.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MeshSummary {
    /// Name.
    pub name: String,
    /// Vertices.
    pub vertices: usize,
    /// Triangles.
    pub triangles: usize,
    /// "skinned", "rigid", "static" or "unweighted".
    pub attachment: &'static str,
}

/// One joint.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct JointSummary {
    /// Name.
    pub name: String,
    /// The parent's name.
    pub parent: Option<String>,
    /// World position in the bind pose, file units.
    pub position: [f64; 3],
    /// Whether it influences skin.
    pub deforms: bool,
}

/// One animation.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ClipSummary {
    /// Name.
    pub name: String,
    /// Time of the last key, seconds.
    pub duration_secs: f64,
    /// Number of animated properties of joints, and of animated morphs.
    pub tracks: usize,
}

/// Extent of all meshes along the up axis.
fn height_of(subject: &Subject, up: &UpAxis) -> f32 {
    let along = (subject.bind_positions.iter()).map(|place| place.coords.dot(&up.direction()));
    let [low, high] = along.fold([f32::INFINITY, f32::NEG_INFINITY], |[low, high], at| {
        [low.min(at), high.max(at)]
    });
    (high - low).max(0.0)
}

impl Checkup {
    /// The places of all findings, to be marked in pictures.
    #[must_use]
    pub fn marks(&self) -> Vec<PositionMark> {
        let places = self.findings.iter().flat_map(|finding| {
            let places = finding.places.iter();
            places.map(move |place| (place, finding.severity))
        });
        let mark = |(place, severity): (&FindingPlace, _)| PositionMark {
            vertex: place.vertex,
            joint: place.joint,
            at_rest: Point64::from(place.position).cast::<f32>(),
            radius: place.radius as f32,
            color: PositionMark::color_of(severity),
        };
        places.map(mark).collect()
    }

    /// Examines a character.
    #[must_use]
    pub fn of(subject: &Subject) -> Self {
        // This progress has no other owner, so it cannot be cancelled.
        Self::with_progress(subject, &Progress::new())
            .unwrap_or_else(|Cancelled| unreachable!("nobody cancels"))
    }

    /// Examines a character; the self-intersection test of a large skin can take seconds.
    ///
    /// # Errors
    /// [`Cancelled`].
    pub fn with_progress(subject: &Subject, progress: &Progress) -> Result<Self, Cancelled> {
        let character = &subject.character;
        let joints = character.skeleton.joints();
        let up_axis = subject.up_axis();
        subject.make_flesh(&progress.part(0.0, 0.5))?;
        let progress = &progress.part(0.5, 1.0);
        let flesh = subject.flesh();
        let input = CheckupInput::new(subject, &subject.body().parts);
        let topology = Topology::of(&input.surface.mesh);
        let findings = input.findings(&up_axis, progress)?;
        // Notes that repeat a finding are left out.
        let mut notes = all_notes(subject);
        notes.retain(|note| !note.text.starts_with("1 unit of the file is taken"));
        Ok(Self {
            name: character.name.clone(),
            source_vertices: character.file_vertices(),
            source_triangles: character.source_triangles(),
            skin_vertices: input.surface.mesh.positions.len(),
            simulated_vertices: subject.sim().mesh.positions.len(),
            skin_parts: topology.components,
            boundary_edges: topology.boundary_edges(),
            non_manifold_edges: topology.non_manifold_edges(),
            size: subject.size,
            metres_per_unit: subject.metres_per_unit(),
            height: height_of(subject, &up_axis),
            up_axis,
            parts: subject
                .body()
                .parts
                .parts
                .iter()
                .map(|part| PartSummary::of(part, subject))
                .collect(),
            findings,
            meshes: character.meshes.iter().map(MeshSummary::of).collect(),
            joints: (0..joints.len())
                .map(|joint| JointSummary::of(subject, joint))
                .collect(),
            clips: character.clips.iter().map(ClipSummary::of).collect(),
            morphs: (character.morph_controls())
                .filter(|control| control.mesh.is_some())
                .map(|control| control.id())
                .collect(),
            expressions: (character.expressions.iter())
                .map(|expression| expression.name.clone())
                .collect(),
            motions: character
                .retargets
                .iter()
                .map(|retarget| MotionSummary::of(character, retarget))
                .collect(),
            materials: character
                .materials
                .iter()
                .map(|material| material.name.clone())
                .collect(),
            tissue: flesh
                .as_ref()
                .ok()
                .map(|flesh| flesh.tissue.quality.clone()),
            tissue_refused: flesh.err().map(|error| error.to_string()),
            notes,
        })
    }
}

impl PartSummary {
    fn of(part: &SkinComponent, subject: &Subject) -> Self {
        Self {
            name: part.name.clone(),
            vertices: part.vertices,
            triangles: part.triangles,
            size: part.size(),
            place: part.place.to_text(&subject.character.skeleton),
            by_user: part.by_user,
            reason: part.reason.clone(),
        }
    }
}

impl MeshSummary {
    fn of(mesh: &crate::character::SourceMesh) -> Self {
        let attachment = match mesh.attachment {
            Attachment::Skinned { .. } => "skinned",
            Attachment::Rigid { .. } => "rigid",
            Attachment::Static { .. } => "static",
            Attachment::Unweighted => "unweighted",
        };
        Self {
            name: mesh.name.clone(),
            vertices: mesh.file_vertices(),
            triangles: mesh.triangles.len(),
            attachment,
        }
    }
}

impl JointSummary {
    fn of(subject: &Subject, joint: usize) -> Self {
        let skeleton = &subject.character.skeleton;
        let this = &skeleton.joints()[joint];
        Self {
            name: this.name.clone(),
            parent: this
                .parent
                .map(|parent| skeleton.joints()[parent].name.clone()),
            position: skeleton.bind_position(joint).coords.into(),
            deforms: this.deforms,
        }
    }
}

/// A retargeted motion and its joint mapping.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct MotionSummary {
    /// The clip's name.
    pub clip: String,
    /// The file.
    pub file: PathBuf,
    /// Length of the character divided by that of the motion's skeleton.
    pub scale: f64,
    /// Joint mapping.
    pub pairs: Vec<JointPair>,
    /// Joints of the character that the motion does not move.
    pub unmatched: Vec<String>,
}

impl MotionSummary {
    fn of(character: &Character, retarget: &RetargetedClip) -> Self {
        Self {
            clip: character
                .clips
                .get(retarget.clip)
                .map(|clip| clip.name.clone())
                .unwrap_or_default(),
            file: retarget.file.clone(),
            scale: retarget.scale,
            pairs: retarget.mapping.pairs.clone(),
            unmatched: retarget
                .mapping
                .unmatched(&character.skeleton)
                .into_iter()
                .map(str::to_owned)
                .collect(),
        }
    }
}

impl ClipSummary {
    fn of(clip: &crate::rig::Clip) -> Self {
        Self {
            name: clip.name.clone(),
            duration_secs: clip.duration_secs,
            tracks: clip.tracks.len() + clip.morphs.len(),
        }
    }
}
