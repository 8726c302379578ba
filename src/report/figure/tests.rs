use super::*;

fn panel(gray: u8, label: &str, legends: usize) -> FigurePanel {
    let legend = Legend {
        title: "Distance".to_owned(),
        unit: "mm",
        range: [0.0, 20.0],
        map: ColorMap::Heat,
    };
    FigurePanel {
        picture: RgbaImage::from_pixel(320, 240, Rgba([gray, 0, gray, 255])),
        label: label.to_owned(),
        notes: vec!["volume −1.9 %".to_owned()],
        legends: vec![legend; legends],
    }
}

fn figure() -> Figure {
    Figure {
        panels: vec![
            panel(1, "Linear <blend>", 0),
            panel(2, "Dual quaternion", 1),
            panel(3, "Flesh", 0),
        ],
        columns: 2,
        transparent: false,
    }
}

#[test]
fn pictures_are_whole_and_nothing_is_drawn_over_them() {
    let figure = figure();
    let page = figure.picture();
    assert_eq!([page.width(), page.height()], figure.size());
    for gray in 1..=3 {
        let kept = page.pixels().filter(|p| p.0 == [gray, 0, gray, 255]);
        assert_eq!(kept.count(), 320 * 240, "panel {gray}");
    }
    // Two in a row, then one.
    let places: Vec<[u32; 2]> = (1..=3)
        .filter_map(|gray| {
            let mut all = page.enumerate_pixels();
            let (x, y, _) = all.find(|(_, _, p)| p.0[0] == gray && p.0[1] == 0)?;
            Some([x, y])
        })
        .collect();
    assert_eq!(places[0][1], places[1][1]);
    assert!(places[0][0] == places[2][0] && places[2][1] > places[0][1] + 240);
}

#[test]
fn captions_and_the_bar_are_below_their_picture() {
    let mut figure = figure();
    let with_bar = figure.size();
    let darkest = ColorMap::Heat.color(0.99);
    let near = |p: &Rgba<u8>| (0..3).all(|k| p.0[k].abs_diff(darkest[k]) < 12);
    assert!(figure.picture().pixels().filter(|p| near(p)).count() > 10);
    figure.panels[1].legends.clear();
    assert!(figure.size()[1] < with_bar[1], "a bar takes room");
    assert!(!figure.picture().pixels().any(near));
    let dark = |p: &&Rgba<u8>| p.0[..3].iter().all(|c| *c < 140) && p.0[1] > 5;
    let inked = figure.picture().pixels().filter(dark).count();
    for panel in &mut figure.panels {
        panel.label.clear();
        panel.notes.clear();
    }
    assert!(inked > 100 && figure.picture().pixels().filter(dark).count() == 0);
}

#[test]
fn the_svg_has_text_bars_and_pictures() {
    let svg = figure().svg("a & b").unwrap();
    assert!(svg.contains("<title>a &amp; b</title>"));
    assert!(
        svg.contains("(a) Linear &lt;blend&gt;</text>"),
        "{svg:.400}"
    );
    assert!(svg.contains("(c) Flesh</text>") && svg.contains(">Distance, mm</text>"));
    assert_eq!(svg.matches("<image ").count(), 3);
    assert_eq!(svg.matches("<linearGradient ").count(), 1);
    let data = svg
        .split("base64,")
        .nth(1)
        .and_then(|rest| rest.split('"').next());
    let png = base64::engine::general_purpose::STANDARD
        .decode(data.unwrap())
        .unwrap();
    assert_eq!(
        image::load_from_memory(&png)
            .unwrap()
            .to_rgba8()
            .dimensions(),
        (320, 240)
    );
}

#[test]
fn one_picture_has_no_letter_and_a_transparent_page_none_behind() {
    let figure = Figure {
        panels: vec![panel(1, "Flesh", 0)],
        columns: 9,
        transparent: true,
    };
    let svg = figure.svg("").unwrap();
    assert!(svg.contains(">Flesh</text>") && !svg.contains("(a)") && !svg.contains("#fff"));
    assert_eq!(figure.picture().get_pixel(0, 0).0[3], 0);
}
