//! The skins of a character in turn, and what its frames send back: what single characters have in common, however they move.

use std::sync::Arc;
use std::time::{Duration, Instant};

use super::echo::Echoes;
use super::profile::Profile;
use super::skin::{DeviceSkin, Followed, Shown};
use super::{FRAMES_BEHIND, lost, unfit};
use crate::gpu::compute::Dispatch;
use crate::gpu::flesh::FleshState;
use crate::gpu::surface::SurfaceModel;
use crate::gpu::{GpuContext, GpuError};
use crate::math::Affine;
use crate::methods::{DeviceError, DeviceFrameReport, SurfaceMut};

/// What a frame ends with.
#[derive(Debug)]
pub(super) struct Skins {
    gpu: GpuContext,
    model: Arc<SurfaceModel>,
    ring: Vec<Arc<DeviceSkin>>,
    shown: Arc<Shown>,
    echoes: Echoes,
    profile: Option<Profile>,
    /// What the processor spent on the frame so far.
    host: Duration,
}

impl Skins {
    /// Of a surface over that state, or of one that follows the joints alone.
    pub fn new(gpu: &GpuContext, model: &Arc<SurfaceModel>, state: Option<&FleshState>) -> Self {
        Self {
            gpu: gpu.clone(),
            model: model.clone(),
            ring: Vec::new(),
            shown: Arc::default(),
            echoes: Echoes::new(gpu, state),
            profile: None,
            host: Duration::ZERO,
        }
    }

    /// Where the latest skin is always to be found.
    pub fn shown(&self) -> &Arc<Shown> {
        &self.shown
    }

    /// What the surface is made of.
    pub fn model(&self) -> &Arc<SurfaceModel> {
        &self.model
    }

    /// Measures every pass from now on, where the device can.
    pub fn set_profiled(&mut self, profiled: bool) {
        self.profile = if profiled {
            Profile::new(&self.gpu)
        } else {
            None
        };
    }

    /// Whether the device is still there.
    pub fn check(&self) -> Result<(), DeviceError> {
        if self.gpu.is_lost() {
            Err(lost(&"it does not answer any more"))
        } else {
            Ok(())
        }
    }

    /// Begins a frame: a skin that nobody looks at, with its joints. Waits if the device is frames behind.
    pub fn begin(
        &mut self,
        world_from_joint: &[Affine],
        ahead_secs: f32,
        followed: Option<Followed<'_>>,
    ) -> Result<Arc<DeviceSkin>, DeviceError> {
        self.check()?;
        self.echoes
            .make_room(&self.gpu)
            .map_err(|error| lost(&error))?;
        let start = Instant::now();
        let mut skin = self.free(followed)?;
        if let Some(skin) = Arc::get_mut(&mut skin) {
            skin.prepare(world_from_joint, ahead_secs);
        }
        self.spend(start.elapsed());
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
        // More than a few are kept by somebody for good: theirs now.
        if self.ring.len() > 2 * FRAMES_BEHIND {
            self.ring.remove(0);
        }
        let made = self
            .gpu
            .attempt(|| DeviceSkin::new(&self.gpu, &self.model, followed))
            .map_err(|error| unfit(&error))?;
        Ok(Arc::new(made.map_err(|error| unfit(&error))?))
    }

    /// Encodes one compute pass: these steps, and with a skin the surface over them.
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

    /// Encodes what the frame sends back.
    pub fn encode_readback(
        &mut self,
        encoder: &mut wgpu::CommandEncoder,
        state: Option<&FleshState>,
    ) {
        self.echoes.copy(encoder, state, self.profile.as_mut());
    }

    /// To be called after the submission of a frame; so many steps have been made then.
    pub fn submitted(&mut self, steps: u64) {
        self.echoes.submitted(steps, self.host.as_secs_f64() * 1e3);
        self.host = Duration::ZERO;
    }

    /// The processor spent so long on the frame that is being made: setting up, encoding, submitting.
    pub fn spend(&mut self, time: Duration) {
        self.host += time;
    }

    /// Ends the frame: it is shown.
    pub fn end(&mut self, skin: Arc<DeviceSkin>) -> Result<(), DeviceError> {
        self.check()?;
        self.ring.push(skin.clone());
        self.shown.set(skin);
        Ok(())
    }

    /// The next frame of which something has become known.
    pub fn watched(&mut self) -> Option<DeviceFrameReport> {
        self.echoes.next(&self.gpu, self.profile.as_ref())
    }

    /// What came back of states before another one was put in is of no use.
    pub fn forget_kept(&mut self) {
        self.echoes.forget_kept();
    }

    /// The latest state that came back, even if nothing more will.
    pub fn kept(&mut self) -> Option<&[u8]> {
        self.echoes.kept()
    }

    /// Reads back what is shown. Waits.
    pub fn fetch(&self, surface: &mut SurfaceMut<'_>) -> Result<(), DeviceError> {
        self.check()?;
        let latest = self
            .shown
            .latest()
            .ok_or_else(|| lost(&"nothing was presented"))?;
        latest
            .fetch_into(surface)
            .map_err(|error: GpuError| lost(&error))
    }
}
