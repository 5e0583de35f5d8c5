// SPDX-License-Identifier: GPL-3.0-or-later

// blocked.js SECONDS: prints the stack of an error, and waits on the same line.

"use strict";

Error.stackTraceLimit = 100;
const seconds = +process.argv[2];

function stop() {
  const cell = new Int32Array(new SharedArrayBuffer(4));
  require("fs").writeSync(1, new Error().stack + "\n\n"), Atomics.wait(cell, 0, 0, 1000 * seconds);
  return 1;
}

class Counter {
  get rest() {
    return this.deep(3);
  }
  method(x) {
    return this.rest + x;
  }
  deep(n) {
    return n > 0
      ? this.deep(n - 1)
      : stop();
  }
  static make() {
    return new Counter();
  }
}

const arrow = (x) => Counter.make().method(x);

const middle = (n) =>
  [1].map(function inMap(x) {
    return arrow(x + n);
  })[0];

function outer(n) {
  return middle(n + 1);
}

Counter.prototype.viaPrototype = function () {
  return outer(1);
};

// So many variables that their names are in a table of their own.
function crowded() {
  let a0 = 0, a1 = 0, a2 = 0, a3 = 0, a4 = 0, a5 = 0, a6 = 0, a7 = 0, a8 = 0, a9 = 0;
  let b0 = 0, b1 = 0, b2 = 0, b3 = 0, b4 = 0, b5 = 0, b6 = 0, b7 = 0, b8 = 0, b9 = 0;
  let c0 = 0, c1 = 0, c2 = 0, c3 = 0, c4 = 0, c5 = 0, c6 = 0, c7 = 0, c8 = 0, c9 = 0;
  let d0 = 0, d1 = 0, d2 = 0, d3 = 0, d4 = 0, d5 = 0, d6 = 0, d7 = 0, d8 = 0, d9 = 0;
  let e0 = 0, e1 = 0, e2 = 0, e3 = 0, e4 = 0, e5 = 0, e6 = 0, e7 = 0, e8 = 0, e9 = 0;
  let f0 = 0, f1 = 0, f2 = 0, f3 = 0, f4 = 0, f5 = 0, f6 = 0, f7 = 0, f8 = 0, f9 = 0;
  let g0 = 0, g1 = 0, g2 = 0, g3 = 0, g4 = 0, g5 = 0, g6 = 0, g7 = 0, g8 = 0, g9 = 0;
  let h0 = 0, h1 = 0, h2 = 0, h3 = 0, h4 = 0, h5 = 0, h6 = 0, h7 = 0, h8 = 0, h9 = 0;
  const use = () =>
    (a0++, a1++, a2++, a3++, a4++, a5++, a6++, a7++, a8++, a9++, b0++, b1++, b2++, b3++, b4++, b5++,
     b6++, b7++, b8++, b9++, c0++, c1++, c2++, c3++, c4++, c5++, c6++, c7++, c8++, c9++, d0++, d1++,
     d2++, d3++, d4++, d5++, d6++, d7++, d8++, d9++, e0++, e1++, e2++, e3++, e4++, e5++, e6++, e7++,
     e8++, e9++, f0++, f1++, f2++, f3++, f4++, f5++, f6++, f7++, f8++, f9++, g0++, g1++, g2++, g3++,
     g4++, g5++, g6++, g7++, g8++, g9++, h0++, h1++, h2++, h3++, h4++, h5++, h6++, h7++, h8++, h9++);
  use();
  return new Counter().viaPrototype();
}

function größe() {
  return crowded();
}

const 大きさ = function () {
  return größe();
};

(function () {
  for (let i = 0; i < 2; i++)
    if (i === 1) [3, 1].sort((a, b) => 大きさ() || a - b);
})();
