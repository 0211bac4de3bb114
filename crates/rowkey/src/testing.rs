//! Helpers of this crate's tests.

use std::fmt::Write as _;

/// Calls `check` with the name and the other columns of every line of a file of vectors.
pub(crate) fn for_each_vector(file: &str, mut check: impl FnMut(&str, &[&str])) {
    let mut lines = 0;
    for line in file.lines().filter(|line| !line.starts_with('#')) {
        let mut columns = line.split('\t');
        let name = columns.next().unwrap();
        let columns: Vec<&str> = columns.collect();
        check(name, &columns);
        lines += 1;
    }
    assert!(lines > 0, "a file of vectors has lines");
}

/// Lower-case hex digits of `bytes`.
pub(crate) fn hex(bytes: &[u8]) -> String {
    bytes.iter().fold(String::new(), |mut text, byte| {
        write!(text, "{byte:02x}").unwrap();
        text
    })
}
