//! Long lists: only visible rows are drawn.

use egui::{Rect, Sense, Ui, pos2, vec2};

/// Rows drawn above and below the visible ones, so that the keyboard focus can move to them and scroll the list.
const BEYOND: usize = 3;

/// Geometry of a list's rows.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct RowPlacement {
    whole: Rect,
    height: f32,
}

impl RowPlacement {
    /// The rectangle of a row, visible or not.
    pub(in crate::app) fn place(&self, row: usize) -> Rect {
        let top = self.whole.top() + self.height * row as f32;
        Rect::from_min_max(
            pos2(self.whole.left(), top),
            pos2(self.whole.right(), top + self.height),
        )
    }
}

/// Allocates `count` rows of equal height and draws the visible ones, their neighbours, and `kept`.
pub(in crate::app) fn rows_ui(
    ui: &mut Ui,
    count: usize,
    height: f32,
    kept: Option<usize>,
    mut draw: impl FnMut(&mut Ui, usize, Rect),
) -> RowPlacement {
    let (whole, _) = ui.allocate_exact_size(
        vec2(ui.available_width(), height * count as f32),
        Sense::hover(),
    );
    let rows = RowPlacement { whole, height };
    let sight = ui.clip_rect();
    let row_at = |y: f32| ((y - whole.top()) / height).floor().max(0.0) as usize;
    let from = row_at(sight.top()).saturating_sub(BEYOND).min(count);
    let to = row_at(sight.bottom())
        .saturating_add(BEYOND + 1)
        .min(count)
        .max(from);
    let kept = kept.filter(|row| *row < count && !(from..to).contains(row));
    for row in (from..to).chain(kept) {
        draw(ui, row, rows.place(row));
    }
    rows
}

#[cfg(test)]
mod tests {
    use std::cell::RefCell;
    use std::rc::Rc;

    use egui::{ScrollArea, vec2};
    use egui_kittest::Harness;

    use super::*;

    #[test]
    fn only_visible_rows_are_drawn_and_all_take_space() {
        let drawn = Rc::new(RefCell::new(Vec::new()));
        let seen = drawn.clone();
        let mut harness = Harness::builder()
            .with_size(vec2(200.0, 300.0))
            .build_ui(move |ui| {
                seen.borrow_mut().clear();
                let output = ScrollArea::vertical()
                    .vertical_scroll_offset(10_000.0)
                    .max_height(200.0)
                    .show(ui, |ui| {
                        let rows = rows_ui(ui, 1000, 20.0, Some(3), |_, row, rect| {
                            seen.borrow_mut().push((row, rect));
                        });
                        assert_eq!(rows.place(999).bottom() - rows.place(0).top(), 20_000.0);
                    });
                assert!((output.content_size.y - 20_000.0).abs() < 1.0);
            });
        harness.run();
        let drawn = drawn.borrow();
        let rows: Vec<usize> = drawn.iter().map(|(row, _)| *row).collect();
        assert!(
            rows.contains(&500) && rows.contains(&509) && rows.contains(&3),
            "{rows:?}"
        );
        assert!(rows.len() < 30, "{} rows are drawn", rows.len());
        assert!(drawn.iter().all(|(_, rect)| rect.height() == 20.0));
    }

    #[test]
    fn an_empty_list_has_no_rows() {
        let mut harness = Harness::new_ui(|ui| {
            rows_ui(ui, 0, 20.0, Some(0), |_, row, _| panic!("row {row}"));
        });
        harness.run();
    }
}
