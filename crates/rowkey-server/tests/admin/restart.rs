//! What is there after a restart: everything.

use super::*;
use rowkey_proto::admin::table::View;
use rowkey_proto::iam::{GetIamPolicyRequest, Policy, SetIamPolicyRequest};

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
