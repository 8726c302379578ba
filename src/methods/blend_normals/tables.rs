//! What normals need of the rest pose, for every source vertex.

use nalgebra::Vector2;
use rayon::prelude::*;

use super::by_edges::{EdgeTable, Edges};
use super::fit::{Fan, Fit};
use super::{Differentiable, Slope, Tangents};
use crate::character::SourceMesh;
use crate::math::{Vec3, Vec64, linear_part};
use crate::mesh::{NormalGroups, WELD_TOLERANCE};
use crate::methods::Subject;
use crate::methods::bind_surface::{BindSurface, bind_normals, normals_in_file, unit};
use crate::progress::{Cancelled, Progress};

/// A weight that only neighbours have, and that changes by less than this from vertex to vertex, is left out.
const LEAST_CHANGE: f64 = 1e-4;

/// Vertices between two checks for cancelling.
const CHUNK: usize = 512;

/// Rest normals, tangents and slopes of all source vertices, by mesh.
pub(super) struct Tables {
    meshes: Vec<MeshTable>,
}

#[derive(Default)]
struct MeshTable {
    /// Unit normals in the space of the rest positions.
    normals: Vec<Vec3>,
    /// The first tangent; zero where there is no gradient.
    tangents: Vec<Vec3>,
    /// Begin of each vertex's slopes, and their number.
    offsets: Vec<u32>,
    slopes: Vec<Slope>,
    /// Empty unless tangents are made of edges.
    edges: EdgeTable,
}

/// A vertex on its way into the tables.
struct Row {
    normal: Vec3,
    tangent: Vec3,
    slopes: Vec<Slope>,
    edges: Edges,
}

impl Tables {
    /// Fits the gradients of the weights that `skinner` blends by.
    pub(super) fn new<S: Differentiable>(
        subject: &Subject,
        skinner: &S,
        progress: &Progress,
    ) -> Result<Self, Cancelled> {
        let surface = BindSurface::new(subject, skinner.meshes());
        let fitter = Fitter {
            by_edges: S::BY_EDGES,
            ..Fitter::new(subject, &surface)
        };
        let sources: Vec<usize> = (0..surface.len()).collect();
        let rows: Result<Vec<Vec<Row>>, Cancelled> = sources
            .par_chunks(CHUNK)
            .map(|sources| {
                progress.check()?;
                let mut fan = Fan::default();
                Ok(sources.iter().map(|&v| fitter.row(v, &mut fan)).collect())
            })
            .collect();
        let mut rows = rows?.into_iter().flatten();
        let table = |mesh| {
            let mut table = MeshTable::default();
            table.offsets.push(0);
            for row in rows.by_ref().take(surface.range(mesh).len()) {
                table.normals.push(row.normal);
                table.tangents.push(row.tangent);
                table.slopes.extend(row.slopes);
                table.offsets.push(table.slopes.len() as u32);
                if S::BY_EDGES {
                    table.edges.push(row.edges);
                }
            }
            table
        };
        Ok(Self {
            meshes: (0..subject.character.meshes.len()).map(table).collect(),
        })
    }

    /// Number of meshes.
    pub(super) fn meshes(&self) -> usize {
        self.meshes.len()
    }

    /// Vertices of a mesh.
    pub(super) fn len(&self, mesh: usize) -> usize {
        self.meshes[mesh].normals.len()
    }

    /// Rest normal of a vertex.
    pub(super) fn normal(&self, mesh: usize, vertex: usize) -> Vec3 {
        self.meshes[mesh].normals[vertex]
    }

    /// Rest tangents of a vertex.
    pub(super) fn tangents(&self, mesh: usize, vertex: usize) -> Tangents {
        let table = &self.meshes[mesh];
        let first = table.tangents[vertex];
        Tangents {
            along: [first, table.normals[vertex].cross(&first)],
        }
    }

    /// The edges of a mesh that tangents are made of.
    pub(super) fn edges(&self, mesh: usize) -> &EdgeTable {
        &self.meshes[mesh].edges
    }

    /// Influences on a vertex and its neighbours.
    pub(super) fn slopes(&self, mesh: usize, vertex: usize) -> &[Slope] {
        let table = &self.meshes[mesh];
        let [begin, end] = [vertex, vertex + 1].map(|v| table.offsets[v] as usize);
        &table.slopes[begin..end]
    }
}

/// Inputs of the fits.
struct Fitter<'a> {
    surface: &'a BindSurface<'a>,
    /// World-space unit normals.
    normals: Vec<Vec3>,
    /// Begin of each vertex's corners, and their number.
    starts: Vec<u32>,
    /// Triangles around the vertices: a corner there and its two successors.
    corners: Vec<[u32; 3]>,
    group_of: Vec<u32>,
    /// Whether the weights of each mesh may differ from vertex to vertex.
    varies: Vec<bool>,
    /// Whether tangents are made of edges, instead of weights having gradients.
    by_edges: bool,
}

impl<'a> Fitter<'a> {
    fn new(subject: &Subject, surface: &'a BindSurface<'a>) -> Self {
        let character = &subject.character;
        let mut groups = NormalGroups::new(
            surface.positions(),
            surface.triangles(),
            &normals_in_file(character),
            WELD_TOLERANCE * subject.size,
        );
        let mut computed = vec![Vec3::y(); surface.len()];
        groups.normals_into(surface.positions(), &mut computed);
        let varies: Vec<bool> = character.meshes.iter().map(SourceMesh::is_skin).collect();
        let group_of = groups.group_of().to_vec();
        let is_counted = |triangle: &[u32; 3]| {
            triangle.iter().all(|&v| {
                varies[surface.locate(v as usize).part]
                    && surface.weights(v as usize).next().is_some()
            })
        };
        let mut rings: Vec<(u32, [u32; 3])> = Vec::new();
        for &[a, b, c] in surface.triangles().iter().filter(|t| is_counted(t)) {
            for corners in [[a, b, c], [b, c, a], [c, a, b]] {
                rings.push((group_of[corners[0] as usize], corners));
            }
        }
        // Stable: triangles stay in their order.
        rings.sort_by_key(|(group, _)| *group);
        let mut starts = vec![0; groups.members().len() + 1];
        for (group, _) in &rings {
            starts[*group as usize + 1] += 1;
        }
        for group in 1..starts.len() {
            starts[group] += starts[group - 1];
        }
        Self {
            normals: bind_normals(character, &computed),
            surface,
            starts,
            corners: rings.into_iter().map(|(_, corners)| corners).collect(),
            group_of,
            varies,
            by_edges: false,
        }
    }

    fn row(&self, source: usize, fan: &mut Fan) -> Row {
        let place = self.surface.world_from_rest(source);
        let linear = linear_part(&place);
        let world_normal = self.normals[source].cast::<f64>();
        let sign = linear.determinant().signum();
        // The inverse of the cofactor matrix, up to a positive factor.
        let normal = unit(&(linear.transpose() * world_normal * sign));
        let mut row = Row {
            normal: normal.unwrap_or_default().cast::<f32>(),
            tangent: Vec3::zeros(),
            slopes: self
                .surface
                .weights(source)
                .map(|(joint, weight)| Slope {
                    joint: joint as u32,
                    weight,
                    along: [0.0; 2],
                })
                .collect(),
            edges: Edges::default(),
        };
        let Some(normal) = normal else { return row };
        let first = tangent_of(&normal);
        let tangents = [first, normal.cross(&first)];
        let is_varied = self.varies[self.surface.locate(source).part] && !row.slopes.is_empty();
        if !is_varied {
            row.tangent = first.cast::<f32>();
            return row;
        }
        let across = tangent_of(&world_normal);
        let basis = [across, world_normal.cross(&across)];
        let group = self.group_of[source] as usize;
        let ring = &self.corners[self.starts[group] as usize..self.starts[group + 1] as usize];
        fan.gather(self.surface.positions(), ring, &basis);
        // The tangents, in world space, by components in the basis.
        let steps = tangents.map(|tangent| {
            let world = linear * tangent;
            Vector2::new(world.dot(&basis[0]), world.dot(&basis[1]))
        });
        let Some(fit) = fan.fit(|_| true) else {
            return row;
        };
        if self.by_edges {
            let positions = self.surface.positions();
            let own = &positions[source];
            if let Some(edges) = Edges::of(own, positions, (fan, &fit), &basis, &linear) {
                row.tangent = first.cast::<f32>();
                row.edges = edges;
            }
            return row;
        }
        self.fit_weights(source, fan, &fit, &steps, &mut row.slopes);
        row.tangent = first.cast::<f32>();
        row
    }

    /// Fits the derivatives of all weights.
    fn fit_weights(
        &self,
        source: usize,
        fan: &Fan,
        fit: &Fit,
        steps: &[Vector2<f64>; 2],
        slopes: &mut Vec<Slope>,
    ) {
        let own: Vec<(usize, f32)> = self.surface.weights(source).collect();
        let mut gradients: Vec<(usize, Vector2<f64>)> = own
            .iter()
            .map(|(joint, _)| (*joint, Vector2::zeros()))
            .collect();
        for spoke in &fan.spokes {
            let part = fit.part(spoke);
            for (&(_, weight), (_, gradient)) in own.iter().zip(&mut gradients) {
                *gradient -= part * f64::from(weight);
            }
            for (joint, weight) in self.surface.weights(spoke.to as usize) {
                let place = gradients.iter().position(|(other, _)| *other == joint);
                let place = place.unwrap_or_else(|| {
                    gradients.push((joint, Vector2::zeros()));
                    gradients.len() - 1
                });
                gradients[place].1 += part * f64::from(weight);
            }
        }
        gradients[own.len()..].sort_unstable_by_key(|(joint, _)| *joint);
        let length = fan.mean_length();
        let along =
            |gradient: &Vector2<f64>| steps.map(|step: Vector2<f64>| gradient.dot(&step) as f32);
        for (slope, (_, gradient)) in slopes.iter_mut().zip(&gradients) {
            slope.along = along(gradient);
        }
        let others = gradients[own.len()..]
            .iter()
            .filter(|(_, gradient)| gradient.norm() * length >= LEAST_CHANGE);
        slopes.extend(others.map(|(joint, gradient)| Slope {
            joint: *joint as u32,
            weight: 0.0,
            along: along(gradient),
        }));
    }
}

/// A unit vector across a unit vector.
fn tangent_of(normal: &Vec64) -> Vec64 {
    let axis = Vec64::ith(normal.iamin(), 1.0);
    unit(&axis.cross(normal)).unwrap_or_else(Vec64::x)
}
