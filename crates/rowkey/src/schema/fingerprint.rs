//! The fingerprint: XXH3-64 of a canonical form of all that decides the bytes of a key.
//!
//! ```text
//! | "rowkey-1" | parts | salt |        docs/formats/fingerprint.md says every byte
//! ```
//!
//! It must never change for a released schema: it is kept with every table. The vectors below are append-only.

use super::{
    Field, FieldKind, Hash, IsoForm, KeySchema, Order, Part, Salt, SaltFormat, SaltSource, TimeUnit,
};
use crate::{Error, ErrorKind};
use std::fmt;
use std::str::FromStr;

/// Two schemas with one fingerprint put every record under the same stored key, and take the same records.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Fingerprint(pub u64);

impl fmt::Display for Fingerprint {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:016x}", self.0)
    }
}

impl FromStr for Fingerprint {
    type Err = Error;

    fn from_str(text: &str) -> Result<Self, Error> {
        let digits = text.len() == 16 && text.bytes().all(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f'));
        let number = digits.then(|| u64::from_str_radix(text, 16).ok()).flatten();
        number.map(Fingerprint).ok_or_else(|| {
            Error::new(
                ErrorKind::Value,
                format!("{text:?} is not a fingerprint, which is 16 lower-case hex digits"),
            )
        })
    }
}

impl KeySchema {
    /// The fingerprint of the key design. The table's name, families, queries and the order of `values` are not in it: they do not
    /// change a stored byte. The names of fields are: a record is written by name.
    pub fn fingerprint(&self) -> Fingerprint {
        Fingerprint(twox_hash::XxHash3_64::oneshot(&self.canonical_form()))
    }

    /// The bytes that the fingerprint is a hash of.
    fn canonical_form(&self) -> Vec<u8> {
        let mut out = b"rowkey-1".to_vec();
        count(&mut out, self.parts.len());
        for part in &self.parts {
            match part {
                Part::Salt => out.push(0),
                Part::Literal(literal) => {
                    out.push(1);
                    bytes(&mut out, literal);
                }
                Part::Field(index) => {
                    out.push(2);
                    field(&mut out, &self.fields[*index]);
                }
            }
        }
        match &self.salt {
            None => out.push(0),
            Some(design) => {
                out.push(1);
                salt(&mut out, design);
            }
        }
        out
    }
}

fn count(out: &mut Vec<u8>, number: usize) {
    let number = u32::try_from(number).expect("a schema file is shorter than 4 GiB");
    out.extend_from_slice(&number.to_be_bytes());
}

fn bytes(out: &mut Vec<u8>, content: &[u8]) {
    count(out, content.len());
    out.extend_from_slice(content);
}

fn field(out: &mut Vec<u8>, field: &Field) {
    bytes(out, field.name.as_bytes());
    kind(out, &field.kind);
    out.push(match field.order {
        Order::Asc => 0,
        Order::Desc => 1,
    });
    let mut values: Vec<&[u8]> = field.values.iter().map(String::as_bytes).collect();
    values.sort_unstable();
    count(out, values.len());
    for value in values {
        bytes(out, value);
    }
}

fn kind(out: &mut Vec<u8>, kind: &FieldKind) {
    match *kind {
        FieldKind::String => out.push(0x01),
        FieldKind::Uint { digits } => out.extend([0x02, digits]),
        FieldKind::UintReversed { digits } => out.extend([0x03, digits]),
        FieldKind::Int { digits } => out.extend([0x04, digits]),
        FieldKind::Hex { digits } => {
            out.push(0x05);
            out.extend(digits.to_be_bytes());
        }
        FieldKind::EpochDigits { unit: of, digits } => out.extend([0x06, unit(of), digits]),
        FieldKind::Iso { form, unit: of } => out.extend([0x07, iso_form(form), unit(of)]),
        FieldKind::Domain { separator } => out.extend([0x08, separator]),
        FieldKind::UuidText => out.push(0x09),
        FieldKind::BeUint { bytes } => out.extend([0x0a, bytes]),
        FieldKind::BeInt { bytes } => out.extend([0x0b, bytes]),
        FieldKind::BeFloat => out.push(0x0c),
        FieldKind::EscapedBytes => out.push(0x0d),
        FieldKind::EscapedText => out.push(0x0e),
        FieldKind::Fixed { bytes } => {
            out.push(0x0f);
            out.extend(bytes.to_be_bytes());
        }
        FieldKind::BeTime { unit: of } => out.extend([0x10, unit(of)]),
        FieldKind::UuidBytes => out.push(0x11),
    }
}

fn unit(unit: TimeUnit) -> u8 {
    match unit {
        TimeUnit::Seconds => 0,
        TimeUnit::Millis => 1,
        TimeUnit::Micros => 2,
        TimeUnit::Nanos => 3,
    }
}

fn iso_form(form: IsoForm) -> u8 {
    match form {
        IsoForm::Basic => 0,
        IsoForm::Extended => 1,
        IsoForm::DateBasic => 2,
        IsoForm::DateExtended => 3,
    }
}

fn salt(out: &mut Vec<u8>, salt: &Salt) {
    count(out, salt.of.len());
    for index in &salt.of {
        count(out, *index);
    }
    match salt.source {
        SaltSource::Hash(of) => {
            out.push(0);
            hash(out, of);
        }
        SaltSource::Modulo => out.push(1),
        SaltSource::HashPrefix { hash: of, bytes } => {
            out.push(2);
            // A prefix takes bytes of the digest, whatever number of digits the modulo form would take.
            hash(out, if matches!(of, Hash::Md5Hex { .. }) { Hash::Md5Hex { digits: 0 } } else { of });
            out.push(bytes);
        }
        SaltSource::Random => out.push(3),
    }
    match salt.format {
        SaltFormat::Digits { width } => out.extend([0, width]),
        SaltFormat::Hex { width } => out.extend([1, width]),
        SaltFormat::Bytes { width } => out.extend([2, width]),
    }
    out.extend_from_slice(&salt.buckets.to_be_bytes());
}

fn hash(out: &mut Vec<u8>, hash: Hash) {
    match hash {
        Hash::Xxh3 => out.push(0x00),
        Hash::Md5Hex { digits } => out.extend([0x01, digits]),
        Hash::Crc32 => out.push(0x02),
        Hash::Murmur3 => out.push(0x03),
        Hash::Fnv1 => out.push(0x04),
        Hash::Fnv1a => out.push(0x05),
        Hash::JavaString => out.push(0x06),
        Hash::Phoenix => out.push(0x07),
        Hash::HbaseWd => out.push(0x08),
        Hash::OpenTsdb => out.push(0x09),
        Hash::CockroachDb => out.push(0x0a),
    }
}
