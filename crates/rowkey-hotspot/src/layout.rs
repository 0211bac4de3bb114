//! How keys are built: their formats, the fields of each, and what each field is. Inferred from a sample, or told by a schema.

/// All formats found in a sample.
#[derive(Debug, Clone, Default)]
pub struct Layout {
    /// Formats, the most frequent first. Keys that fit none are `unexplained_share`.
    pub formats: Vec<Format>,
    /// Keys looked at.
    pub sampled: u64,
    /// The share of keys that fit no format, 0 to 1.
    pub unexplained_share: f64,
    /// Whether a schema told the layout; then the fields have its names.
    pub from_schema: bool,
}

/// One way in which keys are built.
#[derive(Debug, Clone)]
pub struct Format {
    /// The share of sampled keys that are built so, 0 to 1.
    pub share: f64,
    /// The key, part by part, in order.
    pub segments: Vec<Segment>,
    /// Some keys of it, at most 10.
    pub examples: Vec<Box<[u8]>>,
}

impl Format {
    /// The fields, in order.
    pub fn fields(&self) -> impl Iterator<Item = &FieldFacts> {
        self.segments.iter().filter_map(|segment| match segment {
            Segment::Field(field) => Some(field.as_ref()),
            Segment::Literal(_) => None,
        })
    }
}

/// A part of a key.
#[derive(Debug, Clone)]
pub enum Segment {
    /// Bytes that stand in every key of the format: delimiters and constant words.
    Literal(Vec<u8>),
    /// What varies.
    Field(Box<FieldFacts>),
}

/// A field, as measured.
#[derive(Debug, Clone)]
pub struct FieldFacts {
    /// The schema's name, or one made from what it is: `time`, `id`, `host`, `bucket`, `text2`.
    pub name: String,
    /// What it is.
    pub meaning: Meaning,
    /// The share of values that fit the meaning, 0 to 1.
    pub meaning_share: f64,
    /// The chance that values without this meaning would look so, 0 to 1.
    pub chance: f64,
    /// Shortest value in bytes.
    pub width_min: usize,
    /// Longest value in bytes.
    pub width_max: usize,
    /// Different values in the sample.
    pub distinct: u64,
    /// Whether the sample is the whole input, so that `distinct` is exact for it.
    pub distinct_exact: bool,
    /// The most frequent value.
    pub top_value: Box<[u8]>,
    /// Its share, 0 to 1.
    pub top_share: f64,
    /// Entropy of its values in bits.
    pub entropy_bits: f64,
    /// How its order follows arrival, over all keys of the format.
    pub order: FieldOrder,
    /// The same among keys that agree in all fields before it, mean weighted by keys; as `order` for the first field.
    pub order_within: FieldOrder,
    /// How it follows from the rest of the key, for a digest in front that a common hash explains. A salt says so itself.
    pub computed: Option<SaltOrigin>,
    /// What is odd about its values.
    pub oddities: Vec<Oddity>,
}

impl FieldFacts {
    /// A field of which nothing was measured yet: no values, no order.
    pub fn new(name: impl Into<String>, meaning: Meaning) -> Self {
        Self {
            name: name.into(),
            meaning,
            meaning_share: 1.0,
            chance: 0.0,
            width_min: 0,
            width_max: 0,
            distinct: 0,
            distinct_exact: false,
            top_value: Box::default(),
            top_share: 0.0,
            entropy_bits: 0.0,
            order: FieldOrder::default(),
            order_within: FieldOrder::default(),
            computed: None,
            oddities: Vec::new(),
        }
    }

    /// Whether all values have one width.
    pub fn is_fixed_width(&self) -> bool {
        self.width_min == self.width_max
    }
}

/// How a field's values follow arrival.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct FieldOrder {
    /// Kendall's rank correlation with arrival, -1 to 1.
    pub tau: f64,
    /// The share of neighbours in arrival that do not descend.
    pub ascending: f64,
    /// Effective number of places if the field alone were the key, as [`crate::facts::Spread::n_eff`]. 0: too few keys to say.
    pub n_eff: f64,
    /// The plain minimum over the windows.
    pub n_eff_min: f64,
}

/// What a field is.
#[derive(Debug, Clone, PartialEq)]
pub enum Meaning {
    /// A time.
    Time(TimeMeaning),
    /// A calendar period that many keys share: a day, an hour, a month.
    Period(TimeMeaning),
    /// An integer as decimal text. `padded`: all of one width.
    Number {
        /// All values have the same width.
        padded: bool,
        /// Values only grow, or nearly.
        grows: bool,
        /// Some are negative.
        negative: bool,
    },
    /// A number with a decimal point as text.
    Decimal {
        /// Some are negative.
        negative: bool,
    },
    /// An integer as big-endian bytes.
    BinaryNumber {
        /// Width.
        bytes: u8,
        /// Values only grow, or nearly.
        grows: bool,
    },
    /// An id with a known construction.
    Id(IdMeaning),
    /// A digest or random bits, evenly distributed.
    Hash {
        /// Bits.
        bits: u32,
        /// How it is written.
        encoding: HashEncoding,
    },
    /// A bucket in front of the key.
    Salt(SaltMeaning),
    /// A host name.
    Domain {
        /// Its labels are reversed.
        reversed: bool,
    },
    /// A URL or a path.
    Path,
    /// An IPv4 or IPv6 address as text.
    Address,
    /// An e-mail address.
    Email,
    /// One of few words.
    Enumeration,
    /// Readable text without a recognised construction.
    Text,
    /// Bytes without a recognised construction.
    Binary,
}

/// A time, and how it is written.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct TimeMeaning {
    /// How it is written.
    pub form: TimeForm,
    /// Greater times come first.
    pub reversed: bool,
    /// The earliest of the sample, milliseconds since the epoch.
    pub first_ms: i64,
    /// The latest.
    pub last_ms: i64,
}

/// How a time is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeForm {
    /// Decimal digits since 1970.
    Epoch(rowkey::schema::TimeUnit),
    /// 100 ns ticks since the year 1, decimal.
    Ticks,
    /// `2024-05-02T10:30:00Z` and its like, with or without fractions.
    IsoExtended,
    /// `20240502T103000Z`, `20240502103000`.
    IsoBasic,
    /// `20240502` or `2024-05-02`, months and hours likewise.
    Calendar,
    /// Big-endian bytes since 1970.
    Binary(rowkey::schema::TimeUnit),
}

/// An id of known construction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IdMeaning {
    /// UUID of this version (RFC 9562). 1, 6 and 7 have a clock, 1 behind its low bits.
    Uuid(u8),
    /// ULID: a clock in front.
    Ulid,
    /// KSUID: a clock in front.
    Ksuid,
    /// BSON `ObjectId`: a clock in front.
    ObjectId,
    /// A 63-bit number with milliseconds above a sequence.
    Snowflake,
    /// Letters and digits without a construction known here, whose values only grow.
    Growing,
}

/// How a digest is written.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum HashEncoding {
    /// Hex digits.
    Hex,
    /// Base64 or base64url.
    Base64,
    /// Bytes.
    Raw,
    /// Decimal digits.
    Decimal,
}

/// A bucket in front of the key.
#[derive(Debug, Clone, PartialEq)]
pub struct SaltMeaning {
    /// The number of buckets that the values show: greatest plus one for numbers, else different values.
    pub buckets: u32,
    /// Values that occur.
    pub used: u32,
    /// How the bucket follows from the rest of the key, if a common hash explains it.
    pub from: Option<SaltOrigin>,
    /// The name of the field, or of two neighbours with a comma between them, that determines the bucket, whatever the hash is.
    pub follows: Option<String>,
    /// Whether equal rests have equal buckets as far as the sample tells. `None`: no rest occurs twice.
    pub repeats: Option<bool>,
    /// Probability of a chi-square as large as seen, if all buckets were equally likely.
    pub even_p: f64,
}

/// How a bucket follows from the rest of the key.
#[derive(Debug, Clone, PartialEq)]
pub struct SaltOrigin {
    /// What computes it, for people: `xxh3(vehicle) mod 16`.
    pub formula: String,
    /// The fields hashed, by name; empty: all of the rest.
    pub of: Vec<String>,
    /// The share of keys explained.
    pub share: f64,
    /// The same as a schema says it, if one can.
    pub source: Option<rowkey::schema::SaltSource>,
}

/// What is odd about a field's values. Shares are of the keys of the format, 0 to 1.
#[derive(Debug, Clone, PartialEq)]
pub enum Oddity {
    /// Numbers of varying width: the share of random pairs whose text order is not their numeric order.
    Discordant {
        /// Share of pairs.
        share: f64,
    },
    /// Negative numbers as text.
    Negative {
        /// Share of negative values.
        share: f64,
    },
    /// Hex digits in capitals and in small letters.
    HexCase {
        /// Share of values in capitals.
        upper: f64,
        /// Share of values in small letters.
        lower: f64,
    },
    /// Times of several units or widths in one place.
    TimeUnits {
        /// What each is, and its share.
        units: Vec<(TimeForm, f64)>,
    },
    /// Values that are multiples of a power of two where that is not to be expected.
    Granular {
        /// The step.
        step: u64,
        /// Share of values that are multiples, plus or minus what the reversal adds.
        share: f64,
    },
    /// The delimiter behind the field occurs in it.
    Delimiter {
        /// The delimiter's byte.
        byte: u8,
        /// Share of values with it.
        share: f64,
        /// A value with it.
        example: Box<[u8]>,
    },
    /// Values hold bytes below the delimiter behind the field.
    BelowDelimiter {
        /// The delimiter's byte.
        delimiter: u8,
        /// A byte that sorts below it.
        byte: u8,
        /// Share of values with such bytes.
        share: f64,
        /// A value with it.
        example: Box<[u8]>,
    },
}
