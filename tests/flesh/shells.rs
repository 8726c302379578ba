//! Shells that meet at a joint stay together.

use std::sync::Arc;

use sinew::character::{Attachment, Character};
use sinew::dynamics::Params;
use sinew::math::{Point, Quat};
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;

/// The built-in cylinder, cut where its joint bends: the upper shell gets vertices of its own at the cut, raised by a little. Returns the
/// pairs of vertices along the cut, too.
fn cut_cylinder() -> (Character, Vec<[usize; 2]>) {
    let mut character = sinew::io::builtin::load_builtin("cylinder").expect("built in");
    let mesh = &mut character.meshes[0];
    mesh.normals = None;
    mesh.tex_coords = None;
    let count = mesh.positions.len();
    let mut upper: Vec<Option<u32>> = vec![None; count];
    let height = |mesh: &sinew::character::SourceMesh, t: &[u32; 3]| {
        t.iter().map(|&v| mesh.positions[v as usize].y).sum::<f32>() / 3.0
    };
    let mut is_lower = vec![false; count];
    for triangle in &mesh.triangles {
        if height(mesh, triangle) < 0.5 {
            for &v in triangle {
                is_lower[v as usize] = true;
            }
        }
    }
    let mut sources = Vec::new();
    for index in 0..mesh.triangles.len() {
        let triangle = mesh.triangles[index];
        if height(mesh, &triangle) < 0.5 {
            continue;
        }
        mesh.triangles[index] = triangle.map(|v| {
            if !is_lower[v as usize] {
                return v;
            }
            *upper[v as usize].get_or_insert_with(|| {
                sources.push(v as usize);
                (count + sources.len() - 1) as u32
            })
        });
    }
    for &v in &sources {
        let raised = mesh.positions[v] + nalgebra::Vector3::y() * 2e-3;
        mesh.positions.push(raised);
    }
    let Attachment::Skinned { weights, .. } = &mut mesh.attachment else {
        panic!("the cylinder is skinned");
    };
    let all = (0..count as u32).chain(sources.iter().map(|&v| v as u32));
    *weights = weights.of_some(&all.collect::<Vec<_>>());
    let pairs = sources.iter().enumerate();
    let pairs = pairs.map(|(k, &v)| [v, count + k]).collect();
    (character, pairs)
}

/// The largest difference of the offset between the vertices of a pair from the same offset under dual quaternions, as a fraction of
/// the size.
fn slip(subject: &Arc<Subject>, pairs: &[[usize; 2]], turn: [f64; 3]) -> f32 {
    let skeleton = &subject.character.skeleton;
    let mut pose = skeleton.rest_pose();
    let joint = skeleton.find_or_suggest("upper").expect("a joint");
    pose.locals[joint].rotation *= Quat::from_euler_angles(turn[0], turn[1], turn[2]);
    let offsets = |method: MethodId| -> Vec<nalgebra::Vector3<f32>> {
        let mut actor =
            Actor::bind(subject, method, &Params::default(), &Progress::new()).expect("binds");
        let frame = Frame {
            world_from_joint: &skeleton.world_from_joint(&pose),
            dt_secs: 0.0,
        };
        actor.advance(&frame).expect("moves");
        let points: &[Point] = actor.positions();
        pairs.iter().map(|[a, b]| points[*b] - points[*a]).collect()
    };
    let (guide, flesh) = (offsets(MethodId::DQS), offsets(MethodId::PD));
    let slips = guide.iter().zip(&flesh).map(|(a, b)| (a - b).norm());
    slips.fold(0.0, f32::max) / subject.size
}

#[test]
fn two_halves_of_a_limb_stay_together() {
    let (character, pairs) = cut_cylinder();
    assert!(pairs.len() > 20, "{} pairs", pairs.len());
    let subject = Arc::new(Subject::build(Arc::new(character), &Progress::new()).expect("builds"));
    assert_eq!(subject.body().parts.parts.len(), 2);
    assert!(subject.body().parts.all_flesh());
    for (name, turn) in [
        ("bend", [0.0, 0.0, 1.2]),
        ("twist", [0.0, 1.5, 0.0]),
        ("both", [0.5, 0.8, -0.6]),
    ] {
        let slip = slip(&subject, &pairs, turn);
        println!("{name}: {slip:.1e} of the size");
        assert!(slip < 1e-3, "{name}: {slip:.1e}");
    }
}
