//! The passes that a character needs, before the buffers of a state exist.

use super::layout::SurfaceDims;
use super::{SurfaceError, check_size, pack};
use crate::gpu::GpuContext;
use crate::gpu::compute::{Kernel, storage_of, workgroups};
use crate::gpu::shader::{self, ShaderSource};
use crate::methods::Recipe;
use crate::upsample::{PlainSums, PlainUpsampling};

/// Threads per workgroup.
const GROUP: usize = 64;
/// Largest number of rows for 16-bit indices.
const SHORT: usize = 1 << 16;

/// A buffer of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Slot {
    /// Rows after the last step.
    Rows,
    Velocities,
    Ahead,
    /// Rows at the time of the frame.
    Moved,
    /// Either of the two.
    Simulated,
    RowNormals,
    Palette,
    Positions,
    Normals,
    Frames,
}

/// One pass: a kernel and what it binds.
#[derive(Debug)]
pub(super) struct Stage {
    pub kernel: Kernel,
    /// Threads per instance.
    pub workgroups: u32,
    /// Uniforms without the strides of a state.
    pub dims: SurfaceDims,
    pub constants: Vec<(u32, wgpu::Buffer)>,
    pub state: Vec<(u32, Slot)>,
}

/// Builds stages; records the first exceeded limit.
pub(super) struct Builder<'a> {
    pub gpu: &'a GpuContext,
    pub recipe: &'a Recipe,
    pub row_of_vertex: &'a [u32],
}

impl Builder<'_> {
    fn stage(
        &self,
        source: &ShaderSource,
        entry: &'static str,
        overrides: &[(&str, f64)],
        count: usize,
    ) -> Stage {
        Stage {
            kernel: Kernel::new(self.gpu, source, entry, overrides),
            workgroups: workgroups(count, GROUP),
            dims: SurfaceDims {
                count: count as u32,
                vertices: self.recipe.sources.len() as u32,
                ..SurfaceDims::default()
            },
            constants: Vec::new(),
            state: Vec::new(),
        }
    }

    fn constant<T: bytemuck::NoUninit>(
        &self,
        stage: &mut Stage,
        binding: u32,
        what: &'static str,
        data: &[T],
    ) -> Result<(), SurfaceError> {
        check_size::<T>(self.gpu, what, data.len())?;
        stage
            .constants
            .push((binding, storage_of(self.gpu, what, data)));
        Ok(())
    }

    /// The stages of every frame, in order.
    pub fn stages(&self) -> Result<Vec<Stage>, SurfaceError> {
        let mut stages = Vec::new();
        if let Some(PlainUpsampling::Standing { triangles, .. }) = &self.recipe.upsampling {
            stages.push(self.row_normals(triangles)?);
        }
        stages.push(self.place()?);
        if let Some(cloth) = &self.recipe.cloth {
            let (controls, patches) = pack::controls(cloth);
            let origin = [cloth.origin.x, cloth.origin.y, cloth.origin.z, 0.0];
            let mut fit = self.stage(&shader::SURFACE_RIDE, "fit_controls", &[], controls.len());
            fit.dims.origin = origin;
            self.constant(&mut fit, 2, "control points", &controls)?;
            self.constant(&mut fit, 3, "patches of control points", &patches)?;
            fit.state = vec![(1, Slot::Positions), (4, Slot::Frames)];
            let mut place = self.stage(
                &shader::SURFACE_RIDE,
                "place_cloth",
                &[],
                cloth.targets.len(),
            );
            place.dims.origin = origin;
            self.constant(&mut place, 5, "vertices of cloth", &cloth.targets)?;
            self.constant(&mut place, 6, "riders", &pack::riders(cloth))?;
            place.state = vec![(1, Slot::Positions), (7, Slot::Frames)];
            stages.extend([fit, place]);
        }
        if !self.recipe.clusters.is_empty() {
            stages.push(self.clusters()?);
        }
        if !self.recipe.normal_targets.is_empty() {
            let targets = pack::normal_targets(self.recipe);
            let mut stage = self.stage(
                &shader::SURFACE_NORMALS,
                "gather_normals",
                &[],
                targets.len(),
            );
            self.constant(&mut stage, 1, "vertices with gathered normals", &targets)?;
            self.constant(
                &mut stage,
                2,
                "triangles around vertices",
                &self.recipe.corners,
            )?;
            stage.state = vec![(3, Slot::Positions), (4, Slot::Normals)];
            stages.push(stage);
        }
        Ok(stages)
    }

    /// Extrapolates the rows to the time of the frame.
    pub fn go_on(&self) -> Stage {
        let mut stage = self.stage(&shader::SURFACE_ROWS, "go_on", &[], self.recipe.simulated);
        stage.state = vec![
            (1, Slot::Rows),
            (2, Slot::Moved),
            (3, Slot::Velocities),
            (4, Slot::Ahead),
        ];
        stage
    }

    fn row_normals(&self, triangles: &[[u32; 3]]) -> Result<Stage, SurfaceError> {
        let (around, corners) = pack::around_rows(triangles, self.row_of_vertex);
        let mut stage = self.stage(&shader::SURFACE_ROWS, "row_normals", &[], around.len());
        self.constant(&mut stage, 5, "triangles around rows", &around)?;
        self.constant(&mut stage, 6, "corners around rows", &corners)?;
        stage.state = vec![(1, Slot::Simulated), (2, Slot::RowNormals)];
        Ok(stage)
    }

    fn place(&self) -> Result<Stage, SurfaceError> {
        let recipe = self.recipe;
        let dual = [("DUAL", f64::from(u8::from(recipe.dual_quaternions)))];
        let count = recipe.sources.len();
        let mut stage = match &recipe.upsampling {
            _ if recipe.simulated == 0 => {
                self.stage(&shader::SURFACE_PLACE, "place_bones", &dual, count)
            }
            Some(PlainUpsampling::Still(_)) => {
                self.stage(&shader::SURFACE_PLACE, "place_bones", &dual, count)
            }
            None => self.with_rows("place_rows", &dual),
            Some(PlainUpsampling::Sums(sums)) => self.place_sums(sums, dual[0])?,
            Some(PlainUpsampling::Standing { stands, .. }) => {
                let mut stage = self.with_rows("place_standing", &dual);
                self.constant(
                    &mut stage,
                    8,
                    "vertices on triangles",
                    &pack::stands(stands, self.row_of_vertex),
                )?;
                stage
                    .state
                    .extend([(5, Slot::Normals), (9, Slot::RowNormals)]);
                stage
            }
        };
        let is_followed = !matches!(recipe.upsampling, Some(PlainUpsampling::Still(_)));
        self.constant(
            &mut stage,
            1,
            "source vertices",
            &pack::sources(recipe, self.row_of_vertex, is_followed),
        )?;
        self.constant(&mut stage, 2, "influences", &pack::influences(recipe))?;
        stage
            .state
            .extend([(3, Slot::Palette), (4, Slot::Positions)]);
        Ok(stage)
    }

    fn with_rows(&self, entry: &'static str, overrides: &[(&str, f64)]) -> Stage {
        let mut stage = self.stage(
            &shader::SURFACE_PLACE,
            entry,
            overrides,
            self.recipe.sources.len(),
        );
        stage.state.push((6, Slot::Simulated));
        stage
    }

    fn place_sums(&self, sums: &PlainSums, dual: (&str, f64)) -> Result<Stage, SurfaceError> {
        let is_long = self.row_of_vertex.len() > SHORT;
        let mut stage = self.with_rows(
            "place_sums",
            &[dual, ("LONG", f64::from(u8::from(is_long)))],
        );
        stage.dims.width = sums.width as u32;
        self.constant(
            &mut stage,
            7,
            "weights of the upsampling",
            &pack::sums(sums, self.row_of_vertex, is_long),
        )?;
        stage.state.push((5, Slot::Normals));
        Ok(stage)
    }

    fn clusters(&self) -> Result<Stage, SurfaceError> {
        let (clusters, points, vertices) = pack::clusters(&self.recipe.clusters);
        let mut stage = self.stage(
            &shader::SURFACE_STIFF,
            "place_clusters",
            &[],
            clusters.len(),
        );
        // One workgroup each.
        stage.workgroups = clusters.len() as u32;
        self.constant(&mut stage, 2, "clusters", &clusters)?;
        self.constant(&mut stage, 3, "patches of clusters", &points)?;
        self.constant(&mut stage, 4, "vertices of clusters", &vertices)?;
        stage.state = vec![(1, Slot::Positions)];
        Ok(stage)
    }
}
