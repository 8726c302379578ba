//! `ddm` equals an independent implementation (`parity_ddm.py`, numpy in `f64`) on small characters.
//!
//! Runs as a part of `cargo test --test skinning parity_ddm`; it needs python3 with numpy and says so if there is none.

use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use serde_json::{Value, json};
use sinew::dynamics::Params;
use sinew::math::Affine;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::param::ParamValues;
use sinew::progress::Progress;
use sinew::weights::Segment;

use crate::common::moved::bent;
use crate::common::skip;

/// Part of the size: Ω is rounded to `f32`, and rotations of matrices with small singular values enlarge that.
const TOLERANCE: f64 = 1e-5;

fn has_numpy() -> bool {
    Command::new("python3")
        .args(["-c", "import numpy"])
        .output()
        .is_ok_and(|out| out.status.success())
}

fn matrix(affine: &Affine) -> Value {
    let rows = (0..4).map(|r| {
        (0..4)
            .map(|c| affine.matrix()[(r, c)])
            .collect::<Vec<f64>>()
    });
    rows.collect::<Vec<_>>().into()
}

/// Mesh, bones and weights of the skin.
fn described(subject: &Subject) -> Value {
    let (skin, skeleton) = (&subject.skin.mesh, &subject.character.skeleton);
    let rows = (0..skin.positions.len()).map(|v| subject.skin_weights().row(v));
    let bones = Segment::of(skeleton);
    json!({
        "tolerance": TOLERANCE,
        "positions": skin.positions.iter().map(|p| [p.x, p.y, p.z]).collect::<Vec<_>>(),
        "triangles": skin.triangles,
        "weights": rows.collect::<Vec<_>>(),
        "bones": bones.iter().map(|b| json!({
            "joint": b.joint,
            "ends": b.ends.map(|p| [p.x, p.y, p.z]),
        })).collect::<Vec<_>>(),
        "bind": skeleton.bind_transforms().iter().map(matrix).collect::<Vec<_>>(),
    })
}

fn check(name: &str, settings: &[(&str, f64)]) {
    if !has_numpy() {
        skip::skipped("python3 with numpy is not installed");
        return;
    }
    let character = sinew::io::builtin::load_builtin(name).expect("built in");
    let subject = Subject::build(Arc::new(character), &Progress::new()).expect("builds");
    let subject = Arc::new(subject);
    let mut job = described(&subject);
    let mut values = ParamValues::default();
    for (key, value) in settings {
        let params = MethodId::DDM.descriptor().params;
        let spec = params
            .iter()
            .find(|spec| spec.key == *key)
            .expect("a parameter");
        values.set(spec, *value);
    }
    for spec in MethodId::DDM.descriptor().params {
        job["values"][spec.key] = json!(values.get(spec));
    }
    let (physics, progress) = (Params::default(), Progress::new());
    let mut actor =
        Actor::bind_with(&subject, MethodId::DDM, &physics, &values, &progress).expect("binds");
    let mut frames = Vec::new();
    for amount in [0.0, 0.4, 0.9] {
        let mut joints = bent(&subject, amount);
        if amount > 0.5 {
            // A joint that scales.
            let scale = nalgebra::Scale3::new(1.3, 0.8, 1.1).to_homogeneous();
            let last = joints.len() - 1;
            joints[last] *= Affine::from_matrix_unchecked(scale);
        }
        let frame = Frame {
            world_from_joint: &joints,
            dt_secs: 0.0,
        };
        actor.advance(&frame).expect("a frame");
        let mut skin = vec![[0.0_f32; 3]; subject.skin.mesh.positions.len()];
        for (at, vertex) in actor.positions().iter().zip(&subject.skin.skin_from_source) {
            if let Some(vertex) = vertex {
                skin[*vertex as usize] = [at.x, at.y, at.z];
            }
        }
        let joints: Vec<Value> = joints.iter().map(matrix).collect();
        frames.push(json!({"joints": joints, "positions": skin}));
    }
    job["frames"] = frames.into();
    let own = format!(
        "sinew-parity-ddm-{name}-{}-{}.json",
        settings.len(),
        std::process::id()
    );
    let at = std::env::temp_dir().join(own);
    std::fs::write(&at, job.to_string()).expect("a temporary file");
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/parity_ddm.py");
    let out = Command::new("python3")
        .arg(script)
        .arg(&at)
        .output()
        .expect("python3");
    if std::env::var_os("SINEW_KEEP_PARITY").is_none() {
        std::fs::remove_file(at).expect("the temporary file");
    }
    let said = format!(
        "{name}: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
    println!("{said}");
    assert!(out.status.success(), "{said}");
}

#[test]
fn cylinder() {
    check("cylinder", &[]);
}

#[test]
fn cylinder_by_edges() {
    check("cylinder", &[("by-edges", 1.0)]);
}

#[test]
fn cylinder_with_other_reaches() {
    check(
        "cylinder",
        &[("reach", 0.6), ("weight-reach", 0.1), ("translation", 0.3)],
    );
}

#[test]
fn arm() {
    check("arm", &[]);
}
