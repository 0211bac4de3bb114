//! Tables, their design, their tablets, and the nodes.

use super::failure::Failure;
use super::query::{Pairs, Values};
use super::{App, json, schema};
use crate::load::{Sums, TableLoad, TabletLoad, TabletState};
use crate::shared::Shared;
use axum::extract::{Path, State};
use axum::response::Response;
use rowkey::{Codec, escape};
use rowkey_hotspot::Capacity;
use rowkey_hotspot::report::Json;
use rowkey_store::{
    Error, ErrorKind, FamilyConfig, Granularity, Result, TableConfig, TabletInfo, ValueType, gc,
};
use std::sync::Arc;

/// Seconds that the loads of "the last minute" are of.
const MINUTE_S: u32 = 60;
/// The server's own tables begin with this; people do not see them.
const OWN_PREFIX: &str = "_rowkey";

/// `GET /api/tables`.
pub(super) async fn tables(
    State(app): State<Arc<App>>,
    pairs: Pairs,
) -> std::result::Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let now = app.now_ms();
    let answer = app.run(move |shared| {
        let loads = shared.load.tables();
        let names = shared.engine.list_tables()?;
        let tables: Result<Vec<Json>> = names
            .iter()
            .filter(|name| !name.starts_with(OWN_PREFIX))
            .map(|name| table_json(shared, name, loads.iter().find(|load| load.table == **name)))
            .filter(|table| !matches!(table, Err(error) if error.kind() == ErrorKind::NotFound))
            .collect();
        Ok(Json::Object(vec![
            ("type", "tables".into()),
            ("version", 1_u32.into()),
            ("now", now.into()),
            ("engine", engine_name(shared).into()),
            ("nodes", shared.options.nodes.into()),
            ("tables", Json::Array(tables?)),
        ]))
    });
    Ok(json(&answer.await?))
}

fn table_json(shared: &Shared, name: &str, load: Option<&TableLoad>) -> Result<Json> {
    let config = shared.engine.table_config(name)?;
    let sizes = sizes(shared, name)?;
    let load_json = |load: &TableLoad| {
        let mut members = sums_json(&load.minute);
        members.push(("last", load.last_ms.into()));
        Json::Object(members)
    };
    Ok(Json::Object(vec![
        ("name", name.into()),
        ("families", Json::list(config.families.iter().map(|family| family.name.as_str().into()))),
        ("bytes", sizes.iter().map(|size| size.bytes).sum::<u64>().into()),
        ("cells", sizes.iter().map(|size| size.cells).sum::<u64>().into()),
        ("tablets", (config.split_points.len() + 1).into()),
        ("load", Json::optional(load.map(load_json))),
    ]))
}

fn sums_json(sums: &Sums) -> Vec<(&'static str, Json)> {
    vec![
        ("reads", sums.reads.into()),
        ("writes", sums.writes.into()),
        ("rows", sums.rows.into()),
        ("bytes_in", sums.bytes_in.into()),
        ("bytes_out", sums.bytes_out.into()),
        ("time_us", sums.time_us.into()),
    ]
}

fn rates_json(sums: &Sums) -> Vec<(&'static str, Json)> {
    let rate = |sum: u64| Json::from(per_second(sum));
    vec![
        ("reads_per_s", rate(sums.reads)),
        ("writes_per_s", rate(sums.writes)),
        ("rows_per_s", rate(sums.rows)),
        ("bytes_in_per_s", rate(sums.bytes_in)),
        ("bytes_out_per_s", rate(sums.bytes_out)),
        ("time_us_per_s", rate(sums.time_us)),
    ]
}

#[expect(clippy::cast_precision_loss, reason = "a rate for people; 53 bits are exact up to 9e15 a minute")]
fn per_second(sum: u64) -> f64 {
    sum as f64 / f64::from(MINUTE_S)
}

/// The design of a table that people may see.
pub(super) fn config(shared: &Shared, table: &str) -> Result<TableConfig> {
    if table.starts_with(OWN_PREFIX) {
        let message = format!("there is no table `{}`", escape::escaped(table.as_bytes()));
        return Err(Error::new(ErrorKind::NotFound, message));
    }
    shared.engine.table_config(table)
}

/// `GET /api/tables/T`.
pub(super) async fn design(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
) -> std::result::Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let answer = app.run(move |shared| {
        let config = config(shared, &table)?;
        let granularity = match config.granularity {
            Granularity::Millis => "millis",
            Granularity::Micros => "micros",
        };
        let points = config.split_points.iter().map(|point| shown(point));
        Ok(Json::Object(vec![
            ("type", "table".into()),
            ("version", 1_u32.into()),
            ("name", table.as_str().into()),
            ("names", Json::list(names(shared, &table).into_iter().map(Json::from))),
            ("engine", engine_name(shared).into()),
            ("granularity", granularity.into()),
            ("deletion_protection", config.deletion_protection.into()),
            ("families", Json::list(config.families.iter().map(family_json))),
            ("split_points", Json::list(points)),
            ("schema", schema::json(shared, &table, &config)),
        ]))
    });
    Ok(json(&answer.await?))
}

/// What people call the engine; that it is recorded goes without saying.
fn engine_name(shared: &Shared) -> String {
    let description = shared.engine.description();
    description.strip_suffix(", recorded").map(str::to_owned).unwrap_or(description)
}

/// The resources that a table is, as clients name them.
fn names(shared: &Shared, table: &str) -> Vec<String> {
    let named = shared.catalog.own_tables();
    named.iter().filter(|(_, engine)| *engine == table).map(|(name, _)| name.to_string()).collect()
}

fn family_json(family: &FamilyConfig) -> Json {
    let value_type = match family.value_type {
        ValueType::Bytes => "bytes",
        ValueType::IntSum => "intsum",
        ValueType::IntMin => "intmin",
        ValueType::IntMax => "intmax",
        _ => "other",
    };
    Json::Object(vec![
        ("name", family.name.as_str().into()),
        ("gc", gc::format_rule(family.gc_rule.as_ref()).into()),
        ("value_type", value_type.into()),
    ])
}

/// `GET /api/tables/T/tablets`.
pub(super) async fn tablets(
    State(app): State<Arc<App>>,
    Path(table): Path<String>,
    pairs: Pairs,
) -> std::result::Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let now = app.now_ms();
    let answer = app.run(move |shared| {
        config(shared, &table)?;
        let sizes = sizes(shared, &table)?;
        let codec = shared.load.schema(&table);
        let tablets = with_load(&sizes, shared.load.tablets(&table)).into_iter().map(|tablet| {
            let (start, end) = (&*tablet.range.start, tablet.range.end.as_deref());
            let within = sizes.iter().filter(|size| tablet.range.contains(&size.range.start));
            let bytes: u64 = within.map(|size| size.bytes).sum();
            let mut members = vec![
                ("start", shown(start)),
                ("end", Json::optional(end.map(shown))),
                ("fields", Json::optional(codec.as_ref().and_then(|codec| fields(codec, start)))),
                ("node", tablet.node.into()),
                ("busy", tablet.node_share.into()),
                ("state", tablet.state.name().into()),
                ("bytes", bytes.into()),
            ];
            members.extend(rates_json(&tablet.minute));
            Json::Object(members)
        });
        Ok(Json::Object(vec![
            ("type", "tablets".into()),
            ("version", 1_u32.into()),
            ("table", table.as_str().into()),
            ("now", now.into()),
            ("seconds", MINUTE_S.into()),
            ("tablets", Json::list(tablets)),
        ]))
    });
    Ok(json(&answer.await?))
}

/// The tablets as the engine has them; none if it has none.
fn sizes(shared: &Shared, table: &str) -> Result<Vec<TabletInfo>> {
    match shared.engine.tablet_counters(table) {
        Err(error) if error.kind() == ErrorKind::Unsupported => Ok(Vec::new()),
        sizes => sizes,
    }
}

/// What was recorded; of a table of which nothing was, its tablets without load.
fn with_load(sizes: &[TabletInfo], recorded: Vec<TabletLoad>) -> Vec<TabletLoad> {
    if !recorded.is_empty() {
        return recorded;
    }
    let idle = |size: &TabletInfo| TabletLoad {
        range: size.range.clone(),
        node: 0,
        minute: Sums::default(),
        totals: Sums::default(),
        node_share: 0.0,
        state: TabletState::Quiet,
    };
    sizes.iter().map(idle).collect()
}

/// `GET /api/nodes`.
pub(super) async fn nodes(
    State(app): State<Arc<App>>,
    pairs: Pairs,
) -> std::result::Result<Response, Failure> {
    Values::new(pairs, &[])?;
    let now = app.now_ms();
    let answer = app.run(move |shared| {
        let capacity = Capacity::default();
        let nodes = shared.load.nodes().into_iter().map(|node| {
            let mut members = vec![
                ("node", node.node.into()),
                ("tablets", node.tablets.into()),
                ("busy", node.share.into()),
            ];
            members.extend(rates_json(&node.minute));
            Json::Object(members)
        });
        Ok(Json::Object(vec![
            ("type", "nodes".into()),
            ("version", 1_u32.into()),
            ("now", now.into()),
            ("seconds", MINUTE_S.into()),
            (
                "capacity",
                Json::Object(vec![("name", capacity.name.into()), ("source", capacity.source.into())]),
            ),
            ("nodes", Json::list(nodes)),
        ]))
    });
    Ok(json(&answer.await?))
}

/// A key, escaped.
pub(super) fn shown(key: &[u8]) -> Json {
    escape::escaped(key).to_string().into()
}

/// The fields of a key, as far as it follows its schema: `vehicle=4092 time=2026-09-15T00:00:00Z`. `None`: not even the first.
pub(super) fn fields(codec: &Codec, key: &[u8]) -> Option<String> {
    let parts = codec.explain(key).parts;
    let named = parts.iter().filter(|part| part.name != "literal");
    let texts: Vec<String> = named
        .map(
            |part| {
                if part.name == "salt" { part.text.clone() } else { format!("{}={}", part.name, part.text) }
            },
        )
        .collect();
    (!texts.is_empty()).then(|| texts.join(" "))
}
