//! Joints of motions of other skeletons, chosen by hand.

use super::{EditContext, Editor};
use crate::character::RetargetedClip;
use crate::session::Level;

/// Commands about the joint mapping of a retargeted clip. All are undoable; other clips of the same file follow.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MotionCommand {
    /// Chooses what drives a joint of the character.
    Drive {
        /// The clip.
        clip: usize,
        /// The joint of the character.
        joint: usize,
        /// The joint of the motion; `None`: nothing drives it.
        source: Option<String>,
    },
    /// Matches one joint, or all, automatically again.
    Reset {
        /// The clip.
        clip: usize,
        /// The joint of the character; `None`: all.
        joint: Option<usize>,
    },
}

impl MotionCommand {
    /// Label of the command.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Drive { .. } => "Map joint",
            Self::Reset { .. } => "Reset joint mapping",
        }
    }

    fn clip(&self) -> usize {
        match self {
            Self::Drive { clip, .. } | Self::Reset { clip, .. } => *clip,
        }
    }
}

impl Editor {
    pub(in crate::session) fn apply_motion(
        &mut self,
        with: &mut EditContext<'_>,
        command: MotionCommand,
    ) {
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        let Some(retarget) = subject.character.retarget_of(command.clip()) else {
            return with.add_message(Level::Info, NOT_RETARGETED);
        };
        let skeleton = &subject.character.skeleton;
        match command {
            MotionCommand::Drive { joint, source, .. } => {
                let Some(own) = skeleton.joints().get(joint) else {
                    return;
                };
                if let Some(Err(error)) = source
                    .as_ref()
                    .map(|name| retarget.motion.skeleton.find_or_suggest(name))
                {
                    let text = format!("{}: {error}.", retarget.file.display());
                    return with.add_message(Level::Warning, text);
                }
                let automatic = retarget.automatic(skeleton);
                let usual = automatic.driver_of(&own.name);
                let usual = usual.map_or_else(Vec::new, |driver| driver.joints);
                let is_usual = usual.iter().copied().eq(source.as_deref());
                let choices = self.choices_of(retarget);
                if is_usual {
                    choices.remove(&joint);
                } else {
                    choices.insert(joint, source);
                }
            }
            MotionCommand::Reset { joint, .. } => match joint {
                Some(joint) => drop(self.choices_of(retarget).remove(&joint)),
                None => self.choices_of(retarget).clear(),
            },
        }
        self.document
            .motions
            .retain(|_, choices| !choices.is_empty());
    }

    fn choices_of(&mut self, of: &RetargetedClip) -> &mut crate::rig::retarget::JointChoices {
        self.document.motions.entry(of.file.clone()).or_default()
    }
}

const NOT_RETARGETED: &str =
    "This clip moves the character's own joints, so there is nothing to map.";
