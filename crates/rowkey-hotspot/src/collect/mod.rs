//! Facts of a stream, collected in one pass and bounded memory.
