//! A report in a browser: it needs nothing but itself, complains of nothing, shows its pictures, and its tables can be sorted and printed.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::common::folder::TestFolder;
use crate::common::skip::skipped;
use crate::compare::succeeded;
use crate::program::sinew;

/// Runs before the page's own script: collects what goes wrong.
const WATCH: &str = r#"<script>
window.faults = [];
addEventListener("error", (event) => faults.push(String(event.message || event.target.src || event)), true);
addEventListener("unhandledrejection", (event) => faults.push(String(event.reason)));
for (const level of ["error", "warn"]) {
  const before = console[level];
  console[level] = (...words) => { faults.push(words.join(" ")); before(...words); };
}
</script>"#;

/// Runs when everything is loaded: tries the page and writes what it found into it.
const TRY: &str = r#"<script>
addEventListener("load", () => {
  const images = [...document.images].filter((i) => i.getAttribute("src"));
  const table = document.querySelector("table.sortable");
  const order = () => [...table.tBodies[0].rows].map((row) => Number(row.cells[1].dataset.value));
  const button = table.tHead.rows[0].cells[1].querySelector("button");
  button.click();
  const up = order();
  button.click();
  const down = order();
  const requests = performance.getEntriesByType("resource").map((e) => e.name).filter((n) => !n.startsWith("data:"));
  const found = {
    faults,
    requests,
    images: images.length,
    clips: images.filter((i) => i.src.startsWith("data:image/webp") && i.naturalWidth > 160).length,
    broken: images.filter((i) => !(i.complete && i.naturalWidth > 0)).length,
    up,
    down,
    overflow: document.documentElement.scrollWidth - document.documentElement.clientWidth,
  };
  const out = document.createElement("pre");
  out.id = "found";
  out.textContent = JSON.stringify(found);
  document.body.append(out);
});
</script>"#;

fn browser() -> Option<PathBuf> {
    let path = std::env::var_os("PATH")?;
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let mut places =
        std::env::split_paths(&path).flat_map(|folder| names.map(|name| folder.join(name)));
    places.find(|place| place.is_file())
}

/// Runs the browser without a window on a page; returns what it printed.
fn run(browser: &Path, home: &TestFolder, options: &[String], page: &Path) -> String {
    let output = Command::new(browser)
        .args([
            "--headless",
            "--no-sandbox",
            "--disable-gpu",
            "--no-first-run",
            "--disable-background-networking",
            "--virtual-time-budget=20000",
        ])
        .arg(format!(
            "--user-data-dir={}",
            home.file("profile").display()
        ))
        .args(options)
        .arg(format!("file://{}", page.display()))
        .output()
        .expect("the browser runs");
    assert!(
        output.status.success(),
        "{}",
        String::from_utf8_lossy(&output.stderr)
    );
    String::from_utf8(output.stdout).expect("a page")
}

#[test]
fn a_report_opens_in_a_browser_without_a_fault() {
    let Some(browser) = browser() else {
        skipped("no Chromium is installed");
        return;
    };
    let folder = TestFolder::new("compare-browser");
    let page = folder.file("report.html");
    succeeded(&sinew(&[
        &"compare",
        &"builtin:arm",
        &"--methods=lbs,dqs,cor",
        &"--only=forearm,elbow",
        &"--size=160x160",
        &"--drawn=3",
        &"--clips=2",
        &"-o",
        &page,
    ]));
    let text = fs::read_to_string(&page).unwrap();
    let (head, rest) = text.split_once("<head>").unwrap();
    let (body, end) = rest.rsplit_once("</body>").unwrap();
    let watched = folder.file("watched.html");
    fs::write(
        &watched,
        format!("{head}<head>{WATCH}{body}{TRY}</body>{end}"),
    )
    .unwrap();
    for width in [1400, 390] {
        let size = format!("--window-size={width},1000");
        let dom = run(
            &browser,
            &folder,
            &["--dump-dom".to_owned(), size],
            &watched,
        );
        let found = dom
            .split_once("<pre id=\"found\">")
            .and_then(|(_, rest)| rest.split_once("</pre>"))
            .unwrap_or_else(|| panic!("the page's script did not end: {dom:.2000}"));
        let found: Value = serde_json::from_str(&found.0.replace("&amp;", "&")).unwrap();
        assert_eq!(found["faults"], serde_json::json!([]), "{width}: {found}");
        assert_eq!(found["requests"], serde_json::json!([]), "{width}: {found}");
        assert!(found["images"].as_u64().unwrap() >= 9, "{width}: {found}");
        assert_eq!(found["clips"], 2, "{width}: {found}");
        assert_eq!(found["broken"], 0, "{width}: {found}");
        assert!(found["overflow"].as_i64().unwrap() <= 0, "{width}: {found}");
        let numbers = |key: &str| -> Vec<f64> {
            let list = found[key].as_array().unwrap();
            list.iter().map(|value| value.as_f64().unwrap()).collect()
        };
        let [up, down] = ["up", "down"].map(numbers);
        assert!(up.len() == 3 && up.is_sorted(), "{up:?}");
        assert!(down.iter().rev().is_sorted(), "{down:?}");
    }
    // On paper, and as a small picture to look at.
    let paper = folder.file("report.pdf");
    run(
        &browser,
        &folder,
        &[format!("--print-to-pdf={}", paper.display())],
        &page,
    );
    assert!(fs::read(&paper).unwrap().starts_with(b"%PDF"));
    let picture = Path::new(env!("CARGO_TARGET_TMPDIR")).join("report.png");
    run(
        &browser,
        &folder,
        &[
            format!("--screenshot={}", picture.display()),
            "--window-size=900,1400".to_owned(),
        ],
        &page,
    );
    let drawn = image::open(&picture).unwrap();
    assert_eq!(drawn.width(), 900);
}
