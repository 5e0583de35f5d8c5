/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LUAJIT_NAMES_H
#define FLAM_LUAJIT_NAMES_H

/* Private to flam-luajit: functions of LuaJIT, and the data that is kept for a
 * process. */

#include "flam-luajit.h"

/* The type of an object, for all objects that the collector frees. */
#define FLAM_LUAJIT_TYPE 9
#define FLAM_LUAJIT_THREAD 6u
#define FLAM_LUAJIT_PROTO 7u
#define FLAM_LUAJIT_FUNCTION 8u
#define FLAM_LUAJIT_TRACE 9u

#define FLAM_LUAJIT_PROTO_SIZE 104

typedef struct
{
  guint64 key; /* in Lua, the address of its prototype, right before its code */
  guint64 cookie;
  guint32 pc; /* number of an instruction, from 1 on; 0: unknown */
  bool lua;   /* not in C or the interpreter's assembler */
  guint8 proto[FLAM_LUAJIT_PROTO_SIZE];
} FlamLuajitFunction;

/* By a closure. */
bool flam_luajit_read_function (const FlamRuntimeMemory *memory,
                                guint64 closure,
                                FlamLuajitFunction *function);
/* By the address of an instruction, before which its code begins. */
bool flam_luajit_function_at (const FlamRuntimeMemory *memory,
                              guint64 pc,
                              FlamLuajitFunction *function);
/* False: the instruction is not in the function. */
bool flam_luajit_set_pc (FlamLuajitFunction *function, guint64 pc);

void flam_luajit_note_trace (FlamLuajit *luajit,
                             guint32 number,
                             guint64 code,
                             guint32 size);
/* 0: no trace that was noted contains the address. */
guint32 flam_luajit_find_trace (const FlamLuajit *luajit, guint64 pc);

#endif
