//! Operations generated from a key schema.
