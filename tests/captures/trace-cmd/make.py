#!/usr/bin/env python3
# SPDX-License-Identifier: GPL-3.0-or-later
"""make.py FOLDER: files of trace-cmd in version 6, record by record, after
trace-cmd.dat.v6(5) and the kernel's event formats. trace-cmd itself converts two
of them to version 7, but Debian's is built without zlib: that file is put
together after trace-cmd.dat.v7(5). `trace-cmd report FILE` prints the same
records."""
import struct
import subprocess
import sys
import zlib
from pathlib import Path

PAGE = 4096
COMMON = [("unsigned short", "common_type", 0, 2), ("unsigned char", "common_flags", 2, 1),
          ("unsigned char", "common_preempt_count", 3, 1), ("int", "common_pid", 4, 4)]
SYMBOLS = [(0xffffffff81001000, "vfs_read"), (0xffffffff81002000, "rw_verify_area"),
           (0xffffffff81003000, "security_file_permission"), (0xffffffff81004000, "ksys_read"),
           (0xffffffff81005000, "do_syscall_64"), (0xffffffff81006000, "__schedule"),
           (0xffffffff81007000, "schedule"), (0xffffffff81008000, "futex_wait_queue"),
           (0xffffffff81009000, "io_schedule"), (0xffffffff8100a000, "block_rq_issue"),
           (0xffffffff8100b000, "_etext")]
ADDRESS = {name: address + 16 for address, name in SYMBOLS}
NAMES = {7: "cook", 8: "waiter"}
FORMATS = {
    ("ftrace", "function", 1): [("unsigned long", "ip", 8, 8), ("unsigned long", "parent_ip", 16, 8)],
    ("ftrace", "kernel_stack", 4): [("int", "size", 8, 4), ("unsigned long", "caller[8]", 16, 64)],
    ("ftrace", "funcgraph_entry", 11): [("unsigned long", "func", 8, 8), ("int", "depth", 16, 4)],
    ("ftrace", "funcgraph_exit", 10): [
        ("unsigned long", "func", 8, 8), ("int", "depth", 16, 4), ("unsigned int", "overrun", 20, 4),
        ("unsigned long long", "calltime", 24, 8), ("unsigned long long", "rettime", 32, 8)],
    ("sched", "sched_switch", 314): [
        ("char", "prev_comm[16]", 8, 16), ("pid_t", "prev_pid", 24, 4), ("int", "prev_prio", 28, 4),
        ("long", "prev_state", 32, 8), ("char", "next_comm[16]", 40, 16), ("pid_t", "next_pid", 56, 4),
        ("int", "next_prio", 60, 4)],
    ("block", "block_rq_issue", 900): [("unsigned int", "bytes", 8, 4)],
}
HEADER_PAGE = ("\tfield: u64 timestamp;\toffset:0;\tsize:8;\tsigned:0;\n"
               "\tfield: local_t commit;\toffset:8;\tsize:8;\tsigned:1;\n"
               "\tfield: int overwrite;\toffset:8;\tsize:1;\tsigned:1;\n"
               "\tfield: char data;\toffset:16;\tsize:4080;\tsigned:1;\n")
HEADER_EVENT = ("# compressed entry header\n\ttype_len    :    5 bits\n\ttime_delta  :   27 bits\n"
                "\tarray       :   32 bits\n\n\tpadding     : type == 29\n\ttime_extend : type == 30\n"
                "\ttime_stamp : type == 31\n\tdata max type_len  == 28\n")


def format_text(name, number, fields):
    lines = [f"name: {name}", f"ID: {number}", "format:"]
    for rows in (COMMON, fields):
        lines += [f"\tfield:{kind} {field};\toffset:{offset};\tsize:{size};\tsigned:0;"
                  for kind, field, offset, size in rows] + [""]
    printed = {"function": '" %ps <-- %ps", (void *)REC->ip, (void *)REC->parent_ip',
               "block_rq_issue": '"%u", REC->bytes'}.get(name, '"%d", REC->common_pid')
    return "\n".join(lines) + f"\nprint fmt: {printed}\n"


def head(number, pid):
    return struct.pack("<HBBi", number, 0, 0, pid)


def entry(name, depth, pid):
    return head(11, pid) + struct.pack("<Qi", ADDRESS[name] - 16, depth)


def leave(name, depth, pid, begin, end):
    return head(10, pid) + struct.pack("<QiIQQ", ADDRESS[name] - 16, depth, 0, begin, end)


def switch(before, state, after):
    name = {0: b"swapper/0", 7: b"cook", 8: b"waiter"}
    return head(314, before) + struct.pack("<16siiq16sii", name[before], before, 120, state,
                                           name[after], after, 120)


def stack(pid, *names):
    return head(4, pid) + struct.pack("<iI", len(names), 0) + struct.pack(
        "<8Q", *[ADDRESS[name] for name in names], *[0] * (8 - len(names)))


def function(pid, name, caller):
    return head(1, pid) + struct.pack("<QQ", ADDRESS[name] - 16, ADDRESS[caller])


def page(records):
    """Of (ns, bytes): a time extend where 27 bits are not enough, and a length
    of its own where 5 bits are not."""
    start = now = records[0][0]
    data = b""
    for time, record in records:
        delta = time - now
        now = time
        if delta >= 1 << 27:
            data += struct.pack("<II", 30 | (delta & ((1 << 27) - 1)) << 5, delta >> 27)
            delta = 0
        record += bytes(-len(record) % 4)
        words = len(record) // 4
        if words <= 28:
            data += struct.pack("<I", words | delta << 5) + record
        else:
            data += struct.pack("<II", delta << 5, len(record) + 4) + record
    return (struct.pack("<QQ", start, len(data)) + data).ljust(PAGE, b"\0")


def sized(text, size="<Q"):
    text = text.encode()
    return struct.pack(size, len(text)) + text


def sections():
    """The ids of version 7, and the parts of version 6 in the same order."""
    systems = {}
    for (system, name, number), fields in FORMATS.items():
        systems.setdefault(system, []).append(format_text(name, number, fields))
    own = systems.pop("ftrace")
    events = struct.pack("<I", len(systems))
    for system, texts in systems.items():
        events += system.encode() + b"\0" + struct.pack("<I", len(texts)) + b"".join(map(sized, texts))
    return {
        16: b"header_page\0" + sized(HEADER_PAGE) + b"header_event\0" + sized(HEADER_EVENT),
        17: struct.pack("<I", len(own)) + b"".join(map(sized, own)),
        18: events,
        19: sized("".join(f"{address:016x} T {name}\n" for address, name in SYMBOLS), "<I"),
        20: sized("", "<I"),
        21: sized("".join(f"{pid} {name}\n" for pid, name in NAMES.items())),
    }


def head_of(version):
    return b"\x17\x08\x44tracing" + version + bytes([0, 8]) + struct.pack("<I", PAGE)


def piece(data):
    packed = zlib.compress(data)
    return struct.pack("<II", len(packed), len(data)) + packed


def write_zlib(path, cpus):
    out = head_of(b"7\0") + b"zlib\0" + b"1.2.13\0"
    place = len(out)
    out += bytes(8)
    options = b""
    for number, data in sections().items():
        options += struct.pack("<HIQ", number, 8, len(out))
        body = piece(data)
        out += struct.pack("<HHIQ", number, 1, 0, len(body)) + body
    bodies = [struct.pack("<I", len(pages)) + b"".join(map(piece, pages)) for pages in cpus]
    buffer = struct.pack("<Q", len(out)) + b"\0local\0" + struct.pack("<II", PAGE, len(cpus))
    out += struct.pack("<HHIQ", 3, 1, 0, sum(map(len, bodies)))
    for i, body in enumerate(bodies):
        buffer += struct.pack("<IQQ", i, len(out), len(body) - 4)
        out += body
    options += struct.pack("<HI", 3, len(buffer)) + buffer + struct.pack("<HIQ", 0, 8, 0)
    out = out[:place] + struct.pack("<Q", len(out)) + out[place + 8:]
    path.write_bytes(out + struct.pack("<HHIQ", 0, 0, 0, len(options)) + options)


def write(path, cpus):
    """`cpus`: pages of each."""
    out = head_of(b"6\0") + b"".join(sections().values()) + struct.pack("<I", len(cpus))
    out += b"options  \0" + struct.pack("<H", 0)
    out += b"flyrecord\0"
    at = len(out) + 16 * len(cpus)
    at += -at % PAGE
    places, data = b"", b""
    for pages in cpus:
        places += struct.pack("<QQ", at + len(data), PAGE * len(pages))
        data += b"".join(pages)
    path.write_bytes((out + places).ljust(at, b"\0") + data)


def main():
    folder = Path(sys.argv[1])
    us = 1000
    t = 1_000_000_000_000
    # cook moves to another CPU within its call of vfs_read.
    graph = folder / "graph.dat"
    write(graph, [
        [page([(t, entry("ksys_read", 0, 7)), (t + 2 * us, entry("vfs_read", 1, 7)),
               (t + 3 * us, entry("rw_verify_area", 2, 7)),
               (t + 5 * us, leave("rw_verify_area", 2, 7, t + 3 * us, t + 5 * us))]),
         page([(t + 100 * us, entry("ksys_read", 0, 8)),
               (t + 130 * us, leave("ksys_read", 0, 8, t + 100 * us, t + 130 * us))])],
        [page([(t + 10 * us, entry("security_file_permission", 2, 7)),
               (t + 14 * us, leave("security_file_permission", 2, 7, t + 10 * us, t + 14 * us)),
               (t + 20 * us, leave("vfs_read", 1, 7, t + 2 * us, t + 20 * us)),
               (t + 21 * us, leave("ksys_read", 0, 7, t, t + 21 * us))])]])
    # cook waits for 300 ms, more than 27 bits of ns.
    ms = 1_000_000
    sleep = ("__schedule", "schedule", "futex_wait_queue", "do_syscall_64")
    disk = ("__schedule", "schedule", "io_schedule", "vfs_read", "do_syscall_64")
    switches = [[page([
        (t, switch(0, 0, 7)),
        (t + 4 * ms, head(900, 7) + struct.pack("<I", 4096)),
        (t + 4 * ms, stack(7, "block_rq_issue", "vfs_read", "do_syscall_64")),
        (t + 10 * ms, switch(7, 2, 8)), (t + 10 * ms, stack(7, *disk)),
        (t + 15 * ms, switch(8, 1, 7)), (t + 15 * ms, stack(8, *sleep)),
        (t + 25 * ms, switch(7, 0, 0)), (t + 25 * ms, stack(7, "__schedule", "do_syscall_64")),
        (t + 325 * ms, switch(0, 0, 7)),
        (t + 330 * ms, switch(7, 1, 8)), (t + 330 * ms, stack(7, *sleep))])]]
    write(folder / "switch.dat", switches)
    write_zlib(folder / "zlib.dat", switches)
    write(folder / "function.dat", [[page([
        (t, function(7, "vfs_read", "ksys_read")), (t + 1 * us, function(7, "rw_verify_area", "vfs_read")),
        (t + 2 * us, function(7, "vfs_read", "ksys_read"))])]])
    for name, packing in (("zstd", "zstd"), ("plain", "none")):
        subprocess.run(["trace-cmd", "convert", "-i", graph, "-o", folder / f"{name}.dat",
                        "--file-version", "7", "--compression", packing], check=True, stdout=subprocess.DEVNULL)
    whole = graph.read_bytes()
    (folder / "cut.dat").write_bytes(whole[:len(whole) - PAGE // 2 - PAGE])
    (folder / "head.dat").write_bytes(whole[:3000])


main()
