//! Damped least squares for the rest of the body: joints share the motion that limbs cannot make.
//!
//! Levenberg–Marquardt over the rotations ω of joints (rotation vectors about world axes, three per
//! joint) and, where permitted, the translation of the hips:
//!
//! ```text
//!     min  Σ wᵣ² ‖eᵣ‖²  +  μ Σ sⱼ ‖pⱼ‖²
//! ```
//!
//! | letter | here       | unit   |                                                                            |
//! |--------|------------|--------|----------------------------------------------------------------------------|
//! | e      | `residual` | size   | point to target, or distance from an annulus                                 |
//! | p      | `offset_from_start`     | rad    | rotation of a joint since the start of the drag                             |
//! | s      | `stiffness`| size²  | grows with the square of the lever and towards the hips: far joints go first |
//! | M      | `metric`   |        | diagonal (μ + λ) s                                                         |
//!
//! A step is `(JᵀJ + M) δ = Jᵀe − μ s p`. There are few residuals (3 to about 20) and many joints,
//! so the step is computed in the residual space: `(1 + J M⁻¹ Jᵀ) y = J M⁻¹ g`,
//! `δ = M⁻¹ (g − Jᵀ y)` (Woodbury). For λ → 0 it is the rotation of minimum s-weighted norm that
//! meets the goals. A step is accepted only if it reduces the error, so that unreachable targets
//! give a stretched, static chain. Joint limits, and the largest rotation of a joint in one drag, are projected after
//! each step.

use nalgebra::{DMatrix, DVector};

use super::figure::Figure;
use crate::math::{Point64, Quat, Vec64};
use crate::rig::limits::{LimitMap, clamp_joint};

/// A degree of freedom of a joint.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct DegreeOfFreedom {
    pub joint: usize,
    /// Translates instead of rotating.
    pub shifts: bool,
    pub stiffness: f64,
    /// Rotates about this axis only, given in the frame of the joint's local transform.
    pub hinge: Option<Vec64>,
    /// Maximum rotation since the start, radians.
    pub most: f64,
}

impl DegreeOfFreedom {
    /// The rotation since the start, limited to the maximum.
    fn limited(&self, now: Quat, start: &Quat) -> Quat {
        let turned = now * start.inverse();
        let angle = turned.angle();
        if angle <= self.most {
            return now;
        }
        turned.powf(self.most / angle) * start
    }
}

/// A goal for a point.
#[derive(Debug, Clone, Copy)]
pub(super) struct Goal {
    pub joint: usize,
    /// A point in the joint's frame.
    pub local: Point64,
    pub target: Point64,
    /// Minimum and maximum distance of the point from the target. `None`: exactly at the target.
    pub ring: Option<[f64; 2]>,
    pub weight: f64,
}

/// Solver settings.
#[derive(Debug, Clone, Copy)]
pub(super) struct SolverSettings {
    /// μ.
    pub pull: f64,
    pub iterations: usize,
}

/// A minimisation: degrees of freedom, goals, and the joints to update.
pub(super) struct Minimisation<'a> {
    pub start: &'a Figure<'a>,
    pub movers: &'a [DegreeOfFreedom],
    pub goals: &'a [Goal],
    /// Joints to update, parents first.
    pub joints: &'a [usize],
    pub limits: &'a LimitMap,
    /// The character's size: the unit of lengths.
    pub size: f64,
}

/// Maximum rotation per step, radians.
const LONGEST_STEP: f64 = 0.6;
/// Squared residual, in sizes, that counts as zero.
const NOTHING: f64 = 1e-14;

impl Minimisation<'_> {
    /// Rotates the joints of a figure.
    pub fn solve(&self, figure: &mut Figure<'_>, settings: SolverSettings) {
        let mut damping = 1e-4;
        let mut cost = self.cost(figure, settings.pull);
        for _ in 0..settings.iterations {
            if cost < NOTHING {
                return;
            }
            let Some(step) = self.step(figure, settings.pull, damping) else {
                return;
            };
            let longest = step.iter().fold(0.0_f64, |longest, x| longest.max(x.abs()));
            if longest < 1e-10 || !longest.is_finite() {
                return;
            }
            let before: Vec<_> = self
                .movers
                .iter()
                .map(|mover| figure.pose.locals[mover.joint])
                .collect();
            self.take(figure, &step, (LONGEST_STEP / longest).min(1.0));
            let after = self.cost(figure, settings.pull);
            if after < cost {
                let little = cost - after < 1e-12 * cost;
                cost = after;
                damping = (damping * 0.1).max(1e-12);
                if little {
                    return;
                }
            } else {
                for (mover, local) in self.movers.iter().zip(before) {
                    figure.pose.locals[mover.joint] = local;
                }
                figure.refresh(self.joints);
                damping *= 10.0;
                if damping > 1e6 {
                    return;
                }
            }
        }
    }

    /// The largest residual, in sizes.
    pub fn worst(&self, figure: &Figure<'_>) -> f64 {
        self.goals
            .iter()
            .map(|goal| self.residual(figure, goal).0.norm())
            .fold(0.0, f64::max)
    }

    /// The residual of a goal, in sizes, and the point's current position.
    fn residual(&self, figure: &Figure<'_>, goal: &Goal) -> (Vec64, Point64) {
        let point = figure.point(goal.joint, &goal.local);
        let missing = goal.target - point;
        let missing = match goal.ring {
            None => missing,
            Some([least, most]) => {
                let distance = missing.norm();
                let excess = (distance - most).max(0.0) + (distance - least).min(0.0);
                if excess == 0.0 || distance < 1e-9 * self.size {
                    Vec64::zeros()
                } else {
                    missing * (excess / distance)
                }
            }
        };
        (missing / self.size, point)
    }

    fn offset_from_start(&self, figure: &Figure<'_>, mover: &DegreeOfFreedom) -> Vec64 {
        let (now, first) = (
            &figure.pose.locals[mover.joint],
            &self.start.pose.locals[mover.joint],
        );
        if mover.shifts {
            let base = crate::math::linear_part(&figure.base(mover.joint));
            base * (now.translation - first.translation) / self.size
        } else {
            figure.base_turn(mover.joint) * (now.rotation * first.rotation.inverse()).scaled_axis()
        }
    }

    fn cost(&self, figure: &Figure<'_>, pull: f64) -> f64 {
        let missing: f64 = self
            .goals
            .iter()
            .map(|goal| goal.weight.powi(2) * self.residual(figure, goal).0.norm_squared())
            .sum();
        if pull == 0.0 {
            return missing;
        }
        missing
            + pull
                * self
                    .movers
                    .iter()
                    .map(|mover| {
                        mover.stiffness * self.offset_from_start(figure, mover).norm_squared()
                    })
                    .sum::<f64>()
    }

    fn step(&self, figure: &Figure<'_>, pull: f64, damping: f64) -> Option<DVector<f64>> {
        let columns = 3 * self.movers.len();
        let rows: usize = self
            .goals
            .iter()
            .map(|goal| if goal.ring.is_some() { 1 } else { 3 })
            .sum();
        let mut jacobian = DMatrix::zeros(rows, columns);
        let mut missing = DVector::zeros(rows);
        let mut row = 0;
        for goal in self.goals {
            let (residual, point) = self.residual(figure, goal);
            let direction = goal
                .ring
                .map(|_| residual.try_normalize(1e-300).unwrap_or_else(Vec64::zeros));
            let height = if direction.is_some() { 1 } else { 3 };
            for (column, mover) in self.movers.iter().enumerate() {
                if !self.moves(mover, goal) {
                    continue;
                }
                let block = if mover.shifts {
                    nalgebra::Matrix3::identity()
                } else {
                    // ω × r = −[r]ₓ ω
                    -((point - figure.place(mover.joint)) / self.size).cross_matrix()
                } * goal.weight;
                let block = match mover.hinge {
                    Some(hinge) => {
                        let hinge = figure.base_turn(mover.joint) * hinge;
                        block * (hinge * hinge.transpose())
                    }
                    None => block,
                };
                match direction {
                    Some(direction) => jacobian
                        .fixed_view_mut::<1, 3>(row, 3 * column)
                        .copy_from(&(direction.transpose() * block)),
                    None => jacobian
                        .fixed_view_mut::<3, 3>(row, 3 * column)
                        .copy_from(&block),
                }
            }
            match direction {
                Some(_) => missing[row] = residual.norm() * goal.weight,
                None => missing
                    .fixed_rows_mut::<3>(row)
                    .copy_from(&(residual * goal.weight)),
            }
            row += height;
        }
        let mut gradient = jacobian.tr_mul(&missing);
        let mut metric = DVector::zeros(columns);
        for (column, mover) in self.movers.iter().enumerate() {
            let pulled = if pull > 0.0 {
                self.offset_from_start(figure, mover) * (pull * mover.stiffness)
            } else {
                Vec64::zeros()
            };
            for axis in 0..3 {
                metric[3 * column + axis] = (pull + damping) * mover.stiffness;
                gradient[3 * column + axis] -= pulled[axis];
            }
        }
        let scaled = DMatrix::from_fn(rows, columns, |i, j| jacobian[(i, j)] / metric[j]);
        let mut small = &scaled * jacobian.transpose();
        for i in 0..rows {
            small[(i, i)] += 1.0;
        }
        let inner = small.cholesky()?.solve(&(&scaled * &gradient));
        let step = gradient - jacobian.tr_mul(&inner);
        Some(step.component_div(&metric))
    }

    /// Whether a mover affects a goal's point.
    fn moves(&self, mover: &DegreeOfFreedom, goal: &Goal) -> bool {
        self.start
            .skeleton
            .path_up(goal.joint)
            .any(|joint| joint == mover.joint)
    }

    fn take(&self, figure: &mut Figure<'_>, step: &DVector<f64>, scale: f64) {
        // From the end, so that the frames of ancestors are still those used for the Jacobian.
        for (index, mover) in self.movers.iter().enumerate().rev() {
            let delta = step.fixed_rows::<3>(3 * index).into_owned() * scale;
            let joint = mover.joint;
            if mover.shifts {
                let base = crate::math::linear_part(&figure.base(joint));
                if let Some(inverse) = base.try_inverse() {
                    figure.pose.locals[joint].translation += inverse * delta * self.size;
                }
            } else {
                let base = figure.base_turn(joint);
                let local =
                    base.inverse() * Quat::new(delta) * base * figure.pose.locals[joint].rotation;
                let local = Quat::new_normalize(local.into_inner());
                figure.pose.locals[joint].rotation =
                    mover.limited(local, &self.start.pose.locals[joint].rotation);
                clamp_joint(figure.skeleton, self.limits, &mut figure.pose, joint);
            }
        }
        figure.refresh(self.joints);
    }
}
