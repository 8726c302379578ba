//! Conversion from the document to the project file's types.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;

use super::file::{
    CharacterPart, FORMAT, FileRef, FleshPart, LocalPart, ProjectFile, VERSION, VariantPart,
    ViewPart,
};
use super::paths::Refer;
use super::{Contents, ProjectError, distilled, morphs, motions, painting, transfers};
use crate::character::{FleshSettings, MuscleText};
use crate::methods::MethodValues;
use crate::param::ParamValues;
use crate::rig::edit::{Remap, RigFile};
use crate::rig::{Pose, Skeleton, Trs};
use crate::session::{Document, View, ViewId};
use crate::weights::WeightMethod;

/// The document as project content.
pub(super) fn file_of(contents: &Contents, refer: Refer<'_>) -> Result<ProjectFile, ProjectError> {
    let Contents {
        document,
        views,
        window,
        distilled,
        rig: _,
    } = contents;
    let empty = Skeleton::default();
    let (document, skeleton) = carried(document);
    let (document, skeleton) = (
        &document,
        skeleton.as_ref().or(document.skeleton()).unwrap_or(&empty),
    );
    let mut file = ProjectFile {
        format: FORMAT.to_owned(),
        version: VERSION,
        saved_by: format!("sinew {}", env!("CARGO_PKG_VERSION")),
        character: character_part(document, refer)?,
        views: views
            .list()
            .iter()
            .map(|view| {
                let view = view.without_distilled();
                let mut part = view_part(view, document, views.active().id, skeleton);
                transfers::refer(&mut part, refer)?;
                Ok(part)
            })
            .collect::<Result<_, ProjectError>>()?,
        rig: rig_part(document),
        limits: document
            .limits
            .iter()
            .filter_map(|(&joint, limit)| Some((name_of(skeleton, joint)?, *limit)))
            .collect(),
        pins: document
            .pins
            .iter()
            .filter_map(|&joint| name_of(skeleton, joint))
            .collect(),
        takes: document
            .takes
            .iter()
            .map(|take| take.to_file(skeleton))
            .collect(),
        poses: document
            .pose_library
            .iter()
            .map(|pose| pose.to_file(skeleton))
            .collect(),
        params: document.params,
        methods: methods_part(&document.method_values),
        variants: document
            .variants
            .iter()
            .map(|(&id, variant)| VariantPart {
                id,
                name: variant.name.clone(),
                params: variant.params,
                methods: methods_part(&variant.method_values),
            })
            .collect(),
        flesh: flesh_part(&document.flesh, skeleton),
        motions: motions::part_of(document, skeleton, refer)?,
        pose: pose_part(&document.pose, skeleton),
        morphs: BTreeMap::new(),
        window: window
            .as_ref()
            .map(|window| serde_json::value::to_raw_value(&window.without_distilled()))
            .transpose()?,
        distilled: (distilled.as_ref())
            .map(|rig| distilled::entry_of(&rig.kept(views.list())))
            .transpose()?,
        recovery: None,
    };
    morphs::write(document, &mut file);
    Ok(file)
}

fn methods_part(values: &MethodValues) -> BTreeMap<String, ParamValues> {
    values
        .iter()
        .map(|(method, values)| (method.id().to_owned(), values.clone()))
        .collect()
}

fn character_part(document: &Document, refer: Refer<'_>) -> Result<CharacterPart, ProjectError> {
    let (source, read) = (&document.source, &document.files_read);
    let files: Vec<FileRef> = source
        .files
        .iter()
        .map(|path| refer(path))
        .collect::<Result<_, _>>()?;
    let mapping = source.mapping.as_deref().map(refer).transpose()?;
    let named = |path: &Path| {
        source
            .files
            .iter()
            .chain(&source.mapping)
            .any(|file| std::path::absolute(file).is_ok_and(|file| file == path))
    };
    let also_read = read
        .iter()
        .filter(|file| !named(&file.path))
        .map(|file| refer(&file.path))
        .collect::<Result<_, _>>()?;
    Ok(CharacterPart {
        files,
        also_read,
        mapping,
        metres_per_unit: document.flesh.metres_per_unit.or(source.metres_per_unit),
    })
}

/// The document on the requested skeleton, if the flesh has not been rebuilt for it yet; and that skeleton.
fn carried(document: &Document) -> (Cow<'_, Document>, Option<Skeleton>) {
    let asked = document
        .rig
        .as_ref()
        .zip(document.subject.as_ref())
        .filter(|(rig, subject)| **rig != subject.rig);
    let new = asked.and_then(|(rig, subject)| {
        let base = subject.base.as_ref().unwrap_or(subject);
        Some((
            rig,
            subject,
            rig.to_skeleton(&base.character.skeleton).ok()?,
        ))
    });
    let Some((rig, subject, skeleton)) = new else {
        return (Cow::Borrowed(document), None);
    };
    let mut carried = document.clone();
    carried.carry(
        &Remap::between(&subject.rig, rig),
        &subject.character.skeleton,
        &skeleton,
    );
    (Cow::Owned(carried), Some(skeleton))
}

fn rig_part(document: &Document) -> Option<RigFile> {
    let (rig, subject) = (document.rig.as_ref()?, document.subject.as_ref()?);
    let base = subject.base.as_ref().unwrap_or(subject);
    Some(rig.to_file(&base.character.skeleton))
}

fn view_part(view: View, document: &Document, active: ViewId, skeleton: &Skeleton) -> ViewPart {
    let pose = document.free_poses.get(&view.id).filter(|_| view.free);
    ViewPart {
        id: view.id.0,
        method: view.method.id().to_owned(),
        compare: view.compare.map(|method| method.id().to_owned()),
        weights: Some(view.weights)
            .filter(|weights| *weights != WeightMethod::default())
            .map(|weights| weights.id().to_owned()),
        variant: view.variant,
        compare_variant: view.compare_variant,
        crowd: view.crowd,
        active: view.id == active,
        pose: pose.map(|pose| pose_part(pose, skeleton)),
        morphs: BTreeMap::new(),
    }
}

fn name_of(skeleton: &Skeleton, joint: usize) -> Option<String> {
    skeleton.joints().get(joint).map(|joint| joint.name.clone())
}

fn flesh_part(flesh: &FleshSettings, skeleton: &Skeleton) -> FleshPart {
    FleshPart {
        bones: flesh
            .bones
            .iter()
            .filter_map(|(&joint, bone)| Some((name_of(skeleton, joint)?, *bone)))
            .collect(),
        radii: flesh
            .radii
            .iter()
            .filter_map(|(&joint, radius)| Some((name_of(skeleton, joint)?, *radius)))
            .collect(),
        sim_vertices: flesh.sim_vertices,
        base: flesh.base,
        muscles: flesh
            .muscles
            .iter()
            .filter_map(|muscle| MuscleText::of(muscle, skeleton))
            .collect(),
        paint: painting::part_of(&flesh.paint),
        parts: flesh
            .parts
            .iter()
            .map(|(name, place)| (name.clone(), place.to_text(skeleton)))
            .collect(),
    }
}

/// Joints that are not at rest; non-finite transforms count as rest.
pub(super) fn pose_part(pose: &Pose, skeleton: &Skeleton) -> BTreeMap<String, LocalPart> {
    let posed = skeleton
        .joints()
        .iter()
        .zip(&pose.locals)
        .filter(|(joint, local)| joint.rest != **local && local.is_finite());
    posed
        .map(|(joint, local)| (joint.name.clone(), local_part(local)))
        .collect()
}

fn local_part(local: &Trs) -> LocalPart {
    let q = local.rotation.coords;
    LocalPart {
        rotation: [q.x, q.y, q.z, q.w],
        translation: local.translation.into(),
        scale: local.scale.into(),
    }
}
