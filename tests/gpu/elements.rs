//! Elements over points that are each unknown or prescribed: the device steps as the processor does.

use sinew::dynamics::Params;
use sinew::math::Point;

use crate::common::bar::{Bar, Split, plain};
use crate::common::on_device;
use crate::stepping::Device;

/// Rounding of `f32` over a few steps.
const TOLERANCE: f32 = 2e-5;

#[test]
fn bars_and_free_tets_agree_with_the_cpu() {
    let Some(gpu) = on_device::gpu() else { return };
    let bars = [
        ("paths", Bar::new([4, 2, 2], Split::Paths)),
        ("prisms", Bar::new([4, 2, 2], Split::Prisms)),
        ("free", Bar::free_tet()),
    ];
    for (name, bar) in &bars {
        for (acceleration, volume) in [(0, 0.0), (3, 0.0), (3, 1.0)] {
            let mut simulation = bar.simulation(&Params {
                acceleration,
                volume,
                gravity_m_s2: [0.0, -9.81, 0.0],
                ..plain()
            });
            let device = Device::like(gpu, &simulation);
            for step in 1..4 {
                let stretch = 1.0 + 0.02 * step as f32;
                let base: Vec<Point> = bar
                    .prescribed
                    .iter()
                    .map(|p| Point::new(stretch * p.x, p.y, p.z))
                    .collect();
                simulation.step(&base);
                device.step(&base);
                let (expected, actual) = (simulation.state(), device.download());
                let off = expected
                    .position
                    .iter()
                    .zip(&actual.position)
                    .map(|(a, b)| (a - b).norm() / bar.size as f32)
                    .max_by(f32::total_cmp)
                    .unwrap_or(0.0);
                assert!(
                    off < TOLERANCE && device.statistics().broken == 0,
                    "{name}, {acceleration}, {volume}, step {step}: {off:e}"
                );
            }
        }
    }
}
