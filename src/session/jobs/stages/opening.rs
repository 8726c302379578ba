//! Opening: characters and motions are read in the background.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::Stages;
use super::making::{Opened, Opening, add_and_bind, open_and_bind};
use crate::progress::Progress;
use crate::session::job::{Job, Outcome};
use crate::session::jobs::Around;
use crate::session::{Answer, Level, OpenError, Source};

/// What came of reading.
pub(in crate::session) enum Reading {
    /// It is done.
    Done(Box<Result<Opened, OpenError>>),
    /// The thread ended without a result.
    Lost,
}

impl Stages {
    /// Starts reading a character; a reading under way is given up. `answers` say what to do about files of a project that are not
    /// what they were.
    pub(in crate::session) fn start_opening(
        &mut self,
        source: Source,
        answers: BTreeMap<usize, Answer>,
        around: &mut Around<'_>,
    ) {
        around.messages.clear();
        self.asked = Some((source.clone(), answers.clone()));
        let (method, params) = (around.views.active().method, around.document.params);
        let title = format!("Opening {}", source.title());
        let opening = Opening {
            source,
            cache: self.cache.clone(),
            answers,
        };
        let work = move |progress: &Progress| open_and_bind(opening, method, &params, progress);
        self.read(title, work, around);
    }

    /// Starts reading motions for the open character; a reading under way is given up.
    pub(in crate::session) fn start_adding(
        &mut self,
        files: Vec<PathBuf>,
        around: &mut Around<'_>,
    ) {
        let mut source = around.document.source.clone();
        source.files.extend(files.iter().cloned());
        let Some(subject) = around.document.subject.clone() else {
            return self.start_opening(source, BTreeMap::new(), around);
        };
        if files.is_empty() {
            return;
        }
        around.messages.clear();
        let (method, params) = (around.views.active().method, around.document.params);
        let title = format!(
            "Adding {}",
            Source {
                files: files.clone(),
                ..Source::default()
            }
            .title()
        );
        let only_motions = files.iter().all(|file| {
            file.extension()
                .is_some_and(|ending| ending.eq_ignore_ascii_case("bvh"))
        });
        let opening = Opening {
            source: source.clone(),
            cache: self.cache.clone(),
            answers: BTreeMap::new(),
        };
        let work = move |progress: &Progress| {
            if only_motions {
                return add_and_bind(&subject, source, &files, method, &params, progress);
            }
            // What else belongs to a character can only be understood together with all the rest of it.
            open_and_bind(opening, method, &params, progress).map(|opened| Opened {
                continues: true,
                ..opened
            })
        };
        self.read(title, work, around);
    }

    fn read(
        &mut self,
        title: String,
        work: impl FnOnce(&Progress) -> Result<Opened, OpenError> + Send + 'static,
        around: &mut Around<'_>,
    ) {
        match Job::start(title, around.waker.cloned(), work) {
            Ok(job) => self.opening = Some(job),
            Err(error) => around.tell(
                Level::Error,
                format!("No thread could be started to read the files: {error}."),
            ),
        }
    }

    /// What has been read, once it has.
    pub(in crate::session) fn take_opened(&mut self) -> Option<Reading> {
        let reading = match self.opening.as_ref()?.poll() {
            Outcome::Running => return None,
            Outcome::Done(opened) => Reading::Done(Box::new(opened)),
            Outcome::Lost => Reading::Lost,
        };
        self.opening = None;
        Some(reading)
    }

    /// What the last opening was asked for; once.
    pub(in crate::session) fn take_asked(&mut self) -> Option<(Source, BTreeMap<usize, Answer>)> {
        self.asked.take()
    }
}
