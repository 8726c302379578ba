//! What the shell tells about passes: their times, and pictures that are still being drawn.

use super::Workbench;
use crate::app::pass_timer::PassTimer;

impl Workbench {
    /// The times of the current pass.
    pub(in crate::app) fn pass_mut(&mut self) -> &mut PassTimer {
        &mut self.pass
    }

    /// Ends a pass, and records its time on the processor, without waiting for the screen.
    pub(in crate::app) fn end_pass(&mut self) {
        let ms = self.pass.end();
        self.timings.push_window(ms);
    }

    /// Sets whether pictures of the last pass are still being drawn, whose end will wake the window.
    pub(in crate::app) fn set_pictures_pending(&mut self, pending: bool) {
        self.pictures_pending = pending;
    }
}
