//! The table itself, one row each. The menus of the top bar name rows by their id.

use egui::{Key, Modifiers};

use super::Trigger::{Elsewhere, For, ForDigit};
use super::{ActiveMode, Group, Needs, Shortcut};
use crate::app::actions::Action;
use crate::app::actions::CameraAction;
use crate::app::actions::CaptureAction;
use crate::app::actions::EditAction;
use crate::app::actions::LayoutAction;
use crate::app::actions::LayoutPreset;
use crate::app::actions::PosingRequest;
use crate::app::actions::ProjectAction;
use crate::app::actions::SplitSide;
use crate::app::actions::TimelineAction;
use crate::app::actions::ToolWindowAction;
use crate::app::actions::ViewRequest;
use crate::app::actions::tools::{ModalKind, Tool};
use crate::app::actions::{BoardAction, DistillAction, WorstAction};
use crate::app::look::SkinColors;
use crate::render::NamedView;
use crate::rig::edit::template::TemplateKind;
use crate::rig::symmetry::MirrorHow;
use crate::session::{Command, Gesture, Mode, PoseCommand, RigCommand};

const NONE: Modifiers = Modifiers::NONE;
const CTRL: Modifiers = Modifiers::COMMAND;
const SHIFT: Modifiers = Modifiers::SHIFT;
const CTRL_SHIFT: Modifiers = Modifiers::COMMAND.plus(Modifiers::SHIFT);

const CTRL_ALT: Modifiers = Modifiers::COMMAND.plus(Modifiers::ALT);

fn once(command: Command) -> Action {
    Action::Session(command, Gesture::Once)
}

fn mirror() -> Command {
    PoseCommand::Mirror {
        joints: None,
        how: MirrorHow::Flip,
    }
    .into()
}

/// All commands.
pub static ALL: &[Shortcut] = &[
    // File.
    project!("new", "New", "Begins anew with the character that comes with Sinew", New)
        .also("fresh start mannequin")
        .key(CTRL, Key::N)
        .while_typing(),
    Shortcut::new("open", Group::File, "Open…", "Opens a project, or a character from one or several files", For(|| Action::OpenDialog))
        .also("load import file mesh model fbx gltf glb obj")
        .key(CTRL, Key::O)
        .while_typing(),
    project!("save", "Save", "Writes the project to its file; asks for one the first time", Save)
        .also("write store project")
        .key(CTRL, Key::S)
        .while_typing()
        .needs(Needs::Character),
    project!("save.as", "Save as…", "Writes the project to another file, which is its file from then on", SaveAs)
        .also("rename write store")
        .key(CTRL_SHIFT, Key::S)
        .while_typing()
        .needs(Needs::Character),
    project!("save.packed", "Save packed copy…", "Writes one file with the project and all files of the character in it", SavePacked)
        .also("zip archive bundle share pack")
        .needs(Needs::Character),
    project!("export.files", "Export for other programs…", "Writes the baked skin, the rig or the motion to files", AskExport)
        .also("blender maya unity unreal alembic gltf bake cache send")
        .needs(Needs::Character),
    Shortcut::new(
        "distill",
        Group::File,
        "Distill a rig for engines",
        "Fits helper joints and weights to simulated clips, for game engines",
        For(|| Action::Distill(DistillAction::Toggle)),
    )
    .also("game engine unity unreal godot helper bones corrective joints skinning decomposition export physics")
    .needs(Needs::Character)
    .switch(|now| now.distill_shown),
    project!("report", "Report…", "Compares methods over the range of motion or a clip: a page with numbers, curves and pictures", AskReport)
        .also("compare metrics table paper html statistics")
        .needs(Needs::Character),
    Shortcut::new("pose.load", Group::File, "Load pose…", "Reads a pose from a file", For(|| Action::LoadPoseDialog))
        .also("import open")
        .needs(Needs::Character),
    Shortcut::new("pose.save", Group::File, "Save pose…", "Writes the pose shown to a file", For(|| Action::SavePoseDialog))
        .also("export write")
        .key(CTRL_ALT, Key::S)
        .while_typing()
        .needs(Needs::Character),
    Shortcut::new("export", Group::File, "Export picture…", "Makes a picture, a turntable or a film of the clip", capture!(ToggleDialog))
        .also("screenshot snapshot image photo render png gif webp animation video film movie turntable spin record")
        .key(CTRL, Key::E)
        .while_typing()
        .needs(Needs::Character),
    Shortcut::new("copy.view", Group::File, "Copy view", "Copies the active view to the clipboard as a picture", capture!(CopyView))
        .also("screenshot snapshot clipboard image photo")
        .key(CTRL_SHIFT, Key::C)
        .while_typing()
        .needs(Needs::Character),
    Shortcut::new("copy.window", Group::File, "Copy window", "Copies the whole window to the clipboard as a picture", capture!(CopyWindow))
        .also("screenshot snapshot clipboard image screen grab"),
    Shortcut::new(
        "skeleton.save",
        Group::File,
        "Save skeleton…",
        "Writes the joints as .skel, or mesh, joints and weights as .glb",
        For(|| Action::Edit(EditAction::SaveDialog)),
    )
    .also("export rig skel glb write")
    .needs(Needs::Character),
    Shortcut::new("quit", Group::File, "Quit", "Closes the window", For(|| Action::Quit))
        .also("exit close leave")
        .key(CTRL, Key::Q)
        .while_typing(),
    // Edit.
    Shortcut::new("undo", Group::Edit, "Undo", "Takes the last change back", For(|| once(Command::Undo)))
        .also("back revert mistake")
        .key(CTRL, Key::Z)
        .repeats()
        .needs(Needs::Undo),
    Shortcut::new("redo", Group::Edit, "Redo", "Does again what was taken back", For(|| once(Command::Redo)))
        .also("again forward repeat")
        .key(CTRL_SHIFT, Key::Z)
        .key(CTRL, Key::Y)
        .repeats()
        .needs(Needs::Redo),
    Shortcut::new("settings", Group::Edit, "Settings…", "Theme, scale, navigation and other choices of yours", tool_windows!(ToggleSettings))
        .also("preferences options configure")
        .key(CTRL, Key::Comma)
        .while_typing(),
    // Pose.
    Shortcut::new("pose.reset", Group::Pose, "Reset pose", "Puts all joints back to rest", For(|| once(Command::ResetPose)))
        .also("rest bind t-pose clear zero home")
        .key(Modifiers::ALT, Key::R)
        .needs(Needs::Character),
    Shortcut::new(
        "jiggle.stop",
        Group::Pose,
        "Stop the jiggle",
        "Forgets all velocities: the flesh is at rest in this pose",
        For(|| once(Command::ResetSimulation)),
    )
    .also("settle calm wobble freeze velocity simulation")
    .needs(Needs::Character),
    posing!("tool.drag", "Drag", "A drag moves the body by any joint or any point of its skin", PosingRequest::Tool(Tool::Drag))
        .also("ik pull grab move hand")
        .key(NONE, Key::Q),
    posing!("tool.rotate", "Rotate", "Rings, a ball and pulled limbs turn joints", PosingRequest::Tool(Tool::Rotate))
        .also("turn ring gizmo trackball")
        .key(NONE, Key::E)
        .key(NONE, Key::R),
    posing!("tool.move", "Move", "Arrows move the selected joint, and the body follows", PosingRequest::Tool(Tool::Move))
        .also("translate arrow gizmo")
        .key(NONE, Key::W),
    posing!("tool.explain", "Explain", "Says why a point of the skin is where it is; a click pins the point", PosingRequest::Tool(Tool::Explain))
        .also("probe inspect weights strain contact point why")
        .key(NONE, Key::I),
    posing!("tool.paint", "Paint materials", "A drag paints onto the skin how stiff, held or thick the flesh is", PosingRequest::Tool(Tool::Paint))
        .also("brush stiffness held thickness soft hard material jiggle weight map"),
    posing!(
        "turn.now",
        "Turn now",
        "The pointer turns the selected joints until a click; X, Y, Z and numbers say about what and how far",
        PosingRequest::Modal(ModalKind::Turn)
    )
    .also("rotate modal axis number typed angle")
    .key(SHIFT, Key::R)
    .needs(Needs::Joint),
    posing!(
        "move.now",
        "Move now",
        "The pointer moves the selected joint until a click; X, Y, Z and numbers say along what and how far",
        PosingRequest::Modal(ModalKind::Move)
    )
    .also("grab translate modal axis number typed distance")
    .key(SHIFT, Key::G)
    .needs(Needs::Joint),
    posing!("tool.axes", "Other axes", "Handles take the joint's own, the world's or the view's axes", PosingRequest::NextAxes)
        .also("local world global orientation coordinate")
        .key(NONE, Key::G),
    posing!("pins.toggle", "Pin", "Keeps the joint under the pointer, or the selected ones, where they are, or lets them go", PosingRequest::TogglePins)
        .also("lock fix foot hold plant nail")
        .key(NONE, Key::P)
        .needs(Needs::Joint),
    posing!("pose.copy", "Copy pose", "Copies the pose of the selected joints, or of all", PosingRequest::Copy)
        .also("duplicate clipboard")
        .key(CTRL, Key::C),
    posing!("pose.paste", "Paste pose", "Gives joints the pose that was copied", PosingRequest::Paste { mirrored: false })
        .also("clipboard apply")
        .key(CTRL, Key::V),
    posing!(
        "pose.paste_mirrored",
        "Paste mirrored",
        "Gives the pose that was copied to the other side",
        PosingRequest::Paste { mirrored: true }
    )
    .also("flip symmetry other side opposite")
    .key(CTRL_SHIFT, Key::V),
    Shortcut::new("pose.mirror", Group::Pose, "Mirror pose", "Left and right change places", For(|| once(mirror())))
        .also("flip symmetry symmetrical left right opposite swap")
        .key(CTRL, Key::M)
        .needs(Needs::Character)
        .mode(ActiveMode::Posing),
    Shortcut::new(
        "pose.balance",
        Group::Pose,
        "Balance",
        "Moves the hips until the body is balanced above the feet that stand",
        For(|| once(PoseCommand::Balance.into())),
    )
    .also("centre of mass weight hips stand ground floor fall")
    .needs(Needs::Character),
    posing!("balance.keep", "Keep balance", "The hips keep the body balanced while it is dragged, or not", PosingRequest::ToggleBalance)
        .also("centre of mass weight hips stand feet"),
    Shortcut::new(
        "limits.human",
        Group::Pose,
        "Limit joints as a human's",
        "Joints turn only as far as a human's do",
        For(|| once(PoseCommand::LimitAsHuman.into())),
    )
    .also("constraint range elbow knee realistic")
    .needs(Needs::Character),
    Shortcut::new("limits.none", Group::Pose, "Remove all limits", "Joints turn freely", For(|| once(PoseCommand::ClearLimits.into())))
        .also("constraint free clear")
        .needs(Needs::Character),
    Shortcut::new("escape", Group::Pose, "Leave", "Leaves what you are doing, then deselects", For(|| Action::Escape))
        .key(NONE, Key::Escape)
        .while_typing(),
    Shortcut::new(
        "mode.edit",
        Group::Skeleton,
        "Edit the skeleton",
        "Places, moves and names joints",
        mode!(Edit),
    )
    .also("rig build joint bone draw create place")
    .key(CTRL_SHIFT, Key::E)
    .needs(Needs::Character)
    .mode(ActiveMode::Posing),
    Shortcut::new(
        "mode.pose",
        Group::Skeleton,
        "Pose the character",
        "Leaves the editing of the skeleton",
        mode!(Pose),
    )
    .also("animate leave done finish")
    .key(CTRL_SHIFT, Key::E)
    .needs(Needs::Character)
    .mode(ActiveMode::Editing),
    Shortcut::new("mode.toggle", Group::Skeleton, "Pose or edit", "Changes between posing and editing the skeleton", Elsewhere)
        .also("mode switch rig")
        .key(NONE, Key::Tab)
        .needs(Needs::Character),
    Shortcut::new("joint.delete", Group::Skeleton, "Delete joint", "Takes the selected joint out of the skeleton; its children go to its parent", Elsewhere)
        .also("remove bone")
        .key(NONE, Key::Delete)
        .key(NONE, Key::Backspace)
        .mode(ActiveMode::Editing),
    Shortcut::new("joint.merge", Group::Skeleton, "Merge joint", "Makes the selected joint and its parent one", Elsewhere)
        .also("join collapse bone dissolve")
        .key(NONE, Key::M)
        .mode(ActiveMode::Editing),
    template!("template.human", "Template: human", "Fits the skeleton of somebody on two legs by a few landmarks", Human)
        .also("biped person body autorig rig"),
    template!("template.hand", "Template: hand", "Fits the skeleton of a hand with five fingers by a few landmarks", Hand)
        .also("fingers autorig rig"),
    template!("template.four-legged", "Template: four-legged", "Fits the skeleton of an animal by a few landmarks", FourLegged)
        .also("quadruped dog horse cat animal autorig rig"),
    // Time.
    Shortcut::new("play", Group::Time, "Play or pause", "Lets the clip run or stops it", For(|| once(Command::TogglePlaying)))
        .also("start stop run animation clip")
        .key(NONE, Key::Space)
        .needs(Needs::Character),
    Shortcut::new(
        "clip",
        Group::Time,
        "Show a clip",
        "Shows the clip with this number",
        ForDigit(|clip| once(Command::SelectClip(Some(clip)))),
    )
    .needs(Needs::Clips),
    Shortcut::new(
        "clip.none",
        Group::Time,
        "Show the pose made by hand",
        "Leaves the clip and shows your own pose",
        For(|| once(Command::SelectClip(None))),
    )
    .also("hand own manual rest")
    .key(NONE, Key::Num0)
    .needs(Needs::Character),
    timeline!("key", "Set key", "Keys the pose shown where the playhead is: the selected joints, or all", SetKey)
        .also("keyframe insert set animate")
        .key(NONE, Key::K),
    Shortcut::new("keys.delete", Group::Time, "Delete keys", "Deletes the selected keys while the pointer is over the timeline", Elsewhere)
        .also("keyframe remove")
        .key(NONE, Key::Delete)
        .key(NONE, Key::Backspace)
        .mode(ActiveMode::Posing),
    timeline!("key.previous", "Previous key", "Goes to the key before the playhead", PreviousKey)
        .also("keyframe back jump")
        .key(NONE, Key::Comma),
    timeline!("key.next", "Next key", "Goes to the key after the playhead", NextKey).also("keyframe forward jump").key(NONE, Key::Period),
    Shortcut::new("frame.next", Group::Time, "Next frame", "Goes on by one frame", Elsewhere).key(NONE, Key::ArrowRight),
    Shortcut::new("frame.previous", Group::Time, "Previous frame", "Goes back by one frame", Elsewhere).key(NONE, Key::ArrowLeft),
    Shortcut::new("range.end", Group::Time, "End of the range", "Goes to the end of the range, or of the clip", Elsewhere)
        .key(CTRL, Key::ArrowRight),
    Shortcut::new("range.start", Group::Time, "Start of the range", "Goes to the start of the range, or of the clip", Elsewhere)
        .key(CTRL, Key::ArrowLeft),
    timeline!("record", "Record a take", "Records what you do by hand as a new clip, or ends that", Record)
        .also("take capture performance live"),
    timeline!("auto-key", "Auto-key", "Turning a joint sets a key in the clip shown, or not", AutoKey).also("autokey keyframe automatic"),
    timeline!("pose.keep", "Keep pose", "Puts the pose shown into the library of poses", KeepPose).also("library store remember"),
    timeline!("poses.load", "Load poses…", "Reads pose files into the library", LoadPosesDialog).also("library import"),
    timeline!("poses.save", "Save poses…", "Writes the library as pose files into a folder", SavePosesDialog).also("library export"),
    timeline!("clip.new", "New clip", "Makes a clip with the pose shown as its first key", NewClip).also("animation create take"),
    timeline!("clip.copy", "Copy clip", "Makes an editable copy of the clip shown", CopyClip).also("duplicate editable take"),
    timeline!("feet.plant", "Plant feet", "Holds the feet of the selected legs, or all, where they are at the playhead, or lets them go", PlantFeet)
        .also("plant foot contact lock stick constraint pin slide ground floor"),
    timeline!("feet.standing", "Plant feet where they stand", "Finds where feet are nearly still on the ground, and holds them there", PlantStanding)
        .also("foot contact slide skate walk lock ground floor"),
    timeline!("feet.above", "Soles above the ground", "Feet do not sink into the ground between keys of the clip shown, or may", AboveGround)
        .also("floor contact sink foot penetrate"),
    timeline!("curves", "Curves", "Shows the selected joints' angles and offsets as curves, or rows of keys again", Curves)
        .also("graph editor fcurve tangents bezier spline handles"),
    timeline!("keys.smooth", "Smooth out keys", "Takes jitter off the selected keys: three or more in a row of a joint", SmoothKeys)
        .also("filter denoise jitter noise butterworth"),
    timeline!("loop.close", "Close the loop", "Makes the end of the clip meet its start; the way over the ground is kept", CloseLoop)
        .also("seam cycle walk seamless repeat"),
    timeline!("loop.place", "Close the loop in place", "Makes the end meet the start, and takes the way over the ground out", CloseLoopInPlace)
        .also("seam cycle walk treadmill root motion stationary"),
    timeline!("loop.repeat", "Repeat the clip", "Makes the clip twice as long, the second time from where the first ends", RepeatClip)
        .also("cycle walk on root offset double longer"),
    timeline!("timeline", "Timeline", "Shows or hides ruler and keys under the views", Fold).also("dope sheet keyframes ruler"),
    // View.
    Shortcut::new("frame", Group::View, "Frame", "Brings the selected joint, or everything, into view", For(|| Action::Frame))
        .also("focus zoom fit center centre selected")
        .key(NONE, Key::F)
        .needs(Needs::Character),
    camera!("frame.all", "Frame everything", "Brings the whole character into view", FrameAll)
        .also("focus zoom fit home reset camera whole")
        .key(NONE, Key::Home)
        .key(NONE, Key::A),
    camera!(
        "projection",
        "Perspective or parallel",
        "Changes between perspective and parallel lines (5 on the number pad)",
        ToggleProjection
    )
    .also("orthographic perspective ortho camera lens"),
    camera!("turntable", "Turntable", "Lets the camera go round slowly, or stops it", ToggleTurntable)
        .also("rotate spin camera around orbit"),
    look("look.front", "Look from the front", || Action::LookFrom(NamedView::Front)),
    look("look.back", "Look from behind", || Action::LookFrom(NamedView::Back)),
    look("look.left", "Look from its left", || Action::LookFrom(NamedView::Left)),
    look("look.right", "Look from its right", || Action::LookFrom(NamedView::Right)),
    look("look.top", "Look from above", || Action::LookFrom(NamedView::Top)),
    look("look.bottom", "Look from below", || Action::LookFrom(NamedView::Bottom)),
    look("look.three-quarter", "Look at an angle", || Action::LookFrom(NamedView::ThreeQuarter)),
    Shortcut::new("bones", Group::View, "Bones", "Shows or hides the bones in front of the skin", For(|| Action::ToggleBones))
        .also("skeleton rig armature show hide octahedral")
        .key(NONE, Key::B)
        .needs(Needs::Character)
        .switch(|now| now.bones_shown),
    Shortcut::new("panel", Group::View, "Side panel", "Shows or hides the panel on the right", For(|| Action::TogglePanel))
        .also("sidebar properties hide full screen")
        .key(NONE, Key::N)
        .switch(|now| now.panel_shown),
    layout!("layout.single", "Single view", "Shows one view alone", Single).also("one viewport alone"),
    layout!("layout.methods", "Three methods", "Linear blend, dual quaternion and projective dynamics side by side", Methods)
        .also("compare side by side lbs dqs pd split view columns"),
    layout!("layout.four", "Four sides", "Perspective, front, side and top", Four).also("quad split view viewports ortho"),
    layout!("layout.before-after", "Before and after", "The rest pose beside the pose", BeforeAfter)
        .also("compare rest split view side by side"),
    ask!("compare.wipe", "Compare: wipe", "A second method in the active view, right of a line that can be dragged", Wipe)
        .also("slider split line side by side difference before after ab"),
    ask!("compare.flicker", "Compare: flicker", "A second method in the active view while a key is held", Flicker)
        .also("blink toggle ab difference switch"),
    Shortcut::new("compare.hold", Group::View, "Other method while held", "Shows the second method of a view that compares by flicker", Elsewhere)
        .also("blink flicker toggle ab")
        .key(NONE, Key::V),
    ask!("compare.distance", "Compare: distance", "How far the skin is from where a second method puts it, as colours", Distance)
        .also("difference map heatmap heat error deviation millimetres"),
    ask!("compare.none", "Compare with nothing", "One method alone in the active view", CompareNone)
        .also("wipe flicker distance difference off stop single"),
    ask!("crowd.9", "Crowd of 9", "Nine of the character on a grid, each at another moment of the clip", Crowd(9))
        .also("many several instances army group multiply copies"),
    ask!("crowd.100", "Crowd of 100", "A hundred of the character on a grid, each at another moment of the clip", Crowd(100))
        .also("many several instances army group multiply copies hundred"),
    ask!("crowd.none", "One character", "One character in the active view instead of a crowd", Crowd(1))
        .also("crowd off stop single alone"),
    ask!("scores", "Scores", "Shows or hides volume, cuts, stretch and time of the active view", Scores)
        .also("volume self-intersections stretch quality numbers statistics metrics"),
    ask!("split.right", "Split view to the right", "Another view beside the active one", Split(SplitSide::Right))
        .also("split view viewport new add vertical side by side"),
    ask!("split.below", "Split view below", "Another view under the active one", Split(SplitSide::Below))
        .also("split view viewport new add horizontal"),
    ask!("view.maximise", "Maximise view", "Shows the active view alone, or all views again", Maximise)
        .also("maximize full screen enlarge viewport"),
    ask!("view.close", "Close view", "Takes the active view away", Close).also("remove viewport delete unsplit"),
    ask!("ghosts", "Ghosts", "Shows or hides faint skins before and after this moment of the clip", Ghosts)
        .also("onion skin trail motion before after"),
    ask!("wireframe", "Wireframe", "Shows or hides the edges of the skin's triangles", Wireframe)
        .also("wire mesh edges triangles topology"),
    ask!("weights", "Weights as colours", "How much the selected joint moves each vertex", Colors(SkinColors::Weights))
        .also("skinning influence paint heat map heatmap"),
    ask!("weights.compared", "Weights against others as colours", "How much more the selected joint moves each vertex than by the file's weights, or by others that are chosen", Colors(SkinColors::WeightDifference))
        .also("skinning influence compare weights artist heat map"),
    ask!("stretch", "Stretch as colours", "How much longer or shorter the edges are than at rest", Colors(SkinColors::Strain))
        .also("strain deformation heat map heatmap compression squeeze"),
    ask!("cut", "Cut the flesh open", "Shows or hides the tetrahedra behind a plane that can be dragged", Cut)
        .also("section slice clip plane inside tetrahedra cross-section muscle"),
    ask!("voxels", "Voxel domain", "Shows or hides the cells that automatic weights are computed on", Voxels)
        .also("voxels grid cells volume weights bones inside"),
    ask!("fields", "Field", "Shows or hides the composed field of implicit skinning in a plane through the selected joint", Fields)
        .also("fields implicit iso-lines isolines contact parts surface cut section hrbf"),
    Shortcut::new("theme", Group::View, "Light or dark", "Changes between the light and the dark theme", tool_windows!(ToggleTheme))
        .also("night day colour color mode bright")
        .key(CTRL_SHIFT, Key::T)
        .while_typing(),
    Shortcut::new("scale.up", Group::View, "Larger interface", "Makes text and buttons larger", tool_windows!(Larger))
        .also("zoom bigger font text size dpi large")
        .key(CTRL, Key::Plus)
        .key(CTRL, Key::Equals)
        .while_typing(),
    Shortcut::new("scale.down", Group::View, "Smaller interface", "Makes text and buttons smaller", tool_windows!(Smaller))
        .also("zoom font text size dpi small")
        .key(CTRL, Key::Minus)
        .while_typing(),
    Shortcut::new("scale.reset", Group::View, "Interface at 100 %", "Gives text and buttons their usual size", tool_windows!(UsualScale))
        .also("zoom usual normal font text size dpi")
        .key(CTRL, Key::Num0)
        .while_typing(),
    // Window.
    Shortcut::new(
        "scoreboard",
        Group::Window,
        "Scoreboard",
        "Metrics of all shown methods over the time of the clip, with their worst frames",
        For(|| Action::Board(BoardAction::Toggle)),
    )
    .also("plot graph curve metrics scores chart measure compare statistics peak worst")
    .key(CTRL_SHIFT, Key::B)
    .switch(|now| now.board_shown),
    Shortcut::new(
        "worst",
        Group::Window,
        "Worst poses",
        "Searches the poses in which a shown method is worst, and opens them by a click",
        For(|| Action::Worst(WorstAction::Toggle)),
    )
    .also("find search bad pose metric pairs contact sheet failure")
    .needs(Needs::Character)
    .switch(|now| now.worst_shown),
    Shortcut::new(
        "mapping",
        Group::Time,
        "Joint mapping",
        "Which joints of a motion of another skeleton drive the character's joints",
        For(|| Action::ToggleMapping),
    )
    .also("retarget bvh mocap motion capture match bones map skeleton fbx mixamo")
    .needs(Needs::Character)
    .switch(|now| now.mapping_shown),
    Shortcut::new("sheet", Group::Window, "Shortcuts", "Lists what mouse and keyboard do", tool_windows!(ToggleSheet))
        .also("keyboard keys hotkeys help cheat sheet")
        .key(NONE, Key::F1)
        .key(NONE, Key::Questionmark),
    Shortcut::new(
        "palette",
        Group::Window,
        "Find anything…",
        "Finds commands, joints, clips and settings by name",
        tool_windows!(TogglePalette),
    )
    .also("search command find menu")
    .key(CTRL, Key::K)
    .key(CTRL_SHIFT, Key::P)
    .key(NONE, Key::F3)
    .while_typing(),
    Shortcut::new("notices", Group::Window, "Notifications", "Shows what you were told before", tool_windows!(ToggleNotices))
        .also("messages warnings errors bell history")
        .key(CTRL_SHIFT, Key::N)
        .while_typing(),
    Shortcut::new("log", Group::Window, "Log", "Shows what the program noted down, for reports of faults", tool_windows!(ToggleLog))
        .also("debug report console details")
        .key(CTRL_SHIFT, Key::L)
        .while_typing(),
    Shortcut::new("first-steps", Group::Window, "First steps", "Three things to try on the living mannequin", tool_windows!(ToggleFirstSteps))
        .also("tutorial help intro welcome getting started learn"),
    Shortcut::new("about", Group::Window, "About Sinew", "Version, graphics device and licence", tool_windows!(ToggleAbout))
        .also("version licence license graphics gpu help"),
    // Keys that views and widgets read themselves.
    Shortcut::new("focus.next", Group::Window, "Walk through the widgets", "Moves the focus back; Tab then moves it on, until a click or Esc", Elsewhere)
        .also("tab focus keyboard next previous accessibility")
        .key(Modifiers::SHIFT, Key::Tab),
];

const fn look(id: &'static str, title: &'static str, action: fn() -> Action) -> Shortcut {
    Shortcut::new(
        id,
        Group::View,
        title,
        "Looks at the whole character from there",
        For(action),
    )
    .needs(Needs::Character)
}
