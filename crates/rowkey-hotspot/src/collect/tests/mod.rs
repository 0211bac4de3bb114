//! Spread against its definition, against known answers, and against the labelled samples.

mod corpus;
mod facts;
mod oracle;
mod trial;
