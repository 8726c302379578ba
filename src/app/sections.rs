//! Data for the panels, taken from the session.

use std::sync::Arc;

use egui::Ui;

use super::actions::Actions;
use super::panels::bone::{BoneView, MuscleRow, MusclesView};
use super::panels::character::{CharacterView, character_ui};
use super::panels::checkup::{CheckupView, checkup_ui};
use super::panels::joints::{JointsState, JointsView, joints_ui};
use super::panels::limits::LimitView;
use super::panels::paint::PaintView;
use super::panels::resolution::{ResolutionView, resolution_ui};
use super::panels::unit::{UnitView, unit_ui};
use super::shortcuts::ShortcutContext;
use super::viewport::ViewportView;
use super::viewport::picking::PickTarget;
use crate::app::actions::tools::{BrushSettings, Toolbox};
use crate::app::widgets::grouped;
use crate::character::{FleshSettings, Muscle, MuscleShape, NO_SKELETON};
use crate::methods::{Capability, MethodId, Requirement, Subject, registry};
use crate::rig::Skeleton;
use crate::rig::limits::Limit;
use crate::session::{Checkup, Document, Mode, PoseChannel, Session, Snapshot, ViewId, all_notes};
use crate::tissue::Quality;

/// Initial limit of a joint, radians.
const FRESH_LIMIT: f64 = std::f64::consts::FRAC_PI_4;

pub(super) fn viewport_view<'a>(
    session: &'a Session,
    id: ViewId,
    snapshot: Option<&'a Arc<Snapshot>>,
    tools: &Toolbox,
) -> ViewportView<'a> {
    // Handles of an animated joint cannot be grabbed.
    let still = !session.channels().active().playback().playing;
    ViewportView {
        skeleton: session.document().skeleton(),
        world_from_joint: session
            .channel_of(id)
            .map_or(&[], PoseChannel::world_from_joint),
        selected: session.selection().active().filter(|_| still),
        selection: if still {
            session.selection().joints()
        } else {
            &[]
        },
        snapshot,
        crowd: None,
        document: Some(session.document()),
        pose: Some(session.channels().active().pose()),
        symmetry: session.pose_tools().symmetry().map(Arc::as_ref),
        tools: *tools,
        can_paste: session.pose_tools().can_paste(),
        keeps_balance: session.pose_tools().keeps_balance(),
    }
}

/// Which parts of the window are shown.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts, not states"
)]
pub(super) struct ShownParts {
    pub(super) panel: bool,
    pub(super) bones: bool,
    pub(super) board: bool,
    pub(super) worst: bool,
    pub(super) distill: bool,
    pub(super) mapping: bool,
    /// The joint under the pointer in a view.
    pub(super) hovered: Option<usize>,
}

/// Data for menus, palette and keyboard.
pub(super) fn now(session: &Session, shown: ShownParts) -> ShortcutContext<'_> {
    ShortcutContext {
        has_character: session.subject().is_some(),
        has_joint: shown.hovered.is_some() || session.selection().active().is_some(),
        clips: session.document().clips().len(),
        undo: session.undo_label(),
        redo: session.redo_label(),
        editing: session.rigging().mode() == Mode::Edit,
        panel_shown: shown.panel,
        bones_shown: shown.bones,
        board_shown: shown.board,
        worst_shown: shown.worst,
        distill_shown: shown.distill,
        mapping_shown: shown.mapping,
    }
}

/// Data for the panel of the brush.
pub(super) fn paint_view<'a>(
    session: &'a Session,
    subject: &Subject,
    brush: BrushSettings,
) -> PaintView<'a> {
    let method = session.active_view().method;
    let idle = if !brush.map.is_of_flesh() {
        let relaxes = method.has(Capability::Meetings);
        (!relaxes)
            .then_some("Only implicit skinning relaxes the skin: choose it to see what paint does.")
    } else if subject.flesh_if_made().is_some_and(|flesh| flesh.is_err()) {
        Some("This character has no flesh that is simulated.")
    } else if method.has(Capability::Physics) {
        None
    } else {
        Some(
            "The method of this view has no flesh: choose projective dynamics to see what paint does.",
        )
    };
    let symmetry = session.pose_tools().symmetry();
    PaintView {
        brush,
        paint: &session.document().flesh.paint,
        idle,
        has_sides: symmetry.is_some_and(|symmetry| symmetry.has_pairs()),
    }
}

pub(super) fn character_section(
    ui: &mut Ui,
    subject: &Subject,
    document: &Document,
    actions: &mut Actions,
) {
    let character = &subject.character;
    let counts = [
        ("Vertices", character.source_vertices()),
        ("Joints", character.skeleton.len()),
        ("Triangles", character.source_triangles()),
        ("Clips", document.clips().len()),
    ];
    let source = document.source.to_string();
    let tissue = subject
        .flesh_if_made()
        .and_then(Result::ok)
        .map(|flesh| tissue_quality(&flesh.tissue.quality))
        .unwrap_or_default();
    character_ui(
        ui,
        &CharacterView {
            name: &character.name,
            source: &source,
            counts: &counts,
            tissue: &tissue,
        },
    );
    let up = subject.up_axis().axis;
    let extent = subject.bounds.extent();
    let view = UnitView {
        metres_per_unit: subject.metres_per_unit(),
        as_read: character.metres_per_unit,
        is_set: subject.settings.metres_per_unit.is_some(),
        height: (0..3).map(|k| (f64::from(extent[k]) * up[k]).abs()).sum(),
    };
    unit_ui(ui, &view, actions);
}

/// Check-up findings, and motion types of parts.
pub(super) fn checkup_section(
    ui: &mut Ui,
    session: &Session,
    subject: &Subject,
    (checkup, failed): (Option<&Checkup>, bool),
    actions: &mut Actions,
) {
    let mut notes = all_notes(subject);
    if session.rigging().mode() == Mode::Edit {
        // The tissue is being built.
        notes.retain(|note| note.text != NO_SKELETON);
    }
    let view = CheckupView {
        checkup,
        failed,
        notes: &notes,
        parts: subject.body_if_made().map_or(&[], |body| &body.parts.parts),
        said: &session.document().flesh.parts,
        bones: &session.document().flesh.bones,
        skeleton: &subject.character.skeleton,
        selected: session.selection().active(),
    };
    checkup_ui(ui, &view, actions);
}

/// Resolution of the simulation mesh, if there is one.
pub(super) fn resolution_section(
    ui: &mut Ui,
    subject: &Subject,
    settings: &FleshSettings,
    actions: &mut Actions,
) {
    if subject.has_flesh() {
        let (skin, simulated) = (
            subject.skin.mesh.positions.len(),
            subject.sim().mesh.positions.len(),
        );
        resolution_ui(
            ui,
            &ResolutionView {
                wanted: settings.sim_vertices,
                base: settings.base,
                skin,
                simulated,
            },
            actions,
        );
    }
}

/// Name, value, and whether it is a warning. Bad tetrahedra are a finding of the check-up, which alone judges them.
fn tissue_quality(quality: &Quality) -> Vec<(String, String, bool)> {
    let row = |name: &str, value: String, is_warning: bool| (name.to_owned(), value, is_warning);
    let mut rows = vec![row("Tetrahedra", grouped(quality.tets), false)];
    if quality.without_hit > 0 {
        let noun = if quality.without_hit == 1 {
            "vertex"
        } else {
            "vertices"
        };
        rows.push(row(
            "No bone below",
            format!("{} {noun}", grouped(quality.without_hit)),
            false,
        ));
    }
    rows.push(row(
        "Aspect",
        format!(
            "median {:.1}, worst {:.0}",
            quality.median_aspect, quality.worst_aspect
        ),
        false,
    ));
    rows
}

/// Methods that do not support this character, with the reason.
pub(super) fn unavailable_methods(subject: &Subject) -> Vec<(MethodId, String)> {
    let Some(Err(error)) = subject.flesh_if_made() else {
        return Vec::new();
    };
    registry()
        .into_iter()
        .filter(|method| method.needs(Requirement::Tissue))
        .map(|method| (method, error.to_string()))
        .collect()
}

pub(super) fn joints_section(
    ui: &mut Ui,
    session: &Session,
    subject: &Subject,
    hovered: Option<PickTarget>,
    state: &mut JointsState,
    actions: &mut Actions,
) {
    let skeleton = &subject.character.skeleton;
    let shown = session.channels().active().pose();
    let moved: Vec<bool> = skeleton
        .joints()
        .iter()
        .zip(&shown.locals)
        .map(|(joint, local)| joint.rest.rotation.angle_to(&local.rotation) > 1e-4)
        .collect();
    let selected = session.selection().active();
    let view = JointsView {
        skeleton,
        selected,
        hovered: hovered.map(PickTarget::joint),
        angles_deg: selected.map(|joint| session.joint_angles_deg(joint)),
        moved: &moved,
        bone: selected.map(|joint| bone_view(session, subject, joint)),
        bones: &session.document().flesh.bones,
        selection: session.selection().joints(),
        limit: selected.map(|joint| limit_view(session, skeleton, joint)),
        pins: &session.document().pins,
    };
    joints_ui(ui, &view, state, actions);
}

fn limit_view(session: &Session, skeleton: &Skeleton, joint: usize) -> LimitView {
    let document = session.document();
    let limit = document.limits.get(&joint).copied();
    let fresh = Limit {
        twist: [-FRESH_LIMIT, FRESH_LIMIT],
        swing_y: [-FRESH_LIMIT, FRESH_LIMIT],
        swing_z: [-FRESH_LIMIT, FRESH_LIMIT],
        base_from_limit: Limit::axes_for(skeleton, joint, None),
    };
    let turn = session.channels().active().pose().locals[joint].rotation
        * skeleton.joints()[joint].rest.rotation.inverse();
    LimitView {
        joint,
        pinned: document.pins.contains(&joint),
        limit,
        fresh,
        angles: limit.unwrap_or(fresh).angles_of(&turn),
    }
}

fn muscles_view(session: &Session, joint: usize) -> MusclesView<'_> {
    let (document, state) = (session.document(), session.snapshot());
    let place = |muscle: &Muscle| {
        let state = state.as_ref()?;
        let field = state.body_field.as_ref()?;
        field.muscle(muscle, &state.world_from_joint)
    };
    let usual = Muscle {
        name: String::new(),
        bone: joint,
        driver: None,
        shape: MuscleShape::default(),
    };
    let all = document.flesh.muscles.iter().enumerate();
    let own = all.filter(|(_, muscle)| muscle.bone == joint);
    let symmetry = session.pose_tools().symmetry();
    MusclesView {
        skeleton: document.skeleton(),
        rows: own
            .map(|(index, muscle)| MuscleRow {
                index,
                muscle,
                place: place(muscle),
            })
            .collect(),
        count: document.flesh.muscles.len(),
        usual_driver: place(&usual).map(|place| place.driver),
        has_sides: symmetry.is_some_and(|symmetry| symmetry.has_pairs()),
    }
}

fn bone_view<'a>(session: &'a Session, subject: &Subject, joint: usize) -> BoneView<'a> {
    let document = session.document();
    let graph = subject
        .flesh_if_made()
        .and_then(Result::ok)
        .map(|flesh| &flesh.tissue.graph);
    BoneView {
        joint,
        settings: document
            .flesh
            .bones
            .get(&joint)
            .copied()
            .unwrap_or_default(),
        has_flesh: graph.is_some_and(|graph| graph.bones.iter().any(|bone| bone.joint == joint)),
        simulated: session.active_view().method.has(Capability::Physics),
        has_meetings: session.active_view().method.has(Capability::Meetings),
        meeting: session.snapshot().and_then(|state| {
            let field = state.body_field.as_ref()?;
            field.meeting(joint, &document.flesh.bones, &state.world_from_joint)
        }),
        muscles: muscles_view(session, joint),
    }
}
