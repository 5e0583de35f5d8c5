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

if (process.argv[2] === "wait") setTimeout(() => {}, 1500);
else {
  checksum();
  parse();
}
