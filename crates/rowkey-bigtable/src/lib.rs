//! Bigtable's messages and Rowkey's cells: conversion both ways, rows cut into chunks and put together again, errors as status codes.
//!
//! Pure: no network, no clock.

pub mod chunks;
pub mod convert;
pub mod merger;

mod status;

pub use status::{code, large_row, status, status_to_proto};
