//! Exported tissue is what an independent reader (meshio, `tissue_export.py`) and the report say it is.

use std::path::Path;
use std::process::Command;

use crate::common::skip;
use sinew::io::write_tissue;
use sinew::methods::Subject;
use sinew::progress::Progress;
use sinew::session::{Source, load};

fn has_meshio() -> bool {
    Command::new("python3")
        .args(["-c", "import meshio, numpy"])
        .output()
        .is_ok_and(|out| out.status.success())
}

fn check(name: &str, source: &Source) {
    if !has_meshio() {
        skip::skipped("python3 with meshio is not installed");
        return;
    }
    let character = load(source, &Progress::new()).expect("a character");
    let subject = Subject::build(std::sync::Arc::new(character), &Progress::new()).expect("a skin");
    let tissue = &subject.flesh().expect("flesh").tissue;
    let folder = std::env::temp_dir().join(format!("sinew-tissue-{name}-{}", std::process::id()));
    std::fs::create_dir_all(&folder).expect("a temporary folder");
    let report = serde_json::json!({"vertices": 2 * tissue.base.len(), "quality": tissue.quality});
    std::fs::write(folder.join("report.json"), report.to_string()).expect("a temporary file");
    for file in ["flesh.msh", "flesh.vtu"] {
        write_tissue(&folder.join(file), &subject.sim().mesh, tissue).expect("a written file");
    }
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/scripts/tissue_export.py");
    let mut command = Command::new("python3");
    command
        .arg(script)
        .args(["report.json", "flesh.msh", "flesh.vtu"])
        .arg(subject.sim().mesh.triangles.len().to_string());
    let out = command.current_dir(&folder).output().expect("python3");
    std::fs::remove_dir_all(&folder).expect("the temporary folder");
    println!("{name}\n{}", String::from_utf8_lossy(&out.stdout));
    assert!(
        out.status.success(),
        "{name}: {}{}",
        String::from_utf8_lossy(&out.stdout),
        String::from_utf8_lossy(&out.stderr)
    );
}

#[test]
fn builtin_characters() {
    for name in ["mannequin", "cylinder"] {
        check(name, &Source::builtin(name));
    }
}

#[test]
fn cesium_man() {
    let Some(folder) = skip::data() else {
        return;
    };
    check(
        "CesiumMan",
        &Source::of_files(vec![folder.join("A_rigged/CesiumMan/CesiumMan.glb")]),
    );
}
