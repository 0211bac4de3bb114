//! Buckets in front of keys, and whether they can be computed from the rest.

use std::collections::BTreeMap;

use rowkey::salt::hash;
use rowkey::schema::{Hash, SaltSource};

use super::column::{self, Column, len_f64};
use super::ids;
use super::times;
use crate::layout::{SaltMeaning, SaltOrigin};

/// A bucket field has at most so many values.
const BUCKETS_MAX: usize = 1_024;

/// Inputs that a hash is tried on before it is tried on all.
const PROBES: usize = 48;

/// A hash must explain this share of the keys: a few may have been written by others.
const EXPLAINED_MIN: f64 = 0.8;

/// The fields of keys, for what may be hashed.
#[derive(Debug)]
pub(super) struct Rest<'a, 'k> {
    /// For each key the offset of each field and its end. The bucket is the first field.
    pub(super) spans: &'a [Vec<(usize, usize)>],
    /// The keys.
    pub(super) keys: &'a [&'k [u8]],
    /// The fields' names.
    pub(super) names: &'a [String],
    /// The literal in front of the bucket.
    pub(super) lead: &'a [u8],
}

/// Words that people write in front of a bucket.
const BUCKET_WORDS: &[&str] = &["bucket", "bkt", "shard", "salt", "slot", "partition", "part", "hash", "bin"];

/// Whether a number behind this literal may be a bucket: a word in front of a number names what the number counts.
fn may_name_buckets(lead: &[u8]) -> bool {
    let text = String::from_utf8_lossy(lead).to_ascii_lowercase();
    let mut words = text.split(|letter: char| !letter.is_ascii_alphabetic()).filter(|word| !word.is_empty());
    words.next_back().is_none_or(|word| word.len() == 1 || BUCKET_WORDS.contains(&word))
}

/// How a bucket is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Written {
    Decimal,
    Hex,
    Raw,
}

/// The column as buckets, if it is one of buckets: numbers from 0 on of which nearly all occur, in no order of arrival, evenly or explained by a
/// hash of the rest.
pub(super) fn bucket(column: &Column<'_>, rest: &Rest<'_, '_>) -> Option<SaltMeaning> {
    if column.distinct.len() > BUCKETS_MAX
        || column.distinct.len() < 2
        || rest.names.len() < 2
        || column.len() < 32
    {
        return None;
    }
    let written = written(column)?;
    let numbers: Vec<Option<u64>> = column.distinct.iter().map(|value| number(value, written)).collect();
    let greatest = greatest(&numbers, column)?;
    let buckets = u32::try_from(greatest + 1).ok().filter(|buckets| *buckets <= 65_536)?;
    let of_key: Vec<u64> =
        column.ranks.iter().map(|rank| numbers[*rank as usize].unwrap_or(u64::MAX)).collect();
    let from = origin(&of_key, buckets, written, column.top().0.len(), rest);
    let (from, computed) = from.unzip();
    let buckets = computed.unwrap_or(buckets);
    let even_p = chi_square_p(&column.counts, buckets);
    let is_ordered = column::tau(&of_key).abs() > 0.3;
    let used = numbers.iter().flatten().filter(|number| **number <= greatest).count();
    let is_dense = numbers.contains(&Some(0)) && used * 10 >= buckets as usize * 9;
    // What a clock gives in order is no bucket but a period.
    if is_ordered && from.as_ref().is_none_or(|from| from.source.is_none()) {
        return None;
    }
    let most = f64::from(column.counts.iter().copied().max().unwrap_or(0)) / len_f64(column.len());
    let is_balanced = even_p > 1e-6 || buckets >= 8 && most * f64::from(buckets) <= 3.0;
    let follows = follows(&of_key, buckets, is_dense, rest);
    // Bytes of text are no buckets.
    let is_plain =
        written != Written::Raw || column.distinct.iter().any(|value| !super::token::is_text(value));
    // Buckets are written no wider than need be, or with two digits.
    let width = column.top().0.len();
    let is_narrow = written != Written::Decimal || width <= greatest.to_string().len().max(2);
    // Without a proof, more buckets than one byte has only where their number is a usual one.
    let is_usual = buckets <= 256 || buckets.is_power_of_two() || buckets == 1_000;
    let is_one = (is_dense && is_balanced || follows.is_some())
        && !is_ordered
        && is_plain
        && is_narrow
        && (is_usual || follows.is_some())
        && may_name_buckets(rest.lead);
    if from.is_none() && !is_one {
        return None;
    }
    Some(SaltMeaning {
        buckets,
        used: u32::try_from(used).unwrap_or(u32::MAX),
        from,
        repeats: if follows.is_some() { Some(true) } else { repeats(&of_key, rest) },
        follows,
        even_p,
    })
}

/// The field or pair of neighbours that determines the bucket, as a salt's input does and not as a child determines its parent: its values fall
/// into the buckets about evenly, or it does not stand directly behind the bucket.
fn follows(of_key: &[u64], buckets: u32, is_dense: bool, rest: &Rest<'_, '_>) -> Option<String> {
    let fields = rest.names.len().min(8);
    let alone = (1..fields).map(|at| (at, at));
    let pairs = (1..fields.saturating_sub(1)).map(|at| (at, at + 1));
    alone.chain(pairs).find_map(|(one, other)| {
        let mut first: BTreeMap<&[u8], u64> = BTreeMap::new();
        let mut wrong = 0;
        for ((key, spans), bucket) in rest.keys.iter().zip(rest.spans).zip(of_key) {
            let value = &key[spans[one].0..spans[other].1];
            wrong += usize::from(*first.entry(value).or_insert(*bucket) != *bucket);
        }
        let repeated = of_key.len() - first.len();
        if repeated < 50 || wrong * 50 > repeated {
            return None;
        }
        let mut counts: BTreeMap<u64, u32> = BTreeMap::new();
        for bucket in first.values() {
            *counts.entry(*bucket).or_default() += 1;
        }
        let counts: Vec<u32> = counts.into_values().collect();
        let is_even =
            is_dense && first.len() >= 5 * buckets as usize && chi_square_p(&counts, buckets) > 1e-3;
        let is_salt = is_even || one == other && one >= 2 && counts.len() > 1;
        is_salt.then(|| rest.names[one..=other].join(", "))
    })
}

/// How buckets are written, if nearly all values are: a handful may be malformed, or outside the set.
fn written(column: &Column<'_>) -> Option<Written> {
    let nearly_all = |fits: &dyn Fn(&[u8]) -> bool| column.share(fits) >= 0.99;
    let width = column.top().0.len();
    if nearly_all(&|value| (1..=5).contains(&value.len()) && value.iter().all(u8::is_ascii_digit)) {
        return Some(Written::Decimal);
    }
    if nearly_all(&|value| value.len() == width && width <= 4 && value.iter().all(u8::is_ascii_hexdigit)) {
        let has_digits = column.share(|value| value.iter().any(u8::is_ascii_digit)) > 0.2;
        return has_digits.then_some(Written::Hex);
    }
    (width <= 2 && width > 0 && nearly_all(&|value| value.len() == width)).then_some(Written::Raw)
}

/// The greatest bucket, numbers that a handful of keys has left out.
fn greatest(numbers: &[Option<u64>], column: &Column<'_>) -> Option<u64> {
    let mut counted: Vec<(u64, u32)> = numbers
        .iter()
        .zip(&column.counts)
        .filter_map(|(number, count)| number.map(|number| (number, *count)))
        .collect();
    counted.sort_unstable();
    let total: u64 = counted.iter().map(|(_, count)| u64::from(*count)).sum();
    let mut below = 0;
    let mut greatest = None;
    for (number, count) in counted {
        // What lies far outside of nearly all others is a stray.
        if below * 1_000 >= total * 998 && greatest.is_some_and(|greatest| number > 2 * (greatest + 1)) {
            break;
        }
        below += u64::from(count);
        greatest = Some(number);
    }
    greatest
}

fn number(value: &[u8], written: Written) -> Option<u64> {
    match written {
        Written::Decimal => times::number(value).and_then(|number| u64::try_from(number).ok()),
        Written::Hex => ids::hex_number(value),
        Written::Raw if value.len() <= 2 => {
            Some(value.iter().fold(0, |sum, byte| sum << 8 | u64::from(*byte)))
        }
        Written::Raw => None,
    }
}

/// Probability of a chi-square as large as seen, if all buckets were equally likely (Wilson and Hilferty's cube root).
pub(super) fn chi_square_p(counts: &[u32], buckets: u32) -> f64 {
    let total: f64 = counts.iter().map(|count| f64::from(*count)).sum();
    let freedom = f64::from(buckets) - 1.0;
    if freedom < 1.0 || total <= 0.0 {
        return 1.0;
    }
    let expected = total / f64::from(buckets);
    let seen: f64 = counts.iter().map(|count| (f64::from(*count) - expected).powi(2) / expected).sum();
    let unused = (f64::from(buckets) - len_f64(counts.len())).max(0.0);
    let spread = 2.0 / (9.0 * freedom);
    let z = (((seen + unused * expected) / freedom).cbrt() - (1.0 - spread)) / spread.sqrt();
    tail(z)
}

/// The share of a normal distribution above `z` (Abramowitz and Stegun 26.2.17, error below 8e-8 near the middle).
fn tail(z: f64) -> f64 {
    if z < 0.0 {
        return 1.0 - tail(-z);
    }
    let t = 1.0 / (1.0 + 0.231_641_9 * z);
    let factors = [0.319_381_530, -0.356_563_782, 1.781_477_937, -1.821_255_978, 1.330_274_429];
    let sum = factors.iter().rev().fold(0.0, |sum, factor| (sum + factor) * t);
    (sum * (-z * z / 2.0).exp() / (2.0 * std::f64::consts::PI).sqrt()).clamp(0.0, 1.0)
}

/// Whether equal rests have equal buckets; one key in a hundred may differ.
fn repeats(of_key: &[u64], rest: &Rest<'_, '_>) -> Option<bool> {
    let mut seen: BTreeMap<&[u8], (u64, usize, usize)> = BTreeMap::new();
    for ((key, spans), bucket) in rest.keys.iter().zip(rest.spans).zip(of_key) {
        let entry = seen.entry(&key[spans[0].1..]).or_insert((*bucket, 0, 0));
        entry.1 += 1;
        entry.2 += usize::from(entry.0 == *bucket);
    }
    let twice = seen.values().filter(|(_, count, _)| *count > 1);
    let (all, same) = twice.fold((0, 0), |sum, (_, count, same)| (sum.0 + count - 1, sum.1 + same - 1));
    (all >= 5).then_some(same * 100 >= all * 95)
}

/// What may be hashed: one or two slices of a key, one behind the other.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Input {
    /// All behind the bucket, the literal after it included.
    Behind,
    /// From the beginning of a field to the end of a field.
    Fields(usize, usize),
    /// Two fields that are not neighbours: the first with the literal behind it.
    Two(usize, usize),
}

impl Input {
    pub(super) fn all(fields: usize) -> Vec<Self> {
        let mut all: Vec<Self> = (1..fields).map(|at| Self::Fields(at, at)).collect();
        let last = fields - 1;
        all.push(Self::Behind);
        let ends = (1..fields.min(8)).flat_map(|from| (from + 1..fields.min(8)).map(move |to| (from, to)));
        all.extend(ends.clone().map(|(from, to)| Self::Fields(from, to)));
        if last >= 8 {
            all.push(Self::Fields(1, last));
        }
        all.extend(ends.filter(|(from, to)| to - from > 1).map(|(from, to)| Self::Two(from, to)));
        all
    }

    pub(super) fn take(self, key: &[u8], spans: &[(usize, usize)], out: &mut Vec<u8>) {
        out.clear();
        match self {
            Self::Behind => out.extend_from_slice(&key[spans[0].1..]),
            Self::Fields(from, to) => out.extend_from_slice(&key[spans[from].0..spans[to].1]),
            Self::Two(one, other) => {
                out.extend_from_slice(&key[spans[one].0..spans[one + 1].0]);
                out.extend_from_slice(&key[spans[other].0..spans[other].1]);
            }
        }
    }

    pub(super) fn names(self, names: &[String]) -> Vec<String> {
        match self {
            Self::Behind => Vec::new(),
            Self::Fields(from, to) => names[from..=to].to_vec(),
            Self::Two(one, other) => vec![names[one].clone(), names[other].clone()],
        }
    }
}

/// A way to compute a bucket.
#[derive(Debug, Clone, Copy)]
struct Way {
    name: &'static str,
    source: Option<SaltSource>,
    compute: fn(&[u8], u64) -> Option<u64>,
}

fn hashes() -> Vec<Way> {
    let way = |hash: Hash, compute| Way { name: hash.name(), source: Some(SaltSource::Hash(hash)), compute };
    let other = |name, compute| Way { name, source: None, compute };
    let md5_of = |digits| Some(SaltSource::Hash(Hash::Md5Hex { digits }));
    vec![
        way(Hash::Xxh3, |input, n| Some(hash::xxh3(input) % n)),
        way(Hash::Crc32, |input, n| Some(u64::from(hash::crc32(input)) % n)),
        way(Hash::Murmur3, |input, n| Some(u64::from(hash::murmur3(input)) % n)),
        way(Hash::Fnv1, |input, n| Some(u64::from(hash::fnv1(input)) % n)),
        way(Hash::Fnv1a, |input, n| Some(u64::from(hash::fnv1a(input)) % n)),
        way(Hash::JavaString, |input, n| {
            let hash = hash::java_string(std::str::from_utf8(input).ok()?);
            u64::try_from(i64::from(hash).rem_euclid(n.cast_signed())).ok()
        }),
        way(Hash::Phoenix, |input, n| {
            Some((i64::from(hash::java_bytes(input)) % n.cast_signed()).unsigned_abs())
        }),
        Way { name: "md5-hex(2)", source: md5_of(2), compute: |input, n| Some(hash::md5_hex(input, 2) % n) },
        Way { name: "md5-hex(4)", source: md5_of(4), compute: |input, n| Some(hash::md5_hex(input, 4) % n) },
        Way { name: "md5-hex(6)", source: md5_of(6), compute: |input, n| Some(hash::md5_hex(input, 6) % n) },
        Way { name: "md5-hex(8)", source: md5_of(8), compute: |input, n| Some(hash::md5_hex(input, 8) % n) },
        Way {
            name: "md5-hex(16)",
            source: md5_of(16),
            compute: |input, n| Some(hash::md5_hex(input, 16) % n),
        },
        other("md5", |input, n| u64::try_from(u128::from_be_bytes(hash::md5(input)) % u128::from(n)).ok()),
        other("md5, last byte,", |input, n| Some(u64::from(hash::md5(input)[15]) % n)),
        other("|java-string|", |input, n| {
            let hash = hash::java_string(std::str::from_utf8(input).ok()?);
            Some(u64::from(hash.unsigned_abs()) % n)
        }),
        other("|murmur3|", |input, n| Some(u64::from(hash::murmur3(input).cast_signed().unsigned_abs()) % n)),
        other("sum of bytes", |input, n| Some(input.iter().map(|byte| u64::from(*byte)).sum::<u64>() % n)),
        other("xxh3, leading bits,", |input, n| {
            u64::try_from((u128::from(hash::xxh3(input)) * u128::from(n)) >> 64).ok()
        }),
        other("crc32, leading bits,", |input, n| Some((u64::from(hash::crc32(input)) * n) >> 32)),
        Way { name: "number", source: Some(SaltSource::Modulo), compute: |input, n| modulo(input, n, 1) },
        other("number / 1,000", |input, n| modulo(input, n, 1_000)),
        other("number / 60", |input, n| modulo(input, n, 60)),
        other("number / 3,600", |input, n| modulo(input, n, 3_600)),
        other("number / 60,000", |input, n| modulo(input, n, 60_000)),
        other("number / 3,600,000", |input, n| modulo(input, n, 3_600_000)),
        other("hex number", |input, n| ids::hex_number(input).map(|number| number % n)),
    ]
}

fn modulo(input: &[u8], buckets: u64, divisor: i128) -> Option<u64> {
    u64::try_from(times::number(input)? / divisor % i128::from(buckets)).ok()
}

/// Numbers of buckets that the greatest bucket seen allows: the next one, and the usual ones above it.
fn bucket_counts(buckets: u32, written: Written, width: usize) -> Vec<u64> {
    const USUAL: [u32; 30] = [
        4, 5, 8, 10, 12, 16, 20, 24, 25, 30, 32, 36, 40, 48, 50, 60, 64, 80, 96, 100, 120, 128, 200, 250,
        256, 500, 512, 1_000, 1_024, 4_096,
    ];
    let mut counts = vec![u64::from(buckets)];
    counts.extend(
        USUAL
            .into_iter()
            .filter(|usual| *usual > buckets && *usual <= buckets.saturating_mul(4))
            .map(u64::from),
    );
    let all = match written {
        Written::Hex => 16u64.checked_pow(u32::try_from(width).unwrap_or(16)),
        Written::Raw => 256u64.checked_pow(u32::try_from(width).unwrap_or(8)),
        Written::Decimal => None,
    };
    if let Some(all) = all.filter(|all| !counts.contains(all)) {
        counts.push(all);
    }
    counts
}

/// The hash that explains the buckets, if one does.
fn origin(
    of_key: &[u64],
    buckets: u32,
    written: Written,
    width: usize,
    rest: &Rest<'_, '_>,
) -> Option<(SaltOrigin, u32)> {
    let counts = bucket_counts(buckets, written, width);
    let hashes = hashes();
    let mut input = Vec::new();
    let fields = rest.names.len();
    let inputs = Input::all(fields);
    let trials = len_f64(inputs.len() * hashes.len() * counts.len());
    for taken in inputs {
        let probes = probes(taken, of_key, rest);
        // By chance a hash explains `n` inputs with the likelihood of all buckets' shares; few inputs prove nothing.
        let likelihood: f64 = chance(&probes, buckets) * trials;
        if likelihood > 1e-2 {
            continue;
        }
        for way in &hashes {
            for count in &counts {
                let hits = probes
                    .iter()
                    .filter(|(input, bucket)| (way.compute)(input, *count) == Some(*bucket))
                    .count();
                if len_f64(hits) < EXPLAINED_MIN * len_f64(probes.len()) {
                    continue;
                }
                let explained =
                    rest.keys.iter().zip(rest.spans).zip(of_key).filter(|((key, spans), bucket)| {
                        taken.take(key, spans, &mut input);
                        (way.compute)(&input, *count) == Some(**bucket)
                    });
                let share = len_f64(explained.count()) / len_f64(of_key.len());
                if share >= EXPLAINED_MIN {
                    let count = u32::try_from(*count).ok()?;
                    return Some((origin_of(way, taken, count, share, rest.names), count));
                }
            }
        }
    }
    None
}

/// Different inputs and their buckets, a few, of each bucket about as many: if nearly all buckets are 0, being right there proves little.
fn probes(taken: Input, of_key: &[u64], rest: &Rest<'_, '_>) -> Vec<(Vec<u8>, u64)> {
    let mut probes: BTreeMap<Vec<u8>, u64> = BTreeMap::new();
    let mut of_bucket: BTreeMap<u64, usize> = BTreeMap::new();
    let mut input = Vec::new();
    for ((key, spans), bucket) in rest.keys.iter().zip(rest.spans).zip(of_key) {
        let count = of_bucket.entry(*bucket).or_default();
        if *count >= PROBES / 6 {
            continue;
        }
        taken.take(key, spans, &mut input);
        if !probes.contains_key(&input) {
            probes.insert(input.clone(), *bucket);
            *count += 1;
            if probes.len() == PROBES {
                break;
            }
        }
    }
    probes.into_iter().collect()
}

/// The chance that an unrelated hash gives these buckets.
fn chance(probes: &[(Vec<u8>, u64)], buckets: u32) -> f64 {
    let total = len_f64(probes.len());
    let hits = if probes.len() < 10 { total } else { total * EXPLAINED_MIN };
    let mut counts: BTreeMap<u64, usize> = BTreeMap::new();
    for (_, bucket) in probes {
        *counts.entry(*bucket).or_default() += 1;
    }
    // A hash that is even hits one of `buckets`; one that is as uneven as the buckets seen hits more often.
    let uneven: f64 = counts.values().map(|count| (len_f64(*count) / total).powi(2)).sum();
    let once = if probes.len() < 10 {
        1.0 / f64::from(buckets.max(2))
    } else {
        uneven.max(1.0 / f64::from(buckets.max(2)))
    };
    once.powf(hits)
}

fn origin_of(way: &Way, taken: Input, buckets: u32, share: f64, names: &[String]) -> SaltOrigin {
    let of = taken.names(names);
    let subject = if of.is_empty() { "all behind it".to_owned() } else { of.join(", ") };
    // What stands directly behind the bucket, literal included, only Phoenix and HBaseWD hash.
    let source = match (taken, way.source) {
        (Input::Behind, Some(SaltSource::Hash(Hash::Phoenix))) => way.source,
        (Input::Behind, _) => None,
        (_, source) => source,
    };
    SaltOrigin { formula: format!("{}({subject}) mod {buckets}", way.name), of, share, source }
}
