//! A distilled rig as a project keeps it.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::keys::FittedKeys;
use super::simulate::Skin;
use super::{ClipResidual, DistillReport, Distilled, rig_of};
use crate::math::{Quat, Vec64};
use crate::methods::Subject;
use crate::rig::Trs;
use crate::weights::decomposition::{
    DecompositionError, KeptDecomposition, KeptError, Residual, Spring,
};

/// Frames per second that a fit may have.
const FPS: std::ops::RangeInclusive<f64> = 1.0..=1000.0;
/// A quaternion whose length differs more than this from 1 was edited by hand.
const UNIT: f64 = 1e-9;
/// Numbers of a local transform: rotation x, y, z, w, then translation.
const PER_LOCAL: usize = 7;

/// Everything of a distilled rig that cannot be computed from its character again.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct KeptRig {
    /// Largest number of joints per vertex of its file.
    influences: usize,
    /// Frames per second of the keys.
    fps: f64,
    report: DistillReport,
    rig: KeptDecomposition,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    springs: Vec<Spring>,
    keys: Vec<KeptKeys>,
}

/// Keys of helpers and correctives in a clip.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
struct KeptKeys {
    clip: String,
    /// Of each frame, of each helper, [`PER_LOCAL`] numbers.
    helpers: Vec<f64>,
    /// Of each frame, of each morph.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    weights: Vec<f64>,
}

/// Why a kept rig is not one of the character.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum RestoreError {
    /// Of its joints, weights or morphs.
    #[error(transparent)]
    Rig(#[from] KeptError),
    /// Springs, keys or settings that no fit makes.
    #[error("its {0} are damaged")]
    Damaged(&'static str),
    /// The joints are too many.
    #[error(transparent)]
    Joints(#[from] DecompositionError),
}

impl Distilled {
    /// What a project keeps of it.
    #[must_use]
    pub fn kept(&self) -> KeptRig {
        let clips = &self.rig.character.clips;
        let of_clip = |keys: &FittedKeys| {
            let locals = keys.helpers.iter().flatten();
            let numbers = locals.flat_map(|local| {
                let [q, t] = [local.rotation.coords, local.translation.push(0.0)];
                [q.x, q.y, q.z, q.w, t.x, t.y, t.z]
            });
            KeptKeys {
                clip: clips[keys.clip].name.clone(),
                helpers: numbers.collect(),
                weights: keys.weights.iter().flatten().copied().collect(),
            }
        };
        KeptRig {
            influences: self.influences,
            fps: self.fps,
            report: self.report.clone(),
            rig: self.rig.decomposition.kept(),
            springs: self.rig.springs.clone(),
            keys: self.keys.iter().map(of_clip).collect(),
        }
    }
}

impl KeptRig {
    /// The rig of a character with all clips. Keys of clips that it no longer has are left out; helpers are driven there.
    ///
    /// # Errors
    /// [`RestoreError`] if it is the rig of another character, or damaged.
    pub fn restore(&self, subject: &Arc<Subject>) -> Result<Distilled, RestoreError> {
        let subject = subject.in_set_unit();
        let character = &subject.character;
        let skin = Skin::of(&subject);
        let found = self.rig.restore(&character.skeleton, skin.bind.len())?;
        if !FPS.contains(&self.fps) || self.influences == 0 {
            return Err(RestoreError::Damaged("settings"));
        }
        if !self
            .springs
            .iter()
            .all(|spring| is_sound(spring, found.drivers.len()))
        {
            return Err(RestoreError::Damaged("springs"));
        }
        let counts = (found.drivers.len(), found.morphs.len());
        let mut keys: Vec<FittedKeys> = Vec::with_capacity(self.keys.len());
        for kept in &self.keys {
            // Of clips with one name, those that have no keys yet.
            let mut clips = (0..character.clips.len()).filter(|&clip| {
                character.clips[clip].name == kept.clip && keys.iter().all(|k| k.clip != clip)
            });
            if let Some(clip) = clips.next() {
                let read = kept.read(clip, counts);
                keys.push(read.ok_or(RestoreError::Damaged("keys"))?);
            }
        }
        let of = (&**character, &skin);
        let rig = rig_of(of, found, self.springs.clone(), &keys, self.fps)?;
        Ok(Distilled {
            rig: Arc::new(rig),
            report: counted(&self.report),
            influences: self.influences,
            keys,
            fps: self.fps,
        })
    }
}

impl KeptKeys {
    /// `None` if the numbers are not those of so many helpers and morphs in some frames.
    fn read(&self, clip: usize, (helpers, morphs): (usize, usize)) -> Option<FittedKeys> {
        let numbers = self.helpers.iter().chain(&self.weights);
        let (locals, rest) = self.helpers.as_chunks::<PER_LOCAL>();
        let frames = match (helpers, morphs) {
            (0, 0) => 0,
            (0, morphs) => self.weights.len() / morphs,
            (helpers, _) => locals.len() / helpers,
        };
        let sound = rest.is_empty()
            && locals.len() == frames * helpers
            && self.weights.len() == frames * morphs
            && numbers.into_iter().all(|number| number.is_finite());
        if !sound {
            return None;
        }
        let locals: Vec<Trs> = locals.iter().map(local_of).collect();
        let rows = 0..frames;
        Some(FittedKeys {
            clip,
            helpers: (rows.clone())
                .map(|row| locals[row * helpers..][..helpers].to_vec())
                .collect(),
            weights: rows
                .map(|row| self.weights[row * morphs..][..morphs].to_vec())
                .collect(),
        })
    }
}

fn local_of(numbers: &[f64; PER_LOCAL]) -> Trs {
    let [x, y, z, w, right, up, front] = *numbers;
    let rotation = nalgebra::Quaternion::new(w, x, y, z);
    // What this program wrote is restored bit-equal.
    let is_unit = (rotation.norm() - 1.0).abs() < UNIT;
    let unit = is_unit.then(|| Quat::new_unchecked(rotation));
    Trs {
        rotation: unit.unwrap_or_else(|| Quat::try_new(rotation, f64::EPSILON).unwrap_or_default()),
        ..Trs::at(Vec64::new(right, up, front))
    }
}

fn is_sound(spring: &Spring, helpers: usize) -> bool {
    let Spring {
        helper,
        pivot,
        tail,
        rule,
    } = spring;
    *helper < helpers
        && pivot.iter().chain(tail).all(|number| number.is_finite())
        && pivot != tail
        && (0.0..1e6).contains(&rule.stiffness)
        && (0.0..=1.0).contains(&rule.drag)
}

/// With the numbers of distances, which a file does not keep.
fn counted(report: &DistillReport) -> DistillReport {
    let residual = |residual: &ClipResidual| {
        let samples = residual.frames.saturating_mul(report.vertices);
        let over = |one: Residual| one.over(samples);
        ClipResidual {
            before: over(residual.before),
            keyed: residual.keyed.map(over),
            driven: over(residual.driven),
            sprung: residual.sprung.map(over),
            ..residual.clone()
        }
    };
    DistillReport {
        fitted: report.fitted.iter().map(residual).collect(),
        held_back: report.held_back.iter().map(residual).collect(),
        stops: report.stops.as_ref().map(residual),
        ..report.clone()
    }
}
