//! What is there after a restart: everything.

use super::*;
use rowkey_proto::admin::table::View;
use rowkey_proto::iam::{GetIamPolicyRequest, Policy, SetIamPolicyRequest};
use rowkey_proto::longrunning::GetOperationRequest;

#[test]
fn resources_survive_a_restart() {
    let folder = tempfile::tempdir().unwrap();
    let other = "projects/q/instances/i";
    on_lsm(folder.path(), |client| {
        client.create(INSTANCE, "t", table(&["f"]), &["m"]).unwrap();
        client.create(other, "t", table(&["g"]), &[]).unwrap();
        client.create(INSTANCE, "deleted", table(&["d"]), &[]).unwrap();
        client.delete(&format!("{INSTANCE}/tables/deleted")).unwrap();
        let stream = admin::Table {
            change_stream_config: Some(admin::ChangeStreamConfig { retention_period: Some(days(2)) }),
            ..table(&[])
        };
        client.update(stream, &["change_stream_config"]).unwrap();
        let request = SetIamPolicyRequest {
            resource: TABLE.to_owned(),
            policy: Some(Policy { version: 1, ..Policy::default() }),
            update_mask: None,
        };
        client.call(client.tables.clone().set_iam_policy(request)).unwrap();
    });
    on_lsm(folder.path(), |client| {
        let first = client.get(TABLE, View::Full).unwrap();
        assert!(first.column_families.contains_key("f"));
        assert_eq!(first.change_stream_config.unwrap().retention_period, Some(days(2)));
        let second = client.get(&format!("{other}/tables/t"), View::Full).unwrap();
        assert!(second.column_families.contains_key("g"));
        assert_eq!(client.list(INSTANCE), ["t"]);
        let request = GetIamPolicyRequest { resource: TABLE.to_owned(), options: None };
        assert_eq!(client.call(client.tables.clone().get_iam_policy(request)).unwrap().version, 1);
        let name = format!("{INSTANCE}/tables/deleted");
        let undelete = admin::UndeleteTableRequest { name: name.clone() };
        client.call(client.tables.clone().undelete_table(undelete)).unwrap();
        assert!(client.get(&name, View::Full).unwrap().column_families.contains_key("d"));
    });
    on_lsm(folder.path(), |client| assert_eq!(client.list(INSTANCE), ["deleted", "t"]));
}

#[test]
fn instances_and_operations_survive_a_restart() {
    const CREATED: &str = "projects/p/instances/instance-1";
    let folder = tempfile::tempdir().unwrap();
    let operation = std::cell::RefCell::new(Operation::default());
    on_lsm(folder.path(), |client| {
        let request = admin::CreateInstanceRequest {
            parent: "projects/p".to_owned(),
            instance_id: "instance-1".to_owned(),
            instance: Some(admin::Instance { display_name: "Name".to_owned(), ..admin::Instance::default() }),
            clusters: [(
                "cluster-1".to_owned(),
                admin::Cluster { serve_nodes: 3, ..admin::Cluster::default() },
            )]
            .into(),
        };
        let created = client.call(client.instances.clone().create_instance(request)).unwrap();
        operation.replace(created);
        let routing = admin::app_profile::MultiClusterRoutingUseAny::default();
        let routing = admin::app_profile::RoutingPolicy::MultiClusterRoutingUseAny(routing);
        let request = admin::CreateAppProfileRequest {
            parent: CREATED.to_owned(),
            app_profile_id: "profile".to_owned(),
            app_profile: Some(admin::AppProfile {
                routing_policy: Some(routing),
                ..admin::AppProfile::default()
            }),
            ignore_warnings: false,
        };
        client.call(client.instances.clone().create_app_profile(request)).unwrap();
        // An instance that is only used stays as well.
        client.create(INSTANCE, "t", table(&[]), &[]).unwrap();
        client.delete(TABLE).unwrap();
    });
    on_lsm(folder.path(), |client| {
        let get = |name: &str| {
            let request = admin::GetInstanceRequest { name: name.to_owned() };
            client.call(client.instances.clone().get_instance(request)).unwrap()
        };
        let created: admin::Instance = response(&operation.borrow(), "Instance");
        assert_eq!(get(CREATED), created);
        assert_eq!(get(INSTANCE).display_name, "i");
        let request = admin::GetClusterRequest { name: format!("{CREATED}/clusters/cluster-1") };
        assert_eq!(client.call(client.instances.clone().get_cluster(request)).unwrap().serve_nodes, 3);
        let request = admin::GetAppProfileRequest { name: format!("{CREATED}/appProfiles/profile") };
        client.call(client.instances.clone().get_app_profile(request)).unwrap();
        let request = GetOperationRequest { name: operation.borrow().name.clone() };
        assert_eq!(
            client.call(client.operations.clone().get_operation(request)).unwrap(),
            *operation.borrow()
        );
    });
}
