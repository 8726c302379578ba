//! Whole files of every format, changed at random: bytes and words replaced, pieces cut out, doubled and exchanged.
//!
//! What a reader accepts goes through all stages, from welding to export (`tests/fuzz/src/pipeline.rs`). The number of changes is
//! fixed, and they are the same every time. `tests/scripts/night.sh` tries many more, and `tests/fuzz` does the same with coverage.
//!
//! | variable | meaning | default |
//! |---|---|---|
//! | `SINEW_FUZZ_CASES` | changes of each whole file; all that are read go through all stages | as in `seeds` |
//! | `SINEW_FUZZ_SALT` | other changes | 0 |
//! | `SINEW_FUZZ_ONLY` | names of whole files, `a.glb,b.bvh` | all |

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use sinew::io::load_from_memory;
use sinew::progress::Progress;
use sinew::stages::Subject;

use super::made::glb;
use super::seeds::{Content, Seed, seeds};
use super::{STAGES_LIMIT, Value, guarded, limited, manifest, pipeline};
use crate::common::folder::TestFolder;
use crate::common::random::Random;

/// Words that have hurt readers before.
const WORDS: [&str; 28] = [
    "0",
    "-1",
    "1",
    "4294967295",
    "4294967296",
    "18446744073709551615",
    "99999999999999999999",
    "1e308",
    "1e39",
    "-1e400",
    "nan",
    "inf",
    "2147483648",
    "255",
    "0.5",
    "\n",
    "\n\n",
    "#",
    " ",
    "\0",
    "\r",
    "é",
    "{",
    "}",
    "[",
    "*1000000000",
    "list",
    "\"",
];

pub fn mutate(seed: &[u8], random: &mut Random) -> Vec<u8> {
    if seed.is_empty() {
        return Vec::new();
    }
    let mut bytes = seed.to_vec();
    for _ in 0..=random.below(4) {
        if bytes.is_empty() {
            break;
        }
        let at = random.below(bytes.len());
        let length = random.below(bytes.len() - at).min(1 << random.below(12));
        match random.below(9) {
            0 => bytes.truncate(at),
            1 => drop(bytes.drain(at..at + length)),
            2 => {
                let piece = bytes[at..at + length].to_vec();
                let to = random.below(bytes.len());
                bytes.splice(to..to, piece);
            }
            3 => drop(bytes.splice(at..at, WORDS[random.below(WORDS.len())].bytes())),
            4 => {
                // A word for a word.
                let is_end = |b: &u8| b.is_ascii_whitespace() || b",:/".contains(b);
                let start = bytes[..at].iter().rposition(is_end).map_or(0, |i| i + 1);
                let end = bytes[at..]
                    .iter()
                    .position(is_end)
                    .map_or(bytes.len(), |i| at + i);
                bytes.splice(
                    start..end.max(start),
                    WORDS[random.below(WORDS.len())].bytes(),
                );
            }
            5 => {
                // A number of four bytes.
                let number = [
                    0,
                    1,
                    u32::MAX,
                    i32::MAX as u32,
                    0x7fc0_0000,
                    0x7f80_0000,
                    0xff00_0000,
                ][random.below(7)]
                .to_le_bytes();
                bytes
                    .iter_mut()
                    .skip(at)
                    .zip(number)
                    .for_each(|(byte, new)| *byte = new);
            }
            _ => {
                if let Some(byte) = bytes.get_mut(at) {
                    *byte = if random.below(2) == 0 {
                        random.bits() as u8
                    } else {
                        *byte ^ (1 << random.below(8))
                    };
                }
            }
        }
    }
    bytes
}

/// A number from the environment.
pub fn number(name: &str) -> Option<usize> {
    std::env::var(name).ok()?.parse().ok()
}

/// Whether a whole file is to be changed.
pub fn is_wanted(name: &str) -> bool {
    std::env::var("SINEW_FUZZ_ONLY")
        .map_or(true, |only| only.split(',').any(|wanted| wanted == name))
}

fn changed(content: &Content, random: &mut Random) -> Vec<u8> {
    match content {
        Content::Bytes(bytes) => mutate(bytes, random),
        Content::Glb { json, binary } => {
            let (mut json, mut binary) = (json.clone().into_bytes(), binary.clone());
            // Changes of the whole file hit its header and its lengths.
            match random.below(8) {
                0 => return mutate(&content.whole(), random),
                1..5 => json = mutate(&json, random),
                _ => binary = mutate(&binary, random),
            }
            glb(&json, &binary)
        }
    }
}

/// Changes of one file that were read, and those that were skinned, too.
#[derive(Debug, Default, Clone, Copy)]
struct Counts {
    read: usize,
    skinned: usize,
}

#[cfg(feature = "gpu")]
fn check_up(subject: &Subject) {
    drop(sinew::session::Checkup::of(subject));
}

#[cfg(not(feature = "gpu"))]
fn check_up(subject: &Subject) {
    sinew::mesh::MeshCheckup::of(&subject.skin.mesh, &Progress::new()).expect("nobody cancels");
}

fn try_changes(
    name: &str,
    content: &Content,
    beside: &[(&str, &[u8])],
    [cases, runs]: [usize; 2],
    salt: u64,
) -> Counts {
    let folder = TestFolder::new("mutated");
    let salt = salt + 1000 * number("SINEW_FUZZ_SALT").unwrap_or(0) as u64;
    let mut random = Random(salt);
    let mut counts = Counts::default();
    for case in 0..cases {
        let bytes = changed(content, &mut random);
        let mut files = vec![(name, bytes.as_slice())];
        files.extend(beside);
        let what = format!("{name}, salt {salt}, case {case}");
        let Ok(character) = guarded(&what, || load_from_memory(&files, &Progress::new())) else {
            continue;
        };
        counts.read += 1;
        if counts.skinned == runs {
            continue;
        }
        // Files are synchronised with the disk, which takes most of the time.
        let folder = (case % 16 == 0).then_some(folder.0.as_path());
        let run = || pipeline::run(&what, character, folder, check_up);
        counts.skinned += usize::from(limited(&what, STAGES_LIMIT, run));
    }
    counts
}

#[test]
fn mutated_files_of_every_format() {
    let mut found = Vec::new();
    for (salt, seed) in seeds().iter().enumerate() {
        let Seed {
            name,
            content,
            beside,
            cases,
            runs,
        } = seed;
        if !is_wanted(name) {
            continue;
        }
        let whole = content.whole();
        let mut files = vec![(*name, whole.as_slice())];
        files.extend(*beside);
        if *name != "b.stl" {
            load_from_memory(&files, &Progress::new())
                .unwrap_or_else(|error| panic!("{name} is whole: {error}"));
        }
        let limits =
            number("SINEW_FUZZ_CASES").map_or([*cases, *runs], |cases| [cases, usize::MAX]);
        let start = std::time::Instant::now();
        let tried = || try_changes(name, content, beside, limits, salt as u64);
        match catch_unwind(AssertUnwindSafe(tried)) {
            Ok(Counts { read, skinned }) => println!(
                "{name}: of {} changes {read} are read and {skinned} skinned in {:.1} s",
                limits[0],
                start.elapsed().as_secs_f32()
            ),
            // The other formats are tried, too.
            Err(panic) => found.push(
                panic
                    .downcast::<String>()
                    .map_or_else(|_| (*name).to_owned(), |text| *text),
            ),
        }
    }
    assert!(found.is_empty(), "{}", found.join("\n"));
}

/// The small ones of the test data.
#[test]
fn mutated_files_of_the_test_data() {
    let Some(folder) = super::skip::data() else {
        return;
    };
    let cases = number("SINEW_FUZZ_CASES").map_or(10, |cases| cases / 20);
    let small = |item: &&Value| item["size"].as_u64().is_some_and(|size| size < 60_000);
    for (i, item) in manifest(&folder).iter().filter(small).enumerate() {
        let file = item["file"].as_str().expect("a file");
        let bytes = std::fs::read(folder.join(file)).expect("the file");
        let name = Path::new(file)
            .file_name()
            .and_then(|name| name.to_str())
            .expect("a name");
        if !bytes.is_empty() && is_wanted(name) {
            try_changes(name, &Content::Bytes(bytes), &[], [cases, 2], i as u64);
        }
    }
}
