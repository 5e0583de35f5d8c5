// SPDX-License-Identifier: GPL-3.0-or-later
// storm.js ROUNDS: deoptimisations, exceptions, collections of garbage, and children.
"use strict";
const { spawnSync } = require("child_process");

function add(a, b) {
  return a + b;
}

// Compiled for small integers, then called with other types.
function deoptimise(round) {
  let sum = 0;
  for (let i = 0; i < 30000; i++) {
    sum = add(sum, i & 3);
  }
  const odd = [0.5, "x", { valueOf: () => 3 }, 2 ** 40][round % 4];
  return String(add(sum, odd)).length;
}

function fail(depth) {
  if (depth === 0) {
    throw new RangeError("storm");
  }
  return 1 + fail(depth - 1);
}

function survive() {
  try {
    return fail(50);
  } catch (error) {
    return error.message.length;
  }
}

function litter() {
  let kept = [];
  for (let i = 0; i < 20000; i++) {
    kept.push({ i, text: "a" + i });
    if (kept.length > 1000) {
      kept = [];
    }
  }
  return kept.length;
}

// A function that lives for one round only.
function fresh(round) {
  return new Function("n", "let s = " + round + "; for (let i = 0; i < n; i++) s += i; return s;")(5000);
}

let sum = 0;
for (let round = 0; round < Number(process.argv[2]); round++) {
  sum += deoptimise(round) + survive() + litter() + fresh(round);
  if (round % 20 === 0) {
    sum += spawnSync("true").status;
  }
}
console.log(sum);
