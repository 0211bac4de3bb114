//! Split points from a sample of keys: quantiles, as short as they separate.

use super::{SplitPoints, check_regions};
use crate::Result;

/// Points that put equal shares of the sample into each region. A key that stands in the sample several times counts several times. A point
/// is the shortest prefix of the key behind the cut that is greater than the key before it.
///
/// # Errors
///
/// [`ErrorKind::Limit`](crate::ErrorKind::Limit) for no region or more than [`REGIONS_MAX`](super::REGIONS_MAX).
pub fn from_sample(mut keys: Vec<Vec<u8>>, regions: u32) -> Result<SplitPoints> {
    check_regions(regions)?;
    keys.sort_unstable();
    let mut split = SplitPoints::default();
    let mut taken = 0;
    for at in 1..u64::from(regions) {
        let share = u128::from(at) * keys.len() as u128 / u128::from(regions);
        let wanted = usize::try_from(share).expect("a share of the sample is an index into it");
        let Some(cut) = nearest_change(&keys, wanted).filter(|cut| *cut > taken) else { continue };
        taken = cut;
        split.points.push(separator(&keys[cut - 1], &keys[cut]));
    }
    let (made, count) = (split.regions(), keys.len());
    if made < regions as usize {
        split.notes.push(format!("{count} keys tell only {made} regions apart, of {regions} asked for"));
    }
    Ok(split)
}

/// The index nearest to `wanted` whose key differs from the one before it.
fn nearest_change(keys: &[Vec<u8>], wanted: usize) -> Option<usize> {
    let key = keys.get(wanted)?;
    let first = keys.partition_point(|other| other < key);
    let behind = keys.partition_point(|other| other <= key);
    match (first > 0, behind < keys.len()) {
        (true, true) if behind - wanted < wanted - first => Some(behind),
        (true, _) => Some(first),
        (false, true) => Some(behind),
        (false, false) => None,
    }
}

/// The shortest prefix of `high` that is greater than `low`, which is less than `high`.
pub(super) fn separator(low: &[u8], high: &[u8]) -> Vec<u8> {
    let same = low.iter().zip(high).take_while(|(a, b)| a == b).count();
    high[..(same + 1).min(high.len())].to_vec()
}
