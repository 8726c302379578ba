//! Types of the project file. They are the file format: they change only with its version, independently of [`super::Document`].
//!
//! Joints are referred to by name, never by index. Missing entries get their defaults; unknown ones (from a newer program) are reported and ignored.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::character::{BoneSettings, FleshBase, MuscleText, SimVertices};
use crate::dynamics::Params;
use crate::io::Reach;
use crate::param::ParamValues;
use crate::rig::edit::RigFile;
use crate::rig::limits::Limit;
use crate::rig::{KeyedClipFile, NamedPoseFile};
use crate::session::VariantId;

/// Value of `format`.
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
    /// The program that wrote it, for information only.
    #[serde(default)]
    pub saved_by: String,
    /// The files of the character.
    pub character: CharacterPart,
    /// The views, in the order they were made.
    #[serde(default)]
    pub views: Vec<ViewPart>,
    /// Physics.
    #[serde(default)]
    pub params: Params,
    /// Values of methods' own parameters that differ from the defaults, by [`crate::methods::MethodId::id`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub methods: BTreeMap<String, ParamValues>,
    /// Variants of physics and methods' parameters.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub variants: Vec<VariantPart>,
    /// Settings of the flesh.
    #[serde(default)]
    pub flesh: FleshPart,
    /// The edited skeleton; `None` if it is as in the files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rig: Option<RigFile>,
    /// Joint limits, by joint.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub limits: BTreeMap<String, Limit>,
    /// Pinned joints.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pins: Vec<String>,
    /// Clips made by the user.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub takes: Vec<KeyedClipFile>,
    /// Named poses.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub poses: Vec<NamedPoseFile>,
    /// Joints of motions chosen by hand.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub motions: MotionsPart,
    /// Joints that are not at rest in the pose made by hand.
    #[serde(default)]
    pub pose: BTreeMap<String, LocalPart>,
    /// Weights of morphs and expressions that are not at rest in that pose.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub morphs: BTreeMap<String, f64>,
    /// [`super::super::WindowState`], kept as raw JSON so that unreadable window state does not prevent opening the project.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Box<RawValue>>,
    /// The distilled rig ([`super::distilled`]), raw as the window.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub distilled: Option<Box<RawValue>>,
    /// Owner of unsaved work; only in recovery files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recovery: Option<RecoveryPart>,
}

/// By the reference to the motion's file, then by joint of the character: the joint of the motion, or `null` if nothing drives it.
pub(super) type MotionsPart = BTreeMap<String, BTreeMap<String, Option<String>>>;

/// Painted maps by [`crate::character::PaintMap::id`].
pub(super) type PaintPart = BTreeMap<String, MapPart>;

/// One painted map.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct MapPart {
    /// Number of source vertices of the character.
    pub vertices: usize,
    /// The first vertex of each run of painted ones, and its codes (see [`crate::character::PaintMap`]).
    pub runs: Vec<(usize, Vec<i16>)>,
}

/// A variant of the settings.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct VariantPart {
    /// Identifier in the views.
    pub id: VariantId,
    /// Its name.
    pub name: String,
    /// Physics.
    #[serde(default)]
    pub params: Params,
    /// As [`ProjectFile::methods`].
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub methods: BTreeMap<String, ParamValues>,
}

/// Source of the character.
#[derive(Debug, Default, Serialize, Deserialize)]
pub(super) struct CharacterPart {
    /// As given by the user, in order.
    pub files: Vec<FileRef>,
    /// Files that these refer to: buffers, materials, textures.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub also_read: Vec<FileRef>,
    /// File of the joint mapping of a motion.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mapping: Option<FileRef>,
    /// Length of one unit in metres, if the user set it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub metres_per_unit: Option<f64>,
}

/// A file reference with a hash of the content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct FileRef {
    /// Relative to the project's folder, with `/` between names; absolute on another drive; or `builtin:NAME`.
    pub path: String,
    /// Hexadecimal bytes of a path that is not Unicode, which `path` only resembles; only in recovery files.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub path_bytes: Option<String>,
    /// Absolute path at the time of saving, for a project that has been moved.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub absolute: Option<String>,
    /// Hash of the content.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub blake3: Option<String>,
    /// Size in bytes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bytes: Option<u64>,
}

/// [`crate::character::FleshSettings`] by name.
#[derive(Debug, Default, Serialize, Deserialize)]
#[serde(default)]
pub(super) struct FleshPart {
    /// By joint.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub bones: BTreeMap<String, BoneSettings>,
    /// By joint, world units.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub radii: BTreeMap<String, f64>,
    /// Resolution of the simulation mesh.
    pub sim_vertices: SimVertices,
    /// What the base of the flesh follows.
    pub base: FleshBase,
    /// Muscles of implicit skinning.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub muscles: Vec<MuscleText>,
    /// Painted materials.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub paint: PaintPart,
    /// By part: `flesh`, `ride` or `rigid:JOINT`.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    pub parts: BTreeMap<String, String>,
}

/// A joint's transform in its parent's frame.
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
    /// Identifier in the window's layout.
    pub id: u32,
    /// [`crate::methods::MethodId::id`].
    pub method: String,
    /// The method of the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<String>,
    /// [`crate::weights::WeightMethod::id`], unless the file's weights are used.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub weights: Option<String>,
    /// The variant of its settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<VariantId>,
    /// The variant of the comparison's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare_variant: Option<VariantId>,
    /// Number of instances of the character.
    #[serde(
        default = "crate::session::views::alone",
        skip_serializing_if = "crate::session::views::is_alone"
    )]
    pub crowd: usize,
    /// Whether it is the active view.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub active: bool,
    /// The view's own pose, if it is not linked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub pose: Option<BTreeMap<String, LocalPart>>,
    /// Weights of morphs in that pose.
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub morphs: BTreeMap<String, f64>,
}

/// Owner of unsaved work.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct RecoveryPart {
    /// Its project file, if it has one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub project: Option<String>,
    /// Whether that file is packed.
    #[serde(default)]
    pub packed: bool,
    /// Display name.
    #[serde(default)]
    pub title: String,
    /// Time of writing, seconds since 1970.
    #[serde(default)]
    pub unix_secs: u64,
    /// How far names in the character's files lead, if further than their own folder. Followed only in a recovery file of this
    /// computer, never in a file that somebody made.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reach: Option<ReachPart>,
}

/// [`Reach`] beyond the own folder.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub(super) enum ReachPart {
    /// The folder above.
    ParentFolder,
    /// This folder.
    Within(String),
}

impl ReachPart {
    /// `None` for the own folder, and for a folder whose name is not Unicode.
    pub(super) fn of(reach: &Reach) -> Option<Self> {
        match reach {
            Reach::OwnFolder => None,
            Reach::ParentFolder => Some(Self::ParentFolder),
            Reach::Within(folder) => Some(Self::Within(folder.to_str()?.to_owned())),
        }
    }

    pub(super) fn to_reach(part: Option<&Self>) -> Reach {
        match part {
            None => Reach::OwnFolder,
            Some(Self::ParentFolder) => Reach::ParentFolder,
            Some(Self::Within(folder)) => Reach::Within(folder.into()),
        }
    }
}
