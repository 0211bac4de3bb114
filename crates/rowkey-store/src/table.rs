//! What a table is: families with garbage-collection rules and value types, granularity, split points.

use bytes::Bytes;
use std::collections::BTreeMap;
use std::time::Duration;

/// The design of a table.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct TableConfig {
    /// Families by creation, those of one call by name: the order in which a row's cells come.
    pub families: Vec<FamilyConfig>,
    /// The granularity of timestamps.
    pub granularity: Granularity,
    /// Where the table is cut at creation: ascending, not empty, no duplicates. Tablets may be cut further later.
    pub split_points: Vec<Bytes>,
    /// Refuses dropping the table and its families.
    pub deletion_protection: bool,
    /// What the layers above keep with the table, such as a key schema. The store does not look into it.
    pub annotations: BTreeMap<String, Bytes>,
}

/// A column family.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FamilyConfig {
    /// `[-_.a-zA-Z0-9]+`, at most 64 bytes.
    pub name: String,
    /// What garbage collection may take; `None`: nothing.
    pub gc_rule: Option<GcRule>,
    /// What its values are. Fixed for ever.
    pub value_type: ValueType,
}

/// What garbage collection may take, decided for each cell of a column.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum GcRule {
    /// All but the newest so many cells, at least 1.
    MaxVersions(u32),
    /// Cells older than this, at least 1 ms.
    MaxAge(Duration),
    /// What any of these takes.
    Union(Vec<GcRule>),
    /// What all of these take.
    Intersection(Vec<GcRule>),
}

/// What the values of a family are.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
#[non_exhaustive]
pub enum ValueType {
    /// Bytes.
    #[default]
    Bytes,
    /// The sum of 64-bit integers, which wraps: see [`crate::aggregate`].
    IntSum,
    /// The least of 64-bit integers.
    IntMin,
    /// The greatest of 64-bit integers.
    IntMax,
}

impl ValueType {
    /// Whether cells are written with [`crate::Mutation::AddToCell`] and [`crate::Mutation::MergeToCell`] only.
    pub fn is_aggregate(self) -> bool {
        self != Self::Bytes
    }
}

/// The granularity of timestamps, fixed for ever.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Granularity {
    /// Timestamps are multiples of 1,000 us.
    #[default]
    Millis,
    /// Any microsecond.
    Micros,
}

/// A change of one family. Several apply in order, all or none.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FamilyChange {
    /// Adds a family, which must not exist.
    Create(FamilyConfig),
    /// Changes the rule of a family, which must exist.
    SetGcRule {
        /// The family.
        family: String,
        /// The new rule. A looser one does not bring back what is gone.
        gc_rule: Option<GcRule>,
    },
    /// Drops a family and its cells. A family of the same name created later does not bring them back.
    Drop {
        /// The family.
        family: String,
    },
}
