//! Drive a session as a window does, without one: open, play, and watch the flesh move.
//!
//! `cargo run --release --example play_a_clip`

use std::time::{Duration, Instant};

use sinew::session::{Command, Session, Source};

fn main() {
    let mut session = Session::new();
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    while session.tick(0.0).active && session.subject().is_none() {
        std::thread::sleep(Duration::from_millis(2));
    }
    session.apply_once(Command::SetLooping(false));
    session.apply_once(Command::TogglePlaying);

    let (mut last, mut frames) = (Instant::now(), 0_u32);
    loop {
        std::thread::sleep(Duration::from_millis(16));
        let dt_secs = last.elapsed().as_secs_f64();
        last = Instant::now();
        let tick = session.tick(dt_secs);
        frames += u32::from(tick.changed);
        if !tick.active {
            break; // The clip is over and the flesh is still.
        }
    }
    for message in session.messages() {
        println!("{message}");
    }
    println!("{frames} different frames of {}", session.document().source);
}
