//! Bounds of a posed character, computed without its vertices.

use super::blending::{PaletteEntry, VertexSource};
use super::recipe::Recipe;
use crate::math::{Affine, Point, Point64};
use crate::mesh::Bounds;

/// Boxes of the vertices that each transform moves. A linearly blended vertex lies between its transforms' images, so that
/// the box contains it; flesh and other blends may bulge out slightly.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Reach {
    moved: Vec<(PaletteEntry, Bounds)>,
    still: Option<Bounds>,
}

impl Reach {
    pub(super) fn new(recipe: &Recipe) -> Self {
        let mut moved: Vec<_> = recipe
            .palette
            .iter()
            .map(|&entry| (entry, Bounds::of([])))
            .collect();
        let mut still = Bounds::of([]);
        for (source, position) in recipe.sources.iter().zip(&recipe.positions) {
            if let VertexSource::Blended { rest, first } | VertexSource::Deformed { rest, first } =
                source
            {
                for influence in &recipe.influences[*first as usize..] {
                    for entry in recipe.blending.entries(influence.entry, moved.len()) {
                        grow(&mut moved[entry as usize].1, rest);
                    }
                    if influence.is_last {
                        break;
                    }
                }
            } else {
                grow(&mut still, position);
            }
        }
        moved.retain(|(_, bounds)| !bounds.is_empty());
        Self {
            moved,
            still: (!still.is_empty()).then_some(still),
        }
    }

    /// A box around the posed character; `joints` has one transform per joint of its skeleton.
    #[must_use]
    pub fn bounds(&self, world_from_joint: &[Affine]) -> Bounds {
        let mut bounds = self.still.unwrap_or_else(|| Bounds::of([]));
        for (entry, rest) in &self.moved {
            let Some(world) = world_from_joint.get(entry.joint) else {
                continue;
            };
            let world_from_rest = world * entry.joint_from_rest;
            for corner in 0..8 {
                let pick = |axis: usize| {
                    f64::from(if corner >> axis & 1 == 0 {
                        rest.min[axis]
                    } else {
                        rest.max[axis]
                    })
                };
                grow(
                    &mut bounds,
                    &(world_from_rest * Point64::new(pick(0), pick(1), pick(2))).cast::<f32>(),
                );
            }
        }
        bounds
    }
}

fn grow(bounds: &mut Bounds, point: &Point) {
    if point.iter().all(|c| c.is_finite()) {
        bounds.min = bounds.min.inf(point);
        bounds.max = bounds.max.sup(point);
    }
}
