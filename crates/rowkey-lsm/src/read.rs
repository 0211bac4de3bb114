//! Reads: rows of a published state, lazily, tablet by tablet. Only the keyspaces of the wanted families are opened.

use crate::damage;
use crate::error;
use crate::fragment::{Fragment, Mask};
use crate::handle::Handle;
use crate::key;
use crate::merge::merge;
use crate::state::{Counters, Published, Space, Table, Tablet};
use bytes::{Buf as _, Bytes};
use fjall::Readable as _;
use rowkey_store::select::{Admit, Selector, StoredCell, Wanted};
use rowkey_store::{Cell, ReadRequest, Result, Row, RowRange, RowStream, Snapshot};
use std::collections::VecDeque;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// A table at one moment.
#[derive(Debug)]
pub(crate) struct LsmSnapshot {
    pub(crate) published: Arc<Published>,
    pub(crate) table: Arc<Table>,
    pub(crate) handle: Handle,
}

impl Snapshot for LsmSnapshot {
    fn read_rows(&self, request: &ReadRequest) -> Result<RowStream> {
        // A closed store says so.
        self.handle.published()?;
        let selector = Selector::new(
            &self.table.name,
            &self.table.config,
            request,
            self.handle.shared.options.clock.now_us(),
        )?;
        let whole = selector.is_whole();
        let mut parts = VecDeque::new();
        for range in selector.rows(&request.rows).ranges() {
            for index in self.table.tablets_of(range) {
                let tablet = &self.table.tablets[index];
                if let Some(range) = range.intersection(&tablet.range) {
                    parts.push_back((Arc::clone(tablet), range));
                }
            }
        }
        Ok(Box::new(Rows {
            snapshot: self.published.snapshot.clone(),
            table: self.table.name.clone(),
            handle: self.handle.clone(),
            selector,
            whole,
            reversed: request.reversed,
            parts,
            part: None,
            left: request.rows_max.unwrap_or(u64::MAX),
            cells_about: 0,
        }))
    }
}

/// Fragments of a row from which on a read asks for them to be made one: it merges that many each time.
const CROWDED_FRAGMENTS: usize = 64;

/// The rows of a read.
struct Rows {
    snapshot: fjall::Snapshot,
    table: String,
    handle: Handle,
    selector: Selector,
    /// Whether all cells of the wanted columns come out, so that nothing is decided about each.
    whole: bool,
    reversed: bool,
    parts: VecDeque<(Arc<Tablet>, RowRange)>,
    part: Option<Part>,
    left: u64,
    /// Cells of the last row, as a guess for the next one.
    cells_about: usize,
}

/// The part of a read in one tablet.
struct Part {
    tablet: Arc<Tablet>,
    cursors: Vec<Cursor>,
    rows: u64,
    bytes: u64,
    /// Families in which the last row has many fragments.
    crowded: Vec<usize>,
}

impl Drop for Part {
    fn drop(&mut self) {
        Counters::add(&self.tablet.counters.rows_read, self.rows);
        Counters::add(&self.tablet.counters.bytes_read, self.bytes);
    }
}

impl Iterator for Rows {
    type Item = Result<Row>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.left > 0 && self.handle.shared.closed.load(Ordering::Acquire) {
            self.left = 0;
            (self.part, self.parts) = (None, VecDeque::new());
            return Some(Err(error::closed(&self.handle.shared.path)));
        }
        while self.left > 0 {
            let Some(part) = &mut self.part else {
                let (tablet, range) =
                    if self.reversed { self.parts.pop_back() } else { self.parts.pop_front() }?;
                self.part = Some(self.open(tablet, &range));
                continue;
            };
            match next_row(part, &self.selector, self.whole, self.cells_about) {
                Ok(Next::End) => self.part = None,
                Ok(Next::Empty) => {}
                Ok(Next::Row(row)) => {
                    if !part.crowded.is_empty() {
                        let families = std::mem::take(&mut part.crowded);
                        self.handle.tidy_row(&self.table, &row.key, families);
                    }
                    self.left -= 1;
                    self.cells_about = row.cells.len();
                    part.rows += 1;
                    part.bytes += row.key.len() as u64
                        + row
                            .cells
                            .iter()
                            .map(|cell| (cell.qualifier.len() + cell.value.len()) as u64)
                            .sum::<u64>();
                    return Some(Ok(row));
                }
                Err(error) => {
                    self.left = 0;
                    return Some(Err(error.into_error(&self.handle.shared.path, &part.tablet.spaces)));
                }
            }
        }
        self.part = None;
        None
    }
}

impl Rows {
    fn open(&self, tablet: Arc<Tablet>, range: &RowRange) -> Part {
        Counters::add(&tablet.counters.reads, 1);
        let wanted =
            (0..tablet.spaces.len()).filter(|family| self.selector.wanted(*family) != Wanted::Nothing);
        let cursors = wanted
            .map(|family| Cursor::open(&self.snapshot, &tablet.spaces[family], range, family, self.reversed))
            .collect();
        Part { tablet, cursors, rows: 0, bytes: 0, crowded: Vec::new() }
    }
}

enum Next {
    Row(Row),
    /// A row of which nothing comes out.
    Empty,
    End,
}

/// What can go wrong while reading.
#[derive(Debug)]
pub(crate) enum ReadError {
    Fjall(fjall::Error),
    Store(rowkey_store::Error),
}

impl ReadError {
    pub(crate) fn into_error<'a>(
        self,
        path: &Path,
        spaces: impl IntoIterator<Item = &'a Space>,
    ) -> rowkey_store::Error {
        match self {
            Self::Fjall(error) => {
                damage::read_error(path, error, spaces.into_iter().map(|space| &space.keyspace))
            }
            Self::Store(error) => error.context(format_args!("reading the store at {}", path.display())),
        }
    }
}

impl From<fjall::Error> for ReadError {
    fn from(error: fjall::Error) -> Self {
        Self::Fjall(error)
    }
}

impl From<rowkey_store::Error> for ReadError {
    fn from(error: rowkey_store::Error) -> Self {
        Self::Store(error)
    }
}

fn next_row(
    part: &mut Part,
    selector: &Selector,
    whole: bool,
    cells_about: usize,
) -> Result<Next, ReadError> {
    // The first row of any family; families that have it as well join in.
    let mut first: Option<usize> = None;
    for index in 0..part.cursors.len() {
        part.cursors[index].fill()?;
        let (Some(row), best) =
            (&part.cursors[index].row, first.and_then(|first| part.cursors[first].row.as_ref()))
        else {
            continue;
        };
        let is_first = best.is_none_or(|best| {
            if part.cursors[index].reversed { row.prefix > best.prefix } else { row.prefix < best.prefix }
        });
        if is_first {
            first = Some(index);
        }
    }
    let Some((first, Some(row))) = first.map(|first| (first, part.cursors[first].row.take())) else {
        return Ok(Next::End);
    };
    let RowFragments { prefix, newest, older } = row;
    let mut row_key = None;
    if selector.decides_about_rows() {
        let key = row_key.insert(key::row_of(prefix.clone())?);
        if !selector.begin(key)? {
            for cursor in &mut part.cursors[first..] {
                cursor.row.take_if(|row| row.prefix == prefix);
            }
            return Ok(Next::Empty);
        }
    }
    let mut cells: Vec<Cell> = Vec::with_capacity(if whole { cells_about } else { 0 });
    let mut admitted: Vec<StoredCell> = Vec::new();
    let mut fragments = Some((newest, older));
    for cursor in &mut part.cursors[first..] {
        let own = || cursor.row.take_if(|row| row.prefix == prefix).map(|row| (row.newest, row.older));
        let Some((newest, older)) = fragments.take().or_else(own) else { continue };
        if older.len() >= CROWDED_FRAGMENTS {
            part.crowded.push(cursor.family);
        }
        if whole {
            push_all(newest, older, selector.family_name(cursor.family), &mut cells)?;
        } else {
            push_admitted(newest, older, selector, cursor.family, &mut admitted)?;
        }
    }
    let row_key = row_key.map_or_else(|| key::row_of(prefix), Ok)?;
    if whole {
        selector.count(cells.len());
        return Ok(if cells.is_empty() { Next::Empty } else { Next::Row(Row { key: row_key, cells }) });
    }
    Ok(selector.row_of_admitted(row_key, admitted)?.map_or(Next::Empty, Next::Row))
}

/// All cells of a row's family.
fn push_all(newest: Bytes, older: Vec<Bytes>, name: &Arc<str>, cells: &mut Vec<Cell>) -> Result<()> {
    let mut push = |qualifier: Bytes, timestamp_us: i64, value: Bytes| {
        cells.push(Cell { family: Arc::clone(name), qualifier, timestamp_us, value, labels: Vec::new() });
    };
    if !older.is_empty() {
        for cell in merge(newest_first(newest, older))?.0 {
            push(cell.qualifier, cell.timestamp_us, cell.value);
        }
        return Ok(());
    }
    let mut fragment = Fragment::decode(newest)?;
    while let Some(place) = fragment.next_place().transpose()? {
        let qualifier = fragment.bytes().slice(place.qualifier);
        if place.value.end == fragment.bytes().len() {
            // The last value takes the handle of the whole, which spares one count up and one down for each row.
            let mut value = fragment.into_bytes();
            value.advance(place.value.start);
            push(qualifier, place.timestamp_us, value);
            break;
        }
        let value = fragment.bytes().slice(place.value);
        push(qualifier, place.timestamp_us, value);
    }
    Ok(())
}

/// The cells of a row's family that the selector admits.
fn push_admitted(
    newest: Bytes,
    older: Vec<Bytes>,
    selector: &Selector,
    family: usize,
    out: &mut Vec<StoredCell>,
) -> Result<()> {
    let mut gate = selector.gate();
    if older.is_empty() {
        // Cells that do not come out cost no more than a look.
        let mut fragment = Fragment::decode(newest)?;
        while let Some(place) = fragment.next_place().transpose()? {
            let bytes = fragment.bytes();
            if gate.admit(family, &bytes[place.qualifier.clone()], place.timestamp_us) == Admit::Yes {
                out.push(StoredCell {
                    family,
                    qualifier: bytes.slice(place.qualifier),
                    timestamp_us: place.timestamp_us,
                    value: bytes.slice(place.value),
                });
            }
        }
        return Ok(());
    }
    for cell in merge(newest_first(newest, older))?.0 {
        if gate.admit(family, &cell.qualifier, cell.timestamp_us) == Admit::Yes {
            let (qualifier, timestamp_us, value) = (cell.qualifier, cell.timestamp_us, cell.value);
            out.push(StoredCell { family, qualifier, timestamp_us, value });
        }
    }
    Ok(())
}

/// The fragments of a row in one family.
#[derive(Debug)]
pub(crate) struct RowFragments {
    /// The encoded row key with its terminator.
    pub(crate) prefix: Bytes,
    newest: Bytes,
    /// Newest first.
    older: Vec<Bytes>,
}

impl RowFragments {
    /// Its fragments.
    pub(crate) fn newest_first(self) -> impl Iterator<Item = Result<Bytes>> {
        newest_first(self.newest, self.older)
    }
}

fn newest_first(newest: Bytes, older: Vec<Bytes>) -> impl Iterator<Item = Result<Bytes>> {
    std::iter::once(newest).chain(older).map(Ok)
}

/// Pairs that are stepped over before a new iterator is opened behind them: opening one costs as much as 60 to 70 steps.
const STEPS_MAX: usize = 64;

/// Walks the rows of one keyspace.
pub(crate) struct Cursor {
    iter: fjall::Iter,
    family: usize,
    reversed: bool,
    /// The first pair of the row behind `row`.
    ahead: Option<(Bytes, Bytes)>,
    /// The row that comes next, once it is filled.
    pub(crate) row: Option<RowFragments>,
    ended: bool,
    snapshot: fjall::Snapshot,
    keyspace: fjall::Keyspace,
    end: Option<Vec<u8>>,
}

impl Cursor {
    pub(crate) fn open(
        snapshot: &fjall::Snapshot,
        space: &Space,
        range: &RowRange,
        family: usize,
        reversed: bool,
    ) -> Self {
        let (start, end) = key::range_bounds(range);
        let iter = iter(snapshot, &space.keyspace, start, end.as_deref());
        let (snapshot, keyspace) = (snapshot.clone(), space.keyspace.clone());
        Self { iter, family, reversed, ahead: None, row: None, ended: false, snapshot, keyspace, end }
    }

    fn pair(&mut self) -> Result<Option<(Bytes, Bytes)>, ReadError> {
        if self.ended {
            return Ok(None);
        }
        let guard = if self.reversed { self.iter.next_back() } else { self.iter.next() };
        let Some(guard) = guard else {
            self.ended = true;
            return Ok(None);
        };
        let (key, value) = guard.into_inner()?;
        Ok(Some((key.into(), value.into())))
    }

    /// Makes sure that `row` is the next row, if there is one.
    pub(crate) fn fill(&mut self) -> Result<(), ReadError> {
        if self.row.is_some() {
            return Ok(());
        }
        let first = match self.ahead.take() {
            Some(pair) => Some(pair),
            None => self.pair()?,
        };
        let Some((first_key, newest)) = first else { return Ok(()) };
        let mut prefix = first_key;
        prefix.truncate(key::split(&prefix)?.0.len());
        let mut row = RowFragments { prefix, newest, older: Vec::new() };
        if self.reversed {
            self.fill_reversed(&mut row)?;
        } else {
            self.fill_forward(&mut row)?;
        }
        self.row = Some(row);
        Ok(())
    }

    /// The newest fragment came first. What lies behind one that hides everything older is stepped over.
    fn fill_forward(&mut self, row: &mut RowFragments) -> Result<(), ReadError> {
        let mut covered = row.newest.starts_with(&Mask::FAMILY_HEAD);
        let mut steps = 0;
        while let Some((key, value)) = self.pair()? {
            if key::split(&key)?.0 != &row.prefix[..] {
                self.ahead = Some((key, value));
                break;
            }
            if !covered {
                covered = value.starts_with(&Mask::FAMILY_HEAD);
                row.older.push(value);
                continue;
            }
            steps += 1;
            if steps == STEPS_MAX {
                let start = key::behind(&row.prefix);
                self.iter = iter(&self.snapshot, &self.keyspace, start, self.end.as_deref());
            }
        }
        Ok(())
    }

    /// The oldest fragment came first. One that hides everything older makes what came before it needless.
    fn fill_reversed(&mut self, row: &mut RowFragments) -> Result<(), ReadError> {
        let mut oldest_first: Vec<Bytes> = Vec::new();
        while let Some((key, value)) = self.pair()? {
            if key::split(&key)?.0 != &row.prefix[..] {
                self.ahead = Some((key, value));
                break;
            }
            let before = std::mem::replace(&mut row.newest, value);
            oldest_first.push(before);
            if row.newest.starts_with(&Mask::FAMILY_HEAD) {
                oldest_first.clear();
            }
        }
        oldest_first.reverse();
        row.older = oldest_first;
        Ok(())
    }
}

fn iter(
    snapshot: &fjall::Snapshot,
    keyspace: &fjall::Keyspace,
    start: Vec<u8>,
    end: Option<&[u8]>,
) -> fjall::Iter {
    match end {
        Some(end) => snapshot.range(keyspace, start..end.to_vec()),
        None => snapshot.range(keyspace, start..),
    }
}
