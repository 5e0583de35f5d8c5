#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
# The exported page in a browser: clicked, zoomed, searched, its selectors
# changed. The test appends a script to the page that acts like a reader and
# records what it sees.
#
# test-page.py FLAMBEAU_CLI
import base64
import hashlib
import json
import os
import pathlib
import random
import re
import shutil
import subprocess
import sys
import tempfile
from html import unescape

SEEN = "const seen = {};\n"

ACTIONS = SEEN + """
const by = (id) => document.getElementById (id);
const details = () => by ("details").textContent;
const canvas = by ("canvas");
function mouse (type, x, y) {
  const box = canvas.getBoundingClientRect ();
  canvas.dispatchEvent (new MouseEvent (type, { bubbles: true,
    clientX: box.left + x, clientY: box.top + y }));
}
function choose (id, value) {
  by (id).value = value;
  by (id).dispatchEvent (new Event ("change"));
}
function find (text) {
  by ("search").value = text;
  by ("search").dispatchEvent (new Event ("input"));
}
const table = () => Array.from (by ("rows").rows, (row) =>
  Array.from (row.cells, (cell) => cell.textContent));
const inked = () => {
  const pixels = canvas.getContext ("2d")
    .getImageData (0, 0, canvas.width, 60).data;
  let n = 0;
  for (let i = 3; i < pixels.length; i += 4)
    n += pixels[i] > 0;
  return n;
};
"""

MEASURE = """
seen.opened = { details: details (), inked: inked (),
                scroll: by ("graph").scrollTop, table: table (),
                height: document.documentElement.scrollHeight,
                window: innerHeight };
"""


class Page:
    def __init__(self, cli, folder):
        self.cli = cli
        self.folder = pathlib.Path(folder)
        self.browser = shutil.which("chromium") or shutil.which("chrome")

    def export(self, capture, *options):
        return subprocess.run(
            [self.cli, "export", capture, "--to", "html", *options],
            capture_output=True, check=True).stdout.decode()

    def act(self, html, script, address="", actions=ACTIONS):
        path = self.folder / "page.html"
        ours = (f"{actions}{script}\n"
                "const pre = document.createElement ('pre');"
                "pre.id = 'seen'; pre.textContent = JSON.stringify (seen);"
                "document.body.appendChild (pre);")
        digest = hashlib.sha256(ours.encode()).digest()
        ours_too = f"script-src 'sha256-{base64.b64encode(digest).decode()}' "
        # The page's own policy allows no script but this one.
        assert html.count("script-src ") == 1, "no content security policy"
        path.write_text(html.replace("script-src ", ours_too, 1).replace(
            "</body></html>",
            f"<script>document.title = 'foreign';</script>"
            f"<script>{ours}</script></body></html>"))
        dom = subprocess.run(
            [self.browser, "--headless", "--no-sandbox", "--disable-gpu",
             "--disable-dev-shm-usage", "--window-size=1200,800",
             f"--user-data-dir={self.folder}/browser",
             "--host-resolver-rules=MAP * ~NOTFOUND",
             "--virtual-time-budget=3000", "--dump-dom",
             f"file://{path}{address}"],
            capture_output=True, timeout=240).stdout.decode()
        found = re.search(r'<pre id="seen">(.*?)</pre>', dom, re.S)
        assert found, "the page's script did not get to its end:\n" + dom[-800:]
        assert "<title>foreign" not in dom, "a foreign script was run"
        text = found.group(1)
        for entity, sign in ("&lt;", "<"), ("&gt;", ">"), ("&amp;", "&"):
            text = text.replace(entity, sign)
        return json.loads(text)


def equal(now, wanted):
    assert now == wanted, f"{now!r}, wanted {wanted!r}"


def check_small(page):
    capture = page.folder / "small.folded"
    capture.write_text("main;parse;read 30\nmain;parse 10\n"
                       "main;<b>&\"';draw 40\nother 20\n")
    html = page.export(capture)
    assert "http:" not in html.replace("http://www.w3.org", ""), "network"
    seen = page.act(html, MEASURE + """
mouse ("mousemove", 20, 30); seen.hover = details ();
seen.tip = by ("tip").innerText;
mouse ("click", 20, 30); seen.zoomed = details ();
seen.address = location.hash;
mouse ("click", 20, 50); seen.deeper = details ();
by ("reset").click (); seen.reset = details ();
find ("parse|read"); seen.matched = by ("matched").textContent;
seen.found = table ();
find (""); choose ("dir", "flame");
mouse ("mousemove", 20, by ("graph").clientHeight - 38);
seen.flame = details ();
choose ("dir", "icicle"); choose ("sort", "name");
mouse ("mousemove", 20, 50); seen.by_name = details ();
by ("rows").rows[0].cells[0].click ();
seen.clicked = by ("search").value;
document.querySelector ("th[data-key=total]").click ();
seen.total_first = table ()[0];
""")
    opened = seen["opened"]
    equal(opened["details"], "all — 100, 100.0 %; self 0")
    equal(opened["scroll"], 0)
    equal(opened["height"], opened["window"])
    assert opened["inked"] > 1200 * 20, opened["inked"]
    equal(opened["table"], [["40", "40", "draw", ""], ["30", "30", "read", ""],
                            ["20", "20", "other", ""], ["10", "40", "parse", ""],
                            ["0", "80", "main", ""], ["0", "40", "<b>&\"'", ""]])
    equal(seen["hover"], "main — 80, 80.0 %; self 0")
    assert seen["tip"].startswith("main\n80, 80.0 % of all"), seen["tip"]
    equal(seen["zoomed"], "main — 80, 80.0 %; self 0")
    assert "zoom=" in seen["address"], seen["address"]
    equal(seen["deeper"], "<b>&\"' — 40, 40.0 %; self 0")
    equal(seen["reset"], "all — 100, 100.0 %; self 0")
    equal(seen["matched"], "matched: 40.0 %")
    equal([row[2] for row in seen["found"]], ["read", "parse"])
    equal(seen["flame"], "main — 80, 80.0 %; self 0")
    equal(seen["by_name"], "<b>&\"' — 40, 40.0 %; self 0")
    equal(seen["clicked"], "^draw$")
    equal(seen["total_first"][2], "draw")
    again = page.act(html, MEASURE, seen["address"])
    equal(again["opened"]["details"], "main — 80, 80.0 %; self 0")


def check_selectors(page, root):
    captures = pathlib.Path(root) / "tests" / "captures"
    capture = captures / "flambeau" / "kitchen.flambeau"
    told = json.loads(subprocess.run(
        [page.cli, "info", capture, "--json", "--no-symbols"],
        capture_output=True, check=True).stdout)
    html = page.export(capture, "--no-symbols")
    seen = page.act(html, """
seen.totals = [];
for (const item of by ("measure").options) {
  choose ("measure", item.value);
  seen.totals.push (by ("total").textContent);
}
choose ("measure", "0");
seen.threads = by ("thread").options.length;
seen.blank = Array.from (by ("thread").options).filter ((o) => o.text === "").length;
seen.legend = Array.from (by ("legend").children, (entry) => entry.textContent);
seen.places = table ().map ((row) => row[3]).filter (Boolean);
choose ("thread", "1"); seen.thread = details ();
seen.address = location.hash;
choose ("theme", "dark");
seen.theme = document.documentElement.dataset.theme;
""")
    equal(len(seen["totals"]), len(told["measures"]))
    # Only those that have something, and all of them together.
    assert seen["threads"] == len(told["threads"]) + 1, seen["threads"]
    assert "thread=1" in seen["address"], seen["address"]
    equal(seen["blank"], 0)
    assert "kitchen" in seen["legend"], seen["legend"]
    assert any(re.fullmatch(r"kitchen\.c:\d+", place) for place in seen["places"]), seen["places"]
    equal(seen["theme"], "dark")


def check_legend(page, root):
    """Each entry has the color of the boxes that it names."""
    html = page.export(f"{root}/tests/captures/folded/annotated.folded")
    seen = page.act(html, """
const data = JSON.parse (by ("flambeau").textContent);
const shade = (f) => "#" + data.functions.light[f].toString (16).padStart (6, "0");
const probe = document.createElement ("i");
seen.boxes = {};
data.functions.name.forEach ((name, f) => {
  probe.style.backgroundColor = shade (f);
  seen.boxes[data.strings[name]] = probe.style.backgroundColor;
});
seen.legend = {};
for (const entry of by ("legend").children)
  seen.legend[entry.textContent] = entry.firstChild.style.backgroundColor;
""")
    means = {"read": "Kernel", "Main.run": "JIT code", "Buffer.get": "Inlined",
             "Loop.step": "Interpreted code", "[unknown]": "Unnamed", "java": "Native code",
             "swapper": "Waker"}
    equal(set(seen["legend"]), set(means.values()))
    for name, meaning in means.items():
        equal(seen["boxes"][name], seen["legend"][meaning])


def check_gap(page):
    """Adjacent boxes too thin to draw become one plain box; where there are
    none, nothing is drawn."""
    capture = page.folder / "gap.folded"
    capture.write_text("main;a;x 1\nmain;b 1000000\nmain;c;y 1\n")
    seen = page.act(page.export(capture), """
choose ("sort", "name");
const pen = canvas.getContext ("2d");
const alpha = (x, y) => pen.getImageData (x, y, 1, 1).data[3];
seen.b = alpha (400, 50); seen.gap = alpha (400, 70);
""")
    equal(seen, {"b": 255, "gap": 0})


def check_labels(page):
    """A name that does not fit is cut where its box ends, though it begins with
    wide letters; not within a character."""
    capture = page.folder / "labels.folded"
    capture.write_text("W" * 50 + "i" * 100 + " 60\n"
                       + "😀" * 200 + ";x 40\n")
    seen = page.act(page.export(capture), """
const pen = canvas.getContext ("2d");
const put = pen.fillText;
seen.texts = [];
pen.fillText = function (text, x, y) {
  seen.texts.push ([text, x + pen.measureText (text).width]);
  put.call (pen, text, x, y);
};
choose ("sort", "name"); choose ("sort", "weight");
seen.texts = seen.texts.filter (([text]) => /^[W😀]/u.test (text)).slice (-2);
seen.room = by ("graph").clientWidth;
""")
    (wide, end), (faces, last) = seen["texts"]
    assert wide.startswith("WWW") and wide.endswith("…"), wide
    assert end <= 0.6 * seen["room"], (end, seen["room"])
    assert last <= seen["room"], (last, seen["room"])
    equal(set(faces), {"😀", "…"})


def check_large(page):
    """100,000 boxes: a frame of a zoom takes no longer than a screen's."""
    capture = page.folder / "large.folded"
    with open(capture, "w") as out:
        for i in range(50000):
            out.write(f"main;a{i % 100};b{i % 10000};c{i} {1 + i % 7}\n")
    seen = page.act(page.export(capture), MEASURE + """
const times = [];
for (let i = 0; i < 30; i++) {
  const from = performance.now ();
  mouse ("click", 100 + i * 20, i % 2 ? 10 : 30);
  window.dispatchEvent (new Event ("scroll"));
  canvas.getContext ("2d").getImageData (0, 0, 1, 1);
  times.push (performance.now () - from);
}
times.sort ((a, b) => a - b);
seen.median = times[15];
""")
    print("a click in 100,000 boxes:", seen["median"], "ms")
    assert seen["median"] < 100, seen["median"]


def check_names(page):
    """When the page lays out its boxes again, it shortens names as the program
    does."""
    names = ("net/http.(*persistConn).readLoop", "outer.<locals>.<lambda>.inner",
             "std::map<int, std::pair<int, int>>::operator<(a const&) const",
             "a::b<(anonymous namespace)::c>::d", "<T as core::fmt::Display>::fmt",
             "java.lang.String::<init>(char[])", "f(void (*)(int))")
    capture = page.folder / "names.folded"
    capture.write_text("".join(f"{name};{name};{name} {8 + 4 * i}\n"
                               for i, name in enumerate(names)) + "rest 60\n")
    html = subprocess.run(
        [page.cli, "diff", capture, capture, "--to", "html"],
        capture_output=True, check=True).stdout.decode()
    seen = page.act(html, f"""
const svg = document.querySelector (".flambeau");
seen.width = Math.round (svg.getBoundingClientRect ().width);
seen.texts = Array.from (svg.querySelectorAll (".f text"), (text) => text.textContent);
""", actions=SEEN)
    drawn = subprocess.run(
        [page.cli, "diff", capture, capture, "--to", "svg", "--width", str(seen["width"])],
        capture_output=True, check=True).stdout.decode()
    wanted = [unescape(text) for text in re.findall(
        r'<g class="f">.*?<text [^>]*>([^<]*)</text>', drawn)]
    equal(sorted(filter(None, seen["texts"])), sorted(wanted))


def check_difference(page):
    """The three graphs have one zoom, one search and one hovered function; a
    graph without it shows its nearest caller."""
    base, fresh = page.folder / "base.folded", page.folder / "fresh.folded"
    base.write_text("main;parse;read 30\nmain;parse 10\nmain;old 20\n")
    fresh.write_text("main;parse;read 60\nmain;parse 10\nmain;parse;fresh 25\n")
    html = subprocess.run(
        [page.cli, "diff", base, fresh, "--to", "html"],
        capture_output=True, check=True).stdout.decode()
    actions = SEEN + """
const pictures = Array.from (document.querySelectorAll (".flambeau"));
const box = (i, name) => Array.from (pictures[i].querySelectorAll ("g"))
  .find ((g) => g.querySelector ("rect") && g.textContent.startsWith (name + " ("));
const shown = (i) => Array.from (pictures[i].querySelectorAll ("g.f, g.f.dim"))
  .map ((g) => g.querySelector ("title").textContent.split (" (")[0]).sort ();
const act = (what, g) => g.dispatchEvent (new MouseEvent (what, { bubbles: true }));
const all = (test) => pictures.map ((svg, i) => test (i));
const details = () => all ((i) => pictures[i].querySelector (".details").textContent
  .split (" (")[0]);
window.prompt = () => "read";
"""
    script = """
act ("mouseover", box (1, "read"));
seen.details = details ();
seen.outlined = all ((i) => box (i, "read").getAttribute ("class"));
act ("mouseout", box (1, "read"));
seen.left = details ();
act ("mouseover", box (0, "old"));
seen.gone = details ();
act ("click", box (2, "read"));
seen.zoomed = all (shown);
seen.address = location.hash;
act ("click", box (1, "fresh"));
seen.fresh = all (shown);
act ("click", pictures[2].querySelector (".unzoom"));
seen.back = all (shown);
act ("click", pictures[1].querySelector (".search"));
seen.matched = all ((i) => pictures[i].querySelector (".matched").textContent);
"""
    seen = page.act(html, script, actions=actions)
    equal(seen["details"], ["read"] * 3)
    equal(seen["outlined"], ["f on", "f", "f on"])
    equal(seen["left"], [" "] * 3)
    equal(seen["gone"], ["old", " ", "old"])
    equal(seen["zoomed"], [["all", "main", "parse", "read"]] * 3)
    equal(seen["fresh"], [["all", "main", "parse", "read"],
                          ["all", "fresh", "main", "parse"],
                          ["all", "fresh", "main", "parse"]])
    equal(seen["back"], [["all", "main", "old", "parse", "read"],
                         ["all", "fresh", "main", "parse", "read"],
                         ["all", "fresh", "main", "old", "parse", "read"]])
    equal(seen["matched"], ["Matched: 50.0%", "Matched: 63.2%", "Matched: 57.1%"])
    again = page.act(html, "seen.zoomed = all (shown);", seen["address"], actions)
    equal(again["zoomed"], [["all", "main", "parse", "read"]] * 3)


def check_history(page):
    """The legend switches series, and the charts are scaled to the visible
    ones."""
    runs = page.folder / "runs"
    for day, (name, text) in enumerate((
            ("main/1", "a 900\nb 50\n"), ("main/2", "a 930\nb 60\n"),
            ("next/1", "a 30\nb 10\n"), ("next/2", "a 70\nb 15\n"))):
        path = runs / f"{name}.folded"
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
        os.utime(path, (1793534400 + 86400 * day,) * 2)
    html = subprocess.run(
        [page.cli, "history", runs, "--to", "html", "--group", "([a-z]+)/[0-9]"],
        capture_output=True, check=True).stdout.decode()
    seen = page.act(html, """
const entry = (name) => Array.from (document.querySelectorAll (".entry"))
  .find ((one) => one.textContent === name);
const most = () => document.querySelector ("text.most").textContent;
const points = () => Array.from (
  document.querySelectorAll ('svg.chart g[data-series="1"] circle'),
  (one) => Number (one.getAttribute ("cy")));
const rows = () => Array.from (document.querySelectorAll ("tr[data-series]"))
  .filter ((row) => row.getClientRects ().length > 0).length;
const headings = () => Array.from (document.querySelectorAll ("h3"))
  .filter ((one) => one.getClientRects ().length > 0).map ((one) => one.textContent);
const state = () => [most (), points (), rows (), headings ()];
seen.all = state ();
entry ("main").dispatchEvent (new MouseEvent ("click"));
seen.one = state ();
seen.pressed = entry ("main").getAttribute ("aria-pressed");
entry ("main").dispatchEvent (new KeyboardEvent ("keydown", { key: "Enter" }));
seen.again = state ();
""", actions=SEEN)
    equal(seen["all"], ["1\u202f000", [171.9, 165.1], 4, ["main", "next"]])
    # 85 of 90, 40 of 90, of the 152 pixels above 178
    equal(seen["one"], ["90", [110.4, 34.4], 2, ["next"]])
    equal(seen["pressed"], "false")
    equal(seen["again"], seen["all"])


def check_estimates(page, root):
    """Blocks of sampled memory have the error of their bytes: here, as if one of 4,096
    bytes were sampled."""
    every, capture = 4096, f"{root}/tests/captures/peers/heaptrack/alloc.gz"

    def totals(measure):
        done = subprocess.run([page.cli, "top", capture, "--measure", measure, "--json"],
                              capture_output=True, check=True)
        return {row["function"]: row["total"] for row in json.loads(done.stdout)["rows"]}

    def sampled(found):
        measures = json.loads(found[1])
        names = [one["name"] for one in measures]
        for one in measures:
            if one["unit"] == "bytes":
                one.update(every=every, whole=0)
        measures[names.index("Leaked blocks")]["bytes"] = names.index("Leaked memory")
        return f'"measures":{json.dumps(measures)},'

    html = re.sub(r'"measures":(\[.*?\]),$', sampled, page.export(capture), count=1, flags=re.MULTILINE)
    seen = page.act(html, """
choose ("measure", Array.from (by ("measure").options)
  .find ((one) => one.textContent === "Leaked blocks").value);
seen.table = table ();
""")
    blocks, size = totals("leaked-blocks"), totals("leaked")
    for _, total, name, _ in seen["table"]:
        samples = size[name] / every
        error = every * (1.9208 + 1.96 * (samples + 0.9604) ** 0.5)
        few = "1 sample" if samples < 2 else f"{int(samples)} samples"
        equal(total, f"{blocks[name]:,} ({few})" if samples < 10
              else f"{blocks[name]:,} ± {round(error * blocks[name] / size[name]):,}")
    assert seen["table"], "no blocks"


def random_trace(path):
    """Nested calls of random lengths, in two threads."""
    lot = random.Random(5)
    events = []

    def call(tid, depth, start, end):
        events.append({"ph": "X", "pid": 1, "tid": tid, "name": f"f{len(events)}",
                       "ts": start, "dur": end - start})
        while depth < 5 and start + 3 < end:
            from_ = lot.randrange(start, end - 1)
            to = lot.randrange(from_ + 1, end)
            call(tid, depth + 1, from_, to)
            start = to + 1

    call(1, 0, 0, 40000)
    call(2, 0, 1000, 30000)
    path.write_text(json.dumps(events))
    return events


def check_chart(page):
    """Calls are as long as in the trace; a click on one selects its range."""
    capture = page.folder / "calls.trace.json"
    events = random_trace(capture)
    svg = subprocess.run(
        [page.cli, "export", capture, "--to", "svg", "--chart", "--width",
         "32000", "--min-width", "0.01"],
        capture_output=True, check=True).stdout.decode()
    drawn = re.findall(r'<title>(f\d+) \([^<]*</title><rect [^>]*data-from="(\d+)" '
                       r'data-weight="(\d+)"', svg)
    equal(sorted((name, int(start), int(length)) for name, start, length in drawn),
          sorted((e["name"], e["ts"] * 1000, e["dur"] * 1000) for e in events))
    html = page.export(capture, "--chart")
    assert "http:" not in html.replace("http://www.w3.org", ""), "network"
    seen = page.act(html, """
const box = (name) => Array.from (document.querySelectorAll (".flambeau g"))
  .find ((g) => g.textContent.startsWith (name + " ("));
const told = (name) => Array.from (box (name).querySelector ("rect").attributes,
  (one) => [one.name, one.value]).filter ((one) => /^(x|width)$/.test (one[0]));
const ticks = () => Array.from (document.querySelectorAll (".ruler text"),
  (text) => text.textContent);
const svg = document.querySelector (".flambeau");
seen.room = Math.round (svg.getBoundingClientRect ().width);
seen.ticks = ticks ();
box ("OTHER").dispatchEvent (new MouseEvent ("click"));
seen.zoomed = told ("OTHER"); seen.later = ticks ();
seen.first = box ("f0").getAttribute ("class");
document.querySelector (".unzoom").dispatchEvent (new MouseEvent ("click"));
seen.again = ticks (); seen.root = told ("f0");
document.querySelector (".search").dispatchEvent (new MouseEvent ("click"));
seen.matched = document.querySelector (".matched").textContent;
""".replace("OTHER", next(e["name"] for e in events if e["tid"] == 2)),
        actions=SEEN + "window.prompt = () => '^f0$';")
    equal(seen["ticks"][:2], ["0 ms", "5 ms"])
    equal(seen["zoomed"], [["x", "10"], ["width", str(seen["room"] - 20)]])
    equal(seen["root"], seen["zoomed"])
    assert seen["later"] != seen["ticks"], seen["later"]
    equal(seen["again"], seen["ticks"])
    equal(seen["first"], "f")
    equal(seen["matched"], "Matched: 1")


def main():
    cli = sys.argv[1]
    root = os.environ["FLAM_SOURCE_ROOT"]
    with tempfile.TemporaryDirectory() as folder:
        page = Page(cli, folder)
        if page.browser is None:
            print("no chromium")
            return 77
        check_small(page)
        check_chart(page)
        check_legend(page, root)
        check_gap(page)
        check_labels(page)
        check_names(page)
        check_selectors(page, root)
        check_difference(page)
        check_history(page)
        check_estimates(page, root)
        check_large(page)
    return 0


sys.exit(main())
