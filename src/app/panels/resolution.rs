//! The resolution of the simulation mesh.

use egui::{Slider, SliderClamping, Ui};

use crate::app::actions::{Actions, edit_of};
use crate::app::widgets::row;
use crate::character::{FleshBase, LEAST_SIM_VERTICES, SimVertices};
use crate::session::{Command, Gesture};

/// Input of the panel.
#[derive(Debug, Clone, Copy)]
pub struct ResolutionView {
    /// The requested number.
    pub wanted: SimVertices,
    /// What the base of the flesh follows.
    pub base: FleshBase,
    /// Vertices of the skin.
    pub skin: usize,
    /// The current number of simulated vertices.
    pub simulated: usize,
}

/// Draws the panel.
pub fn resolution_ui(ui: &mut Ui, view: &ResolutionView, actions: &mut Actions) {
    let hover = "The flesh is simulated on a coarser skin, and the full skin follows it: fewer vertices are faster";
    row(ui, "Simulated", hover, |ui, label| {
        let mut coarser = view.wanted != SimVertices::All;
        if ui
            .checkbox(&mut coarser, "")
            .on_hover_text("Off: every vertex of the skin is simulated")
            .labelled_by(label)
            .changed()
        {
            let wanted = if coarser {
                SimVertices::default()
            } else {
                SimVertices::All
            };
            actions.send(Command::SetSimVertices(wanted), Gesture::Once);
        }
        // The slider's value is kept here during a drag, so that the mesh is rebuilt only once.
        let id = ui.scope_id().with("sim vertices");
        let settled = match view.wanted {
            SimVertices::All => view.skin,
            SimVertices::About(number) => number,
        };
        let mut number = ui.data(|data| data.get_temp(id)).unwrap_or(settled);
        let most = (view.skin.max(LEAST_SIM_VERTICES) * 2).max(settled);
        crate::app::widgets::size_slider(ui);
        let slider = Slider::new(&mut number, LEAST_SIM_VERTICES..=most)
            .logarithmic(true)
            .clamping(SliderClamping::Always);
        let response = ui.add_enabled(coarser, slider).labelled_by(label);
        match edit_of(&response) {
            Some(Gesture::Dragging) => {
                ui.data_mut(|data| data.insert_temp(id, number));
            }
            Some(_) => {
                ui.data_mut(|data| data.remove_temp::<usize>(id));
                actions.send(
                    Command::SetSimVertices(SimVertices::About(number)),
                    Gesture::Once,
                );
            }
            None => {}
        }
    });
    let hover = "What the inner surface of the flesh follows: the skin's weights keep their shape in bends; bones are cylinders, as in the papers";
    row(ui, "Base", hover, |ui, _| {
        for base in FleshBase::ALL {
            if ui
                .selectable_label(view.base == base, base.label())
                .clicked()
                && view.base != base
            {
                actions.send(Command::SetFleshBase(base), Gesture::Once);
            }
        }
    });
    let said = format!(
        "{} of {} vertices are simulated",
        crate::app::widgets::grouped(view.simulated),
        crate::app::widgets::grouped(view.skin)
    );
    ui.label(
        egui::RichText::new(said)
            .small()
            .color(crate::app::theme::colors(ui.ctx()).text_weak),
    );
}
