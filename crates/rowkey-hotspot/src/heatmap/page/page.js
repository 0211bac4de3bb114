// The heatmap's page: draws one sheet (docs/formats/heatmap.md), from the document itself or from a server.
// No request leaves the host it came from, and nothing is evaluated. All text goes in by textContent.

const $ = (id) => document.getElementById(id);
const clamp = (value, low, high) => Math.min(Math.max(value, low), high);
const number = new Intl.NumberFormat("en-US");
const palettes = JSON.parse($("palette").textContent);

// ---- where sheets come from ----

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
    if (!answer.ok) throw new Error(`${target.pathname}: ${answer.status} ${answer.statusText}`);
    return answer.json();
  },
});

const meta = (name) => document.querySelector(`meta[name="${name}"]`)?.content;
const source = $("sheet") ? embedded($("sheet").textContent) : endpoint(meta("rowkey-source"));

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
  window: { r0: 0, r1: 1, c0: 0, c1: 1 }, history: [], pins: [], cursor: null, finding: -1,
};
/** What was computed of a metric: cells, levels, sums. */
let current = null;
let unpacked = new Map();

function whole() {
  return { r0: 0, r1: Math.max(state.sheet.rows, 1), c0: 0, c1: Math.max(state.sheet.columns, 1) };
}

async function chosen(index) {
  if (!unpacked.has(index)) {
    const sheet = state.sheet, metric = sheet.metrics[index];
    const cells = metric ? await unpack(metric.cells, sheet.rows * sheet.columns) : new Float64Array(0);
    let most = 0;
    for (const cell of cells) if (cell > most) most = cell;
    const nodes = sheet.nodes && metric ? nodeSums(cells, sheet) : null;
    unpacked.set(index, { metric, cells, most, nodes, levels: new Map() });
  }
  return unpacked.get(index);
}

function nodeSums(cells, sheet) {
  const sums = new Float64Array(sheet.nodes.count * sheet.columns);
  for (let row = 0; row < sheet.rows; row++) {
    const to = sheet.nodes.of_row[row] * sheet.columns, from = row * sheet.columns;
    for (let column = 0; column < sheet.columns; column++) sums[to + column] += cells[from + column];
  }
  let most = 0;
  for (const sum of sums) if (sum > most) most = sum;
  return { sums, most };
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
    if (state.mode === "absolute" && capacity > 0) {
      for (let at = 0; at < cells.length; at++) {
        if (cells[at] > 0) out[at] = 1 + Math.floor(254 * clamp((Math.log10(cells[at] / capacity) + 4) / 4, 0, 1));
      }
    } else {
      const factor = 254 / Math.log1p(Math.max(most, 1));
      for (let at = 0; at < cells.length; at++) if (cells[at] > 0) out[at] = Math.min(255, 1 + Math.floor(Math.log1p(cells[at]) * factor));
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
const style = (name) => getComputedStyle(document.documentElement).getPropertyValue(name).trim();

// ---- geometry ----

let box = null;
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

/** Cells as pixels; each pixel shows the greatest level under it, so that a hot row is never lost. */
function image(context, data, columns, rows, area, span, colours) {
  const width = Math.max(1, Math.round(area.width * box.ratio)), height = Math.max(1, Math.round(area.height * box.ratio));
  const picture = context.createImageData(width, height), pixels = new Uint32Array(picture.data.buffer);
  if (columns && rows) {
    const across = Array.from({ length: width }, (_, x) => under(x, width, span.c0, span.c1, columns));
    const [low, high] = [across[0][0], across[width - 1][1]];
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
        let most = line[across[x][0]];
        for (let column = across[x][0] + 1; column <= across[x][1]; column++) if (line[column] > most) most = line[column];
        pixels[at] = colours[most];
      }
    }
  } else {
    pixels.fill(colours[0]);
  }
  context.putImageData(picture, Math.round(area.x * box.ratio), Math.round(area.y * box.ratio));
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
  const { sheet } = state, context = $("base").getContext("2d"), { map, strip } = box;
  context.setTransform(1, 0, 0, 1, 0, 0);
  context.fillStyle = style("--paper");
  context.fillRect(0, 0, $("base").width, $("base").height);
  const colours = lookup();
  image(context, levels(), sheet.columns, sheet.rows, map, state.window, colours);
  if (sheet.nodes && current.nodes) {
    const capacity = state.mode === "absolute" ? columnCapacity(current.metric) : 0, most = capacity || current.nodes.most || 1;
    const shown = Uint8Array.from(current.nodes.sums, (sum) => (sum > 0 ? clamp(Math.round((sum / most) * 255), 1, 255) : 0));
    const span = { ...state.window, r0: 0, r1: sheet.nodes.count };
    image(context, shown, sheet.columns, sheet.nodes.count, { ...map, y: strip.y, height: strip.height }, span, colours);
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
  drawLabels();
  if (sheet.nodes) {
    context.textAlign = "right";
    context.fillText(`${sheet.nodes.count} nodes`, map.x - 6, strip.y + 10);
  }
  drawOver();
  describe();
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

/** Sums of the visible part: of columns below, of rows at the right. */
function drawSums(context) {
  const { sheet, window } = state, { map, sums } = box, { cells } = current;
  const c0 = Math.floor(window.c0), c1 = Math.min(Math.ceil(window.c1), sheet.columns), r0 = Math.floor(window.r0), r1 = Math.min(Math.ceil(window.r1), sheet.rows);
  const ofColumn = new Float64Array(Math.max(0, c1 - c0)), ofRow = new Float64Array(Math.max(0, r1 - r0));
  for (let row = r0; row < r1; row++) {
    for (let column = c0, at = row * sheet.columns + c0; column < c1; column++, at++) {
      ofColumn[column - c0] += cells[at];
      ofRow[row - r0] += cells[at];
    }
  }
  const most = (values) => values.reduce((most, value) => Math.max(most, value), 1);
  const [mostColumn, mostRow] = [most(ofColumn), most(ofRow)];
  context.fillStyle = style("--faint");
  for (let x = 0; x < map.width; x++) {
    const [first, last] = under(x, map.width, window.c0, window.c1, sheet.columns || 1);
    let value = 0;
    for (let column = first; column <= last; column++) value = Math.max(value, ofColumn[column - c0] ?? 0);
    const height = (value / mostColumn) * sums.height;
    context.fillRect(map.x + x, sums.y + sums.height - height, 1, height);
  }
  for (let y = 0; y < map.height; y++) {
    const [first, last] = under(y, map.height, window.r0, window.r1, sheet.rows || 1);
    let value = 0;
    for (let row = first; row <= last; row++) value = Math.max(value, ofRow[row - r0] ?? 0);
    context.fillRect(map.x + map.width + 26, map.y + y, (value / mostRow) * (box.right - 30), 1);
  }
}

function drawLegend(context, colours) {
  const { map, sums } = box, width = Math.min(180, map.x - 12), y = sums.y + 2;
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
  $("badges").replaceChildren(...badges.map(({ index, top }) => {
    const button = element("button", { type: "button", title: state.sheet.findings[index].headline }, String(index + 1));
    button.style.left = `${box.map.x + box.map.width + 3}px`;
    button.style.top = `${top}px`;
    button.addEventListener("click", () => select(index));
    return button;
  }));
}

/** Per cent of all that lies in a group of rows. */
function shareOf({ from, to }) {
  const { cells } = current, { columns } = state.sheet;
  let part = 0;
  for (let at = from * columns; at < to * columns; at++) part += cells[at];
  return (100 * part) / Math.max(1, Number(current.metric?.sum ?? 1));
}

function drawLabels() {
  const { sheet, window } = state, shown = [], used = sheet.labels.length, { map } = box;
  if (used) {
    const width = (map.x - 6) / used;
    sheet.labels.forEach((labels, level) => labels.forEach((label) => {
      if (label.to <= window.r0 || label.from >= window.r1) return;
      const top = Math.max(rowY(label.from), map.y), bottom = Math.min(rowY(label.to), map.y + map.height);
      if (bottom - top < 11 || shown.length >= 400) return;
      const button = element("button", { type: "button", title: `${label.text}: ${number.format(label.to - label.from)} ranges, ${percent(shareOf(label))} of all. Click to see only these.` }, label.text);
      Object.assign(button.style, { left: `${level * width}px`, top: `${top}px`, width: `${width - 2}px`, height: `${bottom - top - 1}px` });
      button.addEventListener("click", () => zoom({ ...state.window, r0: label.from, r1: label.to }));
      shown.push(button);
    }));
  } else {
    for (let y = 0; y + 12 < map.height; y += 24) {
      const key = sheet.keys[clamp(Math.floor(yRow(map.y + y)), 0, sheet.rows - 1)] || "(first key)";
      const text = element("button", { type: "button", title: key, tabindex: "-1", disabled: "" }, key);
      Object.assign(text.style, { left: "0", top: `${map.y + y}px`, width: `${map.x - 8}px` });
      shown.push(text);
    }
  }
  $("labels").replaceChildren(...shown);
}

function drawOver() {
  const canvas = $("over"), context = canvas.getContext("2d");
  context.setTransform(box.ratio, 0, 0, box.ratio, 0, 0);
  context.clearRect(0, 0, box.width, box.height);
  context.strokeStyle = style("--mark");
  if (drag?.rectangle) context.strokeRect(Math.min(drag.x, drag.toX), Math.min(drag.y, drag.toY), Math.abs(drag.toX - drag.x), Math.abs(drag.toY - drag.y));
  for (const cell of [...state.pins, state.cursor].filter(Boolean)) {
    const x = columnX(cell.column), y = rowY(cell.row), width = Math.max(4, columnX(cell.column + 1) - x), height = Math.max(4, rowY(cell.row + 1) - y);
    if (inMap(x + width / 2, y + height / 2)) context.strokeRect(x - 0.5, y - 0.5, width + 1, height + 1);
  }
}

// ---- words ----

function element(name, attributes = {}, ...children) {
  const made = document.createElement(name);
  for (const [key, value] of Object.entries(attributes)) made.setAttribute(key, value);
  made.append(...children);
  return made;
}

const percent = (share) => (share === 0 ? "0 %" : share >= 0.1 ? `${share.toFixed(2)} %` : `${share.toPrecision(2)} %`);

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
    let text = number.format(value);
    if (index === state.metric) {
      let all = 0;
      for (let other = 0; other < sheet.rows; other++) all += cells[other * sheet.columns + column];
      if (all > 0) text += ` (${percent((100 * value) / all)} of this time)`;
      const capacity = columnCapacity(metric);
      if (capacity > 0) text += `, ${percent((100 * value) / capacity)} of a node`;
    }
    lines.push([metric.name, text]);
  }
  if (sheet.nodes) lines.push(["node", `${sheet.nodes.of_row[row] + 1} of ${sheet.nodes.count}`]);
  return lines;
}

const table = (lines) => element("table", {}, ...lines.map(([name, value]) => element("tr", {}, element("td", { class: "faint" }, name), element("td", {}, element("code", {}, value)))));

async function showTip(cell, x, y) {
  const lines = await facts(cell), tip = $("tip");
  if (state.cursor !== cell) return;
  tip.replaceChildren(table(lines));
  tip.hidden = false;
  const { width, height } = tip.getBoundingClientRect();
  tip.style.left = `${x + 18 + width > box.width ? Math.max(0, x - width - 14) : x + 18}px`;
  tip.style.top = `${clamp(y + 14, 0, Math.max(0, box.height - height))}px`;
  $("status").textContent = lines.map((line) => line.join(" ")).join("; ");
}

function hide() {
  state.cursor = null;
  $("tip").hidden = true;
  drawOver();
}

async function pin(cell) {
  if (state.pins.some((pin) => pin.row === cell.row && pin.column === cell.column)) return;
  state.pins = [...state.pins, { ...cell, lines: await facts(cell) }].slice(-8);
  showPins();
}

function showPins() {
  const cards = state.pins.map((pin) => {
    const remove = element("button", { type: "button", "aria-label": "Remove" }, "Remove");
    remove.addEventListener("click", () => {
      state.pins = state.pins.filter((other) => other !== pin);
      showPins();
    });
    return element("div", { class: "pin" }, remove, table(pin.lines));
  });
  $("pins").replaceChildren(...(cards.length ? [element("h2", {}, "Pinned"), ...cards] : []));
  drawOver();
}

function select(index) {
  state.finding = state.finding === index ? -1 : index;
  showFindings();
  redraw();
}

function showFindings() {
  const { findings } = state.sheet;
  const cards = findings.map((finding, index) => {
    const open = index === state.finding;
    const button = element("button", { type: "button", "aria-expanded": String(open) }, element("b", {}, `${index + 1} ${finding.severity} ${finding.rule}`), element("br"), finding.headline);
    button.addEventListener("click", () => select(index));
    const card = element("div", { class: `finding ${finding.severity}` }, button);
    if (open) {
      const advice = finding.advice.map(({ action, gain, cost }) => element("li", {}, [action, gain && `Gain: ${gain}.`, cost && `Cost: ${cost}.`].filter(Boolean).join(" ")));
      card.append(element("ul", {}, ...(advice.length ? advice : [element("li", {}, "No advice.")])));
    }
    return card;
  });
  $("findings").replaceChildren(...(cards.length ? [element("h2", {}, "Findings"), ...cards] : []));
}

function describe() {
  const { sheet, window } = state, { metric } = current;
  $("summary").textContent = metric
    ? `${metric.name}: ${number.format(BigInt(metric.sum))} ${metric.unit} in ${number.format(sheet.rows)} ranges by ${number.format(sheet.columns)} columns of ${width(sheet)}, `
      + `${moment(timeOf(0), sheet.time_step)} to ${moment(timeOf(sheet.columns), sheet.time_step)}${sheet.axis === "time" ? " UTC" : ""}`
    : "Nothing was counted.";
  const absolute = columnCapacity(metric) > 0;
  $("mode").disabled = !absolute;
  $("mode").title = absolute ? sheet.capacity?.source ?? "" : "Not known for this metric: what one node takes, or how long a column lasts.";
  $("back").disabled = !state.history.length;
  const zoomed = Object.entries(whole()).some(([side, value]) => window[side] !== value);
  $("reset").disabled = !zoomed;
  Object.assign(document.documentElement.dataset, { metric: metric?.name ?? "", mode: state.mode, ready: "yes" });
  const rounded = Object.values(window).map((side) => Math.round(side * 100) / 100).join(",");
  const hash = new URLSearchParams({ m: metric?.name ?? "", a: state.mode, b: state.brightness, ...(state.theme ? { t: state.theme } : {}), ...(zoomed ? { w: rounded } : {}) });
  try {
    history.replaceState(null, "", `#${hash}`);
  } catch {
    // Some viewers of files refuse it; the address then does not follow.
  }
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
function zoom(window, joins = false) {
  // Turns of the wheel that follow each other are one step back.
  if (!joins || performance.now() - zoomedAt > 700) state.history = [...state.history, state.window].slice(-50);
  zoomedAt = performance.now();
  set(window);
  if (source.live) later(refresh, 300);
}

function zoomAt(x, y, factor, time = true, keys = true) {
  const { window } = state, column = xColumn(x), row = yRow(y);
  zoom({
    c0: time ? column - (column - window.c0) * factor : window.c0, c1: time ? column + (window.c1 - column) * factor : window.c1,
    r0: keys ? row - (row - window.r0) * factor : window.r0, r1: keys ? row + (window.r1 - row) * factor : window.r1,
  }, true);
}

function back() {
  const window = state.history.pop();
  if (window) set(window);
  if (source.live) later(refresh, 0);
}

function reset() {
  state.history = [...state.history, state.window].slice(-50);
  range = {};
  set(whole());
  if (source.live) later(refresh, 0);
}

async function setMetric(index) {
  state.metric = index;
  current = await chosen(index);
  if (!columnCapacity(current.metric)) state.mode = "relative";
  $("metric").value = String(index);
  $("mode").value = state.mode;
  redraw();
}

function setTheme(name) {
  state.theme = name;
  document.documentElement.dataset.theme = theme();
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

let drag = null;
function listen() {
  const over = $("over");
  const place = (event) => {
    const { left, top } = $("stage").getBoundingClientRect();
    return [event.clientX - left, event.clientY - top];
  };
  over.addEventListener("pointerdown", (event) => {
    const [x, y] = place(event);
    if (event.button !== 0 || !inMap(x, y)) return;
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
      showTip(state.cursor, x, y);
      drawOver();
    } else {
      hide();
    }
  });
  over.addEventListener("pointerup", (event) => {
    if (!drag) return;
    const { x, y, toX, toY, moves, rectangle, window } = drag;
    drag = null;
    if (rectangle) zoom({ c0: xColumn(Math.min(x, toX)), c1: xColumn(Math.max(x, toX)), r0: yRow(Math.min(y, toY)), r1: yRow(Math.max(y, toY)) });
    else if (moves) state.history.push(window);
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
    if (width === box.width && height === box.height) return;
    layout();
    draw();
  }).observe($("stage"));
}

function keydown(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || /^(INPUT|SELECT)$/.test(event.target.tagName)) return;
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
    Enter: () => { if (state.cursor && event.target === $("over")) pin(state.cursor); },
  };
  if (arrows[event.key]) {
    const [across, down] = arrows[event.key];
    if (event.shiftKey) {
      const dx = (across * (window.c1 - window.c0)) / 10, dy = (down * (window.r1 - window.r0)) / 10;
      set({ c0: window.c0 + dx, c1: window.c1 + dx, r0: window.r0 + dy, r1: window.r1 + dy });
    } else if (event.target === $("over") && sheet.columns) {
      const from = state.cursor ?? { row: Math.floor((window.r0 + window.r1) / 2), column: Math.floor((window.c0 + window.c1) / 2) };
      state.cursor = { row: clamp(from.row + down, 0, sheet.rows - 1), column: clamp(from.column + across, 0, sheet.columns - 1) };
      showTip(state.cursor, clamp(columnX(state.cursor.column), map.x, box.width), clamp(rowY(state.cursor.row), map.y, box.height));
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

let range = {}, timer = 0;
const later = (action, ms) => { clearTimeout(timer); timer = setTimeout(action, ms); };

/** Asks a server for what is in the window, in full resolution. */
async function refresh() {
  const { window, sheet } = state, all = whole();
  if (window.r0 > 0) range.start = sheet.keys[Math.floor(window.r0)];
  if (window.r1 < all.r1) range.end = sheet.keys[Math.ceil(window.r1)];
  if (window.c0 > 0) range.from = Math.floor(timeOf(window.c0));
  if (window.c1 < all.c1) range.to = Math.ceil(timeOf(window.c1));
  await load();
}

async function load() {
  try {
    const sheet = await source.load({ ...range, rows: 1000, columns: 1000 });
    const name = current?.metric?.name;
    [state.sheet, unpacked, state.cursor] = [sheet, new Map(), null];
    state.window = whole();
    state.metric = Math.max(0, sheet.metrics.findIndex((metric) => metric.name === name));
    current = await chosen(state.metric);
    show();
  } catch (error) {
    $("notes").replaceChildren(element("p", { id: "failure" }, `The map cannot be shown: ${error.message}`));
  }
}

function show() {
  const { sheet } = state;
  $("title").textContent = sheet.title;
  $("metric").replaceChildren(...sheet.metrics.map((metric, index) => element("option", { value: String(index) }, metric.name)));
  $("metric").value = String(state.metric);
  $("mode").value = state.mode;
  $("notes").replaceChildren(...(sheet.notes.length ? [element("h2", {}, "Notes"), ...sheet.notes.map((note) => element("p", { class: "faint" }, note))] : []));
  showFindings();
  layout();
  redraw();
}

/** What the address says: metric, colours, brightness, theme, window. */
async function follow() {
  const wanted = new URLSearchParams(location.hash.slice(1));
  const metric = state.sheet.metrics.findIndex((metric) => metric.name === wanted.get("m"));
  state.brightness = clamp(Number(wanted.get("b")) || 0, -6, 6);
  $("brightness").value = state.brightness;
  if (/^(light|dark)$/.test(wanted.get("t") ?? "")) setTheme(wanted.get("t"));
  if (metric > 0) await setMetric(metric);
  if (wanted.get("a") === "absolute" && columnCapacity(current.metric)) state.mode = $("mode").value = "absolute";
  const sides = (wanted.get("w") ?? "").split(",").map(Number);
  if (sides.length === 4 && sides.every(Number.isFinite)) set({ r0: sides[0], r1: sides[1], c0: sides[2], c1: sides[3] });
}

document.documentElement.dataset.theme = theme();
await load();
if (state.sheet) {
  listen();
  await follow();
  const seconds = Number(meta("rowkey-refresh"));
  // A live map follows time as long as nobody looks at a part of it.
  if (source.live && seconds > 0) setInterval(() => { if (!document.hidden && !Object.keys(range).length && !drag) load(); }, seconds * 1000);
}
