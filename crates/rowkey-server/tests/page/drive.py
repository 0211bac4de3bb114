"""Uses the server's page as a person does, and says what holds.

    drive.py CHROMIUM URL TABLE OTHER_TABLE FOLDER

Load on TABLE must go on meanwhile: keys `events#TIME` and `user#NN#NNNNNN`. OTHER_TABLE has none. Pictures go to FOLDER.
"""

import base64
import json
import sys
import time
import zlib

from browser import Browser

SHIFT, ROOT = 8, "document.documentElement"
SCHEMA = 'version = 1\ntable = "{table}"\n[key]\nlayout = "{{kind}}#{{rest}}"\n[key.fields]\nkind = {{ type = "string" }}\nrest = {{ type = "string" }}\n'


def full_map():
    """A sheet of a million cells: bands, a front, and grain."""
    rows = columns = 1000
    metrics = []
    for number, (name, unit) in enumerate([("writes", "writes"), ("reads", "reads"), ("bytes-in", "bytes"), ("bytes-out", "bytes"), ("rows-read", "rows"), ("time", "us")]):
        cells, state, total = bytearray(), 12345 + number, 0
        for row in range(rows):
            for column in range(columns):
                state = (state * 1103515245 + 12345) & 0x7FFFFFFF
                value = (state >> 16) % 8 + (115 if abs(row - column) < 3 else 0) if (row // 50) % 3 or state % 5 == 0 else 0
                total += value
                cells.append(value)
        metrics.append({"name": name, "unit": unit, "sum": str(total), "total": str(total), "capacity_per_s": 14000 if name == "writes" else None, "cells": base64.b64encode(zlib.compress(bytes(cells), 3)).decode()})
    keys = [f"u#{row // 50:02d}#{row:06d}" if row else "" for row in range(rows)]
    labels = [[{"from": group * 50, "to": group * 50 + 50, "text": f"{group:02d}#"} for group in range(20)]]
    now = 1_800_000_000_000
    sheet = {"type": "heatmap", "version": 1, "title": "full", "notes": [], "axis": "time", "time_start": now - columns * 1000, "time_step": 1000, "columns": columns, "column_s": 1, "rows": rows,
             "keys": keys, "examples": keys, "end": None, "metrics": metrics, "labels": labels, "nodes": {"count": 10, "of_row": [row % 10 for row in range(rows)]},
             "capacity": None, "findings": [], "now": now}
    return json.dumps(sheet).encode()


class Drive:
    def __init__(self, program, url, table, other, folder):
        self.page, self.url, self.table, self.other, self.folder = Browser(program), url, table, other, folder
        self.passed = self.failed = 0

    def check(self, name, holds, seen=""):
        if holds:
            self.passed += 1
        else:
            self.failed += 1
            print(f"FAILED {name}: {str(seen)[:400]}")

    def expect(self, name, condition, seen="document.body.innerText", seconds=15):
        holds = self.page.until(condition, seconds)
        self.check(name, holds, "" if holds else self.page.js(seen))

    def text(self, selector):
        return self.page.js(f"document.querySelector({json.dumps(selector)})?.textContent ?? ''")

    def choose(self, selector, value):
        self.page.js(f"(() => {{ const e = document.querySelector({json.dumps(selector)}); e.value = {json.dumps(value)}; e.dispatchEvent(new Event('change', {{ bubbles: true }})); }})()")

    def fill(self, selector, value):
        self.page.js(f"document.querySelector({json.dumps(selector)}).value = {json.dumps(value)}")

    def hash(self, name):
        return self.page.js(f"new URLSearchParams(location.hash.slice(1)).get({json.dumps(name)})")

    def opened(self, width, height, dark=False, extra=""):
        self.page.size(width, height, dark)
        self.page.go(f"{self.url}#table={self.table}{extra}")
        self.expect(f"the page at {width} is ready", f"{ROOT}.dataset.ready === 'yes' && document.querySelectorAll('#table option').length > 1")
        self.expect(f"the page at {width} has cells", "/in [\\d,]+ ranges/.test(document.querySelector('#summary').textContent)", "document.querySelector('#summary').textContent")
        time.sleep(0.4)

    def picture(self, name):
        self.page.picture(f"{self.folder}/{name}.png")

    def stage(self):
        return self.page.js("(() => { const r = document.querySelector('#stage').getBoundingClientRect(); return [r.left, r.top, r.width, r.height]; })()")

    def map(self):
        """Left, top, right, bottom of the map: as layout() in page.js has it."""
        self.page.js("scrollTo(0, 0)")
        left, top, width, height = self.stage()
        x = min(max(width * 0.2, 90), 260)
        return left + x, top + 4, left + width - 70, top + height - 150

    # ---- what a person does ----

    def fits(self, name):
        wide = self.page.js(f"[{ROOT}.scrollWidth, innerWidth]")
        self.check(f"{name}: nothing is wider than the window", wide[0] <= wide[1], wide)

    def live(self):
        before = self.text("#pulse")
        self.check("the map is live", before.startswith("live"), before)
        self.expect("it follows the present", f"document.querySelector('#pulse').textContent !== {json.dumps(before)}", "document.querySelector('#pulse').textContent")
        first = self.text("#summary")
        self.expect("its sums grow", f"document.querySelector('#summary').textContent !== {json.dumps(first)}", "document.querySelector('#summary').textContent")
        colours = "(() => { const c = document.querySelector('#base'), d = new Uint32Array(c.getContext('2d').getImageData(0, 0, c.width, c.height).data.buffer); return new Set(d).size; })()"
        self.check("the map has colours", self.page.js(colours) > 8, self.page.js(colours))

    def metrics(self):
        offered = self.page.js("[...document.querySelectorAll('#metric option')].map((o) => o.textContent)")
        for metric in ("writes", "reads", "bytes-in", "bytes-out", "latency"):
            self.check(f"{metric} is offered", metric in offered, offered)
            if metric in offered:
                self.choose("#metric", str(offered.index(metric)))
                self.expect(f"{metric} is shown", f"{ROOT}.dataset.metric === {json.dumps(metric)}", f"{ROOT}.dataset.metric")
        self.expect("latency is a mean", "document.querySelector('#summary').textContent.startsWith('mean latency')", "document.querySelector('#summary').textContent")
        self.choose("#metric", "0")
        self.expect("the first metric comes back", f"{ROOT}.dataset.metric === {json.dumps(offered[0])}")

    def colours(self):
        self.check("absolute colours are possible", not self.page.js("document.querySelector('#mode').disabled"))
        self.choose("#mode", "absolute")
        self.expect("colours are absolute", f"{ROOT}.dataset.mode === 'absolute'")
        self.picture("absolute")
        self.choose("#mode", "relative")
        self.expect("colours are relative", f"{ROOT}.dataset.mode === 'relative'")

    def hover_and_pin(self):
        left, top, right, bottom = self.map()
        self.page.mouse("mouseMoved", right - 30, (top + bottom) / 2)
        self.expect("hovering tells the cell", "!document.querySelector('#tip').hidden && /keys/.test(document.querySelector('#tip').textContent)")
        tip = self.text("#tip")
        for part in ("to", "from (UTC)", "writes", "node", "tablet"):
            self.check(f"the hover tells {part}", part in tip, tip)
        pulse = self.text("#pulse")
        self.page.until(f"document.querySelector('#pulse').textContent !== {json.dumps(pulse)}")
        self.check("it stays while the map moves on", not self.page.js("document.querySelector('#tip').hidden"))
        self.page.mouse("mousePressed", right - 30, (top + bottom) / 2, button="left", clickCount=1)
        self.page.mouse("mouseReleased", right - 30, (top + bottom) / 2, button="left", clickCount=1)
        self.expect("a click pins", "document.querySelectorAll('#pins .pin').length === 1")
        self.expect("the pin asks for its busiest keys", "/busiest keys of|No key of/.test(document.querySelector('#pins .top').textContent)", "document.querySelector('#pins').textContent")
        pulse = self.text("#pulse")
        self.page.until(f"document.querySelector('#pulse').textContent !== {json.dumps(pulse)}")
        self.check("the pin stays while the map moves on", self.page.js("document.querySelectorAll('#pins .pin').length") == 1)
        self.page.js("document.querySelector('#pins').scrollIntoView({ block: 'nearest' })")
        self.picture("pinned")
        self.page.js("document.querySelector('#pins .pin button').click()")
        self.expect("a pin can be removed", "!document.querySelector('#pins .pin')")

    def hot_key(self):
        """A range of one key, which is written most."""
        self.opened(1900, 1000, extra="&start=user%2307%23000042&end=user%2307%23000043")
        left, top, right, bottom = self.map()
        self.page.mouse("mouseMoved", right - 30, (top + bottom) / 2)
        self.page.mouse("mousePressed", right - 30, (top + bottom) / 2, button="left", clickCount=1)
        self.page.mouse("mouseReleased", right - 30, (top + bottom) / 2, button="left", clickCount=1)
        self.expect("the pin has its busiest keys with their errors", "/busiest keys[^]*user#07#000042[^]*(at most|exact)/.test(document.querySelector('#pins .top')?.textContent)", "document.querySelector('#pins').textContent")
        self.picture("hot-key")
        self.page.js("document.querySelector('#pins .pin button').click()")
        self.page.click("#reset")
        self.expect("Reset leaves a part that an address named", "!/start=/.test(location.hash)", "location.hash")

    def zoom(self):
        left, top, right, bottom = self.map()
        start = lambda: self.hash("start") or self.hash("end")
        self.page.drag(left + 40, top + 40, right - 60, (top + bottom) / 2)
        self.expect("a rectangle zooms in keys and time", "/from=\\d/.test(location.hash) && /end=|start=/.test(location.hash)", "location.hash")
        self.check("a part of the past is not followed", not self.text("#pulse").startswith("live"), self.text("#pulse"))
        self.check("the keys that are shown are told", len(self.page.js("[...document.querySelectorAll('#crumbs button')].map((b) => b.textContent)")) >= 2)
        self.picture("zoomed")
        self.page.click("#back")
        self.expect("Back goes back", "!/from=|start=|end=/.test(location.hash)", "location.hash")
        self.page.mouse("mouseWheel", (left + right) / 2, (top + bottom) / 2, deltaX=0, deltaY=-120)
        self.expect("the wheel zooms", "/from=\\d/.test(location.hash)", "location.hash")
        self.page.click("#reset")
        self.expect("Reset shows all keys and the present", "!/from=|start=|end=/.test(location.hash) && document.querySelector('#pulse').textContent.startsWith('live')", "location.hash")
        self.check("nothing is left to be reset", start() is None, start())

    def time(self):
        self.page.click("#earlier")
        self.expect("Earlier scrolls back", "/from=\\d+/.test(location.hash) && /to=\\d+/.test(location.hash)", "location.hash")
        self.page.click("#live")
        self.expect("Live comes back", "document.querySelector('#live').getAttribute('aria-pressed') === 'true' && /span=/.test(location.hash)", "location.hash")
        self.choose("#span", "60000")
        self.expect("a minute can be chosen", "/span=60000/.test(location.hash)", "location.hash")
        self.choose("#span", "900000")
        self.expect("and a quarter of an hour", "/span=900000/.test(location.hash)", "location.hash")

    def hierarchy(self):
        self.expect("prefixes are listed with shares", "/user#[^]*%/.test(document.querySelector('#prefixes').textContent)", "document.querySelector('#prefixes').textContent")
        # Few ranges have one level only; the next one comes with entering.
        if self.page.js("(() => { const b = [...document.querySelectorAll('#prefixes .toggle')].find((b) => b.getAttribute('aria-label').includes('user#')); b.click(); return !b.disabled; })()"):
            self.expect("a prefix unfolds", "/user#[^]*\\d\\d#/.test(document.querySelector('#prefixes').textContent)", "document.querySelector('#prefixes').textContent")
        self.picture("hierarchy")
        self.page.js("[...document.querySelectorAll('#prefixes .name')].find((b) => b.textContent === 'user#').click()")
        self.expect("a prefix is entered", "[...document.querySelectorAll('#crumbs button')].map((b) => b.textContent).includes('user#') && /start=u/.test(location.hash)", "location.hash")
        self.expect("the map has its next level", "[...document.querySelectorAll('#labels button')].some((b) => /^\\d\\d#/.test(b.textContent))", "document.querySelector('#labels').textContent")
        self.picture("prefix")
        self.page.js("document.querySelector('#crumbs button').click()")
        self.expect("the path leads back to all keys", "!/start=/.test(location.hash)", "location.hash")

    def findings(self):
        self.expect("the doctor's findings are there", "document.querySelectorAll('#findings .finding').length > 0", "document.querySelector('#findings').textContent", 45)
        self.expect("they stand in the map", "document.querySelectorAll('#badges button').length > 0")
        self.page.js("document.querySelector('#badges button').click()")
        self.expect("a finding shows its advice", "document.querySelector('#findings [aria-expanded=true]') && document.querySelector('#findings li')", "document.querySelector('#findings').textContent")
        self.picture("finding")
        self.page.js("document.querySelector('#findings [aria-expanded=true]').click()")

    def tablets(self):
        self.page.click("#tab-tablets")
        self.expect("tablets are listed", "document.querySelectorAll('#tablets tbody tr').length > 0")
        self.expect("one of them has load", "/\\d+(\\.\\d+)? %/.test(document.querySelector('#tablets').textContent)")
        self.page.js("document.querySelector('#tablets [data-sort=writes]').click()")
        self.expect("they can be sorted", "document.querySelector('#tablets th[aria-sort=descending]')?.textContent === 'writes/s'", "document.querySelector('#tablets thead').innerHTML")
        self.picture("tablets")
        self.page.click("#tab-nodes")
        self.expect("nodes are listed", "document.querySelectorAll('#nodes tbody tr').length > 1")
        self.picture("nodes")

    def split(self):
        self.page.click("#tab-design")
        self.expect("the design is shown", "/maxversions/.test(document.querySelector('#design').textContent)", "document.querySelector('#design').textContent")
        before = self.text("#design dl")
        self.fill("#split-key", "user#05")
        self.page.click("#split button")
        self.expect("a tablet is cut", "/Cut at user#05/.test(document.querySelector('#split-said').textContent) && /user#05/.test(document.querySelector('#design dl').textContent)", "document.querySelector('#split').textContent")
        self.check("the design has changed", self.text("#design dl") != before)
        self.fill("#split-key", "\\q")
        self.page.click("#split button")
        self.expect("a bad key is refused", "/backslash/.test(document.querySelector('#split-said').textContent)", "document.querySelector('#split-said').textContent")
        self.page.click("#measure")
        self.expect("garbage is counted", "document.querySelectorAll('#garbage tbody tr').length > 0", "document.querySelector('#garbage').textContent")
        self.page.click("#collect")
        self.expect("garbage is collected", "document.querySelectorAll('#garbage tbody tr').length > 0 && !document.querySelector('#collect').disabled", "document.querySelector('#garbage').textContent")
        self.picture("design")

    def schema(self):
        good = SCHEMA.format(table=self.table)
        self.fill("#schema-text", good.replace("type", "typ", 1))
        self.page.click("#schema [type=submit]")
        self.expect("a wrong schema is refused with its line", "/line 6/.test(document.querySelector('#schema-said').textContent)", "document.querySelector('#schema-said').textContent")
        self.picture("schema-wrong")
        self.fill("#schema-text", good)
        self.page.click("#schema [type=submit]")
        self.expect("a good one is tried on keys", "/The schema is good: [\\d,]+ of [\\d,]+ keys/.test(document.querySelector('#schema-said').textContent)", "document.querySelector('#schema-said').textContent")
        self.picture("schema-good")
        self.page.click("#tab-map")
        self.expect("labels are fields", "[...document.querySelectorAll('#labels button')].some((b) => b.textContent.includes('kind=user'))", "document.querySelector('#labels').textContent")
        self.picture("fields")
        self.page.click("#tab-design")
        self.expect("the layout is shown", "/\\{kind\\}#\\{rest\\}/.test(document.querySelector('#design').textContent)")
        self.page.click("#schema-remove")
        self.expect("it can be removed", "/as they are/.test(document.querySelector('#schema-said').textContent)", "document.querySelector('#schema-said').textContent")
        self.page.click("#tab-map")
        self.expect("labels are prefixes again", "[...document.querySelectorAll('#labels button')].some((b) => b.textContent === 'user#')", "document.querySelector('#labels').textContent")

    def tables(self):
        self.choose("#table", self.other)
        self.expect("another table says that it has no load", "!document.querySelector('#empty').hidden && /Nothing was recorded/.test(document.querySelector('#empty').textContent)", "document.querySelector('#empty').textContent")
        self.picture("empty")
        self.choose("#table", self.table)
        self.expect("the first one comes back", "document.querySelector('#empty').hidden && /in [\\d,]+ ranges/.test(document.querySelector('#summary').textContent)")

    def keyboard(self):
        self.page.js("document.activeElement?.blur()")
        self.page.key("m")
        self.expect("m changes the metric", f"{ROOT}.dataset.metric !== 'writes'", f"{ROOT}.dataset.metric")
        self.choose("#metric", "0")
        self.page.js("document.querySelector('#over').focus()")
        self.page.key("ArrowRight")
        self.page.key("ArrowDown")
        self.expect("arrows move a cell, and it is read out", "!document.querySelector('#tip').hidden && /keys/.test(document.querySelector('#status').textContent)")
        self.page.key("Enter")
        self.expect("Enter pins", "document.querySelectorAll('#pins .pin').length === 1")
        self.page.key("Escape")
        self.expect("Escape lets go", "document.querySelector('#tip').hidden")
        self.page.js("document.querySelector('#pins .pin button').focus()")
        self.page.key("Enter")
        self.expect("Enter presses a button", "!document.querySelector('#pins .pin')")
        self.page.js("document.querySelector('#over').focus()")
        self.page.key("+")
        self.expect("+ zooms", "/from=\\d/.test(location.hash)", "location.hash")
        self.page.key("Backspace")
        self.expect("Backspace goes back", "!/from=\\d/.test(location.hash)", "location.hash")
        self.page.key("[")
        self.expect("[ goes to the past", "/from=\\d/.test(location.hash)", "location.hash")
        self.page.key("l")
        self.expect("l goes to the present", "/span=/.test(location.hash)", "location.hash")
        self.page.js("document.querySelector('#tab-map').focus()")
        self.page.key("ArrowRight")
        self.expect("arrows change the view", "document.querySelector('#tab-tablets').getAttribute('aria-selected') === 'true' && document.activeElement.id === 'tab-tablets'")
        self.page.key("ArrowLeft")
        self.expect("and back", "!document.querySelector('#panel-map').hidden")
        before = self.page.js(f"{ROOT}.dataset.theme")
        self.page.key("t")
        self.expect("t changes the theme", f"{ROOT}.dataset.theme !== {json.dumps(before)}")
        self.page.key("t")
        unnamed = self.page.js("[...document.querySelectorAll('button, select, input, textarea, canvas')].filter((e) => e.getClientRects().length && e.ariaHidden !== 'true' && !(e.getAttribute('aria-label') || e.labels?.length || e.textContent.trim() || e.title)).map((e) => e.outerHTML)")
        self.check("everything that can be used has a name", not unnamed, unnamed)

    def address(self):
        self.choose("#metric", "1")
        time.sleep(0.5)
        address = self.page.js("location.href")
        metric = self.page.js(f"{ROOT}.dataset.metric")
        self.page.go(address)
        self.expect("an address opens what it was copied from", f"{ROOT}.dataset.ready === 'yes' && {ROOT}.dataset.metric === {json.dumps(metric)}", f"location.hash + {ROOT}.dataset.metric")

    def drawing(self):
        """How long a full map takes: a thousand ranges by a thousand columns of every metric, new every two seconds, zoomed by hand."""
        self.page.answer("/heatmap?", full_map())
        self.opened(1900, 1000)
        self.expect("a full map is shown", "document.querySelector('#summary').textContent.includes('1,000 ranges by 1,000 columns')", "document.querySelector('#summary').textContent", 30)
        self.picture("full")
        self.page.js("""(() => {
            window.draws = []; window.frames = []; let last = performance.now();
            new PerformanceObserver((list) => draws.push(...list.getEntriesByName('draw').map((e) => e.duration))).observe({ type: 'measure' });
            const frame = (now) => { frames.push(now - last); last = now; requestAnimationFrame(frame); };
            requestAnimationFrame(frame);
        })()""")
        left, top, right, bottom = self.map()
        for metric in ("1", "0"):
            self.choose("#metric", metric)
            for turn in range(24):
                self.page.mouse("mouseWheel", (left + right) / 2, (top + bottom) / 2, deltaX=0, deltaY=-120 if turn < 12 else 120)
                time.sleep(0.03)
            for turn in range(20):
                self.page.mouse("mouseMoved", left + 10 + 20 * turn, top + 10 + 10 * turn)
        time.sleep(1)
        draws, frames = sorted(self.page.js("draws")), sorted(self.page.js("frames"))
        at = lambda times, part: times[int((len(times) - 1) * part)]
        print(f"a full map of 1,000 x 1,000: drawn {len(draws)} times in {at(draws, 0.5):.1f} ms (median), {at(draws, 0.95):.1f} ms (95 %), {draws[-1]:.1f} ms (slowest); "
              f"{len(frames)} frames, {at(frames, 0.5):.1f} ms (median), {at(frames, 0.95):.1f} ms (95 %), {frames[-1]:.1f} ms (slowest)")
        # A machine that does much besides must not fail: its quicker drawings tell.
        self.check("a full map can be drawn in less than 50 ms", at(draws, 0.25) < 50, draws)
        self.page.answer_no_more()
        self.opened(1900, 1000)

    def complaints(self, name):
        # The refused schema and split are answers with status 400, which a browser writes to its console. The pixels are read by this test.
        heard = [text for text in self.page.complaints if "status of 400" not in text and "willReadFrequently" not in text]
        self.check(f"{name}: the console is silent", not heard, heard)
        self.page.complaints.clear()
        elsewhere = [url for url in getattr(self.page, "requests", []) if not url.startswith((self.url, "about:", "data:"))]
        self.check(f"{name}: no request leaves for another host", not elsewhere, elsewhere)

    def all(self):
        self.opened(1900, 1000)
        self.picture("map-1900")
        for step in (self.live, self.metrics, self.colours, self.hierarchy, self.findings, self.hover_and_pin, self.hot_key, self.zoom, self.time, self.keyboard, self.tablets, self.split, self.schema, self.tables, self.address, self.drawing):
            try:
                step()
            except RuntimeError as error:
                self.check(step.__name__, False, error)
        self.fits("1900")
        self.complaints("1900")
        self.opened(800, 600, dark=True)
        self.check("a dark system gets a dark page", self.page.js(f"{ROOT}.dataset.theme") == "dark")
        self.picture("map-800-dark")
        for view in ("map", "tablets", "nodes", "design"):
            self.page.click(f"#tab-{view}")
            time.sleep(0.6)
            self.fits(f"800, {view}")
            self.picture(f"{view}-800-dark")
        self.page.click("#tab-map")
        self.hover_and_pin()
        self.zoom()
        self.complaints("800")
        self.opened(1400, 900, dark=True)
        self.picture("map-1400-dark")


def main():
    drive = Drive(*sys.argv[1:6])
    try:
        drive.all()
    finally:
        drive.page.close()
    print(f"server-page: {drive.passed} passed, {drive.failed} failed")
    sys.exit(1 if drive.failed else 0)


main()
