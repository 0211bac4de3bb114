//! Prepares a checked filter for one table.

use super::{Bounds, Program, Step};
use crate::regex::Pattern;
use crate::{Error, ErrorKind, Filter, Result, RowRange, Selection, TableConfig};

impl Program {
    /// Prepares a filter that [`crate::check::filter`] has let through.
    ///
    /// What a filter begins with is decided elsewhere where that is the same: rows by their key, families, times, and versions of columns
    /// unless cells of the column were taken before. That may go on until a filter counts the cells of a row or branches.
    ///
    /// # Errors
    ///
    /// `Limit`: patterns that are too large together, too many labels.
    pub(crate) fn new(filter: &Filter, config: &TableConfig, selection: &Selection) -> Result<Self> {
        let mut members = Vec::new();
        flatten(filter, &mut members);
        let families = vec![true; config.families.len()];
        let (rows, steps, labels) = (Vec::new(), Vec::new(), Vec::new());
        let (times_us, versions_max) = (selection.times_us.clone(), selection.versions_max);
        let program = Self { rows, range: None, families, times_us, versions_max, steps, labels };
        let mut compiler = Compiler { config, program, samples: 0, whole_columns: true };
        let mut rest = &members[..];
        while let Some((first, behind)) = rest.split_first() {
            let step = compiler.step(first)?;
            if !compiler.take_off(step) {
                break;
            }
            rest = behind;
        }
        for filter in rest.iter().skip(1) {
            let step = compiler.step(filter)?;
            compiler.program.steps.push(step);
        }
        Ok(compiler.program)
    }
}

/// The members of chains in chains are one chain.
fn flatten<'a>(filter: &'a Filter, members: &mut Vec<&'a Filter>) {
    match filter {
        Filter::Chain(filters) => filters.iter().for_each(|filter| flatten(filter, members)),
        Filter::PassAll => {}
        filter => members.push(filter),
    }
}

struct Compiler<'a> {
    config: &'a TableConfig,
    program: Program,
    samples: u64,
    /// Whether all selected cells of a column have come as far as this, so that its versions can be counted before.
    whole_columns: bool,
}

impl Compiler<'_> {
    /// Takes a step of the front, and leaves in the program what is still to be done. `false`: the front ends with it.
    fn take_off(&mut self, step: Step) -> bool {
        let program = &mut self.program;
        match step {
            Step::RowKey(_) | Step::RowSample(..) | Step::Block => {
                if let Step::RowKey(pattern) = &step {
                    let range = key_range(pattern);
                    program.range = Some(match program.range.take() {
                        // Where no key can match both, the second pattern decides, row by row.
                        Some(known) => known.intersection(&range).unwrap_or(known),
                        None => range,
                    });
                }
                program.rows.push(step);
            }
            Step::Families(families) => restrict(&mut program.families, &families),
            Step::Qualifiers(family, bounds) => {
                let families: Vec<bool> =
                    (0..program.families.len()).map(|index| Some(index) == family).collect();
                restrict(&mut program.families, &families);
                program.steps.push(Step::Qualifiers(family, bounds));
            }
            Step::Qualifier(_) | Step::Strip | Step::Label(_) => program.steps.push(step),
            Step::Times(times) if self.whole_columns && program.versions_max.is_none() => {
                program.times_us = Some(match program.times_us.take() {
                    Some(known) => known.start.max(times.start)..known.end.min(times.end),
                    None => times,
                });
            }
            Step::NewestOfColumn(count) if self.whole_columns => {
                let count = u32::try_from(count).unwrap_or(u32::MAX);
                program.versions_max = Some(program.versions_max.map_or(count, |known| known.min(count)));
            }
            Step::Times(_)
            | Step::NewestOfColumn(_)
            | Step::Value(_)
            | Step::Values(_)
            | Step::Bitmask(_) => {
                self.whole_columns = false;
                program.steps.push(step);
            }
            _ => {
                program.steps.push(step);
                return false;
            }
        }
        true
    }

    fn step(&mut self, filter: &Filter) -> Result<Step> {
        Ok(match filter {
            Filter::PassAll => Step::Pass,
            Filter::BlockAll => Step::Block,
            Filter::Chain(filters) => Step::Chain(self.steps(filters)?),
            Filter::Interleave(filters) => Step::Interleave(self.steps(filters)?),
            Filter::Condition { predicate, then, otherwise } => {
                let predicate = self.step(predicate)?;
                let mut branch = |filter: &Option<Box<Filter>>| {
                    filter.as_ref().map_or(Ok(Step::Block), |filter| self.step(filter))
                };
                Step::Condition(Box::new([predicate, branch(then)?, branch(otherwise)?]))
            }
            Filter::Sink => Step::Sink,
            Filter::RowKeyRegex(pattern) => Step::RowKey(Pattern::new(pattern)?),
            Filter::RowSample(share) => {
                self.samples += 1;
                Step::RowSample(self.samples - 1, hashes_of_share(*share))
            }
            Filter::FamilyRegex(pattern) => {
                let pattern = Pattern::new(pattern.as_bytes())?;
                let families = self.config.families.iter();
                Step::Families(families.map(|family| pattern.matches(family.name.as_bytes())).collect())
            }
            Filter::QualifierRegex(pattern) => Step::Qualifier(Pattern::new(pattern)?),
            Filter::QualifierRange { family, start, end } => {
                let family = self.config.families.iter().position(|known| known.name == *family);
                Step::Qualifiers(family, Bounds { start: start.clone(), end: end.clone() })
            }
            Filter::TimestampRange(times) => Step::Times(times.clone()),
            Filter::ValueRegex(pattern) => Step::Value(Pattern::new(pattern)?),
            Filter::ValueRange { start, end } => {
                Step::Values(Bounds { start: start.clone(), end: end.clone() })
            }
            Filter::ValueBitmask(mask) => Step::Bitmask(mask.clone()),
            Filter::CellsPerRowOffset(count) => Step::SkipCells(*count as usize),
            Filter::CellsPerRowLimit(count) => Step::FirstCells(*count as usize),
            Filter::CellsPerColumnLimit(count) => Step::NewestOfColumn(*count as usize),
            Filter::StripValue => Step::Strip,
            Filter::ApplyLabel(label) => Step::Label(self.label(label)?),
        })
    }

    fn steps(&mut self, filters: &[Filter]) -> Result<Vec<Step>> {
        filters.iter().map(|filter| self.step(filter)).collect()
    }

    /// The index of a label, plus one.
    fn label(&mut self, label: &str) -> Result<u16> {
        let labels = &mut self.program.labels;
        let index = labels.iter().position(|known| known == label).unwrap_or_else(|| {
            labels.push(label.to_owned());
            labels.len() - 1
        });
        u16::try_from(index + 1).map_err(|_| {
            Error::new(ErrorKind::Limit, "the filter applies more than 65,535 different labels: apply fewer")
        })
    }
}

fn restrict(families: &mut [bool], to: &[bool]) {
    for (family, wanted) in families.iter_mut().zip(to) {
        *family &= wanted;
    }
}

/// The row keys that a pattern can match.
fn key_range(pattern: &Pattern) -> RowRange {
    let (prefix, whole) = pattern.prefix();
    if whole { RowRange::key(prefix) } else { RowRange::prefix(prefix) }
}

/// Below which hash a row is in a sample of this share.
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a share is between 0 and 1")]
fn hashes_of_share(share: f64) -> u64 {
    // 2^64; the product is below it, as a double below 1 is at most 1 - 2^-53.
    (share * 18_446_744_073_709_551_616.0) as u64
}
