use super::*;

#[test]
fn menus_refer_to_existing_shortcut_rows() {
    fn check(menu: &str, items: &[Item]) {
        for item in items {
            match item {
                Row(id) => {
                    let row = shortcuts::find(id)
                        .unwrap_or_else(|| panic!("{menu}: there is no \"{id}\""));
                    assert!(row.action().is_some(), "{id} does nothing");
                }
                Sub(menu, items) => check(menu, items),
                Line | Builtins | Recent => {}
            }
        }
    }
    for (menu, items) in MENUS {
        check(menu, items);
    }
}

#[test]
fn files_opened_together_are_named_together() {
    let files = |names: &[&str]| names.iter().map(PathBuf::from).collect::<Vec<_>>();
    assert_eq!(names_of(&files(&["/a/b.glb"])), "b.glb");
    assert_eq!(
        names_of(&files(&["/a/b.obj", "/a/b.skel"])),
        "b.obj + b.skel"
    );
    assert_eq!(
        names_of(&files(&["/a/b.obj", "c", "d", "e"])),
        "b.obj and 3 more"
    );
}
