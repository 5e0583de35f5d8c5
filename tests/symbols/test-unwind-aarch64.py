#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The unwinder for AArch64: unwind-aarch64.c and the unwinder's own files, built by
the cross compiler in the ways in which return addresses are kept and run under
qemu-user. The program compares its stacks with those of libgcc."""

import os
import pathlib
import shutil
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(os.environ["FLAM_SOURCE_ROOT"])
UNWIND = ROOT / "app/symbols/unwind"
COMPILER = "aarch64-linux-gnu-gcc"
EMULATOR = "qemu-aarch64"
LIBRARIES = "/usr/aarch64-linux-gnu"
OTHERS = {"flam-unwind-scan.c", "flam-unwind-state.c"}  # of x86-64

for tool in COMPILER, EMULATOR:
    if shutil.which(tool) is None:
        print(f"{tool} is not installed")
        raise SystemExit(77)


class Unwind(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        folder = tempfile.TemporaryDirectory(prefix="flam-aarch64.")
        cls.addClassCleanup(folder.cleanup)
        cls.scratch = pathlib.Path(folder.name)
        cls.compile("-O2", "-c", *(str(path) for path in UNWIND.glob("*.c") if path.name not in OTHERS))

    @classmethod
    def compile(cls, *arguments):
        subprocess.run([COMPILER, "-std=gnu11", "-D_GNU_SOURCE", "-Wall", "-Werror", f"-I{UNWIND}", *arguments],
                       cwd=cls.scratch, check=True)

    def walks(self, *flags):
        self.compile(*flags, "-o", "walks", str(ROOT / "tests/symbols/unwind-aarch64.c"),
                     *(str(path) for path in self.scratch.glob("*.o")))
        done = subprocess.run([EMULATOR, "-cpu", "max", "-L", LIBRARIES, "./walks"], cwd=self.scratch,
                              capture_output=True, text=True, timeout=120)
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)

    def test_frame_pointers(self):
        self.walks("-O2")

    def test_no_frame_pointers(self):
        self.walks("-O2", "-fomit-frame-pointer")

    def test_not_optimized(self):
        self.walks("-O0")

    def test_signed(self):
        self.walks("-O2", "-mbranch-protection=pac-ret")

    def test_signed_leaves(self):
        self.walks("-O2", "-fomit-frame-pointer", "-mbranch-protection=pac-ret+leaf+b-key")

    def test_frame_pointers_alone(self):
        """The program's own tables are missing; those of the C library are not."""
        self.walks("-O1", "-fno-omit-frame-pointer", "-DONLY_FRAMES")


if __name__ == "__main__":
    unittest.main()
