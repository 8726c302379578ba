//! Materials painted onto the skin, one number per source vertex.
//!
//! | map         | meaning                                                             | range     | code          |
//! |-------------|---------------------------------------------------------------------|-----------|---------------|
//! | `stiffness` | factor on the stiffness of the flesh under the skin                 | 1/16 … 16 | 1000 log₂     |
//! | `held`      | how far the flesh is held where skinning alone would place it       | 0 … 1     | 1000 × value  |
//! | `thickness` | factor on the thickness of the flesh: the distance to its base      | 1/10 … 1  | 1000 log₂     |
//! | `relaxation` | how far implicit skinning relaxes the skin in its surface          | 0 … 1     | 1000 (value − 1) |
//!
//! Stiffness and hold are factors of the equations. Thickness is geometry: the flesh is built again for it.
//!
//! Values are kept as whole codes, so that a project gives back exactly what was painted. Code 0 is no paint: it changes nothing.

mod brush;

pub use brush::{Brush, BrushKind, BrushPoint, PaintSurface};

use std::sync::Arc;

/// Codes per unit of a value.
const CODES: f32 = 1000.0;

/// What is painted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Default)]
pub enum PaintMap {
    /// Factor on the stiffness.
    #[default]
    Stiffness,
    /// How far the flesh is held.
    Held,
    /// Factor on the thickness.
    Thickness,
    /// How far implicit skinning relaxes the skin.
    Relaxation,
}

impl PaintMap {
    /// All of them.
    pub const ALL: [Self; 4] = [
        Self::Stiffness,
        Self::Held,
        Self::Thickness,
        Self::Relaxation,
    ];

    /// Whether it is a material of flesh that is simulated; otherwise it is for implicit skinning.
    #[must_use]
    pub fn is_of_flesh(self) -> bool {
        self != Self::Relaxation
    }

    /// Key in files.
    #[must_use]
    pub fn id(self) -> &'static str {
        match self {
            Self::Stiffness => "stiffness",
            Self::Held => "held",
            Self::Thickness => "thickness",
            Self::Relaxation => "relaxation",
        }
    }

    /// The map with that key.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|map| map.id() == id)
    }

    /// Name on screen.
    #[must_use]
    pub fn label(self) -> &'static str {
        match self {
            Self::Stiffness => "Stiffness",
            Self::Held => "Held",
            Self::Thickness => "Thickness",
            Self::Relaxation => "Relaxation",
        }
    }

    /// What it does, in one sentence.
    #[must_use]
    pub fn doc(self) -> &'static str {
        match self {
            Self::Stiffness => "How stiff the flesh is here, against the rest of the body",
            Self::Held => "How far the flesh is held: 0 swings freely, 1 follows skinning alone",
            Self::Thickness => {
                "How thick the flesh is here, against its depth down to the bones: thin flesh swings less"
            }
            Self::Relaxation => {
                "How far implicit skinning relaxes the skin here: 0 leaves it where the joints carry it, 1 lets it slide and even out"
            }
        }
    }

    /// Smallest and largest code.
    #[must_use]
    pub fn range(self) -> [i16; 2] {
        match self {
            Self::Stiffness => [-4000, 4000],
            Self::Held => [0, 1000],
            Self::Relaxation => [-1000, 0],
            // log₂ of a tenth.
            Self::Thickness => [-3322, 0],
        }
    }

    /// The value of a code.
    #[must_use]
    pub fn value(self, code: i16) -> f32 {
        let number = f32::from(code) / CODES;
        match self {
            Self::Stiffness | Self::Thickness => number.exp2(),
            Self::Held => number,
            Self::Relaxation => 1.0 + number,
        }
    }

    /// The code nearest to a value; 0 if it is no number.
    #[must_use]
    pub fn code(self, value: f32) -> i16 {
        let number = match self {
            Self::Stiffness | Self::Thickness => value.log2(),
            Self::Held => value,
            Self::Relaxation => value - 1.0,
        };
        self.clamped(number * CODES)
    }

    /// The nearest code in range.
    fn clamped(self, code: f32) -> i16 {
        let [least, most] = self.range();
        if code.is_nan() {
            return 0;
        }
        code.round().clamp(f32::from(least), f32::from(most)) as i16
    }

    fn index(self) -> usize {
        match self {
            Self::Stiffness => 0,
            Self::Held => 1,
            Self::Thickness => 2,
            Self::Relaxation => 3,
        }
    }
}

/// Everything that was painted. Cheap to clone.
#[derive(Debug, Clone, Default)]
pub struct FleshPaint {
    maps: [Option<Arc<[i16]>>; PaintMap::ALL.len()],
}

impl PartialEq for FleshPaint {
    fn eq(&self, other: &Self) -> bool {
        PaintMap::ALL
            .into_iter()
            .all(|map| self.has_same(other, map))
    }
}

impl FleshPaint {
    /// The codes of a map by source vertex; `None` if nothing is painted.
    #[must_use]
    pub fn codes(&self, map: PaintMap) -> Option<&[i16]> {
        self.maps[map.index()].as_deref()
    }

    /// Replaces a map. Codes out of range are clamped; a map of zeros is none.
    pub fn set(&mut self, map: PaintMap, mut codes: Vec<i16>) {
        let [least, most] = map.range();
        for code in &mut codes {
            *code = (*code).clamp(least, most);
        }
        let is_painted = codes.iter().any(|code| *code != 0);
        self.maps[map.index()] = is_painted.then(|| codes.into());
    }

    /// Removes a map.
    pub fn clear(&mut self, map: PaintMap) {
        self.maps[map.index()] = None;
    }

    /// Whether both have the same map.
    #[must_use]
    pub fn has_same(&self, other: &Self, map: PaintMap) -> bool {
        match (&self.maps[map.index()], &other.maps[map.index()]) {
            (Some(a), Some(b)) => Arc::ptr_eq(a, b) || a == b,
            (None, None) => true,
            _ => false,
        }
    }

    /// The values of a map at some source vertices; `None` if nothing is painted.
    #[must_use]
    pub fn values_at(&self, map: PaintMap, sources: &[u32]) -> Option<Vec<f32>> {
        let codes = self.codes(map)?;
        let value = |source: &u32| {
            let code = codes.get(*source as usize).copied();
            map.value(code.unwrap_or_default())
        };
        Some(sources.iter().map(value).collect())
    }

    /// Whether nothing is painted.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.maps.iter().all(Option::is_none)
    }

    /// The lists with their bytes, each by its place in memory.
    pub fn lists(&self) -> impl Iterator<Item = (usize, u64)> + '_ {
        let lists = self.maps.iter().flatten();
        lists.map(|codes| (codes.as_ptr() as usize, size_of_val(&codes[..]) as u64))
    }
}

/// Painted codes as runs: the first source vertex of each, and its codes. Vertices without paint are left out.
#[must_use]
pub fn runs_of(codes: &[i16]) -> Vec<(usize, Vec<i16>)> {
    let mut runs: Vec<(usize, Vec<i16>)> = Vec::new();
    for (vertex, &code) in codes.iter().enumerate().filter(|(_, code)| **code != 0) {
        match runs.last_mut() {
            Some((first, run)) if *first + run.len() == vertex => run.push(code),
            _ => runs.push((vertex, vec![code])),
        }
    }
    runs
}

/// The codes of `vertices` vertices from their runs; `None` if a run is out of range.
#[must_use]
pub fn codes_of(vertices: usize, runs: &[(usize, Vec<i16>)]) -> Option<Vec<i16>> {
    let mut codes = vec![0; vertices];
    for (first, run) in runs {
        let end = first.checked_add(run.len())?;
        codes.get_mut(*first..end)?.copy_from_slice(run);
    }
    Some(codes)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_are_kept_by_their_codes() {
        for (map, value) in [
            (PaintMap::Stiffness, 4.0),
            (PaintMap::Stiffness, 0.0625),
            (PaintMap::Held, 0.35),
            (PaintMap::Held, 1.0),
            (PaintMap::Thickness, 0.1),
            (PaintMap::Thickness, 0.5),
            (PaintMap::Relaxation, 0.25),
            (PaintMap::Relaxation, 0.0),
        ] {
            let code = map.code(value);
            assert!((map.value(code) - value).abs() <= 1e-3 * value, "{value}");
            assert_eq!(map.code(map.value(code)), code);
        }
        for map in PaintMap::ALL {
            assert_eq!(map.code(f32::NAN), 0);
            assert_eq!(map.code(f32::INFINITY), map.range()[1]);
            assert!(
                map.range()[0] <= 0 && map.range()[1] >= 0,
                "no paint is in range"
            );
            assert_eq!(PaintMap::from_id(map.id()), Some(map));
        }
        assert_eq!(
            PaintMap::Stiffness.value(0),
            1.0,
            "no paint is the factor 1 exactly"
        );
        assert_eq!(PaintMap::Relaxation.value(0), 1.0);
        assert_eq!(PaintMap::Stiffness.code(0.0), -4000);
    }

    #[test]
    fn runs_round_trip_and_wrong_ones_are_refused() {
        let codes = vec![0, 5, -7, 0, 0, 9];
        let runs = runs_of(&codes);
        assert_eq!(runs, [(1, vec![5, -7]), (5, vec![9])]);
        assert_eq!(codes_of(6, &runs), Some(codes));
        assert_eq!(codes_of(5, &runs), None);
        assert_eq!(codes_of(6, &[(usize::MAX, vec![1, 2])]), None);
        let mut paint = FleshPaint::default();
        paint.set(PaintMap::Held, vec![0, -5, 2000]);
        assert_eq!(paint.codes(PaintMap::Held), Some(&[0, 0, 1000][..]));
        paint.set(PaintMap::Held, vec![0; 3]);
        assert!(paint == FleshPaint::default() && paint.is_empty());
    }
}
