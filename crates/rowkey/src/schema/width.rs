//! How many bytes fields and keys take.

use super::{Field, FieldKind, KeySchema, Part, SaltFormat};

/// Bytes from the least to the most that a part or a key can have.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Width {
    /// Bytes at least.
    pub min: usize,
    /// Bytes at most; `None` if only the store's limit ends it.
    pub max: Option<usize>,
}

impl Width {
    fn fixed(bytes: usize) -> Self {
        Self { min: bytes, max: Some(bytes) }
    }

    fn at_least(min: usize) -> Self {
        Self { min, max: None }
    }

    /// The number of bytes, if it is always the same.
    pub fn exact(self) -> Option<usize> {
        self.max.filter(|max| *max == self.min)
    }

    fn plus(self, other: Self) -> Self {
        let max = self.max.zip(other.max).map(|(left, right)| left + right);
        Self { min: self.min + other.min, max }
    }
}

impl Field {
    /// Bytes of the encoded field, its own terminator included, a literal behind it not.
    pub fn width(&self) -> Width {
        if !self.values.is_empty() {
            let escaped = self.kind == FieldKind::EscapedText;
            let width = |value: &String| {
                let zeros = value.bytes().filter(|byte| *byte == 0).count();
                value.len() + if escaped { zeros + 2 } else { 0 }
            };
            let widths = || self.values.iter().map(width);
            return Width { min: widths().min().unwrap_or(0), max: widths().max() };
        }
        let shortest = if self.kind.is_self_delimiting() { 2 } else { 0 };
        self.kind.fixed_width().map_or(Width::at_least(shortest), Width::fixed)
    }
}

impl SaltFormat {
    /// Bytes of the salt.
    pub fn bytes(self) -> usize {
        match self {
            SaltFormat::Digits { width } | SaltFormat::Hex { width } | SaltFormat::Bytes { width } => {
                usize::from(width)
            }
        }
    }
}

impl KeySchema {
    /// Bytes of the salt; 0 without one.
    pub fn salt_bytes(&self) -> usize {
        self.salt.as_ref().map_or(0, |salt| salt.format.bytes())
    }

    /// Bytes of one part of the layout.
    pub fn part_width(&self, part: &Part) -> Width {
        match part {
            Part::Salt => Width::fixed(self.salt_bytes()),
            Part::Literal(bytes) => Width::fixed(bytes.len()),
            Part::Field(index) => self.fields[*index].width(),
        }
    }

    /// Bytes of a whole stored key.
    pub fn key_width(&self) -> Width {
        self.parts.iter().fold(Width::fixed(0), |sum, part| sum.plus(self.part_width(part)))
    }
}
