//! Keys without delimiters, cut where the kind of byte changes: digits of a time in front of an id, bytes of a number behind text.

use super::calendar;
use super::partition::share;
use super::segment::{self, SHARE_MIN};
use super::template::{Form, Part};

/// Text of one width without delimiters: a time in front of something else. `None`: it stays whole.
pub(super) fn text(values: &[&[u8]]) -> Option<Vec<Part>> {
    let width = values.first()?.len();
    let same = values.iter().filter(|value| value.len() == width).count();
    if share(same, values.len()) < SHARE_MIN || width < 10 {
        return None;
    }
    for digits in [17usize, 14, 12, 8] {
        let is_time = |value: &&[u8]| {
            value.len() == width
                && value[..digits.min(width)].iter().all(u8::is_ascii_digit)
                && calendar::basic(&value[..digits.min(width)]).is_some_and(|stamp| stamp.len == digits)
        };
        if width <= digits || share(values.iter().filter(|value| is_time(value)).count(), values.len()) < 0.98
        {
            continue;
        }
        let rest: Vec<&[u8]> =
            values.iter().filter(|value| is_time(value)).map(|value| &value[digits..]).collect();
        let mut parts = vec![Part::fixed(Form::Digits, digits)];
        parts.extend(segment::grow(&rest, 5));
        return Some(parts);
    }
    None
}

/// Keys with bytes that are no text.
pub(super) fn binary(values: &[&[u8]], _level: u32) -> Vec<Part> {
    let _ = values;
    vec![Part::field(Form::Any)]
}
