//! Fields of whole skins.

use super::*;

/// The bar as a mesh along y, with joints at its lower end, in the middle, and a tail at its upper end.
pub(crate) fn bar_character() -> (TriMesh, Skeleton) {
    let mesh = moved(tube(1.0, 10.0, 80, 48, true), Vec3::new(0.0, -5.0, 0.0));
    let at = |y: f64| Point64::new(0.0, y, 0.0);
    let joints = [("lower", None, at(-5.0)), ("upper", Some(0), at(0.0))];
    let joints = joints.map(|(name, parent, at)| (name.to_owned(), parent, at));
    let mut joints = Skeleton::from_positions(&joints).unwrap().joints().to_vec();
    joints[1].tail = Some(at(5.0));
    (mesh, Skeleton::new(joints).unwrap())
}

fn fields(mesh: &TriMesh, skeleton: &Skeleton) -> ElasticFields {
    fields_with(mesh, skeleton, &Progress::new()).unwrap()
}

fn fields_with(
    mesh: &TriMesh,
    skeleton: &Skeleton,
    progress: &Progress,
) -> Result<ElasticFields, WeightError> {
    let binding = VoxelBinding::of(mesh, skeleton, 40, BONE_RADIUS, progress)?;
    fields_of(&binding, mesh, skeleton, progress)
}

fn assert_sound(fields: &ElasticFields, vertices: usize, joints: usize) {
    assert_eq!(fields.offsets.len(), vertices + 1);
    assert_eq!(fields.weights.len(), vertices);
    for vertex in 0..vertices {
        let row = fields.of(vertex);
        if !row.is_empty() {
            let sum: f32 = row.iter().map(|own| own.blend).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
        }
        for own in row {
            assert!((own.joint as usize) < joints && own.blend > 0.0);
            assert!((0.0..=1.0).contains(&own.swing) && (0.0..=1.0).contains(&own.twist));
        }
        let sum: f32 = fields.weights.of(vertex).map(|(_, weight)| weight).sum();
        assert!(joints == 0 || (sum - 1.0).abs() < 1e-5, "{sum}");
    }
}

#[test]
fn fields_of_the_bar_rise_along_it() {
    let (mesh, skeleton) = bar_character();
    let fields = fields(&mesh, &skeleton);
    assert_sound(&fields, mesh.positions.len(), 2);
    assert!(fields.most_negative > -0.02, "{}", fields.most_negative);
    let mean = |ring: usize| -> f32 {
        let values = (0..48).map(|sector| {
            let row = fields.weights.row(ring * 48 + sector);
            row.iter()
                .find(|(joint, _)| *joint == 1)
                .map_or(0.0, |own| own.1)
        });
        values.sum::<f32>() / 48.0
    };
    let means: Vec<f32> = (0..=80).map(mean).collect();
    assert!(
        means.windows(2).all(|pair| pair[1] >= pair[0] - 1e-4),
        "{means:?}"
    );
    assert!(
        means[0] < 1e-3 && means[80] > 0.999 && (means[40] - 0.5).abs() < 0.02,
        "{means:?}"
    );
}

/// Three joints and two side branches, symmetric in x.
fn star() -> (TriMesh, Skeleton) {
    let limb = |x: f32| ball(Point::new(x, 1.0, 0.1), 0.5, 12, 16);
    let mesh = joined(&[tube(0.4, 2.0, 16, 16, true), limb(-0.6), limb(0.6)]);
    let at = |x: f64, y: f64| Point64::new(x, y, 0.0);
    let joints = [
        ("root", None, at(0.0, 0.1)),
        ("chest", Some(0), at(0.0, 1.0)),
        ("head", Some(1), at(0.0, 1.7)),
        ("left", Some(1), at(0.6, 1.0)),
        ("right", Some(1), at(-0.6, 1.0)),
    ];
    let joints = joints.map(|(name, parent, at)| (name.to_owned(), parent, at));
    (mesh, Skeleton::from_positions(&joints).unwrap())
}

#[test]
fn mirror_images_have_mirrored_fields() {
    let (mesh, skeleton) = star();
    let mirrored = TriMesh {
        positions: mesh
            .positions
            .iter()
            .map(|p| Point::new(-p.x, p.y, p.z))
            .collect(),
        triangles: mesh.triangles.iter().map(|&[a, b, c]| [a, c, b]).collect(),
    };
    let image = fields(&mirrored, &skeleton);
    let fields = fields(&mesh, &skeleton);
    assert_sound(&fields, mesh.positions.len(), 5);
    // The skeleton is its own mirror image with left and right exchanged.
    let swap = |joint: u32| [0, 1, 2, 4, 3][joint as usize];
    for vertex in 0..mesh.positions.len() {
        for own in fields.of(vertex) {
            let other = image
                .of(vertex)
                .iter()
                .find(|other| other.joint == swap(own.joint));
            let other = other.copied().unwrap_or(JointFields { blend: 0.0, ..*own });
            assert!((own.blend - other.blend).abs() < 1e-4);
            assert!((own.swing - other.swing).abs() < 1e-4, "{own:?} {other:?}");
            assert!((own.twist - other.twist).abs() < 1e-4, "{own:?} {other:?}");
        }
    }
}

#[test]
fn threads_do_not_change_a_bit() {
    let (mesh, skeleton) = star();
    let with = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build();
        pool.unwrap().install(|| fields(&mesh, &skeleton))
    };
    assert!(with(1) == with(3));
}

#[test]
fn fields_are_written_and_read() {
    let (mesh, skeleton) = star();
    let fields = fields(&mesh, &skeleton);
    let json = serde_json::to_string(&fields).unwrap();
    assert!(serde_json::from_str::<ElasticFields>(&json).unwrap() == fields);
}

#[test]
fn a_cancelled_computation_stops() {
    let (mesh, skeleton) = star();
    let progress = Progress::new();
    progress.cancel();
    let stopped = fields_with(&mesh, &skeleton, &progress);
    assert!(matches!(stopped, Err(WeightError::Cancelled(_))));
}

#[test]
fn bad_input_is_survived() {
    let (mesh, skeleton) = star();
    let none = Skeleton::default();
    let empty = fields(&TriMesh::default(), &skeleton);
    assert_sound(&empty, 0, 5);
    let boneless = fields(&mesh, &none);
    assert_eq!(
        boneless.weights,
        SkinWeights::from_rows(mesh.positions.iter().map(|_| [])).0
    );
    let point = TriMesh {
        positions: vec![Point::origin()],
        triangles: vec![[0, 0, 0]],
    };
    assert_sound(&fields(&point, &skeleton), 1, 5);
    let mut broken = mesh.clone();
    broken.positions[3].x = f32::NAN;
    broken.positions[70].y = f32::INFINITY;
    broken.triangles.push([5, 5, 5]);
    assert_sound(&fields(&broken, &skeleton), broken.positions.len(), 5);
    let names = |places: &[[f64; 3]]| {
        let joint = |(index, &at): (usize, &[f64; 3])| {
            (String::new(), index.checked_sub(1), Point64::from(at))
        };
        Skeleton::from_positions(&places.iter().enumerate().map(joint).collect::<Vec<_>>()).unwrap()
    };
    let coincident = names(&[[0.0, 1.0, 0.0]; 4]);
    assert_sound(&fields(&mesh, &coincident), mesh.positions.len(), 4);
    let outside = names(&[[90.0, 1.0, 0.0], [91.0, 1.0, 0.0]]);
    assert_sound(&fields(&mesh, &outside), mesh.positions.len(), 2);
}

/// A bone without length does not leave all it should carry to its parent.
#[test]
fn a_joint_without_lever_keeps_its_harmonic_field() {
    let (mesh, skeleton) = bar_character();
    let mut joints = skeleton.joints().to_vec();
    joints[1].world_from_bind = crate::rig::Trs::at(Vec64::new(0.0, 4.9, 0.0)).to_affine();
    joints[1].tail = Some(Point64::new(0.0, 4.9, 0.0));
    let skeleton = Skeleton::new(joints).unwrap();
    let fields = fields(&mesh, &skeleton);
    let tip = mesh.positions.len() - 1;
    let own = fields.weights.of(tip).find(|(joint, _)| *joint == 1);
    assert!(own.is_some_and(|(_, weight)| weight > 0.3), "{own:?}");
}

#[test]
fn ten_thousand_parts_take_no_time() {
    let (_, skeleton) = star();
    let mut mesh = TriMesh::default();
    for part in 0..10_000_u32 {
        let at = Point::new((part % 100) as f32, (part / 100) as f32, 0.0) * 0.02;
        let first = mesh.positions.len() as u32;
        mesh.positions
            .extend([at, at + Vec3::x() * 0.004, at + Vec3::y() * 0.004]);
        mesh.triangles.push([first, first + 1, first + 2]);
    }
    assert_sound(&fields(&mesh, &skeleton), mesh.positions.len(), 5);
}
