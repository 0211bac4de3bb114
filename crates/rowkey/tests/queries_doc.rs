//! The outputs in `docs/queries.md` are the real ones. `ROWKEY_UPDATE_DOCS=1 cargo test -p rowkey --test queries_doc` writes them anew.

use rowkey::splits::{self, Format};
use rowkey::{Codec, KeySchema, Query};
use std::path::Path;

const PLAN: &str = "$ rowkey plan --schema fleet.toml ";
const SPLITS: &str = "$ rowkey splits --schema fleet.toml --regions ";

#[test]
fn the_outputs_in_the_docs_are_the_real_ones() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/queries.md");
    let text = std::fs::read_to_string(&path).unwrap();
    let (_, behind) = text.split_once("```toml\n").unwrap();
    let (schema, _) = behind.split_once("```").unwrap();
    let codec = Codec::new(KeySchema::parse(schema).unwrap()).unwrap();
    let real = with_real_outputs(&codec, &text);
    if real != text && std::env::var_os("ROWKEY_UPDATE_DOCS").is_some() {
        std::fs::write(&path, &real).unwrap();
        return;
    }
    assert_eq!(real, text);
}

/// Replaces what stands between a command and the end of its block.
fn with_real_outputs(codec: &Codec, text: &str) -> String {
    let mut real = String::with_capacity(text.len());
    let mut is_output = false;
    for line in text.lines() {
        if is_output && line != "```" {
            continue;
        }
        is_output = false;
        real.push_str(line);
        real.push('\n');
        let output = if let Some(condition) = line.strip_prefix(PLAN) {
            plan(codec, condition.trim_matches('\''))
        } else if let Some(arguments) = line.strip_prefix(SPLITS) {
            split(codec, arguments)
        } else {
            continue;
        };
        is_output = true;
        real.push_str(&output);
    }
    real
}

fn plan(codec: &Codec, condition: &str) -> String {
    match Query::parse(codec, condition).and_then(|query| rowkey::plan(codec, &query)) {
        Ok(plan) => plan.to_string(),
        Err(error) => format!("error: {error}\n"),
    }
}

fn split(codec: &Codec, arguments: &str) -> String {
    let (regions, format) = arguments.split_once(" --for ").expect("a number of regions and a tool");
    let regions = regions.parse().expect("a number of regions");
    let format: Format = format.parse().expect("a known tool");
    let points = splits::for_regions(codec, regions).expect("a schema that can be cut");
    splits::print(format, codec.schema(), &points.points).expect("printable points")
}
