// SPDX-License-Identifier: GPL-3.0-or-later

// Works 30 calls deep, and prints its CPU time in seconds.
function leaf(x) {
  let s = 0;
  for (let i = 0; i < 40; i++) s = (s * 31 + x + i) | 0;
  return s;
}

function text(n) {
  return JSON.stringify({ n, list: new Array(20).fill(n) }).length;
}

function deep(n) {
  return n < 2 ? 1 : deep(n - 1) + leaf(n);
}

let total = 0;
for (let i = 0; i < 400000; i++) total += deep(30) + (i % 8 ? 0 : text(i));
const used = process.cpuUsage();
console.log((used.user + used.system) / 1e6);
