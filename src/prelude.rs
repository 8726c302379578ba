//! The names that most programs need: `use sinew::prelude::*;`.

pub use crate::character::Character;
pub use crate::dynamics::{Params, Preset};
pub use crate::io::{load, read_motion, write_obj};
pub use crate::math::{Affine, Point, Quat, Vec3, Vec64};
pub use crate::methods::{Actor, Frame, MethodId};
pub use crate::metrics::{Score, Scorer};
pub use crate::open::{OpenError, open};
pub use crate::progress::Progress;
pub use crate::rig::{Clip, Pose, Skeleton};
pub use crate::stages::Subject;
