use super::*;
use crate::collision::{Contact, Release};
use crate::gpu::compute::{fetch, storage_of};
use crate::math::Vec3;

const ROWS: usize = 128;

fn random() -> impl FnMut() -> f32 {
    let mut seed = 11_u64;
    move || {
        seed = seed
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1_442_695_040_888_963_407);
        (seed >> 40) as f32 / (1 << 23) as f32 - 1.0
    }
}

/// Contacts between random rows, and a symmetric diagonally dominant matrix.
struct Case {
    contacts: Vec<Contact>,
    weights: Vec<[f32; 4]>,
    targets: Vec<f32>,
    softness: Vec<f32>,
    matrix: Vec<f32>,
    x: Vec<[f32; 4]>,
    increment: Vec<[f32; 4]>,
}

impl Case {
    fn new(count: usize, random: &mut impl FnMut() -> f32) -> Self {
        let mut vertex =
            |k: usize| ((random() + 1.0) * 0.5 * (ROWS as f32 - 1.0)) as u32 / 4 * 4 + k as u32;
        let corners: Vec<[u32; 4]> = (0..count)
            .map(|_| [vertex(0), vertex(1), vertex(2), vertex(3)])
            .collect();
        let contact = |&[v, a, b, c]: &[u32; 4], normal: Vec3| Contact {
            vertex: v,
            triangle: 0,
            corners: [a, b, c],
            weights: [0.2, 0.3, 0.5],
            normal,
            gap: 0.0,
            edge: 1.0,
            load: 0.0,
            min_gap: 0.0,
            increase: 0.0,
            hold: 1.0,
            release: Release::No,
            old: false,
        };
        let contacts = corners
            .iter()
            .map(|c| contact(c, Vec3::new(random(), random(), random()).normalize()))
            .collect();
        let mut matrix = vec![0.0; count * count];
        for i in 0..count {
            for j in 0..i {
                let value = 0.9 * random() / count as f32;
                (matrix[i * count + j], matrix[j * count + i]) = (value, value);
            }
            matrix[i * count + i] = 1.5 + 0.4 * random();
        }
        let mut points = || {
            (0..ROWS)
                .map(|_| [random(), random(), random(), 0.0])
                .collect()
        };
        let (x, increment) = (points(), points());
        let targets = (0..count).map(|_| random()).collect();
        Self {
            contacts,
            weights: vec![[1.0, -0.2, -0.3, -0.5]; count],
            targets,
            softness: vec![0.1; count],
            matrix,
            x,
            increment,
        }
    }

    fn problem(&self) -> ContactEquations<'_> {
        ContactEquations {
            contacts: &self.contacts,
            weights: &self.weights,
            target_gaps: &self.targets,
            softness: &self.softness,
            matrix: &self.matrix,
            tolerance: 1e-6,
        }
    }

    /// Residual tolerance of the loads.
    fn wanted(&self, rows: &[u32]) -> Vec<f32> {
        let of = |i: usize| {
            let contact = &self.contacts[i];
            let [a, b, c] = contact.corners;
            let mut gap = Vec3::zeros();
            for (v, w) in [contact.vertex, a, b, c].into_iter().zip(self.weights[i]) {
                let row = rows[v as usize] as usize;
                let at = |p: &[f32; 4]| Vec3::new(p[0], p[1], p[2]);
                gap += (at(&self.x[row]) + at(&self.increment[row])) * w;
            }
            self.targets[i] - contact.normal.dot(&gap)
        };
        (0..self.contacts.len()).map(of).collect()
    }
}

/// Loads satisfy complementarity and forces follow from loads, for instances with different numbers of contacts, one with
/// none.
#[test]
fn contact_loads_are_non_negative() {
    let Some(gpu) = crate::gpu::for_tests() else {
        return;
    };
    let mut random = random();
    let cases = [700, 0, 37, 5].map(|count| Case::new(count, &mut random));
    let rows: Vec<u32> = (0..ROWS as u32).rev().collect();
    let mut buffers = ContactKernelBuffers::new(&gpu, ROWS as u32, cases.len());
    for (instance, case) in cases
        .iter()
        .enumerate()
        .filter(|(_, case)| !case.contacts.is_empty())
    {
        assert_eq!(
            buffers.write(&gpu, instance, &case.problem(), &rows),
            instance == 0
        );
    }
    buffers.clear(&gpu, 1);
    let all = |of: fn(&Case) -> &Vec<[f32; 4]>| {
        cases
            .iter()
            .flat_map(|case| of(case).clone())
            .collect::<Vec<_>>()
    };
    let x = storage_of(&gpu, "x", &all(|case| &case.x));
    let increment = storage_of(&gpu, "increment", &all(|case| &case.increment));
    let b = storage::<[f32; 4]>(&gpu, "b", ROWS * cases.len());
    let energies = storage::<f32>(&gpu, "energies", cases.len());
    let dispatch = ContactKernel::new(&gpu).bind(&gpu, &buffers, [&x, &increment, &b, &energies]);
    let mut encoder = gpu
        .device
        .create_command_encoder(&wgpu::CommandEncoderDescriptor::default());
    dispatch.encode(&mut encoder.begin_compute_pass(&wgpu::ComputePassDescriptor::default()));
    gpu.queue.submit([encoder.finish()]);
    let loads: Vec<f32> = fetch(
        &gpu,
        buffers.loads(),
        buffers.contact_stride() * cases.len(),
    )
    .expect("loads");
    let forces: Vec<[f32; 4]> = fetch(&gpu, &b, ROWS * cases.len()).expect("forces");
    for (instance, case) in cases.iter().enumerate() {
        let count = case.contacts.len();
        let loads = &loads[instance * buffers.contact_stride()..][..count];
        let mut expected = vec![Vec3::zeros(); ROWS];
        for (i, wanted) in case.wanted(&rows).into_iter().enumerate() {
            let reached: f32 = case.matrix[i * count..(i + 1) * count]
                .iter()
                .zip(loads)
                .map(|(a, load)| a * load)
                .sum();
            let slack = reached - wanted;
            assert!(
                loads[i] >= 0.0 && slack > -1e-4 && loads[i].min(slack.abs()) < 1e-4,
                "{instance}, {i}: {} {slack}",
                loads[i]
            );
            let contact = &case.contacts[i];
            let [a, b, c] = contact.corners;
            for (v, w) in [contact.vertex, a, b, c].into_iter().zip(case.weights[i]) {
                expected[rows[v as usize] as usize] += contact.normal * (loads[i] * w);
            }
        }
        assert!(count == 0 || loads.iter().any(|&load| load > 0.0) && loads.contains(&0.0));
        for (row, expected) in expected.iter().enumerate() {
            let [x, y, z, _] = forces[instance * ROWS + row];
            assert!(
                (Vec3::new(x, y, z) - expected).norm() < 1e-4,
                "{instance}, row {row}"
            );
        }
    }
}
