//! Quality of the flesh that a skeleton produces.

use super::RigView;
use crate::rig::Skeleton;
use crate::tissue::Tissue;

/// Quality class.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum RigRating {
    /// No relevant defects.
    Good,
    /// Some tets are flat or inverted; usable.
    Fair,
    /// Many tets are flat or inverted: joints should be moved.
    Poor,
    /// There is no flesh.
    None,
}

/// Content of the quality badge.
#[derive(Debug, Clone, PartialEq)]
pub struct RigQuality {
    /// Its class.
    pub rating: RigRating,
    /// A sentence: the counts, or why there is no flesh.
    pub sentence: String,
    /// It refers to an older rig: newer flesh is being made.
    pub pending: bool,
    /// Usable tetrahedra.
    pub tets: usize,
    /// Flat or inverted tetrahedra.
    pub bad_tets: usize,
    /// Vertices of the simulation mesh whose segment to their foot point hits no bone.
    pub without_hit: usize,
}

/// Fraction of flat or inverted tetrahedra that counts as good …
const FEW_BAD: f64 = 0.01;
/// … and above which the class is poor.
const MANY_BAD: f64 = 0.06;
/// The same for vertices whose segment hits no bone.
const FEW_LOST: f64 = 0.02;
const MANY_LOST: f64 = 0.12;

/// A bone is named if it has at least this fraction of all bad tetrahedra.
const NAMED_SHARE: f64 = 0.2;

/// Names of at most two joints whose bones have most of the flat or inverted tetrahedra, worst first.
pub(super) fn names_of_worst<'a>(skeleton: &'a Skeleton, tissue: &Tissue) -> Vec<&'a str> {
    let mut bad = vec![0_usize; skeleton.len()];
    for cell in tissue
        .layers
        .iter()
        .flat_map(|layer| layer.tets.chunk_by(|a, b| a.cell == b.cell))
    {
        let is_bad = |tet: &&crate::tissue::Tet| !tet.is_usable() || tet.is_inverted();
        // The cell counts for its first skin vertex.
        let bone = cell
            .iter()
            .flat_map(|tet| tet.corners)
            .find_map(|corner| tissue.foot_bones.get(corner.as_unknown()? as usize))
            .and_then(|&bone| tissue.graph.bones.get(bone as usize));
        if let Some(bad) = bone.and_then(|bone| bad.get_mut(bone.joint)) {
            *bad += cell.iter().filter(is_bad).count();
        }
    }
    let enough = NAMED_SHARE * bad.iter().sum::<usize>() as f64;
    let mut worst: Vec<usize> = (0..bad.len())
        .filter(|&joint| bad[joint] > 0 && bad[joint] as f64 >= enough)
        .collect();
    worst.sort_by_key(|&joint| std::cmp::Reverse(bad[joint]));
    worst
        .iter()
        .take(2)
        .map(|&joint| skeleton.joints()[joint].name.as_str())
        .collect()
}

impl RigView<'_> {
    /// Quality of the skeleton's flesh; `None` while nothing is open.
    #[must_use]
    pub fn quality(self) -> Option<RigQuality> {
        let subject = self.document.subject.as_ref()?;
        let pending = self.is_pending();
        let flesh = match subject.flesh_if_made() {
            Some(Ok(flesh)) => flesh,
            missing => {
                let sentence = match missing {
                    _ if pending => "The first flesh is being made.".to_owned(),
                    _ if subject.rig.is_empty() => {
                        "Place the first joint: click into the flesh.".to_owned()
                    }
                    Some(Err(error)) => format!("{}.", super::capitalised(&error.to_string())),
                    _ => "The flesh is being made.".to_owned(),
                };
                return Some(RigQuality {
                    rating: RigRating::None,
                    sentence,
                    pending,
                    tets: 0,
                    bad_tets: 0,
                    without_hit: 0,
                });
            }
        };
        let quality = &flesh.tissue.quality;
        let bad_tets = quality.flat + quality.inverted;
        let bad = bad_tets as f64 / (quality.tets + quality.flat).max(1) as f64;
        let lost = quality.without_hit as f64 / flesh.tissue.base.len().max(1) as f64;
        let rating = if bad > MANY_BAD || lost > MANY_LOST {
            RigRating::Poor
        } else if bad > FEW_BAD || lost > FEW_LOST {
            RigRating::Fair
        } else {
            RigRating::Good
        };
        let sentence = match rating {
            RigRating::Good => format!("{} tetrahedra, none flat or inverted.", quality.tets),
            RigRating::Fair => format!(
                "{:.1} % of the tetrahedra are inverted or flat, as is usual where limbs meet; the rig is usable.",
                100.0 * bad.max(lost)
            ),
            _ => {
                let all = quality.tets + quality.flat;
                let places =
                    match names_of_worst(&subject.character.skeleton, &flesh.tissue).as_slice() {
                        [] => String::new(),
                        names => format!(", most around {}", names.join(" and ")),
                    };
                format!(
                    "{bad_tets} of {all} tetrahedra are flat or inverted{places}: move joints into the middle of the flesh, or add one \
                     where a part has none."
                )
            }
        };
        Some(RigQuality {
            rating,
            sentence,
            pending,
            tets: quality.tets,
            bad_tets,
            without_hit: quality.without_hit,
        })
    }
}
