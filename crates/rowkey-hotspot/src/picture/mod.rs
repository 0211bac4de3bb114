//! Drawing: a canvas, its PNG, and colour scales. Integers only: the same calls give the same pixels everywhere.

mod canvas;
mod font;
mod palette;
pub mod png;
pub mod svg;

pub use canvas::{Canvas, Rgb, text_height, text_width};
pub use palette::{Palette, Theme};
