//! Stages that several threads ask for at once.

use std::sync::Arc;

use sinew::io::builtin::load_builtin;
use sinew::methods::Subject;
use sinew::progress::Progress;

/// Several characters are made at once, each by several threads: a worker of the thread pool that waits for a stage of which it computes
/// a part would wait for ever.
#[test]
fn many_threads_may_ask_for_the_same_flesh() {
    for _ in 0..12 {
        let subject = |name: &&str| {
            let character = Arc::new(load_builtin(name).expect("built in"));
            Arc::new(Subject::build(character, &Progress::new()).expect("builds"))
        };
        let subjects: Vec<Arc<Subject>> =
            ["cylinder", "arm", "gecko"].iter().map(subject).collect();
        std::thread::scope(|scope| {
            for subject in subjects.iter().cycle().take(9) {
                scope.spawn(move || {
                    subject
                        .make_flesh(&Progress::new())
                        .expect("is not cancelled");
                    assert!(subject.is_flesh_made());
                });
            }
        });
    }
}
