//! How well a skeleton sits in the flesh.

use crate::session::Session;

/// How well a skeleton sits in the flesh.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Verdict {
    /// As well as can be.
    Good,
    /// Some flesh is thin or folded; it works.
    Fair,
    /// Much of it is: joints should be moved.
    Poor,
    /// There is no flesh.
    None,
}

/// What the badge says.
#[derive(Debug, Clone, PartialEq)]
pub struct RigQuality {
    /// In a word.
    pub verdict: Verdict,
    /// In a sentence: what was counted, or why there is no flesh.
    pub sentence: String,
    /// It is of an older rig: newer flesh is being made.
    pub pending: bool,
    /// Usable tetrahedra.
    pub tets: usize,
    /// Tetrahedra that are flat or inside out.
    pub bad_tets: usize,
    /// Vertices of the simulation mesh whose way to the bone hits nothing.
    pub without_hit: usize,
}

/// Part of the tetrahedra that may be flat or inside out without a word …
const FEW_BAD: f64 = 0.01;
/// … and from which on it is poor.
const MANY_BAD: f64 = 0.06;
/// The same of vertices whose way to the bone hits nothing.
const FEW_LOST: f64 = 0.02;
const MANY_LOST: f64 = 0.12;

impl Session {
    /// How well the skeleton sits in the flesh; `None` while nothing is open.
    #[must_use]
    pub fn rig_quality(&self) -> Option<RigQuality> {
        let subject = self.document.subject.as_ref()?;
        let pending = self.rig_is_pending();
        let flesh = match &subject.tissue {
            Ok(flesh) => flesh,
            Err(error) => {
                let sentence = if pending {
                    "The first flesh is being made.".to_owned()
                } else if subject.rig.is_empty() {
                    "Place the first joint: click into the flesh.".to_owned()
                } else {
                    format!("{}.", super::capitalised(&error.to_string()))
                };
                return Some(RigQuality { verdict: Verdict::None, sentence, pending, tets: 0, bad_tets: 0, without_hit: 0 });
            }
        };
        let quality = &flesh.tissue.quality;
        let bad_tets = quality.flat + quality.inverted;
        let bad = bad_tets as f64 / (quality.tets + quality.flat).max(1) as f64;
        let lost = quality.without_hit as f64 / flesh.tissue.base.len().max(1) as f64;
        let verdict = if bad > MANY_BAD || lost > MANY_LOST {
            Verdict::Poor
        } else if bad > FEW_BAD || lost > FEW_LOST {
            Verdict::Fair
        } else {
            Verdict::Good
        };
        let sentence = match verdict {
            Verdict::Good => format!("{} tetrahedra, all of them sound.", quality.tets),
            Verdict::Fair => format!(
                "{:.1} % of the flesh is folded or flat, as is usual where limbs meet; it can be posed like that.",
                100.0 * bad.max(lost)
            ),
            _ => format!(
                "{} of {} tetrahedra are flat or inside out, {} vertices miss their bone: move joints into the middle of the flesh.",
                bad_tets,
                quality.tets + quality.flat,
                quality.without_hit
            ),
        };
        Some(RigQuality { verdict, sentence, pending, tets: quality.tets, bad_tets, without_hit: quality.without_hit })
    }
}
