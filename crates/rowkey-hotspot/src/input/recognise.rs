//! What an input is, told by its first 64 KiB. Wrong guesses are dear, so what is no text is refused by name.

use super::escape::is_printable;
use super::lines::trim_cr;
use super::{Compression, operations};
use super::{Format, Options, fields, unpack};

/// Lines looked at.
const LINES_MAX: usize = 20;
/// More control characters of 100 bytes make a binary file.
const CONTROL_PERCENT_MAX: usize = 10;

/// The format of an input that begins with `head`, or what it is instead, for a message that begins with its name.
pub(super) fn format_of(head: &[u8], options: &Options) -> Result<Format, String> {
    check_text(head)?;
    check_not_binary(head)?;
    let mut lines =
        head.split(|&byte| byte == b'\n').map(trim_cr).filter(|line| !line.trim_ascii().is_empty());
    let Some(first) = lines.clone().next() else { return Ok(Format::Keys) };
    check_not_json_file(first, lines.clone().nth(1))?;
    if operations::is_object(first)
        || lines.by_ref().take(LINES_MAX).any(operations::is_operation)
        || first.len() == head.len() && first.starts_with(b"{\"")
    {
        return Ok(Format::Operations);
    }
    let is_csv = options
        .codec
        .as_ref()
        .is_some_and(|codec| fields::find_delimiter(first, codec.schema(), options.delimiter).is_some());
    Ok(if is_csv { Format::Csv } else { Format::Keys })
}

/// Refuses what no format can be.
pub(super) fn check_text(head: &[u8]) -> Result<(), String> {
    const OTHERS: [(&[u8], &str); 10] = [
        (b"PK\x03\x04", "a zip archive or a spreadsheet; unpack it, or save it as CSV"),
        (b"BZh", "packed with bzip2; unpack it and pipe it in"),
        (b"\xfd7zXZ\x00", "packed with xz; unpack it and pipe it in"),
        (b"\x04\x22\x4d\x18", "packed with lz4; unpack it and pipe it in"),
        (b"PAR1", "a Parquet file; convert it to CSV or JSON lines"),
        (b"Obj\x01", "an Avro file; convert it to CSV or JSON lines"),
        (b"ORC", "an ORC file; convert it to CSV or JSON lines"),
        (b"SEQ\x06", "a Hadoop sequence file; write its keys as text, one a line"),
        (b"SQLite format 3\x00", "an SQLite database; write its keys as text, one a line"),
        (b"DATABLK*", "an HBase file; write its keys as text, one a line"),
    ];
    // A mark that can be read may begin a key; zeros tell.
    let is_binary = head.contains(&0);
    let other = OTHERS.iter().find(|(magic, _)| head.starts_with(magic));
    if let Some((magic, what)) = other
        && (is_binary || !is_printable(magic))
    {
        return Err(format!("is {what}"));
    }
    if unpack::compression_of(head.get(..4).unwrap_or(head)) != Compression::None {
        return Err("is packed twice; unpack it once".to_owned());
    }
    if is_binary && head.get(257..262) == Some(b"ustar") {
        return Err("is a tar archive; unpack it, and read the files in it".to_owned());
    }
    if is_utf16(head) {
        return Err("is UTF-16; convert it to UTF-8, as with `iconv -f UTF-16 -t UTF-8`".to_owned());
    }
    Ok(())
}

/// A byte order mark, or ASCII of which every second byte is 0.
fn is_utf16(head: &[u8]) -> bool {
    if head.starts_with(&[0xff, 0xfe]) || head.starts_with(&[0xfe, 0xff]) {
        return true;
    }
    let pairs = head[..head.len().min(256)].chunks_exact(2);
    let half = pairs.len() / 2;
    let zeros = |at: usize| pairs.clone().filter(|pair| pair[at] == 0 && pair[1 - at] != 0).count();
    pairs.len() >= 4 && (zeros(0) > half || zeros(1) > half)
}

/// Refuses what has many control characters: keys of any bytes, one a line, would be cut at each byte `0a`.
fn check_not_binary(head: &[u8]) -> Result<(), String> {
    let control = |byte: u8| byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r');
    let controls = head.iter().filter(|&&byte| control(byte)).count();
    if controls * 100 > head.len() * CONTROL_PERCENT_MAX {
        return Err(format!(
            "is no text: {controls} of its first {} bytes are control characters. Write keys escaped, one a line: `\\x00` for a \
             byte 0, `\\\\` for a backslash",
            head.len()
        ));
    }
    let line_feeds = head.contains(&b'\n');
    let returns = memchr::memchr_iter(b'\r', head).count();
    if !line_feeds && returns > 1 {
        return Err("has lines that end in CR alone; convert them, as with `tr '\\r' '\\n'`".to_owned());
    }
    Ok(())
}

/// Refuses JSON that is not one object a line.
fn check_not_json_file(first: &[u8], second: Option<&[u8]>) -> Result<(), String> {
    let first = first.trim_ascii();
    let behind = |bracket: &[u8]| {
        first.strip_prefix(bracket).map(|rest| match rest.trim_ascii_start() {
            [] => second.unwrap_or_default().trim_ascii_start(),
            rest => rest,
        })
    };
    if behind(b"[").is_some_and(|rest| rest.starts_with(b"{")) {
        return Err("is a JSON array; write one object a line, as with `jq -c '.[]'`".to_owned());
    }
    if first == b"{" && behind(b"{").is_some_and(|rest| rest.starts_with(b"\"")) {
        return Err("is JSON over several lines; write one object a line, as with `jq -c .`".to_owned());
    }
    Ok(())
}
