//! Between the document and what is in a project file.

use std::collections::BTreeMap;
use std::path::Path;

use super::ProjectError;
use super::file::{CharacterPart, FORMAT, FileRef, FleshPart, LocalPart, ProjectFile, VERSION};
use super::paths::refer;
use crate::character::{FleshSettings, Place};
use crate::dynamics::Params;
use crate::math::{Quat, Vec64};
use crate::rig::{Pose, Skeleton, Trs};
use crate::session::Document;
use crate::skin::Method;

/// Farther from length 1 than by rounding: the quaternion was written by hand.
const UNIT: f64 = 1e-9;

/// The document as a file that lies in `folder`, or anywhere.
pub(super) fn file_of(document: &Document, folder: Option<&Path>) -> Result<ProjectFile, ProjectError> {
    let empty = Skeleton::default();
    let skeleton = document.skeleton().unwrap_or(&empty);
    Ok(ProjectFile {
        format: FORMAT.to_owned(),
        version: VERSION,
        saved_by: format!("sinew {}", env!("CARGO_PKG_VERSION")),
        character: character_part(document, folder)?,
        method: Some(document.method.id().to_owned()),
        params: document.params,
        flesh: flesh_part(&document.flesh, skeleton),
        pose: pose_part(&document.pose, skeleton),
        window: None,
        recovery: None,
    })
}

fn character_part(document: &Document, folder: Option<&Path>) -> Result<CharacterPart, ProjectError> {
    let (source, read) = (&document.source, &document.files_read);
    let refer = |path: &Path| refer(path, read, folder);
    let files: Vec<FileRef> = source.files.iter().map(|path| refer(path)).collect::<Result<_, _>>()?;
    let mapping = source.mapping.as_deref().map(refer).transpose()?;
    let named =
        |path: &Path| source.files.iter().chain(&source.mapping).any(|file| std::path::absolute(file).is_ok_and(|file| file == path));
    let also_read = read.iter().filter(|file| !named(&file.path)).map(|file| refer(&file.path)).collect::<Result<_, _>>()?;
    Ok(CharacterPart { files, also_read, mapping, metres_per_unit: source.metres_per_unit })
}

fn name_of(skeleton: &Skeleton, joint: usize) -> Option<String> {
    skeleton.joints().get(joint).map(|joint| joint.name.clone())
}

fn flesh_part(flesh: &FleshSettings, skeleton: &Skeleton) -> FleshPart {
    FleshPart {
        bones: flesh.bones.iter().filter_map(|(&joint, bone)| Some((name_of(skeleton, joint)?, (*bone).into()))).collect(),
        radii: flesh.radii.iter().filter_map(|(&joint, radius)| Some((name_of(skeleton, joint)?, *radius))).collect(),
        sim_vertices: flesh.sim_vertices,
        parts: flesh.parts.iter().map(|(name, place)| (name.clone(), place.to_text(skeleton))).collect(),
    }
}

/// Joints that are not at rest; whatever is no number is at rest.
pub(super) fn pose_part(pose: &Pose, skeleton: &Skeleton) -> BTreeMap<String, LocalPart> {
    let posed = skeleton.joints().iter().zip(&pose.locals).filter(|(joint, local)| joint.rest != **local && is_finite(local));
    posed.map(|(joint, local)| (joint.name.clone(), local_part(local))).collect()
}

fn is_finite(local: &Trs) -> bool {
    let Trs { translation, rotation, scale } = local;
    translation.iter().chain(rotation.coords.iter()).chain(scale.iter()).all(|number| number.is_finite())
}

fn local_part(local: &Trs) -> LocalPart {
    let q = local.rotation.coords;
    LocalPart { rotation: [q.x, q.y, q.z, q.w], translation: local.translation.into(), scale: local.scale.into() }
}

/// `None` if the numbers are no transform.
fn local_of(part: &LocalPart) -> Option<Trs> {
    let [x, y, z, w] = part.rotation;
    let quaternion = nalgebra::Quaternion::new(w, x, y, z);
    let norm = quaternion.norm();
    // What was written by us comes back to the last bit.
    let rotation = if (norm - 1.0).abs() < UNIT { Quat::new_unchecked(quaternion) } else { Quat::new_normalize(quaternion) };
    let local = Trs { translation: Vec64::from(part.translation), rotation, scale: Vec64::from(part.scale) };
    (norm > 1e-12 && is_finite(&local)).then_some(local)
}

/// What a project says about a character, by the character's joints.
#[derive(Debug, Clone, Default)]
pub(in crate::session) struct Restored {
    pub pose: Pose,
    pub method: Method,
    pub params: Params,
    pub flesh: FleshSettings,
}

/// Gives what is in a file to the joints of a character. What does not fit is left out and told in the second value.
pub(super) fn restored(file: &ProjectFile, skeleton: &Skeleton) -> (Restored, Vec<String>) {
    let mut unknown = Joints { skeleton, missing: Vec::new() };
    let flesh = flesh_of(&file.flesh, &mut unknown);
    let mut pose = skeleton.rest_pose();
    for (name, part) in &file.pose {
        if let (Some(joint), Some(local)) = (unknown.find(name), local_of(part)) {
            pose.locals[joint] = local;
        }
    }
    let mut notes = unknown.notes();
    let method = file.method.as_deref().map_or(Some(Method::default()), Method::from_id).unwrap_or_else(|| {
        notes.push("the project was shown by a method that this Sinew doesn't have".to_owned());
        Method::default()
    });
    (Restored { pose, method, params: file.params.sanitized(), flesh }, notes)
}

fn flesh_of(part: &FleshPart, joints: &mut Joints<'_>) -> FleshSettings {
    let mut flesh = FleshSettings { sim_vertices: part.sim_vertices, ..FleshSettings::default() };
    for (name, bone) in &part.bones {
        if let Some(joint) = joints.find(name) {
            flesh.bones.insert(joint, (*bone).into());
        }
    }
    for (name, radius) in part.radii.iter().filter(|(_, radius)| radius.is_finite() && **radius > 0.0) {
        if let Some(joint) = joints.find(name) {
            flesh.radii.insert(joint, *radius);
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

/// Finds joints and remembers those that are not there.
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
        let names: Vec<String> = self.missing.iter().take(4).map(|name| format!("\"{}\"", name.replace(char::is_control, " "))).collect();
        match (names.len(), self.missing.len().saturating_sub(4)) {
            (0, _) => Vec::new(),
            (_, 0) => vec![format!("the character has no {}; what the project says of it was left out", names.join(", "))],
            (_, more) => {
                vec![format!("the character has no {} and {more} more; what the project says of them was left out", names.join(", "))]
            }
        }
    }
}
