//! Commands about variants, and what views show with them.

use std::sync::Arc;

use super::views::Need;
use super::{Session, SettingsVariant, VariantCommand, VariantId, View, ViewCommand, ViewId};
use crate::dynamics::Params;
use crate::methods::MethodValues;

/// Longest name of a variant, characters.
const LONGEST_NAME: usize = 40;

impl Session {
    /// Name of what a view shows: its method, with its variant.
    #[must_use]
    pub fn label_of(&self, view: &View) -> String {
        self.document().label_of(view.method, view.variant)
    }

    /// Name of what a view is compared with.
    #[must_use]
    pub fn compared_label_of(&self, view: &View) -> Option<String> {
        let label = |method| self.document().label_of(method, view.compare_variant);
        view.compare.map(label)
    }

    /// Physical parameters of the active view.
    #[must_use]
    pub fn params(&self) -> &Params {
        self.document().params_of(self.active_view().variant)
    }

    /// Values of the methods' own parameters of the active view.
    #[must_use]
    pub fn method_values(&self) -> &MethodValues {
        self.document().method_values_of(self.active_view().variant)
    }

    pub(super) fn apply_variant(&mut self, command: VariantCommand) {
        match command {
            VariantCommand::Add { view, name } => self.add_variant(view, &name),
            VariantCommand::Rename { id, name } => {
                let name = trimmed(&name);
                let variant = self.editor.document.variants.get_mut(&id);
                if let Some(variant) = variant.filter(|_| !name.is_empty()) {
                    Arc::make_mut(variant).name = name;
                }
            }
            VariantCommand::Remove(id) => {
                self.editor.document.variants.remove(&id);
                let views: Vec<View> = self.views.list().to_vec();
                for view in views {
                    if view.variant == Some(id) {
                        self.apply_view(ViewCommand::SetVariant {
                            view: view.id,
                            variant: None,
                        });
                    }
                    if view.compare_variant == Some(id) {
                        self.apply_view(ViewCommand::SetCompareVariant {
                            view: view.id,
                            method: view.compare,
                            variant: None,
                        });
                    }
                }
            }
        }
    }

    fn add_variant(&mut self, view: ViewId, name: &str) {
        let Some(view) = self.views.get(view).copied() else {
            return;
        };
        let document = &mut self.editor.document;
        let of_views = self.views.list().iter();
        let of_views =
            of_views.flat_map(|view| view.variant.into_iter().chain(view.compare_variant));
        let last = document.variants.keys().copied().chain(of_views).max();
        let id = VariantId(last.map_or(0, |last| last.0.saturating_add(1)));
        let name = match trimmed(name) {
            name if name.is_empty() => format!("Variant {}", document.variants.len() + 1),
            name => name,
        };
        let variant = SettingsVariant {
            name,
            params: *document.params_of(view.variant),
            method_values: document.method_values_of(view.variant).clone(),
        };
        document.variants.insert(id, Arc::new(variant));
        self.apply_view(ViewCommand::SetVariant {
            view: view.id,
            variant: Some(id),
        });
    }

    /// Sends the parameters of the settings that changed to the methods bound with them.
    pub(super) fn send_params(&self, is_changed: impl Fn(Need) -> bool) {
        self.jobs
            .stages
            .send_params(&self.editor.document, is_changed);
    }

    /// Whether a need has the same settings as the active view.
    pub(super) fn has_active_settings(&self) -> impl Fn(Need) -> bool + use<> {
        let document = self.editor.document.clone();
        let known = move |id: Option<VariantId>| id.filter(|id| document.variants.contains_key(id));
        let active = known(self.views.active().variant);
        move |need| known(need.variant) == active
    }
}

fn trimmed(name: &str) -> String {
    let plain = name.replace(char::is_control, " ");
    plain.trim().chars().take(LONGEST_NAME).collect()
}
