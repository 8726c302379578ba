//! All that the frames of a method in a clip depend on.

use std::sync::Arc;

use crate::character::{FleshFactors, HelperRig};
use crate::dynamics::Params;
use crate::methods::{Actor, BindError, Capability, MethodId, Subject};
use crate::param::ParamValues;
use crate::progress::Progress;
use crate::rig::KeyedClip;
use crate::session::views::Need;
use crate::session::{DEFAULT_FPS, Document, with_takes};
use crate::weights::WeightMethod;

/// Character, method, parameters, weights and clip. Two that are equal give bit-equal frames.
#[derive(Debug, Clone)]
pub(in crate::session) struct FrameBasis {
    pub(in crate::session) subject: Arc<Subject>,
    pub(in crate::session) method: MethodId,
    pub(in crate::session) weights: WeightMethod,
    /// Physical parameters; the defaults for methods without physics, which do not read them.
    params: Params,
    /// The method's own parameters.
    values: ParamValues,
    /// Settings of bones, and paint; none for methods that do not read them.
    factors: FleshFactors,
    /// Index of the clip in [`Document::clips`].
    pub(in crate::session) clip: usize,
    take: Option<Arc<KeyedClip>>,
    /// The distilled rig, for the method that shows it.
    rig: Option<Arc<HelperRig>>,
}

impl PartialEq for FrameBasis {
    fn eq(&self, other: &Self) -> bool {
        let same_clip = match (&self.take, &other.take) {
            // Clips may have been inserted before it.
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (None, None) => self.clip == other.clip,
            _ => false,
        };
        same_clip
            && Arc::ptr_eq(&self.subject, &other.subject)
            && (self.method, self.weights) == (other.method, other.weights)
            && (&self.params, &self.factors) == (&other.params, &other.factors)
            && self.values == other.values
            && self.rig.as_ref().map(Arc::as_ptr) == other.rig.as_ref().map(Arc::as_ptr)
    }
}

impl FrameBasis {
    /// The basis of what a view needs in a clip; `None` without a character or such a clip.
    pub(in crate::session) fn of(need: Need, clip: usize, document: &Document) -> Option<Self> {
        let subject = document.subject.clone()?;
        let clips = document.clips();
        clips.get(clip)?;
        let has_physics = need.method.has(Capability::Physics);
        let params = if has_physics {
            *document.params_of(need.variant)
        } else {
            Params::default()
        };
        let factors = if has_physics || need.method.has(Capability::Meetings) {
            document.flesh.factors()
        } else {
            FleshFactors::default()
        };
        let rig = (need.method == MethodId::DISTILLED).then(|| subject.helper_rig());
        Some(Self {
            rig: rig.flatten(),
            subject,
            method: need.method,
            weights: need.weights,
            params,
            values: document.method_values_of(need.variant).of(need.method),
            factors,
            clip,
            take: clips.take(clip).cloned(),
        })
    }

    /// Physical parameters.
    pub(in crate::session) fn params(&self) -> &Params {
        &self.params
    }

    /// Frames per second of the clip.
    pub(in crate::session) fn fps(&self) -> f64 {
        self.take.as_ref().map_or(DEFAULT_FPS, |take| take.fps())
    }

    /// Length of the clip, seconds.
    pub(in crate::session) fn duration_secs(&self) -> f64 {
        match &self.take {
            Some(take) => take.duration_secs(),
            None => self
                .subject
                .character
                .clips
                .get(self.clip)
                .map_or(0.0, |clip| clip.duration_secs),
        }
    }

    /// Binds the method to the character with its weights. `takes` are those of the document: the actor's character then has the clip at
    /// the same index.
    ///
    /// # Errors
    /// [`BindError`].
    pub(in crate::session) fn bind(
        &self,
        takes: &[Arc<KeyedClip>],
        progress: &Progress,
    ) -> Result<Actor, BindError> {
        let subject = if self.take.is_some() {
            with_takes(&self.subject, takes)
        } else {
            self.subject.clone()
        }
        .weighted(self.weights);
        bind_with_factors(
            &subject,
            self.method,
            (&self.params, &self.values, &self.factors),
            progress,
        )
    }
}

/// Binds a method to a character that has the method's weights, with settings of bones, and paint, that may be newer than the character's.
///
/// # Errors
/// [`BindError`].
pub(in crate::session) fn bind_with_factors(
    subject: &Arc<Subject>,
    method: MethodId,
    (params, values, factors): (&Params, &ParamValues, &FleshFactors),
    progress: &Progress,
) -> Result<Actor, BindError> {
    let mut actor = Actor::bind_with(subject, method, params, values, progress)?;
    if !subject.settings.has_factors(factors) {
        actor.set_factors(factors)?;
    }
    Ok(actor)
}
