//! Opening: characters and motions are read in the background.

use std::collections::BTreeMap;
use std::path::PathBuf;

use super::DerivedStages;
use super::making::{Opened, Opening, add_and_bind, open_and_bind};
use crate::progress::Progress;
use crate::session::job::{Job, JobState};
use crate::session::jobs::JobContext;
use crate::session::{Answer, Level, Source, SourceError};

/// Result of reading.
pub(in crate::session) enum Reading {
    /// Success.
    Done(Box<Result<Opened, SourceError>>),
    /// The thread ended without a result.
    Lost,
}

impl DerivedStages {
    /// Starts reading a character and cancels a reading in progress. `answers`: what to do about files of a project that are
    /// missing or changed.
    pub(in crate::session) fn start_opening(
        &mut self,
        source: Source,
        answers: BTreeMap<usize, Answer>,
        context: &mut JobContext<'_>,
    ) {
        context.messages.clear();
        self.asked = Some((source.clone(), answers.clone()));
        let (method, params) = (context.views.active().method, context.document.params);
        let title = format!("Opening {}", source.title());
        let opening = Opening {
            source,
            cache: self.cache.clone(),
            answers,
        };
        let work = move |progress: &Progress| open_and_bind(opening, method, &params, progress);
        self.read(title, work, context);
    }

    /// Starts reading motions for the open character and cancels a reading in progress.
    pub(in crate::session) fn start_adding(
        &mut self,
        files: Vec<PathBuf>,
        context: &mut JobContext<'_>,
    ) {
        let mut source = context.document.source.clone();
        source.files.extend(files.iter().cloned());
        let Some(subject) = context.document.subject.clone() else {
            return self.start_opening(source, BTreeMap::new(), context);
        };
        if files.is_empty() {
            return;
        }
        context.messages.clear();
        let (method, params) = (context.views.active().method, context.document.params);
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
            // Other files can only be interpreted together with all files of the character.
            open_and_bind(opening, method, &params, progress).map(|opened| Opened {
                continues: true,
                ..opened
            })
        };
        self.read(title, work, context);
    }

    fn read(
        &mut self,
        title: String,
        work: impl FnOnce(&Progress) -> Result<Opened, SourceError> + Send + 'static,
        context: &mut JobContext<'_>,
    ) {
        match Job::start(title, context.waker.cloned(), work) {
            Ok(job) => self.opening = Some(job),
            Err(error) => context.add_message(
                Level::Error,
                format!("No thread could be started to read the files: {error}."),
            ),
        }
    }

    /// The result of reading, once it is ready.
    pub(in crate::session) fn take_opened(&mut self) -> Option<Reading> {
        let reading = match self.opening.as_ref()?.poll() {
            JobState::Running => return None,
            JobState::Done(opened) => Reading::Done(Box::new(opened)),
            JobState::Lost => Reading::Lost,
        };
        self.opening = None;
        Some(reading)
    }

    /// Takes the last opening request.
    pub(in crate::session) fn take_asked(&mut self) -> Option<(Source, BTreeMap<usize, Answer>)> {
        self.asked.take()
    }
}
