//! Sketches: bounded memory, stated errors, the same answer for the same input and seed.
