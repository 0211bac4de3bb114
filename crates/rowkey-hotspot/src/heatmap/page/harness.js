// Drives the page in .ci/steps/page as a person would, and writes what it saw into the document. Never part of a page that is shipped.

const report = [];
const result = document.createElement("pre");
result.id = "harness";
const check = (name, holds, seen) => {
  report.push(`${holds ? "ok" : "FAILED"} ${name}${holds ? "" : `: ${seen}`}`);
  result.textContent = report.join("\n");
};
const pause = (ms) => new Promise((done) => setTimeout(done, ms));
/** Waits until something holds, up to five seconds: drawing follows the frames of the browser. */
const until = async (holds) => { for (let tries = 0; !holds() && tries < 100; tries++) await pause(50); };
/** Waits for what an action changes, then checks it. */
const expect = async (name, holds, seen) => { await until(holds); check(name, holds(), seen()); };
const $ = (id) => document.getElementById(id);
const root = document.documentElement;
document.body.append(result);
addEventListener("error", (event) => check("no error", false, event.message));
addEventListener("unhandledrejection", (event) => check("no rejection", false, event.reason));

for (let tries = 0; root.dataset.ready !== "yes" && tries < 100; tries++) await pause(50);
check("the page becomes ready", root.dataset.ready === "yes", root.dataset.ready);

const stage = $("stage").getBoundingClientRect();
const at = (x, y, type, more = {}) => $("over").dispatchEvent(new (type === "wheel" ? WheelEvent : PointerEvent)(type, {
  clientX: stage.left + x, clientY: stage.top + y, bubbles: true, cancelable: true, button: 0, pointerId: 1, ...more,
}));
const key = (name, more = {}) => document.dispatchEvent(new KeyboardEvent("keydown", { key: name, bubbles: true, cancelable: true, ...more }));
const params = () => new URLSearchParams(location.hash.slice(1));
// The map begins a fifth from the left (90 to 260 pixels), and ends 70 pixels from the right.
const left = Math.min(Math.max(stage.width * 0.2, 90), 260), right = stage.width - 70;

check("the sum is exact", $("summary").textContent.includes("writes: 1,200 writes"), $("summary").textContent);
check("labels are shown", [...$("labels").children].some((label) => label.textContent.startsWith("a#")), $("labels").textContent);
check("metrics are offered", [...$("metric").options].map((option) => option.textContent).join() === "writes,reads,bytes-in", $("metric").textContent);

const tip = () => $("tip").textContent;
const hash = () => location.hash;
const zoomed = () => params().get("w")?.split(",").length === 4;
at(left + 5, 10, "pointermove");
await expect("hover names keys", () => !$("tip").hidden && /a#0/.test(tip()), tip);
at(left + 5, 10, "pointermove");
await expect("hover tells counts", () => /writes[\d,]+/.test(tip()) && tip().includes("2024-05-02 10:00:"), tip);
check("hover tells the node", /node[12] of 2/.test(tip()), tip());
check("the cell is read out", $("status").textContent.startsWith("keys "), $("status").textContent);

at((left + right) / 2, 100, "wheel", { deltaY: -100 });
await expect("the wheel zooms", zoomed, hash);
key("Backspace");
await expect("Backspace goes back", () => !zoomed(), hash);

at(left + 50, 50, "pointerdown");
at(left + 150, 150, "pointermove");
at(left + 150, 150, "pointerup");
await expect("a rectangle zooms", () => zoomed() && !$("reset").disabled, hash);
$("reset").click();
await expect("reset shows everything", () => !zoomed() && $("reset").disabled, hash);

at(left + 5, 10, "pointerdown");
at(left + 5, 10, "pointerup");
await expect("a click pins", () => $("pins").querySelectorAll(".pin").length === 1, () => $("pins").textContent);
$("pins").querySelector("button").click();
await expect("a pin can be removed", () => !$("pins").querySelector(".pin"), () => $("pins").textContent);

$("metric").value = "1";
$("metric").dispatchEvent(new Event("change"));
await expect("the metric changes", () => $("summary").textContent.includes("reads: 300 reads") && params().get("m") === "reads", () => $("summary").textContent);
check("absolute colours are possible", !$("mode").disabled, $("mode").title);
key("a");
await expect("the key a makes colours absolute", () => root.dataset.mode === "absolute" && params().get("a") === "absolute", hash);
key("b");
await expect("the key b brightens", () => $("brightness").value === "1" && params().get("b") === "1", hash);

const before = root.dataset.theme;
$("theme").click();
await expect("the theme changes", () => root.dataset.theme !== before && /light|dark/.test(root.dataset.theme), () => root.dataset.theme);

$("labels").querySelector("button")?.click();
await expect("a label zooms into its rows", zoomed, hash);
key("r");
$("over").dispatchEvent(new KeyboardEvent("keydown", { key: "ArrowRight", bubbles: true, cancelable: true }));
await expect("arrows move a cell", () => !$("tip").hidden, () => "hidden");
key("Escape");
check("Escape lets go", $("tip").hidden, "shown");

const pixels = $("base").getContext("2d").getImageData(0, 0, $("base").width, $("base").height).data;
const colours = new Set();
for (let pixel = 0; pixel < pixels.length; pixel += 4) colours.add((pixels[pixel] << 16) | (pixels[pixel + 1] << 8) | pixels[pixel + 2]);
check("the map has colours", colours.size > 8, colours.size);

for (let turn = 0; turn < 40; turn++) key(turn % 2 ? "-" : "+");
key("r");
await expect("forty keys at once are no trouble", () => !zoomed(), hash);
check("the harness came to its end", true);
