//! Key space by time: the matrix, and its pictures.
