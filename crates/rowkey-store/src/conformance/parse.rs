//! Words of commands, read. Mistakes in a script are `Invalid` and begin with "script:".

use crate::escape::unescape;
use crate::{
    ColumnSelection, Error, ErrorKind, FamilyConfig, Filter, Mutation, ReadRequest, Result, RowRange, RowSet,
    Timestamp, ValueType, gc,
};
use bytes::Bytes;
use std::ops::{Bound, Range};

pub(super) fn wrong(what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Invalid, format!("script: {what}"))
}

pub(super) fn bytes(word: &str) -> Result<Bytes> {
    if word == "\"\"" {
        return Ok(Bytes::new());
    }
    if let Some((count, byte)) = word.strip_prefix("repeat:").and_then(|word| word.split_once(':')) {
        return Ok(unescape(byte)?.repeat(number(count)?).into());
    }
    Ok(unescape(word)?.into())
}

pub(super) fn number<T: std::str::FromStr>(word: &str) -> Result<T> {
    word.parse().map_err(|_| wrong(format!("`{word}` is no number")))
}

/// `5s`, `5ms`, `5us`, `0`, `max`, in microseconds.
pub(super) fn time(word: &str) -> Result<i64> {
    let unit = word.trim_start_matches(|letter: char| letter.is_ascii_digit() || letter == '-');
    let factor = match unit {
        "s" => 1_000_000,
        "ms" => 1_000,
        "us" => 1,
        "" if word == "0" => 1,
        "max" => return Ok(i64::MAX),
        _ => return Err(wrong(format!("`{word}` is no time; write 5s, 5ms or 5us"))),
    };
    Ok(number::<i64>(&word[..word.len() - unit.len()])?.saturating_mul(factor))
}

pub(super) fn times(word: &str) -> Result<Range<i64>> {
    let (start, end) =
        word.split_once("..").ok_or_else(|| wrong(format!("`{word}` is no range of times")))?;
    Ok(time(start)?..if end.is_empty() { i64::MAX } else { time(end)? })
}

/// `family:qualifier`.
pub(super) fn column(word: &str) -> Result<(String, Bytes)> {
    let (family, qualifier) = word.split_once(':').ok_or_else(|| wrong(format!("`{word}` is no column")))?;
    Ok((family.to_owned(), bytes(qualifier)?))
}

/// `family:qualifier@time=value`, the time optional.
pub(super) fn cell(word: &str) -> Result<(String, Bytes, Timestamp, &str)> {
    let (place, value) = word.split_once('=').ok_or_else(|| wrong(format!("`{word}` is no cell")))?;
    let (place, timestamp) = match place.rsplit_once('@') {
        Some((place, word)) => (place, Timestamp::Micros(time(word)?)),
        None => (place, Timestamp::Server),
    };
    let (family, qualifier) = column(place)?;
    Ok((family, qualifier, timestamp, value))
}

/// `name` or `name:rule`, of an aggregate with `sum=`, `min=` or `max=` in front.
pub(super) fn family(word: &str) -> Result<FamilyConfig> {
    let types = [("sum=", ValueType::IntSum), ("min=", ValueType::IntMin), ("max=", ValueType::IntMax)];
    let of_type = types.iter().find_map(|(sign, of)| word.strip_prefix(sign).map(|rest| (rest, *of)));
    let (word, value_type) = of_type.unwrap_or((word, ValueType::Bytes));
    let (name, rule) = word.split_once(':').unwrap_or((word, "never"));
    Ok(FamilyConfig { name: name.to_owned(), gc_rule: gc::parse_rule(rule)?, value_type })
}

/// Steps of one row, separated by `;`.
pub(super) fn mutations(words: &[&str]) -> Result<Vec<Mutation>> {
    let steps = words.split(|word| *word == ";").filter(|step| !step.is_empty());
    steps.map(mutation).collect()
}

fn mutation(step: &[&str]) -> Result<Mutation> {
    match *step {
        ["set", word] => {
            let (family, qualifier, timestamp, value) = cell(word)?;
            Ok(Mutation::SetCell { family, qualifier, timestamp, value: bytes(value)? })
        }
        ["add", word] => {
            let (family, qualifier, timestamp, input) = cell(word)?;
            Ok(Mutation::AddToCell { family, qualifier, timestamp, input: number(input)? })
        }
        ["merge", word] => {
            let (family, qualifier, timestamp, state) = cell(word)?;
            Ok(Mutation::MergeToCell { family, qualifier, timestamp, state: bytes(state)? })
        }
        ["delete", word] => {
            let (place, times_us) = match word.rsplit_once('@') {
                Some((place, word)) => (place, Some(times(word)?)),
                None => (word, None),
            };
            let (family, qualifier) = column(place)?;
            Ok(Mutation::DeleteFromColumn { family, qualifier, times_us })
        }
        ["delete-family", family] => Ok(Mutation::DeleteFromFamily { family: family.to_owned() }),
        ["delete-row"] => Ok(Mutation::DeleteFromRow),
        _ => Err(wrong(format!("`{}` is no step of a mutation", step.join(" ")))),
    }
}

/// The options of a read.
pub(super) fn read_request(words: &[&str]) -> Result<ReadRequest> {
    let mut request = ReadRequest::default();
    let (mut keys, mut ranges, mut families) = (Vec::new(), Vec::new(), Vec::new());
    let mut all_rows = true;
    for word in words {
        let (name, content) = word.split_once('=').unwrap_or((word, ""));
        all_rows &= !matches!(name, "key" | "prefix" | "range" | "none");
        match name {
            "key" => keys.push(bytes(content)?),
            "prefix" => ranges.push(RowRange::prefix(&bytes(content)?)),
            "range" => ranges.push(row_range(content)?),
            "none" => {}
            "family" => families.push((content.to_owned(), None)),
            "column" => {
                let (family, qualifier) = column(content)?;
                families.push((family, Some(vec![qualifier])));
            }
            "times" => request.selection.times_us = Some(times(content)?),
            "versions" => request.selection.versions_max = Some(number(content)?),
            "filter" => request.filter = Some(filter(content)?),
            "limit" => request.rows_max = Some(number(content)?),
            "reverse" => request.reversed = true,
            "live" => request.live = true,
            _ => return Err(wrong(format!("`{word}` is no option of a read"))),
        }
    }
    if !families.is_empty() {
        request.selection.columns = ColumnSelection::Only(families);
    }
    request.rows = if all_rows { RowSet::all() } else { RowSet::new(keys, ranges) };
    Ok(request)
}

/// `[a..b)`, with round brackets for ends that are out, and nothing for an end that is open.
fn row_range(word: &str) -> Result<RowRange> {
    let is_none = || wrong(format!("`{word}` is no range of rows; write [a..b)"));
    let (start, end) = word.split_once("..").ok_or_else(is_none)?;
    let after = |key: Bytes| RowRange::key(&key).end.unwrap_or_default();
    let start = match start.split_at_checked(1).ok_or_else(is_none)? {
        (_, "") => Bytes::new(),
        ("(", key) => after(bytes(key)?),
        (_, key) => bytes(key)?,
    };
    let end = match end.split_at_checked(end.len().saturating_sub(1)).ok_or_else(is_none)? {
        ("", _) => None,
        (key, "]") => Some(after(bytes(key)?)),
        (key, _) => Some(bytes(key)?),
    };
    Ok(RowRange { start, end })
}

pub(super) fn filter(word: &str) -> Result<Filter> {
    let (name, inside) = match word.split_once('(') {
        Some((name, rest)) => {
            let inside =
                rest.strip_suffix(')').ok_or_else(|| wrong(format!("`{word}` has no closing bracket")))?;
            (name, inside)
        }
        None => (word, ""),
    };
    let parts = arguments(inside);
    let filters = || parts.iter().map(|part| filter(part)).collect::<Result<Vec<_>>>();
    let branch = |part: Option<&&str>| match part {
        None | Some(&"-") => Ok(None),
        Some(part) => filter(part).map(|filter| Some(Box::new(filter))),
    };
    Ok(match (name, &parts[..]) {
        ("pass", _) => Filter::PassAll,
        ("block", _) => Filter::BlockAll,
        ("sink", _) => Filter::Sink,
        ("strip", _) => Filter::StripValue,
        ("chain", _) => Filter::Chain(filters()?),
        ("interleave", _) => Filter::Interleave(filters()?),
        ("condition", [predicate, branches @ ..]) => Filter::Condition {
            predicate: Box::new(filter(predicate)?),
            then: branch(branches.first())?,
            otherwise: branch(branches.get(1))?,
        },
        ("qualifiers", [family, ends @ ..]) => {
            let (start, end) = bounds(ends)?;
            Filter::QualifierRange { family: (*family).to_owned(), start, end }
        }
        ("values", ends) => {
            let (start, end) = bounds(ends)?;
            Filter::ValueRange { start, end }
        }
        ("times", [range]) => Filter::TimestampRange(times(range)?),
        ("bitmask", [mask]) => Filter::ValueBitmask(bytes(mask)?),
        ("offset", [count]) => Filter::CellsPerRowOffset(number(count)?),
        ("limit", [count]) => Filter::CellsPerRowLimit(number(count)?),
        ("versions", [count]) => Filter::CellsPerColumnLimit(number(count)?),
        ("label", [label]) => Filter::ApplyLabel((*label).to_owned()),
        ("sample", [share]) => Filter::RowSample(number(share)?),
        ("key-regex", [regex]) => Filter::RowKeyRegex(bytes(regex)?),
        ("family-regex", [regex]) => Filter::FamilyRegex((*regex).to_owned()),
        ("qualifier-regex", [regex]) => Filter::QualifierRegex(bytes(regex)?),
        ("value-regex", [regex]) => Filter::ValueRegex(bytes(regex)?),
        _ => return Err(wrong(format!("`{word}` is no filter"))),
    })
}

/// What stands between commas that are in no inner bracket.
fn arguments(inside: &str) -> Vec<&str> {
    let mut depth = 0;
    let outer = |letter: char| {
        depth += i32::from(letter == '(') - i32::from(letter == ')');
        letter == ',' && depth == 0
    };
    inside.split(outer).filter(|part| !part.is_empty()).collect()
}

/// `>=a`, `>a`, `<=b`, `<b`.
fn bounds(words: &[&str]) -> Result<(Bound<Bytes>, Bound<Bytes>)> {
    let (mut start, mut end) = (Bound::Unbounded, Bound::Unbounded);
    for word in words {
        if let Some(key) = word.strip_prefix(">=") {
            start = Bound::Included(bytes(key)?);
        } else if let Some(key) = word.strip_prefix('>') {
            start = Bound::Excluded(bytes(key)?);
        } else if let Some(key) = word.strip_prefix("<=") {
            end = Bound::Included(bytes(key)?);
        } else if let Some(key) = word.strip_prefix('<') {
            end = Bound::Excluded(bytes(key)?);
        } else {
            return Err(wrong(format!("`{word}` is no bound")));
        }
    }
    Ok((start, end))
}
