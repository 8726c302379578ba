//! Many outputs by one command: characters × methods × clips.

use std::collections::HashSet;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::{Bake, Report};
use crate::cli::folder::make_folder;
use crate::cli::options::{CharacterOptions, Options};
use crate::cli::{CommandResult, Failure, print_json, stderr};
use crate::files::safe_name;
use crate::methods::{MethodId, Subject};
use crate::session::is_companion;

/// What the name of the character replaces.
pub(super) const CHARACTER: &str = "{character}";
/// What is replaced in the name of an output.
const PLACES: [&str; 3] = [CHARACTER, "{method}", "{clip}"];

/// What was baked, and what could not be.
#[derive(Default)]
struct Outcome {
    reports: Vec<Report>,
    failed: usize,
    written: HashSet<PathBuf>,
}

impl Bake {
    /// Whether there are several outputs.
    pub(super) fn is_batch(&self) -> bool {
        let name = self.output.as_deref().map(Path::to_string_lossy);
        let has_place = name.is_some_and(|name| PLACES.iter().any(|place| name.contains(place)));
        has_place || !self.methods.is_empty() || !self.clips.is_empty()
    }

    /// Bakes everything; what fails is said, and the rest goes on.
    pub(super) fn batch(&self, options: &Options) -> CommandResult {
        let template = self.template()?;
        let characters = characters(&self.character.files, &template);
        if characters.is_empty() {
            self.character.required(options)?;
        }
        let mut outcome = Outcome::default();
        for files in characters {
            let character = CharacterOptions {
                files,
                ..self.character.clone()
            };
            match character.open(options) {
                Ok(subject) => {
                    self.outputs(&character, &subject, &template, &mut outcome, options)?;
                }
                Err(failure) => outcome.fail(failure)?,
            }
        }
        if self.json {
            print_json(&outcome.reports)?;
        }
        if outcome.failed > 0 {
            let all = outcome.failed + outcome.reports.len();
            return Err(Failure::Undone(format!(
                "{} of {all} could not be baked; the reasons are above",
                outcome.failed
            )));
        }
        Ok(())
    }

    /// All outputs of a character.
    fn outputs(
        &self,
        character: &CharacterOptions,
        subject: &Arc<Subject>,
        template: &str,
        outcome: &mut Outcome,
        options: &Options,
    ) -> CommandResult {
        let name = &subject.character.name;
        let clips = match self.clips_of(subject) {
            Ok(clips) => clips,
            Err(failure) => return outcome.fail(failure),
        };
        let methods: Vec<Option<MethodId>> = if self.methods.is_empty() {
            vec![self.method]
        } else {
            self.methods.iter().copied().map(Some).collect()
        };
        for (method, clip) in methods
            .iter()
            .flat_map(|&method| clips.iter().map(move |clip| (method, clip)))
        {
            let clip_name = clip.as_ref().map_or("pose", |(_, name)| name);
            let method_name = method.map_or_else(String::new, |method| method.to_string());
            let values = [name.as_str(), method_name.as_str(), clip_name];
            let output = PathBuf::from(filled(template, values));
            if !outcome.written.insert(output.clone()) {
                return Err(Failure::Usage(format!(
                    "{} would be written twice; put {} into the name of the output",
                    output.display(),
                    PLACES.join(", ")
                )));
            }
            let mut one = self.clone();
            one.character = character.clone();
            one.method = method;
            if let Some((selector, _)) = clip {
                one.pose.clip = Some(selector.clone());
            }
            one.output = Some(output);
            match one.in_folder(subject, options) {
                Ok(report) => outcome.reports.push(report),
                Err(failure) => outcome.fail(failure)?,
            }
        }
        Ok(())
    }

    /// One output, whose folder is made.
    fn in_folder(&self, subject: &Arc<Subject>, options: &Options) -> Result<Report, Failure> {
        let folder = self.output.as_deref().and_then(Path::parent);
        if let Some(folder) = folder.filter(|folder| !folder.as_os_str().is_empty()) {
            make_folder(folder)?;
        }
        self.check(self.output.as_deref())?;
        self.on(subject, options)
    }

    fn template(&self) -> Result<String, Failure> {
        let output = self.output.as_deref().ok_or_else(|| {
            Failure::Usage("several outputs need -o with a name, as in -o 'out/{character}_{method}_{clip}.pc2'".to_owned())
        })?;
        let template = output.to_str().ok_or_else(|| {
            Failure::Usage(format!("{}: the name is not Unicode", output.display()))
        })?;
        for (place, count) in PLACES[1..]
            .iter()
            .zip([self.methods.len(), self.clips.len()])
        {
            if count > 1 && !template.contains(place) {
                return Err(Failure::Usage(format!(
                    "several outputs need {place} in the name of -o, as in -o 'out/{{character}}_{{method}}_{{clip}}.pc2'"
                )));
            }
        }
        Ok(template.to_owned())
    }

    /// Selector and name of each clip; one `None` for the pose of the other options.
    fn clips_of(&self, subject: &Subject) -> Result<Vec<Option<(String, String)>>, Failure> {
        let clips = &subject.character.clips;
        let named = |index: usize| Some((index.to_string(), clips[index].name.clone()));
        if self.clips == ["all"] {
            if clips.is_empty() {
                return Err(Failure::Undone(format!(
                    "{}: there are no clips",
                    subject.character.name
                )));
            }
            return Ok((0..clips.len()).map(named).collect());
        }
        if self.clips.is_empty() {
            let clip = self.pose.clip.clone();
            return Ok(vec![clip.map(|clip| (clip.clone(), clip))]);
        }
        let found = self
            .clips
            .iter()
            .map(|wanted| crate::cli::pose::find_clip(&subject.character, wanted).map(named));
        found.collect()
    }
}

impl Outcome {
    /// Says why one could not be baked; wrong usage would be wrong for all.
    fn fail(&mut self, failure: Failure) -> CommandResult {
        match failure {
            Failure::Usage(_) => Err(failure),
            Failure::Undone(sentence) => {
                self.failed += 1;
                stderr::line(&format!("error: {sentence}"));
                Ok(())
            }
        }
    }
}

/// The files of each character.
pub(super) fn characters(files: &[PathBuf], template: &str) -> Vec<Vec<PathBuf>> {
    if !template.contains(CHARACTER) {
        return if files.is_empty() {
            Vec::new()
        } else {
            vec![files.to_vec()]
        };
    }
    let (companions, own): (Vec<&PathBuf>, Vec<&PathBuf>) =
        files.iter().partition(|file| is_companion(file));
    let with = |character: &PathBuf| {
        let files = std::iter::once(character).chain(companions.iter().copied());
        files.cloned().collect()
    };
    own.into_iter().map(with).collect()
}

/// The name of an output: names of characters, methods and clips cannot lead to other folders.
fn filled(template: &str, values: [&str; 3]) -> String {
    // All at once: a name may look like a place.
    let mut rest = template;
    let mut out = String::new();
    while let Some(at) = rest.find('{') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        let place = PLACES.iter().position(|place| rest.starts_with(place));
        let length = place.map_or(1, |place| PLACES[place].len());
        match place {
            Some(place) => out.push_str(&safe_name(values[place])),
            None => out.push('{'),
        }
        rest = &rest[length..];
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_filled_once_and_safely() {
        let name = filled(
            "o/{character}_{method}-{clip}{x}.pc2",
            ["{clip}", "lbs", "../walk"],
        );
        assert_eq!(name, "o/_clip__lbs-_walk{x}.pc2");
    }

    #[test]
    fn motions_go_with_every_character() {
        let files = ["a.glb", "walk.BVH", "b.fbx"].map(PathBuf::from);
        let each = characters(&files, "{character}.pc2");
        assert_eq!(
            each,
            [["a.glb", "walk.BVH"], ["b.fbx", "walk.BVH"]]
                .map(|files| files.map(PathBuf::from).to_vec())
        );
        assert_eq!(characters(&files, "x.pc2"), [files.to_vec()]);
    }
}
