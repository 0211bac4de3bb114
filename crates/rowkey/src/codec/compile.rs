//! From schema to codec. `KeySchema::parse` refuses the same mistakes with their place in the file; here they are caught in schemas
//! that were built by hand.

use super::step::{Close, Step};
use super::{Inner, quick};
use crate::escape::escaped;
use crate::salt::SaltPlan;
use crate::schema::{Field, FieldKind, Hash, KeySchema, Order, Part, SaltSource};
use crate::{Error, ErrorKind, Result, encode};

/// A schema that cannot be compiled.
pub(crate) fn design_error(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Schema { line: 1, column: 1 }, message)
}

pub(super) fn compile(schema: KeySchema) -> Result<Inner> {
    let (lead, literals) = literals(&schema)?;
    let salt = schema.salt.as_ref().map(|salt| SaltPlan::new(&schema, salt)).transpose()?;
    let mut steps = Vec::with_capacity(schema.fields.len());
    for (at, (field, literal)) in schema.fields.iter().zip(literals).enumerate() {
        let last = at + 1 == schema.fields.len();
        let mut step = step(field, literal, last).map_err(|error| error.in_field(&field.name))?;
        if let Some(salt) = &salt {
            for run in &salt.runs {
                step.opens_run |= run.first == at;
                if run.last == at {
                    step.closes_run = if run.closed { Close::BehindLiteral } else { Close::BehindField };
                }
            }
        }
        steps.push(step);
    }
    if let Some(salt) = &salt {
        check_java_literals(salt, &steps)?;
    }
    let quick = quick::plan(salt.as_ref(), &lead, &steps);
    Ok(Inner { schema, salt, lead: lead.into(), steps: steps.into(), quick })
}

/// `java-string` hashes text: the literals between its fields are part of it.
fn check_java_literals(salt: &SaltPlan, steps: &[Step]) -> Result<()> {
    let java = matches!(
        salt.source,
        SaltSource::Hash(Hash::JavaString) | SaltSource::HashPrefix { hash: Hash::JavaString, .. }
    );
    let hashed = salt.runs.iter().flat_map(|run| run.first..run.last + usize::from(run.closed));
    let binary = hashed.filter_map(|at| steps.get(at)).find(|step| str::from_utf8(&step.literal).is_err());
    match binary {
        Some(step) if java => Err(design_error(format!(
            "`java-string` hashes text, and the literal `{}` between its fields is not UTF-8",
            escaped(&step.literal)
        ))),
        _ => Ok(()),
    }
}

/// The literal before the first field, and those behind each field.
fn literals(schema: &KeySchema) -> Result<(Vec<u8>, Vec<Vec<u8>>)> {
    let mut lead = Vec::new();
    let mut literals: Vec<Vec<u8>> = Vec::new();
    for (at, part) in schema.parts.iter().enumerate() {
        match part {
            Part::Salt if at == 0 && schema.salt.is_some() => {}
            Part::Salt => {
                return Err(design_error("`{salt}` stands first in the layout, once, and is declared"));
            }
            Part::Literal(bytes) => literals.last_mut().unwrap_or(&mut lead).extend_from_slice(bytes),
            Part::Field(index) if *index == literals.len() => literals.push(Vec::new()),
            Part::Field(_) => return Err(design_error("fields are declared in the order of the layout")),
        }
    }
    if literals.len() != schema.fields.len() || literals.is_empty() {
        return Err(design_error("the layout has every declared field once, and at least one"));
    }
    if schema.salt.is_some() != (schema.parts.first() == Some(&Part::Salt)) {
        return Err(design_error("a declared salt stands first in the layout"));
    }
    Ok((lead, literals))
}

fn step(field: &Field, literal: Vec<u8>, last: bool) -> Result<Step> {
    let kind = field.kind.clone();
    check_kind(&kind)?;
    if field.order == Order::Desc && !kind.can_descend() {
        let message =
            format!("a `{}` field in this encoding sorts ascending only: use a binary encoding", kind.name());
        return Err(design_error(message));
    }
    let delimiter = if kind.needs_delimiter() { literal.first().copied() } else { None };
    if kind.needs_delimiter() && delimiter.is_none() && !last {
        return Err(design_error(format!(
            "a `{}` field has no fixed width: put a literal behind it, or make it the last",
            kind.name()
        )));
    }
    if let (FieldKind::Domain { separator }, Some(delimiter)) = (&kind, delimiter)
        && *separator <= delimiter
    {
        return Err(design_error(
            "the separator of a domain must be greater than the literal behind the field",
        ));
    }
    let mut step = Step {
        kind,
        order: field.order,
        literal: literal.into(),
        delimiter,
        allowed: Box::default(),
        opens_run: false,
        closes_run: Close::No,
    };
    let mut allowed: Vec<Box<[u8]>> = Vec::with_capacity(field.values.len());
    for text in &field.values {
        let mut bytes = Vec::new();
        let encoded = encode::parse_value(&step.kind, text).and_then(|value| step.encode(&value, &mut bytes));
        encoded.map_err(|error| design_error(format!("the value `{text}`: {}", error.message())))?;
        allowed.push(bytes.into());
    }
    allowed.sort();
    allowed.dedup();
    step.allowed = allowed.into();
    Ok(step)
}

fn check_kind(kind: &FieldKind) -> Result<()> {
    let (width, allowed) = match *kind {
        FieldKind::Uint { digits } | FieldKind::UintReversed { digits } => (u16::from(digits), 1..=20),
        FieldKind::Int { digits } => (u16::from(digits), 1..=18),
        FieldKind::EpochDigits { digits, .. } => (u16::from(digits), 1..=19),
        FieldKind::Hex { digits } => (digits, 1..=512),
        FieldKind::Fixed { bytes } => (bytes, 1..=4096),
        FieldKind::BeUint { bytes } | FieldKind::BeInt { bytes } => {
            return if matches!(bytes, 1 | 2 | 4 | 8) {
                Ok(())
            } else {
                Err(design_error(format!("an integer is 1, 2, 4 or 8 bytes wide, not {bytes}")))
            };
        }
        FieldKind::Domain { separator } => {
            return if matches!(separator, b',' | b'.' | 0) {
                Ok(())
            } else {
                Err(design_error("the separator of a domain is `,`, `.` or `\\x00`"))
            };
        }
        _ => return Ok(()),
    };
    if allowed.contains(&width) {
        return Ok(());
    }
    let (min, max) = allowed.into_inner();
    Err(design_error(format!("a `{}` field is {min} to {max} wide, not {width}", kind.name())))
}
