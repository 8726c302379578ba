//! Camera options of `render`.

use clap::Args;

use super::looks::joint_of;
use crate::cli::Failure;
use crate::methods::Subject;
use crate::render::{Camera, NamedView, Projection};
use crate::studio::JointFocus;

/// View direction, framing and movement of the camera.
#[derive(Debug, Args)]
#[command(next_help_heading = "Camera")]
pub(super) struct CameraOptions {
    /// View direction: front, back, side, left, right, top, bottom or three-quarter [default: three-quarter; of a project, that of its active view].
    #[arg(long, value_parser = parse_view)]
    view: Option<NamedView>,
    /// Orthographic projection: parallel lines stay parallel.
    #[arg(long)]
    orthographic: bool,
    /// Frame this joint instead of the whole character: it is at the centre of every frame, with the skin that it moves most, or one
    /// bone length around it if it moves none.
    #[arg(long, value_name = "JOINT")]
    pub(super) frame: Option<String>,
    /// Magnify the picture N times about its centre, from 1 to 100 [default: 1].
    #[arg(long, value_name = "N", value_parser = parse_zoom)]
    zoom: Option<f32>,
    /// Turn the camera once around the character in N pictures, for a .gif, .webp, .mp4 or .webm, or a .png for each.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(2..=7200))]
    pub(super) turntable: Option<u32>,
}

pub(in crate::cli) fn parse_view(name: &str) -> Result<NamedView, String> {
    NamedView::from_name(name).ok_or_else(|| {
        let known: Vec<_> = NamedView::ALL.iter().map(|(name, _)| *name).collect();
        format!("there are side, {}", known.join(", "))
    })
}

fn parse_zoom(text: &str) -> Result<f32, String> {
    let parsed = text.trim().parse::<f32>().ok();
    parsed
        .filter(|zoom| (1.0..=100.0).contains(zoom))
        .ok_or_else(|| "expected a number from 1 to 100, as in 2.5".to_owned())
}

impl CameraOptions {
    /// The view direction if no camera is given.
    pub(super) fn view(&self) -> NamedView {
        self.view.unwrap_or(NamedView::ThreeQuarter)
    }

    /// The type of projection.
    pub(super) fn projection(&self) -> Projection {
        if self.orthographic {
            Projection::Orthographic
        } else {
            Projection::Perspective
        }
    }

    /// The magnification.
    pub(super) fn zoom(&self) -> f32 {
        self.zoom.unwrap_or(1.0)
    }

    /// The joint to frame, with the radius around it.
    pub(super) fn focus(&self, subject: &Subject) -> Result<Option<JointFocus>, Failure> {
        let Some(name) = &self.frame else {
            return Ok(None);
        };
        Ok(Some(JointFocus::of(subject, joint_of(subject, name)?)))
    }

    /// The camera of a project's view, unless `--view` is given.
    pub(super) fn over(&self, saved: Option<Camera>) -> Option<Camera> {
        let mut camera = saved.filter(|_| self.view.is_none())?;
        if self.orthographic {
            camera.projection = Projection::Orthographic;
        }
        Some(camera)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn views_and_zooms_are_parsed() {
        for name in ["side", "three-quarter", "front"] {
            assert!(parse_view(name).is_ok(), "{name}");
        }
        assert!(parse_view("below").is_err());
        assert_eq!(parse_zoom("2.5"), Ok(2.5));
        for wrong in ["", "0", "0.5", "-2", "nan", "inf", "101", "x"] {
            assert!(parse_zoom(wrong).is_err(), "{wrong}");
        }
    }
}
