//! The joint mapping of a retargeted clip: a window with a table, and both skeletons over the views.
//!
//! | file    | what                                             |
//! |---------|--------------------------------------------------|
//! | `table` | the rows of the window                            |
//! | `over`  | the character's and the motion's skeleton in a view |
//!
//! A pair of joints has one colour, in the table and in the views; joints that nothing drives are grey.

mod over;
mod table;

use std::sync::Arc;

use egui::ecolor::Hsva;
use egui::{Align2, Color32, Context, RichText, Ui, Window, vec2};

use self::table::TableState;
use super::actions::Actions;
use super::popup::title_ui;
use super::theme;
use super::widgets;
use crate::character::{Motion, RetargetedClip};
use crate::rig::Skeleton;
use crate::rig::retarget::{JointChoices, JointRoles};
use crate::session::{Command, MotionCommand, Session};

/// Width of the window, points.
const WIDTH: f32 = 500.0;

/// Where the motion's skeleton is drawn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
enum MotionPlace {
    /// Where the character is.
    #[default]
    Over,
    /// To the right of it.
    Beside,
    /// Nowhere.
    Hidden,
}

impl MotionPlace {
    const ALL: [(Self, &'static str, &'static str); 3] = [
        (
            Self::Over,
            "Over",
            "The motion's skeleton is drawn where the character is",
        ),
        (
            Self::Beside,
            "Beside",
            "The motion's skeleton is drawn to the right of the character",
        ),
        (
            Self::Hidden,
            "Hidden",
            "Only the character's skeleton is drawn",
        ),
    ];
}

/// State of the window.
#[derive(Debug, Default)]
pub struct MappingWindow {
    /// Whether it is open.
    pub open: bool,
    table: TableState,
    place: MotionPlace,
    shown: Option<ShownMapping>,
}

/// A clip with the joints chosen for it now, which its transfer may not have followed yet.
#[derive(Debug)]
struct ShownMapping {
    /// The clip.
    retarget: RetargetedClip,
    /// Names of the parts of the body, by joint.
    parts: Vec<Option<String>>,
    /// Colours of the character's joints; `None`: not driven.
    own: Vec<Option<Color32>>,
    /// Colours of the motion's joints; `None`: they drive nothing.
    theirs: Vec<Option<Color32>>,
}

impl ShownMapping {
    fn of(retarget: &RetargetedClip, skeleton: &Skeleton, chosen: &JointChoices) -> Self {
        let retarget = retarget.with_choices(skeleton, chosen);
        let roles = JointRoles::of(skeleton);
        let mut parts = vec![None; skeleton.len()];
        for (role, joints) in roles.iter() {
            for &joint in joints {
                parts[joint] = Some(role.id().replace('_', " "));
            }
        }
        let motion = &retarget.motion.skeleton;
        let mut own = vec![None; skeleton.len()];
        let mut theirs = vec![None; motion.len()];
        for (joint, color) in own.iter_mut().enumerate() {
            let matched = retarget.matched(skeleton, joint);
            let Some(driver) = matched.and_then(|(_, driver)| driver) else {
                continue;
            };
            let first = &retarget.mapping.pairs[driver.pair].target[0];
            *color = Some(color_of_pair(skeleton.find(first).unwrap_or(joint)));
            for name in driver.joints {
                if let Some(found) = motion.find(name) {
                    theirs[found] = *color;
                }
            }
        }
        Self {
            retarget,
            parts,
            own,
            theirs,
        }
    }

    /// Whether it shows this clip with these choices.
    fn is_of(&self, retarget: &RetargetedClip, joints: usize, chosen: &JointChoices) -> bool {
        self.retarget.clip == retarget.clip
            && Arc::<Motion>::ptr_eq(&self.retarget.motion, &retarget.motion)
            && self.retarget.chosen == *chosen
            && self.own.len() == joints
            && self.retarget.character_from_motion == retarget.character_from_motion
    }
}

/// The colour of a pair by its first joint, so that it stays when other pairs change. Neighbours have hues far apart.
fn color_of_pair(first: usize) -> Color32 {
    const GOLDEN: f32 = 0.618_034;
    let hue = (first as f32 * GOLDEN).fract();
    let saturation = if first.is_multiple_of(2) { 0.75 } else { 0.5 };
    Hsva::new(hue, saturation, 0.95, 1.0).into()
}

/// Colour of joints that nothing drives.
const UNMAPPED: Color32 = Color32::from_gray(128);

/// The retargeted clip that is shown, or from which the pose made by hand was taken.
fn shown_clip(session: &Session) -> Option<&RetargetedClip> {
    let clip = session.channels().active().playback().last_clip();
    session.subject()?.character.retarget_of(clip)
}

impl MappingWindow {
    /// The joint under the pointer in the table.
    #[must_use]
    pub fn hovered(&self) -> Option<usize> {
        self.table.hovered.filter(|_| self.open)
    }

    /// Draws the window while it is open. `hovered`: the joint under the pointer in a view.
    pub fn window(
        &mut self,
        ctx: &Context,
        session: &Session,
        hovered: Option<usize>,
        actions: &mut Actions,
    ) {
        let before = self.table.hovered.take();
        let Some(subject) = session.subject().filter(|_| self.open) else {
            self.shown = None;
            return;
        };
        self.follow(session);
        let mut open = true;
        let content = ctx.content_rect();
        Window::new("Joint mapping")
            .title_bar(false)
            .resizable(false)
            .pivot(Align2::RIGHT_TOP)
            .default_pos(content.right_top() + vec2(-theme::SIDE_WIDTH - 24.0, 84.0))
            .show(ctx, |ui| {
                ui.set_width(WIDTH.min(content.width() - 48.0));
                title_ui(ui, "Joint mapping", &mut open);
                let Some(shown) = &self.shown else {
                    return choose_ui(ui, session, actions);
                };
                let skeleton = &subject.character.skeleton;
                summary_ui(ui, shown, session, actions);
                place_ui(ui, &mut self.place);
                table::table_ui(ui, shown, skeleton, hovered, &mut self.table, actions);
            });
        self.open = open;
        if self.table.hovered != before {
            // The views mark the joint in the next pass.
            ctx.request_repaint();
        }
    }

    /// Follows the clip shown and the choices.
    fn follow(&mut self, session: &Session) {
        let Some((retarget, subject)) = shown_clip(session).zip(session.subject()) else {
            self.shown = None;
            return;
        };
        let none = JointChoices::new();
        let chosen = session.document().motions.get(&retarget.file);
        let (chosen, skeleton) = (chosen.unwrap_or(&none), &subject.character.skeleton);
        let shown = self.shown.as_ref();
        if !shown.is_some_and(|shown| shown.is_of(retarget, skeleton.len(), chosen)) {
            self.shown = Some(ShownMapping::of(retarget, skeleton, chosen));
        }
    }
}

/// Says why there is no table, with the clips that have one.
fn choose_ui(ui: &mut Ui, session: &Session, actions: &mut Actions) {
    let weak = theme::colors(ui.ctx()).text_weak;
    let character = session.subject().map(|subject| &subject.character);
    let retargets = character.map_or(&[][..], |character| &character.retargets);
    let text = if retargets.is_empty() {
        "The joints of a motion of another skeleton are mapped here. Drop a motion (.bvh, or a scene with clips) onto the character."
    } else {
        "The clip shown moves the character's own joints. These clips come from other skeletons:"
    };
    ui.label(RichText::new(text).color(weak));
    let clips = session.document().clips();
    for retarget in retargets {
        let Some(clip) = clips.get(retarget.clip) else {
            continue;
        };
        if ui
            .button(&clip.name)
            .on_hover_text("Shows this clip")
            .clicked()
        {
            actions.once(Command::SelectClip(Some(retarget.clip)));
        }
    }
}

/// The clip, how many joints are driven, and *Reset*.
fn summary_ui(ui: &mut Ui, shown: &ShownMapping, session: &Session, actions: &mut Actions) {
    let colors = theme::colors(ui.ctx());
    let retarget = &shown.retarget;
    let clips = session.document().clips();
    let name = clips
        .get(retarget.clip)
        .map_or("", |clip| clip.name.as_str());
    let driven = shown.own.iter().flatten().count();
    let by_hand = retarget.chosen.len();
    let by_hand = match by_hand {
        0 => String::new(),
        count => format!(", {count} chosen by hand"),
    };
    ui.horizontal(|ui| {
        let reset = egui::Button::new("Reset to automatic");
        let size = ui.spacing().interact_size.y;
        ui.label(RichText::new(name).color(colors.text_strong).strong())
            .on_hover_text(retarget.file.display().to_string());
        if session.is_mapping() {
            ui.add(egui::Spinner::new().size(size * 0.7))
                .on_hover_text("The clip is being transferred");
        }
        ui.with_layout(egui::Layout::right_to_left(egui::Align::Center), |ui| {
            let button = ui.add_enabled(!retarget.chosen.is_empty(), reset);
            let button = button.on_hover_text("Matches all joints automatically again");
            let button = button.on_disabled_hover_text("All joints are matched automatically");
            if button.clicked() {
                let (clip, joint) = (retarget.clip, None);
                actions.once(MotionCommand::Reset { clip, joint }.into());
            }
        });
    });
    let all = shown.own.len();
    let text = format!("{driven} of {all} joints are driven{by_hand}");
    ui.label(RichText::new(text).color(colors.text_weak));
}

/// Where the motion's skeleton is drawn.
fn place_ui(ui: &mut Ui, place: &mut MotionPlace) {
    widgets::row_of(
        ui,
        110.0,
        "Motion's skeleton",
        "Both skeletons are drawn over the views while this window is open; a pair of joints has one colour",
        |ui, _| {
            for (value, name, sentence) in MotionPlace::ALL {
                ui.selectable_value(place, value, name)
                    .on_hover_text(sentence);
            }
        },
    );
}
