//! Springs and pose-driven helpers that together leave the least distance to the frames.
//!
//! Functions of the pose that were fitted to swinging flesh have taken over a part of the swing, as far as the poses of the clips tell its
//! phase. So each spring is fitted to the stops alone first, where the pose is at rest; then its helper's driver is fitted to what the
//! spring leaves, and the spring to what the driver leaves, in turn.

use super::super::{Decomposition, DecompositionError, SimulatedFrame};
use super::moments::{Region, frame_of};
use super::rule::Rule;
use super::search::{Course, Shape, best};
use super::{LEAST_SWING_M, Motion, NoSpring, Spring, SpringReport, free, swings_of};
use crate::math::{Affine, Point, Vec64};
use crate::progress::Progress;
use crate::rig::{Pose, Skeleton, Trs};

/// A spring has to lower the square error of its region in all motions by this part.
const LEAST_GAIN: f64 = 0.03;
/// The first lever is at least this part of the radius of the region.
const LEAST_LEVER: f64 = 0.5;
/// Times that all springs are fitted to everything, each with the others as they are.
const SWEEPS: usize = 2;
/// Stiffness at the starts of the search, times the one that was measured.
const STARTS: [f64; 3] = [1.0, 0.25, 4.0];

impl Decomposition {
    /// Fits springs to motions: those without a stop are the clips whose frames the helpers were fitted to ([`Decomposition::fitted`]), in
    /// order, and `still` are the frames after them. The drivers of helpers with springs are fitted anew. Also says what was found about
    /// every helper.
    ///
    /// # Errors
    /// [`DecompositionError::Cancelled`], [`DecompositionError::Skeleton`].
    ///
    /// # Panics
    /// If there are other frames than those of the fit.
    pub fn fit_springs(
        &mut self,
        bind: &[Point],
        motions: &[Motion],
        still: &[SimulatedFrame],
        metres_per_unit: f64,
        progress: &Progress,
    ) -> Result<(Vec<Spring>, Vec<SpringReport>), DecompositionError> {
        let mut fit = Fit {
            bind,
            motions,
            still,
            places: (motions.iter().map(|m| self.places(&m.ticks))).collect(),
            driven: (motions.iter())
                .map(|m| m.frames.iter().map(|f| self.driven(&f.pose)).collect())
                .collect(),
            metres_per_unit,
            springs: Vec::new(),
            found: self.clone(),
        };
        let frames: usize = fit.clips().map(|(_, m)| m.frames.len()).sum();
        assert_eq!(frames + still.len(), self.fitted.len(), "other frames");
        let reports = fit.all(self, progress)?;
        fit.springs.sort_by_key(|spring| spring.helper);
        self.drivers = fit.found.drivers;
        // The rest pose of a helper is what its driver makes of the rest pose.
        let mut joints = self.skeleton.joints().to_vec();
        let first = joints.len() - self.drivers.len();
        for spring in &fit.springs {
            joints[first + spring.helper].rest = self.drivers[spring.helper].rest();
        }
        self.skeleton = Skeleton::new(joints)?;
        Ok((fit.springs, reports))
    }
}

struct Fit<'a> {
    /// With the drivers as they are now.
    found: Decomposition,
    bind: &'a [Point],
    motions: &'a [Motion<'a>],
    still: &'a [SimulatedFrame],
    /// Of each motion, tick and helper.
    places: Vec<Vec<Vec<Affine>>>,
    /// Of each motion and frame.
    driven: Vec<Vec<Pose>>,
    metres_per_unit: f64,
    springs: Vec<Spring>,
}

/// Which motions a spring is fitted to.
#[derive(Clone, Copy, PartialEq, Eq)]
enum To {
    Stops,
    All,
}

impl<'a> Fit<'a> {
    fn clips(&self) -> impl Iterator<Item = (usize, &'a Motion<'a>)> + use<'a> {
        let motions = self.motions.iter().enumerate();
        motions.filter(|(_, motion)| motion.free_from.is_none())
    }

    fn all(
        &mut self,
        before: &Decomposition,
        progress: &Progress,
    ) -> Result<Vec<SpringReport>, DecompositionError> {
        let helpers = self.found.drivers.len();
        let regions: Vec<Region> = (0..helpers).map(|h| Region::of(before, h)).collect();
        let mut reports: Vec<SpringReport> = Vec::with_capacity(helpers);
        for region in &regions {
            progress.check()?;
            reports.push(self.looked_at(region));
        }
        // The strongest swing first: its spring also moves what others share.
        let mut order: Vec<usize> = (0..helpers)
            .filter(|&h| reports[h].left_out.is_none())
            .collect();
        order.sort_by(|&a, &b| reports[b].swing_mm.total_cmp(&reports[a].swing_mm));
        let steps = (1 + SWEEPS) * order.len();
        let rounds = (0..=SWEEPS).flat_map(|round| order.iter().map(move |&h| (round, h)));
        for (done, (round, helper)) in rounds.enumerate() {
            progress.report(done as f32 / steps as f32, "Fitting springs");
            progress.check()?;
            let to = if round == 0 { To::Stops } else { To::All };
            let spring = self.spring(helper, &regions[helper], &reports[helper], to);
            self.springs.extend(spring);
            self.drive(helper);
        }
        for &helper in &order {
            progress.check()?;
            self.keep_if_better(helper, &regions[helper], &mut reports[helper], before);
        }
        Ok(reports)
    }

    /// What the flesh of a helper does after the stops.
    fn looked_at(&self, region: &Region) -> SpringReport {
        let mut series = Vec::new();
        for (motion, driven) in self.motions.iter().zip(&self.driven) {
            let Some(from) = motion.free_from else {
                continue;
            };
            let moments = region.moments(&self.found, self.bind, motion.frames, driven);
            let weight = region.weight.max(f64::MIN_POSITIVE);
            let rest = moments[0].left / weight;
            let off = moments[from..].iter().map(|m| m.left / weight - rest);
            series.push(off.collect::<Vec<Vec64>>());
        }
        let largest = (series.iter().flatten()).fold(0.0, |most: f64, off| most.max(off.norm()));
        let metres = largest * self.metres_per_unit;
        SpringReport {
            helper: self.found.skeleton.joints()[region.joint].name.clone(),
            swing_mm: metres * 1e3,
            swing: free::free_swing(&series),
            rms: None,
            rms_of_stops: None,
            left_out: if metres < LEAST_SWING_M {
                Some(NoSpring::Still)
            } else if self.side(region).is_none() {
                Some(NoSpring::NoSide)
            } else {
                None
            },
        }
    }

    /// Takes out the spring of a helper and returns the best one, with the others as they are.
    fn spring(
        &mut self,
        helper: usize,
        region: &Region,
        report: &SpringReport,
        to: To,
    ) -> Option<Spring> {
        let (axis, lever) = self.side(region)?;
        let measured = Rule::of(&report.swing?);
        let mut starts = STARTS
            .map(|factor| Shape {
                axis,
                lever,
                length: lever,
                rule: Rule {
                    stiffness: measured.stiffness * factor,
                    ..measured
                },
            })
            .to_vec();
        let now = self.springs.iter().position(|s| s.helper == helper);
        if let Some(now) = now {
            let spring = self.springs.remove(now);
            starts.push(self.shape(region, &spring));
        }
        let courses: Vec<Course> = (0..self.motions.len())
            .filter(|&m| to == To::All || self.motions[m].free_from.is_some())
            .map(|motion| self.course(motion, helper, region))
            .collect();
        let (shape, change) = best(&courses, &starts)?;
        (change < 0.0).then(|| self.placed(helper, region, &shape))
    }

    /// Fits the driver of a helper to its fitted transforms without the swing of its spring, if it has one.
    fn drive(&mut self, helper: usize) {
        let Some(spring) = self.springs.iter().find(|s| s.helper == helper).cloned() else {
            return;
        };
        let alone = std::slice::from_ref(&spring);
        let (mut poses, mut locals) = (Vec::new(), Vec::new());
        for (index, motion) in self.clips() {
            let turns = swings_of(alone, &self.places[index], &motion.at);
            for (frame, turns) in motion.frames.iter().zip(&turns) {
                let fitted = self.found.fitted[poses.len()][helper].to_affine();
                let back = spring.about_pivot(&turns[0].inverse());
                locals.push(Trs::from_affine(&(fitted * back)));
                poses.push(&frame.pose);
            }
        }
        for frame in self.still {
            locals.push(self.found.fitted[poses.len()][helper]);
            poses.push(&frame.pose);
        }
        let driver = self.found.drivers[helper].refitted(&poses, &locals);
        self.set_driver(helper, driver);
    }

    fn set_driver(&mut self, helper: usize, driver: super::super::Driver) {
        let first = self.found.skeleton.len() - self.found.drivers.len();
        let joint = &self.found.skeleton.joints()[first + helper];
        let parent = |pose: &Pose| {
            let above =
                std::iter::successors(joint.parent, |&j| self.found.skeleton.joints()[j].parent);
            above.fold(joint.parent_from_base, |below, j| {
                let joint = &self.found.skeleton.joints()[j];
                joint.parent_from_base * pose.locals[j].to_affine() * below
            })
        };
        for (motion, places) in self.motions.iter().zip(&mut self.places) {
            for (pose, helpers) in motion.ticks.iter().zip(places) {
                helpers[helper] = parent(pose) * driver.local(pose).to_affine();
            }
        }
        for (motion, driven) in self.motions.iter().zip(&mut self.driven) {
            for (frame, driven) in motion.frames.iter().zip(driven) {
                driven.locals[first + helper] = driver.local(&frame.pose);
            }
        }
        self.found.drivers[helper] = driver;
    }

    /// Keeps the spring of a helper if, with its new driver, it brings all motions nearer than the old driver alone, and the clips no
    /// farther.
    fn keep_if_better(
        &mut self,
        helper: usize,
        region: &Region,
        report: &mut SpringReport,
        before: &Decomposition,
    ) {
        let with = self.squares(helper, region);
        let driver = self.found.drivers[helper].clone();
        let place = self.springs.iter().position(|s| s.helper == helper);
        let spring = place.map(|place| self.springs.remove(place));
        self.set_driver(helper, before.drivers[helper].clone());
        let without = self.squares(helper, region);
        let mut frames = [0; 2];
        for motion in self.motions {
            frames[usize::from(motion.free_from.is_some())] += motion.frames.len();
        }
        let rms = |of: usize| {
            let count = (frames[of] * region.len()).max(1) as f64;
            let millimetres = |square: f64| (square / count).sqrt() * self.metres_per_unit * 1e3;
            [without[of], with[of]].map(millimetres)
        };
        (report.rms, report.rms_of_stops) = (Some(rms(0)), Some(rms(1)));
        let sum = |squares: [f64; 2]| squares[0] + squares[1];
        let is_better = with[0] <= without[0] && sum(with) <= (1.0 - LEAST_GAIN) * sum(without);
        match spring {
            Some(spring) if is_better => {
                self.springs.push(spring);
                self.set_driver(helper, driver);
            }
            _ => report.left_out = Some(NoSpring::NoGain),
        }
    }

    /// The sums of the squares of what is left at the vertices of a helper: in the clips, and in the stops.
    fn squares(&self, helper: usize, region: &Region) -> [f64; 2] {
        let mut squares = [0.0; 2];
        for (index, motion) in self.motions.iter().enumerate() {
            let frames = self.course(index, helper, region).frames;
            let sum: f64 = frames.iter().map(|frame| frame.square).sum();
            squares[usize::from(motion.free_from.is_some())] += sum;
        }
        squares
    }

    /// A helper in a motion, with the springs that are there.
    fn course(&self, motion: usize, helper: usize, region: &Region) -> Course {
        let Motion { frames, at, .. } = &self.motions[motion];
        let places = &self.places[motion];
        let turns = swings_of(&self.springs, places, at);
        let driven = self.driven[motion].iter().zip(&turns);
        let poses: Vec<Pose> = driven
            .map(|(pose, turns)| self.found.swung(pose, &self.springs, turns))
            .collect();
        Course {
            places: (places.iter())
                .map(|helpers| frame_of(&helpers[helper]))
                .collect(),
            frames: region.moments(&self.found, self.bind, frames, &poses),
            at: at.clone(),
        }
    }

    /// In the helper's frame, the unit vector from the parent's bone to the centre of the helper; and the length of the first lever.
    fn side(&self, region: &Region) -> Option<(Vec64, f64)> {
        let skeleton = &self.found.skeleton;
        let given = skeleton.len() - self.found.drivers.len();
        let joint = &skeleton.joints()[region.joint];
        let (turn, centre) = frame_of(&joint.world_from_bind);
        let parent = joint.parent?;
        let from = skeleton.bind_position(parent).coords;
        let children = skeleton.children(parent).iter().filter(|&&c| c < given);
        let ends = children.map(|&child| skeleton.bind_position(child).coords);
        let tail = skeleton.joints()[parent].tail.map(|tail| tail.coords);
        let feet = ends.chain(tail).chain([from]).map(|to| {
            let bone = to - from;
            let along = (centre - from).dot(&bone) / bone.norm_squared().max(f64::MIN_POSITIVE);
            from + bone * along.clamp(0.0, 1.0)
        });
        let across = feet
            .map(|foot| centre - foot)
            .min_by(|a, b| a.norm().total_cmp(&b.norm()))?;
        let radius = region.radius(self.bind, &centre);
        let axis = across.try_normalize(1e-2 * radius)?;
        let lever = across.norm().max(LEAST_LEVER * radius);
        (lever > 0.0).then(|| (turn.inverse() * axis, lever))
    }

    /// The spring in the frame of the helper, whose axes may be scaled.
    fn placed(&self, helper: usize, region: &Region, shape: &Shape) -> Spring {
        let world = &self.found.skeleton.joints()[region.joint].world_from_bind;
        let (turn, centre) = frame_of(world);
        let pivot = centre - turn * shape.axis * shape.lever;
        let tail = pivot + turn * shape.axis * shape.length;
        let local = |place: Vec64| world.inverse_transform_point(&place.into()).coords;
        Spring {
            helper,
            pivot: local(pivot),
            tail: local(tail),
            rule: shape.rule,
        }
    }

    /// The inverse of [`Fit::placed`].
    fn shape(&self, region: &Region, spring: &Spring) -> Shape {
        let world = &self.found.skeleton.joints()[region.joint].world_from_bind;
        let (turn, centre) = frame_of(world);
        let [pivot, tail] =
            [spring.pivot, spring.tail].map(|place| world.transform_point(&place.into()).coords);
        Shape {
            axis: turn.inverse() * (tail - pivot).normalize(),
            lever: (centre - pivot).norm(),
            length: (tail - pivot).norm(),
            rule: spring.rule,
        }
    }
}
