//! Bigtable's messages and Rowkey's cells: conversion both ways, rows cut into chunks and put together again, errors as status codes.
//!
//! Pure: no network, no clock.
