//! `ReadRows` and `SampleRowKeys`.

use super::names::Target;
use super::scan::{Plan, Scan};
use super::{DataService, deadline, features};
use crate::blocking;
use rowkey_bigtable::{convert, status};
use rowkey_proto::data::read_rows_request::RequestStatsView;
use rowkey_proto::data::row_range::EndKey;
use rowkey_proto::data::{ReadRowsRequest, SampleRowKeysRequest, SampleRowKeysResponse};
use rowkey_store::{Engine, EngineExt as _, KeySample, ReadRequest, RowRange, Selection};
use std::sync::Arc;
use tonic::Status;
use tonic::metadata::MetadataMap;

impl DataService {
    /// Checks what can be checked without the table, and begins to read.
    pub(super) async fn scan(
        &self,
        metadata: &MetadataMap,
        message: ReadRowsRequest,
    ) -> Result<Scan, Status> {
        let target = Target {
            table: message.table_name,
            authorized_view: message.authorized_view_name,
            materialized_view: message.materialized_view_name,
        };
        let table = target.resolve(&self.shared)?;
        let rows_max = match u64::try_from(message.rows_limit) {
            Ok(0) => None,
            Ok(rows) => Some(rows),
            Err(_) => {
                let what = format!(
                    "rows_limit is {}; it must not be negative, and 0 is no limit",
                    message.rows_limit
                );
                return Err(Status::invalid_argument(what));
            }
        };
        let filter = message.filter.map(convert::filter_from_proto).transpose();
        let request = ReadRequest {
            rows: convert::row_set_from_proto(message.rows).map_err(|error| status(&error))?,
            filter: filter.map_err(|error| status(&error))?,
            rows_max,
            reversed: message.reversed,
            // As if garbage were collected at every moment: answers do not depend on when it was.
            live: true,
            ..ReadRequest::default()
        };
        let stats = message.request_stats_view == i32::from(RequestStatsView::RequestStatsFull);
        let progress = features::features(metadata).last_scanned_row_responses;
        let plan = Plan { table, request, stats, progress, timeout: deadline::timeout(metadata) };
        Ok(Scan::new(&self.shared, &self.at_once, plan).begun().await)
    }

    /// The ends of the tablets.
    pub(super) async fn samples(
        &self,
        message: SampleRowKeysRequest,
    ) -> Result<Vec<SampleRowKeysResponse>, Status> {
        let target = Target {
            table: message.table_name,
            authorized_view: message.authorized_view_name,
            materialized_view: message.materialized_view_name,
        };
        let table = target.resolve(&self.shared)?;
        let last_key = match message.row_range.as_ref().and_then(|range| range.end_key.as_ref()) {
            Some(EndKey::EndKeyOpen(key) | EndKey::EndKeyClosed(key)) => key.clone(),
            None => bytes::Bytes::new(),
        };
        let range = message.row_range.map(convert::row_range_from_proto).transpose();
        let range = range.map_err(|error| status(&error))?.unwrap_or_else(RowRange::all);
        let shared = Arc::clone(&self.shared);
        let samples = blocking::run(move || samples_of(&*shared.engine, &table)).await;
        let samples = samples.map_err(|error| status(&error))?;
        Ok(convert::key_samples_to_proto(samples, &range, last_key))
    }
}

/// The ends of the tablets. Clients leave the end of the table aside, so a table of one tablet would have no sample: there, the last row's key
/// stands in front of it.
fn samples_of(engine: &dyn Engine, table: &str) -> rowkey_store::Result<Vec<KeySample>> {
    let mut samples = engine.sample_row_keys(table)?;
    if let [end] = &samples[..] {
        let selection = Selection { versions_max: Some(1), ..Selection::default() };
        let last = ReadRequest { rows_max: Some(1), reversed: true, selection, ..ReadRequest::all() };
        if let Some(row) = engine.read_rows(table, &last)?.next().transpose()? {
            samples.insert(0, KeySample { key: row.key, offset_bytes: end.offset_bytes });
        }
    }
    Ok(samples)
}
