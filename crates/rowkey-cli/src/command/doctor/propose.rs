//! `--propose`: a key schema for the recommended design, and the sample written through it: before and after.

use super::examine::{self, Examination, Setting};
use super::page::{self, Page};
use crate::exit::Failure;
use crate::output::{Format, Style};
use crate::session::Session;
use crate::{new_file, text as words};
use anyhow::Result;
use rowkey::schema::{Binding, Part};
use rowkey::{Codec, KeySchema};
use rowkey_hotspot::advice::BucketChoice;
use rowkey_hotspot::collect::{CollectConfig, Collector};
use rowkey_hotspot::propose::{self, Proposal, QueryCost};
use rowkey_hotspot::report::{self, Json, Wording, words as shares};
use rowkey_hotspot::{Context, Diagnosis, ErrorKind, OpKind, Operation, Severity, doctor};
use std::io::Write as _;
use std::path::Path;

/// Where text begins behind a label.
const INDENT: usize = 14;

/// The sample through the proposed schema.
struct After {
    diagnosis: Diagnosis,
    /// Keys that the schema's fields do not fit.
    strangers: u64,
    /// Scans of old keys, which are no ranges of new ones.
    scans: u64,
}

/// Refuses a file that exists.
///
/// # Errors
///
/// Usage, if it exists.
pub(super) fn check_is_new(file: &Path) -> Result<()> {
    if file.symlink_metadata().is_ok() {
        return Err(Failure::usage(format!("{} exists; --propose writes a new file", file.display())));
    }
    Ok(())
}

/// Proposes, writes the schema, examines the sample once more and shows both. False: Ctrl-C, which is told.
///
/// # Errors
///
/// If the file cannot be written, or the sample cannot be read again.
pub(super) fn run(
    file: &Path,
    before: &Examination,
    setting: &Setting<'_>,
    session: &mut Session,
) -> Result<bool> {
    session.out.flush_all()?;
    let proposal = match propose::propose(&before.diagnosis, setting.codec.as_ref(), &table_of(file)) {
        Ok(proposal) => proposal,
        Err(error) if error.kind() == ErrorKind::Conflict => {
            session.note(&format!("nothing is proposed: {error}"));
            return Ok(true);
        }
        Err(error) => return Err(error.into()),
    };
    let Some(after) = examine_again(&proposal, before, setting, session)? else {
        return Ok(false);
    };
    new_file::write(file, |out| Ok(out.write_all(proposal.to_toml().as_bytes())?))?;
    if setting.redactor.redacts() {
        session.note(&format!(
            "note: {} needs the constant parts of the keys, so they stand in it as they are",
            file.display()
        ));
    }
    show(
        file,
        setting.codec.as_ref(),
        &proposal,
        before,
        &after,
        &names(&proposal, before, setting),
        session,
    )?;
    Ok(true)
}

fn examine_again(
    proposal: &Proposal,
    before: &Examination,
    setting: &Setting<'_>,
    session: &Session,
) -> Result<Option<After>> {
    let seed = setting.args.seed;
    let mut collector = Collector::new(CollectConfig { seed, ..CollectConfig::default() });
    let (mut strangers, mut scans) = (0, 0);
    let mut sink = |operation: &Operation<'_>| {
        if operation.kind == OpKind::Scan {
            scans += 1;
            return;
        }
        match proposal.apply(operation.key) {
            Ok(key) => collector.observe(&Operation { key: &key, ..*operation }),
            Err(_) => strangers += 1,
        }
    };
    if !examine::repeat(before, setting, session, &mut sink)? {
        return Ok(None);
    }
    let diagnosis = doctor::diagnose(collector.finish(), Some(proposal.codec()), &before.diagnosis.context);
    Ok(Some(After { diagnosis, strangers, scans }))
}

fn show(
    file: &Path,
    old: Option<&Codec>,
    proposal: &Proposal,
    before: &Examination,
    after: &After,
    wording: &Wording,
    session: &mut Session,
) -> Result<()> {
    if session.sarif {
        return Ok(());
    }
    match session.format {
        Format::Json => writeln!(session.out, "{}", json(file, proposal, before, after, wording))?,
        // A diagnosis has one list.
        Format::Csv => {}
        Format::Text => {
            let mut page = Page::new(session.out.color, session.out.columns);
            page.blank();
            text(file, proposal, before, after, wording, &mut page);
            reads(proposal, old, &before.diagnosis.context, wording, &mut page);
            write!(session.out, "{}", page.finish())?;
        }
    }
    Ok(())
}

/// Shows values and names as they may be: the new key's fields are named after the old ones, or after what became of them.
fn names(proposal: &Proposal, before: &Examination, setting: &Setting<'_>) -> Wording {
    let mut wording = Wording::of_layout(setting.redactor, &before.diagnosis.layout);
    if setting.codec.is_none() {
        for field in &proposal.schema.fields {
            wording.rename(&field.name, "field");
        }
    }
    wording
}

/// The table's name: that of the file.
fn table_of(file: &Path) -> String {
    file.file_stem().map_or_else(|| "table".to_owned(), |name| name.to_string_lossy().into_owned())
}

/// A key of the sample and its new form.
fn example(proposal: &Proposal, before: &Examination) -> Option<(Vec<u8>, Vec<u8>)> {
    let formats = before.diagnosis.layout.formats.iter();
    let mut examples = formats.flat_map(|format| &format.examples);
    examples.find_map(|key| Some((key.to_vec(), proposal.apply(key).ok()?)))
}

fn json(file: &Path, proposal: &Proposal, before: &Examination, after: &After, wording: &Wording) -> Json {
    let sentences =
        |texts: &[String]| Json::Array(texts.iter().map(|text| wording.text(text).into()).collect());
    let schema = if wording.redactor.redacts() { Json::Null } else { proposal.to_toml().into() };
    let (old, new) = example(proposal, before).unzip();
    let bytes =
        |key: Option<Vec<u8>>| key.map_or(Json::Null, |key| Json::bytes(&wording.redactor.bytes(&key)));
    Json::Object(vec![
        ("type", "proposal".into()),
        ("version", 1_u32.into()),
        ("file", file.display().to_string().into()),
        ("schema", schema),
        ("cures", Json::Array(proposal.cures.iter().map(|cure| cure.text().into()).collect())),
        ("why", sentences(&proposal.why)),
        ("not_cured", sentences(&proposal.not_cured)),
        ("key_before", bytes(old)),
        ("key_after", bytes(new)),
        ("without_place", after.strangers.into()),
        ("scans_left_out", after.scans.into()),
        ("after", report::json(&after.diagnosis, &before.source, wording.redactor)),
    ])
}

fn text(
    file: &Path,
    proposal: &Proposal,
    before: &Examination,
    after: &After,
    wording: &Wording,
    page: &mut Page,
) {
    page.line(&page.styled("Proposed", Style::Heading));
    let row = |page: &mut Page, label: &str, body: &str, style: Option<Style>| {
        page.paragraph(&format!("  {label}"), INDENT, body, style);
    };
    row(page, "layout", &layout(&proposal.schema, wording), Some(Style::Heading));
    row(page, "schema", &file.display().to_string(), None);
    if let Some((old, new)) = example(proposal, before) {
        let room = page.width - INDENT;
        row(page, "a key", &page::cut(&wording.redactor.key(&old), room), None);
        row(page, "becomes", &page::cut(&wording.redactor.key(&new), room), Some(Style::Good));
    }
    for (at, why) in proposal.why.iter().enumerate() {
        row(page, if at == 0 { "why" } else { "" }, &wording.text(why), None);
    }
    if let Some(choice) = &proposal.choice {
        curve(choice, page);
    }
    page.blank();
    comparison(&before.diagnosis, &after.diagnosis, page);
    for note in notes(proposal, after, wording) {
        page.paragraph("", 2, &note, None);
    }
}

/// What the queries cost: before, where a schema declares the same, and after.
fn reads(proposal: &Proposal, old: Option<&Codec>, context: &Context, wording: &Wording, page: &mut Page) {
    let before = old.map(|old| (old, propose::query_costs(old, context)));
    for query in propose::query_costs(proposal.codec(), context) {
        let old = before.as_ref().and_then(|(codec, costs)| {
            costs.iter().find(|old| old.name == query.name).map(|cost| read_cost(codec, cost))
        });
        page.line(&format!("  read: {}", page::cut(&wording.text(&query.name), page.width - 8)));
        let (old, new) = (old.unwrap_or_default(), read_cost(proposal.codec(), &query));
        page.line(&format!("  {:22}  {old:>26}  {new:>26}", ""));
    }
}

/// What a query reads and costs; the work of nodes in milliseconds.
fn read_cost(codec: &Codec, cost: &QueryCost) -> String {
    if let (Some(ranges), Some(node_ms)) = (cost.ranges, cost.node_ms) {
        return format!("{}, {} node ms", words::counted(ranges.into(), "range"), page::number(node_ms));
    }
    let schema = codec.schema();
    let query = schema.queries.iter().find(|query| query.name == cost.name);
    let gives = |field: &usize| query.is_some_and(|query| query.bound.contains(&(*field, Binding::Equal)));
    match &schema.salt {
        Some(salt) if salt.buckets > 0 && !salt.of.is_empty() && salt.of.iter().all(gives) => {
            format!("1 of {} buckets", salt.buckets)
        }
        _ => "the whole table".to_owned(),
    }
}

/// What the numbers of buckets give and cost, the chosen one marked.
fn curve(choice: &BucketChoice, page: &mut Page) {
    if choice.curve.len() < 2 {
        return;
    }
    let heading = format!(
        "  {:>9}  {:>12}  {:>14}  {:>13}",
        "buckets", "cluster used", "cost of a read", "p99 of a read"
    );
    page.line(&page.styled(&heading, Style::Heading));
    // More of today's nodes could be used: the reason is a later one, and stands in the schema file too.
    let most = choice.curve.iter().map(|point| point.usable_share).fold(0.0, f64::max);
    for point in &choice.curve {
        let is_doubling = point.buckets.is_power_of_two() && most > point.usable_share + 0.01;
        let line = format!(
            "  {:>9}  {:>12}  {:>12} x  {:>10} ms",
            words::count(point.buckets.into()),
            shares::percent(point.usable_share),
            page::number(point.read_cost),
            page::number(point.p99_ms),
        );
        if point.buckets == choice.buckets() {
            let line = page.styled(&line, Style::Good);
            page.line(&format!(
                "{line}  <- chosen{}",
                if is_doubling { ", to be doubled later" } else { "" }
            ));
        } else {
            page.line(&line);
        }
    }
}

fn comparison(before: &Diagnosis, after: &Diagnosis, page: &mut Page) {
    let heading = format!("  {:22}  {:>26}  {:>26}", "", "before", "after");
    page.line(&page.styled(&heading, Style::Heading));
    let places = |diagnosis: &Diagnosis, value: f64| {
        if diagnosis.facts.writes.windows == 0 { "not measured".to_owned() } else { page::number(value) }
    };
    let rows = |it: &Diagnosis| {
        [
            places(it, it.facts.writes.n_eff),
            places(it, it.facts.writes.n_eff_min),
            format!("{} of {}", page::nodes(it.bound.nodes_used), it.context.nodes),
            page::number(it.bound.bound_per_s),
            words::count(it.facts.lengths.p50),
        ]
    };
    let names = [
        "places written at once",
        "least of any window",
        "nodes kept busy",
        "writes/s they take",
        "key bytes, median",
    ];
    for ((what, before), after) in names.iter().zip(rows(before)).zip(rows(after)) {
        page.line(&format!("  {what:22}  {before:>26}  {after:>26}"));
    }
    let rules = |diagnosis: &Diagnosis| -> Vec<String> {
        let severe = diagnosis.findings.iter().filter(|finding| finding.severity >= Severity::Warning);
        severe.map(|finding| format!("{} {}", finding.severity, finding.rule)).collect()
    };
    let (old, new) = (rules(before), rules(after));
    for at in 0..old.len().max(new.len()).max(1) {
        let shown = |list: &[String]| match list.get(at) {
            Some(text) => text.clone(),
            None if at == 0 => "none".to_owned(),
            None => String::new(),
        };
        let label = if at == 0 { "errors and warnings" } else { "" };
        page.line(&format!("  {label:22}  {:>26}  {:>26}", shown(&old), shown(&new)));
    }
}

fn notes(proposal: &Proposal, after: &After, wording: &Wording) -> Vec<String> {
    let mut notes: Vec<String> = proposal.not_cured.iter().map(|text| wording.text(text)).collect();
    if after.strangers > 0 {
        let keys = words::counted(after.strangers, "operation");
        notes.push(format!(
            "{keys} could not be written through it: the keys are built otherwise, and are left out here."
        ));
    }
    if after.scans > 0 {
        let scans = words::counted(after.scans, "scan");
        notes.push(format!("{scans} left out: a range of old keys is no range of new ones."));
    }
    notes
}

/// The layout as a schema file has it; literals are values.
fn layout(schema: &KeySchema, wording: &Wording) -> String {
    let parts = schema.parts.iter().map(|part| match part {
        Part::Salt => "{salt}".to_owned(),
        Part::Literal(literal) => wording.redactor.key(literal),
        Part::Field(field) => format!("{{{}}}", wording.name(&schema.fields[*field].name)),
    });
    parts.collect()
}
