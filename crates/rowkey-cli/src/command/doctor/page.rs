//! A page of text for people: as wide as the terminal, at most 100 columns, aligned, with short bars, coloured if wanted.

use crate::output::{Style, styled};
use crate::text;

/// Columns of the widest page.
pub(super) const WIDTH_MAX: usize = 100;
/// Columns of the narrowest page; a terminal that is narrower breaks lines itself.
const WIDTH_MIN: usize = 80;

/// A page that is being written.
#[derive(Debug)]
pub(super) struct Page {
    text: String,
    color: bool,
    /// Columns.
    pub(super) width: usize,
}

impl Page {
    /// An empty page for a terminal of so many columns; `None`: what is written goes elsewhere.
    pub(super) fn new(color: bool, columns: Option<usize>) -> Self {
        let width = columns.map_or(WIDTH_MAX, |columns| columns.clamp(WIDTH_MIN, WIDTH_MAX));
        Self { text: String::new(), color, width }
    }

    /// What was written.
    pub(super) fn finish(self) -> String {
        self.text
    }

    /// `text` in a style.
    pub(super) fn styled(&self, text: &str, style: Style) -> String {
        if text.is_empty() { String::new() } else { styled(text, style, self.color) }
    }

    /// A blank line.
    pub(super) fn blank(&mut self) {
        self.text.push('\n');
    }

    /// A line as it is, without blanks at its end.
    pub(super) fn line(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
    }

    /// Text of any length behind a label, or nothing if there is none: wrapped, later lines below the first one's text. `indent` is where the text begins.
    pub(super) fn paragraph(&mut self, label: &str, indent: usize, body: &str, style: Option<Style>) {
        if body.is_empty() {
            return;
        }
        let mut label = format!("{label:indent$}");
        for line in wrap(body, self.width.saturating_sub(indent)) {
            let line = style.map_or_else(|| line.clone(), |style| self.styled(&line, style));
            let whole = format!("{label}{line}");
            self.line(&whole);
            label = " ".repeat(indent);
        }
    }
}

/// Lines of at most `width` characters, broken between words; a longer word is cut.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    let mut length = 0;
    for word in text.split(' ') {
        let mut word: Vec<char> = word.chars().collect();
        if length > 0 && length + 1 + word.len() > width {
            lines.push(String::new());
            length = 0;
        }
        while length == 0 && word.len() > width {
            let rest = word.split_off(width);
            push(&mut lines, &word);
            lines.push(String::new());
            word = rest;
        }
        if length > 0 {
            push(&mut lines, &[' ']);
            length += 1;
        }
        push(&mut lines, &word);
        length += word.len();
    }
    lines
}

fn push(lines: &mut [String], characters: &[char]) {
    if let Some(line) = lines.last_mut() {
        line.extend(characters);
    }
}

/// A text cut to `width` characters, with dots in place of what is gone.
pub(super) fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    let kept: String = text.chars().take(width.saturating_sub(3)).collect();
    kept + "..."
}

/// A bar of `width` characters, filled to `share` (0 to 1) in eighths of a character. What is above nothing shows at least a sliver.
pub(super) fn bar(share: f64, width: usize) -> String {
    const EIGHTHS: [char; 8] =
        [' ', '\u{258f}', '\u{258e}', '\u{258d}', '\u{258c}', '\u{258b}', '\u{258a}', '\u{2589}'];
    let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
    let total = width * 8;
    let mut filled = 0;
    while filled < total && ratio(filled, total) + 0.5 / ratio(total, 1) < share {
        filled += 1;
    }
    if share > 0.0 {
        filled = filled.max(1);
    }
    let mut out: String = std::iter::repeat_n('\u{2588}', filled / 8).collect();
    if filled % 8 > 0 {
        out.push(EIGHTHS[filled % 8]);
    }
    let missing = width - filled.div_ceil(8);
    out.extend(std::iter::repeat_n('\u{b7}', missing));
    out
}

/// The block of height `share` (0 to 1): one of eight.
pub(super) fn block(share: f64) -> char {
    const BLOCKS: [char; 8] =
        ['\u{2581}', '\u{2582}', '\u{2583}', '\u{2584}', '\u{2585}', '\u{2586}', '\u{2587}', '\u{2588}'];
    let above = (1..BLOCKS.len()).take_while(|step| share >= ratio(*step, BLOCKS.len())).count();
    BLOCKS[above]
}

/// Small integers as a quotient.
fn ratio(one: usize, other: usize) -> f64 {
    // Both are columns or eighths of a column: far below 2^32.
    f64::from(u32::try_from(one).unwrap_or(u32::MAX)) / f64::from(u32::try_from(other).unwrap_or(u32::MAX))
}

/// A measured number for people: three significant digits, thousands with commas.
pub(super) fn number(number: f64) -> String {
    if !number.is_finite() {
        return "unknown".to_owned();
    }
    let magnitude = number.abs();
    let digits = match magnitude {
        m if m >= 99.95 => 0,
        m if !(0.000_5..9.995).contains(&m) => 1,
        m if m >= 0.1 => 2,
        m if m >= 0.01 => 3,
        _ => 4,
    };
    let text = format!("{number:.digits$}");
    let (whole, fraction) = text.split_once('.').unwrap_or((&text, ""));
    let (sign, whole) = whole.strip_prefix('-').map_or(("", whole), |whole| ("-", whole));
    let whole = whole.parse().map_or_else(|_| whole.to_owned(), text::count);
    let fraction = fraction.trim_end_matches('0');
    // 1.0 is a measured number, and looks like one.
    let fraction = if fraction.is_empty() && digits > 0 && magnitude > 0.0 { "0" } else { fraction };
    if fraction.is_empty() { format!("{sign}{whole}") } else { format!("{sign}{whole}.{fraction}") }
}

/// A number that may be a count: `12`, else as [`number`].
pub(super) fn exact(value: f64) -> String {
    let whole = format!("{value:.0}");
    if whole.parse() == Ok(value) { whole.parse().map_or(whole, text::count) } else { number(value) }
}

/// A number of nodes, of which a part may be used: `1`, `2.5`, `10`.
pub(super) fn nodes(nodes: f64) -> String {
    let text = format!("{nodes:.1}");
    text.strip_suffix(".0").map_or_else(|| text.clone(), str::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn text_is_wrapped_between_words_and_long_words_are_cut() {
        let check = |text: &str, expected: &[&str]| assert_eq!(wrap(text, 6), expected);
        check("a bc def", &["a bc", "def"]);
        check("abcdef g", &["abcdef", "g"]);
        check("abcdefghijklmn o", &["abcdef", "ghijkl", "mn o"]);
        check("a abcdefgh", &["a", "abcdef", "gh"]);
        check("", &[""]);
    }

    #[test]
    fn paragraphs_hang_below_their_first_line() {
        let mut page = Page::new(false, None);
        page.paragraph("do", 4, &"word ".repeat(30), None);
        let text = page.finish();
        let lines: Vec<&str> = text.lines().collect();
        assert!(lines[0].starts_with("do  word") && lines[1].starts_with("    word"), "{text}");
        assert!(lines.iter().all(|line| line.chars().count() <= WIDTH_MAX), "{text}");
    }

    #[test]
    fn bars_have_their_width_and_never_hide_what_is_there() {
        let check = |share: f64, expected: &str| assert_eq!(bar(share, 4), expected);
        check(0.0, "\u{b7}\u{b7}\u{b7}\u{b7}");
        check(0.001, "\u{258f}\u{b7}\u{b7}\u{b7}");
        check(0.5, "\u{2588}\u{2588}\u{b7}\u{b7}");
        check(0.625, "\u{2588}\u{2588}\u{258c}\u{b7}");
        check(1.0, "\u{2588}\u{2588}\u{2588}\u{2588}");
        check(7.0, "\u{2588}\u{2588}\u{2588}\u{2588}");
        check(f64::NAN, "\u{b7}\u{b7}\u{b7}\u{b7}");
    }

    #[test]
    fn blocks_grow() {
        assert_eq!([0.0, 0.2, 0.99, 1.0].map(block), ['\u{2581}', '\u{2582}', '\u{2588}', '\u{2588}']);
    }

    #[test]
    fn numbers_have_three_digits() {
        let check = |value: f64, expected: &str| assert_eq!(number(value), expected);
        check(0.0, "0");
        check(1.0, "1.0");
        check(1.234, "1.23");
        check(15.96, "16.0");
        check(253.4, "253");
        check(140_000.0, "140,000");
        check(-0.98, "-0.98");
        check(0.0123, "0.012");
        check(0.004_2, "0.0042");
        check(f64::NAN, "unknown");
        assert_eq!(
            [12.0, 12_000.0, 1.5, -3.0, f64::NAN].map(exact),
            ["12", "12,000", "1.5", "-3", "unknown"]
        );
        assert_eq!([1.0, 2.54, 9.98].map(nodes), ["1", "2.5", "10"]);
    }
}
