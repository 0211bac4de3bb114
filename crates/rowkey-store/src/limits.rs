//! Limits of Bigtable, enforced by every engine. Sources: the `google.bigtable.v2` and `admin.v2` protos, and the quota page of
//! Bigtable's documentation.

/// Bytes of a row key, 4 KiB (`Row.key`).
pub const ROW_KEY_BYTES_MAX: usize = 4096;
/// Bytes of a qualifier, 16 KiB (quota page).
pub const QUALIFIER_BYTES_MAX: usize = 16 * 1024;
/// Bytes of a cell value, 100 MiB (`Cell.value`).
pub const VALUE_BYTES_MAX: usize = 100 * 1024 * 1024;
/// Mutations of one row in one request (`MutateRowRequest.mutations`), and of all rows of a `MutateRows`.
pub const MUTATIONS_MAX: usize = 100_000;
/// Bytes of a table name (`CreateTableRequest.table_id`).
pub const TABLE_NAME_BYTES_MAX: usize = 50;
/// Bytes of a family name (quota page).
pub const FAMILY_NAME_BYTES_MAX: usize = 64;
/// Families of a table (quota page).
pub const FAMILIES_MAX: usize = 100;
/// From this number on a table gets a warning: each family has files of its own.
pub const FAMILIES_ADVISED_MAX: usize = 5;
/// Levels of a filter tree (`RowFilter`).
pub const FILTER_DEPTH_MAX: usize = 20;
/// Bytes of a filter as a message (`RowFilter`): the conversion from messages checks it, and no pattern may be longer.
pub const FILTER_BYTES_MAX: usize = 20_480;
/// States that the patterns of one filter may compile to, about; ours, and about what RE2's 8 MiB for one pattern come to.
pub const FILTER_REGEX_STATES_MAX: u32 = 131_072;
/// Copies of cells that the interleaves of one filter may make in one row: these, or 32 of each cell where that is more; ours.
pub const FILTER_COPIES_MAX: usize = 1 << 20;
/// Characters of a label (`RowFilter.apply_label_transformer`).
pub const LABEL_BYTES_MAX: usize = 15;
/// Bytes of a garbage-collection rule as a message (`ColumnFamily.gc_rule`).
pub const GC_RULE_BYTES_MAX: usize = 500;
/// Bytes of an annotation's name; ours.
pub const ANNOTATION_NAME_BYTES_MAX: usize = 64;
/// Bytes of an annotation, 1 MiB; ours.
pub const ANNOTATION_BYTES_MAX: usize = 1024 * 1024;
