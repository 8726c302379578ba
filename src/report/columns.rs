//! The columns of a comparison: poses of a set, or frames of a motion.

use super::PoseColumn;
use crate::methods::Subject;
use crate::rig::{Pose, RangePose};
use crate::studio::Take;

/// Label of the axis of curves over a movement, and over a motion.
const ANGLE: &str = "Angle, degrees";
const TIME: &str = "Time, seconds";

impl PoseColumn {
    /// A frame of a motion, called `name` for people.
    #[must_use]
    pub fn of_frame(frame: u32, time_secs: f64, name: &str) -> Self {
        Self {
            id: format!("frame-{frame}"),
            label: format!("Frame {frame}, {time_secs:.2} s"),
            movement: name.to_owned(),
            at: Some(time_secs),
        }
    }
}

/// The poses of a comparison.
pub enum Columns {
    /// Separate poses; simulated flesh is held in each until it is still.
    Poses(Vec<(PoseColumn, Pose)>),
    /// Frames of a motion: one column for each frame of the take.
    Motion(Vec<PoseColumn>, Take),
}

impl Columns {
    /// The frames of a take, called `name` for people.
    #[must_use]
    pub fn of_take(take: Take, name: &str) -> Self {
        let column = |frame: u32| PoseColumn::of_frame(frame, take.time_of(frame), name);
        Self::Motion(take.frames().map(column).collect(), take)
    }

    /// Label of the horizontal axis of curves.
    #[must_use]
    pub fn axis(&self) -> &'static str {
        match self {
            Self::Poses(_) => ANGLE,
            Self::Motion(..) => TIME,
        }
    }

    /// The poses of a range of motion.
    #[must_use]
    pub fn of_range<'a>(poses: impl IntoIterator<Item = &'a RangePose>) -> Self {
        let column = |pose: &RangePose| PoseColumn {
            id: pose.id.clone(),
            label: pose.label.clone(),
            movement: pose.movement.clone(),
            at: Some(pose.angle_deg),
        };
        let poses = poses.into_iter();
        Self::Poses(
            poses
                .map(|pose| (column(pose), pose.pose.clone()))
                .collect(),
        )
    }

    /// The columns.
    #[must_use]
    pub fn list(&self) -> Vec<PoseColumn> {
        match self {
            Self::Poses(poses) => poses.iter().map(|(column, _)| column.clone()).collect(),
            Self::Motion(columns, _) => columns.clone(),
        }
    }

    /// Indices of at most `most` columns for pictures: the last pose of each movement, which is the most extreme, or frames, in equal
    /// steps.
    #[must_use]
    pub fn drawn(&self, most: usize) -> Vec<usize> {
        let list = self.list();
        let is_last = |index: &usize| {
            list.get(index + 1)
                .is_none_or(|next| next.movement != list[*index].movement)
        };
        let candidates: Vec<usize> = match self {
            Self::Poses(_) => (0..list.len()).filter(is_last).collect(),
            Self::Motion(..) => (0..list.len()).collect(),
        };
        let count = candidates.len().min(most);
        let step = candidates.len() as f64 / count.max(1) as f64;
        (0..count)
            .map(|index| candidates[(((index as f64 + 1.0) * step) as usize).saturating_sub(1)])
            .collect()
    }

    /// Number of columns.
    #[must_use]
    pub fn len(&self) -> usize {
        match self {
            Self::Poses(poses) => poses.len(),
            Self::Motion(columns, _) => columns.len(),
        }
    }

    /// The pose of a column.
    pub(super) fn pose(&self, subject: &Subject, column: usize) -> Pose {
        match self {
            Self::Poses(poses) => poses[column].1.clone(),
            Self::Motion(_, take) => {
                let frame = take.first_frame() + column as u32;
                (take.motion).pose_at(&subject.character, take.time_of(frame))
            }
        }
    }

    /// Whether there are none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}
