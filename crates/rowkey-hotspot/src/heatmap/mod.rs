//! Key space by time: the matrix, its views, and its pictures.
//!
//! ```text
//! operations -> Matrix (bounded memory, exact sums) -> View (so many rows and columns) -> PNG, SVG, page, terminal, JSON
//! ```

mod matrix;
mod metric;
mod row;
mod series;
mod timeline;
mod view;

pub use matrix::{Config, Matrix};
pub use metric::{Metric, Values};
pub use timeline::{Axis, Resolution};
pub use view::{View, ViewRow, ViewSpec};
