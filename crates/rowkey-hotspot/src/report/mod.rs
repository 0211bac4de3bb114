//! Findings for machines: JSON and SARIF; values replaced by classes.
