//! The window's icon: a bent limb, drawn by code.

/// Side of the icon, pixels.
pub const SIZE: u32 = 64;

/// The icon, straight alpha.
#[must_use]
pub fn rgba() -> Vec<u8> {
    let mut pixels = Vec::with_capacity((SIZE * SIZE * 4) as usize);
    for y in 0..SIZE {
        for x in 0..SIZE {
            pixels.extend(pixel(x as f32 + 0.5, y as f32 + 0.5));
        }
    }
    pixels
}

/// Shoulder, elbow and wrist, with the radius of the flesh there.
const LIMB: [(f32, f32, f32); 3] = [(14.0, 14.0, 11.0), (26.0, 46.0, 9.0), (52.0, 40.0, 6.5)];

fn pixel(x: f32, y: f32) -> [u8; 4] {
    let distance = |from: (f32, f32, f32), to: (f32, f32, f32), scale: f32| {
        let (dx, dy) = (to.0 - from.0, to.1 - from.1);
        let t = (((x - from.0) * dx + (y - from.1) * dy) / (dx * dx + dy * dy)).clamp(0.0, 1.0);
        let (px, py) = (from.0 + t * dx, from.1 + t * dy);
        ((x - px).powi(2) + (y - py).powi(2)).sqrt() - (from.2 + t * (to.2 - from.2)) * scale
    };
    let limb =
        |scale: f32| distance(LIMB[0], LIMB[1], scale).min(distance(LIMB[1], LIMB[2], scale));
    let flesh = (0.5 - limb(1.0)).clamp(0.0, 1.0);
    let bone = (0.5 - limb(0.22)).clamp(0.0, 1.0);
    let mix = |a: f32, b: f32| (a + (b - a) * bone) as u8;
    [
        mix(224.0, 250.0),
        mix(140.0, 240.0),
        mix(96.0, 222.0),
        (flesh * 255.0) as u8,
    ]
}

#[cfg(test)]
mod tests {
    #[test]
    fn the_icon_has_flesh_in_the_middle_and_nothing_in_the_corners() {
        let pixels = super::rgba();
        assert_eq!(pixels.len(), 64 * 64 * 4);
        assert_eq!(pixels[(63 * 64 + 63) * 4 + 3], 0);
        assert_eq!(pixels[(40 * 64 + 26) * 4 + 3], 255);
    }
}
