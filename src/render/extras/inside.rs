//! Overlays of the tissue in a pose: base surface, tet edges, foot points, contacts.

use std::collections::HashSet;
use std::sync::Arc;

use super::Moment;
use super::tets::Cells;
use crate::collision::Contact;
use crate::math::{Point, Vec3};
use crate::mesh::vertex_normals_into;
use crate::methods::Subject;
use crate::render::colormap::category;
use crate::render::legend::Legend;
use crate::render::look::{CutPlane, SkinColors};
use crate::render::overlay::{Overlay, Rgba};
use crate::tissue::{BaseFrame, CornerKind, Guide, GuideFrame, Tissue};

/// Opacity of edges: thousands overlap.
const TET_EDGE: Rgba = [120, 190, 236, 80];
/// Number of edges up to which they are drawn at full opacity.
const EDGES_SEEN: f32 = 4000.0;
/// Colours of a pair that is near but separate, and of one in contact.
const NEAR: Rgba = [255, 214, 92, 255];
const PRESSING: Rgba = [255, 92, 64, 255];
/// Diameter of a contact point, pixels.
const CONTACT_DOT: f32 = 5.0;

/// Tables of one character's tissue, and its current positions.
pub(super) struct TissueOverlay {
    subject: Arc<Subject>,
    frame: BaseFrame,
    /// What the base follows instead of the bones, if anything, and where it is at rest.
    guide: Option<(Guide, GuideFrame, Vec<Point>)>,
    base: Vec<Point>,
    base_normals: Vec<Vec3>,
    skin: Vec<Point>,
    /// For every simulated vertex the source vertex nearest to it.
    source_from_sim: Vec<u32>,
    /// Edges of all tets except skin edges: index pairs, base vertices after skin vertices;
    /// computed on first use.
    edges: Option<Vec<[u32; 2]>>,
    cells: Cells,
}

/// The guide of the base; `None` if it follows the bones. What returns of volume is not shown.
fn guide(subject: &Subject, tissue: &Tissue) -> Option<(Guide, GuideFrame, Vec<Point>)> {
    let guide = subject.guide_of(&subject.sim().skin_from_sim)?;
    let rest = tissue.base.iter().map(|p| p.cast::<f32>()).collect();
    let frame = guide.at_rest();
    Some((guide, frame, rest))
}

impl TissueOverlay {
    pub(super) fn of(subject: &Arc<Subject>, tissue: &Tissue) -> Self {
        let source_from_skin = subject.skin.source_from_skin();
        let source_of = |skin: &u32| source_from_skin[*skin as usize];
        let skin_from_sim = &subject.sim().skin_from_sim;
        let vertices = skin_from_sim.len();
        Self {
            subject: subject.clone(),
            frame: BaseFrame::default(),
            guide: guide(subject, tissue),
            base: vec![Point::origin(); tissue.base.len()],
            base_normals: vec![Vec3::zeros(); tissue.base.len()],
            skin: vec![Point::origin(); vertices],
            source_from_sim: skin_from_sim.iter().map(source_of).collect(),
            edges: None,
            cells: Cells::default(),
        }
    }

    pub(super) fn is_of(&self, subject: &Arc<Subject>) -> bool {
        Arc::ptr_eq(&self.subject, subject)
    }

    /// The bone volumes.
    pub(super) fn frame(&self) -> &BaseFrame {
        &self.frame
    }

    /// Updates base and simulated skin to a moment. For methods without simulation the simulation
    /// mesh takes its positions from the skin.
    pub(super) fn place(&mut self, tissue: &Tissue, moment: &Moment<'_>) {
        let (anchors, world) = (&tissue.anchors, moment.world_from_joint);
        match &mut self.guide {
            Some((guide, transforms, rest)) => {
                anchors.move_volumes(world, &mut self.frame);
                guide.pose(world, transforms);
                transforms.apply(rest, &mut self.base);
            }
            None => anchors.place(world, &mut self.frame, &mut self.base),
        }
        if moment.simulated.len() == self.skin.len() {
            self.skin.copy_from_slice(moment.simulated);
            return;
        }
        for (position, &source) in self.skin.iter_mut().zip(&self.source_from_sim) {
            if let Some(there) = moment.positions.get(source as usize) {
                *position = *there;
            }
        }
    }

    pub(super) fn add_base_surface(&mut self, overlay: &mut Overlay) {
        let triangles = &self.subject.sim().mesh.triangles;
        vertex_normals_into(&self.base, triangles, &mut self.base_normals);
        overlay.base_surface(&self.base, &self.base_normals, triangles);
    }

    pub(super) fn add_edges(&mut self, overlay: &mut Overlay) {
        let first_base = self.skin.len();
        let at = |index: u32| {
            let index = index as usize;
            if index < first_base {
                self.skin.get(index)
            } else {
                self.base.get(index - first_base)
            }
        };
        let subject = &self.subject;
        let edges = self.edges.get_or_insert_with(|| {
            subject
                .flesh()
                .map(|f| inner_edges(&f.tissue))
                .unwrap_or_default()
        });
        // The more edges, the lower the opacity of each.
        let alpha = (f32::from(TET_EDGE[3])
            * (EDGES_SEEN / edges.len().max(1) as f32).sqrt().min(1.0))
        .max(14.0);
        let color = [TET_EDGE[0], TET_EDGE[1], TET_EDGE[2], alpha as u8];
        for [from, to] in edges {
            if let (Some(from), Some(to)) = (at(*from), at(*to)) {
                overlay.line(from, to, color, 1.0);
            }
        }
    }

    /// The tets on one side of a plane, as solid cells.
    pub(super) fn add_cells(
        &mut self,
        overlay: &mut Overlay,
        tissue: &Tissue,
        cut: &CutPlane,
        colors: SkinColors,
    ) -> Option<Legend> {
        self.cells.add(
            overlay,
            &self.subject,
            tissue,
            [&self.skin, &self.base],
            cut,
            colors == SkinColors::Strain,
        )
    }

    /// Lines from every foot point on the bone lines to its vertex; one colour per bone.
    pub(super) fn add_feet(&self, overlay: &mut Overlay, tissue: &Tissue) {
        for ((&bone, rest), vertex) in tissue
            .foot_bones
            .iter()
            .zip(&tissue.foot_points)
            .zip(&self.skin)
        {
            if let Some(posed_from_bind) = self.frame.bones().get(bone as usize) {
                let foot = (posed_from_bind * rest).cast::<f32>();
                let [r, g, b] = category(bone as usize);
                overlay.line(&foot, vertex, [r, g, b, 170], 1.0);
            }
        }
    }

    /// A dot at every vertex in contact, and a line to the contact point.
    pub(super) fn add_contacts(&self, overlay: &mut Overlay, contacts: &[Contact]) {
        for contact in contacts {
            let corners = contact.corners.map(|corner| self.skin.get(corner as usize));
            let (Some(vertex), [Some(a), Some(b), Some(c)]) =
                (self.skin.get(contact.vertex as usize), corners)
            else {
                continue;
            };
            let [u, v, w] = contact.weights;
            let place = Point::from(a.coords * u + b.coords * v + c.coords * w);
            let color = if contact.load > 0.0 { PRESSING } else { NEAR };
            overlay.line(vertex, &place, color, 1.5);
            overlay.line(vertex, vertex, color, CONTACT_DOT);
        }
    }
}

/// Every tet edge once, except edges between two skin vertices, which the wireframe shows.
fn inner_edges(tissue: &Tissue) -> Vec<[u32; 2]> {
    let vertices = tissue.foot_points.len() as u32;
    let mut edges = HashSet::new();
    for tet in tissue.tets().filter(|tet| tet.is_usable()) {
        let corners = tet.corners.map(|corner| match corner.kind() {
            CornerKind::Unknown(point) => point,
            CornerKind::Prescribed(point) => vertices + point,
        });
        for (first, a) in corners.iter().enumerate() {
            for b in &corners[first + 1..] {
                if *a >= vertices || *b >= vertices {
                    edges.insert([*a.min(b), *a.max(b)]);
                }
            }
        }
    }
    let mut edges: Vec<[u32; 2]> = edges.into_iter().collect();
    edges.sort_unstable();
    edges
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::character::{Character, Place, SimVertices, SourceMesh};
    use crate::math::Point64;
    use crate::mesh::TriMesh;
    use crate::mesh::shapes::{ball, tube};
    use crate::progress::Progress;
    use crate::rig::Skeleton;

    /// The vertices of a part that rides come first, so that vertices of the flesh and of the skin have different numbers.
    #[test]
    fn simulated_vertices_take_their_own_source_vertices_where_parts_ride() {
        let joint = |name: &str, parent, y| (name.to_owned(), parent, Point64::new(0.0, y, 0.0));
        let joints = [
            joint("a", None, 0.3),
            joint("b", Some(0), 1.5),
            joint("c", Some(1), 2.7),
        ];
        let mesh =
            |name: &str, mesh: TriMesh| SourceMesh::bare(name, mesh.positions, mesh.triangles);
        let mut character = Character {
            skeleton: Skeleton::from_positions(&joints).unwrap(),
            meshes: vec![
                mesh("button", ball(Point::new(0.25, 1.0, 0.0), 0.03, 6, 8)),
                mesh("limb", tube(0.2, 3.0, 40, 20, true)),
            ],
            metres_per_unit: 1.0,
            ..Character::default()
        };
        character.flesh.sim_vertices = SimVertices::All;
        let parts = &mut character.flesh.parts;
        parts.insert("button".to_owned(), Place::Rides);
        let subject = Subject::build(Arc::new(character), &Progress::new()).unwrap();
        let subject = Arc::new(subject);
        assert!(!subject.body().parts.all_flesh());
        let tissue = &subject.flesh().expect("has flesh").tissue;
        let mut overlay = TissueOverlay::of(&subject, tissue);
        overlay.place(
            tissue,
            &Moment {
                subject: &subject,
                positions: &subject.bind_positions,
                normals: &[],
                simulated: &[],
                world_from_joint: &subject.character.skeleton.bind_transforms(),
                contacts: &[],
                velocities: &[],
                fields: None,
            },
        );
        for (shown, simulated) in overlay.skin.iter().zip(&subject.sim().mesh.positions) {
            assert!((shown - simulated).norm() <= 1e-6 * subject.size);
        }
    }
}
