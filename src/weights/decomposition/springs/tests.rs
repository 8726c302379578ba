use super::moments::Region;
use super::*;
use crate::math::Point;
use crate::progress::Progress;
use crate::rig::Skeleton;
use crate::weights::SkinWeights;
use crate::weights::decomposition::{DecompositionSettings, decompose};

/// A lump of points beside the middle of an upright bone, and a ring around the bone; and which points are of the lump.
struct Body {
    skeleton: Skeleton,
    bind: Vec<Point>,
    is_lump: Vec<bool>,
}

impl Body {
    fn new() -> Self {
        let at = |y: f64| Point64::new(0.0, y, 0.0);
        let joints = [
            ("root".to_owned(), None, at(0.0)),
            ("top".to_owned(), Some(0), at(1.0)),
        ];
        let grid = |index: usize| {
            Vec64::new(
                (index % 3) as f64,
                (index / 3 % 3) as f64,
                (index / 9) as f64,
            )
        };
        let lump = (0..27).map(|i| Vec64::new(-0.08, 0.42, 0.22) + grid(i) * 0.08);
        let ring = (0..48).map(|i| {
            let (sine, cosine) = (i as f64 * 0.52).sin_cos();
            Vec64::new(0.1 * cosine, 0.02 * i as f64, 0.1 * sine)
        });
        let points: Vec<(Vec64, bool)> = lump
            .map(|p| (p, true))
            .chain(ring.map(|p| (p, false)))
            .collect();
        Self {
            skeleton: Skeleton::from_positions(&joints).unwrap(),
            bind: points
                .iter()
                .map(|(p, _)| Point::from(p.cast::<f32>()))
                .collect(),
            is_lump: points.iter().map(|(_, lump)| *lump).collect(),
        }
    }

    fn pose(&self, offset: Vec64) -> Pose {
        let mut pose = self.skeleton.rest_pose();
        pose.locals[0].translation += offset;
        pose
    }

    /// The motion with a lump that turns about a pivot as the rule says, every `every` ticks a frame.
    fn simulated(&self, rule: &Rule, offsets: &[Vec64], every: usize) -> Vec<SimulatedFrame> {
        let (pivot, axis, length) = (Vec64::new(0.0, 0.5, 0.05), Vec64::z(), 0.3);
        let mut tail = Tail::still(pivot + axis * length + offsets[0]);
        let frame = |offset: &Vec64| {
            let (at, rest) = (pivot + offset, pivot + axis * length + offset);
            let turn = turned(&axis, &tail.step(rule, &at, &rest));
            let place = |(bind, is_lump): (&Point, &bool)| {
                let place: Vec64 = bind.coords.cast();
                let swung = if *is_lump {
                    pivot + turn * (place - pivot)
                } else {
                    place
                };
                Point::from((swung + offset).cast::<f32>())
            };
            SimulatedFrame {
                pose: self.pose(*offset),
                positions: self.bind.iter().zip(&self.is_lump).map(place).collect(),
            }
        };
        let all: Vec<SimulatedFrame> = offsets.iter().map(frame).collect();
        all.into_iter().step_by(every).collect()
    }

    fn motion<'a>(
        &self,
        offsets: &[Vec64],
        frames: &'a [SimulatedFrame],
        every: usize,
        free_from: Option<usize>,
    ) -> Motion<'a> {
        Motion {
            ticks: offsets.iter().map(|offset| self.pose(*offset)).collect(),
            at: (0..frames.len())
                .map(|frame| (frame * every) as f64)
                .collect(),
            frames,
            free_from,
        }
    }
}

/// Two seconds of swaying.
fn sway() -> Vec<Vec64> {
    let offset = |tick: usize| {
        let time = tick as f64 * STEP_SECS;
        Vec64::new(0.1 * (9.0 * time).sin(), 0.06 * (13.0 * time).sin(), 0.0)
    };
    (0..=120).map(offset).collect()
}

/// Ever faster to 1 m/s along an axis within 0.4 s, and still for a second.
fn stop(axis: usize) -> Vec<Vec64> {
    let offset = |tick: usize| {
        let time = tick.min(24) as f64 * STEP_SECS;
        let mut offset = Vec64::zeros();
        offset[axis] = 0.5 * time * time / (24.0 * STEP_SECS);
        offset
    };
    (0..=84).map(offset).collect()
}

/// Reports and springs for a lump that swings as a rule says, and the decomposition.
fn fitted(rule: &Rule) -> (Decomposition, Vec<Spring>, Vec<SpringReport>) {
    let body = Body::new();
    let (sway, stops) = (sway(), [0, 1].map(stop));
    let clip = body.simulated(rule, &sway, 2);
    let jolts = stops.each_ref().map(|stop| body.simulated(rule, stop, 1));
    let on_root = body.bind.iter().map(|_| vec![(0, 1.0)]);
    let weights = SkinWeights::from_rows(on_root).0;
    let settings = DecompositionSettings {
        helpers: 1,
        influences: 2,
    };
    let progress = Progress::new();
    let mut found = decompose(
        &body.skeleton,
        &body.bind,
        &weights,
        &clip,
        &settings,
        &progress,
    )
    .unwrap();
    assert_eq!(found.drivers.len(), 1);
    let mut motions = vec![body.motion(&sway, &clip, 2, None)];
    for (stop, jolt) in stops.iter().zip(&jolts) {
        motions.push(body.motion(stop, jolt, 1, Some(24)));
    }
    let (springs, reports) = found
        .fit_springs(&body.bind, &motions, &[], 1.0, &progress)
        .unwrap();
    // What is left is what the swings that are told make of it.
    let turns = found.swings(&springs, &motions[0].ticks, &motions[0].at);
    let region = Region::of(&found, 0);
    let poses: Vec<Pose> = (clip.iter().zip(&turns))
        .map(|(frame, turns)| found.swung(&found.driven(&frame.pose), &springs, turns))
        .collect();
    let left = region.moments(&found, &body.bind, &clip, &poses);
    let square: f64 = left.iter().map(|moments| moments.square).sum();
    let rms = (square / (clip.len() * region.len()) as f64).sqrt() * 1e3;
    assert!(
        (rms - reports[0].rms.unwrap()[1]).abs() < 0.02,
        "{rms} {reports:?}"
    );
    (found, springs, reports)
}

#[test]
fn flesh_that_swings_gets_a_spring_that_swings_alike() {
    let swing = Swing {
        frequency_hz: 3.0,
        decay_per_sec: 7.0,
    };
    let (found, springs, reports) = fitted(&Rule::of(&swing));
    let [report] = reports.as_slice() else {
        panic!("{reports:?}");
    };
    assert_eq!((springs.len(), report.left_out), (1, None), "{reports:?}");
    let measured = report.swing.unwrap();
    assert!((measured.frequency_hz - 3.0).abs() < 0.1, "{measured:?}");
    assert!((measured.decay_per_sec - 7.0).abs() < 1.0, "{measured:?}");
    assert!(report.swing_mm > 10.0, "{report:?}");
    let [before, after] = report.rms.unwrap();
    assert!(after < 0.1 * before, "{report:?}");
    let played = springs[0].rule.swing().unwrap();
    assert!((played.frequency_hz - 3.0).abs() < 0.15, "{played:?}");

    // As joints: the helper's weights go to the spring's joint, and nothing moves at rest.
    let (skeleton, weights) = found.sprung(&springs).unwrap();
    let (joint, helper) = (found.spring_joint(0), found.skeleton.len() - 1);
    assert_eq!(
        (skeleton.len(), joint),
        (found.skeleton.len() + 2, helper + 1)
    );
    let parents = [joint, joint + 1].map(|joint| skeleton.joints()[joint].parent);
    assert_eq!(parents, [Some(helper), Some(joint)]);
    assert!(weights.joints.iter().all(|&bone| bone as usize != helper));
    assert!(weights.joints.contains(&(joint as u32)));
    assert_eq!(weights.values, found.weights.values);
    let rest = skeleton.world_from_joint(&skeleton.rest_pose());
    for end in [joint, joint + 1] {
        // The offsets are the same at rest and in the bind pose.
        let from_helper = |world: &[Affine]| {
            frame_of(&world[helper]).0.inverse()
                * (frame_of(&world[end]).1 - frame_of(&world[helper]).1)
        };
        let bind = from_helper(&skeleton.bind_transforms());
        assert!((from_helper(&rest) - bind).norm() < 1e-9);
    }
    // A spring at rest stays at rest.
    let still = vec![skeleton.rest_pose(); 30];
    let turns = found.swings(&springs, &still, &[0.0, 10.5, 29.0]);
    assert!(turns.iter().flatten().all(|turn| turn.angle() < 1e-9));
}

#[test]
fn flesh_that_follows_at_once_gets_none() {
    let rule = Rule {
        stiffness: 1e4,
        drag: 1.0,
    };
    let body = Body::new();
    let stop = stop(0);
    let jolt = body.simulated(&rule, &stop, 1);
    // Helpers start where there is something to fit: here a lump that swings.
    let (mut found, ..) = fitted(&Rule::of(&Swing {
        frequency_hz: 3.0,
        decay_per_sec: 7.0,
    }));
    let motions = [body.motion(&stop, &jolt, 1, Some(24))];
    found.fitted.clear();
    let (before, progress) = (found.skeleton.clone(), Progress::new());
    let (springs, reports) = found
        .fit_springs(&body.bind, &motions, &[], 1.0, &progress)
        .unwrap();
    assert!(springs.is_empty(), "{springs:?}");
    assert_eq!(reports[0].left_out, Some(NoSpring::Still), "{reports:?}");
    let (skeleton, _) = found.sprung(&springs).unwrap();
    assert_eq!((&skeleton, &found.skeleton), (&before, &before));
    progress.cancel();
    assert!(
        found
            .fit_springs(&body.bind, &motions, &[], 1.0, &progress)
            .is_err()
    );
}
