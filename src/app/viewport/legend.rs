//! The colour bar beside a picture.

use egui::epaint::Vertex;
use egui::{Align2, Color32, FontId, Mesh, Painter, Rect, pos2, vec2};

use crate::app::theme;
use crate::render::Legend;

/// Width of the bar, points.
const WIDTH: f32 = 12.0;
/// Longest bar, points.
const LONGEST: f32 = 180.0;
/// Shorter views have no room for a bar.
const LEAST: f32 = 110.0;
/// Pieces of the bar.
const PIECES: usize = 32;

/// Draws the bar with its numbers at the right edge of a view.
pub fn draw(painter: &Painter, view: Rect, legend: &Legend) {
    let height = (view.height() - 120.0).min(LONGEST);
    if height < LEAST - 40.0 {
        return;
    }
    let colors = theme::colors(painter.ctx());
    let font = FontId::proportional(11.5);
    let ticks: Vec<_> =
        legend.ticks().into_iter().map(|(at, text)| (at, painter.layout_no_wrap(text, font.clone(), colors.plate_text))).collect();
    let heading = painter.layout_no_wrap(legend.heading(), font, colors.plate_text);
    let numbers = ticks.iter().map(|(_, galley)| galley.size().x).fold(0.0_f32, f32::max);
    let width = (WIDTH + 8.0 + numbers).max(heading.size().x);
    let plate =
        Align2::RIGHT_CENTER.anchor_size(pos2(view.right() - 10.0, view.center().y), vec2(width + 16.0, height + heading.size().y + 26.0));
    painter.rect_filled(plate, 5.0, colors.plate);
    painter.galley(plate.min + vec2(8.0, 6.0), heading.clone(), colors.plate_text);
    let top = plate.top() + heading.size().y + 16.0;
    let bar = Rect::from_min_size(pos2(plate.left() + 8.0, top), vec2(WIDTH, height));
    let mut mesh = Mesh::default();
    for piece in 0..=PIECES {
        let share = piece as f32 / PIECES as f32;
        let y = bar.bottom() - share * height;
        let [r, g, b] = legend.map.color(share);
        let color = Color32::from_rgb(r, g, b);
        for x in [bar.left(), bar.right()] {
            mesh.vertices.push(Vertex { pos: pos2(x, y), uv: egui::epaint::WHITE_UV, color });
        }
        if let Some(before) = (piece as u32 * 2).checked_sub(2) {
            mesh.add_triangle(before, before + 1, before + 2);
            mesh.add_triangle(before + 1, before + 2, before + 3);
        }
    }
    painter.add(mesh);
    for (at, galley) in ticks {
        let y = bar.bottom() - at * height;
        painter.hline(bar.right()..=bar.right() + 4.0, y, egui::Stroke::new(1.0, colors.plate_text));
        painter.galley(pos2(bar.right() + 7.0, y - galley.size().y / 2.0), galley, colors.plate_text);
    }
}
