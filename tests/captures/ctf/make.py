#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py FOLDER: traces in the Common Trace Format 1.8, bit by bit, after its
specification. `session` has the shape of LTTng 2.13's, with two programs in buffers of
their own; `kernel` that of its kernel traces; `bare` has bit fields, a variant and the
byte order of another machine. babeltrace2 prints the same events (events.txt)."""
import struct
import sys
from pathlib import Path
from uuid import UUID

START = 1_790_000_000_000_000_000


class Bits:
    """A packet's content, bit by bit."""

    def __init__(self, big=False):
        self.big, self.bits = big, []

    def align(self, n):
        self.bits += [0] * (-len(self.bits) % n)

    def number(self, value, size, align=8):
        self.align(align)
        value &= (1 << size) - 1
        order = range(size - 1, -1, -1) if self.big else range(size)
        self.bits += [value >> i & 1 for i in order]

    def raw(self, data):
        self.align(8)
        for byte in data:
            self.number(byte, 8)

    def text(self, text):
        self.raw(text.encode() + b"\0")

    def bytes(self):
        bits = self.bits + [0] * (-len(self.bits) % 8)
        out = bytearray()
        for i in range(0, len(bits), 8):
            byte = bits[i:i + 8]
            out.append(sum(b << (7 - k if self.big else k) for k, b in enumerate(byte)))
        return bytes(out)


def packets_of(text, uuid):
    """The description in packets of 4096 bytes, as LTTng writes it."""
    out, room = b"", 4096 - 37
    for at in range(0, len(text), room):
        part = text[at:at + room].encode()
        out += struct.pack("<I16sIIIBBBBB", 0x75d11d57, uuid, 0, (37 + len(part)) * 8,
                           4096 * 8, 0, 0, 0, 1, 8)
        out += part.ljust(room, b"\0")
    return out


HEAD = """/* CTF 1.8 */

typealias integer { size = 8; align = 8; signed = false; } := uint8_t;
typealias integer { size = 32; align = 8; signed = false; } := uint32_t;
typealias integer { size = 64; align = 8; signed = false; } := uint64_t;
typealias integer { size = 64; align = 8; signed = false; } := unsigned long;
typealias integer { size = 5; align = 1; signed = false; } := uint5_t;

trace {
	major = 1;
	minor = 8;
	uuid = "%s";
	byte_order = le;
	packet.header := struct {
		uint32_t magic;
		uint8_t  uuid[16];
		uint32_t stream_id;
		uint64_t stream_instance_id;
	};
};

env {
	domain = "%s";
	tracer_name = "lttng-%s";
	hostname = "mill";
};

clock {
	name = "monotonic";
	description = "Monotonic Clock";
	freq = 1000000000; /* Frequency, in Hz */
	offset = 1790000000000000000;
};

typealias integer { size = 27; align = 1; signed = false; map = clock.monotonic.value; } := uint27_clock_t;
typealias integer { size = 64; align = 8; signed = false; map = clock.monotonic.value; } := uint64_clock_t;

struct packet_context {
	uint64_clock_t timestamp_begin;
	uint64_clock_t timestamp_end;
	uint64_t content_size;
	uint64_t packet_size;
	uint64_t packet_seq_num;
	unsigned long events_discarded;
	uint32_t cpu_id;
};

struct event_header_compact {
	enum : uint5_t { compact = 0 ... 30, extended = 31 } id;
	variant <id> {
		struct {
			uint27_clock_t timestamp;
		} compact;
		struct {
			uint32_t id;
			uint64_clock_t timestamp;
		} extended;
	} v;
} align(8);

stream {
	id = 0;
	event.header := struct event_header_compact;
	packet.context := struct packet_context;
%s};

"""
UST = """	event.context := struct {
		integer { size = 32; align = 8; signed = 1; base = 10; } _vpid;
		integer { size = 32; align = 8; signed = 1; base = 10; } _vtid;
		integer { size = 8; align = 8; signed = 1; encoding = UTF8; } _procname[17];
	};
"""
TYPES = {
    "u64": "integer { size = 64; align = 8; signed = 0; base = 16; }",
    "u32": "integer { size = 32; align = 8; signed = 0; }",
    "s32": "integer { size = 32; align = 8; signed = 1; }",
    "u8": "integer { size = 8; align = 8; signed = 0; }",
    "text": "string",
}


def declare(events):
    out = ""
    for i, (name, fields) in enumerate(events.items()):
        out += f'event {{\n\tname = "{name}";\n\tid = {i};\n\tstream_id = 0;\n\tfields := struct {{\n'
        for field, kind in fields:
            if kind == "bytes":
                out += f"\t\t{TYPES['u64']} __{field}_length;\n\t\t{TYPES['u8']} _{field}[ __{field}_length ];\n"
            elif kind == "comm":
                out += f"\t\tinteger {{ size = 8; align = 8; signed = 1; encoding = UTF8; }} _{field}[16];\n"
            else:
                out += f"\t\t{TYPES[kind]} _{field};\n"
        out += "\t};\n};\n\n"
    return out


def describe(uuid, domain, tracer, context, events):
    return packets_of(HEAD % (UUID(bytes=uuid), domain, tracer, context) + declare(events), uuid)


def put_fields(bits, fields, values):
    for (_, kind), value in zip(fields, values):
        if kind == "bytes":
            bits.number(len(value), 64)
            bits.raw(value)
        elif kind == "comm":
            bits.raw(value.encode().ljust(16, b"\0"))
        elif kind == "text":
            bits.text(value)
        else:
            bits.number(value, int(kind[1:]))


def packet(events, uuid, cpu, rows, discarded=0, ust=True):
    """rows: (ns, name, values, (pid, tid, comm))"""
    bits = Bits()
    bits.number(0xc1fc1fc1, 32)
    bits.raw(uuid)
    bits.number(0, 32)
    bits.number(cpu, 64)
    bits.number(rows[0][0], 64)
    bits.number(rows[-1][0], 64)
    sizes = len(bits.bits)
    for value in (0, 0, 0, discarded):
        bits.number(value, 64)
    bits.number(cpu, 32)
    names, last = list(events), rows[0][0]
    for time, name, values, who in rows:
        bits.align(8)
        if time - last < 1 << 27:
            bits.number(names.index(name), 5, 1)
            bits.number(time, 27, 1)
        else:
            bits.number(31, 5, 1)
            bits.number(names.index(name), 32)
            bits.number(time, 64)
        last = time
        if ust:
            bits.number(who[0], 32)
            bits.number(who[1], 32)
            bits.raw(who[2].encode().ljust(17, b"\0"))
        put_fields(bits, events[name], values)
    content = len(bits.bits)
    whole = (content + 32767) // 32768 * 32768
    for i, value in enumerate((content, whole)):
        at = sizes + 64 * i
        bits.bits[at:at + 64] = [value >> k & 1 for k in range(64)]
    return bits.bytes().ljust(whole // 8, b"\0")


EVENTS = {
    "lttng_ust_statedump:start": [],
    "lttng_ust_statedump:procname": [("procname", "comm")],
    "lttng_ust_statedump:bin_info": [("baddr", "u64"), ("memsz", "u64"), ("path", "text"),
                                     ("is_pic", "u8"), ("has_build_id", "u8")],
    "lttng_ust_statedump:build_id": [("baddr", "u64"), ("build_id", "bytes")],
    "lttng_ust_cyg_profile:func_entry": [("addr", "u64"), ("call_site", "u64")],
    "lttng_ust_cyg_profile:func_exit": [("addr", "u64"), ("call_site", "u64")],
    "mill:grind_begin": [("grain", "text")],
    "mill:grind_end": [("grain", "text")],
    "mill:bell": [],
    "lttng_ust_tracef:event": [("msg", "bytes")],
    "lttng_ust_lib:load": [("baddr", "u64"), ("memsz", "u64"), ("path", "text")],
    "lttng_ust_lib:unload": [("baddr", "u64")],
}
MILL, STONE, SIEVE = 0x55d0_0000_0000, 0x7f10_0000_0000, 0x7f20_0000_0000
MAIN, GRIND, SIFT = MILL + 0x1100, MILL + 0x1200, STONE + 0x40
ENTER, LEAVE = "lttng_ust_cyg_profile:func_entry", "lttng_ust_cyg_profile:func_exit"


def session(folder):
    """Process 70 with the threads 70 and 71, which change CPUs; process 80, whose library
    goes and is replaced by another at the same address."""
    main, helper = (70, 70, "mill"), (70, 71, "miller")
    own = (70, 72, "mill-ust")
    base = 5_000_000_000
    rows = [
        (0, 0, "lttng_ust_statedump:start", (), own),
        (0, 1000, "lttng_ust_statedump:procname", ("mill",), own),
        (0, 2000, "lttng_ust_statedump:bin_info", (MILL, 0x4000, "/usr/bin/mill", 1, 1), own),
        (0, 2500, "lttng_ust_statedump:build_id", (MILL, bytes(range(0x10, 0x24))), own),
        (0, 3000, "lttng_ust_statedump:bin_info", (0x400000, 0x1000, "/usr/bin/fixed", 0, 0), own),
        (0, 3500, "lttng_ust_statedump:bin_info", (STONE, 0x1000, "/usr/lib/libstone.so.1", 1, 0), own),
        (0, 10_000, ENTER, (MAIN, 0), main),
        (0, 30_000, ENTER, (GRIND, MAIN + 8), main),
        # Begins on one CPU, ends on the other.
        (0, 40_000, ENTER, (SIFT, GRIND + 8), main),
        (1, 90_000, LEAVE, (SIFT, GRIND + 8), main),
        (1, 100_000, "mill:grind_begin", ("rye",), main),
        (1, 105_000, ENTER, (0x400100, GRIND + 9), main),
        (1, 125_000, LEAVE, (0x400100, GRIND + 9), main),
        (1, 160_000, "mill:grind_end", ("rye",), main),
        (1, 170_000, "mill:bell", (), main),
        (1, 180_000, "lttng_ust_tracef:event", (b"flour is ready",), main),
        (0, 200_000, LEAVE, (GRIND, MAIN + 8), main),
        # The clock's 27 bits go round, and a whole round passes without an event.
        (0, 100_000_000, ENTER, (GRIND, MAIN + 8), main),
        (0, 400_000_000, LEAVE, (GRIND, MAIN + 8), main),
        (0, 400_100_000, LEAVE, (MAIN, 0), main),
        (1, 20_000, ENTER, (GRIND, 1), helper),
        (0, 220_000, ENTER, (SIFT, GRIND + 8), helper),
        (0, 230_000, LEAVE, (SIFT, GRIND + 8), helper),
        (1, 260_000, LEAVE, (GRIND, 1), helper),
        # It does not return.
        (1, 300_000_000, ENTER, (MILL + 0x1300, 1), helper),
    ]
    other = (80, 80, "sieve")
    second = [
        (0, 0, "lttng_ust_statedump:procname", ("sieve",), (80, 81, "sieve-ust")),
        (0, 1000, "lttng_ust_lib:load", (SIEVE, 0x1000, "/opt/coarse.so"), other),
        (0, 2000, ENTER, (SIEVE + 0x10, 0), other),
        (0, 7000, LEAVE, (SIEVE + 0x10, 0), other),
        (0, 8000, "lttng_ust_lib:unload", (SIEVE,), other),
        (0, 9000, "lttng_ust_lib:load", (SIEVE, 0x1000, "/opt/fine.so"), other),
        (0, 10_000, ENTER, (SIEVE + 0x10, 0), other),
        (0, 13_000, LEAVE, (SIEVE + 0x10, 0), other),
    ]
    for name, all_rows, discarded in (("mill-70", rows, 3), ("sieve-80", second, 0)):
        at = folder / "ust/pid" / f"{name}-20260922-161320"
        at.mkdir(parents=True, exist_ok=True)
        uuid = bytes([all_rows[0][4][0]] * 16)
        (at / "metadata").write_bytes(describe(uuid, "ust", "ust", UST, EVENTS))
        for cpu in (0, 1):
            mine = sorted((base + t, n, v, w) for c, t, n, v, w in all_rows if c == cpu)
            if not mine:
                continue
            half = len(mine) // 2
            (at / f"channel0_{cpu}").write_bytes(
                (packet(EVENTS, uuid, cpu, mine[:half]) if half else b"")
                + packet(EVENTS, uuid, cpu, mine[half:], discarded if cpu == 1 else 0))


KERNEL = {
    "sched_switch": [("prev_comm", "comm"), ("prev_tid", "s32"), ("next_comm", "comm"), ("next_tid", "s32")],
    "syscall_entry_read": [("fd", "u32")],
    "syscall_exit_read": [("ret", "u64")],
    "lttng_statedump_process_state": [("tid", "s32"), ("pid", "s32"), ("name", "comm")],
    "irq_handler_entry": [("irq", "s32")],
    "irq_handler_exit": [("irq", "s32")],
}


def kernel(folder):
    """Thread 71 of process 70 reads on CPU 0, is switched out, and goes on on CPU 1."""
    at = folder / "kernel"
    at.mkdir(parents=True, exist_ok=True)
    base, uuid = 1_000_000, bytes(range(16))
    rows = {
        0: [(0, "lttng_statedump_process_state", (71, 70, "miller")),
            (5, "lttng_statedump_process_state", (70, 70, "mill")),
            (10, "sched_switch", ("swapper/0", 0, "miller", 71)),
            (100, "syscall_entry_read", (3,)),
            (400, "sched_switch", ("miller", 71, "swapper/0", 0)),
            (500, "irq_handler_entry", (7,)),
            (520, "irq_handler_exit", (7,))],
        1: [(700, "sched_switch", ("swapper/1", 0, "miller", 71)),
            (900, "syscall_exit_read", (64,)),
            (950, "syscall_entry_read", (3,)),
            (960, "syscall_exit_read", (0,)),
            (990, "sched_switch", ("miller", 71, "cat", 90)),
            (1000, "syscall_entry_read", (0,)),
            (1007, "syscall_exit_read", (0,))],
    }
    (at / "metadata").write_bytes(describe(uuid, "kernel", "modules", "", KERNEL))
    for cpu, mine in rows.items():
        (at / f"channel0_{cpu}").write_bytes(
            packet(KERNEL, uuid, cpu, [(base + t, n, v, None) for t, n, v in mine], ust=False))


BARE = """/* CTF 1.8 */
typealias integer { size = 3; align = 1; signed = false; } := u3;
typealias integer { size = 11; align = 1; signed = true; } := s11;
typealias integer { size = 0x20; align = 8; signed = false; map = clock.ticks.value; } := ticks_t;
trace {
	major = 1; minor = 8; byte_order = be;
	packet.header := struct { integer { size = 32; align = 8; } magic; };
};
clock { name = ticks; freq = 32768; offset_s = 1790000000; offset = 16384; };
stream {
	typedef integer { size = 16; align = 8; } u16;
	packet.context := struct { u16 packet_size; u16 content_size; };
	event.header := struct { u3 id; ticks_t timestamp; };
};
event {
	name = "pump_start"; id = 0;
	fields := struct {
		enum kind : u3 { cold, warm = 3, "very hot" = 4 ... 6, } kind;
		variant <kind> { s11 cold; string warm; struct { s11 a; u3 b; } align(16) very hot_; } value;
		s11 levels[2][3];
	};
};
event { name = "pump_stop"; id = 1; fields := struct { u3 n; s11 rest[n]; floating_point { exp_dig = 8; mant_dig = 24; align = 8; } heat; }; };
event { name = "drip"; id = 2; };
""".replace('"very hot" = 4 ... 6,', 'hot = 4 ... 6,').replace("very hot_", "hot")


def bare(folder):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "metadata").write_text(BARE)
    bits = Bits(big=True)
    bits.number(0xc1fc1fc1, 32)
    sizes = len(bits.bits)
    bits.number(0, 16)
    bits.number(0, 16)

    def event(number, ticks):
        bits.align(8)
        bits.number(number, 3, 1)
        bits.number(ticks, 32)

    def start(ticks, kind, value):
        event(0, ticks)
        bits.number(kind, 3, 1)
        if kind == 0:
            bits.number(value, 11, 1)
        elif kind == 3:
            bits.text(value)
        else:
            bits.align(16)
            bits.number(value, 11, 1)
            bits.number(5, 3, 1)
        for i in range(6):
            bits.number(-i, 11, 1)

    def stop(ticks, rest):
        event(1, ticks)
        bits.number(len(rest), 3, 1)
        for value in rest:
            bits.number(value, 11, 1)
        bits.raw(struct.pack(">f", 36.6))

    start(0xffffffe0, 0, -1)
    start(0xfffffff0, 3, "tap")
    event(2, 0xfffffff8)
    stop(0x20, [1, 2, 3])  # the clock's 32 bits have gone round
    stop(0x8020, [])
    start(0x8040, 5, 7)
    stop(0x8060, [9])
    content = len(bits.bits)
    whole = (content + 255) // 256 * 256
    for i, value in enumerate((whole, content)):
        at = sizes + 16 * i
        bits.bits[at:at + 16] = [value >> (15 - k) & 1 for k in range(16)]
    (folder / "stream").write_bytes(bits.bytes().ljust(whole // 8, b"\0"))


def main():
    folder = Path(sys.argv[1])
    session(folder / "session")
    kernel(folder / "kernel")
    bare(folder / "bare")
    # Damaged: a packet is cut, another begins with other bytes, an event has a number that
    # is not described.
    session(folder / "damaged")
    cut = next((folder / "damaged/ust/pid").glob("mill-*"))
    stream = cut / "channel0_0"
    stream.write_bytes(stream.read_bytes()[:5000])
    stream = cut / "channel0_1"
    data = bytearray(stream.read_bytes())
    data[4096:4100] = b"noon"
    stream.write_bytes(data)
    # Events alone, without calls.
    (folder / "events").mkdir(exist_ok=True)
    (folder / "events/metadata").write_text(BARE.replace("pump_stop", "pump_pause"))
    (folder / "events/stream").write_bytes((folder / "bare/stream").read_bytes())
    # A description that ends within an event, and one that nests without end.
    (folder / "short").mkdir(exist_ok=True)
    (folder / "short/metadata").write_text(BARE[:BARE.index("value;")])
    (folder / "deep").mkdir(exist_ok=True)
    (folder / "deep/metadata").write_text("/* CTF 1.8 */\n" + "struct a { " * 40 + "} x; " * 40)


main()
