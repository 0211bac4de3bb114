//! The shape of this repository is written down once, in `tests/tidy.rs`, and breaks there. No code of its own.
