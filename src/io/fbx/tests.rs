//! Clips against the library's evaluation of the whole scene: at the file's keys, between them, at any rate.

use nalgebra::Vector4;

use super::{parse, quat_of, read, vec_of};
use crate::progress::Progress;
use crate::rig::{Channel, Clip};

#[expect(dead_code, reason = "tests of other areas use the rest")]
#[path = "../../../tests/common/fbx_text.rs"]
mod fbx_text;

const TICKS_PER_SEC: f64 = 46_186_158_000.0;
/// Interpolation of all keys, as the file's flags.
const LINEAR: i64 = 0x4;
const HELD: i64 = 0x2;
const HELD_TO_NEXT: i64 = 0x102;
const CUBIC_BY_HAND: i64 = 0x408;
const CUBIC_AUTO: i64 = 0x108;

/// The tube whose upper joint turns about X by these degrees.
fn turning(times: &[f64], degrees: &[f64], flags: i64) -> String {
    let ticks: Vec<i64> = (times.iter())
        .map(|time| (time * TICKS_PER_SEC).round() as i64)
        .collect();
    let listed = |name: &str, values: &[String]| {
        let count = values.len();
        format!("{name}: *{count} {{\n a: {}\n}}\n", values.join(","))
    };
    let text = |values: &[f64]| values.iter().map(f64::to_string).collect::<Vec<_>>();
    let ticks: Vec<String> = ticks.iter().map(i64::to_string).collect();
    // Slopes by hand: degrees per second at the key and at the next one, as the bits of floats.
    let slopes = [35.0_f32, -60.0, 0.0, 0.0].map(|slope| slope.to_bits().cast_signed().to_string());
    let curve = format!(
        "{}{}{}{}{}}}\n",
        listed("KeyTime", &ticks),
        listed("KeyValueFloat", &text(degrees)),
        listed("KeyAttrFlags", &[flags.to_string()]),
        listed("KeyAttrDataFloat", &slopes),
        listed("KeyAttrRefCount", &[times.len().to_string()]),
    );
    let whole = fbx_text::bending_tube([0.0; 3]);
    let (before, after) = whole.split_once("KeyTime:").unwrap();
    let end = after.find("}\n}\n").unwrap() + 4;
    let stop = format!("\"Time\", \"\",{}", ticks.last().unwrap());
    let before = before.replace("\"Time\", \"\",46186158000", &stop);
    format!("{before}{curve}{}", &after[end..])
}

/// The largest deviation of a clip from the file at its keys and between, and its number of keys for the upper joint's rotation.
fn compared(text: &str, times: &[f64], beside: f64) -> (f64, usize) {
    let scene = parse(text.as_bytes(), &Progress::new()).unwrap();
    let character = read(text.as_bytes(), None, &Progress::new()).unwrap();
    let (clip, skeleton): (&Clip, _) = (&character.clips[0], &character.skeleton);
    let joint = skeleton.find("upper").unwrap();
    let anim = &scene.anim_stacks[0].anim;
    let mut asked: Vec<f64> = times.to_vec();
    for pair in times.windows(2) {
        asked
            .extend([0.11, 0.37, 0.5, 0.83, 0.99].map(|part| pair[0] + part * (pair[1] - pair[0])));
    }
    let off = |time: f64, asked: f64| {
        let options = ufbx::EvaluateOpts::default();
        let evaluated = ufbx::evaluate_scene(&scene, anim, asked, options).unwrap();
        let mut nodes = evaluated.nodes.iter();
        let node = nodes.find(|node| &*node.element.name == "upper").unwrap();
        let local = &clip
            .sample(skeleton, time - anim.time_begin.max(0.0))
            .locals[joint];
        let expected: Vector4<f64> = quat_of(&node.local_transform.rotation).coords;
        let actual = local.rotation.coords;
        let turned = (actual - expected).amax().min((actual + expected).amax());
        let moved = (local.translation - vec_of(&node.local_transform.translation)).amax();
        turned.max(moved / fbx_text::HEIGHT)
    };
    let worst = asked.iter().map(|&time| {
        // A jump may be a rounding of `f32` beside its key.
        let near = [0.0, -beside, beside].map(|by| time + by);
        let pairs = near.iter().flat_map(|&own| near.map(|asked| (own, asked)));
        pairs
            .map(|(own, asked)| off(own, asked))
            .fold(f64::INFINITY, f64::min)
    });
    let worst = worst.fold(0.0, f64::max);
    let keys = clip.tracks.iter().find_map(|track| match &track.channel {
        Channel::Rotation(curve) if track.joint == joint => Some(curve.times_secs.len()),
        _ => None,
    });
    (worst, keys.unwrap())
}

#[test]
fn clips_have_the_files_values_at_every_rate_and_interpolation() {
    let irregular = [0.0, 0.013, 0.4, 0.4321, 1.7, 2.0];
    let at_rate = |rate: f64| (0..12).map(|k| f64::from(k) / rate).collect::<Vec<f64>>();
    let rates = [
        at_rate(24.0),
        at_rate(30_000.0 / 1001.0),
        at_rate(60.0),
        irregular.to_vec(),
    ];
    for times in &rates {
        let degrees: Vec<f64> = (0..times.len())
            .map(|k| 80.0 * (1.7 * k as f64).sin() + 3.0 * k as f64)
            .collect();
        for flags in [LINEAR, HELD, HELD_TO_NEXT, CUBIC_BY_HAND, CUBIC_AUTO] {
            let beside = match flags {
                HELD | HELD_TO_NEXT => 3e-7,
                _ => 0.0,
            };
            let (off, keys) = compared(&turning(times, &degrees, flags), times, beside);
            assert!(off < 1e-5, "flags {flags:#x}, {} keys: {off}", times.len());
            // Steps may need a second key beside each, curves a few between.
            let most = match flags {
                LINEAR => times.len(),
                HELD | HELD_TO_NEXT => 2 * times.len(),
                _ => 16 * times.len(),
            };
            assert!(
                keys <= most,
                "flags {flags:#x}: {keys} keys for {}",
                times.len()
            );
        }
    }
}

#[test]
fn several_turns_between_two_keys_are_kept() {
    let times = [0.0, 1.0, 1.5];
    let (off, _) = compared(&turning(&times, &[0.0, 720.0, 0.0], LINEAR), &times, 0.0);
    assert!(off < 1e-5, "{off}");
}
