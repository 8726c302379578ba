//! The look of a view: shading, skin colours, overlays.

mod colors;
mod copies;
mod cut;
mod fields;
mod table;

use egui::{Button, ComboBox, RichText, Ui};

use self::colors::{colors_ui, compared_sentence};
use self::copies::{crowd_ui, ghosts_ui};
use self::cut::cut_ui;
use self::fields::field_cut_ui;
pub use self::table::{OVERLAYS, Overlay};
use crate::app::actions::{Action, Actions};
use crate::app::look::{
    Backdrop, CutPlane, Look, Matcap, Shading, backdrop_name, matcap_name, shading_words,
};
use crate::app::theme;
use crate::app::widgets::row;
use crate::methods::Capability;
use crate::session::{Compare, Mode, PaneState, Session, ViewId};

/// Default size of a crowd.
const CROWD: usize = 9;

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "what there is to see: independent things"
)]
pub struct LookView {
    /// The view.
    pub view: ViewId,
    /// Its look.
    pub look: Look,
    /// Whether the character has textures.
    pub has_textures: bool,
    /// Whether the view's method composes fields.
    pub has_fields: bool,
    /// Whether there is tissue to show.
    pub has_tissue: bool,
    /// Whether a joint is selected.
    pub has_selection: bool,
    /// Whether there is a clip, which ghosts need.
    pub has_clip: bool,
    /// Whether it shows distances to another method.
    pub shows_distance: bool,
    /// Number of characters in the view.
    pub crowd: usize,
    /// Whether a second method is shown.
    pub compares: bool,
    /// The voxel domain.
    pub voxels: VoxelState,
    /// What the user is told while the weights that colours compare with are not known.
    pub compared: Option<&'static str>,
}

/// State of the voxel domain of a view.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum VoxelState {
    /// It is not shown.
    #[default]
    Hidden,
    /// It is being computed.
    Computing,
    /// The user has cancelled the computation.
    Cancelled,
    /// It is drawn.
    Drawn,
}

impl VoxelState {
    /// The state in a view of the session.
    #[must_use]
    pub fn of(view: ViewId, look: &Look, session: &Session) -> Self {
        // Edit mode does not show it.
        let shown = look.voxels && session.rigging().mode() == Mode::Pose;
        let Some(snapshot) = session.snapshot_of(view).filter(|_| shown) else {
            return Self::Hidden;
        };
        if snapshot.subject.voxels_if_made().is_some() {
            Self::Drawn
        } else if session.are_overlays_cancelled() {
            Self::Cancelled
        } else {
            Self::Computing
        }
    }

    /// What the user is told while it is not drawn.
    #[must_use]
    pub fn sentence(self) -> Option<&'static str> {
        match self {
            Self::Hidden | Self::Drawn => None,
            Self::Computing => Some("The voxel domain is being computed."),
            Self::Cancelled => {
                Some("The voxel domain was cancelled: switch it off and on to compute it.")
            }
        }
    }
}

impl LookView {
    /// Collects the input for a view of the session.
    #[must_use]
    pub fn of(view: ViewId, state: &PaneState, session: &Session) -> Self {
        let subject = session.subject();
        let compares = session
            .views()
            .get(view)
            .is_some_and(|view| view.compare.is_some());
        Self {
            view,
            look: state.look,
            crowd: session.views().get(view).map_or(1, |view| view.crowd),
            compares,
            voxels: VoxelState::of(view, &state.look, session),
            compared: compared_sentence(view, &state.look, session),
            shows_distance: compares && state.comparing == Compare::Difference,
            has_textures: subject.is_some_and(|s| {
                s.character
                    .materials
                    .iter()
                    .any(|material| material.base_color_image.is_some())
            }),
            has_fields: session
                .views()
                .get(view)
                .is_some_and(|view| view.method.has(Capability::Meetings)),
            has_tissue: subject.is_some_and(|subject| subject.has_flesh()),
            has_selection: session.selection().active().is_some(),
            has_clip: session.channels().active().playback().clip.is_some(),
        }
    }
}

/// Draws the panel.
pub fn look_ui(ui: &mut Ui, view: &LookView, actions: &mut Actions) {
    let mut edited = view.look;
    shading_ui(ui, view, &mut edited);
    colors_ui(ui, view, &mut edited);
    ui.add_space(4.0);
    overlays_ui(ui, view, &mut edited);
    if edited.tets && !view.look.tets && edited.cut.is_none() {
        // All tet edges at once hide each other, so a cut is enabled at first.
        edited.cut = Some(CutPlane::default());
    }
    if let Some(sentence) = view.voxels.sentence() {
        ui.label(
            RichText::new(sentence)
                .small()
                .color(theme::colors(ui.ctx()).text_weak),
        );
    }
    if edited.tets {
        cut_ui(ui, &mut edited);
    }
    if edited.fields {
        field_cut_ui(ui, view, &mut edited);
    }
    ghosts_ui(ui, view, &mut edited);
    crowd_ui(ui, view, actions);
    ui.add_space(4.0);
    backdrop_ui(ui, view, &mut edited);
    if edited != view.look {
        actions.push(Action::SetLook(view.view, edited));
    }
}

/// Adjacent buttons that share the width.
fn choice<T: Copy + PartialEq>(ui: &mut Ui, value: &mut T, options: &[(T, &str, &str)]) {
    let gap = 3.0;
    let width = ((ui.available_width() - gap * (options.len() as f32 - 1.0))
        / options.len() as f32)
        .max(20.0);
    ui.horizontal(|ui| {
        ui.spacing_mut().item_spacing.x = gap;
        ui.spacing_mut().button_padding.x = 2.0;
        for (option, name, sentence) in options {
            let chosen = *value == *option;
            let text = RichText::new(*name).color(if chosen {
                theme::colors(ui.ctx()).accent
            } else {
                theme::colors(ui.ctx()).text
            });
            let button = Button::new(text)
                .selected(chosen)
                .min_size(egui::vec2(width, 24.0));
            if ui.add(button).on_hover_text(*sentence).clicked() {
                *value = *option;
            }
        }
    });
}

fn shading_ui(ui: &mut Ui, view: &LookView, look: &mut Look) {
    let options = Shading::ALL.map(|shading| {
        let (name, sentence) = shading_words(shading);
        let bare = shading == Shading::Textured && !view.has_textures;
        (
            shading,
            name,
            if bare {
                "This character brought no textures: it is shown in clay"
            } else {
                sentence
            },
        )
    });
    choice(ui, &mut look.shading, &options);
    if look.shading == Shading::Matcap {
        row(ui, "Material", "What the ball is made of", |ui, label| {
            let combo = ComboBox::from_id_salt("matcap")
                .width(150.0)
                .selected_text(matcap_name(look.matcap));
            let shown = combo.show_ui(ui, |ui| {
                for matcap in Matcap::ALL {
                    ui.selectable_value(&mut look.matcap, matcap, matcap_name(matcap));
                }
            });
            shown.response.labelled_by(label);
        });
    }
}

fn overlays_ui(ui: &mut Ui, view: &LookView, look: &mut Look) {
    ui.columns(2, |columns| {
        for overlay in OVERLAYS.iter().filter(|overlay| overlay.column < 2) {
            overlay.ui(&mut columns[overlay.column], view, look);
        }
    });
}

fn backdrop_ui(ui: &mut Ui, view: &LookView, look: &mut Look) {
    ui.horizontal(|ui| {
        for overlay in OVERLAYS.iter().filter(|overlay| overlay.column == 2) {
            overlay.ui(ui, view, look);
        }
    });
    let options = Backdrop::ALL.map(|backdrop| {
        let sentence = match backdrop {
            Backdrop::Transparent => "Pictures are see-through behind the character",
            Backdrop::White => "Plain white, for papers",
            Backdrop::Light => "A light studio",
            Backdrop::Dark => "A dark studio, for long work",
            Backdrop::Gradient => "From a blue sky to a dark horizon",
        };
        (backdrop, backdrop_name(backdrop), sentence)
    });
    choice(ui, &mut look.backdrop, &options);
}
