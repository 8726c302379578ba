//! Numbers as binary files store them, and tables of different values.

use std::collections::HashMap;

use super::super::layer::{Scalar, Shape};
use super::Kind;

/// Different values with their numbers.
pub(super) struct Table<T> {
    pub(super) list: Vec<T>,
    numbers: HashMap<T, u32>,
}

impl<T: Clone + Eq + std::hash::Hash> Table<T> {
    pub(super) fn new() -> Self {
        Self {
            list: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    pub(super) fn number(&mut self, value: T) -> u32 {
        if let Some(&number) = self.numbers.get(&value) {
            return number;
        }
        let number = self.list.len() as u32;
        self.list.push(value.clone());
        self.numbers.insert(value, number);
        number
    }
}

/// A number of things as it is stored; files of so many have other limits before.
pub(super) fn signed(count: usize) -> i32 {
    i32::try_from(count).unwrap_or(i32::MAX)
}

pub(super) fn kind_of(shape: Shape, name: &str) -> Kind {
    match (shape.scalar, shape.width) {
        (Scalar::Bool, _) => Kind::Bool,
        (Scalar::Int, _) => Kind::Int,
        (Scalar::Half, _) => Kind::Vec3h,
        (Scalar::Token, _) => Kind::Token,
        (Scalar::String, _) => Kind::String,
        (Scalar::Asset, _) => Kind::AssetPath,
        (Scalar::Double, 16) => Kind::Matrix4d,
        (Scalar::Double, _) => Kind::Double,
        (Scalar::Float, 2) => Kind::Vec2f,
        (Scalar::Float, 3) => Kind::Vec3f,
        (Scalar::Float, 4) if name.starts_with("quatf") => Kind::Quatf,
        (Scalar::Float, 4) => Kind::Vec4f,
        (Scalar::Float, _) => Kind::Float,
    }
}

/// Rounds to half precision.
pub(super) fn half_of(value: f32) -> u16 {
    let bits = value.to_bits();
    let sign = ((bits >> 16) & 0x8000) as u16;
    let size = value.abs();
    // Beyond the largest half.
    if size.is_nan() {
        return sign | 0x7E00;
    }
    if size >= 65_520.0 {
        return sign | 0x7C00;
    }
    if size < 6.103_515_6e-5 {
        // Subnormal: multiples of 2⁻²⁴.
        return sign | (size * 16_777_216.0).round_ties_even() as u16;
    }
    let rounded = (size.to_bits() + 0x0FFF + ((size.to_bits() >> 13) & 1)) >> 13;
    sign | (rounded - (112 << 10)) as u16
}
