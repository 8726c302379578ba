//! Initial landmark positions, from the extents of a mesh.

use super::BodyFrame;
use crate::math::{Point64, Vec64};
use crate::rig::edit::Placer;

/// The centre of the first interval of flesh along a line from the left, at a height and depth
/// given as fractions of the box; the given position if there is none.
fn from_left(placer: &Placer, frame: &BodyFrame, fallback: [f64; 3]) -> Point64 {
    let outside = frame.place([1.2, fallback[1], fallback[2]]);
    match placer.under(&outside, &-frame.left) {
        Some(placed) if (placed.position - frame.middle).dot(&frame.left) > 0.0 => placed.position,
        _ => frame.place(fallback),
    }
}

/// The mean of the vertices selected by their coordinates to the left, up and forward, as fractions
/// of the box.
fn mean(placer: &Placer, frame: &BodyFrame, chosen: impl Fn([f64; 3]) -> bool) -> Option<Point64> {
    let part = |point: &Point64| {
        let at = frame.coordinates(point);
        [0, 1, 2].map(|axis| at[axis] / frame.half[axis].max(1e-12))
    };
    let (sum, count) = placer
        .points()
        .iter()
        .map(|point| point.cast::<f64>())
        .filter(|point| chosen(part(point)))
        .fold((Vec64::zeros(), 0), |(sum, count), point| {
            (sum + point.coords, count + 1)
        });
    (count > 0).then(|| Point64::from(sum / f64::from(count)))
}

/// The extreme point along a direction.
fn outermost(placer: &Placer, direction: &Vec64) -> Option<Point64> {
    let points = placer.points().iter().map(|point| point.cast::<f64>());
    points.max_by(|a, b| a.coords.dot(direction).total_cmp(&b.coords.dot(direction)))
}

/// Heights above the floor as fractions of the total (canon of eight heads), mapped to −1..=1.
const fn height(part: f64) -> f64 {
    2.0 * part - 1.0
}

/// Chin, groin, shoulder, elbow, wrist, knee, ankle.
pub(super) fn human(placer: &Placer, frame: &BodyFrame) -> Vec<Point64> {
    let depth = mean(placer, frame, |[_, up, _]| {
        (height(0.5)..height(0.8)).contains(&up)
    })
    .map_or(0.0, |p| frame.coordinates(&p)[2] / frame.half[2].max(1e-12));
    let chin = frame.place([0.0, height(0.87), depth]);
    let groin = frame.place([0.0, height(0.47), depth]);
    let tip = fingertips(placer, frame, depth);
    let [_, tip_height, _] = frame.coordinates(&tip);
    // Raised arms start slightly higher than hanging arms.
    let raised =
        (f64::midpoint(tip_height / frame.half[1].max(1e-12), 1.0) - 0.45).clamp(0.0, 0.35);
    let shoulder_height = height(0.795 + 0.05 * raised);
    let side = 0.105 * 2.0 * frame.half[1] / frame.half[0].max(1e-12);
    let shoulder = frame.place([side.min(0.6), shoulder_height, depth]);
    let along = |part: f64| shoulder + (tip - shoulder) * part;
    let inside = |place: Point64| {
        let inside = placer.kept_inside(&place);
        let (middle, radius, _) = placer.centred(&inside);
        if (middle - inside).norm() < 2.0 * radius {
            middle
        } else {
            inside
        }
    };
    let leg = |part: f64| from_left(placer, frame, [0.35 * side / 0.21, height(part), depth]);
    vec![
        placer.kept_inside(&chin),
        groin,
        placer.kept_inside(&shoulder),
        inside(along(0.385)),
        inside(along(0.715)),
        leg(0.275),
        leg(0.07),
    ]
}

/// The end of the left arm: of the points far to the side and above the knees, the one farthest
/// from the shoulder. For a hanging arm the elbow may be farther to the side than the hand.
fn fingertips(placer: &Placer, frame: &BodyFrame, depth: f64) -> Point64 {
    let side = (0.21 * frame.half[1] / frame.half[0].max(1e-12)).min(0.6);
    let shoulder = frame.place([side, height(0.8), depth]);
    let points = placer.points().iter().map(|point| point.cast::<f64>());
    let beside = points.filter(|point| {
        let [left, up, _] = frame.coordinates(point);
        left > 0.7 * frame.half[0] && up > height(0.25) * frame.half[1]
    });
    let far = |point: &Point64| (point - shoulder).norm();
    beside
        .max_by(|a, b| far(a).total_cmp(&far(b)))
        .unwrap_or_else(|| frame.place([1.0, height(0.75), depth]))
}

/// Wrist, thumb base and tip, index knuckle and tip, middle tip, ring tip, little knuckle and tip.
/// The thumb is the finger whose tip is farthest to a side and not high.
pub(super) fn hand(placer: &Placer, frame: &BodyFrame) -> Vec<Point64> {
    let reach = |side: f64| {
        let low = |[left, up, _]: [f64; 3]| left * side > 0.0 && up < 0.35;
        let points = placer
            .points()
            .iter()
            .map(|point| frame.coordinates(&point.cast()));
        points
            .filter(|at| {
                low([
                    at[0] / frame.half[0].max(1e-12),
                    at[1] / frame.half[1].max(1e-12),
                    0.0,
                ])
            })
            .map(|at| at[0] * side)
            .fold(0.0, f64::max)
    };
    let thumb = if reach(1.0) >= reach(-1.0) { 1.0 } else { -1.0 };
    let place = |left: f64, up: f64| placer.kept_inside(&frame.place([left * thumb, up, 0.0]));
    // A spread index finger may extend farther to the side, but not as low.
    let low = placer
        .points()
        .iter()
        .map(|point| point.cast::<f64>())
        .filter(|point| frame.coordinates(point)[1] < 0.35 * frame.half[1]);
    let aside = |point: &Point64| frame.coordinates(point)[0] * thumb;
    let thumb_tip = low
        .max_by(|a, b| aside(a).total_cmp(&aside(b)))
        .unwrap_or_else(|| place(0.9, 0.1));
    let spread = Spread::of(placer, frame, thumb);
    let tips = spread.tips().unwrap_or_else(|| {
        [
            place(0.3, 0.8),
            place(0.02, 0.95),
            place(-0.3, 0.85),
            place(-0.7, 0.55),
        ]
    });
    let [index_knuckle, little_knuckle] = spread
        .knuckles(placer)
        .unwrap_or_else(|| [place(0.22, 0.12), place(-0.55, 0.0)]);
    let inside = |place: &Point64| placer.kept_inside(place);
    vec![
        place(0.0, -0.75),
        place(0.3, -0.45),
        inside(&thumb_tip),
        inside(&index_knuckle),
        inside(&tips[0]),
        inside(&tips[1]),
        inside(&tips[2]),
        inside(&little_knuckle),
        inside(&tips[3]),
    ]
}

/// Distance from the palm's centre to the hand's outline, by direction in the palm's plane.
struct Spread {
    palm: Point64,
    /// For every angular step, from the thumb's side to the other, the farthest point and its
    /// distance.
    farthest: Vec<Option<(f64, Point64)>>,
    /// Steps at which fingers end, from the index finger to the little one.
    peaks: Option<[usize; 4]>,
}

/// Number of angular steps over half a turn.
const STEPS: usize = 72;
/// Minimum depth of the gap between two fingers, as a fraction of the hand's extent.
const VALLEY: f64 = 0.06;
/// Depth of the knuckles below the skin between the fingers, as a fraction of that skin's distance
/// from the palm.
const BELOW_WEB: f64 = 0.14;

impl Spread {
    fn of(placer: &Placer, frame: &BodyFrame, thumb: f64) -> Self {
        let palm = frame.place([0.0, -0.25, 0.0]);
        let mut farthest: Vec<Option<(f64, Point64)>> = vec![None; STEPS];
        for point in placer.points().iter().map(|point| point.cast::<f64>()) {
            let way = point - palm;
            let (side, up) = (way.dot(&frame.left) * thumb, way.dot(&frame.up));
            // 0 at the thumb's side, 1 at the other.
            let (turn, reach) = (up.atan2(side) / std::f64::consts::PI, side.hypot(up));
            if up > 0.0 && (0.0..1.0).contains(&turn) {
                let slot = &mut farthest[((turn * STEPS as f64) as usize).min(STEPS - 1)];
                if slot.is_none_or(|(least, _)| reach > least) {
                    *slot = Some((reach, point));
                }
            }
        }
        let mut spread = Self {
            palm,
            farthest,
            peaks: None,
        };
        spread.peaks = spread.find_peaks();
        spread
    }

    fn reach(&self, step: usize) -> f64 {
        self.farthest[step].map_or(0.0, |(reach, _)| reach)
    }

    /// The fingers are the last four of five, or the only four, local maxima of the distance.
    fn find_peaks(&self) -> Option<[usize; 4]> {
        let most = (0..STEPS).map(|step| self.reach(step)).fold(0.0, f64::max);
        let mut peaks: Vec<usize> = Vec::new();
        for step in 1..STEPS - 1 {
            let here = self.reach(step);
            if here < 0.35 * most || here < self.reach(step - 1) || here <= self.reach(step + 1) {
                continue;
            }
            match peaks.last().copied() {
                Some(last)
                    if here.min(self.reach(last)) - self.lowest(last, step) < VALLEY * most =>
                {
                    if here > self.reach(last) {
                        peaks.pop();
                        peaks.push(step);
                    }
                }
                _ => peaks.push(step),
            }
        }
        let fingers = peaks.len().checked_sub(4).filter(|&thumbs| thumbs <= 1)?;
        peaks[fingers..].try_into().ok()
    }

    fn lowest(&self, from: usize, to: usize) -> f64 {
        (from..=to)
            .map(|step| self.reach(step))
            .fold(f64::INFINITY, f64::min)
    }

    /// The tips of index, middle, ring and little finger.
    fn tips(&self) -> Option<[Point64; 4]> {
        let tip = |step: usize| {
            self.farthest[step].map_or(self.palm, |(_, point)| {
                self.palm + (point - self.palm) * 0.985
            })
        };
        self.peaks.map(|peaks| peaks.map(tip))
    }

    /// The knuckles of index and little finger: on the finger's centre line, slightly below the
    /// skin between the fingers.
    fn knuckles(&self, placer: &Placer) -> Option<[Point64; 2]> {
        let [index, middle, ring, little] = self.peaks?;
        let knuckle = |step: usize, next: usize| {
            let (reach, tip) = self.farthest[step]?;
            let web = self.lowest(step.min(next), step.max(next));
            // The palm's centre is not on the finger's line; the line is determined by two
            // positions on the finger.
            let [high, low] = [0.75, 0.3].map(|part| {
                let at = placer.kept_inside(
                    &(self.palm
                        + (tip - self.palm) * ((web + part * (reach - web)) / reach.max(1e-12))),
                );
                let (middle, radius, _) = placer.centred(&at);
                if (middle - at).norm() < 2.0 * radius {
                    middle
                } else {
                    at
                }
            });
            let down = (low - high).try_normalize(1e-9 * placer.size())?;
            Some(low + down * (0.3 * (reach - web) + BELOW_WEB * web))
        };
        Some([knuckle(index, middle)?, knuckle(little, ring)?])
    }
}

/// The landmarks of [`super::four_legged`], in order.
pub(super) fn four_legged(placer: &Placer, frame: &BodyFrame) -> Vec<Point64> {
    let paw = |front: bool| {
        let chosen =
            |[left, up, forward]: [f64; 3]| up < -0.86 && left > 0.0 && (forward > 0.0) == front;
        mean(placer, frame, chosen)
            .unwrap_or_else(|| frame.place([0.4, -0.95, if front { 0.5 } else { -0.5 }]))
    };
    let (front, hind) = (paw(true), paw(false));
    let parts = |place: &Point64| {
        let at = frame.coordinates(place);
        [0, 1, 2].map(|axis| at[axis] / frame.half[axis].max(1e-12))
    };
    let [front_left, _, front_at] = parts(&front);
    let [hind_left, _, hind_at] = parts(&hind);
    let back = |at: f64| {
        // The spine is a fifth of the trunk's height below the back.
        let above = frame.place([0.0, 1.3, at]);
        placer.under(&above, &-frame.up).map_or_else(
            || frame.place([0.0, 0.3, at]),
            |placed| placed.surface + (placed.position - placed.surface) * 0.45,
        )
    };
    // Hips are slightly in front of the hind paws.
    let (withers, rump) = (back(front_at), back(hind_at + 0.03));
    let most = super::SHIFT * (withers - rump).norm();
    let leg =
        |left: f64, up: f64, at: f64| super::centred(placer, &frame.place([left, up, at]), most);
    let [_, withers_up, _] = parts(&withers);
    let nose = outermost(placer, &(frame.forward + frame.up * 0.1))
        .unwrap_or_else(|| frame.place([0.0, 0.7, 1.0]));
    let tail = outermost(placer, &-frame.forward).unwrap_or_else(|| frame.place([0.0, 0.3, -1.0]));
    let skull_at = parts(&nose)[2] * 0.5 + front_at * 0.5;
    let skull = back(skull_at);
    let down = |part: f64| -1.0 + (withers_up + 1.0) * part;
    vec![
        placer.kept_inside(&nose),
        skull,
        withers,
        rump,
        placer.kept_inside(&tail),
        leg(front_left, down(0.68), front_at),
        leg(front_left, down(0.36), front_at),
        front,
        leg(hind_left, down(0.72), hind_at + 0.08),
        leg(hind_left, down(0.45), hind_at + 0.1),
        leg(hind_left, down(0.24), hind_at - 0.03),
        hind,
    ]
}
