//! Layout F: one pair per mutation. A row is the merge of its fragments; keys are written once and never again.

use crate::codec::{
    SUFFIX_LEN, TERMINATOR_LEN, decode_fragment, encode_fragment, prefix_end, row_prefix, unescape,
};
use crate::model::{Cell, Columns, Direction, Mutation, Result, Row, VERSIONS_MAX, finish_row};
use crate::store::{Layout, View};
use bytes::Bytes;
use fjall::compaction::filter::{
    CompactionFilter, CompactionFilterResult, Context, Factory, ItemAccessor, Verdict,
};
use std::collections::HashMap;
use std::sync::Arc;

/// Layout F. The benchmark opens empty stores only, so the sequence starts at zero.
#[derive(Default)]
pub struct Fragments {
    sequence: u64,
}

impl Layout for Fragments {
    const NAME: &'static str = "F fragments";

    fn filter_factory() -> Arc<dyn Factory> {
        Arc::new(TrimFactory)
    }

    fn encode(&mut self, mutation: &Mutation, mut sink: impl FnMut(Vec<u8>, Vec<u8>)) {
        self.sequence += 1;
        let mut key = Vec::with_capacity(mutation.row.len() + TERMINATOR_LEN + SUFFIX_LEN);
        crate::codec::push_part(&mut key, &mutation.row);
        key.extend_from_slice(&(!self.sequence).to_be_bytes());
        let cells = mutation.cells.iter().map(|(qualifier, ts, value)| (&qualifier[..], *ts, &value[..]));
        sink(key, encode_fragment(cells));
    }

    fn read_row(view: &View, row: &[u8], columns: Columns<'_>) -> Result<Option<Row>> {
        let prefix = row_prefix(row);
        let mut fragments = Vec::new();
        let mut key = Bytes::default();
        for pair in view.range(&prefix, &prefix_end(&prefix)) {
            let (pair_key, value) = pair.into_inner()?;
            if fragments.is_empty() {
                key = row_of(&Bytes::from(pair_key))?;
            }
            fragments.push(Bytes::from(value));
        }
        merge(key, &fragments, columns)
    }

    fn scan(
        view: &View,
        columns: Columns<'_>,
        direction: Direction,
        mut visit: impl FnMut(Row),
    ) -> Result<()> {
        let mut pairs = view.iter();
        let mut first = Bytes::default();
        let mut fragments: Vec<Bytes> = Vec::new();
        while let Some(pair) = if direction == Direction::Forward { pairs.next() } else { pairs.next_back() }
        {
            let (key, value) = pair.into_inner()?;
            let key = Bytes::from(key);
            if !fragments.is_empty() && prefix_of(&first) != prefix_of(&key) {
                emit(&first, &mut fragments, columns, direction, &mut visit)?;
            }
            if fragments.is_empty() {
                first = key;
            }
            fragments.push(Bytes::from(value));
        }
        emit(&first, &mut fragments, columns, direction, &mut visit)
    }
}

/// Merges the collected fragments of one row, hands the row out and empties the list.
fn emit(
    first: &Bytes,
    fragments: &mut Vec<Bytes>,
    columns: Columns<'_>,
    direction: Direction,
    visit: &mut impl FnMut(Row),
) -> Result<()> {
    if fragments.is_empty() {
        return Ok(());
    }
    if direction == Direction::Reverse {
        fragments.reverse();
    }
    if let Some(row) = merge(row_of(first)?, fragments, columns)? {
        visit(row);
    }
    fragments.clear();
    Ok(())
}

/// Makes a row of its fragments, newest sequence first.
fn merge(key: Bytes, fragments: &[Bytes], columns: Columns<'_>) -> Result<Option<Row>> {
    let mut cells = Vec::new();
    for fragment in fragments {
        decode_fragment(fragment, columns, &mut cells).ok_or("damaged fragment")?;
    }
    if fragments.len() > 1 {
        // Stable: of two cells with one qualifier and timestamp, that of the newer fragment stays in front.
        cells.sort_by(|a: &Cell, b: &Cell| a.qualifier.cmp(&b.qualifier).then(b.ts.cmp(&a.ts)));
        cells.dedup_by(|cell, kept| cell.ts == kept.ts && cell.qualifier == kept.qualifier);
    }
    Ok(finish_row(key, cells))
}

/// Row prefix with its terminator.
fn prefix_of(key: &[u8]) -> &[u8] {
    &key[..key.len().saturating_sub(SUFFIX_LEN)]
}

fn row_of(key: &Bytes) -> Result<Bytes> {
    let end = key.len().checked_sub(SUFFIX_LEN + TERMINATOR_LEN).ok_or("fragment key is too short")?;
    Ok(unescape(key.slice(..end)))
}

struct TrimFactory;

impl Factory for TrimFactory {
    fn name(&self) -> &'static str {
        "trim-fragments"
    }

    fn make_filter(&self, _: &Context) -> Box<dyn CompactionFilter> {
        Box::new(TrimFilter { prefix: Vec::new(), newest: None, seen: HashMap::new() })
    }
}

/// Drops the cells that newer fragments of the row have pushed out.
///
/// The newest fragment of a row passes untouched and is only decoded when a second one follows.
struct TrimFilter {
    prefix: Vec<u8>,
    newest: Option<Bytes>,
    /// Timestamps kept so far, per qualifier; at most [`VERSIONS_MAX`] of the largest.
    seen: HashMap<Bytes, Vec<i64>>,
}

impl TrimFilter {
    /// Whether the cell stays; counts it if so.
    fn admit(&mut self, cell: &Cell) -> bool {
        let kept = self.seen.entry(cell.qualifier.clone()).or_default();
        let newer = kept.iter().filter(|&&ts| ts > cell.ts).count();
        if newer >= VERSIONS_MAX || kept.contains(&cell.ts) {
            return false;
        }
        kept.push(cell.ts);
        true
    }

    /// Decides about a fragment that is not the newest of its row.
    fn trim(&mut self, fragment: &Bytes) -> Option<Verdict> {
        let mut cells = Vec::new();
        if let Some(newest) = self.newest.take() {
            decode_fragment(&newest, Columns::All, &mut cells)?;
            for cell in &cells {
                self.admit(cell);
            }
            cells.clear();
        }
        decode_fragment(fragment, Columns::All, &mut cells)?;
        let count = cells.len();
        cells.retain(|cell| self.admit(cell));
        Some(match cells.len() {
            0 => Verdict::Destroy,
            kept if kept == count => Verdict::Keep,
            _ => {
                let cells = cells.iter().map(|cell| (&cell.qualifier[..], cell.ts, &cell.value[..]));
                Verdict::ReplaceValue(encode_fragment(cells).into())
            }
        })
    }
}

impl CompactionFilter for TrimFilter {
    fn filter_item(&mut self, item: ItemAccessor<'_>, _: &Context) -> CompactionFilterResult {
        let fragment = Bytes::from(item.value()?);
        let prefix = prefix_of(item.key());
        if prefix != self.prefix {
            self.prefix.clear();
            self.prefix.extend_from_slice(prefix);
            self.seen.clear();
            self.newest = Some(fragment);
            return Ok(Verdict::Keep);
        }
        // A damaged fragment stays for the reader to report; an error here would stop the store's workers.
        Ok(self.trim(&fragment).unwrap_or(Verdict::Keep))
    }
}
