//! What is in a project file. These types are the format: they change only with its version, whatever becomes of [`super::Document`].
//!
//! Joints are named, never numbered. What is missing in a file has its default; what a newer program wrote beside is told and left out.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::character::{BoneSettings, FleshBase, SimVertices};
use crate::dynamics::Params;
use crate::param::ParamValues;
use crate::rig::edit::RigFile;
use crate::rig::limits::Limit;
use crate::rig::{KeyedClipFile, NamedPoseFile};

/// What `format` says.
pub(super) const FORMAT: &str = "sinew";
/// The version that is written, and the newest that can be read.
pub(super) const VERSION: u32 = 1;

/// A whole project.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct ProjectFile {
    /// [`FORMAT`].
    pub format: String,
    /// [`VERSION`].
    pub version: u32,
    /// The program that wrote it; nobody reads this but people.
    #[serde(default)]
    pub saved_by: String,
    /// Which files make up the character.
    pub character: CharacterPart,
    /// The views, in the order they were made.
    #[serde(default)]
    pub views: Vec<ViewPart>,
    /// Physics.
    #[serde(default)]
    pub params: Params,
    /// The own parameters of methods that have not all their defaults, by [`crate::methods::MethodId::id`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub methods: BTreeMap<String, ParamValues>,
    /// How the flesh is made.
    #[serde(default)]
    pub flesh: FleshPart,
    /// The skeleton as edited; none if it is as in the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rig: Option<RigFile>,
    /// How far joints may turn, by joint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, Limit>,
    /// Joints that stay where they are.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<String>,
    /// Clips made by the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<KeyedClipFile>,
    /// Poses under names.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub poses: Vec<NamedPoseFile>,
    /// Joints that are not at rest in the pose made by hand.
    #[serde(default)]
    pub pose: BTreeMap<String, LocalPart>,
    /// [`super::super::WindowState`]. Kept apart, so that one that can't be read does not stop the project from opening.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Box<RawValue>>,
    /// What unsaved work belongs to; only in recovery files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryPart>,
}

/// Where the character comes from.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CharacterPart {
    /// As the user named them, in order.
    pub files: Vec<FileRef>,
    /// What these files name in turn: buffers, materials, textures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_read: Vec<FileRef>,
    /// Which joints of a motion move which joints of the character.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<FileRef>,
    /// Length of one unit in metres, if the user said so.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metres_per_unit: Option<f64>,
}

/// A file, how to find it, and how to know that it is still the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRef {
    /// From the project's folder, with `/` between names; absolute on another drive; or `builtin:NAME`.
    pub path: String,
    /// Where it was, for when the project has been moved away from it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absolute: Option<String>,
    /// Hash of what was in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<String>,
    /// How much was in it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// [`crate::character::FleshSettings`] by names.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FleshPart {
    /// By joint.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bones: BTreeMap<String, BoneSettings>,
    /// By joint, world units.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub radii: BTreeMap<String, f64>,
    /// How fine the simulation mesh is.
    pub sim_vertices: SimVertices,
    /// What the base of the flesh follows.
    pub base: FleshBase,
    /// By part: `flesh`, `ride` or `rigid:JOINT`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, String>,
}

/// A joint's transform in the frame of its parent.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub(super) struct LocalPart {
    /// Unit quaternion x, y, z, w.
    pub rotation: [f64; 4],
    /// In the parent's units.
    pub translation: [f64; 3],
    /// Along the joint's axes.
    #[serde(default = "no_scale", skip_serializing_if = "is_no_scale")]
    pub scale: [f64; 3],
}

fn no_scale() -> [f64; 3] {
    [1.0; 3]
}

fn is_no_scale(scale: &[f64; 3]) -> bool {
    *scale == no_scale()
}

/// One view.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(super) struct ViewPart {
    /// What the window's layout knows it by.
    pub id: u32,
    /// [`crate::methods::MethodId::id`].
    pub method: String,
    /// The method it is compared with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// [`crate::weights::WeightMethod::id`], unless they are the file's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// How many of the character it shows.
    #[serde(
        default = "crate::session::views::alone",
        skip_serializing_if = "crate::session::views::is_alone"
    )]
    pub crowd: usize,
    /// Whether commands act on it.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
    /// Its own pose, if it is not linked with the others.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pose: Option<BTreeMap<String, LocalPart>>,
}

/// What unsaved work belongs to.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecoveryPart {
    /// The project file that it would be saved to, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Whether that file is a packed one.
    #[serde(default)]
    pub packed: bool,
    /// What the user knows it as.
    #[serde(default)]
    pub title: String,
    /// When it was written, seconds since 1970.
    #[serde(default)]
    pub unix_secs: u64,
}
