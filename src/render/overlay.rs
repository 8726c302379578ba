//! Lines and coloured triangles drawn with a character: wireframes, volumes, bones, handles.
//!
//! Colours are 8-bit sRGB with straight alpha. Shapes made of these are in `shapes.rs`.

use crate::math::{Point, Vec3};

/// sRGB with straight alpha.
pub type Rgba = [u8; 4];

/// Depth layer of an overlay.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum OverlayLayer {
    /// Among the character's surfaces, with depth test and write.
    #[default]
    Solid,
    /// Among the surfaces, transparent: drawn after them, without depth write.
    Glass,
    /// Transparent, and visible through the character's skin.
    FrontGlass,
    /// In front of everything, depth-sorted among themselves.
    Front,
}

impl OverlayLayer {
    pub(super) const DRAW_ORDER: [Self; 4] =
        [Self::Solid, Self::Glass, Self::FrontGlass, Self::Front];
}

/// A line of constant width on screen.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct OverlayLine {
    /// First end.
    pub start: [f32; 3],
    /// Width in pixels.
    pub width: f32,
    /// Second end.
    pub end: [f32; 3],
    /// Colour.
    pub color: Rgba,
}

/// A corner of a coloured triangle.
#[repr(C)]
#[derive(Debug, Clone, Copy, PartialEq, bytemuck::Pod, bytemuck::Zeroable)]
pub struct ColorVertex {
    /// Position.
    pub position: [f32; 3],
    /// Unit normal, or zero for an unlit colour.
    pub normal: [f32; 3],
    /// Colour; with alpha below 1 it is drawn like glass, denser towards the silhouette.
    pub color: Rgba,
}

/// A list of lines and triangles on one layer.
#[derive(Debug, Clone, Default)]
pub struct Overlay {
    /// Its depth layer.
    pub layer: OverlayLayer,
    lines: Vec<OverlayLine>,
    triangles: Vec<ColorVertex>,
}

impl Overlay {
    /// An empty overlay.
    #[must_use]
    pub fn new(layer: OverlayLayer) -> Self {
        Self {
            layer,
            ..Self::default()
        }
    }

    /// Clears it, keeping its memory.
    pub fn clear(&mut self) {
        self.lines.clear();
        self.triangles.clear();
    }

    /// Whether it is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.lines.is_empty() && self.triangles.is_empty()
    }

    /// The lines.
    #[must_use]
    pub fn lines(&self) -> &[OverlayLine] {
        &self.lines
    }

    /// Corners of the triangles, three each.
    #[must_use]
    pub fn triangles(&self) -> &[ColorVertex] {
        &self.triangles
    }

    /// Adds a line `width` pixels wide. A line with a non-finite end is omitted.
    pub fn line(&mut self, start: &Point, end: &Point, color: Rgba, width: f32) {
        if is_finite(start) && is_finite(end) && width.is_finite() {
            self.lines.push(OverlayLine {
                start: (*start).into(),
                width,
                end: (*end).into(),
                color,
            });
        }
    }

    /// Adds a closed or open polyline.
    pub(crate) fn polyline(&mut self, points: &[Point], closed: bool, color: Rgba, width: f32) {
        for pair in points.windows(2) {
            self.line(&pair[0], &pair[1], color, width);
        }
        if let (true, [first, .., last]) = (closed, points) {
            self.line(last, first, color, width);
        }
    }

    /// Adds a triangle with the given normals (zero: unlit). Omitted if a corner is not finite.
    pub fn triangle(&mut self, corners: [Point; 3], normals: [Vec3; 3], color: Rgba) {
        if corners.iter().all(is_finite) {
            let vertex = |i: usize| ColorVertex {
                position: corners[i].into(),
                normal: normals[i].into(),
                color,
            };
            self.triangles.extend([vertex(0), vertex(1), vertex(2)]);
        }
    }

    /// Adds a flat triangle, lit by its face normal.
    pub(crate) fn flat_triangle(&mut self, corners: [Point; 3], color: Rgba) {
        let normal = (corners[1] - corners[0]).cross(&(corners[2] - corners[0]));
        let normal = normal.try_normalize(1e-30).unwrap_or_else(Vec3::zeros);
        self.triangle(corners, [normal; 3], color);
    }

    /// Adds a smooth surface with unit normals at its vertices. Triangles with an index out of
    /// range are omitted.
    pub fn surface(
        &mut self,
        positions: &[Point],
        normals: &[Vec3],
        triangles: &[[u32; 3]],
        color: Rgba,
    ) {
        let known = positions.len().min(normals.len());
        for corners in triangles {
            let [a, b, c] = corners.map(|v| v as usize);
            if a.max(b).max(c) < known {
                self.triangle(
                    [positions[a], positions[b], positions[c]],
                    [normals[a], normals[b], normals[c]],
                    color,
                );
            }
        }
    }
}

fn is_finite(point: &Point) -> bool {
    point.iter().all(|c| c.is_finite())
}
