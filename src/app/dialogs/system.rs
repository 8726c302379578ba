//! The system's file dialog: the desktop portal or zenity on Linux.

use std::path::PathBuf;

use rfd::{AsyncFileDialog, FileHandle};

use super::request::{Choice, Request};

/// The chosen paths, once the user has chosen.
pub(super) type FuturePaths = std::pin::Pin<Box<dyn Future<Output = Option<Vec<PathBuf>>> + Send>>;

/// The dialog must be created on the window's thread, but may be awaited elsewhere.
pub(super) fn dialog_of(request: &Request) -> FuturePaths {
    let mut dialog = AsyncFileDialog::new().set_title(request.title);
    for filter in &request.filters {
        dialog = dialog.add_filter(&filter.name, &filter.extensions);
    }
    if let Some(folder) = &request.folder {
        dialog = dialog.set_directory(folder);
    }
    if request.choice == Choice::Save {
        dialog = dialog.set_file_name(&request.file_name);
    }
    let one = |answer: Option<FileHandle>| answer.map(|file| vec![file.path().to_path_buf()]);
    match request.choice {
        Choice::File => {
            let answer = dialog.pick_file();
            Box::pin(async move { one(answer.await) })
        }
        Choice::Folder => {
            let answer = dialog.pick_folder();
            Box::pin(async move { one(answer.await) })
        }
        Choice::Save => {
            let answer = dialog.save_file();
            Box::pin(async move { one(answer.await) })
        }
        Choice::Files => {
            let answer = dialog.pick_files();
            Box::pin(async move {
                let files = answer.await?;
                Some(files.iter().map(|file| file.path().to_path_buf()).collect())
            })
        }
    }
}
