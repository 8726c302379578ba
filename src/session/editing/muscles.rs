//! Muscles of implicit skinning.

use super::{EditContext, Editor};
use crate::character::{MOST_MUSCLES, Muscle, sanitized_muscle_name};
use crate::rig::symmetry::mirrored_name;
use crate::session::Level;

/// Commands about muscles. All are undoable; those that name joints or muscles that do not exist change nothing.
#[derive(Debug, Clone, PartialEq)]
pub enum MuscleCommand {
    /// Adds a muscle.
    Add(Muscle),
    /// Changes a muscle.
    Set {
        /// Which, by index.
        index: usize,
        /// All of it.
        muscle: Muscle,
    },
    /// Removes a muscle, by index.
    Remove(usize),
    /// Adds the mirror image of a muscle, by index, on the other side of the body; on the same bone if that has no partner. It replaces one
    /// of the same name there.
    Mirror(usize),
}

impl MuscleCommand {
    /// Label of the command.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Add(_) => "Add muscle",
            Self::Set { .. } => "Change muscle",
            Self::Remove(_) => "Remove muscle",
            Self::Mirror(_) => "Mirror muscle",
        }
    }
}

impl Editor {
    /// Carries out a command about muscles. Returns whether it could.
    pub(in crate::session) fn apply_muscle(
        &mut self,
        with: &mut EditContext<'_>,
        command: MuscleCommand,
    ) -> bool {
        match command {
            MuscleCommand::Add(muscle) => self.add_muscle(with, &muscle),
            MuscleCommand::Set { index, muscle } => {
                let muscle = self.sanitized(&muscle);
                let old = self.document.flesh.muscles.get_mut(index);
                let (Some(old), Some(muscle)) = (old, muscle) else {
                    return false;
                };
                *old = muscle;
                true
            }
            MuscleCommand::Remove(index) => {
                let muscles = &mut self.document.flesh.muscles;
                let exists = index < muscles.len();
                if exists {
                    muscles.remove(index);
                }
                exists
            }
            MuscleCommand::Mirror(index) => {
                let muscle = self.document.flesh.muscles.get(index);
                let Some(muscle) = muscle.and_then(|muscle| self.mirrored_muscle(muscle)) else {
                    return false;
                };
                let is_it = |of: &&mut Muscle| of.name == muscle.name && of.bone == muscle.bone;
                match self.document.flesh.muscles.iter_mut().find(is_it) {
                    Some(old) => *old = muscle,
                    None => return self.add_muscle(with, &muscle),
                }
                true
            }
        }
    }

    fn add_muscle(&mut self, with: &mut EditContext<'_>, muscle: &Muscle) -> bool {
        if self.document.flesh.muscles.len() >= MOST_MUSCLES {
            let text = format!("A character has at most {MOST_MUSCLES} muscles.");
            with.add_message(Level::Warning, text);
            return false;
        }
        let muscle = self.sanitized(muscle);
        let added = muscle.is_some();
        self.document.flesh.muscles.extend(muscle);
        added
    }

    /// The muscle with its values in their ranges; `None` for joints that do not exist.
    fn sanitized(&self, muscle: &Muscle) -> Option<Muscle> {
        let count = self.document.pose.locals.len();
        let exists = muscle.bone < count && muscle.driver.is_none_or(|driver| driver < count);
        exists.then(|| Muscle {
            name: sanitized_muscle_name(&muscle.name),
            shape: muscle.shape.sanitized(),
            ..muscle.clone()
        })
    }

    fn mirrored_muscle(&self, muscle: &Muscle) -> Option<Muscle> {
        let symmetry = self.pose_tools.symmetry()?;
        let name = mirrored_name(&muscle.name);
        Some(Muscle {
            name: name.unwrap_or_else(|| format!("{} mirrored", muscle.name)),
            bone: symmetry.partner(muscle.bone),
            driver: muscle.driver.map(|driver| symmetry.partner(driver)),
            shape: muscle.shape.mirrored(),
        })
    }
}
