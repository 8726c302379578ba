//! Frames of takes.

use std::convert::Infallible;
use std::sync::Arc;

use super::*;
use crate::dynamics::Params;
use crate::io::builtin::load_builtin;
use crate::math::{Quat, Vec64};
use crate::methods::{MethodId, Subject};

fn subject() -> Arc<Subject> {
    let character = load_builtin("cylinder").unwrap();
    Arc::new(Subject::build(Arc::new(character), &Progress::new()).unwrap())
}

fn frames(subject: &Arc<Subject>, take: &Take) -> Vec<(u32, Vec<crate::math::Point>)> {
    let mut actor =
        Actor::bind(subject, MethodId::LBS, &Params::default(), &Progress::new()).unwrap();
    let mut got = Vec::new();
    let result = take.play(&mut actor, &Progress::new(), |frame, actor| {
        got.push((frame, actor.positions().to_vec()));
        Ok::<_, Infallible>(())
    });
    result.unwrap();
    assert_eq!(got.len(), take.frame_count());
    got
}

#[test]
fn a_pose_is_reached_from_rest_and_held() {
    let subject = subject();
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    let turn = Quat::from_axis_angle(&Vec64::z_axis(), std::f64::consts::FRAC_PI_2);
    pose.rotate_about_world_axes(skeleton, 1, &turn);
    let take = Take::whole(Motion::Pose(pose.clone()), &subject.character, 30.0);
    let got = frames(&subject, &take);
    assert_eq!(got.len(), 61);
    assert_eq!(got[30].1, got[60].1);
    assert_ne!(got[0].1, got[30].1);
    let rest = frames(
        &subject,
        &Take::whole(Motion::Rest, &subject.character, 30.0),
    );
    assert_eq!(rest.len(), 1);
    assert_eq!(rest[0].1, got[0].1);
    let settled = Take {
        motion: Motion::Pose(pose),
        moments: Moments::Settled { time_secs: 0.0 },
    };
    assert_eq!(frames(&subject, &settled)[0].1, got[60].1);
}

#[test]
fn part_of_a_clip_is_part_of_the_whole() {
    let subject = subject();
    let whole = frames(
        &subject,
        &Take::whole(Motion::Clip(0), &subject.character, 30.0),
    );
    let part = Take {
        motion: Motion::Clip(0),
        moments: Moments::Frames {
            first: 5,
            last: 9,
            fps: 30.0,
            pre_roll: None,
        },
    };
    assert_eq!(frames(&subject, &part), whole[5..=9]);
}
#[test]
fn a_run_up_leads_to_the_first_frame_wanted() {
    let take = |moments| Take {
        motion: Motion::Rest,
        moments,
    };
    let of = |take: &Take, has_state| {
        let steps = take.steps(has_state);
        assert_eq!(steps.len(), take.steps(has_state).count());
        take.steps(has_state).collect::<Vec<_>>()
    };
    let round = take(Moments::From {
        start_secs: 2.0,
        run_up: 3,
        frames: 2,
        fps: 4.0,
    });
    let steps = of(&round, true);
    let times: Vec<f64> = steps.iter().map(|step| step.time_secs).collect();
    assert_eq!(times, [1.25, 1.5, 1.75, 2.0, 2.25]);
    let wanted = steps.iter().filter(|step| step.is_wanted);
    assert_eq!(wanted.map(|step| step.frame).collect::<Vec<_>>(), [0, 1]);
    assert_eq!(
        steps[3..],
        of(&round, false)
            .iter()
            .copied()
            .map(|step| Step {
                dt_secs: 0.25,
                ..step
            })
            .collect::<Vec<_>>()
    );
    assert_eq!((steps[0].dt_secs, of(&round, false)[0].dt_secs), (0.0, 0.0));
    let part = take(Moments::Frames {
        first: 2,
        last: 3,
        fps: 4.0,
        pre_roll: None,
    });
    assert_eq!((of(&part, true).len(), of(&part, false).len()), (4, 2));
    let late = |pre_roll| {
        take(Moments::Frames {
            first: 9,
            last: 10,
            fps: 4.0,
            pre_roll: Some(pre_roll),
        })
    };
    let steps = of(&late(3), true);
    let frames: Vec<(u32, bool)> = steps.iter().map(|s| (s.frame, s.is_wanted)).collect();
    assert_eq!(
        frames,
        [(6, false), (7, false), (8, false), (9, true), (10, true)]
    );
    assert_eq!((steps[0].dt_secs, steps[1].dt_secs), (0.0, 0.25));
    assert_eq!(
        (of(&late(99), true).len(), of(&late(0), true).len()),
        (11, 2)
    );
    // The frame before is simulated by the same steps.
    let same = |a: &[Step], b: &[Step]| {
        let bare = |steps: &[Step]| -> Vec<(u32, f64)> {
            steps.iter().map(|s| (s.frame, s.dt_secs)).collect()
        };
        bare(a) == bare(b)
    };
    for pre_roll in [1, 3, 99] {
        let before = late(pre_roll).with_frame_before().unwrap();
        assert_eq!((before.first_frame(), before.last_frame()), (8, 10));
        assert!(same(&of(&before, true), &of(&late(pre_roll), true)));
    }
    assert_eq!(late(0).with_frame_before(), None);
    assert_eq!(round.with_frame_before(), None);
    let settled = of(&take(Moments::Settled { time_secs: 0.7 }), true);
    assert_eq!(settled.len(), 1);
    assert!(settled[0].is_wanted && settled[0].time_secs == 0.7 && settled[0].dt_secs == 0.0);
}
