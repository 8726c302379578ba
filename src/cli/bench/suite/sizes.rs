//! The sizes that flesh is measured at.

use std::sync::Arc;
use std::time::Instant;

use super::Scale;
use super::record::Missed;
use super::refine::refined;
use crate::cache::Cache;
use crate::character::{FleshBase, FleshSettings, SimVertices};
use crate::cli::options::Options;
use crate::io::builtin::load_builtin;
use crate::methods::Subject;
use crate::progress::Progress;

/// A resolution of the character.
#[derive(Debug, Clone, Copy)]
pub(super) struct BodySize {
    pub(super) name: &'static str,
    /// How often every triangle of the skin is divided into four.
    refinements: usize,
    simulated: SimVertices,
}

const fn size(name: &'static str, refinements: usize, simulated: SimVertices) -> BodySize {
    BodySize {
        name,
        refinements,
        simulated,
    }
}

/// The sizes that come first: as small as the armadillo of the papers, and the default.
pub(super) fn small(scale: Scale) -> Vec<BodySize> {
    scale.of(
        vec![
            size("5k", 0, SimVertices::About(5_000)),
            size("default", 0, SimVertices::About(8_000)),
        ],
        vec![size("300", 0, SimVertices::About(300))],
    )
}

/// The sizes that come last. The mannequin has 20 497 vertices, refined twice 328 000.
pub(super) fn large(scale: Scale) -> Vec<BodySize> {
    scale.of(
        vec![
            size("20k", 0, SimVertices::All),
            size("60k", 2, SimVertices::About(60_000)),
            size("200k", 2, SimVertices::About(200_000)),
        ],
        vec![size("600", 1, SimVertices::About(600))],
    )
}

/// A character on its bones, welded and simplified; the tissue is made when it is asked for.
#[derive(Clone)]
pub(super) struct Body {
    pub(super) subject: Arc<Subject>,
    /// Time until the skin was welded, ms.
    pub(super) setup_ms: f64,
}

/// The subjects of the sizes that were asked for last.
pub(super) struct Bodies {
    scale: Scale,
    cache: Cache,
    /// Welded skins by the number of refinements.
    skins: Vec<(usize, Arc<Subject>)>,
}

impl Bodies {
    pub(super) fn new(scale: Scale, options: &Options) -> Self {
        let cache = if options.cache.is_some() {
            options.cache()
        } else {
            Cache::none()
        };
        Self {
            scale,
            cache,
            skins: Vec::new(),
        }
    }

    /// The character in a size.
    pub(super) fn of(&mut self, size: BodySize) -> Result<Body, Missed> {
        let start = Instant::now();
        let skin = self.skin(size.refinements)?;
        let settings = FleshSettings {
            sim_vertices: size.simulated,
            base: FleshBase::Bones,
            ..skin.settings.as_ref().clone()
        };
        Ok(Body {
            subject: Arc::new(skin.with_settings(&settings)),
            setup_ms: start.elapsed().as_secs_f64() * 1e3,
        })
    }

    /// The character as it is, for methods that only follow joints.
    pub(super) fn plain(&mut self) -> Result<Arc<Subject>, Missed> {
        self.skin(0)
    }

    fn skin(&mut self, refinements: usize) -> Result<Arc<Subject>, Missed> {
        if let Some((_, skin)) = self.skins.iter().find(|(of, _)| *of == refinements) {
            return Ok(skin.clone());
        }
        let mut character = load_builtin(self.scale.character())?;
        for _ in 0..refinements {
            character = refined(&character);
        }
        let skin = Arc::new(Subject::build_with(
            Arc::new(character),
            &self.cache,
            &Progress::new(),
        )?);
        self.skins.push((refinements, skin.clone()));
        Ok(skin)
    }
}
