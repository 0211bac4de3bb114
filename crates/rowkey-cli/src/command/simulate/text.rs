//! A simulation for people: one column a design, bars for nodes, small lines over time.

#![expect(
    clippy::cast_precision_loss,
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "counts and rates are far below 2^53, and what is printed as a whole number is not negative"
)]

use super::{Report, Run};
use crate::json::{Object, array};
use crate::output::{Format, Style, styled};
use crate::text::{count, counted};
use rowkey::schema::Field;
use rowkey_hotspot::sim::{Clients, Outcome, Settings, Tick, Totals};
use rowkey_hotspot::workload::{Source, WorkloadOptions};
use std::io::{self, Write};

const LABEL: usize = 22;
const COLUMN: usize = 24;
/// Nodes shown one by one; more are shown in groups.
const NODES_MAX: usize = 20;
const BAR: usize = 20;
const LINE: usize = 48;

/// What was simulated, in one line.
pub(super) fn title(report: &Report) -> String {
    let settings = &report.settings;
    format!(
        "{}: {} operations/s for {} on {} ({}), {}, seed {}",
        report.table,
        whole(report.rate),
        time(report.seconds),
        counted(settings.nodes.into(), "node"),
        settings.preset,
        if settings.clients == Clients::Open { "open loop" } else { "closed loop" },
        settings.seed
    )
}

/// Prints all of it.
pub(super) fn print(report: &Report, color: bool, out: &mut impl Write) -> io::Result<()> {
    let heading = |text: &str| styled(text, Style::Heading, color);
    writeln!(out, "{}\n", heading(&title(report)))?;
    table(report, out)?;
    for run in &report.runs {
        let of = if report.runs.len() > 1 { format!(", {}", run.name) } else { String::new() };
        writeln!(out, "\n{}", heading(&format!("Nodes by utilisation, last quarter{of}")))?;
        bars(&run.outcome, out)?;
        writeln!(out, "\n{}", heading(&format!("Over time{of}")))?;
        lines(&run.outcome, out)?;
    }
    writeln!(out, "\n{}", heading("How far to trust this"))?;
    trust(report, out)
}

/// A number of each run, and how it is written.
struct Row {
    label: &'static str,
    value: fn(&Totals) -> f64,
    shown: fn(&Totals) -> String,
    /// Whether the ratio of two runs says something.
    ratio: bool,
}

const ROWS: [Row; 12] = [
    Row {
        label: "served",
        value: |t| t.served_per_s,
        shown: |t| format!("{}/s of {}/s", whole(t.served_per_s), whole(per_s(t, t.demand))),
        ratio: true,
    },
    Row {
        label: "  in the last quarter",
        value: |t| t.late_served_per_s,
        shown: |t| format!("{}/s", whole(t.late_served_per_s)),
        ratio: true,
    },
    Row {
        label: "refused",
        value: |t| t.refused,
        shown: |t| format!("{} ({})", whole(t.refused), part(t.refused, t.offered)),
        ratio: false,
    },
    Row { label: "waiting at the end", value: |t| t.backlog, shown: |t| whole(t.backlog), ratio: false },
    Row { label: "latency, median", value: |t| t.p50_ms, shown: |t| ms(t.p50_ms), ratio: true },
    Row { label: "latency, 99 %", value: |t| t.p99_ms, shown: |t| ms(t.p99_ms), ratio: true },
    Row {
        label: "  in the last quarter",
        value: |t| t.late_p99_ms,
        shown: |t| ms(t.late_p99_ms),
        ratio: true,
    },
    Row {
        label: "nodes used above 5 %",
        value: |t| t.late_nodes_used,
        shown: |t| format!("{:.1}", t.late_nodes_used),
        ratio: true,
    },
    Row {
        label: "busiest / mean node",
        value: |t| t.late_max_over_mean,
        shown: |t| format!("{:.2}", t.late_max_over_mean),
        ratio: true,
    },
    Row {
        label: "tablets at the end",
        value: |t| f64::from(t.tablets),
        shown: |t| count(t.tablets.into()),
        ratio: false,
    },
    Row { label: "  cut", value: |t| t.splits as f64, shown: |t| count(t.splits), ratio: false },
    Row { label: "  moved", value: |t| t.moves as f64, shown: |t| count(t.moves), ratio: false },
];

fn per_s(totals: &Totals, sum: f64) -> f64 {
    sum / f64::from(totals.seconds.max(1))
}

fn table(report: &Report, out: &mut impl Write) -> io::Result<()> {
    if let [first, second] = &report.runs[..] {
        let names = [first, second].map(|run| fitted(&run.name, COLUMN - 2));
        writeln!(out, "{:LABEL$}  {:COLUMN$}{:COLUMN$}ratio", "", names[0], names[1])?;
    }
    for row in &ROWS {
        let shown = columns(report, |run| (row.shown)(&run.outcome.totals));
        let ratio = match &report.runs[..] {
            [first, second] if row.ratio => {
                ratio((row.value)(&first.outcome.totals), (row.value)(&second.outcome.totals))
            }
            _ => String::new(),
        };
        writeln!(out, "{}", format!("{:LABEL$}  {shown}{ratio}", row.label).trim_end())?;
    }
    let before = columns(report, |run| count(run.tablets as u64));
    writeln!(out, "{}", format!("{:LABEL$}  {before}", "tablets at the start").trim_end())
}

/// One text for each run, in columns.
fn columns(report: &Report, shown: impl Fn(&Run) -> String) -> String {
    let columns: Vec<String> = report.runs.iter().map(|run| format!("{:COLUMN$}", shown(run))).collect();
    columns.concat()
}

fn ratio(first: f64, second: f64) -> String {
    if first <= 0.0 || second <= 0.0 {
        return String::new();
    }
    let ratio = second / first;
    let (sign, ratio) = if ratio < 0.995 { ('/', 1.0 / ratio) } else { ('x', ratio) };
    match ratio {
        ratio if ratio >= 99.95 => format!("{sign} {}", whole(ratio)),
        ratio if ratio >= 9.995 => format!("{sign} {ratio:.1}"),
        ratio => format!("{sign} {ratio:.2}"),
    }
}

/// Nodes from the busiest to the least busy, in groups if there are many.
fn bars(outcome: &Outcome, out: &mut impl Write) -> io::Result<()> {
    let mut loads: Vec<f64> = outcome.nodes.iter().map(|node| node.utilisation_late).collect();
    loads.sort_by(|a, b| b.total_cmp(a));
    let groups = loads.len().clamp(1, NODES_MAX);
    for group in 0..groups {
        let (from, to) = (group * loads.len() / groups, (group + 1) * loads.len() / groups);
        let members = &loads[from..to];
        let mean = members.iter().sum::<f64>() / members.len().max(1) as f64;
        let label = if to - from == 1 { format!("{}", from + 1) } else { format!("{} to {}", from + 1, to) };
        writeln!(out, "{label:>16}  {} {:>3.0} %", bar(mean), mean * 100.0)?;
    }
    Ok(())
}

/// A bar of a share, in eighths of a character.
fn bar(share: f64) -> String {
    const EIGHTHS: [char; 8] = [' ', '▏', '▎', '▍', '▌', '▋', '▊', '▉'];
    let eighths = (share.clamp(0.0, 1.0) * (BAR * 8) as f64).round() as usize;
    let mut text: String = "█".repeat(eighths / 8);
    if !eighths.is_multiple_of(8) {
        text.push(EIGHTHS[eighths % 8]);
    }
    let missing = BAR - text.chars().count();
    text + &"░".repeat(missing)
}

fn lines(outcome: &Outcome, out: &mut impl Write) -> io::Result<()> {
    let mut line = |label: &str, of: fn(&Tick) -> f64, shown: fn(f64) -> String| {
        let values: Vec<f64> = outcome.ticks.iter().map(of).collect();
        let (text, least, most) = spark(&values);
        writeln!(out, "{label:>16}  {text}  {} to {}", shown(least), shown(most))
    };
    line("served/s", |tick| tick.served, whole)?;
    line("refused/s", |tick| tick.refused, whole)?;
    line("latency, 99 %", |tick| tick.p99_ms, ms)?;
    line("busiest node", |tick| tick.utilisation_max, |share| format!("{:.0} %", share * 100.0))?;
    line("tablets", |tick| f64::from(tick.tablets), whole)
}

/// A line of small blocks from 0 to the largest value; the least and the largest of its points.
fn spark(values: &[f64]) -> (String, f64, f64) {
    const LEVELS: [char; 8] = ['▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let groups = values.len().min(LINE);
    let means: Vec<f64> = (0..groups)
        .map(|group| {
            let (from, to) = (group * values.len() / groups, (group + 1) * values.len() / groups);
            values[from..to].iter().sum::<f64>() / (to - from).max(1) as f64
        })
        .collect();
    let most = means.iter().copied().fold(0.0, f64::max);
    let least = means.iter().copied().fold(f64::INFINITY, f64::min);
    let level =
        |value: f64| if most > 0.0 { ((value / most) * 7.0).round().clamp(0.0, 7.0) as usize } else { 0 };
    let text: String = means.iter().map(|&value| LEVELS[level(value)]).collect();
    (format!("{text:LINE$}"), if least.is_finite() { least } else { 0.0 }, most)
}

fn trust(report: &Report, out: &mut impl Write) -> io::Result<()> {
    let totals = &report.runs.first().map_or_else(Totals::default, |run| run.outcome.totals);
    let mut notes = vec![
        format!(
            "{} operations were drawn; that makes the load of one node uncertain by {:.1} % (one standard error)",
            count(totals.draws),
            totals.node_error * 100.0
        ),
        format!(
            "one node takes {} writes/s or {} point reads/s: {}",
            whole(1.0 / report.settings.write_s()),
            whole(1.0 / report.settings.read_s()),
            report.settings.capacity.source
        ),
    ];
    notes.extend(report.assumed.iter().cloned());
    notes.push("when tablets are cut and moved is not published for most stores; `rowkey simulate --parameters` lists every number with its source".to_owned());
    for note in notes {
        wrapped(&note, out)?;
    }
    Ok(())
}

/// `- ` and the text, in lines of at most 100 characters.
fn wrapped(text: &str, out: &mut impl Write) -> io::Result<()> {
    let mut line = String::from("-");
    for word in text.split_whitespace() {
        if line.chars().count() + 1 + word.chars().count() > 100 {
            writeln!(out, "{line}")?;
            line = String::from(" ");
        }
        line.push(' ');
        line.push_str(word);
    }
    writeln!(out, "{line}")
}

/// What a field was taken for.
pub(super) fn source(source: Source, field: &Field, workload: &WorkloadOptions) -> String {
    match source {
        Source::Time => format!("is the time of arrival, give or take {} ms", workload.jitter_ms),
        Source::Counter => "is a counter".to_owned(),
        Source::Entity { count: entities, skew } if skew > 0.0 => {
            format!("is one of {}, skewed by {skew}", count(entities))
        }
        Source::Entity { count: entities, .. } => format!("is one of {}", count(entities)),
        Source::Choice => format!("is one of {}", counted(field.values.len() as u64, "declared value")),
        Source::Random => "is random".to_owned(),
    }
}

/// Every parameter with its source.
pub(super) fn print_parameters(settings: &Settings, format: Format, out: &mut impl Write) -> io::Result<()> {
    let parameters = settings.parameters();
    match format {
        Format::Text => {
            for parameter in parameters {
                writeln!(out, "{}: {}\n    {}", parameter.name, parameter.value, parameter.source)?;
            }
        }
        Format::Json => {
            let objects = parameters.iter().map(|parameter| {
                Object::new()
                    .text("name", parameter.name)
                    .text("value", &parameter.value)
                    .text("source", parameter.source)
                    .end()
            });
            writeln!(
                out,
                "{}",
                Object::line("parameters")
                    .text("preset", settings.preset)
                    .raw("parameters", &array(objects))
                    .end()
            )?;
        }
        Format::Csv => {
            writeln!(out, "name,value,source")?;
            for parameter in parameters {
                let fields = [parameter.name, &parameter.value, parameter.source].map(crate::text::csv);
                writeln!(out, "{}", fields.join(","))?;
            }
        }
    }
    Ok(())
}

/// A whole number for people.
pub(super) fn whole(number: f64) -> String {
    count(number.max(0.0).round() as u64)
}

fn ms(ms: f64) -> String {
    match ms {
        ms if ms >= 1e4 => format!("{:.0} s", ms / 1e3),
        ms if ms >= 1e3 => format!("{:.1} s", ms / 1e3),
        ms if ms >= 100.0 => format!("{ms:.0} ms"),
        ms => format!("{ms:.1} ms"),
    }
}

fn part(part: f64, of: f64) -> String {
    if of > 0.0 { format!("{:.0} %", part / of * 100.0) } else { "0 %".to_owned() }
}

fn time(seconds: u32) -> String {
    match seconds {
        seconds if seconds >= 7_200 && seconds.is_multiple_of(3_600) => format!("{} hours", seconds / 3_600),
        seconds if seconds >= 120 && seconds.is_multiple_of(60) => format!("{} minutes", seconds / 60),
        seconds => counted(seconds.into(), "second"),
    }
}

/// The end of a name that is too long.
fn fitted(name: &str, width: usize) -> String {
    let length = name.chars().count();
    if length <= width {
        return name.to_owned();
    }
    let kept: String = name.chars().skip(length + 3 - width).collect();
    format!("...{kept}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bars_and_lines_have_their_width() {
        for share in [0.0, 0.004, 0.5, 0.999, 1.0, 7.0] {
            assert_eq!(bar(share).chars().count(), BAR, "{share}");
        }
        assert_eq!(bar(0.5), "██████████░░░░░░░░░░");
        let (text, least, most) = spark(&[0.0, 1.0, 2.0]);
        assert_eq!(text.trim_end(), "▁▅█");
        assert!(least < 1e-9 && (most - 2.0).abs() < 1e-9);
        assert_eq!(spark(&[]).0.trim_end(), "");
    }

    #[test]
    fn ratios_below_one_are_divisions() {
        let shown = [(1.0, 7.0), (10_000.0, 27.0), (2.0, 1.0), (1.0, 1.0), (0.0, 1.0)]
            .map(|(first, second)| ratio(first, second));
        assert_eq!(shown, ["x 7.00", "/ 370", "/ 2.00", "x 1.00", ""]);
    }

    #[test]
    fn names_keep_their_end() {
        assert_eq!(fitted("a/very/long/path/telemetry.toml", 17), "...telemetry.toml");
        assert_eq!(fitted("telemetry.toml", 17), "telemetry.toml");
    }
}
