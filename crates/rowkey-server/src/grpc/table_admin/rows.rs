//! `DropRowRange`, and consistency: there is one copy of each table, so what was written is seen.

use super::existing;
use crate::catalog::TableName;
use crate::shared::Shared;
use bytes::Bytes;
use rowkey_bigtable::status;
use rowkey_proto::admin;
use rowkey_proto::admin::drop_row_range_request::Target;
use rowkey_store::DropScope;
use tonic::Status;

/// What a token begins with.
const TOKEN: &str = "rowkey-1";

/// Drops rows by prefix, or all.
///
/// # Errors
///
/// `INVALID_ARGUMENT` for an empty prefix or no target; `NOT_FOUND`.
pub(super) fn drop_range(shared: &Shared, request: admin::DropRowRangeRequest) -> Result<(), Status> {
    let name = TableName::parse(&request.name)?;
    let scope = match request.target {
        Some(Target::RowKeyPrefix(prefix)) if prefix.is_empty() => {
            return Err(Status::invalid_argument(
                "row_key_prefix is empty, which would drop every row; to do so, set delete_all_data_from_table",
            ));
        }
        Some(Target::RowKeyPrefix(prefix)) => DropScope::Prefix(Bytes::from(prefix)),
        Some(Target::DeleteAllDataFromTable(true)) => DropScope::All,
        // Setting it to false does nothing, says the message's own description.
        Some(Target::DeleteAllDataFromTable(false)) => return existing(shared, &name).map(drop),
        None => {
            return Err(Status::invalid_argument(
                "no target is given; set row_key_prefix or delete_all_data_from_table",
            ));
        }
    };
    let (engine, _) = existing(shared, &name)?;
    shared.engine.drop_rows(&engine, &scope).map_err(|error| status(&error))
}

/// A token for what was written until now.
///
/// # Errors
///
/// `NOT_FOUND`, and those of the engine.
pub(super) fn consistency_token(
    shared: &Shared,
    request: &admin::GenerateConsistencyTokenRequest,
) -> Result<admin::GenerateConsistencyTokenResponse, Status> {
    let name = TableName::parse(&request.name)?;
    existing(shared, &name)?;
    let consistency_token = format!("{TOKEN}-{}-{}", name.table, shared.options.clock.now_us());
    Ok(admin::GenerateConsistencyTokenResponse { consistency_token })
}

/// Whether what was written before the token can be read: always.
///
/// # Errors
///
/// `INVALID_ARGUMENT` for a token that was not made for this table; `NOT_FOUND`.
pub(super) fn check_consistency(
    shared: &Shared,
    request: &admin::CheckConsistencyRequest,
) -> Result<admin::CheckConsistencyResponse, Status> {
    let name = TableName::parse(&request.name)?;
    existing(shared, &name)?;
    let time_us = request.consistency_token.strip_prefix(&format!("{TOKEN}-{}-", name.table));
    if time_us.and_then(|time_us| time_us.parse::<i64>().ok()).is_none() {
        return Err(Status::invalid_argument(format!(
            "consistency_token was not generated for table `{name}`; generate one with GenerateConsistencyToken"
        )));
    }
    Ok(admin::CheckConsistencyResponse { consistent: true })
}
