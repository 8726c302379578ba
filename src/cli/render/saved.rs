//! The active view of a project: the defaults of `render`.

use crate::methods::MethodId;
use crate::render::{Camera, Look};
use crate::session::ProjectState;
use crate::studio::Compare;

/// The active view of a project.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct SavedView {
    pub(super) look: Look,
    pub(super) camera: Camera,
    /// The methods. The compared method is the last for a wipe, the first for a difference.
    pub(super) methods: Vec<MethodId>,
    pub(super) compare: Option<Compare>,
}

impl SavedView {
    /// The active view; `None` if the project has no window state.
    pub(super) fn of(state: &ProjectState) -> Option<Self> {
        let window = state.window.as_ref()?;
        let (pane, camera) = window.pane(window.active)?;
        let (methods, compare) = match (state.compare, pane.comparing) {
            (Some(other), Compare::Wipe(at)) if at.is_finite() => (
                vec![state.method, other],
                Some(Compare::Wipe(at.clamp(0.0, 1.0))),
            ),
            (Some(other), Compare::Difference) => {
                (vec![other, state.method], Some(Compare::Difference))
            }
            _ => (vec![state.method], None),
        };
        Some(Self {
            look: pane.look,
            camera: *camera,
            methods,
            compare,
        })
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::dynamics::Params;
    use crate::render::ColorMap;
    use crate::rig::Pose;

    fn state(window: serde_json::Value) -> ProjectState {
        ProjectState {
            pose: Pose::default(),
            params: Params::default(),
            method_values: crate::methods::MethodValues::default(),
            method: MethodId::PD,
            compare: Some(MethodId::LBS),
            weights: crate::weights::WeightMethod::default(),
            crowd: 1,
            files: Vec::new(),
            window: serde_json::from_value(window).ok(),
        }
    }

    #[test]
    fn the_active_view_is_taken_with_what_it_is_compared_with() {
        let camera = serde_json::to_value(Camera::default()).unwrap();
        let other = json!([4, {"look": {"wireframe": true}}, camera]);
        let window = |comparing: serde_json::Value| json!({"active": 7, "tree": "anything", "panes": [other, [7, {"look": {"color_map": "heat"}, "comparing": comparing}, camera]]});
        let view = SavedView::of(&state(window(json!({"wipe": 0.25})))).expect("a view");
        assert_eq!(
            view.look,
            Look {
                color_map: ColorMap::Heat,
                ..Look::default()
            }
        );
        assert_eq!(
            (view.methods, view.compare),
            (vec![MethodId::PD, MethodId::LBS], Some(Compare::Wipe(0.25)))
        );
        let view = SavedView::of(&state(window(json!("difference")))).expect("a view");
        assert_eq!(
            (view.methods, view.compare),
            (vec![MethodId::LBS, MethodId::PD], Some(Compare::Difference))
        );
        let view = SavedView::of(&state(window(json!("flicker")))).expect("a view");
        assert_eq!((view.methods, view.compare), (vec![MethodId::PD], None));
        assert_eq!(
            SavedView::of(&state(json!({"active": 1, "panes": []}))),
            None
        );
        assert_eq!(SavedView::of(&state(json!("garbage"))), None);
    }
}
