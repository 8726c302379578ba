//! Overlays on and inside a character: bones, volumes, base surface, tets, voxels, fields, foot points,
//! contacts, velocities, normals, sections, findings. Window and command line create them by the same code, from a
//! [`Moment`] and a [`Look`].
//!
//! | lifetime      | type                                                         |
//! |---------------|--------------------------------------------------------------|
//! | per character | `TissueOverlay`: tables that do not depend on the pose         |
//! | per view      | [`Extras`]: overlays, updated in place for each moment         |
//! | per frame     | [`Moment`]                                                    |

mod fields;
mod inside;
mod on_skin;
mod sections;
mod tets;
mod voxels;

use std::sync::Arc;

pub use self::fields::field_note;
use self::inside::TissueOverlay;
use self::sections::SectionOverlay;
pub use self::voxels::voxel_note;
use super::bones::{BoneState, skeleton_bones};
use super::legend::{Legend, SteadyRange};
use super::look::Look;
use super::overlay::{Overlay, OverlayLayer, Rgba};
use crate::character::Severity;
use crate::collision::Contact;
use crate::math::{Affine, Point, Vec3, origin_of};
use crate::methods::{FieldSlice, Subject};

/// Radius of a joint's sphere, relative to the character's size.
const JOINT_RADIUS: f32 = 0.006;

/// The state of a character at one time.
#[derive(Debug, Clone, Copy)]
pub struct Moment<'a> {
    /// The character.
    pub subject: &'a Arc<Subject>,
    /// World positions of all source vertices.
    pub positions: &'a [Point],
    /// Their unit normals.
    pub normals: &'a [Vec3],
    /// World positions of the simulation mesh; empty for methods that do not simulate.
    pub simulated: &'a [Point],
    /// The joints.
    pub world_from_joint: &'a [Affine],
    /// Pairs of the simulation mesh in contact; empty if not requested.
    pub contacts: &'a [Contact],
    /// World units per second of all source vertices; empty if not requested.
    pub velocities: &'a [Vec3],
    /// The composed field in a plane, if there is one.
    pub fields: Option<&'a FieldSlice>,
}

/// A marked position.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct PositionMark {
    /// The source vertex it is at, if on the skin.
    pub vertex: Option<u32>,
    /// The joint it is at.
    pub joint: Option<usize>,
    /// Position in the bind pose.
    pub at_rest: Point,
    /// Radius of the relevant region.
    pub radius: f32,
    /// Its colour.
    pub color: Rgba,
}

impl PositionMark {
    /// The colour for a severity.
    #[must_use]
    pub(crate) fn color_of(severity: Severity) -> Rgba {
        match severity {
            Severity::Info => [150, 196, 224, 255],
            Severity::Mended => [118, 200, 236, 255],
            Severity::Warning => [255, 190, 84, 255],
        }
    }
}

/// The marks of a view.
#[derive(Debug, Clone, Copy, Default)]
pub struct Marked<'a> {
    /// The selected joints.
    pub selected: &'a [usize],
    /// The joint under the pointer.
    pub hovered: Option<usize>,
    /// Places.
    pub marks: &'a [PositionMark],
}

/// Overlays of one view.
pub struct Extras {
    inside: Option<TissueOverlay>,
    sections: Option<SectionOverlay>,
    /// Drawn among the surfaces.
    solid: Overlay,
    /// Visible through the skin, sorted among themselves.
    front: Overlay,
    /// Lines and points in front of everything.
    over: Overlay,
    speed: SteadyRange,
    legends: Vec<Legend>,
}

impl Default for Extras {
    fn default() -> Self {
        Self {
            inside: None,
            sections: None,
            solid: Overlay::new(OverlayLayer::Solid),
            front: Overlay::new(OverlayLayer::Front),
            over: Overlay::new(OverlayLayer::FrontGlass),
            speed: SteadyRange::default(),
            legends: Vec::new(),
        }
    }
}

impl Extras {
    /// The overlays to draw, after [`Extras::update`].
    #[must_use]
    pub fn overlays(&self) -> [&Overlay; 3] {
        [&self.solid, &self.over, &self.front]
    }

    /// The legends of their colours.
    #[must_use]
    pub fn legends(&self) -> &[Legend] {
        &self.legends
    }

    /// Builds everything that the look requests.
    pub fn update(&mut self, look: &Look, moment: Option<&Moment<'_>>, marked: &Marked<'_>) {
        for overlay in [&mut self.solid, &mut self.front, &mut self.over] {
            overlay.clear();
        }
        self.legends.clear();
        let Some(moment) = moment else { return };
        if moment.world_from_joint.len() != moment.subject.character.skeleton.len() {
            return;
        }
        self.add_inside(look, moment);
        if look.voxels
            && let Some(voxels) = moment.subject.voxels_if_made()
        {
            voxels::add_voxels(&mut self.solid, voxels);
        }
        if let Some(slice) = moment.fields.filter(|_| look.fields) {
            fields::add_fields(&mut self.solid, &mut self.over, slice);
        }
        if look.bones {
            let overlay = if look.bones_in_front {
                &mut self.front
            } else {
                &mut self.solid
            };
            add_bones(overlay, moment, marked);
        }
        if look.normals {
            on_skin::add_normals(&mut self.solid, moment);
        }
        if look.velocities {
            self.legends.extend(on_skin::add_velocities(
                &mut self.solid,
                moment,
                &mut self.speed,
            ));
        }
        if look.sections {
            let made = self.sections.take().filter(|of| of.is_of(moment.subject));
            let sections = made.unwrap_or_else(|| SectionOverlay::of(moment.subject));
            let sections = self.sections.insert(sections);
            self.legends.extend(sections.add(&mut self.solid, moment));
        }
        if look.findings {
            on_skin::add_marks(&mut self.over, moment, marked.marks);
        }
    }

    fn add_inside(&mut self, look: &Look, moment: &Moment<'_>) {
        let (true, Some(Ok(flesh))) = (look.shows_flesh(), moment.subject.flesh_if_made()) else {
            return;
        };
        if self
            .inside
            .as_ref()
            .is_none_or(|inside| !inside.is_of(moment.subject))
        {
            self.inside = Some(TissueOverlay::of(moment.subject, &flesh.tissue));
        }
        let Some(inside) = &mut self.inside else {
            return;
        };
        inside.place(&flesh.tissue, moment);
        if look.bone_volumes {
            self.solid.bone_volumes(&flesh.tissue.graph, inside.frame());
        }
        if look.base_surface {
            inside.add_base_surface(&mut self.solid);
        }
        if look.tets {
            match &look.cut {
                Some(cut) => self.legends.extend(inside.add_cells(
                    &mut self.solid,
                    &flesh.tissue,
                    cut,
                    look.colors,
                )),
                None => inside.add_edges(&mut self.solid),
            }
        }
        if look.feet {
            inside.add_feet(&mut self.solid, &flesh.tissue);
        }
        if look.contacts {
            inside.add_contacts(&mut self.over, moment.contacts);
        }
    }
}

fn add_bones(overlay: &mut Overlay, moment: &Moment<'_>, marked: &Marked<'_>) {
    let mut bones = skeleton_bones(&moment.subject.character.skeleton, moment.world_from_joint);
    for (joint, glyph) in &mut bones {
        if marked.selected.contains(joint) {
            glyph.state = BoneState::Selected;
        } else if marked.hovered == Some(*joint) {
            glyph.state = BoneState::Hovered;
        }
    }
    overlay.bones(
        bones.iter().map(|(_, glyph)| glyph),
        moment.subject.size * JOINT_RADIUS,
    );
}

/// World position of a mark at a moment.
fn place_of(mark: &PositionMark, moment: &Moment<'_>) -> Point {
    let on_skin = mark
        .vertex
        .and_then(|vertex| moment.positions.get(vertex as usize))
        .copied();
    let at_joint = || {
        mark.joint
            .and_then(|joint| moment.world_from_joint.get(joint))
            .map(|world| origin_of(world).cast())
    };
    on_skin.or_else(at_joint).unwrap_or(mark.at_rest)
}
