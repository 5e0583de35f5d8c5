// SPDX-License-Identifier: GPL-3.0-or-later
// Two workers, each with a function of its own at work, and libuv's pool. The first
// worker, number 1, has ended before they begin.
const { Worker, isMainThread, workerData } = require("worker_threads");
const crypto = require("crypto");

function busy(until) {
  let sum = 0;
  while (Date.now() < until) for (let i = 0; i < 1e5; i++) sum += i % 7;
  return sum;
}

function second(until) { return busy(until); }

function third(until) { return busy(until); }

if (isMainThread)
  new Worker("", { eval: true }).on("exit", () => {
    for (const name of ["second", "third"]) new Worker(__filename, { workerData: name });
    for (let i = 0; i < 4; i++) crypto.pbkdf2("a", "b", 1e5, 64, "sha512", () => {});
  });
else (workerData === "second" ? second : third)(Date.now() + 700);
