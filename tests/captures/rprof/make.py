#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Makes `full` with R, and full.summary.md with the output of R's own
summaryRprof(). Times differ in each run."""

import pathlib
import subprocess
import tempfile

MODEL = """fib <- function(n) {
  if (n < 2) return(n)
  fib(n - 1) + fib(n - 2)
}
grow <- function(n) {
  x <- numeric(0)
  for (i in seq_len(n))
    x <- c(x, i)
  sum(x)
}
work <- function() {
  a <- fib(19)
  b <- grow(9000)
  a + b
}
"""
RUN = """
source("model.R", keep.source = TRUE)
Rprof("full.Rprof", interval = 0.01, line.profiling = TRUE, gc.profiling = TRUE,
      memory.profiling = TRUE)
invisible(work())
Rprof(NULL)
print(summaryRprof("full.Rprof", memory = "both")$by.self)
print(summaryRprof("full.Rprof", lines = "show")$by.line)
"""
here = pathlib.Path(__file__).resolve().parent
with tempfile.TemporaryDirectory() as work:
    folder = pathlib.Path(work)
    (folder / "model.R").write_text(MODEL)
    said = subprocess.run(["Rscript", "-e", RUN], check=True, cwd=folder,
                          capture_output=True, text=True).stdout
    (here / "full.Rprof").write_bytes((folder / "full.Rprof").read_bytes())
(here / "full.summary.md").write_text(
    "<!-- SPDX-License-Identifier: GPL-3.0-or-later -->\n```\n" + said + "```\n")
