// SPDX-License-Identifier: GPL-3.0-or-later

// burst.js SECONDS: works for 2 ms or so, three quarters of it in one function,
// and goes back to its event loop for 5 ms. truth.h describes its output and when
// it is written; but its clock is the process's, in µs.

const fs = require("fs");
const { performance } = require("perf_hooks");
const spent = { heavyWork: 0, lightWork: 0 };
const early = { heavyWork: 0, lightWork: 0 };

function cpu() {
  const usage = process.cpuUsage();
  return (usage.user + usage.system) / 1e6;
}

function heavyWork() {
  let a = 1;
  for (let i = 0; i < 1200000; i++) a = (a * 31 + i) | 0;
  return a;
}

function lightWork() {
  let a = 1;
  for (let i = 0; i < 400000; i++) a = (a * 31 + i) | 0;
  return a;
}

function timed(part, sums) {
  const before = cpu();
  part();
  sums[part.name] += cpu() - before;
}

// Both are compiled before the work begins. A recording of the whole program
// holds that, too.
for (let i = 0; i < 20; i++) timed(heavyWork, early), timed(lightWork, early);
if (process.env.TRUTH_GO) fs.readFileSync(process.env.TRUTH_GO);
const began = cpu();
const end = performance.now() + 1000 * process.argv[2];

function turn() {
  timed(heavyWork, spent);
  timed(lightWork, spent);
  if (performance.now() < end) return setTimeout(turn, 5);
  const lines = Object.keys(spent).map(
    (name) => `part\t${name}\t${spent[name]}\nearly\t${name}\t${early[name]}\n`,
  );
  const waited = fs.readFileSync("/proc/self/schedstat", "utf8").split(" ")[1] / 1e9;
  const lasted = performance.now() / 1000;
  lines.push(`thread\tnode\t${process.pid}\t${cpu()}\t${waited}\t${lasted}\n`);
  lines.push(`process\t${began}\t${cpu()}\n`);
  fs.writeFileSync(process.env.TRUTH || 1, lines.join(""));
}
turn();
