//! Mouse hints of edit mode.

use super::{EditDrag, EditTool, EditView, LandmarkHandle, PickedItem};
use crate::app::shortcuts::Bindings;
use crate::app::viewport::edit::carrier;
use crate::rig::edit::Partner;

/// What the keys of commands do, after `begin`; nothing if they have no keys.
fn ending(bindings: &Bindings, keys: &[(&str, &str)], begin: &str) -> String {
    let keys: Vec<String> = keys
        .iter()
        .filter_map(|(id, what)| bindings.hint(id, what))
        .collect();
    if keys.is_empty() {
        return String::new();
    }
    format!("{begin}{}", keys.join(", "))
}

/// The mouse hint, one line.
#[must_use]
pub fn hint(tool: &EditTool, view: &EditView<'_>, bindings: &Bindings) -> String {
    let name = |joint: usize| {
        view.rig
            .joints()
            .get(joint)
            .map_or("", |joint| joint.name.as_str())
    };
    if let Some(drag) = &tool.drag {
        return dragging(drag, tool, &name);
    }
    if let Some(fitting) = &tool.fitting {
        return match tool.under {
            _ if fitting.landmarks.is_empty() => {
                "Looking at the mesh – the landmarks come in a moment".to_owned()
            }
            Some(PickedItem::Landmark(LandmarkHandle { landmark, mirrored })) => {
                let side = if mirrored { ", the other side" } else { "" };
                format!(
                    "{}{side}: drag it to where it belongs",
                    fitting.name(landmark)
                )
            }
            _ => {
                "Drag the landmarks to where they belong, then press Apply – Esc leaves".to_owned()
            }
        };
    }
    if view.placer.is_none() {
        return match tool.waiting() {
            0 => "Looking at the mesh – click where the first joint belongs".to_owned(),
            1 => "Looking at the mesh – your joint comes in a moment, Esc takes it back".to_owned(),
            clicks => format!(
                "Looking at the mesh – your {clicks} joints come in a moment, Esc takes them back"
            ),
        };
    }
    match tool.under {
        Some(PickedItem::Joint(joint)) => {
            if let Some(selected) = view.selected.filter(|&selected| selected != joint) {
                format!("{}: click to select, drag to move – Ctrl+click: {} hangs on it", name(joint), name(selected))
            } else {
                let keys = [("joint.delete", "deletes"), ("joint.merge", "merges")];
                let keys = ending(bindings, &keys, " – ");
                format!("{}: drag to move, Ctrl takes its children along{keys}", name(joint))
            }
        }
        Some(PickedItem::Tail(joint)) if view.selected == Some(joint) => {
            format!("End of {}: drag to set where its bone ends, click for a joint here", name(joint))
        }
        Some(PickedItem::Tail(joint)) => format!("End of {}: drag to set where its bone ends, click to select", name(joint)),
        Some(PickedItem::Bone { bone, .. }) => {
            format!("Bone of {}: click to select, Shift+click for a joint here", name(carrier(view.rig, bone)))
        }
        Some(PickedItem::Ring(joint)) => format!("Radius of {}'s bone: drag to change it, click for a joint here", name(joint)),
        Some(PickedItem::Flesh(placed)) => {
            let both = view.mirror.is_some_and(|mirror| {
                !mirror.is_on_plane(&placed.position)
                    && view.selected.is_none_or(|joint| mirror.partner(view.rig, joint) != Partner::Missing)
            });
            let sides = if both { " on both sides" } else { "" };
            match view.selected {
                Some(selected) => {
                    format!("Click for a joint{sides} in the middle of the flesh that hangs on {} – drag orbits", name(selected))
                }
                None if view.rig.is_empty() => format!("Click for the first joint{sides}, in the middle of the flesh – drag orbits"),
                None => format!("Click for a new root{sides}; to extend the skeleton, select a joint first – drag orbits"),
            }
        }
        Some(PickedItem::Landmark(_)) | None => match (view.rig.is_empty(), view.selected) {
            (true, _) => "Click into the mesh to place the first joint, or choose a template – drag orbits, wheel zooms".to_owned(),
            (false, Some(selected)) => format!("Click into the mesh to extend {}, beside it to deselect – drag orbits", name(selected)),
            (false, None) => {
                let leaves = ending(bindings, &[("mode.toggle", "leaves edit mode")], ", ");
                format!("Click a joint to select it – drag orbits, wheel zooms{leaves}")
            }
        },
    }
}

fn dragging<'a>(drag: &EditDrag, tool: &EditTool, name: &impl Fn(usize) -> &'a str) -> String {
    match drag {
        EditDrag::Joint {
            joint,
            axis,
            with_children,
            ..
        } => {
            let along = axis.map_or_else(String::new, |axis| {
                format!(" along {}", ["X", "Y", "Z"][axis.min(2)])
            });
            let children = if *with_children {
                " with its children"
            } else {
                ""
            };
            format!(
                "Moving {}{children}{along} – X, Y, Z choose an axis, Ctrl takes its children along, Esc takes it back",
                name(*joint)
            )
        }
        EditDrag::Tail { joint, .. } => {
            format!("Setting the end of {} – Esc takes it back", name(*joint))
        }
        EditDrag::Radius { joint, .. } => {
            format!("Radius of {}'s bone – Esc takes it back", name(*joint))
        }
        EditDrag::Landmark(handle) => {
            let landmark = tool
                .fitting
                .as_ref()
                .map_or("", |fitting| fitting.name(handle.landmark));
            format!("{landmark}: it stays in the middle of the flesh")
        }
    }
}
