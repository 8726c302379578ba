//! Transfers clips to an edited skeleton.

use crate::rig::edit::{Remap, pose_on};
use crate::rig::{Ease, Key, KeyedClip, Skeleton};

/// Transfers a clip from `old` to the skeleton `new`, which was edited from it: every key keeps its rotation and displacement relative to rest.
pub(in crate::session) fn transfer_clip(
    old: &Skeleton,
    take: &KeyedClip,
    remap: &Remap,
    new: &Skeleton,
) -> KeyedClip {
    let mut carried = KeyedClip::new(take.name(), take.fps(), take.duration_secs());
    let longest = take.tracks().map(|(_, keys)| keys.len()).max().unwrap_or(0);
    for index in 0..longest {
        // Converts the index-th key of every joint together; key times do not matter here.
        let mut pose = old.rest_pose();
        for (local, joint) in pose.locals.iter_mut().zip(0..) {
            if let Some(key) = take.keys(joint).get(index) {
                *local = key.value;
            }
        }
        let pose = pose_on(old, &pose, remap, new);
        for (joint, from) in remap.old_from_new.iter().enumerate() {
            let Some((from, key)) = from.and_then(|from| Some((from, take.keys(from).get(index)?)))
            else {
                continue;
            };
            let same_rest = old.joints().get(from).map(|joint| joint.rest)
                == new.joints().get(joint).map(|joint| joint.rest);
            let ease = match &key.ease {
                Ease::Free(_) if !same_rest => Ease::Smooth,
                known => known.clone(),
            };
            carried.put(
                joint,
                Key {
                    time_secs: key.time_secs,
                    value: pose.locals[joint],
                    ease,
                },
            );
        }
    }
    carried.set_morphs(take.morphs().to_vec());
    carried.set_feet(take.feet().on(|joint| remap.new_from_old(joint)), None);
    carried.set_duration(take.duration_secs());
    carried
}
