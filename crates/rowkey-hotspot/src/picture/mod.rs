//! Drawing: a canvas, its PNG, and colour scales.
