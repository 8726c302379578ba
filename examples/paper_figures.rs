//! The figures by which papers on skinning compare their methods, with the built-in characters: one picture a figure.
//!
//! `cargo run --release --example paper_figures -- [FOLDER [NAME…]]`: all figures, or those of these names.

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Name of the file, and the words of `sinew render` that draw it.
const FIGURES: [(&str, &str); 12] = [
    // Kavan, Collins, Žára, O'Sullivan 2008, figure 2: the candy wrapper of linear blending.
    (
        "candy_wrapper",
        "builtin:cylinder --method lbs,dqs,cor,swing-twist,ddm --rotate upper=0,170,0",
    ),
    // Kavan, Sorkine 2012, figure 2: the bulge of dual quaternions.
    (
        "bulge",
        "builtin:cylinder --method lbs,dqs,cor,swing-twist,ddm --rotate upper=0,0,110",
    ),
    // Kavan, Sorkine 2012, figure 9: a heel.
    (
        "heel",
        "builtin:mannequin --method lbs,dqs,cor,swing-twist --rotate foot.L=45,0,0 --frame foot.L --view left",
    ),
    // Kavan, Sorkine 2012, figure 8: a raised arm.
    (
        "shoulder",
        "builtin:mannequin --method lbs,dqs,cor,swing-twist --rotate upper_arm.L=0,0,90 --frame upper_arm.L",
    ),
    // Le, Hodgins 2016: an elbow that bends while the forearm twists.
    (
        "elbow",
        "builtin:arm --method lbs,dqs,cor,swing-twist --rotate forearm=0,0,110 --rotate hand=80,0,0",
    ),
    // Vaillant et al. 2014: a twisted torso, whose belly must stay smooth.
    (
        "twisted_torso",
        "builtin:mannequin --method lbs,dqs,implicit,pd --rotate spine.1=0,25,0 --rotate spine.2=0,25,0 --rotate spine.3=0,25,0 --frame spine.2 --view front",
    ),
    // Vaillant et al. 2014: a knee bent by 150°.
    (
        "deep_knee",
        "builtin:mannequin --method lbs,dqs,implicit,pd --rotate shin.L=150,0,0 --frame shin.L --zoom 2 --view left",
    ),
    // Vaillant et al. 2014: an arm against the belly.
    (
        "arm_against_belly",
        "builtin:mannequin --method lbs,dqs,implicit,pd --rotate upper_arm.L=0,-20,-45 --rotate forearm.L=0,-75,-20 --frame forearm.L --view front",
    ),
    // Vaillant et al. 2014: an elbow without a biceps, and with one that swells.
    (
        "elbow_without_biceps",
        "builtin:mannequin --method implicit --rotate upper_arm.L=0,0,-35 --rotate forearm.L=-103,-42,51 --frame forearm.L --view left",
    ),
    (
        "elbow_with_biceps",
        "builtin:mannequin --method implicit --rotate upper_arm.L=0,0,-35 --rotate forearm.L=-103,-42,51 --muscle biceps.L=bone:upper_arm.L,bulge:1.2 --frame forearm.L --view left",
    ),
    // Vaillant et al. 2014: a finger whose parts meet in a contact surface, and one with bulges beside it.
    (
        "finger_contact",
        "builtin:mannequin --method implicit --set operator=contact --rotate index.1.L=4.5,0.7,80 --rotate index.2.L=4.5,0.7,80 --frame index.1.L",
    ),
    (
        "finger_bulge",
        "builtin:mannequin --method implicit --set operator=bulge --rotate index.1.L=4.5,0.7,80 --rotate index.2.L=4.5,0.7,80 --frame index.1.L",
    ),
];

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().map_or_else(PathBuf::new, PathBuf::from);
    let chosen: Vec<String> = arguments.collect();
    let unknown = |name: &&String| FIGURES.iter().all(|(figure, _)| figure != name);
    if let Some(name) = chosen.iter().find(unknown) {
        eprintln!("error: there is no figure {name}; see FIGURES in this example");
        return ExitCode::FAILURE;
    }
    let is_chosen = |name: &str| chosen.is_empty() || chosen.iter().any(|own| own == name);
    for (name, words) in FIGURES.iter().filter(|(name, _)| is_chosen(name)) {
        let picture = folder.join(name).with_extension("png");
        let words = ["sinew", "render"].into_iter().chain(words.split(' '));
        let size = ["--size", "1600x560", "-o"];
        let words = words.chain(size).map(OsString::from);
        let drawn = sinew::cli::run_from(words.chain([picture.into()]), |_, _, _, _| Ok(()));
        if drawn != ExitCode::SUCCESS {
            return drawn;
        }
    }
    ExitCode::SUCCESS
}
