//! The filters, appendix B: each decodes one element in place.

/// A direction from two octahedral coordinates; the third number is the value that represents 1.
fn direction([x, y, one]: [f32; 3], largest: f32) -> [f32; 3] {
    let z = one - x.abs() - y.abs();
    let fold = z.min(0.0);
    let x = if x >= 0.0 { x + fold } else { x - fold };
    let y = if y >= 0.0 { y + fold } else { y - fold };
    let length = (x * x + y * y + z * z).sqrt();
    [x, y, z].map(|c| {
        if length > 0.0 {
            (c * (largest / length)).round()
        } else {
            0.0
        }
    })
}

pub(super) fn octahedral_bytes(element: &mut [u8; 4]) {
    let [x, y, one, _] = element.map(|b| f32::from(b.cast_signed()));
    let unit = direction([x, y, one], 127.0);
    for (byte, c) in element.iter_mut().zip(unit) {
        *byte = (c as i8).cast_unsigned();
    }
}

fn shorts(element: [u8; 8]) -> [i16; 4] {
    std::array::from_fn(|i| i16::from_le_bytes([element[2 * i], element[2 * i + 1]]))
}

fn set_short(element: &mut [u8; 8], at: usize, value: f32) {
    element[2 * at..2 * at + 2].copy_from_slice(&(value as i16).to_le_bytes());
}

pub(super) fn octahedral_shorts(element: &mut [u8; 8]) {
    let [x, y, one, _] = shorts(*element).map(f32::from);
    let unit = direction([x, y, one], 32767.0);
    unit.iter()
        .enumerate()
        .for_each(|(i, c)| set_short(element, i, *c));
}

/// A quaternion from its three smaller components; the fourth number holds the index of the omitted
/// one (two lowest bits) and the value that represents 1.
pub(super) fn quaternion(element: &mut [u8; 8]) {
    let [x, y, z, w] = shorts(*element);
    let scale = std::f32::consts::FRAC_1_SQRT_2 / f32::from(w | 3);
    let three = [x, y, z].map(|c| f32::from(c) * scale);
    let largest = (1.0 - three.iter().map(|c| c * c).sum::<f32>())
        .max(0.0)
        .sqrt();
    let missing = (w & 3) as usize;
    set_short(element, missing, (largest * 32767.0).round());
    for (i, c) in three.iter().enumerate() {
        set_short(element, (missing + 1 + i) & 3, (c * 32767.0).round());
    }
}

/// 24 bits of mantissa and 8 of exponent → `f32`.
pub(super) fn exponential(element: &mut [u8; 4]) {
    let v = i32::from_le_bytes(*element);
    let (exponent, mantissa) = (v >> 24, (v << 8) >> 8);
    *element = (mantissa as f32 * 2.0_f32.powi(exponent)).to_le_bytes();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_unfold() {
        let mut element = [127_u8, 73, 127, 0];
        octahedral_bytes(&mut element);
        assert_eq!(element.map(u8::cast_signed), [76, 0, -102, 0]);
        let mut element = [0; 8];
        [-289.0, -2026.0, -289.0, 2045.0]
            .iter()
            .enumerate()
            .for_each(|(i, c)| set_short(&mut element, i, *c));
        quaternion(&mut element);
        for (found, expected) in shorts(element)
            .into_iter()
            .zip([-3271, 22943, -3271, -22932])
        {
            assert!(
                (found - expected).abs() <= 1,
                "{found} should be {expected}"
            );
        }
        let mut element = (0xFE00_0003_u32).to_le_bytes();
        exponential(&mut element);
        assert_eq!(f32::from_le_bytes(element), 0.75);
    }
}
