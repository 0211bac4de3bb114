//! The records of the keyspace `meta`: what the store is, beside its cells.
//!
//! ```text
//! key `t` + table name          | version: u8 = 1 | fields of a table     | xxh3 of all before it: u64 BE |
//! key `s` + keyspace id: u64 BE | version: u8 = 1 | settled: u8           | xxh3: u64 BE |
//! key `c`                       | version: u8 = 1 | counters: 3 x u64 BE  | xxh3: u64 BE |   written with every group
//!
//! counters: group, sequence number, next keyspace id: the last used ones
//! table:    granularity: u8 | protected: u8 | families | annotations | tablets
//!           families:    count | (name, rule as text, value type: u8) ...       by creation
//!           annotations: count | (name, content) ...                            by name
//!           tablets:     count | (start key, keyspace id: u64 BE for each family) ...   ascending, the first start is empty
//! ```
//!
//! Counts are u32 BE; names, texts, keys and contents have their length as u32 BE in front. Nothing here panics, whatever the bytes are.

use bytes::Bytes;
use rowkey_store::gc::{format_rule, parse_rule};
use rowkey_store::{Error, ErrorKind, FamilyConfig, Granularity, Result, TableConfig, ValueType};
use xxhash_rust::xxh3::xxh3_64;

const VERSION: u8 = 1;

/// The key of the counters.
pub(crate) const COUNTERS_KEY: &[u8] = b"c";

/// Numbers that only grow.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub(crate) struct CountersRecord {
    /// Groups committed.
    pub(crate) group: u64,
    /// The last sequence number of a fragment.
    pub(crate) sequence: u64,
    /// The last id of a keyspace.
    pub(crate) space: u64,
}

/// A table in the keyspace `meta`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct TableRecord {
    /// The design; its split points are the starts of the tablets.
    pub(crate) config: TableConfig,
    /// For each tablet the ids of its keyspaces, by family.
    pub(crate) spaces: Vec<Vec<u64>>,
}

pub(crate) fn table_key(table: &str) -> Vec<u8> {
    [b"t", table.as_bytes()].concat()
}

pub(crate) fn space_key(id: u64) -> Vec<u8> {
    [&b"s"[..], &id.to_be_bytes()].concat()
}

/// What a key of `meta` stands for.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum MetaKey {
    Table(String),
    Space(u64),
    Counters,
}

/// Reads a key.
///
/// # Errors
///
/// `Corrupt` for a key that this version does not write.
pub(crate) fn parse_key(key: &[u8]) -> Result<MetaKey> {
    let known = match key.split_first() {
        Some((b'c', [])) => Some(MetaKey::Counters),
        Some((b't', name)) => std::str::from_utf8(name).ok().map(|name| MetaKey::Table(name.to_owned())),
        Some((b's', id)) => id.try_into().ok().map(|id| MetaKey::Space(u64::from_be_bytes(id))),
        _ => None,
    };
    known.ok_or_else(|| corrupt(&format!("unknown key `{}`", key.escape_ascii())))
}

pub(crate) fn encode_counters(counters: CountersRecord) -> Vec<u8> {
    let mut out = vec![VERSION];
    for number in [counters.group, counters.sequence, counters.space] {
        out.extend_from_slice(&number.to_be_bytes());
    }
    sealed(out)
}

/// # Errors
///
/// `Corrupt`.
pub(crate) fn decode_counters(bytes: &[u8]) -> Result<CountersRecord> {
    let mut reader = Reader::open(bytes)?;
    let counters = CountersRecord { group: reader.u64()?, sequence: reader.u64()?, space: reader.u64()? };
    reader.end()?;
    Ok(counters)
}

pub(crate) fn encode_space(settled: bool) -> Vec<u8> {
    sealed(vec![VERSION, u8::from(settled)])
}

/// # Errors
///
/// `Corrupt`.
pub(crate) fn decode_space(bytes: &[u8]) -> Result<bool> {
    let mut reader = Reader::open(bytes)?;
    let settled = reader.flag()?;
    reader.end()?;
    Ok(settled)
}

pub(crate) fn encode_table(record: &TableRecord) -> Vec<u8> {
    let config = &record.config;
    let granularity = match config.granularity {
        Granularity::Millis => 0,
        Granularity::Micros => 1,
    };
    let mut out = vec![VERSION, granularity, u8::from(config.deletion_protection)];
    push_count(config.families.len(), &mut out);
    for family in &config.families {
        push_bytes(family.name.as_bytes(), &mut out);
        push_bytes(format_rule(family.gc_rule.as_ref()).as_bytes(), &mut out);
        out.push(match family.value_type {
            ValueType::IntSum => 1,
            ValueType::IntMin => 2,
            ValueType::IntMax => 3,
            _ => 0,
        });
    }
    push_count(config.annotations.len(), &mut out);
    for (name, content) in &config.annotations {
        push_bytes(name.as_bytes(), &mut out);
        push_bytes(content, &mut out);
    }
    push_count(record.spaces.len(), &mut out);
    let starts = std::iter::once(&[][..]).chain(config.split_points.iter().map(|start| &start[..]));
    for (start, spaces) in starts.zip(&record.spaces) {
        push_bytes(start, &mut out);
        for id in spaces {
            out.extend_from_slice(&id.to_be_bytes());
        }
    }
    sealed(out)
}

/// # Errors
///
/// `Corrupt`.
pub(crate) fn decode_table(bytes: &[u8]) -> Result<TableRecord> {
    let mut reader = Reader::open(bytes)?;
    let mut config = TableConfig {
        granularity: if reader.flag()? { Granularity::Micros } else { Granularity::Millis },
        deletion_protection: reader.flag()?,
        ..TableConfig::default()
    };
    for _ in 0..reader.count()? {
        let name = reader.text()?;
        let gc_rule = parse_rule(&reader.text()?).map_err(|error| corrupt(&error.to_string()))?;
        let value_type = match reader.u8()? {
            0 => ValueType::Bytes,
            1 => ValueType::IntSum,
            2 => ValueType::IntMin,
            3 => ValueType::IntMax,
            _ => return Err(corrupt("unknown value type")),
        };
        config.families.push(FamilyConfig { name, gc_rule, value_type });
    }
    for _ in 0..reader.count()? {
        let name = reader.text()?;
        config.annotations.insert(name, Bytes::copy_from_slice(reader.sized()?));
    }
    let mut spaces = Vec::new();
    let mut starts: Vec<Bytes> = Vec::new();
    for _ in 0..reader.count()? {
        starts.push(Bytes::copy_from_slice(reader.sized()?));
        spaces.push(config.families.iter().map(|_| reader.u64()).collect::<Result<Vec<_>>>()?);
    }
    reader.end()?;
    if starts.first().is_none_or(|start| !start.is_empty())
        || starts.windows(2).any(|pair| pair[0] >= pair[1])
    {
        return Err(corrupt("tablets out of order"));
    }
    config.split_points = starts.split_off(1);
    Ok(TableRecord { config, spaces })
}

fn sealed(mut out: Vec<u8>) -> Vec<u8> {
    let checksum = xxh3_64(&out);
    out.extend_from_slice(&checksum.to_be_bytes());
    out
}

fn push_count(count: usize, out: &mut Vec<u8>) {
    let count = u32::try_from(count).expect("limits keep counts and lengths far below");
    out.extend_from_slice(&count.to_be_bytes());
}

fn push_bytes(bytes: &[u8], out: &mut Vec<u8>) {
    push_count(bytes.len(), out);
    out.extend_from_slice(bytes);
}

struct Reader<'a>(&'a [u8]);

impl<'a> Reader<'a> {
    fn open(bytes: &'a [u8]) -> Result<Self> {
        match bytes.split_last_chunk::<8>() {
            Some((body, checksum)) if xxh3_64(body) == u64::from_be_bytes(*checksum) => {
                let mut reader = Self(body);
                match reader.u8()? {
                    VERSION => Ok(reader),
                    version => {
                        Err(corrupt(&format!("version {version}; this program reads version {VERSION}")))
                    }
                }
            }
            _ => Err(corrupt("a checksum does not fit")),
        }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(len).ok_or_else(|| corrupt("a record is cut"))?;
        self.0 = rest;
        Ok(taken)
    }

    fn u8(&mut self) -> Result<u8> {
        Ok(self.take(1)?[0])
    }

    fn flag(&mut self) -> Result<bool> {
        match self.u8()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(corrupt("a flag is neither 0 nor 1")),
        }
    }

    fn u64(&mut self) -> Result<u64> {
        let bytes = self.take(8)?.try_into().map_err(|_| corrupt("a record is cut"))?;
        Ok(u64::from_be_bytes(bytes))
    }

    fn count(&mut self) -> Result<usize> {
        let bytes = self.take(4)?.try_into().map_err(|_| corrupt("a record is cut"))?;
        usize::try_from(u32::from_be_bytes(bytes)).map_err(|_| corrupt("a count is too great"))
    }

    fn sized(&mut self) -> Result<&'a [u8]> {
        let len = self.count()?;
        self.take(len)
    }

    fn text(&mut self) -> Result<String> {
        String::from_utf8(self.sized()?.to_vec()).map_err(|_| corrupt("a name is not UTF-8"))
    }

    fn end(&self) -> Result<()> {
        if self.0.is_empty() { Ok(()) } else { Err(corrupt("a record is too long")) }
    }
}

fn corrupt(what: &str) -> Error {
    Error::new(ErrorKind::Corrupt, format!("the records of the store are damaged: {what}"))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Random;

    fn record() -> TableRecord {
        let family = |name: &str, rule: &str| FamilyConfig {
            name: name.to_owned(),
            gc_rule: parse_rule(rule).unwrap(),
            value_type: ValueType::Bytes,
        };
        let config = TableConfig {
            families: vec![family("m", "maxage=7d || maxversions=1"), family("a", "never")],
            granularity: Granularity::Micros,
            split_points: vec![Bytes::from_static(b"\x00g"), Bytes::from_static(b"q")],
            deletion_protection: true,
            annotations: [("rowkey.schema".to_owned(), Bytes::from_static(b"text"))].into(),
        };
        TableRecord { config, spaces: vec![vec![1, 2], vec![3, 4], vec![u64::MAX, 6]] }
    }

    #[test]
    fn records_come_back() {
        assert_eq!(decode_table(&encode_table(&record())).unwrap(), record());
        let counters = CountersRecord { group: 1, sequence: u64::MAX, space: 7 };
        assert_eq!(decode_counters(&encode_counters(counters)).unwrap(), counters);
        assert!(decode_space(&encode_space(true)).unwrap());
        assert_eq!(parse_key(&table_key("x")).unwrap(), MetaKey::Table("x".to_owned()));
        assert_eq!(parse_key(&space_key(9)).unwrap(), MetaKey::Space(9));
        assert_eq!(parse_key(COUNTERS_KEY).unwrap(), MetaKey::Counters);
    }

    #[test]
    fn damaged_records_are_refused() {
        let whole = encode_table(&record());
        for len in 0..whole.len() {
            assert_eq!(decode_table(&whole[..len]).unwrap_err().kind(), ErrorKind::Corrupt);
        }
        let mut random = Random(3);
        for _ in 0..5_000 {
            let mut body = whole[..whole.len() - 8].to_vec();
            let at = random.below(body.len());
            body[at] ^= 1 << random.below(8);
            assert_eq!(
                decode_table(&[&body[..], &whole[whole.len() - 8..]].concat()).unwrap_err().kind(),
                ErrorKind::Corrupt
            );
            // With a checksum that fits, the decoder itself must hold.
            let _ = decode_table(&sealed(body));
        }
        let future = sealed(vec![2, 0, 0]);
        assert!(decode_table(&future).unwrap_err().to_string().contains("version 2"));
        for key in [&b""[..], b"x", b"cc", b"s123", b"t\xff"] {
            assert!(parse_key(key).is_err());
        }
    }
}
