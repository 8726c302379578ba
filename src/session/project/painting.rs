//! Painted materials in a project: codes by source vertex, as runs of painted vertices.

use super::file::{MapPart, PaintPart};
use crate::character::{Character, FleshPaint, PaintMap, codes_of, runs_of};

/// The paint of a document.
pub(super) fn part_of(paint: &FleshPaint) -> PaintPart {
    let maps = PaintMap::ALL.into_iter();
    let painted = maps.filter_map(|map| {
        let codes = paint.codes(map)?;
        let (vertices, runs) = (codes.len(), runs_of(codes));
        Some((map.id().to_owned(), MapPart { vertices, runs }))
    });
    painted.collect()
}

/// The paint of a project; what does not fit is told in a sentence.
pub(super) fn restored(
    part: &PaintPart,
    character: &Character,
    notes: &mut Vec<String>,
) -> FleshPaint {
    let mut paint = FleshPaint::default();
    for (id, painted) in part {
        let Some(map) = PaintMap::from_id(id) else {
            notes.push(format!(
                "there is no material \"{}\" to paint here: it was ignored",
                id.replace(char::is_control, " ")
            ));
            continue;
        };
        let vertices = character.source_vertices();
        let codes = (painted.vertices == vertices).then(|| codes_of(vertices, &painted.runs));
        match codes.flatten() {
            Some(codes) => paint.set(map, codes),
            None => notes.push(format!(
                "the painted {} was ignored: the character has other vertices than when it was painted",
                map.label().to_lowercase()
            )),
        }
    }
    paint
}
