//! Several outputs by one command, numbered pictures, arrays, and what packages install.

use std::fs;

use crate::common::folder::TestFolder;
use crate::program::{json, names, sinew, write};

#[test]
fn characters_methods_and_clips_are_baked_by_one_command() {
    let folder = TestFolder::new("batch");
    let out = folder.file("out/{character}_{method}_{clip}.json");
    let report = json(&sinew(&[
        &"bake",
        &"builtin:arm",
        &"builtin:cylinder",
        &"--methods=lbs,dqs",
        &"--clips=all",
        &"--frames=0-2",
        &"-o",
        &out,
        &"--json",
    ]));
    let made = report.as_array().unwrap();
    let files: Vec<&str> = (made.iter())
        .map(|one| one["files"][0].as_str().unwrap())
        .collect();
    assert!(files.len() >= 4, "{files:?}");
    for (one, file) in made.iter().zip(&files) {
        assert_eq!(one["frames"], 3, "{file}");
        let method = one["method"].as_str().unwrap();
        assert!(file.contains(&format!("_{method}_")), "{file}");
        // The same as by itself.
        let (clip, _) = file.rsplit_once(".json").unwrap();
        let clip = clip.rsplit_once('_').unwrap().1;
        let character = format!("builtin:{}", one["character"].as_str().unwrap());
        let alone = folder.file("alone.json");
        let single = sinew(&[
            &"bake",
            &character,
            &"--method",
            &method,
            &"--clip",
            &clip,
            &"--frames=0-2",
            &"-o",
            &alone,
        ]);
        assert!(single.status.success(), "{file}");
        assert_eq!(fs::read(file).unwrap(), fs::read(&alone).unwrap(), "{file}");
    }
}

#[test]
fn what_fails_in_a_batch_is_said_and_the_rest_is_written() {
    let folder = TestFolder::new("batch-failing");
    let broken = write(&folder, "broken.obj", "v 0 0\n");
    let output = sinew(&[
        &"bake",
        &broken,
        &"builtin:arm",
        &"--methods=lbs",
        &"--settle",
        &"-o",
        &folder.file("{character}.obj"),
    ]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(
        said.contains("broken.obj") && said.contains("1 of 2"),
        "{said}"
    );
    assert_eq!(names(&folder), ["arm.mtl", "arm.obj", "broken.obj"]);
    for (arguments, part) in [
        (&["--methods=lbs,dqs", "--clips=all"][..], "{method}"),
        (&["--methods=lbs", "--clips=a,b"][..], "{clip}"),
    ] {
        let mut words = vec!["bake", "builtin:arm", "-o", "x.pc2"];
        words.extend(arguments);
        let words: Vec<&dyn AsRef<std::ffi::OsStr>> = (words.iter())
            .map(|word| word as &dyn AsRef<std::ffi::OsStr>)
            .collect();
        let output = sinew(&words);
        let said = String::from_utf8_lossy(&output.stderr).into_owned();
        assert_eq!(output.status.code(), Some(2), "{said}");
        assert!(said.contains(part), "{said}");
    }
}

#[test]
fn numpy_reads_the_arrays_of_a_bake() {
    let folder = TestFolder::new("arrays");
    let (npz, positions) = (folder.file("a.npz"), folder.file("a.json"));
    for out in [&npz, &positions] {
        let baked = sinew(&[
            &"bake",
            &"builtin:gecko",
            &"--method=lbs",
            &"--clip=0",
            &"--frames=2-6",
            &"-o",
            out,
        ]);
        assert!(baked.status.success());
    }
    let numpy = std::process::Command::new("python3")
        .args(["-c", "import numpy"])
        .status();
    if !numpy.is_ok_and(|status| status.success()) {
        return crate::common::skip::skipped("numpy is not installed");
    }
    // Linear blend skinning by the arrays alone gives the baked positions.
    let script = "
import json, sys, numpy as np
a = np.load(sys.argv[1])
baked = np.array(json.load(open(sys.argv[2]))['frames'], dtype=np.float32)
assert a['positions'].shape == baked.shape and np.array_equal(a['positions'], baked)
frames, vertices, _ = baked.shape
joints = len(a['joints'])
assert a['weights'].shape == (vertices, joints) and a['world_from_joint'].shape == (frames, joints, 4, 4)
assert np.allclose(a['weights'].sum(1), 1, atol=1e-5) and a['joints'].dtype.kind == 'U'
assert a['faces'].max() < vertices and a['parents'][0] == -1
assert np.allclose(a['times'], np.arange(2, 7) / 30)
assert np.allclose(np.linalg.norm(a['normals'], axis=2), 1, atol=1e-3)
size = np.ptp(a['rest'], axis=0).max()
worst = 0
inverse = np.linalg.inv(a['world_from_joint'][0])
first = a['positions'][0]
for f in range(1, frames):
    # From the first frame to this one, vertices of one joint move rigidly with it.
    rigid = a['weights'].max(1) > 0.9999
    j = a['weights'].argmax(1)
    m = np.einsum('jab,jbc->jac', a['world_from_joint'][f], inverse)
    moved = np.einsum('vab,vb->va', m[j], np.c_[first, np.ones(vertices)])[:, :3]
    worst = max(worst, np.abs(moved - a['positions'][f])[rigid].max())
assert rigid.sum() > 10 and worst < 1e-4 * size, worst
";
    let output = std::process::Command::new("python3")
        .args(["-c", script])
        .args([&npz, &positions])
        .output()
        .unwrap();
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

#[test]
fn packages_get_completions_and_manual_pages() {
    for (shell, part) in [
        ("bash", "complete -F"),
        ("zsh", "#compdef sinew"),
        ("fish", "complete -c sinew"),
    ] {
        let output = sinew(&[&"completions", &shell]);
        let script = String::from_utf8_lossy(&output.stdout).into_owned();
        assert!(output.status.success() && script.contains(part), "{shell}");
        assert!(script.contains("one-cache"), "{shell}");
    }
    let folder = TestFolder::new("man");
    assert!(sinew(&[&"man", &"-o", &folder.0]).status.success());
    let names = names(&folder);
    for verb in ["bake", "info", "render", "compare"] {
        let page = fs::read_to_string(folder.file(&format!("sinew-{verb}.1"))).unwrap();
        assert!(
            page.contains(".SH NAME") && page.contains("Examples"),
            "{verb}"
        );
    }
    assert!(names.contains(&"sinew.1".to_owned()) && !names.contains(&"sinew-help.1".to_owned()));
}

#[test]
fn a_verb_says_what_takes_time_only_when_asked() {
    let folder = TestFolder::new("verbose");
    let said = |level: &str| {
        let output = sinew(&[
            &"bake",
            &"builtin:arm",
            &"--method=lbs",
            &"--settle",
            &"-o",
            &folder.file("a.json"),
            &level,
        ]);
        String::from_utf8_lossy(&output.stderr).into_owned()
    };
    assert!(said("-vv").contains("1 frames of "), "{}", said("-vv"));
    assert!(!said("-v").contains("1 frames of "));
}

#[test]
fn a_cache_that_can_not_be_written_to_is_said() {
    let folder = TestFolder::new("no-cache");
    let file = write(&folder, "file", "");
    let output = sinew(&[
        &"bake",
        &"builtin:arm",
        &"--method=lbs",
        &"--settle",
        &"--cache",
        &file,
        &"-o",
        &folder.file("a.json"),
    ]);
    let said = String::from_utf8_lossy(&output.stderr).into_owned();
    assert!(output.status.success(), "{said}");
    assert_eq!(said.matches("can't be written to").count(), 1, "{said}");
}

#[test]
fn springs_are_refused_where_they_cannot_be_written() {
    let folder = TestFolder::new("springs");
    let cases = [
        ("rig.usda", 2, "springs are written as .glb"),
        ("rig.vrm", 1, "only a character that was read from VRM"),
    ];
    for (file, code, sentence) in cases {
        let out = folder.file(file);
        let output = sinew(&[&"distill", &"builtin:arm", &"--springs", &"-o", &out]);
        let said = String::from_utf8_lossy(&output.stderr);
        assert_eq!(output.status.code(), Some(code), "{said}");
        assert!(said.contains(sentence), "{said}");
        assert!(!out.exists(), "{file}");
    }
}

#[test]
fn standard_output_gets_the_file_and_nothing_else() {
    let folder = TestFolder::new("stdout");
    for (kind, more) in [
        ("pc2", &["--method=lbs", "--clip=0", "--frames=0-2"][..]),
        ("glb", &["--rig"]),
        ("bvh", &["--clip=0"]),
    ] {
        let file = folder.file(&format!("out.{kind}"));
        let named = sinew(&with(more, &[&"-o", &file]));
        assert!(named.status.success(), "{kind}");
        let piped = sinew(&with(more, &[&"-o", &"-", &"--kind", &kind]));
        assert!(piped.status.success(), "{kind}: {piped:?}");
        assert!(piped.stdout == fs::read(&file).unwrap(), "{kind}");
    }
    for (more, code, part) in [
        (&["--rig", "-o", "-"][..], 2, "--kind"),
        (&["--rig", "-o", "-", "--kind=glb", "--json"], 2, "report"),
        (&["--rig", "-o", "x.glb", "--kind=glb"], 2, "-o -"),
        (&["--rig", "-o", "-", "--kind=pc2"], 2, "rig"),
    ] {
        let refused = sinew(&with(more, &[]));
        let said = String::from_utf8_lossy(&refused.stderr).into_owned();
        assert_eq!(refused.status.code(), Some(code), "{said}");
        assert!(said.contains(part) && refused.stdout.is_empty(), "{said}");
    }
}

/// A bake of the arm.
fn with<'a>(
    more: &'a [&'a str],
    output: &[&'a dyn AsRef<std::ffi::OsStr>],
) -> Vec<&'a dyn AsRef<std::ffi::OsStr>> {
    let start: [&dyn AsRef<std::ffi::OsStr>; 2] = [&"bake", &"builtin:arm"];
    let more = more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>);
    start
        .into_iter()
        .chain(more)
        .chain(output.iter().copied())
        .collect()
}

#[test]
fn a_compressed_glb_is_smaller_and_says_its_error() {
    let folder = TestFolder::new("compress");
    let (plain, small) = (folder.file("plain.glb"), folder.file("small.glb"));
    for more in [
        &["--rig"][..],
        &["--method=lbs", "--clip=0", "--frames=0-9"],
    ] {
        assert!(sinew(&with(more, &[&"-o", &plain])).status.success());
        let report = json(&sinew(&with(
            more,
            &[&"-o", &small, &"--compress", &"--json"],
        )));
        let (before, after) = (fs::read(&plain).unwrap(), fs::read(&small).unwrap());
        let said = &report["compression"];
        assert_eq!(said["bytes_before"], before.len());
        assert_eq!(said["bytes_after"], after.len());
        assert!(after.len() * 3 < before.len() * 2, "{more:?}");
        // An arm of less than a metre, on a grid of 65535 steps.
        let error = said["position_error_mm"].as_f64().unwrap();
        assert!(error > 0.0 && error < 0.1, "{error}");
        let piped = sinew(&with(more, &[&"-o", &"-", &"--kind=glb", &"--compress"]));
        assert!(piped.stdout == after, "{more:?}");
    }
    let refused = sinew(&with(&["--method=lbs", "--compress", "-o", "x.pc2"], &[]));
    assert_eq!(refused.status.code(), Some(2));
}

#[test]
fn a_distilled_rig_is_compressed_where_that_is_asked_for() {
    let folder = TestFolder::new("distill-compress");
    let distilled = |name: &str, more: &[&str]| {
        let out = folder.file(name);
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
            &"distill",
            &"builtin:cylinder",
            &"--method=lbs",
            &"--clip=0",
            &"--held-back=none",
            &"--clips-only",
            &"--bones=2",
            &"-o",
            &out,
        ];
        words.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        let output = sinew(&words);
        (output, fs::metadata(&out).map_or(0, |file| file.len()))
    };
    let (plain, before) = distilled("plain.glb", &["--json"]);
    assert!(json(&plain).get("compression").is_none());
    let (small, after) = distilled("small.glb", &["--json", "--compress"]);
    let said = &json(&small)["compression"];
    assert_eq!(
        (&said["bytes_before"], &said["bytes_after"]),
        (&before.into(), &after.into())
    );
    assert!(after * 3 < before * 2, "{before} {after}");
    let (refused, written) = distilled("small.usdc", &["--compress"]);
    assert_eq!((refused.status.code(), written), (Some(2), 0));
}
