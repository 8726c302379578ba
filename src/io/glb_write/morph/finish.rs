//! Completes the file: morph targets, their animation, and the JSON text.

use std::io::Write;

use serde_json::{Value, json};

use super::{MorphFile, MorphSummary, refused};
use crate::io::error::IoError;
use crate::io::glb_write::GlbWriteError;
use crate::io::glb_write::blocks::ElementShape;
use crate::io::glb_write::draft::{ViewUse, remove, set};

impl MorphFile {
    /// Completes the file.
    ///
    /// # Errors
    /// [`IoError::Write`].
    pub fn finish(mut self) -> Result<MorphSummary, IoError> {
        let Some(base) = self.base.take() else {
            return Err(refused(
                &self.name,
                GlbWriteError::Inconsistent {
                    mesh: String::new(),
                    what: "no frame was written",
                },
            ));
        };
        if !base.last_is_key {
            self.key(&base)?;
        }
        let moving = self.parts.iter().any(|part| part.moves);
        for part in &self.parts {
            let range = part.first..part.first + part.count;
            let mut accessors = vec![(
                "POSITION",
                self.draft.positions(&base.positions[range.clone()]),
            )];
            if part.has_normals {
                accessors.push(("NORMAL", self.draft.vectors(&base.normals[range])));
            }
            for primitive in part.primitives() {
                if let Some(attributes) = self.draft.attributes_mut(part.place.mesh, primitive) {
                    let written = accessors.iter();
                    attributes.extend(written.map(|(name, at)| ((*name).to_owned(), json!(at))));
                }
            }
        }
        if moving {
            self.targets();
            self.animation(base.first_secs);
        }
        let Self {
            draft,
            mut frames,
            mut target,
            name,
            keys,
            ..
        } = self;
        let sealed = draft.seal().map_err(|error| refused(&name, error))?;
        let frames = frames.rewound()?;
        target.write(|out| {
            sealed.write(Some(frames), out)?;
            out.flush()
        })?;
        target.commit()?;
        Ok(MorphSummary {
            targets: if moving { keys.len() } else { 0 },
        })
    }

    /// Gives every moving mesh, and those that share its glTF mesh, its targets.
    pub(super) fn targets(&mut self) {
        let meshes: std::collections::BTreeSet<usize> = self
            .parts
            .iter()
            .filter(|part| part.moves)
            .map(|part| part.place.mesh)
            .collect();
        let names: Vec<String> = self
            .keys
            .iter()
            .map(|key| format!("{:.4} s", key.time_secs))
            .collect();
        for (index, part) in self
            .parts
            .iter()
            .enumerate()
            .filter(|(_, part)| meshes.contains(&part.place.mesh))
        {
            let mut zeros = None;
            let targets: Vec<Value> = self
                .keys
                .iter()
                .map(|key| {
                    let (positions, normals) = &key.blocks[index];
                    let mut target =
                        json!({"POSITION": self.draft.block(positions, part.count, &mut zeros)});
                    if let Some(normals) = normals {
                        target["NORMAL"] = json!(self.draft.block(normals, part.count, &mut zeros));
                    }
                    target
                })
                .collect();
            let mesh = &mut self.draft.list_mut("meshes")[part.place.mesh];
            for primitive in part.primitives() {
                if let Some(written) = mesh.pointer_mut(&format!("/primitives/{primitive}")) {
                    set(written, "targets", json!(targets));
                }
            }
        }
        for mesh in meshes {
            let mesh = &mut self.draft.list_mut("meshes")[mesh];
            set(mesh, "weights", json!(vec![0; names.len()]));
            // Not part of the standard, but Blender and three.js show these as the targets' names.
            match remove(mesh, "extras") {
                Some(Value::Object(mut extras)) => {
                    extras.insert("targetNames".to_owned(), json!(names));
                    set(mesh, "extras", Value::Object(extras));
                }
                Some(other) => set(mesh, "extras", other),
                None => set(mesh, "extras", json!({"targetNames": names})),
            }
        }
    }

    /// The animation of all weights, placed before those that the document has.
    pub(super) fn animation(&mut self, first_secs: f64) {
        let count = self.keys.len();
        let times: Vec<f64> = std::iter::once(first_secs)
            .chain(self.keys.iter().map(|key| key.time_secs))
            .collect();
        let mut weights = vec![0.0; count * (count + 1)];
        (0..count).for_each(|key| weights[(key + 1) * count + key] = 1.0);
        let (input, output) = (
            self.draft.times(&times),
            self.draft
                .floats(&weights, ViewUse::Other, ElementShape::Scalar),
        );
        let mut nodes: Vec<usize> = Vec::new();
        for part in self.parts.iter().filter(|part| part.moves) {
            if nodes.last() != Some(&part.place.node) {
                nodes.push(part.place.node);
            }
        }
        let channels: Vec<Value> = nodes
            .iter()
            .map(|node| json!({"sampler": 0, "target": {"node": node, "path": "weights"}}))
            .collect();
        let samplers = json!([{"input": input, "output": output, "interpolation": "LINEAR"}]);
        let animation =
            json!({"name": self.settings.animation, "channels": channels, "samplers": samplers});
        self.draft.list_mut("animations").insert(0, animation);
    }
}
