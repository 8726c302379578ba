//! Removes unused accessors and views, so that neither their bytes nor their defects remain in the
//! file.

use serde_json::{Value, json};

use super::draft::JsonObject;

/// Extensions that refer to no accessor and no view besides those visited below: by full name or by
/// prefix (ending in `*`).
const WITHOUT_REFERENCES: [&str; 17] = [
    "KHR_materials_*",
    "KHR_texture_*",
    "EXT_texture_*",
    "MSFT_texture_dds",
    "KHR_lights_*",
    "EXT_lights_*",
    "KHR_xmp*",
    "KHR_mesh_quantization",
    "KHR_node_*",
    "KHR_animation_pointer",
    "KHR_draco_mesh_compression",
    "EXT_mesh_gpu_instancing",
    "EXT_meshopt_compression",
    "VRM",
    "VRMC_*",
    "MSFT_lod",
    "KHR_collision*",
];

/// Removes skins that no node uses.
pub(super) fn skins(tree: &mut JsonObject) {
    sweep_list(tree, "skins", each_skin);
}

/// Removes accessors and views, unless the document uses an extension that may refer to anything.
pub(super) fn data(tree: &mut JsonObject) {
    let harmless = |name: &Value| {
        let name = name.as_str().unwrap_or_default();
        WITHOUT_REFERENCES.iter().any(|known| {
            known
                .strip_suffix('*')
                .map_or(*known == name, |prefix| name.starts_with(prefix))
        })
    };
    if !tree
        .get("extensionsUsed")
        .and_then(Value::as_array)
        .is_none_or(|names| names.iter().all(harmless))
    {
        return;
    }
    sweep_list(tree, "accessors", each_accessor);
    sweep_list(tree, "bufferViews", each_view);
}

type VisitIndices<'a> = &'a mut dyn FnMut(&mut Value);

/// Keeps the visited entries of a list and renumbers the references to them.
fn sweep_list(tree: &mut JsonObject, list: &str, each: fn(&mut JsonObject, VisitIndices<'_>)) {
    let count = tree.get(list).and_then(Value::as_array).map_or(0, Vec::len);
    let mut used = vec![false; count];
    each(tree, &mut |index| {
        if let Some(used) = index
            .as_u64()
            .and_then(|index| used.get_mut(index as usize))
        {
            *used = true;
        }
    });
    let mut kept = 0;
    let new_index: Vec<usize> = used
        .iter()
        .map(|&used| {
            kept += usize::from(used);
            kept.saturating_sub(1)
        })
        .collect();
    each(tree, &mut |index| {
        if let Some(&new) = index
            .as_u64()
            .and_then(|index| new_index.get(index as usize))
        {
            *index = json!(new);
        }
    });
    if let Some(Value::Array(objects)) = tree.get_mut(list) {
        let mut used = used.into_iter();
        objects.retain(|_| used.next().unwrap_or(true));
    }
}

fn objects<'a>(
    tree: &'a mut JsonObject,
    list: &str,
) -> impl Iterator<Item = &'a mut Value> + use<'a> {
    elements(tree.get_mut(list))
}

/// The elements of an array; none if it is missing or something else.
fn elements(list: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    list.and_then(Value::as_array_mut).into_iter().flatten()
}

/// The members, if the value is an object.
fn members(value: Option<&mut Value>) -> impl Iterator<Item = &mut Value> {
    value
        .and_then(Value::as_object_mut)
        .into_iter()
        .flat_map(|object| object.values_mut())
}

fn each_skin(tree: &mut JsonObject, visit: VisitIndices<'_>) {
    objects(tree, "nodes")
        .filter_map(|node| node.get_mut("skin"))
        .for_each(visit);
}

fn each_accessor(tree: &mut JsonObject, visit: VisitIndices<'_>) {
    for mesh in objects(tree, "meshes") {
        for primitive in elements(mesh.get_mut("primitives")) {
            members(primitive.get_mut("attributes")).for_each(&mut *visit);
            primitive
                .get_mut("indices")
                .into_iter()
                .for_each(&mut *visit);
            elements(primitive.get_mut("targets"))
                .flat_map(|target| members(Some(target)))
                .for_each(&mut *visit);
        }
    }
    objects(tree, "skins")
        .filter_map(|skin| skin.get_mut("inverseBindMatrices"))
        .for_each(&mut *visit);
    for animation in objects(tree, "animations") {
        for sampler in elements(animation.get_mut("samplers")) {
            sampler.get_mut("input").into_iter().for_each(&mut *visit);
            sampler.get_mut("output").into_iter().for_each(&mut *visit);
        }
    }
    for node in objects(tree, "nodes") {
        members(node.pointer_mut("/extensions/EXT_mesh_gpu_instancing/attributes"))
            .for_each(&mut *visit);
    }
}

fn each_view(tree: &mut JsonObject, visit: VisitIndices<'_>) {
    for accessor in objects(tree, "accessors") {
        for place in [
            "/bufferView",
            "/sparse/indices/bufferView",
            "/sparse/values/bufferView",
        ] {
            accessor
                .pointer_mut(place)
                .into_iter()
                .for_each(&mut *visit);
        }
    }
    objects(tree, "images")
        .filter_map(|image| image.get_mut("bufferView"))
        .for_each(&mut *visit);
    for mesh in objects(tree, "meshes") {
        for primitive in elements(mesh.get_mut("primitives")) {
            primitive
                .pointer_mut("/extensions/KHR_draco_mesh_compression/bufferView")
                .into_iter()
                .for_each(&mut *visit);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(extension: &str) -> JsonObject {
        let tree = json!({
            "extensionsUsed": [extension],
            "nodes": [{"mesh": 0, "skin": 1}],
            "skins": [{"joints": [0], "inverseBindMatrices": 0}, {"joints": [0], "inverseBindMatrices": 3}],
            "meshes": [{"primitives": [{"attributes": {"POSITION": 2}, "indices": 4}]}],
            "accessors": [{"bufferView": 0}, {"bufferView": 1}, {"bufferView": 2}, {"bufferView": 2}, {"sparse": {"indices": {"bufferView": 4}, "values": {"bufferView": 5}}}],
            "bufferViews": [{"name": 0}, {"name": 1}, {"name": 2}, {"name": 3}, {"name": 4}, {"name": 5}],
            "images": [{"bufferView": 3}],
        });
        tree.as_object().unwrap().clone()
    }

    #[test]
    fn unused_entries_are_removed_and_the_rest_renumbered() {
        let mut tree = document("KHR_materials_unlit");
        skins(&mut tree);
        data(&mut tree);
        assert_eq!(
            tree["skins"],
            json!([{"joints": [0], "inverseBindMatrices": 1}])
        );
        assert_eq!(tree["nodes"][0]["skin"], 0);
        assert_eq!(
            tree["meshes"][0]["primitives"][0],
            json!({"attributes": {"POSITION": 0}, "indices": 2})
        );
        assert_eq!(
            tree["bufferViews"],
            json!([{"name": 2}, {"name": 3}, {"name": 4}, {"name": 5}])
        );
        assert_eq!(tree["accessors"][2]["sparse"]["values"]["bufferView"], 3);
        assert_eq!(tree["images"][0]["bufferView"], 1);
    }

    #[test]
    fn an_unknown_extension_prevents_removal() {
        let mut tree = document("EXT_structural_metadata");
        data(&mut tree);
        assert_eq!(tree, document("EXT_structural_metadata"));
    }
}
