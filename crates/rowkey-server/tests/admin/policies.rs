//! Policies, and operations that were handed out.

use super::*;
use rowkey_proto::iam::{
    Binding, GetIamPolicyRequest, Policy, SetIamPolicyRequest, TestIamPermissionsRequest,
};
use rowkey_proto::longrunning::{
    CancelOperationRequest, DeleteOperationRequest, GetOperationRequest, ListOperationsRequest,
    WaitOperationRequest,
};

fn get(client: &Client, resource: &str) -> Result<Policy, Status> {
    let request = GetIamPolicyRequest { resource: resource.to_owned(), options: None };
    client.call(client.tables.clone().get_iam_policy(request))
}

fn set(client: &Client, resource: &str, policy: Policy) -> Result<Policy, Status> {
    let request =
        SetIamPolicyRequest { resource: resource.to_owned(), policy: Some(policy), update_mask: None };
    client.call(client.instances.clone().set_iam_policy(request))
}

#[test]
fn a_policy_is_kept_and_guarded_by_its_etag() {
    on_every_engine(|client| {
        client.create(INSTANCE, "t", table(&[]), &[]).unwrap();
        for resource in [TABLE, INSTANCE] {
            let none = get(client, resource).unwrap();
            // `ACAB` in base64, which clients' tests look for.
            assert_eq!((none.version, &none.etag[..]), (0, &[0x00, 0x20, 0x01][..]));
            let role = "roles/bigtable.admin".to_owned();
            let binding = Binding { role, members: vec!["user:a@example.com".to_owned()], condition: None };
            let wanted = Policy { bindings: vec![binding], ..none.clone() };
            let kept = set(client, resource, wanted.clone()).unwrap();
            assert_eq!(kept.bindings, wanted.bindings);
            assert_eq!(get(client, resource).unwrap(), kept);
            refused(set(client, resource, wanted.clone()), Code::Aborted, "changed by somebody else");
            let again = set(client, resource, Policy { etag: Vec::new(), ..wanted }).unwrap();
            assert_ne!(again.etag, kept.etag);
        }
        client.delete(TABLE).unwrap();
        refused(get(client, TABLE), Code::NotFound, TABLE);
        client.create(INSTANCE, "t", table(&[]), &[]).unwrap();
        assert_eq!(get(client, TABLE).unwrap().bindings, []);
        refused(get(client, "projects/p"), Code::InvalidArgument, "must be of the form");
        refused(get(client, "projects/p/instances/nobodys"), Code::NotFound, "nobodys");
    });
}

#[test]
fn every_permission_is_granted() {
    on_memory(Options::default(), |client| {
        client.create(INSTANCE, "t", table(&[]), &[]).unwrap();
        let permissions = vec!["bigtable.tables.mutateRows".to_owned(), "bigtable.tables.get".to_owned()];
        let request =
            TestIamPermissionsRequest { resource: TABLE.to_owned(), permissions: permissions.clone() };
        let granted = client.call(client.tables.clone().test_iam_permissions(request)).unwrap();
        assert_eq!(granted.permissions, permissions);
    });
}

#[test]
fn operations_can_be_asked_for() {
    on_memory(Options::default(), |client| {
        client.create(INSTANCE, "t", table(&[]), &[]).unwrap();
        let update = || client.update(table(&[]), &["deletion_protection"]).unwrap();
        let (first, second) = (update(), update());
        assert!(first.name.starts_with("operations/projects/p/instances/i/operations/"), "{}", first.name);
        let metadata = first.metadata.as_ref().unwrap();
        assert_eq!(metadata.type_url, "type.googleapis.com/google.bigtable.admin.v2.UpdateTableMetadata");
        let get = |name: &str| {
            let request = GetOperationRequest { name: name.to_owned() };
            client.call(client.operations.clone().get_operation(request))
        };
        assert_eq!(get(&first.name).unwrap(), first);
        let request = WaitOperationRequest { name: first.name.clone(), timeout: None };
        assert_eq!(client.call(client.operations.clone().wait_operation(request)).unwrap(), first);
        let list = |name: &str, page_size, page_token: &str| {
            let request = ListOperationsRequest {
                name: name.to_owned(),
                page_size,
                page_token: page_token.to_owned(),
                ..ListOperationsRequest::default()
            };
            client.call(client.operations.clone().list_operations(request))
        };
        let page = list("operations/projects/p", 1, "").unwrap();
        assert_eq!(page.operations, std::slice::from_ref(&second));
        let page = list("projects/p", 1, &page.next_page_token).unwrap();
        assert_eq!((&page.operations[..], &*page.next_page_token), (&[first.clone()][..], ""));
        assert_eq!(list("operations/projects/other", 0, "").unwrap().operations, []);
        refused(list("operations", -1, ""), Code::InvalidArgument, "negative");
        refused(list("operations", 0, "x"), Code::InvalidArgument, "page_token");
        let cancel = CancelOperationRequest { name: first.name.clone() };
        client.call(client.operations.clone().cancel_operation(cancel)).unwrap();
        let delete = || {
            let request = DeleteOperationRequest { name: first.name.clone() };
            client.call(client.operations.clone().delete_operation(request))
        };
        delete().unwrap();
        refused(delete(), Code::NotFound, &first.name);
        refused(get(&first.name), Code::NotFound, &first.name);
        assert_eq!(get(&second.name).unwrap(), second);
    });
}
