#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""Writes OpenTelemetry's profiles in the layouts of proto 1.7, 1.9 and 1.10, as
the eBPF profiler and async-profiler fill them, as the Collector's file exporter
puts several of them into one file, and as JSON; and what is refused or odd:

    ebpf-1.10.otlp       two processes, kernel, native and Python frames, a span
    ebpf-1.9.otlp        the same
    ebpf-1.7.otlp        the same; stacks are slices
    java-1.10.otlp       async-profiler's: attributes and times alone
    several.binpb        each message with its length before it
    several.jsonl        one message per line
    snake.json           Protocol Buffers' other spelling of names, no times
    draft-1.5.otlp       tables outside a dictionary: refused
    draft-1.6.otlp       the same, elsewhere
    reordered.otlp       a process without samples first, fields in another order
    odd.otlp             rows that are not there, values below 0 and too large
"""

import json
import pathlib
import struct

HERE = pathlib.Path(__file__).resolve().parent
START = 1_700_000_000_000_000_000
MS = 1_000_000


def varint(n):
    n &= (1 << 64) - 1
    out = []
    while n > 127:
        out.append(n & 127 | 128)
        n >>= 7
    return bytes(out + [n])


def field(number, value):
    if value is None:
        return b""
    if isinstance(value, int):
        return varint(number << 3) + varint(value) if value else b""
    if isinstance(value, str):
        value = value.encode()
    return varint(number << 3 | 2) + varint(len(value)) + value


def fixed(number, value):
    return varint(number << 3 | 1) + struct.pack("<Q", value)


def packed(number, values):
    return field(number, b"".join(map(varint, values))) if values else b""


def value_of(value):
    if isinstance(value, bool):
        return varint(2 << 3) + varint(value)
    return field(1, value) if isinstance(value, str) else varint(3 << 3) + varint(value)


class Dictionary:
    """Interns rows; their tables are written at the end."""

    def __init__(self, layout):
        self.layout = layout
        self.texts = [""]
        self.mappings = [b""]
        self.locations = [b""]
        self.functions = [b""]
        self.links = [field(1, bytes(16)) + field(2, bytes(8))]
        self.attributes = [b""]
        self.stacks = [b""]

    @staticmethod
    def put(table, row):
        if row not in table:
            table.append(row)
        return table.index(row)

    def text(self, text):
        return self.put(self.texts, text)

    def attribute(self, key, value, unit=""):
        if self.layout == "1.7":
            row = field(1, key) + field(2, value_of(value))
        else:
            row = field(1, self.text(key)) + field(2, value_of(value)) + field(3, self.text(unit))
        return self.put(self.attributes, row)

    def mapping(self, path, start=0, limit=0, offset=0, build_id=None):
        ids = [self.attribute("process.executable.build_id.gnu", build_id)] if build_id else []
        return self.put(self.mappings, field(1, start) + field(2, limit) + field(3, offset)
                        + field(4, self.text(path)) + packed(5, ids))

    def location(self, kind, mapping, address, lines=()):
        row = field(1, mapping) + field(2, address)
        for name, path, line in lines:
            function = self.put(self.functions, field(1, self.text(name)) + field(3, self.text(path)))
            row += field(3, field(1, function) + field(2, line))
        attributes = [self.attribute("profile.frame.type", kind)] if kind else []
        row += packed(5 if self.layout == "1.7" else 4, attributes)
        return self.put(self.locations, row)

    def stack(self, locations):
        return self.put(self.stacks, packed(1, locations))

    def link(self, trace, span):
        return self.put(self.links, field(1, trace) + field(2, span))

    def written(self):
        tables = [self.mappings, self.locations, self.functions, self.links, self.texts,
                  self.attributes]
        if self.layout != "1.7":
            tables.append(self.stacks)
        return b"".join(field(i + 1, row) for i, table in enumerate(tables) for row in table)


def sample(words, layout, stack, values, times, attributes=(), link=0, slices=None):
    if layout == "1.7":
        stack = words.stacks[stack]
        locations = list(stack[2:])  # rows below 128: one byte each
        first = len(slices)
        slices.extend(locations)
        return (field(1, first) + field(2, len(locations)) + packed(3, values)
                + packed(4, attributes) + (field(5, link) if link else b"") + packed(6, times))
    stamps = field(5, b"".join(struct.pack("<Q", time) for time in times)) if times else b""
    if layout == "1.9":
        return (field(1, stack) + packed(2, values) + packed(3, attributes) + field(4, link)
                + stamps)
    return field(1, stack) + packed(2, attributes) + field(3, link) + packed(4, values) + stamps


def profile(words, layout, kind, samples, period=None, slices=(), span=1000 * MS):
    def value_type(name, unit):
        return field(1, words.text(name)) + field(2, words.text(unit))

    out = field(1, value_type(*kind)) + b"".join(field(2, row) for row in samples)
    if layout == "1.7":
        out += packed(3, slices) + field(4, START) + field(5, span)
        if period:
            out += field(6, value_type(*period[0])) + field(7, period[1])
        return out
    out += fixed(3, START) + field(4, span)
    if period:
        out += field(5, value_type(*period[0])) + field(6, period[1])
    return out


def resource(attributes, *profiles):
    said = b"".join(field(1, field(1, key) + field(2, value_of(value)))
                    for key, value in attributes.items())
    scope = field(1, field(1, "made") + field(2, "1"))
    return field(1, said) + field(2, scope + b"".join(field(2, row) for row in profiles))


def document(words, *resources):
    return b"".join(field(1, row) for row in resources) + field(2, words.written())


def ebpf(layout):
    words = Dictionary(layout)
    program = words.mapping("/usr/bin/worker", 0x401000, 0x409000, 0x1000,
                            "0123456789abcdef0123456789abcdef01234567")
    script = words.mapping("/srv/app/main.py")
    kernel = words.mapping("vmlinux")
    work = words.location("native", program, 0x402345)
    main = words.location("native", program, 0x401234)
    read = words.location("kernel", kernel, 0xffffffff81000010, [("vfs_read", "", 0)])
    inlined = words.location("go", program, 0x403000,
                             [("inner", "/src/in.go", 7), ("outer", "/src/out.go", 30)])
    handle = words.location("cpython", script, 0, [("handle", "/srv/app/main.py", 12)])
    loop = words.location("cpython", script, 0, [("<module>", "/srv/app/main.py", 40)])
    at_work = words.stack([work, main])
    reading = words.stack([read, inlined, main])
    handling = words.stack([handle, loop])
    first = [words.attribute("thread.name", "worker-1"), words.attribute("thread.id", 101),
             words.attribute("cpu.logical_number", 0)]
    second = [words.attribute("thread.name", "worker-2"), words.attribute("thread.id", 102),
              words.attribute("cpu.logical_number", 1)]
    python = [words.attribute("thread.name", "python3"), words.attribute("thread.id", 200),
              words.attribute("size", 512, "By") if layout != "1.7"
              else words.attribute("size", 512)]
    link = words.link(bytes(range(16)), bytes(range(8)))

    def times(*offsets):
        return [START + offset * MS for offset in offsets]

    def ones(n):
        return [] if layout == "1.10" else [n] if layout == "1.7" else [1] * n

    cpu, off, script_slices = [], [], []
    samples = [
        sample(words, layout, at_work, ones(3), times(10, 60, 110), first, 0, cpu),
        sample(words, layout, reading, ones(1), times(160), first, 0, cpu),
        sample(words, layout, at_work, ones(2), times(20, 70), second, link, cpu),
    ]
    waits = [sample(words, layout, reading, [7 * MS] if layout == "1.7" else [3 * MS, 4 * MS],
                    times(200, 300), first, 0, off)]
    rows = [sample(words, layout, handling, ones(4), times(5, 55, 105, 155), python, 0,
                   script_slices)]
    period = (("cpu", "nanoseconds"), 50 * MS)
    if layout == "1.7":
        words.stacks = [b""]
    return document(
        words,
        resource({"process.pid": 100, "process.executable.name": "worker",
                  "process.executable.path": "/usr/bin/worker", "container.id": "c0ffee"},
                 profile(words, layout, ("samples", "count"), samples, period, cpu),
                 profile(words, layout, ("off_cpu", "nanoseconds"), waits, None, off)),
        resource({"process.pid": 200, "service.name": "shop", "beta": True},
                 profile(words, layout, ("samples", "count"), rows, period, script_slices)))


def java():
    words = Dictionary("1.10")
    main = words.location("", 0, 0, [("java/lang/Thread.run", "", 833)])
    work = words.location("", 0, 0, [("demo/Burner.burn", "", 21)])
    pool = [words.attribute("thread.name", "pool-1")]
    other = [words.attribute("thread.name", "main")]
    samples = [sample(words, "1.10", words.stack([work, main]), [],
                      [START + i * 10 * MS for i in range(5)], pool),
               sample(words, "1.10", words.stack([main]), [], [START + 7 * MS], other)]
    return document(words, resource({}, profile(
        words, "1.10", ("cpu", "samples"), samples, (("cpu", "nanoseconds"), 10 * MS))))


def plain(name, value):
    words = Dictionary("1.10")
    at = words.location("", 0, 0, [(name, "a.c", 3)])
    return document(words, resource({"service.name": name}, profile(
        words, "1.10", ("inuse_space", "bytes"),
        [sample(words, "1.10", words.stack([at]), [value], [])])))


def text(name, value, snake=False):
    """The same, as JSON; 64-bit numbers are texts."""
    tables = {
        "mappingTable": [{}],
        "locationTable": [{}, {"mappingIndex": 0, "address": "0", "lines": [
            {"functionIndex": 1, "line": "3"}]}],
        "functionTable": [{}, {"nameStrindex": 1, "filenameStrindex": 2}],
        "linkTable": [{"traceId": "00" * 16, "spanId": "00" * 8},
                      {"traceId": "0af7651916cd43dd8448eb211c80319c",
                       "spanId": "b7ad6b7169203331"}],
        "stringTable": ["", name, "a.c", "inuse_space", "bytes", "thread.id", "share"],
        "attributeTable": [{}, {"keyStrindex": 5, "value": {"intValue": "7"}},
                           {"keyStrindex": 6, "value": {"doubleValue": 0.5}}],
        "stackTable": [{}, {"locationIndices": [1]}],
    }
    row = {"stackIndex": 1, "attributeIndices": [1, 2], "linkIndex": 1, "values": [str(value)]}
    if not snake:
        row["timestampsUnixNano"] = [str(START + 5 * MS)]
    told = {"resourceProfiles": [{
        "resource": {"attributes": [{"key": "service.name", "value": {"stringValue": name}}]},
        "scopeProfiles": [{"scope": {}, "profiles": [{
            "sampleType": {"typeStrindex": 3, "unitStrindex": 4},
            "samples": [row], "timeUnixNano": str(START), "durationNano": str(20 * MS),
            "ignored": [{"deep": []}]}]}]}],
        "dictionary": tables}

    def spell(value):
        if isinstance(value, list):
            return [spell(one) for one in value]
        if isinstance(value, dict):
            return {"".join("_" + c.lower() if c.isupper() else c for c in key): spell(one)
                    for key, one in value.items()}
        return value

    return json.dumps(spell(told) if snake else told, separators=(",", ":")) + "\n"


def odd():
    words = Dictionary("1.10")
    at = words.location("", 9, 0x10, [("main", "", 1)])
    lost = words.location("", 0, 0, [])
    words.locations.append(field(3, field(1, 99)))
    thread = words.attribute("thread.id", -5)
    samples = [
        sample(words, "1.10", words.stack([at, 77]), [5], [], [thread, 88]),
        sample(words, "1.10", 55, [2], []),
        sample(words, "1.10", words.stack([lost, len(words.locations) - 1, at]), [-3], [], [], 9),
        sample(words, "1.10", words.stack([at]), [2 ** 62, 2 ** 62], []),
        sample(words, "1.10", words.stack([at]), [10], [START, START + 1, START + 2]),
    ]
    return document(words, resource({"process.pid": "12"}, profile(
        words, "1.10", ("wall", "microseconds"), samples)))


def reordered():
    words = Dictionary("1.10")
    at = words.stack([words.location("", 0, 0, [("work", "a.c", 3)])])
    kind = field(1, field(2, words.text("nanoseconds")) + field(1, words.text("wall")))
    row = field(2, sample(words, "1.10", at, [40], []))
    time = field(4, 9 * MS) + fixed(3, START)
    return (field(2, words.written())
            + field(1, resource({"process.pid": 1}))
            + field(1, resource({"process.pid": 1}, time + kind))
            + field(1, resource({"process.pid": 2}, time + row + kind)))


def draft():
    table = field(3, b"") + field(4, field(3, field(1, 0))) + field(6, field(1, 1)) \
        + field(10, "") + field(10, "main") + field(10, "samples") + field(10, "count")
    return field(1, resource({}, field(1, field(1, 2) + field(2, 3))
                             + field(2, field(2, 1) + packed(3, [1])) + packed(5, [0]) + table))


for made in ("1.7", "1.9", "1.10"):
    (HERE / f"ebpf-{made}.otlp").write_bytes(ebpf(made))
(HERE / "java-1.10.otlp").write_bytes(java())
(HERE / "several.binpb").write_bytes(b"".join(
    struct.pack(">I", len(row)) + row for row in (plain("one", 100), plain("two", 28))))
(HERE / "several.jsonl").write_text(text("one", 100) + text("two", 28))
(HERE / "snake.json").write_text(text("main", 4096, True))
(HERE / "odd.otlp").write_bytes(odd())
(HERE / "reordered.otlp").write_bytes(reordered())
(HERE / "draft-1.5.otlp").write_bytes(draft())
(HERE / "draft-1.6.otlp").write_bytes(
    field(1, resource({}, field(1, field(1, 1) + field(2, 2)) + field(2, packed(3, [1]))))
    + field(3, b"") + field(6, "") + field(6, "samples") + field(6, "count"))
