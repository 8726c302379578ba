//! Input while the mesh is analysed.

use super::*;

/// One view without a workbench; the test sets when the mesh is analysed.
struct EditTest {
    session: Session,
    tool: EditTool,
    viewport: Viewport,
    looked_at: bool,
}

impl EditTest {
    fn ui(&mut self, ui: &mut Ui) {
        let rect = ui.max_rect();
        let response = ui.interact(
            rect,
            egui::Id::unique("view"),
            egui::Sense::click_and_drag(),
        );
        self.viewport.follow_subject(rect, self.session.subject());
        let mut actions = Actions::default();
        if let Some(mut view) = EditView::of(&self.session) {
            view.placer = view.placer.filter(|_| self.looked_at);
            self.tool
                .interact(ui, &response, &mut self.viewport, &view, &mut actions);
        }
        for action in actions.take() {
            if let Action::Session(command, gesture) = action {
                self.session.apply(command, gesture);
            }
        }
    }
}

#[test]
fn clicks_during_mesh_analysis_are_applied_afterwards() {
    let (mut session, file) = unrigged_session("early");
    session.apply_once(Command::Rig(RigCommand::SetMode(Mode::Edit)));
    let start = Instant::now();
    while session.rigging().placer().is_none() {
        assert!(
            start.elapsed() < Duration::from_secs(30),
            "the mesh is being analysed"
        );
        session.tick(1.0 / 60.0);
        std::thread::sleep(Duration::from_millis(5));
    }
    std::fs::remove_file(&file).expect("clean up");
    let bench = EditTest {
        session,
        tool: EditTool::default(),
        viewport: Viewport::default(),
        looked_at: false,
    };
    let mut window = Harness::builder()
        .with_size(vec2(800.0, 600.0))
        .build_ui_state(|ui, bench: &mut EditTest| bench.ui(ui), bench);
    window.run_steps(2);
    let at = |window: &Harness<'_, EditTest>, y: f64| {
        window
            .state()
            .viewport
            .map()
            .and_then(|map| map.project(&Point64::new(0.0, y, 0.0)))
            .expect("in sight")
    };
    for height in [0.4, 1.2] {
        let place = at(&window, height);
        window.event(Event::PointerMoved(place));
        window.run_steps(1);
        window.event(button(place, true, Modifiers::NONE));
        window.run_steps(1);
        window.event(button(place, false, Modifiers::NONE));
        window.run_steps(1);
    }
    let joints = |window: &Harness<'_, EditTest>| {
        window
            .state()
            .session
            .rigging()
            .rig()
            .map_or(0, |rig| rig.len())
    };
    assert_eq!((joints(&window), window.state().tool.waiting()), (0, 2));
    window.state_mut().looked_at = true;
    window.run_steps(3);
    let rig = window
        .state()
        .session
        .rigging()
        .rig()
        .expect("open")
        .clone();
    assert_eq!(
        (
            rig.len(),
            rig.joints()[1].parent,
            window.state().tool.waiting()
        ),
        (2, Some(0), 0)
    );
    for (joint, height) in rig.joints().iter().zip([0.4, 1.2]) {
        assert!(
            (joint.position - Point64::new(0.0, height, 0.0)).norm() < 0.08,
            "{}",
            joint.position
        );
    }
}
