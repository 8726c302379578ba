use sinew::{dynamics::*, progress::Progress, skin::*};
use std::io::Write;
use std::sync::Arc;
fn main() {
    let mut a = std::env::args().skip(1);
    let path = a.next().unwrap();
    let c = if path.starts_with("builtin:") {
        sinew::io::builtin::load_builtin(&path[8..]).unwrap()
    } else {
        sinew::io::load(&[path.into()], &Progress::new()).unwrap()
    };
    let subject = Arc::new(Subject::build(Arc::new(c), &Progress::new()).unwrap());
    let sk = &subject.character.skeleton;
    let mut pose = sk.rest_pose();
    for r in a {
        let (j, v) = r.split_once('=').unwrap();
        let v: Vec<f64> = v.split(',').map(|x| x.parse::<f64>().unwrap().to_radians()).collect();
        let j = sk.find(j).unwrap();
        pose.rotate_about_world_axes(sk, j, &sinew::math::Quat::from_euler_angles(v[0], v[1], v[2]));
    }
    let w = sk.world_from_joint(&pose);
    let mut actor = Actor::bind(&subject, Method::Pd, &Params::default(), &Progress::new()).unwrap();
    actor.advance(&Frame { world_from_joint: &w, dt_secs: 0.0 }).unwrap();
    let sim = actor.projective().unwrap().simulation();
    for (name, pts) in [("/tmp/r/base.obj", sim.base()), ("/tmp/r/skin.obj", sim.positions())] {
        let mut f = std::io::BufWriter::new(std::fs::File::create(name).unwrap());
        for p in pts {
            writeln!(f, "v {} {} {}", p.x, p.y, p.z).unwrap();
        }
        for t in &subject.sim.mesh.triangles {
            writeln!(f, "f {} {} {}", t[0] + 1, t[1] + 1, t[2] + 1).unwrap();
        }
    }
    let fl = subject.tissue.as_ref().unwrap();
    let g = &fl.tissue.graph;
    let bi = sk.bind_transforms();
    let mut rows = vec![];
    for v in 0..sim.base().len() {
        let b = fl.tissue.foot_bones[v] as usize;
        if sk.joints()[g.bones[b].joint].name != "upper_arm.R" {
            continue;
        }
        let [p, q] = g.segment(b);
        let ax = (q - p).normalize();
        let along = (fl.tissue.base[v] - p).dot(&ax) / (q - p).norm();
        let j = g.bones[b].joint;
        let t = w[j] * bi[j].try_inverse().unwrap();
        let rigid = t * fl.tissue.base[v];
        rows.push((
            along,
            (rigid.cast::<f32>() - sim.base()[v]).norm(),
            v,
            (fl.tissue.base[v] - p - ax * (fl.tissue.base[v] - p).dot(&ax)).norm(),
        ));
    }
    rows.sort_by(|a, b| a.0.total_cmp(&b.0));
    for r in rows.iter().step_by(8) {
        println!("along {:.3} off rigid {:.4} v{} radius {:.4}", r.0, r.1, r.2, r.3);
    }
    for (i, b) in fl.tissue.graph.bones.iter().enumerate() {
        let n: Vec<_> =
            b.nodes.iter().map(|&n| format!("{:.3} r{:.4}", fl.tissue.graph.nodes[n].position, fl.tissue.graph.nodes[n].radius)).collect();
        println!(
            "{i} {} r {:.4} len {:.3} {:?} verts {}",
            sk.joints()[b.joint].name,
            b.radius,
            fl.tissue.graph.length(i),
            n,
            fl.tissue.foot_bones.iter().filter(|&&f| f as usize == i).count()
        );
    }
}
fn _unused() {}
