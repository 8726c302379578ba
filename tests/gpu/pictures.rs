//! Pictures drawn from buffers of the device show what pictures of the same shapes from the CPU show. Needs an adapter (software Vulkan will
//! do).

use std::sync::Arc;

use image::RgbaImage;
use sinew::dynamics::Params;
use sinew::gpu::surface::Surface;
use sinew::math::{Affine, Vec64};
use sinew::mesh::Bounds;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;
use sinew::render::{
    Camera, Ground, MeshDraw, MeshFrame, MeshModel, MeshStyle, NamedView, RenderTarget, Renderer,
    Scene, WIRE_COLOR,
};

use crate::common::drawn::renderer;
use crate::common::moved::bent;
use crate::common::on_bones::on_bones;
use crate::surfaces::{Input, submit, surface};

const SIZE: u32 = 240;

/// Three of a character beside each other in different poses, on the CPU and on the device.
struct Crowd {
    renderer: &'static Renderer,
    model: Arc<MeshModel>,
    actors: Vec<Actor>,
    surface: Surface,
}

fn crowd() -> Option<Crowd> {
    let renderer = renderer()?;
    let character = sinew::io::builtin::load_builtin("gecko").expect("built in");
    let subject =
        Arc::new(Subject::build(Arc::new(on_bones(character)), &Progress::new()).expect("builds"));
    let moved = |amount: f64, along: f64| -> Vec<Affine> {
        let shift = nalgebra::Translation3::from(Vec64::x() * (along * f64::from(subject.size)));
        bent(&subject, amount)
            .iter()
            .map(|joint| shift * joint)
            .collect()
    };
    let poses = [moved(0.0, 0.0), moved(0.5, 0.8), moved(-0.5, 1.6)];
    let actors: Vec<Actor> = poses
        .iter()
        .map(|world_from_joint| {
            let mut actor = Actor::bind(
                &subject,
                MethodId::LBS,
                &Params::default(),
                &Progress::new(),
            )
            .expect("binds");
            actor
                .advance(&Frame {
                    world_from_joint,
                    dt_secs: 0.0,
                })
                .expect("moves");
            actor
        })
        .collect();
    let inputs: Vec<_> = poses
        .iter()
        .map(|world_from_joint| Input {
            simulated: &[],
            world_from_joint,
        })
        .collect();
    let surface = surface(
        renderer.gpu(),
        actors[0].recipe().expect("has a form on the device"),
        &inputs,
    );
    let model = MeshModel::of_character(renderer, &subject.character);
    Some(Crowd {
        renderer,
        model,
        actors,
        surface,
    })
}

impl Crowd {
    fn bounds(&self) -> Bounds {
        Bounds::of(self.actors.iter().flat_map(Actor::positions))
    }

    fn on_cpu(&self, instance: usize) -> MeshFrame {
        let mut frame = MeshFrame::new(self.renderer, &self.model);
        frame.update(
            self.renderer.gpu(),
            self.actors[instance].positions(),
            self.actors[instance].normals(),
        );
        frame
    }

    fn on_device(&self, instances: std::ops::Range<u32>) -> MeshFrame {
        let mut frame = MeshFrame::on_device(
            self.renderer,
            &self.model,
            self.surface.positions(),
            self.surface.normals(),
            instances.clone(),
        );
        let shown = self
            .actors
            .iter()
            .take(instances.end as usize)
            .skip(instances.start as usize);
        frame.set_bounds(Bounds::of(shown.flat_map(Actor::positions)));
        frame
    }

    fn picture(&self, meshes: &[MeshFrame], style: MeshStyle) -> RgbaImage {
        let bounds = self.bounds();
        let mut camera = Camera::default();
        camera.look_from(NamedView::Front);
        camera.frame(&bounds, 1.0);
        camera.orbit(0.4, 0.3);
        let meshes = meshes
            .iter()
            .map(|mesh| MeshDraw {
                mesh,
                colors: None,
                style,
            })
            .collect();
        let ground = Some(Ground {
            height: bounds.min.y,
            grid: None,
        });
        self.renderer
            .render_to_image(
                &camera,
                &Scene {
                    meshes,
                    ground,
                    ..Scene::default()
                },
                SIZE,
                SIZE,
            )
            .expect("a picture")
    }
}

/// A few pixels at outlines may fall to the other side by rounding.
fn assert_same(what: &str, a: &RgbaImage, b: &RgbaImage) {
    let differ = |(a, b): &(&image::Rgba<u8>, &image::Rgba<u8>)| {
        a.0.iter().zip(b.0).any(|(a, b)| a.abs_diff(b) > 6)
    };
    let count = a.pixels().zip(b.pixels()).filter(differ).count();
    assert!(count <= 20, "{what}: {count} pixels differ");
}

fn styles() -> [(&'static str, MeshStyle); 3] {
    let plain = MeshStyle::default();
    [
        ("solid", plain),
        (
            "with edges",
            MeshStyle {
                wireframe: Some(WIRE_COLOR),
                ..plain
            },
        ),
        (
            "of clay, without shadows",
            MeshStyle {
                materials: false,
                casts: false,
                ..plain
            },
        ),
    ]
}

#[test]
fn pictures_of_device_and_cpu_skins_agree() {
    let Some(crowd) = crowd() else { return };
    submit(crowd.renderer.gpu(), crowd.surface.dispatches());
    let see_through = (
        "see-through",
        MeshStyle {
            opacity: 0.5,
            ..MeshStyle::default()
        },
    );
    for instance in [0, 2] {
        for (what, style) in styles().into_iter().chain([see_through]) {
            let cpu = crowd.picture(&[crowd.on_cpu(instance)], style);
            let device = crowd.picture(
                &[crowd.on_device(instance as u32..instance as u32 + 1)],
                style,
            );
            assert_same(&format!("instance {instance}, {what}"), &device, &cpu);
        }
    }
    let empty = crowd.picture(&[], MeshStyle::default());
    let one = crowd.picture(&[crowd.on_device(0..1)], MeshStyle::default());
    let differing = empty
        .pixels()
        .zip(one.pixels())
        .filter(|(a, b)| a != b)
        .count();
    assert!(differing > 500, "something is to be seen");
}

#[test]
fn a_crowd_in_one_draw_call_equals_separate_draws() {
    let Some(crowd) = crowd() else { return };
    submit(crowd.renderer.gpu(), crowd.surface.dispatches());
    for (what, style) in styles() {
        for instances in [0..3, 1..3] {
            let all: Vec<MeshFrame> = instances
                .clone()
                .map(|instance| crowd.on_cpu(instance as usize))
                .collect();
            let (cpu, device) = (
                crowd.picture(&all, style),
                crowd.picture(&[crowd.on_device(instances.clone())], style),
            );
            assert_same(&format!("{instances:?}, {what}"), &device, &cpu);
        }
    }
    // More than there are, or none, is no accident.
    crowd.picture(
        &[
            crowd.on_device(0..9),
            crowd.on_device(7..9),
            crowd.on_device(2..2),
        ],
        MeshStyle::default(),
    );
}

/// Passes and picture in one submission, with nothing read back in between.
#[test]
fn a_frame_is_one_submission() {
    let Some(crowd) = crowd() else { return };
    let gpu = crowd.renderer.gpu();
    let frame = crowd.on_device(0..3);
    let bounds = crowd.bounds();
    let mut camera = Camera::default();
    camera.frame(&bounds, 1.0);
    let scene = Scene::of(&frame, MeshStyle::default(), bounds.min.y);
    let mut target = RenderTarget::new(crowd.renderer, SIZE, SIZE);
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    {
        let mut pass = encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default());
        crowd.surface.encode(&mut pass);
    }
    crowd
        .renderer
        .encode(&mut encoder, &mut target, &camera, &scene);
    gpu.queue.submit([encoder.finish()]);
    let at_once = target.read(gpu).expect("a picture");
    let later = crowd
        .renderer
        .render_to_image(&camera, &scene, SIZE, SIZE)
        .expect("a picture");
    assert!(at_once == later, "the passes came before the picture");
}
