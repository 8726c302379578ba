use std::sync::Arc;

use super::*;
use crate::character::{Character, FleshSettings, SimVertices};
use crate::collision::Contact;
use crate::io::builtin::load_builtin;
use crate::math::{Affine, Quat};
use crate::methods::Subject;
use crate::progress::Progress;

/// A body with a guide, in the rest pose.
struct Body {
    subject: Subject,
    volume: VolumePreserver,
    frame: GuideFrame,
}

impl Body {
    fn new() -> Self {
        let character = load_builtin("mannequin").expect("built in");
        let flesh = FleshSettings {
            sim_vertices: SimVertices::About(1500),
            ..character.flesh.clone()
        };
        let character = Arc::new(Character { flesh, ..character });
        let subject = Subject::build(character, &Progress::new()).expect("builds");
        let tissue = &subject.flesh().expect("has flesh").tissue;
        let bending = tissue.bending.as_ref().expect("is guided");
        let volume = VolumePreserver::bind(&subject.sim().mesh, tissue, bending).expect("has area");
        let frame = subject
            .guide_of(&subject.sim().skin_from_sim)
            .expect("has weights")
            .at_rest();
        Self {
            subject,
            volume,
            frame,
        }
    }

    /// Hips and knees bent by an angle, rad.
    fn crouch(&mut self, angle: f64) {
        let skeleton = &self.subject.character.skeleton;
        let mut pose = skeleton.rest_pose();
        for (name, turn) in [
            ("thigh.L", -angle),
            ("thigh.R", -angle),
            ("shin.L", angle),
            ("shin.R", angle),
        ] {
            let joint = skeleton.find(name).expect("is there");
            let turn = Quat::from_euler_angles(turn, 0.0, 0.0);
            pose.rotate_about_world_axes(skeleton, joint, &turn);
        }
        self.place(&skeleton.world_from_joint(&pose));
    }

    fn place(&mut self, world_from_joint: &[Affine]) {
        let sim = self.subject.sim();
        let guide = self
            .subject
            .guide_of(&sim.skin_from_sim)
            .expect("has weights");
        guide.pose(world_from_joint, &mut self.frame);
        self.volume.set_pose(&self.frame);
    }

    /// Volume by which the bulges enlarge the body, world units³.
    fn restored(&self) -> f64 {
        let volume = &self.volume;
        (0..volume.bulge.len())
            .map(|v| volume.bulge[v] * volume.folds.factors[v] * volume.vertex_areas[v])
            .map(f64::from)
            .sum()
    }

    /// The skin exactly on its guide with bulges.
    fn on_guide(&self) -> Vec<Point> {
        let mut skin = self.volume.rest.clone();
        self.volume.place_guide(&self.frame, &mut skin);
        skin
    }
}

#[test]
fn what_the_guide_loses_is_restored_before_anything_is_measured() {
    let mut body = Body::new();
    for degrees in [30.0_f64, 60.0, 90.0] {
        body.crouch(degrees.to_radians());
        let lost = body.volume.lost_volume(&body.volume.posed, &body.frame);
        let restored = body.restored();
        println!("{degrees}: lost {lost:e}, restored {restored:e}");
        assert!(
            lost.abs() > 2e-4 * body.volume.volume,
            "{degrees}: {lost:e}"
        );
        assert!((restored - lost).abs() < 0.1 * lost.abs());
    }
}

#[test]
fn nothing_bulges_at_rest_whatever_was_measured() {
    let mut body = Body::new();
    body.crouch(1.5);
    let skin = body.on_guide();
    body.volume.measure(&skin, &[], &body.frame, 1.0);
    body.volume.use_measured();
    body.volume.compute_bulges();
    assert!(body.volume.bulge.iter().any(|&bulge| bulge > 0.0));
    body.crouch(0.0);
    let largest = body.volume.bulge.iter().copied().fold(0.0, f32::max);
    assert!(largest < 1e-6, "{largest:e}");
}

/// A part of the skin is pressed in, as if by an arm, and released: the volume is restored elsewhere, and given back at once.
#[test]
fn pressed_volume_is_restored_and_given_back() {
    let mut body = Body::new();
    body.crouch(1.0);
    let before = body.restored();
    let mut skin = body.on_guide();
    let pressed: Vec<u32> = (0..skin.len() as u32)
        .filter(|&v| body.volume.rest[v as usize].y > 1.1)
        .filter(|&v| body.volume.normals[v as usize].z > 0.5)
        .collect();
    assert!(pressed.len() > 10);
    for &vertex in &pressed {
        let vertex = vertex as usize;
        let inwards = body.frame.points[vertex].rotation() * -body.volume.normals[vertex];
        skin[vertex] += inwards * 0.01;
    }
    let contacts: Vec<Contact> = pressed
        .iter()
        .map(|&vertex| Contact {
            vertex,
            triangle: 0,
            corners: [vertex; 3],
            weights: [1.0, 0.0, 0.0],
            normal: Vec3::z(),
            gap: 0.0,
            edge: 0.01,
            load: 1.0,
            min_gap: 0.0,
            increase: 0.0,
            ending: false,
            old: true,
        })
        .collect();
    body.volume.measure(&skin, &contacts, &body.frame, 1.0);
    body.volume.use_measured();
    body.volume.compute_bulges();
    let held = body.restored() - before;
    assert!(held > 0.0, "{held:e}");
    let skin = body.on_guide();
    body.volume.track_pressed_volume(&skin, &body.frame);
    body.volume.compute_bulges();
    let released = body.restored() - before;
    println!("held {held:e}, released {released:e}");
    assert!(released.abs() < 0.2 * held);
}
