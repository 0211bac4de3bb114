//! `rowkey splits`: the keys at which to cut a new table.

use crate::exit::{Exit, Failure};
use crate::output::Format;
use crate::session::Session;
use crate::{schema_file, text};
use anyhow::{Context as _, Result};
use rowkey::splits::{self, Severity, SplitPoints};
use rowkey::{Codec, escape};
use std::io::{self, Read as _, Write as _};
use std::path::{Path, PathBuf};

/// Quantiles need all keys in memory, and no sample needs to be larger.
const KEY_FILE_BYTES_MAX: u64 = 1 << 30;

/// Where the cuts are.
#[derive(Debug, clap::Args)]
pub(crate) struct CutArgs {
    /// Cut into so many parts of about equal share, computed from the schema, or from --sample
    #[arg(long, value_name = "NUMBER", value_parser = clap::value_parser!(u32).range(1..=i64::from(splits::REGIONS_MAX)))]
    pub(crate) regions: Option<u32>,
    /// One part for each bucket of the salt
    #[arg(long, conflicts_with_all = ["regions", "points"])]
    pub(crate) per_bucket: bool,
    /// A file of row keys, one a line as they are printed: cut where they are, so that each part gets as many
    #[arg(long, value_name = "FILE", requires = "regions")]
    pub(crate) sample: Option<PathBuf>,
    /// A file of the cuts themselves, one key a line as it is printed
    #[arg(long, value_name = "FILE", conflicts_with = "regions")]
    pub(crate) points: Option<PathBuf>,
}

/// Arguments of `rowkey splits`.
#[derive(Debug, clap::Args)]
#[command(after_help = "Examples:
  rowkey splits --schema telemetry.toml --per-bucket
  rowkey splits --schema telemetry.toml --regions 8 --for hbase-shell
  rowkey splits --schema telemetry.toml --regions 8 --sample keys.txt --for cbt
  rowkey splits --schema telemetry.toml --points cuts.txt      # checks them

What is found about the cuts (a part that no key can reach, a cut inside a bucket, ...) goes to stderr; exit 1 if no store would take \
them.")]
pub(crate) struct SplitsArgs {
    /// The schema file
    #[arg(short, long, value_name = "FILE")]
    schema: PathBuf,
    #[command(flatten)]
    cuts: CutArgs,
    /// Print a command or file for this tool instead of one key a line
    #[arg(long = "for", value_name = "TOOL")]
    tool: Option<Tool>,
}

/// What takes split points.
#[derive(Debug, Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
enum Tool {
    /// A command of Bigtable's cbt
    Cbt,
    /// A command of gcloud
    Gcloud,
    /// A command of the HBase shell
    HbaseShell,
    /// A splits file of the HBase shell
    HbaseFile,
    /// JSON lines
    Json,
}

/// Split points, and whether something is wrong with them that no store takes.
#[derive(Debug, Default)]
pub(crate) struct Cuts {
    /// The points.
    pub(crate) points: Vec<Vec<u8>>,
    /// Whether a finding is an error.
    pub(crate) refused: bool,
}

/// Runs it.
pub(crate) fn run(args: &SplitsArgs, session: &mut Session) -> Result<Exit> {
    let codec = Codec::new(schema_file::load(&args.schema)?)?;
    let Some(cuts) = cuts(&codec, &args.cuts, session)? else {
        return Err(Failure::usage(
            "say where to cut: --regions NUMBER, --per-bucket, --sample FILE with --regions NUMBER, or --points FILE",
        ));
    };
    if !cuts.refused {
        write!(session.out, "{}", printed(args.tool, session.format, &codec, &cuts.points)?)?;
    }
    Ok(if cuts.refused { Exit::No } else { Exit::Done })
}

fn printed(tool: Option<Tool>, format: Format, codec: &Codec, points: &[Vec<u8>]) -> Result<String> {
    let tool = match tool {
        Some(Tool::Cbt) => splits::Format::Cbt,
        Some(Tool::Gcloud) => splits::Format::Gcloud,
        Some(Tool::HbaseShell) => splits::Format::HbaseShell,
        Some(Tool::HbaseFile) => splits::Format::HbaseFile,
        Some(Tool::Json) => splits::Format::Json,
        None if format == Format::Json => splits::Format::Json,
        None => {
            let lines: Vec<String> =
                points.iter().map(|point| escape::escaped(point).to_string() + "\n").collect();
            return Ok(lines.concat());
        }
    };
    Ok(splits::print(tool, codec.schema(), points)?)
}

/// The split points that these options ask for, and what is found about them, which is told; `None` if they ask for none.
///
/// # Errors
///
/// If a file cannot be read or holds what is no key; if the schema does not say how keys spread.
pub(crate) fn cuts(codec: &Codec, args: &CutArgs, session: &Session) -> Result<Option<Cuts>> {
    let sample = args.sample.as_deref().map(read_keys).transpose()?;
    if let (Some(file), Some(keys)) = (&args.sample, &sample) {
        warn_of_strangers(file, codec, keys, session);
    }
    let split = match (args, &sample) {
        (CutArgs { points: Some(file), .. }, _) => SplitPoints::given(read_keys(file)?),
        (CutArgs { regions: Some(regions), .. }, Some(keys)) => splits::from_sample(keys.clone(), *regions)?,
        (CutArgs { regions: Some(regions), .. }, None) => splits::for_regions(codec, *regions)?,
        (CutArgs { per_bucket: true, .. }, _) => splits::per_bucket(codec)?,
        _ => return Ok(None),
    };
    for note in &split.notes {
        session.note(&format!("note: {note}"));
    }
    let mut refused = false;
    for finding in splits::check(&split.points, Some(codec), sample.as_deref()).findings {
        let text = format!("{}: {}", finding.rule, finding.message);
        match finding.severity {
            Severity::Error => {
                refused = true;
                session.problem(&text);
            }
            Severity::Warning => session.warn(&text),
            Severity::Note => session.note(&format!("note: {text}")),
        }
    }
    Ok(Some(Cuts { points: split.points, refused }))
}

/// Keys of another table say nothing about this one. Each is counted, and the first is named.
fn warn_of_strangers(file: &Path, codec: &Codec, keys: &[Vec<u8>], session: &Session) {
    let mut values = Vec::new();
    let mut strangers = 0;
    let mut first = None;
    for key in keys {
        values.clear();
        if let Err(error) = codec.decode(key, &mut values) {
            strangers += 1;
            first.get_or_insert_with(|| format!("`{}`: {error}", escape::escaped(key)));
        }
    }
    if let Some(first) = first {
        session.warn(&format!(
            "{}: {strangers} of {} are no keys of this schema; the first is {first}",
            file.display(),
            text::counted(keys.len() as u64, "key")
        ));
    }
}

fn read_keys(file: &Path) -> Result<Vec<Vec<u8>>> {
    let shown = file.display();
    let failed = |error: io::Error| Failure::bad_data(format!("{shown}: cannot be read: {error}"));
    let mut text = String::new();
    let opened = std::fs::File::open(file).map_err(failed)?;
    opened.take(KEY_FILE_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
    if text.len() as u64 > KEY_FILE_BYTES_MAX {
        let message = format!("{shown}: more than {KEY_FILE_BYTES_MAX} bytes of keys; take a smaller sample");
        return Err(Failure::bad_data(message));
    }
    let lines = text.lines().enumerate().filter(|(_, line)| !line.is_empty());
    lines
        .map(|(at, line)| escape::unescape(line).with_context(|| format!("{shown}, line {}", at + 1)))
        .collect()
}
