//! A human: 22 joints with common names, and the proportions of artistic anatomy between the
//! landmarks.

use super::{Centring, Template, TemplateJoint, joint, landmark};

const CHIN: usize = 0;
const GROIN: usize = 1;
const SHOULDER: usize = 2;
const ELBOW: usize = 3;
const WRIST: usize = 4;
const KNEE: usize = 5;
const ANKLE: usize = 6;

const fn spine(
    name: &'static str,
    parent: Option<&'static str>,
    at: &'static [(usize, f64)],
    offset: [f64; 3],
) -> TemplateJoint {
    TemplateJoint {
        offset,
        ..joint(name, parent, at)
    }
}

const fn limb(
    name: &'static str,
    parent: &'static str,
    at: &'static [(usize, f64)],
    centring: Centring,
) -> TemplateJoint {
    TemplateJoint {
        paired: true,
        centring,
        ..joint(name, Some(parent), at)
    }
}

/// The reference length is the distance from groin to chin, about 0.4 of the height.
pub(super) static HUMAN: Template = Template {
    landmarks: &[
        landmark("Chin", true),
        landmark("Groin", true),
        landmark("Shoulder", false),
        landmark("Elbow", false),
        landmark("Wrist", false),
        landmark("Knee", false),
        landmark("Ankle", false),
    ],
    parts: &[
        spine("hips", None, &[(GROIN, 1.0)], [0.0, 0.13, 0.0]),
        spine(
            "spine",
            Some("hips"),
            &[(GROIN, 0.72), (CHIN, 0.28)],
            [0.0, 0.0, 0.0],
        ),
        spine(
            "chest",
            Some("spine"),
            &[(GROIN, 0.52), (CHIN, 0.48)],
            [0.0, 0.0, 0.0],
        ),
        spine(
            "upper_chest",
            Some("chest"),
            &[(GROIN, 0.32), (CHIN, 0.68)],
            [0.0, 0.0, 0.0],
        ),
        spine(
            "neck",
            Some("upper_chest"),
            &[(GROIN, 0.11), (CHIN, 0.89)],
            [0.0, 0.0, -0.02],
        ),
        spine("head", Some("neck"), &[(CHIN, 1.0)], [0.0, 0.05, -0.02]),
        TemplateJoint {
            is_tail: true,
            ..spine("head_end", Some("head"), &[(CHIN, 1.0)], [0.0, 0.27, 0.0])
        },
        limb(
            "shoulder",
            "upper_chest",
            &[(GROIN, 0.132), (CHIN, 0.668), (SHOULDER, 0.2)],
            Centring::None,
        ),
        limb("upper_arm", "shoulder", &[(SHOULDER, 1.0)], Centring::Limb),
        limb("forearm", "upper_arm", &[(ELBOW, 1.0)], Centring::Limb),
        limb("hand", "forearm", &[(WRIST, 1.0)], Centring::Limb),
        TemplateJoint {
            is_tail: true,
            ..limb(
                "hand_end",
                "hand",
                &[(WRIST, 1.38), (ELBOW, -0.38)],
                Centring::Limb,
            )
        },
        // From the hip joint, which is slightly above the groin and to the side.
        TemplateJoint {
            offset: [0.115, 0.07, 0.0],
            ..limb("thigh", "hips", &[(GROIN, 1.0)], Centring::None)
        },
        limb("shin", "thigh", &[(KNEE, 1.0)], Centring::Limb),
        limb("foot", "shin", &[(ANKLE, 1.0)], Centring::Limb),
        TemplateJoint {
            offset: [0.0, -0.09, 0.2],
            ..limb("toes", "foot", &[(ANKLE, 1.0)], Centring::Limb)
        },
        TemplateJoint {
            is_tail: true,
            offset: [0.0, -0.1, 0.3],
            ..limb("toes_end", "toes", &[(ANKLE, 1.0)], Centring::None)
        },
    ],
    lines: &[
        (CHIN, GROIN),
        (CHIN, SHOULDER),
        (SHOULDER, ELBOW),
        (ELBOW, WRIST),
        (GROIN, KNEE),
        (KNEE, ANKLE),
    ],
    reference: [CHIN, GROIN],
};
