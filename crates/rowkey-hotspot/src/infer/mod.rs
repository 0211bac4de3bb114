//! Key layouts, inferred from a sample of keys.
