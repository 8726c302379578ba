//! The device that simulates tissue and deforms skins: the user's choice, and the available adapter.

use super::Workbench;
use crate::gpu::GpuContext;
use crate::session::DeviceChoice;

/// The device requested on the command line; it applies until the setting changes.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct RequestedDevice {
    at_start: Option<DeviceChoice>,
    in_settings: Option<DeviceChoice>,
}

impl Workbench {
    /// Overrides the setting for this run, until the setting changes.
    pub fn ask_for_device(&mut self, device: Option<DeviceChoice>) {
        self.asked.at_start = device;
    }

    /// Sets the window's device, which may compute, too. Cheap to call every frame.
    pub fn set_gpu(&mut self, gpu: Option<&GpuContext>) {
        self.session.set_gpu(gpu);
    }

    /// Passes the choice on to the session.
    pub(super) fn follow_device(&mut self) {
        let chosen = self.tool_windows.settings().device;
        if self
            .asked
            .in_settings
            .replace(chosen)
            .is_some_and(|before| before != chosen)
        {
            self.asked.at_start = None;
        }
        self.session
            .devices_mut()
            .choose(self.asked.at_start.unwrap_or(chosen));
    }
}
