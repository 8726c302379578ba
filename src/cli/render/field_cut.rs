//! The option `--field-cut` of `render`.

use crate::render::{FieldCut, FieldDirection};

/// Value of `--field-cut`.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct NamedFieldCut {
    /// `None` for the middle of the body.
    pub(super) joint: Option<String>,
    pub(super) cut: FieldCut,
}

/// Names of joints may have colons: the end is parsed first.
pub(super) fn parse_field_cut(text: &str) -> Result<NamedFieldCut, String> {
    let expected = || {
        format!(
            "expected {}, perhaps after a joint and before an offset from -1 to 1, as in forearm.L:along:0.2",
            FieldDirection::ALL.map(FieldDirection::id).join(", ")
        )
    };
    let last = text.rsplit_once(':');
    let offset = last.and_then(|(_, number)| number.trim().parse::<f32>().ok());
    let (rest, offset) = match (last, offset) {
        (Some((rest, _)), Some(offset)) => (rest, offset),
        _ => (text, 0.0),
    };
    let (joint, direction) = match rest.rsplit_once(':') {
        Some((joint, direction)) => (Some(joint), direction),
        None => (None, rest),
    };
    let mut known = FieldDirection::ALL.into_iter();
    let direction = known
        .find(|known| known.id() == direction)
        .ok_or_else(expected)?;
    if !(-1.0..=1.0).contains(&offset) || joint.is_some_and(str::is_empty) {
        return Err(expected());
    }
    Ok(NamedFieldCut {
        joint: joint.map(str::to_owned),
        cut: FieldCut { direction, offset },
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn cuts_through_fields_are_read() {
        use FieldDirection::{Across, Along, Camera};
        let named = |joint: Option<&str>, direction, offset| {
            Ok(NamedFieldCut {
                joint: joint.map(str::to_owned),
                cut: FieldCut { direction, offset },
            })
        };
        for (text, expected) in [
            ("camera", named(None, Camera, 0.0)),
            ("across:-0.5", named(None, Across, -0.5)),
            ("forearm.L:along", named(Some("forearm.L"), Along, 0.0)),
            (
                "mixamorig:Hips:across:1",
                named(Some("mixamorig:Hips"), Across, 1.0),
            ),
        ] {
            assert_eq!(parse_field_cut(text), expected, "{text}");
        }
        for wrong in ["", "sideways", "along:2", "along:nan", ":along", "hips"] {
            assert!(parse_field_cut(wrong).is_err(), "{wrong}");
        }
    }
}
