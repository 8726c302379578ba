//! What is drawn.

use std::fs;

use crate::common::folder::TestFolder;
use crate::program::{BONES, json, no_gpu, sinew, tube, write};

#[test]
fn a_crowd_is_drawn_in_one_picture() {
    let folder = TestFolder::new("crowd");
    let render = |name: &str, more: &[&str]| {
        let out = folder.0.join(name);
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
            &"render",
            &"builtin:cylinder",
            &"--sim-vertices=300",
            &"--crowd=4",
            &"--size=320x200",
            &"-o",
            &out,
        ];
        arguments.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        (sinew(&arguments), out.clone())
    };
    for (name, more) in [
        ("a.png", &["--method=lbs"][..]),
        ("b.png", &["--method=pd", "--frames=3"]),
        ("c.gif", &["--method=pd", "--frames=0-2"]),
    ] {
        let (output, out) = render(name, more);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let picture = image::open(&out).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), (320, 200));
        let corner = *picture.get_pixel(0, 0);
        let differs = picture
            .pixels()
            .filter(|p| {
                (0..3)
                    .map(|i| u32::from(corner[i].abs_diff(p[i])))
                    .sum::<u32>()
                    > 60
            })
            .count();
        assert!(
            differs > 1000,
            "{name}: the crowd is seen in {differs} pixels"
        );
    }
    assert_eq!(
        render("d.png", &["--method=lbs,pd"]).0.status.code(),
        Some(2),
        "one method"
    );
    assert_eq!(
        render("d.png", &["--method=pd", "--device=cpu"])
            .0
            .status
            .code(),
        Some(2),
        "no crowd on the processor"
    );
}

#[test]
fn a_picture_has_the_requested_size() {
    let folder = TestFolder::new("picture");
    let out = folder.0.join("a.png");
    let output = sinew(&[
        &"render",
        &"builtin:cylinder",
        &"--method=lbs",
        &"--rotate=upper=0,0,60",
        &"--size=320x200",
        &"-o",
        &out,
    ]);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if no_gpu(&stderr) {
        return;
    }
    assert_eq!(output.status.code(), Some(0), "{stderr}");
    let picture = image::open(&out).unwrap().to_rgb8();
    assert_eq!(picture.dimensions(), (320, 200));
    let corner = *picture.get_pixel(0, 0);
    let centre = *picture.get_pixel(160, 110);
    let difference: u32 = (0..3)
        .map(|i| u32::from(corner[i].abs_diff(centre[i])))
        .sum();
    assert!(
        difference > 20,
        "the character is in the middle: {corner:?} {centre:?}"
    );
}

/// A turntable has as many pictures as asked for, in order around a character that is not round, and comes back to where it began.
#[test]
fn a_turntable_makes_one_turn() {
    use image::AnimationDecoder as _;

    let folder = TestFolder::new("turntable");
    let rotate = "--rotate=upper=0,0,70";
    for name in ["a.gif", "a.webp"] {
        let out = folder.0.join(name);
        let output = sinew(&[
            &"render",
            &"builtin:cylinder",
            &"--method=lbs",
            &rotate,
            &"--turntable=6",
            &"--size=120x100",
            &"-o",
            &out,
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let file = std::io::BufReader::new(fs::File::open(&out).unwrap());
        let frames = if name.ends_with("gif") {
            image::codecs::gif::GifDecoder::new(file)
                .unwrap()
                .into_frames()
                .collect_frames()
                .unwrap()
        } else {
            image::codecs::webp::WebPDecoder::new(file)
                .unwrap()
                .into_frames()
                .collect_frames()
                .unwrap()
        };
        let pictures: Vec<_> = frames.into_iter().map(image::Frame::into_buffer).collect();
        assert_eq!(pictures.len(), 6, "{name}");
        assert!(
            pictures
                .iter()
                .all(|picture| picture.dimensions() == (120, 100)),
            "{name}"
        );
        let distance = |a: usize, b: usize| -> u64 {
            pictures[a]
                .as_raw()
                .iter()
                .zip(pictures[b].as_raw())
                .map(|(a, b)| u64::from(a.abs_diff(*b)))
                .sum()
        };
        // A sixth of the way round is nearer than half of it, also over the end.
        for (near, far) in [(1, 3), (5, 3)] {
            assert!(
                0 < distance(0, near) && distance(0, near) < distance(0, far),
                "{name}: picture {near} and picture {far}"
            );
        }
    }
    let refused = sinew(&[
        &"render",
        &"builtin:cylinder",
        &"--method=lbs",
        &"--turntable=6",
        &"-o",
        &folder.0.join("a.jpg"),
    ]);
    assert_ne!(refused.status.code(), Some(0));
}

/// The sheet has the size asked for however many methods share it, and the insides of the flesh can be drawn.
#[test]
fn methods_share_one_picture_of_the_requested_size() {
    let folder = TestFolder::new("sheet");
    let out = folder.0.join("a.png");
    let turn = "--rotate=upper=0,0,60";
    let mut pictures = Vec::new();
    for more in ["--overlay=bones", "--overlay=volumes", "--overlay=base"] {
        let output = sinew(&[
            &"render",
            &"builtin:cylinder",
            &"--method=lbs,dqs,rigid",
            &turn,
            &more,
            &"--size=601x200",
            &"-o",
            &out,
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        assert_eq!(
            stderr.lines().count(),
            1,
            "nothing but what was written: {stderr}"
        );
        let picture = image::open(&out).unwrap().to_rgb8();
        assert_eq!(picture.dimensions(), (601, 200));
        assert!(!pictures.contains(&picture), "{more} changes nothing");
        pictures.push(picture);
    }
}

/// A wipe is made of two methods' pictures; a difference of a method with itself shows the colour of nothing only.
#[test]
fn methods_are_compared_in_one_picture() {
    let folder = TestFolder::new("compare");
    let out = folder.0.join("a.png");
    let picture = |method: &str, more: &[&str]| {
        let method = format!("--method={method}");
        let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
            &"render",
            &"builtin:cylinder",
            &method,
            &"--rotate=upper=0,0,80",
            &"--size=300x200",
        ];
        words.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
        words.extend([&"-o" as &dyn AsRef<std::ffi::OsStr>, &out]);
        let output = sinew(&words);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return None;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        Some(image::open(&out).unwrap().to_rgba8())
    };
    let Some(same) = picture("lbs,lbs", &["--compare=difference", "--color-map=heat"]) else {
        return;
    };
    let Some(other) = picture("dqs,lbs", &["--compare=difference", "--color-map=heat"]) else {
        return;
    };
    // The bar at the right has all colours; the cylinder is in the middle.
    let red = |picture: &image::RgbaImage| {
        picture
            .enumerate_pixels()
            .filter(|(x, _, p)| *x < 200 && p.0[0] > 120 && p.0[0] > p.0[2].saturating_add(90))
            .count()
    };
    assert_eq!(red(&same), 0, "a method is where it is");
    assert!(
        red(&other) > 50,
        "methods differ in a bend: {} pixels",
        red(&other)
    );
    let Some(wiped) = picture(
        "dqs,lbs",
        &[
            "--compare=wipe:0.4",
            "--background=transparent",
            "--no-ground",
        ],
    ) else {
        return;
    };
    assert_eq!(wiped.get_pixel(2, 2).0[3], 0, "nothing stands behind");
    let refused = sinew(&[
        &"render",
        &"builtin:cylinder",
        &"--method=lbs",
        &"--compare=wipe",
        &"-o",
        &out,
    ]);
    assert_eq!(refused.status.code(), Some(2));
    let refused = sinew(&[
        &"render",
        &"builtin:cylinder",
        &"--method=lbs",
        &"--color=weights:uper",
        &"-o",
        &out,
    ]);
    assert_eq!(refused.status.code(), Some(1));
}

#[test]
fn a_picture_shows_the_requested_weights() {
    let folder = TestFolder::new("picture-weights");
    let (mesh, bones) = (
        write(&folder, "tube.off", &tube()),
        write(&folder, "tube.skel", BONES),
    );
    let mut pictures = Vec::new();
    for weights in ["", "--weights=file", "--weights=heat"] {
        let out = folder.0.join("a.png");
        let mut arguments: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
            &"render",
            &mesh,
            &bones,
            &"--method=lbs",
            &"--rotate=upper=0,0,60",
            &"--size=320x200",
            &"-o",
            &out,
        ];
        arguments
            .extend(Some(&weights as &dyn AsRef<std::ffi::OsStr>).filter(|_| !weights.is_empty()));
        let output = sinew(&arguments);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        pictures.push(image::open(&out).unwrap().to_rgb8());
    }
    assert_eq!(pictures[0], pictures[1]);
    assert_ne!(pictures[1], pictures[2]);
}

#[test]
fn the_report_of_a_picture_measures_the_methods_against_the_first() {
    let folder = TestFolder::new("scores");
    let out = folder.0.join("a.png");
    let output = sinew(&[
        &"render",
        &"builtin:cylinder",
        &"--method=lbs,lbs,pd",
        &"--sim-vertices=300",
        &"--rotate=upper=0,0,60",
        &"--settle",
        &"--size=320x200",
        &"-o",
        &out,
        &"--scores",
    ]);
    if no_gpu(&String::from_utf8_lossy(&output.stderr)) {
        return;
    }
    let report = json(&output);
    assert_eq!(report["files"][0], out.to_str().unwrap());
    let [first, same, simulated] = [0, 1, 2].map(|index| &report["scores"][index]);
    assert_eq!(
        (&first["method"], &simulated["method"]),
        (&"lbs".into(), &"pd".into())
    );
    assert!(first["distance_max_mm"].is_null() && first["tissue_energy"].is_null());
    assert_eq!(same["distance_max_mm"], 0.0);
    assert!(simulated["distance_rms_mm"].as_f64().unwrap() > 0.1);
    let energy = simulated["tissue_energy"].as_f64().unwrap();
    assert!(energy > 0.0 && energy < 10.0, "{energy}");
}
