//! Whole inputs: what is read of them, what is counted, and what is refused with which words.

use super::*;
use flate2::Compression as Level;
use flate2::write::GzEncoder;
use proptest::prelude::*;
use ruzstd::encoding::{CompressionLevel, compress_to_vec};
use std::fmt::Write as _;
use std::io::{self, Write as _};

/// Keys of an input, escaped, and the report.
fn read_with(bytes: &[u8], options: &Options) -> Result<(Vec<String>, ReadReport)> {
    let mut keys = Vec::new();
    let mut sink = |operation: &Operation<'_>| {
        keys.push(rowkey::escape::escaped(operation.key).to_string());
        ControlFlow::Continue(())
    };
    let report = read(bytes, "in.txt", options, &mut sink, &mut |_| ())?;
    assert!(report.adds_up(), "{report:?}");
    assert_eq!(report.operations, keys.len() as u64);
    Ok((keys, report))
}

fn lenient() -> Options {
    Options { lenient: true, ..Options::default() }
}

fn check(bytes: &[u8], keys: &[&str]) {
    let (read, _) = read_with(bytes, &lenient()).unwrap();
    assert_eq!(read, keys, "{}", bytes.escape_ascii());
}

/// The input is refused, and the message has all of these words.
fn refused(bytes: &[u8], options: &Options, words: &[&str]) -> Error {
    let error = read_with(bytes, options).unwrap_err();
    let message = error.to_string();
    assert!(message.starts_with("in.txt"), "{message}");
    for word in words {
        assert!(message.contains(word), "`{word}` is not in: {message}");
    }
    error
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = GzEncoder::new(Vec::new(), Level::fast());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

fn zstd(bytes: &[u8]) -> Vec<u8> {
    compress_to_vec(bytes, CompressionLevel::Fastest)
}

#[test]
fn each_line_is_a_key_and_spaces_count() {
    check(b"a\nb\n", &["a", "b"]);
    check(b"a\nb", &["a", "b"]);
    check(b" a \n  \n", &[" a ", "  "]);
    check(b"a\\x00\\\\b\n", &["a\\x00\\\\b"]);
    check(b"a\r\nb\r\n", &["a", "b"]);
    check(b"\xef\xbb\xbfa\nb\n", &["a", "b"]);
    check(b"a\tb\n", &["a\\x09b"]);
}

#[test]
fn bytes_that_should_be_escaped_are_taken_as_they_are_and_counted() {
    let (keys, report) = read_with("caf\u{e9}\nplain\n\u{fc}\\x00\n".as_bytes(), &lenient()).unwrap();
    assert_eq!(keys, ["caf\\xc3\\xa9", "plain", "\\xc3\\xbc\\x00"]);
    assert_eq!(report.raw, 2);
    // Latin-1, which is no UTF-8, and a zero.
    let (keys, report) = read_with(b"caf\xe9 au lait\nabcdefghijklmnopqrs\x00\n", &lenient()).unwrap();
    assert_eq!(keys, ["caf\\xe9 au lait", "abcdefghijklmnopqrs\\x00"]);
    assert_eq!((report.raw, report.malformed), (2, 0));
}

#[test]
fn malformed_lines_are_counted_and_the_first_few_shown() {
    let (keys, report) = read_with(b"a\n\nb\\q\nc\\x0\nd\n", &lenient()).unwrap();
    assert_eq!(keys, ["a", "d"]);
    assert_eq!((report.lines, report.operations, report.malformed, report.blank), (5, 2, 2, 1));
    let first = &report.first_malformed[0];
    assert_eq!((first.line, first.shown.as_str()), (3, "b\\\\q"));
    assert_eq!(first.why, format!("byte 2: {}", escape::BAD_ESCAPE));
    assert_eq!(report.first_malformed[1].line, 4);

    let many = "x\\q".repeat(100) + "\n";
    let (_, report) = read_with(("a\n".to_owned() + &many.repeat(9)).as_bytes(), &lenient()).unwrap();
    assert_eq!((report.malformed, report.first_malformed.len()), (9, 5));
    assert!(report.first_malformed[0].shown.ends_with("..."));
    assert!(report.first_malformed[0].shown.len() < 120);
}

#[test]
fn more_than_one_percent_malformed_is_an_error_unless_lenient() {
    let good = "key\n".repeat(99);
    let (_, report) = read_with((good.clone() + "\\\n").as_bytes(), &Options::default()).unwrap();
    assert_eq!((report.operations, report.malformed), (99, 1));
    let bad = good.replacen("key", "\\q", 1) + "\\\n";
    let error = refused(
        bad.as_bytes(),
        &Options::default(),
        &["2 are malformed", "line 1:", "line 100:", "--lenient"],
    );
    assert_eq!(error.kind(), ErrorKind::Malformed);
    assert_eq!(read_with(bad.as_bytes(), &lenient()).unwrap().1.malformed, 2);
    refused(b"\\\n\\\n", &lenient(), &["not one line of 2"]);
}

#[test]
fn a_hopeless_input_is_refused_early() {
    let bad = "\\q\n".repeat(20_000) + &"key\n".repeat(10_000_000);
    let mut told = 0;
    let error = read(
        bad.as_bytes(),
        "in.txt",
        &Options::default(),
        &mut |_| ControlFlow::Continue(()),
        &mut |bytes| told = bytes,
    );
    assert!(error.unwrap_err().to_string().contains("not one line of 10000"));
    assert!(told < 1_000_000, "{told}");
}

#[test]
fn an_input_without_operations_is_refused() {
    for packed in [b"".to_vec(), gzip(b""), zstd(b"")] {
        refused(&packed, &Options::default(), &["is empty", "keys, one a line"]);
    }
    refused(b"\xef\xbb\xbf", &Options::default(), &["is empty"]);
    refused(b"\n\r\n\n", &Options::default(), &["has 3 lines, all blank"]);
}

#[test]
fn what_is_no_text_is_refused_by_name() {
    let check = |bytes: &[u8], what: &str| {
        refused(bytes, &Options::default(), &[what]);
    };
    check(b"\xff\xfea\x00b\x00\n\x00", "UTF-16");
    check(b"\xfe\xff\x00a\x00b\x00\n", "UTF-16");
    check(
        "keys\nof text\n".encode_utf16().flat_map(u16::to_le_bytes).collect::<Vec<u8>>().as_slice(),
        "UTF-16",
    );
    check(
        "keys\nof text\n".encode_utf16().flat_map(u16::to_be_bytes).collect::<Vec<u8>>().as_slice(),
        "UTF-16",
    );
    check(b"PK\x03\x04\x14\x00", "zip");
    check(b"PAR1\x15\x04\x15\x00", "Parquet");
    check(b"BZh91AY&SY\x00\x01", "bzip2");
    check(b"\xfd7zXZ\x00\x00", "xz");
    check(&gzip(&gzip(b"a\n")), "packed twice");
    check(&[&[b'x'; 257][..], b"ustar", &[0; 200]].concat(), "tar");
    check(b"\x01\x02\x03\n\x04\x05\x06", "control characters");
    check(b"a\rb\rc\r", "CR alone");
    check(b"[\n{\"op\": \"write\"}\n]", "JSON array");
    check(b"[{\"op\": \"write\"}, {}]", "JSON array");
    check(b"{\n  \"op\": \"write\",\n  \"key\": \"a\"\n}\n", "several lines");
    super::tests::check(b"PAR1#a\nBZh#b\n{tenant}#c\n[x]\n", &["PAR1#a", "BZh#b", "{tenant}#c", "[x]"]);
    super::tests::check(b"DATABLK*\n", &["DATABLK*"]);
    let keys = Options { format: Some(Format::Keys), ..Options::default() };
    assert_eq!(read_with(b"\x01\x02\x03\n\x04", &keys).unwrap().0, ["\\x01\\x02\\x03", "\\x04"]);
}

#[test]
fn the_format_is_told_by_the_first_lines() {
    let check = |text: &str, format: Format| {
        assert_eq!(read_with(text.as_bytes(), &lenient()).unwrap().1.format, format, "{text}");
    };
    let line = "{\"op\":\"write\",\"key\":\"a\"}\n";
    check("a\n", Format::Keys);
    check(&format!("\n \n{line}"), Format::Operations);
    check(&format!("{{torn\n{line}"), Format::Operations);
    check(&format!("{{\"note\": 1}}\n{line}"), Format::Operations);
    check("{a}\n", Format::Keys);
    check("{\"a\"}\n", Format::Keys);
    check("vehicle,time\n1,2\n", Format::Keys);
    let long = format!("{{\"op\":\"write\",\"note\":\"{}\",\"key\":\"a\"}}\n", "x".repeat(100_000));
    check(&long, Format::Operations);
}

#[test]
fn packed_data_of_several_parts_is_read_to_its_end() {
    let check = |packed: &[u8], compression: Compression| {
        let (keys, report) = read_with(packed, &Options::default()).unwrap();
        assert_eq!((keys, report.compression), (vec!["a".to_owned(), "bc".to_owned()], compression));
        assert_eq!(report.source_bytes, packed.len() as u64);
    };
    check(b"a\nbc\n", Compression::None);
    check(&[gzip(b"a\nb"), gzip(b""), gzip(b"c\n")].concat(), Compression::Gzip);
    check(&[zstd(b"a\nb"), zstd(b""), zstd(b"c\n")].concat(), Compression::Zstd);
    let skippable = b"\x53\x2a\x4d\x18\x05\x00\x00\x00notes";
    check(&[&skippable[..], &zstd(b"a\nb"), skippable, &zstd(b"c\n")].concat(), Compression::Zstd);
}

#[test]
fn packed_data_that_is_cut_off_says_after_how_many_lines() {
    let mut text = String::new();
    for n in 0..100_000_u64 {
        writeln!(text, "{:016x}", n.wrapping_mul(0x9e37_79b9_7f4a_7c15)).unwrap();
    }
    for packed in [gzip(text.as_bytes()), zstd(text.as_bytes())] {
        let cut = &packed[..packed.len() / 2];
        let error = refused(cut, &Options::default(), &["is cut off", "complete lines", "--lenient"]);
        assert_eq!(error.kind(), ErrorKind::Malformed);
        let (keys, report) = read_with(cut, &lenient()).unwrap();
        assert!(keys.len() > 10_000, "{}", keys.len());
        assert!(report.cut_off.unwrap().contains("is cut off"));
        assert!(report.malformed <= 1);
        refused(&packed[..5], &lenient(), &["cut off", "nothing can be used"]);
        let mut damaged = packed.clone();
        let middle = damaged.len() / 2;
        damaged[middle..middle + 64].fill(0xff);
        refused(&damaged, &Options::default(), &["damaged"]);
    }
    refused(
        &[gzip(b"a\n"), b"more than a header".to_vec()].concat(),
        &Options::default(),
        &["damaged", "after 1 complete line"],
    );
    refused(&[zstd(b"a\n"), b"more".to_vec()].concat(), &Options::default(), &["damaged", "no frame"]);
}

#[test]
fn the_checksum_of_a_zstd_frame_is_checked() {
    let mut packed = zstd(b"some\nkeys\n");
    assert_eq!(packed[4] & 4, 4, "the frame has a checksum");
    *packed.last_mut().unwrap() ^= 1;
    refused(&packed, &Options::default(), &["damaged", "checksum"]);
}

#[test]
fn a_source_that_fails_is_an_error_even_if_lenient() {
    struct Failing;
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let source = b"a\nb\nc".chain(Failing);
    let error =
        read(source, "in.txt", &lenient(), &mut |_| ControlFlow::Continue(()), &mut |_| ()).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Io);
    assert_eq!(error.to_string(), "in.txt cannot be read on after 2 complete lines: the disk is gone");
}

/// A line of any length, without the memory for it.
fn long_line(bytes: u64) -> impl Read {
    b"first\n".chain(io::repeat(b'x').take(bytes)).chain(&b"\nlast\n"[..])
}

#[test]
fn a_line_over_the_limit_is_malformed_whatever_its_length() {
    let max = Options::default().line_bytes_max as u64;
    for (bytes, malformed) in [(max, 0), (max + 1, 1), (max + 200_000, 1), (1 << 30, 1)] {
        let mut keys = Vec::new();
        let mut sink = |operation: &Operation<'_>| {
            keys.push(operation.key.len() as u64);
            ControlFlow::Continue(())
        };
        let report = read(long_line(bytes), "in", &lenient(), &mut sink, &mut |_| ()).unwrap();
        assert_eq!((report.malformed, report.lines), (malformed, 3));
        assert!(report.adds_up());
        if malformed == 1 {
            assert_eq!(keys, [5, 4]);
            assert_eq!(
                report.first_malformed[0].why,
                format!("the line has {bytes} bytes; the limit is {max}")
            );
        } else {
            assert_eq!(keys, [5, bytes, 4]);
        }
    }
}

#[test]
fn a_key_longer_than_a_store_takes_is_still_read() {
    let key = "k".repeat(5000);
    check(key.as_bytes(), &[&key]);
}

#[test]
fn the_sink_may_end_the_reading() {
    let mut left = 2;
    let mut sink = |_: &Operation<'_>| {
        left -= 1;
        if left == 0 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let report = read(&b"a\nb\nc\n"[..], "in", &Options::default(), &mut sink, &mut |_| ()).unwrap();
    assert!(report.stopped && report.adds_up());
    assert_eq!((report.operations, report.lines), (2, 2));
}

#[test]
fn operations_of_several_tables_are_never_mixed() {
    let line = |table: &str, key: &str| format!("{{\"table\":{table},\"op\":\"write\",\"key\":\"{key}\"}}\n");
    let text = line("\"a\"", "1") + &line("null", "2") + &line("\"b\"", "3") + &line("\"\\u0061\"", "\u{e9}");
    let error = refused(text.as_bytes(), &lenient(), &["`a` and `b`", "grep"]);
    assert_eq!(error.kind(), ErrorKind::Conflict);
    let of = |table: &str| Options { table: Some(table.to_owned()), ..Options::default() };
    let (keys, report) = read_with(text.as_bytes(), &of("a")).unwrap();
    assert_eq!(
        (keys, report.elsewhere, report.raw),
        (["1", "2", "\\xc3\\xa9"].map(str::to_owned).to_vec(), 1, 1)
    );
    let (keys, report) = read_with(text.as_bytes(), &of("b")).unwrap();
    assert_eq!((keys, report.elsewhere, report.raw), (vec!["2".to_owned(), "3".to_owned()], 2, 0));
    refused(line("\"a\"", "1").as_bytes(), &of("c"), &["no operation of the table `c`"]);
    assert_eq!(read_with(line("\"a\"", "1").as_bytes(), &lenient()).unwrap().1.table.as_deref(), Some("a"));
}

/// Gives its bytes in pieces of these lengths, again and again.
struct Pieces<'b> {
    rest: &'b [u8],
    lengths: Vec<usize>,
    turn: usize,
}

impl io::Read for Pieces<'_> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        self.turn += 1;
        let length = self.lengths[self.turn % self.lengths.len()];
        if length == 0 && self.turn.is_multiple_of(2) {
            return Err(io::ErrorKind::Interrupted.into());
        }
        let length = length.max(1).min(buffer.len()).min(self.rest.len());
        let (now, later) = self.rest.split_at(length);
        buffer[..length].copy_from_slice(now);
        self.rest = later;
        Ok(length)
    }
}

proptest! {
    #[test]
    fn what_a_pipe_brings_at_once_changes_nothing(
        text in r#"((([ab ]{0,4}|\\x0|\{"op":"read","key":"a"\})(\n|\r\n|\n\n)){0,40})"#,
        lengths in prop::collection::vec(0usize..9, 1..5),
        line_bytes_max in 1usize..30,
    ) {
        let options = Options { line_bytes_max, ..lenient() };
        let whole = read_with(text.as_bytes(), &options).map_err(|error| error.to_string());
        let mut keys = Vec::new();
        let mut sink = |operation: &Operation<'_>| {
            keys.push(rowkey::escape::escaped(operation.key).to_string());
            ControlFlow::Continue(())
        };
        let source = Pieces { rest: text.as_bytes(), lengths, turn: 0 };
        let report = read(source, "in.txt", &options, &mut sink, &mut |_| ());
        let pieces = report.map(|report| (keys, report)).map_err(|error| error.to_string());
        prop_assert_eq!(whole, pieces);
    }

    #[test]
    fn escaped_keys_come_back(keys in prop::collection::vec(prop::collection::vec(any::<u8>(), 1..20), 1..20)) {
        let lines: Vec<String> = keys.iter().map(|key| rowkey::escape::escaped(key).to_string()).collect();
        let options = Options { format: Some(Format::Keys), ..Options::default() };
        let (read, report) = read_with((lines.join("\n") + "\n").as_bytes(), &options).unwrap();
        prop_assert_eq!(read, lines);
        prop_assert_eq!(report.raw, 0);
    }
}

#[test]
fn the_corpus_is_read_without_a_complaint() {
    let corpus = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/corpus");
    let Ok(cases) = std::fs::read_dir(&corpus) else {
        eprintln!("SKIPPED: 30 cases, {} is not there", corpus.display());
        return;
    };
    let mut files = 0;
    for case in cases {
        let folder = case.unwrap().path();
        for (name, format) in [("keys.txt", Format::Keys), ("ops.jsonl", Format::Operations)] {
            let Ok(bytes) = std::fs::read(folder.join(name)) else { continue };
            let (_, report) = read_with(&bytes, &Options::default()).unwrap();
            files += 1;
            assert_eq!(
                (report.format, report.malformed, report.blank),
                (format, 0, 0),
                "{}",
                folder.display()
            );
            assert_eq!(report.lines, memchr::memchr_iter(b'\n', &bytes).count() as u64);
        }
    }
    assert_eq!(files, 30);
}
