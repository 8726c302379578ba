//! The passes that a character needs, before the buffers of a state exist.

use super::layout::SurfaceDims;
use super::{SurfaceError, check_size, pack, palette};
use crate::gpu::GpuContext;
use crate::gpu::compute::{Kernel, storage_of, workgroups};
use crate::gpu::shader::{self, ShaderSource};
use crate::methods::Recipe;
use crate::methods::recipe::{BlendNormals, Blending};
use crate::upsample::{PlainSums, PlainUpsampling};

/// Threads per workgroup.
const GROUP: usize = 64;
/// Largest number of rows for 16-bit indices.
const SHORT: usize = 1 << 16;

/// A buffer of a state.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum StateBuffer {
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
pub(super) struct SurfacePass {
    pub kernel: Kernel,
    /// Threads per instance.
    pub workgroups: u32,
    /// Uniforms without the strides of a state.
    pub dims: SurfaceDims,
    pub constants: Vec<(u32, wgpu::Buffer)>,
    pub state: Vec<(u32, StateBuffer)>,
}

/// Builds passes; records the first exceeded limit.
pub(super) struct Builder<'a> {
    pub gpu: &'a GpuContext,
    pub recipe: &'a Recipe,
    pub row_of_vertex: &'a [u32],
}

impl Builder<'_> {
    fn pass(
        &self,
        source: &ShaderSource,
        entry: &'static str,
        overrides: &[(&str, f64)],
        count: usize,
    ) -> SurfacePass {
        SurfacePass {
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
        pass: &mut SurfacePass,
        binding: u32,
        what: &'static str,
        data: &[T],
    ) -> Result<(), SurfaceError> {
        check_size::<T>(self.gpu, what, data.len())?;
        pass.constants
            .push((binding, storage_of(self.gpu, what, data)));
        Ok(())
    }

    /// The passes of every frame, in order.
    pub fn passes(&self) -> Result<Vec<SurfacePass>, SurfaceError> {
        let mut passes = Vec::new();
        if let Some(PlainUpsampling::Displacements { triangles, .. }) = &self.recipe.upsampling {
            passes.push(self.row_normals(triangles)?);
        }
        passes.push(self.place()?);
        if let Some(cloth) = &self.recipe.cloth {
            let (controls, patches) = pack::controls(cloth);
            let origin = [cloth.origin.x, cloth.origin.y, cloth.origin.z, 0.0];
            let mut fit = self.pass(&shader::SURFACE_RIDE, "fit_controls", &[], controls.len());
            fit.dims.origin = origin;
            self.constant(&mut fit, 2, "control points", &controls)?;
            self.constant(&mut fit, 3, "patches of control points", &patches)?;
            fit.state = vec![(1, StateBuffer::Positions), (4, StateBuffer::Frames)];
            let mut place = self.pass(
                &shader::SURFACE_RIDE,
                "place_cloth",
                &[],
                cloth.targets.len(),
            );
            place.dims.origin = origin;
            self.constant(&mut place, 5, "vertices of cloth", &cloth.targets)?;
            self.constant(&mut place, 6, "riders", &pack::riders(cloth))?;
            place.state = vec![(1, StateBuffer::Positions), (7, StateBuffer::Frames)];
            passes.extend([fit, place]);
        }
        if !self.recipe.clusters.is_empty() {
            passes.push(self.clusters()?);
        }
        if !self.recipe.normal_targets.is_empty() {
            let targets = pack::normal_targets(self.recipe);
            let mut pass = self.pass(
                &shader::SURFACE_NORMALS,
                "gather_normals",
                &[],
                targets.len(),
            );
            self.constant(&mut pass, 1, "vertices with gathered normals", &targets)?;
            self.constant(
                &mut pass,
                2,
                "triangles around vertices",
                &self.recipe.corners,
            )?;
            pass.state = vec![(3, StateBuffer::Positions), (4, StateBuffer::Normals)];
            passes.push(pass);
        }
        if let Some(normals) = &self.recipe.blend_normals {
            passes.push(self.blend_normals(normals)?);
        }
        Ok(passes)
    }

    /// Normals from the transforms of joints.
    fn blend_normals(&self, normals: &BlendNormals) -> Result<SurfacePass, SurfaceError> {
        let source = match self.recipe.blending {
            Blending::DualQuaternions => &shader::SURFACE_DUAL_NORMALS,
            Blending::Centers(_) => &shader::SURFACE_CENTERS_NORMALS,
            _ if normals.edges.is_some() => &shader::SURFACE_EDGE_NORMALS,
            _ => &shader::SURFACE_LINEAR_NORMALS,
        };
        let exact = [("EXACT", f64::from(u8::from(normals.is_exact)))];
        let mut pass = self.pass(source, "write_blend_normals", &exact, normals.rows.len());
        pass.dims.extras = palette::extras(self.recipe) as u32;
        let (rows, slopes) = pack::blend_normals(normals);
        self.constant(&mut pass, 1, "normals at rest", &rows)?;
        self.constant(&mut pass, 2, "slopes of weights", &slopes)?;
        pass.state = vec![(3, StateBuffer::Palette), (4, StateBuffer::Normals)];
        if let Some(edges) = &normals.edges {
            let (rows, edges) = pack::edge_tangents(edges);
            self.constant(&mut pass, 5, "edges around vertices", &rows)?;
            self.constant(&mut pass, 6, "edges that tangents are made of", &edges)?;
            pass.state.push((7, StateBuffer::Positions));
        }
        Ok(pass)
    }

    /// Extrapolates the rows to the time of the frame.
    pub fn extrapolate(&self) -> SurfacePass {
        let mut pass = self.pass(
            &shader::SURFACE_ROWS,
            "extrapolate",
            &[],
            self.recipe.simulated,
        );
        pass.state = vec![
            (1, StateBuffer::Rows),
            (2, StateBuffer::Moved),
            (3, StateBuffer::Velocities),
            (4, StateBuffer::Ahead),
        ];
        pass
    }

    fn row_normals(&self, triangles: &[[u32; 3]]) -> Result<SurfacePass, SurfaceError> {
        let (around, corners) = pack::around_rows(triangles, self.row_of_vertex);
        let mut pass = self.pass(&shader::SURFACE_ROWS, "row_normals", &[], around.len());
        self.constant(&mut pass, 5, "triangles around rows", &around)?;
        self.constant(&mut pass, 6, "corners around rows", &corners)?;
        pass.state = vec![(1, StateBuffer::Simulated), (2, StateBuffer::RowNormals)];
        Ok(pass)
    }

    fn place(&self) -> Result<SurfacePass, SurfaceError> {
        let recipe = self.recipe;
        let is_dual = matches!(recipe.blending, Blending::DualQuaternions);
        let dual = [("DUAL", f64::from(u8::from(is_dual)))];
        let count = recipe.sources.len();
        let mut pass = match &recipe.upsampling {
            _ if recipe.simulated == 0 => self.place_by_joints(&dual, count)?,
            Some(PlainUpsampling::Constant(_)) => {
                self.pass(&shader::SURFACE_PLACE, "place_bones", &dual, count)
            }
            None => self.with_rows("place_rows", &dual),
            Some(PlainUpsampling::Sums(sums)) => self.place_sums(sums, dual[0])?,
            Some(PlainUpsampling::Displacements { displacements, .. }) => {
                let mut pass = self.with_rows("place_standing", &dual);
                self.constant(
                    &mut pass,
                    8,
                    "vertices on triangles",
                    &pack::stands(displacements, self.row_of_vertex),
                )?;
                pass.state
                    .extend([(5, StateBuffer::Normals), (9, StateBuffer::RowNormals)]);
                pass
            }
        };
        let is_followed = !matches!(recipe.upsampling, Some(PlainUpsampling::Constant(_)));
        self.constant(
            &mut pass,
            1,
            "source vertices",
            &pack::sources(recipe, self.row_of_vertex, is_followed),
        )?;
        self.constant(&mut pass, 2, "influences", &pack::influences(recipe))?;
        pass.state
            .extend([(3, StateBuffer::Palette), (4, StateBuffer::Positions)]);
        Ok(pass)
    }

    /// Places vertices that follow nothing but joints.
    fn place_by_joints(
        &self,
        dual: &[(&str, f64)],
        count: usize,
    ) -> Result<SurfacePass, SurfaceError> {
        match &self.recipe.blending {
            Blending::Linear | Blending::DualQuaternions => {
                Ok(self.pass(&shader::SURFACE_PLACE, "place_bones", dual, count))
            }
            Blending::Centers(centers) => {
                let mut pass = self.deforming(&shader::SURFACE_CENTERS, "place_about_centers");
                let centers: Vec<[f32; 4]> = centers.iter().map(|c| [c.x, c.y, c.z, 0.0]).collect();
                self.constant(&mut pass, 5, "centres of rotation", &centers)?;
                Ok(pass)
            }
            Blending::Smoothed(tables) => {
                let mut pass = self.deforming(&shader::SURFACE_SMOOTHED, "place_smoothed");
                self.constant(&mut pass, 5, "smoothed neighbourhoods", &tables.hoods)?;
                self.constant(&mut pass, 6, "moments of influences", &tables.moments)?;
                Ok(pass)
            }
            Blending::Deformers(tables) => {
                let mut pass = self.deforming(&shader::SURFACE_DEFORMERS, "place_bent");
                let packed = pack::deformers(&tables.deformers);
                self.constant(&mut pass, 5, "bends of influences", &tables.bends)?;
                self.constant(&mut pass, 6, "deformers", &packed)?;
                Ok(pass)
            }
        }
    }

    /// A pass over all vertices whose palette has more than matrices.
    fn deforming(&self, source: &ShaderSource, entry: &'static str) -> SurfacePass {
        let mut pass = self.pass(source, entry, &[], self.recipe.sources.len());
        pass.dims.extras = palette::extras(self.recipe) as u32;
        pass
    }

    fn with_rows(&self, entry: &'static str, overrides: &[(&str, f64)]) -> SurfacePass {
        let mut pass = self.pass(
            &shader::SURFACE_PLACE,
            entry,
            overrides,
            self.recipe.sources.len(),
        );
        pass.state.push((6, StateBuffer::Simulated));
        pass
    }

    fn place_sums(&self, sums: &PlainSums, dual: (&str, f64)) -> Result<SurfacePass, SurfaceError> {
        let is_long = self.row_of_vertex.len() > SHORT;
        let mut pass = self.with_rows(
            "place_sums",
            &[dual, ("LONG", f64::from(u8::from(is_long)))],
        );
        pass.dims.width = sums.width as u32;
        self.constant(
            &mut pass,
            7,
            "weights of the upsampling",
            &pack::sums(sums, self.row_of_vertex, is_long),
        )?;
        pass.state.push((5, StateBuffer::Normals));
        Ok(pass)
    }

    fn clusters(&self) -> Result<SurfacePass, SurfaceError> {
        let (clusters, points, vertices) = pack::clusters(&self.recipe.clusters);
        let mut pass = self.pass(
            &shader::SURFACE_STIFF,
            "place_clusters",
            &[],
            clusters.len(),
        );
        // One workgroup each.
        pass.workgroups = clusters.len() as u32;
        self.constant(&mut pass, 2, "clusters", &clusters)?;
        self.constant(&mut pass, 3, "patches of clusters", &points)?;
        self.constant(&mut pass, 4, "vertices of clusters", &vertices)?;
        pass.state = vec![(1, StateBuffer::Positions)];
        Ok(pass)
    }
}
