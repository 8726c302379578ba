//! Writes skin weights as a table: `.dmat`, `.json` or `.csv`.

use std::io::Write;
use std::path::Path;

use super::dmat;
use super::error::{IoError, shown};
use super::write::write_atomically;
use crate::weights::SkinWeights;

/// A file of weights. Vertices are numbered from 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum WeightFormat {
    /// A binary matrix of libigl: a row per vertex, a column per joint.
    Dmat,
    /// `{"vertices": n, "joints": [name, …], "weights": [[vertex, name, weight], …]}`.
    Json,
    /// A header, then `vertex,joint,weight` for every influence; names in quotes where they need them.
    Csv,
}

impl WeightFormat {
    /// The format that a file's extension stands for.
    #[must_use]
    pub fn of_path(path: &Path) -> Option<Self> {
        match path.extension()?.to_str()?.to_ascii_lowercase().as_str() {
            "dmat" => Some(Self::Dmat),
            "json" => Some(Self::Json),
            "csv" => Some(Self::Csv),
            _ => None,
        }
    }
}

/// Writes weights; `joints` are the names of the joints that they refer to. Vertices without influence have a row of zeros in a matrix,
/// and none in the others.
///
/// # Errors
/// [`IoError::Write`]; also for a matrix that would have more numbers than the reader takes.
pub fn write_weights(
    path: &Path,
    format: WeightFormat,
    weights: &SkinWeights,
    joints: &[&str],
) -> Result<(), IoError> {
    if format == WeightFormat::Dmat {
        let refused = |source| IoError::Write {
            file: shown(path),
            source,
        };
        dmat::check_size(weights.len(), joints.len()).map_err(refused)?;
    }
    write_atomically(path, |out| match format {
        WeightFormat::Dmat => dmat::write(out, weights, joints.len()),
        WeightFormat::Json => write_json(out, weights, joints),
        WeightFormat::Csv => write_csv(out, weights, joints),
    })
}

fn write_json(out: &mut impl Write, weights: &SkinWeights, joints: &[&str]) -> std::io::Result<()> {
    let quoted: Vec<String> = joints
        .iter()
        .map(|name| serde_json::to_string(name).map_err(std::io::Error::from))
        .collect::<std::io::Result<_>>()?;
    let vertices = weights.len();
    write!(
        out,
        "{{\"vertices\":{vertices},\"joints\":[{}],\"weights\":[",
        quoted.join(",")
    )?;
    let mut separator = "\n";
    for vertex in 0..vertices {
        for (joint, weight) in weights.of(vertex) {
            if let Some(name) = quoted.get(joint) {
                write!(out, "{separator}[{vertex},{name},{weight}]")?;
                separator = ",\n";
            }
        }
    }
    out.write_all(b"\n]}\n")
}

fn write_csv(out: &mut impl Write, weights: &SkinWeights, joints: &[&str]) -> std::io::Result<()> {
    let quoted = |name: &&str| {
        if name.contains([',', '"', '\n', '\r']) {
            format!("\"{}\"", name.replace('"', "\"\""))
        } else {
            (*name).to_owned()
        }
    };
    let quoted: Vec<String> = joints.iter().map(quoted).collect();
    out.write_all(b"vertex,joint,weight\n")?;
    for vertex in 0..weights.len() {
        for (joint, weight) in weights.of(vertex) {
            if let Some(name) = quoted.get(joint) {
                writeln!(out, "{vertex},{name},{weight}")?;
            }
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::test_folder::TestFolder;

    fn three() -> SkinWeights {
        let rows = [vec![(0, 0.75), (2, 0.25)], vec![], vec![(1, 1.0)]];
        SkinWeights::from_rows(rows).0
    }

    #[test]
    fn a_matrix_reads_back() {
        let folder = TestFolder::new("dmat");
        let path = folder.file("w.dmat");
        write_weights(&path, WeightFormat::Dmat, &three(), &["a", "b", "c"]).unwrap();
        let read = dmat::read(&std::fs::read(&path).unwrap()).unwrap();
        assert_eq!((read.rows, read.columns), (3, 3));
        assert_eq!(read.values, [0.75, 0.0, 0.0, 0.0, 0.0, 1.0, 0.25, 0.0, 0.0]);
        let many = SkinWeights {
            offsets: vec![0; 500_001],
            ..SkinWeights::default()
        };
        let names = vec!["j"; 100];
        let error = write_weights(&path, WeightFormat::Dmat, &many, &names).unwrap_err();
        assert!(error.to_string().contains("50000000"), "{error}");
    }

    #[test]
    fn lists_name_the_joints() {
        let folder = TestFolder::new("weight-lists");
        let names = ["a", "b, \"c\"", "ü"];
        let [json, csv] = ["w.json", "w.CSV"].map(|name| folder.file(name));
        for path in [&json, &csv] {
            let format = WeightFormat::of_path(path).unwrap();
            write_weights(path, format, &three(), &names).unwrap();
        }
        let json: serde_json::Value =
            serde_json::from_slice(&std::fs::read(json).unwrap()).unwrap();
        assert_eq!(json["vertices"], 3);
        assert_eq!(json["joints"], serde_json::json!(names));
        let rows = serde_json::json!([[0, "a", 0.75], [0, "ü", 0.25], [2, names[1], 1]]);
        assert_eq!(json["weights"], rows);
        let csv = std::fs::read_to_string(csv).unwrap();
        assert_eq!(
            csv,
            "vertex,joint,weight\n0,a,0.75\n0,ü,0.25\n2,\"b, \"\"c\"\"\",1\n"
        );
        assert_eq!(WeightFormat::of_path(Path::new("w.txt")), None);
    }
}
