//! Layout A: one pair per cell. The newest version of a column is the first pair of its range, so one column is a seek.

use crate::codec::{
    SUFFIX_LEN, TERMINATOR_LEN, decode_ts, encode_ts, part_len, prefix_end, push_part, row_prefix, unescape,
};
use crate::model::{Cell, Columns, Direction, Mutation, Result, Row, VERSIONS_MAX, finish_row};
use crate::store::{Layout, View};
use bytes::Bytes;
use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use std::sync::Arc;

/// The value kind of plain bytes.
const KIND_PLAIN: u8 = 0;

/// Layout A.
#[derive(Default)]
pub struct Cells;

impl Layout for Cells {
    const NAME: &'static str = "A cells";

    fn filter_factory() -> Arc<dyn Factory> {
        Arc::new(CountFactory)
    }

    fn encode(&mut self, mutation: &Mutation, mut sink: impl FnMut(Vec<u8>, Vec<u8>)) {
        let prefix = row_prefix(&mutation.row);
        for (qualifier, ts, value) in &mutation.cells {
            let mut key = Vec::with_capacity(prefix.len() + qualifier.len() + TERMINATOR_LEN + SUFFIX_LEN);
            key.extend_from_slice(&prefix);
            push_part(&mut key, qualifier);
            key.extend_from_slice(&encode_ts(*ts));
            let mut stored = Vec::with_capacity(value.len() + 1);
            stored.push(KIND_PLAIN);
            stored.extend_from_slice(value);
            sink(key, stored);
        }
    }

    fn read_row(view: &View, row: &[u8], columns: Columns<'_>) -> Result<Option<Row>> {
        let mut prefix = row_prefix(row);
        let prefix_len = prefix.len();
        let versions = match columns {
            Columns::All => usize::MAX,
            Columns::One(qualifier) => {
                push_part(&mut prefix, qualifier);
                VERSIONS_MAX
            }
        };
        let mut cells = Vec::new();
        let mut key = Bytes::default();
        for pair in view.range(&prefix, &prefix_end(&prefix)).take(versions) {
            let (pair_key, value) = pair.into_inner()?;
            let pair_key = Bytes::from(pair_key);
            if cells.is_empty() {
                key = unescape(pair_key.slice(..prefix_len - TERMINATOR_LEN));
            }
            cells.push(decode_cell(&pair_key, prefix_len, Bytes::from(value))?);
        }
        Ok(finish_row(key, cells))
    }

    fn scan(view: &View, columns: Columns<'_>, direction: Direction, visit: impl FnMut(Row)) -> Result<()> {
        let mut assembler =
            Assembler { columns, direction, prefix: Bytes::default(), cells: Vec::new(), visit };
        let mut pairs = view.iter();
        while let Some(pair) = if direction == Direction::Forward { pairs.next() } else { pairs.next_back() }
        {
            let (key, value) = pair.into_inner()?;
            assembler.push(&Bytes::from(key), Bytes::from(value))?;
        }
        assembler.finish();
        Ok(())
    }
}

/// Collects neighbouring pairs into rows.
struct Assembler<'a, V> {
    columns: Columns<'a>,
    direction: Direction,
    prefix: Bytes,
    cells: Vec<Cell>,
    visit: V,
}

impl<V: FnMut(Row)> Assembler<'_, V> {
    fn push(&mut self, key: &Bytes, value: Bytes) -> Result<()> {
        if self.prefix.is_empty() || !key.starts_with(&self.prefix) {
            self.finish();
            let len = part_len(key).ok_or("cell key without row terminator")?;
            self.prefix = key.slice(..len);
        }
        let qualifier_end = key.len().saturating_sub(SUFFIX_LEN + TERMINATOR_LEN);
        let wanted = match self.columns {
            Columns::All => true,
            // The qualifier that is asked for holds no zero byte here, so it can be compared as stored.
            columns @ Columns::One(_) => {
                columns.has(key.get(self.prefix.len()..qualifier_end).unwrap_or_default())
            }
        };
        if wanted {
            self.cells.push(decode_cell(key, self.prefix.len(), value)?);
        }
        Ok(())
    }

    fn finish(&mut self) {
        let mut cells = std::mem::take(&mut self.cells);
        if cells.is_empty() {
            return;
        }
        self.cells.reserve(cells.len());
        if self.direction == Direction::Reverse {
            cells.reverse();
        }
        let key = unescape(self.prefix.slice(..self.prefix.len() - TERMINATOR_LEN));
        if let Some(row) = finish_row(key, cells) {
            (self.visit)(row);
        }
    }
}

fn decode_cell(key: &Bytes, prefix_len: usize, value: Bytes) -> Result<Cell> {
    let qualifier_end = key.len().checked_sub(SUFFIX_LEN + TERMINATOR_LEN).filter(|&end| end >= prefix_len);
    let qualifier_end = qualifier_end.ok_or("cell key is too short")?;
    if value.first() != Some(&KIND_PLAIN) {
        return Err("unknown value kind".into());
    }
    Ok(Cell {
        qualifier: unescape(key.slice(prefix_len..qualifier_end)),
        ts: decode_ts(key).ok_or("cell key is too short")?,
        value: value.slice(1..),
    })
}

struct CountFactory;

impl Factory for CountFactory {
    fn name(&self) -> &'static str {
        "count-versions"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(CountFilter { column: Vec::new(), nth: 0, last: None })
    }
}

/// Counts the versions of the column that is passing by.
struct CountFilter {
    column: Vec<u8>,
    nth: usize,
    last: Option<i64>,
}

impl CompactionFilter for CountFilter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> CompactionFilterResult {
        let key = item.key();
        let column = &key[..key.len().saturating_sub(SUFFIX_LEN)];
        let ts = decode_ts(key);
        if column != self.column {
            self.column.clear();
            self.column.extend_from_slice(column);
            self.nth = 0;
            self.last = None;
        }
        if self.last != ts {
            self.nth += 1;
            self.last = ts;
        }
        Ok(if self.nth > VERSIONS_MAX { Verdict::Remove } else { Verdict::Keep })
    }
}
