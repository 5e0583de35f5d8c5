#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py: writes .NET traces beside it, after the layout that
app/formats/dotnet/flam-import-nettrace.c describes."""

import pathlib
import struct

here = pathlib.Path(__file__).parent
SAMPLER = "Microsoft-DotNETCore-SampleProfiler"
RUNTIME = "Microsoft-Windows-DotNETRuntime"
RUNDOWN = "Microsoft-Windows-DotNETRuntimeRundown"
KINDS = {1: (SAMPLER, 0), 2: (RUNTIME, 143), 3: (RUNDOWN, 144), 4: (RUNTIME, 80)}
METHODS = [(2, 0x1000, 0x100, "Shop.Program", "Main"),
           (3, 0x2000, 0x80, "Shop.Cart`1[System.Int32]", "Total"),
           (3, 0x3000, 0x40, "", "ühl")]
STACKS = [[0x2010, 0x1020], [0x3008, 0x2040, 0x1020], [0x9000, 0x1020], []]
# thread, stack, ticks
SAMPLES = [(11, 1, 1100), (12, 2, 1150), (11, 1, 1200), (12, 3, 1250), (11, 4, 1300)]


def text(words):
    return words.encode("utf-16-le") + b"\0\0"


def varint(value):
    out = b""
    while value > 0x7f:
        out += bytes([value & 0x7f | 0x80])
        value >>= 7
    return out + bytes([value])


class Full:
    flags = 0

    def __init__(self):
        pass

    def event(self, metadata, thread, stack, time, payload):
        body = struct.pack("<iiqqiiq32xi", metadata, 1, thread, thread, 0, stack, time,
                           len(payload)) + payload
        return (struct.pack("<i", len(body)) + body).ljust(-(-(len(body) + 4) // 4) * 4, b"\0")


class Short:
    flags = 1

    def __init__(self):
        self.last = {"metadata": 0, "thread": 0, "stack": 0, "time": 0, "size": 0}

    def event(self, metadata, thread, stack, time, payload):
        flags, out, last = 0, b"", self.last
        if metadata != last["metadata"]:
            flags |= 1
            out += varint(metadata)
        if thread != last["thread"]:
            flags |= 2
            out += varint(0) + varint(thread) + varint(3)
            flags |= 4
            out += varint(thread)
        if stack != last["stack"]:
            flags |= 8
            out += varint(stack)
        out += varint(time - last["time"])
        if metadata == 2:
            flags |= 16
            out += bytes(16)
        if len(payload) != last["size"]:
            flags |= 128
            out += varint(len(payload))
        self.last = {"metadata": metadata, "thread": thread, "stack": stack, "time": time,
                     "size": len(payload)}
        return bytes([flags]) + out + payload


class File:
    def __init__(self, heads, pointer=8):
        self.heads, self.pointer = heads, pointer
        self.data = b"Nettrace" + struct.pack("<I", 20) + b"!FastSerialization.1"

    def begin(self, name, version):
        self.data += (b"\5\5\1" + struct.pack("<iiI", version, version, len(name))
                      + name.encode() + b"\6")

    def block(self, name, body):
        self.begin(name, 2)
        self.data += struct.pack("<I", len(body))
        self.data += bytes(-len(self.data) % 4) + body + b"\6"

    def trace(self):
        self.begin("Trace", 4)
        self.data += struct.pack("<8hqqiiii", 2026, 11, 0, 22, 10, 30, 5, 250, 1000, 1000000,
                                 self.pointer, 4711, 2, 1000000) + b"\6"

    def events(self, name, events):
        heads = self.heads()
        body = struct.pack("<hhqq", 20, heads.flags, 0, 0)
        self.block(name, body + b"".join(heads.event(*event) for event in events))

    def stacks(self, stacks, first):
        body = struct.pack("<ii", first, len(stacks))
        for stack in stacks:
            word = "Q" if self.pointer == 8 else "I"
            body += struct.pack(f"<i{len(stack)}{word}", len(stack) * self.pointer, *stack)
        self.block("StackBlock", body)

    def whole(self):
        self.trace()
        self.events("MetadataBlock", [
            (0, 0, 0, 0, struct.pack("<i", number) + text(provider) + struct.pack("<i", event)
             + text("") + struct.pack("<qiii", 0, 1, 4, 0))
            for number, (provider, event) in KINDS.items()])
        self.stacks(STACKS, 1)
        self.events("EventBlock", [(1, thread, stack, time, struct.pack("<i", 2))
                                   for thread, stack, time in SAMPLES[:3]]
                    + [(4, 11, 0, 1210, b"what nobody reads")])
        self.block("SPBlock", struct.pack("<qi", 1220, 0))
        self.stacks(STACKS[2:], 3)
        self.events("EventBlock", [(1, thread, stack, time, struct.pack("<i", 1))
                                   for thread, stack, time in SAMPLES[3:]])
        self.events("EventBlock", [
            (kind, 11, 0, 1400 + i, struct.pack("<QQQIII", 7, 8, start, size, 0, 0)
             + text(space) + text(name) + text("void ()") + struct.pack("<H", 9))
            for i, (kind, start, size, space, name) in enumerate(METHODS)])
        self.data += b"\1"
        return self.data


def write(name, data):
    (here / name).write_bytes(data)


short = File(Short).whole()
write("same@short.nettrace", short)
write("same@full.nettrace", File(Full).whole())
write("same@narrow.nettrace", File(Short, 4).whole())
write("cut.nettrace", short[:short.rindex(b"\5\5\1") + 90])
write("none.nettrace", short[:short.index(b"StackBlock") - 15] + b"\1")
write("newer.nettrace", b"Nettrace" + struct.pack("<III", 0, 6, 0) + bytes(30))
