//! Cells: Bigtable's data model and what an engine must do with it.
//!
//! Nothing here knows a key schema, a disk, a network or a protobuf type. Start reading at [`Engine`].
//!
//! - Pure decisions that all engines share: [`aggregate`], [`check`], [`gc`], [`select`], [`read_modify_write`], [`tablet`].
//! - Engines: [`memory`], the oracle; [`wrap`], around others.
//! - What every engine must pass: [`conformance`], [`metamorphic`].

pub mod aggregate;
pub mod check;
pub mod conformance;
pub mod escape;
pub mod gc;
pub mod limits;
pub mod memory;
pub mod metamorphic;
pub mod read_modify_write;
pub mod regex;
pub mod seeded;
pub mod select;
pub mod tablet;
pub mod wrap;

mod cell;
mod clock;
mod engine;
mod error;
mod evaluate;
mod ext;
mod filter;
mod mutation;
mod read;
mod row_range;
mod statistics;
mod table;

pub use cell::{Cell, Row, RowKey};
pub use clock::{Clock, ManualClock, SystemClock};
pub use engine::{
    DropScope, Durability, Engine, GarbageReport, KeySample, ReadModifyWrite, RowStream, Snapshot, TabletInfo,
};
pub use error::{Error, ErrorKind, Result};
pub use ext::EngineExt;
pub use filter::Filter;
pub use mutation::{CheckAndMutate, Mutation, RowMutation, Timestamp};
pub use read::{ColumnSelection, ReadRequest, Selection, Watch};
pub use row_range::{RowRange, RowSet, prefix_end};
pub use statistics::Statistics;
pub use table::{FamilyChange, FamilyConfig, GcRule, Granularity, TableConfig, ValueType};
