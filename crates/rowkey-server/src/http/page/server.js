// ---- the server's page: tables, tablets, nodes and schemas around the map above ----
// What a server answers is described in docs/formats/server.md. All text goes in by textContent, here too.

const REFRESH_S = 2;
const server = { tables: [], table: null, view: "map", tablets: null, nodes: null, unfolded: new Set(), sort: { by: "load", down: true } };
const VIEWS = ["map", "tablets", "nodes", "design"];

/** Asks the server. What changes something says that this page asks, which no page of another host can. */
async function api(path, method = "GET", body = undefined) {
  const headers = method === "GET" ? {} : { "x-rowkey-request": "page" };
  const answer = await fetch(path, { method, body, headers, credentials: "same-origin", cache: "no-store" });
  const told = await answer.json().catch(() => null);
  if (answer.ok && told) return told;
  const error = new Error(told?.error?.message ?? `${path}: ${answer.status} ${answer.statusText}`);
  throw Object.assign(error, { line: told?.error?.line, id: told?.error?.request_id });
}

const path = (...parts) => `/api/tables/${[server.table, ...parts].map(encodeURIComponent).join("/")}`;
const bytesText = (bytes) => {
  const [size, unit] = [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]].find(([size]) => bytes >= size) ?? [1, "B"];
  return `${number.format(Number((bytes / size).toPrecision(3)))} ${unit}`;
};
const rate = (value) => (value === 0 ? "0" : value >= 10 ? number.format(Math.round(value)) : value.toPrecision(2));
const share = (part) => part === 0 ? "0 %" : `${(100 * part).toFixed(part < 0.1 ? 1 : 0)} %`;
const level = (part) => (part > 1 ? "over" : part > 0.7 ? "high" : "");
const clock = (time) => `${new Date(time).toISOString().slice(11, 19)} UTC`;

// ---- what the map shows more ----

hooks.address = () => ({ table: server.table, ...(server.view === "map" ? {} : { view: server.view }) });

hooks.loaded = () => {
  $("banner").hidden = true;
  showPulse();
  showRange();
  showPrefixes();
  const { columns, metrics } = state.sheet;
  const empty = !columns || !metrics.length;
  $("empty").hidden = !empty;
  $("empty").textContent = empty ? "Nothing was recorded in this part of time and keys. Run your application or load test against this server." : "";
};

hooks.failed = (error) => {
  $("banner").textContent = `The server does not answer as it should: ${error.message}`;
  $("banner").hidden = false;
};

hooks.ranged = showRange;

function showPulse() {
  const following = range.span !== undefined;
  const now = Math.max(state.sheet?.now ?? 0, server.tablets?.now ?? 0);
  $("pulse").textContent = following ? `live${now ? `, ${clock(now)}` : ""}` : "not following";
  $("pulse").classList.toggle("live", following);
  $("live").setAttribute("aria-pressed", String(following));
}

function showRange() {
  showPulse();
  const select = $("span"), known = [...select.options].find((option) => option.value === String(range.span));
  const other = select.querySelector('[data-other]') ?? select.appendChild(element("option", { "data-other": "", value: "other" }));
  other.hidden = Boolean(known);
  if (!known) {
    const { from, to } = state.sheet ? times() : { from: 0, to: 0 };
    other.textContent = range.span ? `last ${width({ axis: "time", time_step: range.span })}` : `${moment(from, 1000).slice(5)} for ${Math.round((to - from) / 1000)} s`;
  }
  select.value = known ? known.value : "other";
  showCrumbs();
}

function showCrumbs() {
  const steps = [{ text: "all keys", trail: [] }, ...range.trail.map((step, index) => ({
    text: step.text || `${step.start || "first key"} to ${step.end ?? "last key"}`, trail: range.trail.slice(0, index + 1),
  }))];
  const parts = steps.flatMap(({ text, trail }, index) => {
    const here = index === steps.length - 1;
    const button = element("button", { type: "button", title: text, ...(here ? { "aria-current": "location", disabled: "" } : {}) }, text);
    button.addEventListener("click", () => {
      const next = { ...range };
      keysOf(next, trail);
      ask(next);
    });
    return index ? [element("span", { "aria-hidden": "true" }, "\u203a"), button] : [button];
  });
  $("crumbs").replaceChildren(...parts);
}

/** The tablet that holds a key. */
function tabletOf(key) {
  const { tablets } = server.tablets ?? { tablets: [] }, wanted = bytesOf(key);
  const at = tablets.findLastIndex(({ start }) => bytesOf(start) <= wanted);
  return at < 0 ? null : { ...tablets[at], at, of: tablets.length };
}

hooks.facts = ({ row }) => {
  const tablet = tabletOf(state.sheet.keys[row]);
  return tablet ? [["tablet", `${tablet.at + 1} of ${tablet.of}, on node ${tablet.node + 1}`]] : [];
};

/** Tablets as a band at the left edge, every second one dark. */
hooks.drawn = (context) => {
  const { tablets } = server.tablets ?? { tablets: [] }, { map } = box, { sheet } = state;
  if (!sheet.rows || !tablets.length) return;
  context.save();
  tablets.forEach(({ start }, index) => {
    const from = rowOf(start), to = index + 1 < tablets.length ? rowOf(tablets[index + 1].start) : sheet.rows;
    const top = clamp(rowY(Math.max(0, from)), map.y, map.y + map.height), bottom = clamp(rowY(Math.max(0, to)), map.y, map.y + map.height);
    context.fillStyle = style(index % 2 ? "--line" : "--faint");
    if (bottom > top) context.fillRect(map.x - 5, top, 4, bottom - top);
  });
  context.restore();
};

hooks.pinned = (pin) => {
  const holder = element("div", { class: "top" }, "Asking for its busiest keys ...");
  const target = new URLSearchParams({ start: pin.key, ...(pin.end === null ? {} : { end: pin.end }), metric: pin.metric === LATENCY ? "time" : pin.metric ?? "writes" });
  api(`${path("keys")}?${target}`).then((answer) => holder.replaceChildren(topKeys(answer)), (error) => { holder.textContent = error.message; });
  return holder;
};

function topKeys({ keys, metric, since, unlisted_max: unlisted }) {
  if (!keys.length) return element("p", { class: "faint" }, "No key of this range stands out.");
  const rows = keys.slice(0, 10).map(({ key, fields, count, error_max: error }) => element("tr", {},
    element("td", {}, element("code", {}, fields || key)), element("td", { class: "number" }, number.format(count)), element("td", { class: "number faint" }, error ? `at most ${number.format(error)} too high` : "exact")));
  const head = element("tr", {}, ...["busiest keys of the range", metric, "error"].map((name) => element("th", { scope: "col" }, name)));
  const note = `${since ? `Counted since ${moment(since, 1000)} UTC. ` : ""}${unlisted ? `No other key came more than ${number.format(unlisted)} times.` : ""}`;
  return element("div", {}, element("table", {}, element("thead", {}, head), element("tbody", {}, ...rows)), element("p", { class: "faint" }, note));
}

// ---- prefixes as a hierarchy ----

const PREFIXES_MAX = 12;
let prefixesShown = "";
function showPrefixes() {
  const { labels } = state.sheet;
  const now = JSON.stringify([labels, [...server.unfolded], state.metric, labels[0]?.map(shareOf)]);
  if (now === prefixesShown) return;
  prefixesShown = now;
  const focused = document.activeElement?.dataset?.prefix;
  const list = (level, within, above) => {
    const inside = (labels[level] ?? []).filter(({ from, to }) => from >= within.from && to <= within.to).map((label) => ({ ...label, share: shareOf(label) }));
    const shown = [...inside].sort((one, other) => other.share - one.share).slice(0, PREFIXES_MAX);
    const items = shown.map((label) => {
      const name = [...above, label.text].join(""), open = server.unfolded.has(name) !== (inside.length === 1), deeper = (labels[level + 1] ?? []).some(({ from, to }) => from >= label.from && to <= label.to);
      const toggle = element("button", { type: "button", class: "toggle", "data-prefix": `toggle ${name}`, "aria-expanded": String(open), "aria-label": `${open ? "Fold" : "Unfold"} ${label.text}`, ...(deeper ? {} : { disabled: "" }) }, deeper ? (open ? "\u25be" : "\u25b8") : "");
      toggle.addEventListener("click", () => {
        // One alone is unfolded from the beginning.
        if (server.unfolded.has(name)) server.unfolded.delete(name);
        else server.unfolded.add(name);
        showPrefixes();
      });
      const enterIt = element("button", { type: "button", class: "name", "data-prefix": `name ${name}`, title: `Show only ${label.text}` }, label.text);
      enterIt.addEventListener("click", () => enter(label, level));
      const fill = element("span", { class: "fill" });
      fill.style.width = `${label.share}%`;
      return element("li", {}, element("div", {}, fill, toggle, enterIt, element("span", { class: "share" }, percent(label.share))), ...(open && deeper ? [list(level + 1, label, [...above, label.text])] : []));
    });
    if (inside.length > shown.length) items.push(element("li", { class: "faint" }, `and ${number.format(inside.length - shown.length)} more`));
    return element("ul", {}, ...items);
  };
  const title = `Prefixes by ${current.metric?.name === LATENCY ? "time spent" : current.metric?.name ?? "load"}`;
  $("prefixes").replaceChildren(...(labels.length ? [element("h2", {}, title), list(0, { from: 0, to: state.sheet.rows }, [])] : []));
  if (focused) [...$("prefixes").querySelectorAll("button")].find((button) => button.dataset.prefix === focused)?.focus();
}

// ---- nodes ----

const meter = (part) => {
  const fill = element("span", { class: level(part) });
  fill.style.width = `${clamp(100 * part, 0, 100)}%`;
  return element("span", { class: "meter", role: "img", "aria-label": share(part), title: `${share(part)} of what a node takes` }, fill);
};

const STATES = { "one-row": "one row: no split helps", "too-many-tablets": "as many tablets as splits by load may make", busy: "busy" };
const loadOf = (busy, state) => element("span", { class: "loaded" }, meter(busy), element("span", { class: "part" }, share(busy)), ...(STATES[state] ? [element("span", { class: "faint" }, STATES[state])] : []));

function showNodes() {
  const { nodes = [], capacity, seconds } = server.nodes ?? {};
  const most = nodes.reduce((most, { busy }) => Math.max(most, busy), 0), full = most > 0.3 || !most ? 1 : most;
  const bars = nodes.map(({ node, busy, tablets }) => {
    const bar = element("span", { class: level(busy), title: `node ${node + 1}: ${share(busy)}, ${number.format(tablets)} tablets` });
    bar.style.height = `${clamp((100 * busy) / full, 1, 100)}%`;
    return bar;
  });
  const mean = nodes.reduce((sum, { busy }) => sum + busy, 0) / Math.max(1, nodes.length);
  const said = `${nodes.length} nodes now: the busiest ${share(most)} of what a node takes, ${share(mean)} on average${full < 1 ? "; bars relative to the busiest" : ""}`;
  $("now").replaceChildren(...(nodes.length ? [element("h2", {}, "Nodes now"), element("div", { class: "strip", role: "img", "aria-label": said }, ...bars), element("p", { class: "faint" }, said)] : []));
  if (server.view !== "nodes") return;
  const head = ["node", "load", "tablets", "reads/s", "writes/s", "in/s", "out/s"];
  const rows = nodes.map((node) => element("tr", {}, element("th", { scope: "row" }, String(node.node + 1)), element("td", {}, loadOf(node.busy)), ...[number.format(node.tablets), rate(node.reads_per_s), rate(node.writes_per_s), bytesText(node.bytes_in_per_s), bytesText(node.bytes_out_per_s)].map((text) => element("td", { class: "number" }, text))));
  const note = capacity ? `Load is what was asked in the last ${seconds} s, as a share of what a node takes: ${capacity.source}.` : "";
  $("nodes").replaceChildren(element("div", { class: "scroll" }, element("table", { class: "list" }, element("thead", {}, element("tr", {}, ...head.map((name, at) => element("th", { scope: "col", class: at > 1 ? "number" : "" }, name)))), element("tbody", {}, ...rows))), element("p", { class: "faint" }, note));
}

// ---- tablets ----

const TABLET_COLUMNS = [
  { by: "at", name: "#", value: (tablet) => tablet.at, text: (tablet) => String(tablet.at + 1) },
  { by: "key", name: "keys from", value: (tablet) => tablet.at },
  { by: "load", name: "load", value: (tablet) => tablet.busy },
  { by: "node", name: "node", value: (tablet) => tablet.node, text: (tablet) => String(tablet.node + 1) },
  { by: "reads", name: "reads/s", value: (tablet) => tablet.reads_per_s, text: (tablet) => rate(tablet.reads_per_s) },
  { by: "writes", name: "writes/s", value: (tablet) => tablet.writes_per_s, text: (tablet) => rate(tablet.writes_per_s) },
  { by: "in", name: "in/s", value: (tablet) => tablet.bytes_in_per_s, text: (tablet) => bytesText(tablet.bytes_in_per_s) },
  { by: "out", name: "out/s", value: (tablet) => tablet.bytes_out_per_s, text: (tablet) => bytesText(tablet.bytes_out_per_s) },
  { by: "bytes", name: "size", value: (tablet) => tablet.bytes, text: (tablet) => bytesText(tablet.bytes) },
];

let tabletsShown = "";
function showTablets() {
  if (server.view !== "tablets" || !server.tablets) return;
  const { by, down } = server.sort, { value } = TABLET_COLUMNS.find((column) => column.by === by);
  const tablets = server.tablets.tablets.map((tablet, at) => ({ ...tablet, at })).sort((one, other) => (value(one) - value(other)) * (down ? -1 : 1) || one.at - other.at).slice(0, 1000);
  const now = JSON.stringify([tablets, server.sort]);
  if (now === tabletsShown) return;
  tabletsShown = now;
  const head = TABLET_COLUMNS.map((column, at) => {
    const sort = element("button", { type: "button", "data-sort": column.by }, column.name);
    sort.addEventListener("click", () => {
      server.sort = { by: column.by, down: by === column.by ? !down : at > 1 };
      showTablets();
    });
    return element("th", { scope: "col", class: at > 2 ? "number" : "", ...(by === column.by ? { "aria-sort": down ? "descending" : "ascending" } : {}) }, ...(column.name ? [sort] : []));
  });
  const rows = tablets.map((tablet) => {
    const from = element("button", { type: "button", class: "key", "data-tablet": String(tablet.at), title: `to ${tablet.end ?? "the last key"}; show it in the heatmap` }, tablet.fields || tablet.start || "(first key)");
    from.addEventListener("click", () => {
      open("map");
      const next = { ...range };
      keysOf(next, [{ text: `tablet ${tablet.at + 1}`, start: tablet.start || undefined, end: tablet.end ?? undefined }]);
      ask(next);
    });
    return element("tr", {}, ...TABLET_COLUMNS.map((column, at) => element("td", { class: at > 2 ? "number" : "" }, column.by === "key" ? from : column.by === "load" ? loadOf(tablet.busy, tablet.state) : column.text(tablet))));
  });
  const focused = document.activeElement?.dataset ?? {}, more = server.tablets.tablets.length - tablets.length;
  $("tablets").replaceChildren(element("div", { class: "scroll" }, element("table", { class: "list" }, element("thead", {}, element("tr", {}, ...head)), element("tbody", {}, ...rows))), ...(more > 0 ? [element("p", { class: "faint" }, `and ${number.format(more)} more`)] : []));
  const again = focused.sort ? `[data-sort="${focused.sort}"]` : focused.tablet ? `[data-tablet="${focused.tablet}"]` : null;
  if (again) $("tablets").querySelector(again)?.focus();
}

// ---- the table's design ----

async function showDesign() {
  const { table } = server;
  if (!table) return;
  try {
    const design = await api(path());
    if (table !== server.table) return;
    const families = design.families.map(({ name, gc, value_type: type }) => element("tr", {}, element("th", { scope: "row" }, name), element("td", {}, element("code", {}, gc)), element("td", {}, type)));
    const points = design.split_points, shown = points.slice(0, 50).join("  "), facts = [
      ["Name", design.names.length ? design.names.join(", ") : design.name], ["Engine", design.engine], ["Timestamps", design.granularity === "micros" ? "microseconds" : "milliseconds"],
      ["Deletion protection", design.deletion_protection ? "on" : "off"],
      ["Split points", points.length ? `${number.format(points.length)}: ${shown}${points.length > 50 ? " ..." : ""}` : "none: one tablet"],
      ["Key layout", design.schema ? design.schema.layout : "not known: give a key schema below"],
    ];
    $("design").replaceChildren(element("h2", {}, `Table ${design.name}`), element("dl", {}, ...facts.flatMap(([name, value]) => [element("dt", {}, name), element("dd", {}, value)])),
      element("h2", {}, "Families"), element("table", { class: "list" }, element("thead", {}, element("tr", {}, ...["family", "garbage collection", "values"].map((name) => element("th", { scope: "col" }, name)))), element("tbody", {}, ...families)),
      element("p", {}, element("a", { href: path("doctor"), target: "_blank", rel: "noopener" }, "The doctor's report as JSON")));
    if (document.activeElement !== $("schema-text")) $("schema-text").value = design.schema?.toml ?? "";
    const kept = design.schema?.source === "table";
    for (const id of ["schema-remove", "schema-text", "schema-file"]) $(id).disabled = kept;
    $("schema-remove").disabled ||= !design.schema;
    if (kept) $("schema-said").replaceChildren(element("p", { class: "faint" }, "This table keeps the schema that it was made with."));
  } catch (error) {
    $("design").replaceChildren(element("p", { class: "said-bad" }, error.message));
  }
}

function say(id, text, good) {
  $(id).replaceChildren(element("span", { class: good ? "said-good" : "said-bad" }, text));
}

function showGarbage({ families }) {
  const head = ["family", "kept cells", "kept", "garbage cells", "garbage"];
  const rows = families.map((family) => element("tr", {}, element("th", { scope: "row" }, family.family), ...[number.format(family.live_cells), bytesText(family.live_bytes), number.format(family.expired_cells), bytesText(family.expired_bytes)].map((text) => element("td", { class: "number" }, text))));
  $("garbage").replaceChildren(element("table", { class: "list" }, element("thead", {}, element("tr", {}, ...head.map((name, at) => element("th", { scope: "col", class: at ? "number" : "" }, name)))), element("tbody", {}, ...rows)));
}

async function garbage(button, method, part) {
  button.disabled = true;
  say("garbage", "Working ...", true);
  try {
    showGarbage(await api(path(part), method));
  } catch (error) {
    say("garbage", error.message, false);
  }
  button.disabled = false;
}

async function splitAt(event) {
  event.preventDefault();
  const at = $("split-key").value;
  try {
    await api(path("split"), "POST", JSON.stringify({ at }));
    say("split-said", `Cut at ${at}.`, true);
    $("split-key").value = "";
    await Promise.all([showDesign(), refreshTablets()]);
  } catch (error) {
    say("split-said", error.message, false);
  }
}

async function useSchema(event) {
  event.preventDefault();
  try {
    const { checked, decoded, first_failure: failure } = await api(path("schema"), "PUT", $("schema-text").value);
    const text = checked === 0 ? "The schema is good. The table has no rows to try it on." : `The schema is good: ${number.format(decoded)} of ${number.format(checked)} keys that were tried follow it.`;
    say("schema-said", failure ? `${text} The first that does not: ${failure.key}: ${failure.message}` : text, !failure);
    await Promise.all([showDesign(), load(), refreshTablets()]);
  } catch (error) {
    say("schema-said", error.message, false);
    if (error.line) selectLine(error.line);
  }
}

/** Shows the line of a mistake. */
function selectLine(line) {
  const text = $("schema-text"), lines = text.value.split("\n"), from = lines.slice(0, line - 1).join("\n").length + (line > 1 ? 1 : 0);
  text.focus();
  text.setSelectionRange(from, from + (lines[line - 1]?.length ?? 0));
}

async function removeSchema() {
  try {
    await api(path("schema"), "DELETE");
    say("schema-said", "Keys are shown as they are.", true);
    $("schema-text").value = "";
    await Promise.all([showDesign(), load(), refreshTablets()]);
  } catch (error) {
    say("schema-said", error.message, false);
  }
}

// ---- views ----

function open(view) {
  server.view = VIEWS.includes(view) ? view : "map";
  for (const name of VIEWS) {
    const chosenOne = name === server.view, tab = $(`tab-${name}`);
    tab.setAttribute("aria-selected", String(chosenOne));
    tab.tabIndex = chosenOne ? 0 : -1;
    $(`panel-${name}`).hidden = !chosenOne;
  }
  tabletsShown = "";
  showNodes();
  showTablets();
  if (server.view === "design") showDesign();
  if (state.sheet) {
    describe();
    if (server.view === "map") {
      // It was laid out while it was hidden.
      layout();
      load();
    }
  }
}

function listenToTabs() {
  const tabs = VIEWS.map((name) => $(`tab-${name}`));
  tabs.forEach((tab, at) => {
    tab.addEventListener("click", () => open(VIEWS[at]));
    tab.addEventListener("keydown", ({ key }) => {
      const to = { ArrowRight: at + 1, ArrowLeft: at - 1, Home: 0, End: tabs.length - 1 }[key];
      if (to === undefined) return;
      const next = (to + tabs.length) % tabs.length;
      tabs[next].focus();
      open(VIEWS[next]);
    });
  });
}

// ---- tables ----

async function refreshTables() {
  const { tables, engine } = await api("/api/tables");
  server.tables = tables;
  const select = $("table"), names = tables.map(({ name }) => name);
  if ([...select.options].map(({ value }) => value).join("\n") !== names.join("\n")) select.replaceChildren(...names.map((name) => element("option", { value: name }, name)));
  if (server.table !== null && names.includes(server.table)) select.value = server.table;
  select.title = tables.length ? `${tables.length} tables in ${engine}` : "";
  return names;
}

async function refreshTablets() {
  const { table } = server;
  if (!table) return;
  const [tablets, nodes] = await Promise.all([api(path("tablets")), api("/api/nodes")]);
  if (table !== server.table) return;
  Object.assign(server, { tablets, nodes });
  showPulse();
  showNodes();
  showTablets();
  if (state.sheet && isShown()) redraw();
}

async function choose(table) {
  Object.assign(server, { table, tablets: null, unfolded: new Set() });
  Object.assign(state, { history: [], pins: [], cursor: null, pointer: null, finding: -1 });
  source = endpoint(path("heatmap"));
  range = { trail: [], span: range.span ?? range.lastSpan ?? SPAN };
  $("table").value = table;
  for (const id of ["garbage", "split-said", "schema-said"]) $(id).replaceChildren();
  showPins();
  await Promise.all([load(), refreshTablets().catch(hooks.failed), ...(server.view === "design" ? [showDesign()] : [])]);
}

/** Repeats for ever, never more often than the answers come; a page that nobody sees asks nothing. */
async function repeat(action, seconds) {
  for (;;) {
    await new Promise((done) => setTimeout(done, seconds * 1000));
    if (!document.hidden) await action().catch(hooks.failed);
  }
}

async function firstTable() {
  for (;;) {
    try {
      const names = await refreshTables(), wanted = new URLSearchParams(location.hash.slice(1)).get("table");
      $("banner").hidden = true;
      if (names.length) return names.includes(wanted) ? wanted : busiest();
      $("empty").textContent = "There is no table yet. Set BIGTABLE_EMULATOR_HOST as `rowkey serve` printed it, and let your application create one: it appears here.";
      $("empty").hidden = false;
    } catch (error) {
      hooks.failed(error);
    }
    await new Promise((done) => setTimeout(done, 1000));
  }
}

/** The table with most operations in the last minute. */
function busiest() {
  const of = ({ load }) => (load ? load.reads + load.writes : 0);
  return server.tables.reduce((most, table) => (of(table) > of(most) ? table : most)).name;
}

function listenToAll() {
  listenToTabs();
  $("table").addEventListener("change", () => choose($("table").value));
  $("earlier").addEventListener("click", () => shift(-0.5));
  $("later").addEventListener("click", () => shift(0.5));
  $("live").addEventListener("click", () => live());
  $("span").addEventListener("change", () => { if ($("span").value !== "other") live(Number($("span").value)); });
  $("measure").addEventListener("click", () => garbage($("measure"), "GET", "garbage"));
  $("collect").addEventListener("click", () => garbage($("collect"), "POST", "collect"));
  $("split").addEventListener("submit", splitAt);
  $("schema").addEventListener("submit", useSchema);
  $("schema-remove").addEventListener("click", removeSchema);
  $("schema-file").addEventListener("change", async () => { $("schema-text").value = (await $("schema-file").files[0]?.text()) ?? $("schema-text").value; });
}

document.documentElement.dataset.theme = theme();
server.view = new URLSearchParams(location.hash.slice(1)).get("view") ?? "map";
listenToAll();
open(server.view);
server.table = await firstTable();
$("table").value = server.table;
$("empty").hidden = true;
refreshTablets().catch(hooks.failed);
if (server.view === "design") showDesign();
await start(endpoint(path("heatmap")), REFRESH_S);
showRange();
repeat(refreshTablets, 3);
repeat(refreshTables, 5);
