// SPDX-License-Identifier: GPL-3.0-or-later
// The legend of a history switches its series: their lines, captures and
// functions. The charts are scaled to the visible ones.
"use strict";
(function () {
  const entries = Array.from (document.querySelectorAll (".entry"));
  const parts = Array.from (document.querySelectorAll (
    "g[data-series],tr[data-series],section[data-series]"));
  const hidden = new Set ();
  const points = (line) => line.getAttribute ("points").split (" ")
    .map ((point) => point.split (",").map (Number));

  // The lines of a chart, each with the round value above it: its text, and its
  // share of the chart's.
  const charts = Array.from (document.querySelectorAll ("svg.chart"), (svg) => ({
    most: svg.querySelector ("text.most"),
    whole: svg.querySelector ("text.most").textContent,
    bottom: Number (svg.dataset.bottom),
    lines: Array.from (svg.querySelectorAll ("g[data-series]"), (g) => {
      const line = g.querySelector ("polyline");
      return {
        series: g.dataset.series,
        share: Number (g.dataset.share),
        most: g.dataset.most,
        line,
        points: points (line),
        circles: Array.from (g.querySelectorAll ("circle")),
        errors: Array.from (g.querySelectorAll (".error"), (bar) =>
          ({ bar, ends: ["y1", "y2"].map ((y) => Number (bar.getAttribute (y))) })),
      };
    }),
  }));

  function scale (chart) {
    const top = chart.lines.filter ((line) => !hidden.has (line.series))
      .reduce ((a, b) => (a !== null && a.share >= b.share ? a : b), null);
    const share = top !== null && top.share > 0 ? top.share : 1;
    const up = (y) => chart.bottom - (chart.bottom - y) / share;

    chart.most.textContent = share < 1 ? top.most : chart.whole;
    for (const line of chart.lines) {
      line.line.setAttribute ("points", line.points
        .map (([x, y]) => x + "," + up (y).toFixed (1)).join (" "));
      line.circles.forEach ((circle, i) =>
        circle.setAttribute ("cy", up (line.points[i][1]).toFixed (1)));
      for (const { bar, ends } of line.errors)
        ends.forEach ((y, i) => bar.setAttribute ("y" + (i + 1), up (y).toFixed (1)));
    }
  }

  function turn (series) {
    if (!hidden.delete (series))
      hidden.add (series);
    for (const entry of entries)
      entry.setAttribute ("aria-pressed", String (!hidden.has (entry.dataset.series)));
    for (const part of parts)
      part.classList.toggle ("off", hidden.has (part.dataset.series));
    charts.forEach (scale);
  }

  for (const entry of entries) {
    entry.tabIndex = 0;
    entry.setAttribute ("role", "button");
    entry.setAttribute ("aria-pressed", "true");
    entry.addEventListener ("click", () => turn (entry.dataset.series));
    entry.addEventListener ("keydown", (event) => {
      if (event.key !== "Enter" && event.key !== " ")
        return;
      event.preventDefault ();
      turn (entry.dataset.series);
    });
  }
}) ();
