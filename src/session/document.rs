//! The document: the state that undo covers.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::variants::{SettingsVariant, VariantId, has_settings};
use super::{ChannelId, Clips, Source, ViewId};
use crate::character::{FleshSettings, MotionChoices};
use crate::dynamics::{PHYSICS, Params};
use crate::io::FileRead;
use crate::methods::{Capability, MethodId, MethodValues, Subject};
use crate::rig::edit::Rig;
use crate::rig::limits::LimitMap;
use crate::rig::{KeyedClip, NamedPose, Pose, Skeleton};

/// Everything that undo restores. Cheap to clone: large data is shared.
///
/// Selection, views with their methods, camera, overlays, the clip shown and its clock belong to the view and are not included.
#[derive(Debug, Clone, Default)]
pub struct Document {
    /// The files that were opened.
    pub source: Source,
    /// The character read from them. Kept here rather than read again, so that undo does not depend on files that may have been removed.
    pub subject: Option<Arc<Subject>>,
    /// The pose made by hand: one local transform per joint of the subject's skeleton.
    pub pose: Pose,
    /// Poses made by hand in views that are not linked.
    pub free_poses: BTreeMap<ViewId, Pose>,
    /// Joint limits; joints without an entry rotate freely.
    pub limits: LimitMap,
    /// Pinned joints: fixed while others are dragged.
    pub pins: BTreeSet<usize>,
    /// Clips made by the user.
    pub takes: Vec<Arc<KeyedClip>>,
    /// Named poses.
    pub pose_library: Vec<Arc<NamedPose>>,
    /// Physical parameters.
    pub params: Params,
    /// Values of the methods' own parameters.
    pub method_values: MethodValues,
    /// Variants of physical and methods' parameters, which views can have instead of the shared ones above.
    pub variants: BTreeMap<VariantId, Arc<SettingsVariant>>,
    /// Joints of motions chosen by hand. The subject's retargeted clips are transferred again to follow them.
    pub motions: MotionChoices,
    /// Settings of the flesh. The subject's flesh is rebuilt to follow them.
    pub flesh: FleshSettings,
    /// The edited skeleton; `None` means as in the files. The subject follows it. Until then, data by joint index refers to the
    /// subject's skeleton.
    pub rig: Option<Arc<Rig>>,
    /// The files that were read for the source, including referenced ones, with the hashes of their content.
    pub files_read: Arc<[FileRead]>,
    /// Identifies the opened character: each has its own project file.
    pub(super) work: u64,
}

impl Document {
    /// The files of the character, which are never overwritten. A project that was opened is not one of them.
    pub(super) fn inputs(&self) -> impl Iterator<Item = &Path> {
        let read = self.files_read.iter().map(|file| file.path.as_path());
        let given = self.source.files.iter().map(PathBuf::as_path);
        let is_file = |path: &&Path| !path.to_str().is_some_and(|p| p.starts_with("builtin:"));
        read.chain(given.filter(is_file))
    }

    /// The skeleton, if a character is open.
    #[must_use]
    pub fn skeleton(&self) -> Option<&Skeleton> {
        self.subject
            .as_deref()
            .map(|subject| &subject.character.skeleton)
    }

    /// The clips of the open character, followed by the takes.
    #[must_use]
    pub fn clips(&self) -> Clips<'_> {
        self.subject
            .as_ref()
            .map_or_else(Clips::default, |subject| {
                Clips::new(&subject.character.clips, &self.takes)
            })
    }

    /// The pose made by hand in a channel.
    pub(super) fn pose_in(&self, channel: ChannelId) -> &Pose {
        channel
            .and_then(|view| self.free_poses.get(&view))
            .unwrap_or(&self.pose)
    }

    pub(super) fn pose_in_mut(&mut self, channel: ChannelId) -> &mut Pose {
        match channel {
            Some(view) => self
                .free_poses
                .entry(view)
                .or_insert_with(|| self.pose.clone()),
            None => &mut self.pose,
        }
    }

    /// Whether both have the same character and the same poses made by hand.
    pub(super) fn poses_alike(&self, other: &Self) -> bool {
        let only_motions = |(a, b): (&Arc<Subject>, &Arc<Subject>)| a.differs_in_motion_only(b);
        let subjects = self.subject.as_ref().zip(other.subject.as_ref());
        (self.same_subject_as(other) || subjects.is_some_and(only_motions))
            && self.pose == other.pose
            && self.free_poses == other.free_poses
    }

    fn same_subject_as(&self, other: &Self) -> bool {
        match (&self.subject, &other.subject) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b),
            (None, None) => true,
            _ => false,
        }
    }

    /// Whether the user changed nothing between the two; only derived data may differ.
    pub(super) fn same_as(&self, other: &Self) -> bool {
        self.same_subject_as(other) && self.work == other.work && self.same_content_as(other)
    }

    /// Whether both would be saved alike: all user edits are equal; derived data may differ.
    #[must_use]
    pub fn same_content_as(&self, other: &Self) -> bool {
        self.source.same_content_as(&other.source)
            && self.pose == other.pose
            && self.free_poses == other.free_poses
            && self.limits == other.limits
            && self.pins == other.pins
            && all_equal(&self.takes, &other.takes)
            && all_equal(&self.pose_library, &other.pose_library)
            && self.params == other.params
            && self.method_values == other.method_values
            && self.variants == other.variants
            && self.motions == other.motions
            && self.flesh == other.flesh
            && self.rig == other.rig
    }
}

impl Document {
    /// A variant that the document has.
    #[must_use]
    pub fn variant(&self, id: Option<VariantId>) -> Option<&Arc<SettingsVariant>> {
        self.variants.get(&id?)
    }

    /// Physical parameters of a variant, or the shared ones.
    #[must_use]
    pub fn params_of(&self, id: Option<VariantId>) -> &Params {
        self.variant(id)
            .map_or(&self.params, |variant| &variant.params)
    }

    /// Values of the methods' own parameters of a variant, or the shared ones.
    #[must_use]
    pub fn method_values_of(&self, id: Option<VariantId>) -> &MethodValues {
        self.variant(id)
            .map_or(&self.method_values, |variant| &variant.method_values)
    }

    /// Name of a method with the variant's settings: with the variant's name, if it has one.
    #[must_use]
    pub fn label_of(&self, method: MethodId, id: Option<VariantId>) -> String {
        self.with_variant_name(method.label(), method, id)
    }

    /// As [`Self::label_of`], short.
    #[must_use]
    pub fn short_label_of(&self, method: MethodId, id: Option<VariantId>) -> String {
        self.with_variant_name(method.short_label(), method, id)
    }

    fn with_variant_name(&self, label: &str, method: MethodId, id: Option<VariantId>) -> String {
        match self.variant(id).filter(|_| has_settings(method)) {
            Some(variant) => format!("{label}, {}", variant.name),
            None => label.to_owned(),
        }
    }

    /// Changes the settings of a variant, or the shared ones.
    pub(super) fn change_settings(
        &mut self,
        id: Option<VariantId>,
        change: impl FnOnce(&mut Params, &mut MethodValues),
    ) {
        match id.and_then(|id| self.variants.get_mut(&id)) {
            Some(variant) => {
                let variant = Arc::make_mut(variant);
                change(&mut variant.params, &mut variant.method_values);
            }
            None => change(&mut self.params, &mut self.method_values),
        }
    }

    /// What differs between a variant with a method and the shared settings, as on the command line: `pd stiffness=5000`.
    pub(super) fn variant_text(&self, method: MethodId, id: VariantId) -> String {
        let mut text = method.id().to_owned();
        let Some(variant) = self.variants.get(&id) else {
            return text;
        };
        let (own, shared) = (&variant.params, &self.params);
        for param in PHYSICS
            .iter()
            .filter(|_| method.has(Capability::Physics))
            .filter(|param| param.get(own) != param.get(shared))
        {
            if let Some(value) = param.get(own) {
                let _ = write!(text, " {}={value}", param.spec.key);
            }
        }
        if own.collisions != shared.collisions && method.has(Capability::Contacts) {
            let _ = write!(text, " collisions={}", own.collisions.id());
        }
        let [values, known] =
            [&variant.method_values, &self.method_values].map(|all| all.of(method));
        for spec in method.descriptor().params {
            if values.get(spec) != known.get(spec) {
                let value = spec.format(values.get(spec));
                let _ = write!(text, " {}={value}", spec.key);
            }
        }
        text
    }
}

/// Compares by pointer first, so that unchanged data compares fast.
fn all_equal<T: PartialEq>(a: &[Arc<T>], b: &[Arc<T>]) -> bool {
    a.len() == b.len() && a.iter().zip(b).all(|(a, b)| Arc::ptr_eq(a, b) || a == b)
}
