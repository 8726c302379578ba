//! How parts of the skin meet at joints in implicit skinning: the user's choice for a joint.

use serde::{Deserialize, Serialize};

/// How the part of a joint meets the part that it hangs at, in implicit skinning (Vaillant et al. 2014, section 4.2).
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Meeting {
    /// As the method's parameter says.
    #[default]
    Usual,
    /// A contact surface where they are opposed.
    Contact,
    /// A contact surface with bulges beside the fold.
    Bulge,
    /// A crease.
    Union,
    /// A crease that is filled.
    Blend,
}

impl Meeting {
    /// All of them, with their names in text.
    pub const ALL: [(Self, &'static str); 5] = [
        (Self::Usual, "usual"),
        (Self::Contact, "contact"),
        (Self::Bulge, "bulge"),
        (Self::Union, "union"),
        (Self::Blend, "blend"),
    ];
}

/// Least difference between the angles of an opening, rad.
const LEAST_OPENING: f64 = std::f64::consts::PI / 360.0;

/// The angles of an opening, rad, from degrees as in `20-120`; `None` for other text.
pub(super) fn parsed_opening(text: &str) -> Option<[f64; 2]> {
    let (from, full) = text.split_once('-')?;
    let radians = |text: &str| text.trim().parse::<f64>().ok().map(f64::to_radians);
    let opening = [radians(from)?, radians(full)?];
    (sanitized_opening(opening) == Some(opening)).then_some(opening)
}

/// An opening within 0 and π that does not end before it begins.
pub(super) fn sanitized_opening([from, full]: [f64; 2]) -> Option<[f64; 2]> {
    if !(from.is_finite() && full.is_finite()) {
        return None;
    }
    let from = from.clamp(0.0, std::f64::consts::PI - LEAST_OPENING);
    Some([from, full.clamp(from + LEAST_OPENING, std::f64::consts::PI)])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn openings_are_read_in_degrees() {
        let read = parsed_opening("20-120").expect("is one");
        assert!((read[0] - 0.349_066).abs() < 1e-6 && (read[1] - 2.094_395).abs() < 1e-6);
        for wrong in [
            "", "20", "120-20", "-5-20", "20-200", "nan-3", "20-20", "a-b",
        ] {
            assert_eq!(parsed_opening(wrong), None, "{wrong}");
        }
    }

    #[test]
    fn openings_of_files_are_moved_into_their_range() {
        let pi = std::f64::consts::PI;
        assert_eq!(sanitized_opening([0.5, 1.0]), Some([0.5, 1.0]));
        assert_eq!(sanitized_opening([-1.0, 9.0]), Some([0.0, pi]));
        assert_eq!(sanitized_opening([f64::NAN, 1.0]), None);
        let [from, full] = sanitized_opening([2.0, 1.0]).expect("is finite");
        assert!(from == 2.0 && full > from);
    }
}
