//! The strokes of every icon, in a unit square with y downwards.

use egui::{Color32, Painter, Pos2, Rect, Shape, Stroke, pos2, vec2};

use super::Icon;

/// A pen in a square.
pub(super) struct Pen<'a> {
    painter: &'a Painter,
    square: Rect,
    stroke: Stroke,
}

type P = (f32, f32);

impl<'a> Pen<'a> {
    /// A pen that draws into a square around the middle of `rect`.
    pub(super) fn new(painter: &'a Painter, rect: Rect, color: Color32) -> Self {
        let side = rect.width().min(rect.height());
        let square = Rect::from_center_size(rect.center(), vec2(side, side));
        Self { painter, square, stroke: Stroke::new((side * 0.1).max(1.2), color) }
    }

    fn at(&self, (x, y): P) -> Pos2 {
        pos2(self.square.left() + x * self.square.width(), self.square.top() + y * self.square.height())
    }

    fn line(&self, points: &[P]) {
        self.painter.add(Shape::line(points.iter().map(|&point| self.at(point)).collect(), self.stroke));
    }

    fn closed(&self, points: &[P]) {
        self.painter.add(Shape::closed_line(points.iter().map(|&point| self.at(point)).collect(), self.stroke));
    }

    fn lines(&self, lines: &[&[P]]) {
        for line in lines {
            self.line(line);
        }
    }

    fn solid(&self, points: &[P]) {
        let points = points.iter().map(|&point| self.at(point)).collect();
        self.painter.add(Shape::convex_polygon(points, self.stroke.color, Stroke::NONE));
    }

    fn ring(&self, center: P, radius: f32) {
        self.painter.circle_stroke(self.at(center), radius * self.square.width(), self.stroke);
    }

    fn dot(&self, center: P, radius: f32) {
        self.painter.circle_filled(self.at(center), radius * self.square.width(), self.stroke.color);
    }

    fn bow(&self, center: P, radius: f32, from: f32, to: f32) {
        self.line(&arc(center, radius, from, to));
    }
}

/// Points along a circle, degrees clockwise from the right.
fn arc((x, y): P, radius: f32, from: f32, to: f32) -> Vec<P> {
    (0..=20)
        .map(|step| {
            let (sin, cos) = (from + (to - from) * step as f32 / 20.0).to_radians().sin_cos();
            (x + radius * cos, y + radius * sin)
        })
        .collect()
}

/// Draws an icon.
pub(super) fn draw(pen: &Pen<'_>, icon: Icon) {
    match icon {
        Icon::Play | Icon::Pause | Icon::Start | Icon::End | Icon::Loop | Icon::Record | Icon::Key | Icon::AutoKey => {
            time(pen, icon);
        }
        Icon::StepBack | Icon::StepForward | Icon::FoldUp | Icon::FoldDown | Icon::More => steps(pen, icon),
        Icon::Select | Icon::Rotate | Icon::Move | Icon::Pull | Icon::Pin | Icon::Mirror | Icon::Figure | Icon::Reset => pose(pen, icon),
        Icon::AddJoint | Icon::Insert | Icon::Symmetry | Icon::Link | Icon::Unlink => build(pen, icon),
        Icon::Split | Icon::SplitDown | Icon::Wipe | Icon::Difference | Icon::Camera | Icon::Layout | Icon::Maximise | Icon::Eye => {
            view(pen, icon);
        }
        Icon::Open | Icon::Save | Icon::Copy | Icon::Export | Icon::Undo | Icon::Redo => file(pen, icon),
        Icon::Search | Icon::Bell | Icon::Gear | Icon::Sun | Icon::Moon | Icon::Log | Icon::Help | Icon::Plus | Icon::Minus | Icon::Bin => {
            window(pen, icon);
        }
        Icon::Close | Icon::Warning | Icon::Info | Icon::Check => sign(pen, icon),
    }
}

fn time(pen: &Pen<'_>, icon: Icon) {
    match icon {
        Icon::Play => pen.solid(&[(0.22, 0.12), (0.88, 0.5), (0.22, 0.88)]),
        Icon::Pause => {
            pen.solid(&[(0.2, 0.12), (0.42, 0.12), (0.42, 0.88), (0.2, 0.88)]);
            pen.solid(&[(0.58, 0.12), (0.8, 0.12), (0.8, 0.88), (0.58, 0.88)]);
        }
        Icon::Start => {
            pen.solid(&[(0.14, 0.14), (0.28, 0.14), (0.28, 0.86), (0.14, 0.86)]);
            pen.solid(&[(0.88, 0.14), (0.88, 0.86), (0.34, 0.5)]);
        }
        Icon::End => {
            pen.solid(&[(0.86, 0.14), (0.72, 0.14), (0.72, 0.86), (0.86, 0.86)]);
            pen.solid(&[(0.12, 0.14), (0.12, 0.86), (0.66, 0.5)]);
        }
        Icon::Loop => {
            pen.bow((0.5, 0.5), 0.36, 190.0, 330.0);
            pen.bow((0.5, 0.5), 0.36, 10.0, 150.0);
            pen.solid(&[(0.98, 0.12), (0.96, 0.48), (0.64, 0.34)]);
            pen.solid(&[(0.02, 0.88), (0.04, 0.52), (0.36, 0.66)]);
        }
        Icon::Record => pen.dot((0.5, 0.5), 0.36),
        Icon::Key => pen.solid(&[(0.5, 0.06), (0.92, 0.5), (0.5, 0.94), (0.08, 0.5)]),
        _ => {
            pen.closed(&[(0.5, 0.06), (0.92, 0.5), (0.5, 0.94), (0.08, 0.5)]);
            pen.dot((0.5, 0.5), 0.16);
        }
    }
}

fn steps(pen: &Pen<'_>, icon: Icon) {
    match icon {
        Icon::StepBack => {
            pen.solid(&[(0.62, 0.16), (0.62, 0.84), (0.12, 0.5)]);
            pen.solid(&[(0.70, 0.16), (0.84, 0.16), (0.84, 0.84), (0.70, 0.84)]);
        }
        Icon::StepForward => {
            pen.solid(&[(0.38, 0.16), (0.88, 0.5), (0.38, 0.84)]);
            pen.solid(&[(0.16, 0.16), (0.30, 0.16), (0.30, 0.84), (0.16, 0.84)]);
        }
        Icon::FoldUp => pen.line(&[(0.16, 0.66), (0.5, 0.34), (0.84, 0.66)]),
        Icon::FoldDown => pen.line(&[(0.16, 0.34), (0.5, 0.66), (0.84, 0.34)]),
        _ => [0.18, 0.5, 0.82].into_iter().for_each(|x| pen.dot((x, 0.5), 0.09)),
    }
}

fn pose(pen: &Pen<'_>, icon: Icon) {
    match icon {
        Icon::Select => pen.closed(&[(0.22, 0.06), (0.22, 0.82), (0.42, 0.64), (0.56, 0.94), (0.68, 0.88), (0.54, 0.60), (0.80, 0.58)]),
        Icon::Rotate => {
            pen.bow((0.5, 0.5), 0.38, -60.0, 200.0);
            pen.solid(&[(0.46, 0.02), (0.80, 0.06), (0.60, 0.36)]);
            pen.dot((0.5, 0.5), 0.09);
        }
        Icon::Move => {
            pen.lines(&[&[(0.5, 0.08), (0.5, 0.92)], &[(0.08, 0.5), (0.92, 0.5)]]);
            pen.lines(&[&[(0.36, 0.22), (0.5, 0.08), (0.64, 0.22)], &[(0.36, 0.78), (0.5, 0.92), (0.64, 0.78)]]);
            pen.lines(&[&[(0.22, 0.36), (0.08, 0.5), (0.22, 0.64)], &[(0.78, 0.36), (0.92, 0.5), (0.78, 0.64)]]);
        }
        Icon::Pull => {
            pen.lines(&[&[(0.12, 0.84), (0.34, 0.38), (0.72, 0.44)]]);
            pen.dot((0.12, 0.84), 0.09);
            pen.dot((0.34, 0.38), 0.09);
            pen.ring((0.80, 0.44), 0.13);
            pen.lines(&[&[(0.66, 0.10), (0.90, 0.10), (0.90, 0.24)], &[(0.90, 0.10), (0.70, 0.28)]]);
        }
        Icon::Pin => {
            pen.closed(&[(0.34, 0.08), (0.66, 0.08), (0.62, 0.40), (0.78, 0.58), (0.22, 0.58), (0.38, 0.40)]);
            pen.line(&[(0.5, 0.58), (0.5, 0.94)]);
        }
        Icon::Mirror => {
            pen.lines(&[&[(0.5, 0.06), (0.5, 0.26)], &[(0.5, 0.40), (0.5, 0.60)], &[(0.5, 0.74), (0.5, 0.94)]]);
            pen.closed(&[(0.36, 0.24), (0.36, 0.76), (0.06, 0.76)]);
            pen.solid(&[(0.64, 0.24), (0.94, 0.76), (0.64, 0.76)]);
        }
        Icon::Figure => {
            pen.ring((0.5, 0.17), 0.13);
            pen.lines(&[&[(0.5, 0.30), (0.5, 0.62)], &[(0.12, 0.42), (0.88, 0.42)], &[(0.24, 0.96), (0.5, 0.62), (0.76, 0.96)]]);
        }
        _ => {
            pen.bow((0.52, 0.54), 0.36, -60.0, 220.0);
            pen.solid(&[(0.50, 0.02), (0.50, 0.40), (0.80, 0.20)]);
        }
    }
}

fn build(pen: &Pen<'_>, icon: Icon) {
    match icon {
        Icon::AddJoint => {
            pen.ring((0.30, 0.70), 0.16);
            pen.line(&[(0.42, 0.58), (0.62, 0.38)]);
            pen.lines(&[&[(0.74, 0.06), (0.74, 0.42)], &[(0.56, 0.24), (0.92, 0.24)]]);
        }
        Icon::Insert => {
            pen.dot((0.14, 0.5), 0.11);
            pen.dot((0.86, 0.5), 0.11);
            pen.ring((0.5, 0.5), 0.14);
            pen.lines(&[&[(0.24, 0.5), (0.36, 0.5)], &[(0.64, 0.5), (0.76, 0.5)]]);
        }
        Icon::Symmetry => {
            pen.line(&[(0.5, 0.08), (0.5, 0.92)]);
            pen.ring((0.20, 0.5), 0.13);
            pen.ring((0.80, 0.5), 0.13);
        }
        Icon::Link | Icon::Unlink => {
            pen.bow((0.34, 0.5), 0.22, 60.0, 300.0);
            pen.bow((0.66, 0.5), 0.22, -120.0, 120.0);
            if icon == Icon::Link {
                pen.line(&[(0.36, 0.5), (0.64, 0.5)]);
            } else {
                pen.line(&[(0.42, 0.12), (0.58, 0.88)]);
            }
        }
        _ => {}
    }
}

fn view(pen: &Pen<'_>, icon: Icon) {
    let frame = [(0.08, 0.16), (0.92, 0.16), (0.92, 0.84), (0.08, 0.84)];
    match icon {
        Icon::Split => {
            pen.closed(&frame);
            pen.line(&[(0.5, 0.16), (0.5, 0.84)]);
        }
        Icon::SplitDown => {
            pen.closed(&frame);
            pen.line(&[(0.08, 0.5), (0.92, 0.5)]);
        }
        Icon::Wipe => {
            pen.closed(&frame);
            pen.solid(&[(0.08, 0.16), (0.5, 0.16), (0.5, 0.84), (0.08, 0.84)]);
        }
        Icon::Difference => {
            pen.ring((0.36, 0.5), 0.28);
            pen.ring((0.64, 0.5), 0.28);
        }
        Icon::Camera => {
            pen.closed(&[(0.06, 0.26), (0.28, 0.26), (0.36, 0.14), (0.64, 0.14), (0.72, 0.26), (0.94, 0.26), (0.94, 0.84), (0.06, 0.84)]);
            pen.ring((0.5, 0.54), 0.18);
        }
        Icon::Layout => {
            pen.closed(&frame);
            pen.lines(&[&[(0.5, 0.16), (0.5, 0.84)], &[(0.5, 0.5), (0.92, 0.5)]]);
        }
        Icon::Maximise => {
            pen.lines(&[&[(0.60, 0.10), (0.90, 0.10), (0.90, 0.40)], &[(0.40, 0.90), (0.10, 0.90), (0.10, 0.60)]]);
            pen.lines(&[&[(0.90, 0.10), (0.58, 0.42)], &[(0.10, 0.90), (0.42, 0.58)]]);
        }
        _ => {
            pen.bow((0.5, 0.86), 0.56, -142.0, -38.0);
            pen.bow((0.5, 0.14), 0.56, 38.0, 142.0);
            pen.dot((0.5, 0.5), 0.14);
        }
    }
}

fn file(pen: &Pen<'_>, icon: Icon) {
    match icon {
        Icon::Open => pen.closed(&[(0.08, 0.84), (0.08, 0.18), (0.38, 0.18), (0.48, 0.30), (0.92, 0.30), (0.92, 0.84)]),
        Icon::Save => {
            pen.closed(&[(0.10, 0.10), (0.72, 0.10), (0.90, 0.28), (0.90, 0.90), (0.10, 0.90)]);
            pen.lines(&[
                &[(0.30, 0.12), (0.30, 0.34), (0.62, 0.34), (0.62, 0.12)],
                &[(0.26, 0.88), (0.26, 0.58), (0.74, 0.58), (0.74, 0.88)],
            ]);
        }
        Icon::Copy => {
            pen.closed(&[(0.34, 0.32), (0.90, 0.32), (0.90, 0.92), (0.34, 0.92)]);
            pen.line(&[(0.24, 0.68), (0.10, 0.68), (0.10, 0.08), (0.66, 0.08), (0.66, 0.22)]);
        }
        Icon::Export => {
            pen.line(&[(0.24, 0.46), (0.10, 0.46), (0.10, 0.92), (0.90, 0.92), (0.90, 0.46), (0.76, 0.46)]);
            pen.lines(&[&[(0.5, 0.70), (0.5, 0.08)], &[(0.30, 0.28), (0.5, 0.08), (0.70, 0.28)]]);
        }
        _ => {
            let mirrored =
                |points: &[P]| -> Vec<P> { points.iter().map(|&(x, y)| (if icon == Icon::Redo { 1.0 - x } else { x }, y)).collect() };
            pen.line(&mirrored(&[(0.12, 0.36), (0.60, 0.36), (0.80, 0.44), (0.88, 0.60), (0.80, 0.76), (0.60, 0.84), (0.30, 0.84)]));
            pen.line(&mirrored(&[(0.34, 0.12), (0.10, 0.36), (0.34, 0.60)]));
        }
    }
}

fn window(pen: &Pen<'_>, icon: Icon) {
    match icon {
        Icon::Search => {
            pen.ring((0.42, 0.42), 0.30);
            pen.line(&[(0.64, 0.64), (0.92, 0.92)]);
        }
        Icon::Bell => {
            let mut bell = vec![(0.10, 0.74), (0.22, 0.60)];
            bell.extend(arc((0.5, 0.38), 0.28, 180.0, 360.0));
            bell.extend([(0.78, 0.60), (0.90, 0.74)]);
            pen.closed(&bell);
            pen.bow((0.5, 0.78), 0.14, 20.0, 160.0);
        }
        Icon::Gear => {
            // Three sliders.
            for (y, knob) in [(0.18, 0.66), (0.5, 0.32), (0.82, 0.60)] {
                pen.lines(&[&[(0.06, y), (knob - 0.13, y)], &[(knob + 0.13, y), (0.94, y)]]);
                pen.ring((knob, y), 0.12);
            }
        }
        Icon::Sun => {
            pen.ring((0.5, 0.5), 0.20);
            for ray in 0..8 {
                let (sin, cos) = (ray as f32 * 45.0_f32).to_radians().sin_cos();
                pen.line(&[(0.5 + 0.33 * cos, 0.5 + 0.33 * sin), (0.5 + 0.46 * cos, 0.5 + 0.46 * sin)]);
            }
        }
        Icon::Moon => {
            let mut moon = arc((0.48, 0.52), 0.40, -65.0, -335.0);
            moon.extend(arc((0.68, 0.34), 0.32, 62.0, 208.0));
            pen.closed(&moon);
        }
        Icon::Log => {
            pen.closed(&[(0.14, 0.08), (0.86, 0.08), (0.86, 0.92), (0.14, 0.92)]);
            pen.lines(&[&[(0.30, 0.30), (0.70, 0.30)], &[(0.30, 0.50), (0.70, 0.50)], &[(0.30, 0.70), (0.54, 0.70)]]);
        }
        Icon::Help => {
            let mut hook = arc((0.5, 0.32), 0.22, 180.0, 390.0);
            hook.extend([(0.5, 0.56), (0.5, 0.68)]);
            pen.line(&hook);
            pen.dot((0.5, 0.88), 0.07);
        }
        Icon::Plus => pen.lines(&[&[(0.5, 0.12), (0.5, 0.88)], &[(0.12, 0.5), (0.88, 0.5)]]),
        Icon::Minus => pen.line(&[(0.12, 0.5), (0.88, 0.5)]),
        _ => {
            pen.lines(&[&[(0.10, 0.24), (0.90, 0.24)], &[(0.36, 0.24), (0.36, 0.10), (0.64, 0.10), (0.64, 0.24)]]);
            pen.line(&[(0.20, 0.24), (0.26, 0.92), (0.74, 0.92), (0.80, 0.24)]);
            pen.lines(&[&[(0.42, 0.42), (0.43, 0.74)], &[(0.58, 0.42), (0.57, 0.74)]]);
        }
    }
}

fn sign(pen: &Pen<'_>, icon: Icon) {
    match icon {
        Icon::Close => pen.lines(&[&[(0.2, 0.2), (0.8, 0.8)], &[(0.8, 0.2), (0.2, 0.8)]]),
        Icon::Warning => {
            pen.closed(&[(0.5, 0.1), (0.95, 0.88), (0.05, 0.88)]);
            pen.line(&[(0.5, 0.40), (0.5, 0.62)]);
            pen.dot((0.5, 0.75), 0.06);
        }
        Icon::Info => {
            pen.ring((0.5, 0.5), 0.42);
            pen.line(&[(0.5, 0.46), (0.5, 0.72)]);
            pen.dot((0.5, 0.31), 0.065);
        }
        _ => pen.line(&[(0.12, 0.54), (0.38, 0.80), (0.88, 0.22)]),
    }
}
