//! Spaces of keys that can be cut into equal shares without looking at data.

use crate::codec::Codec;
use crate::schema::{FieldKind, Order, Part};
use crate::{Error, Result};

/// A prefix and a uniform space behind it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Space {
    prefix: Vec<u8>,
    shape: Shape,
    pub(super) notes: Vec<String>,
}

#[derive(Debug, Clone, PartialEq, Eq)]
enum Shape {
    /// `count` numbers from `first` on, of so many digits, padded with zeros; hex in lower case.
    Digits { base: u32, width: u32, first: u128, count: u128 },
    /// Big-endian numbers of so many bytes.
    Bytes { width: u32 },
    /// These, in ascending order.
    List(Vec<Vec<u8>>),
}

/// Hex digits that tell points apart; more would only make them longer.
const HEX_DIGITS_MAX: u32 = 16;
/// Bytes that tell points apart.
const BYTES_MAX: u32 = 8;

impl Space {
    /// All numbers of so many digits of base 10 or 16, at most 20.
    pub(super) fn digits(base: u32, width: u32) -> Self {
        let width = if base == 16 { width.min(HEX_DIGITS_MAX) } else { width };
        let count = u128::from(base).pow(width);
        Self { prefix: Vec::new(), shape: Shape::Digits { base, width, first: 0, count }, notes: Vec::new() }
    }

    /// The numbers that a `uint` of so many digits holds: 20 digits go beyond 64 bits, whose numbers end at 1844...
    fn numbers(digits: u8, order: Order) -> Self {
        let mut space = Self::digits(10, digits.into());
        if let Shape::Digits { first, count, .. } = &mut space.shape {
            let all = *count;
            *count = all.min(1 << 64);
            if order == Order::Desc {
                *first = all - *count;
            }
        }
        space
    }

    /// All byte strings of a width.
    pub(super) fn bytes(width: u32) -> Self {
        Self { prefix: Vec::new(), shape: Shape::Bytes { width: width.min(BYTES_MAX) }, notes: Vec::new() }
    }

    /// The key at `share / of` of the space, rounded down. `share` is below `of`, which is at most [`super::REGIONS_MAX`], so that nothing
    /// overflows: 10^20 * 65,536 is below 2^128.
    pub(super) fn at(&self, share: u128, of: u128) -> Vec<u8> {
        let mut key = self.prefix.clone();
        match &self.shape {
            Shape::Digits { base, width, first, count } => {
                let number = first + share * count / of;
                let width = *width as usize;
                let text =
                    if *base == 16 { format!("{number:0width$x}") } else { format!("{number:0width$}") };
                key.extend_from_slice(text.as_bytes());
            }
            Shape::Bytes { width } => {
                let bytes = (share * 256u128.pow(*width) / of).to_be_bytes();
                key.extend_from_slice(&bytes[bytes.len() - *width as usize..]);
            }
            Shape::List(items) => {
                let index = usize::try_from(share * items.len() as u128 / of).unwrap_or(usize::MAX);
                key.extend_from_slice(items.get(index).map_or(&[], Vec::as_slice));
            }
        }
        key
    }
}

/// The space of the first field, with the literals in front of it.
pub(super) fn of_first_field(codec: &Codec) -> Result<Space> {
    let schema = codec.schema();
    let mut prefix = Vec::new();
    for part in &schema.parts {
        match part {
            Part::Salt => {}
            Part::Literal(bytes) => prefix.extend_from_slice(bytes),
            Part::Field(_) => break,
        }
    }
    let field = &schema.fields[0];
    let name = &field.name;
    if !field.values.is_empty() {
        let mut items = Vec::with_capacity(field.values.len());
        for text in &field.values {
            let mut bytes = Vec::new();
            codec.encode_field(0, &codec.parse_value(0, text)?, &mut bytes)?;
            items.push(bytes);
        }
        items.sort();
        let notes = vec![format!("rests on the declared values of `{name}` being equally frequent")];
        return Ok(Space { prefix, shape: Shape::List(items), notes });
    }
    let space = match field.kind {
        FieldKind::Uint { digits } => Space::numbers(digits, field.order),
        FieldKind::UintReversed { digits } => Space::digits(10, digits.into()),
        FieldKind::Hex { digits } => Space::digits(16, digits.into()),
        // The first hyphen comes after eight digits.
        FieldKind::UuidText => Space::digits(16, 8),
        FieldKind::BeUint { bytes } | FieldKind::BeInt { bytes } => Space::bytes(bytes.into()),
        FieldKind::UuidBytes => Space::bytes(BYTES_MAX),
        FieldKind::Fixed { bytes } => Space::bytes(bytes.into()),
        _ => return Err(not_uniform(name, &field.kind)),
    };
    let notes =
        vec![format!("rests on the values of `{name}` being spread evenly over all that it can hold")];
    Ok(Space { prefix, notes, ..space })
}

fn not_uniform(name: &str, kind: &FieldKind) -> Error {
    let why = match kind {
        FieldKind::EpochDigits { .. } | FieldKind::Iso { .. } | FieldKind::BeTime { .. } => {
            "is a time, and writes of one moment go to one region wherever the table is cut"
        }
        _ => "does not say how its values spread",
    };
    Error::query(format!("the first field, `{name}`, {why}: take split points from a sample of keys"))
}
