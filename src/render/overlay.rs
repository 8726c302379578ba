//! Lines and coloured triangles drawn with a character: wire nets, volumes, bones, handles.
//!
//! Colours are 8-bit sRGB with straight alpha. Shapes made of these two are in `shapes.rs`.

use crate::math::{Point, Vec3};

/// sRGB with straight alpha.
pub type Rgba = [u8; 4];

/// Where an overlay stands in depth.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Layer {
    /// Among the character's surfaces, hidden by them and hiding them.
    #[default]
    Solid,
    /// Among the surfaces, but see-through: drawn after them, hides nothing.
    Glass,
    /// See-through, and seen through the character's skin.
    FrontGlass,
    /// In front of everything, sorted among themselves.
    Front,
}

impl Layer {
    pub(super) const DRAW_ORDER: [Self; 4] = [Self::Solid, Self::Glass, Self::FrontGlass, Self::Front];
}

/// A line of constant width on screen.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct Line {
    /// One end.
    pub start: [f32; 3],
    /// Width in pixels.
    pub width: f32,
    /// The other end.
    pub end: [f32; 3],
    /// Colour.
    pub color: Rgba,
}

/// A corner of a coloured triangle.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ColorVertex {
    /// Where.
    pub position: [f32; 3],
    /// Unit normal, or zero for a colour without light.
    pub normal: [f32; 3],
    /// Colour; less than full alpha is drawn as glass, denser towards the outline.
    pub color: Rgba,
}

/// A list of lines and triangles on one layer.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// Where it stands in depth.
    pub layer: Layer,
    lines: Vec<Line>,
    triangles: Vec<ColorVertex>,
}

impl Overlay {
    /// An empty overlay.
    #[must_use]
    pub fn new(layer: Layer) -> Self {
        Self { layer, ..Self::default() }
    }

    /// Empties it, keeping its memory.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.triangles.clear();
    }

    /// Whether there is nothing in it.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.triangles.is_empty()
    }

    /// The lines.
    #[must_use]
    pub fn lines(&self) -> &[Line] {
        &self.lines
    }

    /// The triangles' corners, three each.
    #[must_use]
    pub fn triangles(&self) -> &[ColorVertex] {
        &self.triangles
    }

    /// Adds a line `width` pixels wide. A line with an end that is not finite is left out.
    pub fn line(&mut self, start: &Point, end: &Point, color: Rgba, width: f32) {
        if is_finite(start) && is_finite(end) && width.is_finite() {
            self.lines.push(Line { start: (*start).into(), width, end: (*end).into(), color });
        }
    }

    /// Adds a closed or open chain of lines.
    pub fn polyline(&mut self, points: &[Point], closed: bool, color: Rgba, width: f32) {
        for pair in points.windows(2) {
            self.line(&pair[0], &pair[1], color, width);
        }
        if let (true, [first, .., last]) = (closed, points) {
            self.line(last, first, color, width);
        }
    }

    /// Adds a triangle with the given normals (zero: without light). Left out if a corner is not finite.
    pub fn triangle(&mut self, corners: [Point; 3], normals: [Vec3; 3], color: Rgba) {
        if corners.iter().all(is_finite) {
            let vertex = |i: usize| ColorVertex { position: corners[i].into(), normal: normals[i].into(), color };
            self.triangles.extend([vertex(0), vertex(1), vertex(2)]);
        }
    }

    /// Adds a flat triangle, lit by its own normal.
    pub fn flat_triangle(&mut self, corners: [Point; 3], color: Rgba) {
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        let normal = normal.try_normalize(1e-30).unwrap_or_else(Vec3::zeros);
        self.triangle(corners, [normal; 3], color);
    }

    /// Adds a smooth surface with unit normals at its vertices. Triangles with an index out of range are left out.
    pub fn surface(&mut self, positions: &[Point], normals: &[Vec3], triangles: &[[u32; 3]], color: Rgba) {
        let known = positions.len().min(normals.len());
        for corners in triangles {
            let [a, b, c] = corners.map(|v| v as usize);
            if a.max(b).max(c) < known {
                self.triangle([positions[a], positions[b], positions[c]], [normals[a], normals[b], normals[c]], color);
            }
        }
    }

    /// Adds lines between pairs of points, such as the edges of tets. Pairs with an index out of range are left out.
    pub fn edges(&mut self, positions: &[Point], edges: &[[u32; 2]], color: Rgba, width: f32) {
        for &[a, b] in edges {
            if let (Some(a), Some(b)) = (positions.get(a as usize), positions.get(b as usize)) {
                self.line(a, b, color, width);
            }
        }
    }
}

fn is_finite(point: &Point) -> bool {
    point.iter().all(|c| c.is_finite())
}
