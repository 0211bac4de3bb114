//! The tour prints the same every time: the README shows it.

#![expect(clippy::unwrap_used, reason = "a test that cannot run its commands has failed")]

use std::path::Path;
use std::process::{Command, Stdio};

fn tour(folder: &Path, arguments: &[&str]) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_rowkey"))
        .arg("tour")
        .args(arguments)
        .current_dir(folder)
        .stdin(Stdio::null())
        .output()
        .unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    String::from_utf8(output.stdout).unwrap()
}

#[test]
fn the_tour_prints_what_is_committed_and_leaves_nothing_behind() {
    let folder = tempfile::tempdir().unwrap();
    let printed = tour(folder.path(), &[]);
    let golden = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/tour/tour.txt");
    if std::env::var_os("ROWKEY_BLESS").is_some() {
        std::fs::write(&golden, &printed).unwrap();
    }
    let expected = std::fs::read_to_string(&golden).unwrap();
    assert!(printed == expected, "{printed}\n(ROWKEY_BLESS=1 accepts this)");
    assert_eq!(std::fs::read_dir(folder.path()).unwrap().count(), 0);
}

#[test]
fn the_readme_shows_lines_of_the_tour_in_their_order() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let golden = std::fs::read_to_string(root.join("tests/tour/tour.txt")).unwrap();
    let readme = std::fs::read_to_string(root.join("../../README.md")).unwrap();
    let shown = readme.split("```text\n").nth(1).and_then(|rest| rest.split("```").next()).unwrap();
    let mut printed = golden.lines();
    for line in shown.lines().filter(|line| *line != "...") {
        assert!(printed.any(|other| other == line), "the tour does not print this line, or earlier: {line}");
    }
}

#[test]
fn a_kept_tour_can_be_gone_on_with() {
    let folder = tempfile::tempdir().unwrap();
    let printed = tour(folder.path(), &["--seed", "7", "--keep", "demo"]);
    let (_, next) = printed.split_once("\nNext\n").unwrap();
    let binary_folder = Path::new(env!("CARGO_BIN_EXE_rowkey")).parent().unwrap().display().to_string();
    let path = format!("{binary_folder}:{}", std::env::var("PATH").unwrap());
    let script = format!("set -e\n{next}");
    let output = Command::new("sh")
        .args(["-c", &script])
        .current_dir(folder.path())
        .env("PATH", path)
        .output()
        .unwrap();
    assert!(output.status.success(), "{script}\n{}", String::from_utf8_lossy(&output.stderr));
}
