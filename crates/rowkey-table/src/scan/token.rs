//! Page tokens: where a scan goes on, as opaque text that survives a restart.
//!
//! ```text
//! base64url( | version: u8 = 1 | flags: u8 | fingerprint: 8 bytes | table: u64 | query: u64 | bucket: u32 | key: n bytes | check: u32 | )
//!            flags: 1 = descending, 2 = the bucket counts (random salt)     integers little-endian
//!            table, query: FNV-1a 64 of the name and of the plan without token     check: low half of FNV-1a 64 of all before
//! ```
//!
//! A token is not secret and not signed: the checksum finds accidents. It never widens a scan, since the plan is made anew.

use crate::{Error, Result, hash};
use base64::Engine as _;
use base64::prelude::BASE64_URL_SAFE_NO_PAD;

const VERSION: u8 = 1;
const DESCENDING: u8 = 1;
const WITH_BUCKET: u8 = 2;
/// Bytes in front of the key.
const HEAD_BYTES: usize = 30;
const CHECK_BYTES: usize = 4;

/// The scan that a token belongs to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Scope {
    pub(crate) fingerprint: [u8; 8],
    /// Hash of the table's name.
    pub(crate) table: u64,
    /// Hash of the plan without token.
    pub(crate) query: u64,
    pub(crate) descending: bool,
}

/// The last row of a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Position {
    pub(crate) unsalted: Vec<u8>,
    /// Of a random salt: rows with the same unsalted key come by bucket.
    pub(crate) bucket: Option<u32>,
}

/// A scope and a position in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct PageToken {
    pub(crate) scope: Scope,
    pub(crate) position: Position,
}

impl PageToken {
    pub(crate) fn encode(&self) -> String {
        let mut bytes = Vec::with_capacity(HEAD_BYTES + self.position.unsalted.len() + CHECK_BYTES);
        bytes.push(VERSION);
        let descending = if self.scope.descending { DESCENDING } else { 0 };
        bytes.push(descending | if self.position.bucket.is_some() { WITH_BUCKET } else { 0 });
        bytes.extend_from_slice(&self.scope.fingerprint);
        bytes.extend_from_slice(&self.scope.table.to_le_bytes());
        bytes.extend_from_slice(&self.scope.query.to_le_bytes());
        bytes.extend_from_slice(&self.position.bucket.unwrap_or(0).to_le_bytes());
        bytes.extend_from_slice(&self.position.unsalted);
        bytes.extend_from_slice(&check_of(&bytes));
        BASE64_URL_SAFE_NO_PAD.encode(bytes)
    }

    /// Reads a token of this scope.
    ///
    /// # Errors
    ///
    /// `Invalid` if it is damaged, of an unknown version, or of another table, schema, query or direction.
    pub(crate) fn decode(text: &str, scope: &Scope) -> Result<Position> {
        let token = Self::parse(text).map_err(|what| {
            Error::invalid(format!(
                "the page token {what}; pass it exactly as the last page gave it, or begin without one"
            ))
        })?;
        let what = if token.scope.table != scope.table {
            "of another table"
        } else if token.scope.fingerprint != scope.fingerprint {
            "of another key schema of this table"
        } else if token.scope.descending != scope.descending {
            "of the other direction"
        } else if token.scope.query != scope.query {
            "of another query"
        } else {
            return Ok(token.position);
        };
        Err(Error::invalid(format!(
            "the page token is {what}; repeat the scan that gave it, or begin without one"
        )))
    }

    fn parse(text: &str) -> Result<Self, &'static str> {
        let bytes = BASE64_URL_SAFE_NO_PAD.decode(text.trim()).map_err(|_| "is no base64url text")?;
        if bytes.first().is_some_and(|&version| version != VERSION) {
            return Err("is of a version that this program does not know");
        }
        let (checked, check) = bytes.split_last_chunk::<CHECK_BYTES>().ok_or("is too short")?;
        if check_of(checked) != *check {
            return Err("is damaged");
        }
        let (&[_, flags], rest) = checked.split_first_chunk().ok_or("is too short")?;
        let (&fingerprint, rest) = rest.split_first_chunk().ok_or("is too short")?;
        let (&table, rest) = rest.split_first_chunk().ok_or("is too short")?;
        let (&query, rest) = rest.split_first_chunk().ok_or("is too short")?;
        let (&bucket, unsalted) = rest.split_first_chunk().ok_or("is too short")?;
        let scope = Scope {
            fingerprint,
            table: u64::from_le_bytes(table),
            query: u64::from_le_bytes(query),
            descending: flags & DESCENDING != 0,
        };
        let bucket = (flags & WITH_BUCKET != 0).then_some(u32::from_le_bytes(bucket));
        Ok(Self { scope, position: Position { unsalted: unsalted.to_vec(), bucket } })
    }
}

fn check_of(bytes: &[u8]) -> [u8; CHECK_BYTES] {
    let [a, b, c, d, ..] = hash::fnv1a_64(&[bytes]).to_le_bytes();
    [a, b, c, d]
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn scope() -> Scope {
        Scope { fingerprint: *b"12345678", table: 7, query: 9, descending: false }
    }

    #[test]
    fn a_token_of_another_scan_is_refused_and_says_why() {
        let position = Position { unsalted: b"truck#1".to_vec(), bucket: None };
        let text = PageToken { scope: scope(), position: position.clone() }.encode();
        assert_eq!(PageToken::decode(&text, &scope()).unwrap(), position);
        let refused = |scope: Scope, what: &str| {
            let error = PageToken::decode(&text, &scope).unwrap_err().to_string();
            assert!(error.contains(what), "{error}");
        };
        refused(Scope { table: 8, ..scope() }, "another table");
        refused(Scope { fingerprint: [0; 8], ..scope() }, "another key schema");
        refused(Scope { query: 8, ..scope() }, "another query");
        refused(Scope { descending: true, ..scope() }, "other direction");
    }

    #[test]
    fn damaged_tokens_are_refused() {
        let position = Position { unsalted: b"k".to_vec(), bucket: Some(3) };
        let text = PageToken { scope: scope(), position }.encode();
        let mut bytes = BASE64_URL_SAFE_NO_PAD.decode(&text).unwrap();
        bytes[12] ^= 1;
        let error = PageToken::decode(&BASE64_URL_SAFE_NO_PAD.encode(&bytes), &scope()).unwrap_err();
        assert!(error.to_string().contains("damaged"));
        bytes[0] = 2;
        let error = PageToken::decode(&BASE64_URL_SAFE_NO_PAD.encode(&bytes), &scope()).unwrap_err();
        assert!(error.to_string().contains("version"));
        assert!(PageToken::decode("", &scope()).is_err());
        assert!(PageToken::decode("not base64!", &scope()).is_err());
    }

    proptest! {
        #[test]
        fn tokens_come_back(unsalted: Vec<u8>, bucket: Option<u32>, descending: bool, table: u64, query: u64, fingerprint: [u8; 8]) {
            let scope = Scope { fingerprint, table, query, descending };
            let token = PageToken { scope: scope.clone(), position: Position { unsalted, bucket } };
            prop_assert_eq!(PageToken::decode(&token.encode(), &scope).unwrap(), token.position);
        }

        #[test]
        fn any_text_is_refused_without_a_panic(text: String) {
            prop_assert!(PageToken::decode(&text, &scope()).is_err());
        }
    }
}
