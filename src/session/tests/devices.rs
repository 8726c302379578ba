//! Devices that come and go under a character.

use super::*;
use crate::gpu::actor::DeviceChoice;

/// Ticks until the state shown is on a device, or is not.
fn run_until_on_device(session: &mut Session, wanted: bool) {
    let start = Instant::now();
    while session.snapshot().is_none_or(|shown| shown.on_device().is_some() != wanted) {
        assert!(start.elapsed() < Duration::from_mins(1), "{:?}", session.device_status());
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(1));
    }
    run_until_idle(session);
}

/// The device is lost while everything sleeps: the character goes on standing where it stood.
#[test]
fn what_sleeps_on_a_lost_device_stays() {
    let Some(gpu) = crate::gpu::for_tests() else { return };
    let mut session = opened();
    session.apply_once(turn(20.0));
    session.set_device(DeviceChoice::Gpu);
    session.set_gpu(Some(&gpu));
    run_until_on_device(&mut session, true);
    assert!(session.device_status().is_some_and(|status| status.on_gpu));
    let before = session.snapshot().unwrap().positions().to_vec();
    gpu.lose();
    session.set_gpu(None);
    run_until_on_device(&mut session, false);
    let shown = session.snapshot().unwrap();
    let apart = before.iter().zip(shown.positions()).map(|(a, b)| (a - b).norm()).fold(0.0, f32::max);
    assert!(apart < 1e-3 * shown.subject.size, "{apart}");
    assert!(session.device_status().is_some_and(|status| !status.on_gpu));
}
