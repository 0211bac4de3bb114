//! A layout for people: one line per format, one per field.

use std::fmt;

use crate::layout::{FieldFacts, Format, Layout, Meaning, Segment, TimeMeaning};

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for format in &self.formats {
            write!(f, "{format}")?;
        }
        if self.unexplained_share > 0.0 {
            writeln!(f, "{:.2} % of the keys fit no format", 100.0 * self.unexplained_share)?;
        }
        Ok(())
    }
}

impl fmt::Display for Format {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:.2} % ", 100.0 * self.share)?;
        for segment in &self.segments {
            match segment {
                Segment::Literal(bytes) => write!(f, "{}", rowkey::escape::escaped(bytes))?,
                Segment::Field(field) => write!(f, "{{{}}}", field.name)?,
            }
        }
        writeln!(f)?;
        for field in self.fields() {
            writeln!(f, "  {field}")?;
        }
        Ok(())
    }
}

impl fmt::Display for FieldFacts {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}: {} ({:.1} %)", self.name, self.meaning, 100.0 * self.meaning_share)?;
        if self.is_fixed_width() {
            write!(f, ", {} bytes", self.width_min)?;
        } else {
            write!(f, ", {}-{} bytes", self.width_min, self.width_max)?;
        }
        write!(f, ", {} values, top {:.3}", self.distinct, self.top_share)?;
        write!(f, ", tau {:.2}, N_eff {:.1}", self.order.tau, self.order.n_eff)?;
        write!(f, ", within: tau {:.2}, N_eff {:.1}", self.order_within.tau, self.order_within.n_eff)?;
        for oddity in &self.oddities {
            write!(f, ", {oddity:?}")?;
        }
        Ok(())
    }
}

impl fmt::Display for Meaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Time(time) => write!(f, "time {time}"),
            Self::Period(time) => write!(f, "period {time}"),
            Self::Number { padded, grows, negative } => {
                f.write_str(if *padded { "padded number" } else { "number" })?;
                f.write_str(if *grows { " that grows" } else { "" })?;
                f.write_str(if *negative { ", some negative" } else { "" })
            }
            Self::Decimal { negative } => {
                f.write_str(if *negative { "decimal, some negative" } else { "decimal" })
            }
            Self::BinaryNumber { bytes, grows } => {
                write!(f, "number of {bytes} bytes{}", if *grows { " that grows" } else { "" })
            }
            Self::Id(id) => write!(f, "id {id:?}"),
            Self::Hash { bits, encoding } => write!(f, "hash of {bits} bits in {encoding:?}"),
            Self::Salt(salt) => {
                write!(f, "bucket, {} of {} used", salt.used, salt.buckets)?;
                match (&salt.from, &salt.follows) {
                    (Some(from), _) => write!(f, ", {}", from.formula),
                    (None, Some(field)) => write!(f, ", from {field}"),
                    (None, None) => Ok(()),
                }
            }
            Self::Domain { reversed } => f.write_str(if *reversed { "reversed host" } else { "host" }),
            Self::Path => f.write_str("path"),
            Self::Address => f.write_str("address"),
            Self::Email => f.write_str("mail address"),
            Self::Enumeration => f.write_str("few words"),
            Self::Text => f.write_str("text"),
            Self::Binary => f.write_str("bytes"),
        }
    }
}

impl fmt::Display for TimeMeaning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}{}", self.form, if self.reversed { ", reversed" } else { "" })
    }
}
