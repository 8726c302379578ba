//! A quadruped: a spine from the rump to the head, legs of three bones, a tail.

use super::{Centring, Template, TemplateJoint, joint, landmark};

const NOSE: usize = 0;
const SKULL: usize = 1;
const WITHERS: usize = 2;
const RUMP: usize = 3;
const TAIL_TIP: usize = 4;
const SHOULDER: usize = 5;
const FRONT_KNEE: usize = 6;
const FRONT_PAW: usize = 7;
const HIP: usize = 8;
const HIND_KNEE: usize = 9;
const HOCK: usize = 10;
const HIND_PAW: usize = 11;

const fn limb(
    name: &'static str,
    parent: &'static str,
    at: &'static [(usize, f64)],
) -> TemplateJoint {
    TemplateJoint {
        paired: true,
        centring: Centring::Limb,
        ..joint(name, Some(parent), at)
    }
}

/// The reference length is the distance from the rump to the withers.
pub(super) static FOUR_LEGGED: Template = Template {
    landmarks: &[
        landmark("Nose", true),
        landmark("Back of the skull", true),
        landmark("Withers", true),
        landmark("Rump", true),
        landmark("Tail tip", true),
        landmark("Shoulder", false),
        landmark("Front knee", false),
        landmark("Front paw", false),
        landmark("Hip", false),
        landmark("Hind knee", false),
        landmark("Hock", false),
        landmark("Hind paw", false),
    ],
    parts: &[
        joint("hips", None, &[(RUMP, 0.88), (WITHERS, 0.12)]),
        joint("spine1", Some("hips"), &[(RUMP, 0.62), (WITHERS, 0.38)]),
        joint("spine2", Some("spine1"), &[(RUMP, 0.34), (WITHERS, 0.66)]),
        joint("chest", Some("spine2"), &[(RUMP, 0.06), (WITHERS, 0.94)]),
        joint("neck1", Some("chest"), &[(WITHERS, 0.68), (SKULL, 0.32)]),
        joint("neck2", Some("neck1"), &[(WITHERS, 0.34), (SKULL, 0.66)]),
        joint("head", Some("neck2"), &[(SKULL, 1.0)]),
        TemplateJoint {
            is_tail: true,
            ..joint("nose", Some("head"), &[(SKULL, 0.06), (NOSE, 0.94)])
        },
        TemplateJoint {
            centring: Centring::Limb,
            ..joint("tail1", Some("hips"), &[(RUMP, 0.95), (TAIL_TIP, 0.05)])
        },
        TemplateJoint {
            centring: Centring::Limb,
            ..joint("tail2", Some("tail1"), &[(RUMP, 0.66), (TAIL_TIP, 0.34)])
        },
        TemplateJoint {
            centring: Centring::Limb,
            ..joint("tail3", Some("tail2"), &[(RUMP, 0.33), (TAIL_TIP, 0.67)])
        },
        TemplateJoint {
            is_tail: true,
            ..joint("tail_end", Some("tail3"), &[(RUMP, 0.03), (TAIL_TIP, 0.97)])
        },
        TemplateJoint {
            centring: Centring::None,
            ..limb("front_upper", "chest", &[(SHOULDER, 1.0)])
        },
        limb("front_lower", "front_upper", &[(FRONT_KNEE, 1.0)]),
        limb(
            "front_paw",
            "front_lower",
            &[(FRONT_PAW, 0.86), (FRONT_KNEE, 0.14)],
        ),
        TemplateJoint {
            is_tail: true,
            centring: Centring::None,
            ..limb("front_toes", "front_paw", &[(FRONT_PAW, 1.0)])
        },
        TemplateJoint {
            centring: Centring::None,
            ..limb("thigh", "hips", &[(HIP, 1.0)])
        },
        limb("shin", "thigh", &[(HIND_KNEE, 1.0)]),
        limb("hind_foot", "shin", &[(HOCK, 1.0)]),
        limb("hind_paw", "hind_foot", &[(HIND_PAW, 0.8), (HOCK, 0.2)]),
        TemplateJoint {
            is_tail: true,
            centring: Centring::None,
            ..limb("hind_toes", "hind_paw", &[(HIND_PAW, 1.0)])
        },
    ],
    lines: &[
        (NOSE, SKULL),
        (SKULL, WITHERS),
        (WITHERS, RUMP),
        (RUMP, TAIL_TIP),
        (WITHERS, SHOULDER),
        (SHOULDER, FRONT_KNEE),
        (FRONT_KNEE, FRONT_PAW),
        (RUMP, HIP),
        (HIP, HIND_KNEE),
        (HIND_KNEE, HOCK),
        (HOCK, HIND_PAW),
    ],
    reference: [RUMP, WITHERS],
};
