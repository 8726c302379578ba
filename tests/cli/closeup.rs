//! Pictures of a joint and its surroundings: `render --frame` and `--zoom`.

#![expect(clippy::unwrap_used, reason = "a test that can't go on shall panic")]

use std::fs;

use image::{AnimationDecoder as _, RgbaImage};

use crate::common::folder::TestFolder;
use crate::program::{BONES, assert_refused, no_gpu, sinew, tube, write};

const SIZE: u32 = 200;

/// A picture of the tube on nothing, from the front unless `more` says otherwise; none without a graphics adapter.
fn picture(folder: &TestFolder, more: &[&str]) -> Option<RgbaImage> {
    let out = folder.0.join("picture.png");
    let mesh = write(folder, "tube.off", &tube());
    let bones = write(folder, "tube.skel", BONES);
    let mut words: Vec<&dyn AsRef<std::ffi::OsStr>> = vec![
        &"render",
        &mesh,
        &bones,
        &"--size=200x200",
        &"--background=transparent",
        &"--no-ground",
        &"-o",
        &out,
    ];
    if !more.iter().any(|word| word.starts_with("--method")) {
        words.push(&"--method=lbs");
    }
    if !more.iter().any(|word| word.starts_with("--view")) {
        words.push(&"--view=front");
    }
    words.extend(more.iter().map(|word| word as &dyn AsRef<std::ffi::OsStr>));
    let output = sinew(&words);
    let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
    if no_gpu(&stderr) {
        return None;
    }
    assert_eq!(output.status.code(), Some(0), "{more:?}: {stderr}");
    Some(image::open(&out).unwrap().to_rgba8())
}

fn is_covered(picture: &RgbaImage, x: u32, y: u32) -> bool {
    picture.get_pixel(x, y).0[3] > 128
}

/// Part of the picture that the skin covers.
fn coverage(picture: &RgbaImage) -> f64 {
    let covered = picture.pixels().filter(|pixel| pixel.0[3] > 128).count();
    covered as f64 / f64::from(SIZE * SIZE)
}

/// First and last row of the middle column that the skin covers, parts of the height.
fn rows(picture: &RgbaImage) -> [f64; 2] {
    let mut covered = (0..SIZE).filter(|&y| is_covered(picture, SIZE / 2, y));
    let first = covered.next().expect("the skin is in the middle column");
    let last = covered.next_back().unwrap_or(first);
    [first, last].map(|row| f64::from(row) / f64::from(SIZE))
}

/// The tube is 2 high with the joint `tip` 0.1 below its top: with `tip` in the middle, the space above the tube is seen, and its lower
/// part is not.
#[test]
fn the_framed_joint_is_in_the_middle() {
    let folder = TestFolder::new("closeup");
    let Some(whole) = picture(&folder, &[]) else {
        return;
    };
    let [first, last] = rows(&whole);
    assert!(
        first < 0.15 && last > 0.85,
        "the whole tube: {first} {last}"
    );
    for more in [
        &["--frame=tip"][..],
        &["--frame=tip", "--view=side"],
        &["--frame=tip", "--orthographic"],
    ] {
        let tip = picture(&folder, more).unwrap();
        assert!(is_covered(&tip, SIZE / 2, SIZE / 2), "{more:?}");
        let [first, last] = rows(&tip);
        assert!(
            (0.25..0.5).contains(&first) && last > 0.98,
            "{more:?}: {first} {last}"
        );
    }
    // The joint `upper` is at half the height of the tube, which is the same above and below.
    let upper = picture(&folder, &["--frame=upper"]).unwrap();
    let [first, last] = rows(&upper);
    assert!(
        (first + last - 1.0).abs() < 0.03,
        "the middle of the skin is the middle of the picture: {first} {last}"
    );
}

#[test]
fn zooming_enlarges_about_the_framed_joint() {
    let folder = TestFolder::new("closeup-zoom");
    let Some(near) = picture(&folder, &["--frame=tip"]) else {
        return;
    };
    let nearer = picture(&folder, &["--frame=tip", "--zoom=2"]).unwrap();
    assert!(
        coverage(&nearer) > 1.3 * coverage(&near),
        "{} {}",
        coverage(&near),
        coverage(&nearer)
    );
    assert!(is_covered(&nearer, SIZE / 2, SIZE / 2));
    // The top of the tube is twice as far from the middle.
    let above = |picture: &RgbaImage| 0.5 - rows(picture)[0];
    let ratio = above(&nearer) / above(&near);
    assert!((1.7..2.3).contains(&ratio), "{ratio}");

    // Without a joint the middle of the character is enlarged.
    let (whole, zoomed) = (
        picture(&folder, &[]).unwrap(),
        picture(&folder, &["--zoom=3"]).unwrap(),
    );
    assert!(
        coverage(&zoomed) > 2.0 * coverage(&whole),
        "{} {}",
        coverage(&whole),
        coverage(&zoomed)
    );
}

/// Side by side, every method shows the joint in the middle of its own half.
#[test]
fn all_methods_frame_the_same_joint() {
    let folder = TestFolder::new("closeup-methods");
    let turn = "--rotate=upper=0,0,60";
    let Some(both) = picture(&folder, &["--method=lbs,dqs", turn, "--frame=upper"]) else {
        return;
    };
    for x in [SIZE / 4, 3 * SIZE / 4] {
        let mut rows = 80..=105;
        assert!(rows.any(|y| is_covered(&both, x, y)), "column {x}");
    }
    let wiped = picture(
        &folder,
        &[
            "--method=lbs,dqs",
            turn,
            "--frame=upper",
            "--compare=wipe:0.3",
        ],
    );
    assert!(is_covered(&wiped.unwrap(), SIZE / 2, SIZE / 2));
}

/// The camera follows the joint: it is in the middle of every frame while its parent carries it by its own length.
#[test]
fn a_film_follows_the_framed_joint() {
    let folder = TestFolder::new("closeup-film");
    for (name, more) in [
        ("a.webp", "--frames=0-2"),
        // The pose in three frames around it.
        ("b.webp", "--turntable=3"),
    ] {
        let out = folder.0.join(name);
        let output = sinew(&[
            &"render",
            &"builtin:cylinder",
            &"--method=lbs",
            &"--rotate=lower=0,0,90",
            &"--fps=2",
            &more,
            &"--frame=upper",
            &"--view=front",
            &"--background=dark",
            &"--no-ground",
            &"--size=120x120",
            &"-o",
            &out,
        ]);
        let stderr = String::from_utf8_lossy(&output.stderr).into_owned();
        if no_gpu(&stderr) {
            return;
        }
        assert_eq!(output.status.code(), Some(0), "{stderr}");
        let file = std::io::BufReader::new(fs::File::open(&out).unwrap());
        let frames = image::codecs::webp::WebPDecoder::new(file)
            .unwrap()
            .into_frames()
            .collect_frames()
            .unwrap();
        assert_eq!(frames.len(), 3, "{name}");
        for (index, frame) in frames.into_iter().enumerate() {
            let picture = frame.into_buffer();
            // The cylinder turns to the left: it does not pass this corner.
            let (corner, middle) = (picture.get_pixel(118, 1).0, picture.get_pixel(60, 60).0);
            let distance: u32 = (0..3)
                .map(|channel| u32::from(corner[channel].abs_diff(middle[channel])))
                .sum();
            assert!(
                distance > 30,
                "{name}, frame {index}: the middle is {middle:?}, the corner {corner:?}"
            );
        }
    }
}

#[test]
fn unknown_joints_and_impossible_zooms_are_refused() {
    let folder = TestFolder::new("closeup-refused");
    let out = folder.0.join("a.png");
    let render = |more: &str| {
        sinew(&[
            &"render",
            &"builtin:cylinder",
            &"--method=lbs",
            &more,
            &"-o",
            &out,
        ])
    };
    assert_refused(
        &render("--frame=uper"),
        &["there is no joint \"uper\"", "did you mean \"upper\"?"],
    );
    assert_eq!(render("--zoom=0").status.code(), Some(2));
}
