//! Where flesh is simulated and skins are moved: what the user chose, and what there is to draw with.

use super::Workbench;
use crate::gpu::GpuContext;
use crate::session::DeviceChoice;

/// What was asked for when the program was started; counts until the settings say something else than they did then.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Asked {
    at_start: Option<DeviceChoice>,
    in_settings: Option<DeviceChoice>,
}

impl Workbench {
    /// Computes there, whatever the settings say now.
    pub fn ask_for_device(&mut self, device: Option<DeviceChoice>) {
        self.asked.at_start = device;
    }

    /// Tells which device draws: it may compute, too. Cheap to call with every frame.
    pub fn set_gpu(&mut self, gpu: Option<&GpuContext>) {
        self.session.set_gpu(gpu);
    }

    /// Brings the choice to the session.
    pub(super) fn follow_device(&mut self) {
        let chosen = self.comfort.settings().device;
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
