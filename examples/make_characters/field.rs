//! Implicit solids: blended primitives whose zero set is the skin.
//!
//! A field is a list of [`Part`]s, added (or carved) one after the other with a smooth minimum of the part's own blend radius;
//! a part may itself be a group. Values are signed distances to first order near the surface: the gradient has length about 1
//! there, which is all that polygonising and Newton projection need.

use sinew::math::{Point64, Vec64};

/// A primitive or a group of parts.
#[derive(Debug, Clone)]
pub enum Shape {
    /// An ellipsoid with the given unit axes and radii.
    Ball {
        /// Middle.
        center: Point64,
        /// Orthonormal axes.
        axes: [Vec64; 3],
        /// Radius along each axis.
        radii: [f64; 3],
    },
    /// The hull of two spheres.
    Cone {
        /// Middle and radius of the first sphere.
        a: (Point64, f64),
        /// Middle and radius of the second sphere.
        b: (Point64, f64),
    },
    /// Cross-sections along a straight axis.
    Loft(Loft),
    /// Parts blended among themselves first.
    Group(Vec<Part>),
}

/// A limb or trunk: super-elliptic cross-sections along a straight axis, each with four radii.
#[derive(Debug, Clone)]
pub struct Loft {
    /// Start of the axis.
    pub origin: Point64,
    /// Unit direction of the axis.
    pub axis: Vec64,
    /// Length of the axis.
    pub length: f64,
    /// Unit direction in which `outer` is measured.
    pub side: Vec64,
    /// Unit direction in which `front` is measured.
    pub front: Vec64,
    /// Exponent of the cross-section: 2 is an ellipse, more is boxier.
    pub exponent: f64,
    /// Cross-sections by ascending `t`.
    pub sections: Vec<Section>,
}

/// A cross-section: the place on the axis (0..=1), radii outward, inward, to the front and to the back, and the middle's offset.
#[derive(Debug, Clone, Copy)]
pub struct Section(pub [f64; 7]);

/// One part of a field.
#[derive(Debug, Clone)]
pub struct Part {
    /// What it is.
    pub shape: Shape,
    /// Whether it is taken away instead of added.
    pub carve: bool,
    /// Radius of the rounding where it meets what came before.
    pub blend: f64,
    /// Wanted edge length of the mesh on this part.
    pub edge: f64,
    /// A sphere around it.
    pub bound: (Point64, f64),
}

impl Part {
    /// A part with its bounding sphere.
    pub fn new(shape: Shape, carve: bool, blend: f64, edge: f64) -> Self {
        let bound = bound_of(&shape);
        Self {
            shape,
            carve,
            blend,
            edge,
            bound,
        }
    }

    /// The same part on the other side of the plane x = 0.
    pub fn mirrored(&self) -> Self {
        let point = |p: &Point64| Point64::new(-p.x, p.y, p.z);
        let vector = |v: &Vec64| Vec64::new(-v.x, v.y, v.z);
        let shape = match &self.shape {
            Shape::Ball {
                center,
                axes,
                radii,
            } => Shape::Ball {
                center: point(center),
                axes: axes.map(|a| vector(&a)),
                radii: *radii,
            },
            Shape::Cone { a, b } => Shape::Cone {
                a: (point(&a.0), a.1),
                b: (point(&b.0), b.1),
            },
            Shape::Loft(loft) => Shape::Loft(Loft {
                origin: point(&loft.origin),
                axis: vector(&loft.axis),
                side: vector(&loft.side),
                front: vector(&loft.front),
                ..loft.clone()
            }),
            Shape::Group(parts) => Shape::Group(parts.iter().map(Self::mirrored).collect()),
        };
        Self::new(shape, self.carve, self.blend, self.edge)
    }

    fn distance(&self, p: &Point64) -> f64 {
        match &self.shape {
            Shape::Ball {
                center,
                axes,
                radii,
            } => {
                let offset = p - center;
                let local = [0, 1, 2].map(|i| offset.dot(&axes[i]));
                linearised((0..3).map(|i| (local[i], radii[i])))
            }
            Shape::Cone { a, b } => round_cone(p, a, b),
            Shape::Loft(loft) => loft.distance(p),
            Shape::Group(parts) => blended(parts, p),
        }
    }

    fn lower_bound(&self, p: &Point64) -> f64 {
        (p - self.bound.0).norm() - self.bound.1
    }
}

/// A solid and how finely its skin is to be meshed.
#[derive(Debug, Clone)]
pub struct Field {
    /// Parts in the order in which they are blended.
    pub parts: Vec<Part>,
    /// Largest edge length.
    pub edge: f64,
    /// How much the edge length may grow per unit of distance from a finer part.
    pub growth: f64,
}

impl Field {
    /// Signed distance to the skin, negative inside; exact to first order near it.
    pub fn distance(&self, p: &Point64) -> f64 {
        blended(&self.parts, p)
    }

    /// Gradient of [`Field::distance`] by central differences.
    pub fn gradient(&self, p: &Point64) -> Vec64 {
        const H: f64 = 2e-5;
        let slope = |axis: Vec64| {
            (self.distance(&(p + axis * H)) - self.distance(&(p - axis * H))) / (2.0 * H)
        };
        Vec64::new(slope(Vec64::x()), slope(Vec64::y()), slope(Vec64::z()))
    }

    /// Moves a point onto the skin by a few damped Newton steps; `in_plane` keeps x = 0.
    pub fn project(&self, p: &Point64, in_plane: bool, steps: usize) -> Point64 {
        let mut q = *p;
        for _ in 0..steps {
            let value = self.distance(&q);
            if value.abs() < 1e-7 {
                break;
            }
            let mut gradient = self.gradient(&q);
            if in_plane {
                gradient.x = 0.0;
            }
            let step = gradient * (value / gradient.norm_squared().max(0.05));
            q -= step * (0.01 / step.norm().max(0.01));
        }
        q
    }

    /// Wanted edge length at a point.
    pub fn edge_at(&self, p: &Point64) -> f64 {
        let mut finest = self.edge;
        refine(&self.parts, p, self.growth, &mut finest);
        finest
    }

    /// Corners of a box around the solid.
    pub fn bounds(&self) -> (Point64, Point64) {
        let mut low = Point64::new(f64::MAX, f64::MAX, f64::MAX);
        let mut high = -low;
        for part in self.parts.iter().filter(|part| !part.carve) {
            let reach = Vec64::repeat(part.bound.1 + part.blend);
            low = low.inf(&(part.bound.0 - reach));
            high = high.sup(&(part.bound.0 + reach));
        }
        (low, high)
    }
}

fn refine(parts: &[Part], p: &Point64, growth: f64, finest: &mut f64) {
    for part in parts {
        if part.edge + growth * part.lower_bound(p) > *finest {
            continue;
        }
        match &part.shape {
            Shape::Group(inner) => refine(inner, p, growth, finest),
            _ => *finest = finest.min(part.edge + growth * part.distance(p).abs()),
        }
    }
}

fn blended(parts: &[Part], p: &Point64) -> f64 {
    let mut distance = f64::INFINITY;
    for part in parts {
        // Too far to matter; the bound also mends distances that are too small far away, so that nothing jumps here.
        let bound = part.lower_bound(p);
        if distance.is_finite()
            && bound > part.blend + if part.carve { -distance } else { distance }
        {
            continue;
        }
        let own = part.distance(p).max(bound);
        distance = if part.carve {
            -smooth_min(-distance, own, part.blend)
        } else {
            smooth_min(distance, own, part.blend)
        };
    }
    distance
}

/// Polynomial smooth minimum; equals the minimum where the two differ by more than `k`.
fn smooth_min(a: f64, b: f64, k: f64) -> f64 {
    if !a.is_finite() || k <= 0.0 {
        return a.min(b);
    }
    let h = (k - (a - b).abs()).max(0.0) / k;
    a.min(b) - h * h * h * k / 6.0
}

/// First-order distance to the unit sphere of `|local / radius|`.
fn linearised(terms: impl Iterator<Item = (f64, f64)>) -> f64 {
    let (mut level, mut slope, mut smallest) = (0.0, 0.0, f64::INFINITY);
    for (x, r) in terms {
        level += (x / r).powi(2);
        slope += (x / (r * r)).powi(2);
        smallest = smallest.min(r);
    }
    let (level, slope) = (level.sqrt(), slope.sqrt());
    if slope < 1e-9 {
        -smallest
    } else {
        level * (level - 1.0) / slope
    }
}

/// Exact signed distance to the hull of two spheres.
fn round_cone(p: &Point64, (a, ra): &(Point64, f64), (b, rb): &(Point64, f64)) -> f64 {
    let axis = b - a;
    let length = axis.norm();
    if length <= (ra - rb).abs() + 1e-12 {
        return ((p - a).norm() - ra).min((p - b).norm() - rb);
    }
    let axis = axis / length;
    let along = (p - a).dot(&axis);
    let across = ((p - a) - axis * along).norm();
    let sine = (ra - rb) / length;
    let cosine = (1.0 - sine * sine).sqrt();
    // Where the nearest point of the slanted side is measured from, along the axis.
    let foot = along - across * sine / cosine;
    if foot <= 0.0 {
        (p - a).norm() - ra
    } else if foot >= length {
        (p - b).norm() - rb
    } else {
        across * cosine + along * sine - ra
    }
}

impl Loft {
    fn distance(&self, p: &Point64) -> f64 {
        let offset = p - self.origin;
        let along = offset.dot(&self.axis);
        let inside = along.clamp(0.0, self.length);
        let [outer, inner, front, back, du, dv] = self.section(inside / self.length);
        let (u, v) = (offset.dot(&self.side) - du, offset.dot(&self.front) - dv);
        let (ru, rv) = (
            if u > 0.0 { outer } else { inner },
            if v > 0.0 { front } else { back },
        );
        let cap = 0.6 * ru.min(rv);
        let over = along - inside;
        let n = self.exponent;
        let (x, y) = ((u / ru).abs(), (v / rv).abs());
        let s = (x.powf(n) + y.powf(n)).powf(1.0 / n);
        if s < 1e-9 && over == 0.0 {
            return -ru.min(rv);
        }
        let level = s.hypot(over / cap);
        let shape = |x: f64, r: f64| {
            if s < 1e-9 {
                0.0
            } else {
                (x / s).powf(n - 1.0) / r * s
            }
        };
        let slope = (shape(x, ru).powi(2) + shape(y, rv).powi(2) + (over / (cap * cap)).powi(2))
            .sqrt()
            / level;
        (level - 1.0) / slope
    }

    /// Radii and offsets at `t`, by a cubic through the sections that is level at both ends.
    fn section(&self, t: f64) -> [f64; 6] {
        let s = &self.sections;
        let last = s.len() - 1;
        let i = s
            .partition_point(|section| section.0[0] <= t)
            .clamp(1, last.max(1))
            - 1;
        let j = (i + 1).min(last);
        let width = (s[j].0[0] - s[i].0[0]).max(1e-9);
        let x = ((t - s[i].0[0]) / width).clamp(0.0, 1.0);
        let slope = |k: usize, c: usize| {
            if k == 0 || k == last {
                return 0.0;
            }
            let (before, after) = (k - 1, k + 1);
            (s[after].0[c] - s[before].0[c]) / (s[after].0[0] - s[before].0[0]).max(1e-9) * width
        };
        std::array::from_fn(|c| {
            let c = c + 1;
            let (x2, x3) = (x * x, x * x * x);
            s[i].0[c] * (2.0 * x3 - 3.0 * x2 + 1.0)
                + slope(i, c) * (x3 - 2.0 * x2 + x)
                + s[j].0[c] * (3.0 * x2 - 2.0 * x3)
                + slope(j, c) * (x3 - x2)
        })
    }
}

fn bound_of(shape: &Shape) -> (Point64, f64) {
    match shape {
        Shape::Ball { center, radii, .. } => (*center, radii.iter().copied().fold(0.0, f64::max)),
        Shape::Cone { a, b } => (
            nalgebra::center(&a.0, &b.0),
            (a.0 - b.0).norm() / 2.0 + a.1.max(b.1),
        ),
        Shape::Loft(loft) => {
            let reach =
                |s: &Section| s.0[1..5].iter().copied().fold(0.0, f64::max) + s.0[5].hypot(s.0[6]);
            let widest = loft.sections.iter().map(reach).fold(0.0, f64::max) * 1.15;
            (
                loft.origin + loft.axis * (loft.length / 2.0),
                (loft.length / 2.0 + 0.3 * widest).hypot(widest) + 0.3 * widest,
            )
        }
        Shape::Group(parts) => {
            let solid = || parts.iter().filter(|part| !part.carve);
            let count = solid().count().max(1) as f64;
            let middle =
                Point64::from(solid().map(|part| part.bound.0.coords).sum::<Vec64>() / count);
            (
                middle,
                solid()
                    .map(|part| (part.bound.0 - middle).norm() + part.bound.1 + part.blend)
                    .fold(0.0, f64::max),
            )
        }
    }
}
