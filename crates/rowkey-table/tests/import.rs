//! Imports and exports: counts that add up, duplicates, rejects, and what comes back.

#![expect(clippy::unwrap_used, reason = "helpers of tests")]

mod common;

use common::{Fixture, parse};
use flate2::{Compression, write::GzEncoder};
use proptest::prelude::*;
use rowkey::KeySchema;
use rowkey::query::Query;
use rowkey_store::memory::MemoryEngine;
use rowkey_store::seeded::Seeded;
use rowkey_store::{Clock, Durability, Engine, ManualClock, Mutation, Row, Timestamp};
use rowkey_table::export::ExportFormat;
use rowkey_table::import::{
    ImportHooks, ImportOptions, ImportReport, InputFormat, Mapping, OnDuplicate, RestColumns, TimeColumn,
};
use rowkey_table::{CreateOptions, ErrorKind, KeyedTable, Result, ScanRequest};
use std::io::Write as _;
use std::ops::ControlFlow;
use std::sync::Arc;

const NOW_US: i64 = 1_700_000_000_123_456;
const CSV: InputFormat = InputFormat::Csv { delimiter: b',' };

fn fleet() -> KeySchema {
    parse(
        "[key]\nlayout = \"{salt}#{kind}#{unit}\"\n[key.salt]\nof = [\"unit\"]\nbuckets = 4\nhash = \"xxh3\"\n[key.fields]\n\
         kind = { type = \"string\" }\nunit = { type = \"uint\", digits = 3 }",
    )
}

fn table(schema: KeySchema) -> KeyedTable {
    let clock: Arc<dyn Clock> = Arc::new(ManualClock::new(NOW_US));
    let engine: Arc<dyn Engine> = Arc::new(MemoryEngine::new(Arc::clone(&clock)));
    KeyedTable::create(engine, clock, schema, &CreateOptions::default()).unwrap()
}

/// Imports with a reject file; answers with the report and the file.
fn import_with(
    table: &KeyedTable,
    text: &[u8],
    format: InputFormat,
    mapping: &Mapping,
    options: &ImportOptions,
) -> Result<(ImportReport, String)> {
    let mut rejects = Vec::new();
    let hooks = ImportHooks { rejects: Some(&mut rejects), progress: None };
    let report = table.import(text, format, mapping, options, hooks)?;
    assert!(report.adds_up());
    Ok((report, String::from_utf8(rejects).unwrap()))
}

fn import(table: &KeyedTable, text: &str) -> Result<(ImportReport, String)> {
    import_with(table, text.as_bytes(), CSV, &Mapping::default(), &ImportOptions::default())
}

fn rows(table: &KeyedTable) -> Vec<Row> {
    let snapshot = table.engine().snapshot(table.name()).unwrap();
    let rows = snapshot.read_rows(&rowkey_store::ReadRequest {
        rows: rowkey_store::RowSet::all(),
        ..rowkey_store::ReadRequest::default()
    });
    rows.unwrap().collect::<rowkey_store::Result<_>>().unwrap()
}

/// The cells of a table: unsalted key, column, milliseconds after the time of the import, value.
fn cells(table: &KeyedTable) -> Vec<String> {
    let cell = |row: &Row, cell: &rowkey_store::Cell| {
        let (_, unsalted) = table.codec().split_salt(&row.key).unwrap();
        let after_ms = (cell.timestamp_us - (NOW_US - NOW_US % 1000)) / 1000;
        format!(
            "{} {}:{}+{after_ms} {}",
            unsalted.escape_ascii(),
            cell.family,
            cell.qualifier.escape_ascii(),
            cell.value.escape_ascii()
        )
    };
    let mut cells: Vec<String> =
        rows(table).iter().flat_map(|row| row.cells.iter().map(move |one| cell(row, one))).collect();
    cells.sort();
    cells
}

fn export(table: &KeyedTable, format: &ExportFormat) -> Vec<u8> {
    let mut out = Vec::new();
    let request = ScanRequest::new(Query::new().full_scan());
    table.export(&mut out, format, &request, None).unwrap();
    out
}

#[test]
fn columns_become_fields_and_cells_by_name() {
    let table = table(fleet());
    let text = "unit,kind,speed,b:note\r\n7,van,\"8,5\",\"say \"\"hi\"\"\"\r\n12,car,,\r\n";
    let (report, rejects) = import(&table, text).unwrap();
    assert_eq!((report.rows_read, report.rows_written, report.cells_written), (2, 2, 4));
    assert_eq!(report.bytes_read, text.len() as u64);
    assert_eq!(rejects, "");
    let expected = [
        "#car#012 a:speed+0 ",
        "#car#012 b:note+0 ",
        "#van#007 a:speed+0 8,5",
        "#van#007 b:note+0 say \\\"hi\\\"",
    ];
    assert_eq!(cells(&table), expected);
}

#[test]
fn rules_map_columns_constants_and_integers() {
    let table = table(fleet());
    let mut mapping = Mapping { rest: RestColumns::Ignore, skip_empty: true, ..Mapping::default() };
    for rule in ["unit=id", "n=b:count", "text=a:t"] {
        mapping.add_rule(rule, table.schema()).unwrap();
    }
    mapping.add_constant("kind=van", table.schema()).unwrap();
    mapping.add_constant("b:source=file", table.schema()).unwrap();
    mapping.integers.insert("n".to_owned());
    let text = b"id;n;text;other\n7;-2;;x\n8;x;;x\n";
    let format = InputFormat::Csv { delimiter: b';' };
    let (report, rejects) = import_with(&table, text, format, &mapping, &ImportOptions::default()).unwrap();
    assert_eq!(report.columns_ignored, ["other"]);
    let count = "#van#007 b:count+0 \\xff\\xff\\xff\\xff\\xff\\xff\\xff\\xfe";
    assert_eq!(cells(&table), [count, "#van#007 b:source+0 file"]);
    let line = "{\"type\":\"rejected\",\"line\":3,\"reason\":\"column `n`: `x` is no 64-bit integer\",\"text\":\"8;x;;x\"}\n";
    assert_eq!(rejects, line);
    let error = mapping.add_rule("speed=c:x", table.schema()).unwrap_err().to_string();
    assert!(error.contains("`speed` is no key field") && error.contains("a, b"), "{error}");
}

#[test]
fn wrong_rows_are_rejected_with_line_reason_and_text() {
    let table = table(fleet());
    let text = "kind,unit,v\nvan,1,x\nvan,1000,x\nvan,2\n\"a\nb#\",3,x\nvan,,x\n";
    let (report, rejects) = import(&table, text).unwrap();
    assert_eq!((report.rows_read, report.rows_written, report.rows_rejected), (5, 1, 4));
    let lines: Vec<serde_json::Value> =
        rejects.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    let texts: Vec<_> =
        lines.iter().map(|line| (line["line"].as_u64().unwrap(), line["text"].as_str().unwrap())).collect();
    assert_eq!(texts, [(3, "van,1000,x"), (4, "van,2"), (5, "\"a\nb#\",3,x"), (7, "van,,x")]);
    assert!(lines[0]["reason"].as_str().unwrap().contains("unit"), "{rejects}");
    assert_eq!(lines[1]["reason"], "2 columns, but the header has 3");
    assert_eq!(report.first_rejects.len(), 4);
    // What was rejected can be corrected and imported again.
    let options = ImportOptions { rejects_max: Some(2), ..ImportOptions::default() };
    let error = import_with(&table, text.as_bytes(), CSV, &Mapping::default(), &options).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Data);
    assert!(error.to_string().contains("more than the 2 allowed; the last one, line 5"), "{error}");
}

#[test]
fn text_that_is_not_utf8_is_rejected_as_base64() {
    let table = table(fleet());
    let text = b"kind,unit,v\nv\xffn,1,x\nvan,1,\xff\n";
    let (report, rejects) =
        import_with(&table, text, CSV, &Mapping::default(), &ImportOptions::default()).unwrap();
    assert_eq!((report.rows_written, report.rows_rejected), (1, 1));
    assert!(rejects.contains("not UTF-8 at byte 1") && rejects.contains("\"base64\":"), "{rejects}");
    assert_eq!(cells(&table), ["#van#001 a:v+0 \\xff"]);
}

fn check_duplicates(on_duplicate: OnDuplicate, time: bool, text: &str, expected: &[&str], counts: [u64; 5]) {
    let table = table(fleet());
    let time = time.then(|| TimeColumn { column: "t".to_owned(), unit: rowkey::schema::TimeUnit::Millis });
    let mapping = Mapping { time, ..Mapping::default() };
    // Batches of two rows: duplicates meet across batches and within one.
    let options = ImportOptions { on_duplicate, batch_rows: 2, ..ImportOptions::default() };
    let (report, _) = import_with(&table, text.as_bytes(), CSV, &mapping, &options).unwrap();
    assert_eq!(cells(&table), expected, "{on_duplicate:?}");
    let found = [
        report.rows_read,
        report.rows_written,
        report.duplicates_kept,
        report.duplicates_overwritten,
        report.duplicates_rejected,
    ];
    assert_eq!(found, counts, "{on_duplicate:?}");
}

#[test]
fn duplicates_are_kept_overwritten_or_rejected() {
    let text = "kind,unit,v\nvan,1,a\ncar,1,a\nvan,1,b\nvan,001,c\n";
    let kept = ["#car#001 a:v+0 a", "#van#001 a:v+0 a", "#van#001 a:v+1 b", "#van#001 a:v+2 c"];
    check_duplicates(OnDuplicate::KeepVersions, false, text, &kept, [4, 2, 2, 0, 0]);
    let last = ["#car#001 a:v+0 a", "#van#001 a:v+0 c"];
    check_duplicates(OnDuplicate::Overwrite, false, text, &last, [4, 2, 0, 2, 0]);
    let first = ["#car#001 a:v+0 a", "#van#001 a:v+0 a"];
    check_duplicates(OnDuplicate::Reject, false, text, &first, [4, 2, 0, 0, 2]);
}

#[test]
fn duplicates_with_times_of_their_own_move_only_as_far_as_they_must() {
    let text = "kind,unit,v,t\nvan,1,a,1700000000200\nvan,1,b,1700000000125\nvan,1,c,2023-11-14T22:13:20.2Z\nvan,1,d,1700000000125\n";
    let kept = ["#van#001 a:v+2 b", "#van#001 a:v+3 d", "#van#001 a:v+77 a", "#van#001 a:v+78 c"];
    check_duplicates(OnDuplicate::KeepVersions, true, text, &kept, [4, 1, 3, 0, 0]);
    check_duplicates(OnDuplicate::Overwrite, true, text, &["#van#001 a:v+2 d"], [4, 1, 0, 3, 0]);
    check_duplicates(OnDuplicate::Reject, true, text, &["#van#001 a:v+77 a"], [4, 1, 0, 0, 3]);
}

#[test]
fn an_overwritten_record_leaves_no_cell_behind() {
    let table = table(fleet());
    let text = "{\"kind\":\"van\",\"unit\":1,\"x\":1,\"y\":[1, 2]}\n\n{\"kind\":\"van\",\"unit\":1,\"x\":1.50,\"z\":null}\n";
    let options = ImportOptions { on_duplicate: OnDuplicate::Overwrite, ..ImportOptions::default() };
    let format = InputFormat::JsonLines;
    let (report, _) = import_with(&table, text.as_bytes(), format, &Mapping::default(), &options).unwrap();
    assert_eq!(report.duplicates_overwritten, 1);
    assert_eq!(cells(&table), ["#van#001 a:x+0 1.50"]);
}

#[test]
fn a_rule_that_keeps_one_version_is_warned_of() {
    let schema = KeySchema::parse(
        "version = 1\ntable = \"t\"\n[key]\nlayout = \"{unit}\"\n[key.fields]\nunit = { type = \"u8\" }\n[families]\n\
         a = { gc = \"maxversions=1\" }\n",
    );
    let (report, _) = import(&table(schema.unwrap()), "unit,v\n1,a\n1,b\n").unwrap();
    assert_eq!(report.duplicates_kept, 1);
    assert!(report.warnings[0].contains("family `a` keeps one version"), "{:?}", report.warnings);
}

/// Counters have zero bytes, and an import of them was taken for a binary file.
#[test]
fn any_bytes_of_values_come_back_from_csv() {
    let table = table(fleet());
    let mut mapping = Mapping::default();
    mapping.integers.insert("a:v".to_owned());
    let options = ImportOptions::default();
    import_with(&table, b"kind,unit,a:v\nvan,1,2570\nvan,2,-1\n", CSV, &mapping, &options).unwrap();
    let format = ExportFormat::Csv { delimiter: b',', columns: None };
    let text = export(&table, &format);
    assert_eq!(text, b"kind,unit,a:v\nvan,1,\"\0\0\0\0\0\0\n\n\"\nvan,2,\xff\xff\xff\xff\xff\xff\xff\xff\n");
    let other = self::table(fleet());
    import_with(&other, &text, CSV, &Mapping::default(), &options).unwrap();
    assert_eq!(cells(&other), cells(&table));
}

/// A quote without an end made a field of all that follows it: the counts added up, and the rows were gone.
#[test]
fn a_quote_that_is_never_closed_does_not_swallow_the_rest() {
    let table = table(fleet());
    let (report, rejects) =
        import(&table, "kind,unit,a:v\nvan,1,\"x\"\nvan,2,\"y\nvan,3,z\nvan,4,z\n").unwrap();
    assert_eq!((report.rows_read, report.rows_written, report.rows_rejected), (2, 1, 1));
    assert!(rejects.contains("\"line\":3,\"reason\":\"a quote is never closed"), "{rejects}");
    assert!(rejects.contains("van,4,z"), "{rejects}");
    let error = import(&table, "kind,unit,\"a:v\nvan,1,x\n").unwrap_err();
    assert!(error.to_string().contains("header is never closed"), "{error}");
    for good in ["van,5,\"x\"", "van,6,\"\"\"\"", "van,7,x\"y", "van,8,\"a\nb\"\n", "van,9,\"a\"b\"c\r\n"] {
        let (report, rejects) = import(&table, &format!("kind,unit,a:v\n{good}")).unwrap();
        assert_eq!((report.rows_written, &rejects[..]), (1, ""), "{good}");
    }
}

/// The last one won, and nobody knew of the other.
#[test]
fn what_would_be_written_over_in_one_row_is_refused() {
    let schema = fleet();
    let check = |rules: &[&str], constants: &[&str], text: &str, what: &str| {
        let table = table(fleet());
        let mut mapping = Mapping::default();
        let ruled = rules.iter().try_for_each(|rule| mapping.add_rule(rule, &schema));
        let ruled =
            ruled.and_then(|()| constants.iter().try_for_each(|rule| mapping.add_constant(rule, &schema)));
        let result = ruled.and_then(|()| {
            let format = if text.starts_with('{') { InputFormat::JsonLines } else { CSV };
            import_with(&table, text.as_bytes(), format, &mapping, &ImportOptions::default())
        });
        let said = result.map_or_else(|error| error.to_string(), |(_, rejects)| rejects);
        assert!(said.contains(what), "{said}");
    };
    let text = "kind,unit,x,y\nvan,1,2,3\n";
    check(&["x=a:v", "y=a:v"], &[], text, "`x` and `y` are both the cell `a:v`");
    check(&["x=a:v"], &["a:v=7"], text, "both the cell `a:v`");
    check(&[], &["a:v=7", "a:v=8"], text, "both the cell `a:v`");
    check(&["x=a:v", "x=b:v"], &[], text, "a second one for the column `x`");
    check(&["unit=x", "unit=y"], &[], text, "a second one for the key field `unit`");
    check(&[], &["kind=van", "kind=car"], text, "a second one for the key field `kind`");
    check(&[], &[], "kind,unit,x,a:x\nvan,1,2,3\n", "`a:x` and `x` are both the cell `a:x`");
    check(
        &[],
        &[],
        "{\"kind\":\"van\",\"unit\":1,\"x\":2,\"a:x\":3}\n",
        "`a:x` and `x` are both the cell `a:x`",
    );
    check(
        &[],
        &[],
        "{\"kind\":\"van\",\"unit\":1,\"x\":{\"x\":2},\"x\":3}\n",
        "the member \\\"x\\\" stands twice",
    );
    check(&["z=a:v"], &[], "{\"kind\":\"van\",\"unit\":1,\"x\":\"{\\\"x\\\":1}\"}\n", "");
}

/// A pipe that breaks, or that Ctrl-C ends: what it brought is good.
#[test]
fn what_was_read_before_the_input_failed_is_written() {
    struct Breaks(Vec<&'static [u8]>);
    impl std::io::Read for Breaks {
        fn read(&mut self, buffer: &mut [u8]) -> std::io::Result<usize> {
            if self.0.is_empty() {
                return Err(std::io::Error::other("it broke"));
            }
            let bytes = self.0.remove(0);
            buffer[..bytes.len()].copy_from_slice(bytes);
            Ok(bytes.len())
        }
    }
    for (format, pieces) in [
        (CSV, [&b"kind,unit,v\nva"[..], b"n,1,2\nvan,2", b",3\nvan,3,4"]),
        (
            InputFormat::JsonLines,
            [b"{\"kind\":\"van\",\"unit\":1,", b"\"v\":2}\n", b"{\"kind\":\"van\",\"unit\":2,\"v\":3}\n{"],
        ),
    ] {
        let table = table(fleet());
        let (mapping, hooks) = (Mapping::default(), ImportHooks::default());
        let error = table.import(Breaks(pieces.to_vec()), format, &mapping, &ImportOptions::default(), hooks);
        let error = error.unwrap_err().to_string();
        assert!(
            error.contains("it broke") && error.contains("of which 2 are known to be written"),
            "{error}"
        );
        assert_eq!(cells(&table), ["#van#001 a:v+0 2", "#van#002 a:v+0 3"]);
    }
}

/// It was counted as an earlier record of its key, and the good one was rejected for that: neither was written.
#[test]
fn a_record_that_the_engine_refuses_makes_no_later_one_a_duplicate() {
    let table = table(fleet());
    let line = |family: &str| {
        let cell =
            format!("{{\"family\":\"{family}\",\"qualifier\":\"v\",\"timestamp_us\":5000,\"value\":\"1\"}}");
        format!("{{\"type\":\"row\",\"key\":{{\"kind\":\"van\",\"unit\":1}},\"cells\":[{cell}]}}\n")
    };
    let options = ImportOptions { on_duplicate: OnDuplicate::Reject, ..ImportOptions::default() };
    let text = line("no") + &line("a") + &line("a");
    let (report, rejects) =
        import_with(&table, text.as_bytes(), InputFormat::JsonLines, &Mapping::default(), &options).unwrap();
    assert_eq!(
        (report.rows_written, report.rows_rejected, report.duplicates_rejected),
        (1, 1, 1),
        "{rejects}"
    );
}

#[test]
fn members_of_json_lines_that_are_left_out_or_never_met_are_told() {
    let table = table(fleet());
    let mut mapping = Mapping { rest: RestColumns::Ignore, ..Mapping::default() };
    mapping.add_rule("x=a:x", table.codec().schema()).unwrap();
    mapping.add_rule("nope=a:y", table.codec().schema()).unwrap();
    let text =
        "{\"kind\":\"van\",\"unit\":1,\"x\":2,\"z\":3}\n{\"kind\":\"van\",\"unit\":2,\"x\":2,\"z\":3}\n";
    let (report, _) =
        import_with(&table, text.as_bytes(), InputFormat::JsonLines, &mapping, &ImportOptions::default())
            .unwrap();
    assert_eq!(report.columns_ignored, ["z"]);
    assert_eq!(report.warnings, ["no record has the member `nope` that a rule names"]);
}

#[test]
fn what_the_engine_refuses_of_one_row_is_rejected_and_counted() {
    let table = table(fleet());
    let long = "x".repeat(5000);
    let (report, rejects) = import(&table, &format!("kind,unit,v\n{long},1,a\nvan,1,a\n")).unwrap();
    assert_eq!((report.rows_written, report.rows_rejected), (1, 1));
    assert!(rejects.contains("the limit is 4096"), "{}", &rejects[..200]);
    let line = "{\"type\":\"row\",\"key\":{\"kind\":\"van\",\"unit\":2},\"cells\":[{\"family\":\"zz\",\"qualifier\":\"q\",\
                \"timestamp_us\":0,\"value\":{\"text\":\"v\"}}]}";
    let format = InputFormat::JsonLines;
    let options = ImportOptions::default();
    let (report, rejects) =
        import_with(&table, line.as_bytes(), format, &Mapping::default(), &options).unwrap();
    assert_eq!((report.rows_read, report.rows_rejected), (1, 1));
    assert!(rejects.contains("zz"), "{rejects}");
}

#[test]
fn wrong_files_are_refused_with_what_to_do() {
    let table = table(fleet());
    let check = |text: &[u8], what: &str| {
        let error =
            import_with(&table, text, CSV, &Mapping::default(), &ImportOptions::default()).unwrap_err();
        assert!(matches!(error.kind(), ErrorKind::Data | ErrorKind::Invalid), "{error}");
        assert!(error.to_string().contains(what), "{error}");
    };
    check(b"", "the input is empty");
    check(b"\x7fELF\x02\x01\x01\x00\x00", "byte 7 is 00");
    check(b"kind,speed\nvan,1\n", "key field `unit` has no column of its name; map one with `unit=COLUMN`");
    check(b"kind,unit\nvan,1\n", "no column is left for a cell");
    check(b"kind,unit,unit,v\n", "two columns `unit`");
    check(b"k\xff,unit\n", "not UTF-8 in column 1");
    check(b"{\"kind\":\"van\",\"unit\":1}\n", "looks like JSON lines");
    let error =
        table.import(&b"{}"[..], CSV, &Mapping::default(), &ImportOptions::default(), ImportHooks::default());
    assert!(error.unwrap_err().to_string().contains("key field `kind` has no column"));
    let (report, _) = import(&table, "kind,unit,v\n").unwrap();
    assert_eq!(report.warnings, ["the input has no records"]);
    let (_, rejects) = import_with(
        &table,
        b"[1]\nkind\n",
        InputFormat::JsonLines,
        &Mapping::default(),
        &ImportOptions::default(),
    )
    .unwrap();
    assert_eq!(rejects.matches("no JSON object").count(), 2, "{rejects}");
}

#[test]
fn the_progress_function_may_stop_an_import() {
    let table = table(fleet());
    let text: String =
        (0..900).fold("kind,unit,v\n".to_owned(), |text, unit| text + &format!("van,{unit},x\n"));
    let mut calls = Vec::new();
    let mut progress = |progress: rowkey_table::import::Progress| {
        calls.push(progress.rows);
        if progress.rows >= 300 { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let hooks = ImportHooks { rejects: None, progress: Some(&mut progress) };
    let options = ImportOptions { batch_rows: 100, ..ImportOptions::default() };
    let error = table.import(text.as_bytes(), CSV, &Mapping::default(), &options, hooks).unwrap_err();
    assert_eq!(error.kind(), ErrorKind::Cancelled);
    assert!(error.to_string().contains("stopped after 300 records, of which 300"), "{error}");
    assert_eq!(calls, [100, 200, 300]);
    assert_eq!(rows(&table).len(), 300);
}

#[test]
fn gzip_and_byte_order_marks_are_read() {
    let table = table(fleet());
    let mut encoder = GzEncoder::new(Vec::new(), Compression::fast());
    encoder.write_all(b"\xef\xbb\xbfkind,unit,v\nvan,1,x\n").unwrap();
    let options = ImportOptions { durability: Durability::Buffered, ..ImportOptions::default() };
    import_with(&table, &encoder.finish().unwrap(), CSV, &Mapping::default(), &options).unwrap();
    let line = b"\xef\xbb\xbf{\"kind\":\"van\",\"unit\":\"2\",\"v\":\"\\u0041\"}";
    import_with(&table, line, InputFormat::JsonLines, &Mapping::default(), &options).unwrap();
    assert_eq!(cells(&table), ["#van#001 a:v+0 x", "#van#002 a:v+0 A"]);
}

#[test]
fn csv_comes_back_as_it_went_in() {
    let table = table(fleet());
    let text = "kind,unit,a:v,b:w\ncar,12,\"1,5\",\nvan,7,\"a\"\"\nb\",x\n";
    import(&table, text).unwrap();
    let format = ExportFormat::Csv { delimiter: b',', columns: None };
    assert_eq!(String::from_utf8(export(&table, &format)).unwrap(), text);
    // Older versions and columns that were not asked for are counted.
    import_with(
        &table,
        b"kind,unit,a:v\nvan,7,z\n",
        CSV,
        &Mapping::default(),
        &ImportOptions { timestamp_us: Some(NOW_US + 5000), ..ImportOptions::default() },
    )
    .unwrap();
    let columns = Some(vec![("a".to_owned(), "v".into())]);
    let mut out = Vec::new();
    let request = ScanRequest::new(Query::new().full_scan());
    let format = ExportFormat::Csv { delimiter: b';', columns };
    let report = table.export(&mut out, &format, &request, None).unwrap();
    assert_eq!(String::from_utf8(out).unwrap(), "kind;unit;a:v\ncar;12;1,5\nvan;7;z\n");
    assert_eq!((report.rows, report.cells, report.versions_omitted, report.cells_omitted), (2, 2, 1, 2));
}

#[derive(Debug)]
struct Broken;

impl std::io::Write for Broken {
    fn write(&mut self, _: &[u8]) -> std::io::Result<usize> {
        Err(std::io::ErrorKind::BrokenPipe.into())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

#[test]
fn a_broken_pipe_can_be_told_from_the_source_of_the_error() {
    let table = table(fleet());
    import(&table, "kind,unit,v\nvan,1,x\n").unwrap();
    let request = ScanRequest::new(Query::new().full_scan());
    for format in [ExportFormat::JsonLines, ExportFormat::Csv { delimiter: b',', columns: None }] {
        let error = table.export(&mut Broken, &format, &request, None).unwrap_err();
        assert_eq!(error.kind(), ErrorKind::Output);
        let source = std::error::Error::source(&error).unwrap().downcast_ref::<std::io::Error>().unwrap();
        assert_eq!(source.kind(), std::io::ErrorKind::BrokenPipe);
    }
}

/// Adds versions and odd bytes to the rows of a fixture.
fn scribble(fixture: &Fixture, seeded: &mut Seeded) {
    for row in &fixture.rows {
        let mutations = (0..=seeded.below(4)).map(|_| {
            let family = *seeded.one_of(&["a", "b"]);
            let qualifier = seeded.one_of(&[&b""[..], b"q", b"\xff\x00", "\u{e4}\"".as_bytes()]).to_vec();
            let value = seeded.one_of(&[&b""[..], b"text", b"\x80", b"\n\\"]).to_vec();
            let micros = 1000 * i64::try_from(seeded.below(5)).unwrap();
            Mutation::set(family, qualifier, Timestamp::Micros(micros), value)
        });
        let row = rowkey_store::RowMutation { key: row.key.clone().into(), mutations: mutations.collect() };
        for result in fixture.table.engine().mutate_rows("t", vec![row], Durability::Synced).unwrap() {
            result.unwrap();
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 150, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn importing_an_export_gives_an_equal_table(seed: u64) {
        let mut seeded = Seeded::new(seed);
        let fixture = Fixture::random(&mut seeded, 40);
        scribble(&fixture, &mut seeded);
        let mut out = Vec::new();
        let request = ScanRequest { ordered: false, ..ScanRequest::new(Query::new().full_scan()) };
        let report = fixture.table.export(&mut out, &ExportFormat::JsonLines, &request, None).unwrap();
        prop_assert_eq!(report.rows, fixture.rows.len() as u64);
        let copy = table(fixture.table.schema().clone());
        let options = ImportOptions { batch_rows: 7, ..ImportOptions::default() };
        let (report, rejects) =
            import_with(&copy, &out, InputFormat::JsonLines, &Mapping::default(), &options).unwrap();
        prop_assert_eq!(rejects, "");
        prop_assert_eq!(report.rows_written, fixture.rows.len() as u64);
        prop_assert_eq!(rows(&copy), rows(&fixture.table));
    }

    #[test]
    fn any_bytes_are_an_error_or_counts_that_add_up(text: Vec<u8>, json: bool) {
        let table = table(fleet());
        let format = if json { InputFormat::JsonLines } else { CSV };
        let mut input = if json { Vec::new() } else { b"kind,unit,v\n".to_vec() };
        input.extend(text);
        if let Ok((report, _)) = import_with(&table, &input, format, &Mapping::default(), &ImportOptions::default()) {
            prop_assert!(report.adds_up());
        }
    }

    #[test]
    fn duplicates_of_random_rows_are_counted_exactly(units in prop::collection::vec(0u8..30, 0..200), batch_rows in 1usize..50) {
        let table = table(fleet());
        let text = units.iter().fold("kind,unit,v\n".to_owned(), |text, unit| text + &format!("van,{unit},{unit}\n"));
        let options = ImportOptions { batch_rows, ..ImportOptions::default() };
        let (report, _) = import_with(&table, text.as_bytes(), CSV, &Mapping::default(), &options).unwrap();
        let distinct: std::collections::BTreeSet<u8> = units.iter().copied().collect();
        prop_assert_eq!(report.rows_written, distinct.len() as u64);
        prop_assert_eq!(report.duplicates_kept, (units.len() - distinct.len()) as u64);
        // Every record is a cell of its own.
        prop_assert_eq!(cells(&table).len(), units.len());
    }
}
