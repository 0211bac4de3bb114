//! Seeded rows, updates and read orders; equal for both layouts.

use crate::model::{Mutation, Row};
use std::hash::{DefaultHasher, Hasher};

/// Rows of the narrow table.
pub const ROWS: u64 = 100_000;
/// Columns of each of its rows.
pub const COLUMNS: u64 = 10;
/// Times that every row is updated, one random column each time.
pub const UPDATE_ROUNDS: u64 = 3;
/// Columns of the wide row.
pub const WIDE_COLUMNS: u64 = 100_000;
/// Columns that one mutation of the wide row writes.
pub const WIDE_STEP: u64 = 100;
const VALUE_LEN: usize = 100;
const RANDOM_LEN: usize = 48;
/// Microseconds since 1970 of the load; update round `n` is `n` later.
const BASE_TS: i64 = 1_790_000_000_000_000;

/// A small generator (splitmix64).
pub struct Rng(pub u64);

impl Rng {
    /// Next 64 bits.
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        z ^ (z >> 31)
    }

    /// A number below `n`.
    pub fn below(&mut self, n: u64) -> u64 {
        self.next() % n
    }
}

/// A fixed permutation of `0..n` for `n` a power of ten.
pub fn permute(i: u64, n: u64, salt: u64) -> u64 {
    // 7,919,003 has no factor 2 or 5, so it has an inverse modulo n.
    (i * 7_919_003 + salt * 104_729) % n
}

/// A row key of 24 bytes.
pub fn row_key(i: u64) -> Vec<u8> {
    format!("tenant-0042#row:{i:08}").into_bytes()
}

/// A qualifier of the narrow table.
pub fn qualifier(column: u64) -> Vec<u8> {
    format!("column-{column:02}").into_bytes()
}

/// A qualifier of the wide row.
pub fn wide_qualifier(column: u64) -> Vec<u8> {
    format!("column-{column:08}").into_bytes()
}

/// 100 bytes, about half of them compressible.
fn value(seed: u64) -> Vec<u8> {
    let mut out = vec![b'x'; VALUE_LEN];
    let mut rng = Rng(seed);
    for chunk in out[..RANDOM_LEN].chunks_mut(8) {
        chunk.copy_from_slice(&rng.next().to_le_bytes());
    }
    out
}

/// The mutation that writes a whole row.
pub fn load_row(row: u64) -> Mutation {
    let cells = (0..COLUMNS).map(|c| (qualifier(c), BASE_TS, value(row * COLUMNS + c))).collect();
    Mutation { row: row_key(row), cells }
}

/// The mutation that writes one column with a new timestamp; `round` counts from 1.
pub fn update_row(row: u64, round: u64) -> Mutation {
    let column = Rng(row ^ (round << 40)).below(COLUMNS);
    let cell = (qualifier(column), BASE_TS + round.cast_signed(), value((round << 32) + row));
    Mutation { row: row_key(row), cells: vec![cell] }
}

/// Mutation `step` of the wide row: columns from all over the row.
pub fn load_wide(step: u64) -> Mutation {
    let mut columns: Vec<u64> =
        (0..WIDE_STEP).map(|i| permute(step * WIDE_STEP + i, WIDE_COLUMNS, 1)).collect();
    columns.sort_unstable();
    let cells = columns.into_iter().map(|c| (wide_qualifier(c), BASE_TS, value(c))).collect();
    Mutation { row: row_key(0), cells }
}

/// A sum that is cheap enough to stay inside timed reads.
pub fn light_sum(row: &Row) -> u64 {
    row.cells.iter().fold(row.key.len() as u64, |sum, cell| {
        let value = cell.value.first().map_or(0, |&b| u64::from(b));
        let qualifier = cell.qualifier.last().map_or(0, |&b| u64::from(b));
        sum.wrapping_add(cell.ts.cast_unsigned()).wrapping_add(value << 8).wrapping_add(qualifier)
    })
}

/// A hash of every byte of a row.
pub fn full_hash(row: &Row) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(&row.key);
    for cell in &row.cells {
        hasher.write_usize(cell.qualifier.len());
        hasher.write(&cell.qualifier);
        hasher.write_i64(cell.ts);
        hasher.write_usize(cell.value.len());
        hasher.write(&cell.value);
    }
    hasher.finish()
}
