//! Arguments of `rowkey simulate`, and what they mean.

use crate::exit::Failure;
use anyhow::{Context as _, Result};
use clap::builder::TypedValueParser as _;
use rowkey::escape;
use rowkey_hotspot::picture::Theme;
use rowkey_hotspot::sim::{Balancer, Clients, Settings, SizeRule};
use rowkey_hotspot::workload::WorkloadOptions;
use std::path::{Path, PathBuf};

/// Seconds of a simulation, unless said otherwise.
pub(super) const SECONDS: u32 = 600;

/// Arguments of `rowkey simulate`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey simulate --schema telemetry.toml
  rowkey simulate --schema time-first.toml --versus salted.toml --nodes 10 --rate 50000
  rowkey simulate --schema telemetry.toml --preset hbase --pre-split no --duration 1h
  rowkey simulate operations.jsonl.gz --nodes 20 --clients closed --picture load.svg
  rowkey simulate --parameters --preset hbase       # every number and where it comes from

With --schema, keys are generated: see docs/simulator.md for what fields are taken for. The queries of the schema that have a rate are read \
on top of the writes. With FILE, its operations are replayed: with times as they came; without, spread over --duration. CSV needs --schema.
A simulation is a model: it says what a design can do, not what your cluster will do.")]
pub(crate) struct SimulateArgs {
    /// Keys, one a line, or JSON lines of operations, or CSV of fields; `-` is stdin
    #[arg(value_name = "FILE")]
    pub(crate) file: Option<PathBuf>,
    /// The schema file
    #[arg(short, long, value_name = "FILE")]
    pub(crate) schema: Option<PathBuf>,
    /// Another schema, to be compared with the first; the rows of FILE are written under both
    #[arg(long, value_name = "FILE", requires = "schema")]
    pub(crate) versus: Option<PathBuf>,
    /// Nodes of the cluster
    #[arg(short, long, value_name = "NUMBER", default_value_t = 10, value_parser = clap::value_parser!(u32).range(1..=100_000))]
    pub(crate) nodes: u32,
    /// Writes per second; with FILE, its operations per second. Default: 70 % of what all nodes take, or as recorded
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    rate: Option<f64>,
    /// How long: 90s, 10m, 2h; at most a week. Default: 10m, or as recorded
    #[arg(long, value_name = "TIME", value_parser = duration)]
    duration: Option<u32>,
    /// Decides every choice
    #[arg(long, value_name = "NUMBER", default_value_t = 1)]
    seed: u64,
    /// What nodes, tablets and balancer are like
    #[arg(long, value_name = "NAME", default_value = "bigtable-ssd", value_parser = clap::builder::PossibleValuesParser::new(Settings::PRESETS).map(|name| name))]
    preset: String,
    /// open: clients send at their rate whatever happens; closed: the slowest node sets the pace
    #[arg(long, value_name = "KIND", default_value = "open")]
    clients: ClientsArg,
    /// Who moves tablets. Default: as the preset
    #[arg(long, value_name = "KIND")]
    balancer: Option<BalancerArg>,
    /// Whether the table is cut before the first write: yes, no, or a file of keys at which it is
    #[arg(long, value_name = "WHAT", default_value = "yes")]
    pre_split: PathBuf,
    /// Into how many tablets, where the schema has no buckets. Default: 10 for each node
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=65_536))]
    pub(crate) tablets: Option<u32>,
    /// Different values of a field that names something: a vehicle, a user
    #[arg(long, value_name = "NUMBER", default_value_t = 10_000, value_parser = clap::value_parser!(u64).range(1..))]
    entities: u64,
    /// How much more often the first of them come: 0 all alike, 1 Zipf's law
    #[arg(long, value_name = "NUMBER", default_value_t = 0.0, value_parser = not_negative)]
    skew: f64,
    /// Writes that one node takes. Default: as the preset
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    node_writes_per_s: Option<f64>,
    /// Point reads that one node takes
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    node_reads_per_s: Option<f64>,
    /// Rows that a scan passes on one node, per second
    #[arg(long, value_name = "NUMBER", value_parser = positive)]
    node_scanned_rows_per_s: Option<f64>,
    /// Bytes of a row
    #[arg(long, value_name = "BYTES", value_parser = positive)]
    row_bytes: Option<f64>,
    /// A tablet is cut above so many megabytes, instead of by the preset's rule; 0: never by size
    #[arg(long, value_name = "MB", value_parser = not_negative)]
    split_mb: Option<f64>,
    /// An operation is given up when it has waited so long
    #[arg(long, value_name = "SECONDS", value_parser = positive)]
    timeout: Option<f64>,
    /// Operations drawn for each second: more are slower and closer. Default: 2,000, or two for each node
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=10_000_000))]
    samples: Option<u32>,
    /// Draw throughput, latency, utilisation and tablets over time; the name ends in .svg or .png
    #[arg(long, value_name = "FILE")]
    pub(crate) picture: Option<PathBuf>,
    /// Paper of the picture
    #[arg(long, value_name = "KIND", default_value = "light")]
    theme: ThemeArg,
    /// Print every parameter with its source, and simulate nothing
    #[arg(long)]
    pub(crate) parameters: bool,
    /// Go on even if more than 1 % of the lines of FILE are malformed
    #[arg(long)]
    pub(crate) lenient: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ClientsArg {
    /// Send at their rate whatever happens
    Open,
    /// Wait for answers before they send more
    Closed,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum BalancerArg {
    /// By load
    Even,
    /// Every tablet on a random node, for ever
    Random,
    /// By the number of tablets
    Count,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum ThemeArg {
    /// White paper
    Light,
    /// Black paper
    Dark,
}

/// Where a table is cut before the first write.
#[derive(Debug)]
pub(super) enum PreSplit {
    No,
    Yes,
    Points(Vec<Vec<u8>>),
}

/// What a picture is written as.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum PictureKind {
    Svg,
    Png,
}

impl PictureKind {
    /// By the end of its name.
    ///
    /// # Errors
    ///
    /// If the name ends otherwise.
    pub(super) fn of(file: &Path) -> Result<Self> {
        let extension = file.extension().and_then(|extension| extension.to_str()).unwrap_or_default();
        match extension.to_ascii_lowercase().as_str() {
            "svg" => Ok(Self::Svg),
            "png" => Ok(Self::Png),
            _ => Err(Failure::usage(format!("{}: a picture's name ends in .svg or .png", file.display()))),
        }
    }
}

impl SimulateArgs {
    /// The parameters of the cluster.
    ///
    /// # Errors
    ///
    /// If the picture's name says no kind: that is told before anything takes time.
    pub(super) fn settings(&self) -> Result<Settings> {
        if let Some(file) = &self.picture {
            PictureKind::of(file)?;
        }
        let unknown = || Failure::usage(format!("there is no preset `{}`", self.preset));
        let mut settings = Settings::preset(&self.preset).ok_or_else(unknown)?;
        settings.nodes = self.nodes;
        settings.seed = self.seed;
        settings.samples = self.samples;
        settings.clients = match self.clients {
            ClientsArg::Open => Clients::Open,
            ClientsArg::Closed => Clients::Closed,
        };
        if let Some(balancer) = self.balancer {
            settings.balancer = match balancer {
                BalancerArg::Even => Balancer::Even,
                BalancerArg::Random => Balancer::Random,
                BalancerArg::Count => Balancer::Count,
            };
        }
        let capacity = &mut settings.capacity;
        for (given, slot) in [
            (self.node_writes_per_s, &mut capacity.writes_per_s),
            (self.node_reads_per_s, &mut capacity.reads_per_s),
            (self.node_scanned_rows_per_s, &mut capacity.scanned_rows_per_s),
            (self.row_bytes, &mut settings.bytes_per_write),
            (self.timeout, &mut settings.timeout_s),
        ] {
            *slot = given.unwrap_or(*slot);
        }
        match self.split_mb {
            Some(mb) if mb > 0.0 => settings.size = SizeRule::Fixed { bytes: mb * 1e6 },
            Some(_) => settings.size = SizeRule::Never,
            None => {}
        }
        Ok(settings)
    }

    /// What was assumed because it was not said.
    pub(super) fn assumed(&self, settings: &Settings) -> Vec<String> {
        if self.rate.is_some() {
            return Vec::new();
        }
        vec![format!(
            "no --rate was given: {} writes/s are 70 % of what {} take, so that a design without a hotspot carries them",
            super::text::whole(full_rate(settings)),
            crate::text::counted(settings.nodes.into(), "node")
        )]
    }

    /// What is written and read.
    pub(super) fn workload(&self, settings: &Settings) -> WorkloadOptions {
        WorkloadOptions {
            seed: self.seed,
            entities: self.entities,
            skew: self.skew,
            writes_per_s: self.rate.unwrap_or_else(|| full_rate(settings)),
            ..WorkloadOptions::default()
        }
    }

    pub(super) fn rate(&self) -> Option<f64> {
        self.rate
    }

    pub(super) fn seconds(&self) -> Option<u32> {
        self.duration
    }

    pub(super) fn theme(&self) -> Theme {
        match self.theme {
            ThemeArg::Light => Theme::Light,
            ThemeArg::Dark => Theme::Dark,
        }
    }

    pub(super) fn seed(&self) -> u64 {
        self.seed
    }

    /// Where the table is cut before the first write.
    ///
    /// # Errors
    ///
    /// If a file of split points cannot be read, or holds what is no key.
    pub(super) fn pre_split(&self) -> Result<PreSplit> {
        match self.pre_split.to_str() {
            Some("yes") => Ok(PreSplit::Yes),
            Some("no") => Ok(PreSplit::No),
            _ => read_points(&self.pre_split).map(PreSplit::Points),
        }
    }
}

fn full_rate(settings: &Settings) -> f64 {
    0.7 * f64::from(settings.nodes) / settings.write_s()
}

fn read_points(file: &Path) -> Result<Vec<Vec<u8>>> {
    let shown = file.display();
    let text = std::fs::read_to_string(file).map_err(|error| {
        Failure::bad_data(format!(
            "{shown}: cannot be read: {error}; --pre-split is yes, no or a file of keys"
        ))
    })?;
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(at, line)| escape::unescape(line).with_context(|| format!("{shown}, line {}", at + 1)))
        .collect()
}

/// Above every rate and size there is; a week of it still fits the 64 bits that totals are printed with.
const NUMBER_MAX: f64 = 1e12;

fn number(text: &str) -> Result<f64, String> {
    let number: f64 = text.replace('_', "").parse().map_err(|_| "it is no number".to_owned())?;
    if !number.is_finite() {
        Err("it is not finite".to_owned())
    } else if number > NUMBER_MAX {
        Err("it is more than 1,000,000,000,000".to_owned())
    } else {
        Ok(number)
    }
}

/// A rate or size above 0 that totals can be made of.
pub(crate) fn positive(text: &str) -> Result<f64, String> {
    number(text)
        .and_then(|number| if number > 0.0 { Ok(number) } else { Err("it must be above 0".to_owned()) })
}

fn not_negative(text: &str) -> Result<f64, String> {
    number(text)
        .and_then(|number| if number >= 0.0 { Ok(number) } else { Err("it must not be below 0".to_owned()) })
}

/// `90`, `90s`, `10m`, `2h`, `1d`.
fn duration(text: &str) -> Result<u32, String> {
    let digits = text.trim_end_matches(|c: char| c.is_ascii_alphabetic());
    let unit = match &text[digits.len()..] {
        "" | "s" => 1,
        "m" | "min" => 60,
        "h" => 3_600,
        "d" => 86_400,
        unit => return Err(format!("`{unit}` is no unit of time; there are s, m, h and d")),
    };
    let number: u64 = digits.parse().map_err(|_| "write it as 90s, 10m or 2h".to_owned())?;
    let seconds = number.saturating_mul(unit);
    let most = rowkey_hotspot::sim::SECONDS_MAX;
    match u32::try_from(seconds) {
        Ok(0) => Err("it must be at least a second".to_owned()),
        Ok(seconds) if seconds <= most => Ok(seconds),
        _ => Err("it is more than a week; a simulation of some hours shows all that happens".to_owned()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_have_units_and_limits() {
        let check = |text: &str, expected: Result<u32, &str>| match (duration(text), expected) {
            (Ok(seconds), Ok(expected)) => assert_eq!(seconds, expected, "{text}"),
            (Err(error), Err(expected)) => assert!(error.contains(expected), "{text}: {error}"),
            (found, _) => panic!("{text}: {found:?}"),
        };
        check("90", Ok(90));
        check("90s", Ok(90));
        check("10m", Ok(600));
        check("2h", Ok(7_200));
        check("7d", Ok(604_800));
        check("8d", Err("more than a week"));
        check("0", Err("at least a second"));
        check("99999999999999999999h", Err("write it as"));
        check("5 w", Err("no unit"));
        check("5w", Err("no unit"));
        check("", Err("write it as"));
    }

    #[test]
    fn rates_are_above_zero() {
        assert_eq!(positive("50_000"), Ok(50_000.0));
        assert!(positive("0").unwrap_err().contains("above 0"));
        assert!(positive("inf").unwrap_err().contains("finite"));
        assert!(not_negative("-1").unwrap_err().contains("below 0"));
    }
}
