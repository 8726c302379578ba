//! Limbs that press the flesh of other limbs in and leave it again: the flesh slides along them without jolts, and is not taken along.

use std::sync::Arc;

use sinew::dynamics::Params;
use sinew::io::load;
use sinew::math::{Vec64, origin_of};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;

use crate::common::moved::{Jolts, worst};
use crate::common::skip;
use crate::touching::turned;

/// Files, and the joints of an upper arm and its forearm.
const CHARACTERS: [(&str, [&str; 2]); 2] = [
    (
        "A_rigged/mh_female_cmu/mh_female_cmu.glb",
        ["LeftArm", "LeftForeArm"],
    ),
    (
        "A_rigged/CesiumMan/CesiumMan.glb",
        ["Skeleton_arm_joint_L__4_", "Skeleton_arm_joint_L__3_"],
    ),
];
/// The forearm turns by so many degrees towards the front: the hand ends up in the shoulder.
const BEND: f64 = 150.0;
const STEP_SECS: f64 = 1.0 / 60.0;
/// Frames of the way into the pose and of the way back, and frames in it.
const WAY: usize = 120;
const HELD: usize = 30;
/// Frames after a change of speed, in which flesh swings.
const SWING: usize = 4;
/// Largest third difference of any vertex in an even motion, as a fraction of the size.
const JOLT: f32 = 2e-4;

/// Flesh that sticks to a limb follows it, and then snaps back faster than the limb has moved. Contacts that press all of an overlap at
/// once when they slide to where it is deeper make jolts.
#[test]
fn flesh_slides_along_a_limb_and_does_not_stick_to_it() {
    let Some(data) = skip::data() else {
        return;
    };
    for (name, [upper, fore]) in CHARACTERS {
        let progress = Progress::new();
        let character = load(&[data.join(name)], &progress).expect("loads");
        let subject = Arc::new(Subject::build(Arc::new(character), &progress).expect("builds"));
        let skeleton = &subject.character.skeleton;
        let rest = skeleton.rest_pose();
        let at = |name| {
            let joint = skeleton.find_or_suggest(name).expect("a joint");
            origin_of(&skeleton.world_from_joint(&rest)[joint])
        };
        let axis = (at(fore) - at(upper)).cross(&Vec64::z());
        let folded = turned(&subject, &[(fore, axis.into(), BEND)]);
        let bind =
            |method| Actor::bind(&subject, method, &Params::default(), &progress).expect("binds");
        let mut actors = [bind(MethodId::PD), bind(MethodId::DQS)];
        let mut step = |part: f64| {
            let world_from_joint = skeleton.world_from_joint(&rest.lerp(&folded, part));
            let frame = Frame {
                world_from_joint: &world_from_joint,
                dt_secs: STEP_SECS,
            };
            actors.each_mut().map(|actor| {
                actor.advance(&frame).expect("moves");
                actor.positions().to_vec()
            })
        };
        let (mut jolts, mut jolt) = (Jolts::default(), 0.0_f32);
        for frame in 0..=WAY {
            let [flesh, _] = step(frame as f64 / WAY as f64);
            let here = jolts.add(&flesh);
            if frame > SWING + 3 {
                jolt = jolt.max(here);
            }
        }
        let [mut flesh, mut rigid] = step(1.0);
        for _ in 0..HELD {
            [flesh, rigid] = step(1.0);
        }
        let (mut fastest, mut limb) = (0.0_f32, 0.0_f32);
        for frame in 1..=WAY {
            let now = step(1.0 - frame as f64 / WAY as f64);
            limb = limb.max(worst(&now[1], &rigid));
            if frame > SWING {
                let own = now[0].iter().zip(&flesh).map(|(now, before)| now - before);
                let other = now[1].iter().zip(&rigid).map(|(now, before)| now - before);
                let speeds = own.zip(other).map(|(own, other)| (own - other).norm());
                fastest = speeds.fold(fastest, f32::max);
            }
            [flesh, rigid] = now;
        }
        let jolt = jolt / subject.size;
        println!(
            "{name}: flesh {fastest:.2e}, limb {limb:.2e} in a frame; third difference {jolt:.1e} of the size"
        );
        assert!(jolt <= JOLT, "{name}: {jolt:.1e} of the size");
        assert!(
            fastest <= 0.6 * limb,
            "{name}: {fastest:.2e} against {limb:.2e}"
        );
    }
}
