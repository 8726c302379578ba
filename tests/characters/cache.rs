//! What is read from the cache is what would be made.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::Arc;

use crate::common::folder::TestFolder;
use crate::common::skip;
use sinew::cache::Cache;
use sinew::character::{Character, SimVertices};
use sinew::dynamics::Params;
use sinew::math::Quat;
use sinew::methods::{Actor, Frame, MethodId, Subject};
use sinew::progress::Progress;

fn entries(folder: &TestFolder) -> BTreeMap<PathBuf, Vec<u8>> {
    let Ok(listing) = fs::read_dir(&folder.0) else {
        return BTreeMap::new();
    };
    listing
        .map(|item| item.unwrap().path())
        .map(|path| (path.clone(), fs::read(path).unwrap()))
        .collect()
}

fn characters() -> Vec<Character> {
    let mut characters: Vec<Character> = sinew::io::builtin::NAMES
        .iter()
        .map(|name| sinew::io::builtin::load_builtin(name).unwrap())
        .collect();
    for character in &mut characters {
        character.flesh.sim_vertices = SimVertices::About(500);
    }
    if let Some(data) = skip::data() {
        let file = data.join("A_rigged/mh_female_cmu/mh_female_cmu.glb");
        characters.push(sinew::io::load(&[file], &Progress::new()).unwrap());
    }
    characters
}

/// Everything that was derived, to the bit.
fn derived(subject: &Subject) -> [Vec<u8>; 3] {
    [
        postcard::to_stdvec(subject.body()).unwrap(),
        postcard::to_stdvec(&subject.upsampling().map(|shared| &**shared)).unwrap(),
        postcard::to_stdvec(&*subject.flesh().unwrap().tissue).unwrap(),
    ]
}

#[test]
fn cached_results_equal_computed_ones() {
    for character in characters().into_iter().map(Arc::new) {
        let folder = TestFolder::absent("cache-made");
        let cache = Cache::in_folder(&folder.0);
        let build = |cache: &Cache| {
            derived(&Subject::build_with(character.clone(), cache, &Progress::new()).unwrap())
        };
        let expected = build(&Cache::none());
        assert!(entries(&folder).is_empty());
        assert!(build(&cache) == expected, "{}", character.name);
        let written = entries(&folder);
        assert!(!written.is_empty());
        assert!(build(&cache) == expected, "{}", character.name);
        assert_eq!(entries(&folder).len(), written.len());
        // Damaged at some place, every entry is made again as it was.
        for (number, (path, bytes)) in written.iter().enumerate() {
            let mut damaged = bytes.clone();
            let place = (number + 1) * damaged.len() / 5;
            damaged[place] ^= 0x10;
            fs::write(path, damaged).unwrap();
        }
        assert!(build(&cache) == expected, "{}", character.name);
        assert!(entries(&folder) == written, "{}", character.name);
    }
}

/// What methods compute at binding: the fields of swing and twist, and the matrices of direct delta mush.
#[test]
fn tables_of_methods_are_read_back() {
    let folder = TestFolder::absent("cache-methods");
    let character = Arc::new(sinew::io::builtin::load_builtin("arm").unwrap());
    let skin = |cache: &Cache, method: MethodId| {
        let subject = Subject::build_with(character.clone(), cache, &Progress::new()).unwrap();
        let subject = Arc::new(subject);
        let (physics, progress) = (Params::default(), Progress::new());
        let mut actor = Actor::bind(&subject, method, &physics, &progress).unwrap();
        let mut pose = subject.character.skeleton.rest_pose();
        for local in &mut pose.locals {
            local.rotation *= Quat::from_euler_angles(0.3, 0.2, -0.4);
        }
        let frame = Frame {
            world_from_joint: &subject.character.skeleton.world_from_joint(&pose),
            dt_secs: 0.0,
        };
        actor.advance(&frame).unwrap();
        actor.positions().to_vec()
    };
    for method in [MethodId::SWING_TWIST, MethodId::DDM] {
        let expected = skin(&Cache::none(), method);
        let before = entries(&folder).len();
        let cache = Cache::in_folder(&folder.0);
        assert!(skin(&cache, method) == expected, "{method}");
        let written = entries(&folder).len();
        assert!(written > before, "{method}");
        assert!(skin(&cache, method) == expected, "{method}");
        assert_eq!(entries(&folder).len(), written, "{method}");
    }
}

#[test]
fn settings_of_the_geometry_have_separate_entries() {
    let folder = TestFolder::absent("cache-settings");
    let character = Arc::new(sinew::io::builtin::load_builtin("gecko").unwrap());
    let subject =
        Subject::build_with(character, &Cache::in_folder(&folder.0), &Progress::new()).unwrap();
    let unchanged = derived(&subject);
    let before = entries(&folder).len();
    let mut settings = (*subject.settings).clone();
    settings
        .bones
        .entry(3)
        .or_default()
        .edit("stiffness:2,density:0.5")
        .unwrap();
    assert!(derived(&subject.with_settings(&settings)) == unchanged);
    assert_eq!(entries(&folder).len(), before, "factors change no geometry");
    settings
        .bones
        .entry(3)
        .or_default()
        .edit("virtual")
        .unwrap();
    let changed = derived(&subject.with_settings(&settings));
    assert_eq!(entries(&folder).len(), before + 1);
    assert!(changed[2] != unchanged[2]);
}

#[test]
fn the_command_line_has_a_folder_or_none() {
    let folder = TestFolder::absent("cache-options");
    let home = TestFolder::absent("cache-home");
    let cache = folder.0.join("below/it");
    let sinew = |arguments: &[&str]| {
        let mut command = Command::new(env!("CARGO_BIN_EXE_sinew"));
        for variable in ["XDG_CACHE_HOME", "HOME", "LOCALAPPDATA"] {
            command.env(variable, &home.0);
        }
        let output = command
            .args(["info", "builtin:gecko"])
            .args(arguments)
            .output()
            .unwrap();
        assert!(
            output.status.success(),
            "{}",
            String::from_utf8_lossy(&output.stderr)
        );
        output.stdout
    };
    let expected = sinew(&["--no-cache"]);
    assert!(!folder.0.exists() && !home.0.exists());
    let named = ["--cache", cache.to_str().unwrap()];
    assert_eq!(sinew(&named), expected);
    let count = fs::read_dir(&cache).unwrap().count();
    assert!(count > 0 && !home.0.exists());
    assert_eq!(sinew(&named), expected);
    assert_eq!(fs::read_dir(&cache).unwrap().count(), count);
    assert_eq!(sinew(&[]), expected);
    assert!(home.0.exists());
    // A file in the place of the folder is no reason to fail.
    let occupied = folder.0.join("occupied");
    fs::write(&occupied, b"x").unwrap();
    assert_eq!(sinew(&["--cache", occupied.to_str().unwrap()]), expected);
}
