//! The device form of one actor, for any method.

use std::sync::Arc;

use super::skins::Skins;
use super::{GpuFlesh, GpuModel, GpuSkin, LatestSkin};
use crate::gpu::GpuContext;
use crate::methods::{Actor, AnyDevice, Device, DeviceError};

/// Flesh with its skin, or the skin only.
pub enum GpuDevice {
    /// For methods that simulate.
    Flesh(Box<GpuFlesh>),
    /// For the others.
    Skin(Box<GpuSkin>),
}

impl GpuDevice {
    /// Prepares an actor as it is bound now, with its parameters.
    ///
    /// # Errors
    /// [`DeviceError::Unfit`] if the device is too small for it.
    pub fn new(gpu: &GpuContext, actor: &Actor) -> Result<Self, DeviceError> {
        if actor.projective().is_some() {
            let flesh = GpuFlesh::new(Arc::new(GpuModel::new(gpu, actor)?))?;
            Ok(Self::Flesh(Box::new(flesh)))
        } else {
            Ok(Self::Skin(Box::new(GpuSkin::new(gpu, actor)?)))
        }
    }

    /// A second one for the same actor, with its own state.
    ///
    /// # Errors
    /// [`DeviceError::Unfit`] if the device has no room for it.
    pub fn another(&self) -> Result<Self, DeviceError> {
        Ok(match self {
            Self::Flesh(flesh) => Self::Flesh(Box::new(GpuFlesh::new(flesh.model.clone())?)),
            Self::Skin(skin) => Self::Skin(Box::new(skin.another())),
        })
    }

    /// Makes the actor use this device.
    pub fn give_to(self, actor: &mut Actor) {
        match self {
            Self::Flesh(flesh) => actor.set_device(Some(AnyDevice::Flesh(flesh))),
            Self::Skin(skin) => actor.set_device(Some(AnyDevice::Surface(skin))),
        }
    }

    /// Handle to the latest skin.
    #[must_use]
    pub fn shown(&self) -> Arc<LatestSkin> {
        self.skins().shown().clone()
    }

    /// Measures every pass from now on, if the device can ([`crate::methods::DeviceFrameReport::work_ms`]). Passes then
    /// cannot overlap.
    pub fn set_profiled(&mut self, profiled: bool) {
        match self {
            Self::Flesh(flesh) => flesh.skins.set_profiled(profiled),
            Self::Skin(skin) => skin.skins.set_profiled(profiled),
        }
    }

    /// The global solver and the reason for it in one sentence, for methods that simulate.
    #[must_use]
    pub fn solver_reason(&self) -> Option<&str> {
        match self {
            Self::Flesh(flesh) => Some(flesh.model.solver_reason()),
            Self::Skin(_) => None,
        }
    }

    /// Bytes of the constants of global steps and of the surface.
    #[must_use]
    pub fn constant_bytes(&self) -> u64 {
        match self {
            Self::Flesh(flesh) => flesh.model.constant_bytes(),
            Self::Skin(skin) => skin.skins.model().constant_bytes(),
        }
    }

    /// Compute passes of a step (including the base) and of the surface after it.
    #[must_use]
    pub fn passes(&self) -> (usize, usize) {
        match self {
            Self::Flesh(flesh) if flesh.finds_contacts() => {
                (flesh.passes_with_contacts(), flesh.passes().1)
            }
            Self::Flesh(flesh) => flesh.passes(),
            Self::Skin(skin) => (0, skin.skins.model().passes()),
        }
    }

    fn skins(&self) -> &Skins {
        match self {
            Self::Flesh(flesh) => &flesh.skins,
            Self::Skin(skin) => &skin.skins,
        }
    }
}
