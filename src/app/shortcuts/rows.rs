//! Short forms for rows of the table with the same kind of action. Names in them are those of the table.

/// An action on the project.
macro_rules! project {
    ($id:literal, $title:literal, $sentence:literal, $action:ident) => {
        Shortcut::new(
            $id,
            Group::File,
            $title,
            $sentence,
            For(|| Action::Project(ProjectAction::$action)),
        )
    };
}

/// An action on the window.
macro_rules! tool_windows {
    ($action:ident) => {
        For(|| Action::ToolWindows(ToolWindowAction::$action))
    };
}

/// A capture action.
macro_rules! capture {
    ($action:ident) => {
        For(|| Action::Capture(CaptureAction::$action))
    };
}

/// An action on the timeline.
macro_rules! timeline {
    ($id:literal, $title:literal, $sentence:literal, $action:ident) => {
        Shortcut::new(
            $id,
            Group::Time,
            $title,
            $sentence,
            For(|| Action::Timeline(TimelineAction::$action)),
        )
        .needs(Needs::Character)
    };
}

/// An action on the camera.
macro_rules! camera {
    ($id:literal, $title:literal, $sentence:literal, $action:ident) => {
        Shortcut::new(
            $id,
            Group::View,
            $title,
            $sentence,
            For(|| Action::Camera(CameraAction::$action)),
        )
        .needs(Needs::Character)
    };
}

/// An arrangement of the views.
macro_rules! layout {
    ($id:literal, $title:literal, $sentence:literal, $preset:ident) => {
        Shortcut::new(
            $id,
            Group::View,
            $title,
            $sentence,
            For(|| Action::Layout(LayoutAction::Arrange(LayoutPreset::$preset))),
        )
        .needs(Needs::Character)
    };
}

/// A request to the active view.
macro_rules! ask {
    ($id:literal, $title:literal, $sentence:literal, $($ask:tt)+) => {
        Shortcut::new($id, Group::View, $title, $sentence, For(|| Action::View(ViewRequest::$($ask)+))).needs(Needs::Character)
    };
}

/// A tool of edit mode.
macro_rules! mode {
    ($mode:ident) => {
        For(|| once(Command::Rig(RigCommand::SetMode(Mode::$mode))))
    };
}

/// A skeleton template.
macro_rules! template {
    ($id:literal, $title:literal, $sentence:literal, $kind:ident) => {
        Shortcut::new(
            $id,
            Group::Skeleton,
            $title,
            $sentence,
            For(|| Action::Edit(EditAction::StartFitting(TemplateKind::$kind))),
        )
        .needs(Needs::Character)
    };
}

/// A request to the pose tools.
macro_rules! posing {
    ($id:literal, $title:literal, $sentence:literal, $ask:expr) => {
        Shortcut::new(
            $id,
            Group::Pose,
            $title,
            $sentence,
            For(|| Action::Posing($ask)),
        )
        .needs(Needs::Character)
        .mode(ActiveMode::Posing)
    };
}
