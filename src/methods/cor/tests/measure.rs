//! Times and deviations, printed.

use std::time::Instant;

use super::*;
use crate::mesh::Bounds;
use crate::methods::cor::centers::significant_weights;
use crate::methods::cor::pair_table::PairTable;

/// Every rigged character and a fine bar: time of binding and of a frame, deviation from brute force.
#[test]
#[ignore = "measures; reads SINEW_TEST_DATA"]
fn measure_centers() {
    let mut subjects = vec![("bar 36k".to_owned(), subject(bar(600, 60)))];
    if let Some(data) = std::env::var_os("SINEW_TEST_DATA") {
        for name in [
            "mh_female_cmu/mh_female_cmu.glb",
            "CesiumMan/CesiumMan.glb",
            "mannequiny/mannequiny-0.3.0.glb",
            "q_Wolf/Wolf.glb",
            "kaykit_Knight/Knight.glb",
            "greenman/greenman.glb",
        ] {
            let path = std::path::Path::new(&data).join("A_rigged").join(name);
            if let Ok(character) = crate::io::load(&[path], &Progress::new()) {
                subjects.push((name.to_owned(), subject(character)));
            }
        }
    }
    for (name, subject) in subjects {
        let count = subject.bind_positions.len();
        let best = |mut run: Box<dyn FnMut() + '_>, times: usize| {
            let mut best = f64::INFINITY;
            for _ in 0..times {
                let start = Instant::now();
                run();
                best = best.min(start.elapsed().as_secs_f64() * 1e3);
            }
            best
        };
        let bind_ms = best(Box::new(|| drop(bind(&subject))), 3);
        let LinearBlend { parts } = LinearBlend::bind(&subject.character, subject.mesh_weights());
        let surface = BindSurface::new(&subject, &parts);
        let origin = Bounds::of(surface.positions()).center().cast::<f64>();
        let start = Instant::now();
        let table = PairTable::new(&surface, origin, &Progress::new()).unwrap();
        let table_ms = start.elapsed().as_secs_f64() * 1e3;
        let several = (0..count)
            .filter(|&v| significant_weights(&surface, v).len() > 1)
            .count();
        let mut skinner = bind(&subject);
        let pose = turned(&subject, Vec64::new(0.3, 0.2, 1.0), 0.4);
        let mut out = subject.bind_positions.to_vec();
        let frame = Frame {
            world_from_joint: &pose,
            dt_secs: 0.0,
        };
        let frame_ms = best(Box::new(|| skinner.skin(&frame, &mut out).unwrap()), 200);
        let deviations = deviations(&subject, 1.max(several / 300));
        println!(
            "{name}: {count} vertices ({several} blended), {} cells, bind {bind_ms:.0} ms (table {table_ms:.0}), frame {frame_ms:.3} ms, \
             deviation median {:.1e} p99 {:.1e} max {:.1e}",
            table.len(),
            percentile(&deviations, 0.5),
            percentile(&deviations, 0.99),
            percentile(&deviations, 1.0),
        );
    }
}
