//! Split points: where a table is cut into regions before it has data.
//!
//! ```text
//! points 04, 08, 12     ->     [start, 04)  [04, 08)  [08, 12)  [12, end)          R regions have R - 1 points
//! ```
//!
//! Points come from the schema ([`for_regions`], [`per_bucket`]), from a sample of keys ([`from_sample`]) or from a person
//! ([`SplitPoints::given`]); [`check()`] judges them, and [`print()`] writes them for `cbt`, `gcloud`, the `HBase` shell, an `HBase` splits
//! file, or as JSON lines. A split point is bytes: nothing here turns it into characters and back.
//!
//! "Region" is what a table is cut into: a tablet of Bigtable, a region of `HBase`.

mod check;
mod print;
mod sample;
mod space;
#[cfg(test)]
mod tests;

pub use check::{Finding, Region, Report, Severity, check};
pub use print::{Format, print};
pub use sample::from_sample;

use crate::codec::Codec;
use crate::schema::{SaltFormat, SaltSource};
use crate::{Error, ErrorKind, Result};
use space::Space;

/// The most regions that split points are made for: as many as there can be buckets.
pub const REGIONS_MAX: u32 = 65_536;

/// Where a table is cut.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct SplitPoints {
    /// The first key of every region but the first. From a schema or a sample: ascending, without duplicates.
    pub points: Vec<Vec<u8>>,
    /// What they rest on, and why there may be fewer than asked for.
    pub notes: Vec<String>,
}

impl SplitPoints {
    /// Points that a person chose, as they are: see [`check`].
    pub fn given(points: Vec<Vec<u8>>) -> Self {
        Self { points, notes: Vec::new() }
    }

    /// How many regions they make.
    pub fn regions(&self) -> usize {
        self.points.len() + 1
    }
}

/// Points for so many regions, from the schema: equal shares of the buckets, or of the hash prefixes, or, without a salt, of the space of
/// the first field, where that is uniform: digits, hex, UUIDs, integers, fixed bytes, declared values.
///
/// # Errors
///
/// [`ErrorKind::Limit`] for no region or more than [`REGIONS_MAX`]; [`ErrorKind::Query`] if the schema does not say how keys spread: text,
/// domains, floats and times. Take a sample of keys then.
pub fn for_regions(codec: &Codec, regions: u32) -> Result<SplitPoints> {
    check_regions(regions)?;
    if regions == 1 {
        return Ok(SplitPoints::default());
    }
    match &codec.schema().salt {
        None => Ok(from_space(&space::of_first_field(codec)?, regions)),
        Some(salt) => match (salt.source, salt.format) {
            (SaltSource::HashPrefix { bytes, .. }, SaltFormat::Hex { .. }) => {
                Ok(from_space(&Space::digits(16, 2 * u32::from(bytes)), regions))
            }
            (SaltSource::HashPrefix { bytes, .. }, _) => Ok(from_space(&Space::bytes(bytes.into()), regions)),
            _ => of_buckets(codec, salt.buckets, regions),
        },
    }
}

/// One region for each bucket: buckets 1 to N - 1, since the first needs no point.
///
/// # Errors
///
/// [`ErrorKind::Query`] if the schema has no buckets.
pub fn per_bucket(codec: &Codec) -> Result<SplitPoints> {
    match (codec.bucket_count(), &codec.schema().salt) {
        (Some(buckets), _) => of_buckets(codec, buckets, buckets),
        (_, Some(_)) => Err(Error::query("a hash prefix has no buckets: say how many regions you want")),
        _ => Err(Error::query("the schema has no salt, so it has no buckets: say how many regions you want")),
    }
}

fn check_regions(regions: u32) -> Result<()> {
    if (1..=REGIONS_MAX).contains(&regions) {
        return Ok(());
    }
    let message = format!("{regions} regions were asked for; from 1 to {REGIONS_MAX} can be made");
    Err(Error::new(ErrorKind::Limit, message))
}

/// Point `i` is at `i * buckets / regions`; a fraction of a bucket is that share of the space of the first field.
fn of_buckets(codec: &Codec, buckets: u32, regions: u32) -> Result<SplitPoints> {
    let mut split = SplitPoints::default();
    let inner = if regions > buckets {
        let space = space::of_first_field(codec).map_err(|error| {
            Error::query(format!(
                "{regions} regions cut the {buckets} buckets in pieces, but {}; or ask for {buckets} regions",
                error.message()
            ))
        })?;
        split.notes.clone_from(&space.notes);
        Some(space)
    } else {
        if !buckets.is_multiple_of(regions) {
            let (few, many) = (buckets / regions, buckets.div_ceil(regions));
            split
                .notes
                .push(format!("{regions} does not divide {buckets} buckets: a region has {few} or {many}"));
        }
        None
    };
    for at in 1..regions {
        let position = u64::from(at) * u64::from(buckets);
        let bucket = u32::try_from(position / u64::from(regions)).expect("it is below the number of buckets");
        let mut point = Vec::new();
        codec.write_salt(bucket, &mut point);
        let part = position % u64::from(regions);
        if let (Some(space), true) = (&inner, part > 0) {
            point.extend(space.at(part.into(), regions.into()));
        }
        push_new(&mut split.points, point);
    }
    note_missing(&mut split, regions);
    Ok(split)
}

fn from_space(space: &Space, regions: u32) -> SplitPoints {
    let mut split = SplitPoints { points: Vec::new(), notes: space.notes.clone() };
    let first = space.at(0, 1);
    for at in 1..regions {
        let point = space.at(at.into(), regions.into());
        // The very first of a small space would leave the first region empty.
        if point > first {
            push_new(&mut split.points, point);
        }
    }
    note_missing(&mut split, regions);
    split
}

/// Points of a small space repeat.
fn push_new(points: &mut Vec<Vec<u8>>, point: Vec<u8>) {
    if points.last().is_none_or(|last| *last < point) {
        points.push(point);
    }
}

fn note_missing(split: &mut SplitPoints, regions: u32) {
    let made = split.regions();
    if made < regions as usize {
        split.notes.push(format!("only {made} regions can be told apart, of {regions} asked for"));
    }
}
