//! Aggregates, decided: what a cell of an aggregate family comes to when an input is added. Pure; every engine asks here.
//!
//! ```text
//! state, which is also the value that reads see: | number: i64 BE |      the input and the state have the same type
//! ```
//!
//! An input combines with the live cell of the same column and time; where there is none, or its family's rule hides it at this moment,
//! it begins a new one. So the answer never depends on when garbage was collected.

use crate::{Error, ErrorKind, Result, ValueType};
use bytes::Bytes;

/// Bytes of a state.
pub const STATE_BYTES: usize = 8;

/// The number in a state; `None` if it has not 8 bytes.
pub fn number(state: &[u8]) -> Option<i64> {
    state.try_into().map(i64::from_be_bytes).ok()
}

/// The state of a cell after `input` was added to `before`; `None`: there is no cell yet. A sum wraps at the ends of 64 bits, as the
/// increment of a read-modify-write does.
///
/// # Errors
///
/// `Corrupt` if `before` is no state: no write that was checked leaves such a cell.
pub fn combine(value_type: ValueType, before: Option<&[u8]>, input: i64) -> Result<Bytes> {
    let combined = match before {
        None => input,
        Some(before) => {
            let before = number(before).ok_or_else(|| {
                let message = format!(
                    "a cell of an aggregate family has {} bytes and not {STATE_BYTES}: delete it, or restore the table from a backup",
                    before.len()
                );
                Error::new(ErrorKind::Corrupt, message)
            })?;
            match value_type {
                ValueType::IntSum => before.wrapping_add(input),
                ValueType::IntMin => before.min(input),
                ValueType::IntMax => before.max(input),
                // Refused by `check::row_mutation`.
                ValueType::Bytes => input,
            }
        }
    };
    Ok(Bytes::copy_from_slice(&combined.to_be_bytes()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inputs_combine_by_the_type_of_the_family() {
        let check = |value_type, inputs: &[i64], expected: i64| {
            let state = inputs.iter().fold(None, |before: Option<Bytes>, input| {
                Some(combine(value_type, before.as_deref(), *input).unwrap())
            });
            assert_eq!(state.as_deref().and_then(number), Some(expected), "{value_type:?} of {inputs:?}");
        };
        check(ValueType::IntSum, &[5, 3, 9, 4], 21);
        check(ValueType::IntMax, &[5, 3, 9, 4], 9);
        check(ValueType::IntMin, &[5, 3, 9, 4], 3);
        check(ValueType::IntMin, &[5], 5);
        check(ValueType::IntMax, &[-5, i64::MIN], -5);
        check(ValueType::IntSum, &[i64::MAX, 1], i64::MIN);
        check(ValueType::IntSum, &[i64::MIN, -1], i64::MAX);
    }

    #[test]
    fn what_is_no_state_is_refused() {
        for bytes in [&b""[..], b"1234567", b"123456789"] {
            assert_eq!(number(bytes), None);
            assert_eq!(combine(ValueType::IntSum, Some(bytes), 1).unwrap_err().kind(), ErrorKind::Corrupt);
        }
    }
}
