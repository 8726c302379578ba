use super::*;

/// Relative luminance of an opaque sRGB colour (WCAG 2.2).
fn luminance(color: Color32) -> f64 {
    let linear = |value: u8| {
        let value = f64::from(value) / 255.0;
        if value <= 0.04045 {
            value / 12.92
        } else {
            ((value + 0.055) / 1.055).powf(2.4)
        }
    };
    0.2126 * linear(color.r()) + 0.7152 * linear(color.g()) + 0.0722 * linear(color.b())
}

fn contrast(a: Color32, b: Color32) -> f64 {
    let (a, b) = (luminance(a), luminance(b));
    (a.max(b) + 0.05) / (a.min(b) + 0.05)
}

#[test]
fn every_text_has_enough_contrast_on_its_backgrounds() {
    for colors in [&DARK, &LIGHT] {
        let panels = [colors.panel, colors.bar, colors.sunken, colors.faint];
        let buttons = [colors.raised, colors.raised_open];
        let mut pairs = Vec::new();
        for text in [
            colors.text,
            colors.text_weak,
            colors.text_strong,
            colors.accent,
            colors.mended,
            colors.warning,
            colors.error,
        ] {
            pairs.extend(panels.map(|fill| (text, fill)));
        }
        pairs.extend(buttons.into_iter().flat_map(|fill| {
            [colors.text, colors.text_weak, colors.text_strong].map(|text| (text, fill))
        }));
        pairs.extend(
            [colors.raised_hovered, colors.raised_pressed].map(|fill| (colors.text_strong, fill)),
        );
        pairs.extend(
            [
                colors.text,
                colors.text_strong,
                colors.text_weak,
                colors.accent,
            ]
            .map(|text| (text, colors.accent_fill)),
        );
        for (text, fill) in [
            (colors.mended, colors.info_fill),
            (colors.warning, colors.warning_fill),
            (colors.error, colors.error_fill),
        ] {
            pairs.extend([
                (text, fill),
                (colors.text_strong, fill),
                (colors.text_weak, fill),
            ]);
        }
        // White is the lightest colour that can show through a plate.
        let behind = Color32::WHITE.blend(colors.plate);
        pairs.extend(
            [colors.plate_text, colors.plate_weak, colors.plate_accent].map(|text| (text, behind)),
        );
        for (text, fill) in pairs {
            let contrast = contrast(text, fill);
            assert!(contrast >= 4.5, "{text:?} on {fill:?}: {contrast:.2}");
        }
        // Graphics need 3 : 1 (WCAG 1.4.11).
        for graphic in colors
            .axes
            .into_iter()
            .chain(colors.stages)
            .chain([colors.accent, colors.screen_ring])
        {
            let contrast = contrast(graphic, colors.panel);
            assert!(contrast >= 3.0, "{graphic:?} on a panel: {contrast:.2}");
        }
    }
}

#[test]
fn each_theme_sets_its_colours_in_egui() {
    let ctx = Context::default();
    apply(&ctx);
    assert_eq!(colors(&ctx), &DARK);
    ctx.set_theme(Theme::Light);
    assert_eq!(colors(&ctx), &LIGHT);
    assert_eq!(ctx.style_of(Theme::Light).visuals.panel_fill, LIGHT.panel);
    assert_eq!(ctx.style_of(Theme::Dark).visuals.panel_fill, DARK.panel);
}
