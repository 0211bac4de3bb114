//! Key space by time: the matrix, its views, and their pictures.
//!
//! ```text
//! operations -> Matrix (bounded memory, exact sums) -> View (so many rows and columns) -> Sheet (names, findings, nodes)
//!     -> PNG, SVG, page, terminal, JSON
//! ```

mod figure;
mod json;
mod label;
mod level;
mod matrix;
mod metric;
mod page;
mod recorder;
mod row;
mod scene;
mod series;
mod sha256;
mod sheet;
mod terminal;
#[cfg(test)]
mod tests;
mod time;
mod timeline;
mod view;

pub use figure::FigureOptions;
pub use label::Label;
pub use matrix::{Config, Matrix};
pub use metric::{Metric, Values};
pub use page::{MAP_JS, PAGE_CSS, PAGE_JS, Page, page};
pub use recorder::Recorder;
pub use sheet::{Mark, NODES_MAX, Nodes, Sheet, SheetOptions};
pub use terminal::{Colours, TerminalOptions};
pub use timeline::{Axis, Resolution};
pub use view::{View, ViewRow, ViewSpec};
