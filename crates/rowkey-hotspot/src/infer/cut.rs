//! Keys without delimiters, cut where the kind of byte changes: digits of a time in front of an id, bytes of a number behind text.
//!
//! ```text
//! 20240502 00042        a calendar time, and what stands behind it
//! 07 | user#17          bytes that are no text in front of text
//! user# | 00 00 01 8f   text up to a delimiter in front of bytes
//! 00 00 01 8f .. | 9c   a time in 4 or 8 bytes; a number ends where a column of much entropy is followed by one of little
//! ```

use super::binary;
use super::calendar;
use super::partition::share;
use super::segment::{self, SHARE_MIN};
use super::template::{Form, Part};
use super::token;

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

/// Bytes that are no text in front of text: how many. `None`: there are none.
pub(super) fn lead(values: &[&[u8]]) -> Option<usize> {
    let long_enough =
        |len: usize| share(values.iter().filter(|value| value.len() >= len + 3).count(), values.len());
    [1usize, 2, 3, 4, 6, 8, 12, 16, 20, 32].into_iter().find(|len| {
        if long_enough(*len) < SHARE_MIN {
            return false;
        }
        let cut = values.iter().filter_map(|value| value.split_at_checked(*len));
        let behind = cut.clone().filter(|(_, rest)| !segment::is_binary(rest)).count();
        let front = cut.filter(|(lead, _)| !token::is_text(lead)).count();
        share(behind, values.len()) >= SHARE_MIN && share(front, values.len()) >= 0.5
    })
}

/// Keys with bytes that are no text.
pub(super) fn binary(values: &[&[u8]], level: u32) -> Vec<Part> {
    if let Some(len) = lead(values) {
        let (front, rest): (Vec<&[u8]>, Vec<&[u8]>) =
            values.iter().filter_map(|value| value.split_at_checked(len)).unzip();
        let mut parts = bytes(&front);
        parts.extend(segment::grow(&rest, level + 1));
        return parts;
    }
    if let Some((delimiter, count)) = text_in_front(values) {
        let cut = |value: &&'_ [u8]| place(value, delimiter, count);
        let places: Vec<(&[u8], usize)> =
            values.iter().filter_map(|value| cut(value).map(|at| (*value, at))).collect();
        let front: Vec<&[u8]> = places.iter().map(|(value, at)| &value[..*at]).collect();
        let rest: Vec<&[u8]> = places.iter().map(|(value, at)| &value[*at + 1..]).collect();
        let mut parts = segment::grow(&front, level + 1);
        parts.push(Part::Literal(vec![delimiter]));
        parts.extend(binary(&rest, level + 1));
        return parts;
    }
    bytes(values)
}

/// Where a delimiter stands for the `count`th time.
fn place(value: &[u8], delimiter: u8, count: usize) -> Option<usize> {
    memchr::memchr_iter(delimiter, value).nth(count.checked_sub(1)?)
}

/// The delimiter up to which nearly all keys are text, and how often it stands there: the last place before bytes that are no text.
fn text_in_front(values: &[&[u8]]) -> Option<(u8, usize)> {
    // Zero bytes are part of numbers too: they separate only if nothing else does.
    let (control, graphic): (Vec<u8>, Vec<u8>) =
        token::DELIMITERS.iter().partition(|byte| byte.is_ascii_control());
    graphic.iter().chain(&control).find_map(|delimiter| {
        let is_text = |count: usize| {
            let front =
                values.iter().filter_map(|value| place(value, *delimiter, count).map(|at| &value[..at]));
            let is_text =
                |front: &&[u8]| front.iter().any(u8::is_ascii_alphanumeric) && !segment::is_binary(front);
            let texts = front.filter(is_text).count();
            share(texts, values.len()) >= SHARE_MIN
        };
        let most = if delimiter.is_ascii_control() { 1 } else { 4 };
        let count = (1..=most).take_while(|count| is_text(*count)).last()?;
        Some((*delimiter, count))
    })
}

/// Bytes of fixed width: times where there are some, else numbers and digests by the entropy of their columns.
fn bytes(values: &[&[u8]]) -> Vec<Part> {
    let Some(width) = segment::most_frequent_len(values) else { return vec![Part::field(Form::Any)] };
    let same: Vec<&[u8]> = values.iter().copied().filter(|value| value.len() == width).collect();
    if share(same.len(), values.len()) < SHARE_MIN || width == 0 || width > token::LOOKED_AT {
        return vec![Part::field(Form::Any)];
    }
    fixed(&same, width).into_iter().map(|width| Part::fixed(Form::Any, width)).collect()
}

/// The widths of the fields of keys of one width.
fn fixed(values: &[&[u8]], width: usize) -> Vec<usize> {
    // What eight or sixteen bytes prove, four may pretend.
    let found = [16usize, 8, 4]
        .into_iter()
        .find_map(|len| (0..width).find(|at| binary::is_known(values, *at, len)).map(|at| (at, len)));
    let Some((at, len)) = found else { return by_entropy(values, width) };
    let column =
        |from: usize, to: usize| -> Vec<&[u8]> { values.iter().map(|value| &value[from..to]).collect() };
    let mut widths = if at > 0 { by_entropy(&column(0, at), at) } else { Vec::new() };
    widths.push(len);
    if at + len < width {
        widths.extend(fixed(&column(at + len, width), width - at - len));
    }
    widths
}

/// Widths of numbers and digests: a number begins with columns of little entropy, so that it ends where little follows much.
fn by_entropy(values: &[&[u8]], width: usize) -> Vec<usize> {
    let most = super::column::len_f64(values.len().min(256)).log2().max(1.0);
    let much: Vec<bool> = (0..width).map(|at| binary::entropy_at(values, at) > 0.6 * most).collect();
    let mut widths = Vec::new();
    let mut from = 0;
    for at in 1..=width {
        let ends = at == width || much[at - 1] && !much[at];
        if ends {
            let little = much[from..at].iter().take_while(|much| !**much).count();
            widths.extend(number_and_digest(little, at - from));
            from = at;
        }
    }
    widths
}

/// A run of columns of little entropy, then of much: a number of 1, 2, 4 or 8 bytes, and a digest behind it if it is longer.
fn number_and_digest(little: usize, len: usize) -> Vec<usize> {
    if little == 0 || matches!(len, 1 | 2 | 4 | 8) {
        return vec![len];
    }
    let number = [1usize, 2, 4, 8].into_iter().find(|number| *number > little).unwrap_or(len);
    if number < len && len - number >= 2 { vec![number, len - number] } else { vec![len] }
}
