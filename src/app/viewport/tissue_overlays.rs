//! The inside of the flesh: bone volumes, base surface and tetrahedra, as they are in the pose shown.

use std::collections::HashSet;
use std::sync::Arc;

use crate::app::look::Look;
use crate::math::{Point, Vec3};
use crate::mesh::vertex_normals_into;
use crate::render::{Layer, Overlay, Rgba};
use crate::session::Snapshot;
use crate::skin::Subject;
use crate::tissue::{BaseFrame, Tissue};

/// See-through: thousands of edges lie over each other.
const TET_EDGE: Rgba = [120, 190, 236, 80];

/// Overlays of one character's tissue, with what they need frame by frame.
pub struct TissueOverlays {
    subject: Option<Arc<Subject>>,
    frame: BaseFrame,
    base: Vec<Point>,
    base_normals: Vec<Vec3>,
    skin: Vec<Point>,
    /// For every simulated vertex the source vertex nearest to it.
    source_from_sim: Vec<u32>,
    /// Edges of all tets but those in the skin: pairs of indices, those of the base after those of the skin.
    edges: Vec<[u32; 2]>,
    solid: Overlay,
    lines: Overlay,
}

impl Default for TissueOverlays {
    fn default() -> Self {
        Self {
            subject: None,
            frame: BaseFrame::default(),
            base: Vec::new(),
            base_normals: Vec::new(),
            skin: Vec::new(),
            source_from_sim: Vec::new(),
            edges: Vec::new(),
            solid: Overlay::new(Layer::Solid),
            lines: Overlay::new(Layer::Solid),
        }
    }
}

impl TissueOverlays {
    /// What is to be drawn, after [`TissueOverlays::update`].
    #[must_use]
    pub fn overlays(&self) -> [&Overlay; 2] {
        [&self.solid, &self.lines]
    }

    /// Builds what is shown for a state of the flesh.
    pub fn update(&mut self, snapshot: Option<&Arc<Snapshot>>, shown: &Look) {
        self.solid.clear();
        self.lines.clear();
        let Some(snapshot) = snapshot.filter(|_| shown.shows_inside()) else { return };
        let subject = &snapshot.subject;
        let Ok(flesh) = &subject.tissue else { return };
        let tissue = &flesh.tissue;
        if self.subject.as_ref().is_none_or(|mine| !Arc::ptr_eq(mine, subject)) {
            self.subject = Some(subject.clone());
            self.edges = inner_edges(tissue);
            let vertices = subject.sim().mesh.positions.len();
            self.base = vec![Point::origin(); tissue.base.len()];
            self.base_normals = vec![Vec3::zeros(); tissue.base.len()];
            self.skin = vec![Point::origin(); vertices];
            let source_from_skin = subject.skin.source_from_skin();
            self.source_from_sim = subject.sim().skin_from_sim.iter().map(|&skin| source_from_skin[skin as usize]).collect();
        }
        let skeleton = &subject.character.skeleton;
        if snapshot.world_from_joint.len() != skeleton.len() {
            return;
        }
        tissue.anchors.place(&snapshot.world_from_joint, &mut self.frame, &mut self.base);
        if shown.bone_volumes {
            self.solid.bone_volumes(&tissue.graph, &self.frame);
        }
        if shown.base_surface {
            let triangles = &subject.sim().mesh.triangles;
            vertex_normals_into(&self.base, triangles, &mut self.base_normals);
            self.solid.base_surface(&self.base, &self.base_normals, triangles);
        }
        if shown.tets {
            self.add_tets(snapshot);
        }
    }

    fn add_tets(&mut self, snapshot: &Snapshot) {
        if snapshot.simulated.len() == self.skin.len() {
            self.skin.copy_from_slice(&snapshot.simulated);
        } else {
            for (position, &source) in self.skin.iter_mut().zip(&self.source_from_sim) {
                *position = snapshot.positions[source as usize];
            }
        }
        let first_base = self.skin.len();
        let at = |index: u32| {
            let index = index as usize;
            if index < first_base { self.skin.get(index) } else { self.base.get(index - first_base) }
        };
        for [from, to] in &self.edges {
            if let (Some(from), Some(to)) = (at(*from), at(*to)) {
                self.lines.line(from, to, TET_EDGE, 1.0);
            }
        }
    }
}

/// Every edge of the tets once, without those between two skin vertices: the wireframe shows them.
fn inner_edges(tissue: &Tissue) -> Vec<[u32; 2]> {
    let vertices = tissue.base.len() as u32;
    let mut edges = HashSet::new();
    for prism in &tissue.prisms.prisms {
        let [i, j, k] = prism.corners;
        let chain = [i, j, k, i + vertices, j + vertices, k + vertices];
        for tet in (0..3).filter(|tet| prism.rest_inverse[*tet].is_some()) {
            let corners = &chain[tet..tet + 4];
            for (first, a) in corners.iter().enumerate() {
                for b in &corners[first + 1..] {
                    if *a >= vertices || *b >= vertices {
                        edges.insert([*a.min(b), *a.max(b)]);
                    }
                }
            }
        }
    }
    let mut edges: Vec<[u32; 2]> = edges.into_iter().collect();
    edges.sort_unstable();
    edges
}
