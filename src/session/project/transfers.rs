//! Weights that are transferred from files: `transfer:FILE` in a project, FILE relative to the project's folder where that is possible.

use std::path::{Path, PathBuf};

use super::ProjectError;
use super::file::{ProjectFile, ViewPart};
use super::paths::{self, Refer};
use crate::progress::Progress;
use crate::weights::WeightMethod;

/// Reads the files of all transfers, so that their ids are known, and puts the ids that they have got into the views. Views with a
/// transfer that cannot be made use the file's weights; the sentences say why.
pub(super) fn load(
    file: &mut ProjectFile,
    folder: Option<&Path>,
    progress: &Progress,
) -> Vec<String> {
    let mut notes = Vec::new();
    for part in &mut file.views {
        let Some(named) = part
            .weights
            .as_deref()
            .and_then(WeightMethod::transfer_file)
        else {
            continue;
        };
        let path = PathBuf::from(named);
        let path = match folder {
            Some(folder) if !paths::is_builtin(&path) => folder.join(path),
            _ => path,
        };
        part.weights = match crate::transfer_weights(&path, &progress.silent()) {
            Ok(method) => Some(method.id().to_owned()),
            Err(error) => {
                let note = format!(
                    "{error}: views with weights transferred from it show those of the file."
                );
                if !notes.contains(&note) {
                    notes.push(note);
                }
                None
            }
        };
    }
    notes
}

/// Lets a view refer to its transfer's file as the project's other references do.
pub(super) fn refer(part: &mut ViewPart, refer: Refer<'_>) -> Result<(), ProjectError> {
    if let Some(named) = part
        .weights
        .as_deref()
        .and_then(WeightMethod::transfer_file)
    {
        let reference = refer(Path::new(named))?;
        part.weights = Some(format!("transfer:{}", reference.path));
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(weights: &str) -> ProjectFile {
        let text = format!(
            "{{\"format\": \"sinew\", \"version\": 1, \"character\": {{\"files\": []}}, \"views\": [{{\"id\": 0, \"method\": \"lbs\", \"weights\": \"{weights}\"}}]}}"
        );
        serde_json::from_str(&text).unwrap()
    }

    #[test]
    fn a_transfer_is_read_with_the_project_and_a_missing_one_is_noted() {
        let progress = Progress::new();
        let mut known = file("transfer:builtin:cylinder");
        assert_eq!(
            load(&mut known, Some(Path::new("/none")), &progress),
            [""; 0]
        );
        let below = |folder: &'static str| {
            move |path: &Path| paths::refer(path, &[], Some(Path::new(folder)))
        };
        let id = known.views[0].weights.clone().unwrap();
        assert!(WeightMethod::from_id(&id).is_ok());
        refer(&mut known.views[0], &below("/none")).unwrap();
        assert_eq!(
            known.views[0].weights.as_deref(),
            Some("transfer:builtin:cylinder")
        );

        let mut missing = file("transfer:cloth/coat.glb");
        let notes = load(&mut missing, Some(Path::new("/none/project")), &progress);
        assert!(
            notes.len() == 1 && notes[0].contains("coat.glb"),
            "{notes:?}"
        );
        assert_eq!(missing.views[0].weights, None);
        let mut far = file("transfer:/none/cloth/coat.glb").views.remove(0);
        refer(&mut far, &below("/none/project")).unwrap();
        assert_eq!(far.weights.as_deref(), Some("transfer:../cloth/coat.glb"));
    }
}
