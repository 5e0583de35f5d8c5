// SPDX-License-Identifier: GPL-3.0-or-later

// shares.js ROUNDS: heavyWork() runs the same loop three times as long as
// lightWork().

function heavyWork(n) {
  let a = 1;
  for (let i = 0; i < 3 * n; i++) a = (a * 31 + i) | 0;
  return a;
}

function lightWork(n) {
  let a = 1;
  for (let i = 0; i < n; i++) a = (a * 31 + i) | 0;
  return a;
}

let sum = 0;
for (let i = 0; i < +process.argv[2]; i++) sum += heavyWork(500000) + lightWork(500000);
console.log(sum);
