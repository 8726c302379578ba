//! What can be shown beside the skin: the switches of a view's look, in one table for the panel and the palette.

use egui::{Checkbox, Ui};

use super::LookView;
use crate::app::look::Look;

/// What a switch needs to have an effect.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Needs {
    Nothing,
    Bones,
    Ground,
    Tissue,
    Fields,
}

/// A switch of a look.
#[derive(Debug, Clone, Copy)]
pub struct Overlay {
    /// Its name.
    pub name: &'static str,
    /// What it shows.
    pub sentence: &'static str,
    /// Synonyms for the search.
    pub words: &'static str,
    /// Column of the panel; 2 is the line of the ground.
    pub(super) column: usize,
    needs: Needs,
    field: fn(&mut Look) -> &mut bool,
}

impl Overlay {
    /// Whether it has an effect now.
    #[must_use]
    pub fn usable(&self, view: &LookView) -> bool {
        self.why_not(view).is_none()
    }

    /// Whether it is on.
    #[must_use]
    pub fn is_on(&self, look: &Look) -> bool {
        *(self.field)(&mut { *look })
    }

    /// Switches it.
    pub fn set(&self, look: &mut Look, on: bool) {
        *(self.field)(look) = on;
    }

    fn why_not(&self, view: &LookView) -> Option<&'static str> {
        match self.needs {
            Needs::Bones if !view.look.bones => Some("For bones"),
            Needs::Ground if !view.look.ground => Some("On the ground"),
            Needs::Tissue if !view.has_tissue => {
                Some("Shown once the flesh has been built (projective dynamics)")
            }
            Needs::Fields if !view.has_fields && !view.look.fields => {
                Some("Only implicit skinning composes fields")
            }
            _ => None,
        }
    }

    /// Draws its check box.
    pub(super) fn ui(&self, ui: &mut Ui, view: &LookView, look: &mut Look) {
        let why_not = self.why_not(view);
        let response = ui
            .add_enabled(
                why_not.is_none(),
                Checkbox::new((self.field)(look), self.name),
            )
            .on_hover_text(self.sentence)
            .on_disabled_hover_text(why_not.unwrap_or_default());
        crate::app::spotlight::mark(ui, self.name, response.rect);
    }
}

/// All switches, in the order of the panel.
pub static OVERLAYS: [Overlay; 17] = [
    Overlay {
        name: "Skin",
        sentence: "The surface everybody sees",
        words: "surface mesh hide",
        column: 0,
        needs: Needs::Nothing,
        field: |look| &mut look.skin,
    },
    Overlay {
        name: "Wireframe",
        sentence: "Edges of the skin's triangles",
        words: "wire mesh edges triangles topology",
        column: 0,
        needs: Needs::Nothing,
        field: |look| &mut look.wireframe,
    },
    Overlay {
        name: "Normals",
        sentence: "Short lines out of the skin",
        words: "perpendicular direction shading lines",
        column: 0,
        needs: Needs::Nothing,
        field: |look| &mut look.normals,
    },
    Overlay {
        name: "Bones",
        sentence: "From each joint to its children (B)",
        words: "skeleton rig armature",
        column: 0,
        needs: Needs::Nothing,
        field: |look| &mut look.bones,
    },
    Overlay {
        name: "In front",
        sentence: "Bones are seen through the skin",
        words: "bones x-ray",
        column: 0,
        needs: Needs::Bones,
        field: |look| &mut look.bones_in_front,
    },
    Overlay {
        name: "Sections",
        sentence: "A loop around every joint, coloured by the change of its girth",
        words: "girth loops rings circumference",
        column: 0,
        needs: Needs::Nothing,
        field: |look| &mut look.sections,
    },
    Overlay {
        name: "Findings",
        sentence: "Places that the check-up found",
        words: "check-up problems marks",
        column: 0,
        needs: Needs::Nothing,
        field: |look| &mut look.findings,
    },
    Overlay {
        name: "Voxel domain",
        sentence: "The cells that automatic weights are computed on, in the bind pose, and the nodes inside of bones in one colour per joint",
        words: "voxels grid cells volume weights",
        column: 0,
        needs: Needs::Nothing,
        field: |look| &mut look.voxels,
    },
    Overlay {
        name: "Bone volumes",
        sentence: "Spheres and cones the flesh grows on",
        words: "capsules radius volumetric",
        column: 1,
        needs: Needs::Tissue,
        field: |look| &mut look.bone_volumes,
    },
    Overlay {
        name: "Base surface",
        sentence: "The skin shrunken onto the bone volumes",
        words: "inner surface core",
        column: 1,
        needs: Needs::Tissue,
        field: |look| &mut look.base_surface,
    },
    Overlay {
        name: "Tetrahedra",
        sentence: "The flesh between skin and bone",
        words: "volumetric mesh inside tissue",
        column: 1,
        needs: Needs::Tissue,
        field: |look| &mut look.tets,
    },
    Overlay {
        name: "Foot points",
        sentence: "From each vertex to its point on the bone",
        words: "projection",
        column: 1,
        needs: Needs::Tissue,
        field: |look| &mut look.feet,
    },
    Overlay {
        name: "Contacts",
        sentence: "Pairs of the skin that touch",
        words: "collisions touching",
        column: 1,
        needs: Needs::Tissue,
        field: |look| &mut look.contacts,
    },
    Overlay {
        name: "Velocities",
        sentence: "How fast the flesh moves, and where to",
        words: "speed arrows motion",
        column: 1,
        needs: Needs::Tissue,
        field: |look| &mut look.velocities,
    },
    Overlay {
        name: "Field",
        sentence: "The composed field of implicit skinning in a plane through the selected joint: iso-lines, the regions of the parts, and where parts touch",
        words: "fields implicit iso-lines contact parts surface section",
        column: 1,
        needs: Needs::Fields,
        field: |look| &mut look.fields,
    },
    Overlay {
        name: "Ground",
        sentence: "Contact shadow on the floor",
        words: "floor shadow plane",
        column: 2,
        needs: Needs::Nothing,
        field: |look| &mut look.ground,
    },
    Overlay {
        name: "Grid",
        sentence: "Lines at round lengths",
        words: "floor lines units scale",
        column: 2,
        needs: Needs::Ground,
        field: |look| &mut look.grid,
    },
];
