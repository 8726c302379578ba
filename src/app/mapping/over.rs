//! Both skeletons, drawn over a view in the colours of their pairs.

use egui::{Color32, Painter, Pos2, Stroke};

use super::{MappingWindow, MotionPlace, ShownMapping, UNMAPPED};
use crate::app::viewport::screen_map::ScreenMap;
use crate::math::{Point64, Vec64, origin_of};
use crate::rig::Skeleton;
use crate::session::{Session, ViewId};

/// Distance of the motion's skeleton beside the character, relative to the character's size.
const BESIDE: f64 = 0.45;
/// How opaque the motion's skeleton is.
const FAINT: f32 = 0.6;

impl MappingWindow {
    /// Draws both skeletons over a view, while the window is open. `hovered`: the joint under the pointer.
    pub(in crate::app) fn draw(
        &self,
        painter: &Painter,
        map: &ScreenMap,
        (session, view): (&Session, ViewId),
        hovered: Option<usize>,
    ) {
        let shown = self.shown.as_ref().filter(|_| self.open);
        let Some((shown, subject)) = shown.zip(session.subject()) else {
            return;
        };
        let Some(channel) = session.channel_of(view) else {
            return;
        };
        let skeleton = &subject.character.skeleton;
        let own: Vec<Point64> = channel.world_from_joint().iter().map(origin_of).collect();
        let is_shown = channel.playback().clip == Some(shown.retarget.clip);
        if is_shown && self.place != MotionPlace::Hidden && own.len() == shown.own.len() {
            let beside = match self.place {
                MotionPlace::Beside => map.right_and_up().0 * (f64::from(subject.size) * BESIDE),
                _ => Vec64::zeros(),
            };
            let places = motion_places(shown, channel.playback().time_secs, &beside);
            let marked = hovered.map(|joint| drivers_of(shown, skeleton, joint));
            let style = Style {
                width: 2.0,
                radius: 2.5,
                opacity: FAINT,
            };
            let theirs = &shown.retarget.motion.skeleton;
            draw_skeleton(
                painter,
                map,
                (theirs, &places),
                &shown.theirs,
                style,
                |joint| {
                    marked
                        .as_ref()
                        .is_some_and(|marked| marked.contains(&joint))
                },
            );
        }
        if own.len() == shown.own.len() {
            let style = Style {
                width: 3.5,
                radius: 3.5,
                opacity: 1.0,
            };
            draw_skeleton(painter, map, (skeleton, &own), &shown.own, style, |joint| {
                hovered == Some(joint)
            });
        }
    }
}

/// Where the motion's joints are beside the character at a time of the clip.
fn motion_places(shown: &ShownMapping, time_secs: f64, beside: &Vec64) -> Vec<Point64> {
    let retarget = &shown.retarget;
    let motion = &retarget.motion;
    let time_secs = time_secs + retarget.start_secs;
    let pose = motion.clip.sample(&motion.skeleton, time_secs);
    let world = motion.skeleton.world_from_joint(&pose);
    let place = |at: &crate::math::Affine| retarget.character_from_motion * origin_of(at) + beside;
    world.iter().map(place).collect()
}

/// The motion's joints that drive a joint of the character.
fn drivers_of(shown: &ShownMapping, skeleton: &Skeleton, joint: usize) -> Vec<usize> {
    let matched = shown.retarget.matched(skeleton, joint);
    let driver = matched.and_then(|(_, driver)| driver);
    let names = driver.map_or_else(Vec::new, |driver| driver.joints);
    let motion = &shown.retarget.motion.skeleton;
    names
        .into_iter()
        .filter_map(|name| motion.find(name))
        .collect()
}

#[derive(Clone, Copy)]
struct Style {
    width: f32,
    radius: f32,
    opacity: f32,
}

/// Draws bones in the colours of the joints that they begin at, and the joints.
fn draw_skeleton(
    painter: &Painter,
    map: &ScreenMap,
    (skeleton, places): (&Skeleton, &[Point64]),
    colors: &[Option<Color32>],
    style: Style,
    is_marked: impl Fn(usize) -> bool,
) {
    let points: Vec<Option<Pos2>> = places.iter().map(|place| map.project(place)).collect();
    let color = |joint: usize| {
        let color = colors.get(joint).copied().flatten().unwrap_or(UNMAPPED);
        color.gamma_multiply(style.opacity)
    };
    for (joint, at) in points.iter().enumerate() {
        let parent = skeleton.joints()[joint].parent;
        let parent = parent.and_then(|parent| Some((parent, points[parent]?)));
        if let (Some(at), Some((parent, from))) = (*at, parent) {
            painter.line_segment([from, at], Stroke::new(style.width, color(parent)));
        }
    }
    for (joint, at) in points.iter().enumerate() {
        let Some(at) = *at else { continue };
        let outline = Color32::from_black_alpha(180).gamma_multiply(style.opacity);
        painter.circle(at, style.radius, color(joint), Stroke::new(1.0, outline));
        if is_marked(joint) {
            let ring = Stroke::new(2.0, Color32::WHITE);
            painter.circle_stroke(at, style.radius + 4.0, ring);
        }
    }
}
