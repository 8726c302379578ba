//! Skeletons, poses, clips, the range of motion, joint limits, inverse kinematics, rig editing and retargeting.
//!
//! # Spaces
//! *World* is the space of the source file's scene: its units, its axes. Every joint has a frame;
//! `world_from_joint` places it. The *bind pose* is the pose in which the skin was attached; tissue
//! is built there. The *rest pose* is the one shown without animation. In most files they are
//! equal.
//!
//! The transform of joint `j` in a [`Pose`] is
//!
//! ```text
//!     world_from_joint(j) = world_from_joint(parent) · parent_from_base(j) · T · R · S
//! ```
//!
//! with `T R S` the pose's [`Trs`] of the joint, and `parent_from_base` the constant transform of the file's nodes between the
//! joint and its parent joint (identity in most files).

mod body_axes;
mod clip;
pub mod edit;
mod feet;
mod flexion;
pub mod ik;
mod keys;
mod limit_presets;
pub mod limits;
mod morph_weights;
mod motion_range;
mod offset;
mod palm;
mod pose;
mod pose_space;
mod rest_shape;
pub mod retarget;
mod skeleton;
pub mod symmetry;
mod trs;

pub use clip::{Channel, Clip, Curve, Interpolation, MorphTrack, SAME_SECS, Track};
pub use feet::{FeetRules, Plant, Stance};
pub use flexion::Flexion;
pub use keys::{
    Ease, EaseName, JointAxes, JointCurve, JointNumber, JointValue, Key, KeyFile, KeyRef,
    KeyTolerance, Keyed, KeyedClip, KeyedClipFile, KeysError, LONGEST_SECS, MorphKeysFile, NEW_FPS,
    NamedPose, NamedPoseFile, PlantFile, Side, Slope, SlopeValue, Travel,
};
pub use limit_presets::human_limits;
pub use morph_weights::{MOST_MORPH_WEIGHT, MorphWeights};
pub use motion_range::{RangePose, motion_range};
pub use offset::PoseOffset;
pub(crate) use pose::most_similar;
pub use pose::{JointDelta, Pose, PoseError, PoseFile};
pub use pose_space::PoseSpace;
pub use skeleton::{Joint, MOST_JOINTS, Skeleton, SkeletonError, check_joint_count};
pub use trs::Trs;
