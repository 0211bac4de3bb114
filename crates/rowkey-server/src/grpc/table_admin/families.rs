//! `ModifyColumnFamilies`: in order, all or nothing.

use super::{existing, view};
use crate::catalog::TableName;
use crate::shared::Shared;
use rowkey_bigtable::convert::{family_from_proto, gc_rule_from_proto, value_type_from_proto};
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::modify_column_families_request::Modification;
use rowkey_proto::admin::modify_column_families_request::modification::Mod;
use rowkey_store::{Error, FamilyChange, TableConfig, ValueType};
use std::collections::BTreeMap;
use tonic::Status;

/// Changes families, and answers with the table's schema.
///
/// # Errors
///
/// `NOT_FOUND`, `ALREADY_EXISTS`, `FAILED_PRECONDITION` (protected table), `INVALID_ARGUMENT`. Then nothing is changed.
pub(super) fn modify(
    shared: &Shared,
    request: &admin::ModifyColumnFamiliesRequest,
) -> Result<admin::Table, Status> {
    let name = TableName::parse(&request.name)?;
    // Nobody else changes families between the look at value types and the change.
    let _changing = shared.catalog.change();
    let (engine, config) = existing(shared, &name)?;
    if request.modifications.is_empty() {
        return Err(Status::invalid_argument(format!(
            "no modifications of families of table `{name}` are given"
        )));
    }
    let changes = changes(&config, &request.modifications)?;
    let config = if changes.is_empty() {
        config
    } else {
        shared.engine.modify_families(&engine, &changes).map_err(|error| status(&error))?
    };
    Ok(view::message(shared, &name, &config, view::SCHEMA))
}

/// The changes in words of the engine. Those of a value type, which must be what it is, come to nothing.
fn changes(config: &TableConfig, modifications: &[Modification]) -> Result<Vec<FamilyChange>, Status> {
    let mut types: BTreeMap<&str, ValueType> =
        config.families.iter().map(|family| (family.name.as_str(), family.value_type)).collect();
    let mut changes = Vec::with_capacity(modifications.len());
    for modification in modifications {
        let id = modification.id.as_str();
        let in_family = |error: Error| status(&error.context(format!("family `{id}`")));
        match &modification.r#mod {
            Some(Mod::Create(family)) => {
                let family = family_from_proto(id, family).map_err(|error| status(&error))?;
                types.insert(id, family.value_type);
                changes.push(FamilyChange::Create(family));
            }
            Some(Mod::Update(family)) => {
                let mask = masked(modification)?;
                if mask.value_type {
                    let wanted = value_type_from_proto(family.value_type.as_ref()).map_err(in_family)?;
                    same_type(id, types.get(id).copied(), wanted)?;
                }
                if mask.gc_rule {
                    let gc_rule = family.gc_rule.as_ref().map(gc_rule_from_proto).transpose();
                    let gc_rule = gc_rule.map_err(in_family)?.flatten();
                    changes.push(FamilyChange::SetGcRule { family: id.to_owned(), gc_rule });
                }
            }
            Some(Mod::Drop(true)) => {
                types.remove(id);
                changes.push(FamilyChange::Drop { family: id.to_owned() });
            }
            Some(Mod::Drop(false)) => {
                return Err(Status::invalid_argument(format!("family `{id}`: drop is false; leave it out")));
            }
            None => {
                return Err(Status::invalid_argument(format!(
                    "family `{id}`: the modification says nothing; set create, update or drop"
                )));
            }
        }
    }
    Ok(changes)
}

/// What an update is about.
struct Mask {
    gc_rule: bool,
    value_type: bool,
}

/// The fields that a mask names; none is `gc_rule` alone, as it was before there were masks.
fn masked(modification: &Modification) -> Result<Mask, Status> {
    let paths = modification.update_mask.as_ref().map_or(&[][..], |mask| &mask.paths);
    let mut mask = Mask { gc_rule: paths.is_empty(), value_type: false };
    for path in paths {
        match path.as_str() {
            "gc_rule" => mask.gc_rule = true,
            "value_type" => mask.value_type = true,
            path => {
                return Err(Status::invalid_argument(format!(
                    "family `{}`: update_mask has `{}`; gc_rule and value_type can be updated",
                    modification.id,
                    crate::catalog::shown(path)
                )));
            }
        }
    }
    Ok(mask)
}

fn same_type(id: &str, known: Option<ValueType>, wanted: ValueType) -> Result<(), Status> {
    match known {
        Some(known) if known == wanted => Ok(()),
        Some(_) => Err(Status::invalid_argument(format!(
            "family `{id}`: the value type is fixed when a family is created; create another family"
        ))),
        None => {
            Err(Status::not_found(format!("Requested column family not found: `{id}`; nothing was changed")))
        }
    }
}
