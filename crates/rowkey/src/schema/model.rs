//! What a schema file says, checked and resolved. Other modules only read it.
//!
//! ```text
//! layout = "{salt}#{vehicle}#{time}"   ->   parts: Salt, Literal("#"), Field(0), Literal("#"), Field(1)
//! ```
//!
//! A `KeySchema` is made by `KeySchema::parse` alone, which refuses what cannot keep "byte order = field order".

/// A key design: layout, fields, salt, and what the table is for.
#[derive(Debug, Clone, PartialEq)]
pub struct KeySchema {
    /// The name of the table.
    pub table: String,
    /// The layout, in order. [`Part::Salt`] comes first or not at all.
    pub parts: Vec<Part>,
    /// The fields, in the order of the layout. A logical key has one value for each.
    pub fields: Vec<Field>,
    /// The salt, if the layout has one.
    pub salt: Option<Salt>,
    /// Column families, in the order of the file.
    pub families: Vec<Family>,
    /// What the table is for: plans and advice are judged by these.
    pub queries: Vec<DeclaredQuery>,
}

/// One part of the layout.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Part {
    /// The salt.
    Salt,
    /// Bytes that stand in every key.
    Literal(Vec<u8>),
    /// The field of this index in [`KeySchema::fields`].
    Field(usize),
}

/// A field of the key.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name: `[A-Za-z_][A-Za-z0-9_]*`.
    pub name: String,
    /// Its type and encoding.
    pub kind: FieldKind,
    /// Whether greater values come first.
    pub order: Order,
    /// The only values that it can have, in the order of the file. Empty: any value.
    pub values: Vec<String>,
}

/// Whether greater values come last or first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Order {
    /// Smaller values first.
    #[default]
    Asc,
    /// Greater values first.
    Desc,
}

/// The type and encoding of a field.
///
/// Text kinds print as they are stored. Binary kinds (`Be*`, `Escaped*`, `Fixed`, ...) hold any byte.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FieldKind {
    /// `string`: UTF-8 text as it is. Followed by a literal, it may only hold bytes above the literal's first byte. Asc only.
    String,
    /// `uint`: decimal digits, padded with zeros. Desc: `10^digits - 1 - value`.
    Uint {
        /// Width, 1 to 20.
        digits: u8,
    },
    /// `uint` with `reverse = true`: the padded digits in reverse, which spreads a counter. Has no order: equality only.
    UintReversed {
        /// Width, 1 to 20.
        digits: u8,
    },
    /// `int`: a sign digit (0 negative, 1 not), then the digits of `value mod 10^digits`. Sorts as numbers do.
    Int {
        /// Width without the sign digit, 1 to 18.
        digits: u8,
    },
    /// `hex`: bytes as lower-case hex digits.
    Hex {
        /// Width in digits, 1 to 512.
        digits: u16,
    },
    /// `timestamp` as digits since the epoch. Desc: `10^digits - 1 - t`. Negative times and overflow are refused.
    EpochDigits {
        /// The unit of the number.
        unit: TimeUnit,
        /// Width, 1 to 19.
        digits: u8,
    },
    /// `timestamp` as ISO 8601 text in UTC, years 0 to 9999, of fixed width. Asc only.
    Iso {
        /// `20260915T000000Z`, `2026-09-15T00:00:00Z`, `20260915` or `2026-09-15`.
        form: IsoForm,
        /// Decimals of the second follow from the unit: none, 3, 6 or 9. Always seconds in a date.
        unit: TimeUnit,
    },
    /// `domain`: a host in lower-case ASCII (IDNA) with its labels reversed; port and path stay behind it.
    Domain {
        /// Stands after every label (`,` or `\x00`), or between labels (`.`).
        separator: u8,
    },
    /// `uuid` in text: 36 characters, lower case.
    UuidText,
    /// `u8` to `u64`: big endian. Desc: complement.
    BeUint {
        /// Width in bytes: 1, 2, 4 or 8.
        bytes: u8,
    },
    /// `i8` to `i64`: big endian, sign bit flipped. Desc: complement.
    BeInt {
        /// Width in bytes: 1, 2, 4 or 8.
        bytes: u8,
    },
    /// `f64`: IEEE 754 bits, sign bit flipped, or all bits if negative. NaN is refused. Desc: complement.
    BeFloat,
    /// `bytes`: 00 as `00 ff`, end `00 01`. Desc: complement.
    EscapedBytes,
    /// `text`: UTF-8, escaped like `bytes`.
    EscapedText,
    /// `fixed`: exactly so many bytes. Desc: complement.
    Fixed {
        /// Width in bytes, 1 to 4096.
        bytes: u16,
    },
    /// `timestamp` with `encoding = "binary"`: an i64 of the unit, encoded as `i64`. Desc: complement.
    BeTime {
        /// The unit of the number.
        unit: TimeUnit,
    },
    /// `uuid` with `encoding = "binary"`: 16 bytes. Desc: complement.
    UuidBytes,
}

/// The unit of a number that is a time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum TimeUnit {
    /// `s`.
    Seconds,
    /// `ms`.
    Millis,
    /// `us`.
    Micros,
    /// `ns`.
    Nanos,
}

/// How a time looks as ISO 8601 text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum IsoForm {
    /// `20260915T000000Z`.
    Basic,
    /// `2026-09-15T00:00:00Z`.
    Extended,
    /// `20260915`.
    DateBasic,
    /// `2026-09-15`.
    DateExtended,
}

/// The prefix that spreads writes.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Salt {
    /// Indexes of the fields hashed, ascending. Empty only for [`SaltSource::Random`].
    pub of: Vec<usize>,
    /// Where the bucket comes from.
    pub source: SaltSource,
    /// How the bucket is written.
    pub format: SaltFormat,
    /// How many buckets, 1 to 65,536. For [`SaltSource::HashPrefix`]: 0, since its number is not bounded.
    pub buckets: u32,
}

/// Where the bucket comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaltSource {
    /// `hash(encoded fields) mod buckets`; each [`enum@Hash`] says exactly of which bytes, and what "mod" is.
    Hash(Hash),
    /// The integer value of the single field, modulo the number of buckets.
    Modulo,
    /// The leading bytes of the hash itself, without modulo. Spreads widest, and gives up ordered scans.
    HashPrefix {
        /// The hash.
        hash: Hash,
        /// Bytes taken, 1 to 16, at most as many as the hash has.
        bytes: u8,
    },
    /// Chosen at random by the writer: a point read has to visit every bucket.
    Random,
}

/// How the bucket is written; the width is fixed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SaltFormat {
    /// Decimal digits, padded with zeros.
    Digits {
        /// Width in digits: that of `buckets - 1` unless the schema says more.
        width: u8,
    },
    /// Lower-case hex digits, padded with zeros.
    Hex {
        /// Width in digits.
        width: u8,
    },
    /// Big-endian bytes.
    Bytes {
        /// Width in bytes, 1 or 2 (1 to 8 for `opentsdb`; 1 to 16 for a hash prefix).
        width: u8,
    },
}

/// A hash of released, unchanging definition.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Hash {
    /// `xxh3`: XXH3-64, the default.
    Xxh3,
    /// `md5-hex`: the leading hex digits of the MD5, as a number.
    Md5Hex {
        /// Digits taken, 1 to 16. Four are common in articles.
        digits: u8,
    },
    /// `crc32`: IEEE.
    Crc32,
    /// `murmur3`: x86, 32 bits, seed 0.
    Murmur3,
    /// `fnv1`: 32 bits.
    Fnv1,
    /// `fnv1a`: 32 bits.
    Fnv1a,
    /// `java-string`: `String.hashCode` of UTF-16 units, floor modulo.
    JavaString,
    /// `phoenix`: `|h rem N|` of the signed 31-polynomial that starts at 1.
    Phoenix,
    /// `hbasewd`: the same polynomial, `|h| rem N`, whose bucket for `h = -2^31` is outside the set.
    HbaseWd,
    /// `opentsdb`: the same polynomial, `h rem N`, negated if negative.
    OpenTsdb,
    /// `cockroachdb`: FNV-1 32 of the hex MD5 of `CockroachDB`'s own key encoding, modulo N.
    CockroachDb,
}

/// A column family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Family {
    /// Its name.
    pub name: String,
    /// Its garbage-collection rule in the grammar of the `cbt` tool; empty: keep for ever.
    pub gc: String,
    /// `bytes` (default), or an aggregate: `intsum`, `intmin`, `intmax`.
    pub value_type: String,
}

/// A query that the table is for.
#[derive(Debug, Clone, PartialEq)]
pub struct DeclaredQuery {
    /// What people call it.
    pub name: String,
    /// How each bound field is bound.
    pub bound: Vec<(usize, Binding)>,
    /// Rows wanted, if limited.
    pub limit: Option<u64>,
    /// Expected rate.
    pub per_second: Option<f64>,
    /// Rows that one query returns, where it has no limit.
    pub rows: Option<u64>,
    /// Whether rows are wanted in descending key order.
    pub reverse: bool,
}

/// How a declared query binds a field.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Binding {
    /// `field`: equal to one value.
    Equal,
    /// `field in`: one of several.
    In,
    /// `field prefix`: begins with a text.
    Prefix,
    /// `field range`: between two values.
    Range,
}
