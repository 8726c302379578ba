//! What is drawn over the skin, and how.

use egui::Ui;

use crate::app::actions::{Action, Actions, Overlays};

/// What the panel may read.
#[derive(Debug, Clone, Copy)]
pub struct OverlaysView {
    /// What is drawn now.
    pub overlays: Overlays,
    /// Whether the character has textures.
    pub has_textures: bool,
    /// Whether there is flesh to show.
    pub has_tissue: bool,
}

/// Draws the panel.
pub fn overlays_ui(ui: &mut Ui, view: &OverlaysView, actions: &mut Actions) {
    let mut edited = view.overlays;
    let tissue = (view.has_tissue, "Shown once the flesh has been built (projective dynamics)");
    let textures = (view.has_textures, "This character brought no textures");
    let always = (true, "");
    ui.columns(2, |columns| {
        let [left, right] = columns else { return };
        check(left, &mut edited.skin, "Skin", "The surface everybody sees", always);
        check(left, &mut edited.textures, "Textures", "Base colours of the file", textures);
        check(left, &mut edited.wireframe, "Wireframe", "Edges of the skin's triangles", always);
        check(left, &mut edited.ground, "Ground", "Grid and contact shadow", always);
        check(right, &mut edited.bones, "Bones", "From each joint to its children (B)", always);
        check(right, &mut edited.bone_volumes, "Bone volumes", "Spheres and cones the flesh grows on", tissue);
        check(right, &mut edited.base_surface, "Base surface", "The skin shrunken onto the bone volumes", tissue);
        check(right, &mut edited.tets, "Tetrahedra", "The flesh between skin and bone", tissue);
    });
    if edited != view.overlays {
        actions.push(Action::SetOverlays(edited));
    }
}

fn check(ui: &mut Ui, value: &mut bool, name: &str, hover: &str, (enabled, why_not): (bool, &str)) {
    ui.add_enabled(enabled, egui::Checkbox::new(value, name)).on_hover_text(hover).on_disabled_hover_text(why_not);
}
