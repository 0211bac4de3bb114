// The heatmap: draws one sheet (docs/formats/heatmap.md), from the document itself or from a server. `start(source)` begins.
// No request leaves the host it came from, and nothing is evaluated. All text goes in by textContent.
// A page that is more than a map sets `hooks` and calls what is here; see crates/rowkey-server/src/http/page/server.js.

const $ = (id) => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const number = new Intl.NumberFormat("en-US");
const palettes = JSON.parse($("palette").textContent);

// ---- where sheets come from ----

/** What another page adds: each may be missing. */
const hooks = {
  /** More of the address behind `#`: names and values. */ address: null,
  /** More lines about a cell. */ facts: null,
  /** An element below a pin's lines. */ pinned: null,
  /** Draws over the map. */ drawn: null,
  /** A sheet was loaded. */ loaded: null,
  /** Loading failed. */ failed: null,
  /** The part of time or keys that is asked for has changed. */ ranged: null,
};

/** A sheet inside the document. */
const embedded = (text) => ({ live: false, load: async () => JSON.parse(text) });

/** Sheets of a server: `url?from=&to=&start=&end=&rows=&columns=`. */
const endpoint = (url) => ({
  live: true,
  load: async (query) => {
    const target = new URL(url, location.href);
    for (const [name, value] of Object.entries(query)) {
      if (value !== undefined && value !== null) target.searchParams.set(name, value);
    }
    const answer = await fetch(target, { credentials: "same-origin" });
    if (!answer.ok) {
      const told = await answer.json().catch(() => null);
      throw new Error(told?.error?.message ?? `${target.pathname}: ${answer.status} ${answer.statusText}`);
    }
    return answer.json();
  },
});

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content;
/** Where sheets come from: what the document holds or names, unless `start` is told otherwise. */
let source = null;

/** Sums of a metric: Base64 of zlib of LEB128, row by row. */
async function unpack(text, count) {
  const packed = Uint8Array.from(atob(text), (character) => character.charCodeAt(0));
  const stream = new Blob([packed]).stream().pipeThrough(new DecompressionStream("deflate"));
  const bytes = new Uint8Array(await new Response(stream).arrayBuffer());
  const cells = new Float64Array(count);
  let at = 0;
  for (let cell = 0; cell < count; cell++) {
    let value = 0, scale = 1, byte;
    do {
      byte = bytes[at++];
      value += (byte & 127) * scale;
      scale *= 128;
    } while (byte > 127);
    cells[cell] = value;
  }
  return cells;
}

// ---- state ----

const state = {
  sheet: null, metric: 0, mode: "relative", brightness: 0, theme: null,
  window: { r0: 0, r1: 1, c0: 0, c1: 1 }, history: [], pins: [], cursor: null, pointer: null, finding: -1,
};
/**
 * What a live map asks for: `start` and `end` as keys are printed, `from` and `to` in milliseconds, or `span`: the newest so many. `trail`
 * says how the keys were chosen: `{ text, start, end }`, coarse first.
 */
let range = { trail: [] };
/** What was computed of a metric: cells, levels, sums. */
let current = null;

/** Mean latency, where the time spent and the operations are known: it is no sum, but a quotient of two. */
const LATENCY = "latency";
function withLatency(sheet) {
  const at = (name) => sheet.metrics.findIndex((metric) => metric.name === name);
  const operations = [at("reads"), at("writes")].filter((index) => index >= 0), time = at("time");
  if (time < 0 || !operations.length) return sheet;
  const latency = { name: LATENCY, unit: "us", sum: "0", total: "0", capacity_per_s: null, time, operations };
  return { ...sheet, metrics: [...sheet.metrics, latency] };
}

function whole() {
  return { r0: 0, r1: Math.max(state.sheet.rows, 1), c0: 0, c1: Math.max(state.sheet.columns, 1) };
}

/** What is computed of a metric of a sheet, once. */
function chosen(index, sheet = state.sheet) {
  sheet.computed ??= new Map();
  if (!sheet.computed.has(index)) sheet.computed.set(index, compute(sheet, index));
  return sheet.computed.get(index);
}

async function compute(sheet, index) {
  const metric = sheet.metrics[index];
  if (metric?.name === LATENCY) {
    const [time, ...operations] = await Promise.all([metric.time, ...metric.operations].map((index) => chosen(index, sheet)));
    const counts = new Float64Array(time.cells.length);
    for (const { cells } of operations) for (let at = 0; at < counts.length; at++) counts[at] += cells[at];
    return quotient(metric, time.cells, counts, sheet);
  }
  const cells = metric ? (await sameAs(metric, sheet)) ?? (await unpack(metric.cells, sheet.rows * sheet.columns)) : new Float64Array(0);
  return { metric, cells, most: greatest(cells), nodes: sheet.nodes && metric ? nodeSums(cells, sheet) : null, levels: new Map() };
}

/** The cells of the sheet that is shown, if a new one has the same. */
async function sameAs(metric, sheet) {
  const shown = state.sheet, index = shown?.metrics.findIndex(({ name, cells }) => name === metric.name && cells === metric.cells) ?? -1;
  const known = shown !== sheet && index >= 0 && shown.rows === sheet.rows && shown.columns === sheet.columns;
  return known ? (await shown.computed?.get(index))?.cells : undefined;
}

function quotient(metric, dividends, divisors, sheet) {
  const cells = Float64Array.from(dividends, (dividend, at) => (divisors[at] ? dividend / divisors[at] : 0));
  let nodes = null;
  if (sheet.nodes) {
    const over = nodeSums(dividends, sheet).sums, under = nodeSums(divisors, sheet).sums;
    const sums = Float64Array.from(over, (sum, at) => (under[at] ? sum / under[at] : 0));
    nodes = { sums, most: greatest(sums) };
  }
  return { metric, cells, most: greatest(cells), nodes, levels: new Map(), dividends, divisors };
}

function greatest(values) {
  let most = 0;
  for (const value of values) if (value > most) most = value;
  return most;
}

function nodeSums(cells, sheet) {
  const sums = new Float64Array(sheet.nodes.count * sheet.columns);
  for (let row = 0; row < sheet.rows; row++) {
    const to = sheet.nodes.of_row[row] * sheet.columns, from = row * sheet.columns;
    for (let column = 0; column < sheet.columns; column++) sums[to + column] += cells[from + column];
  }
  return { sums, most: greatest(sums) };
}

/** Units that one node takes during one column; 0: not known. */
function columnCapacity(metric) {
  const { column_s } = state.sheet;
  return column_s && metric?.capacity_per_s ? column_s * metric.capacity_per_s : 0;
}

/** Levels 0 to 255 of all cells: logarithmic up to the most, or from 0.01 % to 100 % of a node. */
function levels() {
  const key = state.mode;
  if (!current.levels.has(key)) {
    const { cells, most, metric } = current, out = new Uint8Array(cells.length);
    const capacity = columnCapacity(metric);
    const factor = 254 / Math.log1p(Math.max(most, 1));
    const level = state.mode === "absolute" && capacity > 0
      ? (cell) => 1 + Math.floor(254 * clamp((Math.log10(cell / capacity) + 4) / 4, 0, 1))
      : (cell) => Math.min(255, 1 + Math.floor(Math.log1p(cell) * factor));
    // Most cells hold small numbers: their logarithms are taken once.
    const small = Uint8Array.from({ length: Math.min(4096, most + 1) }, (_, cell) => (cell ? level(cell) : 0));
    for (let at = 0; at < cells.length; at++) {
      const cell = cells[at];
      if (cell > 0) out[at] = small[cell] ?? level(cell);
    }
    current.levels.set(key, out);
  }
  return current.levels.get(key);
}

/** Colours of levels as the pixels of this machine, brightness applied. */
function lookup() {
  const scale = palettes[theme()].scale, out = new Uint32Array(256), bytes = new Uint8ClampedArray(out.buffer);
  const gain = 2 ** (state.brightness / 2);
  for (let level = 0; level < 256; level++) {
    const shown = level === 0 ? 0 : clamp(Math.round(level * gain), 1, 255);
    const colour = parseInt(scale.slice(shown * 6, shown * 6 + 6), 16);
    bytes.set([colour >> 16, (colour >> 8) & 255, colour & 255, 255], level * 4);
  }
  return out;
}

const dark = matchMedia("(prefers-color-scheme: dark)");
const theme = () => state.theme ?? (dark.matches ? "dark" : "light");
const styles = new Map();
/** A colour of the style sheet in this theme. */
function style(name) {
  const key = `${name} ${document.documentElement.dataset.theme}`;
  if (!styles.has(key)) styles.set(key, getComputedStyle(document.documentElement).getPropertyValue(name).trim());
  return styles.get(key);
}

// ---- geometry ----

let box = null;
/** Whether the map is there to be seen: another page may hide it. */
const isShown = () => $("stage").getClientRects().length > 0 && state.sheet !== null;
function layout() {
  const { width, height } = $("stage").getBoundingClientRect();
  const ratio = Math.min(devicePixelRatio || 1, 2);
  for (const id of ["base", "over"]) {
    const canvas = $(id);
    canvas.width = Math.max(1, Math.round(width * ratio));
    canvas.height = Math.max(1, Math.round(height * ratio));
  }
  const left = clamp(width * 0.2, 90, 260), right = 70, nodes = state.sheet.nodes?.count ?? 0;
  const strip = nodes ? clamp(nodes * 6, 24, 120) : 0, axis = 22, sums = 36;
  const map = { x: left, y: 4, width: Math.max(50, width - left - right), height: Math.max(50, height - 4 - axis - sums - (strip ? strip + 14 : 0)) };
  box = { width, height, ratio, map, right, axis, sums: { y: map.y + map.height + axis, height: sums - 6 }, strip: { y: map.y + map.height + axis + sums, height: strip } };
}

const columnX = (column) => box.map.x + ((column - state.window.c0) / (state.window.c1 - state.window.c0)) * box.map.width;
const rowY = (row) => box.map.y + ((row - state.window.r0) / (state.window.r1 - state.window.r0)) * box.map.height;
const xColumn = (x) => state.window.c0 + ((x - box.map.x) / box.map.width) * (state.window.c1 - state.window.c0);
const yRow = (y) => state.window.r0 + ((y - box.map.y) / box.map.height) * (state.window.r1 - state.window.r0);
const inMap = (x, y) => x >= box.map.x && x < box.map.x + box.map.width && y >= box.map.y && y < box.map.y + box.map.height;

/** First and last cell under pixel `at` of `pixels` that show the cells from `from` to `to`. */
function under(at, pixels, from, to, cells) {
  const size = (to - from) / pixels, first = clamp(Math.floor(from + at * size), 0, cells - 1);
  return [first, clamp(Math.ceil(from + (at + 1) * size - 1e-9) - 1, first, cells - 1)];
}

// ---- drawing ----

/** The pictures that were drawn last, and of what. */
const drawn = new Map();

/** Puts cells where they belong; their pixels are computed only if they may have changed. */
function image(context, name, data, columns, rows, area, span, colours) {
  const of = [data, columns, rows, area.width, area.height, span.r0, span.r1, span.c0, span.c1, box.ratio, ...colours], last = drawn.get(name);
  const same = last?.of.every((part, index) => part === of[index]);
  const picture = same ? last.picture : pixelsOf(context, data, columns, rows, area, span, colours);
  drawn.set(name, { of, picture });
  context.putImageData(picture, Math.round(area.x * box.ratio), Math.round(area.y * box.ratio));
}

/** Cells as pixels; each pixel shows the greatest level under it, so that a hot row is never lost. */
function pixelsOf(context, data, columns, rows, area, span, colours) {
  const width = Math.max(1, Math.round(area.width * box.ratio)), height = Math.max(1, Math.round(area.height * box.ratio));
  const picture = context.createImageData(width, height), pixels = new Uint32Array(picture.data.buffer);
  if (columns && rows) {
    const from = new Int32Array(width), to = new Int32Array(width);
    for (let x = 0; x < width; x++) [from[x], to[x]] = under(x, width, span.c0, span.c1, columns);
    const low = from[0], high = to[width - 1];
    const line = new Uint8Array(columns);
    let last = [-1, -1];
    for (let y = 0; y < height; y++) {
      const [top, bottom] = under(y, height, span.r0, span.r1, rows);
      if (top === last[0] && bottom === last[1]) {
        pixels.copyWithin(y * width, (y - 1) * width, y * width);
        continue;
      }
      last = [top, bottom];
      line.set(data.subarray(top * columns + low, top * columns + high + 1), low);
      for (let row = top + 1; row <= bottom; row++) {
        for (let column = low, at = row * columns + low; column <= high; column++, at++) if (data[at] > line[column]) line[column] = data[at];
      }
      for (let x = 0, at = y * width; x < width; x++, at++) {
        let most = line[from[x]];
        for (let column = from[x] + 1; column <= to[x]; column++) if (line[column] > most) most = line[column];
        pixels[at] = colours[most];
      }
    }
  } else {
    pixels.fill(colours[0]);
  }
  return picture;
}

let pending = false;
function redraw() {
  if (pending || !current) return;
  pending = true;
  const once = () => {
    if (!pending) return;
    pending = false;
    draw();
  };
  requestAnimationFrame(once);
  // Where no frames come (a tab in the background), the words still follow.
  setTimeout(once, 100);
}

function draw() {
  const began = performance.now();
  const { sheet } = state, context = $("base").getContext("2d"), { map, strip } = box;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = style("--paper");
  context.fillRect(0, 0, $("base").width, $("base").height);
  const colours = lookup();
  image(context, "map", levels(), sheet.columns, sheet.rows, map, state.window, colours);
  if (sheet.nodes && current.nodes) {
    const capacity = state.mode === "absolute" ? columnCapacity(current.metric) : 0, most = capacity || current.nodes.most || 1;
    const shown = current.nodes.shown?.most === most ? current.nodes.shown.levels : Uint8Array.from(current.nodes.sums, (sum) => (sum > 0 ? clamp(Math.round((sum / most) * 255), 1, 255) : 0));
    current.nodes.shown = { most, levels: shown };
    const span = { ...state.window, r0: 0, r1: sheet.nodes.count };
    image(context, "nodes", shown, sheet.columns, sheet.nodes.count, { ...map, y: strip.y, height: strip.height }, span, colours);
  }
  context.setTransform(box.ratio, 0, 0, box.ratio, 0, 0);
  context.strokeStyle = style("--line");
  context.strokeRect(map.x - 0.5, map.y - 0.5, map.width + 1, map.height + 1);
  context.font = "11px ui-monospace, monospace";
  context.fillStyle = style("--ink");
  drawTimes(context);
  drawSums(context);
  drawLegend(context, colours);
  drawFindings(context);
  hooks.drawn?.(context);
  drawLabels();
  if (sheet.nodes) {
    context.textAlign = "right";
    context.fillText(`${sheet.nodes.count} nodes`, map.x - 6, strip.y + 10);
  }
  drawOver();
  describe();
  performance.clearMeasures("draw");
  performance.measure("draw", { start: began });
}

const STEPS = [1, 2, 5, 10, 20, 50, 100, 200, 500, 1e3, 2e3, 5e3, 1e4, 15e3, 3e4, 6e4, 12e4, 3e5, 6e5, 9e5, 18e5, 36e5, 72e5, 108e5, 216e5, 432e5, 864e5];
const moment = (at, step) => {
  if (state.sheet.axis === "arrival") return number.format(at);
  const text = new Date(at).toISOString().replace("T", " ").replace("Z", "");
  return step >= 1000 ? text.slice(0, 19) : text;
};
const timeOf = (column) => state.sheet.time_start + column * state.sheet.time_step;

function drawTimes(context) {
  const { sheet, window } = state, { map } = box, y = map.y + map.height;
  if (!sheet.columns) return;
  const from = timeOf(window.c0), to = timeOf(window.c1), wanted = Math.max(1, Math.floor(map.width / 130));
  const fits = (step) => (to - from) / step <= wanted;
  let step = sheet.axis === "time" ? STEPS.find(fits) : undefined;
  for (let ten = sheet.axis === "time" ? 864e5 : 1; !step && ten < 1e18; ten *= 10) step = [1, 2, 5].map((digit) => digit * ten).find(fits);
  context.textAlign = "left";
  let day = "";
  for (let at = Math.ceil(from / step) * step; at < to; at += step) {
    const x = map.x + ((at - from) / (to - from)) * map.width;
    context.fillRect(x, y, 1, 5);
    let text = moment(at, step);
    if (sheet.axis === "time") {
      const [date, clock] = text.split(" ");
      text = step >= 864e5 ? date : `${date === day ? "" : `${date.slice(5)} `}${step >= 6e4 ? clock.slice(0, 5) : clock}`;
      day = date;
    }
    if (x + context.measureText(text).width < box.width) context.fillText(text, x + 3, y + 14);
  }
}

/** Sums of the visible part by column and by row; of quotients, the quotients of the sums. */
function sumsOf(part) {
  const { c0, c1, r0, r1 } = part, { columns } = state.sheet;
  const last = current.sums;
  if (last && Object.keys(part).every((side) => last.part[side] === part[side])) return last;
  const add = (cells) => {
    const ofColumn = new Float64Array(Math.max(0, c1 - c0)), ofRow = new Float64Array(Math.max(0, r1 - r0));
    for (let row = r0; row < r1; row++) {
      let sum = 0;
      for (let column = c0, at = row * columns + c0; column < c1; column++, at++) {
        ofColumn[column - c0] += cells[at];
        sum += cells[at];
      }
      ofRow[row - r0] = sum;
    }
    return [ofColumn, ofRow];
  };
  let [ofColumn, ofRow] = add(current.dividends ?? current.cells);
  if (current.divisors) {
    const [columnCounts, rowCounts] = add(current.divisors);
    ofColumn = ofColumn.map((sum, at) => sum / Math.max(1, columnCounts[at]));
    ofRow = ofRow.map((sum, at) => sum / Math.max(1, rowCounts[at]));
  }
  current.sums = { part, ofColumn, ofRow };
  return current.sums;
}

/** Sums of the visible part: of columns below, of rows at the right. */
function drawSums(context) {
  const { sheet, window } = state, { map, sums } = box;
  const c0 = Math.floor(window.c0), c1 = Math.min(Math.ceil(window.c1), sheet.columns), r0 = Math.floor(window.r0), r1 = Math.min(Math.ceil(window.r1), sheet.rows);
  const { ofColumn, ofRow } = sumsOf({ c0, c1, r0, r1 });
  const most = (values) => values.reduce((most, value) => Math.max(most, value), 1);
  const [mostColumn, mostRow] = [most(ofColumn), most(ofRow)];
  context.fillStyle = style("--faint");
  context.beginPath();
  for (let x = 0; x < map.width; x++) {
    const [first, last] = under(x, map.width, window.c0, window.c1, sheet.columns || 1);
    let value = 0;
    for (let column = first; column <= last; column++) value = Math.max(value, ofColumn[column - c0] ?? 0);
    const height = (value / mostColumn) * sums.height;
    context.rect(map.x + x, sums.y + sums.height - height, 1, height);
  }
  for (let y = 0; y < map.height; y++) {
    const [first, last] = under(y, map.height, window.r0, window.r1, sheet.rows || 1);
    let value = 0;
    for (let row = first; row <= last; row++) value = Math.max(value, ofRow[row - r0] ?? 0);
    context.rect(map.x + map.width + 26, map.y + y, (value / mostRow) * (box.right - 30), 1);
  }
  context.fill();
}

function drawLegend(context, colours) {
  const { map, sums } = box, width = Math.floor(Math.min(180, map.x - 12)), y = sums.y + 2;
  const bytes = new Uint8Array(colours.buffer);
  for (let x = 0; x < width; x++) {
    const level = Math.round((x / (width - 1)) * 255);
    context.fillStyle = `rgb(${bytes[level * 4]} ${bytes[level * 4 + 1]} ${bytes[level * 4 + 2]})`;
    context.fillRect(4 + x, y, 1, 9);
  }
  context.fillStyle = style("--faint");
  const absolute = state.mode === "absolute" && columnCapacity(current.metric) > 0;
  context.textAlign = "left";
  context.fillText(absolute ? "0.01 %" : "0", 4, y + 20);
  context.textAlign = "right";
  context.fillText(absolute ? "100 % of a node" : number.format(current.most), 4 + width, y + 20);
}

function drawFindings(context) {
  const badges = [];
  state.sheet.findings.forEach((finding, index) => {
    finding.rows.forEach(([from, to]) => {
      if (to <= state.window.r0 || from >= state.window.r1) return;
      const top = Math.max(rowY(from), box.map.y), bottom = Math.min(rowY(to), box.map.y + box.map.height);
      context.strokeStyle = style("--mark");
      context.lineWidth = index === state.finding ? 3 : 1.5;
      context.strokeRect(box.map.x, top, box.map.width, Math.max(2, bottom - top));
      context.lineWidth = 1;
      if (badges.length < 40) badges.push({ index, top });
    });
  });
  // One below the other where several begin at the same place.
  badges.sort((one, other) => one.top - other.top || one.index - other.index);
  badges.forEach((badge, at) => { if (at) badge.top = Math.max(badge.top, badges[at - 1].top + 18); });
  place($("badges"), badges.map(({ index, top }) => ({
    text: String(index + 1), title: state.sheet.findings[index].headline, action: () => select(index),
    style: { left: `${box.map.x + box.map.width + 3}px`, top: `${top}px` },
  })));
}

/** Per cent of all in the sheet that lies in a group of rows. Of quotients: of their dividends. */
function shareOf({ from, to }) {
  if (!current.before) {
    const { rows, columns } = state.sheet, cells = current.dividends ?? current.cells;
    current.before = new Float64Array(rows + 1);
    for (let row = 0, at = 0; row < rows; row++) {
      let sum = 0;
      for (let column = 0; column < columns; column++, at++) sum += cells[at];
      current.before[row + 1] = current.before[row] + sum;
    }
  }
  const { before } = current;
  return (100 * (before[to] - before[from])) / Math.max(1, before.at(-1));
}

/** Buttons at their places. They are used again, so that a map that moves on keeps the focus and does not swallow clicks. */
function place(parent, shown) {
  while (parent.children.length > shown.length) parent.lastChild.remove();
  shown.forEach(({ text, title, style, disabled = false, action }, index) => {
    const button = parent.children[index] ?? parent.appendChild(element("button", { type: "button" }));
    button.onclick = action;
    const spec = JSON.stringify([text, title, style, disabled]);
    if (button.spec === spec) return;
    if (button.textContent !== text) button.textContent = text;
    Object.assign(button, { spec, title, disabled });
    Object.assign(button.style, style);
  });
}

function drawLabels() {
  const { sheet, window } = state, shown = [], used = sheet.labels.length, { map } = box;
  if (used) {
    const width = (map.x - 6) / used;
    sheet.labels.forEach((labels, level) => labels.forEach((label) => {
      if (label.to <= window.r0 || label.from >= window.r1) return;
      const top = Math.max(rowY(label.from), map.y), bottom = Math.min(rowY(label.to), map.y + map.height);
      if (bottom - top < 11 || shown.length >= 400) return;
      shown.push({
        text: label.text, title: `${label.text}: ${number.format(label.to - label.from)} ranges, ${percent(shareOf(label))} of all. Click to see only these.`,
        style: { left: `${level * width}px`, top: `${top}px`, width: `${width - 2}px`, height: `${bottom - top - 1}px` }, action: () => enter(label, level),
      });
    }));
  } else if (sheet.rows && sheet.columns) {
    for (let y = 0; y + 12 < map.height; y += 24) {
      const key = sheet.keys[clamp(Math.floor(yRow(map.y + y)), 0, sheet.rows - 1)] || "(first key)";
      if (shown.at(-1)?.text !== key) shown.push({ text: key, title: key, disabled: true, style: { left: "0px", top: `${map.y + y}px`, width: `${map.x - 8}px`, height: "" } });
    }
  }
  place($("labels"), shown);
}

/** Shows only the rows of a label. */
function enter(label, level = 0) {
  const above = state.sheet.labels.slice(0, level).map((labels) => labels.find(({ from, to }) => from <= label.from && label.from < to)).filter(Boolean);
  zoom({ ...state.window, r0: label.from, r1: label.to }, false, [...above, label]);
}

function drawOver() {
  const canvas = $("over"), context = canvas.getContext("2d");
  context.setTransform(box.ratio, 0, 0, box.ratio, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  context.strokeStyle = style("--mark");
  context.save();
  context.beginPath();
  context.rect(box.map.x - 1, box.map.y - 1, box.map.width + 2, box.map.height + 2);
  context.clip();
  if (drag?.rectangle) context.strokeRect(Math.min(drag.x, drag.toX), Math.min(drag.y, drag.toY), Math.abs(drag.toX - drag.x), Math.abs(drag.toY - drag.y));
  for (const cell of [...state.pins.map(found), state.cursor].filter(Boolean)) {
    const x = columnX(cell.column), y = rowY(cell.row), width = Math.max(4, columnX(cell.column + 1) - x), height = Math.max(4, rowY(cell.row + 1) - y);
    context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
  }
  context.restore();
}

// ---- words ----

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const percent = (share) => (share === 0 ? "0 %" : share >= 0.1 ? `${share.toFixed(2)} %` : `${share.toPrecision(2)} %`);

/** A printed key as its bytes, one character each: these compare as keys do. */
const bytesOf = (text) => text.replace(/\\(?:\\|x([0-9a-f]{2}))/g, (_, hex) => (hex ? String.fromCharCode(parseInt(hex, 16)) : "\\"));

/** The row that a key is in; -1: it lies before all. */
function rowOf(key) {
  const { sheet } = state, wanted = bytesOf(key);
  sheet.bytes ??= sheet.keys.map(bytesOf);
  let low = 0, high = sheet.rows;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (sheet.bytes[middle] <= wanted) low = middle + 1;
    else high = middle;
  }
  return low - 1;
}

/** Where in this sheet a place of any sheet is; null: not in it. */
function found({ key, time }) {
  const { sheet } = state, row = rowOf(key), column = Math.floor((time - sheet.time_start) / sheet.time_step);
  const behind = row === sheet.rows - 1 && sheet.end !== null && bytesOf(key) >= bytesOf(sheet.end);
  return row < 0 || behind || column < 0 || column >= sheet.columns ? null : { row, column };
}

/** A cell as a place that outlives the sheet. */
const placeOf = ({ row, column }) => ({ key: state.sheet.keys[row], end: (row + 1 < state.sheet.rows ? state.sheet.keys[row + 1] : state.sheet.end), time: timeOf(column), until: timeOf(column + 1) });

/** All that is known of a cell: lines of name and value. */
async function facts({ row, column }) {
  const { sheet } = state, lines = [];
  const end = row + 1 < sheet.rows ? sheet.keys[row + 1] : sheet.end;
  lines.push(["keys", sheet.keys[row] || "(first key)"], ["to", end ?? "(last key)"]);
  if (sheet.examples[row] && sheet.examples[row] !== sheet.keys[row]) lines.push(["such as", sheet.examples[row]]);
  const path = sheet.labels.map((labels) => labels.find((label) => label.from <= row && row < label.to)?.text).filter(Boolean);
  if (path.length) lines.push(["prefix", path.join(" ")]);
  lines.push([sheet.axis === "time" ? "from (UTC)" : "operations", moment(timeOf(column), sheet.time_step)], ["to", moment(timeOf(column + 1), sheet.time_step)]);
  for (let index = 0; index < sheet.metrics.length; index++) {
    const { cells, metric } = await chosen(index), value = cells[row * sheet.columns + column];
    let text = metric.name === LATENCY ? (value ? `${number.format(Math.round(value))} us, mean` : "-") : number.format(value);
    if (index === state.metric && metric.name !== LATENCY) {
      let all = 0;
      for (let other = 0; other < sheet.rows; other++) all += cells[other * sheet.columns + column];
      if (all > 0) text += ` (${percent((100 * value) / all)} of this time)`;
      const capacity = columnCapacity(metric);
      if (capacity > 0) text += `, ${percent((100 * value) / capacity)} of a node`;
    }
    lines.push([metric.name, text]);
  }
  if (sheet.nodes) lines.push(["node", `${sheet.nodes.of_row[row] + 1} of ${sheet.nodes.count}`]);
  lines.push(...(hooks.facts?.({ row, column }) ?? []));
  return lines;
}

/** A sentence whose quoted parts are code. */
const words = (text) => text.split("`").map((part, at) => (at % 2 ? element("code", {}, part) : part));

const table = (lines) => element("table", {}, ...lines.map(([name, value]) => element("tr", {}, element("td", { class: "faint" }, name), element("td", {}, element("code", {}, value)))));

async function showTip(cell, x, y, quiet = false) {
  const { sheet } = state, lines = await facts(cell), tip = $("tip");
  if (state.cursor !== cell || state.sheet !== sheet) return;
  tip.replaceChildren(table(lines));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${x + 18 + width > box.width ? Math.max(0, x - width - 14) : x + 18}px`;
  tip.style.top = `${clamp(y + 14, 0, Math.max(0, box.height - height))}px`;
  if (!quiet) $("status").textContent = lines.map((line) => line.join(" ")).join("; ");
}

/** Where a cell begins, in pixels. */
const cornerOf = ({ row, column }) => [clamp(columnX(column), box.map.x, box.width), clamp(rowY(row), box.map.y, box.height)];

function hide() {
  state.cursor = state.pointer = null;
  $("tip").hidden = true;
  drawOver();
}

async function pin(cell) {
  const place = placeOf(cell);
  if (state.pins.some((pin) => pin.key === place.key && pin.time === place.time)) return;
  state.pins = [...state.pins, { ...place, metric: current.metric?.name, lines: await facts(cell) }].slice(-8);
  showPins();
}

function showPins() {
  const cards = state.pins.map((pin) => {
    pin.card ??= pinCard(pin);
    return pin.card;
  });
  $("pins").replaceChildren(...(cards.length ? [element("h2", {}, "Pinned"), ...cards] : []));
  drawOver();
}

function pinCard(pin) {
  const remove = element("button", { type: "button", "aria-label": `Remove the pin of ${pin.key || "the first key"}` }, "Remove");
  remove.addEventListener("click", () => {
    state.pins = state.pins.filter((other) => other !== pin);
    showPins();
  });
  return element("div", { class: "pin" }, remove, table(pin.lines), ...[hooks.pinned?.(pin)].filter(Boolean));
}

function select(index) {
  state.finding = state.finding === index ? -1 : index;
  showFindings();
  redraw();
}

let findingsShown = "";
function showFindings() {
  const { findings } = state.sheet, now = JSON.stringify([state.finding, findings]);
  if (now === findingsShown) return;
  findingsShown = now;
  const focused = [...$("findings").querySelectorAll("button")].indexOf(document.activeElement);
  const cards = findings.map((finding, index) => {
    const open = index === state.finding;
    const button = element("button", { type: "button", "aria-expanded": String(open) }, element("b", {}, `${index + 1} ${finding.severity} ${finding.rule}`), element("br"), ...words(finding.headline));
    button.addEventListener("click", () => select(index));
    const card = element("div", { class: `finding ${finding.severity}` }, button);
    if (open) {
      const advice = finding.advice.map(({ action, gain, cost }) => element("li", {}, ...words([action, gain && `Gain: ${gain}.`, cost && `Cost: ${cost}.`].filter(Boolean).join(" "))));
      card.append(element("ul", {}, ...(advice.length ? advice : [element("li", {}, "No advice.")])));
      if (finding.rows.length) {
        const show = element("button", { type: "button", class: "show" }, "Show these keys");
        show.addEventListener("click", () => enter({ from: finding.rows[0][0], to: finding.rows.at(-1)[1], text: finding.rule }));
        card.append(show);
      }
    }
    return card;
  });
  $("findings").replaceChildren(...(cards.length ? [element("h2", {}, "Findings"), ...cards] : []));
  if (focused >= 0) $("findings").querySelectorAll("button")[focused]?.focus();
}

function describe() {
  const { sheet, window } = state, { metric } = current;
  current.summary ??= metric ? summary(sheet, metric) : "Nothing was counted.";
  if ($("summary").textContent !== current.summary) $("summary").textContent = current.summary;
  const absolute = columnCapacity(metric) > 0;
  $("mode").disabled = !absolute;
  $("mode").title = absolute ? sheet.capacity?.source ?? "" : "Not known for this metric: what one node takes, or how long a column lasts.";
  $("back").disabled = !state.history.length;
  const sides = Object.entries(source.live ? state.base : whole());
  const zoomed = sides.some(([side, value]) => Math.abs(window[side] - value) > 1e-9), part = "start" in range || "end" in range;
  $("reset").disabled = !zoomed && !part && !("from" in range);
  const root = document.documentElement.dataset;
  for (const [name, value] of Object.entries({ metric: metric?.name ?? "", mode: state.mode, ready: "yes" })) if (root[name] !== value) root[name] = value;
  const rounded = Object.values(window).map((side) => Math.round(side * 100) / 100).join(",");
  const asked = Object.fromEntries(PARTS.filter((name) => range[name] !== undefined).map((name) => [name, range[name]]));
  const view = source.live ? asked : zoomed ? { w: rounded } : {};
  remember(new URLSearchParams({ ...hooks.address?.(), m: metric?.name ?? "", a: state.mode, b: state.brightness, ...(state.theme ? { t: state.theme } : {}), ...view }).toString());
}

const PARTS = ["start", "end", "from", "to", "span"];

function summary(sheet, metric) {
  const { time_step: step } = sheet, { dividends, divisors } = current;
  const times = `${moment(timeOf(0), step)} to ${moment(timeOf(sheet.columns), step)}${sheet.axis === "time" ? " UTC" : ""}`;
  const cells = `in ${number.format(sheet.rows)} ranges by ${number.format(sheet.columns)} columns of ${width(sheet)}, ${times}`;
  if (!dividends) return `${metric.name}: ${number.format(BigInt(metric.sum))} ${metric.unit} ${cells}`;
  const sum = (cells) => cells.reduce((sum, cell) => sum + cell, 0);
  return `mean latency: ${number.format(Math.round(sum(dividends) / Math.max(1, sum(divisors))))} us of ${number.format(sum(divisors))} operations ${cells}`;
}

let addressed = null, addressTimer = 0;
/** Keeps the address up to date, not more often than browsers like. */
function remember(hash) {
  const write = () => {
    addressTimer = 0;
    try {
      history.replaceState(null, "", `#${addressed}`);
    } catch {
      // Some viewers of files refuse it; the address then does not follow.
    }
  };
  if (addressed === hash) return;
  addressed = hash;
  addressTimer ||= setTimeout(write, 150);
}

function width({ axis, time_step: step }) {
  if (axis === "arrival") return step === 1 ? "one operation" : `${number.format(step)} operations`;
  const [size, unit] = [[864e5, "d"], [36e5, "h"], [6e4, "min"], [1e3, "s"], [1, "ms"]].find(([size]) => step % size === 0);
  return `${number.format(step / size)} ${unit}`;
}

// ---- doing ----

/** Sets the window, within the sheet and at least two cells wide and high. */
function set(window) {
  const all = whole();
  const fit = (low, high, most) => {
    const size = clamp(high - low, Math.min(2, most), most), start = clamp(low, 0, most - size);
    return [start, start + size];
  };
  const [r0, r1] = fit(window.r0, window.r1, all.r1), [c0, c1] = fit(window.c0, window.c1, all.c1);
  state.window = { r0, r1, c0, c1 };
  redraw();
}

let zoomedAt = -Infinity;
/** Shows a part. `chosenBy`: the labels that say which, coarse first. */
function zoom(window, joins = false, chosenBy = null) {
  // Turns of the wheel that follow each other are one step back.
  if (!joins || performance.now() - zoomedAt > 700) pushHistory();
  zoomedAt = performance.now();
  set(window);
  if (source.live) later(() => refine(chosenBy), chosenBy ? 0 : 300);
}

function pushHistory(window = state.window) {
  // What was asked for before must not undo it.
  asked += 1;
  state.history = [...state.history, { window, range }].slice(-50);
}

function zoomAt(x, y, factor, time = true, keys = true) {
  const { window, sheet } = state, column = xColumn(x), row = yRow(y);
  const full = (low, high, most) => high - low > most - 1e-6 || (low <= state.base.c0 + 1e-6 && high >= state.base.c1 - 1e-6);
  if (source.live && factor > 1 && full(window.c0, window.c1, sheet.columns) && window.r1 - window.r0 > sheet.rows - 1e-6) return widen(time, keys);
  zoom({
    c0: time ? column - (column - window.c0) * factor : window.c0, c1: time ? column + (window.c1 - column) * factor : window.c1,
    r0: keys ? row - (row - window.r0) * factor : window.r0, r1: keys ? row + (window.r1 - row) * factor : window.r1,
  }, true);
}

function back() {
  const last = state.history.pop();
  if (!last) return;
  if (source.live && last.range !== range) ask(last.range, false);
  else set(last.window);
}

function reset() {
  if (source.live) return ask({ trail: [], span: range.span ?? range.lastSpan ?? SPAN });
  pushHistory();
  set(whole());
}

async function setMetric(index) {
  const { sheet } = state;
  // A sheet that comes meanwhile shows it.
  Object.assign(state, { metric: index, wanted: sheet.metrics[index]?.name });
  const computed = await chosen(index);
  if (state.sheet !== sheet || state.metric !== index) return;
  current = computed;
  if (!columnCapacity(current.metric)) state.mode = "relative";
  $("metric").value = String(index);
  $("mode").value = state.mode;
  redraw();
}

function setTheme(name) {
  state.theme = name;
  document.documentElement.dataset.theme = theme();
  drawn.clear();
  redraw();
}

/** The cell under a point; of several, the brightest, which is the one that is seen. */
function cellAt(x, y) {
  const { sheet, window } = state, data = levels();
  const [c0, c1] = under(Math.floor(x - box.map.x), box.map.width, window.c0, window.c1, sheet.columns);
  const [r0, r1] = under(Math.floor(y - box.map.y), box.map.height, window.r0, window.r1, sheet.rows);
  let best = { row: r0, column: c0 };
  for (let row = r0; row <= r1; row++) {
    for (let column = c0; column <= c1; column++) if (data[row * sheet.columns + column] > data[best.row * sheet.columns + best.column]) best = { row, column };
  }
  return best;
}

let drag = null, listening = false;
function listen() {
  if (listening) return;
  listening = true;
  const over = $("over");
  const place = (event) => {
    const { left, top } = $("stage").getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  over.addEventListener("pointerdown", (event) => {
    const [x, y] = place(event);
    if (event.button !== 0 || !inMap(x, y)) return;
    asked += 1;
    drag = { x, y, toX: x, toY: y, moves: event.shiftKey, rectangle: false, window: state.window };
    over.setPointerCapture?.(event.pointerId);
  });
  over.addEventListener("pointermove", (event) => {
    const [x, y] = place(event);
    if (drag) {
      const { map } = box;
      [drag.toX, drag.toY] = [clamp(x, map.x, map.x + map.width), clamp(y, map.y, map.y + map.height)];
      const far = Math.abs(x - drag.x) > 4 || Math.abs(y - drag.y) > 4;
      if (drag.moves) {
        const { window } = drag, across = ((drag.x - x) / map.width) * (window.c1 - window.c0), down = ((drag.y - y) / map.height) * (window.r1 - window.r0);
        set({ c0: window.c0 + across, c1: window.c1 + across, r0: window.r0 + down, r1: window.r1 + down });
      } else if (far) {
        drag.rectangle = true;
        hide();
      }
      drawOver();
    } else if (inMap(x, y) && state.sheet.columns && state.sheet.rows) {
      state.cursor = cellAt(x, y);
      state.pointer = { x, y };
      showTip(state.cursor, x, y);
      drawOver();
    } else {
      hide();
    }
  });
  over.addEventListener("pointerup", (event) => {
    if (!drag || !state.sheet) return;
    const { x, y, toX, toY, moves, rectangle, window } = drag;
    drag = null;
    if (rectangle) zoom({ c0: xColumn(Math.min(x, toX)), c1: xColumn(Math.max(x, toX)), r0: yRow(Math.min(y, toY)), r1: yRow(Math.max(y, toY)) });
    else if (moves) {
      pushHistory(window);
      if (source.live) later(refine, 0);
    }
    else if (event.button === 0 && state.sheet.columns) pin(cellAt(x, y));
    drawOver();
  });
  over.addEventListener("pointercancel", () => { drag = null; drawOver(); });
  over.addEventListener("pointerleave", () => { if (!drag) hide(); });
  over.addEventListener("wheel", (event) => {
    const [x, y] = place(event);
    if (!inMap(x, y)) return;
    event.preventDefault();
    // Shift turns the wheel sideways in some browsers.
    zoomAt(x, y, 1.2 ** Math.sign(event.deltaY || event.deltaX), !event.altKey, !event.shiftKey);
  }, { passive: false });
  document.addEventListener("keydown", keydown);
  $("metric").addEventListener("change", () => setMetric(Number($("metric").value)));
  $("mode").addEventListener("change", () => { state.mode = $("mode").value; redraw(); });
  $("brightness").addEventListener("input", () => { state.brightness = Number($("brightness").value); redraw(); });
  $("back").addEventListener("click", back);
  $("reset").addEventListener("click", reset);
  $("theme").addEventListener("click", () => setTheme(theme() === "dark" ? "light" : "dark"));
  $("help").addEventListener("click", () => {
    $("keys").hidden = !$("keys").hidden;
    $("help").setAttribute("aria-expanded", String(!$("keys").hidden));
  });
  dark.addEventListener("change", () => setTheme(state.theme));
  // A canvas that changes its size is empty: it is drawn before the frame is shown.
  new ResizeObserver(() => {
    const { width, height } = $("stage").getBoundingClientRect();
    if (!width || (width === box.width && height === box.height)) return;
    layout();
    draw();
  }).observe($("stage"));
}

function keydown(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT|TEXTAREA)$/.test(event.target.tagName) || !isShown()) return;
  const arrows = { ArrowLeft: [-1, 0], ArrowRight: [1, 0], ArrowUp: [0, -1], ArrowDown: [0, 1] };
  const { window, sheet } = state, { map } = box;
  const brighter = (by) => { state.brightness = clamp(state.brightness + by, -6, 6); $("brightness").value = state.brightness; redraw(); };
  const middle = [map.x + map.width / 2, map.y + map.height / 2];
  const actions = {
    "+": () => zoomAt(...middle, 1 / 1.5), "=": () => zoomAt(...middle, 1 / 1.5), "-": () => zoomAt(...middle, 1.5),
    Backspace: back, r: reset, Home: reset, Escape: hide,
    b: () => brighter(1), B: () => brighter(-1), t: () => $("theme").click(),
    m: () => setMetric((state.metric + 1) % Math.max(1, sheet.metrics.length)),
    a: () => { if (!$("mode").disabled) { state.mode = state.mode === "absolute" ? "relative" : "absolute"; $("mode").value = state.mode; redraw(); } },
    "[": () => source.live && shift(-0.5), "]": () => source.live && shift(0.5), l: () => source.live && live(),
    // A button does with Enter what it does.
    ...(event.target === $("over") ? { Enter: () => state.cursor && pin(state.cursor) } : {}),
  };
  if (arrows[event.key]) {
    const [across, down] = arrows[event.key];
    if (event.shiftKey) {
      pushHistory();
      const dx = (across * (window.c1 - window.c0)) / 10, dy = (down * (window.r1 - window.r0)) / 10;
      set({ c0: window.c0 + dx, c1: window.c1 + dx, r0: window.r0 + dy, r1: window.r1 + dy });
      if (source.live && state.window.c0 === window.c0 && across) shift(across / 2);
      else if (source.live) later(refine, 300);
    } else if (event.target === $("over") && sheet.columns) {
      const from = state.cursor ?? { row: Math.floor((window.r0 + window.r1) / 2), column: Math.floor((window.c0 + window.c1) / 2) };
      state.pointer = null;
      state.cursor = { row: clamp(from.row + down, 0, sheet.rows - 1), column: clamp(from.column + across, 0, sheet.columns - 1) };
      showTip(state.cursor, ...cornerOf(state.cursor));
      drawOver();
    } else {
      return;
    }
  } else if (actions[event.key]) {
    actions[event.key]();
  } else {
    return;
  }
  event.preventDefault();
}

// ---- loading ----

let timer = 0;
const later = (action, ms) => { clearTimeout(timer); timer = setTimeout(action, ms); };

/** A live map shows the newest quarter of an hour at first. */
const SPAN = 900_000;

/** What is asked of a server. */
function query() {
  const { trail, lastSpan, span, ...parts } = range, pixels = (size) => clamp(Math.ceil((size ?? 1000) * (box?.ratio ?? 1)), 50, 1000);
  return { ...parts, last: span || undefined, rows: pixels(box?.map.height), columns: pixels(box?.map.width) };
}

/** Another part of a live map. */
function ask(next, remembers = true) {
  if (remembers) pushHistory();
  range = next;
  hooks.ranged?.();
  return load();
}

/** Asks a server for what is in the window, in full resolution. */
function refine(chosenBy = null) {
  const { window, sheet, base } = state, next = { ...range }, differs = (side) => Math.abs(window[side] - base[side]) > 1e-6;
  if (differs("r0") || differs("r1")) {
    if (window.r0 > 1e-6) next.start = sheet.keys[Math.floor(window.r0)];
    if (window.r1 < sheet.rows - 1e-6) next.end = sheet.keys[Math.ceil(window.r1)];
  }
  if (chosenBy) {
    const keyOf = (row) => sheet.keys[row] ?? sheet.end ?? undefined;
    next.trail = [...range.trail, ...chosenBy.map(({ text, from, to }) => ({ text, start: keyOf(from), end: keyOf(to) }))];
  } else if (next.start !== range.start || next.end !== range.end) {
    next.trail = [...range.trail.filter(({ text }) => text), { text: "", start: next.start, end: next.end }];
  }
  if (differs("c0") || differs("c1")) {
    Object.assign(next, { from: Math.floor(timeOf(window.c0)), to: Math.ceil(timeOf(window.c1)), lastSpan: range.span ?? range.lastSpan });
    delete next.span;
  }
  return ask(next, false);
}

/** The times that are asked for, as far as they are limited. */
function times() {
  const { now, time_start: first, time_step: step, columns } = state.sheet, end = first + columns * step;
  if (range.span) return { from: (now ?? end) - range.span, to: now ?? end };
  return { from: range.from ?? first, to: range.to ?? end };
}

/** Back or forth by a part of the time that is shown; what comes to the present follows it. */
function shift(part) {
  const { from, to } = times(), by = Math.round((to - from) * part), now = state.sheet.now ?? to;
  if (to + by >= now) return part > 0 ? live(to - from) : undefined;
  const { span, ...rest } = range;
  return ask({ ...rest, lastSpan: span ?? range.lastSpan, from: from + by, to: to + by });
}

/** The newest so many milliseconds, as time goes on; 0: everything. */
function live(span = range.span ?? range.lastSpan ?? SPAN) {
  const { from, to, lastSpan, ...rest } = range;
  return ask({ ...rest, span: Math.round(span) });
}

let widening = false;
/** More time, more keys: what a part is a part of. */
async function widen(time, keys) {
  if (widening) return;
  const next = { ...range }, { from, to } = times();
  if (time && range.span) next.span = range.span * 2;
  else if (time && "from" in range) Object.assign(next, { from: Math.round(from - (to - from) / 2), to: Math.round(to + (to - from) / 2) });
  if (keys && range.trail.length) keysOf(next, range.trail.slice(0, -1));
  widening = true;
  await ask(next);
  widening = false;
}

/** Sets the keys to what a trail leads to. */
function keysOf(next, trail) {
  const last = trail.at(-1);
  for (const side of ["start", "end"]) {
    if (last?.[side] === undefined) delete next[side];
    else next[side] = last[side];
  }
  next.trail = trail;
}

let asked = 0;
async function load() {
  const mine = ++asked;
  try {
    const sheet = withLatency(await source.load(query()));
    const metric = Math.max(0, sheet.metrics.findIndex((metric) => metric.name === (state.wanted ?? current?.metric?.name)));
    const computed = await chosen(metric, sheet);
    if (mine !== asked) return;
    const cursor = state.cursor && state.sheet ? placeOf(state.cursor) : null;
    const rule = state.sheet?.findings[state.finding]?.rule;
    Object.assign(state, { sheet, metric, finding: rule ? sheet.findings.findIndex((finding) => finding.rule === rule) : -1 });
    current = computed;
    if (!columnCapacity(current.metric)) state.mode = "relative";
    state.base = state.window = asksFor();
    state.cursor = cursor && found(cursor);
    show();
    if (state.pointer && inMap(state.pointer.x, state.pointer.y) && sheet.columns) {
      state.cursor = cellAt(state.pointer.x, state.pointer.y);
      showTip(state.cursor, state.pointer.x, state.pointer.y, true);
    } else if (state.cursor) {
      showTip(state.cursor, ...cornerOf(state.cursor), true);
    } else hide();
    hooks.loaded?.();
  } catch (error) {
    if (mine !== asked) return;
    $("notes").replaceChildren(element("p", { id: "failure", role: "alert" }, `The map cannot be shown: ${error.message}`));
    notesShown = "";
    hooks.failed?.(error);
  }
}

/** The window of what was asked for: an answer may reach further, to whole slots. */
function asksFor() {
  const all = whole(), { sheet } = state;
  if (!source.live || !sheet.columns) return all;
  const { from, to } = times(), column = (time) => clamp((time - sheet.time_start) / sheet.time_step, 0, all.c1);
  const [c0, c1] = [column(from), column(to)];
  return c1 - c0 >= Math.min(2, all.c1) ? { ...all, c0, c1 } : all;
}

let notesShown = "";
function show() {
  const { sheet } = state, names = sheet.metrics.map((metric) => metric.name);
  $("title").textContent = sheet.title;
  // A list that somebody has opened stays as it is.
  if ([...$("metric").options].map((option) => option.textContent).join() !== names.join()) {
    $("metric").replaceChildren(...names.map((name, index) => element("option", { value: String(index) }, name)));
  }
  $("metric").value = String(state.metric);
  $("mode").value = state.mode;
  const notes = JSON.stringify(sheet.notes);
  if (notes !== notesShown) {
    notesShown = notes;
    $("notes").replaceChildren(...(sheet.notes.length ? [element("h2", {}, "Notes"), ...sheet.notes.map((note) => element("p", { class: "faint" }, note))] : []));
  }
  showFindings();
  layout();
  redraw();
}

/** What the address says before anything is loaded: brightness, theme, and the part of a live map. */
function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  state.brightness = clamp(Number(wanted.get("b")) || 0, -6, 6);
  $("brightness").value = state.brightness;
  if (/^(light|dark)$/.test(wanted.get("t") ?? "")) state.theme = wanted.get("t");
  document.documentElement.dataset.theme = theme();
  state.wanted = wanted.get("m");
  if (wanted.get("a") === "absolute") state.mode = "absolute";
  if (!source.live) return;
  range = { trail: [], span: SPAN };
  for (const name of ["start", "end"]) if (wanted.has(name)) range[name] = wanted.get(name);
  if ("start" in range || "end" in range) range.trail = [{ text: "", start: range.start, end: range.end }];
  const time = (name) => (/^\d{1,15}$/.test(wanted.get(name) ?? "") ? Number(wanted.get(name)) : undefined);
  if (time("span") !== undefined) range.span = time("span");
  else if (time("from") !== undefined) Object.assign(range, { from: time("from"), ...(time("to") === undefined ? {} : { to: time("to") }), span: undefined, lastSpan: SPAN });
}

/** What it says of the window of a sheet. */
function followWindow() {
  const sides = (new URLSearchParams(location.hash.slice(1)).get("w") ?? "").split(",").map(Number);
  if (!source.live && sides.length === 4 && sides.every(Number.isFinite)) set({ r0: sides[0], r1: sides[1], c0: sides[2], c1: sides[3] });
}

/** Whether a live map follows the present now. */
const follows = () => source.live && range.span !== undefined && !drag && isShown() && !document.hidden && performance.now() - zoomedAt > 1_000;

/** Begins. A live map asks again every `seconds`, never if that is 0. */
async function start(chosenSource = $("sheet") ? embedded($("sheet").textContent) : endpoint(meta("rowkey-source")), seconds = Number(meta("rowkey-refresh"))) {
  source = chosenSource;
  follow();
  await load();
  if (state.sheet) {
    listen();
    followWindow();
  }
  // Never more often than the answers come.
  const again = async () => {
    if (follows()) await load();
    if (state.sheet) listen();
    setTimeout(again, seconds * 1000);
  };
  if (source.live && seconds > 0) setTimeout(again, seconds * 1000);
}
