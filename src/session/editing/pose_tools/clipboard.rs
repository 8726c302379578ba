//! Poses on the clipboard, as JSON: they can be pasted into another character, a text or a file.

use crate::rig::limits::clamp_joint;
use crate::rig::symmetry::MirrorHow;
use crate::rig::{JointDelta, Pose, PoseFile, Skeleton};
use crate::session::Level;

use super::{EditContext, Editor, PoseTools};

impl PoseTools {
    /// The copied pose, as JSON for the system's clipboard.
    #[must_use]
    pub fn copied_pose(&self) -> Option<String> {
        self.copied
            .as_ref()
            .and_then(|file| serde_json::to_string_pretty(file).ok())
    }

    /// Whether a pose can be pasted.
    #[must_use]
    pub fn can_paste(&self) -> bool {
        self.copied.is_some()
    }
}

impl Editor {
    pub(super) fn copy_pose(&mut self, with: &mut EditContext<'_>, joints: Option<&[usize]>) {
        self.refresh(with.channels);
        let Some(subject) = &self.document.subject else {
            return;
        };
        let skeleton = &subject.character.skeleton;
        let all = subject
            .character
            .pose_to_file(with.channels.active().pose());
        let copied = match joints {
            None => all,
            Some(joints) => {
                // Joints at rest are included: pasting resets them.
                let names = joints
                    .iter()
                    .filter_map(|&joint| skeleton.joints().get(joint))
                    .map(|joint| joint.name.clone());
                let delta = |name: &String| all.joints.get(name).copied().unwrap_or_default();
                PoseFile {
                    joints: names.map(|name| (name.clone(), delta(&name))).collect(),
                    ..PoseFile::default()
                }
            }
        };
        self.pose_tools.copied = Some(copied);
    }

    pub(super) fn paste_pose(
        &mut self,
        with: &mut EditContext<'_>,
        text: Option<&str>,
        mirrored: bool,
    ) {
        let file = match text {
            None => self.pose_tools.copied.clone(),
            Some(text) => match serde_json::from_str::<PoseFile>(text) {
                Ok(file) => Some(file),
                Err(_) => {
                    return with.add_message(Level::Warning, "The clipboard does not contain a pose: copy one here or from a pose file first.");
                }
            },
        };
        let Some((file, subject)) = file.zip(self.document.subject.clone()) else {
            return;
        };
        let skeleton = &subject.character.skeleton;
        let Some(pasted) = known_part(&file, skeleton) else {
            return with.add_message(
                Level::Warning,
                "The copied pose names no joint of this character.",
            );
        };
        match Pose::from_file(&pasted, skeleton) {
            Ok(target) => self.paste(with, skeleton, &target, &pasted, mirrored),
            Err(error) => with.add_message(
                Level::Warning,
                format!("The copied pose can't be used: {error}."),
            ),
        }
    }

    fn paste(
        &mut self,
        with: &mut EditContext<'_>,
        skeleton: &Skeleton,
        target: &Pose,
        pasted: &PoseFile,
        mirrored: bool,
    ) {
        let joints: Vec<usize> = pasted
            .joints
            .keys()
            .filter_map(|name| skeleton.find(name))
            .collect();
        let symmetry = self.pose_tools.symmetry.clone().filter(|_| mirrored);
        let limits = self.document.limits.clone();
        let morphs = self.known_morphs(pasted);
        self.edit_pose(with, |skeleton, pose| {
            for (control, weight) in morphs {
                pose.morphs.set(control, weight);
            }
            let (target, joints) = match symmetry {
                Some(symmetry) => {
                    let target = symmetry.mirrored(skeleton, target, None, MirrorHow::Flip);
                    (
                        target,
                        joints
                            .iter()
                            .map(|&joint| symmetry.partner(joint))
                            .collect(),
                    )
                }
                None => (target.clone(), joints),
            };
            for joint in joints {
                pose.locals[joint] = target.locals[joint];
                clamp_joint(skeleton, &limits, pose, joint);
            }
        });
    }
}

impl Editor {
    /// The controls that a pose file names and the character has, and their weights relative to rest.
    fn known_morphs(&self, file: &PoseFile) -> Vec<(usize, f64)> {
        let Some(subject) = &self.document.subject else {
            return Vec::new();
        };
        let character = &subject.character;
        let known = character.controls_by_id();
        let set = file.morphs.iter().filter(|(_, weight)| weight.is_finite());
        set.filter_map(|(id, weight)| {
            let control = *known.get(id)?;
            Some((control, weight - character.rest_weight(control)))
        })
        .collect()
    }
}

/// The part of a pose that concerns existing joints.
fn known_part(file: &PoseFile, skeleton: &Skeleton) -> Option<PoseFile> {
    let joints: std::collections::BTreeMap<String, JointDelta> = file
        .joints
        .iter()
        .filter(|(name, _)| skeleton.find(name).is_some())
        .map(|(name, delta)| (name.clone(), *delta))
        .collect();
    (!joints.is_empty() || file.joints.is_empty()).then_some(PoseFile {
        joints,
        morphs: file.morphs.clone(),
    })
}
