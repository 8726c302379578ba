//! Materials painted onto the skin.

use std::sync::Arc;

use super::{EditContext, Editor};
use crate::character::{Brush, BrushPoint, PaintMap, PaintSurface};
use crate::mesh::SkinMesh;
use crate::session::Level;

/// A change of the codes of a map.
type PaintEdit = Box<dyn Fn(&PaintSurface, &mut [i16])>;

/// Commands that paint. All are undoable; a stroke of touches is one step. The flesh takes the paint up when the stroke ends.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum PaintCommand {
    /// One touch of the brush.
    Touch {
        /// What is painted.
        map: PaintMap,
        /// The brush.
        brush: Brush,
        /// Where, in the bind pose.
        at: BrushPoint,
        /// Whether the other side of the body is painted, too.
        mirrored: bool,
    },
    /// Ends a stroke.
    Lift(PaintMap),
    /// Sets one value on the whole skin.
    Fill {
        /// What is painted.
        map: PaintMap,
        /// The value, see [`PaintMap::value`].
        value: f32,
    },
    /// Removes a map.
    Clear(PaintMap),
}

impl PaintCommand {
    /// What is painted.
    fn map(&self) -> PaintMap {
        match self {
            Self::Touch { map, .. }
            | Self::Lift(map)
            | Self::Fill { map, .. }
            | Self::Clear(map) => *map,
        }
    }

    /// Label of the command.
    #[must_use]
    pub fn label(&self) -> &'static str {
        match self {
            Self::Touch { map, .. } | Self::Lift(map) => match map {
                PaintMap::Stiffness => "Paint stiffness",
                PaintMap::Held => "Paint held",
                PaintMap::Thickness => "Paint thickness",
                PaintMap::Relaxation => "Paint relaxation",
            },
            Self::Fill { .. } => "Fill with paint",
            Self::Clear(_) => "Clear paint",
        }
    }
}

/// The skin for the brush.
#[derive(Default)]
pub(in crate::session) struct PaintTools {
    surface: Option<(Arc<SkinMesh>, Arc<PaintSurface>)>,
}

impl PaintTools {
    /// The skin to paint; made once for a character.
    fn surface(&mut self, skin: &Arc<SkinMesh>) -> Arc<PaintSurface> {
        if let Some((of, surface)) = &self.surface
            && Arc::ptr_eq(of, skin)
        {
            return surface.clone();
        }
        let surface = Arc::new(PaintSurface::of(skin));
        self.surface = Some((skin.clone(), surface.clone()));
        surface
    }
}

impl Editor {
    pub(in crate::session) fn apply_paint(
        &mut self,
        with: &mut EditContext<'_>,
        command: PaintCommand,
    ) {
        let Some(subject) = self.document.subject.clone() else {
            return;
        };
        let lacks_flesh = subject.flesh_if_made().is_some_and(|flesh| flesh.is_err());
        if command.map().is_of_flesh() && lacks_flesh {
            return with.add_message(Level::Info, NO_FLESH);
        }
        let (map, edit): (PaintMap, PaintEdit) = match command {
            PaintCommand::Lift(_) => return,
            PaintCommand::Clear(map) => return self.document.flesh.paint.clear(map),
            PaintCommand::Fill { map, value } => {
                let code = map.code(value);
                let fill = move |surface: &PaintSurface, codes: &mut [i16]| {
                    surface.fill(code, codes);
                };
                (map, Box::new(fill))
            }
            PaintCommand::Touch {
                map,
                brush,
                at,
                mirrored,
            } => {
                let other = mirrored.then(|| self.mirrored(&at)).flatten();
                let touch = move |surface: &PaintSurface, codes: &mut [i16]| {
                    for at in [Some(at), other].into_iter().flatten() {
                        surface.touch(map, &brush, &at, codes);
                    }
                };
                (map, Box::new(touch))
            }
        };
        let surface = self.paint_tools.surface(&subject.skin);
        let paint = &mut self.document.flesh.paint;
        let known = paint.codes(map).map(<[i16]>::to_vec);
        let mut codes = known.unwrap_or_default();
        codes.resize(surface.source_vertices(), 0);
        edit(&surface, &mut codes);
        paint.set(map, codes);
    }

    /// The same place on the other side of the body; `None` if it has no sides, or lies between them.
    fn mirrored(&self, at: &BrushPoint) -> Option<BrushPoint> {
        let symmetry = self.pose_tools.symmetry().filter(|of| of.has_pairs())?;
        let position = symmetry.mirrored_point(&at.position.cast()).cast::<f32>();
        let normal = symmetry.mirrored_vector(&at.normal.cast()).cast::<f32>();
        (position != at.position).then_some(BrushPoint { position, normal })
    }

    /// Takes back a stroke that is in progress.
    pub(in crate::session) fn revert_paint(&mut self) {
        if let Some(before) = self.history.gesture_start() {
            let paint = before.flesh.paint.clone();
            self.document.flesh.paint = paint;
        }
    }
}

const NO_FLESH: &str =
    "This character has no flesh that is simulated, so there is nothing to paint materials on.";
