//! What needs more than one process, or a signal: a store in use, Ctrl-C, a reader that goes away, a damaged file.

#![expect(clippy::unwrap_used, reason = "a test that cannot run its commands has failed")]

use std::fmt::Write as _;
use std::fs;
use std::io::{BufRead as _, BufReader, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStdin, Command, Output, Stdio};

const SCHEMA: &str = "version = 1\ntable = \"t\"\n[key]\nlayout = \"{id}\"\n[key.fields]\nid = { type = \"uint\", digits = 8 }\n\
                      [families]\nf = { gc = \"maxversions=1\" }\n";

fn rowkey(folder: &Path, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_rowkey"));
    command
        .args(arguments)
        .current_dir(folder)
        .env_remove("ROWKEY_STORE")
        .env_remove("ROWKEY_RECORD")
        .stdin(Stdio::null());
    command
}

fn run(folder: &Path, arguments: &[&str]) -> Output {
    rowkey(folder, arguments).output().unwrap()
}

fn stderr(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// A folder with a store that has the table `t`.
fn table() -> tempfile::TempDir {
    let folder = tempfile::tempdir().unwrap();
    fs::write(folder.path().join("s.toml"), SCHEMA).unwrap();
    let output = run(folder.path(), &["table", "create", "--schema", "s.toml"]);
    assert!(output.status.success(), "{}", stderr(&output));
    folder
}

/// An import that reads from a pipe, and has the store open when this returns.
fn begin_import(folder: &Path, arguments: &[&str]) -> (Child, ChildStdin) {
    loop {
        let mut import = rowkey(folder, &[&["import", "t", "-"], arguments].concat())
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let input = import.stdin.take().unwrap();
        // The probe has the store open itself for a moment; an import that comes then is refused, and begins again.
        while import.try_wait().unwrap().is_none() {
            let probe = run(folder, &["table", "list"]);
            if probe.status.code() == Some(4) && import.try_wait().unwrap().is_none() {
                return (import, input);
            }
        }
    }
}

#[test]
fn a_second_process_is_told_that_the_store_is_in_use() {
    let folder = table();
    let (import, mut input) = begin_import(folder.path(), &[]);
    let second = run(folder.path(), &["scan", "t", "--full-scan"]);
    assert_eq!(second.status.code(), Some(4));
    assert!(
        stderr(&second).contains("in use") || stderr(&second).contains("another process"),
        "{}",
        stderr(&second)
    );
    input.write_all(b"id,a\n1,x\n").unwrap();
    drop(input);
    let first = import.wait_with_output().unwrap();
    assert!(first.status.success(), "{}", stderr(&first));
    let third = run(folder.path(), &["scan", "t", "--full-scan", "--format", "csv"]);
    assert_eq!(String::from_utf8_lossy(&third.stdout), "id,f:a\n1,x\n");
}

#[test]
fn ctrl_c_ends_an_import_after_its_batch_and_says_what_was_done() {
    let folder = table();
    let (import, mut input) = begin_import(folder.path(), &["--format", "json"]);
    let status = Command::new("kill").args(["-INT", &import.id().to_string()]).status().unwrap();
    assert!(status.success());
    input.write_all(b"id,a\n").unwrap();
    for id in 0..50_000 {
        // The import may be gone before it has read everything.
        if input.write_all(format!("{id},x\n").as_bytes()).is_err() {
            break;
        }
    }
    drop(input);
    let output = import.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(130), "{}", stderr(&output));
    assert!(stderr(&output).contains("interrupted"), "{}", stderr(&output));
    let told = stderr(&output);
    let written: usize = told
        .split_once("of which ")
        .and_then(|(_, rest)| rest.split(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or_else(|| panic!("{told}"));
    assert!(written < 50_000, "{told}");
    let rows = run(folder.path(), &["scan", "t", "--full-scan", "--format", "json"]).stdout;
    assert_eq!(String::from_utf8_lossy(&rows).lines().count(), written, "{told}");
}

#[test]
fn a_reader_that_goes_away_is_no_failure() {
    let folder = table();
    let mut rows = String::from("id,a\n");
    (0..20_000).for_each(|id| writeln!(rows, "{id},a value of some length").unwrap());
    fs::write(folder.path().join("rows.csv"), rows).unwrap();
    let output = run(folder.path(), &["import", "t", "rows.csv", "--durability", "buffered"]);
    assert!(output.status.success(), "{}", stderr(&output));
    for arguments in [&["scan", "t", "--full-scan"][..], &["export", "t", "--format", "json"]] {
        let mut child =
            rowkey(folder.path(), arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let mut first = String::new();
        // Dropping the reader closes the pipe, long before all rows fit into it.
        BufReader::new(child.stdout.take().unwrap()).read_line(&mut first).unwrap();
        assert!(!first.is_empty());
        let output = child.wait_with_output().unwrap();
        assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}", stderr(&output));
        assert_eq!(stderr(&output), "", "{arguments:?}");
    }
}

fn files(folder: &Path) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() { found.extend(files(&path)) } else { found.push(path) }
    }
    found.sort();
    found
}

#[test]
fn a_damaged_file_is_reported_by_name_or_does_no_harm() {
    let folder = table();
    let mut rows = String::from("id,a\n");
    (0..5_000).for_each(|id| writeln!(rows, "{id},value {id}").unwrap());
    fs::write(folder.path().join("rows.csv"), rows).unwrap();
    assert!(run(folder.path(), &["import", "t", "rows.csv", "--durability", "buffered"]).status.success());
    let scan = ["scan", "t", "--full-scan", "--format", "csv"];
    let whole = run(folder.path(), &scan);
    assert!(whole.status.success(), "{}", stderr(&whole));
    let mut reported = 0;
    for file in files(&folder.path().join("data")) {
        let good = fs::read(&file).unwrap();
        if good.len() < 64 {
            continue;
        }
        let copy = tempfile::tempdir().unwrap();
        let target = copy.path().join("data");
        copy_folder(&folder.path().join("data"), &target);
        let mut bad = good.clone();
        let middle = bad.len() / 2;
        bad[middle] ^= 0x55;
        fs::write(target.join(file.strip_prefix(folder.path().join("data")).unwrap()), bad).unwrap();
        let output = run(copy.path(), &scan);
        let name = file.display();
        match output.status.code() {
            // Spare room of a file, or a cell of a journal that is on disk elsewhere.
            Some(0) => assert!(output.stdout == whole.stdout, "{name}: other rows, and no error"),
            Some(3) => reported += 1,
            code => panic!("{name}: exit {code:?}: {}", stderr(&output)),
        }
    }
    assert!(reported > 0, "no damage was noticed");
}

fn copy_folder(from: &Path, to: &Path) {
    fs::create_dir(to).unwrap();
    for entry in fs::read_dir(from).unwrap() {
        let path = entry.unwrap().path();
        let target = to.join(path.file_name().unwrap());
        if path.is_dir() {
            copy_folder(&path, &target);
        } else {
            fs::copy(&path, &target).unwrap();
        }
    }
}

/// What is recorded is read back as the operations that were done.
#[test]
fn recorded_operations_are_read_back() {
    use rowkey_hotspot::OpKind;
    use rowkey_hotspot::input::{self, Format, Options};
    use std::ops::ControlFlow;

    let folder = table();
    fs::write(folder.path().join("rows.csv"), "id,a\n1,x\n2,y\n").unwrap();
    for command in [
        &["import", "t", "rows.csv", "--record", "ops.jsonl"][..],
        &["get", "t", "id=2", "--record", "ops.jsonl"],
        &["scan", "t", "--where", "id >= 2", "--record", "ops.jsonl"],
        &["delete", "t", "id=1", "--record", "ops.jsonl"],
        // What fails is not recorded.
        &["put", "t", "id=3", "--set", "nope:a=x", "--record", "ops.jsonl"],
    ] {
        let output = run(folder.path(), command);
        assert_eq!(output.status.success(), command[0] != "put", "{command:?}: {}", stderr(&output));
    }
    let mut done = Vec::new();
    let mut sink = |operation: &rowkey_hotspot::Operation<'_>| {
        assert!(operation.time_ms.is_some_and(|time_ms| time_ms > 1_700_000_000_000));
        let text = |key: &[u8]| String::from_utf8_lossy(key).into_owned();
        done.push((operation.kind, text(operation.key), operation.end.map(text), operation.rows));
        ControlFlow::Continue(())
    };
    let file = fs::File::open(folder.path().join("ops.jsonl")).unwrap();
    let report = input::read(file, "ops.jsonl", &Options::default(), &mut sink, &mut |_| ()).unwrap();
    assert_eq!((report.format, report.table.as_deref()), (Format::Operations, Some("t")));
    assert!(report.malformed == 0 && report.ignored.is_empty(), "{report:?}");
    let one = |kind, key: &str, rows| (kind, key.to_owned(), None, Some(rows));
    let scan = (OpKind::Scan, "00000002".to_owned(), None, Some(1));
    assert_eq!(
        done,
        [
            one(OpKind::Write, "00000001", 1),
            one(OpKind::Write, "00000002", 1),
            one(OpKind::Read, "00000002", 1),
            scan,
            one(OpKind::Delete, "00000001", 1),
        ]
    );
    let nowhere = run(folder.path(), &["get", "t", "id=2", "--record", "no/such/folder/ops.jsonl"]);
    assert_eq!(nowhere.status.code(), Some(3));
    assert!(stderr(&nowhere).contains("--record no/such/folder/ops.jsonl"), "{}", stderr(&nowhere));
}
