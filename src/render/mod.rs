//! Rendering of characters: camera, scene, drawing, labels.
//!
//! Window and command line use the same code: a [`Scene`] seen by a [`Camera`] is drawn into a
//! [`RenderTarget`], which is shown as a texture or read back as an image.
//!
//! | lifetime      | type                                  |
//! |---------------|---------------------------------------|
//! | per device    | [`Renderer`]: pipelines, shadow map    |
//! | per character | [`MeshModel`]                          |
//! | per state     | [`MeshFrame`]                          |
//! | per viewport  | [`RenderTarget`], [`MeshColors`]             |
//! | per frame     | [`Scene`], [`Camera`], [`Overlay`]     |
//!
//! Lighting is computed in linear space and tone mapped in the surface's shader, so that
//! multisampling averages display colours.

mod bones;
mod camera;
mod colormap;
mod compose;
mod extras;
mod field_cut;
mod flight;
mod frame;
mod framing;
mod legend;
mod look;
mod material;
mod mesh;
mod overlay;
mod paint;
mod picture;
mod pipelines;
mod renderer;
mod scene;
mod shapes;
mod target;
mod text;
mod view;
mod volumes;

pub use bones::{BoneGlyph, BoneState, skeleton_bones};
pub use camera::{Camera, CameraRay, Projection};
pub use colormap::ColorMap;
pub use compose::PictureSheet;
pub use extras::{Extras, Marked, Moment, PositionMark, field_note, voxel_note};
pub use field_cut::{FieldCut, FieldDirection};
pub use frame::{UniformLayout, uniform_layouts};
pub use framing::Margins;
pub use legend::{Legend, SteadyRange, round_up};
pub use look::{Backdrop, CutPlane, Look, Matcap, OnionSkins, Shading, SkinColors};
pub use mesh::{MeshColors, MeshFrame, MeshModel};
pub use overlay::{ColorVertex, Overlay, OverlayLayer, OverlayLine, Rgba};
pub use paint::{SkinPaint, SkinQuantity, weights_of};
pub use picture::CharacterPicture;
pub use renderer::Renderer;
pub use scene::{
    Background, CLAY, Ground, Light, MeshDraw, MeshStyle, Scene, WIRE_COLOR, linear_from_srgb,
};
pub use target::{COLOR_FORMAT, GAMMA_FORMAT, RenderTarget, straighten_alpha};
pub use text::{draw_text, fitted, text_width};
pub use view::NamedView;
