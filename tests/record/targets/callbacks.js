// SPDX-License-Identifier: GPL-3.0-or-later

// callbacks.js SECONDS: works in functions that node's own code calls: its builtins,
// and C++.

"use strict";

const { performance } = require("perf_hooks");

function spin(n) {
  let sum = n;
  for (let i = 0; i < 4000; i++) sum = (sum * 31 + i) | 0;
  return sum;
}

function descend(n) {
  return n > 0 ? descend(n - 1) + 1 : spin(n);
}

function compareValues(a, b) {
  return spin(a) - spin(b);
}

function mapValue(value) {
  return descend(value);
}

function replaceMatch(match) {
  return String(spin(match.length));
}

class Value {
  constructor(n) {
    this.n = n;
  }
  toJSON() {
    return spin(this.n);
  }
  get twice() {
    return spin(this.n) + mapValue(this.n);
  }
}

function revive(key, value) {
  return typeof value === "number" ? spin(value) : value;
}

const parts = [
  function sortValues() {
    return [5, 3, 1, 4, 2].sort(compareValues);
  },
  function mapValues() {
    return [1, 2, 3].map(mapValue);
  },
  function replaceAll() {
    return "a1b22c333".replace(/\d+/g, replaceMatch);
  },
  function writeJson() {
    return JSON.stringify([new Value(1), new Value(2)]);
  },
  function readJson() {
    return JSON.parse("[1, [2, 3]]", revive);
  },
  function getTwice() {
    return Reflect.apply(Object.getOwnPropertyDescriptor(Value.prototype, "twice").get, new Value(3), []);
  },
];

function turn() {
  for (const part of parts) part();
}

const end = performance.now() + 1000 * process.argv[2];
while (performance.now() < end) turn();
