/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_LUA_H
#define FLAM_LUA_H

/* Lua's call stack (5.1 to 5.4, not LuaJIT), read from outside.
 *
 * No variable of the library leads to a lua_State: a program holds it. But each
 * function of the library has it as its first argument, so it is in a register,
 * or saved on the native stack, wherever Lua runs. The words there are read
 * from the leaf on, and the first one that leads to a consistent lua_State is
 * taken:
 *
 *   registers, native stack ─▶ lua_State ─▶ CallInfo ─▶ ... ─▶ base_ci
 *                                              │
 *                                              ├▶ function ─▶ Proto
 *                                              └▶ savedpc, status (FRESH: a run
 *                                                 of luaV_execute began)
 *
 * A coroutine has its own lua_State, and the one that resumed it lies further
 * up on the same native stack; the main one ends the search.
 *
 * A Lua function has no name: it is named after the variable or field by which
 * the calling instruction of the frame before it found it.
 *
 * Sources: Lua's lstate.h, lobject.h, lopcodes.h, ldebug.c of these versions.
 * Debian's 5.1 to 5.4 were checked. */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"
#include "flam-runtime-name.h"

/* Offsets in bytes, 0: absent. */
typedef struct
{
  guint32 version; /* 0x0504 for 5.4 */
  guint16 state_global;
  guint16 state_call; /* ci */
  guint16 state_last; /* stack_last */
  guint16 state_stack;
  guint16 state_base; /* base_ci; 5.1: of its address */
  guint16 state_pc;   /* 5.1: savedpc of the running function */
  guint16 call_function;
  guint16 call_previous; /* 5.1: 0, the calls are an array */
  guint16 call_pc;       /* savedpc */
  guint16 call_status;
  guint16 call_size;
  guint16 status_lua; /* the bit that tells Lua from C, and whether it is set */
  guint16 status_lua_set;
  guint16 status_fresh; /* likewise for a new run of luaV_execute */
  guint16 status_fresh_set;
  guint16 closure_proto;
  guint16 proto_n_code;
  guint16 proto_n_lines;
  guint16 proto_n_bases; /* 5.4: sizeabslineinfo */
  guint16 proto_n_variables;
  guint16 proto_n_upvalues;
  guint16 proto_n_constants;
  guint16 proto_line;
  guint16 proto_constants;
  guint16 proto_code;
  guint16 proto_lines;
  guint16 proto_bases;
  guint16 proto_variables;
  guint16 proto_upvalues;
  guint16 proto_source;
  guint8 op_bits; /* of an instruction's opcode; then A has 8 */
  guint8 upvalue_size;
  guint8 op_constant, op_get_upvalue, op_get_global, op_get_field, op_get_table,
      op_self, op_call, op_tail_call;
} FlamLuaLayout;

/* The type of FlamRuntimeFile.facts. Its addresses are those of the ELF file.
 */
typedef struct
{
  FlamLuaLayout layout;
  FlamRuntimeRange loop; /* luaV_execute */
} FlamLuaFile;

gboolean flam_lua_find (const FlamElf *elf,
                        int fd,
                        const char *path,
                        FlamRuntimeFile *file);
/* `patch` is the third number of the version. NULL: it is not supported. */
const FlamLuaLayout *flam_lua_layout (guint32 version, guint patch);

/* The number of words of a thread that a walk keeps. */
#define FLAM_LUA_KEPT 4

/* The frames of a thread, innermost first, each run closed by an entry without
 * an address. `now` as in FlamRuntimeThread; `kept` is zeroed before the first
 * walk. */
gsize flam_lua_walk (const FlamLuaFile *lua,
                     const FlamRuntimeMemory *memory,
                     guint64 base,
                     const FlamRuntimeRegs *regs,
                     gint64 now,
                     guint64 kept[FLAM_LUA_KEPT],
                     FlamRuntimeEntry *entries,
                     gsize limit);
/* `entry[1]` is the caller, or has no function. Lines are pairs, see
 * flam-runtime-lines.h. */
gboolean flam_lua_name (const FlamLuaFile *lua,
                        const FlamRuntimeMemory *memory,
                        const FlamRuntimeEntry *entry,
                        FlamRuntimeName *name);

#endif
