//! Runs a simulation: with operations generated from a schema, or with recorded ones.

use super::engine::{Piece, Simulation};
use super::outcome::{Outcome, Tick};
use super::settings::Settings;
use super::trace::{Trace, TraceOptions};
use crate::operation::OpKind;
use crate::workload::{Generator, WorkloadOptions};
use crate::{Error, ErrorKind, Result};
use rowkey::Codec;
use rowkey::splits::{self, REGIONS_MAX, SplitPoints};
use std::ops::ControlFlow;

/// Watches a simulation. `()` watches nothing.
pub trait Observer {
    /// A drawn operation, or a piece of one, that stands for `weight` operations.
    fn operation(&mut self, time_ms: i64, kind: OpKind, key: &[u8], weight: f64) {
        let _ = (time_ms, kind, key, weight);
    }

    /// A second is over, of `seconds` in all. `Break` ends the simulation.
    fn tick(&mut self, tick: &Tick, seconds: u32) -> ControlFlow<()> {
        let _ = (tick, seconds);
        ControlFlow::Continue(())
    }
}

impl Observer for () {}

/// The longest simulation: a week.
pub const SECONDS_MAX: u32 = 604_800;

/// The first second knows nothing of loads, so it draws so many times as much, and so many for each node.
const FIRST: u32 = 16;
const FIRST_PER_NODE: u32 = 400;

/// Operations without times are spread over so many seconds.
const UNTIMED_SECONDS: u32 = 600;

/// A table that is there already was cut by what was written before: in an hour.
const PAST_MS: i64 = 3_600_000;

fn check_seconds(seconds: u32) -> Result<()> {
    if (1..=SECONDS_MAX).contains(&seconds) {
        return Ok(());
    }
    let message = format!("{seconds} seconds cannot be simulated; from 1 to {SECONDS_MAX} (a week) can");
    Err(Error::new(ErrorKind::Limit, message))
}

/// Simulates the writes and declared queries of a schema. `workload.writes_per_s` is the rate of writes; queries come on top.
///
/// # Errors
///
/// [`ErrorKind::Conflict`] for parameters out of range, or a schema that no key can be generated for; [`ErrorKind::Limit`] for a length
/// that is 0 or above a week.
pub fn simulate(
    codec: &Codec,
    workload: &WorkloadOptions,
    settings: &Settings,
    split_points: Vec<Vec<u8>>,
    seconds: u32,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    check_seconds(seconds)?;
    let mut generator = Generator::new(codec, workload)?;
    let rate = generator.operations_per_s();
    if rate <= 0.0 {
        let message = "nothing is written and no query has a rate: give --rate, or per_second to a query";
        return Err(Error::new(ErrorKind::Conflict, message));
    }
    let mut simulation = Simulation::new(settings.clone(), split_points)?;
    simulation.expect_seconds(seconds);
    let mut key = Vec::new();
    for second in 0..seconds {
        simulation.begin_tick();
        let draws = match second {
            0 => settings.samples().saturating_mul(FIRST).max(settings.nodes.saturating_mul(FIRST_PER_NODE)),
            _ => settings.samples(),
        };
        let weight = rate / f64::from(draws);
        generator.set_step(weight);
        let start_ms = workload.start_ms.saturating_add(i64::from(second) * 1_000);
        for draw in 0..draws {
            let time_ms = start_ms.saturating_add(i64::from(draw) * 1_000 / i64::from(draws));
            match generator.choose() {
                None => {
                    generator.next_write(time_ms, &mut key)?;
                    simulation.book(&Piece::write(&key));
                    observer.operation(time_ms, OpKind::Write, &key, weight);
                }
                Some(query) => read(&mut simulation, &mut generator, query, time_ms, weight, observer),
            }
        }
        let tick = simulation.end_tick(rate);
        if observer.tick(&tick, seconds).is_break() {
            break;
        }
    }
    let mut outcome = simulation.finish();
    outcome.notes.extend(generator.notes().iter().cloned());
    Ok(outcome)
}

fn read(
    simulation: &mut Simulation,
    generator: &mut Generator,
    query: usize,
    time_ms: i64,
    weight: f64,
    observer: &mut dyn Observer,
) {
    let is_limited = generator.reads().nth(query).is_some_and(|shape| shape.is_limited);
    let parts = generator.next_read(query, time_ms);
    let share = 1.0 / parts.len().max(1) as f64;
    for part in parts {
        let kind = if part.end.is_some() { OpKind::Scan } else { OpKind::Read };
        let (key, end) = (part.start.as_slice(), part.end.as_deref());
        simulation.book(&Piece { kind, key, end, rows: part.rows, share, is_limited });
        observer.operation(time_ms, kind, key, weight * share);
    }
}

/// Replays recorded operations. With times, each second takes those of that second; without, they are spread evenly over the length, each
/// standing for as many as the rate asks for.
///
/// # Errors
///
/// [`ErrorKind::Conflict`] for parameters out of range or an empty record; [`ErrorKind::Limit`] for a length above a week.
pub fn replay(
    trace: &mut Trace,
    options: &TraceOptions,
    settings: &Settings,
    split_points: Vec<Vec<u8>>,
    observer: &mut dyn Observer,
) -> Result<Outcome> {
    let pace = Pace::new(trace, options, settings)?;
    let mut simulation = Simulation::new(settings.clone(), split_points)?;
    simulation.expect_seconds(pace.seconds);
    let mut at = 0;
    for second in 0..pace.seconds {
        simulation.begin_tick();
        let behind = pace.behind(trace, at, second);
        let count = behind.saturating_sub(at) as f64;
        let demand = pace.demand(count);
        let weight = if count > 0.0 { demand / count } else { 0.0 };
        for number in at..behind {
            let Some((operation, recorded_ms)) = trace.get(number) else { break };
            let rows = operation.rows.unwrap_or(1) as f64;
            let is_limited = operation.end.is_none();
            // A scan whose end is not known begins somewhere and reads its rows there.
            let end = operation.end.or((operation.kind == OpKind::Scan).then_some(&[][..]));
            let piece = Piece { kind: operation.kind, key: operation.key, end, rows, share: 1.0, is_limited };
            simulation.book(&piece);
            let time_ms = if pace.is_timed { recorded_ms } else { i64::from(second) * 1_000 };
            observer.operation(time_ms, operation.kind, operation.key, weight);
        }
        at = behind;
        let tick = simulation.end_tick(demand);
        if observer.tick(&tick, pace.seconds).is_break() {
            break;
        }
    }
    let mut outcome = simulation.finish();
    if trace.stride() > 1 {
        outcome.notes.push(format!("one operation in {} is replayed and stands for as many", trace.stride()));
    }
    Ok(outcome)
}

/// Which operations of a record belong to which second, and for how many they stand.
struct Pace {
    is_timed: bool,
    first_ms: i64,
    seconds: u32,
    /// Operations for each recorded one, with times; operations per second, without.
    factor: f64,
}

impl Pace {
    fn new(trace: &mut Trace, options: &TraceOptions, settings: &Settings) -> Result<Self> {
        if trace.is_empty() {
            return Err(Error::new(ErrorKind::Conflict, "there are no operations to replay"));
        }
        if let Some(rate) = options.rate_per_s
            && !(rate.is_finite() && rate > 0.0)
        {
            let message = format!("{rate} is no rate of operations: it must be above 0");
            return Err(Error::new(ErrorKind::Conflict, message));
        }
        let is_timed = trace.is_timed();
        if !is_timed {
            let seconds = options.seconds.unwrap_or(UNTIMED_SECONDS);
            check_seconds(seconds)?;
            let full = settings.capacity.one_node_writes_per_s() * f64::from(settings.nodes);
            return Ok(Self { is_timed, first_ms: 0, seconds, factor: options.rate_per_s.unwrap_or(full) });
        }
        trace.sort_by_time();
        let (first_ms, last_ms) = trace.span_ms();
        let recorded = u32::try_from(last_ms.saturating_sub(first_ms).max(0) / 1_000 + 1).unwrap_or(u32::MAX);
        let seconds = options.seconds.map_or(recorded, |seconds| seconds.min(recorded));
        check_seconds(seconds)?;
        let stands_for = trace.stride() as f64;
        let recorded_per_s = trace.len() as f64 * stands_for / f64::from(recorded);
        let factor = options.rate_per_s.map_or(1.0, |rate| rate / recorded_per_s) * stands_for;
        Ok(Self { is_timed, first_ms, seconds, factor })
    }

    /// The number behind the last operation of a second.
    fn behind(&self, trace: &Trace, at: usize, second: u32) -> usize {
        if !self.is_timed {
            let part = (u128::from(second + 1) * trace.len() as u128).div_ceil(u128::from(self.seconds));
            return usize::try_from(part).unwrap_or(usize::MAX);
        }
        let end_ms = self.first_ms.saturating_add((i64::from(second) + 1) * 1_000);
        let mut behind = at;
        while trace.get(behind).is_some_and(|(_, time_ms)| time_ms < end_ms) {
            behind += 1;
        }
        behind
    }

    fn demand(&self, count: f64) -> f64 {
        if self.is_timed { count * self.factor } else { self.factor }
    }
}

/// Where a new table of this schema would be cut by its owner: one tablet for each bucket of the salt; without buckets, `tablets` equal
/// shares of the first field, or, where the schema does not say how keys spread, of keys generated for the hour before.
///
/// # Errors
///
/// As [`simulate`].
pub fn pre_split(codec: &Codec, workload: &WorkloadOptions, tablets: u32) -> Result<SplitPoints> {
    let tablets = tablets.clamp(1, REGIONS_MAX);
    if let Ok(split) = splits::per_bucket(codec) {
        return Ok(split);
    }
    if let Ok(split) = splits::for_regions(codec, tablets) {
        return Ok(split);
    }
    let mut generator = Generator::new(codec, workload)?;
    let mut keys = Vec::new();
    let draws = tablets.saturating_mul(16);
    for draw in 0..draws {
        let mut key = Vec::new();
        let before_ms = i64::from(draws - draw) * PAST_MS / i64::from(draws);
        generator.next_write(workload.start_ms.saturating_sub(before_ms), &mut key)?;
        keys.push(key);
    }
    let failed = |error: rowkey::Error| Error::new(ErrorKind::Conflict, error.message().to_owned());
    let mut split = splits::from_sample(keys, tablets).map_err(failed)?;
    split.notes.push("tablets are cut by keys generated for the hour before".to_owned());
    Ok(split)
}
