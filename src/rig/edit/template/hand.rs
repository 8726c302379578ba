//! A hand: a wrist, and five fingers of three bones each, with length ratios of about 5 : 3 : 2.

use super::{Centring, Template, TemplateJoint, joint, landmark};

const WRIST: usize = 0;
const THUMB: usize = 1;
const THUMB_TIP: usize = 2;
const INDEX: usize = 3;
const INDEX_TIP: usize = 4;
const MIDDLE_TIP: usize = 5;
const RING_TIP: usize = 6;
const LITTLE: usize = 7;
const LITTLE_TIP: usize = 8;

const fn bone(
    name: &'static str,
    parent: Option<&'static str>,
    at: &'static [(usize, f64)],
) -> TemplateJoint {
    TemplateJoint {
        centring: Centring::Limb,
        ..joint(name, parent, at)
    }
}

/// The first joint of a finger, in the row of the knuckles.
const fn root(name: &'static str, at: &'static [(usize, f64)]) -> TemplateJoint {
    TemplateJoint {
        centring: Centring::Depth,
        ..bone(name, Some("wrist"), at)
    }
}

const fn tip(parent: &'static str, at: &'static [(usize, f64)]) -> TemplateJoint {
    TemplateJoint {
        is_tail: true,
        centring: Centring::None,
        ..bone("tip", Some(parent), at)
    }
}

/// The reference length is the distance from the wrist to the tip of the middle finger.
pub(super) static HAND: Template = Template {
    landmarks: &[
        landmark("Wrist", false),
        landmark("Thumb base", false),
        landmark("Thumb tip", false),
        landmark("Index knuckle", false),
        landmark("Index tip", false),
        landmark("Middle tip", false),
        landmark("Ring tip", false),
        landmark("Little knuckle", false),
        landmark("Little tip", false),
    ],
    parts: &[
        bone("wrist", None, &[(WRIST, 1.0)]),
        root("thumb1", &[(THUMB, 1.0)]),
        bone(
            "thumb2",
            Some("thumb1"),
            &[(THUMB, 0.58), (THUMB_TIP, 0.42)],
        ),
        bone(
            "thumb3",
            Some("thumb2"),
            &[(THUMB, 0.28), (THUMB_TIP, 0.72)],
        ),
        tip("thumb3", &[(THUMB, 0.03), (THUMB_TIP, 0.97)]),
        root("index1", &[(INDEX, 1.0)]),
        bone(
            "index2",
            Some("index1"),
            &[(INDEX, 0.52), (INDEX_TIP, 0.48)],
        ),
        bone(
            "index3",
            Some("index2"),
            &[(INDEX, 0.24), (INDEX_TIP, 0.76)],
        ),
        tip("index3", &[(INDEX, 0.03), (INDEX_TIP, 0.97)]),
        // The knuckles of a fist are not on a straight line.
        TemplateJoint {
            offset: [0.0, 0.025, 0.0],
            ..root("middle1", &[(INDEX, 0.67), (LITTLE, 0.33)])
        },
        bone(
            "middle2",
            Some("middle1"),
            &[(INDEX, 0.35), (LITTLE, 0.17), (MIDDLE_TIP, 0.48)],
        ),
        bone(
            "middle3",
            Some("middle2"),
            &[(INDEX, 0.16), (LITTLE, 0.08), (MIDDLE_TIP, 0.76)],
        ),
        tip(
            "middle3",
            &[(INDEX, 0.02), (LITTLE, 0.01), (MIDDLE_TIP, 0.97)],
        ),
        TemplateJoint {
            offset: [0.0, 0.02, 0.0],
            ..root("ring1", &[(INDEX, 0.33), (LITTLE, 0.67)])
        },
        bone(
            "ring2",
            Some("ring1"),
            &[(INDEX, 0.17), (LITTLE, 0.35), (RING_TIP, 0.48)],
        ),
        bone(
            "ring3",
            Some("ring2"),
            &[(INDEX, 0.08), (LITTLE, 0.16), (RING_TIP, 0.76)],
        ),
        tip("ring3", &[(INDEX, 0.01), (LITTLE, 0.02), (RING_TIP, 0.97)]),
        root("little1", &[(LITTLE, 1.0)]),
        bone(
            "little2",
            Some("little1"),
            &[(LITTLE, 0.52), (LITTLE_TIP, 0.48)],
        ),
        bone(
            "little3",
            Some("little2"),
            &[(LITTLE, 0.24), (LITTLE_TIP, 0.76)],
        ),
        tip("little3", &[(LITTLE, 0.03), (LITTLE_TIP, 0.97)]),
    ],
    lines: &[
        (WRIST, THUMB),
        (THUMB, THUMB_TIP),
        (WRIST, INDEX),
        (INDEX, INDEX_TIP),
        (WRIST, LITTLE),
        (LITTLE, LITTLE_TIP),
        (INDEX, LITTLE),
    ],
    reference: [WRIST, MIDDLE_TIP],
};
