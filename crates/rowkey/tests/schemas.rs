//! Schema files in `tests/schemas/`: each bad one names the message it gets in its first line, each good one the topics
//! of its warnings (`# warns: weak-hash`). `ROWKEY_BLESS=1 cargo test -p rowkey --test schemas` writes the messages anew: read the difference before you keep it.

use rowkey::KeySchema;
use std::fs;
use std::path::{Path, PathBuf};

fn files(folder: &str) -> Vec<(PathBuf, String)> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/schemas").join(folder);
    let entries = fs::read_dir(folder).expect("the folder is part of the repository");
    let mut paths: Vec<PathBuf> = entries.map(|entry| entry.expect("a readable entry").path()).collect();
    paths.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).expect("a file of UTF-8 text");
        (path, text)
    };
    paths.into_iter().map(read).collect()
}

#[test]
fn every_bad_schema_gets_exactly_the_message_in_its_first_line() {
    let bless = std::env::var_os("ROWKEY_BLESS").is_some();
    let mut faults = Vec::new();
    let files = files("bad");
    assert!(files.len() > 100);
    for (path, text) in files {
        let (first, rest) = text.split_once('\n').unwrap();
        let expected = first.strip_prefix("# expect: ").expect("a bad schema begins with `# expect: `");
        let actual =
            KeySchema::parse(&text).err().map_or_else(|| "no error".to_owned(), |error| error.to_string());
        if bless {
            fs::write(&path, format!("# expect: {actual}\n{rest}")).unwrap();
        } else if expected != actual {
            faults.push(format!("{}\n  expected {expected}\n  actual   {actual}", path.display()));
        }
    }
    assert!(faults.is_empty(), "\n{}", faults.join("\n"));
}

#[test]
fn every_good_schema_has_the_warnings_it_names_and_prints_to_an_equal_one() {
    for (path, text) in files("good") {
        let schema = KeySchema::parse(&text).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
        let expected = text.lines().find_map(|line| line.strip_prefix("# warns: ")).unwrap_or("nothing");
        let topics: Vec<&str> = schema.warnings().iter().map(|warning| warning.topic).collect();
        let actual = if topics.is_empty() { "nothing".to_owned() } else { topics.join(", ") };
        assert_eq!(actual, expected, "{}", path.display());
        assert_eq!(KeySchema::parse(&schema.to_toml()).as_ref(), Ok(&schema), "{}", path.display());
    }
}

#[test]
fn the_messages_that_the_reference_quotes_are_real() {
    let path = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/schema.md");
    let reference = fs::read_to_string(path).expect("docs/schema.md");
    let (_, messages) = reference.split_once("## Messages").expect("a section of messages");
    let block = messages.split("```").nth(1).expect("a block of messages");
    let known: Vec<String> =
        files("bad").into_iter().map(|(_, text)| text.lines().next().unwrap_or("").to_owned()).collect();
    for message in block.lines().skip(1) {
        let real = known.iter().any(|known| known.ends_with(&format!(": {message}")));
        assert!(real, "no bad schema has this message: {message}");
    }
}
