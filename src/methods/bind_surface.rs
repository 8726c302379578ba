//! The surface of a character in the bind pose, as methods that blend joint transforms are bound to it.

use super::Subject;
use super::blended_mesh::BlendedMesh;
use crate::character::{Character, SourceMesh};
use crate::math::{Affine, Point, Point64, Vec3, Vec64, affine, cofactor, linear_part};

/// All source vertices in the bind pose, world space, with the weights that a method blends by. Source meshes may share one skin in
/// several pieces, so vertices are numbered through all meshes.
pub(super) struct BindSurface<'a> {
    parts: Vec<&'a BlendedMesh>,
    /// The first source vertex of each part, and their number.
    firsts: Vec<usize>,
    positions: &'a [Point],
    triangles: Vec<[u32; 3]>,
    /// Per part and joint: world from the space of the part's rest positions.
    world_from_rest: Vec<Vec<Affine>>,
}

/// A source vertex by its part and its index there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Located {
    pub(super) part: usize,
    pub(super) vertex: usize,
}

impl<'a> BindSurface<'a> {
    /// The surface that `parts`, one per source mesh, are bound to.
    pub(super) fn new(
        subject: &'a Subject,
        parts: impl IntoIterator<Item = &'a BlendedMesh>,
    ) -> Self {
        let parts: Vec<&BlendedMesh> = parts.into_iter().collect();
        let mut firsts = vec![0];
        for part in &parts {
            firsts.push(firsts.last().copied().unwrap_or(0) + part.rest.len());
        }
        let bind = subject.character.skeleton.bind_transforms();
        let of_part = |part: &&BlendedMesh| {
            let pairs = bind.iter().zip(&part.joint_from_mesh);
            pairs.map(|(world, joint)| world * joint).collect()
        };
        Self {
            world_from_rest: parts.iter().map(of_part).collect(),
            triangles: subject.character.triangles(),
            positions: &subject.bind_positions,
            firsts,
            parts,
        }
    }

    /// Number of source vertices.
    pub(super) fn len(&self) -> usize {
        self.positions.len()
    }

    /// World positions.
    pub(super) fn positions(&self) -> &[Point] {
        self.positions
    }

    /// Triangles of all meshes.
    pub(super) fn triangles(&self) -> &[[u32; 3]] {
        &self.triangles
    }

    /// The source vertices of a part.
    pub(super) fn range(&self, part: usize) -> std::ops::Range<usize> {
        self.firsts[part]..self.firsts[part + 1]
    }

    /// The part of a source vertex.
    pub(super) fn locate(&self, source: usize) -> Located {
        // Parts without vertices share their first with the next.
        let part = self.firsts.partition_point(|&first| first <= source) - 1;
        let vertex = source - self.firsts[part];
        Located { part, vertex }
    }

    /// The influences of a source vertex, largest first.
    pub(super) fn weights(&self, source: usize) -> impl Iterator<Item = (usize, f32)> + '_ {
        let Located { part, vertex } = self.locate(source);
        self.parts[part].weights.of(vertex)
    }

    /// The rest position of a source vertex, in the space of its mesh.
    #[cfg(test)]
    pub(super) fn rest(&self, source: usize) -> Point {
        let Located { part, vertex } = self.locate(source);
        self.parts[part].rest[vertex]
    }

    /// Takes the rest position of a source vertex, in the space of its mesh, to the bind pose: the blend of the joints in the bind
    /// pose, which is one constant transform unless the file's inverse bind matrices are inconsistent.
    pub(super) fn world_from_rest(&self, source: usize) -> Affine {
        let Located { part, vertex } = self.locate(source);
        let joints = &self.world_from_rest[part];
        let mut weighted = self.parts[part].weights.of(vertex).peekable();
        let Some(&(strongest, _)) = weighted.peek() else {
            return Affine::identity();
        };
        // Relative to the strongest, so that equal transforms blend to exactly that transform.
        let first = joints[strongest].matrix();
        let mut blended = *first;
        for (joint, weight) in weighted {
            blended += (joints[joint].matrix() - first) * f64::from(weight);
        }
        Affine::from_matrix_unchecked(blended)
    }
}

/// World-space unit normals of all source vertices in the bind pose: the file's, or `computed` (one per source vertex) where it has none.
/// A mesh whose normals disagree with the orientation of its triangles gets them negated, so that they always agree with it.
pub(super) fn bind_normals(character: &Character, computed: &[Vec3]) -> Vec<Vec3> {
    let bind = character.skeleton.bind_transforms();
    let mut normals = computed.to_vec();
    let mut rest = &mut normals[..];
    for mesh in &character.meshes {
        let (own, others) = rest.split_at_mut(mesh.positions.len());
        rest = others;
        let Some(of_file) = mesh
            .normals
            .as_ref()
            .filter(|normals| normals.len() == mesh.positions.len())
        else {
            continue;
        };
        let to_world = world_from_mesh(mesh, &bind);
        let turned: Vec<Option<Vec3>> = of_file
            .iter()
            .enumerate()
            .map(|(vertex, normal)| {
                let turned = cofactor(&linear_part(&to_world(vertex))) * normal.cast::<f64>();
                unit(&turned).map(Vec64::cast::<f32>)
            })
            .collect();
        let agreement: f64 = own
            .iter()
            .zip(&turned)
            .filter_map(|(own, turned)| turned.map(|turned| f64::from(own.dot(&turned))))
            .sum();
        let sign = if agreement < 0.0 { -1.0 } else { 1.0 };
        for (own, turned) in own.iter_mut().zip(turned) {
            *own = turned.map_or(*own, |turned| turned * sign);
        }
    }
    normals
}

/// World from mesh space in the bind pose, as the file attaches the mesh, for each of its vertices.
fn world_from_mesh<'a>(mesh: &'a SourceMesh, bind: &'a [Affine]) -> impl Fn(usize) -> Affine + 'a {
    use crate::character::Attachment;
    move |vertex| match &mesh.attachment {
        Attachment::Skinned {
            weights,
            joint_from_mesh,
        } => {
            let mut blended = nalgebra::Matrix4::zeros();
            for (joint, weight) in weights.of(vertex) {
                blended += (bind[joint] * joint_from_mesh[joint]).matrix() * f64::from(weight);
            }
            Affine::from_matrix_unchecked(blended)
        }
        Attachment::Rigid {
            joint,
            joint_from_mesh,
        } => bind[*joint] * joint_from_mesh,
        Attachment::Static { world_from_mesh } => *world_from_mesh,
        Attachment::Unweighted => Affine::identity(),
    }
}

/// The unit vector of that direction; `None` for zero, NaN and infinity.
pub(super) fn unit(vector: &Vec64) -> Option<Vec64> {
    // Scaled first, so that squares neither overflow nor vanish.
    let largest = vector.amax();
    if !(largest.is_finite() && largest > 0.0) {
        return None;
    }
    let scaled = vector / largest;
    Some(scaled / scaled.norm())
}

/// The point of rest space that `world_from_rest` takes to `world`, if there is one.
pub(super) fn to_rest(world_from_rest: &Affine, world: &Point64) -> Option<Point64> {
    let linear = linear_part(world_from_rest);
    // Relative to its own size: an affine inverse that fails on tiny units would be a wrong answer.
    let scale = linear.amax();
    if !(scale.is_finite() && scale > 0.0) {
        return None;
    }
    let inverse = (linear / scale).try_inverse()? / scale;
    let back = affine(&inverse, &Vec64::zeros());
    let origin = crate::math::origin_of(world_from_rest);
    let rest = back * Point64::from(world - origin);
    rest.iter().all(|c| c.is_finite()).then_some(rest)
}

/// The file's normals of all source vertices, zero where it has none.
pub(super) fn normals_in_file(character: &Character) -> Vec<Vec3> {
    let of = |mesh: &SourceMesh| match &mesh.normals {
        Some(normals) if normals.len() == mesh.positions.len() => normals.clone(),
        _ => vec![Vec3::zeros(); mesh.positions.len()],
    };
    character.meshes.iter().flat_map(of).collect()
}
