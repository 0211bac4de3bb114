//! The doctor: collect, infer, judge.
