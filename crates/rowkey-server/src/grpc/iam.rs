//! Policies: stored and answered, never enforced. There are no accounts here, so every permission is granted.

use crate::catalog::{InstanceName, TableName, ids, shown};
use crate::shared::Shared;
use prost::Message as _;
use rowkey_bigtable::status;
use rowkey_proto::iam::{
    GetIamPolicyRequest, Policy, SetIamPolicyRequest, TestIamPermissionsRequest, TestIamPermissionsResponse,
};
use rowkey_store::ErrorKind;
use tonic::Status;

/// The etag of a resource without a policy, `ACAB` in base64: what Google's services answer, and what clients' tests look for.
const ETAG_OF_NONE: [u8; 3] = [0x00, 0x20, 0x01];

/// The policy of a resource that exists; an empty one if none was set.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn get(shared: &Shared, request: &GetIamPolicyRequest) -> Result<Policy, Status> {
    exists(shared, &request.resource)?;
    Ok(current(shared, &request.resource))
}

/// Replaces the policy of a resource that exists, or the fields of the mask.
///
/// # Errors
///
/// `ABORTED` for an etag that is no longer the policy's; `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn set(shared: &Shared, request: SetIamPolicyRequest) -> Result<Policy, Status> {
    let _changing = shared.catalog.change();
    exists(shared, &request.resource)?;
    let wanted = request.policy.ok_or_else(|| Status::invalid_argument("no policy is given"))?;
    let before = current(shared, &request.resource);
    if !wanted.etag.is_empty() && wanted.etag != before.etag {
        return Err(Status::aborted(format!(
            "the policy of `{}` was changed by somebody else; get it and try again",
            shown(&request.resource)
        )));
    }
    let mut after = before.clone();
    match request.update_mask.filter(|mask| !mask.paths.is_empty()) {
        None => after = wanted,
        Some(mask) => mask.paths.iter().try_for_each(|path| take(path, &wanted, &mut after))?,
    }
    after.etag.clear();
    after.etag = etag(&before, &after);
    shared.catalog.policies.put(&request.resource, after.clone()).map_err(|error| status(&error))?;
    Ok(after)
}

/// All permissions that are asked for.
///
/// # Errors
///
/// `NOT_FOUND`, `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn test(
    shared: &Shared,
    request: TestIamPermissionsRequest,
) -> Result<TestIamPermissionsResponse, Status> {
    exists(shared, &request.resource)?;
    Ok(TestIamPermissionsResponse { permissions: request.permissions })
}

fn current(shared: &Shared, resource: &str) -> Policy {
    let none = || Policy { etag: ETAG_OF_NONE.into(), ..Policy::default() };
    shared.catalog.policies.get(resource).unwrap_or_else(none)
}

fn take(path: &str, wanted: &Policy, policy: &mut Policy) -> Result<(), Status> {
    match path {
        "bindings" => policy.bindings.clone_from(&wanted.bindings),
        "audit_configs" | "auditConfigs" => policy.audit_configs.clone_from(&wanted.audit_configs),
        "version" => policy.version = wanted.version,
        // It is the server's.
        "etag" => {}
        path => {
            return Err(Status::invalid_argument(format!(
                "update_mask has `{}`; bindings, version and audit_configs can be updated",
                shown(path)
            )));
        }
    }
    Ok(())
}

/// Another one for each change: FNV-1a of the etag before and of the content.
fn etag(before: &Policy, after: &Policy) -> Vec<u8> {
    let content = before.etag.iter().copied().chain(after.encode_to_vec());
    let hash = content.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    hash.to_be_bytes().into()
}

/// Refuses resources that do not exist. Tables and instances have policies; backups, views and bundles are not served.
fn exists(shared: &Shared, resource: &str) -> Result<(), Status> {
    if ids(resource, ["projects", "instances"]).is_ok() {
        return shared.catalog.instance_is_known(&InstanceName::parse(resource)?);
    }
    let name = TableName::parse(resource)?;
    let engine = shared.catalog.resolve(&name)?;
    match shared.engine.table_config(&engine) {
        Ok(_) => Ok(()),
        Err(error) if error.kind() == ErrorKind::NotFound => Err(crate::catalog::missing(&name)),
        Err(error) => Err(status(&error)),
    }
}
