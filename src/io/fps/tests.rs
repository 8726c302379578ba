use super::*;

#[test]
fn a_skeleton_round_trips() {
    let p = Point64::new;
    let list = [
        ("root".into(), None, p(0.1, 0.2, 0.3)),
        ("upper arm".into(), Some(0), p(1.0, 0.0, 0.0)),
        ("root".into(), Some(1), p(2.0, 1e-7, 0.0)),
    ];
    let mut joints = Skeleton::from_positions(&list).unwrap().joints().to_vec();
    joints[2].tail = Some(p(3.0, 0.5, 0.0));
    let text = skel_text(&Skeleton::new(joints).unwrap());
    let back = read_skel(text.as_bytes()).unwrap().skeleton;
    let parents: Vec<Option<usize>> = back.joints().iter().map(|joint| joint.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(1), Some(2)], "{text}");
    assert_eq!(back.bind_position(2), p(2.0, 1e-7, 0.0));
    assert_eq!(
        (back.joints()[1].name.as_str(), back.bind_position(3)),
        ("upper_arm", p(3.0, 0.5, 0.0))
    );
}

#[test]
fn joint_order_is_free_and_motion_follows_it() {
    let skel = read_skel(b"3\n1 0 0 hand arm\n0 0 0 arm root\n2 0 0 tip hand\n").unwrap();
    let names: Vec<&str> = skel
        .skeleton
        .joints()
        .iter()
        .map(|j| j.name.as_str())
        .collect();
    assert_eq!(names, ["arm", "hand", "tip"]);
    assert_eq!(skel.joint_of_line, [1, 0, 2]);
    let quarter = std::f64::consts::FRAC_PI_2;
    let anim = format!("2 3\n0\n1 0 0 1 0 0 1 0 0\n0 0 0\n1\n0 0 1 1 0 0 1 0 0\n{quarter} 0 0\n");
    let clip = read_anim(anim.as_bytes(), "bend", &skel.skeleton, &skel.joint_of_line).unwrap();
    assert!((clip.duration_secs - 1.0).abs() < 1e-12);
    let world = skel
        .skeleton
        .world_from_joint(&clip.sample(&skel.skeleton, 1.0));
    let tip = crate::math::origin_of(&world[2]);
    assert!((tip - Point64::new(1.0, 1.0, 0.0)).norm() < 1e-9, "{tip}");
}

#[test]
fn malformed_files_are_rejected() {
    for text in [
        "",
        "0",
        "x",
        "9999999999",
        "1\n0 0 0 a",
        "1\n0 nan 0 a root",
        "2\n0 0 0 a b\n0 0 0 b a\n",
        "2\n0 0 0 a root\n0 0 0 a root\n",
    ] {
        assert!(read_skel(text.as_bytes()).is_err(), "{text}");
    }
    let skel = read_skel(b"1\n0 0 0 a root").unwrap();
    for text in [
        "",
        "1",
        "1 2",
        "1e300 1",
        "-1 1",
        "1 1 0 1 0 0",
        "1 1 0 1 0 0 inf",
    ] {
        assert!(
            read_anim(text.as_bytes(), "x", &skel.skeleton, &skel.joint_of_line).is_err(),
            "{text}"
        );
    }
}

#[test]
fn an_ini_lists_files() {
    let ini = read_ini(
        b"SIMMESH  a.off\nvismesh b.off\nUPSAMPLING w.txt\nSKELETON a.skel\nANIMATION 0.anim x\nANIMATION 1.anim x\n",
        Path::new("d"),
    );
    let ini = ini.unwrap();
    assert_eq!(ini.sim_mesh, Some(PathBuf::from("d/a.off")));
    assert_eq!(ini.animations.len(), 2);
    assert!(read_ini(b"hello", Path::new("")).is_err());
}
