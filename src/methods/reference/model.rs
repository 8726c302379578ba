//! A body bound to its bones, and the solution for a pose.

use std::sync::Arc;

use super::blend::Blend;
use super::bones::{self, Bones, JointOfNode};
use super::collide::Collider;
use super::contact::PenaltyContacts;
use super::elastic::Elastic;
use super::embed::Embedding;
use super::inside::Inside;
use super::lattice::{Lattice, Resolution};
use super::material::NeoHookean;
use super::newton::{Newton, StopCriterion};
use crate::character::BoneMap;
use crate::math::{Affine, Point, Point64};
use crate::mesh::{Topology, TriMesh, TriangleTree, vertex_areas};
use crate::progress::{Cancelled, Progress};
use crate::tissue::BoneGraph;
use crate::weights::SkinWeights;

/// A pose is solved if the norm of the forces on free nodes is at most this fraction of that on the bones.
pub const TOLERANCE: f64 = 1e-6;
/// Maximum number of Newton steps to that tolerance.
const STEPS: usize = 80;
/// Intermediate substeps are solved to a lower accuracy…
const INTERMEDIATE: StopCriterion = StopCriterion {
    tolerance: 2e-2,
    iterations: 15,
};
/// …and are no smaller than this fraction of the way.
const MIN_SUBSTEP: f64 = 1.0 / 128.0;
/// Maximum number of rounds in which contacts are updated, at the pose and at intermediate substeps.
const ROUNDS: usize = 24;
const INTERMEDIATE_ROUNDS: usize = 2;
/// From this round on, contacts move by ever smaller fractions towards where they are found.
const FULL_ROUNDS: f64 = 2.0;
/// Contacts have converged when no skin point moves by more than this fraction of the body's size between rounds…
const CONTACT_TOLERANCE: f64 = 2e-5;
/// …they are updated with roughly balanced forces while skin points move by more than this…
const ROUGH_TOLERANCE: f64 = 2e-4;
const ROUGH_BALANCE: StopCriterion = StopCriterion {
    tolerance: 5e-3,
    iterations: 18,
};
/// …and a pose counts as solved if they have not converged but points move by no more than this.
const ACCEPTED_TOLERANCE: f64 = 1e-3;

/// Why a pose was not solved.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Unsolved {
    /// Relative residual that was reached, or NaN.
    pub residual: f64,
    /// Whether smaller substeps would not help, because the contacts do not converge.
    pub is_final: bool,
}

/// Input of a model.
pub(super) struct ModelInputs<'a> {
    /// The skin of the body in the bind pose.
    pub mesh: &'a TriMesh,
    pub graph: &'a BoneGraph,
    pub bones: &'a BoneMap,
    /// A row for every vertex.
    pub weights: &'a SkinWeights,
}

/// Choices of the user.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(super) struct Choices {
    pub resolution: Resolution,
    pub poisson: f64,
    pub bone_fraction: f64,
    pub contact: bool,
}

/// A body in elements, bound to bones.
pub(super) struct Model {
    mesh: TriMesh,
    tree: TriangleTree,
    areas: Vec<f64>,
    size: f64,
    lattice: Arc<Lattice>,
    joint_of_node: JointOfNode,
    skin: Embedding,
    newton: Newton,
    blend: Option<Blend>,
    contact: bool,
    /// Nodes of the last solved pose.
    nodes: Vec<Point64>,
}

impl Model {
    pub fn build(
        parts: &ModelInputs<'_>,
        choices: &Choices,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let lattice = Lattice::build(parts.mesh, choices.resolution, &progress.part(0.0, 0.6))?;
        progress.report(0.6, "Holding by bones");
        let tree = TriangleTree::new(parts.mesh);
        let inside = Inside::new(parts.mesh, &tree);
        let bones = Bones {
            graph: parts.graph,
            settings: parts.bones,
            fraction: choices.bone_fraction,
        };
        let mut joint_of_node = bones.joint_of_node(&lattice, &inside);
        progress.check()?;
        progress.report(0.7, "Embedding the skin");
        let skin = embed_and_prescribe(&lattice, &inside, parts, &mut joint_of_node);
        progress.check()?;
        progress.report(0.8, "Ordering the unknowns");
        let is_fixed: Vec<bool> = joint_of_node.iter().map(Option::is_some).collect();
        let lattice = Arc::new(lattice);
        let elastic = Elastic::new(&lattice, NeoHookean::new(choices.poisson), &is_fixed);
        progress.check()?;
        progress.report(0.9, "Blending bones");
        let blend = Blend::of(&elastic, &joint_of_node);
        progress.check()?;
        log::debug!(
            "reference: {} cells of {:.3} units and more, {} elements, {} nodes, {} unknowns",
            lattice.cells(),
            lattice.octree.spacing,
            lattice.elements.len(),
            lattice.nodes.len(),
            3 * elastic.free_nodes().len(),
        );
        Ok(Self {
            mesh: parts.mesh.clone(),
            tree,
            areas: vertex_areas(parts.mesh),
            size: f64::from(parts.mesh.bounds().size()),
            joint_of_node,
            skin,
            newton: Newton::new(elastic),
            blend,
            contact: choices.contact,
            nodes: lattice.nodes.clone(),
            lattice,
        })
    }

    /// Writes the skin of the last solved pose.
    pub fn skin_into(&self, out: &mut [Point], motion: &Affine) {
        for (vertex, out) in out.iter_mut().enumerate() {
            *out = (motion * self.skin.place(vertex, &self.nodes)).cast();
        }
    }

    /// Solves a pose in substeps from rest. `motions_at` gives the motion of every joint from the bind pose, for 0
    /// (rest) to 1 (the pose).
    pub fn solve(
        &mut self,
        substeps: usize,
        mut motions_at: impl FnMut(f64) -> Vec<Affine>,
    ) -> Result<(), Unsolved> {
        self.nodes.clone_from(&self.lattice.nodes);
        let mut last: Vec<Affine> = Vec::new();
        let (mut at, mut substep) = (0.0, 1.0 / substeps.max(1) as f64);
        while at < 1.0 {
            let next = if at + substep > 1.0 - 1e-9 {
                1.0
            } else {
                at + substep
            };
            let motions = motions_at(next);
            last.resize(motions.len(), Affine::identity());
            let before = self.nodes.clone();
            self.set_initial_guess(&last, &motions);
            let solved = if next < 1.0 {
                self.solve_intermediate()
            } else {
                self.reach_equilibrium()
            };
            match solved {
                Ok(()) => {
                    (at, last) = (next, motions);
                }
                Err(unsolved) if unsolved.is_final || substep < MIN_SUBSTEP => {
                    return Err(unsolved);
                }
                Err(_) => {
                    self.nodes = before;
                    substep *= 0.5;
                }
            }
        }
        Ok(())
    }

    /// Moves prescribed nodes with their joints, and sets initial guesses for the others.
    fn set_initial_guess(&mut self, last: &[Affine], motions: &[Affine]) {
        let identity = Affine::identity();
        let steps: Vec<Affine> = (last.iter().zip(motions))
            .map(|(last, now)| now * last.try_inverse().unwrap_or(identity))
            .collect();
        if let Some(blend) = &self.blend {
            blend.follow(self.newton.elastic(), &steps, &mut self.nodes);
        }
        for ((node, rest), joint) in (self.nodes.iter_mut())
            .zip(&self.lattice.nodes)
            .zip(&self.joint_of_node)
        {
            if let Some(joint) = joint {
                *node = motions[*joint as usize] * rest;
            }
        }
    }

    /// Solves an intermediate substep, to a lower accuracy.
    fn solve_intermediate(&mut self) -> Result<(), Unsolved> {
        self.minimise(&PenaltyContacts::none(), INTERMEDIATE)?;
        for _ in 0..INTERMEDIATE_ROUNDS {
            let contacts = self.contacts();
            if contacts.is_empty() {
                break;
            }
            self.minimise(&contacts, INTERMEDIATE)?;
        }
        Ok(())
    }

    /// Solves for the equilibrium.
    fn reach_equilibrium(&mut self) -> Result<(), Unsolved> {
        let until = StopCriterion {
            tolerance: TOLERANCE,
            iterations: STEPS,
        };
        let mut contacts = self.contacts();
        if !contacts.is_empty() {
            // Contacts at guessed positions are unreliable; roughly balance the forces first.
            self.newton_steps(&contacts, INTERMEDIATE)?;
            contacts = self.contacts();
        }
        let mut farthest = f64::INFINITY;
        for round in 0..ROUNDS {
            let before = self.skin();
            // While contacts still change, forces need not balance exactly.
            let is_rough = !contacts.is_empty() && farthest > ROUGH_TOLERANCE;
            if is_rough {
                self.newton_steps(&contacts, ROUGH_BALANCE)?;
            } else {
                self.minimise(&contacts, until)?;
            }
            let after = self.skin();
            let moved = before.iter().zip(&after).map(|(a, b)| (a - b).norm());
            farthest = moved.fold(0.0, f64::max) / self.size;
            log::debug!("reference: round {round} moved the skin by {farthest:.1e} of the size");
            let again = self.contacts();
            if !is_rough
                && (again.is_empty() && contacts.is_empty() || farthest <= CONTACT_TOLERANCE)
            {
                return Ok(());
            }
            let part = (FULL_ROUNDS / (round as f64 + 1.0)).min(1.0);
            let near = self.lattice.octree.spacing;
            contacts = contacts.next(again, part, &self.nodes, near);
        }
        self.minimise(&contacts, until)?;
        if farthest <= ACCEPTED_TOLERANCE {
            log::warn!("contacts don't settle: the skin still moves by {farthest:.1e} of the size");
            return Ok(());
        }
        Err(Unsolved {
            residual: farthest,
            is_final: true,
        })
    }

    fn skin(&self) -> Vec<Point64> {
        let place = |vertex| self.skin.place(vertex, &self.nodes);
        (0..self.skin.len()).map(place).collect()
    }

    fn contacts(&self) -> PenaltyContacts {
        if !self.contact {
            return PenaltyContacts::none();
        }
        Collider {
            lattice: &self.lattice,
            inside: &Inside::new(&self.mesh, &self.tree),
            skin: &self.skin,
            areas: &self.areas,
        }
        .contacts(&self.nodes)
    }

    /// At intermediate substeps a small residual counts as solved.
    fn minimise(
        &mut self,
        contacts: &PenaltyContacts,
        until: StopCriterion,
    ) -> Result<(), Unsolved> {
        let residual = self.newton_steps(contacts, until)?;
        let enough = until.tolerance
            * if until.tolerance > TOLERANCE {
                50.0
            } else {
                1.0
            };
        if residual <= enough {
            Ok(())
        } else {
            Err(Unsolved {
                residual,
                is_final: false,
            })
        }
    }

    /// Makes Newton steps towards the equilibrium; returns the residual.
    fn newton_steps(
        &mut self,
        contacts: &PenaltyContacts,
        until: StopCriterion,
    ) -> Result<f64, Unsolved> {
        let start = std::time::Instant::now();
        let lost = Unsolved {
            residual: f64::NAN,
            is_final: false,
        };
        let solved = self
            .newton
            .minimise(&mut self.nodes, contacts, until)
            .map_err(|error| {
                log::debug!("reference: {error}");
                lost
            })?;
        log::debug!(
            "reference: {} contacts, {} steps to a residual of {:.1e} in {:.2} s",
            contacts.len(),
            solved.iterations,
            solved.residual,
            start.elapsed().as_secs_f64(),
        );
        let mut numbers = self.nodes.iter().flat_map(|node| node.iter());
        if numbers.all(|number| number.is_finite()) {
            Ok(solved.residual)
        } else {
            Err(lost)
        }
    }
}

/// Embeds the skin's vertices. A body without a bone is prescribed by the joint with the largest weight on it, unless
/// it is a sliver of a shell that does have bones: then its vertices belong to the rest of the shell.
fn embed_and_prescribe(
    lattice: &Lattice,
    inside: &Inside<'_>,
    parts: &ModelInputs<'_>,
    joint_of_node: &mut JointOfNode,
) -> Embedding {
    let points: Vec<Point64> = parts.mesh.positions.iter().map(|p| p.cast()).collect();
    let mut elements = lattice.elements_of(inside, &points, |_| true);
    let mut has_bone = vec![false; lattice.components];
    for element in &lattice.elements {
        let mut nodes = element.nodes.iter();
        if nodes.any(|&node| joint_of_node[node as usize].is_some()) {
            has_bone[element.component as usize] = true;
        }
    }
    let topology = Topology::of(parts.mesh);
    let component = |element: u32| lattice.elements[element as usize].component as usize;
    let mut shell_has_bone = vec![false; topology.components];
    for (&shell, element) in topology.component_of.iter().zip(&elements) {
        shell_has_bone[shell as usize] |= element.is_some_and(|e| has_bone[component(e)]);
    }
    for (vertex, element) in elements.iter_mut().enumerate() {
        let shell = topology.component_of[vertex] as usize;
        if shell_has_bone[shell] && element.is_some_and(|e| !has_bone[component(e)]) {
            *element = lattice.element_near(inside, &points[vertex], |other| {
                has_bone[other.component as usize]
            });
        }
    }
    let rows = elements
        .iter()
        .enumerate()
        .filter_map(|(vertex, element)| Some(((*element)?, parts.weights.row(vertex))));
    let strongest = bones::strongest_joints(lattice, rows);
    for element in &lattice.elements {
        let component = element.component as usize;
        if has_bone[component] {
            continue;
        }
        for &node in &element.nodes {
            joint_of_node[node as usize] = Some(strongest[component].unwrap_or(0));
        }
    }
    Embedding::of(points.iter().zip(&elements).filter_map(|(point, element)| {
        let element = (*element)?;
        Some((element, &lattice.elements[element as usize], *point))
    }))
}
