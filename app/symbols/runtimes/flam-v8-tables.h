/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_V8_TABLES_H
#define FLAM_V8_TABLES_H

/* The tables that V8's compilers write beside their code: from an offset in the
 * code to a position in the source. Read in small pieces from the process's
 * memory, at most FLAM_V8_TABLE_MAX bytes of each.
 *
 * Sources: V8's src/codegen/source-position-table.cc, source-position.h,
 * src/base/vlq.h, src/baseline/bytecode-offset-iterator.h,
 * src/interpreter/bytecodes.h. */

#include "flam-runtime-memory.h"

#define FLAM_V8_TABLE_MAX (4u << 20)

/* A source position: where in the script, and in which inlined function. */
typedef struct
{
  bool known;
  bool before;     /* before the first entry: the code that begins a function */
  uint32_t offset; /* characters from the script's start */
  uint16_t inlined; /* 0: not inlined; else 1 + index of an inlining position */
} FlamV8Position;

FlamV8Position flam_v8_position (uint64_t value);

/* The position of the last entry at or before `offset` in a table of source
 * positions of `size` bytes at `table`; `flags`: in the form of V8 14 on. */
FlamV8Position flam_v8_position_at (const FlamRuntimeMemory *memory,
                                    uint64_t table,
                                    uint64_t size,
                                    bool flags,
                                    uint64_t offset);

/* A function's bytecodes, and the table of the lengths of bytecodes: three
 * times `n_lengths` bytes, for operands of one, two and four bytes. */
typedef struct
{
  uint64_t code;
  uint64_t size;
  uint64_t lengths;
  uint32_t n_lengths;
} FlamV8Bytecodes;

/* The offset of the bytecode that baseline code at `offset` was made from, by
 * its table; false: unknown, or before the first one. */
bool flam_v8_baseline_bytecode (const FlamRuntimeMemory *memory,
                                uint64_t table,
                                uint64_t size,
                                const FlamV8Bytecodes *bytecodes,
                                uint64_t offset,
                                uint64_t *bytecode);

#endif
