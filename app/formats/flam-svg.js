// SPDX-License-Identifier: GPL-3.0-or-later
// Zoom, search and details of an exported flame graph. The boxes are read back
// from the picture's elements; a zoom stretches what is below the clicked box,
// gives its callers the whole width, and hides the rest.
"use strict";
(function () {
  const pictures = document.querySelectorAll (".flambeau");

  // Of several in one page, the first has the keyboard and the address.
  function start (svg, index) {
    const margin = Number (svg.dataset.margin);
    const character = Number (svg.dataset.character) / 100;
    const rowHeight = Number (svg.dataset.row);
    const flame = svg.dataset.direction === "flame";
    const width = svg.viewBox.baseVal.width - 2 * margin;
    const details = svg.querySelector (".details");
    const matched = svg.querySelector (".matched");
    const unzoom = svg.querySelector (".unzoom");
    const search = svg.querySelector (".search");
    const slack = 0.0002;
    let term = "";
    let ignoreCase = false;
    let zoomed = null;

    const boxes = Array.from (svg.querySelectorAll (".f"), (g) => {
      const rect = g.querySelector ("rect");
      const title = g.querySelector ("title").textContent;
      const y = Number (rect.getAttribute ("y"));
      return {
        g, rect, title, y,
        text: g.querySelector ("text"),
        name: title.substring (0, title.lastIndexOf (" (")),
        x: Number (rect.getAttribute ("x")) - margin,
        width: Number (rect.getAttribute ("width")),
        row: Math.round ((flame ? -y : y) / rowHeight),
        fill: rect.getAttribute ("fill"),
      };
    });
    const root = boxes.reduce ((a, b) => (b.row < a.row ? b : a));

    function label (box, x, w) {
      const room = Math.floor ((w - 6) / character);
      const shown = box.name.length <= room ? box.name
        : room < 6 ? ""
        : box.name.substring (0, room - 1) + "…";
      if (box.text === null) {
        if (shown === "")
          return;
        box.text = document.createElementNS ("http://www.w3.org/2000/svg", "text");
        box.text.setAttribute ("y", box.y + rowHeight - 5);
        box.g.appendChild (box.text);
      }
      box.text.setAttribute ("x", margin + x + 3);
      box.text.textContent = shown;
    }

    function place (box, x, w, dim) {
      box.g.setAttribute ("class", dim ? "f dim" : "f");
      box.rect.setAttribute ("x", margin + x);
      box.rect.setAttribute ("width", w);
      label (box, x, w);
    }

    function zoom (to) {
      const scale = width / to.width;
      const end = to.x + to.width;
      for (const box of boxes) {
        if (box.row < to.row && box.x <= to.x + slack &&
            box.x + box.width >= end - slack)
          place (box, 0, width, true);
        else if (box.row >= to.row && box.x >= to.x - slack &&
                 box.x + box.width <= end + slack)
          place (box, (box.x - to.x) * scale, box.width * scale, false);
        else
          box.g.setAttribute ("class", "f off");
      }
      zoomed = to === root ? null : to;
      unzoom.setAttribute ("class", zoomed ? "unzoom button" : "unzoom button off");
      remember ();
    }

    // Weight under matches, those inside others counted once: in order of x,
    // callers first, a match that starts before the last one ends is inside it.
    function find (pattern) {
      let expression = null;
      let sum = 0;
      let end = -1;
      try {
        expression = pattern ? new RegExp (pattern, ignoreCase ? "i" : "") : null;
      } catch (error) {
        matched.textContent = String (error.message);
        return;
      }
      const hits = boxes.filter ((box) => {
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
        : "Matched: " + (100 * sum / root.width).toFixed (1) + "%";
      search.querySelector ("text").textContent = term ? "Reset search" : "Search";
      remember ();
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
      const state = new URLSearchParams (window.location.hash.substring (1));
      const box = boxes.find ((b) => String (b.x) === state.get ("x") &&
                                     String (b.row) === state.get ("y"));
      const pattern = state.get ("s");
      if (box)
        zoom (box);
      if (pattern)
        find (pattern);
    }

    for (const box of boxes) {
      box.g.addEventListener ("click", () => zoom (box));
      box.g.addEventListener ("mouseover", () => {
        details.textContent = box.title;
      });
      box.g.addEventListener ("mouseout", () => {
        details.textContent = " ";
      });
    }
    unzoom.addEventListener ("click", () => zoom (root));
    search.addEventListener ("click", ask);
    search.setAttribute ("class", "search button");
    window.addEventListener ("keydown", (event) => {
      if (index > 0)
        return;
      if (event.key === "Escape")
        zoom (root);
      else if (event.key === "F3" || (event.ctrlKey && event.key === "f")) {
        event.preventDefault ();
        ask ();
      } else if (event.ctrlKey && event.key === "i") {
        event.preventDefault ();
        ignoreCase = !ignoreCase;
        find (term);
      }
    });
    recall ();
  }

  pictures.forEach (start);
}) ();
