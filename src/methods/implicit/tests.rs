use super::operators::Operator;
use super::*;
use crate::character::{BoneSettings, Meeting};
use crate::math::Vec64;
use crate::methods::smoothing::tests::{bar, posed, survives, turned, worst};

fn bound(subject: &Arc<Subject>, options: Options) -> ImplicitSkin {
    ImplicitSkin::bind(subject, options, &Progress::new()).expect("binds")
}

fn defaults() -> Options {
    Options::of(&ParamValues::default())
}

fn bend(degrees: f64) -> Vec64 {
    Vec64::new(0.0, 0.0, degrees.to_radians())
}

#[test]
fn fields_hold_all_vertices_of_a_bar() {
    let skin = bound(&bar(24, 41), defaults());
    assert_eq!(skin.model.fields.len(), 2);
    // The middle of a flat end lies on the end of the bone: there the field has its peak, and no direction.
    assert!(skin.model.free() <= 2);
    // The rims of the ends are sharp, and 52 samples round them off.
    let rest = &skin.model.rest;
    for (held, rest) in skin
        .model
        .held
        .iter()
        .zip(rest)
        .filter(|(_, rest)| rest[1].abs() < 4.0)
    {
        assert!((held.iso - 0.5).abs() < 0.05, "{rest:?}: {}", held.iso);
    }
}

/// Fields that bends and twists do not reach are left out without being looked at.
#[test]
fn no_field_is_missed_however_it_is_bent_and_twisted() {
    let subject = bar(24, 41);
    let mut skin = bound(&subject, defaults());
    let (mut found, mut missing) = (0, 0);
    for turn in [
        bend(100.0),
        Vec64::new(0.0, 2.0, 0.0),
        Vec64::new(0.7, -1.2, 0.9),
    ] {
        posed(&mut skin, &subject, &turned(&subject, turn));
        let mut fields = posed::PosedFields::new(skin.model.fields.len());
        let motions = &skin.motions;
        fields.follow(
            &skin.model.bound(),
            &motions.now_from_bind,
            &motions.rotations,
        );
        let field = skin.model.field(&fields);
        for index in 0..25_usize.pow(3) {
            let at = [index % 25, index / 25 % 25, index / 625];
            let at = at.map(|k| 0.5 * (k as f32 - 12.0));
            let near = field.near(model::NO_PART, at);
            for part in 0..skin.model.fields.len() as u16 {
                let is_there = field.value_of(part, at) > 0.0;
                assert!(!is_there || near.fields().contains(&part), "{turn} {at:?}");
                if is_there {
                    found += 1;
                } else if !fields.may_hold(usize::from(part), &skin.model.muscles, at) {
                    missing += 1;
                }
            }
        }
    }
    assert!(found > 1000 && missing > 1000, "{found} {missing}");
}

#[test]
fn rest_and_rigid_motion_are_exact_on_any_mesh() {
    survives(|subject| Box::new(bound(subject, defaults())));
    let projection = Options {
        mode: Mode::Projection,
        ..defaults()
    };
    survives(|subject| Box::new(bound(subject, projection)));
}

#[test]
fn a_bend_and_back_returns_to_rest() {
    let subject = bar(24, 41);
    let mut skin = bound(&subject, defaults());
    let mut out = subject.bind_positions.to_vec();
    let there_and_back = (0..=30).chain((0..30).rev()).chain([0; 60]);
    for degrees in there_and_back.map(|k| 5.0 * f64::from(k)) {
        let joints = turned(&subject, bend(degrees));
        let frame = Frame {
            world_from_joint: &joints,
            dt_secs: 1.0 / 60.0,
        };
        skin.skin(&frame, &mut out).expect("moves");
    }
    let error = worst(&out, &subject.bind_positions, subject.size);
    assert!(error < 1e-7, "{error}");
}

#[test]
fn a_settled_pose_does_not_depend_on_what_was_before() {
    let subject = bar(24, 41);
    let mut skin = bound(&subject, defaults());
    let joints = turned(&subject, bend(80.0));
    let first = posed(&mut skin, &subject, &joints);
    posed(&mut skin, &subject, &turned(&subject, bend(-120.0)));
    assert!(posed(&mut skin, &subject, &joints) == first);
}

#[test]
fn a_joint_meets_as_it_asks() {
    let subject = bar(24, 41);
    let joints = turned(&subject, bend(90.0));
    let asking = |meeting| {
        let bone = BoneSettings {
            meeting,
            ..BoneSettings::default()
        };
        FleshFactors {
            bones: BoneMap::from([(1, bone)]),
            ..FleshFactors::default()
        }
    };
    let mut skin = bound(&subject, defaults());
    let usual = posed(&mut skin, &subject, &joints);
    skin.set_factors(&asking(Meeting::Union)).expect("meets");
    let creased = posed(&mut skin, &subject, &joints);
    assert!(creased != usual);
    let union = Options {
        operator: Some(Operator::Union),
        ..defaults()
    };
    let mut other = bound(&subject, union);
    assert!(
        posed(&mut other, &subject, &joints) == creased,
        "as the parameter"
    );
    other.set_factors(&asking(Meeting::Contact)).expect("meets");
    assert!(posed(&mut other, &subject, &joints) == usual);
    skin.set_factors(&FleshFactors::default()).expect("meets");
    assert!(posed(&mut skin, &subject, &joints) == usual);
}

#[test]
fn the_shape_of_a_meeting_moves_the_skin_and_its_defaults_do_not() {
    let subject = bar(24, 41);
    let joints = turned(&subject, bend(90.0));
    let asking = |text: &str| {
        let mut bone = BoneSettings::default();
        bone.edit(text).expect("is read");
        FleshFactors {
            bones: BoneMap::from([(1, bone)]),
            ..FleshFactors::default()
        }
    };
    let mut skin = bound(&subject, defaults());
    let mut with = |text: &str| {
        skin.set_factors(&asking(text)).expect("meets");
        posed(&mut skin, &subject, &joints)
    };
    let usual = with("meeting:usual");
    assert!(with("depth:1,bulge:1,opening:usual") == usual);
    assert!(with("bulge:0.3") == usual, "contact has no bulges");
    // Without any depth contact is the union.
    let union = with("meeting:union");
    assert!(with("depth:0") == union && union != usual);
    assert!(with("opening:10-40") != usual);
    let bulged = with("meeting:bulge");
    assert!(with("meeting:bulge,bulge:0") != bulged);
}

#[test]
fn a_meeting_is_told_for_the_pose() {
    let subject = bar(24, 41);
    let skin = bound(&subject, defaults());
    let at = |text: &str, degrees: f64| {
        let mut bone = BoneSettings::default();
        bone.edit(text).expect("is read");
        let bones = BoneMap::from([(1, bone)]);
        let joints = turned(&subject, bend(degrees));
        skin.field
            .meeting(1, &bones, &joints)
            .expect("hangs at a part")
    };
    for degrees in [0.0, 50.0, 140.0] {
        let bend = f64::from(at("held", degrees).bend()).to_degrees();
        assert!((bend - degrees).abs() < 0.1, "{bend}");
    }
    let plain = at("held", 70.0);
    assert_eq!((plain.operator(), plain.holds()), (Meeting::Contact, true));
    assert!(plain.depth() < 0.15 && at("opening:0-60", 70.0).depth() == 1.0);
    assert_eq!(at("depth:0.4", 140.0).depth(), 0.4);
    let [begins, ends] = at("held", 140.0).contact_line(0.4).expect("is in contact");
    assert!((begins - 0.5).abs() < 0.02 && (ends - 0.5 - 0.4 / 2.0_f32.sqrt()).abs() < 1e-6);
    assert!(at("meeting:union", 140.0).contact_line(0.4).is_none());
    assert!(
        at("meeting:bulge", 140.0)
            .contact_line(0.6)
            .expect("is in contact")[0]
            < 0.47
    );
    let nodes = JointMeeting::NODES;
    let slice = plain.slice(0.0);
    assert!(slice.len() == nodes * nodes && slice[nodes / 2] == 0.5);
    // Joints without a parent, or that do not exist.
    let joints = turned(&subject, bend(0.0));
    for joint in [0, 99] {
        assert!(
            skin.field
                .meeting(joint, &BoneMap::new(), &joints)
                .is_none()
        );
    }
}

#[test]
fn painted_relaxation_keeps_the_skin_from_sliding() {
    let subject = bar(24, 41);
    let joints = turned(&subject, bend(80.0));
    let painted = |value: f32| {
        let mut factors = FleshFactors::default();
        let code = PaintMap::Relaxation.code(value);
        let codes = vec![code; subject.bind_positions.len()];
        factors.paint.set(PaintMap::Relaxation, codes);
        factors
    };
    let mut skin = bound(&subject, defaults());
    let usual = posed(&mut skin, &subject, &joints);
    let mut with = |factors: &FleshFactors| {
        skin.set_factors(factors).expect("relaxes");
        posed(&mut skin, &subject, &joints)
    };
    let none = with(&painted(0.0));
    let half = with(&painted(0.5));
    assert!(none != usual && half != usual && half != none);
    // Unpainted skin and skin that is painted with 1 relax as ever.
    assert!(with(&painted(1.0)) == usual && with(&FleshFactors::default()) == usual);
    // Outside of the bend carried skin is spread unevenly; relaxation evens it out.
    let spread = |positions: &[Point]| {
        let lengths = subject.skin.mesh.triangles.iter().flat_map(|&[a, b, c]| {
            [[a, b], [b, c], [c, a]].map(|edge| {
                let length = |of: &[Point]| (of[edge[0] as usize] - of[edge[1] as usize]).norm();
                length(positions) / length(&subject.bind_positions)
            })
        });
        lengths.fold(0.0, f32::max)
    };
    assert!(
        spread(&none) > 1.1 * spread(&usual),
        "{} {}",
        spread(&none),
        spread(&usual)
    );
    assert!(spread(&half) <= spread(&none));
    // What is painted before binding holds, too.
    let mut character = (*subject.character).clone();
    character.flesh.paint = painted(0.0).paint;
    let again = Subject::build(Arc::new(character), &Progress::new()).expect("is built");
    let mut other = bound(&Arc::new(again), defaults());
    assert!(posed(&mut other, &subject, &joints) == none);
}

/// How far the vertex in the middle of the inner side of the bend is from the joint.
fn crease(subject: &Arc<Subject>, operator: Operator, degrees: f64) -> f32 {
    let options = Options {
        operator: Some(operator),
        ..defaults()
    };
    let joints = turned(subject, bend(degrees));
    let skin = posed(&mut bound(subject, options), subject, &joints);
    // The bar stands along y, and its upper half turns to −x.
    let inner = Point::new(-1.0, 0.0, 0.0);
    let distance = |vertex: &usize| (subject.bind_positions[*vertex] - inner).norm();
    let vertex = (0..skin.len()).min_by(|a, b| distance(a).total_cmp(&distance(b)));
    skin[vertex.expect("has vertices")].coords.norm()
}

#[test]
fn a_blend_fills_the_crease() {
    let subject = bar(24, 41);
    for degrees in [60.0, 90.0] {
        let [union, blend] =
            [Operator::Union, Operator::Blend].map(|operator| crease(&subject, operator, degrees));
        assert!(blend > 1.05 * union, "{degrees}: {blend} against {union}");
    }
    // Straight limbs swell little where they meet: the ends of the fields are round, so that gradients differ there.
    let blend = Options {
        operator: Some(Operator::Blend),
        ..defaults()
    };
    let skin = bound(&subject, blend);
    let rest = skin.model.held.iter().zip(&skin.model.rest);
    for (held, rest) in rest.filter(|(_, rest)| rest[1].abs() < 4.0) {
        assert!((held.iso - 0.5).abs() < 0.1, "{rest:?}: {}", held.iso);
    }
}
