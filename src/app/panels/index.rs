//! The settings of the panels, for the palette: by name, with what they mean, and how they are reached.

use super::bone::ADD_MUSCLE;
use super::dynamics::{preset_name, with_preset};
use super::morphs::row_name;
use super::overlays::{LookView, OVERLAYS};
use crate::app::actions::Action;
use crate::app::look::{
    Backdrop, Matcap, Shading, SkinColors, backdrop_name, colors_words, matcap_name, shading_words,
};
use crate::character::BONE_FACTORS;
use crate::dynamics::{Collisions, PHYSICS, Preset};
use crate::methods::{Capability, Requirement};
use crate::session::{Command, Gesture, Session, ViewCommand};

/// A setting, or one of its values.
#[derive(Debug, Clone, PartialEq)]
pub struct PanelSetting {
    /// Its name, with the value for a choice: "Collisions: everywhere".
    pub title: String,
    /// What it means.
    pub sentence: String,
    /// Synonyms.
    pub words: &'static str,
    /// Sets it, or shows its row.
    pub action: Action,
}

/// Title of the section of physical parameters.
pub const DYNAMICS: &str = "Dynamics";
/// Title of the section of the view's look.
pub const VIEW: &str = "View";
/// Title of the section of the method.
pub const METHOD: &str = "Method";
/// Title of the section of the character.
pub const CHARACTER: &str = "Character";
/// Title of the section of morph targets and expressions.
pub const MORPHS: &str = "Morphs";
/// Title of the section of the brush.
pub const PAINT: &str = "Paint";
/// Title of the section of joints.
pub const JOINTS: &str = "Joints";

/// A setting whose row is shown.
fn shown(section: &'static str, name: &str, sentence: &str, words: &'static str) -> PanelSetting {
    PanelSetting {
        title: name.to_owned(),
        sentence: format!("{section}: {sentence}"),
        words,
        action: Action::ShowControl(section, name.to_owned()),
    }
}

/// A value that is set at once.
fn value(
    name: &str,
    value: &str,
    sentence: &str,
    words: &'static str,
    action: Action,
) -> PanelSetting {
    PanelSetting {
        title: format!("{name}: {}", value.to_lowercase()),
        sentence: sentence.to_owned(),
        words,
        action,
    }
}

fn once(command: Command) -> Action {
    Action::Session(command, Gesture::Once)
}

/// All settings that the panels have now.
#[must_use]
pub fn settings_of(session: &Session, look: Option<&LookView>) -> Vec<PanelSetting> {
    let mut settings = Vec::new();
    let Some(subject) = session.subject() else {
        return settings;
    };
    dynamics(session, &mut settings);
    method(session, &mut settings);
    if let Some(view) = look {
        looks(view, &mut settings);
    }
    let sentence = "length of one unit of the file, in metres";
    let words = "scale size metres centimetres millimetres inches feet height";
    settings.push(shown(CHARACTER, "Unit", sentence, words));
    if subject.has_flesh() {
        let sentence = "how many vertices of the skin are simulated";
        let words = "resolution sim vertices decimation coarse fast quality";
        settings.push(shown(CHARACTER, "Simulated", sentence, words));
        let sentence = "what the inner surface of the flesh follows";
        settings.push(shown(
            CHARACTER,
            "Base",
            sentence,
            "flesh base bones weights inner",
        ));
    }
    for (_, control) in subject.character.moving_controls() {
        let what = control.mesh.map_or("an expression", |_| "a morph target");
        let words = "face shape blend mouth eyes blend shape viseme";
        settings.push(shown(MORPHS, &row_name(&control), what, words));
    }
    joint(session, &mut settings);
    clips(session, &mut settings);
    settings
}

fn dynamics(session: &Session, settings: &mut Vec<PanelSetting>) {
    let params = *session.params();
    for param in &PHYSICS {
        let words = match param.spec.key {
            "gravity" => "weight fall down g hang sag",
            "stiffness" => "soft hard firm young modulus elastic rigid",
            "damping" => "friction calm slow energy loss",
            "jiggle" => "swing bounce wobble secondary motion",
            "density" => "mass heavy weight",
            "volume" => "incompressible preserve poisson squash",
            _ => "physics simulation",
        };
        settings.push(shown(DYNAMICS, param.spec.label, param.spec.doc, words));
    }
    settings.push(shown(
        DYNAMICS,
        "Preset",
        "named sets of stiffness, density and damping",
        "physics material soft firm jelly",
    ));
    for preset in Preset::ALL {
        let set = once(Command::SetParams(with_preset(&params, preset)));
        let words = "material stiffness physics soft hard";
        settings.push(value(
            "Preset",
            preset_name(preset),
            "Stiffness, density and damping together",
            words,
            set,
        ));
    }
    if params.paper.is_none() {
        let sentence = "whether the numbers mean a human, whatever the size of the character";
        settings.push(shown(
            DYNAMICS,
            "Human scale",
            sentence,
            "size small large any",
        ));
    }
    let sentence = "parts of the skin that touch push each other away";
    let words = "contact touch self-collision intersect penetration";
    settings.push(shown(DYNAMICS, "Collisions", sentence, words));
    for collisions in Collisions::ALL {
        let mut changed = params;
        changed.collisions = collisions;
        let set = once(Command::SetParams(changed));
        settings.push(value(
            "Collisions",
            collisions.label(),
            sentence,
            words,
            set,
        ));
    }
}

fn method(session: &Session, settings: &mut Vec<PanelSetting>) {
    let view = session.active_view();
    for spec in view.method.descriptor().params {
        settings.push(shown(METHOD, spec.label, spec.doc, "method parameter"));
    }
    settings.push(shown(
        METHOD,
        "Device",
        "what computes flesh and skin",
        "gpu cpu graphics",
    ));
    if !view.method.needs(Requirement::Weights) {
        return;
    }
    let words = "skinning influence automatic heat geodesic";
    settings.push(shown(
        METHOD,
        "Weights",
        "the weights that the view's method uses",
        words,
    ));
    for weights in crate::weights::registry() {
        let about = weights.descriptor();
        let set = once(Command::View(ViewCommand::SetWeights {
            view: view.id,
            weights,
        }));
        settings.push(value("Weights", about.label, about.doc, words, set));
    }
    for spec in view.weights.descriptor().params {
        settings.push(shown(METHOD, spec.label, spec.doc, "weights parameter"));
    }
}

fn looks(view: &LookView, settings: &mut Vec<PanelSetting>) {
    for overlay in &OVERLAYS {
        if !overlay.usable(view) {
            // Its row says what it needs.
            settings.push(shown(VIEW, overlay.name, overlay.sentence, overlay.words));
            continue;
        }
        let mut look = view.look;
        let on = overlay.is_on(&look);
        overlay.set(&mut look, !on);
        settings.push(PanelSetting {
            title: format!("{} ({})", overlay.name, if on { "on" } else { "off" }),
            sentence: overlay.sentence.to_owned(),
            words: overlay.words,
            action: Action::SetLook(view.view, look),
        });
    }
    let mut set = |name: &str,
                   option: &str,
                   sentence: &str,
                   words,
                   change: &dyn Fn(&mut crate::app::look::Look)| {
        let mut look = view.look;
        change(&mut look);
        settings.push(value(
            name,
            option,
            sentence,
            words,
            Action::SetLook(view.view, look),
        ));
    };
    for shading in Shading::ALL {
        let (name, sentence) = shading_words(shading);
        set("Shading", name, sentence, "look material clay", &|look| {
            look.shading = shading;
        });
    }
    for matcap in Matcap::ALL {
        set(
            "Material",
            matcap_name(matcap),
            "What the ball is made of",
            "matcap clay",
            &|look| {
                (look.shading, look.matcap) = (Shading::Matcap, matcap);
            },
        );
    }
    for colors in SkinColors::ALL {
        let (name, sentence) = colors_words(colors);
        set("Colour by", name, sentence, "color heat map", &|look| {
            look.colors = colors;
        });
    }
    for backdrop in Backdrop::ALL {
        let words = "backdrop behind environment sky white transparent";
        set("Background", backdrop_name(backdrop), "", words, &|look| {
            look.backdrop = backdrop;
        });
    }
    settings.push(shown(
        VIEW,
        "Colour by",
        "a number that the skin is coloured by",
        "color",
    ));
    settings.push(shown(
        VIEW,
        "Crowd",
        "many of the character on a grid",
        "instances many",
    ));
    if view.shows_distance {
        let sentence = "the distance of the last colour, automatic or fixed";
        settings.push(shown(
            VIEW,
            "Scale",
            sentence,
            "distance map range legend maximum millimetres",
        ));
        settings.push(shown(
            VIEW,
            "Colours",
            "the colours of distances",
            "color map viridis",
        ));
    }
    if view.has_clip || view.look.ghosts.any() {
        let sentence = "faint skins before and after this moment of the clip";
        settings.push(shown(VIEW, "Ghosts", sentence, "onion skin"));
    }
    if view.look.tets {
        settings.push(shown(
            VIEW,
            "Cut open",
            "a plane that opens the flesh",
            "section slice clip",
        ));
    }
}

/// Settings of the selected joint.
fn joint(session: &Session, settings: &mut Vec<PanelSetting>) {
    if session.selection().active().is_none() {
        return;
    }
    if session.active_view().method.has(Capability::Physics) {
        for factor in &BONE_FACTORS {
            let words = "bone flesh local factor";
            settings.push(shown(JOINTS, factor.spec.label, factor.spec.doc, words));
        }
        for (name, sentence) in [
            (
                "Virtual",
                "a bone that shapes the flesh but doesn't hold it",
            ),
            ("Held", "the skin of the bone is rigid and not simulated"),
            ("Twist", "spreads the turn of the next joint along the bone"),
        ] {
            settings.push(shown(JOINTS, name, sentence, "bone flesh"));
        }
    }
    if session.active_view().method.has(Capability::Meetings) {
        settings.push(shown(
            JOINTS,
            "Meets by",
            "how its part of the skin meets its parent's: operator, angles, depth, bulges",
            "bone implicit contact bulge crease union blend operator opening profile slice",
        ));
        settings.push(shown(
            JOINTS,
            ADD_MUSCLE,
            "a muscle of the bone that swells as the next joint bends",
            "bone implicit biceps ellipsoid flex swell bulge anatomy primitive",
        ));
    }
    settings.push(shown(
        JOINTS,
        "Pinned",
        "stays where it is while the body is dragged",
        "pin fix",
    ));
    settings.push(shown(
        JOINTS,
        "Limited",
        "turns only as far as its angles say",
        "limit range",
    ));
}

/// How clips are played.
fn clips(session: &Session, settings: &mut Vec<PanelSetting>) {
    let playback = session.channels().active().playback();
    for speed in [0.1, 0.25, 0.5, 1.0, 2.0] {
        let set = once(Command::SetSpeed(speed));
        let words = "playback slow motion fast rate";
        settings.push(value(
            "Speed",
            &format!("{speed}×"),
            "How fast the clip is played",
            words,
            set,
        ));
    }
    let looping = playback.looping;
    settings.push(PanelSetting {
        title: format!("Loop ({})", if looping { "on" } else { "off" }),
        sentence: "The clip starts again at its end".to_owned(),
        words: "repeat cycle playback",
        action: once(Command::SetLooping(!looping)),
    });
    for secs in [0.0, 0.2, 0.5] {
        let sentence = "How long one motion takes to go over into another";
        let set = once(Command::SetBlend(secs));
        settings.push(value(
            "Blend",
            &format!("{secs} s"),
            sentence,
            "seam transition loop",
            set,
        ));
    }
}
