//! An opened character.

use std::collections::BTreeMap;
use std::sync::Arc;

use numpy::{PyArray1, PyArray2, PyArray3, PyArrayMethods, PyReadonlyArray2, PyReadonlyArray3};
use pyo3::prelude::*;

use super::arrays::{points, read_points, read_transforms, rows, transforms};
use super::skinner::PySkinner;
use super::{failed, wrong};
use crate::character::Attachment;
use crate::dynamics::Params;
use crate::math::{Affine, Quat, Vec64};
use crate::methods::{Actor, MethodId};
use crate::metrics::{Meter, MeterFrame, RestSkin, without_reference};
use crate::progress::Progress;
use crate::rig::Clip;
use crate::stages::Subject;

/// A character with its skeleton, clips and weights.
#[pyclass(name = "Character", frozen)]
pub struct PyCharacter {
    subject: Arc<Subject>,
}

impl PyCharacter {
    pub(super) fn of(subject: Arc<Subject>) -> Self {
        Self { subject }
    }

    fn clip(&self, name: &str) -> PyResult<&Clip> {
        let clips = &self.subject.character.clips;
        let found = clips.iter().find(|clip| clip.name == name);
        found.ok_or_else(|| {
            let names: Vec<&str> = clips.iter().map(|clip| clip.name.as_str()).collect();
            wrong(format!("there is no clip \"{name}\"; there are {names:?}"))
        })
    }

    /// The transforms of a pose; the rest pose without one.
    fn pose_of(&self, pose: Option<&PyReadonlyArray3<'_, f64>>) -> PyResult<Vec<Affine>> {
        let skeleton = &self.subject.character.skeleton;
        match pose {
            Some(array) => read_transforms(array, skeleton.len()),
            None => Ok(skeleton.world_from_joint(&skeleton.rest_pose())),
        }
    }
}

#[pymethods]
impl PyCharacter {
    /// The character's name.
    #[getter]
    fn name(&self) -> &str {
        &self.subject.character.name
    }

    /// Names of the joints.
    #[getter]
    fn joints(&self) -> Vec<&str> {
        let joints = self.subject.character.skeleton.joints().iter();
        joints.map(|joint| joint.name.as_str()).collect()
    }

    /// The parent of each joint, −1 for roots.
    #[getter]
    fn parents<'py>(&self, py: Python<'py>) -> Bound<'py, PyArray1<i32>> {
        let joints = self.subject.character.skeleton.joints().iter();
        let parents = joints.map(|joint| {
            let parent = joint.parent.map(i32::try_from);
            parent.and_then(Result::ok).unwrap_or(-1)
        });
        PyArray1::from_iter(py, parents.collect::<Vec<i32>>())
    }

    /// Names of the clips and their lengths in seconds.
    #[getter]
    fn clips(&self) -> Vec<(&str, f64)> {
        let clips = self.subject.character.clips.iter();
        clips
            .map(|clip| (clip.name.as_str(), clip.duration_secs))
            .collect()
    }

    /// Length of one unit in metres.
    #[getter]
    fn metres_per_unit(&self) -> f64 {
        self.subject.metres_per_unit()
    }

    /// Positions in the bind pose, V × 3.
    #[getter]
    fn rest<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let all = &self.subject.bind_positions;
        points(py, &self.subject.character.at_file_vertices(all))
    }

    /// Triangles, T × 3.
    #[getter]
    fn faces<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<u32>>> {
        let mut faces = Vec::new();
        let mut first = 0;
        for mesh in &self.subject.character.meshes {
            let vertex = |v: u32| (first + mesh.file_vertex(v as usize)) as u32;
            faces.extend(mesh.triangles.iter().map(|corners| corners.map(vertex)));
            first += mesh.file_vertices();
        }
        rows(py, faces)
    }

    /// Weights of the file, V × J; rows of zeros where it has none.
    #[getter]
    fn weights<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let character = &self.subject.character;
        let joints = character.skeleton.len();
        let mut table = vec![0.0; character.file_vertices() * joints];
        let mut first = 0;
        for mesh in &character.meshes {
            for vertex in 0..mesh.file_vertices() {
                let row = &mut table[(first + vertex) * joints..][..joints];
                match &mesh.attachment {
                    Attachment::Skinned { weights, .. } => weights
                        .of(vertex)
                        .for_each(|(joint, weight)| row[joint] = weight),
                    Attachment::Rigid { joint, .. } => row[*joint] = 1.0,
                    Attachment::Static { .. } | Attachment::Unweighted => {}
                }
            }
            first += mesh.file_vertices();
        }
        PyArray1::from_vec(py, table).reshape([first, joints])
    }

    /// Transforms of all joints, J × 4 × 4: of a clip at a time in seconds, or of the rest pose, with joints rotated on top.
    /// `rotate` maps names to degrees about the world's X, Y and Z axes through the joint, applied in this order.
    #[pyo3(signature = (clip=None, at=0.0, rotate=None))]
    fn pose<'py>(
        &self,
        py: Python<'py>,
        clip: Option<&str>,
        at: f64,
        rotate: Option<BTreeMap<String, [f64; 3]>>,
    ) -> PyResult<Bound<'py, PyArray3<f64>>> {
        let skeleton = &self.subject.character.skeleton;
        let mut pose = match clip {
            Some(name) => self.clip(name)?.sample(skeleton, at),
            None => skeleton.rest_pose(),
        };
        for (name, degrees) in rotate.unwrap_or_default() {
            let joint = skeleton.find_or_suggest(&name).map_err(wrong)?;
            let [x, y, z] = degrees.map(f64::to_radians);
            if !(x + y + z).is_finite() {
                return Err(wrong(format!(
                    "the rotation of joint \"{name}\" is not finite"
                )));
            }
            let turn = |axis, angle| Quat::from_axis_angle(&axis, angle);
            let rotation =
                turn(Vec64::z_axis(), z) * turn(Vec64::y_axis(), y) * turn(Vec64::x_axis(), x);
            pose.rotate_about_world_axes(skeleton, joint, &rotation);
        }
        transforms(py, &skeleton.world_from_joint(&pose))
    }

    /// A method bound to the character, for many frames.
    #[pyo3(signature = (method="pd"))]
    fn bind(&self, py: Python<'_>, method: &str) -> PyResult<PySkinner> {
        let id = MethodId::from_id(method).ok_or_else(|| {
            let known = super::methods().join(", ");
            wrong(format!(
                "there is no method \"{method}\"; there are {known}"
            ))
        })?;
        let bound =
            py.detach(|| Actor::bind(&self.subject, id, &Params::default(), &Progress::new()));
        bound.map(PySkinner::of).map_err(failed)
    }

    /// Positions of the skin in a pose by any method, V × 3. Simulated skins are settled.
    #[pyo3(signature = (method="pd", pose=None))]
    fn skin<'py>(
        &self,
        py: Python<'py>,
        method: &str,
        pose: Option<PyReadonlyArray3<'py, f64>>,
    ) -> PyResult<Bound<'py, PyArray2<f32>>> {
        let pose = self.pose_of(pose.as_ref())?;
        let skinner = self.bind(py, method)?;
        skinner.step(py, &pose, 0.0)?;
        skinner.positions(py)
    }

    /// Metrics of positions V × 3 against the bind pose; those that need joints take them from `pose`.
    #[pyo3(signature = (positions, pose=None))]
    fn metrics(
        &self,
        py: Python<'_>,
        positions: PyReadonlyArray2<'_, f32>,
        pose: Option<PyReadonlyArray3<'_, f64>>,
    ) -> PyResult<BTreeMap<&'static str, Option<f64>>> {
        let points = read_points(&positions)?;
        let character = &self.subject.character;
        let Some(all) = character.from_file_vertices(&points) else {
            return Err(wrong(format!(
                "there are {} positions, and the character has {} vertices",
                points.len(),
                character.file_vertices()
            )));
        };
        let joints = match &pose {
            Some(_) => self.pose_of(pose.as_ref())?,
            None => Vec::new(),
        };
        let frame = MeterFrame {
            positions: &all,
            world_from_joint: &joints,
            ..MeterFrame::default()
        };
        let measured = py.detach(|| {
            let progress = Progress::new();
            let rest = RestSkin::of(&self.subject);
            Meter::new(rest, without_reference(), &progress)?.measure(&frame, &progress)
        });
        let measured = measured.map_err(failed)?;
        let quantities = without_reference().flat_map(|metric| metric.quantities);
        Ok(quantities
            .map(|quantity| (quantity.id, measured.get(quantity.id)))
            .collect())
    }

    fn __repr__(&self) -> String {
        let character = &self.subject.character;
        format!(
            "<sinew.Character \"{}\": {} vertices, {} triangles, {} joints, {} clips>",
            character.name,
            character.file_vertices(),
            character.source_triangles(),
            character.skeleton.len(),
            character.clips.len()
        )
    }
}
