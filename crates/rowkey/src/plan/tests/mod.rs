//! Plans: examples whose bytes are written out, and a property against a model.

mod examples;
mod generate;
mod model;
mod property;
