//! Views of the character: what each shows, and which pose and clock it follows.
//!
//! Linked views share one pose and one clock; a free view has a [`super::PoseChannel`] of its own. How many views there are and what they
//! show is not part of the document: it is stored in the project file, and undo restores it with the document.
//!
//! | file        | what                                                          |
//! |-------------|---------------------------------------------------------------|
//! | [`command`] | the commands                                                   |
//! | [`arrange`] | how commands change the views                                   |
//! | [`ghosts`]  | skins at other times of a clip, computed for a view              |
//! | [`scores`]  | scores of what views show, measured on a separate thread         |

mod arrange;
mod command;
pub(super) mod ghosts;
pub(super) mod scores;

pub(super) use arrange::ArrangeEffect;
pub use command::ViewCommand;

use crate::methods::{Capability, MethodId, Requirement};
use crate::session::variants::{VariantId, has_settings};
use crate::weights::WeightMethod;

/// Identifies a view; not reused within a session.
#[derive(
    Debug,
    Clone,
    Copy,
    PartialEq,
    Eq,
    PartialOrd,
    Ord,
    Hash,
    Default,
    serde::Serialize,
    serde::Deserialize,
)]
#[serde(transparent)]
pub struct ViewId(pub u32);

/// Largest number of views.
pub const MAX_VIEWS: usize = 6;

/// Largest number of instances in a view.
pub const MAX_CROWD: usize = 200;

/// Identifies the clock and pose that a view follows: the shared ones, or those of a free view.
pub type ChannelId = Option<ViewId>;

/// A method that follows the pose of a channel.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Need {
    pub(super) channel: ChannelId,
    pub(super) method: MethodId,
    /// The weights; the default for methods that use none.
    pub(super) weights: WeightMethod,
    /// The variant of the settings; `None` for the shared ones, and for methods without settings.
    pub(super) variant: Option<VariantId>,
}

/// One view of the character.
#[derive(Debug, Clone, Copy, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub struct View {
    /// Its identity.
    pub id: ViewId,
    /// The method shown.
    pub method: MethodId,
    /// The method of the comparison.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare: Option<MethodId>,
    /// The variant of its settings; `None` for the shared ones.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub variant: Option<VariantId>,
    /// The variant of the comparison's settings.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compare_variant: Option<VariantId>,
    /// The weights of methods that use them.
    #[serde(default, skip_serializing_if = "is_of_file")]
    pub weights: WeightMethod,
    /// Whether it has its own pose and clock.
    #[serde(default)]
    pub free: bool,
    /// Number of instances: 1 to [`MAX_CROWD`]. More than one are not compared.
    #[serde(default = "alone", skip_serializing_if = "is_alone")]
    pub crowd: usize,
}

pub(super) fn alone() -> usize {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde hands it over so")]
pub(super) fn is_alone(crowd: &usize) -> bool {
    *crowd == 1
}

pub(super) fn is_of_file(weights: &WeightMethod) -> bool {
    *weights == WeightMethod::default()
}

impl View {
    /// A view of one character, without comparison.
    #[must_use]
    pub fn new(id: ViewId, method: MethodId) -> Self {
        Self {
            id,
            method,
            compare: None,
            variant: None,
            compare_variant: None,
            weights: WeightMethod::default(),
            free: false,
            crowd: 1,
        }
    }

    /// With numbers clamped to their ranges, as a file may have any.
    #[must_use]
    pub(super) fn sanitized(self) -> Self {
        let crowd = self.crowd.clamp(1, MAX_CROWD);
        Self {
            crowd,
            compare: self.compare.filter(|_| crowd == 1),
            ..self
        }
    }

    /// As it is saved: with another method in place of a distilled rig, which is not there yet when a project is opened. The rig's own
    /// entry names the views that showed it.
    #[must_use]
    pub(super) fn without_distilled(self) -> Self {
        let is_kept = |method: &MethodId| *method != MethodId::DISTILLED;
        Self {
            method: Some(self.method).filter(is_kept).unwrap_or_default(),
            compare: self.compare.filter(is_kept),
            ..self
        }
    }

    /// The channel it follows: the shared one, or its own.
    #[must_use]
    pub fn channel(self) -> ChannelId {
        self.free.then_some(self.id)
    }

    /// What it shows.
    pub(super) fn need(self) -> Need {
        self.need_of(self.method, self.variant)
    }

    /// The binding of the comparison.
    pub(super) fn compared_need(self) -> Option<Need> {
        self.compare
            .map(|method| self.need_of(method, self.compare_variant))
    }

    /// For methods without weights, the view's weights are replaced by the default.
    fn need_of(self, method: MethodId, variant: Option<VariantId>) -> Need {
        let weights = method.needs(Requirement::Weights).then_some(self.weights);
        Need {
            channel: self.channel(),
            method,
            weights: weights.unwrap_or_default(),
            variant: variant.filter(|_| has_settings(method)),
        }
    }
}

/// The views, in order of creation.
#[derive(Debug, Clone)]
pub struct Views {
    list: Vec<View>,
    active: ViewId,
    next: u32,
}

impl Default for Views {
    fn default() -> Self {
        let first = View::new(ViewId(0), MethodId::default());
        Self {
            list: vec![first],
            active: first.id,
            next: 1,
        }
    }
}

impl Views {
    /// All views; at least one.
    #[must_use]
    pub fn list(&self) -> &[View] {
        &self.list
    }

    /// The active view.
    #[must_use]
    pub fn active(&self) -> &View {
        self.get(self.active).unwrap_or(&self.list[0])
    }

    /// A view.
    #[must_use]
    pub fn get(&self, id: ViewId) -> Option<&View> {
        self.list.iter().find(|view| view.id == id)
    }

    /// An unused identity for a new view.
    #[must_use]
    pub fn next_id(&self) -> ViewId {
        ViewId(self.next)
    }

    fn get_mut(&mut self, id: ViewId) -> Option<&mut View> {
        self.list.iter_mut().find(|view| view.id == id)
    }

    /// All bindings that some view needs, the active view's first.
    pub(super) fn needs(&self) -> Vec<Need> {
        let active_first = std::iter::once(self.active())
            .chain(self.list.iter().filter(|view| view.id != self.active().id));
        let mut needs: Vec<Need> = Vec::new();
        for need in
            active_first.flat_map(|view| std::iter::once(view.need()).chain(view.compared_need()))
        {
            if !needs.contains(&need) {
                needs.push(need);
            }
        }
        needs
    }

    /// Bindings shown or compared that simulate, the active view's first.
    pub(super) fn simulating(&self) -> Vec<Need> {
        let mut needs = self.needs();
        needs.retain(|need| need.method.has(Capability::State));
        needs
    }

    /// Whether a view with the active view's clock simulates.
    #[must_use]
    pub fn simulates(&self) -> bool {
        let channel = self.active().channel();
        self.simulating().iter().any(|need| need.channel == channel)
    }

    /// Replaces the views by those of another time. The active one stays, if it was there.
    pub(super) fn restore(&mut self, list: Vec<View>) {
        if !list.is_empty() {
            self.list = list;
            self.active = self.active().id;
        }
    }

    /// All channels, the shared one first.
    pub(super) fn channels(&self) -> impl Iterator<Item = ChannelId> + '_ {
        std::iter::once(None).chain(
            self.list
                .iter()
                .filter(|view| view.free)
                .map(|view| Some(view.id)),
        )
    }
}
