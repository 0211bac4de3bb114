//! The routes over a socket, as a program and as a browser ask.

use crate::{Options, Server};
use rowkey_store::memory::MemoryEngine;
use rowkey_store::{Durability, Engine, EngineExt as _, Mutation, RowMutation, SystemClock, Timestamp};
use serde_json::Value;
use std::io::{Read as _, Write as _};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::sync::Arc;

const SCHEMA: &str = "version = 1\ntable = \"events\"\n[key]\nlayout = \"{user}#{n}\"\n[key.fields]\nuser = { type = \"string\" }\nn = { type = \"uint\", digits = 3 }\n";

/// A server with a table `events` of 300 rows in two tablets.
struct Site {
    server: Server,
    engine: Arc<MemoryEngine>,
}

struct Answer {
    status: u16,
    head: String,
    body: String,
}

impl Answer {
    fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|error| panic!("{error}: {}", self.body))
    }

    fn message(&self) -> String {
        let error = &self.json()["error"];
        assert!(
            error["request_id"].as_str().is_some_and(|id| self.head.contains(id)),
            "{error} {}",
            self.head
        );
        error["message"].as_str().unwrap_or_default().to_owned()
    }
}

impl Site {
    fn new() -> Self {
        let engine = Arc::new(MemoryEngine::new(Arc::new(SystemClock)));
        engine.create("events", &[("m", "maxversions=1")]).unwrap();
        engine.split_tablet("events", &"b#".into()).unwrap();
        let rows = (0..300).map(|n| {
            let key = format!("{}#{n:03}", ["a", "b", "c"][n % 3]);
            RowMutation {
                key: key.into(),
                mutations: vec![Mutation::set("m", "q", Timestamp::Micros(1_000), "value")],
            }
        });
        engine.mutate_rows("events", rows.collect(), Durability::Synced).unwrap();
        let address = SocketAddr::from((Ipv4Addr::LOCALHOST, 0));
        let options = Options { grpc_address: address, http_address: Some(address), ..Options::default() };
        let server = Server::start(Arc::clone(&engine) as Arc<dyn Engine>, options).unwrap();
        Self { server, engine }
    }

    /// One request with these lines in its head.
    fn send(&self, request: &str, lines: &str, body: &str) -> Answer {
        let address = self.server.http_address().unwrap();
        let host = if lines.to_lowercase().contains("host:") {
            String::new()
        } else {
            format!("Host: {address}\r\n")
        };
        let mut stream = TcpStream::connect(address).unwrap();
        write!(
            stream,
            "{request} HTTP/1.1\r\n{host}Connection: close\r\nContent-Length: {}\r\n{lines}\r\n{body}",
            body.len()
        )
        .unwrap();
        let mut text = String::new();
        stream.read_to_string(&mut text).unwrap();
        let (head, body) = text.split_once("\r\n\r\n").unwrap();
        let status = head.split(' ').nth(1).unwrap().parse().unwrap();
        Answer { status, head: head.to_owned(), body: body.to_owned() }
    }

    fn get(&self, path: &str) -> Answer {
        self.send(&format!("GET {path}"), "", "")
    }

    fn change(&self, request: &str, body: &str) -> Answer {
        self.send(request, "X-Rowkey-Request: test\r\n", body)
    }

    fn refused(&self, path: &str, status: u16, part: &str) {
        let answer = self.get(path);
        assert_eq!(answer.status, status, "{path}: {}", answer.body);
        assert!(answer.message().contains(part), "{path}: {}", answer.body);
    }
}

#[test]
fn the_page_runs_its_own_script_and_style_and_nothing_else() {
    let site = Site::new();
    let page = site.get("/");
    assert_eq!(page.status, 200);
    let head = page.head.to_lowercase();
    for line in [
        "content-security-policy: default-src 'none'; script-src 'sha256-",
        "connect-src 'self'",
        "frame-ancestors 'none'",
        "nosniff",
        "no-store",
        "text/html",
    ] {
        assert!(head.contains(line), "{line}: {head}");
    }
    for outside in ["http://", "https://", "src=", "@import", "url(", "innerHTML", "eval(", "{{", " style=\""]
    {
        assert!(!page.body.contains(outside), "{outside}");
    }
    assert_eq!(page.body.matches("<script").count(), 2, "palette and module");
    assert!(page.body.contains(rowkey_hotspot::heatmap::MAP_JS), "the map is shared, not copied");
}

#[test]
fn tables_are_listed_with_their_design() {
    let site = Site::new();
    let list = site.get("/api/tables").json();
    assert_eq!(list["tables"][0]["name"], "events");
    assert_eq!(list["tables"].as_array().unwrap().len(), 1, "the server's own tables are not listed: {list}");
    assert!(list["tables"][0]["bytes"].as_u64().is_some_and(|bytes| bytes > 1_000));
    let design = site.get("/api/tables/events").json();
    assert_eq!(design["families"][0]["gc"], "maxversions=1");
    assert_eq!(design["split_points"], serde_json::json!(["b#"]));
    assert_eq!(design["granularity"], "millis");
    assert!(design["schema"].is_null());
    assert_eq!(site.get("/api/nodes").json()["type"], "nodes");
    assert_eq!(site.get("/api/tables/events/tablets").json()["type"], "tablets");
    assert_eq!(site.get("/healthz").body, "ok\n");
}

#[test]
fn a_map_is_a_sheet_and_says_what_time_it_is() {
    let site = Site::new();
    let sheet =
        site.get("/api/tables/events/heatmap?last=900000&rows=100&columns=100&start=a%23&end=c").json();
    assert_eq!(sheet["type"], "heatmap");
    assert!(sheet["now"].as_i64().is_some_and(|now| now > 1_500_000_000_000));
    assert_eq!(site.get("/api/tables/events/keys?metric=reads").json()["metric"], "reads");
}

#[test]
fn what_is_wrong_is_told_by_its_name() {
    let site = Site::new();
    site.refused("/api/tables/none/heatmap", 404, "none");
    site.refused("/api/tables/_rowkey", 404, "no table");
    site.refused("/api/tables/_rowkey/tablets", 404, "no table");
    site.refused("/api/other", 404, "nothing at this path");
    site.refused("/api/tables/%FF", 400, "UTF-8");
    let heatmap =
        |query: &str, part: &str| site.refused(&format!("/api/tables/events/heatmap?{query}"), 400, part);
    heatmap("rows=0", "`rows` must be an integer from 1 to 1000");
    heatmap("rows=1001", "`rows`");
    heatmap("columns=x", "`columns`");
    heatmap("from=-1", "`from`");
    heatmap("from=99999999999999999999", "`from`");
    heatmap("from=5&to=5", "later");
    heatmap("from=5&last=5", "`last`");
    heatmap("last=0", "`last`");
    heatmap("start=%5Cq", "`start`");
    heatmap("start=%FF", "UTF-8");
    heatmap("start=b&end=a", "behind");
    heatmap(&format!("start={}", "a".repeat(5_000)), "4096");
    heatmap("metric=nothing", "`metric`");
    heatmap("sart=a", "`sart` is no parameter");
    heatmap("rows=5&rows=6", "twice");
    site.refused("/api/tables?x=1", 400, "there are: none");
    let answer = site.send("DELETE /api/tables", "X-Rowkey-Request: 1\r\n", "");
    assert_eq!((answer.status, answer.message().contains("method")), (405, true));
}

#[test]
fn other_sites_and_names_are_refused() {
    let site = Site::new();
    let host = site.send("GET /api/tables", "Host: evil.example\r\n", "");
    assert_eq!(host.status, 403);
    assert!(host.message().contains("evil.example"));
    assert_eq!(site.send("GET /healthz", "Host: evil.example\r\n", "").status, 200);
    let without = site.send("POST /api/tables/events/collect", "", "");
    assert_eq!(without.status, 403);
    assert!(without.message().contains("x-rowkey-request"));
    let origin = "X-Rowkey-Request: 1\r\nOrigin: https://evil.example\r\n";
    assert_eq!(site.send("PUT /api/tables/events/schema", origin, SCHEMA).status, 403);
    assert!(site.engine.table_config("events").unwrap().annotations.is_empty());
    let get = site.get("/api/tables").head.to_lowercase();
    assert!(!get.contains("access-control"), "{get}");
}

#[test]
fn a_tablet_is_cut_and_garbage_is_collected() {
    let site = Site::new();
    let cut = site.change("POST /api/tables/events/split", "{\"at\": \"c#\\\\x00\"}");
    assert_eq!((cut.status, cut.json()["at"].as_str()), (200, Some("c#\\x00")), "{}", cut.body);
    let points = site.engine.table_config("events").unwrap().split_points;
    assert_eq!(points.last().unwrap().as_ref(), b"c#\0");
    for (sent, part) in [
        ("", "body must be"),
        ("[]", "body must be"),
        ("{\"at\":1}", "body must be"),
        ("{\"at\":\"a\",\"b\":1}", "body must be"),
        ("{\"at\":\"\\\\q\"}", "`at`"),
        ("{\"at\":\"\"}", ""),
    ] {
        let answer = site.change("POST /api/tables/events/split", sent);
        assert_eq!(answer.status, 400, "{sent}: {}", answer.body);
        assert!(answer.message().contains(part), "{sent}: {}", answer.body);
    }
    let garbage = site.get("/api/tables/events/garbage").json();
    assert_eq!(garbage["families"][0]["live_cells"], 300);
    let collected = site.change("POST /api/tables/events/collect", "").json();
    assert_eq!(
        (collected["type"].as_str(), collected["families"][0]["expired_cells"].as_u64()),
        (Some("collected"), Some(0))
    );
}

#[test]
fn a_schema_is_checked_before_it_is_used() {
    let site = Site::new();
    let wrong = site.change("PUT /api/tables/events/schema", &SCHEMA.replace("digits", "digit"));
    assert_eq!((wrong.status, wrong.json()["error"]["line"].as_u64()), (400, Some(7)), "{}", wrong.body);
    assert!(wrong.message().contains("digit"));
    let long = site.change("PUT /api/tables/events/schema", &"#".repeat(300_000));
    assert_eq!(long.status, 413, "{}", long.body);
    let good = site.change("PUT /api/tables/events/schema", SCHEMA);
    assert_eq!((good.status, good.json()["layout"].as_str()), (200, Some("{user}#{n}")), "{}", good.body);
    assert!(site.engine.table_config("events").unwrap().annotations.contains_key("rowkey.view_schema"));
    assert_eq!(site.change("PUT /api/tables/none/schema", SCHEMA).status, 404);
    assert_eq!(site.change("DELETE /api/tables/events/schema", "").status, 200);
    assert!(site.engine.table_config("events").unwrap().annotations.is_empty());
}
