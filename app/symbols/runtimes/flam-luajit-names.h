/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LUAJIT_NAMES_H
#define FLAM_LUAJIT_NAMES_H

/* Private to flam-luajit: functions of LuaJIT, and the data that is kept for a
 * process. */

#include "flam-luajit.h"

/* The types of objects. */
#define FLAM_LUAJIT_STRING 4u
#define FLAM_LUAJIT_THREAD 6u
#define FLAM_LUAJIT_PROTO 7u
#define FLAM_LUAJIT_FUNCTION 8u
#define FLAM_LUAJIT_TRACE 9u

/* The larger ones of both layouts. */
#define FLAM_LUAJIT_STATE_SIZE 96
#define FLAM_LUAJIT_PROTO_SIZE 104
#define FLAM_LUAJIT_TRACE_SIZE 112

/* A reference in bytes that were read. */
static inline guint64
flam_luajit_reference (const FlamLuajitLayout *layout,
                       const guint8 *bytes,
                       gsize offset)
{
  return layout->reference == 8 ? flam_runtime_u64 (bytes, offset)
                                : flam_runtime_u32 (bytes, offset);
}

static inline bool
flam_luajit_read_reference (const FlamLuajitLayout *layout,
                            const FlamRuntimeMemory *memory,
                            guint64 address,
                            guint64 *value)
{
  *value = 0;
  return memory->read (memory->data, address, value, layout->reference);
}

typedef struct
{
  guint64 key; /* in Lua, the address of its prototype, right before its code */
  guint64 cookie;
  guint32 pc; /* number of an instruction, from 1 on; 0: unknown */
  bool lua;   /* not in C or the interpreter's assembler */
  guint8 proto[FLAM_LUAJIT_PROTO_SIZE];
} FlamLuajitFunction;

/* By a closure. */
bool flam_luajit_read_function (const FlamLuajitLayout *layout,
                                const FlamRuntimeMemory *memory,
                                guint64 closure,
                                FlamLuajitFunction *function);
/* By the address of an instruction, before which its code begins. */
bool flam_luajit_function_at (const FlamLuajitLayout *layout,
                              const FlamRuntimeMemory *memory,
                              guint64 pc,
                              FlamLuajitFunction *function);
/* False: the instruction is not in the function. */
bool flam_luajit_set_pc (const FlamLuajitLayout *layout,
                         FlamLuajitFunction *function,
                         guint64 pc);

void flam_luajit_note_trace (FlamLuajit *luajit,
                             guint32 number,
                             guint64 code,
                             guint32 size);
/* 0: no trace that was noted contains the address. */
guint32 flam_luajit_find_trace (const FlamLuajit *luajit, guint64 pc);

#endif
