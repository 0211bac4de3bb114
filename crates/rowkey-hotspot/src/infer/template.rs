//! Templates of keys, and keys cut by them.
//!
//! A template is what a format is before anything is measured: literals, and fields of which only the form is known. A field takes all up
//! to the next literal; where that literal occurs in the field too, the forms of the fields behind it decide.

use super::token::{self, Class};
use super::{calendar, ids, names};

/// Values with a form are at most so long.
const FORM_BYTES_MAX: usize = 512;

/// What values of a field must look like.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Form {
    /// Anything, nothing included.
    Any,
    Digits,
    /// Digits, at least 15.
    LongDigits,
    /// An integer or a decimal number.
    Number,
    /// Of this version; 0: of any.
    Uuid(u8),
    Ulid,
    Ksuid,
    /// Calendar text.
    Time,
    Address,
    Domain,
}

impl Form {
    /// Whether `value` has the form.
    pub(super) fn takes(self, value: &[u8]) -> bool {
        // What is longer has no form: it is not read, so that long keys cost no more.
        if value.len() > FORM_BYTES_MAX {
            return self == Self::Any;
        }
        match self {
            Self::Any => true,
            Self::Digits => !value.is_empty() && value.iter().all(u8::is_ascii_digit),
            Self::Number => {
                token::is_signed(value) || !value.is_empty() && value.iter().all(u8::is_ascii_digit)
            }
            Self::Uuid(0) => token::is_uuid(value),
            Self::Uuid(version) => token::is_uuid(value) && ids::uuid_version(value) == Some(version),
            Self::LongDigits => value.len() >= 15 && value.iter().all(u8::is_ascii_digit),
            Self::Ulid => token::is_ulid(value),
            Self::Ksuid => value.len() == 27 && value.iter().all(u8::is_ascii_alphanumeric),
            Self::Time => calendar::whole(value).is_some(),
            Self::Address => token::class(value) == Class::Address,
            Self::Domain => names::has_host_bytes(value),
        }
    }

    /// How much a match says: 0 nothing, 3 much.
    pub(super) fn weight(self) -> u32 {
        match self {
            Self::Any => 0,
            Self::Domain => 1,
            Self::Digits | Self::Number => 2,
            Self::LongDigits | Self::Uuid(_) | Self::Ulid | Self::Ksuid | Self::Time | Self::Address => 3,
        }
    }
}

/// A part of a template.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Part {
    Literal(Vec<u8>),
    Field {
        form: Form,
        /// Its width, if it is fixed.
        width: Option<usize>,
    },
}

impl Part {
    pub(super) fn field(form: Form) -> Self {
        Self::Field { form, width: None }
    }

    pub(super) fn fixed(form: Form, width: usize) -> Self {
        Self::Field { form, width: Some(width) }
    }
}

/// How a key is built.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct Template {
    pub(super) parts: Vec<Part>,
}

impl Template {
    /// From parts, with neighbouring literals joined and empty ones left out.
    pub(super) fn new(parts: impl IntoIterator<Item = Part>) -> Self {
        let mut joined: Vec<Part> = Vec::new();
        for part in parts {
            match (joined.last_mut(), part) {
                (_, Part::Literal(bytes)) if bytes.is_empty() => {}
                (Some(Part::Literal(before)), Part::Literal(bytes)) => before.extend(bytes),
                (_, part) => joined.push(part),
            }
        }
        Self { parts: joined }
    }

    /// How much a match says about a key: literal bytes and forms of fields.
    pub(super) fn weight(&self) -> u32 {
        let weigh = |part: &Part| match part {
            Part::Literal(bytes) => 2 * u32::try_from(bytes.len()).unwrap_or(u32::MAX).min(64),
            Part::Field { form, width } => form.weight() + u32::from(width.is_some()),
        };
        self.parts.iter().map(weigh).sum()
    }

    /// Whether the template takes any key.
    pub(super) fn takes_anything(&self) -> bool {
        matches!(self.parts[..], [Part::Field { form: Form::Any, width: None }])
    }

    /// Cuts a key; `false` if it is not built so. `out` then is of no use.
    pub(super) fn cut<'k>(&self, key: &'k [u8], out: &mut Vec<&'k [u8]>) -> bool {
        out.clear();
        // Each field behind which a literal may stand at several places costs a step per place.
        let mut steps = 128;
        cut(&self.parts, key, out, &mut steps)
    }
}

fn cut<'k>(parts: &[Part], key: &'k [u8], out: &mut Vec<&'k [u8]>, steps: &mut u32) -> bool {
    let Some((part, rest)) = parts.split_first() else { return key.is_empty() };
    match part {
        Part::Literal(bytes) => match key.strip_prefix(bytes.as_slice()) {
            Some(key) => cut(rest, key, out, steps),
            None => false,
        },
        Part::Field { form, width: Some(width) } => match key.split_at_checked(*width) {
            Some((value, key)) if form.takes(value) => {
                out.push(value);
                cut(rest, key, out, steps) || {
                    out.pop();
                    false
                }
            }
            _ => false,
        },
        Part::Field { form, width: None } => match rest.split_first() {
            None => {
                let takes = form.takes(key);
                if takes {
                    out.push(key);
                }
                takes
            }
            Some((Part::Literal(bytes), _)) => cut_before(*form, bytes, rest, key, out, steps),
            Some(_) => cut_before_fixed(*form, rest, key, out, steps),
        },
    }
}

/// A field of varying width with fields of fixed width behind it: the end of the key, or the next literal, tells where it ends.
fn cut_before_fixed<'k>(
    form: Form,
    rest: &[Part],
    key: &'k [u8],
    out: &mut Vec<&'k [u8]>,
    steps: &mut u32,
) -> bool {
    let run = rest.iter().take_while(|part| matches!(part, Part::Field { .. }));
    let width: usize = run.clone().map(width_of).sum();
    let mut ends: Vec<usize> = Vec::new();
    match rest.get(run.count()) {
        Some(Part::Literal(bytes)) => {
            ends.extend(places(key, bytes).take(*steps as usize));
        }
        _ => ends.push(key.len()),
    }
    for end in ends {
        *steps = steps.saturating_sub(1);
        let Some((value, behind)) = end.checked_sub(width).map(|at| key.split_at(at)) else { continue };
        if !form.takes(value) {
            continue;
        }
        out.push(value);
        let depth = out.len();
        if cut(rest, behind, out, steps) {
            return true;
        }
        out.truncate(depth - 1);
    }
    false
}

/// Where a literal stands, overlaps included: in `QQQQ` a field may end at each place where `QQ` begins.
fn places<'a>(key: &'a [u8], literal: &'a [u8]) -> impl Iterator<Item = usize> + 'a {
    let mut from = 0;
    std::iter::from_fn(move || {
        let at = from + memchr::memmem::find(key.get(from..)?, literal)?;
        from = at + 1;
        Some(at)
    })
}

fn width_of(part: &Part) -> usize {
    match part {
        Part::Literal(bytes) => bytes.len(),
        Part::Field { width, .. } => width.unwrap_or(0),
    }
}

/// A field up to one of the places where the literal behind it stands.
fn cut_before<'k>(
    form: Form,
    literal: &[u8],
    rest: &[Part],
    key: &'k [u8],
    out: &mut Vec<&'k [u8]>,
    steps: &mut u32,
) -> bool {
    // A time may hold the literal and be one without its end too: the longest is meant.
    let whole = (form == Form::Time).then(|| calendar::extended(key)).flatten().map_or(0, |stamp| stamp.len);
    let behind = places(key, literal).filter(|at| *at >= whole);
    let within = places(key, literal).take_while(|at| *at < whole);
    for at in behind.chain(within) {
        if *steps == 0 {
            return false;
        }
        *steps -= 1;
        if !form.takes(&key[..at]) {
            continue;
        }
        out.push(&key[..at]);
        let depth = out.len();
        if cut(rest, &key[at..], out, steps) {
            return true;
        }
        out.truncate(depth - 1);
    }
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_field_may_end_with_what_the_literal_behind_it_begins_with() {
        let template =
            Template::new([Part::field(Form::Any), Part::Literal(b"QQ".to_vec()), Part::field(Form::Digits)]);
        let mut fields = Vec::new();
        assert!(template.cut(b"xQQQ17", &mut fields));
        assert_eq!(fields, [b"xQ".as_slice(), b"17"]);
    }
}
