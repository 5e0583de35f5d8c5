/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_V8_H
#define FLAM_V8_H

/* JavaScript frames of V8, read from outside: node 12.16 to 26.
 *
 * All code that V8 makes, and its builtins, have a frame pointer:
 *
 *   rbp + 8    return address
 *   rbp        the caller's rbp
 *   rbp - 8    a context; or an even number: not a function's frame
 *   rbp - 16   the function ──▶ JSFunction ──▶ SharedFunctionInfo ─▶ name
 *                                    │            └─▶ Script ─▶ file, lines
 *                                    └─▶ Code: machine code, its positions
 *   ...        interpreted: the bytecodes and the offset of the current one
 *
 * So the frames need no CFI, and no knowledge of the native frames in between:
 * each word of the stack that has this form, whose function is one and whose
 * context is one, is a frame. Dead frames, in memory of the stack that is not
 * used at present, are found as well; flam_v8_is_frame() tells them from those
 * that are on the native stack.
 *
 * The collector moves nearly all of these objects, so their names are read in
 * the stop in which they are first seen. An entry's cookie covers the words by
 * which they were found: after a move it is another one, and the names are read
 * again.
 *
 * Plain C without GLib, but for the names. Sources: see the headers included
 * here, and V8's src/execution/frames.cc, frame-constants.h,
 * src/objects/instruction-stream.h, code.h, src/sandbox/js-dispatch-table.h. */

#include "flam-runtime-file.h"
#include "flam-runtime-name.h"
#include "flam-v8-layout.h"
#include "flam-v8-threads.h"

/* The data in the file. Addresses as in the file. */
typedef struct
{
  FlamV8Layout layout;
  FlamRuntimeRange native;   /* the file's code, with the builtins in it */
  FlamRuntimeRange builtins; /* empty: unknown */
  uint64_t major;            /* of the int with V8's major version */
  uint64_t bytecode_lengths; /* of the table; 0: unknown */
  uint32_t n_bytecodes;
  /* For JSFunctions with a handle: the address of the dispatch table is at
   * `table_offset` in the object whose address is at `table_owner`. */
  uint64_t table_owner;
  uint32_t table_offset;
  FlamV8Threads threads;
} FlamV8File;

/* A process with V8. Used by one thread at a time. */
typedef struct _FlamV8 FlamV8;

/* Whether the file was loaded with `base` added to its addresses. From V8 10 on
 * the builtins are mapped a second time, near the code that calls them. */
bool flam_v8_is_loaded (const FlamV8File *file,
                        uint64_t base,
                        const FlamRuntimeMemory *memory);
/* NULL: no memory. */
FlamV8 *flam_v8_new (const FlamV8File *file, uint64_t base);
void flam_v8_free (FlamV8 *v8);
/* The builtins are also mapped with `base` added to their addresses. May be
 * called while another thread uses `v8`. */
void flam_v8_set_copy (FlamV8 *v8, uint64_t base);

/* The JavaScript frames of a stopped thread, innermost first, each followed by
 * its entry. */
size_t flam_v8_walk (FlamV8 *v8,
                     const FlamRuntimeRegs *regs,
                     const FlamRuntimeMemory *memory,
                     FlamRuntimeEntry *entries,
                     size_t limit);
/* Whether a native frame at `pc`, which ends at `caller_sp`, is the frame of
 * the entry with the address `at`. */
bool flam_v8_is_frame (const FlamV8File *file,
                       uint64_t base,
                       uint64_t pc,
                       uint64_t caller_sp,
                       uint64_t at);
/* In the same stop: the names of one of these frames at its position, and of
 * the functions that are inlined there. False: unreadable. */
bool flam_v8_name (FlamV8 *v8,
                   const FlamRuntimeEntry *entry,
                   const FlamRuntimeMemory *memory,
                   FlamRuntimeName *name);

#endif
