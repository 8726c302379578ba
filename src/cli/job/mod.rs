//! `sinew job`: a template of Open Job Description, by which a render farm bakes characters × methods × clips.
//!
//! The template is for the revision `2023-09`, as `openjd run` and Deadline Cloud take it: its folder is a job bundle. A step bakes a
//! character, with a task for each method and clip, or part of a clip; another one, after it, compares the methods. Parts are simulated from
//! the clip's start or with a pre-roll, and a last step measures their seams. The bundle has copies of all files of a character: defaults of
//! paths must lie in it, and whoever gets the bundle can run it.

mod parts;

use std::path::{Path, PathBuf};

use clap::Args;
use serde_json::{Value, json};

use self::parts::Part;
use super::folder::make_folder;
use super::options::{CharacterOptions, Options, parse_method};
use super::{CommandResult, Failure, print_json, stderr};
use crate::files::safe_name;
use crate::io::{recorded, write_atomically};
use crate::methods::MethodId;
use crate::session::BakeFormat;

/// Most letters of a character's name; a step's name has at most 64.
const LONGEST_NAME: usize = 50;

/// Options of the verb.
#[derive(Debug, Args)]
pub(super) struct JobVerb {
    /// Characters, each a file (.glb .fbx …) or builtin:NAME. Motions (.bvh .anim), skeletons and weights go with every one of them.
    #[arg(value_name = "FILE", required = true)]
    files: Vec<PathBuf>,
    /// Methods, a task for each and every clip.
    #[arg(long, value_name = "M,M…", value_delimiter = ',', value_parser = parse_method, required = true)]
    methods: Vec<MethodId>,
    /// Clips, by name or index, or all; a character without clips is baked at rest.
    #[arg(
        long,
        value_name = "all|NAME,…",
        value_delimiter = ',',
        default_value = "all"
    )]
    clips: Vec<String>,
    /// What is baked: an extension of `sinew bake -o`.
    #[arg(long, value_name = "EXTENSION", default_value = "pc2")]
    format: String,
    /// Split clips into parts of N frames, a task and a file for each; a last step measures how far they are apart where they meet
    /// [default: a clip is one task].
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    chunk: Option<u32>,
    /// With --chunk: simulate only N frames before a part, beginning at rest [default: all frames from the clip's start, so that parts
    /// meet exactly].
    #[arg(long, value_name = "N", requires = "chunk", value_parser = clap::value_parser!(u32).range(1..))]
    pre_roll: Option<u32>,
    /// Folder of the bundle, which is made: template.json is written there.
    #[arg(help_heading = "Output", short, long, value_name = "FOLDER")]
    output: PathBuf,
    /// Print the template, too.
    #[arg(help_heading = "Output", long)]
    json: bool,
    /// Further options of each `sinew bake`, after --.
    #[arg(last = true, value_name = "OPTION")]
    more: Vec<String>,
}

/// What is baked of a character.
struct Baked {
    name: String,
    files: Vec<PathBuf>,
    /// All files that were read, with those that the others refer to.
    read: Vec<PathBuf>,
    /// Indices of clips.
    clips: Vec<usize>,
    /// The parts of all clips, if they are split.
    parts: Vec<Part>,
}

impl JobVerb {
    pub(super) fn run(&self, options: &Options) -> CommandResult {
        if BakeFormat::of_path(Path::new(&format!("x.{}", self.format))).is_none() {
            return Err(Failure::Usage(format!(
                "--format {}: there are glb, usda, usdc, pc2, mdd, obj, ply, npz and json",
                self.format
            )));
        }
        let characters = super::bake::characters_of(&self.files);
        if characters.is_empty() {
            return Err(Failure::Usage(
                "name at least one character beside motions, skeletons and weights".to_owned(),
            ));
        }
        let mut baked: Vec<Baked> = Vec::new();
        for files in characters {
            let one = self.character(files, options)?;
            if baked.iter().any(|other| other.name == one.name) {
                return Err(Failure::Undone(format!(
                    "two characters are called {}; rename the file of one",
                    one.name
                )));
            }
            baked.push(one);
        }
        let template = self.template(&baked)?;
        make_folder(&self.output)?;
        for character in &baked {
            self.copy_files(character)?;
        }
        let path = self.output.join("template.json");
        let text = serde_json::to_string_pretty(&template)?;
        write_atomically(&path, |out| std::io::Write::write_all(out, text.as_bytes()))?;
        if self.json {
            print_json(&template)?;
        } else if !options.quiet {
            stderr::line(&format!("wrote {}", path.display()));
        }
        Ok(())
    }

    fn character(&self, files: Vec<PathBuf>, options: &Options) -> Result<Baked, Failure> {
        let opened = CharacterOptions {
            files: files.clone(),
            ..CharacterOptions::default()
        };
        let (opened, read) = recorded(|| opened.open(options));
        let opened = opened?;
        let character = &opened.character;
        let clips: Vec<usize> = if self.clips == ["all"] {
            (0..character.clips.len()).collect()
        } else {
            let find = |wanted: &String| super::pose::find_clip(character, wanted);
            self.clips.iter().map(find).collect::<Result<_, _>>()?
        };
        let parts = self.parts(&files, character, &clips)?;
        Ok(Baked {
            name: (safe_name(&character.name).chars())
                .take(LONGEST_NAME)
                .collect(),
            files,
            read: read.into_iter().map(|file| file.path).collect(),
            clips,
            parts,
        })
    }

    /// Copies the files of a character into a folder of its name.
    fn copy_files(&self, character: &Baked) -> CommandResult {
        let mut copied: Vec<(PathBuf, &Path)> = Vec::new();
        for file in &character.read {
            let to = self.output.join(character.place_of(file)?);
            if let Some((_, other)) = copied.iter().find(|(known, _)| *known == to) {
                if *other != file {
                    return Err(Failure::Undone(format!(
                        "{} and {} have one name in the bundle; rename one",
                        other.display(),
                        file.display()
                    )));
                }
                continue;
            }
            if let Some(folder) = to.parent() {
                make_folder(folder)?;
            }
            let failed = |error| {
                let (from, to) = (file.display(), to.display());
                Failure::Undone(format!("{from} can't be copied to {to}: {error}"))
            };
            std::fs::copy(file, &to).map_err(failed)?;
            copied.push((to, file));
        }
        Ok(())
    }

    fn template(&self, characters: &[Baked]) -> Result<Value, Failure> {
        let mut parameters = vec![
            json!({"name": "Sinew", "type": "STRING", "default": "sinew", "description": "The program on the machines that work."}),
            json!({
                "name": "OutputFolder", "type": "PATH", "objectType": "DIRECTORY", "dataFlow": "OUT", "default": "results",
                "description": "Where the results are written.",
            }),
        ];
        let mut steps = Vec::new();
        for (number, character) in (1..).zip(characters) {
            let mut files = Vec::new();
            for (index, file) in (1..).zip(&character.files) {
                let text = file.to_str().ok_or_else(|| {
                    Failure::Undone(format!("{}: the name is not Unicode", file.display()))
                })?;
                if text.starts_with("builtin:") {
                    files.push(text.to_owned());
                    continue;
                }
                let name = format!("Character{number}File{index}");
                let place = character.place_of(&std::path::absolute(file)?)?;
                let place = place.to_string_lossy().replace('\\', "/");
                parameters.push(json!({
                    "name": name, "type": "PATH", "objectType": "FILE", "dataFlow": "IN", "default": place,
                    "description": format!("A file of the character {}.", character.name),
                }));
                files.push(format!("{{{{Param.{name}}}}}"));
            }
            let bake = character.bake_name();
            steps.push(self.bake_step(&bake, character, &files));
            steps.push(self.report_step(&bake, character, &files));
        }
        steps.extend(seams_step(characters));
        let names: Vec<&str> = characters.iter().map(|one| one.name.as_str()).collect();
        let title: String = format!("Sinew: {}", names.join(", "));
        Ok(json!({
            "specificationVersion": "jobtemplate-2023-09",
            "name": title.chars().take(128).collect::<String>(),
            "parameterDefinitions": parameters,
            "steps": steps,
        }))
    }

    /// A task for each method and clip.
    fn bake_step(&self, name: &str, character: &Baked, files: &[String]) -> Value {
        let methods: Vec<String> = self.methods.iter().map(ToString::to_string).collect();
        let mut space = vec![json!({"name": "Method", "type": "STRING", "range": methods})];
        let mut words = vec!["bake".to_owned()];
        words.extend_from_slice(files);
        // The form for several outputs makes the folder.
        words.extend(["--openjd", "--methods", "{{Task.Param.Method}}"].map(str::to_owned));
        let mut stem = format!("{}_{{{{Task.Param.Method}}}}", character.name);
        if character.clips.is_empty() {
            words.push("--settle".to_owned());
        } else {
            let clips: Vec<String> = if character.parts.is_empty() {
                character.clips.iter().map(usize::to_string).collect()
            } else {
                (character.parts.iter())
                    .map(|part| part.clip.to_string())
                    .collect()
            };
            space.push(json!({"name": "Clip", "type": "STRING", "range": clips}));
            words.extend(["--clips", "{{Task.Param.Clip}}"].map(str::to_owned));
            stem.push_str("_{{Task.Param.Clip}}");
        }
        let mut of_tasks = serde_json::Map::new();
        if character.parts.is_empty() {
            words.extend_from_slice(&self.more);
        } else {
            let frames: Vec<String> = character.parts.iter().map(Part::frames).collect();
            space.push(json!({"name": "Frames", "type": "STRING", "range": frames}));
            of_tasks.insert("combination".to_owned(), "Method * (Clip, Frames)".into());
            stem.push_str("_{{Task.Param.Frames}}");
            words.extend(parts::without_frames(&self.more));
            words.extend(["--frames", "{{Task.Param.Frames}}", "--seam"].map(str::to_owned));
            let pre_roll = self.pre_roll.map(|frames| frames.to_string());
            words.extend(
                pre_roll
                    .into_iter()
                    .flat_map(|n| ["--pre-roll".to_owned(), n]),
            );
        }
        let output = format!("{{{{Param.OutputFolder}}}}/{stem}.{}", self.format);
        words.extend(["-o".to_owned(), output]);
        of_tasks.insert("taskParameterDefinitions".to_owned(), space.into());
        json!({
            "name": name,
            "parameterSpace": of_tasks,
            "script": script(&words),
        })
    }

    /// A comparison of the methods, after all tasks of the character.
    fn report_step(&self, after: &str, character: &Baked, files: &[String]) -> Value {
        let methods: Vec<String> = self.methods.iter().map(ToString::to_string).collect();
        let mut words = vec!["compare".to_owned()];
        words.extend_from_slice(files);
        let output = format!("{{{{Param.OutputFolder}}}}/{}.html", character.name);
        words.extend(["--openjd", "--no-pictures", "--methods"].map(str::to_owned));
        words.extend([methods.join(","), "-o".to_owned(), output]);
        json!({
            "name": format!("Report {}", character.name),
            "dependencies": [{"dependsOn": after}],
            "script": script(&words),
        })
    }
}

impl Baked {
    /// Name of the step that bakes it.
    fn bake_name(&self) -> String {
        format!("Bake {}", self.name)
    }

    /// Where a file is in the bundle: below a folder of the character's name as it is below the folder of the file that refers to it.
    fn place_of(&self, file: &Path) -> std::io::Result<PathBuf> {
        let mut inside = None;
        for given in &self.files {
            let given = std::path::absolute(given)?;
            let folder = given.parent().unwrap_or(&given);
            if let Ok(rest) = file.strip_prefix(folder) {
                inside = Some(rest.to_owned());
                break;
            }
        }
        let own = inside.or_else(|| file.file_name().map(PathBuf::from));
        Ok(Path::new(&self.name).join(own.unwrap_or_default()))
    }
}

/// Measures the seams, after all bakes that have parts.
fn seams_step(characters: &[Baked]) -> Option<Value> {
    let with_parts = characters.iter().filter(|one| !one.parts.is_empty());
    let after: Vec<Value> = with_parts
        .map(|one| json!({"dependsOn": one.bake_name()}))
        .collect();
    let words = ["seams", "{{Param.OutputFolder}}"].map(str::to_owned);
    let is_needed = !after.is_empty();
    is_needed.then(|| json!({"name": "Seams", "dependencies": after, "script": script(&words)}))
}

fn script(words: &[String]) -> Value {
    json!({"actions": {"onRun": {"command": "{{Param.Sinew}}", "args": words}}})
}
