//! Real characters in motion, parts that collide and all: on the device as on the processor.

use std::path::Path;
use std::sync::Arc;

use sinew::character::{FleshSettings, SimVertices};
use sinew::dynamics::Preset;
use sinew::gpu::GpuContext;
use sinew::gpu::actor::{GpuFlesh, GpuModel};
use sinew::math::Affine;
use sinew::methods::{Actor, AnyDevice, Frame, MethodId, Projective, Subject};
use sinew::progress::Progress;

use crate::common::moved::worst;
use crate::common::on_bones::on_bones;
use crate::common::{on_device, skip};

/// Files with clips: people, an animal on four legs, things that are worn and carried.
const CHARACTERS: [&str; 5] = [
    "CesiumMan/CesiumMan.glb",
    "Fox/Fox.glb",
    "mannequiny/mannequiny-0.3.0.glb",
    "kaykit_Knight/Knight.glb",
    "q_Wolf/Wolf.glb",
];
const FRAMES: usize = 60;
/// Largest distance of a vertex of the source meshes, of the size. With plain iterations 3e-7 is measured, contacts or not; with
/// accelerated ones, where rounding tips whether or how far an iterate is taken on, up to 6e-5 in single frames, which is gone some frames
/// later.
const TOLERANCE: f32 = 1e-3;
/// Simulated vertices: few, since the device may be software.
const SIMULATED: usize = 500;

fn subject(file: &Path) -> Arc<Subject> {
    let character = sinew::io::load(&[file.to_owned()], &Progress::new()).expect("loads");
    let settings = FleshSettings {
        sim_vertices: SimVertices::About(SIMULATED),
        base: sinew::character::FleshBase::Bones,
        ..character.flesh.clone()
    };
    let subject = Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds");
    Arc::new(subject.with_settings(&settings))
}

/// The longest clip there and back, so that no frame is a jump.
fn joints(subject: &Subject, time_secs: f64) -> Vec<Affine> {
    let character = &subject.character;
    let clip = character
        .clips
        .iter()
        .max_by(|a, b| a.duration_secs.total_cmp(&b.duration_secs))
        .expect("has a clip");
    let turn = clip.duration_secs.max(1e-3);
    let there = time_secs % (2.0 * turn);
    character.skeleton.world_from_joint(&clip.sample(
        &character.skeleton,
        if there > turn {
            2.0 * turn - there
        } else {
            there
        },
    ))
}

/// Returns how many contacts pressed at once.
fn agrees(gpu: &GpuContext, name: &str, subject: &Arc<Subject>) -> usize {
    let params = Preset::Natural.params();
    let bind = || Actor::bind(subject, MethodId::PD, &params, &Progress::new()).expect("binds");
    let (mut cpu, mut device) = (bind(), bind());
    let model = Arc::new(GpuModel::new(gpu, &device).expect("fits"));
    device.set_device(Some(AnyDevice::Flesh(Box::new(
        GpuFlesh::new(model).expect("fits"),
    ))));
    let (mut farthest, mut moved, mut pressing) = ((0.0, 0), 0.0_f32, 0);
    let mut first = Vec::new();
    for frame in 0..FRAMES {
        let world_from_joint = joints(subject, frame as f64 * params.time_step_secs);
        let frame_of = Frame {
            world_from_joint: &world_from_joint,
            dt_secs: if frame == 0 {
                0.0
            } else {
                params.time_step_secs
            },
        };
        cpu.advance(&frame_of).expect("is skinned");
        device.advance(&frame_of).expect("is skinned");
        assert!(
            device.projective().is_some_and(Projective::is_on_device),
            "{name}, frame {frame}: the processor steps"
        );
        if first.is_empty() {
            first = device.simulated().to_vec();
        }
        moved = moved.max(worst(&first, device.simulated()));
        let apart = worst(cpu.positions(), device.positions()) / subject.size;
        if apart > farthest.0 {
            farthest = (apart, frame);
        }
        let of = |actor: &Actor| {
            actor
                .projective()
                .and_then(|flesh| flesh.simulation().contacts())
                .map(|c| c.report().pressing)
        };
        pressing = pressing.max(of(&device).unwrap_or(0));
    }
    let (apart, frame) = farthest;
    assert!(moved > 0.01 * subject.size, "{name} hardly moves");
    eprintln!("{name}: {apart:.1e} of the size apart in frame {frame}, {pressing} contacts press");
    assert!(
        apart < TOLERANCE,
        "{name}, frame {frame}: {apart} of the size"
    );
    pressing
}

#[test]
fn characters_in_motion_agree_with_the_cpu() {
    let Some(data) = skip::data() else {
        return;
    };
    let Some(gpu) = on_device::gpu() else { return };
    let folder = data.join("A_rigged");
    let pressing = CHARACTERS.map(|name| agrees(gpu, name, &subject(&folder.join(name))));
    assert!(
        pressing.iter().any(|&count| count > 4),
        "nothing touches: {pressing:?}"
    );
}
