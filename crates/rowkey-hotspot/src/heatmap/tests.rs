//! Pictures, page and JSON by their content.

use super::*;
use crate::context::Capacity;
use crate::finding::{Advice, Finding};
use crate::operation::Operation;
use crate::picture::{Palette, Rgb, Theme};
use crate::report::Redactor;
use crate::rule::{Rule, Severity};
use rowkey_store::seeded::Seeded;
use std::io::Read as _;

/// Writes of these keys, one every 10 ms.
fn matrix(count: u64, mut key: impl FnMut(u64, &mut Seeded) -> String) -> Matrix {
    let mut matrix = Matrix::new(Config::default());
    let mut seeded = Seeded::new(42);
    for at in 0..count {
        let key = key(at, &mut seeded);
        let time_ms = Some(1_714_644_000_000 + i64::try_from(at).unwrap_or_default() * 10);
        matrix.observe(&Operation { time_ms, bytes: Some(100), ..Operation::write(key.as_bytes()) });
    }
    matrix
}

fn time_first() -> Matrix {
    matrix(30_000, |at, seeded| format!("{:013}#{:04}", 1_714_644_000_000 + at * 10, seeded.below(5_000)))
}

fn salted() -> Matrix {
    matrix(30_000, |at, seeded| format!("{:02}#{:013}", seeded.below(4), 1_714_644_000_000 + at * 10))
}

fn sheet(matrix: &Matrix, rows_max: usize, columns_max: usize, options: &SheetOptions<'_>) -> Sheet {
    Sheet::new(matrix.view(&ViewSpec { rows_max, columns_max, ..ViewSpec::default() }), options)
}

fn finding(places: Vec<(Vec<u8>, Option<Vec<u8>>)>) -> Finding {
    Finding {
        rule: Rule::TimeFirst,
        severity: Severity::Error,
        headline: format!("the key begins with {}", crate::finding::quote_value(b"secret7")),
        field: None,
        evidence: vec![],
        nodes_lost: 9.0,
        examples: vec![],
        places,
        advice: vec![Advice {
            action: "promote the vehicle".to_owned(),
            gain: "10 nodes".to_owned(),
            cost: String::new(),
        }],
    }
}

/// The map's pixels of a picture without margins: found by the outline around it.
fn map_of(sheet: &Sheet, theme: Theme, across: u32, down: u32) -> Vec<Vec<Rgb>> {
    let options = FigureOptions { theme, width: 800, map_height: 400, metric: None };
    let canvas = sheet.canvas(&options);
    let outline = Palette::new(theme).faint;
    // The outline is the longest row and column of its colour.
    let (width, height) =
        (i32::try_from(canvas.width()).unwrap_or(0), i32::try_from(canvas.height()).unwrap_or(0));
    let row = (0..height)
        .find(|&y| (0..width).filter(|&x| canvas.get(x, y) == Some(outline)).count() > 300)
        .expect("the map has an outline");
    let left =
        (0..width).find(|&x| canvas.get(x, row) == Some(outline) && canvas.get(x + 9, row) == Some(outline));
    let left = left.expect("the outline has a left end") + 1;
    let right =
        (left..width).take_while(|&x| canvas.get(x, row) == Some(outline)).last().expect("and a right one");
    let cell = |x: u32, y: u32| {
        // The middle of a cell of a grid of so many.
        let at_x = left
            + (right - left) * i32::try_from(2 * x + 1).unwrap_or(0) / i32::try_from(2 * across).unwrap_or(1);
        let at_y =
            row + 1 + 400 * i32::try_from(2 * y + 1).unwrap_or(0) / i32::try_from(2 * down).unwrap_or(1);
        canvas.get(at_x, at_y).expect("it lies in the picture")
    };
    (0..down).map(|y| (0..across).map(|x| cell(x, y)).collect()).collect()
}

/// Where a colour stands on the scale.
fn level_of(palette: &Palette, colour: Rgb) -> usize {
    palette.scale.iter().position(|&entry| entry == colour).expect("a cell's colour is on the scale")
}

#[test]
fn a_front_is_a_bright_diagonal_in_light_and_dark() {
    let sheet = sheet(&time_first(), 20, 20, &SheetOptions::default());
    assert_eq!((sheet.view.rows.len(), sheet.view.columns), (20, 20));
    for theme in [Theme::Light, Theme::Dark] {
        let palette = Palette::new(theme);
        let map = map_of(&sheet, theme, 20, 20);
        for (row, colours) in map.iter().enumerate() {
            for (column, &colour) in colours.iter().enumerate() {
                let level = level_of(&palette, colour);
                if row.abs_diff(column) > 2 {
                    assert_eq!(level, 0, "{theme}: row {row}, column {column} lies off the front");
                }
            }
            let near = row.saturating_sub(2)..(row + 3).min(20);
            assert!(
                near.clone().any(|column| level_of(&palette, colours[column]) > 200),
                "{theme}: row {row}"
            );
        }
    }
}

#[test]
fn four_salts_are_four_bands_in_every_column_of_the_picture() {
    let sheet = sheet(&salted(), 80, 20, &SheetOptions::default());
    let palette = Palette::new(Theme::Dark);
    let rows = u32::try_from(sheet.view.rows.len()).unwrap_or_default();
    let map = map_of(&sheet, Theme::Dark, 20, rows);
    for column in 2..18 {
        let bright: Vec<usize> =
            (0..map.len()).filter(|&row| level_of(&palette, map[row][column]) > 150).collect();
        // Neighbours, or nearly: a front lies in two or three rows.
        let bands = 1 + bright.windows(2).filter(|pair| pair[1] - pair[0] > 4).count();
        assert_eq!(bands, 4, "column {column}: {bright:?}");
    }
}

#[test]
fn the_nodes_strip_shows_one_busy_node_for_a_front_and_all_for_hashed_keys() {
    let options = SheetOptions { nodes: 10, ..SheetOptions::default() };
    let busy = |sheet: &Sheet, column: usize| {
        let sums = sheet.node_sums(0);
        let of_column: Vec<u64> = (0..10).map(|node| sums[node * sheet.view.columns + column]).collect();
        let most = of_column.iter().max().copied().unwrap_or_default();
        of_column.into_iter().filter(|sum| sum * 2 > most).count()
    };
    let front = sheet(&time_first(), 500, 300, &options);
    let hashed = sheet(&matrix(30_000, |_, seeded| format!("{:016x}", seeded.any())), 500, 30, &options);
    for column in 3..27 {
        assert!(busy(&front, column * 10) <= 3, "column {column}");
        assert!(busy(&hashed, column) >= 9, "column {column}");
    }
    assert_eq!(front.node_sums(0).iter().sum::<u64>(), front.view.sum(0));
}

#[test]
fn findings_are_drawn_where_they_are_and_redacted_on_request() {
    let matrix = salted();
    let findings = [finding(vec![(b"01#".to_vec(), Some(b"02".to_vec()))]), finding(vec![(vec![], None)])];
    let options =
        SheetOptions { findings: &findings, redactor: Redactor::new(true), ..SheetOptions::default() };
    let sheet = sheet(&matrix, 40, 10, &options);
    assert_eq!(sheet.marks[0].headline, "the key begins with `aaaaaa9`");
    assert!(sheet.marks[1].rows.is_empty(), "a finding about the whole table is no place");
    let rows = sheet.marks[0].rows.clone();
    assert_eq!(rows.len(), 1);
    assert!(sheet.view.rows[rows[0].start + 1].start.starts_with(b"01"), "{rows:?}");
    assert!((8..=12).contains(&rows[0].len()), "{rows:?}");
    let mark = Palette::new(Theme::Light).mark;
    let canvas = sheet.canvas(&FigureOptions::default());
    assert!(canvas.pixels().iter().filter(|&&pixel| pixel == mark).count() > 1_000);
    let svg = sheet.svg(&FigureOptions::default()).unwrap();
    assert!(!svg.contains("secret") && !svg.contains("17146"), "no value is left");
}

#[test]
fn an_svg_has_its_words_as_text_and_its_cells_as_one_picture() {
    let options = SheetOptions { title: "a <b> & \"c\"".to_owned(), nodes: 3, ..SheetOptions::default() };
    let sheet = sheet(&salted(), 40, 10, &options);
    let svg = sheet.svg(&FigureOptions { theme: Theme::Dark, ..FigureOptions::default() }).unwrap();
    assert!(svg.starts_with("<svg ") && svg.ends_with("</svg>\n"));
    assert_eq!(svg.matches("class=\"map\"").count(), 1);
    assert_eq!(svg.matches("class=\"nodes\"").count(), 1);
    for words in [
        "a &lt;b&gt; &amp; &quot;c&quot;",
        "writes: 30,000 writes in",
        ">3 nodes</text>",
        ">00#</text>",
        "10:00:00",
    ] {
        assert!(svg.contains(words), "{words}");
    }
    assert!(svg.len() < 60_000, "{} bytes", svg.len());
}

#[test]
fn the_json_has_all_sums_exactly() {
    let matrix = salted();
    let options = SheetOptions { capacity: Some(Capacity::default()), nodes: 2, ..SheetOptions::default() };
    let sheet = sheet(&matrix, 30, 7, &options);
    let json = sheet.json().unwrap().to_string();
    assert!(json.starts_with("{\"type\":\"heatmap\",\"version\":1,"));
    let json: serde_json::Value = serde_json::from_str(&json).unwrap();
    assert_eq!((json["type"].as_str(), json["version"].as_u64()), (Some("heatmap"), Some(1)));
    assert_eq!(json["metrics"][0]["total"], "30000");
    assert_eq!(json["metrics"][0]["capacity_per_s"], 14_000.0);
    assert_eq!(json["metrics"][1]["name"], "bytes-in");
    assert_eq!(json["column_s"].as_f64(), sheet.column_s);
    for metric in 0..2 {
        let cells = unpacked(json["metrics"][metric]["cells"].as_str().unwrap());
        assert_eq!(cells, sheet.view.values[metric]);
    }
}

/// Base64, zlib, LEB128, as `docs/formats/heatmap.md` describes them.
fn unpacked(text: &str) -> Vec<u64> {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let digits = text.bytes().filter(|digit| *digit != b'=');
    let digits: Vec<u32> = digits
        .map(|digit| u32::try_from(DIGITS.iter().position(|have| *have == digit).unwrap()).unwrap())
        .collect();
    let mut bytes = Vec::new();
    for chunk in digits.chunks(4) {
        let bits = (0..4).fold(0, |bits, at| bits << 6 | chunk.get(at).copied().unwrap_or(0));
        bytes.extend_from_slice(&bits.to_be_bytes()[1..chunk.len()]);
    }
    let mut plain = Vec::new();
    flate2::read::ZlibDecoder::new(&bytes[..]).read_to_end(&mut plain).unwrap();
    let (mut cells, mut value, mut shift) = (Vec::new(), 0, 0);
    for byte in plain {
        value |= u64::from(byte & 127) << shift;
        shift += 7;
        if byte < 128 {
            cells.push(value);
            (value, shift) = (0, 0);
        }
    }
    cells
}

#[test]
fn the_page_needs_nothing_else_and_its_policy_names_its_script_and_style() {
    let options = SheetOptions { title: "</script><b>".to_owned(), ..SheetOptions::default() };
    let html = sheet(&salted(), 30, 7, &options).html().unwrap();
    assert!(html.contains("default-src 'none'; script-src 'sha256-"));
    assert_eq!(html.matches("<script").count(), 3, "sheet, palette, module: a title cannot add one");
    assert!(html.contains("<title>&lt;/script&gt;&lt;b&gt;</title>"));
    for outside in ["http://", "https://", "src=", "@import", "url("] {
        assert!(!html.contains(outside), "{outside}");
    }
    assert!(!PAGE_JS.contains("</script") && !PAGE_CSS.contains("</style"));
    assert!(!html.contains("connect-src"));
    assert!(PAGE_JS.len() < 56_000, "{} bytes of script", PAGE_JS.len());
    for never in ["innerHTML", "eval(", "document.write", "{{"] {
        assert!(!html.contains(never), "{never}");
    }
}

#[test]
fn a_server_gets_the_same_page_that_asks_it_for_sheets() {
    let html = page("table \"t\"", "/api/heatmap?table=t&x=\"1", 10);
    assert!(html.contains("connect-src 'self'"));
    assert!(html.contains("<meta name=\"rowkey-source\" content=\"/api/heatmap?table=t&amp;x=&quot;1\">"));
    assert!(html.contains("<meta name=\"rowkey-refresh\" content=\"10\">"));
    assert!(!html.contains("id=\"sheet\""));
    assert!(html.contains(PAGE_JS) && html.contains(PAGE_CSS));
}

#[test]
fn a_terminal_shows_the_diagonal_in_characters_and_in_half_blocks() {
    let sheet =
        sheet(&time_first(), 200, 200, &SheetOptions { title: "t".to_owned(), ..SheetOptions::default() });
    let options =
        TerminalOptions { metric: None, width: 59, height: 25, colours: Colours::None, theme: Theme::Dark };
    let text = sheet.terminal(&options);
    let lines: Vec<&str> = text.lines().collect();
    assert_eq!(lines[0], "writes of t: 30,000 in 195 ranges by 150 columns");
    for (at, line) in lines[1..21].iter().enumerate() {
        let ink: Vec<usize> =
            line.char_indices().filter(|(_, character)| *character != ' ').map(|(at, _)| at).collect();
        let middle = ink.iter().sum::<usize>() / ink.len().max(1);
        assert!(middle.abs_diff(at * 59 / 20 + 1) < 5, "line {at}: {line}");
    }
    assert_eq!(lines.len(), 23, "{text}");
    assert!(lines.iter().all(|line| line.len() <= 80));
    for (colours, code) in
        [(Colours::True, "\x1b[38;2;"), (Colours::Ansi256, "\x1b[38;5;"), (Colours::Ansi16, "\x1b[3")]
    {
        let text = sheet.terminal(&TerminalOptions { colours, ..options });
        assert!(text.contains(code) && text.contains('\u{2580}'), "{colours:?}");
        let blocks = text.lines().nth(3).map(|line| line.matches('\u{2580}').count());
        assert_eq!(blocks, Some(59), "{colours:?}");
        assert!(text.lines().filter(|line| line.contains('\u{2580}')).all(|line| line.contains("\x1b[0m")));
    }
}

#[test]
fn nothing_at_all_can_be_drawn() {
    let empty = Matrix::new(Config::default());
    let sheet = sheet(&empty, 10, 10, &SheetOptions { nodes: 3, ..SheetOptions::default() });
    assert!(sheet.png(&FigureOptions::default()).is_ok());
    assert!(sheet.svg(&FigureOptions::default()).unwrap().contains("nothing: 0"));
    assert!(sheet.html().is_ok());
    let options =
        TerminalOptions { metric: None, width: 0, height: 0, colours: Colours::None, theme: Theme::Light };
    assert!(sheet.terminal(&options).starts_with("nothing of "));
}

/// Found by fuzzing: operations that counted nothing have times and keys, but no metric.
#[test]
fn operations_that_count_nothing_can_be_drawn() {
    let mut matrix = Matrix::new(Config::default());
    matrix.add(1, b"a", Metric::Writes, 0);
    matrix.add(9, b"b", Metric::Reads, 0);
    let sheet = sheet(&matrix, 10, 10, &SheetOptions::default());
    assert!(sheet.view.columns > 0 && sheet.view.metrics.is_empty());
    assert!(sheet.png(&FigureOptions::default()).is_ok() && sheet.svg(&FigureOptions::default()).is_ok());
    let options =
        TerminalOptions { metric: None, width: 40, height: 9, colours: Colours::True, theme: Theme::Dark };
    assert!(sheet.terminal(&options).starts_with("nothing of "));
}
