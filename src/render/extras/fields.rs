//! The composed field of implicit skinning in a plane: regions of the parts, iso-lines, and where parts touch.

use crate::methods::{FieldSlice, Subject};
use crate::render::colormap::category;
use crate::render::field_cut::{FieldCut, FieldDirection};
use crate::render::overlay::{Overlay, Rgba};

/// Lines of the surface, of other iso-values, and of contacts, with their widths in pixels.
const SURFACE: (Rgba, f32) = ([16, 20, 26, 255], 2.5);
const ISO: (Rgba, f32) = ([16, 20, 26, 110], 1.0);
const CONTACT: (Rgba, f32) = ([255, 40, 30, 255], 3.5);
const OUTLINE: (Rgba, f32) = ([128, 140, 150, 150], 1.0);
/// How much of a part's colour a region has outside of the body; the rest is white.
const OUTSIDE: f32 = 0.35;

/// Adds a slice: regions among the surfaces, lines in front of the skin.
pub(super) fn add_fields(solid: &mut Overlay, over: &mut Overlay, slice: &FieldSlice) {
    for region in &slice.regions {
        let color = category(region.joint as usize);
        let [r, g, b] = if region.inside {
            color
        } else {
            color.map(paler)
        };
        solid.triangle(
            region.corners,
            [crate::math::Vec3::zeros(); 3],
            [r, g, b, 255],
        );
    }
    let (color, width) = OUTLINE;
    over.polyline(&slice.outline, true, color, width);
    for line in &slice.lines {
        let (color, width) = if line.is_surface() { SURFACE } else { ISO };
        over.line(&line.ends[0], &line.ends[1], color, width);
    }
    let (color, width) = CONTACT;
    for [from, to] in &slice.contacts {
        over.line(from, to, color, width);
    }
}

fn paler(channel: u8) -> u8 {
    (OUTSIDE * f32::from(channel) + (1.0 - OUTSIDE) * 255.0).round() as u8
}

/// What a cut through the field shows, in one line. `joint`: the one that it goes through.
///
/// ```text
/// Field along forearm.L: lines every 0.1, skin at 0.5; colours: parts; red: contact
/// ```
#[must_use]
pub fn field_note(subject: &Subject, cut: &FieldCut, joint: Option<usize>) -> String {
    let direction = match cut.direction {
        FieldDirection::Along => "along",
        FieldDirection::Across => "across",
        FieldDirection::Camera => "facing the camera at",
    };
    let joint = joint.and_then(|joint| subject.character.skeleton.joints().get(joint));
    let place = joint.map_or("the whole body", |joint| joint.name.as_str());
    format!("Field {direction} {place}: lines every 0.1, skin at 0.5; colours: parts; red: contact")
}
