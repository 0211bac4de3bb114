//! A key schema for the recommended design, and the sample through it.
