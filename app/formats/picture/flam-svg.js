// SPDX-License-Identifier: GPL-3.0-or-later
// Zoom, search and details of an exported flame graph or flame chart. The boxes
// are read back from the picture's elements; a zoom stretches what is below the
// clicked box, gives its callers the whole width, and hides the rest. Of a chart
// it stretches all lanes: the range of time is that of the clicked call. In a
// page the picture is laid out for the width that it has there. Several pictures
// in a page, as those of a difference, share zoom, hover and search.
"use strict";
(function () {
  const pictures = Array.from (document.querySelectorAll (".flambeau"));
  const inPage = document.documentElement.localName === "html";
  const address = window.location.hash.substring (1);
  const started = [];
  const ids = new Map ();

  // A number for the path of names from the root: the same one in all pictures.
  function pathOf (caller, name) {
    const key = caller + " " + name;
    if (!ids.has (key))
      ids.set (key, ids.size);
    return ids.get (key);
  }

  // As is_bracketed_name(): f.<locals>, http.(*Client).Do, <module>, A::<init>.
  function isName (before, at) {
    return before === "" ? !at.includes (">::")
      : before.endsWith (".") ||
        (before.endsWith ("::") && /^<(cl)?init>/.test (at));
  }

  // As without_brackets().
  function without (name, open, close) {
    let kept = "";
    let depth = 0;
    for (let p = 0; p < name.length; p++) {
      const c = name[p];
      const rest = name.substring (p);
      const operator = depth === 0 && kept.endsWith ("operator")
        ? rest.match (/^(\([()]*|[<>][<>=-]*)/) : null;
      const end = name.indexOf (close, p);
      if (operator !== null) {
        kept += operator[0];
        p += operator[0].length - 1;
      } else if (depth === 0 && c === open && isName (kept, rest)) {
        if (end < 0)
          break;
        kept += name.substring (p, end + 1);
        p = end;
      } else if (c === close && depth > 0 && name[p - 1] !== "-")
        depth--;
      else if (c === open)
        depth++;
      else if (depth === 0)
        kept += c;
    }
    return depth !== 0 ? name : kept;
  }

  // As flam_format_short_name(): arguments go first, then the scopes, then the
  // middle.
  function shorten (name, room) {
    let text = name;
    if (text.length > room && !text.includes ("(anonymous namespace)"))
      text = without (text, "(", ")").trimEnd () || name;
    if (text.length > room)
      text = (without (text, "<", ">") || text).replace (/^::/, "");
    while (text.length > room && /::./.test (text))
      text = text.substring (text.indexOf ("::") + 2);
    if (text.length <= room)
      return text;
    const head = Math.floor ((room - 1) / 3);
    return text.substring (0, head) + "…" +
      text.substring (text.length - (room - 1 - head));
  }

  // Of several in one page, the first uses the address; keys go to the one
  // that has the focus, or to the first if none has it.
  function start (svg, index) {
    const margin = Number (svg.dataset.margin);
    const character = Number (svg.dataset.character) / 100;
    const rowHeight = Number (svg.dataset.row);
    const baseline = Number (svg.dataset.baseline);
    const flame = svg.dataset.direction === "flame";
    const chart = svg.dataset.direction === "chart";
    const times = [Number (svg.dataset.from), Number (svg.dataset.to)];
    const ruler = svg.querySelector (".ruler");
    const drawn = svg.viewBox.baseVal.width - 2 * margin;
    const height = svg.viewBox.baseVal.height;
    const [heading, subtitle, details, matched, note, unzoom, search, legend] =
      ["heading", "subtitle", "details", "matched", "note", "unzoom", "search", "legend"]
        .map ((name) => svg.querySelector ("." + name));
    const title = heading.textContent;
    const slack = 0.0002;
    let width = drawn;
    let term = "";
    let ignoreCase = false;
    let zoomed = null;
    let current = null;
    let pointed = null;

    const boxes = Array.from (svg.querySelectorAll (".f, .s"), (g) => {
      const rect = g.querySelector ("rect");
      const says = g.querySelector ("title").textContent;
      const y = Number (rect.getAttribute ("y"));
      const text = g.querySelector ("text");
      return {
        g, rect, says, y, text,
        name: says.substring (0, says.lastIndexOf (" (")),
        label: text !== null ? text.textContent : "",
        kind: g.getAttribute ("class"),
        call: g.classList.contains ("f"),
        mark: g.getAttribute ("class") === "s mark",
        next: null, // of a mark: the next one of its row
        x: Number (rect.getAttribute ("x")) - margin,
        width: Number (rect.getAttribute ("width")),
        row: Math.round ((flame ? -y : y) / rowHeight),
        fill: rect.getAttribute ("fill"),
        shown: true,
      };
    });
    const calls = boxes.filter ((box) => box.call);
    boxes.filter ((box) => box.mark).forEach ((box, i, marks) => {
      if (i + 1 < marks.length && marks[i + 1].y === box.y)
        box.next = marks[i + 1];
    });
    const root = chart ? { row: -1, x: 0, width: drawn }
      : boxes.reduce ((a, b) => (b.row < a.row ? b : a));
    const overlaps = (box, other) =>
      box.x + box.width > other.x + slack &&
      box.x < other.x + other.width - slack;
    const within = (box, other) =>
      box.x >= other.x - slack &&
      box.x + box.width <= other.x + other.width + slack;

    // By path, where there are other pictures to compare it with.
    const same = new Map ();
    function findPaths () {
      const rows = new Map ();
      for (const box of calls) {
        if (!rows.has (box.row))
          rows.set (box.row, []);
        rows.get (box.row).push (box);
      }
      for (const row of Array.from (rows.keys ()).sort ((a, b) => a - b)) {
        const above = rows.get (row - 1) || [];
        let at = 0;
        for (const box of rows.get (row).sort ((a, b) => a.x - b.x)) {
          while (at < above.length && !within (box, above[at]))
            at++;
          box.caller = above[at] || null;
          box.path = pathOf (box.caller ? box.caller.path : -1, box.name);
          if (!same.has (box.path))
            same.set (box.path, box);
        }
      }
    }

    function label (box, x, w) {
      if (!box.call && !box.mark)
        return;
      const room = Math.floor ((w - 6) / character);
      const shown = w === box.width && box.call ? box.label
        : box.name.length <= room ? box.name
        : room < 6 || rowHeight < baseline ? ""
        : shorten (box.name, room);
      if (box.text === null) {
        if (shown === "")
          return;
        box.text = document.createElementNS ("http://www.w3.org/2000/svg", "text");
        box.text.setAttribute ("y", box.y + baseline);
        box.g.appendChild (box.text);
      }
      box.text.setAttribute ("x", margin + x + 3);
      box.text.textContent = shown;
    }

    function paint (box, dim) {
      const on = box === current || box === pointed;
      box.g.setAttribute ("class", !box.shown ? "off"
        : box.kind + (dim ? " dim" : "") + (on ? " on" : ""));
    }

    function repaint (...which) {
      for (const box of which)
        if (box !== null)
          paint (box, !chart && zoomed !== null && box.row < zoomed.row);
    }

    function place (box, x, w, dim, room) {
      box.shown = true;
      paint (box, dim);
      box.rect.setAttribute ("x", margin + x);
      box.rect.setAttribute ("width", w);
      label (box, x, box.mark ? room : w);
    }

    // As flam_ticks_step() and flam_ticks_text().
    function rule (to) {
      const at = (x) => times[0] + (times[1] - times[0]) * x / drawn;
      const from = at (to.x);
      const span = at (to.x + to.width) - from;
      const rough = Math.max (span * 110 / width, 1);
      const power = 10 ** Math.floor (Math.log10 (rough));
      const step = power * [1, 2, 5, 10].find ((lead) => rough <= lead * power * 1.0000001);
      const [unit, word] = [[1e9, "s"], [1e6, "ms"], [1e3, "µs"], [1, "ns"]]
        .find ((one) => step >= one[0] * 0.0999 || one[0] === 1);
      const models = [ruler.querySelector ("rect"), ruler.querySelector ("text")];
      if (models.includes (null))
        return;
      ruler.replaceChildren ();
      for (let time = Math.ceil (from / step) * step; time < from + span; time += step) {
        const x = margin + (time - from) / span * width;
        const text = (time / unit).toFixed (step < unit * 0.999 ? 1 : 0) + " " + word;
        models.forEach ((model, i) => {
          if (i === 1 && x + 4 + text.length * character > width + 2 * margin)
            return;
          const one = model.cloneNode (false);
          one.setAttribute ("x", x + 4 * i);
          if (i === 1)
            one.textContent = text;
          ruler.appendChild (one);
        });
      }
      if (ruler.childNodes.length === 0)
        ruler.append (...models);
    }

    function stretch (to) {
      const scale = width / to.width;
      const room = (box, x) => !box.mark ? 0
        : box.next === null ? width - x
        : Math.min ((box.next.x - to.x) * scale, width) - x;
      for (const box of boxes) {
        box.shown = overlaps (box, to);
        const x = Math.max ((box.x - to.x) * scale, 0);
        if (box.shown)
          place (box, x, Math.min ((box.x + box.width - to.x) * scale, width) - x, false,
                 room (box, x));
        else
          paint (box, false);
      }
      for (const counter of svg.querySelectorAll (".counter")) {
        counter.setAttribute ("width", width);
        counter.setAttribute ("viewBox", to.x + " 0 " + to.width + " " +
                              counter.getAttribute ("height"));
      }
      rule (to);
    }

    function show (to) {
      const scale = width / to.width;
      if (chart)
        stretch (to);
      for (const box of chart ? [] : boxes)
        if (box.row < to.row && within (to, box))
          place (box, 0, width, true);
        else if (box.row >= to.row && within (box, to))
          place (box, (box.x - to.x) * scale, box.width * scale, false);
        else {
          box.shown = false;
          paint (box, false);
        }
      zoomed = to === root ? null : to;
      unzoom.setAttribute ("class", zoomed ? "unzoom button" : "unzoom button off");
      remember ();
    }

    // The nearest caller where another picture has no such box.
    function follow (box) {
      while (box && box !== root && !same.has (box.path))
        box = box.caller;
      show (box && same.get (box.path) || root);
    }

    function zoom (to) {
      show (to);
      for (const one of started)
        if (one.svg !== svg)
          one.follow (to);
    }

    // For the width that the page has: the title, the legend and the parts at
    // the right move, and the boxes are laid out again.
    function fit () {
      const room = Math.round (svg.getBoundingClientRect ().width);
      if (room <= 4 * margin)
        return;
      width = room - 2 * margin;
      for (const text of [heading, subtitle, note])
        if (text !== null)
          text.setAttribute ("x", room / 2);
      for (const text of [search.querySelector ("text"), matched])
        text.setAttribute ("x", room - margin);
      heading.textContent =
        shorten (title, Math.max (6, Math.floor ((room - 160) / (1.25 * character))));
      const lower = flow (room) * 18;
      for (const text of [details, matched, note])
        if (text !== null)
          text.setAttribute ("y", height - 12 + lower);
      if (note !== null && note.getComputedTextLength () > width)
        note.setAttribute ("textLength", width);
      svg.setAttribute ("viewBox", "0 0 " + room + " " + (height + lower));
      svg.setAttribute ("width", room);
      svg.setAttribute ("height", height + lower);
      show (zoomed || root);
    }

    // The legend in as many lines as it takes; returns those below the first.
    function flow (room) {
      let x = margin;
      let line = 0;
      for (const swatch of legend.querySelectorAll ("rect")) {
        const text = swatch.nextElementSibling;
        const size = Number (swatch.getAttribute ("width")) + 5;
        const wide = size + text.getComputedTextLength ();
        if (x > margin && x + wide > room - margin) {
          x = margin;
          line++;
        }
        swatch.setAttribute ("x", x);
        text.setAttribute ("x", x + size);
        for (const one of [swatch, text])
          one.setAttribute ("transform", "translate(0 " + 18 * line + ")");
        x += wide + 16;
      }
      return line;
    }

    // Weight under matches, those inside others counted once: in order of x,
    // callers first, a match that starts before the last one ends is inside it.
    function mark (pattern, anyCase) {
      let expression = null;
      let sum = 0;
      let end = -1;
      ignoreCase = anyCase;
      try {
        expression = pattern ? new RegExp (pattern, ignoreCase ? "i" : "") : null;
      } catch (error) {
        matched.textContent = String (error.message);
        return;
      }
      const hits = calls.filter ((box) => {
        const hit = expression !== null && expression.test (box.name);
        box.rect.setAttribute ("fill", hit ? "#e600e6" : box.fill);
        return hit;
      });
      hits.sort ((a, b) => a.x - b.x || a.row - b.row);
      for (const box of hits)
        if (box.x >= end - slack) {
          sum += box.width;
          end = box.x + box.width;
        }
      term = pattern;
      matched.textContent = expression === null ? " "
        : chart ? "Matched: " + hits.length
        : "Matched: " + (100 * sum / root.width).toFixed (1) + "%";
      search.querySelector ("text").textContent = term ? "Reset search" : "Search";
      remember ();
    }

    function find (pattern) {
      for (const one of started)
        one.mark (pattern, ignoreCase);
    }

    function ask () {
      if (term) {
        find ("");
        return;
      }
      const answer = window.prompt ("Search the names (a regular expression):", "");
      if (answer)
        find (answer);
    }

    // The description of a box replaces the note. Its numbers are never cut.
    function describe (box) {
      const type = svg.dataset.nameType ? svg.dataset.nameType + " " : "";
      const room = Math.floor (width / character) - type.length -
        matched.textContent.length - 2;
      const numbers = box !== null ? box.says.substring (box.name.length) : "";
      details.textContent = box !== null
        ? type + shorten (box.name, Math.max (room - numbers.length, 6)) + numbers : " ";
      if (note !== null)
        note.setAttribute ("class", box !== null ? "note off" : "note");
    }

    // The same box of the other pictures is outlined, and described below each.
    function point (box) {
      const before = pointed;
      pointed = box && same.get (box.path) || null;
      repaint (before, pointed);
      describe (pointed);
    }

    function tell (box) {
      describe (box);
      for (const one of started)
        if (one.svg !== svg)
          one.point (box);
    }

    function go (to) {
      const before = current;
      if (!to)
        return;
      current = to;
      repaint (before, to);
      tell (to);
    }

    // The arrows, as they are seen: a callee is above its caller in a flame
    // graph, below it in an icicle.
    function walk (key) {
      const from = current !== null && current.shown ? current
        : zoomed || (chart ? calls.find ((box) => box.shown) : root);
      const beside = (side) => calls
        .filter ((box) => box.shown && box.row === from.row &&
                          (box.x - from.x) * side > slack)
        .sort ((a, b) => (a.x - b.x) * side)[0];
      const outer = key === "ArrowUp" ? (flame ? 1 : -1)
        : key === "ArrowDown" ? (flame ? -1 : 1) : 0;
      if (current !== from)
        go (from);
      else if (outer > 0)
        go (calls
          .filter ((box) => box.shown && box.row === from.row + 1 && within (box, from))
          .sort ((a, b) => b.width - a.width)[0]);
      else if (outer < 0)
        go (calls.find ((box) => box.row === from.row - 1 && within (from, box)));
      else
        go (beside (key === "ArrowLeft" ? -1 : 1));
    }

    // The state is part of the address, so that it can be passed on.
    function remember () {
      if (index > 0)
        return;
      const state = new URLSearchParams ();
      if (zoomed) {
        state.set ("x", zoomed.x);
        state.set ("y", zoomed.row);
      }
      if (term)
        state.set ("s", term);
      try {
        window.history.replaceState (null, "", "#" + state.toString ());
      } catch (error) {
        // Documents without an address of their own have no state to keep.
      }
    }

    function recall () {
      if (index > 0)
        return;
      const state = new URLSearchParams (address);
      const box = calls.find ((b) => String (b.x) === state.get ("x") &&
                                     String (b.row) === state.get ("y"));
      const pattern = state.get ("s");
      if (box)
        zoom (box);
      if (pattern)
        find (pattern);
    }

    function onKey (event) {
      const focused = pictures.find ((one) => one.contains (document.activeElement));
      const button = event.target.closest && event.target.closest (".button");
      const plain = !event.ctrlKey && !event.altKey && !event.metaKey;
      if (svg !== (focused || pictures[0]))
        return;
      if (event.key === "Escape")
        zoom (root);
      else if (event.key === "F3" || (event.ctrlKey && event.key === "f"))
        ask ();
      else if (event.ctrlKey && event.key === "i") {
        ignoreCase = !ignoreCase;
        find (term);
      } else if (focused && plain && button && (event.key === "Enter" || event.key === " "))
        button.dispatchEvent (new MouseEvent ("click"));
      else if (focused && plain && event.key.startsWith ("Arrow"))
        walk (event.key);
      else if (focused && plain && event.key === "Enter" && current !== null)
        zoom (current);
      else
        return;
      event.preventDefault ();
    }

    for (const box of boxes) {
      if (box.call)
        box.g.addEventListener ("click", (event) => {
          const link = box.g.closest ("a") !== null;
          if (link && !event.ctrlKey)
            return;
          if (link)
            event.preventDefault ();
          zoom (box);
        });
      box.g.addEventListener ("mouseover", () => tell (box));
      box.g.addEventListener ("mouseout", () => tell (null));
    }
    unzoom.addEventListener ("click", () => {
      zoom (root);
      svg.focus ();
    });
    search.addEventListener ("click", ask);
    search.setAttribute ("class", "search button");
    for (const button of [unzoom, search]) {
      button.setAttribute ("tabindex", "0");
      button.setAttribute ("role", "button");
    }
    svg.setAttribute ("tabindex", "0");
    svg.setAttribute ("role", "application");
    svg.setAttribute ("aria-label", (chart ? "Chart of " : "Flame graph of ") + title +
      ": arrow keys go from function to function, Enter zooms, Escape goes back");
    details.setAttribute ("aria-live", "polite");
    matched.setAttribute ("aria-live", "polite");
    window.addEventListener ("keydown", onKey);
    if (pictures.length > 1)
      findPaths ();
    if (inPage) {
      fit ();
      window.addEventListener ("resize", fit);
    }
    started.push ({ svg, follow, mark, point, recall });
  }

  pictures.forEach (start);
  if (started.length > 0)
    started[0].recall ();
}) ();
