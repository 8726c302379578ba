//! Explanations of vertices of a bar that bends.

use std::sync::Arc;

use crate::dynamics::Params;
use crate::math::{Affine, Point, Vec64};
use crate::methods::test_bar::{advance, bar, subject as bound_to, turned};
use crate::methods::{Actor, Explanation, MethodId, Subject, TermValue};
use crate::progress::Progress;

fn subject() -> Arc<Subject> {
    bound_to(bar(24, 16))
}

fn bent(subject: &Subject, degrees: f64) -> Vec<Affine> {
    turned(subject, Vec64::z(), degrees.to_radians())
}

fn actor(subject: &Arc<Subject>, method: MethodId, world: &[Affine]) -> Actor {
    let mut actor = Actor::bind(subject, method, &Params::default(), &Progress::new()).unwrap();
    advance(&mut actor, world);
    actor
}

fn value(explanation: &Explanation, id: &str) -> f64 {
    let term = explanation.terms.iter().find(|term| term.id == id);
    match term.unwrap_or_else(|| panic!("no {id}")).value {
        TermValue::Factor(x)
        | TermValue::Part(x)
        | TermValue::Degrees(x)
        | TermValue::Length(x) => x,
        TermValue::Count(n) => n as f64,
    }
}

/// The vertex nearest to the middle of the bend, where both joints have half of the weight.
fn middle(subject: &Subject) -> usize {
    let positions = &subject.bind_positions;
    let from = |p: &Point| (p - Point::new(1.0, 0.0, 0.0)).norm();
    (0..positions.len())
        .min_by(|&a, &b| from(&positions[a]).total_cmp(&from(&positions[b])))
        .unwrap()
}

#[test]
fn blending_is_taken_apart() {
    let subject = subject();
    let vertex = middle(&subject);
    for degrees in [0.0, 60.0, 90.0, 150.0_f64] {
        let world = bent(&subject, degrees);
        let linear = actor(&subject, MethodId::LBS, &world).explain(vertex, &world);
        let [first, second] = linear.influences.as_slice() else {
            panic!("two joints");
        };
        assert!((first.weight + second.weight - 1.0).abs() < 1e-6);
        let turned = first.turned_deg.max(second.turned_deg);
        assert!((turned - degrees).abs() < 1e-4);
        assert!((value(&linear, "rotation_spread_deg") - degrees).abs() < 1e-4);
        // (1 − w) I + w R has the determinant 1 − 2 w (1 − w) (1 − cos θ).
        let w = f64::from(second.weight);
        let expected = 1.0 - 2.0 * w * (1.0 - w) * (1.0 - degrees.to_radians().cos());
        assert!((value(&linear, "matrix_volume") - expected).abs() < 1e-5);
        assert!(value(&linear, "from_linear") < 1e-5);
        let dual = actor(&subject, MethodId::DQS, &world).explain(vertex, &world);
        assert!(value(&dual, "from_dual_quaternion") < 1e-5);
        let apart = value(&linear, "from_dual_quaternion");
        assert!((value(&dual, "from_linear") - apart).abs() < 1e-5);
        assert_eq!(apart > 0.01, degrees > 0.0);
    }
}

#[test]
fn every_method_says_something_of_its_own() {
    let subject = subject();
    let vertex = middle(&subject);
    let world = bent(&subject, 90.0);
    let own = |method: MethodId| actor(&subject, method, &world).explain(vertex, &world);
    assert!(value(&own(MethodId::COR), "center_distance") > 0.1);
    let share = value(&own(MethodId::SWING_TWIST), "bend_share");
    assert!((0.0..=1.0).contains(&share));
    let mush = own(MethodId::DELTA_MUSH);
    assert!(value(&mush, "moved_by_mush") > 0.0 && value(&mush, "detail") > 0.0);
    let flesh = own(MethodId::PD);
    let [least, most] = ["least_stretch", "most_stretch"].map(|id| value(&flesh, id));
    assert!(least < 1.0 && most > 1.0 && most < 3.0, "{least} {most}");
    assert!((value(&flesh, "flesh_volume") - 1.0).abs() < 0.5);
    let share = value(&flesh, "energy_share");
    assert!(share > 0.0 && share < 1.0, "{share}");
}

#[test]
fn nothing_is_strained_at_rest_and_shares_of_energy_add_up() {
    let subject = subject();
    let rest = bent(&subject, 0.0);
    let still = actor(&subject, MethodId::PD, &rest).explain(middle(&subject), &rest);
    for id in ["least_stretch", "most_stretch", "flesh_volume"] {
        assert!((value(&still, id) - 1.0).abs() < 1e-3, "{id}");
    }
    assert!(value(&still, "inverted_tets") == 0.0);
    // Every tet has at most four corners, so that the shares of all simulated vertices sum to 1 to 4.
    let world = bent(&subject, 90.0);
    let bent = actor(&subject, MethodId::PD, &world);
    let sim: std::collections::BTreeSet<u32> =
        subject.sim().skin_from_sim.iter().copied().collect();
    let sources = (0..subject.bind_positions.len())
        .filter(|&source| subject.skin.skin_from_source[source].is_some_and(|v| sim.contains(&v)));
    let total: f64 = sources
        .map(|source| value(&bent.explain(source, &world), "energy_share"))
        .sum();
    assert!((1.0..=4.0).contains(&total), "{total}");
}
