//! From an interval of field values to a range of key bytes.
//!
//! ```text
//! | prefix: what stands before the field | field | literal behind it | the rest of the key |
//!
//! cut "before value v"  ->  the first key whose field is v or greater; in descending order: the first key behind all those
//! ```
//!
//! Every function returns exact bytes: no conforming key lies between the cut and what it stands for. `None` is the end of the table.

use super::axis::NumberAxis;
use crate::codec::Codec;
use crate::encode;
use crate::range::{KeyRange, after, prefix_end};
use crate::schema::{Field, FieldKind, KeySchema, Order, Part};
use crate::{Result, Value};

/// A field and the bytes around it.
#[derive(Debug)]
pub(super) struct Slot {
    /// The literals right before the field. Only the first slot has any: later ones are in `behind` of the slot before.
    pub(super) before: Vec<u8>,
    /// The literals right behind the field.
    pub(super) behind: Vec<u8>,
    /// Whether it is the last field of the key.
    pub(super) is_last: bool,
}

/// The fields of a layout with their literals, in order.
pub(super) fn slots(schema: &KeySchema) -> Vec<Slot> {
    let mut slots: Vec<Slot> = Vec::with_capacity(schema.fields.len());
    let mut leading = Vec::new();
    for part in &schema.parts {
        match part {
            Part::Salt => {}
            Part::Literal(bytes) => {
                slots.last_mut().map_or(&mut leading, |slot| &mut slot.behind).extend(bytes);
            }
            Part::Field(_) => {
                let before = std::mem::take(&mut leading);
                slots.push(Slot { before, behind: Vec::new(), is_last: false });
            }
        }
    }
    if let Some(last) = slots.last_mut() {
        last.is_last = true;
    }
    slots
}

/// The keys whose field is exactly the one encoded as `component`.
pub(super) fn of_component(prefix: &[u8], component: &[u8], slot: &Slot) -> KeyRange {
    let key = [prefix, component, &slot.behind].concat();
    if slot.is_last { KeyRange::key(&key) } else { KeyRange::prefix(&key) }
}

/// The keys whose field is a number of `low..=high`; both are on the axis.
pub(super) fn of_numbers(
    codec: &Codec,
    index: usize,
    axis: &NumberAxis,
    prefix: &[u8],
    (low, high): (i128, i128),
    slot: &Slot,
) -> Result<KeyRange> {
    let key = |position: i128| -> Result<Vec<u8>> {
        let mut key = prefix.to_vec();
        codec.encode_field(index, &axis.value(position), &mut key)?;
        key.extend_from_slice(&slot.behind);
        Ok(key)
    };
    let descending = codec.schema().fields[index].order == Order::Desc;
    // In the order of the bytes: the first position, whether it is the very first, and the position behind the last.
    let (first, is_first, next, is_last) = if descending {
        (high, high == axis.max, low - 1, low == axis.min)
    } else {
        (low, low == axis.min, high + 1, high == axis.max)
    };
    if low == high && slot.is_last {
        return Ok(KeyRange::key(&key(low)?));
    }
    let start = if is_first { prefix.to_vec() } else { key(first)? };
    let end = if is_last { prefix_end(prefix) } else { Some(key(next)?) };
    Ok(KeyRange { start, end })
}

/// The keys whose field is in an interval of byte strings; `None` if no key can be.
pub(super) fn of_strings(field: &Field, prefix: &[u8], interval: &KeyRange, slot: &Slot) -> Option<KeyRange> {
    let cut = |string: &[u8]| cut(field, prefix, string, slot);
    let open = prefix.to_vec();
    let range = if field.order == Order::Desc {
        let start = interval.end.as_deref().map_or(Some(open), cut)?;
        let end = if interval.start.is_empty() { prefix_end(prefix) } else { cut(&interval.start) };
        KeyRange { start, end }
    } else {
        let start = if interval.start.is_empty() { open } else { cut(&interval.start)? };
        let end = interval.end.as_deref().map_or_else(|| prefix_end(prefix), cut);
        KeyRange { start, end }
    };
    let is_empty = range.is_empty()
        || first_held(field, &interval.start, slot)
            .is_some_and(|first| interval.end.as_ref().is_some_and(|end| first >= *end));
    (!is_empty).then_some(range)
}

/// For a bound that holds a byte which ends the field: what every value from there on is at least. `a#` under `#` is below `a$`.
fn first_held(field: &Field, start: &[u8], slot: &Slot) -> Option<Vec<u8>> {
    let (FieldKind::String | FieldKind::Domain { .. }) = field.kind else { return None };
    let &delimiter = slot.behind.first()?;
    let at = start.iter().position(|&byte| byte <= delimiter)?;
    prefix_end(&[&start[..at], &[delimiter]].concat())
}

/// The first key whose field is `string` or greater; in descending order, the first key behind those whose field is.
fn cut(field: &Field, prefix: &[u8], string: &[u8], slot: &Slot) -> Option<Vec<u8>> {
    let join = |pieces: [&[u8]; 2]| [prefix, pieces[0], pieces[1]].concat();
    if let Some((least, greatest)) = ends(&field.kind) {
        let is_before_all = string <= least.as_slice();
        if is_before_all || string > greatest.as_slice() {
            let is_first_key = is_before_all == (field.order == Order::Asc);
            return if is_first_key { Some(prefix.to_vec()) } else { prefix_end(prefix) };
        }
    }
    match field.kind {
        FieldKind::EscapedBytes | FieldKind::EscapedText => {
            // "Before s 00" is "behind s", whose bytes are shorter.
            let (body, behind) = match string.split_last() {
                Some((0, body)) => (body, true),
                _ => (string, false),
            };
            let mut component = Vec::new();
            encode::encode(&FieldKind::EscapedBytes, field.order, &Value::from(body), &mut component)
                .expect("bytes of any length can be escaped");
            let key = join([&component, &slot.behind]);
            // Descending, what is less comes later.
            if behind == (field.order == Order::Desc) { Some(key) } else { prefix_end(&key) }
        }
        FieldKind::Fixed { .. } | FieldKind::UuidBytes => {
            let width = field.kind.fixed_width().unwrap_or(0);
            let complement = |bytes: &[u8]| bytes.iter().map(|byte| !byte).collect::<Vec<u8>>();
            let kept = &string[..string.len().min(width)];
            let is_whole = string.len() <= width;
            match field.order {
                Order::Asc if is_whole => Some(join([kept, &[]])),
                Order::Asc => prefix_end(&join([kept, &[]])),
                Order::Desc if is_whole => prefix_end(&join([&complement(kept), &[]])),
                Order::Desc => Some(join([&complement(kept), &[]])),
            }
        }
        FieldKind::Hex { digits } => text_of_width(prefix, string, usize::from(digits)),
        FieldKind::UuidText => {
            let kept = &string[..string.len().min(16)];
            let mut text = Vec::with_capacity(36);
            for (at, byte) in kept.iter().enumerate() {
                if matches!(at, 4 | 6 | 8 | 10) {
                    text.push(b'-');
                }
                encode::push_hex(&[*byte], &mut text);
            }
            let key = join([&text, &[]]);
            if string.len() <= 16 { Some(key) } else { prefix_end(&key) }
        }
        // `string` and `domain`: the rest of the key, or ended by a literal whose first byte is below all theirs.
        _ => match slot.behind.first() {
            Some(&delimiter) => match string.iter().position(|&byte| byte <= delimiter) {
                // No value contains that byte, so the cut lies right behind the value that ends before it.
                Some(at) => prefix_end(&join([&string[..at], &slot.behind])),
                None => Some(join([string, &slot.behind])),
            },
            // The last field with nothing behind it.
            None => Some(join([string, &[]])),
        },
    }
}

/// The least and the greatest byte string of a kind of fixed width.
fn ends(kind: &FieldKind) -> Option<(Vec<u8>, Vec<u8>)> {
    let (width, least, greatest) = match *kind {
        FieldKind::Hex { digits } => (usize::from(digits), b'0', b'f'),
        FieldKind::Fixed { bytes } => (usize::from(bytes), 0, 0xff),
        FieldKind::UuidBytes | FieldKind::UuidText => (16, 0, 0xff),
        _ => return None,
    };
    Some((vec![least; width], vec![greatest; width]))
}

fn text_of_width(prefix: &[u8], text: &[u8], width: usize) -> Option<Vec<u8>> {
    let key = [prefix, &text[..text.len().min(width)]].concat();
    if text.len() <= width { Some(key) } else { prefix_end(&key) }
}

/// The first key behind `key`: what "after this row" starts at.
pub(super) fn behind_key(key: &[u8]) -> Vec<u8> {
    after(key)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn field(kind: FieldKind, order: Order) -> Field {
        Field { name: "f".to_owned(), kind, order, values: Vec::new() }
    }

    fn slot(behind: &[u8]) -> Slot {
        Slot { before: Vec::new(), behind: behind.to_vec(), is_last: behind.is_empty() }
    }

    fn check(kind: FieldKind, order: Order, behind: &[u8], interval: (&[u8], Option<&[u8]>), expected: &str) {
        let interval = KeyRange { start: interval.0.to_vec(), end: interval.1.map(<[u8]>::to_vec) };
        let range = of_strings(&field(kind, order), b"p#", &interval, &slot(behind));
        assert_eq!(range.map_or_else(|| "none".to_owned(), |range| range.to_string()), expected);
    }

    #[test]
    fn ends_of_text_are_exact() {
        let string = || FieldKind::String;
        check(string(), Order::Asc, b"", (b"a", Some(b"c")), "[p#a, p#c)");
        check(string(), Order::Asc, b"", (b"a", None), "[p#a, p$)");
        check(string(), Order::Asc, b"#", (b"a", Some(b"c")), "[p#a#, p#c#)");
        // At most `c` and more than `a`: the cut is behind the component with its literal, not behind the bare bytes.
        check(string(), Order::Asc, b"#", (b"a\0", Some(b"c\0")), "[p#a$, p#c$)");
        check(string(), Order::Asc, b"\0", (b"a\0", Some(b"c\0")), "[p#a\\x01, p#c\\x01)");
        // `a b` cannot be held under `#`: what is at least `a b` is more than `a`.
        check(string(), Order::Asc, b"#", (b"a b", None), "[p#a$, p$)");
        // Between `a !` and `a b` there is nothing that can be held.
        check(string(), Order::Asc, b"#", (b"a !", Some(b"a b")), "none");
        // What begins with `a#`: more than `a`, and less than the next that can be held, `a$`.
        check(string(), Order::Asc, b"#", (b"a#", Some(b"a$")), "none");
        check(string(), Order::Asc, b"#", (b"a#", Some(b"a%")), "[p#a$, p#a%#)");
    }

    #[test]
    fn ends_of_escaped_bytes_are_exact_in_both_orders() {
        let kind = || FieldKind::EscapedBytes;
        check(kind(), Order::Asc, b"", (b"a", Some(b"c")), "[p#a\\x00\\x01, p#c\\x00\\x01)");
        check(kind(), Order::Asc, b"", (b"a\0", Some(b"c\0")), "[p#a\\x00\\x02, p#c\\x00\\x02)");
        check(kind(), Order::Desc, b"", (b"a", Some(b"c")), "[p#\\x9c\\xff\\xff, p#\\x9e\\xff\\xff)");
        check(kind(), Order::Desc, b"", (b"a\0", None), "[p#, p#\\x9e\\xff\\xfe)");
    }

    #[test]
    fn bounds_of_fixed_width_may_be_shorter_or_longer_than_the_field() {
        let kind = || FieldKind::Fixed { bytes: 2 };
        check(kind(), Order::Asc, b"#", (b"a", Some(b"b")), "[p#a, p#b)");
        check(kind(), Order::Asc, b"#", (b"ab", Some(b"cd\0")), "[p#ab, p#ce)");
        check(kind(), Order::Desc, b"", (b"\x01", Some(b"\x02\x03\x04")), "[p#\\xfd\\xfc, p#\\xff)");
        check(FieldKind::Hex { digits: 3 }, Order::Asc, b"", (b"a", Some(b"abcd")), "[p#a, p#abd)");
        let uuid = [&b"\x01\x23\x45\x67\x89"[..], b"\x01\x23\x45\x67\x8a"];
        check(
            FieldKind::UuidText,
            Order::Asc,
            b"",
            (uuid[0], Some(uuid[1])),
            "[p#01234567-89, p#01234567-8a)",
        );
    }

    #[test]
    fn the_end_of_a_whole_key_is_itself_and_a_zero_byte_that_of_a_part_its_successor() {
        assert_eq!(of_component(b"p#", b"12", &slot(b"")).to_string(), "[p#12, p#12\\x00)");
        assert_eq!(
            of_component(b"us-east#", b"fleet_01", &slot(b"#")).to_string(),
            "[us-east#fleet_01#, us-east#fleet_01$)"
        );
    }
}
