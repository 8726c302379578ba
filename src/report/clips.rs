//! What a report shows beside its numbers: which poses are drawn, and short clips of all methods side by side.

use std::sync::Arc;

use image::RgbaImage;

use super::comparison::movements;
use super::pictures::Drawer;
use super::{Columns, Comparison, Measured, PictureError, PictureSettings};
use crate::gpu::GpuContext;
use crate::io::animated_webp;
use crate::methods::Subject;
use crate::progress::Progress;
use crate::render::PictureSheet;
use crate::studio::Snapshot;

/// A movement needs this many poses to become a clip.
const LEAST_POSES: usize = 3;
/// How long a pose of a movement is shown.
const POSE_MS: u32 = 300;
/// Most frames per second of a clip from a motion, and its longest duration.
const MOST_FPS: f64 = 15.0;
const LONGEST_SECS: f64 = 4.0;
/// Skins that are kept to be drawn take at most this much memory; of longer clips fewer frames are shown.
const MOST_BYTES: usize = 512 << 20;
/// Bytes of a vertex in a kept skin: its position and its normal.
const BYTES_PER_VERTEX: usize = 24;
/// Size of one method in a clip, as a part of a picture's.
const CLIP_SCALE: f32 = 0.7;

/// What is drawn of a comparison.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Illustrations {
    /// Columns with pictures, by index.
    pub drawn: Vec<usize>,
    /// The clips.
    pub clips: Vec<ClipPlan>,
}

/// A clip that is to be drawn.
#[derive(Debug, Clone, PartialEq)]
pub struct ClipPlan {
    /// The movement, and which part of it, for people.
    pub label: String,
    /// Its frames in the order of playing: columns, by index.
    pub columns: Vec<usize>,
    /// How long each is shown, milliseconds.
    pub frame_ms: u32,
}

/// A clip of the page: all methods side by side.
pub struct ReportClip {
    /// The movement, and which part of it, for people.
    pub label: String,
    /// What it shows, for people.
    pub caption: String,
    /// Width and height, pixels.
    pub size: [u32; 2],
    /// The file's bytes, animated WebP.
    pub webp: Vec<u8>,
}

impl Illustrations {
    /// Chooses at most `poses` columns for pictures and at most `clips` clips, of so many methods with so many vertices.
    #[must_use]
    pub fn choose(
        columns: &Columns,
        [poses, clips]: [usize; 2],
        methods: usize,
        vertices: usize,
    ) -> Self {
        let drawn = columns.drawn(poses);
        let per_column = methods * vertices * BYTES_PER_VERTEX;
        let most = (MOST_BYTES / per_column.max(1)).saturating_sub(drawn.len());
        let plans = match columns {
            Columns::Poses(_) => of_movements(columns, clips),
            Columns::Motion(..) => of_motion(columns).into_iter().take(clips).collect(),
        };
        let mut chosen = Self {
            drawn,
            clips: plans,
        };
        for clip in &mut chosen.clips {
            clip.thin_out(most / clips.max(1));
        }
        chosen
            .clips
            .retain(|clip| clip.columns.len() >= LEAST_POSES);
        chosen
    }

    /// The columns whose skins are needed, in order.
    #[must_use]
    pub fn kept(&self) -> Vec<usize> {
        let clips = self.clips.iter().flat_map(|clip| &clip.columns);
        let mut kept: Vec<usize> = self.drawn.iter().chain(clips).copied().collect();
        kept.sort_unstable();
        kept.dedup();
        kept
    }
}

/// Movements there and back through their poses, chosen in equal steps.
fn of_movements(columns: &Columns, most: usize) -> Vec<ClipPlan> {
    let list = columns.list();
    let mut runs = movements(&list);
    runs.retain(|(_, poses)| poses.len() >= LEAST_POSES);
    let count = runs.len().min(most);
    let step = runs.len() as f64 / count.max(1) as f64;
    let chosen = (0..count).map(|index| &runs[((index as f64 + 0.5) * step) as usize]);
    chosen
        .map(|(name, poses)| {
            let back = poses[1..poses.len() - 1].iter().rev();
            ClipPlan {
                label: (*name).to_owned(),
                columns: poses.iter().chain(back).copied().collect(),
                frame_ms: POSE_MS,
            }
        })
        .collect()
}

/// The middle of a motion, in real time; `None` for a single frame.
fn of_motion(columns: &Columns) -> Option<ClipPlan> {
    let list = columns.list();
    let mut secs = list.iter().filter_map(|column| column.at);
    let frame_secs = match (secs.clone().next(), secs.next_back()) {
        (Some(first), Some(last)) if last > first => (last - first) / (list.len() - 1) as f64,
        _ => return None,
    };
    let every = (1.0 / (MOST_FPS * frame_secs) - 1e-6).ceil().max(1.0) as usize;
    let count = list.len().min((LONGEST_SECS / frame_secs) as usize);
    let first = (list.len() - count) / 2;
    let shown: Vec<usize> = (first..first + count).step_by(every).collect();
    let [from, to] = [shown.first(), shown.last()].map(|end| end.map(|&column| &list[column]));
    let (from, to) = (from?, to?);
    Some(ClipPlan {
        label: format!("{}, {} to {}", from.movement, from.label, to.label),
        columns: shown,
        frame_ms: (every as f64 * 1e3 * frame_secs).round() as u32,
    })
}

impl ClipPlan {
    /// Leaves out every second frame until at most `most` different columns are left.
    fn thin_out(&mut self, most: usize) {
        let different = |columns: &[usize]| {
            let mut columns = columns.to_vec();
            columns.sort_unstable();
            columns.dedup();
            columns.len()
        };
        while self.columns.len() >= LEAST_POSES && different(&self.columns) > most {
            self.columns = self.columns.iter().copied().step_by(2).collect();
            self.frame_ms *= 2;
        }
    }
}

/// Draws the clips: all methods side by side, by one camera for the whole clip.
///
/// # Errors
/// [`PictureError`].
pub fn draw_clips(
    gpu: &GpuContext,
    subject: &Subject,
    measured: &Measured,
    (clips, settings): (&[ClipPlan], &PictureSettings<'_>),
    progress: &Progress,
) -> Result<Vec<ReportClip>, PictureError> {
    let cell = settings
        .size
        .map(|side| ((side as f32 * CLIP_SCALE) as u32).max(1));
    let total: usize = clips.iter().map(|clip| clip.columns.len()).sum();
    let mut done = 0;
    let mut drawn = Vec::new();
    for plan in clips {
        let states = measured.states_in(&plan.columns);
        let is_shown = |row: &usize| states[*row].iter().any(Option::is_some);
        let rows: Vec<usize> = (0..states.len()).filter(is_shown).collect();
        if rows.is_empty() {
            continue;
        }
        let sheet = PictureSheet::new(PictureSheet::around(cell, rows.len()), rows.len());
        gpu.check_size(sheet.size()[0], sheet.size()[1])?;
        let own = PictureSettings {
            size: sheet.cell(0),
            ..*settings
        };
        let mut drawer = Drawer::new(gpu, subject, &own);
        let all = states.iter().flatten().flatten();
        let points: Vec<_> = all
            .flat_map(|state| state.positions().iter().copied())
            .collect();
        let camera = drawer.camera(&points);
        let labels = rows
            .iter()
            .map(|&row| &measured.comparison.methods[row].label);
        let labels: Vec<&str> = labels.map(String::as_str).collect();
        let mut frames: Vec<(RgbaImage, u32)> = Vec::with_capacity(plan.columns.len());
        let count = plan.columns.len();
        for frame in 0..count {
            progress.check()?;
            progress.report(done as f32 / total as f32, "Drawing clips");
            done += 1;
            let picture = |&row: &usize| -> Result<RgbaImage, PictureError> {
                let state: Option<&Arc<Snapshot>> = states[row].get(frame).and_then(Option::as_ref);
                // Where the method failed the cell stays white.
                let Some(state) = state else {
                    return Ok(RgbaImage::new(0, 0));
                };
                Ok(drawer.picture(state, &camera, None)?)
            };
            let pictures: Vec<RgbaImage> = rows.iter().map(picture).collect::<Result<_, _>>()?;
            frames.push((sheet.compose(&pictures, &labels), plan.frame_ms));
        }
        drawn.push(ReportClip {
            caption: caption(&measured.comparison, plan, &labels),
            label: plan.label.clone(),
            size: sheet.size(),
            webp: animated_webp(&frames)?,
        });
    }
    Ok(drawn)
}

fn caption(comparison: &Comparison, plan: &ClipPlan, labels: &[&str]) -> String {
    let poses = &comparison.poses;
    let ends = [plan.columns.iter().min(), plan.columns.iter().max()];
    let [first, last] = ends.map(|end| end.map_or("", |&column| &poses[column].label));
    format!("{}: {first} to {last}", labels.join(", "))
}
