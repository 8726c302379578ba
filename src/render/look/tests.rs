use super::*;

#[test]
fn files_store_only_differences_and_new_switches_default_to_off() {
    let read: Look =
        serde_json::from_str(r#"{"wireframe":true,"shading":"matcap","cut":{"axis":2}}"#)
            .expect("a look");
    let expected = Look {
        wireframe: true,
        shading: Shading::Matcap,
        cut: Some(CutPlane {
            axis: 2,
            ..CutPlane::default()
        }),
        ..Look::default()
    };
    assert_eq!(read, expected);
    let text = serde_json::to_string(&expected).expect("text");
    assert_eq!(
        serde_json::from_str::<Look>(&text).expect("a look"),
        expected
    );
}

#[test]
fn ghosts_are_spaced_evenly_around_the_current_time() {
    let ghosts = OnionSkins {
        before: 2,
        after: 1,
        apart_secs: 0.5,
    };
    assert_eq!(ghosts.offsets_secs().collect::<Vec<_>>(), [-1.0, -0.5, 0.5]);
    let mad = OnionSkins {
        before: 9999,
        after: 0,
        apart_secs: f32::NAN,
    };
    assert_eq!(mad.offsets_secs().count(), OnionSkins::MOST);
    assert!(mad.offsets_secs().all(f64::is_finite));
}
