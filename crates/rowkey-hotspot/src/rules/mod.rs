//! The doctor's rules: each a pure function of facts, layout and context.
