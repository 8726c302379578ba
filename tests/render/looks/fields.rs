//! The cut through the composed field of implicit skinning: where its plane is, and what is drawn of it.

use sinew::dynamics::Params;
use sinew::math::{Affine, Vec3, Vec64, origin_of};
use sinew::methods::{Actor, FieldPlane, MethodId};
use sinew::progress::Progress;
use sinew::render::{
    Camera, Extras, FieldCut, FieldDirection, Look, Marked, Moment, NamedView, OverlayLayer,
};

use super::cylinder;

/// The joint in the middle of the cylinder, and all joints where it is bent by some degrees about z.
const JOINT: usize = 1;

fn bent(degrees: f64) -> Vec<Affine> {
    let skeleton = &cylinder().character.skeleton;
    let mut joints = skeleton.bind_transforms();
    let at = origin_of(&joints[JOINT]);
    let turn = nalgebra::Rotation3::from_axis_angle(&Vec64::z_axis(), degrees.to_radians());
    let about =
        nalgebra::Translation3::from(at.coords) * turn * nalgebra::Translation3::from(-at.coords);
    let about: Affine = nalgebra::convert(about);
    for joint in &mut joints[JOINT..] {
        *joint = about * *joint;
    }
    joints
}

fn plane(cut: FieldCut, joint: Option<usize>, degrees: f64, camera: &Camera) -> FieldPlane {
    cut.plane(cylinder(), &bent(degrees), joint, camera)
}

fn normal(plane: &FieldPlane) -> Vec64 {
    plane.axes[0].cross(&plane.axes[1])
}

#[test]
fn a_plane_lies_in_the_bend_across_the_bone_or_before_the_camera() {
    let mut camera = Camera::default();
    camera.look_from(NamedView::Left);
    let joints = bent(70.0);
    let (at, end) = (origin_of(&joints[JOINT]), origin_of(&joints[JOINT + 1]));
    let bone = end - at;
    let of = |direction, offset| plane(FieldCut { direction, offset }, Some(JOINT), 70.0, &camera);
    let along = of(FieldDirection::Along, 0.0);
    assert!((along.center - at).norm() < 1e-9);
    assert!(normal(&along).z.abs() > 0.99, "the bend is about z");
    assert!(along.axes[0].dot(&bone) > 0.999 * bone.norm());
    let across = of(FieldDirection::Across, 1.0);
    assert!(
        (across.center - end).norm() < 1e-5 * bone.norm(),
        "at the end of the bone"
    );
    assert!(normal(&across).dot(&bone).abs() > 0.999 * bone.norm());
    let facing = of(FieldDirection::Camera, -1.0);
    let (_, _, back) = camera.axes();
    assert!(normal(&facing).dot(&back.cast()) > 0.999);
    let moved = facing.center - at;
    assert!((moved + normal(&facing) * (0.5 * bone.norm())).norm() < 1e-5 * bone.norm());
    for plane in [along, across, facing] {
        let [a, b] = plane.axes;
        assert!((a.norm() - 1.0).abs() < 1e-6 && (b.norm() - 1.0).abs() < 1e-6);
        assert!(a.dot(&b).abs() < 1e-6 && plane.half > bone.norm());
    }
    // A straight limb is cut as the body is seen from its front; offsets out of range and NaN do no harm.
    let straight = plane(FieldCut::default(), Some(JOINT), 0.0, &camera);
    assert!(normal(&straight).z.abs() > 0.99);
    for offset in [f32::NAN, 1e9] {
        let center = of(FieldDirection::Along, offset).center;
        assert!((center - at).norm() <= 0.51 * bone.norm());
    }
}

#[test]
fn without_a_joint_the_plane_holds_the_whole_body() {
    let camera = Camera::default();
    for joint in [None, Some(99)] {
        let whole = plane(FieldCut::default(), joint, 0.0, &camera);
        let size = f64::from(cylinder().size);
        assert!(whole.half > 0.5 * size);
        let joints = bent(0.0);
        let ends = [&joints[0], &joints[JOINT + 1]].map(|joint| origin_of(joint).coords);
        assert!((whole.center.coords - (ends[0] + ends[1]) * 0.5).norm() < 0.1 * size);
    }
}

#[test]
fn regions_are_drawn_among_the_surfaces_and_lines_before_the_skin() {
    let subject = cylinder();
    let actor = Actor::bind(
        subject,
        MethodId::IMPLICIT,
        &Params::default(),
        &Progress::new(),
    );
    let actor = actor.expect("binds");
    let joints = bent(110.0);
    let plane = plane(FieldCut::default(), Some(JOINT), 110.0, &Camera::default());
    let field = actor.body_field().expect("composes fields");
    let slice = field.slice(&joints, &plane, &Progress::new());
    let slice = slice.expect("goes on");
    assert!(!slice.contacts.is_empty() && slice.outline.len() == 4);
    let normals = vec![Vec3::y(); subject.bind_positions.len()];
    let moment = Moment {
        subject,
        positions: &subject.bind_positions,
        normals: &normals,
        simulated: &[],
        world_from_joint: &joints,
        contacts: &[],
        velocities: &[],
        fields: Some(&slice),
    };
    let mut extras = Extras::default();
    let look = Look {
        fields: true,
        ..Look::default()
    };
    extras.update(&look, Some(&moment), &Marked::default());
    let layer = |wanted: OverlayLayer| {
        let overlays = extras.overlays();
        let found = overlays.into_iter().find(|overlay| overlay.layer == wanted);
        let found = found.expect("is one of them");
        (found.triangles().len() / 3, found.lines().len())
    };
    assert_eq!(layer(OverlayLayer::Solid), (slice.regions.len(), 0));
    let lines = slice.lines.len() + slice.contacts.len() + 4;
    assert_eq!(layer(OverlayLayer::FrontGlass), (0, lines));
    assert!(look.mesh_style().opacity < 0.5, "the skin is seen through");
    extras.update(&Look::default(), Some(&moment), &Marked::default());
    assert!(extras.overlays().iter().all(|overlay| overlay.is_empty()));
}
