//! The result of a comparison: what was compared, and what was measured.

use serde::Serialize;

use crate::metrics::Quantity;

/// Several methods in several poses of one character, measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Comparison {
    /// What was compared, by which command, on which machine.
    pub about: About,
    /// The rows.
    pub methods: Vec<MethodRow>,
    /// The columns: poses of a set, or frames of a clip.
    pub poses: Vec<PoseColumn>,
    /// What was measured, in the order of [`Cell::values`].
    pub quantities: Vec<Quantity>,
    /// One per method and pose: those of the first method in the order of the poses, then those of the second, …
    pub cells: Vec<Cell>,
}

/// Where a comparison comes from: enough to repeat it.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct About {
    /// Name of the character.
    pub character: String,
    /// Its files, as they were given.
    pub files: Vec<String>,
    /// Vertices of the source meshes.
    pub vertices: usize,
    /// Triangles of the source meshes.
    pub triangles: usize,
    /// Joints of the skeleton.
    pub joints: usize,
    /// Origin of the skin weights, for people.
    pub weights: String,
    /// What distances are measured to, for people; empty if none are measured.
    pub distance_to: String,
    /// The set of poses or the clip, for people.
    pub set: String,
    /// The command that repeats the comparison.
    pub command: String,
    /// Version of the program.
    pub version: String,
    /// Processor and operating system.
    pub machine: String,
    /// Threads that were used.
    pub threads: usize,
}

/// A method of a comparison, or another program's result.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct MethodRow {
    /// Id, as on the command line; unique in the comparison.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// Method and settings of a named variant, as on the command line; empty for others.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub settings: String,
    /// Time of binding, milliseconds; `None` for results of other programs.
    pub bind_ms: Option<f64>,
    /// Mean time of each part of a frame, milliseconds, the longest first.
    pub stages_ms: Vec<(String, f64)>,
    /// Why the method could not be used at all; its cells are then empty.
    pub failure: Option<String>,
}

/// A pose of a comparison, or a frame of a clip.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct PoseColumn {
    /// Id; unique in the comparison.
    pub id: String,
    /// Name for people.
    pub label: String,
    /// The movement that the pose belongs to, for people: poses of one movement form one curve.
    pub movement: String,
    /// Position on the curve: degrees, or seconds of a clip; `None` for a single pose.
    pub at: Option<f64>,
}

/// One method in one pose.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Cell {
    /// One value for each quantity; `None` where it is not defined.
    pub values: Vec<Option<f64>>,
    /// Why there are no values.
    pub failure: Option<String>,
}

/// A word as a shell reads it.
#[must_use]
pub fn shell_word(word: &str) -> String {
    let is_plain = |c: char| c.is_alphanumeric() || "-_./=,:@%+~".contains(c);
    if !word.is_empty() && word.chars().all(is_plain) {
        word.to_owned()
    } else {
        format!("'{}'", word.replace('\'', r"'\''"))
    }
}

/// The movements in the order of their first poses, each with the indices of its poses.
pub(super) fn movements(poses: &[PoseColumn]) -> Vec<(&str, Vec<usize>)> {
    let mut movements: Vec<(&str, Vec<usize>)> = Vec::new();
    for (index, pose) in poses.iter().enumerate() {
        match movements
            .iter_mut()
            .find(|(name, _)| *name == pose.movement)
        {
            Some((_, poses)) => poses.push(index),
            None => movements.push((&pose.movement, vec![index])),
        }
    }
    movements
}

impl Comparison {
    /// The cell of a method in a pose, both by index.
    ///
    /// # Panics
    /// If an index is out of range.
    #[must_use]
    pub fn cell(&self, method: usize, pose: usize) -> &Cell {
        &self.cells[method * self.poses.len() + pose]
    }

    /// Why there is nothing to report: no method has a value in any pose. The first failure; `None` if something was measured.
    #[must_use]
    pub fn whole_failure(&self) -> Option<&str> {
        let measured = |cell: &Cell| cell.values.iter().any(Option::is_some);
        if self.cells.iter().any(measured) {
            return None;
        }
        let of_methods = self.methods.iter().map(|row| row.failure.as_deref());
        let of_cells = self.cells.iter().map(|cell| cell.failure.as_deref());
        let first = of_methods.chain(of_cells).flatten().next();
        Some(first.unwrap_or("there are no methods"))
    }

    /// A quantity's value for a method in a pose, all by index.
    ///
    /// # Panics
    /// If the method or the pose is out of range.
    #[must_use]
    pub fn value(&self, method: usize, pose: usize, quantity: usize) -> Option<f64> {
        *self.cell(method, pose).values.get(quantity)?
    }

    /// Values of a quantity for a method in all poses where it is defined.
    pub fn values_of(&self, method: usize, quantity: usize) -> impl Iterator<Item = f64> + '_ {
        (0..self.poses.len()).filter_map(move |pose| self.value(method, pose, quantity))
    }

    /// The movements in the order of their first poses, each with its poses.
    #[must_use]
    pub fn movements(&self) -> Vec<(&str, Vec<usize>)> {
        movements(&self.poses)
    }
}
