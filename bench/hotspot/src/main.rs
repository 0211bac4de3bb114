//! Reads files of keys and operations, and measures them as the doctor does, against `sort FILE | uniq -c`; prints seconds, ratios and peak memory.
//!
//! ```text
//! cargo run --release -p hotspot [keys [rounds]]       10,000,000 keys and 3 rounds, if not said otherwise; 500 MB below the temporary folder
//! cargo run --release -p hotspot -- run STEP FILE      one step alone: read, collect or doctor
//! ```
//!
//! Each step runs in a process of its own, so that its peak memory (`VmHWM` of Linux) is its own. All of Rowkey's steps use one thread; `sort`
//! uses as many as it likes. `LC_ALL=C` makes `sort` compare bytes, which is its fastest. Seconds of the processor are printed as well as those of the
//! clock: they are what one core takes, also where other work shares the machine.

use rowkey_hotspot::collect::{CollectConfig, Collector};
use rowkey_hotspot::doctor::{Doctor, DoctorOptions};
use rowkey_hotspot::input::{self, Options, ReadReport};
use rowkey_hotspot::{OpKind, Operation};
use rowkey_store::seeded::Seeded;
use std::error::Error;
use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, BufWriter, Write as _};
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Instant;

type Result<T> = std::result::Result<T, Box<dyn Error>>;

const KEYS: u64 = 10_000_000;
const ROUNDS: usize = 3;

/// The key of a write, from its number and how many there are.
type KeyAt = fn(u64, u64, &mut Seeded) -> String;

fn main() -> Result<()> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    if let [run, step, file] = &arguments[..]
        && run == "run"
    {
        return run_step(step, Path::new(file));
    }
    let number = |at: usize| arguments.get(at).map(|text| text.parse()).transpose();
    let keys = number(0)?.unwrap_or(KEYS);
    let rounds = usize::try_from(number(1)?.unwrap_or(ROUNDS as u64))?;
    let folder = std::env::temp_dir().join(format!("rowkey-bench-hotspot-{}", std::process::id()));
    fs::create_dir_all(&folder)?;
    let result = compare(&folder, keys, rounds);
    fs::remove_dir_all(&folder)?;
    result
}

/// What a step took.
#[derive(Debug, Clone, Copy)]
struct Run {
    /// By the clock.
    seconds: f64,
    /// Of all processors, in the program and in the system.
    busy: f64,
    /// Peak memory, 0 where it is not known.
    kib: u64,
}

fn compare(folder: &Path, keys: u64, rounds: usize) -> Result<()> {
    let designs: [(&str, KeyAt); 2] = [("salted", salted), ("time first", time_first)];
    for (name, design) in designs {
        let file = folder.join("keys.txt");
        write_keys(&file, keys, design)?;
        println!("{keys} keys, {name}, {} bytes", fs::metadata(&file)?.len());
        let sort = median(rounds, || sort_uniq(&file))?;
        line("sort FILE | uniq -c", sort, keys, sort);
        for step in ["read", "collect", "doctor"] {
            line(step, median(rounds, || in_a_process(step, &file))?, keys, sort);
        }
    }
    let operations = keys / 5;
    let file = folder.join("operations.jsonl");
    write_operations(&file, operations)?;
    println!("{operations} operations as JSON lines, {} bytes", fs::metadata(&file)?.len());
    for step in ["read", "collect", "doctor"] {
        let run = median(rounds, || in_a_process(step, &file))?;
        line(step, run, operations, run);
    }
    for (tool, ending) in [("gzip", "gz"), ("zstd", "zst")] {
        let packed = folder.join(format!("keys.txt.{ending}"));
        let source = folder.join("keys.txt");
        if !Command::new(tool).args(["-q", "-k"]).arg(&source).status().is_ok_and(|status| status.success()) {
            println!("{tool} is not there");
            continue;
        }
        println!("{keys} keys, time first, packed with {tool}, {} bytes", fs::metadata(&packed)?.len());
        let run = median(rounds, || in_a_process("read", &packed))?;
        line("read", run, keys, run);
    }
    Ok(())
}

fn line(what: &str, run: Run, lines: u64, sort: Run) {
    let memory =
        if run.kib == 0 { String::new() } else { format!("{:6.1} MB", run.kib as f64 * 1024.0 / 1e6) };
    println!(
        "  {what:20} {:7.2} s, busy {:7.2} s: {:6.2} M/s a core; sort takes {:5.1} times as long, {:5.1} times as much {memory}",
        run.seconds,
        run.busy,
        lines as f64 / run.busy / 1e6,
        sort.seconds / run.seconds,
        sort.busy / run.busy,
    );
}

fn median(rounds: usize, mut run: impl FnMut() -> Result<Run>) -> Result<Run> {
    let mut runs = (0..rounds.max(1)).map(|_| run()).collect::<Result<Vec<Run>>>()?;
    runs.sort_by(|a, b| a.busy.total_cmp(&b.busy));
    let kib = runs.iter().map(|run| run.kib).max().unwrap_or_default();
    Ok(Run { kib, ..runs[runs.len() / 2] })
}

fn sort_uniq(file: &Path) -> Result<Run> {
    let (_, run) = timed("sort \"$1\" | uniq -c > /dev/null", &[file.as_os_str()])?;
    Ok(run)
}

/// Runs a step with a process of its own, which prints its peak memory in KiB.
fn in_a_process(step: &str, file: &Path) -> Result<Run> {
    let program = std::env::current_exe()?;
    let (printed, run) =
        timed("\"$1\" run \"$2\" \"$3\"", &[program.as_os_str(), step.as_ref(), file.as_os_str()])?;
    Ok(Run { kib: printed.trim().parse().map_err(|_| format!("{step} failed"))?, ..run })
}

/// Runs a shell command; what it printed, and its time. The shell tells what its children took, in two lines.
fn timed(script: &str, arguments: &[&OsStr]) -> Result<(String, Run)> {
    let start = Instant::now();
    let output = Command::new("sh")
        .args(["-c", &format!("{script} && times"), "sh"])
        .args(arguments)
        .env("LC_ALL", "C")
        .stderr(Stdio::inherit())
        .output()?;
    let seconds = start.elapsed().as_secs_f64();
    let text = String::from_utf8(output.stdout)?;
    let (rest, children) = text.trim_end().rsplit_once('\n').ok_or("the shell does not tell times")?;
    let printed = rest.rsplit_once('\n').map_or("", |(printed, _)| printed).to_owned();
    let busy = children.split_whitespace().map(shell_seconds).sum::<Option<f64>>().ok_or("no times")?;
    Ok((printed, Run { seconds, busy, kib: 0 }))
}

/// `1m2.345s` in seconds.
fn shell_seconds(text: &str) -> Option<f64> {
    let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
    Some(minutes.parse::<f64>().ok()? * 60.0 + seconds.parse::<f64>().ok()?)
}

fn run_step(step: &str, file: &Path) -> Result<()> {
    match step {
        "read" => {
            let mut bytes = 0;
            read(file, &mut |operation| bytes += operation.key.len() as u64)?;
            std::hint::black_box(bytes);
        }
        "collect" => {
            let mut collector = Collector::new(CollectConfig::default());
            read(file, &mut |operation| collector.observe(operation))?;
            std::hint::black_box(collector.finish());
        }
        "doctor" => {
            let mut doctor = Doctor::new(DoctorOptions::default());
            read(file, &mut |operation| doctor.observe(operation))?;
            std::hint::black_box(doctor.finish());
        }
        _ => return Err(format!("there is no step `{step}`").into()),
    }
    writeln!(io::stdout(), "{}", peak_kib())?;
    Ok(())
}

fn read(file: &Path, take: &mut dyn FnMut(&Operation<'_>)) -> Result<ReadReport> {
    let mut sink = |operation: &Operation<'_>| {
        take(operation);
        ControlFlow::Continue(())
    };
    let name = file.display().to_string();
    Ok(input::read(File::open(file)?, &name, &Options::default(), &mut sink, &mut |_| ())?)
}

/// The peak resident memory of this process; 0 where the system does not say.
fn peak_kib() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    line.and_then(|line| line.split_whitespace().next()?.parse().ok()).unwrap_or_default()
}

/// A key of 34 bytes: a salt of 16, a vehicle of 100,000, the time in reverse.
fn salted(at: u64, _: u64, dice: &mut Seeded) -> String {
    let vehicle = dice.below(100_000);
    format!("{:02x}#acme#truck#{vehicle:05}#{:013}", vehicle % 16, 8_243_455_999_999 - at * 10)
}

/// The same fields, the time in front, unordered by up to 50 ms.
fn time_first(at: u64, _: u64, dice: &mut Seeded) -> String {
    let (vehicle, late) = (dice.below(100_000), dice.below(50) as u64);
    format!("{:013}#acme#truck#{vehicle:05}#{:02x}", 1_714_644_000_000 + at * 10 - late, vehicle % 16)
}

fn write_keys(file: &Path, keys: u64, design: fn(u64, u64, &mut Seeded) -> String) -> Result<()> {
    let mut dice = Seeded::new(1);
    let mut out = BufWriter::new(File::create(file)?);
    for at in 0..keys {
        writeln!(out, "{}", design(at, keys, &mut dice))?;
    }
    Ok(out.flush()?)
}

/// Operations as a recorder writes them: of ten, seven writes, two reads, one scan.
fn write_operations(file: &PathBuf, operations: u64) -> Result<()> {
    let mut dice = Seeded::new(2);
    let mut out = BufWriter::new(File::create(file)?);
    for at in 0..operations {
        let key = salted(at, operations, &mut dice);
        let kind =
            [OpKind::Write, OpKind::Read, OpKind::Scan][[0, 0, 0, 0, 0, 0, 0, 1, 1, 2][dice.below(10)]];
        write!(
            out,
            "{{\"table\":\"fleet\",\"time_ms\":{},\"op\":\"{}\",\"key\":\"{key}\"",
            1_714_644_000_000 + at / 20,
            kind.name()
        )?;
        if kind == OpKind::Scan {
            write!(out, ",\"end\":\"{}$\"", &key[..key.len() - 14])?;
        }
        writeln!(
            out,
            ",\"rows\":{},\"bytes\":{}}}",
            if kind == OpKind::Scan { 20 } else { 1 },
            100 + dice.below(200)
        )?;
    }
    Ok(out.flush()?)
}
