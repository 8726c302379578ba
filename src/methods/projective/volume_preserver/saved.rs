//! What a volume preserver measured, as part of a saved state.

use super::VolumePreserver;

/// The state of a volume preserver that persists from step to step.
#[derive(Debug, Clone)]
pub(in crate::methods) struct SavedVolume {
    ratio: [Vec<f32>; 4],
    pressed: [Vec<f32>; 4],
    pressed_parts: Vec<f32>,
    volumes: [f32; 2],
}

impl SavedVolume {
    /// Approximate memory of its vectors.
    pub(in crate::methods::projective) fn heap_bytes(&self) -> usize {
        let filters = self.ratio.iter().chain(&self.pressed);
        let vectors = filters.chain([&self.pressed_parts]);
        vectors.map(|numbers| size_of_val(&**numbers)).sum()
    }
}

impl VolumePreserver {
    /// The state that persists from step to step.
    pub(in crate::methods::projective) fn state(&self) -> SavedVolume {
        SavedVolume {
            ratio: self.ratio.state(),
            pressed: self.pressed.state(),
            pressed_parts: self.pressed_parts.clone(),
            volumes: [self.measured_volume, self.pressed_volume],
        }
    }

    /// Restores a state that [`VolumePreserver::state`] returned.
    pub(in crate::methods::projective) fn set_state(&mut self, saved: &SavedVolume) {
        self.ratio.set_state(&saved.ratio);
        self.pressed.set_state(&saved.pressed);
        self.pressed_parts.copy_from_slice(&saved.pressed_parts);
        [self.measured_volume, self.pressed_volume] = saved.volumes;
    }
}
