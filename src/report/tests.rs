//! Statistics, tables, charts and the page of a made-up comparison.

use super::*;
use crate::character::Character;
use crate::metrics::{Better, Quantity, Unit};
use crate::studio::{Motion, Take};

const fn quantity(id: &'static str, unit: Unit, better: Better) -> Quantity {
    Quantity {
        id,
        label: "A <label> & \"more\"",
        unit,
        doc: "One sentence with < and &.",
        better,
    }
}

/// Three methods in eight poses of two movements; names with all characters that other languages treat specially. The second method
/// fails in one pose, the third as a whole.
fn comparison() -> Comparison {
    let quantities = vec![
        quantity("volume_change", Unit::Ratio, Better::NearZero),
        quantity("new_pairs", Unit::Count, Better::Lower),
        quantity("stretch_p99", Unit::Ratio, Better::NearOne),
    ];
    let method = |id: &str, label: &str, failure: Option<&str>| MethodRow {
        id: id.to_owned(),
        label: label.to_owned(),
        settings: String::new(),
        bind_ms: failure.is_none().then_some(12.5),
        stages_ms: vec![("local <steps>".to_owned(), 1.25)],
        failure: failure.map(str::to_owned),
    };
    let poses = (0..8).map(|index| PoseColumn {
        id: format!("pose,\"{index}\""),
        label: format!("50 % of_pose {index} \\ {{$#~^}}\nnext"),
        movement: if index < 5 { "Elbow & more" } else { "Knee" }.to_owned(),
        at: Some(f64::from(30 * (index % 5))),
    });
    let cell = |row: usize, column: usize| match (row, column) {
        (2, _) => Cell {
            values: vec![None; 3],
            failure: Some("it has no <volume>".to_owned()),
        },
        (1, 3) => Cell {
            values: vec![None; 3],
            failure: Some("a pose, \"failed\"".to_owned()),
        },
        _ => Cell {
            values: vec![
                Some((row as f64 + 1.0) * 0.01 * (column as f64 - 2.0)),
                Some((3 * column + 5 * (1 - row)) as f64),
                Some(1.0 + 0.1 * (row as f64 + 1.0) * column as f64),
            ],
            failure: None,
        },
    };
    Comparison {
        about: About {
            character: "He & <She>".to_owned(),
            files: vec!["a_b.glb".to_owned()],
            command: "sinew compare 'a b.glb' --methods lbs".to_owned(),
            set: "range of motion".to_owned(),
            ..About::default()
        },
        methods: vec![
            method("lbs", "Linear & blend", None),
            method("pd", "Flesh_1", None),
            method("no", "None", Some("it has no <volume>")),
        ],
        poses: poses.collect(),
        quantities,
        cells: (0..3)
            .flat_map(|row| (0..8).map(move |column| (row, column)))
            .map(|(row, column)| cell(row, column))
            .collect(),
    }
}

/// Checks that elements are nested and closed, and that no text has bare special characters.
fn assert_well_formed(markup: &str) {
    const VOID: [&str; 4] = ["meta", "link", "img", "br"];
    let mut open: Vec<String> = Vec::new();
    let mut rest = markup;
    while let Some(start) = rest.find('<') {
        let text = &rest[..start];
        assert!(
            !text.contains('>') || open.iter().any(|tag| tag == "script" || tag == "style"),
            "{text}"
        );
        if !open.iter().any(|tag| tag == "script" || tag == "style") {
            for (at, _) in text.match_indices('&') {
                let entity = text[at..].split(';').next().unwrap();
                assert!(entity.len() < 7, "a bare & in {text:?}");
            }
        }
        rest = &rest[start + 1..];
        let inside_script = open.last().is_some_and(|tag| tag == "script");
        if inside_script && !rest.starts_with("/script") {
            continue;
        }
        let end = rest.find('>').unwrap();
        let tag = &rest[..end];
        let name = tag
            .trim_start_matches('/')
            .split([' ', '\n', '/'])
            .next()
            .unwrap()
            .to_owned();
        if tag.starts_with('/') {
            assert_eq!(open.pop().as_deref(), Some(name.as_str()), "</{name}>");
        } else if !tag.starts_with('!') && !tag.ends_with('/') && !VOID.contains(&name.as_str()) {
            assert_eq!(tag.matches('"').count() % 2, 0, "{tag}");
            open.push(name);
        }
        rest = &rest[end + 1..];
    }
    assert!(open.is_empty(), "{open:?} stay open");
}

#[test]
fn medians_and_intervals_are_those_of_order_statistics() {
    let of = |count: u32| Summary::of((1..=count).map(f64::from), Better::Lower);
    assert_eq!(of(0), None);
    assert_eq!(of(5).unwrap().interval, None, "2 / 2^5 > 5 %");
    assert_eq!(of(6).unwrap().interval, Some([1.0, 6.0]), "2 / 2^6 < 5 %");
    assert_eq!(of(6).unwrap().median, 3.5);
    // Tables of the sign test: n = 10 takes the 2nd, 20 the 6th, 60 the 22nd from both ends.
    assert_eq!(of(10).unwrap().interval, Some([2.0, 9.0]));
    assert_eq!(of(20).unwrap().interval, Some([6.0, 15.0]));
    assert_eq!(of(60).unwrap().interval, Some([22.0, 39.0]));
    // A thousand values: the normal approximation, k = n/2 − 1.96 √n/2.
    let [low, high] = of(1000).unwrap().interval.unwrap();
    assert!(
        (low - 469.0).abs() <= 1.0 && (high - 532.0).abs() <= 1.0,
        "{low} {high}"
    );
    let [low, high] = of(5000).unwrap().interval.unwrap();
    assert!(
        (low - 2431.0).abs() <= 1.0 && (high - 2570.0).abs() <= 1.0,
        "{low} {high}"
    );
    let worst = |better, values: [f64; 3]| Summary::of(values, better).unwrap().worst;
    assert_eq!(worst(Better::NearZero, [-0.4, 0.1, 0.3]), -0.4);
    assert_eq!(worst(Better::NearOne, [0.5, 1.2, 1.4]), 0.5);
}

#[test]
fn methods_are_compared_over_the_poses_that_all_have() {
    let comparison = comparison();
    let pairs = comparison.summary(0, 1).unwrap();
    assert_eq!(
        pairs.count, 7,
        "without the pose that failed; the method that failed does not count"
    );
    assert_eq!(pairs.median, 5.0 + 3.0 * 4.0);
    assert_eq!(comparison.best(0), [0]);
    assert_eq!(comparison.best(1), [1]);
    assert_eq!(comparison.summary(2, 0), None);
}

#[test]
fn equal_printed_medians_are_all_best() {
    let mut comparison = comparison();
    for cell in &mut comparison.cells {
        if let Some(Some(value)) = cell.values.first_mut() {
            *value = *value * 1e-6 - 1e-7;
        }
    }
    assert_eq!(comparison.best(0), [0, 1]);
    assert_eq!(printed(-1e-9, &comparison.quantities[0]), "0.00");
    assert_eq!(printed(-0.031_26, &comparison.quantities[0]), "-3.13");
}

#[test]
fn csv_has_a_line_for_each_method_and_pose() {
    let comparison = comparison();
    let text = csv(&comparison);
    // A small reader of RFC 4180.
    let (mut rows, mut row, mut field, mut quoted) = (vec![], vec![], String::new(), false);
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' if quoted && chars.peek() == Some(&'"') => {
                chars.next();
                field.push('"');
            }
            '"' => quoted = !quoted,
            ',' if !quoted => row.push(std::mem::take(&mut field)),
            '\n' if !quoted => {
                row.push(std::mem::take(&mut field));
                rows.push(std::mem::take(&mut row));
            }
            '\r' if !quoted => {}
            c => field.push(c),
        }
    }
    assert_eq!(rows.len(), 1 + 24);
    assert!(rows.iter().all(|row| row.len() == 8), "{rows:?}");
    assert_eq!(rows[0][4], "volume_change");
    assert_eq!(rows[1][1], "pose,\"0\"");
    assert_eq!(
        rows[1][4].parse::<f64>().unwrap(),
        comparison.value(0, 0, 0).unwrap()
    );
    assert_eq!(rows[1 + 8 + 3][7], "a pose, \"failed\"");
    assert_eq!(rows[1 + 8 + 3][4], "");
}

#[test]
fn json_agrees_with_the_comparison() {
    let comparison = comparison();
    let value = json(&comparison);
    let cells = value["cells"].as_array().unwrap();
    assert_eq!(cells.len(), 24);
    assert_eq!(cells[9]["method"], "pd");
    assert_eq!(cells[9]["values"]["new_pairs"], 3);
    assert_eq!(cells[11]["failure"], "a pose, \"failed\"");
    assert_eq!(value["summary"]["pd"]["new_pairs"]["best"], true);
    assert_eq!(value["summary"]["lbs"]["new_pairs"]["best"], false);
    assert_eq!(value["quantities"][2]["better"], "near one");
    assert!(value["summary"]["no"].as_object().unwrap().is_empty());
}

#[test]
fn latex_is_balanced_and_marks_the_best() {
    let text = latex(&comparison());
    let body: String = text.lines().filter(|line| !line.starts_with('%')).collect();
    let mut depth = 0;
    let mut escaped = false;
    for c in body.chars() {
        match c {
            '{' if !escaped => depth += 1,
            '}' if !escaped => depth -= 1,
            _ => {}
        }
        assert!(depth >= 0);
        escaped = c == '\\' && !escaped;
    }
    assert_eq!(depth, 0);
    assert!(text.contains(r"Linear \& blend") && text.contains(r"Flesh\_1"));
    // A best value in each of three columns, none for the method that failed.
    assert_eq!(text.matches(r"\mathbf").count(), 3);
    assert_eq!(text.matches(" & --").count(), 3);
}

#[test]
fn charts_are_well_formed_whatever_the_values() {
    let comparison = comparison();
    let charts = charts(&comparison, "Angle, degrees");
    assert_eq!(charts.len(), 6, "two movements by three quantities");
    for chart in &charts {
        let svg = chart.chart.svg([480, 330]);
        assert_well_formed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert_eq!(chart.chart.curves.len(), 2);
    }
    for points in [
        vec![],
        vec![(0.0, None)],
        vec![(1.0, Some(2.0))],
        vec![(0.0, Some(0.0)), (1.0, Some(0.0))],
        vec![(0.0, Some(1e300)), (1.0, Some(-1e300))],
        vec![(0.0, Some(f64::NAN)), (f64::INFINITY, Some(1.0))],
        vec![(0.0, Some(1e-300)), (1.0, Some(1e9))],
        vec![(0.0, Some(1e9)), (1.0, Some(1e9 + 1e-7))],
    ] {
        let chart = Chart {
            curves: vec![Curve {
                points,
                ..Curve::default()
            }],
            ..Chart::default()
        };
        let svg = chart.svg([300, 200]);
        assert_well_formed(&svg);
        assert!(!svg.contains("NaN") && !svg.contains("inf"), "{svg}");
        assert!(svg.len() < 20_000, "{} bytes", svg.len());
    }
}

#[test]
fn pictures_of_charts_have_what_their_svg_has() {
    let comparison = comparison();
    let charts: Vec<Chart> = charts(&comparison, "Angle, degrees")
        .into_iter()
        .map(|chart| chart.chart)
        .collect();
    let svg = charts_svg(&charts, [480, 200]);
    assert_well_formed(&svg);
    assert!(svg.contains("viewBox=\"0 0 480 1200\""));
    assert_eq!(svg.matches("<path").count(), 2 * charts.len());
    let picture = charts_picture(&charts, [480, 200], 2);
    assert_eq!(picture.dimensions(), (960, 2400));
    let ink = |color: [u8; 3], rows: std::ops::Range<u32>| {
        let is_ink = |x: u32, y: u32| picture.get_pixel(x, y).0[..3] == color;
        let rows = rows.flat_map(|y| (0..960).map(move |x| (x, y)));
        rows.filter(|&(x, y)| is_ink(x, y)).count()
    };
    for chart in 0..charts.len() as u32 {
        for style in 0..2 {
            let found = ink(curve_color(style), 400 * chart..400 * (chart + 1));
            // Curve, markers and the sample of the legend.
            assert!((400..40_000).contains(&found), "{chart} {style}: {found}");
        }
    }
    // The axis label of the first chart is written upwards: dark pixels at the left edge, none at the right.
    let dark = |columns: std::ops::Range<u32>| {
        let pixels = columns.flat_map(|x| (0..400).map(move |y| (x, y)));
        pixels
            .filter(|&(x, y)| picture.get_pixel(x, y).0[..3].iter().all(|c| *c < 120))
            .count()
    };
    assert!(dark(4..40) > 200 && dark(940..960) == 0);
}

#[test]
fn long_curves_have_few_markers() {
    let points = (0..1000).map(|x| (f64::from(x), Some(f64::from(x % 7))));
    let chart = Chart {
        curves: vec![Curve {
            points: points.collect(),
            ..Curve::default()
        }],
        ..Chart::default()
    };
    let svg = chart.svg([480, 330]);
    assert!((10..30).contains(&svg.matches("<circle").count()));
    assert_eq!(
        svg.matches('L').count(),
        999,
        "the curve itself has all points"
    );
}

#[test]
fn charts_need_no_style_sheet_and_no_colours() {
    let curves = (0..20).map(|style| Curve {
        label: style.to_string(),
        style,
        points: vec![(0.0, Some(0.0)), (1.0, Some(style as f64))],
    });
    let chart = Chart {
        curves: curves.collect(),
        ..Chart::default()
    };
    let svg = chart.svg([480, 330]);
    // Programs other than browsers do not know variables and reject empty lists of dashes.
    assert!(!svg.contains("var(") && !svg.contains("dasharray=\"\""));
    // Without their colours and places, the entries of the legend differ.
    let shape = |style: usize| {
        let alone = Chart {
            curves: vec![chart.curves[style].clone()],
            ..Chart::default()
        };
        let svg = alone.svg([480, 330]);
        let dash = svg.split("stroke-dasharray=\"").nth(1);
        let dash = dash.map_or("", |rest| rest.split('"').next().unwrap());
        let (_, legend) = svg.rsplit_once("<line").unwrap();
        let marker = legend.split('<').nth(1).unwrap();
        let marker = marker.split(" fill").next().unwrap();
        (dash.to_owned(), marker.to_owned())
    };
    let mut shapes: Vec<_> = (0..20).map(shape).collect();
    shapes.sort_unstable();
    shapes.dedup();
    assert_eq!(shapes.len(), 20, "{shapes:?}");
}

#[test]
fn rounding_errors_are_not_charts() {
    let mut comparison = comparison();
    for (index, cell) in comparison.cells.iter_mut().enumerate() {
        if let Some(Some(value)) = cell.values.last_mut() {
            *value = 1.0 + 1e-8 * index as f64;
        }
    }
    let charts = charts(&comparison, "Angle, degrees");
    assert!(charts.iter().all(|chart| chart.quantity != "stretch_p99"));
    assert_eq!(charts.len(), 4, "two movements by two quantities");
}

#[test]
fn movements_of_one_slug_have_files_of_their_own() {
    let mut comparison = comparison();
    for pose in &mut comparison.poses[5..] {
        "Elbow, more".clone_into(&mut pose.movement);
    }
    let charts = charts(&comparison, "Angle, degrees");
    let mut stems: Vec<&str> = charts
        .iter()
        .map(|chart| chart.file_stem.as_str())
        .collect();
    stems.sort_unstable();
    stems.dedup();
    assert_eq!(stems.len(), charts.len());
    assert!(stems.contains(&"elbow-more-new-pairs-2"), "{stems:?}");
}

#[test]
fn the_page_is_one_well_formed_file() {
    let comparison = comparison();
    let picture = PictureCell {
        method: 1,
        pose: 2,
        kind: PictureKind::Skin,
        jpeg: vec![1, 2, 3],
        size: [3, 4],
        caption: "a \"picture\" <of> it".to_owned(),
    };
    let page = page(&PageParts {
        comparison: &comparison,
        pictures: &[picture],
        clips: &[ReportClip {
            label: "Elbow <bend>".to_owned(),
            caption: "lbs & pd: 0° to 150°".to_owned(),
            size: [5, 6],
            webp: vec![4, 5, 6],
        }],
        x_label: "Angle, degrees",
    });
    assert_well_formed(&page);
    assert!(page.contains("data:image/jpeg;base64,AQID"));
    assert!(page.contains("data:image/webp;base64,BAUG"));
    assert!(page.contains("Elbow &lt;bend&gt;"));
    assert!(page.contains("it has no &lt;volume&gt;"));
    assert!(page.contains("<svg"));
    // The only address is the name of SVG's namespace.
    assert_eq!(
        page.matches("://").count(),
        page.matches("xmlns=\"http://").count()
    );
    assert_eq!(page.matches("(best)").count(), 3);
}

#[test]
fn markdown_has_a_row_for_each_method() {
    let comparison = comparison();
    let table = markdown(&comparison);
    let rows: Vec<&str> = table.lines().collect();
    assert_eq!(rows.len(), 2 + 3);
    let columns = rows[0].matches('|').count();
    assert!(
        rows.iter().all(|row| row.matches('|').count() == columns),
        "{table}"
    );
    assert_eq!(table.matches("**").count(), 2 * 3);
}

#[test]
fn winners_are_named_by_medians_and_by_worst_poses() {
    let mut comparison = comparison();
    // The second method's medians of counts are lower by 5; its worst pose of all is made the worst.
    comparison.cells[8 + 7].values[1] = Some(30.0);
    let cells = |text: &str| -> Vec<Vec<String>> {
        let lines = text.lines().skip(2);
        let cells = lines.map(|line| line.split(" | ").skip(1).map(str::to_owned).collect());
        cells.collect()
    };
    assert_eq!(
        cells(&winners(&comparison)),
        [
            ["`lbs` 2.00", "`lbs` 5.00 |"],
            ["`lbs` 1.400", "`lbs` 1.700 |"],
            ["`pd` 12", "`lbs` 26 |"],
        ]
    );
    // Methods that are equal share the win.
    for cell in &mut comparison.cells {
        cell.values = vec![Some(0.0); cell.values.len()];
    }
    assert_eq!(cells(&winners(&comparison))[2], ["all: 0", "all: 0 |"]);
    for cell in &mut comparison.cells[..8] {
        cell.values[1] = Some(1.0);
    }
    assert_eq!(
        cells(&winners(&comparison))[2],
        ["`pd`, `no` 0", "`pd`, `no` 0 |"]
    );
}

#[test]
fn words_are_quoted_for_a_shell() {
    assert_eq!(shell_word("--methods=lbs,pd"), "--methods=lbs,pd");
    assert_eq!(shell_word("my file.glb"), "'my file.glb'");
    assert_eq!(shell_word("it's"), r"'it'\''s'");
    assert_eq!(shell_word(""), "''");
}

#[test]
fn the_last_pose_of_each_movement_is_drawn() {
    let columns = columns_of;
    assert_eq!(columns(&["a", "a", "b", "c", "c"]).drawn(8), [1, 2, 4]);
    assert_eq!(columns(&["a", "b", "c", "d"]).drawn(2), [1, 3]);
    assert!(columns(&[]).drawn(3).is_empty());
}

/// Columns whose movements have these names, in order.
fn columns_of(movements: &[&str]) -> Columns {
    let column = |name: &&str| PoseColumn {
        movement: (*name).to_owned(),
        ..PoseColumn::default()
    };
    let poses = movements
        .iter()
        .map(|name| (column(name), crate::rig::Pose::default()));
    Columns::Poses(poses.collect())
}

#[test]
fn clips_go_through_a_movement_and_back() {
    let columns = columns_of(&["a", "a", "a", "a", "b", "b", "c", "c", "c"]);
    let chosen = Illustrations::choose(&columns, [2, 9], 3, 1000);
    let orders: Vec<&[usize]> = chosen.clips.iter().map(|clip| &clip.columns[..]).collect();
    assert_eq!(orders, [&[0, 1, 2, 3, 2, 1][..], &[6, 7, 8, 7]]);
    assert_eq!(chosen.kept(), [0, 1, 2, 3, 6, 7, 8]);
    // One clip is that in the middle; with very many vertices there is none.
    let one = Illustrations::choose(&columns, [2, 1], 3, 1000);
    assert_eq!(one.clips[0].label, "c");
    let none = Illustrations::choose(&columns, [2, 9], 3, 10_000_000);
    assert!(none.clips.is_empty());
    assert_eq!(none.drawn, chosen.drawn);
}

#[test]
fn a_clip_of_a_motion_is_its_middle_in_real_time() {
    let columns = |count: u32, fps: f64| {
        let column = |frame: u32| PoseColumn::of_frame(frame, f64::from(frame) / fps, "Walk");
        let poses = (0..count).map(|frame| (column(frame), crate::rig::Pose::default()));
        let (list, _): (Vec<_>, Vec<_>) = poses.unzip();
        let still = Take::whole(Motion::Rest, &Character::default(), fps);
        Columns::Motion(list, still)
    };
    let clip = |count, fps| Illustrations::choose(&columns(count, fps), [1, 3], 2, 100).clips;
    let long = clip(600, 30.0);
    assert_eq!(long.len(), 1);
    let shown = &long[0].columns;
    assert_eq!(
        (shown[0], shown[1], shown.len(), long[0].frame_ms),
        (240, 242, 60, 67)
    );
    let short = clip(20, 10.0);
    assert_eq!((short[0].columns.len(), short[0].frame_ms), (20, 100));
    assert!(clip(1, 30.0).is_empty());
}

#[test]
fn a_curve_has_a_gap_where_rest_is_not_measured() {
    let mut signed = comparison();
    signed.methods.truncate(1);
    signed.cells.truncate(8);
    for (pose, at) in signed.poses.iter_mut().zip([-90.0, -30.0, 30.0, 90.0]) {
        pose.at = Some(at);
    }
    signed.poses[4].movement = "Knee".to_owned();
    let curve = |comparison: &Comparison| {
        let charts = charts(comparison, "Angle, degrees");
        charts[0].chart.curves[0].points.clone()
    };
    let points = curve(&signed);
    assert_eq!(points.len(), 5);
    assert_eq!(points[2], (0.0, None));
    // With rest among the poses there is no gap.
    signed.poses[1].at = Some(0.0);
    assert!(curve(&signed).iter().all(|(_, value)| value.is_some()));
}
