//! Rows of keys: one for all, one for each selected joint (for each keyed one, if none is selected), and one for each keyed morph or
//! expression.

use egui::{
    Align2, Color32, CornerRadius, FontId, Painter, Pos2, Rect, Shape, Stroke, StrokeKind, Ui,
    pos2, vec2,
};

use super::{TimelineState, TimelineView};
use crate::app::theme;
use crate::character::Character;
use crate::rig::{Ease, Interpolation, KeyRef, Keyed, KeyedClip, MorphTrack, SAME_SECS};

/// Height of a row, points.
pub(super) const ROW: f32 = 18.0;
/// Half the width of a key, points.
const KEY: f32 = 4.5;

/// One row.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct KeyRow {
    /// What the keys move; none for all together.
    pub of: Option<Keyed>,
    pub name: String,
}

/// The rows and where they are.
#[derive(Debug, Clone)]
pub(super) struct RowLayout {
    pub rows: Vec<KeyRow>,
    pub rect: Rect,
    /// Scroll offset of all rows except the first, points.
    pub scroll: f32,
}

/// A key as drawn.
pub(super) struct KeyMark {
    pub row: usize,
    pub time_secs: f64,
    /// The interpolation; `None` if it may differ.
    pub ease: Option<Ease>,
}

impl RowLayout {
    /// No rows.
    pub(super) fn empty(rect: Rect) -> Self {
        Self {
            rows: Vec::new(),
            rect,
            scroll: 0.0,
        }
    }

    pub(super) fn of(view: &TimelineView<'_>, rect: Rect, scroll: f32) -> Self {
        let mut rows = Vec::new();
        if let (Some((_, take)), Some(skeleton)) = (view.take(), view.skeleton) {
            rows.push(KeyRow {
                of: None,
                name: if take.morphs().is_empty() {
                    "All joints"
                } else {
                    "All keys"
                }
                .to_owned(),
            });
            let planted = take.feet().plants().iter().map(|plant| plant.joint);
            let mut planted: Vec<usize> = planted.collect();
            planted.dedup();
            let keyed: Vec<usize> = take
                .tracks()
                .filter(|(_, keys)| keys.len() > 1)
                .map(|(joint, _)| joint)
                .collect();
            let joints = if view.selected.is_empty() {
                &keyed[..]
            } else {
                view.selected
            };
            planted.retain(|joint| !joints.contains(joint));
            let named = planted
                .iter()
                .chain(joints)
                .filter_map(|&joint| Some((joint, skeleton.joints().get(joint)?)));
            rows.extend(named.map(|(joint, known)| KeyRow {
                of: Some(Keyed::Joint(joint)),
                name: known.name.clone(),
            }));
            rows.extend(view.character.into_iter().flat_map(|c| morph_rows(c, take)));
        }
        let mut layout = Self { rows, rect, scroll };
        layout.scroll = scroll.clamp(0.0, layout.farthest());
        layout
    }

    /// Centre of a row.
    pub(super) fn y(&self, row: usize) -> f32 {
        self.rect.top() + ROW * (row as f32 + 0.5) - if row == 0 { 0.0 } else { self.scroll }
    }

    /// Unscrolled height.
    pub(super) fn unmoved(&self, y: f32) -> f32 {
        if y < self.below_first().top() {
            y
        } else {
            y + self.scroll
        }
    }

    /// The visible part of a rectangle in unscrolled rows, in screen positions.
    fn moved(&self, area: Rect) -> Rect {
        let top = self.below_first().top();
        let move_up = |y: f32| {
            if y < top {
                y
            } else {
                (y - self.scroll).max(top)
            }
        };
        Rect::from_x_y_ranges(area.x_range(), move_up(area.top())..=move_up(area.bottom()))
    }

    /// The rows that are at least partly visible: the first, which is fixed, and those not scrolled
    /// out.
    pub(super) fn seen(&self) -> impl Iterator<Item = (usize, &KeyRow)> {
        let first = 1 + (self.scroll / ROW) as usize;
        let many = (self.rect.height() / ROW) as usize + 1;
        self.rows
            .iter()
            .enumerate()
            .filter(move |(row, _)| *row == 0 || (first..first + many).contains(row))
    }

    /// Whether a position is on a row: the first covers the others.
    fn is_over(&self, y: f32, row: usize) -> bool {
        (row == 0) == (y < self.rect.top() + ROW)
    }

    /// All keys of the visible rows.
    pub(super) fn marks(&self, view: &TimelineView<'_>) -> Vec<KeyMark> {
        Self::marks_of(self.seen(), view)
    }

    fn marks_of<'r>(
        rows: impl Iterator<Item = (usize, &'r KeyRow)>,
        view: &TimelineView<'_>,
    ) -> Vec<KeyMark> {
        let Some((_, take)) = view.take() else {
            return Vec::new();
        };
        let mut marks = Vec::new();
        for (row, KeyRow { of, .. }) in rows {
            match of {
                None => marks.extend(take.key_times().into_iter().map(|time_secs| KeyMark {
                    row,
                    time_secs,
                    ease: None,
                })),
                Some(Keyed::Joint(joint)) => marks.extend(take.keys(*joint).iter().map(|key| {
                    let ease = Some(key.ease.clone());
                    KeyMark {
                        row,
                        time_secs: key.time_secs,
                        ease,
                    }
                })),
                Some(Keyed::Morph(control)) => {
                    let own = take.morphs().iter().filter(|t| t.control == *control);
                    marks.extend(own.flat_map(|track| {
                        let times = track.curve.times_secs.iter();
                        times.map(|&time_secs| KeyMark {
                            row,
                            time_secs,
                            ease: Some(ease_of(track)),
                        })
                    }));
                }
            }
        }
        marks
    }

    /// The keys of a mark.
    pub(super) fn keys_of(&self, mark: &KeyMark, view: &TimelineView<'_>) -> Vec<KeyRef> {
        let time_secs = mark.time_secs;
        match (self.rows[mark.row].of, view.take()) {
            (Some(of), _) => vec![KeyRef { of, time_secs }],
            (None, Some((_, take))) => {
                let keyed = take.keyed().map(|of| KeyRef { of, time_secs });
                keyed.filter_map(|at| take.find_key(at)).collect()
            }
            (None, None) => Vec::new(),
        }
    }

    /// The key under the pointer.
    pub(super) fn mark_at(
        &self,
        at: Pos2,
        view: &TimelineView<'_>,
        state: &TimelineState,
    ) -> Option<KeyMark> {
        let near = |mark: &KeyMark| {
            (state.axis.x(mark.time_secs) - at.x)
                .abs()
                .max((self.y(mark.row) - at.y).abs())
        };
        let marks = self
            .marks(view)
            .into_iter()
            .filter(|mark| self.is_over(at.y, mark.row));
        let hit = marks
            .map(|mark| (near(&mark), mark))
            .filter(|(distance, _)| *distance <= KEY + 2.0);
        hit.min_by(|a, b| a.0.total_cmp(&b.0)).map(|(_, mark)| mark)
    }

    /// All keys in a rectangle in unscrolled rows, including invisible ones.
    pub(super) fn keys_in(
        &self,
        area: Rect,
        view: &TimelineView<'_>,
        state: &TimelineState,
    ) -> Vec<KeyRef> {
        let unmoved = Self {
            scroll: 0.0,
            ..self.clone()
        };
        let rows = unmoved
            .rows
            .iter()
            .enumerate()
            .filter(|(row, _)| area.y_range().contains(unmoved.y(*row)));
        let marks = Self::marks_of(rows, view);
        let inside = marks
            .iter()
            .filter(|mark| area.x_range().contains(state.axis.x(mark.time_secs)));
        let mut keys: Vec<KeyRef> = inside.flat_map(|mark| self.keys_of(mark, view)).collect();
        keys.sort_by(|a, b| a.of.cmp(&b.of).then(a.time_secs.total_cmp(&b.time_secs)));
        keys.dedup();
        keys
    }
}

/// The rows of morphs and expressions that move.
fn morph_rows(character: &Character, take: &KeyedClip) -> Vec<KeyRow> {
    let controls = character.morph_controls().enumerate();
    let keyed = controls.filter(|(index, _)| {
        let of_it = |track: &&MorphTrack| track.control == *index;
        let own = take.morphs().iter().find(of_it);
        own.is_some_and(|track| track.curve.times_secs.len() > 1)
    });
    keyed
        .map(|(index, control)| KeyRow {
            of: Some(Keyed::Morph(index)),
            name: control.name.to_owned(),
        })
        .collect()
}

fn ease_of(track: &MorphTrack) -> Ease {
    match track.curve.interpolation {
        Interpolation::Step => Ease::Step,
        Interpolation::Linear => Ease::Linear,
        Interpolation::Cubic => Ease::Smooth,
    }
}

/// Names on the left, keys on the right.
pub(super) fn paint(
    ui: &Ui,
    names: Rect,
    layout: &RowLayout,
    view: &TimelineView<'_>,
    state: &TimelineState,
) {
    let colors = theme::colors(ui.ctx());
    let names = ui.painter().with_clip_rect(
        ui.clip_rect()
            .intersect(names.with_max_x(names.right() - 6.0)),
    );
    let painter = ui
        .painter()
        .with_clip_rect(ui.clip_rect().intersect(layout.rect));
    let below = layout.below_first().y_range();
    let under_first = |painter: &Painter| {
        painter.with_clip_rect(
            Rect::from_x_y_ranges(painter.clip_rect().x_range(), below)
                .intersect(painter.clip_rect()),
        )
    };
    let (lower_names, lower) = (under_first(&names), under_first(&painter));
    for (index, row) in layout.seen() {
        let (names, painter) = if index == 0 {
            (&names, &painter)
        } else {
            (&lower_names, &lower)
        };
        let is_selected = |of| matches!(of, Keyed::Joint(joint) if view.selected.contains(&joint));
        let selected = row.of.is_some_and(is_selected);
        let color = match row.of {
            None => colors.text_strong,
            Some(_) if selected => colors.accent,
            Some(_) => colors.text_weak,
        };
        let left = names.clip_rect().left() + 4.0;
        names.text(
            pos2(left, layout.y(index)),
            Align2::LEFT_CENTER,
            &row.name,
            FontId::proportional(11.5),
            color,
        );
        let foot = layout.y(index) + ROW / 2.0;
        painter.hline(
            layout.rect.x_range(),
            foot,
            Stroke::new(
                1.0,
                colors
                    .line
                    .gamma_multiply(if index == 0 { 0.8 } else { 0.5 }),
            ),
        );
    }
    let shown = layout.rect.x_range().expand(KEY);
    for mark in layout.marks(view) {
        let at = pos2(state.axis.x(mark.time_secs), layout.y(mark.row));
        if !shown.contains(at.x) {
            continue;
        }
        let of = layout.rows[mark.row].of;
        let is_selected = |key: &&KeyRef| {
            of.is_none_or(|of| key.of == of) && (key.time_secs - mark.time_secs).abs() < SAME_SECS
        };
        let selected = state.selected.iter().find(is_selected).is_some();
        paint_key(
            if mark.row == 0 { &painter } else { &lower },
            at,
            mark.ease.as_ref(),
            if selected {
                colors.text_strong
            } else {
                colors.accent
            },
            selected.then_some(colors.accent),
        );
    }
    let frame = |pointer: Pos2| state.drag.as_ref()?.frame(pointer, layout, &state.axis);
    if let Some(area) = ui.ctx().pointer_latest_pos().and_then(frame) {
        let area = layout.moved(area);
        painter.rect(
            area,
            CornerRadius::ZERO,
            colors.accent.gamma_multiply(0.12),
            Stroke::new(1.0, colors.accent),
            StrokeKind::Inside,
        );
    }
}

/// A diamond; a square for a step, a disc for a smooth key.
fn paint_key(
    painter: &Painter,
    at: Pos2,
    ease: Option<&Ease>,
    fill: Color32,
    ring: Option<Color32>,
) {
    let stroke = ring.map_or(Stroke::NONE, |color| Stroke::new(2.0, color));
    match ease {
        Some(Ease::Step) => {
            painter.rect(
                Rect::from_center_size(at, vec2(2.0, 2.0) * (KEY - 0.7)),
                CornerRadius::ZERO,
                fill,
                stroke,
                StrokeKind::Outside,
            );
        }
        Some(Ease::Smooth) => {
            painter.circle(at, KEY - 0.5, fill, stroke);
        }
        Some(Ease::Linear | Ease::Free(_)) | None => {
            let points = [
                vec2(0.0, -KEY),
                vec2(KEY, 0.0),
                vec2(0.0, KEY),
                vec2(-KEY, 0.0),
            ]
            .map(|offset| at + offset);
            painter.add(Shape::convex_polygon(points.to_vec(), fill, stroke));
        }
    }
}
