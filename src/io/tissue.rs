//! Writing the volumetric mesh: Gmsh `.msh` (2.2, ASCII), VTK `.vtu` (XML, ASCII), and its two surfaces as `.obj`.
//!
//! Vertices are the skin's, then the base surface's, then the interior points of the flesh, in world
//! space and file units; base vertex `v` has the number n + v. Tets are positively oriented unless
//! inverted at rest; degenerate tets are omitted.

use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::Path;

use super::error::{IoError, ParseProblem};
use super::write::write_atomically;
use crate::math::Point64;
use crate::mesh::TriMesh;
use crate::tissue::{Corner, CornerKind, Tissue};

/// Points and cells to write.
struct TissueGeometry<'a> {
    points: Vec<Point64>,
    tets: Vec<[usize; 4]>,
    volumes: Vec<f64>,
    skin: &'a [[u32; 3]],
    /// Number of skin points.
    skin_points: usize,
    /// Which points belong to the base.
    base_points: std::ops::Range<usize>,
}

impl<'a> TissueGeometry<'a> {
    fn of(skin: &'a TriMesh, tissue: &Tissue) -> Self {
        let n = skin.positions.len();
        let prescribed = tissue.base.len();
        let points = skin
            .positions
            .iter()
            .map(|p| p.cast::<f64>())
            .chain(tissue.base.iter().copied())
            .chain(tissue.interior.iter().copied())
            .collect();
        let number = |corner: Corner| match corner.kind() {
            CornerKind::Unknown(v) if (v as usize) < n => v as usize,
            CornerKind::Unknown(v) => prescribed + v as usize,
            CornerKind::Prescribed(v) => n + v as usize,
        };
        let (mut tets, mut volumes) = (
            Vec::with_capacity(tissue.quality.tets),
            Vec::with_capacity(tissue.quality.tets),
        );
        for tet in tissue.tets().filter(|tet| tet.is_usable()) {
            let [a, b, c, d] = tet.corners.map(number);
            tets.push(if tet.positive {
                [a, b, c, d]
            } else {
                [b, a, c, d]
            });
            volumes.push(tet.volume);
        }
        Self {
            points,
            tets,
            volumes,
            skin: &skin.triangles,
            skin_points: n,
            base_points: n..n + prescribed,
        }
    }

    /// Triangles of the skin, or of the base surface.
    fn surface(&self, base: bool) -> impl Iterator<Item = [usize; 3]> + '_ {
        let shift = if base { self.skin_points } else { 0 };
        self.skin
            .iter()
            .map(move |triangle| triangle.map(|v| v as usize + shift))
    }
}

/// Writes the tissue of a skin in the format of the extension of `path`: `.msh`, `.vtu` or `.obj`.
///
/// # Errors
/// [`IoError::Combination`] for another extension, [`IoError::Write`].
pub fn write_tissue(path: &Path, skin: &TriMesh, tissue: &Tissue) -> Result<(), IoError> {
    let extension = path
        .extension()
        .unwrap_or_default()
        .to_string_lossy()
        .to_ascii_lowercase();
    let write = match extension.as_str() {
        "msh" => write_msh,
        "vtu" => write_vtu,
        "obj" => write_surfaces,
        _ => {
            let sentence = "a volumetric mesh is written as .msh (Gmsh), .vtu (ParaView) or .obj (its surfaces only)";
            return Err(IoError::Combination(ParseProblem::new(format!(
                "{}: {sentence}",
                path.display()
            ))));
        }
    };
    let solid = TissueGeometry::of(skin, tissue);
    write_atomically(path, |out| write(out, &solid))
}

fn write_msh(out: &mut BufWriter<File>, solid: &TissueGeometry<'_>) -> std::io::Result<()> {
    writeln!(out, "$MeshFormat\n2.2 0 8\n$EndMeshFormat")?;
    writeln!(
        out,
        "$PhysicalNames\n3\n2 1 \"skin\"\n2 2 \"base\"\n3 3 \"flesh\"\n$EndPhysicalNames"
    )?;
    writeln!(out, "$Nodes\n{}", solid.points.len())?;
    for (index, p) in solid.points.iter().enumerate() {
        writeln!(out, "{} {} {} {}", index + 1, p.x, p.y, p.z)?;
    }
    writeln!(
        out,
        "$EndNodes\n$Elements\n{}",
        solid.tets.len() + 2 * solid.skin.len()
    )?;
    let mut number = 0;
    for (base, tag) in [(false, 1), (true, 2)] {
        for [a, b, c] in solid.surface(base) {
            number += 1;
            writeln!(
                out,
                "{number} 2 2 {tag} {tag} {} {} {}",
                a + 1,
                b + 1,
                c + 1
            )?;
        }
    }
    for [a, b, c, d] in &solid.tets {
        number += 1;
        writeln!(
            out,
            "{number} 4 2 3 3 {} {} {} {}",
            a + 1,
            b + 1,
            c + 1,
            d + 1
        )?;
    }
    writeln!(out, "$EndElements")
}

fn write_vtu(out: &mut BufWriter<File>, solid: &TissueGeometry<'_>) -> std::io::Result<()> {
    let array = |out: &mut BufWriter<File>, kind: &str, name: &str| {
        writeln!(
            out,
            "<DataArray type=\"{kind}\" Name=\"{name}\" format=\"ascii\">"
        )
    };
    let end = "</DataArray>";
    writeln!(
        out,
        "<?xml version=\"1.0\"?>\n<VTKFile type=\"UnstructuredGrid\" version=\"1.0\" byte_order=\"LittleEndian\">"
    )?;
    writeln!(
        out,
        "<UnstructuredGrid>\n<Piece NumberOfPoints=\"{}\" NumberOfCells=\"{}\">",
        solid.points.len(),
        solid.tets.len()
    )?;
    writeln!(out, "<PointData Scalars=\"base\">")?;
    array(out, "Int32", "base")?;
    (0..solid.points.len())
        .try_for_each(|point| writeln!(out, "{}", i32::from(solid.base_points.contains(&point))))?;
    writeln!(out, "{end}\n</PointData>\n<CellData Scalars=\"volume\">")?;
    array(out, "Float64", "volume")?;
    solid
        .volumes
        .iter()
        .try_for_each(|volume| writeln!(out, "{volume}"))?;
    writeln!(
        out,
        "{end}\n</CellData>\n<Points>\n<DataArray type=\"Float64\" NumberOfComponents=\"3\" format=\"ascii\">"
    )?;
    solid
        .points
        .iter()
        .try_for_each(|p| writeln!(out, "{} {} {}", p.x, p.y, p.z))?;
    writeln!(out, "{end}\n</Points>\n<Cells>")?;
    array(out, "Int64", "connectivity")?;
    solid
        .tets
        .iter()
        .try_for_each(|[a, b, c, d]| writeln!(out, "{a} {b} {c} {d}"))?;
    writeln!(out, "{end}")?;
    array(out, "Int64", "offsets")?;
    (1..=solid.tets.len()).try_for_each(|tet| writeln!(out, "{}", 4 * tet))?;
    writeln!(out, "{end}")?;
    // VTK_TETRA.
    array(out, "UInt8", "types")?;
    solid.tets.iter().try_for_each(|_| writeln!(out, "10"))?;
    writeln!(
        out,
        "{end}\n</Cells>\n</Piece>\n</UnstructuredGrid>\n</VTKFile>"
    )
}

fn write_surfaces(out: &mut BufWriter<File>, solid: &TissueGeometry<'_>) -> std::io::Result<()> {
    solid
        .points
        .iter()
        .try_for_each(|p| writeln!(out, "v {} {} {}", p.x, p.y, p.z))?;
    for (base, name) in [(false, "skin"), (true, "base")] {
        writeln!(out, "o {name}")?;
        solid
            .surface(base)
            .try_for_each(|[a, b, c]| writeln!(out, "f {} {} {}", a + 1, b + 1, c + 1))?;
    }
    Ok(())
}
