//! Runs the transcripts in `tests/cli/*.txt`, and those in `README.md` and the pages of `docs`, against the real binary.
//!
//! ```text
//! ## a comment
//! $ rowkey schema check s.toml        a command for `sh`; lines that begin with `> ` continue it
//! s.toml: good schema ...             what it must print to stdout; `[..]` stands for anything in a line
//! stderr:
//! warning: ...                        what it must print to stderr
//! [exit 1]                            its exit code, unless that is 0
//! ```
//!
//! In a page, only the blocks fenced as `console` count. The commands of one file run in order, in one folder of their own,
//! which begins with the files of `tests/cli/files`. `ROWKEY_TRANSCRIPT=table` runs one file.
//! `ROWKEY_BLESS=1 cargo test -p rowkey-cli --test transcripts` writes what the binary printed into the files.

#![expect(clippy::unwrap_used, reason = "a test that cannot run its commands has failed")]

use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::{env, fs, thread};

#[test]
fn transcripts_are_what_the_binary_prints() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let mut files: Vec<PathBuf> =
        fs::read_dir(root.join("tests/cli")).unwrap().map(|entry| entry.unwrap().path()).collect();
    files.retain(|file| file.extension().is_some_and(|extension| extension == "txt"));
    files.extend(["README.md", "docs/cli.md", "docs/errors.md"].map(|page| root.join("../..").join(page)));
    if let Ok(wanted) = env::var("ROWKEY_TRANSCRIPT") {
        files.retain(|file| file.file_stem().is_some_and(|stem| *stem == *wanted));
    }
    files.sort();
    assert!(!files.is_empty(), "no transcripts in {}", root.display());
    let runs: Vec<_> = files.into_iter().map(|file| thread::spawn(move || run_file(&file))).collect();
    let failures: Vec<String> = runs.into_iter().filter_map(|run| run.join().unwrap()).collect();
    assert!(failures.is_empty(), "{}", failures.join("\n"));
}

/// Answers what differs, if anything does.
fn run_file(file: &Path) -> Option<String> {
    let text = fs::read_to_string(file).unwrap();
    let folder = tempfile::tempdir().unwrap();
    for entry in fs::read_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cli/files")).unwrap() {
        let entry = entry.unwrap();
        fs::copy(entry.path(), folder.path().join(entry.file_name())).unwrap();
    }
    let is_page = file.extension().is_some_and(|extension| extension == "md");
    let mut actual = String::new();
    let mut lines = text.lines().peekable();
    let mut inside = !is_page;
    while let Some(line) = lines.next() {
        if is_page && line.starts_with("```") {
            inside = line == "```console";
        }
        actual.push_str(line);
        actual.push('\n');
        let Some(command) = line.strip_prefix("$ ").filter(|_| inside) else { continue };
        let mut script = command.to_owned();
        while let Some(more) = lines.next_if(|line| line.starts_with("> ") || *line == ">") {
            actual.push_str(more);
            actual.push('\n');
            script.push('\n');
            script.push_str(more.strip_prefix("> ").unwrap_or_default());
        }
        let mut expected = Vec::new();
        let ends =
            |line: &str| line.starts_with("$ ") || line.starts_with("## ") || (is_page && line == "```");
        while let Some(line) = lines.next_if(|line| !ends(line)) {
            expected.push(line);
        }
        // Blank lines before the next command belong to nobody.
        let blank_lines = expected.iter().rev().take_while(|line| line.is_empty()).count();
        expected.truncate(expected.len() - blank_lines);
        actual.push_str(&keep_wildcards(&expected, &run(&script, folder.path())));
        actual.extend(std::iter::repeat_n('\n', blank_lines));
    }
    if actual == text {
        return None;
    }
    if env::var_os("ROWKEY_BLESS").is_some() {
        fs::write(file, actual).unwrap();
        return None;
    }
    Some(difference(file, &text, &actual))
}

fn run(script: &str, folder: &Path) -> String {
    let binary_folder = Path::new(env!("CARGO_BIN_EXE_rowkey")).parent().unwrap();
    let mut path = binary_folder.as_os_str().to_owned();
    path.push(":");
    path.push(env::var_os("PATH").unwrap_or_default());
    let output = Command::new("sh")
        .args(["-c", script])
        .current_dir(folder)
        .env("PATH", path)
        .env("HOME", folder)
        .env("LC_ALL", "C")
        .env("TZ", "UTC")
        .env_remove("ROWKEY_STORE")
        .env_remove("ROWKEY_RECORD")
        .env_remove("NO_COLOR")
        .env_remove("COLUMNS")
        .stdin(Stdio::null())
        .output()
        .unwrap();
    let mut shown = String::from_utf8_lossy(&output.stdout).into_owned();
    end_line(&mut shown);
    if !output.stderr.is_empty() {
        shown.push_str("stderr:\n");
        shown.push_str(&String::from_utf8_lossy(&output.stderr));
        end_line(&mut shown);
    }
    match output.status.code() {
        Some(0) => {}
        Some(code) => writeln!(shown, "[exit {code}]").unwrap(),
        None => shown.push_str("[killed]\n"),
    }
    shown
}

fn end_line(text: &mut String) {
    if !text.is_empty() && !text.ends_with('\n') {
        text.push('\n');
    }
}

/// The actual lines, but an expected line in their place where that has a wildcard and fits.
fn keep_wildcards(expected: &[&str], actual: &str) -> String {
    let mut out = String::new();
    for (at, line) in actual.lines().enumerate() {
        let kept = expected.get(at).filter(|expected| expected.contains("[..]") && fits(expected, line));
        out.push_str(kept.unwrap_or(&line));
        out.push('\n');
    }
    out
}

fn fits(pattern: &str, line: &str) -> bool {
    let mut parts = pattern.split("[..]");
    let Some(mut rest) = line.strip_prefix(parts.next().unwrap_or_default()) else { return false };
    let mut last = None;
    for part in parts {
        if let Some(previous) = last.replace(part) {
            let Some(at) = rest.find(previous) else { return false };
            rest = &rest[at + previous.len()..];
        }
    }
    last.is_none_or(|last| rest.ends_with(last))
}

fn difference(file: &Path, expected: &str, actual: &str) -> String {
    let mut out = format!("{} differs (ROWKEY_BLESS=1 accepts what was printed):\n", file.display());
    let (mut left, mut right) = (expected.lines(), actual.lines());
    for number in 1.. {
        let (one, other) = (left.next(), right.next());
        if one != other {
            for (what, first, rest) in [("expected", one, left), ("printed", other, right)] {
                writeln!(out, "  line {number}, {what}:").unwrap();
                for line in first.into_iter().chain(rest).take(12) {
                    writeln!(out, "    {line}").unwrap();
                }
            }
            break;
        }
    }
    out
}
