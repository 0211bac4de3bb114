//! Instances, clusters and app profiles.

use super::*;
use rowkey_proto::admin::app_profile::{
    Isolation, MultiClusterRoutingUseAny, RoutingPolicy, SingleClusterRouting, StandardIsolation,
};
use rowkey_proto::admin::cluster::{ClusterAutoscalingConfig, ClusterConfig, Config};
use rowkey_proto::admin::{AppProfile, Cluster, Instance, StorageType, instance};

const CREATED: &str = "projects/p/instances/instance-1";

fn cluster(serve_nodes: i32) -> Cluster {
    Cluster { location: "projects/p/locations/us-central1-c".to_owned(), serve_nodes, ..Cluster::default() }
}

fn autoscaled(min: i32, max: i32, cpu: i32) -> Cluster {
    let config = ClusterAutoscalingConfig {
        autoscaling_limits: Some(admin::AutoscalingLimits { min_serve_nodes: min, max_serve_nodes: max }),
        autoscaling_targets: Some(admin::AutoscalingTargets {
            cpu_utilization_percent: cpu,
            storage_utilization_gib_per_node: 0,
        }),
    };
    let config = ClusterConfig { cluster_autoscaling_config: Some(config) };
    Cluster { config: Some(Config::ClusterConfig(config)), ..cluster(0) }
}

fn create(
    client: &Client,
    id: &str,
    instance: Instance,
    clusters: &[(&str, Cluster)],
) -> Result<Operation, Status> {
    let request = admin::CreateInstanceRequest {
        parent: "projects/p".to_owned(),
        instance_id: id.to_owned(),
        instance: Some(instance),
        clusters: clusters.iter().map(|(id, cluster)| ((*id).to_owned(), cluster.clone())).collect(),
    };
    client.call(client.instances.clone().create_instance(request))
}

fn create_one(client: &Client) {
    create(client, "instance-1", Instance::default(), &[("cluster-1", cluster(3))]).unwrap();
}

fn get(client: &Client, name: &str) -> Result<Instance, Status> {
    let request = admin::GetInstanceRequest { name: name.to_owned() };
    client.call(client.instances.clone().get_instance(request))
}

fn get_cluster(client: &Client, name: &str) -> Result<Cluster, Status> {
    let request = admin::GetClusterRequest { name: name.to_owned() };
    client.call(client.instances.clone().get_cluster(request))
}

fn clusters(client: &Client, parent: &str) -> Vec<String> {
    let request = admin::ListClustersRequest { parent: parent.to_owned(), ..Default::default() };
    let found = client.call(client.instances.clone().list_clusters(request)).unwrap();
    assert_eq!(found.failed_locations, [""; 0]);
    found.clusters.into_iter().map(|cluster| cluster.name).collect()
}

fn delete_instance(client: &Client, name: &str) -> Result<(), Status> {
    let request = admin::DeleteInstanceRequest { name: name.to_owned() };
    client.call(client.instances.clone().delete_instance(request))
}

#[test]
fn an_instance_is_created_shown_and_deleted() {
    on_every_engine(|client| {
        refused(get(client, CREATED), Code::NotFound, CREATED);
        let labels = [("env".to_owned(), "test".to_owned())].into();
        let wanted = Instance { display_name: "Name".to_owned(), labels, ..Instance::default() };
        let two = [("cluster-2", cluster(1)), ("cluster-1", cluster(3))];
        let operation = create(client, "instance-1", wanted.clone(), &two).unwrap();
        let created: Instance = response(&operation, "Instance");
        assert_eq!(created.name, CREATED);
        assert_eq!((&created.display_name, &created.labels), (&wanted.display_name, &wanted.labels));
        assert_eq!((created.state(), created.r#type()), (instance::State::Ready, instance::Type::Production));
        assert!(created.create_time.is_some());
        assert_eq!(get(client, CREATED).unwrap(), created);
        let expected = [format!("{CREATED}/clusters/cluster-1"), format!("{CREATED}/clusters/cluster-2")];
        assert_eq!(clusters(client, CREATED), expected);
        assert_eq!(clusters(client, "projects/p/instances/-"), expected);
        refused(create(client, "instance-1", wanted, &two), Code::AlreadyExists, CREATED);
        delete_instance(client, CREATED).unwrap();
        refused(get(client, CREATED), Code::NotFound, CREATED);
        refused(delete_instance(client, CREATED), Code::NotFound, CREATED);
        assert_eq!(clusters(client, "projects/p/instances/-"), [""; 0]);
    });
}

#[test]
fn what_cannot_be_an_instance_is_refused() {
    on_memory(Options::default(), |client| {
        let fails = |id: &str, instance, clusters: &[(&str, Cluster)], words| {
            refused(create(client, id, instance, clusters), Code::InvalidArgument, words);
        };
        let plain = Instance::default;
        let one = [("cluster-1", cluster(1))];
        fails("short", plain(), &one, "6 to 33 characters");
        fails("Upper-case", plain(), &one, "must match");
        fails("instance-1", plain(), &[], "at least one");
        fails("instance-1", plain(), &[("c", cluster(1))], "6 to 63 characters");
        fails("instance-1", plain(), &[("cluster-1", cluster(-1))], "serve_nodes is -1");
        fails("instance-1", plain(), &[("cluster-1", autoscaled(3, 2, 50))], "between 3 and 2 nodes");
        fails("instance-1", plain(), &[("cluster-1", autoscaled(1, 2, 5))], "between 10 and 80");
        let labels = [("Bad Key".to_owned(), String::new())].into();
        fails("instance-1", Instance { labels, ..plain() }, &one, "label `Bad Key`");
        let request = admin::ListInstancesRequest { parent: "projects/p".to_owned(), ..Default::default() };
        assert_eq!(client.call(client.instances.clone().list_instances(request)).unwrap().instances, []);
    });
}

#[test]
fn an_instance_that_is_used_exists_unless_the_server_is_strict() {
    on_memory(Options::default(), |client| {
        refused(get(client, INSTANCE), Code::NotFound, INSTANCE);
        client.create(INSTANCE, "t", table(&[]), &[]).unwrap();
        let used = get(client, INSTANCE).unwrap();
        assert_eq!((&*used.name, &*used.display_name), (INSTANCE, "i"));
        create_one(client);
        let request = admin::ListInstancesRequest { parent: "projects/p".to_owned(), ..Default::default() };
        let all = client.call(client.instances.clone().list_instances(request)).unwrap();
        assert_eq!(
            all.instances.iter().map(|instance| &*instance.name).collect::<Vec<_>>(),
            [INSTANCE, CREATED]
        );
        assert_eq!(clusters(client, INSTANCE), [format!("{INSTANCE}/clusters/local-cluster")]);
        // It has whatever cluster is asked for, and stays when its tables go.
        client.delete(TABLE).unwrap();
        assert_eq!(get(client, INSTANCE).unwrap(), used);
        let any = format!("{INSTANCE}/clusters/any");
        assert_eq!(get_cluster(client, &any).unwrap().serve_nodes, 10);
        let nodes = Cluster { name: any.clone(), ..cluster(4) };
        client.call(client.instances.clone().update_cluster(nodes)).unwrap();
        assert_eq!(get_cluster(client, &any).unwrap().serve_nodes, 4);
        assert_eq!(clusters(client, INSTANCE), [any]);
        delete_instance(client, INSTANCE).unwrap();
        refused(get(client, INSTANCE), Code::NotFound, INSTANCE);
    });
    on_memory(Options::default(), |client| {
        client.create(CREATED, "t", table(&[]), &[]).unwrap();
        create_one(client);
        assert_eq!(clusters(client, CREATED), [format!("{CREATED}/clusters/cluster-1")]);
        let other = format!("{CREATED}/clusters/cluster-2");
        refused(get_cluster(client, &other), Code::NotFound, "cluster-2");
        assert_eq!(client.list(CREATED), ["t"]);
    });
    on_memory(Options { strict_instances: true, ..Options::default() }, |client| {
        refused(client.create(INSTANCE, "t", table(&[]), &[]), Code::NotFound, INSTANCE);
        create_one(client);
        client.create(CREATED, "t", table(&[]), &[]).unwrap();
        assert_eq!(client.list(CREATED), ["t"]);
    });
}

#[test]
fn an_instance_is_updated_by_its_mask() {
    on_memory(Options::default(), |client| {
        let development = Instance { r#type: instance::Type::Development.into(), ..Instance::default() };
        create(client, "instance-1", development, &[("cluster-1", cluster(0))]).unwrap();
        let update = |instance: Instance, paths: &[&str]| {
            let instance = Some(Instance { name: CREATED.to_owned(), ..instance });
            let request = admin::PartialUpdateInstanceRequest { instance, update_mask: Some(mask(paths)) };
            client.call(client.instances.clone().partial_update_instance(request))
        };
        let labels = [("a".to_owned(), "b".to_owned())].into();
        let wanted = Instance { display_name: "New".to_owned(), labels, ..Instance::default() };
        let updated: Instance = response(&update(wanted.clone(), &["display_name"]).unwrap(), "Instance");
        assert_eq!((&*updated.display_name, updated.labels.len()), ("New", 0));
        assert_eq!(updated.r#type(), instance::Type::Development);
        let production = Instance { r#type: instance::Type::Production.into(), ..wanted.clone() };
        let updated: Instance = response(&update(production, &["type", "labels"]).unwrap(), "Instance");
        assert_eq!((updated.r#type(), updated.labels.len()), (instance::Type::Production, 1));
        let development = Instance { r#type: instance::Type::Development.into(), ..wanted.clone() };
        refused(update(development, &["type"]), Code::InvalidArgument, "for production");
        refused(update(wanted.clone(), &[]), Code::InvalidArgument, "update_mask is empty");
        refused(update(wanted.clone(), &["state"]), Code::InvalidArgument, "update_mask has `state`");
        let whole =
            Instance { name: CREATED.to_owned(), display_name: "Put".to_owned(), ..Instance::default() };
        let put = client.call(client.instances.clone().update_instance(whole)).unwrap();
        assert_eq!(
            (&*put.display_name, put.labels.len(), put.r#type()),
            ("Put", 0, instance::Type::Production)
        );
        assert_eq!(get(client, CREATED).unwrap(), put);
    });
}

#[test]
fn deleting_an_instance_deletes_its_tables_unless_one_is_protected() {
    on_every_engine(|client| {
        create_one(client);
        let protected = admin::Table { deletion_protection: true, ..table(&[]) };
        client.create(CREATED, "a", table(&[]), &[]).unwrap();
        client.create(CREATED, "b", protected, &[]).unwrap();
        refused(delete_instance(client, CREATED), Code::FailedPrecondition, "protected table, `b`");
        assert_eq!(client.list(CREATED), ["a", "b"]);
        let unprotected = admin::Table { name: format!("{CREATED}/tables/b"), ..table(&[]) };
        client.update(unprotected, &["deletion_protection"]).unwrap();
        delete_instance(client, CREATED).unwrap();
        assert_eq!(client.list(CREATED), [""; 0]);
        assert_eq!(client.engine.list_tables().unwrap(), ["_rowkey"]);
    });
}

#[test]
fn clusters_come_change_and_go() {
    on_every_engine(|client| {
        create_one(client);
        let create = |id: &str, cluster: Cluster| {
            let request = admin::CreateClusterRequest {
                parent: CREATED.to_owned(),
                cluster_id: id.to_owned(),
                cluster: Some(cluster),
            };
            client.call(client.instances.clone().create_cluster(request))
        };
        let hdd = Cluster { default_storage_type: StorageType::Hdd.into(), ..cluster(2) };
        let created: Cluster = response(&create("cluster-2", hdd.clone()).unwrap(), "Cluster");
        assert_eq!(created.name, format!("{CREATED}/clusters/cluster-2"));
        assert_eq!((&created.location, created.serve_nodes), (&hdd.location, 2));
        assert_eq!(created.state(), admin::cluster::State::Ready);
        assert_eq!(get_cluster(client, &created.name).unwrap(), created);
        refused(create("cluster-2", hdd), Code::AlreadyExists, "cluster-2");
        let update = Cluster { name: created.name.clone(), serve_nodes: 5, ..Cluster::default() };
        let updated: Cluster =
            response(&client.call(client.instances.clone().update_cluster(update)).unwrap(), "Cluster");
        assert_eq!(updated, Cluster { serve_nodes: 5, ..created.clone() });
        let delete = |name: &str| {
            let request = admin::DeleteClusterRequest { name: name.to_owned() };
            client.call(client.instances.clone().delete_cluster(request))
        };
        delete(&created.name).unwrap();
        refused(get_cluster(client, &created.name), Code::NotFound, "cluster-2");
        refused(delete(&created.name), Code::NotFound, "cluster-2");
        let last = format!("{CREATED}/clusters/cluster-1");
        refused(delete(&last), Code::FailedPrecondition, "the last one");
    });
}

#[test]
fn autoscaling_is_changed_field_by_field_and_switched_off() {
    on_memory(Options::default(), |client| {
        create_one(client);
        let name = format!("{CREATED}/clusters/cluster-1");
        let update = |cluster: Cluster, paths: &[&str]| {
            let cluster = Some(Cluster { name: name.clone(), ..cluster });
            let request = admin::PartialUpdateClusterRequest { cluster, update_mask: Some(mask(paths)) };
            client.call(client.instances.clone().partial_update_cluster(request))
        };
        let autoscaling = |cluster: &Cluster| match cluster.config {
            Some(Config::ClusterConfig(config)) => {
                let config = config.cluster_autoscaling_config.unwrap();
                let limits = config.autoscaling_limits.unwrap();
                let targets = config.autoscaling_targets.unwrap();
                Some((limits.min_serve_nodes, limits.max_serve_nodes, targets.cpu_utilization_percent))
            }
            None => None,
        };
        let config = "cluster_config.cluster_autoscaling_config";
        let (min, max, cpu) = (
            format!("{config}.autoscaling_limits.min_serve_nodes"),
            format!("{config}.autoscaling_limits.max_serve_nodes"),
            format!("{config}.autoscaling_targets.cpu_utilization_percent"),
        );
        let operation = update(autoscaled(1, 8, 20), &[&min, &max, &cpu]).unwrap();
        assert_eq!(autoscaling(&response(&operation, "Cluster")), Some((1, 8, 20)));
        update(autoscaled(2, 0, 0), &[&min]).unwrap();
        let found = get_cluster(client, &name).unwrap();
        assert_eq!((autoscaling(&found), found.serve_nodes), (Some((2, 8, 20)), 3));
        refused(update(autoscaled(9, 0, 0), &[&min]), Code::InvalidArgument, "between 9 and 8 nodes");
        refused(update(cluster(0), &["serve_nodes"]), Code::InvalidArgument, "serve_nodes is 0");
        refused(update(cluster(1), &["location"]), Code::InvalidArgument, "update_mask has `location`");
        refused(update(cluster(1), &[]), Code::InvalidArgument, "update_mask is empty");
        update(cluster(4), &["serve_nodes", config]).unwrap();
        let found = get_cluster(client, &name).unwrap();
        assert_eq!((autoscaling(&found), found.serve_nodes), (None, 4));
    });
}

fn to_one(cluster: &str) -> AppProfile {
    let routing = SingleClusterRouting { cluster_id: cluster.to_owned(), allow_transactional_writes: false };
    AppProfile {
        description: "one".to_owned(),
        routing_policy: Some(RoutingPolicy::SingleClusterRouting(routing)),
        ..AppProfile::default()
    }
}

fn to_any(clusters: &[&str]) -> AppProfile {
    let cluster_ids = clusters.iter().map(|id| (*id).to_owned()).collect();
    let routing = MultiClusterRoutingUseAny { cluster_ids, affinity: None };
    AppProfile {
        routing_policy: Some(RoutingPolicy::MultiClusterRoutingUseAny(routing)),
        ..AppProfile::default()
    }
}

#[test]
fn app_profiles_come_change_and_go() {
    on_every_engine(|client| {
        create_one(client);
        let name = format!("{CREATED}/appProfiles/profile_1");
        let create = |id: &str, profile: AppProfile| {
            let request = admin::CreateAppProfileRequest {
                parent: CREATED.to_owned(),
                app_profile_id: id.to_owned(),
                app_profile: Some(profile),
                ignore_warnings: false,
            };
            client.call(client.instances.clone().create_app_profile(request))
        };
        let get = || {
            let request = admin::GetAppProfileRequest { name: name.clone() };
            client.call(client.instances.clone().get_app_profile(request))
        };
        let update = |profile: AppProfile, paths: &[&str]| {
            let app_profile = Some(AppProfile { name: name.clone(), ..profile });
            let update_mask = Some(mask(paths));
            let request = admin::UpdateAppProfileRequest { app_profile, update_mask, ignore_warnings: false };
            client.call(client.instances.clone().update_app_profile(request))
        };
        refused(get(), Code::NotFound, "profile_1");
        refused(create("profile_1", AppProfile::default()), Code::InvalidArgument, "no routing policy");
        refused(
            create("profile_1", to_one("other-cluster")),
            Code::InvalidArgument,
            "`other-cluster` is not one",
        );
        refused(create("no id!", to_any(&[])), Code::InvalidArgument, "cannot be the id of an app profile");
        let created = create("profile_1", to_one("cluster-1")).unwrap();
        assert_eq!(created, AppProfile { name: name.clone(), ..to_one("cluster-1") });
        assert_eq!(get().unwrap(), created);
        refused(create("profile_1", to_any(&[])), Code::AlreadyExists, "profile_1");
        let second = create("profile_2", to_any(&["cluster-1"])).unwrap();
        let list = |page_size, page_token: &str, parent: &str| {
            let request = admin::ListAppProfilesRequest {
                parent: parent.to_owned(),
                page_size,
                page_token: page_token.to_owned(),
            };
            client.call(client.instances.clone().list_app_profiles(request)).unwrap()
        };
        assert_eq!(list(0, "", CREATED).app_profiles, [created.clone(), second.clone()]);
        let page = list(1, "", "projects/p/instances/-");
        assert_eq!(page.app_profiles, std::slice::from_ref(&created));
        let page = list(1, &page.next_page_token, "projects/p/instances/-");
        assert_eq!((&page.app_profiles[..], &*page.next_page_token), (&[second][..], ""));

        refused(update(to_any(&[]), &[]), Code::InvalidArgument, "update_mask is empty");
        refused(update(to_any(&[]), &["name"]), Code::InvalidArgument, "update_mask has `name`");
        update(to_any(&[]), &["multi_cluster_routing_use_any"]).unwrap();
        let updated = get().unwrap();
        assert_eq!(updated.routing_policy, to_any(&[]).routing_policy);
        assert_eq!(updated.description, "one");
        let isolation = Some(Isolation::StandardIsolation(StandardIsolation { priority: 1 }));
        let low = AppProfile { isolation, ..to_any(&[]) };
        let operation = update(low, &["standard_isolation.priority", "description"]).unwrap();
        let updated: AppProfile = response(&operation, "AppProfile");
        assert_eq!((updated.isolation, &*updated.description), (isolation, ""));

        let request = admin::DeleteAppProfileRequest { name: name.clone(), ignore_warnings: true };
        client.call(client.instances.clone().delete_app_profile(request)).unwrap();
        refused(get(), Code::NotFound, "profile_1");
    });
}

#[test]
fn hot_tablets_are_asked_for_in_a_window_of_the_last_days() {
    const HOUR_S: i64 = 60 * 60;
    let clock: Arc<dyn rowkey_store::Clock> =
        Arc::new(rowkey_store::ManualClock::new(100 * 24 * HOUR_S * 1_000_000));
    on_memory(Options { clock, ..Options::default() }, |client| {
        create_one(client);
        let at = |hours_ago: i64| {
            Some(prost_types::Timestamp { seconds: (100 * 24 - hours_ago) * HOUR_S, nanos: 0 })
        };
        let list = |cluster: &str, start_time, end_time, page_token: &str| {
            let request = admin::ListHotTabletsRequest {
                parent: cluster.to_owned(),
                start_time,
                end_time,
                page_size: 0,
                page_token: page_token.to_owned(),
            };
            client.call(client.instances.clone().list_hot_tablets(request))
        };
        let cluster = format!("{CREATED}/clusters/cluster-1");
        let fails = |start, end, words| refused(list(&cluster, start, end, ""), Code::InvalidArgument, words);
        fails(at(1), at(2), "before end_time");
        fails(at(1), at(1), "before end_time");
        fails(at(1), at(-1), "in the future");
        fails(at(49), at(0), "at most 48 hours");
        fails(at(15 * 24), at(14 * 24), "the last 14 days");
        for (start, end) in [(None, None), (at(48), at(0)), (at(14 * 24), at(13 * 24))] {
            let answer = list(&cluster, start, end, "").unwrap();
            assert_eq!(answer, admin::ListHotTabletsResponse::default());
        }
        refused(list(&cluster, None, None, "1.2"), Code::InvalidArgument, "page_token");
        let missing = format!("{CREATED}/clusters/cluster-2");
        refused(list(&missing, None, None, ""), Code::NotFound, "cluster-2");
        list(&format!("{CREATED}/clusters/-"), None, None, "").unwrap();
        // Nobody created this one: all of its clusters are this process.
        list(&format!("{INSTANCE}/clusters/any"), None, None, "").unwrap();
        refused(
            list("projects/p/instances/-/clusters/c", None, None, ""),
            Code::InvalidArgument,
            "`-` stands for all",
        );
    });
}

#[test]
fn a_hot_tablet_is_listed_for_its_cluster() {
    use rowkey_proto::data::bigtable_client::BigtableClient;
    use rowkey_proto::data::mutate_rows_request::Entry;
    use rowkey_proto::data::mutation::{Mutation as Kind, SetCell};
    use rowkey_proto::data::{MutateRowsRequest, Mutation};
    on_memory(Options::default(), |client| {
        create_one(client);
        client.create(CREATED, "t", table(&["f"]), &["m"]).unwrap();
        let cell =
            SetCell { family_name: "f".to_owned(), value: vec![b'v'; 100].into(), ..SetCell::default() };
        let mutation = Mutation { mutation: Some(Kind::SetCell(cell)), ..Mutation::default() };
        let entry = |number: u32| Entry {
            row_key: format!("n{number:06}").into(),
            mutations: vec![mutation.clone()],
            ..Entry::default()
        };
        let mut data = BigtableClient::new(client.channel.clone());
        for batch in 0..8 {
            let request = MutateRowsRequest {
                table_name: format!("{CREATED}/tables/t"),
                entries: (0..10_000).map(|number| entry(batch * 10_000 + number)).collect(),
                ..MutateRowsRequest::default()
            };
            client.runtime.block_on(async {
                let mut answers = data.mutate_rows(request).await.unwrap().into_inner();
                while answers.message().await.unwrap().is_some() {}
            });
        }
        let request = admin::ListHotTabletsRequest {
            parent: format!("{CREATED}/clusters/cluster-1"),
            ..admin::ListHotTabletsRequest::default()
        };
        let hot = client.call(client.instances.clone().list_hot_tablets(request)).unwrap().hot_tablets;
        let tablet = hot.first().unwrap();
        assert_eq!(tablet.table_name, format!("{CREATED}/tables/t"));
        assert!(*tablet.start_key >= *"m", "what was written lies behind the split point: {tablet:?}");
        assert!(tablet.node_cpu_usage_percent >= 1.0, "{tablet:?}");
        let percents: Vec<f32> = hot.iter().map(|tablet| tablet.node_cpu_usage_percent).collect();
        assert!(percents.is_sorted_by(|a, b| a >= b), "{percents:?}");
    });
}
