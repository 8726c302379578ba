//! A small software rasteriser to look at the results: several views side by side, smooth shading, optional wireframe.

use image::{Rgb, RgbImage};
use sinew::math::{Point64, Vec64};

/// Where to look from.
#[derive(Debug, Clone, Copy)]
pub struct View {
    /// Angle about +Y in degrees; 0 looks at the front.
    pub yaw: f64,
    /// Angle above the horizon in degrees.
    pub pitch: f64,
    /// What is in the middle.
    pub center: Point64,
    /// Visible height.
    pub height: f64,
}

/// A mesh to draw.
pub struct Picture<'a> {
    /// Vertices.
    pub positions: &'a [Point64],
    /// Corners.
    pub triangles: &'a [[u32; 3]],
    /// Linear colour of each vertex.
    pub colors: &'a [[f64; 3]],
    /// Draw the edges of front faces.
    pub wireframe: bool,
    /// Line segments drawn over everything.
    pub lines: &'a [(Point64, Point64)],
}

/// Samples per pixel along each axis.
const SAMPLES: u32 = 2;

/// Draws the views side by side.
pub fn draw(picture: &Picture<'_>, views: &[View], width: u32, height: u32) -> RgbImage {
    let mut sheet = RgbImage::new(width * views.len() as u32, height);
    for (index, view) in views.iter().enumerate() {
        let tile = draw_view(picture, view, width, height);
        image::imageops::replace(&mut sheet, &tile, i64::from(index as u32 * width), 0);
    }
    sheet
}

struct Canvas {
    width: u32,
    height: u32,
    depth: Vec<f64>,
    color: Vec<[f64; 3]>,
}

fn draw_view(picture: &Picture<'_>, view: &View, width: u32, height: u32) -> RgbImage {
    let (w, h) = (width * SAMPLES, height * SAMPLES);
    let mut canvas = Canvas {
        width: w,
        height: h,
        depth: vec![f64::MAX; (w * h) as usize],
        color: vec![[0.16, 0.17, 0.19]; (w * h) as usize],
    };
    let turn = nalgebra::Rotation3::from_euler_angles(view.pitch.to_radians(), 0.0, 0.0)
        * nalgebra::Rotation3::from_euler_angles(0.0, -view.yaw.to_radians(), 0.0);
    let scale = f64::from(h) / view.height;
    let see = |p: &Point64| {
        let q = turn * (p - view.center);
        Vec64::new(
            f64::from(w) / 2.0 + q.x * scale,
            f64::from(h) / 2.0 - q.y * scale,
            -q.z * scale,
        )
    };
    let seen: Vec<Vec64> = picture.positions.iter().map(see).collect();
    let mut normals = vec![Vec64::zeros(); seen.len()];
    for t in picture.triangles {
        let p = t.map(|v| picture.positions[v as usize]);
        let area = (p[1] - p[0]).cross(&(p[2] - p[0]));
        for &v in t {
            normals[v as usize] += area;
        }
    }
    let shades: Vec<[f64; 3]> = normals
        .iter()
        .zip(picture.colors)
        .map(|(n, color)| {
            shade(
                &(turn * n).try_normalize(1e-30).unwrap_or_else(Vec64::z),
                *color,
            )
        })
        .collect();
    for t in picture.triangles {
        canvas.triangle(t.map(|v| seen[v as usize]), t.map(|v| shades[v as usize]));
    }
    if picture.wireframe {
        for t in picture.triangles {
            for i in 0..3 {
                canvas.line(
                    seen[t[i] as usize],
                    seen[t[(i + 1) % 3] as usize],
                    [0.05, 0.05, 0.08],
                    1.5,
                );
            }
        }
    }
    for (a, b) in picture.lines {
        canvas.line(see(a), see(b), [1.0, 0.5, 0.1], 1e9);
    }
    canvas.resolve()
}

/// Key light, fill light, sky.
fn shade(normal: &Vec64, color: [f64; 3]) -> [f64; 3] {
    let light = |x: f64, y: f64, z: f64| normal.dot(&Vec64::new(x, y, z).normalize()).max(0.0);
    let key = 0.75 * light(-0.5, 0.7, 0.6);
    let fill = 0.25 * light(0.8, 0.1, 0.5);
    let sky = 0.12 + 0.1 * (normal.y * 0.5 + 0.5);
    color.map(|c| c * (key + fill + sky))
}

impl Canvas {
    fn triangle(&mut self, p: [Vec64; 3], color: [[f64; 3]; 3]) {
        let cross =
            |a: &Vec64, b: &Vec64, c: &Vec64| (b.x - a.x) * (c.y - a.y) - (b.y - a.y) * (c.x - a.x);
        let area = cross(&p[0], &p[1], &p[2]);
        if area.abs() < 1e-12 {
            return;
        }
        let back = area > 0.0; // y points down here
        let range = |f: fn(&Vec64) -> f64, most: u32| {
            let low = p.iter().map(f).fold(f64::MAX, f64::min).floor().max(0.0) as u32;
            let high = p
                .iter()
                .map(f)
                .fold(f64::MIN, f64::max)
                .ceil()
                .min(f64::from(most))
                .max(0.0) as u32;
            low..high
        };
        for y in range(|v| v.y, self.height) {
            for x in range(|v| v.x, self.width) {
                let at = Vec64::new(f64::from(x) + 0.5, f64::from(y) + 0.5, 0.0);
                let b = [
                    cross(&p[1], &p[2], &at) / area,
                    cross(&p[2], &p[0], &at) / area,
                    cross(&p[0], &p[1], &at) / area,
                ];
                if b.iter().any(|&b| b < 0.0) {
                    continue;
                }
                let z = (0..3).map(|i| b[i] * p[i].z).sum::<f64>();
                let index = (y * self.width + x) as usize;
                if z < self.depth[index] {
                    self.depth[index] = z;
                    let mix = |c: usize| (0..3).map(|i| b[i] * color[i][c]).sum::<f64>();
                    self.color[index] = if back {
                        [0.7, 0.05, 0.4]
                    } else {
                        [mix(0), mix(1), mix(2)]
                    };
                }
            }
        }
    }

    fn line(&mut self, a: Vec64, b: Vec64, color: [f64; 3], slack: f64) {
        let steps = (b - a).xy().amax().ceil().clamp(1.0, 10_000.0) as u32;
        for i in 0..=steps {
            let p = a + (b - a) * (f64::from(i) / f64::from(steps));
            if p.x < 0.0
                || p.y < 0.0
                || p.x >= f64::from(self.width)
                || p.y >= f64::from(self.height)
            {
                continue;
            }
            let index = (p.y as u32 * self.width + p.x as u32) as usize;
            if p.z < self.depth[index] + slack {
                self.color[index] = color;
            }
        }
    }

    fn resolve(&self) -> RgbImage {
        let count = f64::from(SAMPLES * SAMPLES);
        RgbImage::from_fn(self.width / SAMPLES, self.height / SAMPLES, |x, y| {
            let mut sum = [0.0; 3];
            for (dx, dy) in (0..SAMPLES).flat_map(|dy| (0..SAMPLES).map(move |dx| (dx, dy))) {
                let color =
                    self.color[((y * SAMPLES + dy) * self.width + x * SAMPLES + dx) as usize];
                (0..3).for_each(|c| sum[c] += color[c] / count);
            }
            Rgb(sum.map(|c| (c.clamp(0.0, 1.0).powf(1.0 / 2.2) * 255.0) as u8))
        })
    }
}
