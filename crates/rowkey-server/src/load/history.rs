//! What is kept of one table and one minute, or quarter of an hour: `docs/formats/load.md`.
//!
//! ```text
//! value:  | version: u8 = 1 | ranges: n | range ... | tablets: n | tablet ... |
//! range:  | key | sums |
//! tablet: | key: where it begins | end: 0, or n + 1 and n bytes | node: n | peak minute: n | peak work: n | sums |
//! key:    | shared: n | n and so many bytes |      behind `shared` bytes of the key before, ranges and tablets each on their own
//! sums:   | mask: u8 | n for each bit that is set |
//! n:      LEB128, at most 10 bytes
//! ```
//!
//! Reading never panics and never takes more memory than the value has bytes, times a constant.

use super::answer::Sums;
use rowkey_store::RowRange;
use std::cmp::Reverse;
use std::collections::BTreeMap;

/// The version that is written.
const VERSION: u8 = 1;
/// Ranges and tablets of a value at most; more are damage.
const COUNT_MAX: u64 = 1 << 16;
/// Bytes of a key at most; more are damage.
const KEY_BYTES_MAX: usize = 4_096;
/// Tablets that are kept of a minute: the busiest.
pub(super) const TABLETS_MAX: usize = 64;

/// Load of a range of keys.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct RangeSums {
    /// A key of the range that occurred; it stands for all of it.
    pub(super) key: Vec<u8>,
    /// Without work.
    pub(super) sums: Sums,
}

/// Load of a tablet.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct TabletSums {
    pub(super) range: RowRange,
    pub(super) node: u32,
    /// Its hottest minute, counted from the beginning of the period, and its work in that.
    pub(super) peak_minute: u64,
    pub(super) peak_work_ns: u64,
    pub(super) sums: Sums,
}

/// What is kept of one table and one period.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(super) struct History {
    /// By key.
    pub(super) ranges: Vec<RangeSums>,
    /// By first key.
    pub(super) tablets: Vec<TabletSums>,
}

impl History {
    /// The sums of all ranges, which are those of the table.
    pub(super) fn sums(&self) -> Sums {
        let mut sums = Sums::default();
        for range in &self.ranges {
            sums.add(&range.sums);
        }
        sums
    }

    pub(super) fn encode(&self) -> Vec<u8> {
        let mut out = vec![VERSION];
        push_number(&mut out, self.ranges.len() as u64);
        let mut before: &[u8] = &[];
        for range in &self.ranges {
            push_key(&mut out, before, &range.key);
            before = &range.key;
            push_sums(&mut out, &range.sums);
        }
        push_number(&mut out, self.tablets.len() as u64);
        before = &[];
        for tablet in &self.tablets {
            push_key(&mut out, before, &tablet.range.start);
            before = &tablet.range.start;
            match &tablet.range.end {
                None => push_number(&mut out, 0),
                Some(end) => {
                    push_number(&mut out, end.len() as u64 + 1);
                    out.extend_from_slice(end);
                }
            }
            push_number(&mut out, tablet.node.into());
            push_number(&mut out, tablet.peak_minute);
            push_number(&mut out, tablet.peak_work_ns);
            push_sums(&mut out, &tablet.sums);
        }
        out
    }

    /// Reads a value back.
    ///
    /// # Errors
    ///
    /// What is wrong with it: a version that is not known, or damage.
    pub(super) fn decode(value: &[u8]) -> Result<Self, String> {
        let mut reader = Reader { rest: value };
        match reader.byte()? {
            VERSION => {}
            version => return Err(format!("version {version} is not known; this is version {VERSION}")),
        }
        let mut ranges = Vec::new();
        let mut key = Vec::new();
        for _ in 0..reader.count()? {
            reader.key(&mut key)?;
            ranges.push(RangeSums { key: key.clone(), sums: reader.sums()? });
        }
        let mut tablets = Vec::new();
        key.clear();
        for _ in 0..reader.count()? {
            reader.key(&mut key)?;
            let end = match reader.number()?.checked_sub(1) {
                None => None,
                Some(len) => Some(reader.bytes(len)?.to_vec().into()),
            };
            tablets.push(TabletSums {
                range: RowRange { start: key.clone().into(), end },
                node: u32::try_from(reader.number()?)
                    .map_err(|_| "a node has too large a number".to_owned())?,
                peak_minute: reader.number()?,
                peak_work_ns: reader.number()?,
                sums: reader.sums()?,
            });
        }
        match reader.rest {
            [] => Ok(Self { ranges, tablets }),
            rest => Err(format!("{} bytes follow its end", rest.len())),
        }
    }

    /// Adds what is kept of the minute number `minute` of this period.
    pub(super) fn merge(&mut self, minute: u64, other: Self) {
        self.ranges.extend(other.ranges);
        self.tablets.extend(
            other.tablets.into_iter().map(|tablet| TabletSums {
                peak_minute: tablet.peak_minute.saturating_add(minute),
                ..tablet
            }),
        );
    }

    /// Puts it in order, with at most so many ranges, and the busiest tablets. No sum of a range is lost.
    pub(super) fn tidy(&mut self, ranges_max: usize) {
        let mut ranges: BTreeMap<Vec<u8>, Sums> = BTreeMap::new();
        for range in self.ranges.drain(..) {
            ranges.entry(range.key).or_default().add(&range.sums);
        }
        self.ranges = ranges.into_iter().map(|(key, sums)| RangeSums { key, sums }).collect();
        self.thin(ranges_max.max(1));
        let mut tablets: BTreeMap<(Vec<u8>, Option<Vec<u8>>), TabletSums> = BTreeMap::new();
        for tablet in self.tablets.drain(..) {
            let key = (tablet.range.start.to_vec(), tablet.range.end.as_ref().map(|end| end.to_vec()));
            match tablets.get_mut(&key) {
                None => drop(tablets.insert(key, tablet)),
                Some(known) => {
                    known.sums.add(&tablet.sums);
                    if tablet.peak_minute == known.peak_minute {
                        known.peak_work_ns = known.peak_work_ns.saturating_add(tablet.peak_work_ns);
                    } else if tablet.peak_work_ns > known.peak_work_ns {
                        (known.peak_minute, known.peak_work_ns, known.node) =
                            (tablet.peak_minute, tablet.peak_work_ns, tablet.node);
                    }
                }
            }
        }
        let mut tablets: Vec<TabletSums> = tablets.into_values().collect();
        tablets.sort_by_key(|tablet| Reverse(tablet.peak_work_ns));
        tablets.truncate(TABLETS_MAX);
        tablets.sort_by(|a, b| a.range.start.cmp(&b.range.start));
        self.tablets = tablets;
    }

    /// Unites neighbours with few operations until at most so many ranges are left.
    fn thin(&mut self, ranges_max: usize) {
        if self.ranges.len() <= ranges_max {
            return;
        }
        let weight = |range: &RangeSums| range.sums.operations();
        let (mut low, mut high) =
            (0_u64, self.ranges.iter().fold(0_u64, |sum, range| sum.saturating_add(weight(range))));
        while low < high {
            let middle = low + (high - low) / 2;
            let mut groups = 0_usize;
            let mut sum = u64::MAX;
            for range in &self.ranges {
                sum = sum.saturating_add(weight(range));
                if sum > middle {
                    groups += 1;
                    sum = weight(range);
                }
            }
            if groups <= ranges_max { high = middle } else { low = middle + 1 }
        }
        let mut thinned: Vec<RangeSums> = Vec::with_capacity(ranges_max);
        for range in self.ranges.drain(..) {
            match thinned.last_mut() {
                Some(last) if weight(last).saturating_add(weight(&range)) <= high => {
                    last.sums.add(&range.sums);
                }
                _ => thinned.push(range),
            }
        }
        self.ranges = thinned;
    }
}

fn push_number(out: &mut Vec<u8>, mut number: u64) {
    while number > 0x7f {
        let [low, ..] = number.to_le_bytes();
        out.push(low | 0x80);
        number >>= 7;
    }
    let [low, ..] = number.to_le_bytes();
    out.push(low);
}

fn push_key(out: &mut Vec<u8>, before: &[u8], key: &[u8]) {
    let shared = before.iter().zip(key).take_while(|(a, b)| a == b).count();
    push_number(out, shared as u64);
    push_number(out, (key.len() - shared) as u64);
    out.extend_from_slice(&key[shared..]);
}

fn push_sums(out: &mut Vec<u8>, sums: &Sums) {
    let mut mask = 0;
    for (bit, value) in sums.all().into_iter().enumerate() {
        mask |= u8::from(value > 0) << bit;
    }
    out.push(mask);
    for value in sums.all().into_iter().filter(|&value| value > 0) {
        push_number(out, value);
    }
}

/// Reads from the front.
struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    fn byte(&mut self) -> Result<u8, String> {
        let (&byte, rest) = self.rest.split_first().ok_or("it ends too early")?;
        self.rest = rest;
        Ok(byte)
    }

    fn bytes(&mut self, len: u64) -> Result<&'a [u8], String> {
        let len = usize::try_from(len).ok().filter(|&len| len <= KEY_BYTES_MAX).ok_or("a key is too long")?;
        let (bytes, rest) = self.rest.split_at_checked(len).ok_or("it ends too early")?;
        self.rest = rest;
        Ok(bytes)
    }

    fn number(&mut self) -> Result<u64, String> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            let part = u64::from(byte & 0x7f);
            if shift == 63 && part > 1 {
                break;
            }
            number |= part << shift;
            if byte & 0x80 == 0 {
                return Ok(number);
            }
        }
        Err("a number has more than 64 bits".to_owned())
    }

    fn count(&mut self) -> Result<u64, String> {
        let count = self.number()?;
        if count > COUNT_MAX { Err(format!("{count} parts are too many")) } else { Ok(count) }
    }

    /// Replaces the key by the next one.
    fn key(&mut self, key: &mut Vec<u8>) -> Result<(), String> {
        let shared = usize::try_from(self.number()?).unwrap_or(usize::MAX);
        if shared > key.len() {
            return Err("a key shares more bytes than the one before has".to_owned());
        }
        key.truncate(shared);
        let len = self.number()?;
        key.extend_from_slice(self.bytes(len)?);
        if key.len() > KEY_BYTES_MAX { Err("a key is too long".to_owned()) } else { Ok(()) }
    }

    fn sums(&mut self) -> Result<Sums, String> {
        let mask = self.byte()?;
        if mask & 0x80 != 0 {
            return Err("a mask has an unknown bit".to_owned());
        }
        let mut sums = Sums::default();
        for (bit, value) in sums.all_mut().into_iter().enumerate() {
            if mask >> bit & 1 == 1 {
                *value = self.number()?;
            }
        }
        Ok(sums)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey_store::seeded::Seeded;

    fn range(key: &str, writes: u64) -> RangeSums {
        RangeSums { key: key.into(), sums: Sums { writes, ..Sums::default() } }
    }

    fn tablet(start: &'static str, peak_minute: u64, peak_work_ns: u64) -> TabletSums {
        TabletSums {
            range: RowRange { start: start.into(), end: Some("z".into()) },
            node: 3,
            peak_minute,
            peak_work_ns,
            sums: Sums { work_ns: peak_work_ns, ..Sums::default() },
        }
    }

    #[test]
    fn the_bytes_of_a_value_never_change() {
        let history = History {
            ranges: vec![
                range("a#1", 300),
                RangeSums { key: b"a#2".to_vec(), sums: Sums { reads: 1, rows: 2, ..Sums::default() } },
            ],
            tablets: vec![TabletSums {
                range: RowRange { start: "a".into(), end: None },
                ..tablet("", 0, 5)
            }],
        };
        let expected =
            b"\x01\x02\x00\x03a#1\x01\xac\x02\x02\x012\x12\x01\x02\x01\x00\x01a\x00\x03\x00\x05\x40\x05";
        assert_eq!(history.encode(), expected);
        assert_eq!(History::decode(expected).as_ref(), Ok(&history));
        assert_eq!(History::decode(&History::default().encode()), Ok(History::default()));
    }

    #[test]
    fn what_is_no_value_is_refused() {
        let check = |value: &[u8], expected: &str| {
            let error = History::decode(value).unwrap_err();
            assert!(error.contains(expected), "{value:?}: {error}");
        };
        check(b"", "too early");
        check(b"\x02\x00\x00", "version 2");
        check(b"\x01\x00\x00\x00", "1 bytes follow");
        check(b"\x01\x01\x05\x00\x00", "shares more");
        check(b"\x01\x01\x00\xff\xff\x01", "too long");
        check(b"\x01\xff\xff\xff\xff\x01", "too many");
        check(b"\x01\xff\xff\xff\xff\xff\xff\xff\xff\xff\x7f", "64 bits");
        check(b"\x01\x01\x00\x00\x80\x00", "unknown bit");
    }

    #[test]
    fn minutes_become_a_quarter_of_an_hour_without_losing_a_count() {
        let mut quarter = History::default();
        for minute in 0..15 {
            let ranges = vec![range("a", 1), range(&format!("k{minute:02}"), 10)];
            quarter.merge(minute, History { ranges, tablets: vec![tablet("a", 0, 100 + minute % 7)] });
        }
        quarter.tidy(4);
        assert_eq!(quarter.sums().writes, 165);
        assert!(quarter.ranges.len() <= 4 && quarter.ranges.is_sorted_by_key(|range| range.key.clone()));
        assert_eq!(quarter.tablets.len(), 1);
        assert_eq!((quarter.tablets[0].peak_minute, quarter.tablets[0].peak_work_ns), (6, 106));
        assert_eq!(quarter.tablets[0].sums.work_ns, (0..15).map(|minute| 100 + minute % 7).sum::<u64>());
    }

    #[test]
    fn of_many_tablets_the_busiest_are_kept() {
        let many = (0..200_u64).map(|number| TabletSums {
            range: RowRange { start: format!("{number:03}").into(), end: None },
            ..tablet("", 0, number)
        });
        let mut history = History { ranges: Vec::new(), tablets: many.collect() };
        history.tidy(1);
        assert_eq!(history.tablets.len(), TABLETS_MAX);
        assert_eq!(&history.tablets[0].range.start[..], b"136");
    }

    #[test]
    fn what_is_written_is_read_back_and_damage_is_an_answer() {
        let mut seeded = Seeded::new(7);
        for _ in 0..2_000 {
            let mut history = any(&mut seeded);
            assert_eq!(History::decode(&history.encode()).as_ref(), Ok(&history));
            let (before, ranges_max) = (history.sums(), seeded.below(9) + 1);
            history.tidy(ranges_max);
            assert_eq!(history.sums(), before);
            assert!(history.ranges.len() <= ranges_max);
            let mut damaged = history.encode();
            assert_eq!(History::decode(&damaged).as_ref(), Ok(&history));
            for _ in 0..=seeded.below(3) {
                let at = seeded.below(damaged.len());
                damaged[at] = seeded.any().to_le_bytes()[0];
            }
            damaged.truncate(damaged.len() - seeded.below(3).min(damaged.len()));
            if let Ok(other) = History::decode(&damaged) {
                assert!(other.ranges.len() + other.tablets.len() <= damaged.len());
            }
        }
    }

    fn any(seeded: &mut Seeded) -> History {
        let key =
            |seeded: &mut Seeded| (0..seeded.below(6)).map(|_| *seeded.one_of(b"abc")).collect::<Vec<u8>>();
        let sums = |seeded: &mut Seeded| {
            let mut sums = Sums::default();
            for value in sums.all_mut() {
                *value = seeded.any() >> (8 + seeded.below(56));
            }
            sums
        };
        let ranges = (0..seeded.below(20))
            .map(|_| RangeSums { key: key(seeded), sums: Sums { work_ns: 0, ..sums(seeded) } })
            .collect();
        let tablets = (0..seeded.below(20))
            .map(|_| TabletSums {
                range: RowRange {
                    start: key(seeded).into(),
                    end: seeded.chance(50).then(|| key(seeded).into()),
                },
                node: 9,
                peak_minute: seeded.any() % 15,
                peak_work_ns: seeded.any() >> 10,
                sums: sums(seeded),
            })
            .collect();
        History { ranges, tablets }
    }
}
