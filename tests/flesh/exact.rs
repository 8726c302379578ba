//! One step of projective dynamics as the papers write it, in `f64`, without any thought for speed: nothing of the solver is used.

use faer::linalg::solvers::Solve;
use faer::sparse::linalg::solvers::Llt;
use faer::sparse::{SparseColMat, Triplet};
use faer::{Mat, Side};
use nalgebra::{Matrix3, Point3, Vector3};
use sinew::dynamics::Params;
use sinew::methods::Subject;
use sinew::tissue::CornerKind;

type Point = Point3<f64>;
type Vector = Vector3<f64>;

/// Skin relative to its base is never faster, sizes per second.
const FASTEST: f64 = 8.0;

/// A tet: its vertices (skin below n, base from n on), their gradients, its volume.
struct Tet {
    vertices: [usize; 4],
    gradients: [Vector; 4],
    volume: f64,
}

/// The whole state between two steps.
#[derive(Clone)]
pub struct State {
    pub position: Vec<Point>,
    pub velocity: Vec<Vector>,
    /// Base vertices, and behind them the places of the carried skin vertices.
    pub base: Vec<Point>,
    /// Velocity of the base in the last step.
    pub base_velocity: Vec<Vector>,
}

/// The matrix, factored, and all that is constant.
pub struct ExactSolver {
    tets: Vec<Tet>,
    mass: Vec<f64>,
    /// Skin vertices that are no unknowns.
    carried: Vec<u32>,
    /// Whether a vertex, of the skin or of the base, is an unknown.
    is_free: Vec<bool>,
    stiffness: f64,
    gravity: Vector,
    params: Params,
    size: f64,
    factor: Llt<usize, f64>,
}

impl ExactSolver {
    pub fn new(subject: &Subject, params: &Params) -> Self {
        assert!(
            params.paper.is_none()
                && !params.human_sized
                && params.volume == 0.0
                && params.jiggle == 1.0
        );
        let tissue = &subject.flesh().expect("has flesh").tissue;
        let metres = subject.character.metres_per_unit;
        let rest: Vec<Point> = subject
            .sim()
            .mesh
            .positions
            .iter()
            .map(|p| p.cast::<f64>())
            .chain(tissue.base.iter().copied())
            .collect();
        let n = tissue.base.len();
        let (mut tets, mut volume) = (Vec::new(), vec![0.0; n]);
        for cell in tissue.layers[0].tets.chunk_by(|a, b| a.cell == b.cell) {
            for tet in cell {
                let vertices: [usize; 4] = tet.corners.map(|corner| match corner.kind() {
                    CornerKind::Unknown(v) => v as usize,
                    CornerKind::Prescribed(v) => n + v as usize,
                });
                let edges = Matrix3::from_fn(|row, column| {
                    rest[vertices[column + 1]][row] - rest[vertices[0]][row]
                });
                let tet_volume = edges.determinant().abs() / 6.0;
                vertices
                    .iter()
                    .filter(|&&v| v < n)
                    .for_each(|&v| volume[v] += tet_volume / 4.0);
                if !tet.is_usable() {
                    continue;
                }
                let inverse = edges.try_inverse().expect("usable");
                let row = |k: usize| inverse.row(k).transpose();
                let gradients = [-(row(0) + row(1) + row(2)), row(0), row(1), row(2)];
                tets.push(Tet {
                    vertices,
                    gradients,
                    volume: tet_volume,
                });
            }
        }
        let total: f64 = volume.iter().sum();
        let mass: Vec<f64> = volume
            .iter()
            .map(|v| params.density_kg_m3 * metres.powi(3) * v.max(1e-6 * total / n as f64))
            .collect();
        let stiffness = params.stiffness_pa * metres;
        let gravity = Vector::from(params.gravity_m_s2) / metres;
        let carried = tissue.carried.clone();
        let mut is_free = vec![true; n];
        is_free.resize(2 * n, false);
        for &v in &carried {
            is_free[v as usize] = false;
        }
        let factor = factor(&tets, &mass, &is_free, stiffness, params.time_step_secs);
        Self {
            tets,
            mass,
            carried,
            is_free,
            stiffness,
            gravity,
            params: *params,
            size: f64::from(subject.size),
            factor,
        }
    }

    /// One step of the base to `base`, with the parameters' number of plain iterations.
    pub fn step(&self, state: &mut State, base: &[Point]) {
        let h = self.params.time_step_secs;
        let n = self.mass.len();
        let before = state.position.clone();
        let base_velocity: Vec<Vector> = (0..n).map(|v| (base[v] - state.base[v]) / h).collect();
        let target: Vec<Point> = (0..n)
            .map(|v| before[v] + state.velocity[v] * h + self.gravity * (h * h))
            .collect();
        // The guess counts, because the iterations end before they have converged.
        for (v, base_velocity) in base_velocity.iter().enumerate() {
            state.position[v] += (base_velocity + state.velocity[v] - state.base_velocity[v]) * h;
        }
        state.base.copy_from_slice(base);
        for (&v, place) in self.carried.iter().zip(&base[n..]) {
            state.position[v as usize] = *place;
        }
        for _ in 0..self.params.iterations {
            self.iterate(state, &target);
        }
        let damping = (-self.params.damping_per_s * h).exp();
        for (v, base_velocity) in base_velocity.iter().enumerate() {
            let relative = (state.position[v] - before[v]) / h - base_velocity;
            let kept = damping * (FASTEST * self.size / relative.norm()).min(1.0);
            state.velocity[v] = base_velocity + relative * if kept.is_nan() { 0.0 } else { kept };
        }
        state.base_velocity = base_velocity;
    }

    /// (M/h² + Qᵀ W Q) x = M/h² y + Qᵀ W p, with the base on the right-hand side.
    fn iterate(&self, state: &mut State, target: &[Point]) {
        let h = self.params.time_step_secs;
        let n = self.mass.len();
        let mut right = Mat::<f64>::zeros(n, 3);
        for v in 0..n {
            (0..3).for_each(|c| right[(v, c)] = self.mass[v] / (h * h) * target[v][c]);
        }
        for tet in &self.tets {
            let point = |v: usize| {
                if v < n {
                    state.position[v]
                } else {
                    state.base[v - n]
                }
            };
            let deformation: Matrix3<f64> = tet
                .vertices
                .iter()
                .zip(&tet.gradients)
                .map(|(&v, g)| point(v).coords * g.transpose())
                .sum();
            let mut pull = closest_rotation(&deformation);
            for (&v, g) in tet
                .vertices
                .iter()
                .zip(&tet.gradients)
                .filter(|(v, _)| !self.is_free[**v])
            {
                pull -= point(v).coords * g.transpose();
            }
            for (&v, g) in tet
                .vertices
                .iter()
                .zip(&tet.gradients)
                .filter(|(v, _)| self.is_free[**v])
            {
                let force = pull * g * (self.stiffness * tet.volume);
                (0..3).for_each(|c| right[(v, c)] += force[c]);
            }
        }
        self.factor.solve_in_place(&mut right);
        for (v, position) in state
            .position
            .iter_mut()
            .enumerate()
            .filter(|(v, _)| self.is_free[*v])
        {
            *position = Point::new(right[(v, 0)], right[(v, 1)], right[(v, 2)]);
        }
    }
}

fn factor(tets: &[Tet], mass: &[f64], is_free: &[bool], stiffness: f64, h: f64) -> Llt<usize, f64> {
    let n = mass.len();
    let mut entries: Vec<Triplet<usize, usize, f64>> = mass
        .iter()
        .enumerate()
        .map(|(v, m)| Triplet::new(v, v, m / (h * h)))
        .collect();
    for tet in tets {
        let free = || {
            tet.vertices
                .iter()
                .zip(&tet.gradients)
                .filter(|(v, _)| is_free[**v])
        };
        for (&row, g) in free() {
            for (&column, other) in free().filter(|(column, _)| **column <= row) {
                entries.push(Triplet::new(
                    row,
                    column,
                    stiffness * tet.volume * g.dot(other),
                ));
            }
        }
    }
    let matrix = SparseColMat::try_new_from_triplets(n, n, &entries).expect("in range");
    matrix.sp_cholesky(Side::Lower).expect("positive definite")
}

/// By singular values, the smallest of them mirrored if need be.
fn closest_rotation(f: &Matrix3<f64>) -> Matrix3<f64> {
    let svd = f.svd(true, true);
    let (u, v_t) = (svd.u.expect("asked for"), svd.v_t.expect("asked for"));
    let sign = if (u * v_t).determinant() < 0.0 {
        -1.0
    } else {
        1.0
    };
    u * Matrix3::from_diagonal(&Vector::new(1.0, 1.0, sign)) * v_t
}
