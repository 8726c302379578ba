use std::sync::Arc;

use super::*;
use crate::character::FleshBase;
use crate::collision::{Contact, Release};
use crate::math::Vec64;
use crate::methods::Subject;
use crate::methods::test_bar::{flesh_bar, turned};

/// A closed bar of length 10 and radius 1 with a guide, at rest.
struct Body {
    subject: Arc<Subject>,
    volume: VolumePreserver,
    frame: GuideFrame,
}

impl Body {
    fn new() -> Self {
        let subject = flesh_bar(true, FleshBase::Weights);
        let tissue = &subject.flesh().expect("has flesh").tissue;
        let bending = tissue.bending.as_ref().expect("is guided");
        let volume = VolumePreserver::bind(&subject.sim().mesh, tissue, bending).expect("has area");
        let guide = subject.guide_of(&subject.sim().skin_from_sim);
        let frame = guide.expect("has weights").at_rest();
        Self {
            subject,
            volume,
            frame,
        }
    }

    /// The bar bent in its middle by an angle, degrees.
    fn bend(&mut self, degrees: f64) {
        let world = turned(&self.subject, Vec64::z(), degrees.to_radians());
        let guide = self.subject.guide_of(&self.subject.sim().skin_from_sim);
        guide.expect("has weights").pose(&world, &mut self.frame);
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

    /// Measures a skin, and bulges at once as it asks for.
    fn measure(&mut self, skin: &[Point], contacts: &[Contact]) {
        self.volume.measure(skin, contacts, &self.frame, 1.0);
        self.volume.use_measured();
        self.volume.compute_bulges();
    }

    /// Volume that a skin has lost, world units³.
    fn lost(&self, skin: &[Point]) -> f64 {
        let mut areas = self.volume.area_vectors.clone();
        let at_rest = &self.volume.at_rest;
        at_rest.area_vectors_into(skin, &mut areas);
        at_rest.lost(skin, &areas, &self.frame)
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
    for degrees in [30.0, 60.0, 90.0] {
        body.bend(degrees);
        let lost = body.lost(&body.volume.posed);
        let restored = body.restored();
        println!("{degrees}: lost {lost:e}, restored {restored:e}");
        assert!(
            lost.abs() > 2e-4 * body.volume.at_rest.enclosed,
            "{degrees}: {lost:e}"
        );
        assert!((restored - lost).abs() < 0.1 * lost.abs());
    }
}

#[test]
fn nothing_bulges_at_rest_whatever_was_measured() {
    let mut body = Body::new();
    body.bend(90.0);
    let skin = body.on_guide();
    body.measure(&skin, &[]);
    assert!(body.volume.bulge.iter().any(|&bulge| bulge > 0.0));
    body.bend(0.0);
    let largest = body.volume.bulge.iter().copied().fold(0.0, f32::max);
    assert!(largest < 1e-6, "{largest:e}");
}

/// A part of the skin is pressed in, as if by an arm, and released: the volume is restored elsewhere, and given back at once.
#[test]
fn pressed_volume_is_restored_and_given_back() {
    let mut body = Body::new();
    body.bend(60.0);
    let mut skin = body.on_guide();
    body.measure(&skin, &[]);
    let before = body.restored();
    let pressed: Vec<u32> = (0..skin.len() as u32)
        .filter(|&v| body.volume.rest[v as usize].y > 2.0)
        .filter(|&v| body.volume.normals[v as usize].z > 0.5)
        .collect();
    assert!(pressed.len() > 10);
    for &vertex in &pressed {
        let vertex = vertex as usize;
        let inwards = body.frame.rotation(vertex) * -body.volume.normals[vertex];
        skin[vertex] += inwards * 0.1;
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
            hold: 1.0,
            release: Release::No,
            old: true,
        })
        .collect();
    body.measure(&skin, &contacts);
    let held = body.restored() - before;
    let missing = f64::from(body.volume.measured_volume);
    println!("pressed out {missing:e}, restored {held:e}");
    assert!((0.7 * missing..1.3 * missing).contains(&held));
    let skin = body.on_guide();
    body.volume.track_pressed_volume(&skin, &body.frame);
    body.volume.compute_bulges();
    let released = body.restored() - before;
    println!("held {held:e}, released {released:e}");
    // Around the pressed part a share counts as deformation of the flesh, which is forgotten more slowly.
    assert!(released.abs() < 0.5 * held);
}

/// The skin sinks in where it may not bulge: other skin restores the volume.
#[test]
fn volume_is_restored_elsewhere_where_skin_may_not_bulge() {
    let mut body = Body::new();
    body.bend(90.0);
    let mut skin = body.on_guide();
    body.volume.measure(&skin, &[], &body.frame, 1.0);
    body.volume.use_measured();
    for vertex in (0..skin.len()).filter(|&v| body.volume.rest[v].z > 0.5) {
        skin[vertex] -= body.frame.rotation(vertex) * body.volume.normals[vertex] * 0.005;
        body.volume.max_bulge[vertex] = 0.0;
    }
    let missing = body.lost(&skin);
    body.volume.compute_bulges();
    let before = body.restored();
    body.measure(&skin, &[]);
    let restored = body.restored() - before;
    println!("missing {missing:e}, restored {restored:e}");
    assert!(missing > 0.0);
    assert!((0.7 * missing..1.2 * missing).contains(&restored));
}
