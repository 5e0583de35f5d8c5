#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The recorder for AArch64, as app/recorders makes it, under qemu-user: it starts,
its allocation library is loaded into a program, and `--host` carries it to a
machine that calls itself aarch64. qemu-user has no ptrace, so nothing is recorded:
on-aarch64 in this folder does that in a whole machine.

The folder is made once, which downloads 30 MB; FLAMBEAU_RECORDERS is one that is
there already."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

from ground_truth import cli

ROOT = pathlib.Path(os.environ["FLAM_SOURCE_ROOT"])
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
FOLDER = pathlib.Path(os.environ.get("FLAMBEAU_RECORDERS") or
                      pathlib.Path(os.environ["FLAM_BUILD_ROOT"]) / "recorders")
MACHINE = FOLDER / "aarch64"
LINKER = "ld-linux-aarch64.so.1"


def make():
    for tool in COMPILER, EMULATOR, "apt-get":
        if shutil.which(tool) is None:
            return f"{tool} is not installed"
    if "FLAMBEAU_RECORDERS" in os.environ:
        return None
    done = subprocess.run([ROOT / "app/recorders", "aarch64"], env=dict(os.environ, FLAMBEAU_RECORDERS=FOLDER),
                          capture_output=True, text=True)
    if done.returncode == 0:
        return None
    if "Failed to fetch" in done.stderr or "Unable to fetch" in done.stderr:
        return "the packages for arm64 cannot be downloaded"
    raise SystemExit(done.stdout + done.stderr)


WHY = make()
if WHY is not None:
    print(WHY)
    raise SystemExit(77)


class Recorders(unittest.TestCase):
    def setUp(self):
        folder = tempfile.TemporaryDirectory(prefix="flam-recorders.")
        self.addCleanup(folder.cleanup)
        self.scratch = pathlib.Path(folder.name)

    def emulate(self, *words, **options):
        return subprocess.run([EMULATOR, MACHINE / LINKER, "--library-path", MACHINE, *words],
                              capture_output=True, text=True, timeout=60, **options)

    def test_starts(self):
        done = self.emulate(MACHINE / "flambeau-recorder", "--version")
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertTrue(done.stdout.startswith("flambeau-recorder "), done.stdout)

    def test_library(self):
        """Its hooks pass everything on while nothing is recorded."""
        program = self.scratch / "program"
        source = """#include <stdlib.h>
            int main (void) { char *p = malloc (10); p = realloc (p, 100000); free (p); return 5; }"""
        subprocess.run([COMPILER, "-x", "c", "-", "-o", program], input=source, text=True, check=True)
        done = self.emulate("--preload", MACHINE / "libflambeau-alloc.so", program)
        self.assertEqual((done.returncode, done.stderr), (5, ""))

    def test_carried(self):
        """A client that runs the command here, where uname and the linker are another machine's."""
        there, own = self.scratch / "there", self.scratch / "bin"
        there.mkdir()
        own.mkdir()
        for name, text in (
                ("uname", "echo aarch64"),
                ("podman", f"""export XDG_CACHE_HOME='{there}'
shift 3
n=1
for word; do
  shift
  set -- "$@" "$(printf %s "$word" | sed 's|exec "$d/$l"|exec {EMULATOR} "$d/$l"|')"
done
exec "$@" """)):
            (own / name).write_text(f"#!/bin/sh\n{text}\n")
            (own / name).chmod(0o755)
        environment = dict(os.environ, PATH=f"{own}:{os.environ['PATH']}", FLAMBEAU_RECORDERS=str(FOLDER))
        done = subprocess.run([cli, "record", "--host", "podman:box", "--list"], env=environment,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        self.assertIn(f"\t{os.getpid()}\t", "\t" + done.stdout.replace("\n", "\n\t"))
        carried = [path for path in (there / "flambeau").glob("recorder-*/*") if path.name != ".whole"]
        self.assertEqual({path.name for path in carried}, {path.name for path in MACHINE.iterdir()})
        for path in carried:
            self.assertEqual(path.read_bytes(), (MACHINE / path.name).read_bytes())


if __name__ == "__main__":
    unittest.main()
