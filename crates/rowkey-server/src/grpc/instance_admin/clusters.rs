//! Clusters: numbers of nodes and where they would be. All of them are this process.

use crate::catalog::{InstanceName, check_cluster_id, ids, ids_or_all, shown};
use crate::grpc::operations;
use crate::shared::Shared;
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::cluster::{
    ClusterAutoscalingConfig, ClusterConfig, Config, NodeScalingFactor, State,
};
use rowkey_proto::admin::{AutoscalingLimits, AutoscalingTargets, StorageType};
use rowkey_proto::longrunning::Operation;
use tonic::Status;

/// A new cluster, checked.
///
/// # Errors
///
/// `INVALID_ARGUMENT`.
pub(super) fn new(
    instance: &InstanceName,
    id: &str,
    wanted: admin::Cluster,
) -> Result<admin::Cluster, Status> {
    check_cluster_id(id)?;
    let storage = StorageType::try_from(wanted.default_storage_type).map_err(|_| {
        Status::invalid_argument(format!("storage type {} is not known", wanted.default_storage_type))
    })?;
    let storage = if storage == StorageType::Unspecified { StorageType::Ssd } else { storage };
    let mut cluster = admin::Cluster {
        name: format!("{instance}/clusters/{id}"),
        state: State::Ready.into(),
        default_storage_type: storage.into(),
        ..wanted
    };
    if cluster.serve_nodes == 0 {
        // As many as it would begin with; a development instance has one.
        cluster.serve_nodes = autoscaling(&cluster)
            .and_then(|config| config.autoscaling_limits)
            .map_or(1, |limits| limits.min_serve_nodes);
    }
    check(&cluster)?;
    Ok(cluster)
}

/// Creates a cluster.
///
/// # Errors
///
/// `INVALID_ARGUMENT`, `NOT_FOUND` (instance), `ALREADY_EXISTS`, and those of the engine.
pub(super) fn create(shared: &Shared, request: admin::CreateClusterRequest) -> Result<Operation, Status> {
    let request_time = Some(operations::now(shared));
    let instance = InstanceName::parse(&request.parent)?;
    let wanted = request.cluster.clone().ok_or_else(|| Status::invalid_argument("no cluster is given"))?;
    let cluster = new(&instance, &request.cluster_id, wanted)?;
    let _changing = shared.catalog.change();
    shared.catalog.instance_is_known(&instance)?;
    if shared.catalog.clusters.has(&cluster.name) {
        return Err(Status::already_exists(format!(
            "cluster `{}` exists already; take another id",
            cluster.name
        )));
    }
    put(shared, &cluster)?;
    let metadata = admin::CreateClusterMetadata {
        original_request: Some(request),
        request_time,
        finish_time: Some(operations::now(shared)),
        ..admin::CreateClusterMetadata::default()
    };
    let parent = instance.to_string();
    operations::done(shared, &parent, ("CreateClusterMetadata", &metadata), ("Cluster", &cluster))
}

/// A cluster.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`.
pub(super) fn get(shared: &Shared, request: &admin::GetClusterRequest) -> Result<admin::Cluster, Status> {
    let (instance, id) = parse(&request.name)?;
    shared.catalog.cluster(&instance, &id)
}

/// The clusters of an instance, or of all instances of a project (`instances/-`), by name.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`.
pub(super) fn list(
    shared: &Shared,
    request: &admin::ListClustersRequest,
) -> Result<admin::ListClustersResponse, Status> {
    let mut clusters = Vec::new();
    for instance in instances(shared, &request.parent)? {
        clusters.extend(shared.catalog.clusters_of(&instance));
    }
    Ok(admin::ListClustersResponse { clusters, ..admin::ListClustersResponse::default() })
}

/// The instances that the parent of a list means: one that exists, or all of a project.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`.
pub(super) fn instances(shared: &Shared, parent: &str) -> Result<Vec<InstanceName>, Status> {
    match ids_or_all(parent, ["projects", "instances"])? {
        [project, "-"] if project != "-" => {
            let all = shared.catalog.instances_of(project);
            all.iter().map(|instance| InstanceName::parse(&instance.name)).collect()
        }
        _ => {
            let instance = InstanceName::parse(parent)?;
            shared.catalog.instance_is_known(&instance)?;
            Ok(vec![instance])
        }
    }
}

/// Sets the number of nodes, which ends autoscaling; the rest of a cluster cannot be changed this way.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn update(shared: &Shared, wanted: admin::Cluster) -> Result<Operation, Status> {
    let request_time = Some(operations::now(shared));
    let cluster = change(shared, &wanted.name, |cluster| {
        cluster.serve_nodes = wanted.serve_nodes;
        if wanted.config.is_none() {
            cluster.config = None;
        }
        Ok(())
    })?;
    let metadata = admin::UpdateClusterMetadata {
        original_request: Some(wanted),
        request_time,
        finish_time: Some(operations::now(shared)),
    };
    let parent = parse(&cluster.name)?.0.to_string();
    operations::done(shared, &parent, ("UpdateClusterMetadata", &metadata), ("Cluster", &cluster))
}

/// Replaces the fields of the mask.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn partial_update(
    shared: &Shared,
    request: admin::PartialUpdateClusterRequest,
) -> Result<Operation, Status> {
    let request_time = Some(operations::now(shared));
    let wanted = request.cluster.clone().ok_or_else(|| Status::invalid_argument("no cluster is given"))?;
    let paths: Vec<&str> =
        request.update_mask.iter().flat_map(|mask| &mask.paths).map(String::as_str).collect();
    if paths.is_empty() {
        return Err(Status::invalid_argument("update_mask is empty; name the fields to update"));
    }
    let cluster = change(shared, &wanted.name, |cluster| {
        paths.iter().try_for_each(|path| take(path, &wanted, cluster))
    })?;
    let metadata = admin::PartialUpdateClusterMetadata {
        original_request: Some(request),
        request_time,
        finish_time: Some(operations::now(shared)),
    };
    let parent = parse(&cluster.name)?.0.to_string();
    operations::done(shared, &parent, ("PartialUpdateClusterMetadata", &metadata), ("Cluster", &cluster))
}

/// Deletes a cluster, if it is not the last one and no app profile needs it.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, `FAILED_PRECONDITION`, and those of the engine.
pub(super) fn delete(shared: &Shared, request: &admin::DeleteClusterRequest) -> Result<(), Status> {
    let (instance, id) = parse(&request.name)?;
    let _changing = shared.catalog.change();
    shared.catalog.cluster(&instance, &id)?;
    if shared.catalog.clusters.names(&format!("{instance}/clusters/")).len() <= 1 {
        return Err(Status::failed_precondition(format!(
            "cluster `{}` is the last one of its instance; delete the instance",
            request.name
        )));
    }
    let needed = shared.catalog.app_profiles.list(&format!("{instance}/appProfiles/"));
    if let Some((profile, _)) = needed.iter().find(|(_, profile)| super::app_profiles::needs(profile, &id)) {
        return Err(Status::failed_precondition(format!(
            "cluster `{}` is needed by app profile `{profile}`; change or delete the profile first",
            request.name
        )));
    }
    shared.catalog.clusters.remove(std::slice::from_ref(&request.name)).map_err(|error| status(&error))
}

fn parse(name: &str) -> Result<(InstanceName, String), Status> {
    let [project, instance, cluster] = ids(name, ["projects", "instances", "clusters"])?;
    let instance = InstanceName { project: project.to_owned(), instance: instance.to_owned() };
    Ok((instance, cluster.to_owned()))
}

fn change(
    shared: &Shared,
    name: &str,
    change: impl FnOnce(&mut admin::Cluster) -> Result<(), Status>,
) -> Result<admin::Cluster, Status> {
    let (instance, id) = parse(name)?;
    let _changing = shared.catalog.change();
    let mut cluster = shared.catalog.cluster(&instance, &id)?;
    change(&mut cluster)?;
    check(&cluster)?;
    put(shared, &cluster)?;
    Ok(cluster)
}

fn put(shared: &Shared, cluster: &admin::Cluster) -> Result<(), Status> {
    shared.catalog.clusters.put(&cluster.name, cluster.clone()).map_err(|error| status(&error))
}

fn autoscaling(cluster: &admin::Cluster) -> Option<ClusterAutoscalingConfig> {
    match &cluster.config {
        Some(Config::ClusterConfig(config)) => config.cluster_autoscaling_config,
        None => None,
    }
}

/// Takes one field of the mask over.
fn take(path: &str, wanted: &admin::Cluster, cluster: &mut admin::Cluster) -> Result<(), Status> {
    const AUTOSCALING: &str = "cluster_config.cluster_autoscaling_config";
    let fields = match path {
        "serve_nodes" => {
            cluster.serve_nodes = wanted.serve_nodes;
            return Ok(());
        }
        "cluster_config" => "",
        _ => path.strip_prefix(AUTOSCALING).ok_or_else(|| bad_path(path))?,
    };
    let new = autoscaling(wanted);
    if fields.is_empty() {
        let cluster_autoscaling_config = new;
        cluster.config = new.map(|_| Config::ClusterConfig(ClusterConfig { cluster_autoscaling_config }));
        return Ok(());
    }
    let new = new.unwrap_or_default();
    let (new_limits, new_targets) =
        (new.autoscaling_limits.unwrap_or_default(), new.autoscaling_targets.unwrap_or_default());
    let mut config = autoscaling(cluster).unwrap_or_default();
    let limits = config.autoscaling_limits.get_or_insert_default();
    let targets = config.autoscaling_targets.get_or_insert_default();
    match fields {
        ".autoscaling_limits" => *limits = new_limits,
        ".autoscaling_limits.min_serve_nodes" => limits.min_serve_nodes = new_limits.min_serve_nodes,
        ".autoscaling_limits.max_serve_nodes" => limits.max_serve_nodes = new_limits.max_serve_nodes,
        ".autoscaling_targets" => *targets = new_targets,
        ".autoscaling_targets.cpu_utilization_percent" => {
            targets.cpu_utilization_percent = new_targets.cpu_utilization_percent;
        }
        ".autoscaling_targets.storage_utilization_gib_per_node" => {
            targets.storage_utilization_gib_per_node = new_targets.storage_utilization_gib_per_node;
        }
        _ => return Err(bad_path(path)),
    }
    cluster.config = Some(Config::ClusterConfig(ClusterConfig { cluster_autoscaling_config: Some(config) }));
    Ok(())
}

fn bad_path(path: &str) -> Status {
    Status::invalid_argument(format!(
        "update_mask has `{}`; serve_nodes and cluster_config.cluster_autoscaling_config with its fields can be updated",
        shown(path)
    ))
}

/// Refuses numbers that Bigtable refuses: the limits are those of `Cluster`, `AutoscalingLimits` and `AutoscalingTargets`.
fn check(cluster: &admin::Cluster) -> Result<(), Status> {
    let bad = |what: String| Err(Status::invalid_argument(format!("cluster `{}`: {what}", cluster.name)));
    let nodes = cluster.serve_nodes;
    if nodes < 1 {
        return bad(format!("serve_nodes is {nodes}; the least is 1"));
    }
    let by_two = cluster.node_scaling_factor == i32::from(NodeScalingFactor::NodeScalingFactor2x);
    if by_two && nodes % 2 != 0 {
        return bad(format!("serve_nodes is {nodes}; with a scaling factor of 2 it must be even"));
    }
    let Some(config) = autoscaling(cluster) else { return Ok(()) };
    let AutoscalingLimits { min_serve_nodes: min, max_serve_nodes: max } =
        config.autoscaling_limits.unwrap_or_default();
    if min < 1 || max < min {
        return bad(format!(
            "autoscaling between {min} and {max} nodes; at least 1, and no more than the maximum"
        ));
    }
    if by_two && (min % 2 != 0 || max % 2 != 0) {
        return bad("with a scaling factor of 2 the limits of autoscaling must be even".to_owned());
    }
    let AutoscalingTargets { cpu_utilization_percent: cpu, storage_utilization_gib_per_node: storage } =
        config.autoscaling_targets.unwrap_or_default();
    if !(10..=80).contains(&cpu) {
        return bad(format!("cpu_utilization_percent is {cpu}; it must be between 10 and 80"));
    }
    let is_hdd = cluster.default_storage_type == i32::from(StorageType::Hdd);
    let range = if is_hdd { 8_192..=16_384 } else { 2_560..=5_120 };
    if storage != 0 && !range.contains(&storage) {
        return bad(format!(
            "storage_utilization_gib_per_node is {storage}; it must be between {} and {}",
            range.start(),
            range.end()
        ));
    }
    Ok(())
}
