//! Joint roles, determined from names.

/// Left or right, from the character's viewpoint.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Side {
    /// The character's left.
    Left,
    /// The character's right.
    Right,
}

/// A finger, or the joint for several fingers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Digit {
    /// Thumb.
    Thumb,
    /// Index finger.
    Index,
    /// Middle finger.
    Middle,
    /// Ring finger.
    Ring,
    /// Little finger.
    Little,
    /// All fingers except the thumb, in simple skeletons.
    All,
}

/// The body part that a joint moves. `Spine`, `Neck`, `Toe` and fingers may be chains of several
/// joints.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Role {
    /// The root joint.
    Hips,
    /// From above the hips to the chest.
    Spine,
    /// From the chest to the head.
    Neck,
    /// The head.
    Head,
    /// Between chest and upper arm.
    Clavicle(Side),
    /// Shoulder to elbow.
    UpperArm(Side),
    /// Elbow to wrist.
    Forearm(Side),
    /// The hand.
    Hand(Side),
    /// A finger.
    Finger(Side, Digit),
    /// Hip to knee.
    Thigh(Side),
    /// Knee to ankle.
    Shin(Side),
    /// The foot.
    Foot(Side),
    /// The front of the foot.
    Toe(Side),
}

impl Side {
    /// Both.
    pub const BOTH: [Self; 2] = [Self::Left, Self::Right];

    fn id(self) -> &'static str {
        match self {
            Self::Left => "left",
            Self::Right => "right",
        }
    }
}

impl Digit {
    /// All, from the thumb.
    pub const ALL: [Self; 6] = [
        Self::Thumb,
        Self::Index,
        Self::Middle,
        Self::Ring,
        Self::Little,
        Self::All,
    ];

    fn id(self) -> &'static str {
        match self {
            Self::Thumb => "thumb",
            Self::Index => "index",
            Self::Middle => "middle",
            Self::Ring => "ring",
            Self::Little => "little",
            Self::All => "fingers",
        }
    }
}

impl Role {
    /// All roles, parents before children.
    #[must_use]
    pub fn all() -> Vec<Self> {
        let mut all = vec![Self::Hips, Self::Spine, Self::Neck, Self::Head];
        for side in Side::BOTH {
            all.extend([
                Self::Clavicle(side),
                Self::UpperArm(side),
                Self::Forearm(side),
                Self::Hand(side),
            ]);
            all.extend(Digit::ALL.map(|digit| Self::Finger(side, digit)));
            all.extend([
                Self::Thigh(side),
                Self::Shin(side),
                Self::Foot(side),
                Self::Toe(side),
            ]);
        }
        all
    }

    /// The side of the body; `None` for the column.
    #[must_use]
    pub fn side(self) -> Option<Side> {
        match self {
            Self::Hips | Self::Spine | Self::Neck | Self::Head => None,
            Self::Clavicle(side)
            | Self::UpperArm(side)
            | Self::Forearm(side)
            | Self::Hand(side)
            | Self::Finger(side, _)
            | Self::Thigh(side)
            | Self::Shin(side)
            | Self::Foot(side)
            | Self::Toe(side) => Some(side),
        }
    }

    /// Identifier in files: `hips`, `left_upper_arm`, `right_index` …
    #[must_use]
    pub fn id(self) -> String {
        let sided = |side: Side, what: &str| format!("{}_{what}", side.id());
        match self {
            Self::Hips => "hips".to_owned(),
            Self::Spine => "spine".to_owned(),
            Self::Neck => "neck".to_owned(),
            Self::Head => "head".to_owned(),
            Self::Clavicle(side) => sided(side, "clavicle"),
            Self::UpperArm(side) => sided(side, "upper_arm"),
            Self::Forearm(side) => sided(side, "forearm"),
            Self::Hand(side) => sided(side, "hand"),
            Self::Finger(side, digit) => sided(side, digit.id()),
            Self::Thigh(side) => sided(side, "thigh"),
            Self::Shin(side) => sided(side, "shin"),
            Self::Foot(side) => sided(side, "foot"),
            Self::Toe(side) => sided(side, "toe"),
        }
    }

    /// The role with that identifier.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::all().into_iter().find(|role| role.id() == id)
    }

    /// Whether it may be a chain of several joints.
    #[must_use]
    pub(crate) fn is_chain(self) -> bool {
        matches!(
            self,
            Self::Spine | Self::Neck | Self::Toe(_) | Self::Finger(..)
        )
    }
}

/// A parsed name.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct NamedRole {
    pub role: Role,
    /// The name without side and number: equal for `arm_1_L` and `arm_2_L`.
    pub key: String,
}

/// Ignored words of names.
const NOISE: [&str; 25] = [
    "b",
    "mixamorig",
    "bip",
    "bip01",
    "biped",
    "valvebiped",
    "def",
    "org",
    "mch",
    "jnt",
    "jt",
    "joint",
    "bone",
    "skeleton",
    "armature",
    "rig",
    "character",
    "sk",
    "bn",
    "bvh",
    "j",
    "c",
    "cc",
    "base",
    "f",
];
/// Words of joints outside the body (controls, helpers).
const APART: [&str; 43] = [
    "end", "leaf", "nub", "tip", "site", "twist", "roll", "ik", "fk", "pole", "target", "control",
    "ctrl", "slot", "attach", "weapon", "prop", "eye", "eyes", "eyebrow", "jaw", "tongue", "teeth",
    "lip", "hair", "breast", "bust", "boob", "skirt", "cape", "tail", "ear", "sec", "helper",
    "dummy", "offset", "socket", "camera", "physics", "wing", "adj", "null", "hipjoint",
];

/// The role indicated by a joint's name; `None` if there is none.
pub(super) fn role_of_name(name: &str) -> Option<NamedRole> {
    let words = words_of(name);
    if words.iter().any(|word| APART.contains(&word.as_str()))
        || words
            .windows(2)
            .any(|pair| pair[0] == "hip" && pair[1] == "joint")
    {
        return None;
    }
    let numbers = words
        .iter()
        .filter(|word| word.starts_with(|c: char| c.is_ascii_digit()))
        .count();
    let first_number = words.iter().find_map(|word| word.parse::<u32>().ok());
    let words: Vec<&str> = words
        .iter()
        .map(String::as_str)
        .filter(|w| !NOISE.contains(w) && !w.starts_with(|c: char| c.is_ascii_digit()))
        .collect();
    let side = words.iter().find_map(|word| match *word {
        "l" | "left" | "lft" => Some(Side::Left),
        "r" | "right" | "rgt" => Some(Side::Right),
        _ => None,
    });
    let key: String = words
        .iter()
        .copied()
        .filter(|word| !matches!(*word, "l" | "r" | "left" | "right" | "lft" | "rgt"))
        .collect();
    let digits = (numbers > 1).then_some(first_number).flatten();
    if let Some(role) = role_of_key(&key, side, digits) {
        return Some(NamedRole { role, key });
    }
    if side.is_some() {
        return None;
    }
    // "lhand", "leftarm", "handr": the side is joined to the word.
    let grown = [
        ("left", Side::Left),
        ("right", Side::Right),
        ("l", Side::Left),
        ("r", Side::Right),
    ];
    grown.into_iter().find_map(|(prefix, side)| {
        let bare = key
            .strip_prefix(prefix)
            .or_else(|| key.strip_suffix(prefix))?;
        Some(NamedRole {
            role: role_of_key(bare, Some(side), digits)?,
            key: bare.to_owned(),
        })
    })
}

/// `digits` is the finger's number where fingers have numbers.
fn role_of_key(key: &str, side: Option<Side>, digits: Option<u32>) -> Option<Role> {
    let Some(side) = side else {
        return match key {
            "hips" | "hip" | "pelvis" | "pelvic" => Some(Role::Hips),
            "spine" | "chest" | "upperchest" | "lowerback" | "upperback" | "midback" | "back"
            | "torso" | "lowertorso" | "uppertorso" | "abdomen" | "ab" | "abs" | "waist"
            | "thorax" | "upperbody" | "lowerspine" | "upperspine" | "middlespine"
            | "spinelower" | "spineupper" | "spinemid" | "ribcage" | "stomach" | "trunk" => {
                Some(Role::Spine)
            }
            "neck" | "lowerneck" | "upperneck" | "necklower" | "neckupper" => Some(Role::Neck),
            "head" | "skull" => Some(Role::Head),
            _ => None,
        };
    };
    if let Some(digit) = digit_of_key(key, digits) {
        return Some(Role::Finger(side, digit));
    }
    match key {
        "shoulder" | "clavicle" | "clav" | "collar" | "collarbone" | "scapula" | "inshoulder" => {
            Some(Role::Clavicle(side))
        }
        "arm" | "upperarm" | "uparm" | "uarm" | "armupper" | "shldr" | "bicep" | "humerus" => {
            Some(Role::UpperArm(side))
        }
        "forearm" | "lowerarm" | "lowarm" | "loarm" | "farm" | "armlower" | "elbow" => {
            Some(Role::Forearm(side))
        }
        "hand" | "wrist" | "palm" => Some(Role::Hand(side)),
        "thigh" | "upleg" | "upperleg" | "legupper" | "hip" | "femur" | "uleg" => {
            Some(Role::Thigh(side))
        }
        "leg" | "lowerleg" | "lowleg" | "loleg" | "leglower" | "shin" | "calf" | "knee"
        | "tibia" => Some(Role::Shin(side)),
        "foot" | "ankle" | "feet" => Some(Role::Foot(side)),
        "toe" | "toes" | "ball" | "forefoot" => Some(Role::Toe(side)),
        _ => front_leg(key, side),
    }
}

/// Front legs of animals are arms: `FrontUpperLeg`, `foreleg_lower`, `front_paw`. Hind legs are found by their shape, because what the
/// bones of their names are differs between files (a "lower leg" may be the shin or the long foot).
fn front_leg(key: &str, side: Side) -> Option<Role> {
    let part = key
        .strip_prefix("front")
        .or_else(|| key.strip_prefix("fore"))?;
    match part {
        "shoulder" | "clavicle" | "scapula" => Some(Role::Clavicle(side)),
        "leg" | "upper" | "upperleg" | "legupper" | "upleg" | "thigh" => Some(Role::UpperArm(side)),
        "lower" | "lowerleg" | "leglower" | "lowleg" | "shin" | "knee" => Some(Role::Forearm(side)),
        "foot" | "paw" | "hoof" | "wrist" | "ankle" => Some(Role::Hand(side)),
        _ => None,
    }
}

fn digit_of_key(key: &str, digits: Option<u32>) -> Option<Digit> {
    // "mid" and "ring" are also parts of other names: MidFrontLeg, SpringSpine.
    const NO_FINGERS: [&str; 6] = ["metacarpal", "toe", "leg", "foot", "spine", "back"];
    if NO_FINGERS.iter().any(|part| key.contains(part)) {
        return None;
    }
    let numbered = match digits {
        Some(1) => Digit::Thumb,
        Some(2) => Digit::Index,
        Some(3) => Digit::Middle,
        Some(4) => Digit::Ring,
        Some(5) => Digit::Little,
        _ => Digit::All,
    };
    [
        ("thumb", Digit::Thumb),
        ("index", Digit::Index),
        ("middle", Digit::Middle),
        ("mid", Digit::Middle),
        ("ring", Digit::Ring),
        ("pinky", Digit::Little),
        ("pinkie", Digit::Little),
        ("little", Digit::Little),
        ("finger", numbered),
    ]
    .into_iter()
    .find(|(word, _)| key.contains(word))
    .map(|(_, digit)| digit)
}

/// Splits at separators, at capitals and between letters and digits; lower case, without a
/// namespace.
fn words_of(name: &str) -> Vec<String> {
    let bare = name.rsplit([':', '|']).next().unwrap_or(name);
    let letters: Vec<char> = bare.chars().take(128).collect();
    let mut words: Vec<String> = Vec::new();
    let mut word = String::new();
    for (index, &c) in letters.iter().enumerate() {
        let before = index.checked_sub(1).map(|i| letters[i]);
        let next_is_small = letters
            .get(index + 1)
            .is_some_and(|next| next.is_lowercase());
        let hump = c.is_uppercase()
            && before.is_some_and(|b| b.is_lowercase() || (b.is_uppercase() && next_is_small));
        let changes = before.is_some_and(|b| b.is_ascii_digit() != c.is_ascii_digit());
        if (hump || changes || !c.is_alphanumeric()) && !word.is_empty() {
            words.push(std::mem::take(&mut word));
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
    }
    if !word.is_empty() {
        words.push(word);
    }
    words
}

#[cfg(test)]
mod tests;
