//! Policies: stored and answered, never enforced.
