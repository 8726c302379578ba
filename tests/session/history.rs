//! Undo and redo of everything: whatever was done, undoing all of it leads back to the first document, and doing it again to the last.

use proptest::prelude::*;
use sinew::character::{BoneSettings, Place, SimVertices};
use sinew::dynamics::Params;
use sinew::math::{Point64, Quat, Vec64};
use sinew::methods::MethodId;
use sinew::rig::edit::RigEdit;
use sinew::session::{
    Command, Document, Gesture, KeysCommand, PoseCommand, ProjectCommand, RigCommand, Session,
    Source, TurnAxes, View, ViewCommand, ViewId,
};
use sinew::weights::{WeightMethod, registry};

/// A number that may be no number.
fn number() -> impl Strategy<Value = f64> {
    prop_oneof![6 => -400.0..400.0_f64, 1 => Just(f64::NAN), 1 => Just(f64::INFINITY), 1 => Just(0.0)]
}

/// A joint that may not be there.
fn joint() -> impl Strategy<Value = usize> {
    prop_oneof![4 => 0..4_usize, 1 => Just(999), 1 => Just(usize::MAX)]
}

fn view() -> impl Strategy<Value = ViewId> {
    (0..5_u32).prop_map(ViewId)
}

fn posing() -> impl Strategy<Value = Command> {
    prop_oneof![
        (joint(), number(), number(), number()).prop_map(|(joint, x, y, z)| {
            Command::SetJointAngles {
                joint,
                degrees: [x, y, z],
            }
        }),
        (joint(), number()).prop_map(|(joint, angle)| {
            Command::Pose(PoseCommand::Turn {
                joints: vec![joint],
                rotation: Quat::from_axis_angle(&Vec64::z_axis(), angle.to_radians()),
                axes: TurnAxes::World,
            })
        }),
        joint().prop_map(Command::ResetJoint),
        Just(Command::ResetPose),
        Just(Command::Pose(PoseCommand::Revert)),
        Just(Command::LoadPose("/nowhere/at/all.json".into())),
        prop::option::of(0..3_usize).prop_map(Command::SelectClip),
        number().prop_map(|time_secs| Command::Scrub { time_secs }),
    ]
}

fn settings() -> impl Strategy<Value = Command> {
    prop_oneof![
        number().prop_map(|density_kg_m3| Command::SetParams(Params {
            density_kg_m3,
            ..Params::default()
        })),
        (joint(), number()).prop_map(|(joint, jiggle)| {
            Command::SetBone {
                joint,
                settings: BoneSettings {
                    jiggle,
                    ..BoneSettings::default()
                },
            }
        }),
        (0..2000_usize).prop_map(|about| Command::SetSimVertices(SimVertices::About(about))),
        (joint(), any::<bool>()).prop_map(|(joint, there)| {
            Command::SetPart {
                name: "0".into(),
                place: there.then_some(Place::Rigid { joint }),
            }
        }),
        joint().prop_map(|joint| Command::SelectJoint(Some(joint))),
    ]
}

fn views() -> impl Strategy<Value = Command> {
    let command = prop_oneof![
        (view(), view()).prop_map(|(id, like)| ViewCommand::Add { id, like }),
        view().prop_map(ViewCommand::Remove),
        view().prop_map(ViewCommand::Activate),
        (view(), any::<bool>()).prop_map(|(view, free)| ViewCommand::SetFree { view, free }),
        (view(), prop::sample::select(registry()))
            .prop_map(|(view, weights)| ViewCommand::SetWeights { view, weights }),
        (view(), 0..4_usize).prop_map(|(view, count)| ViewCommand::SetCrowd { view, count }),
        prop::collection::vec((view(), any::<bool>(), 0..4_usize), 0..4).prop_map(|list| {
            let view = |(id, free, crowd)| View {
                free,
                crowd,
                ..View::new(id, MethodId::RIGID)
            };
            ViewCommand::SetAll(list.into_iter().map(view).collect())
        }),
    ];
    command.prop_map(Command::View)
}

fn keys() -> impl Strategy<Value = Command> {
    let command = prop_oneof![
        number().prop_map(|duration_secs| KeysCommand::NewClip { duration_secs }),
        (0..4_usize).prop_map(|clip| KeysCommand::Rename {
            clip,
            name: "renamed".into()
        }),
        (0..4_usize).prop_map(|clip| KeysCommand::Delete { clip }),
        (0..4_usize, joint(), number()).prop_map(|(clip, joint, time_secs)| KeysCommand::SetKeys {
            clip,
            joints: vec![joint],
            time_secs
        }),
    ];
    command.prop_map(Command::Keys)
}

fn rig() -> impl Strategy<Value = Command> {
    let place = || {
        (number(), number(), number())
            .prop_map(|(x, y, z)| Point64::new(x / 400.0, y / 400.0, z / 400.0))
    };
    let edit = prop_oneof![
        (prop::option::of(joint()), place()).prop_map(|(parent, position)| RigEdit::Add {
            parent,
            position,
            name: None
        }),
        (joint(), place(), any::<bool>()).prop_map(|(joint, position, with_children)| {
            RigEdit::Move {
                joint,
                position,
                with_children,
            }
        }),
        joint().prop_map(RigEdit::Merge),
        joint().prop_map(RigEdit::Delete),
    ];
    prop_oneof![
        4 => edit.prop_map(RigCommand::Edit),
        1 => (joint(), prop::option::of(number())).prop_map(|(joint, radius)| RigCommand::SetRadius { joint, radius }),
        1 => Just(RigCommand::UseFileSkeleton),
    ]
    .prop_map(Command::Rig)
}

fn step() -> impl Strategy<Value = (Command, Gesture)> {
    let command = prop_oneof![
        6 => posing(),
        3 => settings(),
        2 => views(),
        2 => Just(Command::Undo),
        2 => Just(Command::Redo),
        1 => (0..40_usize).prop_map(|position| Command::Project(ProjectCommand::JumpTo(position))),
        2 => keys(),
        2 => rig(),
    ];
    let gesture = prop_oneof![6 => Just(Gesture::Once), 3 => Just(Gesture::Dragging), 1 => Just(Gesture::Released)];
    (command, gesture)
}

thread_local! {
    /// Opening takes longer than everything else: one session serves all cases of a thread.
    static OPEN: std::cell::RefCell<Option<Session>> = const { std::cell::RefCell::new(None) };
}

fn open() -> Session {
    let mut session = Session::new();
    session.apply_once(Command::SetMethod(MethodId::RIGID));
    session.apply_once(Command::Open(Source::builtin("cylinder")));
    while session.tick(0.01).active {
        std::thread::sleep(std::time::Duration::from_millis(1));
    }
    session
}

/// What of a document can be told apart, with what it is about.
fn same(a: &Document, b: &Document) -> bool {
    a.same_content_as(b) && a.subject.is_some() == b.subject.is_some()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 120, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn undoing_all_is_the_first_document_and_redoing_all_the_last(steps in prop::collection::vec(step(), 1..50)) {
        OPEN.with_borrow_mut(|kept| {
            let mut session = kept.take().unwrap_or_else(open);
            while session.undo_label().is_some() {
                session.apply_once(Command::Undo);
            }
            let first = session.document().clone();
            // The document before the latest step, if that is the one of a drag that may go on.
            let mut drag_start: Option<Document> = None;
            for (command, gesture) in steps {
                let (before, position) = (session.document().clone(), session.history().position);
                let steps_history = matches!(command, Command::Undo | Command::Redo | Command::Project(_) | Command::Pose(PoseCommand::Revert));
                session.apply(command.clone(), gesture);
                let history = session.history();
                prop_assert!(history.position <= history.labels.len() && history.labels.len() <= 200);
                // What changes something leaves a step, or belongs to the one of a drag. A drag that ends where it began leaves none.
                if !steps_history && !same(&before, session.document()) {
                    let back = history.position + 1 == position
                        && gesture == Gesture::Released
                        && drag_start.as_ref().is_some_and(|start| same(start, session.document()));
                    prop_assert!(back || history.position > 0 && history.position >= position, "{command:?}");
                    prop_assert_eq!(history.position, history.labels.len());
                }
                match gesture {
                    _ if steps_history => drag_start = None,
                    Gesture::Dragging if history.position > position => drag_start = Some(before),
                    Gesture::Dragging => {}
                    Gesture::Once | Gesture::Released => drag_start = None,
                }
                let pose = &session.document().pose;
                prop_assert!(pose.locals.iter().all(|local| local.to_affine().matrix().iter().all(|c| c.is_finite())), "{command:?}");
            }
            session.end_gesture();
            let (last, history) = (session.document().clone(), session.history());
            let redo_left = history.labels.len() - history.position;
            while session.undo_label().is_some() {
                session.apply_once(Command::Undo);
            }
            prop_assert!(same(session.document(), &first));
            prop_assert_eq!(session.history().position, 0);
            for _ in 0..history.position {
                session.apply_once(Command::Redo);
            }
            prop_assert!(same(session.document(), &last));
            prop_assert_eq!(session.history().labels.len() - session.history().position, redo_left);
            session.apply_once(Command::Project(ProjectCommand::JumpTo(0)));
            prop_assert!(same(session.document(), &first));
            session.apply_once(Command::Project(ProjectCommand::JumpTo(history.position)));
            prop_assert!(same(session.document(), &last));
            *kept = Some(session);
            Ok(())
        })?;
    }
}

/// What views show is undone, too: their weights are a step.
#[test]
fn undo_and_redo_cover_the_weights_of_views() {
    let mut session = Session::new();
    let heat = WeightMethod::from_id("heat").expect("built in");
    let weights = |session: &Session| session.active_view().weights;
    assert_eq!(weights(&session), WeightMethod::FILE);
    session.apply_once(Command::SetParams(Params {
        density_kg_m3: 900.0,
        ..Params::default()
    }));
    let steps = session.history().labels.len();
    session.apply_once(Command::View(ViewCommand::SetWeights {
        view: ViewId(0),
        weights: heat,
    }));
    assert_eq!(
        (weights(&session), session.history().labels.len()),
        (heat, steps + 1)
    );
    for (command, shown) in [(Command::Undo, WeightMethod::FILE), (Command::Redo, heat)] {
        session.apply_once(command);
        assert_eq!(weights(&session), shown);
    }
    assert!((session.document().params.density_kg_m3 - 900.0).abs() < 1e-9);
}
