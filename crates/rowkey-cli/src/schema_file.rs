//! Reading a schema file; what is wrong with it is shown with its line and a caret.

use crate::exit::Failure;
use anyhow::Result;
use rowkey::{ErrorKind, KeySchema};
use rowkey_store::gc;
use std::io::Read as _;
use std::path::Path;

/// No schema file is longer; a wrong path to a large file must not be read into memory.
const BYTES_MAX: u64 = 1 << 20;

/// Reads and checks a schema file.
///
/// # Errors
///
/// If the file cannot be read, is no text, or is no good schema: `file:line:column: message`, the line and a caret.
pub(crate) fn load(path: &Path) -> Result<KeySchema> {
    let text = read_text(path)?;
    let schema = KeySchema::parse(&text).map_err(|error| {
        let ErrorKind::Schema { line, column } = error.kind() else {
            return anyhow::Error::new(error).context(format!("schema {}", path.display()));
        };
        Failure::bad_data(with_caret(&path.display().to_string(), &text, line, column, &describe(&error)))
    })?;
    check_rules(&schema, path, &text)?;
    Ok(schema)
}

/// Keys and cells do not know each other: whether a garbage-collection rule is one is checked here, so that no command finds out later.
fn check_rules(schema: &KeySchema, path: &Path, text: &str) -> Result<()> {
    for family in &schema.families {
        let Err(error) = gc::parse_rule(&family.gc) else { continue };
        let message = format!("family `{}`: {error}", family.name);
        let (line, column) = place_of_rule(&family.name, &family.gc, text);
        return Err(Failure::bad_data(with_caret(&path.display().to_string(), text, line, column, &message)));
    }
    Ok(())
}

/// Line and column of a rule, both from 1: where it stands in quotes of either kind, best of all in a line that names the family;
/// the beginning of the text if it is written in another way.
fn place_of_rule(family: &str, rule: &str, text: &str) -> (usize, usize) {
    let places = text.lines().enumerate().filter_map(|(line, content)| {
        let quoted = |quote: char| content.find(&format!("{quote}{rule}{quote}"));
        let at = quoted('"').or_else(|| quoted('\''))?;
        Some((!content.contains(family), line + 1, content[..at].chars().count() + 1))
    });
    places.min().map_or((1, 1), |(_, line, column)| (line, column))
}

fn read_text(path: &Path) -> Result<String> {
    let shown = path.display();
    let failed = |error: std::io::Error| Failure::bad_data(format!("{shown}: cannot be read: {error}"));
    let length = std::fs::metadata(path).map_err(failed)?.len();
    if length > BYTES_MAX {
        return Err(Failure::bad_data(format!(
            "{shown}: {length} bytes are too many for a schema file; is it one?"
        )));
    }
    // Pipes and devices have no length that they would tell, and some have no end.
    let file = std::fs::File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(failed)?;
    if bytes.len() as u64 > BYTES_MAX {
        return Err(Failure::bad_data(format!(
            "{shown}: more than {BYTES_MAX} bytes are too many for a schema file; is it one?"
        )));
    }
    String::from_utf8(bytes).map_err(|error| {
        let at = error.utf8_error().valid_up_to();
        Failure::bad_data(format!(
            "{shown}: not a text file: the byte at offset {at} is not UTF-8; a schema is a TOML file"
        ))
    })
}

fn describe(error: &rowkey::Error) -> String {
    error
        .field()
        .map_or_else(|| error.message().to_owned(), |field| format!("field `{field}`: {}", error.message()))
}

/// `file:line:column: message`, then the line of the text and a caret under the column. Both count from 1.
pub(crate) fn with_caret(file: &str, text: &str, line: usize, column: usize, message: &str) -> String {
    let head = format!("{file}:{line}:{column}: {message}");
    let Some(source) = text.lines().nth(line.saturating_sub(1)).filter(|source| !source.trim().is_empty())
    else {
        return head;
    };
    let number = line.to_string();
    let margin = " ".repeat(number.len());
    let caret: String = source
        .chars()
        .take(column.saturating_sub(1))
        .map(|character| if character == '\t' { '\t' } else { ' ' })
        .collect();
    format!("{head}\n{margin} |\n{number} | {source}\n{margin} | {caret}^")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_caret_stands_under_the_column() {
        let shown = with_caret("s.toml", "a = 1\nkey = 2\n", 2, 5, "no");
        assert_eq!(shown, "s.toml:2:5: no\n  |\n2 | key = 2\n  |     ^");
    }

    #[test]
    fn a_rule_is_found_in_quotes_of_either_kind_beside_its_family() {
        // A rule in single quotes was shown at the first line of the file.
        let text = "[families]\na = { gc = 'no' }\nb = { gc = \"no\" }\n";
        assert_eq!(place_of_rule("a", "no", text), (2, 12));
        assert_eq!(place_of_rule("b", "no", text), (3, 12));
        assert_eq!(place_of_rule("b", "nowhere", text), (1, 1));
    }

    #[test]
    fn a_line_that_is_not_there_shows_the_message_alone() {
        assert_eq!(with_caret("s.toml", "", 1, 1, "no"), "s.toml:1:1: no");
    }
}
