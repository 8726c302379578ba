//! From a description to a finished character.

use std::path::Path;
use std::time::Instant;

use sinew::character::{Attachment, Character, Material, SourceFaces, SourceMesh};
use sinew::math::Point64;
use sinew::rig::{Skeleton, Trs};
use sinew::weights::{Segment, SkinWeights, limited};

use crate::bone_heat::bone_heat;
use crate::checks;
use crate::polygonise::{Mesh, polygonise};
use crate::remesh::remesh;
use crate::shape::{Description, parse};
use crate::{clips, cylinder};

/// Rounds of remeshing.
const ROUNDS: usize = 12;

/// Makes a character by name.
///
/// # Errors
/// A sentence on what is wrong in the description or the result.
pub fn make(name: &str, root: &Path, rough: bool, strict: bool) -> Result<Character, String> {
    let start = Instant::now();
    let path = root
        .join("examples/make_characters/shapes")
        .join(format!("{name}.txt"));
    let text =
        std::fs::read_to_string(&path).map_err(|error| format!("{}: {error}", path.display()))?;
    let description = parse(&text)?;
    let (mesh, mirror) = if name == "cylinder" {
        (cylinder::mesh(), Vec::new())
    } else {
        skin(&description, rough)?
    };
    let skeleton = Skeleton::from_positions(&rounded(&description.joints))
        .map_err(|error| error.to_string())?;
    let weights = if rough {
        rigid(&mesh)
    } else {
        weights(&mesh, &description, &skeleton, &mirror)?
    };
    if !rough {
        match inspect(name, &mesh, &description) {
            Err(what) if !strict => eprintln!("{name}: {what}"),
            result => result?,
        }
    }
    let joint_from_mesh = skeleton
        .joints()
        .iter()
        .map(|joint| Trs::at(-bind(joint)).to_affine())
        .collect();
    let skin = SourceMesh {
        name: name.to_owned(),
        positions: mesh.positions.iter().map(|p| p.cast::<f32>()).collect(),
        triangles: mesh.triangles,
        normals: None,
        tex_coords: None,
        faces: SourceFaces::default(),
        material: Some(0),
        attachment: Attachment::Skinned {
            weights,
            joint_from_mesh,
        },
    };
    let base_color = match name {
        "gecko" => [0.42, 0.50, 0.26, 1.0],
        "cylinder" | "arm" => [0.62, 0.52, 0.45, 1.0],
        _ => [0.60, 0.55, 0.49, 1.0],
    };
    let material = Material {
        name: "skin".to_owned(),
        base_color,
        base_color_image: None,
        ..Material::default()
    };
    eprintln!("{name}: made in {:.1} s", start.elapsed().as_secs_f64());
    Ok(Character {
        name: name.to_owned(),
        meshes: vec![skin],
        clips: clips::clips(name, &skeleton)?,
        skeleton,
        materials: vec![material],
        notes: Vec::new(),
        metres_per_unit: 1.0,
        ..Character::default()
    })
}

fn bind(joint: &sinew::rig::Joint) -> sinew::math::Vec64 {
    sinew::math::origin_of(&joint.world_from_bind).coords
}

/// Joint positions such that `f32` holds them and their differences.
fn rounded(joints: &[(String, Option<usize>, Point64)]) -> Vec<(String, Option<usize>, Point64)> {
    const STEP: f64 = 1.0 / 65536.0;
    joints
        .iter()
        .map(|(name, parent, p)| {
            (
                name.clone(),
                *parent,
                Point64::from(p.coords.map(|c| (c / STEP).round() * STEP)),
            )
        })
        .collect()
}

/// Meshes the solid; with the vertex on the other side of each vertex if it is symmetrical.
fn skin(description: &Description, rough: bool) -> Result<(Mesh, Vec<u32>), String> {
    let field = &description.field;
    let mut mesh = polygonise(field, description.grid, description.symmetric);
    if rough {
        for p in &mut mesh.positions {
            let on_border = p.x == 0.0;
            *p = field.project(p, on_border, 2);
            p.x = if on_border { 0.0 } else { p.x.max(1e-5) };
        }
    } else {
        remesh(&mut mesh, field, ROUNDS);
    }
    // What is exact now stays exact when positions become f32.
    for p in &mut mesh.positions {
        *p = p.cast::<f32>().cast::<f64>();
    }
    if !description.symmetric {
        return Ok((mesh, Vec::new()));
    }
    if let Some(p) = mesh.positions.iter().find(|p| p.x < 0.0) {
        return Err(format!(
            "the half mesh crosses the plane of symmetry at {p}"
        ));
    }
    Ok(mirrored(&mesh))
}

/// Both halves, sharing the vertices on the plane.
fn mirrored(half: &Mesh) -> (Mesh, Vec<u32>) {
    let mut mesh = half.clone();
    let mut mirror: Vec<u32> = (0..half.positions.len() as u32).collect();
    for (v, p) in half.positions.iter().enumerate().filter(|(_, p)| p.x > 0.0) {
        mirror[v] = mesh.positions.len() as u32;
        mirror.push(v as u32);
        mesh.positions.push(Point64::new(-p.x, p.y, p.z));
    }
    mesh.triangles.extend(
        half.triangles
            .iter()
            .map(|&[a, b, c]| [a, c, b].map(|v| mirror[v as usize])),
    );
    (mesh, mirror)
}

fn rigid(mesh: &Mesh) -> SkinWeights {
    SkinWeights::from_rows(mesh.positions.iter().map(|_| [(0, 1.0)])).0
}

/// All lines through the flesh: from every joint to its children, and those described.
pub fn segments(
    description: &Description,
    joints: &[(String, Option<usize>, Point64)],
) -> Vec<Segment> {
    let children = joints
        .iter()
        .enumerate()
        .filter_map(|(end, (_, parent, to))| {
            parent.map(|p| Segment {
                joint: p as u32,
                end_joint: end as u32,
                ends: [joints[p].2, *to],
            })
        });
    children
        .chain(description.bones.iter().map(|&(joint, from, to)| Segment {
            joint: joint as u32,
            end_joint: joint as u32,
            ends: [from, to],
        }))
        .collect()
}

fn weights(
    mesh: &Mesh,
    description: &Description,
    skeleton: &Skeleton,
    mirror: &[u32],
) -> Result<SkinWeights, String> {
    let mut rows = if description.field.parts.is_empty() {
        cylinder::weights(mesh, skeleton)
    } else {
        bone_heat(
            mesh,
            &description.field,
            &segments(description, &description.joints),
            skeleton.len(),
        )?
    };
    if !mirror.is_empty() {
        let other: Vec<usize> = skeleton
            .joints()
            .iter()
            .map(|joint| other_side(skeleton, &joint.name))
            .collect();
        rows = (0..rows.len())
            .map(|v| {
                // The same two numbers on both sides, so that the sums are equal to the last bit.
                let m = mirror[v] as usize;
                (0..skeleton.len())
                    .map(|j| 0.5 * (rows[v][j] + rows[m][other[j]]))
                    .collect()
            })
            .collect();
    }
    let (weights, empty) = SkinWeights::from_rows(limited(&rows));
    if empty.is_empty() {
        Ok(weights)
    } else {
        Err(format!("{} vertices have no weights", empty.len()))
    }
}

fn other_side(skeleton: &Skeleton, name: &str) -> usize {
    let swapped = match (name.strip_suffix(".L"), name.strip_suffix(".R")) {
        (Some(stem), _) => format!("{stem}.R"),
        (_, Some(stem)) => format!("{stem}.L"),
        _ => name.to_owned(),
    };
    skeleton
        .find(&swapped)
        .or_else(|| skeleton.find(name))
        .unwrap_or(0)
}

/// Refuses a bad mesh and says how good it is.
fn inspect(name: &str, mesh: &Mesh, description: &Description) -> Result<(), String> {
    checks::closed_manifold(mesh)?;
    let report = checks::measure(mesh);
    eprintln!("{name}: {report:?}");
    if report.self_intersections > 0 {
        return Err("the skin cuts through itself".to_owned());
    }
    if !description.field.parts.is_empty() {
        let outside = description
            .joints
            .iter()
            .find(|joint| description.field.distance(&joint.2) > -0.002);
        if let Some((joint, _, place)) = outside {
            return Err(format!("joint \"{joint}\" at {place} is not in the flesh"));
        }
    }
    Ok(())
}
