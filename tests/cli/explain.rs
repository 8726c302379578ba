//! `sinew explain`: why a point of the skin is where it is.

use crate::program::{assert_refused, json, sinew, stdout};

#[test]
fn a_point_of_a_bent_arm_is_explained_by_every_method() {
    let output = sinew(&[
        &"explain",
        &"builtin:arm",
        &"--method=lbs,dqs,cor,pd",
        &"--rotate=forearm=0,0,80",
        &"--settle",
        &"--near=0,0,0",
        &"--json",
    ]);
    let report = json(&output);
    let points = report["points"].as_array().unwrap();
    assert_eq!(points.len(), 4);
    for point in points {
        let joints = point["joints"].as_array().unwrap();
        let sum: f64 = joints.iter().map(|j| j["weight"].as_f64().unwrap()).sum();
        assert!((sum - 1.0).abs() < 1e-5, "{point}");
        assert_eq!(point["vertex"], points[0]["vertex"]);
        assert!(!point["sentences"].as_array().unwrap().is_empty());
    }
    let has = |index: usize, id: &str| {
        let terms = points[index]["terms"].as_array().unwrap();
        terms.iter().any(|term| term["id"] == id)
    };
    assert!(has(2, "center_distance") && !has(0, "center_distance"));
    assert!(has(3, "energy_share") && has(3, "contacts"));
}

#[test]
fn the_report_is_readable_and_wrong_vertices_are_refused() {
    let text = stdout(&sinew(&[
        &"explain",
        &"builtin:arm",
        &"--method=lbs",
        &"--vertex=5",
    ]));
    assert!(text.contains("vertex 5 of"), "{text}");
    assert!(text.contains("Moved by"), "{text}");
    assert_refused(
        &sinew(&[
            &"explain",
            &"builtin:arm",
            &"--method=lbs",
            &"--vertex=999999",
        ]),
        &["has no vertex 999999"],
    );
    let usage = sinew(&[&"explain", &"builtin:arm", &"--method=lbs"]);
    assert_eq!(usage.status.code(), Some(2));
}
