//! The figures by which papers on skinning compare closed-form methods, with the built-in characters: one picture a figure.
//!
//! `cargo run --release --example paper_figures -- [FOLDER]`

use std::ffi::OsString;
use std::path::PathBuf;
use std::process::ExitCode;

/// Name of the file, and the words of `sinew render` that draw it.
const FIGURES: [(&str, &str); 5] = [
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
];

fn main() -> ExitCode {
    let folder = std::env::args()
        .nth(1)
        .map_or_else(PathBuf::new, PathBuf::from);
    for (name, words) in FIGURES {
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
