//! The timeline under the views: transport, ruler, keys.
//!
//! | file           | what                                                             |
//! |----------------|------------------------------------------------------------------|
//! | `transport`  | the line that is always there: buttons, clip chooser, switches     |
//! | `axis`       | seconds ↔ points, zoom and pan                                     |
//! | `ruler`      | frame numbers, playhead, range handles, what was simulated         |
//! | `rows`       | which rows there are, and how keys are drawn                       |
//! | `scroll`     | rows that are more than there is room for                          |
//! | `pointer`    | scrubbing, selecting and moving keys                               |
//! | `menus`      | settings of playing, and what can be done with keys                |
//!
//! It reads a [`TimelineView`] and raises commands; only zoom, selection of keys and what the pointer is doing are its own.

mod axis;
mod keyboard;
mod menus;
mod pointer;
mod rows;
mod ruler;
mod scroll;
mod transport;

use std::sync::Arc;

use egui::{Rect, Sense, Ui, pos2, vec2};

use super::actions::Actions;
use crate::rig::retarget::Mapping;
use crate::rig::{KeyRef, KeyedClip, Skeleton};
use crate::session::{Clips, DEFAULT_FPS, Scrubbing, Session, SimulatedFrames};

pub use keyboard::{TimelineAction, carry_out, keyboard};
pub use transport::transport_ui;

use axis::Axis;
use pointer::Drag;

/// What the timeline may read.
#[derive(Debug, Clone, Copy)]
#[expect(clippy::struct_excessive_bools, reason = "independent switches of the session, each a button")]
pub struct TimelineView<'a> {
    /// All clips.
    pub clips: Clips<'a>,
    /// The clip that is shown, or whose pose was taken over by hand.
    pub clip: Option<usize>,
    /// Whether the pose made by hand is shown.
    pub by_hand: bool,
    /// Where the clock stands, seconds.
    pub time_secs: f64,
    /// Whether the clock runs.
    pub playing: bool,
    /// How fast; 1 is real time.
    pub speed: f64,
    /// Whether it starts over at the end.
    pub looping: bool,
    /// The part of the clip that is played; all of it for none.
    pub range_secs: Option<[f64; 2]>,
    /// Within how many seconds one motion goes over into another.
    pub blend_secs: f64,
    /// Which joints of another skeleton the clip shown comes from, if it does.
    pub mapping: Option<&'a Mapping>,
    /// Whether turning a joint sets a key.
    pub auto_key: bool,
    /// How long a take has been recorded; none while none is.
    pub recording_secs: Option<f64>,
    /// What is seen while scrubbing.
    pub scrubbing: Scrubbing,
    /// Whether a view that follows this clock simulates, so that the switch means something.
    pub simulates: bool,
    /// How far the simulation of the range is.
    pub simulated: Option<SimulatedFrames>,
    /// The skeleton; none while nothing is open.
    pub skeleton: Option<&'a Skeleton>,
    /// Joints that are selected.
    pub selected: &'a [usize],
}

impl<'a> TimelineView<'a> {
    /// What a session shows.
    #[must_use]
    pub fn of(session: &'a Session) -> Self {
        let playback = session.playback();
        let edited = session.edited_clip();
        Self {
            clips: session.clips(),
            clip: edited.map(|(clip, _)| clip),
            by_hand: playback.clip.is_none(),
            time_secs: edited.map_or(playback.time_secs, |(_, time)| time),
            playing: playback.playing,
            speed: playback.speed,
            looping: playback.looping,
            range_secs: playback.range_secs,
            blend_secs: playback.blend_secs,
            mapping: session.subject().zip(playback.clip).and_then(|(subject, clip)| {
                subject.character.retargets.iter().find(|retarget| retarget.clip == clip).map(|retarget| &retarget.mapping)
            }),
            auto_key: session.auto_key(),
            recording_secs: session.recording_secs(),
            scrubbing: session.scrubbing(),
            simulates: session.simulates(),
            simulated: session.simulated_frames(),
            skeleton: session.document().skeleton(),
            selected: session.selection().joints(),
        }
    }

    /// The clip with its keys, if it is the user's.
    #[must_use]
    pub fn take(&self) -> Option<(usize, &'a Arc<KeyedClip>)> {
        let clip = self.clip?;
        self.clips.take(clip).map(|take| (clip, take))
    }

    /// Frames per second of the clip.
    #[must_use]
    pub fn fps(&self) -> f64 {
        self.take().map_or(DEFAULT_FPS, |(_, take)| take.fps())
    }

    /// Length of the clip, seconds.
    #[must_use]
    pub fn duration_secs(&self) -> f64 {
        self.clip.and_then(|clip| self.clips.get(clip)).map_or(0.0, |clip| clip.duration_secs)
    }

    /// The frame nearest to a time, as a time inside the clip.
    #[must_use]
    pub fn snapped(&self, time_secs: f64) -> f64 {
        ((time_secs * self.fps()).round() / self.fps()).clamp(0.0, self.duration_secs())
    }
}

/// What the timeline remembers.
#[derive(Debug, Default)]
pub struct TimelineState {
    /// Whether rows and ruler are shown under the transport line.
    pub open: bool,
    axis: Axis,
    /// Keys that are selected.
    selected: Vec<KeyRef>,
    drag: Option<Drag>,
    /// A name being typed for the take shown.
    renaming: Option<String>,
    /// The clip and its length that the axis was fitted to.
    fitted: Option<(usize, f64)>,
    /// Whether times are read in seconds rather than in frames.
    in_seconds: bool,
    /// Keys that the menu is for.
    menu_for: Vec<KeyRef>,
    hovered: bool,
    /// How far the rows are moved up, points.
    scroll: f32,
}

impl TimelineState {
    /// The keys that are selected.
    #[must_use]
    pub fn selected_keys(&self) -> &[KeyRef] {
        &self.selected
    }

    /// Another clip is shown in full, and a selection only holds keys that there are.
    fn follow(&mut self, view: &TimelineView<'_>) {
        let shown = view.clip.map(|clip| (clip, view.duration_secs()));
        if self.fitted.map(|(clip, _)| clip) != view.clip {
            self.selected.clear();
            self.axis.fit(view.duration_secs());
            (self.fitted, self.drag, self.renaming, self.scroll) = (shown, None, None, 0.0);
        }
        match view.take() {
            Some((_, take)) => self.selected.retain(|key| take.key(*key).is_some()),
            None => self.selected.clear(),
        }
    }

    /// Gives up what the pointer is doing. Returns whether there was anything.
    pub fn cancel_drag(&mut self, actions: &mut Actions) -> bool {
        match self.drag.take() {
            Some(drag) => {
                drag.cancel(&mut self.selected, actions);
                true
            }
            None => false,
        }
    }
}

/// Height of the transport line with its margins, points.
pub const LINE_HEIGHT: f32 = 38.0;
/// Height of the whole timeline at first, points.
pub const OPEN_HEIGHT: f32 = 190.0;
/// Width of the names, points.
const NAMES_WIDTH: f32 = 132.0;

/// Draws transport line, ruler and rows into what room there is.
pub fn timeline_ui(ui: &mut Ui, view: &TimelineView<'_>, state: &mut TimelineState, actions: &mut Actions) {
    state.follow(view);
    ui.allocate_ui(vec2(ui.available_width(), LINE_HEIGHT - 8.0), |ui| transport_ui(ui, view, state, actions));
    if !state.open {
        return;
    }
    let room = ui.available_rect_before_wrap();
    let strip = |top: f32, bottom: f32| Rect::from_min_max(pos2(room.left() + NAMES_WIDTH, top), pos2(room.right(), bottom));
    let ruler_rect = strip(room.top(), room.top() + ruler::HEIGHT);
    let rows_rect = strip(ruler_rect.bottom(), room.bottom());
    state.axis.lay_out(ruler_rect.left() + 10.0, ruler_rect.width() - 36.0);
    let response = ui.interact(ruler_rect.union(rows_rect), ui.scope_id().with("times"), Sense::click_and_drag());
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Group, true, "Keys over time"));
    state.hovered = ui.rect_contains_pointer(room);
    state.axis.zoom_and_pan(ui, &response, view.duration_secs());
    let mut layout = rows::Layout::of(view, rows_rect, state.scroll);
    let names = Rect::from_min_max(pos2(room.left(), rows_rect.top()), pos2(rows_rect.left(), rows_rect.bottom()));
    pointer::interact(ui, &response, &layout, ruler_rect, view, state, actions);
    menus::key_menu(&response, &layout, view, state, actions);
    let painter = ui.painter().with_clip_rect(ui.clip_rect().intersect(room));
    ruler::paint(&painter, ruler_rect, rows_rect, view, state);
    rows::paint(ui, names, &layout, view, state);
    scroll::scroll_ui(ui, names, &response, &mut layout, state);
    ruler::paint_playhead(&painter, ruler_rect, rows_rect, view, state);
    if view.take().is_none() {
        menus::no_keys_ui(ui, rows_rect, view, actions);
    }
    if let Some(hint) = pointer::hint(&response, ruler_rect, &layout, view, state) {
        response.on_hover_text_at_pointer(hint);
    }
    ui.advance_cursor_after_rect(room);
}
