#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""export --to otlp: its messages, read by the field numbers of OpenTelemetry's schema
(1.10), compared with flambeau-cli's output for the same capture."""

import collections
import json
import os
import pathlib
import struct
import subprocess
import tempfile
import unittest

from protobuf import fields

root = pathlib.Path(__file__).resolve().parent.parent.parent
build = pathlib.Path(os.environ.get("FLAM_BUILD_ROOT", root / "_test"))
cli = build / "app/cli/flambeau-cli"
captures = root / "tests/captures"


def ask(*words):
    return subprocess.run([cli, *words], check=True, capture_output=True, text=True).stdout


def group(message):
    """The values of a message's fields by their numbers."""
    found = collections.defaultdict(list)
    for number, value in fields(message):
        found[number].append(value)
    return found


def packed(values):
    """Numbers of a packed field: a message without tags."""
    numbers = []
    for text in values:
        value = shift = 0
        for byte in text:
            value |= (byte & 127) << shift
            shift += 7
            if byte < 128:
                numbers.append(value)
                value = shift = 0
    return numbers


class Otlp(unittest.TestCase):
    def export(self, capture, *selection):
        with tempfile.TemporaryDirectory(prefix="flam-otlp.") as folder:
            path = pathlib.Path(folder, "out.otlp")
            ask("export", capture, "--to", "otlp", "--output", path, *selection)
            data = group(path.read_bytes())
        (dictionary,) = data[2]
        self.tables = group(dictionary)
        self.texts = [text.decode() for text in self.tables[5]]
        self.profiles = []
        for resource in map(group, data[1]):
            for scope in map(group, resource[2]):
                self.profiles += map(group, scope[2])

    def type_of(self, profile):
        kind = group(profile[1][0])
        return self.texts[kind[1][0]], self.texts[kind[2][0]]

    def test_dictionary(self):
        """In each table the first row is empty, no row occurs twice, and all
        are used."""
        self.export(captures / "flambeau/family.flambeau")
        for number in 1, 2, 3, 5, 6, 7:
            rows = self.tables[number]
            self.assertEqual(rows[0], b"", number)
            self.assertEqual(len(rows), len(set(rows)), number)
        self.assertEqual(self.tables[4], [b"\x0a\x10" + bytes(16) + b"\x12\x08" + bytes(8)])
        stacks = {stack for profile in self.profiles for sample in map(group, profile[2])
                  for stack in sample[1]}
        self.assertEqual(stacks, set(range(1, len(self.tables[7]))))
        locations = {row for stack in map(group, self.tables[7]) for row in packed(stack[1])}
        self.assertEqual(locations, set(range(1, len(self.tables[2]))))

    def test_samples(self):
        """Each sample has a value for each of its times, which are within the
        capture's, in order."""
        capture = captures / "flambeau/family.flambeau"
        self.export(capture)
        info = json.loads(ask("info", capture, "--json"))
        totals = collections.Counter()
        for profile in self.profiles:
            (start,) = struct.unpack("<Q", profile[3][0])
            for sample in map(group, profile[2]):
                values = packed(sample[4])
                times = [n for (n,) in struct.iter_unpack("<Q", b"".join(sample[5]))]
                self.assertEqual(len(values), len(times))
                self.assertEqual(times, sorted(times))
                self.assertGreaterEqual(times[0], start)
                self.assertLessEqual(times[-1], start + info["duration_ns"])
                totals[self.type_of(profile)] += sum(values)
        units = {"ns": "nanoseconds", "bytes": "bytes", "count": "count"}
        self.assertEqual(totals, {(row["id"], units[row["unit"]]): row["total"]
                                  for row in info["measures"] if row["total"]})

    def test_selection(self):
        """The selected measure comes first, and has only the samples of the
        selected threads."""
        capture = captures / "flambeau/family.flambeau"
        info = json.loads(ask("info", capture, "--json"))
        last = info["measures"][-1]["id"]
        thread = max(info["threads"], key=lambda row: row["total"])
        words = "--measure", last, "--thread", str(thread["tid"])
        self.export(capture, *words)
        self.assertEqual(self.type_of(self.profiles[0])[0], last)
        total = sum(sum(packed(group(sample)[4])) for sample in self.profiles[0][2])
        self.assertEqual(total, json.loads(ask("top", capture, "--json", *words))["total"])

    def test_no_times(self):
        """Without a start each sample is a sum."""
        self.export(captures / "folded/control.folded")
        for profile in self.profiles:
            for sample in map(group, profile[2]):
                self.assertEqual((len(packed(sample[4])), sample[5]), (1, []))


if __name__ == "__main__":
    unittest.main(verbosity=2)
