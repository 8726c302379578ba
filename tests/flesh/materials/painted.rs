//! Materials painted onto the skin: rest stays at rest, and paint acts where it is.

use sinew::character::{Character, FleshPaint, PaintMap, SimVertices};
use sinew::rig::Clip;

use super::*;

/// The arm, painted with `value` at every vertex that `is_painted`, by its bind position.
fn painted(map: PaintMap, value: f32, is_painted: impl Fn(&Point) -> bool) -> Arc<Subject> {
    paint(character("arm"), map, value, is_painted)
}

fn paint(
    mut character: Character,
    map: PaintMap,
    value: f32,
    is_painted: impl Fn(&Point) -> bool,
) -> Arc<Subject> {
    let code = map.code(value);
    let positions = character.bind_positions();
    let codes = positions
        .iter()
        .map(|p| if is_painted(p) { code } else { 0 });
    character.flesh.paint.set(map, codes.collect());
    assert!(character.flesh.paint.codes(map).is_some());
    build(character)
}

/// Positions after the arm has hung in its bind pose with weight until it is still.
fn hanging(subject: &Arc<Subject>, method: MethodId) -> Vec<Point> {
    let params = heavy(calm(Preset::Soft));
    let mut actor = Actor::bind(subject, method, &params, &Progress::new()).expect("binds");
    let world = subject.character.skeleton.bind_transforms();
    // A first frame without time is the equilibrium.
    advance(&mut actor, &world, 0.0);
    actor.positions().to_vec()
}

fn sags(subject: &Arc<Subject>, method: MethodId) -> Vec<f32> {
    let hanging = hanging(subject, method);
    let rest = subject.bind_positions.iter();
    rest.zip(&hanging).map(|(a, b)| (a - b).norm()).collect()
}

#[test]
fn a_painted_character_rests_in_its_bind_pose() {
    for method in [MethodId::PD, MethodId::XPBD] {
        for (map, value) in [
            (PaintMap::Stiffness, 9.0),
            (PaintMap::Stiffness, 0.1),
            (PaintMap::Held, 0.7),
            (PaintMap::Thickness, 0.3),
        ] {
            let subject = painted(map, value, |p| p.x > 0.1);
            let params = Params {
                gravity_m_s2: [0.0; 3],
                ..calm(Preset::Soft)
            };
            let mut actor =
                Actor::bind(&subject, method, &params, &Progress::new()).expect("binds");
            let world = subject.character.skeleton.bind_transforms();
            for _ in 0..20 {
                advance(&mut actor, &world, 1.0 / 30.0);
            }
            let moved = worst(actor.positions(), &subject.bind_positions) / subject.size;
            assert!(moved < 2e-6, "{} {value}: {moved}", map.id());
        }
    }
}

#[test]
fn no_paint_changes_nothing_bit_for_bit() {
    let plain = hanging(&build(character("arm")), MethodId::PD);
    let none = painted(PaintMap::Held, 1.0, |_| true);
    let mut actor = actor(&none, &heavy(calm(Preset::Soft)));
    let mut factors = none.settings.factors();
    factors.paint = FleshPaint::default();
    actor.set_factors(&factors).expect("factors");
    actor.reset();
    advance(&mut actor, &none.character.skeleton.bind_transforms(), 0.0);
    assert_eq!(
        actor.positions(),
        plain,
        "and paint that was taken away leaves nothing"
    );
}

#[test]
fn flesh_sags_less_the_stiffer_and_the_more_it_is_held() {
    let middle = |p: &Point| p.x > 0.0;
    for method in [MethodId::PD, MethodId::XPBD] {
        let of = |map, value| {
            let mut arm = character("arm");
            arm.flesh.sim_vertices = SimVertices::About(600);
            let subject = paint(arm, map, value, middle);
            let sags = sags(&subject, method);
            let here = subject.bind_positions.iter().zip(&sags);
            let here = here.filter(|(p, _)| middle(p)).map(|(_, sag)| *sag);
            here.sum::<f32>()
        };
        let free = of(PaintMap::Held, 1e-3);
        assert!(free > 0.0);
        let parts = [
            of(PaintMap::Held, 0.5) / free,
            of(PaintMap::Held, 0.9) / free,
            of(PaintMap::Held, 1.0) / free,
            of(PaintMap::Stiffness, 4.0) / free,
            of(PaintMap::Stiffness, 0.25) / free,
        ];
        println!("{}: {parts:?}", method.id());
        let [half, most, all, stiff, soft] = parts;
        // The part 1 − h, and the inverse of the stiffness.
        assert!((0.4..0.6).contains(&half), "{half}");
        assert!((0.05..0.15).contains(&most), "{most}");
        // Without a guide flesh is held by 20 times its stiffness at most.
        assert!(
            all < if method == MethodId::PD { 0.005 } else { 0.1 },
            "{all}"
        );
        assert!(
            (0.2..0.35).contains(&stiff) && (3.0..5.0).contains(&soft),
            "{stiff} {soft}"
        );
    }
}

#[test]
fn paint_acts_where_it_is() {
    let subject = painted(PaintMap::Stiffness, 0.25, |p| p.x > 0.3);
    let (soft, plain) = (
        sags(&subject, MethodId::PD),
        sags(&build(character("arm")), MethodId::PD),
    );
    let ratio = |is_here: fn(&Point) -> bool| {
        let sum = |sags: &[f32]| {
            let here = subject.bind_positions.iter().zip(sags);
            let here = here.filter(|(p, _)| is_here(p));
            here.map(|(_, sag)| *sag).sum::<f32>()
        };
        sum(&soft) / sum(&plain)
    };
    let (far, near) = (ratio(|p| p.x < 0.2), ratio(|p| p.x > 0.35));
    println!("far {far}, near {near}");
    assert!((0.9..1.1).contains(&far), "{far}");
    assert!(near > 2.0, "{near}");
}

/// Sum of squares of how far the flesh lags behind its equilibrium in each pose, over a second of a clip.
fn swing(subject: &Arc<Subject>) -> f32 {
    let character = &subject.character;
    let clip: &Clip = &character.clips[0];
    let params = calm(Preset::Jelly);
    let (mut moving, mut still) = (actor(subject, &params), actor(subject, &params));
    let mut sum = 0.0;
    for frame in 0..24 {
        let pose = clip.sample(&character.skeleton, f64::from(frame) / 24.0);
        let world = character.skeleton.world_from_joint(&pose);
        advance(&mut moving, &world, 1.0 / 24.0);
        still.reset();
        advance(&mut still, &world, 0.0);
        let apart = moving.positions().iter().zip(still.positions());
        sum += apart.map(|(a, b)| (a - b).norm_squared()).sum::<f32>();
    }
    sum
}

#[test]
fn held_flesh_swings_less() {
    let free = swing(&build(character("arm")));
    let held = swing(&painted(PaintMap::Held, 1.0, |_| true));
    println!("free {free}, held {held}");
    // Volume is given back gradually in motion, and at once in the equilibrium: that is not swing, and stays.
    assert!(held < 0.6 * free, "{held} {free}");
}

#[test]
fn thin_flesh_is_nearer_to_its_base_where_it_was_painted() {
    let (subject, plain) = (
        painted(PaintMap::Thickness, 0.25, |p| p.x > 0.0),
        build(character("arm")),
    );
    let skin = &subject.sim().mesh.positions;
    assert_eq!(skin, &plain.sim().mesh.positions);
    let bases = |subject: &Subject| flesh(subject).tissue.base.clone();
    let (mut thinned, mut kept) = (0, 0);
    for ((skin, thin), thick) in skin.iter().zip(bases(&subject)).zip(bases(&plain)) {
        let depth = |base: &sinew::math::Point64| (base - skin.cast::<f64>()).norm();
        if skin.x > 0.0 {
            let part = depth(&thin) / depth(&thick);
            assert!((part - 0.25).abs() < 1e-6, "{part}");
            thinned += 1;
        } else {
            assert_eq!(thin, thick);
            kept += 1;
        }
    }
    assert!(thinned > 50 && kept > 50, "{thinned} {kept}");
    let sum = |subject| sum(&sags(subject, MethodId::PD));
    assert!(sum(&subject) < 0.8 * sum(&plain));
}
