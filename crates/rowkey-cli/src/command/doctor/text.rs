//! A diagnosis for people: the verdict first, then the key, where the writes go, the findings, and what was found good.

use super::page::{self, Page};
use crate::output::Style;
use crate::text::{count, counted};
use rowkey::escape;
use rowkey_hotspot::facts::Spread;
use rowkey_hotspot::finding::{Advice, Evidence, Finding};
use rowkey_hotspot::layout::{FieldFacts, FieldOrder, Format, Layout, Segment};
use rowkey_hotspot::report::{Source, Wording, words};
use rowkey_hotspot::{Diagnosis, Rule, Severity, infer};

/// Where text begins behind a label.
const INDENT: usize = 12;
const BAR_WIDTH: usize = 20;
/// Kendall's correlation from which on a field's order is told.
const ORDER_MIN: f64 = 0.8;
/// Fewer writes are no two windows of 1,000: the first learns the ranges, the second is measured.
const WRITES_MIN: u64 = 2_000;
/// Example keys and measurements of a finding that are shown without `--verbose`.
const EXAMPLES_MAX: usize = 3;
const EVIDENCE_MAX: usize = 4;

/// How a diagnosis is shown.
#[derive(Debug, Clone, Copy)]
pub(super) struct Look<'a> {
    /// Values and names, as they may be shown.
    pub(super) wording: &'a Wording,
    /// Every check with what was seen.
    pub(super) verbose: bool,
    /// Whether the rate of writes is stated on the command line.
    pub(super) rate_is_stated: bool,
}

/// Writes it all.
pub(super) fn diagnosis(diagnosis: &Diagnosis, look: Look<'_>, page: &mut Page) {
    verdict(diagnosis, look, page);
    page.blank();
    keys(diagnosis, look, page);
    spread(diagnosis, page);
    let mut shown: &[Box<[u8]>] = &[];
    for (number, finding) in diagnosis.findings.iter().enumerate() {
        page.blank();
        // The same keys again would tell nothing new.
        let examples = if finding.examples == shown { &[][..] } else { &finding.examples[..] };
        self::finding(number + 1, finding, examples, look, page);
        shown = &finding.examples;
    }
    page.blank();
    passed(diagnosis, look, page);
}

/// The style of a severity.
pub(super) fn style_of(severity: Severity) -> Style {
    match severity {
        Severity::Error => Style::Error,
        Severity::Warning => Style::Warning,
        Severity::Note => Style::Note,
    }
}

fn verdict(diagnosis: &Diagnosis, look: Look<'_>, page: &mut Page) {
    let root = diagnosis.findings.first().filter(|_| !diagnosis.is_healthy());
    let Some(root) = root else {
        let notes = diagnosis.findings.len();
        let notes = if notes > 0 { format!(", {}", counted(notes as u64, "note")) } else { String::new() };
        let head = if is_too_few(diagnosis) {
            page.styled(
                &format!("no hotspot found, but the sample is too small to tell{notes}"),
                Style::Warning,
            )
        } else {
            page.styled(&format!("no hotspot found{notes}"), Style::Good)
        };
        page.line(&head);
        page.paragraph("", 2, &busy(diagnosis), None);
        page.paragraph("", 2, &load(diagnosis, look), Some(Style::Faint));
        return;
    };
    let label = format!("{}: {}:", root.severity, root.rule);
    let head = page::wrap(&format!("{label} {}", root.rule.summary()), page.width - 2);
    for (at, line) in head.iter().enumerate() {
        let rest = line.strip_prefix(&label).filter(|_| at == 0);
        let label = page.styled(&label, style_of(root.severity));
        page.line(&rest.map_or_else(|| format!("  {line}"), |rest| format!("{label}{rest}")));
    }
    let nodes = page::nodes(root.nodes_lost);
    let all_are_used = diagnosis.bound.nodes_used >= f64::from(diagnosis.context.nodes);
    let lost = match root.rule {
        _ if root.nodes_lost < 0.05 => String::new(),
        Rule::PeriodRollover => format!("; at each turn {nodes} nodes' worth is lost"),
        // The writes lose nothing then.
        _ if all_are_used => format!("; reads waste {nodes} nodes' worth"),
        _ => format!("; {nodes} nodes' worth is lost"),
    };
    page.paragraph("", 2, &format!("{}{lost}", busy(diagnosis)), None);
    page.paragraph("", 2, &load(diagnosis, look), Some(Style::Faint));
}

/// Whether there are writes, but not enough for two windows of the usual length.
fn is_too_few(diagnosis: &Diagnosis) -> bool {
    let writes = diagnosis.facts.counts.writes;
    writes > 0 && writes < WRITES_MIN
}

/// What the writes reach, a clause.
fn busy(diagnosis: &Diagnosis) -> String {
    if diagnosis.facts.counts.writes == 0 {
        return "nothing is written, so only reads and deletes were looked at".to_owned();
    }
    if is_too_few(diagnosis) {
        let writes = counted(diagnosis.facts.counts.writes, "write");
        return format!("{writes}; {} and more show how they spread", count(WRITES_MIN));
    }
    let nodes = counted(diagnosis.context.nodes.into(), "node");
    let bound = &diagnosis.bound;
    let some = bound.nodes_used < f64::from(diagnosis.context.nodes);
    let enough =
        if bound.needed_is_known && some && diagnosis.is_healthy() { ", which is enough" } else { "" };
    format!("the writes keep {} of {nodes} busy{enough}", page::nodes(bound.nodes_used))
}

/// What is needed and what is carried, and where that is from. Empty without writes.
fn load(diagnosis: &Diagnosis, look: Look<'_>) -> String {
    let bound = &diagnosis.bound;
    if diagnosis.facts.counts.writes == 0 || is_too_few(diagnosis) {
        return String::new();
    }
    let source = match (bound.needed_is_known, look.rate_is_stated) {
        (true, true) => "",
        (true, false) => " (the peak of the sample)",
        (false, _) => " (assumed; see --writes-per-s)",
    };
    format!(
        "that carries {} of the {} writes/s needed{source}",
        page::exact(bound.bound_per_s.min(bound.needed_per_s).round()),
        page::exact(bound.needed_per_s.round()),
    )
}

fn keys(diagnosis: &Diagnosis, look: Look<'_>, page: &mut Page) {
    let layout = &diagnosis.layout;
    let Some(format) = layout.formats.first() else {
        page.line("the keys have no layout that could be told");
        return;
    };
    let mut severe = diagnosis.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
    let blamed = severe.find_map(|finding| Some((finding.field.as_deref()?, finding)));
    page.line(&page.styled("Key", Style::Heading));
    if let Some(key) = format.examples.first() {
        example(format, key, &diagnosis.facts.writes, look, page);
    }
    fields(format, blamed, look, page);
    others(layout, look, page);
}

/// An example key, its fields named below, and how many places are written at once if only the key up to there counted.
fn example(format: &Format, key: &[u8], writes: &Spread, look: Look<'_>, page: &mut Page) {
    let room = page.width - 2;
    let shown = page::cut(&look.wording.redactor.key(key), room);
    page.line(&format!("  {shown}"));
    let curve: String = curve(key, writes).into_iter().take(shown.chars().count()).collect();
    if !curve.is_empty() {
        let label = "  places written at once, by prefix";
        let label = if curve.chars().count() + label.len() <= room { label } else { "" };
        let curve = page.styled(&curve, Style::Faint);
        page.line(&format!("  {curve}{label}"));
    }
    let Some(values) = infer::split(format, key) else { return };
    let mut values = values.into_iter();
    let mut places = Vec::new();
    let mut offset = 0;
    for segment in &format.segments {
        let length = match segment {
            Segment::Literal(literal) => literal.len(),
            Segment::Field(field) => {
                let before = key.get(..offset).unwrap_or(key);
                places.push((escape::escaped(before).to_string().len(), look.wording.name(&field.name)));
                values.next().map_or(0, <[u8]>::len)
            }
        };
        offset += length;
    }
    places.retain(|(column, _)| *column < shown.len());
    for line in labels(&places) {
        let line = page.styled(&line, Style::Faint);
        page.line(&format!("  {line}"));
    }
}

/// One block for each character of the escaped key: the N_eff of the prefix that ends there, logarithmic, 256 at the top.
fn curve(key: &[u8], writes: &Spread) -> Vec<char> {
    let Some(first) = writes.by_depth.first() else { return Vec::new() };
    let mut blocks = Vec::new();
    for (at, byte) in key.chunks(1).enumerate() {
        let depth = writes.by_depth.iter().rev().find(|depth| depth.bytes <= at + 1).unwrap_or(first);
        let block = page::block(depth.n_eff.max(1.0).log2() / 8.0);
        blocks.extend(std::iter::repeat_n(block, escape::escaped(byte).to_string().len()));
    }
    blocks
}

/// Names at their columns: on one line if they fit, else each on a line of its own with lines leading up.
fn labels(places: &[(usize, &str)]) -> Vec<String> {
    let ends = places.iter().map(|(column, name)| column + 2 + name.chars().count());
    let fit = ends.zip(places.iter().skip(1)).all(|(end, (next, _))| end < *next);
    let label = |name: &str| format!("\u{2514} {name}");
    if fit {
        let labels: Vec<(usize, String)> =
            places.iter().map(|(column, name)| (*column, label(name))).collect();
        return vec![placed(&labels)];
    }
    let line = |last: usize| {
        let shown = places.iter().take(last + 1).enumerate();
        let labels: Vec<(usize, String)> = shown
            .map(|(at, (column, name))| {
                (*column, if at == last { label(name) } else { "\u{2502}".to_owned() })
            })
            .collect();
        placed(&labels)
    };
    (0..places.len()).rev().map(line).collect()
}

/// Texts at growing columns.
fn placed(texts: &[(usize, String)]) -> String {
    let mut line = String::new();
    for (column, text) in texts {
        let gap = column.saturating_sub(line.chars().count());
        line.extend(std::iter::repeat_n(' ', gap));
        line.push_str(text);
    }
    line
}

fn fields(format: &Format, blamed: Option<(&str, &Finding)>, look: Look<'_>, page: &mut Page) {
    let fields: Vec<&FieldFacts> = format.fields().collect();
    let width = |texts: &dyn Fn(&FieldFacts) -> String| {
        fields.iter().map(|field| texts(field).chars().count()).max().unwrap_or(0)
    };
    let meaning = |field: &FieldFacts| look.wording.clause(&words::meaning(field));
    let names = width(&|field| look.wording.name(&field.name).to_owned()).clamp(5, 20);
    // What else stands in a line: margins, numbers and order.
    let room = page.width.saturating_sub(names + 44);
    let meanings = width(&meaning).min(room).max(12);
    let heading = format!(
        "  {:names$}  {:meanings$}  {:>9}  {:>12}  {}",
        "field", "meaning", "values", "places alone", "order"
    );
    page.blank();
    page.line(&page.styled(&heading, Style::Heading));
    for field in fields {
        let exact = if field.distinct_exact { "" } else { "+" };
        let row = format!(
            "  {:names$}  {:meanings$}  {:>9}  {:>12}  {}",
            page::cut(look.wording.name(&field.name), names),
            page::cut(&meaning(field), meanings),
            count(field.distinct) + exact,
            page::number(field.order.n_eff),
            order(field),
        );
        match blamed {
            Some((name, finding)) if name == field.name => {
                let row = row.trim_end();
                let mark = format!("<- {}", finding.rule);
                let fits = row.chars().count() + 2 + mark.chars().count() <= page.width;
                let row = page.styled(row, style_of(finding.severity));
                let between =
                    if fits { "  ".to_owned() } else { format!("\n{:width$}", "", width = names + 4) };
                page.line(&format!("{row}{between}{mark}"));
            }
            _ => page.line(&row),
        }
        for oddity in &field.oddities {
            page.line(&format!("  {:names$}  {}", "", words::oddity(oddity)));
        }
    }
}

/// How a field follows arrival, in two words; empty if it does not.
fn order(field: &FieldFacts) -> &'static str {
    let direction = |order: &FieldOrder| match order.tau {
        tau if tau >= ORDER_MIN => 1,
        tau if tau <= -ORDER_MIN => -1,
        _ => 0,
    };
    match (direction(&field.order), direction(&field.order_within)) {
        (1, _) => "rises",
        (-1, _) => "falls",
        (_, 1) => "rises within",
        (_, -1) => "falls within",
        _ => "",
    }
}

fn others(layout: &Layout, look: Look<'_>, page: &mut Page) {
    for format in layout.formats.iter().skip(1) {
        let parts: String = format
            .segments
            .iter()
            .map(|segment| match segment {
                Segment::Literal(literal) => look.wording.redactor.key(literal),
                Segment::Field(field) => format!("{{{}}}", look.wording.name(&field.name)),
            })
            .collect();
        page.paragraph(
            "",
            2,
            &format!("{} of the keys are built as {parts}", words::percent(format.share)),
            None,
        );
    }
    if layout.unexplained_share > 0.0 && !layout.formats.is_empty() {
        let share = words::percent(layout.unexplained_share);
        page.line(&format!("  {share} of the keys are built otherwise"));
    }
}

fn spread(diagnosis: &Diagnosis, page: &mut Page) {
    let (writes, bound, nodes) = (&diagnosis.facts.writes, &diagnosis.bound, diagnosis.context.nodes);
    if writes.windows == 0 {
        return;
    }
    page.blank();
    page.line(&page.styled("Writes", Style::Heading));
    let places = f64::from(writes.ranges.max(1));
    let bar = |share: f64| page::bar(share, BAR_WIDTH);
    // Logarithmic; one place is a sliver.
    let scale = |n_eff: f64| (n_eff.max(1.0).ln() / places.max(2.0).ln()).max(0.001);
    let error = if writes.n_eff_error > 0.0 {
        format!(" \u{b1} {}", page::number(writes.n_eff_error))
    } else {
        String::new()
    };
    let at_once = format!("{}{error} of {}", page::number(writes.n_eff), writes.ranges);
    let least = format!("{} of {}", page::number(writes.n_eff_min), writes.ranges);
    let used = format!("{} of {nodes}", page::nodes(bound.nodes_used));
    let largest = words::percent(writes.largest_share);
    let windows = format!("mean of {} of {}", counted(writes.windows, "window"), count(writes.window_len));
    let rows = [
        ("places written at once", bar(scale(writes.n_eff)), at_once, windows),
        ("least of any window", bar(scale(writes.n_eff_min)), least, String::new()),
        ("largest share of a place", bar(writes.largest_share), largest, String::new()),
        ("nodes kept busy", bar(bound.nodes_used / f64::from(nodes.max(1))), used, String::new()),
    ];
    let width = rows.iter().map(|(_, _, value, _)| value.chars().count()).max().unwrap_or(0);
    for (what, bar, value, remark) in rows {
        let blanks = " ".repeat(width - value.chars().count());
        let fits = 2 + 24 + 2 + BAR_WIDTH + 2 + width + 2 + remark.chars().count() <= page.width;
        let remark = page.styled(if fits { &remark } else { "" }, Style::Faint);
        page.line(&format!("  {what:24}  {bar}  {value}{blanks}  {remark}"));
    }
}

fn finding(number: usize, finding: &Finding, examples: &[Box<[u8]>], look: Look<'_>, page: &mut Page) {
    let severity = page.styled(finding.severity.name(), style_of(finding.severity));
    let rule = page.styled(finding.rule.name(), Style::Heading);
    let field =
        finding.field.as_ref().map(|field| format!(" in {}", look.wording.name(field))).unwrap_or_default();
    page.line(&format!("{number}. {severity} {rule}{field}"));
    let text = |text: &str| look.wording.text(text);
    page.paragraph("", 3, &text(&finding.headline), None);
    if finding.severity == Severity::Note && !look.verbose {
        for advice in finding.advice.iter().take(1) {
            page.paragraph("   do", INDENT + 2, &text(&advice.action), None);
        }
        return;
    }
    let evidence_max = if look.verbose { finding.evidence.len() } else { EVIDENCE_MAX };
    for (at, evidence) in finding.evidence.iter().take(evidence_max).enumerate() {
        let label = if at == 0 { "   measured" } else { "" };
        page.paragraph(label, INDENT + 2, &text(&measurement(evidence)), None);
    }
    let more = finding.evidence.len().saturating_sub(evidence_max);
    if more > 0 {
        page.paragraph("", INDENT + 2, &format!("and {more} more (-v)"), Some(Style::Faint));
    }
    for advice in &finding.advice {
        self::advice(advice, look, page);
    }
    let examples_max = if look.verbose { examples.len() } else { EXAMPLES_MAX };
    for (at, key) in examples.iter().take(examples_max).enumerate() {
        let label = if at == 0 { "   keys" } else { "" };
        let key =
            page.styled(&page::cut(&look.wording.redactor.key(key), page.width - INDENT - 2), Style::Faint);
        page.line(&format!("{label:width$}{key}", width = INDENT + 2));
    }
}

fn measurement(evidence: &Evidence) -> String {
    // An error that would not be seen beside its number is none.
    let error = evidence.error.filter(|error| *error >= evidence.measured.abs() * 0.000_5);
    let threshold =
        if evidence.threshold.is_empty() { String::new() } else { format!(" ({})", evidence.threshold) };
    let measured = match error {
        Some(error) => format!("{} \u{b1} {}", page::number(evidence.measured), page::number(error)),
        None => page::exact(evidence.measured),
    };
    format!("{}: {measured}{threshold}, of {}", evidence.what, count(evidence.sample))
}

fn advice(advice: &Advice, look: Look<'_>, page: &mut Page) {
    let action = look.wording.text(&advice.action);
    page.paragraph("   do", INDENT + 2, &action, Some(Style::Heading));
    for (sign, clause) in [("+", &advice.gain), ("-", &advice.cost)] {
        if !clause.is_empty() {
            page.paragraph(
                &format!("{:width$}{sign}", "", width = INDENT + 2),
                INDENT + 4,
                &look.wording.text(clause),
                None,
            );
        }
    }
}

fn passed(diagnosis: &Diagnosis, look: Look<'_>, page: &mut Page) {
    let (checked, skipped): (Vec<_>, Vec<_>) = diagnosis.passed.iter().partition(|passed| passed.checked);
    if !look.verbose {
        let skipped = if skipped.is_empty() {
            String::new()
        } else {
            format!(", {} could not be looked at", skipped.len())
        };
        let good = page.styled("passed", Style::Good);
        page.line(&format!(
            "{good}  {} without a finding{skipped} (-v lists them)",
            counted(checked.len() as u64, "rule")
        ));
        return;
    }
    for (heading, list) in [("Without a finding", checked), ("Could not be looked at", skipped)] {
        if list.is_empty() {
            continue;
        }
        page.line(&page.styled(heading, Style::Heading));
        for passed in list {
            page.paragraph(&format!("  {}", passed.rule), 24, &look.wording.text(&passed.why), None);
        }
    }
}

/// What the judgement rests on: the input, the nodes, where their numbers come from.
pub(super) fn basis(diagnosis: &Diagnosis, source: &Source, page: &mut Page) {
    page.line(&page.styled("Judged", Style::Heading));
    let counts = &diagnosis.facts.counts;
    let operations = [
        (counts.writes, "write"),
        (counts.reads, "point read"),
        (counts.scans, "scan"),
        (counts.deletes, "delete"),
    ];
    let operations: Vec<String> = operations
        .iter()
        .filter(|(number, _)| *number > 0)
        .map(|(number, what)| counted(*number, what))
        .collect();
    let from = source
        .input
        .as_deref()
        .map_or("keys made up from the schema".to_owned(), |file| format!("from {file}"));
    page.paragraph("  sample", INDENT + 2, &format!("{} {from}", operations.join(", ")), None);
    let (context, capacity) = (&diagnosis.context, &diagnosis.context.capacity);
    let node = format!(
        "{}, each {}: {} writes, {} point reads or {} scanned rows a second, {} of it used on purpose",
        counted(context.nodes.into(), "node"),
        capacity.name,
        page::number(capacity.writes_per_s),
        page::number(capacity.reads_per_s),
        page::number(capacity.scanned_rows_per_s),
        words::percent(capacity.target),
    );
    page.paragraph("  cluster", INDENT + 2, &node, None);
    page.paragraph("  source", INDENT + 2, &capacity.source, None);
    let rates = [("range reads/s", context.reads_per_s), ("rows a range read", context.rows_per_read)];
    let rates: Vec<String> =
        rates.iter().filter_map(|(what, rate)| Some(format!("{} {what}", page::number((*rate)?)))).collect();
    if !rates.is_empty() {
        page.paragraph("  reads", INDENT + 2, &rates.join(", "), None);
    }
}

#[cfg(test)]
mod tests;
