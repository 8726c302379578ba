//! Conversion from the project file's types to the joints of a character.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use super::file::{FleshPart, LocalPart, ProjectFile, VariantPart, ViewPart};
use crate::character::{FleshSettings, MOST_MUSCLES, MotionChoices, MuscleText, Place};
use crate::dynamics::Params;
use crate::math::{Quat, Vec64};
use crate::methods::{MethodId, MethodValues};
use crate::param::ParamValues;
use crate::rig::edit::{Rig, RigFile};
use crate::rig::limits::LimitMap;
use crate::rig::{KeyedClip, NamedPose, Pose, Skeleton, Trs};
use crate::session::{MAX_VIEWS, SettingsVariant, VariantId, View, ViewId};
use crate::weights::WeightMethod;

/// Largest number of unknown settings that are named individually.
const MOST_NAMED: usize = 4;
/// A quaternion whose length differs more than this from 1 was edited by hand.
const UNIT: f64 = 1e-9;

/// `None` if the numbers are not a valid transform.
fn local_of(part: &LocalPart) -> Option<Trs> {
    let [x, y, z, w] = part.rotation;
    let quaternion = nalgebra::Quaternion::new(w, x, y, z);
    let norm = quaternion.norm();
    // A transform written by this program is restored bit-equal.
    let rotation = if (norm - 1.0).abs() < UNIT {
        Quat::new_unchecked(quaternion)
    } else {
        Quat::new_normalize(quaternion)
    };
    let local = Trs {
        translation: Vec64::from(part.translation),
        rotation,
        scale: Vec64::from(part.scale),
    };
    (norm > 1e-12 && local.is_finite()).then_some(local)
}

/// A project's settings in terms of the character's joints.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Restored {
    pub pose: Pose,
    pub free_poses: BTreeMap<ViewId, Pose>,
    pub views: Vec<View>,
    pub active: ViewId,
    pub params: Params,
    pub method_values: MethodValues,
    pub variants: BTreeMap<VariantId, Arc<SettingsVariant>>,
    pub flesh: FleshSettings,
    pub rig: Option<Arc<Rig>>,
    pub limits: LimitMap,
    pub pins: BTreeSet<usize>,
    pub takes: Vec<Arc<KeyedClip>>,
    pub pose_library: Vec<Arc<NamedPose>>,
    pub motions: MotionChoices,
}

impl Restored {
    /// The method of the active view.
    pub fn method(&self) -> MethodId {
        self.active_view()
            .map(|view| view.method)
            .unwrap_or_default()
    }

    /// The active view's method of comparison.
    pub fn compared(&self) -> Option<MethodId> {
        self.active_view().and_then(|view| view.compare)
    }

    /// Physical and methods' parameters of the active view.
    pub fn settings(&self) -> (Params, MethodValues) {
        let variant = self.active_view().and_then(|view| view.variant);
        match variant.and_then(|id| self.variants.get(&id)) {
            Some(variant) => (variant.params, variant.method_values.clone()),
            None => (self.params, self.method_values.clone()),
        }
    }

    /// The weights of the active view.
    pub fn weights(&self) -> WeightMethod {
        self.active_view()
            .map(|view| view.weights)
            .unwrap_or_default()
    }

    /// The active view's number of instances.
    pub fn crowd(&self) -> usize {
        self.active_view().map_or(1, |view| view.crowd)
    }

    fn active_view(&self) -> Option<&View> {
        self.views.iter().find(|view| view.id == self.active)
    }
}

/// Applies project content to a character with the given skeleton in its files. Entries that do not match are ignored and reported
/// in the second value.
pub(super) fn restored(file: &ProjectFile, base: &Skeleton) -> (Restored, Vec<String>) {
    let mut notes = Vec::new();
    let rigged = file
        .rig
        .as_ref()
        .and_then(|rig| rig_of(rig, base).map_err(|why| notes.push(why)).ok());
    let (rig, skeleton) = match &rigged {
        Some((rig, skeleton)) => (Some(rig.clone()), skeleton),
        None => (None, base),
    };
    let mut joints = Joints {
        skeleton,
        missing: Vec::new(),
    };
    let flesh = flesh_of(&file.flesh, &mut joints);
    let pose = pose_of(&file.pose, &mut joints);
    let free = |part: &ViewPart| Some((ViewId(part.id), pose_of(part.pose.as_ref()?, &mut joints)));
    let free_poses: BTreeMap<ViewId, Pose> = file.views.iter().filter_map(free).collect();
    let limits = file
        .limits
        .iter()
        .filter_map(|(name, limit)| Some((joints.find(name)?, *limit)))
        .collect();
    let pins = file
        .pins
        .iter()
        .filter_map(|name| joints.find(name))
        .collect();
    notes.extend(joints.notes());
    let takes = fitting(
        file.takes
            .iter()
            .map(|take| KeyedClip::from_file(take, skeleton)),
        "a take",
        &mut notes,
    );
    let pose_library = fitting(
        file.poses
            .iter()
            .map(|pose| NamedPose::from_file(pose, skeleton)),
        "a pose of the library",
        &mut notes,
    );
    let (views, active) = views_of(&file.views, &mut notes);
    let params = file.params.sanitized();
    let method_values = values_of(&file.methods, &mut notes);
    let variant = |part: &VariantPart| {
        let variant = SettingsVariant {
            name: part.name.replace(char::is_control, " "),
            params: part.params.sanitized(),
            method_values: values_of(&part.methods, &mut notes),
        };
        (part.id, Arc::new(variant))
    };
    let variants = file.variants.iter().map(variant).collect();
    (
        Restored {
            pose,
            free_poses,
            views,
            active,
            params,
            method_values,
            variants,
            flesh,
            rig,
            limits,
            pins,
            takes,
            pose_library,
            motions: MotionChoices::new(),
        },
        notes,
    )
}

/// The rig with its skeleton; the error is a sentence.
fn rig_of(file: &RigFile, base: &Skeleton) -> Result<(Arc<Rig>, Skeleton), String> {
    let rig = Rig::from_file(file, base)
        .map_err(|error| format!("the edited skeleton can't be used: {error}"))?;
    let skeleton = rig
        .to_skeleton(base)
        .map_err(|error| format!("the edited skeleton can't be used: {error}"))?;
    Ok((Arc::new(rig), skeleton))
}

/// The readable entries; the others are reported.
fn fitting<T, E: std::fmt::Display>(
    read: impl Iterator<Item = Result<T, E>>,
    what: &str,
    notes: &mut Vec<String>,
) -> Vec<Arc<T>> {
    read.filter_map(|read| {
        read.map_err(|error| notes.push(format!("{what} was ignored: {error}")))
            .ok()
    })
    .map(Arc::new)
    .collect()
}

fn pose_of(parts: &BTreeMap<String, LocalPart>, joints: &mut Joints<'_>) -> Pose {
    let mut pose = joints.skeleton.rest_pose();
    for (name, part) in parts {
        if let (Some(joint), Some(local)) = (joints.find(name), local_of(part)) {
            pose.locals[joint] = local;
        }
    }
    pose
}

/// The views and the active one; at least one view.
fn views_of(parts: &[ViewPart], notes: &mut Vec<String>) -> (Vec<View>, ViewId) {
    let known = |id: &str| MethodId::from_id(id);
    let named = parts
        .iter()
        .flat_map(|part| part.compare.as_ref().into_iter().chain([&part.method]));
    let unknown: BTreeSet<&str> = named
        .map(String::as_str)
        .filter(|id| known(id).is_none())
        .collect();
    for id in unknown {
        let instead = MethodId::default().label();
        notes.push(format!(
            "there is no method \"{id}\" here: views that showed it show {instead}"
        ));
    }
    let weights = |part: &ViewPart| part.weights.as_deref().map(WeightMethod::from_id);
    let unknown: BTreeSet<String> = parts
        .iter()
        .filter_map(|part| weights(part)?.err())
        .map(|error| error.to_string())
        .collect();
    notes.extend(
        unknown
            .into_iter()
            .map(|error| format!("{error}: views that showed them show those of the file")),
    );
    let view = |part: &ViewPart| View {
        id: ViewId(part.id),
        method: known(&part.method).unwrap_or_default(),
        compare: part.compare.as_deref().and_then(known),
        weights: weights(part).and_then(Result::ok).unwrap_or_default(),
        variant: part.variant,
        compare_variant: part.compare_variant,
        free: part.pose.is_some(),
        crowd: part.crowd,
    };
    let mut views: Vec<View> = parts
        .iter()
        .take(MAX_VIEWS)
        .map(|part| view(part).sanitized())
        .collect();
    if views.is_empty() {
        views.push(View::new(ViewId(0), MethodId::default()));
    }
    let active = parts
        .iter()
        .find(|part| part.active)
        .map_or(views[0].id, |part| ViewId(part.id));
    (views, active)
}

/// The methods' own parameters; unknown methods and parameters are reported.
fn values_of(parts: &BTreeMap<String, ParamValues>, notes: &mut Vec<String>) -> MethodValues {
    let mut known = MethodValues::default();
    for (id, values) in parts {
        let plain = |name: &str| name.replace(char::is_control, " ");
        let Some(method) = MethodId::from_id(id) else {
            notes.push(format!(
                "there is no method \"{}\" here: its settings were ignored",
                plain(id)
            ));
            continue;
        };
        for key in values.unknown(method.descriptor().params).take(MOST_NAMED) {
            notes.push(format!(
                "{} has no setting \"{}\": it was ignored",
                method.label(),
                plain(key)
            ));
        }
        known.set(method, values);
    }
    known
}

fn flesh_of(part: &FleshPart, joints: &mut Joints<'_>) -> FleshSettings {
    let mut flesh = FleshSettings {
        sim_vertices: part.sim_vertices,
        base: part.base,
        ..FleshSettings::default()
    };
    for (name, bone) in &part.bones {
        if let Some(joint) = joints.find(name) {
            flesh.bones.insert(joint, bone.sanitized());
        }
    }
    for (name, radius) in part
        .radii
        .iter()
        .filter(|(_, radius)| radius.is_finite() && **radius > 0.0)
    {
        if let Some(joint) = joints.find(name) {
            flesh.radii.insert(joint, *radius);
        }
    }
    for text in part.muscles.iter().take(MOST_MUSCLES) {
        let driver = text.driver.as_deref();
        let driver = driver.filter(|driver| joints.find(driver).is_some());
        let known = MuscleText {
            driver: driver.map(str::to_owned),
            ..text.clone()
        };
        if joints.find(&text.bone).is_some() {
            flesh.muscles.extend(known.on(joints.skeleton));
        }
    }
    for (name, text) in &part.parts {
        let place = match text.strip_prefix("rigid:") {
            Some(joint) => joints.find(joint).map(|joint| Place::Rigid { joint }),
            None => Place::parse(text, joints.skeleton).ok(),
        };
        flesh.parts.extend(place.map(|place| (name.clone(), place)));
    }
    flesh
}

/// Finds joints by name and collects unknown names.
struct Joints<'a> {
    skeleton: &'a Skeleton,
    missing: Vec<String>,
}

impl Joints<'_> {
    fn find(&mut self, name: &str) -> Option<usize> {
        let found = self.skeleton.find(name);
        if found.is_none() && !self.missing.iter().any(|missing| missing == name) {
            self.missing.push(name.to_owned());
        }
        found
    }

    fn notes(&self) -> Vec<String> {
        let names: Vec<String> = self
            .missing
            .iter()
            .take(4)
            .map(|name| format!("\"{}\"", name.replace(char::is_control, " ")))
            .collect();
        match (names.len(), self.missing.len().saturating_sub(4)) {
            (0, _) => Vec::new(),
            (_, 0) => vec![format!(
                "the character has no {}; what the project says of it was ignored",
                names.join(", ")
            )],
            (_, more) => {
                vec![format!(
                    "the character has no {} and {more} more; their settings in the project were ignored",
                    names.join(", ")
                )]
            }
        }
    }
}
