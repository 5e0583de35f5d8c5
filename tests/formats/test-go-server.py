#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""The profiles that a server in Go serves of itself (net/http/pprof), compared
with the output of `go tool pprof` for the same documents."""

import json
import os
import pathlib
import re
import shutil
import subprocess
import tempfile
import unittest
import urllib.request

from server import cli

PROGRAM = r"""
package main

import (
	"fmt"
	"net"
	"net/http"
	_ "net/http/pprof"
)

//go:noinline
func burn(n int) (sum int) {
	for i := 0; i < n; i++ {
		sum += i * i
	}
	return sum
}

var kept [][]byte

//go:noinline
func keep() {
	for i := 0; i < 64; i++ {
		kept = append(kept, make([]byte, 1<<20))
	}
}

func main() {
	keep()
	go func() {
		for {
			burn(1 << 20)
		}
	}()
	listener, _ := net.Listen("tcp", "127.0.0.1:0")
	fmt.Println(listener.Addr())
	http.Serve(listener, nil)
}
"""


@unittest.skipUnless(shutil.which("go"), "Go is not installed")
class Go(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.folder = tempfile.TemporaryDirectory(prefix="flam-go-server.")
        scratch = pathlib.Path(cls.folder.name)
        (scratch / "main.go").write_text(PROGRAM)
        environment = {**os.environ, "GOFLAGS": "-mod=mod", "GO111MODULE": "off",
                       "HOME": os.environ.get("HOME", str(scratch))}
        subprocess.run(["go", "build", "-o", "served", "main.go"], cwd=scratch, check=True,
                       env=environment)
        cls.process = subprocess.Popen([scratch / "served"], stdout=subprocess.PIPE, text=True)
        cls.url = f"http://{cls.process.stdout.readline().strip()}/debug/pprof/"

    @classmethod
    def tearDownClass(cls):
        cls.process.kill()
        cls.process.wait()
        cls.process.stdout.close()
        cls.folder.cleanup()

    def top(self, *words):
        done = subprocess.run([cli, "top", "--json", *words], capture_output=True, text=True,
                              check=True)
        return json.loads(done.stdout)

    def test_profile(self):
        found = self.top(self.url + "profile?seconds=1")
        rows = {row["function"]: row["total"] for row in found["rows"]}
        self.assertGreater(rows["main.burn"], found["total"] // 2)

    def test_heap(self):
        # A heap profile is that of the collection before: each time a new one, as none
        # may end between the two.
        url = self.url + "heap?gc=1"
        found = self.top(url, "--measure", "inuse_space")
        rows = {row["function"]: row["total"] for row in found["rows"]}
        path = pathlib.Path(self.folder.name) / "heap.pb"
        path.write_bytes(urllib.request.urlopen(url).read())
        theirs = subprocess.run(
            ["go", "tool", "pprof", "-top", "-unit=B", "-sample_index=inuse_space", path],
            capture_output=True, text=True, check=True).stdout
        own = re.search(r"^\s*\S+\s+\S+\s+\S+\s+(\d+)B\s+\S+\s+main\.keep", theirs, re.M)
        self.assertEqual(rows["main.keep"], int(own[1]))

    def test_others(self):
        for name in "allocs", "goroutine", "mutex", "block":
            with self.subTest(name):
                done = subprocess.run([cli, "info", "--json", self.url + name], check=True,
                                      capture_output=True, text=True)
                self.assertEqual(json.loads(done.stdout)["format"], "pprof")

    def test_trace(self):
        done = subprocess.run([cli, "info", "--json", self.url + "trace?seconds=1"], check=True,
                              capture_output=True, text=True)
        self.assertEqual(json.loads(done.stdout)["format"], "go-trace")


if __name__ == "__main__":
    unittest.main(verbosity=2)
