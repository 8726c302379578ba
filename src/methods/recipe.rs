//! Per-vertex skinning data in flat arrays, for upload to the GPU (`gpu::surface`).
//!
//! Indices are those of source vertices, also where the CPU uses vertices of the skin or of the flesh: coincident source
//! vertices have the same position, so one of them represents the others.

use super::blended_mesh::BlendedMesh;
pub use super::blending::{
    BlendNormals, Blending, Deformer, Deformers, EdgeRow, EdgeTangents, Influence, NormalRow,
    PaletteEntry, Smoothed, TangentEdge, VertexSource, WeightSlope,
};
use super::palette::PaletteBuilder;
use super::riding::{Control, PlainCloth, Rider, Riding, Stiff};
use super::source_map::SourceMap;
use super::{Reach, Subject};
use crate::math::{Affine, Point, Vec3};
use crate::mesh::NormalGroups;
use crate::upsample::{Directions, PlainUpsampling};

/// Cloth that follows the flesh, by source vertices.
#[derive(Debug, Clone)]
pub struct Cloth {
    /// Positions are relative to this point.
    pub origin: Point,
    /// Control points: points of the flesh with local frames.
    pub controls: Vec<Control>,
    /// Neighbours of the controls and their coefficients; patches are consecutive.
    pub patches: Vec<(u32, [f32; 2])>,
    /// Vertices of cloth and their controls.
    pub riders: Vec<Rider>,
    /// Source vertices with the index of their rider.
    pub targets: Vec<[u32; 2]>,
}

/// Parts that move rigidly together, by source vertices.
#[derive(Debug, Clone, Default)]
pub struct Cluster {
    /// The surface they follow: vertices of flesh or cloth, their weights, and their rest positions relative to the patch's
    /// centroid.
    pub patch: Vec<(u32, f32, Vec3)>,
    /// The vertices, and their rest positions relative to the patch's centroid.
    pub vertices: Vec<(u32, Vec3)>,
}

/// A source vertex whose normal is computed from the triangles around it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct NormalTarget {
    /// The source vertex.
    pub vertex: u32,
    /// Begin and end of its triangles in [`Recipe::corners`].
    pub triangles: [u32; 2],
}

/// Data that a frame of one character needs besides the simulated vertices and the pose.
#[derive(Debug, Clone)]
pub struct Recipe {
    /// Rest positions of all source vertices.
    pub positions: Vec<Point>,
    /// Their rest normals.
    pub normals: Vec<Vec3>,
    /// How the position of each is computed.
    pub sources: Vec<VertexSource>,
    /// Number of simulated vertices.
    pub simulated: usize,
    /// Upsampling from them to the flesh, unless they are the flesh.
    pub upsampling: Option<PlainUpsampling>,
    /// Rest transforms of all joints.
    pub bind: Vec<Affine>,
    /// Joint transforms that vertices blend.
    pub palette: Vec<PaletteEntry>,
    /// Influences of all blended vertices.
    pub influences: Vec<Influence>,
    /// How blended vertices are placed.
    pub blending: Blending,
    /// Cloth: parts that deform with the flesh.
    pub cloth: Option<Cloth>,
    /// Parts that move rigidly with flesh or cloth.
    pub clusters: Vec<Cluster>,
    /// How the normals of all vertices follow from the transforms of joints, if they do.
    pub blend_normals: Option<BlendNormals>,
    /// Vertices whose normals come from the triangles.
    pub normal_targets: Vec<NormalTarget>,
    /// The vertex and the two following corners of each triangle around a target. The normal is Σ (b − a) × (c − a),
    /// normalised, or +Y.
    pub corners: Vec<[u32; 3]>,
    /// Bounds of the posed character.
    pub reach: Reach,
}

impl Recipe {
    /// All vertices follow joints: `fill` sets their sources, influences and tables.
    pub(super) fn of_joints(
        subject: &Subject,
        groups: &NormalGroups,
        fill: impl FnOnce(&mut Self),
    ) -> Self {
        let mut recipe = Self::empty(subject, groups);
        fill(&mut recipe);
        recipe.reach = Reach::new(&recipe);
        recipe.gather_normals(groups);
        recipe
    }

    /// All vertices blend joint transforms.
    pub(super) fn blended<'a>(
        subject: &Subject,
        groups: &NormalGroups,
        parts: impl IntoIterator<Item = &'a BlendedMesh>,
        blending: Blending,
    ) -> Self {
        Self::of_joints(subject, groups, |recipe| {
            recipe.add_blended(parts, |_| true);
            recipe.blending = blending;
        })
    }

    /// Adds the blends of the requested source vertices.
    pub(super) fn add_blended<'a>(
        &mut self,
        parts: impl IntoIterator<Item = &'a BlendedMesh>,
        is_wanted: impl Fn(usize) -> bool,
    ) {
        self.add_with(&mut PaletteBuilder::default(), parts, is_wanted);
    }

    /// Adds the blends of the requested vertices; those without influences keep their rest position.
    fn add_with<'a>(
        &mut self,
        palette: &mut PaletteBuilder,
        parts: impl IntoIterator<Item = &'a BlendedMesh>,
        is_wanted: impl Fn(usize) -> bool,
    ) {
        let mut source = 0;
        for part in parts {
            for (vertex, &rest) in part.rest.iter().enumerate() {
                if is_wanted(source) {
                    let first = self.influences.len();
                    for (joint, weight) in part.weights.of(vertex) {
                        let entry =
                            palette.entry(&mut self.palette, joint, &part.joint_from_mesh[joint]);
                        self.influences.push(Influence {
                            entry,
                            weight,
                            is_last: false,
                        });
                    }
                    let any = self.influences.len() > first;
                    self.sources[source] = if any {
                        VertexSource::Blended {
                            rest,
                            first: first as u32,
                        }
                    } else {
                        VertexSource::Still
                    };
                    match self.influences.last_mut().filter(|_| any) {
                        Some(last) => last.is_last = true,
                        None => self.positions[source] = rest,
                    }
                }
                source += 1;
            }
        }
    }

    /// The flesh as `source_map` moves it; everything else blends the transforms of `parts`.
    pub(super) fn simulated(
        subject: &Subject,
        source_map: &SourceMap,
        parts: &[BlendedMesh],
        groups: &NormalGroups,
    ) -> Self {
        let mut reached = Self::empty(subject, groups);
        reached.add_blended(parts, |_| true);
        let mut recipe = Self::empty(subject, groups);
        recipe.reach = Reach::new(&reached);
        recipe.simulated = subject.sim().mesh.positions.len();
        recipe.upsampling = subject.upsampling().map(|upsampling| upsampling.plain());
        let skin_from_source = &subject.skin.skin_from_source;
        let mut palette = PaletteBuilder::default();
        recipe.add_with(&mut palette, parts, |vertex| {
            skin_from_source[vertex].is_none()
        });
        recipe.add_flesh(subject, source_map);
        if let Some(riding) = source_map.riding() {
            recipe.add_riding(subject, riding, &mut palette);
        }
        recipe.gather_normals(groups);
        recipe
    }

    fn empty(subject: &Subject, groups: &NormalGroups) -> Self {
        let positions = subject.bind_positions.to_vec();
        let mut normals = vec![Vec3::y(); positions.len()];
        groups.clone().normals_into(&positions, &mut normals);
        Self {
            sources: vec![VertexSource::Still; positions.len()],
            positions,
            normals,
            simulated: 0,
            upsampling: None,
            bind: subject.character.skeleton.bind_transforms(),
            palette: Vec::new(),
            influences: Vec::new(),
            blending: Blending::Linear,
            cloth: None,
            clusters: Vec::new(),
            blend_normals: None,
            normal_targets: Vec::new(),
            corners: Vec::new(),
            reach: Reach::default(),
        }
    }

    fn add_flesh(&mut self, subject: &Subject, source_map: &SourceMap) {
        let flesh_from_skin = subject
            .body()
            .flesh_from_skin(subject.skin.mesh.positions.len());
        let mut directions = source_map.directions().map(Directions::plain);
        for (source, skin) in subject.skin.skin_from_source.iter().enumerate() {
            let carried = directions.as_mut().and_then(Iterator::next).flatten();
            let Some(skin) = skin.map(|skin| skin as usize) else {
                continue;
            };
            self.sources[source] = match (carried, flesh_from_skin[skin]) {
                (Some((vertex, normal)), _) => VertexSource::Flesh { vertex, normal },
                (None, Some(vertex)) => VertexSource::Simulated(vertex),
                // It follows the flesh, or there is nothing to follow.
                (None, None) => VertexSource::Still,
            };
            if self.sources[source] == VertexSource::Still {
                self.positions[source] = subject.skin.mesh.positions[skin];
            }
        }
    }

    fn add_riding(&mut self, subject: &Subject, riding: &Riding, palette: &mut PaletteBuilder) {
        let plain = riding.plain();
        let source_from_skin = subject.skin.source_from_skin();
        let mut sources_of_skin: Vec<Vec<u32>> = vec![Vec::new(); source_from_skin.len()];
        for (source, skin) in subject.skin.skin_from_source.iter().enumerate() {
            if let Some(skin) = skin {
                sources_of_skin[*skin as usize].push(source as u32);
            }
        }
        for rigid in plain.rigid {
            let entry = palette.entry(&mut self.palette, rigid.joint, &rigid.joint_from_world);
            for (&skin, &rest) in rigid.vertices.iter().zip(&rigid.rest) {
                for &source in &sources_of_skin[skin as usize] {
                    self.sources[source as usize] = VertexSource::Blended {
                        rest,
                        first: self.influences.len() as u32,
                    };
                }
                self.influences.push(Influence {
                    entry,
                    weight: 1.0,
                    is_last: true,
                });
            }
        }
        let source = |skin: u32| source_from_skin[skin as usize];
        self.cloth =
            (!plain.cloth.riders.is_empty()).then(|| cloth(&plain.cloth, source, &sources_of_skin));
        self.clusters = plain
            .stiff
            .iter()
            .filter(|stiff| !stiff.patch.is_empty())
            .map(|s| cluster(s, source, &sources_of_skin))
            .collect();
    }

    /// Collects the triangles around every vertex whose normal the upsampling does not give.
    fn gather_normals(&mut self, groups: &NormalGroups) {
        let (group_of, members) = (groups.group_of(), groups.members());
        let is_carried = |source: &VertexSource| matches!(source, VertexSource::Flesh { .. });
        let mut wanted = vec![false; members.len()];
        for (source, &group) in self.sources.iter().zip(group_of) {
            wanted[group as usize] |= !is_carried(source);
        }
        let mut starts = vec![0_u32; members.len() + 1];
        let is_counted = |triangle: &[u32; 3], group: u32| {
            wanted[group as usize] && triangle.iter().filter(|&&g| g == group).count() == 1
        };
        for triangle in groups.triangles() {
            for &group in triangle
                .iter()
                .filter(|&&group| is_counted(triangle, group))
            {
                starts[group as usize + 1] += 1;
            }
        }
        for group in 0..members.len() {
            starts[group + 1] += starts[group];
        }
        let mut next = starts.clone();
        self.corners = vec![[0; 3]; starts[members.len()] as usize];
        for triangle in groups.triangles() {
            for &group in triangle
                .iter()
                .filter(|&&group| is_counted(triangle, group))
            {
                self.corners[next[group as usize] as usize] =
                    triangle.map(|corner| members[corner as usize]);
                next[group as usize] += 1;
            }
        }
        let targets = self
            .sources
            .iter()
            .zip(group_of)
            .enumerate()
            .filter(|(_, (source, _))| !is_carried(source));
        let range = |group: u32| [starts[group as usize], starts[group as usize + 1]];
        self.normal_targets = targets
            .map(|(vertex, (_, &group))| NormalTarget {
                vertex: vertex as u32,
                triangles: range(group),
            })
            .collect();
    }
}

fn cloth(
    plain: &PlainCloth<'_>,
    source: impl Fn(u32) -> u32,
    sources_of_skin: &[Vec<u32>],
) -> Cloth {
    let target = |(rider, skin): (usize, u32)| {
        sources_of_skin[skin as usize]
            .iter()
            .map(move |&source| [source, rider as u32])
    };
    Cloth {
        origin: plain.origin,
        controls: plain
            .controls
            .iter()
            .map(|control| Control {
                vertex: source(control.vertex),
                ..control.clone()
            })
            .collect(),
        patches: plain
            .patches
            .iter()
            .map(|tangent| (source(tangent.vertex), tangent.along))
            .collect(),
        targets: plain
            .riders
            .iter()
            .map(|rider| rider.vertex)
            .enumerate()
            .flat_map(target)
            .collect(),
        riders: (plain.riders.iter())
            .map(|rider| Rider {
                vertex: source(rider.vertex),
                triangle: rider.triangle.map(&source),
                ..rider.clone()
            })
            .collect(),
    }
}

fn cluster(stiff: &Stiff, source: impl Fn(u32) -> u32, sources_of_skin: &[Vec<u32>]) -> Cluster {
    let placed = stiff.vertices.iter().zip(&stiff.rest);
    Cluster {
        patch: stiff
            .patch
            .iter()
            .map(|point| {
                (
                    source(point.vertex),
                    point.weight as f32,
                    point.rest.cast::<f32>(),
                )
            })
            .collect(),
        vertices: placed
            .flat_map(|(&v, rest)| {
                sources_of_skin[v as usize]
                    .iter()
                    .map(|&s| (s, rest.cast::<f32>()))
            })
            .collect(),
    }
}
