//! Sections of the skin around the joints, coloured by the change of their girth.

use std::sync::Arc;

use super::Moment;
use crate::mesh::TriMesh;
use crate::methods::Subject;
use crate::metrics::RestSkin;
use crate::metrics::girth::Sections;
use crate::progress::Progress;
use crate::render::colormap::ColorMap;
use crate::render::legend::Legend;
use crate::render::overlay::Overlay;

/// Changes beyond this, per cent, have the colours at the ends.
const RANGE: f32 = 40.0;
/// Sections are drawn this much wider than the skin, so that it does not cover them.
const OUTWARD: f64 = 1.006;
/// Width of the lines, pixels.
const WIDTH: f32 = 2.5;

/// The sections of one character.
pub(super) struct SectionOverlay {
    subject: Arc<Subject>,
    sections: Sections,
    source_from_skin: Vec<u32>,
    skin: TriMesh,
}

impl SectionOverlay {
    pub fn of(subject: &Arc<Subject>) -> Self {
        let rest = RestSkin::of(subject);
        Self {
            subject: subject.clone(),
            sections: Sections::of(&rest),
            source_from_skin: rest.source_from_skin,
            skin: rest.mesh,
        }
    }

    pub fn is_of(&self, subject: &Arc<Subject>) -> bool {
        Arc::ptr_eq(&self.subject, subject)
    }

    /// Adds a loop around every joint; the legend is that of their colours.
    pub fn add(&mut self, overlay: &mut Overlay, moment: &Moment<'_>) -> Option<Legend> {
        for (own, &source) in self.skin.positions.iter_mut().zip(&self.source_from_skin) {
            *own = *moment.positions.get(source as usize)?;
        }
        let legend = Legend {
            title: "Girth change".to_owned(),
            unit: "%",
            range: [-RANGE, RANGE],
            map: ColorMap::Diverging,
        };
        let sections = self
            .sections
            .at(&self.skin, moment.world_from_joint, &Progress::new())
            .ok()?;
        for section in sections {
            let count = section.points.len().max(1) as f64;
            let middle = section
                .points
                .iter()
                .map(|p| p.coords)
                .sum::<crate::math::Vec64>()
                / count;
            let outline: Vec<_> = section
                .points
                .iter()
                .map(|p| {
                    (middle + (p.coords - middle) * OUTWARD)
                        .cast::<f32>()
                        .into()
                })
                .collect();
            let share = (section.change * 100.0) as f32 / (2.0 * RANGE) + 0.5;
            overlay.polyline(
                &outline,
                true,
                legend.map.rgba(share.clamp(0.0, 1.0)),
                WIDTH,
            );
        }
        Some(legend)
    }
}
