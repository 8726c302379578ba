use sinew::{dynamics::*, progress::Progress, rig::*, skin::*};
use std::sync::Arc;
fn main() {
    let path = std::env::args().nth(1).unwrap();
    let c = if path.starts_with("builtin:") {
        sinew::io::builtin::load_builtin(&path[8..]).unwrap()
    } else {
        sinew::io::load(&[path.into()], &Progress::new()).unwrap()
    };
    let subject = Arc::new(Subject::build(Arc::new(c), &Progress::new()).unwrap());
    let sk = &subject.character.skeleton;
    let mut actor = Actor::bind(&subject, Method::Pd, &Params::default(), &Progress::new()).unwrap();
    let rest = sk.world_from_joint(&sk.rest_pose());
    let t = std::time::Instant::now();
    actor.advance(&Frame { world_from_joint: &rest, dt_secs: 0.0 }).unwrap();
    println!("settle rest {:?} {:?}", t.elapsed(), actor.times());
    for _ in 0..3 {
        actor.advance(&Frame { world_from_joint: &rest, dt_secs: 1.0 / 60.0 }).unwrap();
        println!("{:?}", actor.times());
    }
    let mut pose = sk.rest_pose();
    for (j, l) in pose.locals.iter_mut().enumerate() {
        if sk.joints()[j].deforms {
            l.rotation = sinew::math::Quat::from_euler_angles(
                0.3 * (j as f64).sin(),
                0.2 * ((j as f64) * 1.7).cos(),
                0.3 * ((j as f64) * 2.3).sin(),
            ) * l.rotation;
        }
    }
    let w = sk.world_from_joint(&pose);
    for _ in 0..3 {
        actor.advance(&Frame { world_from_joint: &w, dt_secs: 1.0 / 60.0 }).unwrap();
        println!("{:?}", actor.times());
    }
    let cpu = || {
        let s = std::fs::read_to_string("/proc/self/stat").unwrap();
        let f: Vec<&str> = s.split_whitespace().collect();
        (f[13].parse::<f64>().unwrap() + f[14].parse::<f64>().unwrap()) * 10.0
    };
    for (name, a) in [("rest", &rest), ("pose", &w)] {
        actor.advance(&Frame { world_from_joint: a, dt_secs: 0.0 }).unwrap();
        let c = cpu();
        for _ in 0..100 {
            actor.advance(&Frame { world_from_joint: a, dt_secs: 1.0 / 60.0 }).unwrap();
        }
        println!("{name}: cpu ms a step {} mends {}", (cpu() - c) / 100.0, 0);
    }
    let t = std::time::Instant::now();
    actor.advance(&Frame { world_from_joint: &w, dt_secs: 0.0 }).unwrap();
    println!("settle pose {:?} {:?}", t.elapsed(), actor.times());
}
