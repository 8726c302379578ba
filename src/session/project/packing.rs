//! What goes into a packed project: its content and all files, under names that can be unpacked.

use std::path::{Path, PathBuf};

use super::archive_names::{SourceFile, names_of};
use super::convert::file_of;
use super::file::FileRef;
use super::text::to_text;
use super::{Contents, ProjectError, paths};
use crate::io::{self, FileRead, read_file, recorded};
use crate::progress::Progress;
use crate::weights::WeightMethod;

/// Everything to pack.
pub(super) struct Packed {
    /// The project's text.
    pub text: String,
    /// Names in the archive and contents.
    pub files: Vec<(String, Vec<u8>)>,
    /// Sentences for the user.
    pub notes: Vec<String>,
}

/// Reads all files of a document. Nothing is written.
///
/// # Errors
/// If a file can't be read, or has no name in the archive under which it could be unpacked.
pub(super) fn collect(contents: &Contents, progress: &Progress) -> Result<Packed, ProjectError> {
    let (sources, known) = sources_of(contents, progress)?;
    let names = names_of(&sources).map_err(|(at, problem)| ProjectError::NotPackable {
        file: shown(&sources[at].path),
        problem,
    })?;
    let (mut files, mut notes) = (Vec::with_capacity(names.len()), Vec::new());
    for (source, name) in sources.iter().zip(&names) {
        progress
            .check()
            .map_err(|cancelled| ProjectError::Write(io::IoError::Cancelled(cancelled)))?;
        let bytes = read_file(&source.path).map_err(|error| ProjectError::Read {
            file: shown(&source.path),
            source: error,
        })?;
        let before = known.iter().find(|file| file.path == source.path);
        if before.is_some_and(|before| blake3::hash(&bytes) != before.hash) {
            notes.push(format!(
                "{} has changed since it was opened; it was packed with its present content.",
                shown(&source.path)
            ));
        }
        files.push((name.clone(), bytes));
    }
    let refer = |path: &Path| {
        if paths::is_builtin(path) {
            return paths::refer(path, &[], None);
        }
        let path = absolute(path);
        let at = sources.iter().position(|source| source.path == path);
        let (name, bytes) = &files[at.ok_or_else(|| ProjectError::Read {
            file: shown(&path),
            source: std::io::ErrorKind::NotFound.into(),
        })?];
        Ok(FileRef {
            path: name.clone(),
            path_bytes: None,
            absolute: None,
            blake3: Some(blake3::hash(bytes).to_hex().to_string()),
            bytes: Some(bytes.len() as u64),
        })
    };
    let text = to_text(&file_of(contents, &refer)?)?;
    Ok(Packed { text, files, notes })
}

/// All files that the document refers to, each once: those of the character and those that weights
/// are transferred from. Also those that were read when the character was opened.
fn sources_of(
    contents: &Contents,
    progress: &Progress,
) -> Result<(Vec<SourceFile>, Vec<FileRead>), ProjectError> {
    let document = &contents.document;
    let named = document.source.files.iter().chain(&document.source.mapping);
    let mut given: Vec<PathBuf> = named
        .filter(|path| !paths::is_builtin(path))
        .map(|path| absolute(path))
        .collect();
    let mut all: Vec<PathBuf> = document
        .files_read
        .iter()
        .map(|file| file.path.clone())
        .collect();
    let views = contents.views.list().iter();
    let transfers = views.filter_map(|view| WeightMethod::transfer_file(view.weights.id()));
    for transfer in transfers.map(Path::new) {
        if paths::is_builtin(transfer) || given.contains(&absolute(transfer)) {
            continue;
        }
        // The files that it refers to are not known otherwise.
        let load = || io::load(&[transfer.to_owned()], &progress.silent());
        let (loaded, read) = recorded(load);
        loaded.map_err(ProjectError::Write)?;
        given.push(absolute(transfer));
        all.extend(read.into_iter().map(|file| file.path));
    }
    all.extend(given.iter().cloned());
    let mut sources: Vec<SourceFile> = Vec::with_capacity(all.len());
    for path in all {
        if sources.iter().all(|source| source.path != path) {
            let given = given.contains(&path);
            sources.push(SourceFile { path, given });
        }
    }
    Ok((sources, document.files_read.to_vec()))
}

fn absolute(path: &Path) -> PathBuf {
    std::path::absolute(path).unwrap_or_else(|_| path.to_owned())
}

fn shown(path: &Path) -> String {
    path.display().to_string().replace(char::is_control, " ")
}
