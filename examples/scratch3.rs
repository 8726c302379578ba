use sinew::{dynamics::*, math::*, progress::Progress, skin::*};
use std::sync::Arc;
fn main() {
    for name in ["mannequin", "gecko"] {
        let subject = Arc::new(Subject::build(Arc::new(sinew::io::builtin::load_builtin(name).unwrap()), &Progress::new()).unwrap());
        let sk = &subject.character.skeleton;
        let rest = sk.world_from_joint(&sk.rest_pose());
        for preset in Preset::ALL {
            let mut actor = Actor::bind(&subject, Method::Pd, &preset.params(), &Progress::new()).unwrap();
            actor.advance(&Frame { world_from_joint: &rest, dt_secs: 1.0 / 60.0 }).unwrap();
            let start = actor.positions().to_vec();
            let mut line = String::new();
            for f in 1..=40 {
                let shift = 0.15 * (f as f64 / 9.0).min(1.0);
                let t: Affine = nalgebra::convert(nalgebra::Translation3::new(0.0, shift, 0.0));
                let w: Vec<Affine> = rest.iter().map(|r| t * r).collect();
                actor.advance(&Frame { world_from_joint: &w, dt_secs: 1.0 / 60.0 }).unwrap();
                let worst = actor
                    .positions()
                    .iter()
                    .zip(&start)
                    .map(|(a, b)| (a - b).y - shift as f32)
                    .fold((0f32, 0f32), |m, d| (m.0.min(d), m.1.max(d)));
                if f >= 7 && f % 2 == 1 {
                    line += &format!(" {:.1}/{:.1}", worst.0 * 1e3, worst.1 * 1e3);
                }
            }
            println!("{name} {:?} mm low/high from frame 7:{line}", preset);
        }
    }
}
