//! Implicit skinning in a deep fold: a knee at 150°, as in Vaillant et al. 2014, figure 1.

use std::path::PathBuf;
use std::sync::Arc;

use nalgebra::{Unit, Vector3};
use sinew::dynamics::Params;
use sinew::math::{Affine, Point64, Quat};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::metrics::intersections;
use sinew::progress::Progress;

use crate::common::moved::worst;
use crate::common::skip;
use crate::counted::counted;

/// A character, and the joints of its left hip and knee.
struct Leg {
    subject: Arc<Subject>,
    joints: [usize; 2],
}

impl Leg {
    fn of(file: Option<PathBuf>, names: [&str; 2]) -> Self {
        let progress = Progress::new();
        let character = match file {
            Some(file) => sinew::io::load(&[file], &progress).expect("loads"),
            None => sinew::io::builtin::load_builtin("mannequin").expect("built in"),
        };
        let subject = Arc::new(Subject::build(Arc::new(character), &progress).expect("builds"));
        let skeleton = &subject.character.skeleton;
        let joints = names.map(|name| skeleton.find(name).expect("a joint"));
        Self { subject, joints }
    }

    /// The joints with the shin turned backwards by an angle.
    fn bent(&self, degrees: f64) -> Vec<Affine> {
        let skeleton = &self.subject.character.skeleton;
        let at = |joint: usize| -> Point64 { skeleton.bind_position(joint) };
        let [hip, knee] = self.joints;
        let hinge = Unit::new_normalize((at(knee) - at(hip)).cross(&-Vector3::z()));
        let bend = Quat::from_axis_angle(&hinge, degrees.to_radians());
        let mut pose = skeleton.rest_pose();
        pose.rotate_about_world_axes(skeleton, knee, &bend);
        skeleton.world_from_joint(&pose)
    }

    fn bound(&self) -> Actor {
        let (progress, physics) = (Progress::new(), Params::default());
        Actor::bind(&self.subject, MethodId::IMPLICIT, &physics, &progress).expect("binds")
    }

    /// New intersecting pairs at 150°.
    fn pairs(&self) -> usize {
        let metric = (&intersections::METRIC, "new_pairs");
        counted(&self.subject, MethodId::IMPLICIT, &self.bent(150.0), metric)
    }

    /// How far the skin is from rest, in sizes, half a second after the knee has bent by 150° and straightened again in half a second.
    fn left_after_return(&self) -> f32 {
        let mut actor = self.bound();
        let bends = (0..=15).chain((0..15).rev()).chain([0; 30]);
        for bend in bends {
            let frame = Frame {
                world_from_joint: &self.bent(10.0 * f64::from(bend)),
                dt_secs: 1.0 / 60.0,
            };
            actor.advance(&frame).expect("moves");
        }
        let rest = &self.subject.bind_positions;
        worst(actor.positions(), rest) / self.subject.size
    }
}

#[test]
fn a_deep_knee_has_no_new_pair_and_comes_back_to_rest() {
    let leg = Leg::of(None, ["thigh.L", "shin.L"]);
    assert_eq!(leg.pairs(), 0);
    let left = leg.left_after_return();
    println!("{left:.1e} of the size from rest");
    assert!(left <= 1e-3, "{left}");
}

#[test]
fn a_deep_knee_of_a_real_character_has_no_new_pair_and_comes_back_to_rest() {
    let Some(data) = skip::data() else {
        return;
    };
    let file = data.join("A_rigged/mh_female_cmu/mh_female_cmu.glb");
    let leg = Leg::of(Some(file), ["LeftUpLeg", "LeftLeg"]);
    assert_eq!(leg.pairs(), 0);
    let left = leg.left_after_return();
    println!("{left:.1e} of the size from rest");
    assert!(left <= 1e-3, "{left}");
}
