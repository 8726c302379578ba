//! Bars of tets whose ends are prescribed, and tets that hang on nothing.

use std::sync::Arc;

use sinew::dynamics::{Collisions, Params, Preset, Simulation, System, TetModel};
use sinew::math::{Point, Point64};
use sinew::tissue::{Corner, Layer, Tet};

/// Tets with their points at rest.
pub struct Bar {
    pub layers: Vec<Layer>,
    pub unknowns: Vec<Point>,
    pub prescribed: Vec<Point>,
    pub references: Vec<u32>,
    pub size: f64,
}

/// How a cube is split; the numbers of its corners have a bit for x, y and z each.
#[derive(Debug, Clone, Copy)]
pub enum Split {
    /// Six tets, the paths from corner 0 to corner 7 along the axes (Kuhn): every tet is packed alone.
    Paths,
    /// Two prisms along x of three tets each: those of a prism are packed together.
    Prisms,
}

impl Split {
    /// The tets of a cube and the cell of each.
    fn tets(self) -> [([usize; 4], u32); 6] {
        match self {
            Self::Paths => [
                ([0, 1, 3, 7], 0),
                ([0, 1, 5, 7], 0),
                ([0, 2, 3, 7], 0),
                ([0, 2, 6, 7], 0),
                ([0, 4, 5, 7], 0),
                ([0, 4, 6, 7], 0),
            ],
            // Over the triangles 0 2 6 and 0 4 6 of the face x = 0: neighbours agree on all diagonals.
            Self::Prisms => [
                ([0, 2, 6, 1], 0),
                ([2, 6, 1, 3], 0),
                ([6, 1, 3, 7], 0),
                ([0, 4, 6, 1], 1),
                ([4, 6, 1, 5], 1),
                ([6, 1, 5, 7], 1),
            ],
        }
    }
}

impl Bar {
    /// `cubes` of edge 1 along x, y and z, each of six tets; the points of both ends along x are prescribed.
    pub fn new(cubes: [usize; 3], split: Split) -> Self {
        let mut bar = Self {
            layers: Vec::new(),
            unknowns: Vec::new(),
            prescribed: Vec::new(),
            references: Vec::new(),
            size: (cubes.iter().map(|&n| n * n).sum::<usize>() as f64).sqrt(),
        };
        let [nx, ny, nz] = cubes.map(|n| n + 1);
        let mut corners = Vec::new();
        for z in 0..nz {
            for y in 0..ny {
                for x in 0..nx {
                    let point = Point::new(x as f32, y as f32, z as f32);
                    corners.push(if x == 0 || x + 1 == nx {
                        bar.prescribed.push(point);
                        Corner::prescribed(bar.prescribed.len() as u32 - 1)
                    } else {
                        // The end of its row at x = 0, which comes first.
                        bar.references.push(2 * (z * ny + y) as u32);
                        bar.unknowns.push(point);
                        Corner::unknown(bar.unknowns.len() as u32 - 1)
                    });
                }
            }
        }
        let mut layer = Layer::default();
        for z in 0..cubes[2] {
            for y in 0..cubes[1] {
                for x in 0..cubes[0] {
                    let first = layer.cells as u32;
                    for (tet, cell) in split.tets() {
                        let tet = tet
                            .map(|k| corners[((z + k / 4) * ny + y + k / 2 % 2) * nx + x + k % 2]);
                        bar.push(&mut layer, tet, first + cell);
                        layer.cells = (first + cell) as usize + 1;
                    }
                }
            }
        }
        bar.layers.push(layer);
        bar
    }

    /// A single tet of four unknowns, and a prescribed point that none of them hangs on.
    pub fn free_tet() -> Self {
        let unknowns = [
            [0.0, 0.0, 0.0],
            [1.0, 0.1, 0.0],
            [0.2, 1.0, 0.1],
            [0.1, 0.3, 1.2],
        ];
        let mut bar = Self {
            layers: Vec::new(),
            unknowns: unknowns.map(Point::from).to_vec(),
            prescribed: vec![Point::origin()],
            references: vec![0; 4],
            size: 2.0,
        };
        let mut layer = Layer {
            cells: 1,
            ..Layer::default()
        };
        bar.push(&mut layer, [0, 1, 2, 3].map(Corner::unknown), 0);
        bar.layers.push(layer);
        bar
    }

    fn push(&self, layer: &mut Layer, corners: [Corner; 4], cell: u32) {
        let points: [Point64; 4] = corners
            .map(|corner| {
                corner
                    .of(&self.unknowns, &self.prescribed)
                    .expect("a point")
            })
            .map(nalgebra::OPoint::cast::<f64>);
        let edges = [1, 2, 3].map(|k| points[k] - points[0]);
        let positive = edges[0].cross(&edges[1]).dot(&edges[2]) > 0.0;
        layer
            .tets
            .push(Tet::at_rest(corners, cell, &points, positive));
    }

    pub fn simulation(&self, params: &Params) -> Simulation {
        let model = TetModel {
            layers: &self.layers,
            references: &self.references,
            prescribed: self.prescribed.len(),
            carried: &[],
            limb_radius: 1.0,
            bending: None,
        };
        let system = System::of_tets(&model, self.size, 1.0).expect("analyses");
        Simulation::new(
            Arc::new(system),
            params,
            self.unknowns.clone(),
            self.prescribed.clone(),
            self.size as f32,
        )
        .expect("factors")
    }
}

/// Without gravity, damping, contacts and resistance to changes of volume.
pub fn plain() -> Params {
    Params {
        collisions: Collisions::Off,
        gravity_m_s2: [0.0; 3],
        damping_per_s: 0.0,
        volume: 0.0,
        human_sized: false,
        ..Preset::Natural.params()
    }
}
