// SPDX-License-Identifier: GPL-3.0-or-later
// The page of an exported profile. The data is the call tree with every
// measure's selves by thread; the selected part becomes a tree of its own, drawn
// on a canvas, where only the visible part takes time.
"use strict";
(function () {
  const data = JSON.parse (document.getElementById ("flambeau").textContent);
  const $ = (id) => document.getElementById (id);
  const { look, strings, functions, nodes, measures, threads, series } = data;
  const name = (f) => strings[functions.name[f]];
  const rowHeight = 20, least = 0.4, font = "12px system-ui, sans-serif";
  const dark = window.matchMedia ("(prefers-color-scheme: dark)");
  const canvas = $ ("canvas"), graph = $ ("graph"), tip = $ ("tip");
  const pen = canvas.getContext ("2d");
  const HIDDEN = { irrelevant: 1, imports: 2, native: 4 };
  const GREY = "#646464"; // the one color that is too dark for dark labels
  const IRRELEVANT = 1, IMPORT = 2, JIT = 3, INTERPRETED = 4, ROOT = 5;

  const state = { measure: "0", thread: "", dir: look.dir, sort: look.sort,
                  q: "", hide: "0", zoom: "", table: "self", theme: "" };
  let tree, zoomed = 0, hovered = -1, matches = null, rows = [];

  // --- numbers for people ---------------------------------------------------
  function digits (value) {
    return value >= 100 ? value.toFixed (0)
      : value >= 10 ? value.toFixed (1) : value.toFixed (2);
  }
  function plain (value, measure) {
    const steps = measure.unit === "ns"
      ? [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]
      : measure.unit === "bytes"
      ? [[1e12, "TB"], [1e9, "GB"], [1e6, "MB"], [1e3, "kB"], [1, "B"]] : [];
    for (const [size, unit] of steps)
      if (Math.abs (value) >= size && size > 1)
        return digits (value / size) + " " + unit;
    if (steps.length > 0)
      return Math.round (value) + " " + steps[steps.length - 1][1];
    return value.toLocaleString ("en");
  }
  // Of sampled allocations: the error, as flam_estimate_error() has it. The sizes of
  // the blocks are not here: all count as small.
  function worth (value, bytes, measure, sampled) {
    const size = Math.abs (bytes), n = size / sampled.every;
    const isWhole = (sum, all) => all > 0 && Math.abs (sum - all) <= all / 500;
    if (value === 0 || size === 0 || isWhole (Math.abs (value), measure.whole))
      return "";
    const whole = isWhole (size, sampled.whole) ? 0 : sampled.whole;
    const part = whole > 0 ? Math.min (1, size / whole) : 0;
    if (n < 10)
      return n < 2 ? " (1 sample)" : " (" + Math.floor (n) + " samples)";
    const each = measure === sampled ? 1 : value / size;
    const variance = Math.max (size * sampled.every * each * each,
                               (measure.spread ?? 0) * size);
    const half = 0.98 * Math.max (sampled.every * each, measure.step ?? 0);
    const error = 1.96 * (half + Math.sqrt (variance * (1 - part) + half * half));
    const all = measure === sampled ? whole : measure.whole;
    const most = all > 0 ? Math.min (error, Math.max (value, all - value)) : error;
    return " ± " + plain (Math.round (most), measure);
  }
  function weight (value, bytes) {
    const measure = measures[state.measure];
    const sampled = measure.bytes === undefined ? measure : measures[measure.bytes];
    return plain (value, measure) +
      (sampled.every ? worth (value, bytes ?? value, measure, sampled) : "");
  }
  const percent = (part, whole) =>
    (whole > 0 ? 100 * part / whole : 0).toFixed (1) + " %";

  // --- the selected part -> a tree ------------------------------------------
  const isNative = (f) => ![JIT, INTERPRETED, ROOT].includes (functions.kind[f]);
  function isHidden (f, hide) {
    return f >= 0 &&
      ((hide & HIDDEN.irrelevant && functions.flags[f] & IRRELEVANT) ||
       (hide & HIDDEN.imports && functions.flags[f] & IMPORT) ||
       (hide & HIDDEN.native && isNative (f)));
  }
  function selves (measure) {
    const self = new Float64Array (nodes.parent.length);
    for (const s of series)
      if (s.measure === measure &&
          (state.thread === "" || s.thread === Number (state.thread)))
        for (let i = 0; i < s.node.length; i++)
          self[s.node[i]] += s.self[i];
    return self;
  }
  // Hidden frames are spliced out: their callees become their caller's, and
  // those of one function are one. Nodes without weight are left out.
  function build () {
    const n = nodes.parent.length, hide = Number (state.hide);
    const all = selves (Number (state.measure)), sum = Float64Array.from (all);
    for (let i = n - 1; i > 0; i--)
      sum[nodes.parent[i]] += sum[i];
    const to = new Int32Array (n).fill (-1), parent = [-1], fn = [-1];
    const status = [0], own = nodes.status || [];
    const known = new Map ();
    to[0] = 0;
    for (let i = 1; i < n; i++) {
      if (sum[i] <= 0)
        continue;
      const f = nodes.function[i], up = to[nodes.parent[i]];
      if (isHidden (f, hide)) {
        to[i] = up;
        if (up > 0)
          status[up] |= own[i];
        continue;
      }
      const key = up * functions.name.length + f;
      let at = known.get (key);
      if (at === undefined) {
        at = parent.length;
        known.set (key, at);
        parent.push (up);
        fn.push (f);
        status.push (0);
      }
      status[at] |= own[i];
      to[i] = at;
    }
    const m = parent.length;
    const depth = new Int32Array (m);
    function sums (of) {
      const self = new Float64Array (m);
      for (let i = 0; i < n; i++)
        if (to[i] >= 0)
          self[to[i]] += of[i];
      const total = Float64Array.from (self);
      for (let i = m - 1; i > 0; i--)
        total[parent[i]] += total[i];
      return { self, total };
    }
    for (let i = 1; i < m; i++)
      depth[i] = depth[parent[i]] + 1;
    const { self, total } = sums (all), { bytes } = measures[state.measure];
    return place ({ n: m, parent, fn, self, total, depth, status,
                    bytes: bytes === undefined ? null : sums (selves (bytes)) });
  }
  // Children of a node are neighbours in their row, which is sorted by x.
  function place (t) {
    const kids = Array.from ({ length: t.n }, () => null);
    for (let i = 1; i < t.n; i++)
      (kids[t.parent[i]] ??= []).push (i);
    const by = state.sort === "name"
      ? (a, b) => name (t.fn[a]) < name (t.fn[b]) ? -1 : 1
      : state.sort === "time" ? (a, b) => a - b
      : (a, b) => t.total[b] - t.total[a] ||
                  (name (t.fn[a]) < name (t.fn[b]) ? -1 : 1);
    t.x = new Float64Array (t.n);
    t.rows = [[0]];
    t.kids = kids;
    for (let row = t.rows[0]; row.length > 0;) {
      const next = [];
      for (const i of row) {
        let x = t.x[i];
        for (const child of (kids[i] || []).sort (by)) {
          t.x[child] = x;
          x += t.total[child];
          next.push (child);
        }
      }
      if (next.length > 0)
        t.rows.push (next);
      row = next;
    }
    return t;
  }

  // --- functions ------------------------------------------------------------
  // A function within itself counts once.
  function sumFunctions () {
    const self = new Map (), total = new Map (), own = new Map (), all = new Map ();
    const add = (to, f, value) => to.set (f, (to.get (f) || 0) + value);
    const open = new Int32Array (functions.name.length);
    const steps = [[0, false]];
    while (steps.length > 0) {
      const [i, done] = steps.pop (), f = tree.fn[i];
      if (done) {
        open[f]--;
        continue;
      }
      if (f >= 0) {
        const first = open[f]++ === 0;
        add (self, f, tree.self[i]);
        if (first)
          add (total, f, tree.total[i]);
        if (tree.bytes)
          add (own, f, tree.bytes.self[i]);
        if (tree.bytes && first)
          add (all, f, tree.bytes.total[i]);
        steps.push ([i, true]);
      }
      for (const child of tree.kids[i] || [])
        steps.push ([child, false]);
    }
    rows = Array.from (self, ([f, value]) => ({ f, self: value,
                                                total: total.get (f) || 0,
                                                selfBytes: own.get (f),
                                                totalBytes: all.get (f) }));
  }
  // "mix.c:16"
  function placeOf (f) {
    const file = strings[functions.file[f]], line = functions.line[f];
    return file.substring (file.lastIndexOf ("/") + 1) +
      (file && line ? ":" + line : "");
  }
  // What the colors mean, by self cost, with the color of the heaviest function.
  function meaningsOfFunctions () {
    const of = new Map (), theme = isDark () ? "dark" : "light";
    for (const r of rows) {
      const meaning = strings[functions.meaning[r.f]];
      const known = of.get (meaning) || { top: -1, self: 0 };
      if (!meaning || r.total < tree.total[0] / 200)
        continue;
      known.self += r.self;
      if (known.top < r.self) {
        known.top = r.self;
        known.color = functions[theme][r.f];
      }
      of.set (meaning, known);
    }
    return of;
  }
  function meaningsOfStatuses () {
    const of = new Map (), theme = isDark () ? "dark" : "light";
    for (let i = 1; i < tree.fn.length; i++) {
      const one = statuses.find ((s) => tree.status[i] & s.bit) ||
        { name: "Other code", color: functions[theme][tree.fn[i]] };
      const known = of.get (one.name) || { self: 0, color: one.color };
      known.self += tree.self[i];
      of.set (one.name, known);
    }
    return of;
  }
  function showLegend () {
    const of = statuses.length > 0 ? meaningsOfStatuses ()
                                   : meaningsOfFunctions ();
    const legend = $ ("legend");
    legend.textContent = "";
    for (const [meaning, one] of Array.from (of)
           .sort ((a, b) => b[1].self - a[1].self).slice (0, 8)) {
      const entry = legend.appendChild (document.createElement ("span"));
      const mark = entry.appendChild (document.createElement ("i"));
      mark.style.backgroundColor = hex (one.color);
      entry.append (meaning);
    }
  }
  const MAX_ROWS = 400;
  function showTable () {
    const key = state.table, wanted = pattern ();
    const by = key === "name" ? (a, b) => name (a.f) < name (b.f) ? -1 : 1
      : (a, b) => b[key] - a[key] || b.total - a.total;
    const shown = rows.filter ((r) => !wanted || wanted.test (name (r.f)))
      .sort (by);
    const body = $ ("rows");
    body.textContent = "";
    for (const r of shown.slice (0, MAX_ROWS)) {
      const tr = body.insertRow ();
      tr.dataset.f = r.f;
      tr.title = name (r.f);
      tr.insertCell ().textContent = weight (r.self, r.selfBytes);
      tr.insertCell ().textContent = weight (r.total, r.totalBytes);
      const cell = tr.insertCell ();
      cell.textContent = name (r.f);
      tr.insertCell ().textContent = placeOf (r.f);
      tr.title += "\nself " + percent (r.self, tree.total[0]) +
        ", total " + percent (r.total, tree.total[0]);
    }
    $ ("more").textContent = shown.length > MAX_ROWS
      ? (shown.length - MAX_ROWS).toLocaleString ("en") + " more" : "";
    for (const th of document.querySelectorAll ("#side th"))
      th.setAttribute ("aria-sort", th.dataset.key !== key ? "none"
                       : key === "name" ? "ascending" : "descending");
  }

  // --- drawing --------------------------------------------------------------
  const isDark = () => state.theme === "dark" ||
    (state.theme === "" && dark.matches);
  const statuses = data.statuses || [];
  const hex = (color) => "#" + color.toString (16).padStart (6, "0");
  function color (i) {
    const f = tree.fn[i], theme = isDark () ? "dark" : "light";
    if (f < 0)
      return isDark () ? "#55504c" : "#e0dcd8";
    const told = functions.ruled && functions.ruled[f] ? undefined
      : statuses.find ((s) => tree.status[i] & s.bit);
    if (told)
      return hex (told.color);
    const odd = tree.depth[i] & 1 ? functions[theme + "Odd"] : undefined;
    return hex ((odd || functions[theme])[f]);
  }
  const flame = () => state.dir === "flame";
  const height = () => tree.rows.length * rowHeight + 8;
  const topOf = (depth) => (flame () ? tree.rows.length - 1 - depth : depth) *
    rowHeight + Math.max (0, flame () ? graph.clientHeight - height () : 0);
  const span = () => [tree.x[zoomed], tree.total[zoomed] || 1];

  function isAncestor (i, of) {
    while (of > i)
      of = tree.parent[of];
    return of === i;
  }
  function boxOf (i) {
    const [from, size] = span (), width = graph.clientWidth;
    const above = tree.depth[i] < tree.depth[zoomed] && isAncestor (i, zoomed);
    const x = above ? 0 : (tree.x[i] - from) / size * width;
    return { x, w: above ? width : tree.total[i] / size * width, above };
  }
  // The first of a row that ends behind `x`.
  function find (row, x) {
    let low = 0, high = row.length;
    while (low < high) {
      const mid = low + high >> 1;
      if (tree.x[row[mid]] + tree.total[row[mid]] <= x)
        low = mid + 1;
      else
        high = mid;
    }
    return low;
  }
  const widths = new Map ();
  function fit (text, room) {
    if (room < 18)
      return "";
    let w = widths.get (text);
    if (w === undefined)
      widths.set (text, w = pen.measureText (text).width);
    if (w <= room)
      return text;
    // The characters are not all as wide as they are on average.
    const cut = (keep) =>
      text.substring (0, keep).replace (/[\ud800-\udbff]$/, "") + "…";
    let low = 2, keep = Math.floor (text.length * room / w) - 1;
    if (keep < 3 || pen.measureText (cut (keep)).width <= room)
      return keep < 3 ? "" : cut (keep);
    while (low < keep) {
      const mid = low + keep + 1 >> 1;
      if (pen.measureText (cut (mid)).width <= room)
        low = mid;
      else
        keep = mid - 1;
    }
    return low < 3 ? "" : cut (low);
  }
  function drawRow (depth, y) {
    const [from, size] = span (), width = graph.clientWidth;
    const row = tree.rows[depth];
    const above = depth < tree.depth[zoomed];
    let thin = 0, thinX = 0;
    let at = above ? find (row, tree.x[zoomed]) : find (row, from);
    const flush = () => {
      if (thin > 0) {
        pen.fillStyle = isDark () ? "#4a4644" : "#d5d0cb";
        pen.fillRect (thinX, y, Math.max (thin, 0.5), rowHeight - 1);
      }
      thin = 0;
    };
    for (; at < row.length && tree.x[row[at]] < from + size; at++) {
      const i = row[at];
      const { x, w } = boxOf (i);
      if (w < least) {
        if (thin > 0 && x > thinX + thin + 1)
          flush ();
        if (thin === 0)
          thinX = x;
        thin = x + w - thinX;
        continue;
      }
      flush ();
      const hit = matches && matches[i];
      pen.globalAlpha = above || (matches && !hit) ? 0.45 : 1;
      const paint = hit ? "#e600e6" : color (i);
      pen.fillStyle = paint;
      pen.fillRect (x, y, Math.max (w - (w > 3 ? 1 : 0), 0.5), rowHeight - 1);
      pen.globalAlpha = 1;
      if (i === hovered) {
        pen.strokeStyle = isDark () ? "#fff" : "#000";
        pen.strokeRect (x + .5, y + .5, Math.max (w - 2, 1), rowHeight - 2);
      }
      const text = fit (tree.fn[i] < 0 ? "all" : name (tree.fn[i]),
                        Math.min (w, width - x) - 8);
      if (text !== "") {
        pen.fillStyle = hit || (paint === GREY && !above && !matches) ? "#fff"
          : isDark () && (above || matches || tree.fn[i] < 0) ? "#eee"
          : "#1a1514";
        pen.fillText (text, Math.max (x, 0) + 4, y + rowHeight / 2);
      }
      if (above)
        break;
    }
    flush ();
  }
  function draw () {
    const ratio = window.devicePixelRatio || 1;
    const w = graph.clientWidth, h = graph.clientHeight;
    if (canvas.width !== Math.round (w * ratio) ||
        canvas.height !== Math.round (h * ratio)) {
      canvas.width = Math.round (w * ratio);
      canvas.height = Math.round (h * ratio);
      canvas.style.width = w + "px";
      canvas.style.height = h + "px";
    }
    pen.setTransform (ratio, 0, 0, ratio, 0, 0);
    pen.clearRect (0, 0, w, h);
    pen.font = font;
    pen.textBaseline = "middle";
    const scroll = graph.scrollTop;
    for (let depth = 0; depth < tree.rows.length; depth++) {
      const y = topOf (depth) - scroll;
      if (y > -rowHeight && y < h)
        drawRow (depth, y);
    }
  }
  let asked = 0;
  function redraw () {
    if (asked === 0)
      asked = requestAnimationFrame (() => { asked = 0; draw (); });
  }
  function hit (event) {
    const box = canvas.getBoundingClientRect ();
    const px = event.clientX - box.left;
    const y = event.clientY - box.top + graph.scrollTop;
    const level = Math.floor ((y - topOf (flame () ? tree.rows.length - 1 : 0)) /
                              rowHeight);
    const depth = flame () ? tree.rows.length - 1 - level : level;
    const row = tree.rows[depth];
    if (row === undefined)
      return -1;
    const [from, size] = span ();
    const at = depth < tree.depth[zoomed] ? tree.x[zoomed]
      : from + px / graph.clientWidth * size;
    const i = row[find (row, at)];
    return i !== undefined && tree.x[i] <= at && boxOf (i).w >= least ? i : -1;
  }

  // --- search ---------------------------------------------------------------
  function pattern () {
    if (state.q === "")
      return null;
    try {
      return new RegExp (state.q, "i");
    } catch (error) {
      return new RegExp (state.q.replace (/[.*+?^${}()|[\]\\]/g, "\\$&"), "i");
    }
  }
  function search () {
    const wanted = pattern ();
    let sum = 0;
    matches = null;
    if (wanted) {
      const within = new Uint8Array (tree.n);
      const good = functions.name.map ((s) => wanted.test (strings[s]));
      matches = new Uint8Array (tree.n);
      for (let i = 1; i < tree.n; i++) {
        matches[i] = good[tree.fn[i]] ? 1 : 0;
        if (matches[i] && !within[tree.parent[i]])
          sum += tree.total[i];
        within[i] = within[tree.parent[i]] | matches[i];
      }
    }
    $ ("matched").textContent = wanted
      ? "matched: " + percent (sum, tree.total[0]) : "";
  }

  // --- the address ----------------------------------------------------------
  const defaults = Object.assign ({}, state);
  function path (i) {
    const names = [];
    for (; i > 0; i = tree.parent[i])
      names.unshift (tree.fn[i]);
    return names.join (".");
  }
  function follow (text) {
    let at = 0;
    for (const f of text === "" ? [] : text.split (".").map (Number)) {
      const child = (tree.kids[at] || []).find ((k) => tree.fn[k] === f);
      if (child === undefined)
        return at;
      at = child;
    }
    return at;
  }
  function remember () {
    const words = new URLSearchParams ();
    for (const key of Object.keys (state))
      if (state[key] !== defaults[key])
        words.set (key, state[key]);
    history.replaceState (null, "", "#" + words);
  }
  function recall () {
    const words = new URLSearchParams (location.hash.substring (1));
    for (const key of Object.keys (state))
      state[key] = words.get (key) ?? defaults[key];
    if (!measures[state.measure])
      state.measure = "0";
    if (state.thread !== "" && !used.has (Number (state.thread)))
      state.thread = "";
  }

  // --- events ---------------------------------------------------------------
  function zoom (i) {
    zoomed = i;
    state.zoom = path (i);
    $ ("reset").disabled = i === 0;
    describe (-1);
    remember ();
    redraw ();
  }
  function where (f) {
    const file = strings[functions.file[f]], line = functions.line[f];
    return [file && file + (line ? ":" + line : ""),
            strings[functions.module[f]]].filter (Boolean);
  }
  const totalText = (i) => weight (tree.total[i], tree.bytes?.total[i]);
  const selfText = (i) => weight (tree.self[i], tree.bytes?.self[i]);
  function describe (i) {
    const at = i >= 0 ? i : zoomed, f = tree.fn[at];
    const of = tree.total[0];
    $ ("details").textContent = (f < 0 ? "all" : name (f)) + " — " +
      totalText (at) + ", " + percent (tree.total[at], of) +
      "; self " + selfText (at);
  }
  function showTip (i, event) {
    tip.hidden = i < 0;
    if (i < 0)
      return;
    const f = tree.fn[i];
    tip.textContent = "";
    const add = (tag, text) =>
      tip.appendChild (document.createElement (tag)).textContent = text;
    add ("b", f < 0 ? "all" : name (f));
    add ("div", totalText (i) + ", " +
         percent (tree.total[i], tree.total[0]) + " of all" +
         (zoomed > 0 ? ", " + percent (tree.total[i], tree.total[zoomed]) +
          " of what is shown" : ""));
    if (tree.self[i] > 0)
      add ("div", "self " + selfText (i));
    for (const s of statuses)
      if (tree.status[i] & s.bit)
        add ("div", s.name);
    if (f >= 0)
      for (const text of where (f))
        add ("div", text);
    const x = Math.min (event.clientX + 14, innerWidth - tip.offsetWidth - 8);
    const y = event.clientY + 18 + tip.offsetHeight > innerHeight
      ? event.clientY - tip.offsetHeight - 10 : event.clientY + 18;
    tip.style.left = Math.max (x, 4) + "px";
    tip.style.top = Math.max (y, 4) + "px";
  }
  // `deep`: another tree is drawn, not the same one in another way.
  function update (deep) {
    if (deep) {
      tree = build ();
      sumFunctions ();
    }
    zoomed = follow (state.zoom);
    hovered = -1;
    tip.hidden = true;
    document.documentElement.dataset.theme = isDark () ? "dark" : "light";
    $ ("room").style.height = height () + "px";
    $ ("reset").disabled = zoomed === 0;
    $ ("total").textContent = measures[state.measure].name + ": " +
      totalText (0);
    search ();
    showTable ();
    showLegend ();
    describe (-1);
    remember ();
    graph.scrollTop = flame () ? graph.scrollHeight : 0;
    draw ();
  }

  function option (select, value, text) {
    const item = document.createElement ("option");
    item.value = value;
    item.textContent = text;
    select.appendChild (item);
  }
  measures.forEach ((m, i) => option ($ ("measure"), i, m.name));
  option ($ ("thread"), "", "All threads");
  const used = new Set (series.map ((s) => s.thread));
  threads.forEach ((t, i) => { if (used.has (i)) option ($ ("thread"), i, t); });
  $ ("thread").parentNode.hidden = used.size < 2;
  $ ("measure").parentNode.hidden = measures.length < 2;
  const any = (test) => functions.name.some ((_, f) => test (f));
  const some = { irrelevant: any ((f) => functions.flags[f] & IRRELEVANT),
                 imports: any ((f) => functions.flags[f] & IMPORT),
                 native: any ((f) => [JIT, INTERPRETED].includes (
                                functions.kind[f])) && any (isNative) };
  for (const key of Object.keys (HIDDEN)) {
    $ (key).parentNode.hidden = !some[key];
    $ (key).addEventListener ("change", () => {
      state.hide = String (Number (state.hide) ^ HIDDEN[key]);
      state.zoom = "";
      update (true);
    });
  }
  for (const key of ["measure", "thread", "dir", "sort", "theme"])
    $ (key).addEventListener ("change", () => {
      state[key] = $ (key).value;
      update (key !== "dir" && key !== "theme");
    });
  $ ("search").addEventListener ("input", () => {
    state.q = $ ("search").value;
    search ();
    showTable ();
    remember ();
    redraw ();
  });
  for (const th of document.querySelectorAll ("#side th"))
    th.addEventListener ("click", () => {
      state.table = th.dataset.key;
      showTable ();
      remember ();
    });
  $ ("rows").addEventListener ("click", (event) => {
    const row = event.target.closest ("tr");
    const text = "^" + name (Number (row.dataset.f))
      .replace (/[.*+?^${}()|[\]\\]/g, "\\$&") + "$";
    state.q = $ ("search").value = state.q === text ? "" : text;
    search ();
    showTable ();
    remember ();
    redraw ();
  });
  $ ("reset").addEventListener ("click", () => zoom (0));
  canvas.addEventListener ("mousemove", (event) => {
    const i = hit (event);
    if (i !== hovered) {
      hovered = i;
      describe (i);
      redraw ();
    }
    showTip (i, event);
  });
  canvas.addEventListener ("mouseleave", () => {
    hovered = -1;
    tip.hidden = true;
    describe (-1);
    redraw ();
  });
  canvas.addEventListener ("click", (event) => {
    const i = hit (event);
    if (i >= 0)
      zoom (i);
  });
  document.addEventListener ("keydown", (event) => {
    if (event.key === "Escape" && event.target === $ ("search") && state.q) {
      $ ("search").value = state.q = "";
      update (false);
    } else if (event.key === "Escape")
      zoom (zoomed > 0 ? Math.max (tree.parent[zoomed], 0) : 0);
    else if ((event.key === "/" || (event.key === "f" && event.ctrlKey)) &&
             event.target.localName !== "input") {
      event.preventDefault ();
      $ ("search").focus ();
    }
  });
  graph.addEventListener ("scroll", redraw);
  window.addEventListener ("resize", () => update (false));
  dark.addEventListener ("change", () => update (false));
  // Only then the nodes are in that order.
  if (look.sort === "time")
    $ ("sort").add (new Option ("As first seen", "time"));
  function open () {
    recall ();
    for (const key of ["measure", "thread", "dir", "sort", "theme"])
      $ (key).value = state[key];
    $ ("search").value = state.q;
    for (const key of Object.keys (HIDDEN))
      $ (key).checked = (Number (state.hide) & HIDDEN[key]) !== 0;
    update (true);
  }
  window.addEventListener ("hashchange", open);
  open ();
}) ();
