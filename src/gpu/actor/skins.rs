//! Surface buffers and readback of single characters, common to all methods.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::profile::Profile;
use super::readback::FrameReadbacks;
use super::skin::{DeviceSkin, Followed, LatestSkin};
use super::{FRAMES_BEHIND, lost_error, unfit_error};
use crate::gpu::compute::Dispatch;
use crate::gpu::flesh::FleshState;
use crate::gpu::surface::SurfaceModel;
use crate::gpu::{GpuContext, GpuError};
use crate::math::Affine;
use crate::methods::{DeviceError, DeviceFrameReport, SurfaceMut};

/// Everything that ends a frame.
#[derive(Debug)]
pub(super) struct Skins {
    gpu: GpuContext,
    model: Arc<SurfaceModel>,
    ring: Vec<Arc<DeviceSkin>>,
    shown: Arc<LatestSkin>,
    readbacks: FrameReadbacks,
    profile: Option<Profile>,
    /// CPU time of the frame so far.
    host: Duration,
}

impl Skins {
    /// For a surface over that state, or for one that follows joints only.
    pub fn new(gpu: &GpuContext, model: &Arc<SurfaceModel>, state: Option<&FleshState>) -> Self {
        Self {
            gpu: gpu.clone(),
            model: model.clone(),
            ring: Vec::new(),
            shown: Arc::default(),
            readbacks: FrameReadbacks::new(gpu, state),
            profile: None,
            host: Duration::ZERO,
        }
    }

    /// Handle to the latest skin.
    pub fn shown(&self) -> &Arc<LatestSkin> {
        &self.shown
    }

    /// The constants of the surface.
    pub fn model(&self) -> &Arc<SurfaceModel> {
        &self.model
    }

    /// Measures every pass from now on, if the device can.
    pub fn set_profiled(&mut self, profiled: bool) {
        self.profile = if profiled {
            Profile::new(&self.gpu)
        } else {
            None
        };
    }

    /// Whether the device still works.
    pub fn check(&self) -> Result<(), DeviceError> {
        if self.gpu.is_lost() {
            Err(lost_error(&"it does not answer any more"))
        } else {
            Ok(())
        }
    }

    /// Begins a frame: takes an unused skin buffer and uploads joint transforms. Waits if the device is several frames late.
    pub fn begin(
        &mut self,
        world_from_joint: &[Affine],
        ahead_secs: f32,
        followed: Option<Followed<'_>>,
    ) -> Result<Arc<DeviceSkin>, DeviceError> {
        self.check()?;
        self.readbacks
            .make_room(&self.gpu, self.profile.as_ref())
            .map_err(|error| lost_error(&error))?;
        let start = Instant::now();
        let mut skin = self.free(followed)?;
        if let Some(skin) = Arc::get_mut(&mut skin) {
            skin.prepare(world_from_joint, ahead_secs);
        }
        self.add_host_time(start.elapsed());
        Ok(skin)
    }

    fn free(&mut self, followed: Option<Followed<'_>>) -> Result<Arc<DeviceSkin>, DeviceError> {
        let latest = self.shown.latest();
        let is_free = |skin: &Arc<DeviceSkin>| {
            Arc::strong_count(skin) == 1
                && latest
                    .as_ref()
                    .is_none_or(|latest| !Arc::ptr_eq(latest, skin))
        };
        if let Some(place) = self.ring.iter().position(is_free) {
            return Ok(self.ring.swap_remove(place));
        }
        // More than a few buffers are in use elsewhere for good: release them to their holders.
        if self.ring.len() > 2 * FRAMES_BEHIND {
            self.ring.remove(0);
        }
        let made = self
            .gpu
            .attempt(|| DeviceSkin::new(&self.gpu, &self.model, followed))
            .map_err(|error| unfit_error(&error))?;
        Ok(Arc::new(made.map_err(|error| unfit_error(&error))?))
    }

    /// Encodes one compute pass: these steps and, with a skin, the surface.
    pub fn encode<'a>(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        steps: impl Iterator<Item = &'a Dispatch>,
        skin: Option<&'a DeviceSkin>,
    ) {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor {
            label: Some("character"),
            timestamp_writes: None,
        });
        if let Some(profile) = &mut self.profile {
            profile.begin(&mut pass);
        }
        let surface = skin.iter().flat_map(|skin| skin.surface().dispatches());
        for (dispatch, above) in steps
            .map(|dispatch| (dispatch, false))
            .chain(surface.map(|dispatch| (dispatch, true)))
        {
            dispatch.encode(&mut pass);
            if let Some(profile) = &mut self.profile {
                profile.mark(&mut pass, dispatch.label(), above);
            }
        }
    }

    /// Encodes the frame's readback.
    pub(crate) fn encode_readback(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        state: Option<&FleshState>,
    ) {
        self.readbacks.copy(encoder, state, self.profile.as_mut());
    }

    /// Must be called after the frame's submission; `steps` counts the steps so far. `finds_contacts`: whether the device found the
    /// contacts of the last of them.
    pub fn submitted(&mut self, steps: u64, finds_contacts: bool) {
        self.readbacks
            .submitted(steps, self.host.as_secs_f64() * 1e3, finds_contacts);
        self.host = Duration::ZERO;
    }

    /// Adds CPU time to the current frame: setup, encoding, submission.
    pub(crate) fn add_host_time(&mut self, time: Duration) {
        self.host += time;
    }

    /// Ends the frame and publishes its skin.
    pub fn end(&mut self, skin: Arc<DeviceSkin>) -> Result<(), DeviceError> {
        self.check()?;
        self.ring.push(skin.clone());
        self.shown.set(skin);
        Ok(())
    }

    /// The report of the next finished frame.
    pub fn watched(&mut self) -> Option<DeviceFrameReport> {
        self.readbacks.next(&self.gpu, self.profile.as_ref())
    }

    /// Drops the readback of states before another one was set.
    pub(crate) fn forget_kept(&mut self) {
        self.readbacks.forget_kept();
    }

    /// The latest state that was read back, even if no more will be.
    pub fn kept(&mut self) -> Option<&[u8]> {
        self.readbacks.kept()
    }

    /// Reads back the visible skin. Waits.
    pub fn fetch(&self, surface: &mut SurfaceMut<'_>) -> Result<(), DeviceError> {
        self.check()?;
        let latest = self
            .shown
            .latest()
            .ok_or_else(|| lost_error(&"nothing was presented"))?;
        latest
            .fetch_into(surface)
            .map_err(|error: GpuError| lost_error(&error))
    }
}
