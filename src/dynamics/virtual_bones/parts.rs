//! Nodes and rods, and the local step of a rod.

use nalgebra::Matrix3;

use super::super::{Materials, Params};
use super::tree::TreeFactor;
use crate::math::{Point64, Vec64, closest_rotation};
use crate::mesh::TriMesh;
use crate::tissue::Tissue;

/// δ: sag of a rod of natural stiffness, as a fraction of its length, by linear beam theory.
const SAG: f64 = 0.4;
/// Distance of a node's points from its centre, as a fraction of the mean length of the bones at the node.
pub(super) const OFFSET: f64 = 0.2;
/// ρ and g in the definition of δ.
const DENSITY_KG_M3: f64 = 1_000.0;
const GRAVITY_M_S2: f64 = 9.81;

/// Centre, and one point on each axis.
pub(super) type Points = [Point64; 4];

#[derive(Clone)]
pub(super) struct RodNode {
    /// The joint whose frame poses the node, and the joint that determines its position if that is a different one.
    pub(super) frame_joint: usize,
    pub(super) position_joint: Option<usize>,
    pub(super) rest: Points,
    pub(super) fixed: bool,
    /// The rod to the parent node.
    pub(super) parent_rod: Option<usize>,
    /// Per point: inertial mass, kg; physical over inertial mass; factor of a step on the relative velocity.
    pub(super) mass: f64,
    pub(super) gravity_scale: f64,
    pub(super) damping_factor: f64,
    pub(super) posed: Points,
    pub(super) posed_before: Points,
    pub(super) position: Points,
    pub(super) velocity: [Vec64; 4],
    pub(super) predicted: Points,
    pub(super) before: Points,
    pub(super) residual: [Vec64; 4],
}

#[derive(Clone)]
pub(super) struct Rod {
    pub(super) bone: usize,
    pub(super) joint: usize,
    pub(super) ends: [usize; 2],
    pub(super) length: f64,
    /// Length of the whole rod that the bone is part of, from its attachment to its farthest end.
    pub(super) whole_length: f64,
    /// Mean distance from the skin to the bone, world units.
    pub(super) radius: f64,
    /// Skin vertices around the bone.
    pub(super) vertices: Vec<u32>,
    pub(super) stiffness: f64,
    pub(super) rotation: Matrix3<f64>,
}

impl RodNode {
    pub(super) fn bind(tissue: &Tissue, node: usize) -> Self {
        let graph = &tissue.graph;
        let here = || {
            graph.nodes[node]
                .bones
                .iter()
                .map(|&bone| &graph.bones[bone])
        };
        let ends_here = |bone: &&crate::tissue::Bone| bone.nodes[1] == node;
        // The bone that supports the node: preferably a non-virtual bone that ends here.
        let support = here()
            .find(|bone| !bone.is_virtual && ends_here(bone))
            .or_else(|| here().find(|bone| !bone.is_virtual))
            .or_else(|| here().find(ends_here))
            .or_else(|| here().next());
        let position = [graph.nodes[node].position; 4];
        Self {
            frame_joint: support.map_or(0, |bone| bone.joint),
            position_joint: support.filter(ends_here).and_then(|bone| bone.end_joint),
            rest: position,
            fixed: here().any(|bone| !bone.is_virtual),
            parent_rod: None,
            mass: 0.0,
            gravity_scale: 0.0,
            damping_factor: 0.0,
            posed: position,
            posed_before: position,
            position,
            velocity: [Vec64::zeros(); 4],
            predicted: position,
            before: position,
            residual: [Vec64::zeros(); 4],
        }
    }

    pub(super) fn pose_if_fixed(&mut self) {
        if self.fixed {
            self.position = self.posed;
        }
    }
}

impl Rod {
    pub(super) fn bind(tissue: &Tissue, skin: &TriMesh, bone: usize, ends: [usize; 2]) -> Self {
        let vertices: Vec<u32> = (0..tissue.foot_bones.len() as u32)
            .filter(|&v| tissue.foot_bones[v as usize] as usize == bone)
            .collect();
        let distance = |&v: &u32| {
            (skin.positions[v as usize].cast::<f64>() - tissue.foot_points[v as usize]).norm()
        };
        let mean = vertices.iter().map(distance).sum::<f64>() / vertices.len().max(1) as f64;
        let radius = if mean > 0.0 {
            mean
        } else {
            tissue.quality.limb_radius
        };
        let length = tissue.graph.length(bone).max(1e-2 * radius);
        let joint = tissue.graph.bones[bone].joint;
        Self {
            bone,
            joint,
            ends,
            length,
            whole_length: length,
            radius,
            vertices,
            stiffness: 0.0,
            rotation: Matrix3::identity(),
        }
    }

    pub(super) fn area(&self) -> f64 {
        std::f64::consts::PI * self.radius * self.radius
    }

    /// B / l³ of a rod of natural stiffness, if the character had the size of a human. In Pa · world unit; like the stiffness of
    /// flesh, it is to be multiplied by metres per world unit.
    pub(super) fn bending_stiffness(&self, human_metres_per_unit: f64) -> f64 {
        let whole_m = self.whole_length * human_metres_per_unit;
        let of_length = DENSITY_KG_M3 * GRAVITY_M_S2 * whole_m / (8.0 * SAG);
        of_length * self.area() * (self.whole_length / self.length).powi(2) / self.length
    }

    /// Means over the skin vertices around the bone: stiffness factor, density factor, damping (s⁻¹), and inertial over physical
    /// mass.
    pub(super) fn materials(&self, materials: &Materials, params: &Params) -> [f64; 4] {
        if self.vertices.is_empty() {
            return [1.0, 1.0, params.damping_per_s, params.jiggle.max(1e-3)];
        }
        let count = self.vertices.len() as f64;
        let mean = |of: &dyn Fn(usize) -> f64| {
            self.vertices.iter().map(|&v| of(v as usize)).sum::<f64>() / count
        };
        [
            mean(&|v| f64::from(materials.stiffness[v])),
            mean(&|v| f64::from(materials.density[v])),
            mean(&|v| materials.damping_per_s(v, params)),
            mean(&|v| materials.inertia(v, params)),
        ]
    }

    /// Local step: updates the rotation, and adds the forces on the points of both ends to their residuals.
    pub(super) fn add_forces(&mut self, nodes: &mut [RodNode]) {
        let mean = |points: &dyn Fn(&RodNode) -> Points| {
            let sum: Vec64 = self
                .ends
                .iter()
                .flat_map(|&end| points(&nodes[end]))
                .map(|p| p.coords)
                .sum();
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
                node.residual[k] += (self.rotation * (node.posed[k] - p_mean)
                    - (node.position[k] - q_mean))
                    * self.stiffness;
            }
        }
    }
}

/// One local and one global step. Returns the largest displacement of a point.
pub(super) fn iterate(
    nodes: &mut [RodNode],
    rods: &mut [Rod],
    factor: &TreeFactor,
    order: &[usize],
) -> f64 {
    for node in nodes.iter_mut() {
        for k in 0..4 {
            node.residual[k] = (node.predicted[k] - node.position[k]) * (node.mass / factor.step2);
        }
    }
    for rod in rods.iter_mut() {
        rod.add_forces(nodes);
    }
    factor.solve(nodes, order);
    let mut max_displacement = 0.0_f64;
    for &node in order {
        let node = &mut nodes[node];
        for k in 0..4 {
            node.position[k] += node.residual[k];
            max_displacement = max_displacement.max(node.residual[k].norm_squared());
        }
    }
    max_displacement.sqrt()
}
