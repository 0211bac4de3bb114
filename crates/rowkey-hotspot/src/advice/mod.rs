//! What a cure gains the writes and costs the reads.
