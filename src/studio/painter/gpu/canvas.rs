//! Canvases: their render targets, and resources drawn with each snapshot.

use std::sync::Arc;

use super::super::pool::StateKey;
use super::super::{Comparison, Picture};
use super::needs_numbers;
use crate::character::FleshPaint;
use crate::methods::{FieldSlice, Subject};
use crate::render::{
    Camera, Extras, Legend, Look, Marked, MeshColors, MeshModel, Moment, PositionMark,
    RenderTarget, Renderer, SkinColors, SkinPaint, SkinQuantity,
};
use crate::studio::{Compare, Snapshot};

/// Data of one canvas.
pub(super) struct Canvas {
    pub(super) target: RenderTarget,
    pub(super) texture: u64,
    pub(super) own: SideResources,
    /// The right-hand side of a wipe.
    pub(super) other: Option<Box<SideResources>>,
    pub(super) marks: Vec<PositionMark>,
    pub(super) drawn: Option<PictureKey>,
    pub(super) used: u64,
}

/// Resources drawn with one snapshot.
#[derive(Default)]
pub(super) struct SideResources {
    pub(super) extras: Extras,
    pub(super) paint: SkinPaint,
    pub(super) colors: Option<(Arc<MeshModel>, MeshColors)>,
    pub(super) legend: Option<Legend>,
}

/// All inputs of a picture; equal keys give equal pictures.
#[derive(Debug, Clone, PartialEq)]
pub(in crate::studio::painter) struct PictureKey {
    size: [u32; 2],
    scale: f32,
    camera: Camera,
    state: Option<StateKey>,
    crowd: Option<StateKey>,
    compared: Option<(StateKey, Compare, Option<f32>)>,
    ghosts: [Option<StateKey>; 2],
    selected: Vec<usize>,
    hovered: Option<usize>,
    look: Look,
    marks: Option<Arc<[PositionMark]>>,
    /// Whether the voxel domain can be drawn, of the state and of the compared one.
    voxels: [bool; 2],
    /// The cut through the composed field.
    fields: Option<Arc<FieldSlice>>,
    /// Whether the weights that a difference is to are known.
    compares_weights: bool,
    paint: Option<FleshPaint>,
    ground_height: f32,
}

impl PictureKey {
    pub(in crate::studio::painter) fn of(picture: &Picture<'_>) -> Self {
        // Hidden items must not affect the key.
        let bones = picture.look.bones;
        let chosen = bones || picture.look.colors.is_of_joint();
        Self {
            size: picture.size,
            scale: picture.scale,
            camera: *picture.camera,
            // Overlays of a crowd move with it.
            state: picture
                .snapshot
                .filter(|_| picture.crowd.is_none())
                .map(StateKey::of),
            crowd: picture.crowd.map(StateKey::of_crowd),
            compared: picture
                .compare
                .map(|compare| (StateKey::of(compare.with), compare.how, compare.max_mm)),
            ghosts: [
                picture.ghosts,
                picture.compare.and_then(|compare| compare.ghosts),
            ]
            .map(|ghosts| {
                ghosts
                    .filter(|_| picture.look.ghosts.any())
                    .map(StateKey::of_ghosts)
            }),
            selected: if chosen {
                picture.selected.to_vec()
            } else {
                Vec::new()
            },
            hovered: picture.hovered.filter(|_| bones),
            look: *picture.look,
            marks: picture.marks.filter(|_| picture.look.findings).cloned(),
            voxels: [
                picture.snapshot,
                picture.compare.map(|compare| compare.with),
            ]
            .map(|state| {
                picture.look.voxels
                    && state.is_some_and(|state| state.subject.voxels_if_made().is_some())
            }),
            fields: picture.fields.filter(|_| picture.look.fields).cloned(),
            compares_weights: picture
                .snapshot
                .is_some_and(|state| compared_weights(picture.look, state).is_some()),
            paint: picture
                .paint
                .filter(|_| picture.look.colors.paint().is_some())
                .cloned(),
            ground_height: picture.ground_height,
        }
    }
}

impl Canvas {
    pub(super) fn new(texture: u64, target: RenderTarget) -> Self {
        Self {
            target,
            texture,
            own: SideResources::default(),
            other: None,
            marks: Vec::new(),
            drawn: None,
            used: 0,
        }
    }

    /// Computes colours and overlays of both sides, and uploads the colours.
    pub(super) fn update(
        &mut self,
        renderer: &Renderer,
        model: Option<&Arc<MeshModel>>,
        picture: &Picture<'_>,
    ) {
        self.marks.clear();
        if let (true, Some(marks)) = (picture.look.findings, picture.marks) {
            self.marks.extend_from_slice(marks);
        }
        let fields = picture.fields.map(AsRef::as_ref);
        self.own
            .update(picture, picture.snapshot, fields, &self.marks);
        match picture.compare {
            Some(Comparison {
                with,
                how: Compare::Wipe(_),
                ..
            }) => {
                let other = self.other.get_or_insert_default();
                other.update(picture, Some(with), None, &self.marks);
                // One legend serves both sides.
                if let (Some(own), Some(others)) = (&mut self.own.legend, &mut other.legend) {
                    let range = if own.range[1] >= others.range[1] {
                        own.range
                    } else {
                        others.range
                    };
                    (own.range, others.range) = (range, range);
                    self.own.paint.recolor(own);
                    other.paint.recolor(others);
                }
                other.upload(renderer, model);
            }
            _ => self.other = None,
        }
        self.own.upload(renderer, model);
    }
}

impl SideResources {
    pub(super) fn update(
        &mut self,
        picture: &Picture<'_>,
        snapshot: Option<&Arc<Snapshot>>,
        fields: Option<&FieldSlice>,
        marks: &[PositionMark],
    ) {
        // Colours by number belong to one character, which is not drawn in a crowd.
        let snapshot_of_one = snapshot.filter(|_| picture.crowd.is_none());
        let against = snapshot_of_one.and_then(|snapshot| compared_weights(picture.look, snapshot));
        let quantity = snapshot_of_one.and_then(|snapshot| {
            let quantity = quantity_of(picture, snapshot, against.as_deref())?;
            Some((snapshot, quantity))
        });
        self.legend = quantity.map(|(snapshot, quantity)| {
            self.paint
                .update(&snapshot.subject, &quantity, picture.look.color_map)
        });
        let marked = Marked {
            selected: picture.selected,
            hovered: picture.hovered,
            marks,
        };
        self.extras.update(
            picture.look,
            snapshot
                .map(|snapshot| moment_of(snapshot, fields, picture.look))
                .as_ref(),
            &marked,
        );
    }

    /// Uploads the colours, if there are any.
    fn upload(&mut self, renderer: &Renderer, model: Option<&Arc<MeshModel>>) {
        let Some(model) = model.filter(|_| self.legend.is_some()) else {
            return;
        };
        if self
            .colors
            .as_ref()
            .is_none_or(|(mine, _)| !Arc::ptr_eq(mine, model))
        {
            self.colors = Some((model.clone(), MeshColors::new(renderer, model)));
        }
        if let Some((_, colors)) = &mut self.colors {
            colors.update(renderer.gpu(), self.paint.colors());
        }
    }
}

/// Unneeded numbers are not read back from the device.
fn moment_of<'a>(
    snapshot: &'a Snapshot,
    fields: Option<&'a FieldSlice>,
    look: &Look,
) -> Moment<'a> {
    let needed = needs_numbers(look);
    Moment {
        subject: &snapshot.subject,
        positions: if needed { snapshot.positions() } else { &[] },
        normals: if needed { snapshot.normals() } else { &[] },
        simulated: if needed { snapshot.simulated() } else { &[] },
        world_from_joint: &snapshot.world_from_joint,
        contacts: &snapshot.contacts,
        velocities: &snapshot.velocities,
        fields,
    }
}

/// The character with the weights that the look compares with; `None` if it does not, or they are not known yet.
pub(super) fn compared_weights(look: &Look, snapshot: &Snapshot) -> Option<Arc<Subject>> {
    let subject = &snapshot.subject;
    let compares = look.colors == SkinColors::WeightDifference && subject.weight_report().is_some();
    compares.then(|| subject.weighted_if_made(look.weights_against))?
}

/// The quantity that colours the skin: that of a comparison, otherwise that of the look.
/// `against` is the character with the weights that a difference is to ([`compared_weights`]).
pub(super) fn quantity_of<'a>(
    picture: &Picture<'a>,
    snapshot: &'a Arc<Snapshot>,
    against: Option<&'a Subject>,
) -> Option<SkinQuantity<'a>> {
    if let Some(Comparison {
        with,
        how: Compare::Difference,
        max_mm,
        ..
    }) = picture.compare
    {
        let methods = [snapshot.method.label(), with.method.label()];
        return Some(SkinQuantity::Difference {
            positions: snapshot.positions(),
            others: with.positions(),
            methods,
            max_mm,
        });
    }
    match picture.look.colors {
        SkinColors::Material => None,
        SkinColors::Weights => picture
            .selected
            .last()
            .map(|&joint| SkinQuantity::Weights { joint }),
        SkinColors::WeightDifference => {
            let &joint = picture.selected.last()?;
            Some(SkinQuantity::WeightDifference {
                joint,
                against: against?,
            })
        }
        // In a cut view, the cells show it.
        SkinColors::Strain if picture.look.tets && picture.look.cut.is_some() => None,
        SkinColors::Strain => Some(SkinQuantity::Strain {
            positions: snapshot.positions(),
        }),
        SkinColors::Stiffness
        | SkinColors::Held
        | SkinColors::Thickness
        | SkinColors::Relaxation => {
            let map = picture.look.colors.paint()?;
            let paint = picture.paint.unwrap_or(&snapshot.subject.settings.paint);
            let codes = paint.codes(map);
            Some(SkinQuantity::Painted { map, codes })
        }
    }
}
