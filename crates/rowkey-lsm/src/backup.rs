//! A table as one stream: its design, then its rows in key order, in blocks with checksums.
//!
//! ```text
//! | magic: 8 bytes `RKBACKUP` | version: u8 = 1 | block ... | end |
//!
//! block: | length: u32 BE, not 0 | xxh3 of the bytes: u64 BE | bytes |
//! end:   | 0: u32 BE | xxh3 of the count: u64 BE | rows: u64 BE |
//!
//! first block: | table name with its length: u32 BE | its record as in the keyspace `meta`, without keyspaces |
//! others:      rows, none of them cut: | key | fragment count: u32 BE | (family: u32 BE, fragment) ... |
//!              key and fragments have their length as u32 BE in front; a fragment is as in `fragment.rs`, without masks
//! ```
//!
//! Restoring writes to keyspaces that no table names until all is read and checked; then one batch makes the table.

use crate::committer::Committer;
use crate::error;
use crate::fragment::{self, decode};
use crate::handle::Handle;
use crate::key;
use crate::merge::merge;
use crate::meta::{TableRecord, decode_table, encode_table};
use crate::read::{Cursor, ReadError, RowFragments};
use crate::state::{Space, Table};
use bytes::Bytes;
use rowkey_store::{Error, ErrorKind, Result, TableConfig, check};
use std::io::{self, Read, Write};
use xxhash_rust::xxh3::xxh3_64;

const MAGIC: &[u8; 9] = b"RKBACKUP\x01";

/// Bytes from which on a block ends.
const BLOCK_BYTES: usize = 64 << 10;

/// See [`crate::LsmEngine::backup`].
pub(crate) fn backup(handle: &Handle, table: &str, output: &mut dyn Write) -> Result<()> {
    let (published, table) = handle.table(table)?;
    let failed = |error: io::Error| unavailable("writing the backup", error);
    let path = &handle.shared.path;
    output.write_all(MAGIC).map_err(failed)?;
    let mut block = Vec::new();
    push_sized(table.name.as_bytes(), &mut block);
    let spaces = table.tablets.iter().map(|_| vec![0; table.config.families.len()]).collect();
    block.extend(encode_table(&TableRecord { config: table.config.clone(), spaces }));
    write_block(&block, output).map_err(failed)?;
    block.clear();
    let mut rows: u64 = 0;
    for shard in table.shards() {
        let open = |(family, space)| Cursor::open(&published.snapshot, space, &shard.range, family, false);
        let mut cursors: Vec<Cursor> = shard.spaces.iter().enumerate().map(open).collect();
        while let Some(first) =
            first_row(&mut cursors).map_err(|error| error.into_error(path, &shard.spaces))?
        {
            if push_row(&first, &mut cursors, &mut block)? {
                rows += 1;
            }
            if block.len() >= BLOCK_BYTES {
                write_block(&block, output).map_err(failed)?;
                block.clear();
            }
        }
    }
    if !block.is_empty() {
        write_block(&block, output).map_err(failed)?;
    }
    let rows = rows.to_be_bytes();
    let end = [&0u32.to_be_bytes()[..], &xxh3_64(&rows).to_be_bytes(), &rows].concat();
    output.write_all(&end).and_then(|()| output.flush()).map_err(failed)
}

/// The prefix of the first row that a cursor is at.
fn first_row(cursors: &mut [Cursor]) -> Result<Option<Bytes>, ReadError> {
    let mut first: Option<Bytes> = None;
    for cursor in cursors {
        cursor.fill()?;
        if let Some(row) = &cursor.row
            && first.as_ref().is_none_or(|first| row.prefix < *first)
        {
            first = Some(row.prefix.clone());
        }
    }
    Ok(first)
}

/// Appends a row, one fragment for each family that has cells in it. Answers whether it has any.
fn push_row(prefix: &Bytes, cursors: &mut [Cursor], block: &mut Vec<u8>) -> Result<bool> {
    let mut fragments = Vec::new();
    for (family, cursor) in (0u32..).zip(cursors) {
        let Some(row) = cursor.row.take_if(|row| row.prefix == *prefix) else { continue };
        let (cells, _) = merge(RowFragments::newest_first(row))?;
        if !cells.is_empty() {
            let cells = cells.iter().map(|cell| (&cell.qualifier[..], cell.timestamp_us, &cell.value[..]));
            fragments.push((family, fragment::encode(&[], cells, 0)));
        }
    }
    if fragments.is_empty() {
        return Ok(false);
    }
    push_sized(&key::row_of(prefix.clone())?, block);
    push_u32(fragments.len(), block);
    for (family, fragment) in fragments {
        block.extend_from_slice(&family.to_be_bytes());
        push_sized(&fragment, block);
    }
    Ok(true)
}

fn write_block(block: &[u8], output: &mut dyn Write) -> io::Result<()> {
    let mut head = Vec::with_capacity(12);
    push_u32(block.len(), &mut head);
    head.extend_from_slice(&xxh3_64(block).to_be_bytes());
    output.write_all(&head)?;
    output.write_all(block)
}

fn push_u32(number: usize, out: &mut Vec<u8>) {
    // A row holds at most 100,000 cells of 100 MiB by the limits of one request, but many requests may add to one.
    let number = u32::try_from(number).unwrap_or(u32::MAX);
    out.extend_from_slice(&number.to_be_bytes());
}

fn push_sized(bytes: &[u8], out: &mut Vec<u8>) {
    push_u32(bytes.len(), out);
    out.extend_from_slice(bytes);
}

/// See [`crate::LsmEngine::restore`].
pub(crate) fn restore(handle: &Handle, input: &mut dyn Read) -> Result<String> {
    let mut blocks = Blocks { input, offset: 0 };
    let magic = blocks.bytes(MAGIC.len(), "the head")?;
    if magic != MAGIC {
        return Err(Error::new(
            ErrorKind::Corrupt,
            "this is no backup of a table, or one of another version: it does not begin with `RKBACKUP` and 1",
        ));
    }
    let Block::Bytes(block) = blocks.next_block()? else { return Err(blocks.damaged("it holds no table")) };
    let (name, config) =
        head(&block).ok_or_else(|| blocks.damaged("the design of the table does not decode"))??;
    check::new_table(&name, &config)?;
    let design = config.clone();
    let (spaces, sequence) = {
        let name = name.clone();
        handle.run(move |committer| committer.begin_restore(&name, &design))?
    };
    match fill(handle, &mut blocks, &spaces, sequence) {
        Ok(()) => {
            let table = name.clone();
            handle.run(move |committer| committer.end_restore(&table, config, spaces))?;
            Ok(name)
        }
        Err(error) => {
            handle.run(move |committer| {
                committer.delete_spaces(spaces);
                Ok(())
            })?;
            Err(error)
        }
    }
}

/// The name and the design in the first block.
fn head(block: &[u8]) -> Option<Result<(String, TableConfig)>> {
    let mut rest = block;
    let name = std::str::from_utf8(take_sized(&mut rest)?).ok()?.to_owned();
    Some(decode_table(rest).map(|record| (name, record.config)))
}

/// Reads all rows into the keyspaces.
fn fill(handle: &Handle, blocks: &mut Blocks<'_>, spaces: &[Space], sequence: u64) -> Result<()> {
    let failed = |error| error::of_fjall(&handle.shared.path, "restoring into", error, None);
    let ingestions =
        spaces.iter().map(|space| space.keyspace.start_ingestion()).collect::<Result<Vec<_>, _>>();
    let mut ingestions = ingestions.map_err(failed)?;
    let mut last: Vec<u8> = Vec::new();
    let mut rows: u64 = 0;
    loop {
        let block = match blocks.next_block()? {
            Block::Bytes(block) => Bytes::from(block),
            Block::End { rows: written } if written == rows => break,
            Block::End { .. } => return Err(blocks.damaged("rows are missing")),
        };
        let mut rest = &block[..];
        while !rest.is_empty() {
            let row = take_row(&block, &mut rest).ok_or_else(|| blocks.damaged("a row does not decode"))?;
            if row.key.is_empty() || row.key <= last.as_slice() && rows > 0 {
                return Err(blocks.damaged("rows are out of order"));
            }
            let key = key::fragment_key(&key::row_prefix(row.key), sequence);
            for (family, fragment) in row.fragments {
                let Some(ingestion) = ingestions.get_mut(family) else {
                    return Err(blocks.damaged("a row has an unknown family"));
                };
                decode(fragment.clone()).map_err(|error| blocks.damaged(&error.to_string()))?;
                ingestion.write(key.clone(), fragment).map_err(failed)?;
            }
            last = row.key.to_vec();
            rows += 1;
        }
    }
    ingestions.into_iter().try_for_each(|ingestion| ingestion.finish().map_err(failed))
}

struct RestoredRow<'a> {
    key: &'a [u8],
    fragments: Vec<(usize, Bytes)>,
}

fn take_row<'a>(block: &Bytes, rest: &mut &'a [u8]) -> Option<RestoredRow<'a>> {
    let key = take_sized(rest)?;
    let count = take_u32(rest)?;
    let mut fragments = Vec::new();
    for _ in 0..count {
        let family = take_u32(rest)?;
        if fragments.last().is_some_and(|(before, _)| *before >= family) {
            return None;
        }
        let fragment = take_sized(rest)?;
        let end = block.len() - rest.len();
        fragments.push((family, block.slice(end - fragment.len()..end)));
    }
    Some(RestoredRow { key, fragments })
}

fn take_u32(rest: &mut &[u8]) -> Option<usize> {
    let (number, behind) = rest.split_first_chunk::<4>()?;
    *rest = behind;
    usize::try_from(u32::from_be_bytes(*number)).ok()
}

fn take_sized<'a>(rest: &mut &'a [u8]) -> Option<&'a [u8]> {
    let len = take_u32(rest)?;
    let (taken, behind) = rest.split_at_checked(len)?;
    *rest = behind;
    Some(taken)
}

enum Block {
    Bytes(Vec<u8>),
    End { rows: u64 },
}

/// Reads blocks and knows where it is.
struct Blocks<'a> {
    input: &'a mut dyn Read,
    offset: u64,
}

impl Blocks<'_> {
    fn bytes(&mut self, len: usize, what: &str) -> Result<Vec<u8>> {
        // Grows with what comes: a damaged length must not allocate.
        let mut bytes = Vec::new();
        let read = (&mut *self.input).take(len as u64).read_to_end(&mut bytes);
        read.map_err(|error| unavailable("reading the backup", error))?;
        if bytes.len() < len {
            return Err(self.damaged(&format!("it ends within {what}")));
        }
        self.offset += len as u64;
        Ok(bytes)
    }

    fn next_block(&mut self) -> Result<Block> {
        let start = self.offset;
        let head = self.bytes(12, "the head of a block")?;
        let (len, checksum) = head.split_at(4);
        let len = len.try_into().map_or(0, u32::from_be_bytes);
        if len == 0 {
            let rows = self.bytes(8, "its end")?;
            if xxh3_64(&rows).to_be_bytes() != *checksum {
                return Err(self.damaged("the checksum of its end does not fit"));
            }
            return Ok(Block::End { rows: rows.try_into().map_or(0, u64::from_be_bytes) });
        }
        let block = self.bytes(usize::try_from(len).unwrap_or(usize::MAX), "a block")?;
        if xxh3_64(&block).to_be_bytes() != *checksum {
            self.offset = start;
            return Err(self.damaged("the checksum of a block does not fit"));
        }
        Ok(Block::Bytes(block))
    }

    fn damaged(&self, what: &str) -> Error {
        let message = format!(
            "the backup is damaged at byte {}: {what}; nothing was restored: take another copy of it",
            self.offset
        );
        Error::new(ErrorKind::Corrupt, message)
    }
}

fn unavailable(doing: &str, error: io::Error) -> Error {
    Error::new(ErrorKind::Unavailable, format!("{doing} failed: {error}")).with_source(error)
}

impl Committer {
    /// Keyspaces for a table to be, and the sequence number of its fragments.
    fn begin_restore(&mut self, name: &str, config: &TableConfig) -> Result<(Vec<Space>, u64)> {
        if self.tables.contains_key(name) {
            return Err(check::table_exists(name));
        }
        self.counters.sequence += 1;
        let spaces = config.families.iter().map(|family| self.new_space(family.gc_rule.as_ref(), true));
        Ok((spaces.collect::<Result<_>>()?, self.counters.sequence))
    }

    fn end_restore(&mut self, name: &str, config: TableConfig, spaces: Vec<Space>) -> Result<()> {
        if self.tables.contains_key(name) {
            self.delete_spaces(spaces);
            return Err(check::table_exists(name));
        }
        self.bytes_since_look = u64::MAX / 2;
        self.take_on(Table::new(name, config, &spaces))
    }
}
