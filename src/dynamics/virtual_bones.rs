//! Virtual bones: they shape the flesh but don't hold it (FPS figure 3.21). For trunks, tails, bellies, and skeletons with gaps.
//!
//! Connected virtual bones are one elastic rod, with as much inertia as the limb around it, that hangs on the bones that are not
//! virtual. It is simulated by projective dynamics of its own, and the base surface follows it as it follows other bones. Every node
//! of the graph that a virtual bone touches is four points, its centre and one on each axis; every virtual bone is an element that
//! wants its eight points in the shape in which the pose has them:
//!
//! ```text
//!     E = 1/(2h²) ‖M^½ (q − y)‖² + Σₑ wₑ/2 Σᵢ ‖(qᵢ − q̄) − Rₑ (pᵢ − p̄)‖²,     wₑ = B / (l d²)
//! ```
//!
//! with p the points as posed, bars for means over the element, Rₑ the best rotation, B the bending stiffness of a beam, l the bone's
//! length and d the distance of the points from their centre. Nodes that touch a bone that is not virtual are prescribed.
//!
//! What keeps a trunk in shape is muscle and cartilage rather than flesh, the stronger the longer it is. So B is that of a beam with the
//! mass of the limb around it (cross-section A, length L of the whole rod) that, of natural stiffness and held at one end on the
//! ground, hangs by a fixed part δ of its length: B = ρ A g L³ / (8 δ). It swings about as fast as a pendulum of its length, slender
//! or thick. Stiffness changes B in proportion, density the mass alone.
//!
//! # Departures
//! - FPS leaves out the anchors there, so that the shrunken skin around a virtual bone is free: a hollow tube, and unknowns inside the
//!   body. Here the bone itself swings: the tube keeps its inside, the flesh its matrix, and only a handful of unknowns are added.
//! - The flesh follows the rod, but doesn't pull at it: its mass and stiffness are counted as the rod's.
//! - A virtual joint that is posed is not ignored: its pose is the shape that the rod wants.
//! - Where nothing holds a connected set of virtual bones, its first node does.
//!
//! Everything is `f64` and allocates only when bound. A tree needs no sparse solver: blocks are eliminated from the leaves.

use nalgebra::{Matrix3, Matrix4, Vector3};

use super::{Materials, Params, Preset, Simulation};
use crate::math::{Affine, Point64, Vec64, affine, closest_rotation, linear_part};
use crate::mesh::TriMesh;
use crate::rig::Skeleton;
use crate::tissue::{BaseFrame, FreeBone, Tissue};

/// δ: how far a rod of natural stiffness hangs, as part of its length, were it a slightly bent beam.
const HANGS: f64 = 0.4;
/// Distance of a node's points from its centre, as part of the length of the bones that meet there.
const OFFSET: f64 = 0.2;
/// ρ and g of the rod that hangs by δ.
const DENSITY_KG_M3: f64 = 1_000.0;
const GRAVITY_M_S2: f64 = 9.81;
/// Local/global iterations of a step; a rod costs next to nothing.
const ITERATIONS: usize = 20;
/// "Time step" of the solve for an equilibrium, s.
const STATIC_STEP_SECS: f64 = 100.0;
/// An equilibrium is reached when nothing moves farther in an iteration than this part of the size.
const STILL: f64 = 1e-9;
/// Nothing is faster relative to its pose than this many sizes a second.
const MAX_SPEED_SIZES_PER_S: f64 = 8.0;

type Points = [Point64; 4];

/// All virtual bones of a tissue, with their state.
pub struct VirtualBones {
    nodes: Vec<Node>,
    rods: Vec<Rod>,
    /// Unknown nodes, leaves before what they hang on.
    order: Vec<usize>,
    dynamic: TreeFactor,
    equilibrium: TreeFactor,
    params: Params,
    gravity: Vec64,
    size: f64,
    joint_from_bind: Vec<Affine>,
    bones_of_graph: usize,
}

struct Node {
    /// The joint whose frame the node has when posed, and the joint that says where it is, if that is another.
    frame: usize,
    place: Option<usize>,
    rest: Points,
    fixed: bool,
    /// The rod that leads to what the node hangs on.
    up: Option<usize>,
    /// Inertial mass of each point, kg; weight over inertial mass; part of the relative velocity that a step leaves.
    mass: f64,
    heaviness: f64,
    kept: f64,
    posed: Points,
    posed_before: Points,
    position: Points,
    velocity: [Vec64; 4],
    predicted: Points,
    before: Points,
    residual: [Vec64; 4],
}

struct Rod {
    bone: usize,
    joint: usize,
    ends: [usize; 2],
    length: f64,
    /// Length of the whole rod that the bone is part of: from where it is held to its farthest end.
    whole_length: f64,
    /// Mean distance from the skin to the bone.
    radius: f64,
    /// The skin around it.
    vertices: Vec<u32>,
    stiffness: f64,
    rotation: Matrix3<f64>,
}

impl VirtualBones {
    /// The virtual bones of a tissue around `skin`, at rest; `None` if there are none.
    #[must_use]
    pub fn bind(tissue: &Tissue, skin: &TriMesh, skeleton: &Skeleton, simulation: &Simulation) -> Option<Self> {
        let graph = &tissue.graph;
        let inverse = |joint: &crate::rig::Joint| joint.world_from_bind.try_inverse().unwrap_or_else(Affine::identity);
        let mut bones = Self {
            nodes: Vec::new(),
            rods: Vec::new(),
            order: Vec::new(),
            dynamic: TreeFactor::default(),
            equilibrium: TreeFactor::default(),
            params: *simulation.params(),
            gravity: Vec64::zeros(),
            size: f64::from(skin.bounds().size()),
            joint_from_bind: skeleton.joints().iter().map(inverse).collect(),
            bones_of_graph: graph.bones.len(),
        };
        let mut index_of = vec![None; graph.nodes.len()];
        for bone in (0..graph.bones.len()).filter(|&bone| graph.bones[bone].is_virtual) {
            let ends = graph.bones[bone].nodes.map(|node| {
                *index_of[node].get_or_insert_with(|| {
                    bones.nodes.push(Node::bind(tissue, node));
                    bones.nodes.len() - 1
                })
            });
            bones.rods.push(Rod::bind(tissue, skin, bone, ends));
        }
        if bones.rods.is_empty() {
            return None;
        }
        bones.place_points();
        bones.hang();
        bones.rest(&skeleton.bind_transforms());
        bones.set(simulation);
        Some(bones)
    }

    /// The three points around every node's centre.
    fn place_points(&mut self) {
        for (index, node) in self.nodes.iter_mut().enumerate() {
            let own = || self.rods.iter().filter(|rod| rod.ends.contains(&index));
            let offset = OFFSET * own().map(|rod| rod.length).sum::<f64>() / own().count().max(1) as f64;
            for axis in 0..3 {
                node.rest[axis + 1] = node.rest[0] + Vec64::ith(axis, offset);
            }
        }
    }

    /// Holds at least one node of every connected set, and finds what each of the others hangs on.
    fn hang(&mut self) {
        let mut reached: Vec<bool> = self.nodes.iter().map(|node| node.fixed).collect();
        let mut queue: Vec<usize> = (0..self.nodes.len()).filter(|&node| reached[node]).collect();
        let mut depth = vec![0.0; self.nodes.len()];
        let mut free_roots = 0;
        loop {
            while let Some(node) = queue.pop() {
                if !self.nodes[node].fixed {
                    self.order.push(node);
                }
                for (index, rod) in self.rods.iter().enumerate().filter(|(_, rod)| rod.ends.contains(&node)) {
                    let other = if rod.ends[0] == node { rod.ends[1] } else { rod.ends[0] };
                    if !reached[other] {
                        reached[other] = true;
                        depth[other] = depth[node] + rod.length;
                        self.nodes[other].up = (!self.nodes[node].fixed).then_some(index);
                        queue.push(other);
                    }
                }
            }
            // Joints come parents first, and so do nodes: the first that is left is where the set begins.
            let Some(root) = (free_roots..self.nodes.len()).find(|&node| !reached[node]) else { break };
            free_roots = root;
            (reached[root], self.nodes[root].fixed) = (true, true);
            queue.push(root);
        }
        self.order.reverse();
        self.measure(depth);
    }

    /// Gives every bone the length of the whole rod: the greatest depth that hangs together with its own.
    fn measure(&mut self, mut depth: Vec<f64>) {
        let mut changed = true;
        while changed {
            changed = false;
            for rod in &mut self.rods {
                let free = || rod.ends.into_iter().filter(|&end| !self.nodes[end].fixed);
                let greatest = free().map(|end| depth[end]).fold(rod.length, f64::max);
                rod.whole_length = greatest;
                for end in free() {
                    changed |= depth[end] < greatest;
                    depth[end] = greatest;
                }
            }
        }
    }

    /// Takes over parameters and materials.
    pub fn set(&mut self, simulation: &Simulation) {
        let (system, params, materials) = (simulation.system(), simulation.params(), simulation.materials());
        let unit = system.unit(params);
        let density = system.density(params);
        self.params = *params;
        self.gravity = Vec64::from(params.gravity_m_s2) / unit;
        for node in &mut self.nodes {
            (node.mass, node.heaviness, node.kept) = (0.0, 0.0, 0.0);
        }
        let h = params.simulated_step_secs();
        let human = system.human_unit();
        let natural = Preset::Natural.params().stiffness_pa;
        for rod in &mut self.rods {
            let [stiffness, density_factor, damping, jiggle] = rod.materials(materials, params);
            rod.stiffness = rod.bending_stiffness(human) * unit * stiffness * params.stiffness_pa / natural / (OFFSET * OFFSET);
            let mass = density * density_factor * rod.area() * rod.length / 8.0;
            for end in rod.ends {
                let node = &mut self.nodes[end];
                // As sums over the rods that meet, weighted by mass; made means below.
                node.heaviness += mass;
                node.mass += mass * jiggle;
                node.kept += mass * (-damping * h).exp();
            }
        }
        for node in &mut self.nodes {
            let mass = node.heaviness;
            (node.heaviness, node.kept) = (mass / node.mass, node.kept / mass);
        }
        self.dynamic.factor(&self.nodes, &self.rods, &self.order, h);
        self.equilibrium.factor(&self.nodes, &self.rods, &self.order, STATIC_STEP_SECS);
    }

    /// Puts everything where the pose has it, without velocity.
    pub fn rest(&mut self, world_from_joint: &[Affine]) {
        self.pose(world_from_joint);
        for node in &mut self.nodes {
            (node.position, node.posed_before) = (node.posed, node.posed);
            node.velocity = [Vec64::zeros(); 4];
        }
        for rod in &mut self.rods {
            rod.rotation = Matrix3::identity();
        }
    }

    /// One time step of [`Params::simulated_step_secs`]: the bones that hold move to the pose, the virtual ones follow.
    pub fn step(&mut self, world_from_joint: &[Affine]) {
        let h = self.params.simulated_step_secs();
        let fastest = MAX_SPEED_SIZES_PER_S * self.size * (self.params.time_step_secs / h);
        self.pose(world_from_joint);
        for node in &mut self.nodes {
            node.before = node.position;
            for k in 0..4 {
                node.predicted[k] = node.position[k] + node.velocity[k] * h + self.gravity * (node.heaviness * h * h);
                node.position[k] += node.velocity[k] * h;
            }
            node.follow_if_fixed();
        }
        for _ in 0..ITERATIONS {
            iterate(&mut self.nodes, &mut self.rods, &self.dynamic, &self.order);
        }
        for node in &mut self.nodes {
            for k in 0..4 {
                let posed = (node.posed[k] - node.posed_before[k]) / h;
                let relative = (node.position[k] - node.before[k]) / h - posed;
                let kept = node.kept * (fastest / relative.norm().max(fastest));
                node.velocity[k] = posed + relative * kept;
            }
            node.posed_before = node.posed;
        }
        self.restart_if_lost(world_from_joint);
    }

    /// Some iterations towards the equilibrium in a pose, without inertia; how far the point that moved most in the last one went.
    pub fn creep(&mut self, world_from_joint: &[Affine], iterations: usize) -> f64 {
        self.pose(world_from_joint);
        for node in &mut self.nodes {
            for k in 0..4 {
                node.position[k] += node.posed[k] - node.posed_before[k];
                node.velocity[k] = Vec64::zeros();
            }
            node.posed_before = node.posed;
            node.follow_if_fixed();
        }
        let own_h = STATIC_STEP_SECS * STATIC_STEP_SECS;
        let mut farthest = 0.0;
        for _ in 0..iterations {
            for node in &mut self.nodes {
                node.predicted = node.position.map(|p| p + self.gravity * (node.heaviness * own_h));
            }
            farthest = iterate(&mut self.nodes, &mut self.rods, &self.equilibrium, &self.order);
            if farthest <= STILL * self.size {
                break;
            }
        }
        self.restart_if_lost(world_from_joint);
        farthest
    }

    /// Whether the last [`Self::creep`] reached its end when it returned this.
    #[must_use]
    pub fn is_still(&self, farthest: f64) -> bool {
        farthest <= STILL * self.size
    }

    /// Tells the base where the virtual bones are.
    pub fn write(&self, world_from_joint: &[Affine], frame: &mut BaseFrame) {
        frame.free.resize(self.bones_of_graph, None);
        for rod in &self.rods {
            let ends = rod.ends.map(|end| self.nodes[end].position[0]);
            let posed = linear_part(&(world_from_joint[rod.joint] * self.joint_from_bind[rod.joint]));
            let linear = rod.rotation * posed;
            let start = self.nodes[rod.ends[0]].rest[0];
            let posed_from_bind = affine(&linear, &(ends[0] - linear * start.coords).coords);
            frame.free[rod.bone] = Some(FreeBone { posed_from_bind, ends });
        }
    }

    /// Where the pose has the nodes' points.
    fn pose(&mut self, world_from_joint: &[Affine]) {
        for node in &mut self.nodes {
            let posed = |joint: usize| world_from_joint[joint] * self.joint_from_bind[joint];
            let frame = posed(node.frame);
            let shift = node.place.map_or_else(Vec64::zeros, |place| posed(place) * node.rest[0] - frame * node.rest[0]);
            node.posed = node.rest.map(|point| frame * point + shift);
        }
    }

    /// Nothing that is infinite stays.
    fn restart_if_lost(&mut self, world_from_joint: &[Affine]) {
        let finite = |node: &Node| node.position.iter().all(|p| p.iter().all(|c| c.is_finite()));
        if !self.nodes.iter().all(finite) {
            self.rest(world_from_joint);
        }
    }
}

impl Node {
    fn bind(tissue: &Tissue, node: usize) -> Self {
        let graph = &tissue.graph;
        let here = || graph.nodes[node].bones.iter().map(|&bone| &graph.bones[bone]);
        let ends_here = |bone: &&crate::tissue::Bone| bone.nodes[1] == node;
        // Who holds it: first of all a bone that ends here and is not virtual.
        let holder = here()
            .find(|bone| !bone.is_virtual && ends_here(bone))
            .or_else(|| here().find(|bone| !bone.is_virtual))
            .or_else(|| here().find(ends_here))
            .or_else(|| here().next());
        let position = [graph.nodes[node].position; 4];
        Self {
            frame: holder.map_or(0, |bone| bone.joint),
            place: holder.filter(ends_here).and_then(|bone| bone.end_joint),
            rest: position,
            fixed: here().any(|bone| !bone.is_virtual),
            up: None,
            mass: 0.0,
            heaviness: 0.0,
            kept: 0.0,
            posed: position,
            posed_before: position,
            position,
            velocity: [Vec64::zeros(); 4],
            predicted: position,
            before: position,
            residual: [Vec64::zeros(); 4],
        }
    }

    fn follow_if_fixed(&mut self) {
        if self.fixed {
            self.position = self.posed;
        }
    }
}

impl Rod {
    fn bind(tissue: &Tissue, skin: &TriMesh, bone: usize, ends: [usize; 2]) -> Self {
        let vertices: Vec<u32> = (0..tissue.foot_bones.len() as u32).filter(|&v| tissue.foot_bones[v as usize] as usize == bone).collect();
        let distance = |&v: &u32| (skin.positions[v as usize].cast::<f64>() - tissue.foot_points[v as usize]).norm();
        let mean = vertices.iter().map(distance).sum::<f64>() / vertices.len().max(1) as f64;
        let radius = if mean > 0.0 { mean } else { tissue.quality.limb_radius };
        let length = tissue.graph.length(bone).max(1e-2 * radius);
        let joint = tissue.graph.bones[bone].joint;
        Self { bone, joint, ends, length, whole_length: length, radius, vertices, stiffness: 0.0, rotation: Matrix3::identity() }
    }

    fn area(&self) -> f64 {
        std::f64::consts::PI * self.radius * self.radius
    }

    /// B / l³ of the rod of natural stiffness, Pa m per m as flesh has it, were the character as large as a human.
    fn bending_stiffness(&self, human_metres_per_unit: f64) -> f64 {
        let whole_m = self.whole_length * human_metres_per_unit;
        let of_length = DENSITY_KG_M3 * GRAVITY_M_S2 * whole_m / (8.0 * HANGS);
        of_length * self.area() * (self.whole_length / self.length).powi(2) / self.length
    }

    /// Mean stiffness and density factor, damping (s⁻¹) and inertial over physical mass of the skin around.
    fn materials(&self, materials: &Materials, params: &Params) -> [f64; 4] {
        if self.vertices.is_empty() {
            return [1.0, 1.0, params.damping_per_s, params.jiggle.max(1e-3)];
        }
        let count = self.vertices.len() as f64;
        let mean = |of: &dyn Fn(usize) -> f64| self.vertices.iter().map(|&v| of(v as usize)).sum::<f64>() / count;
        [
            mean(&|v| f64::from(materials.stiffness[v])),
            mean(&|v| f64::from(materials.density[v])),
            mean(&|v| materials.damping_per_s(v, params)),
            mean(&|v| materials.inertia(v, params)),
        ]
    }

    /// Local step; adds the forces on the points of both ends to their residuals.
    fn pull(&mut self, nodes: &mut [Node]) {
        let mean = |points: &dyn Fn(&Node) -> Points| {
            let sum: Vec64 = self.ends.iter().flat_map(|&end| points(&nodes[end])).map(|p| p.coords).sum();
            Point64::from(sum / 8.0)
        };
        let (q_mean, p_mean) = (mean(&|node| node.position), mean(&|node| node.posed));
        let mut covariance = Matrix3::zeros();
        for &end in &self.ends {
            for (q, p) in nodes[end].position.iter().zip(&nodes[end].posed) {
                covariance += (q - q_mean) * (p - p_mean).transpose();
            }
        }
        let norm = covariance.norm();
        if norm > 0.0 {
            self.rotation = closest_rotation(&(covariance / norm));
        }
        for &end in &self.ends {
            let node = &mut nodes[end];
            for k in 0..4 {
                node.residual[k] += (self.rotation * (node.posed[k] - p_mean) - (node.position[k] - q_mean)) * self.stiffness;
            }
        }
    }
}

/// One local and one global step; how far the point that moved most went.
fn iterate(nodes: &mut [Node], rods: &mut [Rod], factor: &TreeFactor, order: &[usize]) -> f64 {
    for node in nodes.iter_mut() {
        for k in 0..4 {
            node.residual[k] = (node.predicted[k] - node.position[k]) * (node.mass / factor.step2);
        }
    }
    for rod in rods.iter_mut() {
        rod.pull(nodes);
    }
    factor.solve(nodes, order);
    let mut farthest = 0.0_f64;
    for &node in order {
        let node = &mut nodes[node];
        for k in 0..4 {
            node.position[k] += node.residual[k];
            farthest = farthest.max(node.residual[k].norm_squared());
        }
    }
    farthest.sqrt()
}

/// Block Cholesky of M/h² + Σ wₑ (I − 1 1ᵀ/8) over the unknown nodes, a forest: eliminated from the leaves, nothing fills in.
#[derive(Default)]
struct TreeFactor {
    /// By position in the order: the inverse of the node's block once all that hangs on it is eliminated…
    inverse: Vec<Matrix4<f64>>,
    /// …and the block that couples it to what it hangs on.
    coupling: Vec<Option<(usize, Matrix4<f64>)>>,
    /// h².
    step2: f64,
}

impl TreeFactor {
    fn factor(&mut self, nodes: &[Node], rods: &[Rod], order: &[usize], step_secs: f64) {
        self.step2 = step_secs * step_secs;
        let ones = Matrix4::repeat(1.0 / 8.0);
        let mut blocks: Vec<Matrix4<f64>> = nodes.iter().map(|node| Matrix4::identity() * (node.mass / self.step2)).collect();
        for rod in rods {
            for end in rod.ends {
                blocks[end] += (Matrix4::identity() - ones) * rod.stiffness;
            }
        }
        self.inverse.clear();
        self.coupling.clear();
        for &node in order {
            // Positive definite: a mass on the diagonal, and what is held by it.
            let inverse = blocks[node].try_inverse().unwrap_or_else(Matrix4::zeros);
            let coupling = nodes[node].up.map(|rod| {
                let [a, b] = rods[rod].ends;
                let parent = if a == node { b } else { a };
                let block = ones * -rods[rod].stiffness;
                blocks[parent] -= block.transpose() * inverse * block;
                (parent, block)
            });
            self.inverse.push(inverse);
            self.coupling.push(coupling);
        }
    }

    /// Replaces the residuals of the unknown nodes by the solution.
    fn solve(&self, nodes: &mut [Node], order: &[usize]) {
        let rows = |node: &Node| nalgebra::Matrix4x3::from_fn(|k, c| node.residual[k][c]);
        let set = |node: &mut Node, rows: &nalgebra::Matrix4x3<f64>| {
            for k in 0..4 {
                node.residual[k] = Vector3::new(rows[(k, 0)], rows[(k, 1)], rows[(k, 2)]);
            }
        };
        for (at, &node) in order.iter().enumerate() {
            if let Some((parent, block)) = &self.coupling[at] {
                let pushed = rows(&nodes[*parent]) - block.transpose() * (self.inverse[at] * rows(&nodes[node]));
                set(&mut nodes[*parent], &pushed);
            }
        }
        for (at, &node) in order.iter().enumerate().rev() {
            let mut own = rows(&nodes[node]);
            if let Some((parent, block)) = &self.coupling[at] {
                own -= block * rows(&nodes[*parent]);
            }
            let solved = self.inverse[at] * own;
            set(&mut nodes[node], &solved);
        }
    }
}
