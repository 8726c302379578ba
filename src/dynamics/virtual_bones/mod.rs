//! Virtual bones: bones without rigid anchors, which shape the flesh but are elastic (FPS figure 3.21). For trunks, tails, bellies,
//! and skeletons with gaps.
//!
//! Connected virtual bones form one elastic rod with the mass of the limb around it. The rod is attached to the adjacent
//! non-virtual bones. It is simulated by a projective dynamics solver of its own, and the base surface follows it like other bones.
//! Every node of a virtual bone in the bone graph has four points: its centre and one on each axis. Every virtual bone is an
//! element over the eight points of its ends. Its rest shape is the shape that the pose gives to these points:
//!
//! ```text
//!     E = 1/(2h²) ‖M^½ (q − y)‖² + Σₑ wₑ/2 Σᵢ ‖(qᵢ − q̄) − Rₑ (pᵢ − p̄)‖²,     wₑ = B / (l d²)
//! ```
//!
//! Here p are the posed points, bars denote means over the element, Rₑ is the closest rotation, B the bending stiffness of a beam,
//! l the length of the bone and d the distance of the points from their centre. Nodes of non-virtual bones are prescribed.
//!
//! A trunk keeps its shape by muscle and cartilage rather than by flesh, and longer trunks are stronger. So B is chosen by the sag
//! of a beam: with the mass of the limb around it (cross-section A, length L of the whole rod), with natural stiffness, clamped at
//! one end and under gravity, the beam sags by a fixed fraction δ of its length: B = ρ A g L³ / (8 δ). It oscillates about as fast
//! as a pendulum of its length, whether slender or thick. The stiffness parameter scales B; the density parameter scales the mass
//! only.
//!
//! # Departures
//! - FPS removes the anchors there, so that the shrunken skin around a virtual bone is free. This creates a hollow tube and
//!   unknowns inside the body. Here the bone itself is elastic: the inside of the tube stays prescribed, the matrix of the flesh
//!   does not change, and only a few unknowns are added.
//! - The flesh follows the rod but exerts no force on it: its mass and stiffness are included in those of the rod.
//! - The pose of a virtual joint is not ignored: it is the rest shape of the rod.
//! - If a connected set of virtual bones is not attached to any other bone, its first node is prescribed.
//!
//! All numbers are `f64`, and only [`VirtualBones::bind`] allocates. The matrix is block-sparse with the graph of a tree:
//! eliminating blocks from the leaves causes no fill-in, so that no general sparse solver is needed.

mod parts;
mod tree;

use nalgebra::Matrix3;

use super::{Materials, Params, Preset, System};
use crate::math::{Affine, Vec64, affine, linear_part};
use crate::mesh::TriMesh;
use crate::rig::Skeleton;
use crate::tissue::{BaseFrame, FreeBone, Tissue};
use parts::{OFFSET, Rod, RodNode, iterate};
use tree::TreeFactor;

/// Local/global iterations per step; they take negligible time because a rod has few unknowns.
const ITERATIONS: usize = 20;
/// Time step of the solve for an equilibrium, s: so long that inertia is negligible.
const STATIC_STEP_SECS: f64 = 100.0;
/// An equilibrium is reached when no point moves more than this fraction of the size in an iteration.
const STATIC_TOLERANCE: f64 = 1e-9;
/// Limit of a point's speed relative to its posed position, sizes per second.
const MAX_SPEED_SIZES_PER_S: f64 = 8.0;

/// All virtual bones of a tissue, with their state.
#[derive(Clone)]
pub struct VirtualBones {
    nodes: Vec<RodNode>,
    rods: Vec<Rod>,
    /// Unknown nodes, children before parents.
    order: Vec<usize>,
    dynamic: TreeFactor,
    equilibrium: TreeFactor,
    params: Params,
    gravity: Vec64,
    size: f64,
    joint_from_bind: Vec<Affine>,
    world_from_bind: Vec<Affine>,
    /// By joint.
    carriers: Vec<Carrier>,
    bones_of_graph: usize,
}

/// What a joint follows.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Carrier {
    /// The pose.
    Pose,
    /// A virtual bone, by index in [`VirtualBones::rods`].
    Rod(usize),
    /// Its parent: a joint without a bone, such as the end of a chain.
    Parent(usize),
}

impl VirtualBones {
    /// Approximate memory of its vectors.
    pub(crate) fn heap_bytes(&self) -> usize {
        size_of_val(&*self.nodes)
            + size_of_val(&*self.rods)
            + size_of_val(&*self.order)
            + self.dynamic.heap_bytes()
            + self.equilibrium.heap_bytes()
            + size_of_val(&*self.joint_from_bind)
            + size_of_val(&*self.world_from_bind)
            + size_of_val(&*self.carriers)
    }

    /// The virtual bones of a tissue around `skin`, at rest; `None` if there are none.
    #[must_use]
    pub fn bind(
        tissue: &Tissue,
        skin: &TriMesh,
        skeleton: &Skeleton,
        system: &System,
        params: &Params,
        materials: &Materials,
    ) -> Option<Self> {
        let graph = &tissue.graph;
        let inverse = |joint: &crate::rig::Joint| {
            joint
                .world_from_bind
                .try_inverse()
                .unwrap_or_else(Affine::identity)
        };
        let mut bones = Self {
            nodes: Vec::new(),
            rods: Vec::new(),
            order: Vec::new(),
            dynamic: TreeFactor::default(),
            equilibrium: TreeFactor::default(),
            params: *params,
            gravity: Vec64::zeros(),
            size: f64::from(skin.bounds().size()),
            joint_from_bind: skeleton.joints().iter().map(inverse).collect(),
            world_from_bind: skeleton.bind_transforms(),
            carriers: Vec::new(),
            bones_of_graph: graph.bones.len(),
        };
        let mut index_of = vec![None; graph.nodes.len()];
        for bone in (0..graph.bones.len()).filter(|&bone| graph.bones[bone].is_virtual) {
            let ends = graph.bones[bone].nodes.map(|node| {
                *index_of[node].get_or_insert_with(|| {
                    bones.nodes.push(RodNode::bind(tissue, node));
                    bones.nodes.len() - 1
                })
            });
            bones.rods.push(Rod::bind(tissue, skin, bone, ends));
        }
        if bones.rods.is_empty() {
            return None;
        }
        bones.carriers = (0..skeleton.len())
            .map(|joint| {
                let rod = bones.rods.iter().position(|rod| rod.joint == joint);
                let has_bone = graph.bones.iter().any(|bone| bone.joint == joint);
                match (rod, skeleton.joints()[joint].parent) {
                    (Some(rod), _) => Carrier::Rod(rod),
                    (None, Some(parent)) if !has_bone => Carrier::Parent(parent),
                    _ => Carrier::Pose,
                }
            })
            .collect();
        bones.set_node_points();
        bones.attach_nodes();
        bones.reset(&skeleton.bind_transforms());
        bones.set_params(system, params, materials);
        Some(bones)
    }

    /// Sets the rest positions of the three points around every node's centre.
    fn set_node_points(&mut self) {
        for (index, node) in self.nodes.iter_mut().enumerate() {
            let own = || self.rods.iter().filter(|rod| rod.ends.contains(&index));
            let offset =
                OFFSET * own().map(|rod| rod.length).sum::<f64>() / own().count().max(1) as f64;
            for axis in 0..3 {
                node.rest[axis + 1] = node.rest[0] + Vec64::ith(axis, offset);
            }
        }
    }

    /// Prescribes at least one node of every connected set, and finds the parent of every other node.
    fn attach_nodes(&mut self) {
        let mut reached: Vec<bool> = self.nodes.iter().map(|node| node.fixed).collect();
        let mut queue: Vec<usize> = (0..self.nodes.len())
            .filter(|&node| reached[node])
            .collect();
        let mut depth = vec![0.0; self.nodes.len()];
        let mut free_roots = 0;
        loop {
            while let Some(node) = queue.pop() {
                if !self.nodes[node].fixed {
                    self.order.push(node);
                }
                for (index, rod) in self
                    .rods
                    .iter()
                    .enumerate()
                    .filter(|(_, rod)| rod.ends.contains(&node))
                {
                    let other = if rod.ends[0] == node {
                        rod.ends[1]
                    } else {
                        rod.ends[0]
                    };
                    if !reached[other] {
                        reached[other] = true;
                        depth[other] = depth[node] + rod.length;
                        self.nodes[other].parent_rod = (!self.nodes[node].fixed).then_some(index);
                        queue.push(other);
                    }
                }
            }
            // Joints are sorted parents first, and so are nodes: the first node that was not reached is the root of its set.
            let Some(root) = (free_roots..self.nodes.len()).find(|&node| !reached[node]) else {
                break;
            };
            free_roots = root;
            (reached[root], self.nodes[root].fixed) = (true, true);
            queue.push(root);
        }
        self.order.reverse();
        self.set_whole_lengths(depth);
    }

    /// Sets the length of the whole rod for every bone: the largest depth in its connected set.
    fn set_whole_lengths(&mut self, mut depth: Vec<f64>) {
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

    /// Applies changed parameters and materials.
    pub fn set_params(&mut self, system: &System, params: &Params, materials: &Materials) {
        let unit = system.unit(params);
        let density = system.density(params);
        self.params = *params;
        self.gravity = Vec64::from(params.gravity_m_s2) / unit;
        for node in &mut self.nodes {
            (node.mass, node.gravity_scale, node.damping_factor) = (0.0, 0.0, 0.0);
        }
        let h = params.simulated_step_secs();
        let human = system.human_unit();
        let natural = Preset::Natural.params().stiffness_pa;
        for rod in &mut self.rods {
            let [stiffness, density_factor, damping, jiggle] = rod.materials(materials, params);
            rod.stiffness = rod.bending_stiffness(human) * unit * stiffness * params.stiffness_pa
                / natural
                / (OFFSET * OFFSET);
            let mass = density * density_factor * rod.area() * rod.length / 8.0;
            for end in rod.ends {
                let node = &mut self.nodes[end];
                // Sums over the adjacent rods, weighted by mass; divided by the mass below.
                node.gravity_scale += mass;
                node.mass += mass * jiggle;
                node.damping_factor += mass * (-damping * h).exp();
            }
        }
        for node in &mut self.nodes {
            let mass = node.gravity_scale;
            (node.gravity_scale, node.damping_factor) =
                (mass / node.mass, node.damping_factor / mass);
        }
        self.dynamic.factor(&self.nodes, &self.rods, &self.order, h);
        self.equilibrium
            .factor(&self.nodes, &self.rods, &self.order, STATIC_STEP_SECS);
    }

    /// Moves all points to their posed positions; velocities become zero.
    pub fn reset(&mut self, world_from_joint: &[Affine]) {
        self.pose(world_from_joint);
        for node in &mut self.nodes {
            (node.position, node.posed_before) = (node.posed, node.posed);
            node.velocity = [Vec64::zeros(); 4];
        }
        for rod in &mut self.rods {
            rod.rotation = Matrix3::identity();
        }
    }

    /// One time step of [`Params::simulated_step_secs`]: non-virtual bones move to the pose, virtual bones follow.
    pub fn step(&mut self, world_from_joint: &[Affine]) {
        let h = self.params.simulated_step_secs();
        let max_speed = MAX_SPEED_SIZES_PER_S * self.size * (self.params.time_step_secs / h);
        self.pose(world_from_joint);
        for node in &mut self.nodes {
            node.before = node.position;
            for k in 0..4 {
                node.predicted[k] = node.position[k]
                    + node.velocity[k] * h
                    + self.gravity * (node.gravity_scale * h * h);
                node.position[k] += node.velocity[k] * h;
            }
            node.pose_if_fixed();
        }
        for _ in 0..ITERATIONS {
            iterate(&mut self.nodes, &mut self.rods, &self.dynamic, &self.order);
        }
        for node in &mut self.nodes {
            for k in 0..4 {
                let posed = (node.posed[k] - node.posed_before[k]) / h;
                let relative = (node.position[k] - node.before[k]) / h - posed;
                let damping_factor =
                    node.damping_factor * (max_speed / relative.norm().max(max_speed));
                node.velocity[k] = posed + relative * damping_factor;
            }
            node.posed_before = node.posed;
        }
        self.reset_if_not_finite(world_from_joint);
    }

    /// Quasi-static step: a few iterations towards the equilibrium in a pose, without inertia. Returns the largest displacement of
    /// a point in the last iteration.
    pub fn step_quasistatic(&mut self, world_from_joint: &[Affine], iterations: usize) -> f64 {
        self.pose(world_from_joint);
        for node in &mut self.nodes {
            for k in 0..4 {
                node.position[k] += node.posed[k] - node.posed_before[k];
                node.velocity[k] = Vec64::zeros();
            }
            node.posed_before = node.posed;
            node.pose_if_fixed();
        }
        let h_squared = STATIC_STEP_SECS * STATIC_STEP_SECS;
        let mut max_displacement = 0.0;
        for _ in 0..iterations {
            for node in &mut self.nodes {
                node.predicted = node
                    .position
                    .map(|p| p + self.gravity * (node.gravity_scale * h_squared));
            }
            max_displacement = iterate(
                &mut self.nodes,
                &mut self.rods,
                &self.equilibrium,
                &self.order,
            );
            if max_displacement <= STATIC_TOLERANCE * self.size {
                break;
            }
        }
        self.reset_if_not_finite(world_from_joint);
        max_displacement
    }

    /// Whether [`Self::step_quasistatic`] converged, given its result.
    #[must_use]
    pub fn is_converged(&self, max_displacement: f64) -> bool {
        max_displacement <= STATIC_TOLERANCE * self.size
    }

    /// Writes the transforms of the virtual bones to the frame.
    pub fn write_frame(&self, world_from_joint: &[Affine], frame: &mut BaseFrame) {
        frame.free.resize(self.bones_of_graph, None);
        for rod in &self.rods {
            frame.free[rod.bone] = Some(self.free_bone(rod, world_from_joint));
        }
    }

    /// Writes the transforms of all joints: joints of virtual bones follow their rod, joints without a bone follow their parent, all others
    /// the pose.
    pub fn carry_joints(&self, world_from_joint: &[Affine], out: &mut Vec<Affine>) {
        out.clear();
        for (joint, (carrier, posed)) in self.carriers.iter().zip(world_from_joint).enumerate() {
            let carried = match *carrier {
                Carrier::Pose => *posed,
                Carrier::Rod(rod) => {
                    let rod = &self.rods[rod];
                    let [start, end] = rod.ends.map(|end| self.nodes[end].rest[0]);
                    let free = self.free_bone(rod, world_from_joint);
                    free.stretched(&start, &end) * self.world_from_bind[joint]
                }
                Carrier::Parent(parent) if out[parent] == world_from_joint[parent] => *posed,
                Carrier::Parent(parent) => match world_from_joint[parent].try_inverse() {
                    Some(parent_from_world) => out[parent] * parent_from_world * posed,
                    None => *posed,
                },
            };
            out.push(carried);
        }
    }

    /// The current state of a virtual bone.
    fn free_bone(&self, rod: &Rod, world_from_joint: &[Affine]) -> FreeBone {
        let posed = world_from_joint[rod.joint] * self.joint_from_bind[rod.joint];
        let linear = rod.rotation * linear_part(&posed);
        let ends = rod.ends.map(|end| self.nodes[end].position[0]);
        let start = self.nodes[rod.ends[0]].rest[0];
        FreeBone {
            posed_from_bind: affine(&linear, &(ends[0] - linear * start.coords).coords),
            ends,
        }
    }

    /// Computes the posed points of the nodes.
    fn pose(&mut self, world_from_joint: &[Affine]) {
        for node in &mut self.nodes {
            let posed = |joint: usize| world_from_joint[joint] * self.joint_from_bind[joint];
            let frame = posed(node.frame_joint);
            let shift = node.position_joint.map_or_else(Vec64::zeros, |joint| {
                posed(joint) * node.rest[0] - frame * node.rest[0]
            });
            node.posed = node.rest.map(|point| frame * point + shift);
        }
    }

    /// Resets all bones if any position is not finite.
    fn reset_if_not_finite(&mut self, world_from_joint: &[Affine]) {
        let finite = |node: &RodNode| {
            node.position
                .iter()
                .all(|p| p.iter().all(|c| c.is_finite()))
        };
        if !self.nodes.iter().all(finite) {
            self.reset(world_from_joint);
        }
    }
}
