use super::*;

fn refusal(paths: &[&str]) -> String {
    let paths: Vec<PathBuf> = paths.iter().map(PathBuf::from).collect();
    load(&paths, &Progress::new()).unwrap_err().to_string()
}

#[test]
fn load_errors_are_one_sentence() {
    assert!(refusal(&[]).contains("a mesh is missing"));
    assert!(refusal(&["mistyped"]).contains("mistyped cannot be read: "));
    let folder = std::env::temp_dir().join(format!("sinew-kinds-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    for (name, sentence) in [
        ("x.dae", "x.dae: COLLADA files are not supported"),
        ("x", "is expected"),
        ("x.xyz", ".ply"),
    ] {
        std::fs::write(folder.join(name), "").unwrap();
        let path = folder.join(name);
        assert!(
            refusal(&[path.to_str().unwrap()]).contains(sentence),
            "{name}"
        );
    }
    std::fs::remove_dir_all(folder).unwrap();
    assert!(refusal(&["missing.obj"]).contains("missing.obj cannot be read"));
    assert!(refusal(&["a.obj", "b.obj"]).contains("two meshes"));
    assert!(refusal(&["a.obj", "a.skel", "b.skel"]).contains("two skeletons"));
    assert!(refusal(&["builtin:nobody"]).contains("mannequin"));
}

#[test]
fn cancellation_is_reported() {
    let progress = Progress::new();
    progress.cancel();
    let folder = std::env::temp_dir().join(format!("sinew-load-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    let path = folder.join("a.obj");
    std::fs::write(&path, "v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n").unwrap();
    assert!(matches!(
        load(std::slice::from_ref(&path), &progress),
        Err(IoError::Cancelled(_))
    ));
    assert!(load(&[path], &Progress::new()).is_ok());
    std::fs::remove_dir_all(folder).unwrap();
}
