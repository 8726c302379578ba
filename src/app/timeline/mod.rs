//! The timeline under the views: transport, ruler, keys.
//!
//! | file           | what                                                             |
//! |----------------|------------------------------------------------------------------|
//! | `transport`  | the transport line: buttons, clip chooser, switches                 |
//! | `axis`       | seconds ↔ points, zoom and pan                                     |
//! | `ruler`      | frame numbers, playhead, range handles                             |
//! | `strip`      | simulated and recorded frames                                      |
//! | `rows`       | row layout, and drawing of keys                                    |
//! | `feet`       | planted feet                                                       |
//! | `graph`      | curves instead of rows                                             |
//! | `scroll`     | scrolling of rows                                                  |
//! | `pointer`    | scrubbing, selecting and moving keys                               |
//! | `menus`      | playback settings, and actions on keys                             |
//!
//! It reads a [`TimelineView`] and raises commands; its own state is zoom, key selection and the
//! current drag.

mod axis;
mod feet;
mod graph;
mod keyboard;
mod menus;
mod pointer;
mod rows;
mod ruler;
mod scroll;
mod strip;
mod transport;

use std::sync::Arc;

use egui::{Rect, Sense, Ui, pos2, vec2};

use super::actions::Actions;
use crate::character::Character;
use crate::rig::ik::IkRig;
use crate::rig::{KeyRef, KeyedClip, Skeleton};
use crate::session::{Clips, DEFAULT_FPS, RecordedFrames, Scrubbing, Session, SimulatedFrames};

pub use keyboard::{carry_out, keyboard};
pub use transport::transport_ui;

pub(in crate::app) use axis::TimeAxis;
pub(in crate::app) use ruler::steps;

use pointer::TimelineDrag;

/// Data for the timeline.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent switches of the session, each a button"
)]
pub struct TimelineView<'a> {
    /// All clips.
    pub clips: Clips<'a>,
    /// The current clip, or the clip from which the manual pose started.
    pub clip: Option<usize>,
    /// Whether the manual pose is shown.
    pub by_hand: bool,
    /// Clock time, seconds.
    pub time_secs: f64,
    /// Whether the clock runs.
    pub playing: bool,
    /// Speed; 1 is real time.
    pub speed: f64,
    /// Whether it loops.
    pub looping: bool,
    /// The played range of the clip; `None`: all of it.
    pub range_secs: Option<[f64; 2]>,
    /// Blend time between motions, seconds.
    pub blend_secs: f64,
    /// Whether the current clip was retargeted from a motion of another skeleton.
    pub retargeted: bool,
    /// Whether posing a joint sets a key (auto-key).
    pub auto_key: bool,
    /// Elapsed recording time of a take; `None` if not recording.
    pub recording_secs: Option<f64>,
    /// What scrubbing shows.
    pub scrubbing: Scrubbing,
    /// Whether a view on this clock simulates, so that the switch has an effect.
    pub simulates: bool,
    /// Progress of simulating the range.
    pub simulated: Option<SimulatedFrames>,
    /// The recorded frames of the clip.
    pub recorded: &'a RecordedFrames,
    /// The skeleton; `None` without a character.
    pub skeleton: Option<&'a Skeleton>,
    /// The character, which names its morphs.
    pub character: Option<&'a Character>,
    /// Its limbs.
    pub ik: Option<&'a IkRig>,
    /// Selected joints.
    pub selected: &'a [usize],
}

impl<'a> TimelineView<'a> {
    /// The timeline's data of a session.
    #[must_use]
    pub fn of(session: &'a Session) -> Self {
        let playback = session.channels().active().playback();
        let edited = session
            .channels()
            .active()
            .edited_clip(&session.document().clips());
        Self {
            clips: session.document().clips(),
            clip: edited.map(|(clip, _)| clip),
            by_hand: playback.clip.is_none(),
            time_secs: edited.map_or(playback.time_secs, |(_, time)| time),
            playing: playback.playing,
            speed: playback.speed,
            looping: playback.looping,
            range_secs: playback.range_secs,
            blend_secs: playback.blend_secs,
            retargeted: (session.subject().zip(playback.clip))
                .is_some_and(|(subject, clip)| subject.character.retarget_of(clip).is_some()),
            auto_key: session.keying().auto_key(),
            recording_secs: session.keying().recording_secs(),
            scrubbing: session.ranges().scrubbing(),
            simulates: session.views().simulates(),
            simulated: session.ranges().frames(session.views()),
            recorded: session.recorded(),
            skeleton: session.document().skeleton(),
            character: session.subject().map(|subject| &*subject.character),
            ik: Some(session.pose_tools().ik_rig()),
            selected: session.selection().joints(),
        }
    }

    /// The editable clip, if the current clip is one.
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
        self.clip
            .and_then(|clip| self.clips.get(clip))
            .map_or(0.0, |clip| clip.duration_secs)
    }

    /// The frame nearest to a time, as a time inside the clip.
    #[must_use]
    pub fn snapped(&self, time_secs: f64) -> f64 {
        ((time_secs * self.fps()).round() / self.fps()).clamp(0.0, self.duration_secs())
    }
}

/// State of the timeline.
#[derive(Debug, Default)]
pub struct TimelineState {
    /// Whether rows and ruler are shown.
    pub open: bool,
    axis: TimeAxis,
    /// Keys that are selected.
    selected: Vec<KeyRef>,
    drag: Option<TimelineDrag>,
    /// The take's name while it is edited.
    renaming: Option<String>,
    /// The clip and length to which the axis was fitted.
    fitted: Option<(usize, f64)>,
    /// Whether times are shown in seconds instead of frames.
    in_seconds: bool,
    /// Keys of the open menu.
    menu_for: Vec<KeyRef>,
    hovered: bool,
    /// Scroll offset of the rows, points.
    scroll: f32,
    /// Curves instead of rows.
    graph: graph::GraphState,
}

impl TimelineState {
    /// The keys that are selected.
    #[must_use]
    pub fn selected_keys(&self) -> &[KeyRef] {
        &self.selected
    }

    /// Shows another clip in full, and removes missing keys from the selection.
    fn follow(&mut self, view: &TimelineView<'_>) {
        let shown = view.clip.map(|clip| (clip, view.duration_secs()));
        if self.fitted.map(|(clip, _)| clip) != view.clip {
            self.selected.clear();
            self.axis.fit(view.duration_secs());
            (self.fitted, self.drag, self.renaming, self.scroll) = (shown, None, None, 0.0);
            self.graph.start_over();
        }
        match view.take() {
            Some((_, take)) => self.selected.retain(|key| take.find_key(*key).is_some()),
            None => self.selected.clear(),
        }
    }

    /// Places the times in a strip, whether rows and ruler are shown or not: what is drawn beside the timeline has the same times.
    pub(in crate::app) fn lay_out(&mut self, strip: &TimeStrip, view: &TimelineView<'_>) {
        self.follow(view);
        let times = strip.times;
        self.axis.lay_out(times.left() + 10.0, times.width() - 36.0);
    }

    /// The times along the strip.
    pub(in crate::app) fn axis_mut(&mut self) -> &mut TimeAxis {
        &mut self.axis
    }

    /// Cancels the current drag. Returns whether there was one.
    pub fn cancel_drag(&mut self, actions: &mut Actions) -> bool {
        if self.graph.cancel_drag(&mut self.selected, actions) {
            return true;
        }
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
/// Initial height of the timeline, points.
pub const OPEN_HEIGHT: f32 = 190.0;
/// Width of the names, points.
const NAMES_WIDTH: f32 = 132.0;

/// The part of a panel along which times are drawn, beside the names.
#[derive(Debug, Clone, Copy)]
pub(in crate::app) struct TimeStrip {
    /// Its rectangle.
    pub(in crate::app) times: Rect,
}

impl TimeStrip {
    /// The strip of the whole room of a panel.
    pub(in crate::app) fn of(room: Rect) -> Self {
        let corner = pos2(room.left() + NAMES_WIDTH, room.top());
        Self {
            times: Rect::from_min_max(corner, room.max),
        }
    }
}

/// Draws transport line, ruler and rows into the available space.
pub fn timeline_ui(
    ui: &mut Ui,
    view: &TimelineView<'_>,
    state: &mut TimelineState,
    actions: &mut Actions,
) {
    state.follow(view);
    ui.allocate_ui(vec2(ui.available_width(), LINE_HEIGHT - 8.0), |ui| {
        transport_ui(ui, view, state, actions);
    });
    if !state.open {
        return;
    }
    let room = ui.available_rect_before_wrap();
    let strip = |top: f32, bottom: f32| {
        Rect::from_min_max(
            pos2(room.left() + NAMES_WIDTH, top),
            pos2(room.right(), bottom),
        )
    };
    let ruler_rect = strip(room.top(), room.top() + ruler::HEIGHT);
    let rows_rect = strip(ruler_rect.bottom(), room.bottom());
    state.lay_out(&TimeStrip::of(room), view);
    let response = ui.interact(
        ruler_rect.union(rows_rect),
        ui.scope_id().with("times"),
        Sense::click_and_drag(),
    );
    response.widget_info(|| egui::WidgetInfo::labeled(egui::Role::Group, true, "Keys over time"));
    state.hovered = ui.rect_contains_pointer(room);
    state.axis.zoom_and_pan(ui, &response, view.duration_secs());
    let names = Rect::from_min_max(
        pos2(room.left(), rows_rect.top()),
        pos2(rows_rect.left(), rows_rect.bottom()),
    );
    let painter = ui.painter().with_clip_rect(ui.clip_rect().intersect(room));
    let mut layout = if state.graph.shown {
        rows::RowLayout::empty(rows_rect)
    } else {
        rows::RowLayout::of(view, rows_rect, state.scroll)
    };
    pointer::interact(ui, &response, &layout, ruler_rect, view, state, actions);
    menus::key_menu(&response, &layout, view, state, actions);
    ruler::paint(&painter, ruler_rect, rows_rect, view, state);
    let hint = if state.graph.shown {
        let hint = graph::graph_ui(ui, &response, [names, rows_rect], view, state, actions);
        ruler::paint_playhead(&painter, ruler_rect, rows_rect, view, state);
        hint
    } else {
        feet::paint(&painter, &layout, view, &state.axis);
        rows::paint(ui, names, &layout, view, state);
        scroll::scroll_ui(ui, names, &response, &mut layout, state);
        ruler::paint_playhead(&painter, ruler_rect, rows_rect, view, state);
        None
    };
    if view.take().is_none() {
        menus::no_keys_ui(ui, rows_rect, view, actions);
    }
    let hint = hint.or_else(|| pointer::hint(&response, ruler_rect, &layout, view, state));
    if let Some(hint) = hint {
        response.on_hover_text_at_pointer(hint);
    }
    ui.advance_cursor_after_rect(room);
}
