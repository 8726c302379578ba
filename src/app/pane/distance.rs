//! Numbers of a distance map: the largest and the mean distance, and that under the pointer.

use egui::Context;

use crate::app::viewport::picking::pick_vertex;
use crate::app::viewport::screen_map::ScreenMap;
use crate::session::{Session, Snapshot, ViewId};

/// Distances of the skin from where a second method puts it, millimetres.
#[derive(Debug, Clone, Copy, PartialEq)]
#[expect(clippy::struct_field_names, reason = "the unit")]
pub(super) struct Distances {
    /// The largest one.
    max_mm: f32,
    /// The mean over all vertices.
    mean_mm: f32,
    /// That of the vertex under the pointer.
    here_mm: Option<f32>,
}

impl Distances {
    /// The distances in a view; `None` until both methods have a state.
    pub(super) fn of(
        session: &Session,
        view: ViewId,
        map: Option<&ScreenMap>,
        ctx: &Context,
    ) -> Option<Self> {
        let own = session.snapshot_of(view)?;
        let other = session.compared_snapshot_of(view)?;
        let vertex = map.and_then(|map| {
            let pointer = ctx.pointer_hover_pos()?;
            let inside = map.rect().contains(pointer);
            inside.then(|| pick_vertex(&map.ray(pointer), &own))?
        });
        Self::between(&own, &other, vertex)
    }

    fn between(own: &Snapshot, other: &Snapshot, vertex: Option<usize>) -> Option<Self> {
        let mm_per_unit = (own.subject.metres_per_unit() * 1e3) as f32;
        let (positions, others) = (own.positions(), other.positions());
        if positions.len() != others.len() || positions.is_empty() {
            return None;
        }
        let distance_mm = |vertex: usize| {
            Some((positions.get(vertex)? - others.get(vertex)?).norm() * mm_per_unit)
        };
        let (mut max_mm, mut sum_mm) = (0.0_f32, 0.0_f64);
        for distance in (0..positions.len()).filter_map(distance_mm) {
            max_mm = max_mm.max(distance);
            sum_mm += f64::from(distance);
        }
        Some(Self {
            max_mm,
            mean_mm: (sum_mm / positions.len() as f64) as f32,
            here_mm: vertex.and_then(distance_mm),
        })
    }

    /// As text: "at most 12.3 mm, 1.20 mm on average, 3.4 mm here".
    pub(super) fn sentence(&self) -> String {
        let mm = |number: f32| {
            let decimals = if number < 9.95 { 2 } else { 1 };
            format!("{number:.decimals$} mm")
        };
        let here = self
            .here_mm
            .map_or_else(String::new, |here| format!(", {} here", mm(here)));
        let (max, mean) = (mm(self.max_mm), mm(self.mean_mm));
        format!("at most {max}, {mean} on average{here}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::methods::MethodId;
    use crate::session::{Command, Source};

    #[test]
    fn numbers_are_those_of_the_vertices() {
        let mut session = Session::new();
        session.apply_once(Command::SetMethod(MethodId::LBS));
        session.apply_once(Command::Open(Source::builtin("cylinder")));
        let start = std::time::Instant::now();
        while session.snapshot().is_none() || !session.jobs().is_empty() {
            assert!(start.elapsed() < std::time::Duration::from_mins(1));
            session.tick(0.01);
            std::thread::sleep(std::time::Duration::from_millis(1));
        }
        let own = session.snapshot().unwrap();
        let mut other = Snapshot::clone(&own);
        let mut moved = own.positions().to_vec();
        moved[3].x += 0.25;
        moved[5].y -= 0.05;
        other.shape = crate::session::Shape::new(moved, own.normals().to_vec(), Vec::new());
        let mm = (own.subject.metres_per_unit() * 1e3) as f32;
        let found = Distances::between(&own, &other, Some(5)).unwrap();
        let close = |a: f32, b: f32| (a - b).abs() < 1e-3 * b.abs().max(1e-3);
        assert!(close(found.max_mm, 0.25 * mm), "{found:?}");
        let count = own.positions().len() as f32;
        assert!(close(found.mean_mm, 0.3 * mm / count), "{found:?}");
        assert!(found.here_mm.is_some_and(|here| close(here, 0.05 * mm)));
        assert!(found.sentence().ends_with(" here"), "{}", found.sentence());
        let away = Distances::between(&own, &other, None).unwrap();
        assert!(away.sentence().ends_with(" on average"));
    }
}
