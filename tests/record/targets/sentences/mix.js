// SPDX-License-Identifier: GPL-3.0-or-later
// mix.js CASE: see mix.c.
"use strict";

function checksum() {
  const end = process.cpuUsage().user + 1600000;
  let total = 0;
  do for (let i = 0; i < 300000; i++) total ^= i * 7;
  while (process.cpuUsage().user < end);
  return total;
}

function parse() {
  const end = process.cpuUsage().user + 400000;
  let total = 0;
  do for (let i = 0; i < 300000; i++) total ^= i * 7;
  while (process.cpuUsage().user < end);
  return total;
}

function decode() {
  const end = process.cpuUsage().user + 1600000;
  const text = JSON.stringify(Array.from({ length: 20000 }, (_, i) => ({ i, name: "row " + i })));
  while (process.cpuUsage().user < end) JSON.parse(text);
}

if (process.argv[2] === "wait") setTimeout(() => {}, 1500);
else if (process.argv[2] === "library") decode();
else {
  checksum();
  parse();
}
