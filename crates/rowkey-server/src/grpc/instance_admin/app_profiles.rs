//! App profiles: kept and shown. Requests may name any profile; all of them are served alike.

use super::clusters::instances;
use crate::catalog::{InstanceName, check_app_profile_id, ids, shown};
use crate::grpc::operations::{self, bad_token, page_size};
use crate::shared::Shared;
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::AppProfile;
use rowkey_proto::admin::app_profile::{Isolation, Priority, RoutingPolicy, StandardIsolation};
use rowkey_proto::longrunning::Operation;
use tonic::Status;

/// App profiles of a page, unless fewer are asked for; ours.
const PAGE_MAX: usize = 1_000;

/// Creates an app profile.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `NOT_FOUND` (instance), `ALREADY_EXISTS`, and those of the engine.
pub(super) fn create(shared: &Shared, request: admin::CreateAppProfileRequest) -> Result<AppProfile, Status> {
    let instance = InstanceName::parse(&request.parent)?;
    check_app_profile_id(&request.app_profile_id)?;
    let wanted = request.app_profile.ok_or_else(|| Status::invalid_argument("no app_profile is given"))?;
    let name = format!("{instance}/appProfiles/{}", request.app_profile_id);
    let mut profile = AppProfile { name, etag: String::new(), ..wanted };
    tidy(&mut profile);
    let _changing = shared.catalog.change();
    shared.catalog.instance_is_known(&instance)?;
    check(shared, &instance, &profile)?;
    if shared.catalog.app_profiles.has(&profile.name) {
        return Err(Status::already_exists(format!(
            "app profile `{}` exists already; take another id",
            profile.name
        )));
    }
    put(shared, &profile)?;
    Ok(profile)
}

/// An app profile.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`.
pub(super) fn get(shared: &Shared, request: &admin::GetAppProfileRequest) -> Result<AppProfile, Status> {
    find(shared, &request.name).map(|(_, profile)| profile)
}

/// The app profiles of an instance, or of all instances of a project (`instances/-`), by name.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`.
pub(super) fn list(
    shared: &Shared,
    request: &admin::ListAppProfilesRequest,
) -> Result<admin::ListAppProfilesResponse, Status> {
    let size = page_size(request.page_size, PAGE_MAX)?;
    let mut found = Vec::new();
    for instance in instances(shared, &request.parent)? {
        found.extend(shared.catalog.app_profiles.list(&format!("{instance}/appProfiles/")));
    }
    if !request.page_token.is_empty() {
        parse(&request.page_token).map_err(|_| bad_token())?;
        found.retain(|(name, _)| *name > request.page_token);
    }
    let next = found.get(size).is_some().then(|| found[size - 1].0.clone());
    found.truncate(size);
    Ok(admin::ListAppProfilesResponse {
        app_profiles: found.into_iter().map(|(_, profile)| profile).collect(),
        next_page_token: next.unwrap_or_default(),
        ..admin::ListAppProfilesResponse::default()
    })
}

/// Replaces the fields of the mask, or all if there is no mask.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn update(shared: &Shared, request: admin::UpdateAppProfileRequest) -> Result<Operation, Status> {
    let wanted = request.app_profile.ok_or_else(|| Status::invalid_argument("no app_profile is given"))?;
    let _changing = shared.catalog.change();
    let (instance, mut profile) = find(shared, &wanted.name)?;
    match request.update_mask {
        None => profile = AppProfile { etag: String::new(), ..wanted },
        Some(mask) if mask.paths.is_empty() => {
            return Err(Status::invalid_argument("update_mask is empty; name the fields to update"));
        }
        Some(mask) => mask.paths.iter().try_for_each(|path| take(path, &wanted, &mut profile))?,
    }
    tidy(&mut profile);
    check(shared, &instance, &profile)?;
    put(shared, &profile)?;
    let metadata = admin::UpdateAppProfileMetadata {};
    let parent = instance.to_string();
    operations::done(shared, &parent, ("UpdateAppProfileMetadata", &metadata), ("AppProfile", &profile))
}

/// Deletes an app profile.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn delete(shared: &Shared, request: &admin::DeleteAppProfileRequest) -> Result<(), Status> {
    let _changing = shared.catalog.change();
    find(shared, &request.name)?;
    shared.catalog.app_profiles.remove(std::slice::from_ref(&request.name)).map_err(|error| status(&error))
}

/// Whether a profile names this cluster.
pub(super) fn needs(profile: &AppProfile, cluster: &str) -> bool {
    clusters_of(profile).contains(&cluster)
}

fn clusters_of(profile: &AppProfile) -> Vec<&str> {
    match &profile.routing_policy {
        Some(RoutingPolicy::SingleClusterRouting(routing)) => vec![&routing.cluster_id],
        Some(RoutingPolicy::MultiClusterRoutingUseAny(routing)) => {
            routing.cluster_ids.iter().map(String::as_str).collect()
        }
        None => Vec::new(),
    }
}

fn parse(name: &str) -> Result<InstanceName, Status> {
    let [project, instance, _] = ids(name, ["projects", "instances", "appProfiles"])?;
    Ok(InstanceName { project: project.to_owned(), instance: instance.to_owned() })
}

fn find(shared: &Shared, name: &str) -> Result<(InstanceName, AppProfile), Status> {
    let instance = parse(name)?;
    shared.catalog.instance_is_known(&instance)?;
    let profile = shared.catalog.app_profiles.get(name);
    let profile =
        profile.ok_or_else(|| Status::not_found(format!("app profile `{}` does not exist", shown(name))))?;
    Ok((instance, profile))
}

fn put(shared: &Shared, profile: &AppProfile) -> Result<(), Status> {
    shared.catalog.app_profiles.put(&profile.name, profile.clone()).map_err(|error| status(&error))
}

/// The deprecated field of the priority stands for the other one (`AppProfile.priority`).
#[expect(deprecated, reason = "this is how it is replaced")]
fn tidy(profile: &mut AppProfile) {
    if let Some(Isolation::Priority(priority)) = profile.isolation {
        profile.isolation = Some(Isolation::StandardIsolation(StandardIsolation { priority }));
    }
}

/// Takes one field of the mask over.
fn take(path: &str, wanted: &AppProfile, profile: &mut AppProfile) -> Result<(), Status> {
    match path {
        "description" => profile.description.clone_from(&wanted.description),
        // It is the server's.
        "etag" => {}
        _ if path == "routing_policy"
            || is_in(path, "single_cluster_routing")
            || is_in(path, "multi_cluster_routing_use_any") =>
        {
            profile.routing_policy.clone_from(&wanted.routing_policy);
        }
        _ if path == "isolation"
            || path == "priority"
            || is_in(path, "standard_isolation")
            || is_in(path, "data_boost_isolation_read_only") =>
        {
            profile.isolation = wanted.isolation;
        }
        path => {
            return Err(Status::invalid_argument(format!(
                "update_mask has `{}`; description, the routing policy and the isolation can be updated",
                shown(path)
            )));
        }
    }
    Ok(())
}

/// Whether a path is a field or one inside it.
fn is_in(path: &str, field: &str) -> bool {
    path.strip_prefix(field).is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
}

fn check(shared: &Shared, instance: &InstanceName, profile: &AppProfile) -> Result<(), Status> {
    let bad = |what: String| Err(Status::invalid_argument(format!("app profile `{}`: {what}", profile.name)));
    if profile.routing_policy.is_none() {
        return bad("it has no routing policy; set multi_cluster_routing_use_any or single_cluster_routing"
            .to_owned());
    }
    for cluster in clusters_of(profile) {
        if shared.catalog.cluster(instance, cluster).is_err() {
            return bad(format!("cluster `{}` is not one of its instance", shown(cluster)));
        }
    }
    match profile.isolation {
        Some(Isolation::StandardIsolation(isolation)) if Priority::try_from(isolation.priority).is_err() => {
            bad(format!("priority {} is not known", isolation.priority))
        }
        _ => Ok(()),
    }
}
