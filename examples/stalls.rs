//! Does the window ever wait? Opens characters while the session ticks 60 times a second, as a window would, poses and plays them,
//! and says how long the longest command and the longest tick took.
//!
//! `cargo run --release --example stalls [FILE …]` (each file is a character of its own; by default all built-in ones)

use std::time::{Duration, Instant};

use sinew::session::{Command, Session, Source};
use sinew::skin::Method;

const FRAME: Duration = Duration::from_micros(16_667);

/// The longest time of each kind.
#[derive(Default)]
struct Longest {
    tick: Duration,
    apply: Duration,
    snapshot: Duration,
}

impl Longest {
    fn apply(&mut self, session: &mut Session, command: Command) {
        let start = Instant::now();
        session.apply_once(command);
        self.apply = self.apply.max(start.elapsed());
    }

    /// One frame: time passes, and the flesh is looked at.
    fn frame(&mut self, session: &mut Session) {
        let start = Instant::now();
        session.tick(FRAME.as_secs_f64());
        self.tick = self.tick.max(start.elapsed());
        let looked = Instant::now();
        let snapshot = session.snapshot();
        let _ = snapshot.as_ref().and_then(|snapshot| session.score_of(0, snapshot));
        drop(snapshot);
        self.snapshot = self.snapshot.max(looked.elapsed());
        std::thread::sleep(FRAME.saturating_sub(start.elapsed()));
    }
}

fn main() {
    let files: Vec<String> = std::env::args().skip(1).collect();
    let sources: Vec<Source> = if files.is_empty() {
        sinew::io::builtin::NAMES.iter().map(|name| Source::builtin(name)).collect()
    } else {
        files.iter().map(|file| Source::of_files(vec![file.into()])).collect()
    };
    let mut session = Session::new();
    for source in sources {
        let (title, mut longest, start) = (source.title(), Longest::default(), Instant::now());
        longest.apply(&mut session, Command::Open(source));
        while !session.jobs().is_empty() {
            longest.frame(&mut session);
        }
        let opened = start.elapsed();
        for method in [Method::Lbs, Method::Pd] {
            longest.apply(&mut session, Command::SetMethod(method));
            longest.apply(&mut session, Command::SetJointAngles { joint: 1, degrees: [0.0, 0.0, 30.0] });
            (0..30).for_each(|_| longest.frame(&mut session));
            while !session.jobs().is_empty() {
                longest.frame(&mut session);
            }
        }
        longest.apply(&mut session, Command::TogglePlaying);
        (0..60).for_each(|_| longest.frame(&mut session));
        longest.apply(&mut session, Command::Undo);
        longest.apply(&mut session, Command::Redo);
        longest.frame(&mut session);
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        println!(
            "{title:<32} opened in {:5.1} s   longest tick {:6.2} ms   command {:6.2} ms   look {:6.2} ms",
            opened.as_secs_f64(),
            ms(longest.tick),
            ms(longest.apply),
            ms(longest.snapshot)
        );
        for message in session.messages() {
            println!("    {message}");
        }
    }
}
