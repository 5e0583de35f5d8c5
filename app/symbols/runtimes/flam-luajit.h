/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LUAJIT_H
#define FLAM_LUAJIT_H

/* LuaJIT 2.1's call stack, read from outside: its interpreter, and its traces,
 * with the functions inlined in them. References are of 64 bits (GC64, the
 * default on x86-64 since 2021), or of 32: FlamLuajitLayout has what differs.
 *
 *   r14 ─▶ dispatch table ─▶ global_State ─▶ cur_L ─▶ base: frames of Lua
 *                                │            └─▶ cframe: rsp of the
 * interpreter ├─▶ vmstate: number of the running trace ├─▶ jit_base: where its
 * frames begin └─▶ J.trace ─▶ GCtrace ─▶ snapshots: pc ─▶ the frames that only
 * the trace has
 *
 * The interpreter is written in assembler: it keeps a frame of constant size on
 * the native stack for each entry from C. A trace runs below that frame, and so
 * does what the interpreter pushes to leave a trace. Neither has call frame
 * information, but cframe tells where the frame is: the entries of the chain
 * have that address, and flam_luajit_step() goes there.
 *
 * The offsets in global_State differ between builds. They are decoded from the
 * interpreter's code:
 *
 *   call from C     mov r14, [rbp + 16]; ...; add r14, table - global_State
 *   trace's exit    mov rbp, [r14 + cur_L]; mov rdx, [r14 + jit_base]; ...
 *   start of one    mov rcx, [r14 + J.trace]; mov rax, [rcx + rax * 8]; ...
 *   call of C       mov dword [r14 + vmstate], -2
 *
 * Sources: LuaJIT's lj_obj.h, lj_frame.h, lj_jit.h, lj_snap.c, lj_debug.c,
 * lj_bc.h, vm_x64.dasc and vm_x86.dasc, from 2017 on; OpenTelemetry's eBPF
 * profiler as changed by Parca (Apache-2.0), for the idea to decode. Those of
 * Debian 12 and 13 were checked; the second is OpenResty's. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"
#include "flam-runtime-name.h"

/* Offsets in bytes. */
typedef struct
{
  guint8 reference; /* the size of one */
  guint8 type;      /* of an object that the collector frees */
  guint8 state_size;
  guint8 state_global;
  guint8 state_base;
  guint8 state_limit; /* maxstack */
  guint8 state_stack;
  guint8 state_frame;   /* cframe */
  guint8 frame_results; /* in the interpreter's frame on the native stack */
  guint8 frame_state;
  guint8 frame_pc;
  guint8 frame_slots; /* for the function and the kind of a frame of Lua */
  guint8 closure_size;
  guint8 closure_kind;
  guint8 closure_code;
  guint8 closure_c;
  guint8 proto_size;
  guint8 proto_n_code;
  guint8 proto_constants; /* strings and others are below this */
  guint8 proto_n_constants;
  guint8 proto_all; /* its size with its code and its tables */
  guint8 proto_n_upvalues;
  guint8 proto_file;
  guint8 proto_line;
  guint8 proto_n_lines;
  guint8 proto_lines;
  guint8 proto_upvalues;
  guint8 proto_variables;
  guint8 string_bytes;
  guint8 string_bytes_before; /* until 2020 */
  guint8 trace_n_snapshots;
  guint8 trace_ir;
  guint8 trace_snapshots;
  guint8 trace_map;
  guint8 trace_code_size;
  guint8 trace_code;
  guint8 trace_number;
  guint8 trace_size;
} FlamLuajitLayout;

extern const FlamLuajitLayout flam_luajit_64;
extern const FlamLuajitLayout flam_luajit_32;

/* The type of FlamRuntimeFile.facts. */
typedef struct
{
  const FlamLuajitLayout *layout;
  FlamRuntimeRange vm; /* the interpreter, by addresses as in the file */
  gint32 table;        /* the dispatch table, from global_State on; likewise: */
  gint32 state;        /* vmstate */
  gint32 current;      /* cur_L */
  gint32 base;         /* jit_base */
  gint32 traces;       /* J.trace */
} FlamLuajitFile;

/* A FlamRuntimeFind; `facts` is a FlamLuajitFile. */
gboolean flam_luajit_find (const FlamElf *elf,
                           int fd,
                           const char *path,
                           FlamRuntimeFile *file);

/* The data that a walk keeps of a process: the traces that were seen. */
typedef struct _FlamLuajit FlamLuajit;

FlamLuajit *flam_luajit_new (void);

/* The number of words of a thread that a walk keeps. */
#define FLAM_LUAJIT_KEPT 3

/* The frames of a thread, innermost first. `now` as in FlamRuntimeThread;
 * `kept` is zeroed before the first walk. */
gsize flam_luajit_walk (const FlamLuajitFile *file,
                        FlamLuajit *luajit,
                        const FlamRuntimeMemory *memory,
                        guint64 base,
                        const FlamRuntimeRegs *regs,
                        gint64 now,
                        guint64 kept[FLAM_LUAJIT_KEPT],
                        FlamRuntimeEntry *entries,
                        gsize limit);
/* The caller of the interpreter that is at regs->pc, or runs the trace there,
 * by regs->entry. FALSE: not known. */
gboolean flam_luajit_step (const FlamLuajitFile *file,
                           const FlamRuntimeMemory *memory,
                           guint64 base,
                           const FlamRuntimeRegs *regs,
                           FlamRuntimeRegs *caller);
/* `entry[1]` is the caller, or has no function. Lines are pairs, see
 * flam-runtime-lines.h; a position is the number of an instruction, from 1 on.
 */
gboolean flam_luajit_name (const FlamLuajitFile *file,
                           const FlamRuntimeMemory *memory,
                           const FlamRuntimeEntry *entry,
                           FlamRuntimeName *name);

#endif
