use super::draw::size_text;
use super::*;

fn dialog(purpose: Purpose, folder: &Path) -> OwnDialog {
    let request = Request::of(purpose, "fox", Some(folder.to_path_buf()));
    OwnDialog::new(&Context::default(), request, &Settings::default())
}

fn folder(name: &str) -> PathBuf {
    let folder = std::env::temp_dir().join(format!("sinew dialog {} {name}", std::process::id()));
    std::fs::create_dir_all(folder.join("models")).unwrap();
    std::fs::write(folder.join("a.glb"), "x").unwrap();
    folder
}

fn type_name(dialog: &mut OwnDialog, name: &str) {
    dialog.text = dialog.text_of(name);
    dialog.follow_text(&Context::default());
}

#[test]
fn a_file_is_opened_and_a_folder_entered() {
    let folder = folder("open");
    let mut dialog = dialog(Purpose::Open, &folder);
    assert!(
        matches!(dialog.outcome(), Outcome::Problem(_)),
        "nothing is chosen"
    );
    type_name(&mut dialog, "a.glb");
    assert_eq!(
        dialog.outcome(),
        Outcome::Chosen(vec![folder.join("a.glb")])
    );
    type_name(&mut dialog, "models");
    assert_eq!(dialog.outcome(), Outcome::Enter(folder.join("models")));
    type_name(&mut dialog, "b.glb");
    let Outcome::Problem(problem) = dialog.outcome() else {
        panic!("there is no such file");
    };
    assert!(problem.contains("There is no file") && problem.contains("b.glb"));
    dialog.select(folder.join("a.glb"), false);
    dialog.select(folder.join("b.glb"), true);
    let both = ["a.glb", "b.glb"].map(|name| folder.join(name)).to_vec();
    assert_eq!(dialog.outcome(), Outcome::Chosen(both));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_saved_file_gets_its_extension_and_is_replaced_only_when_told() {
    let folder = folder("save");
    let mut dialog = dialog(Purpose::SaveProject, &folder);
    assert_eq!(
        dialog.outcome(),
        Outcome::Chosen(vec![folder.join("fox.sinew")])
    );
    type_name(&mut dialog, "v1.2");
    let file = folder.join("v1.2.sinew");
    assert_eq!(dialog.outcome(), Outcome::Chosen(vec![file.clone()]));
    std::fs::write(&file, "").unwrap();
    assert_eq!(dialog.outcome(), Outcome::Replaces(file.clone()));
    dialog.replaced = Some(file.clone());
    assert_eq!(dialog.outcome(), Outcome::Chosen(vec![file]));
    type_name(&mut dialog, "v1.2");
    assert!(
        matches!(dialog.outcome(), Outcome::Replaces(_)),
        "typing withdraws it"
    );
    dialog.enter(&Context::default(), &folder.join("models"));
    assert_eq!(dialog.name(), "v1.2", "the name is kept in another folder");
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn a_folder_is_chosen() {
    let folder = folder("folder");
    let mut dialog = dialog(Purpose::SavePoses, &folder);
    assert_eq!(dialog.outcome(), Outcome::Chosen(vec![folder.join("")]));
    type_name(&mut dialog, "none");
    assert!(matches!(dialog.outcome(), Outcome::Problem(_)));
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn paths_are_split_at_the_last_separator() {
    let (here, home) = (Path::new("/here"), Path::new("/home/ann"));
    let parts = |text: &str| split(text, here, Some(home));
    assert_eq!(parts("/a/b.obj"), ("/a/".into(), "b.obj".to_owned()));
    assert_eq!(parts("/"), ("/".into(), String::new()));
    assert_eq!(parts("~/b"), ("/home/ann/".into(), "b".to_owned()));
    assert_eq!(parts("x/y"), ("/here/x/".into(), "y".to_owned()));
    assert_eq!(parts("y"), ("/here".into(), "y".to_owned()));
    assert_eq!(parts("~"), ("/here".into(), "~".to_owned()));
}

#[test]
fn sizes_have_units() {
    for (bytes, text) in [
        (0, "0 B"),
        (999, "999 B"),
        (12_340, "12.3 kB"),
        (4_000_000, "4.0 MB"),
        (999_600_000, "1.0 GB"),
        (5_000_000_000_000, "5000 GB"),
    ] {
        assert_eq!(size_text(bytes), text);
    }
}
