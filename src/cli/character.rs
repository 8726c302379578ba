//! Opening the character of a verb.

use std::sync::Arc;

use super::options::{CharacterOptions, Options};
use super::{CommandResult, Failure, stderr};
use crate::character::{Note, Severity};
use crate::gpu::GpuContext;
use crate::gpu::actor::{DeviceDecision, decide_device};
use crate::io::Reach;
use crate::methods::{Actor, MethodId, Subject};
use crate::session::{DeviceChoice, ProjectState, Source, is_project, open_with, project_state};

impl CharacterOptions {
    /// The given source, or the default character.
    pub(super) fn source(&self, options: &Options) -> Source {
        Source {
            bone_radii: self.bone_radius.clone(),
            bones: self.bone.clone(),
            muscles: self.muscle.clone(),
            parts: self.part.clone(),
            metres_per_unit: self.unit,
            sim_vertices: options.sim_vertices.unwrap_or_default(),
            flesh_base: options.flesh_base(),
            mapping: self.mapping.clone(),
            map: self.map.clone(),
            reach: if self.parent_folder {
                Reach::ParentFolder
            } else {
                Reach::OwnFolder
            },
            ..Source::of_files(self.files.clone())
        }
    }

    /// The given source; none is wrong usage here.
    pub(super) fn required(&self, options: &Options) -> Result<Source, Failure> {
        if self.files.is_empty() {
            let sentence = "name a character: a file such as character.glb, or a built-in one such as builtin:mannequin";
            return Err(Failure::Usage(sentence.to_owned()));
        }
        Ok(self.source(options))
    }

    /// Reads the character and reports repairs on stderr.
    pub(super) fn open(&self, options: &Options) -> Result<Arc<Subject>, Failure> {
        let source = self.required(options)?;
        let subject = stderr::with_progress(options, "Opening", |progress| {
            open_with(&source, &options.cache(), progress)
        })?;
        print_notes(&subject.character.notes, options);
        Ok(subject)
    }

    /// The given project, if there is one.
    pub(super) fn project(&self) -> Option<&std::path::PathBuf> {
        self.files.iter().find(|path| is_project(path))
    }

    /// The display settings of the given project, if there is one.
    pub(super) fn saved(
        &self,
        subject: &Subject,
        options: &Options,
    ) -> Result<Option<ProjectState>, Failure> {
        Ok(self
            .project()
            .map(|path| project_state(path, subject, &options.cache()))
            .transpose()?)
    }
}

/// Reports repairs on stderr, and with `-v` all other findings.
pub(super) fn print_notes(notes: &[Note], options: &Options) {
    let least = if options.verbose > 0 {
        Severity::Info
    } else {
        Severity::Mended
    };
    for note in notes
        .iter()
        .filter(|note| note.severity >= least && !options.quiet)
    {
        stderr::line(&format!("note: {}", note.text));
    }
}

/// Binds a method and reports repairs of the flesh, once per character.
pub(super) fn bind(
    subject: &Arc<Subject>,
    method: MethodId,
    options: &Options,
) -> Result<Actor, Failure> {
    let params = options.params_for(subject);
    let values = options.values_for(method)?;
    let is_first = subject.flesh_if_made().is_none();
    let bound = stderr::with_progress(options, "Binding", |progress| {
        Actor::bind_with(subject, method, &params, &values, progress)
    });
    let mut actor = bound.map_err(|error| {
        Failure::Undone(format!(
            "{}: {} can't be used: {error}",
            subject.character.name,
            method.id()
        ))
    })?;
    if let (true, Some(Ok(flesh))) = (is_first, subject.flesh_if_made()) {
        print_notes(&flesh.tissue.notes, options);
    }
    if options.device == Some(DeviceChoice::Gpu) {
        move_to_gpu(&mut actor, options)?;
    }
    Ok(actor)
}

/// Moves the actor to the graphics device, as requested.
fn move_to_gpu(actor: &mut Actor, options: &Options) -> CommandResult {
    let gpu = stderr::without_wayland_errors(GpuContext::headless)
        .map_err(|error| Failure::Undone(format!("--device gpu: {error}")))?;
    let DeviceDecision { device, why, .. } = decide_device(DeviceChoice::Gpu, Ok(&gpu), actor);
    let Some(device) = device else {
        return Err(Failure::Undone(format!("--device gpu: {why}")));
    };
    device.give_to(actor);
    if options.verbose > 0 {
        stderr::line(&format!("note: {why}"));
    }
    Ok(())
}
