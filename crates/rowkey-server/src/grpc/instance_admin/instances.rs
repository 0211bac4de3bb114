//! Instances.

use super::clusters;
use crate::catalog::{InstanceName, check_instance_id, ids, shown};
use crate::grpc::operations;
use crate::grpc::table_admin::tell;
use crate::shared::Shared;
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::instance::{State, Type};
use rowkey_proto::longrunning::Operation;
use std::collections::HashMap;
use tonic::Status;

/// Labels of an instance (`Instance.labels`).
const LABELS_MAX: usize = 64;
/// Characters of a label's key, and of its value (`Instance.labels`).
const LABEL_CHARS_MAX: usize = 63;

/// Creates an instance and its clusters.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `ALREADY_EXISTS`, and those of the engine.
pub(super) fn create(shared: &Shared, request: admin::CreateInstanceRequest) -> Result<Operation, Status> {
    let request_time = Some(operations::now(shared));
    let [project] = ids(&request.parent, ["projects"])?;
    check_instance_id(&request.instance_id)?;
    let name = InstanceName { project: project.to_owned(), instance: request.instance_id.clone() };
    let wanted = request.instance.clone().ok_or_else(|| Status::invalid_argument("no instance is given"))?;
    if request.clusters.is_empty() {
        return Err(Status::invalid_argument(format!(
            "instance `{name}` has no cluster; it needs at least one"
        )));
    }
    let mut clusters = Vec::with_capacity(request.clusters.len());
    for (id, cluster) in &request.clusters {
        clusters.push(clusters::new(&name, id, cluster.clone())?);
    }
    clusters.sort_by(|a, b| a.name.cmp(&b.name));
    let mut instance = admin::Instance { create_time: request_time, ..admin::Instance::default() };
    take(&wanted, &mut instance, &["display_name", "type", "labels", "edition"])?;
    complete(&name, &mut instance);

    let _changing = shared.catalog.change();
    let key = name.to_string();
    if shared.catalog.is_created(&name) {
        return Err(Status::already_exists(format!("instance `{name}` exists already; take another id")));
    }
    // Those of an instance that was only used make room.
    let implied = shared.catalog.clusters.names(&format!("{key}/clusters/"));
    shared.catalog.clusters.remove(&implied).map_err(|error| status(&error))?;
    for cluster in clusters {
        let key = cluster.name.clone();
        shared.catalog.clusters.put(&key, cluster).map_err(|error| status(&error))?;
    }
    shared.catalog.instances.put(&key, instance.clone()).map_err(|error| status(&error))?;
    let metadata = admin::CreateInstanceMetadata {
        original_request: Some(request),
        request_time,
        finish_time: Some(operations::now(shared)),
    };
    operations::done(shared, &key, ("CreateInstanceMetadata", &metadata), ("Instance", &instance))
}

/// An instance.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`.
pub(super) fn get(shared: &Shared, request: &admin::GetInstanceRequest) -> Result<admin::Instance, Status> {
    shared.catalog.instance(&InstanceName::parse(&request.name)?)
}

/// The instances of a project, by name.
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(super) fn list(
    shared: &Shared,
    request: &admin::ListInstancesRequest,
) -> Result<admin::ListInstancesResponse, Status> {
    let [project] = ids(&request.parent, ["projects"])?;
    let instances = shared.catalog.instances_of(project);
    Ok(admin::ListInstancesResponse { instances, ..admin::ListInstancesResponse::default() })
}

/// Replaces what can be changed of an instance.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn update(shared: &Shared, wanted: &admin::Instance) -> Result<admin::Instance, Status> {
    let name = InstanceName::parse(&wanted.name)?;
    let mut paths = vec!["display_name", "labels"];
    // Unspecified leaves them as they are, says the message's own description.
    paths.extend((wanted.r#type != 0).then_some("type"));
    paths.extend((wanted.edition != 0).then_some("edition"));
    change(shared, &name, wanted, &paths)
}

/// Replaces the fields of the mask.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn partial_update(
    shared: &Shared,
    request: admin::PartialUpdateInstanceRequest,
) -> Result<Operation, Status> {
    let request_time = Some(operations::now(shared));
    let wanted = request.instance.clone().ok_or_else(|| Status::invalid_argument("no instance is given"))?;
    let name = InstanceName::parse(&wanted.name)?;
    let paths: Vec<&str> =
        request.update_mask.iter().flat_map(|mask| &mask.paths).map(String::as_str).collect();
    if paths.is_empty() {
        return Err(Status::invalid_argument("update_mask is empty; name the fields to update"));
    }
    let instance = change(shared, &name, &wanted, &paths)?;
    let metadata = admin::UpdateInstanceMetadata {
        original_request: Some(request),
        request_time,
        finish_time: Some(operations::now(shared)),
    };
    let parent = name.to_string();
    operations::done(shared, &parent, ("UpdateInstanceMetadata", &metadata), ("Instance", &instance))
}

/// Deletes an instance with everything in it.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`; `FAILED_PRECONDITION` if it has a protected table.
pub(super) fn delete(shared: &Shared, request: &admin::DeleteInstanceRequest) -> Result<(), Status> {
    let name = InstanceName::parse(&request.name)?;
    shared.catalog.delete_instance(&name, &|change| tell(shared, change))
}

fn change(
    shared: &Shared,
    name: &InstanceName,
    wanted: &admin::Instance,
    paths: &[&str],
) -> Result<admin::Instance, Status> {
    let _changing = shared.catalog.change();
    let mut instance = shared.catalog.instance(name)?;
    let before = instance.r#type;
    take(wanted, &mut instance, paths)?;
    if before == i32::from(Type::Production) && instance.r#type == i32::from(Type::Development) {
        return Err(Status::invalid_argument(format!(
            "instance `{name}` is for production; it cannot become one for development"
        )));
    }
    complete(name, &mut instance);
    shared.catalog.instances.put(&name.to_string(), instance.clone()).map_err(|error| status(&error))?;
    Ok(instance)
}

/// Takes fields over.
fn take(wanted: &admin::Instance, instance: &mut admin::Instance, paths: &[&str]) -> Result<(), Status> {
    for path in paths {
        match *path {
            "display_name" => instance.display_name.clone_from(&wanted.display_name),
            "type" | "type_" => match Type::try_from(wanted.r#type) {
                Ok(Type::Unspecified) => {}
                Ok(kind) => instance.r#type = kind.into(),
                Err(_) => return Err(unknown("type", wanted.r#type)),
            },
            "edition" => match admin::instance::Edition::try_from(wanted.edition) {
                Ok(edition) => instance.edition = edition.into(),
                Err(_) => return Err(unknown("edition", wanted.edition)),
            },
            "labels" => {
                check_labels(&wanted.labels)?;
                instance.labels.clone_from(&wanted.labels);
            }
            path => {
                return Err(Status::invalid_argument(format!(
                    "update_mask has `{}`; display_name, type, labels and edition can be updated",
                    shown(path)
                )));
            }
        }
    }
    Ok(())
}

fn unknown(what: &str, number: i32) -> Status {
    Status::invalid_argument(format!("{what} {number} of an instance is not known"))
}

/// What an instance is, whatever was said.
fn complete(name: &InstanceName, instance: &mut admin::Instance) {
    instance.name = name.to_string();
    instance.state = State::Ready.into();
    if instance.display_name.is_empty() {
        instance.display_name.clone_from(&name.instance);
    }
    if instance.r#type == i32::from(Type::Unspecified) {
        instance.r#type = Type::Production.into();
    }
}

fn check_labels(labels: &HashMap<String, String>) -> Result<(), Status> {
    if labels.len() > LABELS_MAX {
        return Err(Status::invalid_argument(format!(
            "{} labels; the limit is {LABELS_MAX} of one instance",
            labels.len()
        )));
    }
    let inner = |c: char| c.is_lowercase() || c.is_numeric() || c == '_' || c == '-' || is_caseless(c);
    let fits =
        |text: &str| text.chars().count() <= LABEL_CHARS_MAX && text.len() < 128 && text.chars().all(inner);
    let begins = |key: &str| key.starts_with(|c: char| c.is_lowercase() || is_caseless(c));
    let mut bad: Vec<&String> = labels
        .iter()
        .filter(|(key, value)| !begins(key) || !fits(key) || !fits(value))
        .map(|(key, _)| key)
        .collect();
    bad.sort();
    bad.first().map_or(Ok(()), |key| {
        Err(Status::invalid_argument(format!(
            "label `{}`: keys and values have at most {LABEL_CHARS_MAX} lower-case letters, digits, `_` and `-`, and a key begins with a \
             letter",
            shown(key)
        )))
    })
}

/// A letter of a script that knows no upper and lower case.
fn is_caseless(c: char) -> bool {
    c.is_alphabetic() && !c.is_uppercase() && !c.is_lowercase()
}
