//! What is true of every encoding of a kind: width, order, alphabet. Schemas and plans decide by these.

use super::{hex, time};
use crate::schema::{FieldKind, IsoForm};

impl FieldKind {
    /// The type, as a schema names it.
    pub fn name(&self) -> &'static str {
        match self {
            FieldKind::String => "string",
            FieldKind::Uint { .. } | FieldKind::UintReversed { .. } => "uint",
            FieldKind::Int { .. } => "int",
            FieldKind::Hex { .. } => "hex",
            FieldKind::EpochDigits { .. } | FieldKind::Iso { .. } | FieldKind::BeTime { .. } => "timestamp",
            FieldKind::Domain { .. } => "domain",
            FieldKind::UuidText | FieldKind::UuidBytes => "uuid",
            FieldKind::BeUint { bytes: 1 } => "u8",
            FieldKind::BeUint { bytes: 2 } => "u16",
            FieldKind::BeUint { bytes: 4 } => "u32",
            FieldKind::BeUint { .. } => "u64",
            FieldKind::BeInt { bytes: 1 } => "i8",
            FieldKind::BeInt { bytes: 2 } => "i16",
            FieldKind::BeInt { bytes: 4 } => "i32",
            FieldKind::BeInt { .. } => "i64",
            FieldKind::BeFloat => "f64",
            FieldKind::EscapedBytes => "bytes",
            FieldKind::EscapedText => "text",
            FieldKind::Fixed { .. } => "fixed",
        }
    }

    /// The width in bytes, if every value has the same.
    pub fn fixed_width(&self) -> Option<usize> {
        match *self {
            FieldKind::Uint { digits }
            | FieldKind::UintReversed { digits }
            | FieldKind::EpochDigits { digits, .. } => Some(usize::from(digits)),
            FieldKind::Int { digits } => Some(usize::from(digits) + 1),
            FieldKind::Hex { digits } => Some(usize::from(digits)),
            FieldKind::Iso { form, unit } => Some(time::iso_width(form, unit)),
            FieldKind::UuidText => Some(hex::UUID_TEXT_BYTES),
            FieldKind::BeUint { bytes } | FieldKind::BeInt { bytes } => Some(usize::from(bytes)),
            FieldKind::BeFloat | FieldKind::BeTime { .. } => Some(8),
            FieldKind::Fixed { bytes } => Some(usize::from(bytes)),
            FieldKind::UuidBytes => Some(16),
            FieldKind::String
            | FieldKind::Domain { .. }
            | FieldKind::EscapedBytes
            | FieldKind::EscapedText => None,
        }
    }

    /// Whether it is of variable width and ends by itself: `bytes` and `text`.
    pub fn is_self_delimiting(&self) -> bool {
        matches!(self, FieldKind::EscapedBytes | FieldKind::EscapedText)
    }

    /// Whether it is of variable width and ends at the literal that follows it, or with the key: `string` and `domain`.
    pub fn needs_delimiter(&self) -> bool {
        matches!(self, FieldKind::String | FieldKind::Domain { .. })
    }

    /// Whether the order of the bytes is that of the values. Only reversed digits have none: equality only. The order of a domain is
    /// that of its reversed labels.
    pub fn is_ordered(&self) -> bool {
        !matches!(self, FieldKind::UintReversed { .. })
    }

    /// Whether it can have `order = "desc"`.
    pub fn can_descend(&self) -> bool {
        match self {
            FieldKind::Uint { .. }
            | FieldKind::Int { .. }
            | FieldKind::EpochDigits { .. }
            | FieldKind::BeUint { .. }
            | FieldKind::BeInt { .. }
            | FieldKind::BeFloat
            | FieldKind::EscapedBytes
            | FieldKind::EscapedText
            | FieldKind::Fixed { .. }
            | FieldKind::BeTime { .. }
            | FieldKind::UuidBytes => true,
            FieldKind::String
            | FieldKind::UintReversed { .. }
            | FieldKind::Hex { .. }
            | FieldKind::Iso { .. }
            | FieldKind::Domain { .. }
            | FieldKind::UuidText => false,
        }
    }

    /// Whether its values are integers, or times as a count of units: what `modulo` can divide.
    pub(crate) fn is_integer(&self) -> bool {
        matches!(
            self,
            FieldKind::Uint { .. }
                | FieldKind::UintReversed { .. }
                | FieldKind::Int { .. }
                | FieldKind::BeUint { .. }
                | FieldKind::BeInt { .. }
                | FieldKind::EpochDigits { .. }
                | FieldKind::BeTime { .. }
        )
    }

    /// Whether every encoding is printable as it is stored, given printable values.
    pub fn is_text(&self) -> bool {
        match self {
            FieldKind::String
            | FieldKind::Uint { .. }
            | FieldKind::UintReversed { .. }
            | FieldKind::Int { .. }
            | FieldKind::Hex { .. }
            | FieldKind::EpochDigits { .. }
            | FieldKind::Iso { .. }
            | FieldKind::UuidText => true,
            FieldKind::Domain { separator } => *separator != 0,
            FieldKind::BeUint { .. }
            | FieldKind::BeInt { .. }
            | FieldKind::BeFloat
            | FieldKind::EscapedBytes
            | FieldKind::EscapedText
            | FieldKind::Fixed { .. }
            | FieldKind::BeTime { .. }
            | FieldKind::UuidBytes => false,
        }
    }

    /// The smallest byte that can stand anywhere in an encoding, in either order.
    pub fn min_byte(&self) -> u8 {
        match self {
            FieldKind::Uint { .. }
            | FieldKind::UintReversed { .. }
            | FieldKind::Int { .. }
            | FieldKind::Hex { .. }
            | FieldKind::EpochDigits { .. } => b'0',
            FieldKind::Iso { form, unit } => match (form, unit) {
                (IsoForm::Extended | IsoForm::DateExtended, _) => b'-',
                (IsoForm::Basic, unit) if unit.decimals() > 0 => b'.',
                _ => b'0',
            },
            FieldKind::UuidText => b'-',
            _ => 0,
        }
    }

    /// The greatest byte that can stand anywhere in an encoding, in either order.
    pub fn max_byte(&self) -> u8 {
        match self {
            FieldKind::Uint { .. }
            | FieldKind::UintReversed { .. }
            | FieldKind::Int { .. }
            | FieldKind::EpochDigits { .. }
            | FieldKind::Iso { form: IsoForm::DateBasic | IsoForm::DateExtended, .. } => b'9',
            FieldKind::Hex { .. } | FieldKind::UuidText => b'f',
            FieldKind::Iso { form: IsoForm::Basic | IsoForm::Extended, .. } => b'Z',
            // The greatest first byte of UTF-8.
            FieldKind::String | FieldKind::Domain { .. } => 0xf4,
            _ => 0xff,
        }
    }
}
