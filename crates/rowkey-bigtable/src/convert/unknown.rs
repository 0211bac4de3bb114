//! Filters that this server does not know, found in the bytes of a request.
//!
//! Decoding drops fields that the messages do not have. A filter of a newer client would then say nothing, and let everything
//! through: a wrong answer. So where a decoded filter says nothing, its bytes are looked at.

use super::invalid;
use rowkey_store::Result;

/// Which field of a request holds its filter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FilterField {
    /// `ReadRowsRequest.filter`.
    ReadRows,
    /// `CheckAndMutateRowRequest.predicate_filter`.
    CheckAndMutateRow,
}

/// Members of `RowFilter` have the numbers 1 to this.
const MEMBER_MAX: u64 = 20;

/// Messages may be nested as deep as decoding accepts them.
const DEPTH_MAX: usize = 100;

/// Refuses a request whose filter has members that this server does not know. `request` is the encoded message, which was decoded
/// already; anything else is accepted.
///
/// # Errors
///
/// `Invalid`.
pub fn unknown_filters(request: &[u8], field: FilterField) -> Result<()> {
    let number = match field {
        FilterField::ReadRows => 3,
        FilterField::CheckAndMutateRow => 6,
    };
    Fields(request).filter(|field| field.number == number).try_for_each(|field| row_filter(field.content, 1))
}

fn row_filter(filter: &[u8], depth: usize) -> Result<()> {
    if depth > DEPTH_MAX {
        return Ok(());
    }
    for member in Fields(filter) {
        if member.number == 0 || member.number > MEMBER_MAX {
            return Err(invalid(format!(
                "the filter has field {} of `RowFilter`, which this server does not know: filter in another way",
                member.number
            )));
        }
        // A chain, an interleave or a condition: their own fields are filters.
        if member.number <= 3 {
            Fields(member.content).try_for_each(|part| row_filter(part.content, depth + 1))?;
        }
    }
    Ok(())
}

struct Field<'a> {
    number: u64,
    /// Of a field with a length; else empty.
    content: &'a [u8],
}

/// The fields of an encoded message, up to its end or to what is none.
struct Fields<'a>(&'a [u8]);

impl<'a> Iterator for Fields<'a> {
    type Item = Field<'a>;

    fn next(&mut self) -> Option<Field<'a>> {
        let key = self.varint()?;
        let number = key >> 3;
        let content: &[u8] = match key & 7 {
            0 => {
                self.varint()?;
                &[]
            }
            1 => {
                self.take(8)?;
                &[]
            }
            2 => {
                let len = self.varint()?;
                self.take(len)?
            }
            5 => {
                self.take(4)?;
                &[]
            }
            _ => return None,
        };
        Some(Field { number, content })
    }
}

impl<'a> Fields<'a> {
    fn varint(&mut self) -> Option<u64> {
        let mut number = 0;
        for shift in (0..64).step_by(7) {
            let (&byte, rest) = self.0.split_first()?;
            self.0 = rest;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Some(number);
            }
        }
        None
    }

    fn take(&mut self, len: u64) -> Option<&'a [u8]> {
        let (taken, rest) = self.0.split_at_checked(usize::try_from(len).ok()?)?;
        self.0 = rest;
        Some(taken)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use prost::Message as _;
    use rowkey_proto::data;
    use rowkey_proto::data::row_filter::{Chain, Filter as Kind};

    /// A filter of field 21, of no content.
    const UNKNOWN: &[u8] = &[0xaa, 0x01, 0x00];

    fn with_len(number: u8, content: &[u8]) -> Vec<u8> {
        [&[number << 3 | 2, u8::try_from(content.len()).unwrap()], content].concat()
    }

    fn check(request: &[u8], field: FilterField, known: bool) {
        match unknown_filters(request, field) {
            Ok(()) => assert!(known),
            Err(error) => assert!(!known && error.to_string().contains("field 21 of `RowFilter`"), "{error}"),
        }
    }

    #[test]
    fn a_filter_of_a_newer_client_is_refused_at_any_depth() {
        check(&with_len(3, UNKNOWN), FilterField::ReadRows, false);
        check(&with_len(6, UNKNOWN), FilterField::CheckAndMutateRow, false);
        let in_chain = with_len(3, &with_len(1, &with_len(1, UNKNOWN)));
        check(&in_chain, FilterField::ReadRows, false);
        let in_condition = with_len(3, &with_len(3, &[with_len(1, &[]), with_len(2, UNKNOWN)].concat()));
        check(&in_condition, FilterField::ReadRows, false);
        let decoded = data::ReadRowsRequest::decode(&in_chain[..]).unwrap();
        assert!(super::super::says_nothing(&decoded.filter.unwrap()), "what is looked for is dropped");
    }

    #[test]
    fn a_filter_that_says_nothing_is_none() {
        check(&[], FilterField::ReadRows, true);
        check(&with_len(3, &[]), FilterField::ReadRows, true);
        check(&with_len(5, UNKNOWN), FilterField::ReadRows, true);
        let pass = data::RowFilter { filter: Some(Kind::PassAllFilter(true)) };
        let filters = vec![data::RowFilter::default(), pass];
        let filter = Some(data::RowFilter { filter: Some(Kind::Chain(Chain { filters })) });
        let request =
            data::ReadRowsRequest { filter, table_name: "t".into(), rows_limit: 300, ..Default::default() };
        check(&request.encode_to_vec(), FilterField::ReadRows, true);
    }
}
