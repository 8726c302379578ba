//! Times, printed.

use std::time::Instant;

use super::*;
use crate::dynamics::Params;
use crate::methods::Actor;

/// Time of the normals of 20 000 vertices.
#[test]
#[ignore = "measures"]
fn measure_normals() {
    let mut subjects = vec![("bar".to_owned(), subject(bar(400, 50)))];
    if let Some(data) = std::env::var_os("SINEW_TEST_DATA") {
        let path = std::path::Path::new(&data).join("A_rigged/mh_female_cmu/mh_female_cmu.glb");
        if let Ok(character) = crate::io::load(&[path], &Progress::new()) {
            subjects.push(("woman".to_owned(), subject(character)));
        }
    }
    for (name, subject) in subjects {
        let pose = turned(&subject, Vec64::z(), 0.4);
        for method in METHODS {
            for mode in ["exact", "blended", "triangles"] {
                let start = Instant::now();
                let plain = Actor::bind(
                    &subject,
                    MethodId::RIGID,
                    &Params::default(),
                    &Progress::new(),
                );
                drop(plain);
                let base_ms = start.elapsed().as_secs_f64() * 1e3;
                let start = Instant::now();
                let mut actor = bound(&subject, method, mode);
                let bind_ms = start.elapsed().as_secs_f64() * 1e3 - base_ms;
                let (mut normals_ms, mut step_ms) = (f64::INFINITY, f64::INFINITY);
                for _ in 0..200 {
                    advance(&mut actor, &pose);
                    normals_ms = normals_ms.min(actor.times().normals_ms);
                    step_ms = step_ms.min(actor.times().step_ms);
                }
                println!(
                    "{name}, {} vertices, {method} {mode}: bind {bind_ms:.0} ms, step {step_ms:.3} ms, normals {normals_ms:.3} ms",
                    subject.bind_positions.len()
                );
            }
        }
    }
}
