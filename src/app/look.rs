//! Labels of display settings.

pub use crate::render::{
    Backdrop, ColorMap, CutPlane, FieldCut, FieldDirection, Look, Matcap, OnionSkins, Shading,
    SkinColors,
};
use crate::session::SnapshotContent;
pub use crate::studio::painter::needs_numbers;

/// Name and description of a shading.
#[must_use]
pub fn shading_words(shading: Shading) -> (&'static str, &'static str) {
    match shading {
        Shading::Textured => (
            "Textured",
            "Colours and textures of the file in a neutral studio",
        ),
        Shading::Studio => (
            "Studio",
            "Clay in a neutral studio: the shape without the colours",
        ),
        Shading::Matcap => ("Matcap", "A ball of some material, looked up by the normal"),
        Shading::Flat => ("Flat", "One tone per face: the triangles as they are"),
    }
}

/// Name of a matcap.
#[must_use]
pub fn matcap_name(matcap: Matcap) -> &'static str {
    match matcap {
        Matcap::Clay => "Clay",
        Matcap::Porcelain => "Porcelain",
        Matcap::Wax => "Red wax",
        Matcap::Metal => "Dark metal",
        Matcap::Zebra => "Zebra",
        Matcap::Normals => "Normals",
    }
}

/// Name and description of a skin colouring.
#[must_use]
pub fn colors_words(colors: SkinColors) -> (&'static str, &'static str) {
    match colors {
        SkinColors::Material => ("Material", "The skin looks as its shading says"),
        SkinColors::Weights => (
            "Weights",
            "How much the selected joint moves each vertex by linear blending",
        ),
        SkinColors::WeightDifference => (
            "Weight difference",
            "How much more (red) or less (blue) the selected joint moves each vertex than by other weights",
        ),
        SkinColors::Stiffness => (
            "Painted stiffness",
            "How much stiffer (red) or softer (blue) the flesh was painted",
        ),
        SkinColors::Thickness => (
            "Painted thickness",
            "How much thinner the flesh was painted",
        ),
        SkinColors::Relaxation => (
            "Painted relaxation",
            "How far implicit skinning was painted to relax the skin",
        ),
        SkinColors::Held => ("Painted hold", "How far the flesh was painted to be held"),
        SkinColors::Strain => (
            "Stretch",
            "How much longer (red) or shorter (blue) the edges are than at rest",
        ),
    }
}

/// Name of a backdrop.
#[must_use]
pub fn backdrop_name(backdrop: Backdrop) -> &'static str {
    match backdrop {
        Backdrop::Dark => "Dark",
        Backdrop::Light => "Light",
        Backdrop::White => "White",
        Backdrop::Gradient => "Sky",
        Backdrop::Transparent => "None",
    }
}

/// What snapshots must hold for a look.
#[must_use]
pub fn wants_of(look: &Look) -> SnapshotContent {
    let numbers = needs_numbers(look) || look.colors == SkinColors::Strain;
    SnapshotContent {
        contacts: look.contacts,
        velocities: look.velocities,
        numbers,
        weights: look.colors.is_of_joint(),
        explains: None,
    }
}
