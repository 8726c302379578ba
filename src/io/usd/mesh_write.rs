//! Meshes as `Mesh` prims: the faces, texture coordinates and materials; points and normals are added by the callers.

use super::layer::{Prim, Property, Value};
use super::look_write::Looks;
use super::names::SiblingNames;
use crate::character::{Character, SourceMesh};
use crate::math::{Point, Vec3};
use crate::mesh::Bounds;

/// A mesh prim without points and normals.
pub(super) fn mesh_prim(
    character: &Character,
    mesh: &SourceMesh,
    looks: &Looks,
    names: &mut SiblingNames,
) -> Prim {
    let mut prim = Prim::new("Mesh", names.unique(&mesh.name));
    if prim.name != mesh.name {
        let name = Value::text(mesh.name.clone());
        prim.meta.push(("displayName".to_owned(), name));
    }
    let counts = faces_of(mesh).map(|ring| ring.len() as f64).collect();
    let file_vertex = |&v: &u32| mesh.file_vertex(v as usize) as f64;
    let corners = faces_of(mesh).flatten().map(file_vertex).collect();
    let token = |name: &str, value: &str| Property::uniform("token", name, Value::text(value));
    prim.properties.extend([
        Property::of("int[]", "faceVertexCounts", Value::Numbers(counts)),
        Property::of("int[]", "faceVertexIndices", Value::Numbers(corners)),
        token("subdivisionScheme", "none"),
    ]);
    if let Some(tex_coords) = &mesh.tex_coords {
        // The image's lower edge is v = 0.
        let uv = tex_coords.iter().flat_map(|&[u, v]| [u, 1.0 - v]);
        let value = Value::Numbers(uv.map(f64::from).collect());
        at_vertices(&mut prim, mesh, "texCoord2f[]", "primvars:st", value);
    }
    bind_materials(character, mesh, looks, &mut prim);
    prim
}

/// The faces as in the file, or else the triangles, with copies of vertices.
fn faces_of(mesh: &SourceMesh) -> impl Iterator<Item = &[u32]> {
    let polygons = mesh.faces.polygons.as_deref();
    let rings = polygons
        .into_iter()
        .flat_map(|p| (0..p.len()).map(|i| p.ring(i)));
    let triangles = polygons.is_none().then_some(&mesh.triangles);
    rings.chain(triangles.into_iter().flatten().map(|t| &t[..]))
}

/// Adds values of all vertices: one for each vertex of the file, or with copies at seams indexed by the corners.
fn at_vertices(prim: &mut Prim, mesh: &SourceMesh, kind: &str, name: &str, value: Value) {
    let is_split = !mesh.faces.copies.is_empty();
    let interpolation = if is_split { "faceVarying" } else { "vertex" };
    let property = Property::of(kind, name, value);
    prim.properties
        .push(property.with("interpolation", Value::text(interpolation)));
    if is_split {
        add_indices(prim, mesh, name);
    }
}

fn add_indices(prim: &mut Prim, mesh: &SourceMesh, name: &str) {
    let corners = faces_of(mesh).flatten().map(|&v| f64::from(v)).collect();
    let name = format!("{name}:indices");
    prim.properties
        .push(Property::of("int[]", &name, Value::Numbers(corners)));
}

/// Normals of all vertices, copies included: a value, or samples.
pub(super) fn add_normals(prim: &mut Prim, mesh: &SourceMesh, mut normals: Property) {
    let is_split = !mesh.faces.copies.is_empty();
    let interpolation = if is_split { "faceVarying" } else { "vertex" };
    // Only primvars have indices.
    let name = if is_split {
        "primvars:normals"
    } else {
        "normals"
    };
    normals = Property {
        kind: "normal3f[]".to_owned(),
        name: name.to_owned(),
        ..normals
    };
    prim.properties
        .push(normals.with("interpolation", Value::text(interpolation)));
    if is_split {
        add_indices(prim, mesh, name);
    }
}

pub(super) fn vectors<'a>(vectors: impl IntoIterator<Item = &'a Vec3>) -> Value {
    Value::Numbers(
        vectors
            .into_iter()
            .flatten()
            .map(|&c| f64::from(c))
            .collect(),
    )
}

/// The corners of the box around points.
pub(super) fn extent(points: &[Point]) -> Value {
    let bounds = Bounds::of(points);
    let corners = [bounds.min, bounds.max];
    vectors(corners.iter().map(|corner| &corner.coords))
}

/// Binds the material of a mesh, or of parts of it.
fn bind_materials(character: &Character, mesh: &SourceMesh, looks: &Looks, prim: &mut Prim) {
    let is_double_sided = |material: Option<usize>| {
        material.is_some_and(|m| character.materials.get(m).is_some_and(|m| m.double_sided))
    };
    if mesh
        .sections()
        .any(|(_, material)| is_double_sided(material))
    {
        let value = Value::number(1.0);
        prim.properties
            .push(Property::uniform("bool", "doubleSided", value));
    }
    if mesh.faces.sections.is_empty() {
        if let Some(path) = mesh.material.and_then(|material| looks.paths.get(material)) {
            bind(prim, path);
        }
        return;
    }
    let materials = material_of_faces(character, mesh);
    let mut names = SiblingNames::default();
    let mut used: Vec<usize> = materials.iter().flatten().copied().collect();
    used.sort_unstable();
    used.dedup();
    let family = Value::text("nonOverlapping");
    let name = "subsetFamily:materialBind:familyType";
    prim.properties
        .push(Property::uniform("token", name, family));
    for material in used.into_iter().filter(|&m| m < looks.paths.len()) {
        let mut subset = Prim::new(
            "GeomSubset",
            names.unique(&character.materials[material].name),
        );
        let faces = materials.iter().enumerate();
        let own = faces.filter(|(_, of_face)| **of_face == Some(material));
        let own = own.map(|(face, _)| face as f64).collect();
        let token = |name: &str, value: &str| Property::uniform("token", name, Value::text(value));
        subset.properties.extend([
            token("elementType", "face"),
            token("familyName", "materialBind"),
            Property::of("int[]", "indices", Value::Numbers(own)),
        ]);
        bind(&mut subset, &looks.paths[material]);
        prim.children.push(subset);
    }
}

/// The material of every face that is written.
fn material_of_faces(character: &Character, mesh: &SourceMesh) -> Vec<Option<usize>> {
    let Some(polygons) = &mesh.faces.polygons else {
        let sections = mesh.sections();
        return sections
            .flat_map(|(triangles, material)| triangles.map(move |_| material))
            .collect();
    };
    let name = |(index, material): (usize, &crate::character::Material)| {
        if material.name.is_empty() {
            format!("material{index}")
        } else {
            material.name.clone()
        }
    };
    let names: Vec<String> = character.materials.iter().enumerate().map(name).collect();
    let mut materials = vec![None; polygons.len()];
    for (i, group) in polygons.groups.iter().enumerate() {
        let next = polygons.groups.get(i + 1).map(|next| next.first);
        let material = names.iter().position(|name| *name == group.material);
        let end = next.unwrap_or(polygons.len()).min(polygons.len());
        materials[group.first.min(end)..end].fill(material);
    }
    materials
}

fn bind(prim: &mut Prim, material: &str) {
    apply_schema(prim, "MaterialBindingAPI");
    prim.properties
        .push(Property::relationship("material:binding", material));
}

/// Adds a schema to those that a prim applies.
pub(super) fn apply_schema(prim: &mut Prim, schema: &str) {
    let known = prim.meta.iter_mut().find(|(key, _)| key == "apiSchemas");
    match known {
        Some((_, Value::Texts(schemas))) => schemas.push(schema.to_owned()),
        _ => prim
            .meta
            .push(("apiSchemas".to_owned(), Value::text(schema))),
    }
}
