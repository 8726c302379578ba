//! Biovision hierarchies (`.bvh`): a skeleton and one motion, as text.
//!
//! ```text
//! HIERARCHY
//! ROOT name { OFFSET x y z  CHANNELS n Xposition … Zrotation …  JOINT name { … }  End Site { OFFSET x y z } }
//! MOTION  Frames: n  Frame Time: seconds  then one line of channel values a frame
//! ```
//! Rotations are in degrees, multiplied in channel order: `Zrotation Xrotation Yrotation` is Rz ·
//! Rx · Ry. Position channels replace the offset, for roots and other joints, as in Blender and
//! most exporters. The format defines neither unit nor up axis. An End Site becomes a joint
//! `PARENT_end` that marks the end of the parent's bone; an End Site of zero length is omitted.

mod read;
mod write;

pub(crate) use read::read_bvh;
pub use write::{write_bvh, write_bvh_poses};

use crate::character::Note;
use crate::rig::{Clip, Skeleton};

/// Contents of a `.bvh` file.
#[derive(Debug, Clone)]
pub struct BvhFile {
    /// Joints with identity rotations at their offsets.
    pub skeleton: Skeleton,
    /// The motion, one key per frame; without tracks if the file has no frames.
    pub clip: Clip,
    /// Number of frames.
    pub frames: usize,
    /// Warnings from reading.
    pub notes: Vec<Note>,
}

/// Name of the joint made for an End Site.
const END: &str = "_end";

#[cfg(test)]
mod tests {
    use super::write::angles_zxy;
    use super::*;
    use crate::math::{Quat, Vec64, origin_of};

    const SMALL: &str = "HIERARCHY\r\nROOT The Hips {\n OFFSET 1 2 3\n\tCHANNELS 6 Zrotation Xrotation Yrotation Xposition Yposition Zposition\n\
        JOINT Leg{ OFFSET 0 -1 0 CHANNELS 2 Yrotation Xrotation End Site\n{ OFFSET 0 -1 0 } } }\nROOT Prop\n{ OFFSET 0 0 0 CHANNELS 0 End Site { OFFSET 0 0 0 } }\n\
        MOTION\nFrames: 2\nFrame Time:\t.5\n90 0 0 4 5 6 0 0\n0 0 90 7 8 9 10 20\n";

    #[test]
    fn any_channel_order_and_several_roots() {
        let file = read_bvh(SMALL.as_bytes(), "x").unwrap();
        let names: Vec<&str> = file
            .skeleton
            .joints()
            .iter()
            .map(|joint| joint.name.as_str())
            .collect();
        assert_eq!(names, ["The Hips", "Leg", "Leg_end", "Prop"]);
        assert!((file.clip.duration_secs - 0.5).abs() < 1e-12 && file.frames == 2);
        let world = file
            .skeleton
            .world_from_joint(&file.clip.sample(&file.skeleton, 0.0));
        assert!((origin_of(&world[0]).coords - Vec64::new(4.0, 5.0, 6.0)).norm() < 1e-12);
        assert!(
            (origin_of(&world[2]).coords - Vec64::new(6.0, 5.0, 6.0)).norm() < 1e-12,
            "down turned about Z by 90° is +X"
        );
        let pose = file.clip.sample(&file.skeleton, 0.5);
        let expected = Quat::new(Vec64::y() * 10_f64.to_radians())
            * Quat::new(Vec64::x() * 20_f64.to_radians());
        assert!(pose.locals[1].rotation.angle_to(&expected) < 1e-12);
    }

    #[test]
    fn malformed_files_are_rejected_with_the_line() {
        let refusal = |text: &str| read_bvh(text.as_bytes(), "x").unwrap_err().to_string();
        let cut = &SMALL[..SMALL.len() - 6];
        for (text, sentence) in [
            (String::new(), "HIERARCHY"),
            ("hello".to_owned(), "HIERARCHY"),
            (cut.to_owned(), "ends in frame 2 of 2"),
            (
                SMALL.replace("90 0 0", "90 nan 0"),
                "line 12: a channel's value must be a finite number, not \"nan\"",
            ),
            (
                SMALL.replace("OFFSET 0 -1 0 CHANNELS", "OFFSET 0 inf 0 CHANNELS"),
                "line 5",
            ),
            (SMALL.replace("} } }", "} }"), "line 7: JOINT, End Site"),
            (
                SMALL
                    .replace("} } }", "} }")
                    .replace("ROOT Prop", "JOINT Prop"),
                "before joint \"The Hips\" is closed",
            ),
            (SMALL.replace("} } }", "} } } }"), "line 6: ROOT or MOTION"),
            (
                SMALL.replace("Frames: 2", "Frames: 999999999"),
                "more than can be processed",
            ),
            (
                SMALL.replace("Frames: 2", "Frames: 100"),
                "ends in frame 3 of 100",
            ),
            (
                SMALL.replace("CHANNELS 2 Y", "CHANNELS 2e9 Y"),
                "0 to 6 channels",
            ),
            (
                SMALL.replace("Yrotation Xrotation End", "Wrotation Xrotation End"),
                "Wrotation",
            ),
            (SMALL.replace("MOTION", "MOTOR"), "MOTOR"),
        ] {
            let said = refusal(&text);
            assert!(said.contains(sentence), "{said} should contain {sentence}");
        }
        let more = read_bvh(format!("{SMALL} 1 2 3").as_bytes(), "x").unwrap();
        assert_eq!((more.frames, more.notes.len()), (2, 1));
    }

    #[test]
    fn damaged_files_do_not_panic() {
        let bytes = SMALL.as_bytes();
        for at in 0..bytes.len() {
            for with in [b'{', b'}', b'9', b'-', b' ', b'\n', 0xFF] {
                let mut broken = bytes.to_vec();
                broken[at] = with;
                let _ = read_bvh(&broken, "x");
                let _ = read_bvh(&broken[..at], "x");
            }
        }
    }

    #[test]
    fn angles_round_trip_in_gimbal_lock() {
        for (a, b, c) in [
            (0.3, -1.2, 2.9),
            (1.0, std::f64::consts::FRAC_PI_2, 0.5),
            (-2.0, -std::f64::consts::FRAC_PI_2, 0.0),
            (3.0, 0.0, -3.0),
        ] {
            let of = |[a, b, c]: [f64; 3]| {
                Quat::new(Vec64::z() * a) * Quat::new(Vec64::x() * b) * Quat::new(Vec64::y() * c)
            };
            let turn = of([a, b, c]);
            assert!(of(angles_zxy(&turn)).angle_to(&turn) < 1e-7, "{a} {b} {c}");
        }
    }

    #[test]
    fn written_files_read_back_equal() {
        let file = read_bvh(SMALL.as_bytes(), "x").unwrap();
        let folder = std::env::temp_dir().join(format!("sinew-bvh-{}", std::process::id()));
        std::fs::create_dir_all(&folder).unwrap();
        let path = folder.join("x.bvh");
        write_bvh(&path, &file.skeleton, &file.clip, 2.0).unwrap();
        let again = read_bvh(&std::fs::read(&path).unwrap(), "x").unwrap();
        std::fs::remove_dir_all(folder).unwrap();
        assert_eq!(again.skeleton.len(), file.skeleton.len());
        for time in [0.0, 0.25, 0.5] {
            let world = |file: &BvhFile| {
                file.skeleton
                    .world_from_joint(&file.clip.sample(&file.skeleton, time))
            };
            for (a, b) in world(&file).iter().zip(world(&again)) {
                assert!((a.matrix() - b.matrix()).norm() < 1e-7);
            }
        }
    }
}
