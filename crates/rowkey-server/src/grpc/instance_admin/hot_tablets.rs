//! `ListHotTablets`: which tablets took how much of a node, from what was recorded.
//!
//! Differences from the message's own description: the end key is the first one behind the tablet, and empty at the end of the table; keys
//! that are not text are escaped (`\x00`).

use crate::catalog::{InstanceName, TableName, ids, ids_or_all};
use crate::grpc::operations::{bad_token, page_size, timestamp};
use crate::load::HotTablet;
use crate::shared::Shared;
use prost_types::Timestamp;
use rowkey_proto::admin;
use rowkey_store::escape::escaped;
use tonic::Status;

/// Milliseconds of an hour.
const HOUR_MS: i64 = 60 * 60 * 1_000;
/// The longest window, 48 hours (`ListHotTabletsRequest.start_time`).
const WINDOW_MS_MAX: i64 = 48 * HOUR_MS;
/// How far back it may begin, 14 days (`ListHotTabletsRequest.start_time`).
const BACK_MS_MAX: i64 = 14 * 24 * HOUR_MS;
/// The window where none is given, 24 hours (`ListHotTabletsRequest.start_time`).
const WINDOW_MS: i64 = 24 * HOUR_MS;
/// By how much a client's clock may differ from ours, 5 minutes; ours.
const SKEW_MS: i64 = 5 * 60 * 1_000;
/// Tablets of a page, unless fewer are asked for; ours.
const PAGE_MAX: usize = 1_000;

/// What a page token says: the window, which may have ended at the time of the first request, and where to go on.
struct Page {
    from_ms: i64,
    to_ms: i64,
    offset: usize,
}

/// The hot tablets of all tables that an instance sees, hottest first.
///
/// # Errors
///
/// `NOT_FOUND` for a cluster of an instance that was created; `INVALID_ARGUMENT`, and those of the engine.
pub(super) fn list(
    shared: &Shared,
    request: &admin::ListHotTabletsRequest,
) -> Result<admin::ListHotTabletsResponse, Status> {
    let instance = instance(shared, &request.parent)?;
    let size = page_size(request.page_size, PAGE_MAX)?;
    let now_ms = shared.options.clock.now_us().div_euclid(1_000);
    let Page { from_ms, to_ms, offset } = match request.page_token.as_str() {
        "" => window(request.start_time, request.end_time, now_ms)?,
        token => read_token(token).ok_or_else(bad_token)?,
    };
    let mut found: Vec<(TableName, HotTablet)> = Vec::new();
    for name in shared.catalog.list_tables(&instance)? {
        // It may have been deleted meanwhile.
        let Ok(engine) = shared.catalog.resolve(&name) else { continue };
        let hot = shared.load.hot_tablets(&engine, from_ms, to_ms).into_iter();
        found.extend(hot.map(|hot| (name.clone(), hot)));
    }
    found.sort_by(|(a_name, a), (b_name, b)| {
        let order = b.node_cpu_percent.total_cmp(&a.node_cpu_percent);
        order.then_with(|| (a_name, &a.range.start, a.start_ms).cmp(&(b_name, &b.range.start, b.start_ms)))
    });
    let end = offset.saturating_add(size);
    let next = found.len() > end;
    let page = found.iter().skip(offset).take(size);
    Ok(admin::ListHotTabletsResponse {
        hot_tablets: page.map(|(name, hot)| message(&request.parent, name, hot)).collect(),
        next_page_token: if next { format!("{from_ms}.{to_ms}.{end}") } else { String::new() },
    })
}

/// The instance of the cluster that is asked for. Of an instance that nobody created, every cluster is this process.
fn instance(shared: &Shared, parent: &str) -> Result<InstanceName, Status> {
    let [project, instance, cluster] = ids_or_all(parent, ["projects", "instances", "clusters"])?;
    let all = format!("projects/{project}/instances/{instance}");
    ids(&all, ["projects", "instances"])?;
    let instance = InstanceName { project: project.to_owned(), instance: instance.to_owned() };
    shared.catalog.instance_may_be_used(&instance)?;
    if cluster != "-" && shared.catalog.is_created(&instance) {
        shared.catalog.cluster(&instance, cluster)?;
    }
    Ok(instance)
}

/// The window that is asked for, in milliseconds since the epoch; without times the last 24 hours.
fn window(start: Option<Timestamp>, end: Option<Timestamp>, now_ms: i64) -> Result<Page, Status> {
    let bad = |what: &str| Err(Status::invalid_argument(what));
    let to_ms = end.map_or(now_ms, milliseconds);
    let from_ms = start.map_or(to_ms.saturating_sub(WINDOW_MS), milliseconds);
    if from_ms >= to_ms {
        return bad("start_time must be before end_time");
    }
    if to_ms > now_ms.saturating_add(SKEW_MS) {
        return bad("end_time must not be in the future");
    }
    if from_ms < now_ms.saturating_sub(BACK_MS_MAX + SKEW_MS) {
        return bad("start_time must be within the last 14 days");
    }
    if to_ms.saturating_sub(from_ms) > WINDOW_MS_MAX {
        return bad("start_time and end_time must be at most 48 hours apart");
    }
    Ok(Page { from_ms, to_ms, offset: 0 })
}

fn milliseconds(time: Timestamp) -> i64 {
    time.seconds.saturating_mul(1_000).saturating_add(i64::from(time.nanos / 1_000_000))
}

fn read_token(token: &str) -> Option<Page> {
    let mut parts = token.split('.');
    let (from_ms, to_ms, offset) = (parts.next()?, parts.next()?, parts.next()?);
    parts.next().is_none().then_some(())?;
    Some(Page { from_ms: from_ms.parse().ok()?, to_ms: to_ms.parse().ok()?, offset: offset.parse().ok()? })
}

fn message(cluster: &str, name: &TableName, hot: &HotTablet) -> admin::HotTablet {
    let table_name = name.to_string();
    // One name for one tablet and time, of the characters that a name may have: FNV-1a of the table and the first key.
    let bytes = table_name.bytes().chain(hot.range.start.iter().copied());
    let hash = bytes.fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    #[expect(clippy::cast_possible_truncation, reason = "a percentage, and the message's own precision")]
    let node_cpu_usage_percent = hot.node_cpu_percent as f32;
    admin::HotTablet {
        name: format!("{cluster}/hotTablets/node-{}-{}-{hash:016x}", hot.node, hot.start_ms),
        table_name,
        start_time: Some(timestamp(hot.start_ms.saturating_mul(1_000))),
        end_time: Some(timestamp(hot.end_ms.saturating_mul(1_000))),
        start_key: key(&hot.range.start),
        end_key: hot.range.end.as_deref().map(key).unwrap_or_default(),
        node_cpu_usage_percent,
    }
}

/// A row key as text: as it is if it is text, else escaped, as keys are printed everywhere.
fn key(key: &[u8]) -> String {
    match std::str::from_utf8(key) {
        Ok(text) if !text.chars().any(char::is_control) => text.to_owned(),
        _ => escaped(key).to_string(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rowkey_store::RowRange;

    #[test]
    fn a_hot_tablet_is_named_and_its_keys_are_text() {
        let table = TableName::parse("projects/p/instances/i/tables/t").unwrap();
        let range = RowRange { start: "m\u{e4}".into(), end: Some(vec![0x80, b'a'].into()) };
        let hot = HotTablet { range, node: 3, start_ms: 61_500, end_ms: 120_000, node_cpu_percent: 87.5 };
        let cluster = "projects/p/instances/i/clusters/c";
        let shown = message(cluster, &table, &hot);
        assert!(shown.name.starts_with("projects/p/instances/i/clusters/c/hotTablets/node-3-61500-"));
        assert_eq!(shown.table_name, table.to_string());
        assert_eq!(shown.start_time, Some(Timestamp { seconds: 61, nanos: 500_000_000 }));
        assert_eq!((&*shown.start_key, &*shown.end_key), ("m\u{e4}", "\\x80a"));
        assert!((shown.node_cpu_usage_percent - 87.5).abs() < 1e-6);
        let last = HotTablet { range: RowRange::all(), ..hot };
        assert_eq!(message(cluster, &table, &last).end_key, "");
        assert_ne!(message(cluster, &table, &last).name, shown.name);
    }
}
