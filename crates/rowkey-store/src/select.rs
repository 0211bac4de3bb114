//! What of a row comes out: columns, garbage that a `live` read leaves out, times, versions, filter, in this order. Every engine calls
//! it, so all answer alike. It is pure, but for a [`crate::Watch`] that counts and cancels.
//!
//! An engine that reads lazily asks [`Selector::rows`] where rows can be that come out, [`Selector::wanted`] which families and columns
//! it must read at all, [`Selector::begin`] about each row, and a [`Gate`] about each cell, so that it can skip the rest of a column.
//! One that has the whole row calls [`Selector::row`].

use crate::evaluate::Program;
use crate::{
    Cell, ColumnSelection, Error, ErrorKind, Filter, GcRule, ReadRequest, Result, Row, RowKey, RowSet,
    Selection, TableConfig, Watch, check,
};
use bytes::Bytes;
use std::borrow::Cow;
use std::ops::Range;
use std::sync::Arc;

/// A cell as engines hold it: its family by index in [`TableConfig::families`].
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredCell {
    /// Index of the family.
    pub family: usize,
    /// The qualifier.
    pub qualifier: Bytes,
    /// Microseconds since the epoch.
    pub timestamp_us: i64,
    /// The value.
    pub value: Bytes,
}

/// What a read wants of one family.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wanted<'a> {
    /// Nothing: its files need not be read.
    Nothing,
    /// All columns.
    All,
    /// These columns, ascending, without duplicates.
    Columns(&'a [Bytes]),
}

/// Whether a cell comes out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Admit {
    /// It does.
    Yes,
    /// It does not; an older one of the column may.
    No,
    /// Neither it nor any older one of its column does: skip to the next column.
    NoneOlder,
}

/// A checked read of one table at one moment.
#[derive(Debug, Clone)]
pub struct Selector {
    families: Vec<FamilyState>,
    times_us: Option<Range<i64>>,
    versions_max: Option<u32>,
    live: bool,
    now_us: i64,
    filter: Option<Arc<Program>>,
    watch: Option<Arc<Watch>>,
}

#[derive(Debug, Clone)]
struct FamilyState {
    name: Arc<str>,
    gc_rule: Option<GcRule>,
    columns: Columns,
}

#[derive(Debug, Clone)]
enum Columns {
    Nothing,
    All,
    Only(Vec<Bytes>),
}

impl Selector {
    /// Checks a read and prepares it. `now_us` decides what a `live` read leaves out.
    ///
    /// # Errors
    ///
    /// Those of [`check::read_request`].
    pub fn new(table: &str, config: &TableConfig, request: &ReadRequest, now_us: i64) -> Result<Self> {
        check::read_request(table, config, request)?;
        let mut selector = Self::of_selection(config, &request.selection, request.live, now_us);
        selector.watch.clone_from(&request.watch);
        let Some(filter) = &request.filter else { return Ok(selector) };
        let program = Program::new(filter, config, &request.selection)
            .map_err(|error| error.context(format_args!("Error while reading table '{table}' ")))?;
        selector.times_us.clone_from(&program.times_us);
        selector.versions_max = program.versions_max;
        for (family, wanted) in selector.families.iter_mut().zip(&program.families) {
            if !wanted {
                family.columns = Columns::Nothing;
            }
        }
        selector.filter = Some(Arc::new(program));
        Ok(selector)
    }

    /// The live cells of some columns, through a filter: what a conditional write looks at.
    ///
    /// # Errors
    ///
    /// Those of [`check::read_request`].
    pub fn of_predicate(
        table: &str,
        config: &TableConfig,
        columns: &ColumnSelection,
        predicate: Option<&Filter>,
        now_us: i64,
    ) -> Result<Self> {
        let selection = Selection { columns: columns.clone(), ..Selection::default() };
        let request =
            ReadRequest { selection, filter: predicate.cloned(), live: true, ..ReadRequest::default() };
        Self::new(table, config, &request, now_us)
    }

    fn of_selection(config: &TableConfig, selection: &Selection, live: bool, now_us: i64) -> Self {
        let families = config.families.iter().map(|family| FamilyState {
            name: Arc::from(family.name.as_str()),
            gc_rule: family.gc_rule.clone(),
            columns: columns_of(&family.name, &selection.columns),
        });
        Self {
            families: families.collect(),
            times_us: selection.times_us.clone(),
            versions_max: selection.versions_max,
            live,
            now_us,
            filter: None,
            watch: None,
        }
    }

    /// Those of the requested rows that can come out, going by their keys: a filter may say with what keys must begin.
    pub fn rows<'a>(&self, requested: &'a RowSet) -> Cow<'a, RowSet> {
        match self.filter.as_ref().and_then(|filter| filter.range.as_ref()) {
            Some(range) => {
                let ranges = requested.ranges().iter().filter_map(|requested| requested.intersection(range));
                Cow::Owned(RowSet::new([], ranges))
            }
            None => Cow::Borrowed(requested),
        }
    }

    /// Whether all cells of the wanted columns come out as they are, so that nothing has to be decided about each.
    pub fn is_whole(&self) -> bool {
        (!self.live || self.families.iter().all(|family| family.gc_rule.is_none()))
            && self.times_us.is_none()
            && self.versions_max.is_none()
            && self.filter.as_ref().is_none_or(|filter| filter.is_done())
            && self.families.iter().all(|family| !matches!(family.columns, Columns::Only(_)))
    }

    /// Whether [`Selector::begin`] must be asked about rows. If not, it would want them all, and nobody watches.
    pub fn decides_about_rows(&self) -> bool {
        self.watch.is_some() || self.filter.as_ref().is_some_and(|filter| filter.decides_about_rows())
    }

    /// Begins with a row of the store, and says whether its cells are worth a look.
    ///
    /// # Errors
    ///
    /// `Cancelled` by the watch of the read.
    pub fn begin(&self, key: &RowKey) -> Result<bool> {
        if let Some(watch) = &self.watch
            && !watch.row()
        {
            let message = format!("the read was cancelled before row `{}`", check::shown(key));
            return Err(Error::new(ErrorKind::Cancelled, message));
        }
        let wanted = self.filter.as_ref().is_none_or(|filter| filter.wants_row(key));
        if !wanted {
            self.nothing_of(key);
        }
        Ok(wanted)
    }

    /// Counts cells of a row that come out as they are ([`Selector::is_whole`]).
    pub fn count(&self, cells: usize) {
        if let Some(watch) = &self.watch {
            watch.cells(cells);
        }
    }

    fn nothing_of(&self, key: &RowKey) {
        if let Some(watch) = &self.watch {
            watch.nothing_of(key);
        }
    }

    /// What must be read of a family.
    pub fn wanted(&self, family: usize) -> Wanted<'_> {
        match self.families.get(family).map(|family| &family.columns) {
            None | Some(Columns::Nothing) => Wanted::Nothing,
            Some(Columns::All) => Wanted::All,
            Some(Columns::Only(columns)) => Wanted::Columns(columns),
        }
    }

    /// The name of a family, shared by all cells that come out.
    pub fn family_name(&self, family: usize) -> &Arc<str> {
        &self.families[family].name
    }

    /// Decides about cells, column by column.
    pub fn gate(&self) -> Gate<'_> {
        Gate {
            selector: self,
            family: usize::MAX,
            qualifier: Vec::new(),
            seen: 0,
            admitted: 0,
            closed: false,
        }
    }

    /// The row that comes out of its cells, which are in order: family, qualifier, newest first. `None`: no cell does, and the row
    /// does not count. No cell is taken where the key decides already.
    ///
    /// # Errors
    ///
    /// Those of [`Selector::begin`] and [`Selector::row_of_admitted`].
    pub fn row(&self, key: RowKey, cells: impl IntoIterator<Item = StoredCell>) -> Result<Option<Row>> {
        if !self.begin(&key)? {
            return Ok(None);
        }
        let mut gate = self.gate();
        let admitted = cells
            .into_iter()
            .filter(|cell| gate.admit(cell.family, &cell.qualifier, cell.timestamp_us) == Admit::Yes);
        self.row_of_admitted(key, admitted)
    }

    /// As [`Selector::row`], of cells that a [`Gate`] of this selector has admitted already, in a row that [`Selector::begin`] wants.
    ///
    /// # Errors
    ///
    /// `Limit` if the filter makes too many copies of cells.
    pub fn row_of_admitted(
        &self,
        key: RowKey,
        cells: impl IntoIterator<Item = StoredCell>,
    ) -> Result<Option<Row>> {
        let filter = self.filter.as_ref().filter(|filter| !filter.is_done());
        let cells: Vec<Cell> = match filter {
            None => cells.into_iter().map(|cell| self.cell(cell)).collect(),
            Some(filter) => {
                let cells: Vec<StoredCell> = cells.into_iter().collect();
                self.count(cells.len());
                self.filtered(filter, &key, cells)?
            }
        };
        if filter.is_none() {
            self.count(cells.len());
        }
        if cells.is_empty() {
            self.nothing_of(&key);
            return Ok(None);
        }
        Ok(Some(Row { key, cells }))
    }

    fn filtered(&self, filter: &Program, key: &RowKey, mut cells: Vec<StoredCell>) -> Result<Vec<Cell>> {
        let views = filter.run(key, &cells)?;
        let mut views = views.into_iter().peekable();
        let mut out = Vec::with_capacity(views.len());
        while let Some(view) = views.next() {
            let stored = &mut cells[view.cell as usize];
            // Copies of a cell stand next to each other; the last takes its bytes.
            let again = views.peek().is_some_and(|next| next.cell == view.cell);
            let mut bytes = |bytes: fn(&mut StoredCell) -> &mut Bytes| {
                let bytes = bytes(stored);
                if again { bytes.clone() } else { std::mem::take(bytes) }
            };
            let qualifier = bytes(|cell| &mut cell.qualifier);
            let value = if view.stripped { Bytes::new() } else { bytes(|cell| &mut cell.value) };
            let labels = filter.label(view).cloned().into_iter().collect();
            let family = Arc::clone(&self.families[stored.family].name);
            out.push(Cell { family, qualifier, timestamp_us: stored.timestamp_us, value, labels });
        }
        Ok(out)
    }

    fn cell(&self, cell: StoredCell) -> Cell {
        let StoredCell { family, qualifier, timestamp_us, value } = cell;
        let family = Arc::clone(&self.families[family].name);
        Cell { family, qualifier, timestamp_us, value, labels: Vec::new() }
    }
}

/// Decides about the cells of one row after the other. It must be asked about every stored cell of the wanted columns, newest
/// first, up to an [`Admit::NoneOlder`]: versions are counted here. A read that is not `live` may
/// begin at its newest time, as versions are counted in the range of times.
#[derive(Debug)]
pub struct Gate<'a> {
    selector: &'a Selector,
    family: usize,
    qualifier: Vec<u8>,
    seen: u64,
    admitted: u32,
    closed: bool,
}

impl Gate<'_> {
    /// Forgets the column at the start of a row: the next row may begin with the same one.
    pub fn start_row(&mut self) {
        self.family = usize::MAX;
    }

    /// Whether a cell comes out.
    pub fn admit(&mut self, family: usize, qualifier: &[u8], timestamp_us: i64) -> Admit {
        let selector = self.selector;
        if self.family != family || self.qualifier != qualifier {
            self.family = family;
            self.qualifier.clear();
            self.qualifier.extend_from_slice(qualifier);
            self.seen = 0;
            self.admitted = 0;
            self.closed = match selector.wanted(family) {
                Wanted::Nothing => true,
                Wanted::All => false,
                Wanted::Columns(columns) => {
                    columns.binary_search_by(|column| (**column).cmp(qualifier)).is_err()
                }
            };
        }
        if self.closed {
            return Admit::NoneOlder;
        }
        self.seen += 1;
        let hidden = |rule: &GcRule| rule.takes(self.seen, timestamp_us, selector.now_us);
        let rule = selector.families[family].gc_rule.as_ref();
        let times = selector.times_us.as_ref();
        if selector.live && rule.is_some_and(hidden)
            || selector.versions_max.is_some_and(|versions_max| self.admitted >= versions_max)
            || times.is_some_and(|times| timestamp_us < times.start)
        {
            self.closed = true;
            return Admit::NoneOlder;
        }
        if times.is_some_and(|times| !time_in(times, timestamp_us)) {
            return Admit::No;
        }
        self.admitted += 1;
        Admit::Yes
    }
}

/// Whether a time is in a half-open range. An end of `i64::MAX` is no end, so that the last microsecond can be named.
pub fn time_in(times_us: &Range<i64>, timestamp_us: i64) -> bool {
    timestamp_us >= times_us.start && (timestamp_us < times_us.end || times_us.end == i64::MAX)
}

fn columns_of(family: &str, columns: &ColumnSelection) -> Columns {
    let ColumnSelection::Only(families) = columns else { return Columns::All };
    let mut chosen = Vec::new();
    let mut named = false;
    for (_, columns) in families.iter().filter(|(name, _)| name == family) {
        let Some(columns) = columns else { return Columns::All };
        named = true;
        chosen.extend_from_slice(columns);
    }
    chosen.sort();
    chosen.dedup();
    if named && !chosen.is_empty() { Columns::Only(chosen) } else { Columns::Nothing }
}

#[cfg(test)]
mod tests;
