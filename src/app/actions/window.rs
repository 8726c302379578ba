//! Actions on parts of the window.

use std::path::PathBuf;

use crate::app::settings::Settings;
use crate::app::settings::capture::CaptureSettings;
use crate::session::{DistillRequest, Export, ViewId};

/// Actions of the capture dialog.
#[derive(Debug, Clone, PartialEq)]
pub enum CaptureAction {
    /// Opens or closes the dialog.
    ToggleDialog,
    /// Changes the dialog's settings.
    Set(CaptureSettings),
    /// Opens the system's dialog for the output file.
    Browse,
    /// Captures with the dialog's settings.
    Export,
    /// Copies the active view at its current size.
    CopyView,
    /// Copies the whole window.
    CopyWindow,
    /// Cancels the running capture.
    Cancel,
}

/// An action of this module.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolWindowAction {
    /// Light ↔ dark.
    ToggleTheme,
    /// Larger text and buttons.
    Larger,
    /// Smaller text and buttons.
    Smaller,
    /// Resets the size of text and buttons.
    UsualScale,
    /// Changes settings.
    Change(Box<Settings>),
    /// Opens or closes the palette.
    TogglePalette,
    /// Opens or closes the shortcut sheet.
    ToggleSheet,
    /// Opens or closes the settings.
    ToggleSettings,
    /// Opens the settings window at one setting.
    ShowSetting(&'static str),
    /// Opens or closes the list of notices.
    ToggleNotices,
    /// Opens or closes the log.
    ToggleLog,
    /// Shows or hides the introduction.
    ToggleFirstSteps,
    /// Dismisses the introduction permanently.
    DismissFirstSteps,
    /// Opens or closes the about window.
    ToggleAbout,
}

/// An action of this module.
#[derive(Debug, Clone, PartialEq)]
pub enum ProjectAction {
    /// Starts a new project with the built-in character.
    New,
    /// Saves the project, or asks for its file.
    Save,
    /// Asks for the file of the project.
    SaveAs,
    /// Asks for the file of a project with all of its files.
    SavePacked,
    /// Asks for a missing source of the project, by [`crate::session::MissingSource::index`].
    Locate(usize),
    /// The user's decision about unsaved work.
    AnswerUnsaved(UnsavedAnswer),
    /// Opens the export dialog, or continues without.
    AskExport,
    /// Opens the export dialog for a report.
    AskReport,
    /// Opens the export dialog for the scoreboard.
    AskScores,
    /// Sets the export settings; none to cancel.
    SetExport(Option<Export>),
    /// Asks for the export's file.
    ChooseExportFile,
    /// Asks for confirmation before unsaved work is discarded, or withdraws the question.
    AskDiscard(Option<PathBuf>),
}

/// What to do with unsaved work before it is replaced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum UnsavedAnswer {
    /// Save it first.
    Save,
    /// Continue without saving.
    DontSave,
    /// Cancel.
    Cancel,
}

/// Actions on the scoreboard.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum BoardAction {
    /// Opens or closes it.
    Toggle,
    /// Cancels the measurement; what is measured is kept.
    Cancel,
    /// Goes on measuring.
    Resume,
}

/// Actions on the search for the worst poses.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum WorstAction {
    /// Opens or closes its window.
    Toggle,
    /// Starts a search.
    Search {
        /// The view whose method is searched.
        view: ViewId,
        /// Id of the quantity by which poses are compared.
        quantity: String,
    },
    /// Ends a running search; what it has found stays.
    Stop,
}

/// Actions on the distilling of a rig for game engines.
#[derive(Debug, Clone, PartialEq)]
pub enum DistillAction {
    /// Opens or closes its window.
    Toggle,
    /// Starts a fit.
    Fit(DistillRequest),
    /// Ends a running fit; the result of an earlier one stays.
    Stop,
    /// Shows the distilled rig in a view beside the method that it was fitted to.
    Compare,
    /// Asks for the file of the rig.
    Save,
}

/// Actions of menus, palette and keyboard on the timeline.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimelineAction {
    /// Keys the current pose.
    SetKey,
    /// Moves to the key before the playhead.
    PreviousKey,
    /// Moves to the key after it.
    NextKey,
    /// Starts recording a take, or ends it.
    Record,
    /// Turns auto-key on or off.
    AutoKey,
    /// Shows or hides ruler and keys.
    Fold,
    /// Shows curves instead of rows of keys, or rows again.
    Curves,
    /// Takes jitter off the selected keys.
    SmoothKeys,
    /// Makes the end of the clip meet its start; the way over the ground is kept.
    CloseLoop,
    /// The same, and the way over the ground is taken out.
    CloseLoopInPlace,
    /// Makes the clip twice as long, going on from its end.
    RepeatClip,
    /// Creates a clip with the current pose as its first key.
    NewClip,
    /// Creates an editable copy of the current clip.
    CopyClip,
    /// Plants the hands or feet of the selected joints at the playhead, or all feet; or lets them go.
    PlantFeet,
    /// Plants feet wherever they stand nearly still.
    PlantStanding,
    /// Whether soles stay above the ground in the current clip, or not.
    AboveGround,
    /// Adds the current pose to the library.
    KeepPose,
    /// Opens a dialog to load poses into the library.
    LoadPosesDialog,
    /// Opens a dialog to save the library.
    SavePosesDialog,
}
