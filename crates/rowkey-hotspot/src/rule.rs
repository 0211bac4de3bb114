//! The names of all findings. Names are stable: scripts and suppressions rely on them.

use std::fmt;
use std::str::FromStr;

/// How bad a finding is, from capacity lost, not from the rule's name.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Severity {
    /// Worth knowing; nothing is lost at the stated load.
    Note,
    /// Wastes much of the cluster, or reads come back wrong or out of order.
    Warning,
    /// The design cannot carry the stated load.
    Error,
}

impl Severity {
    /// Its name: `note`, `warning`, `error`.
    pub fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Error => "error",
        }
    }
}

impl fmt::Display for Severity {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Severity {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let all = [Self::Note, Self::Warning, Self::Error];
        all.into_iter()
            .find(|severity| severity.name() == text)
            .ok_or_else(|| format!("`{text}` is no severity; there are error, warning and note"))
    }
}

macro_rules! rules {
    ($($(#[$doc:meta])* $variant:ident = $name:literal, $summary:literal;)*) => {
        /// A rule of the doctor. What each looks for and when it keeps quiet is in `docs/doctor.md`.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Rule {
            $($(#[$doc])* $variant,)*
        }

        impl Rule {
            /// All rules.
            pub const ALL: &[Self] = &[$(Self::$variant,)*];

            /// Its stable name.
            pub fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)* }
            }

            /// What it says in one line, without a full stop.
            pub fn summary(self) -> &'static str {
                match self { $(Self::$variant => $summary,)* }
            }
        }
    };
}

rules! {
    /// The first part that varies is a time, and the writes follow it.
    TimeFirst = "time-first", "the key begins with a time, so all writes hit one tablet";
    /// The same for an id that only grows.
    SequentialId = "sequential-id", "the key begins with an id that only grows, so all writes hit one tablet";
    /// A number as text of varying width, where order matters.
    UnpaddedNumber = "unpadded-number", "a number as text of varying width: 10 sorts before 9";
    /// Host names in reading order lead the key.
    DomainNotReversed = "domain-not-reversed", "host names lead the key in reading order, so that one domain's rows are scattered";
    /// Few values in front, then a time or a sequence.
    MonotoneSuffix = "monotone-suffix", "few values in front of a time or sequence: as few places are written as there are values";
    /// A period in front and a well-spread part behind: one place at each turn.
    PeriodRollover = "period-rollover", "a period leads the key: at each turn of it, all writes hit one tablet";
    /// One entity takes more than a node's share, and its rows sit together.
    HotEntity = "hot-entity", "one entity takes more than a node's share";
    /// A salt of fewer buckets than nodes are needed.
    TooFewBuckets = "too-few-buckets", "fewer buckets than nodes";
    /// Many more buckets than needed, and range reads visit all of them.
    TooManyBuckets = "too-many-buckets", "range reads visit many more buckets than the nodes need";
    /// The bucket does not spread.
    UnevenBuckets = "uneven-buckets", "the bucket does not spread the writes";
    /// The bucket costs readers more than it gives writers.
    SaltedRangeReads = "salted-range-reads", "buckets cost the readers more than they give the writers";
    /// A bare digest or unprintable bytes.
    OpaqueKey = "opaque-key", "the key cannot be read or scanned: a digest or unprintable bytes";
    /// The same complete key is written again and again.
    RewrittenRow = "rewritten-row", "the same row is written again and again";
    /// Keys of which every cell carries too much.
    LongKey = "long-key", "long keys are stored and sent with every row";
    /// Two or more layouts in one table.
    MixedFormats = "mixed-formats", "two or more key layouts in one table";
    /// Negative numbers as text.
    NegativeTextNumber = "negative-text-number", "negative numbers as text sort wrong";
    /// The separator occurs inside a field, or bytes sort below it.
    DelimiterInData = "delimiter-in-data", "the separator occurs inside a field, so that rows of one value are not one range";
    /// Times of several units in one place of the key.
    MixedTimeUnits = "mixed-time-units", "times of different units in one place of the key";
    /// Reversed times that went through a floating-point number.
    LossyReverseTime = "lossy-reverse-time", "reversed times lost their low digits in a floating-point number";
    /// One hex field in capitals and in small letters.
    HexCaseMix = "hex-case-mix", "one hex field in capitals and in small letters";
    /// A queue: rows are deleted in the order they were written, while reads begin at the old end.
    DeleteBehindFront = "delete-behind-front", "rows are deleted behind the front: reads begin in what was deleted";
}

impl fmt::Display for Rule {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

impl FromStr for Rule {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        Self::ALL
            .iter()
            .copied()
            .find(|rule| rule.name() == text)
            .ok_or_else(|| format!("there is no rule `{text}`"))
    }
}
