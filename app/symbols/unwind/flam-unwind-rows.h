/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_UNWIND_ROWS_H
#define FLAM_UNWIND_ROWS_H

/* Unwind tables: the step from one frame to its caller.
 *
 * Plain C without GLib, since the allocation preload library loads these files
 * into recorded programs. Look-ups and steps take no lock, allocate nothing and
 * are async-signal-safe; only building a table calls malloc.
 *
 * A table is compiled once for each module from its .eh_frame and .debug_frame.
 * It is one block without pointers, so that it may be written to a file or into
 * shared memory and used there without changes:
 *
 *   OFFSET         SIZE  WHAT
 *        0           48  header, struct _FlamUnwindTable
 *       48   8 * n_rows  rows, ascending by pc
 *        .  28 * n_rules rules: frames that do not fit into a row
 *        .   4 * n_index index: bucket i holds the last row at or below
 *                        first + (i << shift)
 *
 * Row:
 *
 *   OFFSET  SIZE  WHAT
 *        0     4  pc: first byte it is true for, as an offset in the file
 *        4     2  cfa: distance / 8, or number of a rule, or PLT threshold
 *        6     1  the frame pointer (x86-64: rbp) is saved at CFA - 8 * bp; 0:
 *                 the caller's is still in the register
 *        7     1  how: bits 0-2 kind (FlamUnwindKind), bits 3-7 rbx as bp,
 *                 31: unknown; on AArch64, where the return address is
 *
 * On x86-64 the return address is at CFA - 8. The caller's stack pointer is the
 * CFA, unless a rule defines both. pcs are file offsets (not virtual
 * addresses), so that only a mapping's start and offset are needed to use a
 * table.
 *
 * Source: DWARF 5 section 6.4 (call frame information), LSB 5.0 Core generic
 * section 10.6 (.eh_frame, .eh_frame_hdr).
 *
 * The registers and columns of a processor are in a file of its own
 * (flam-unwind-machine.h); `machine` in the header distinguishes the tables. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

typedef enum
{
  FLAM_UNWIND_KIND_NONE, /* no information: the frame pointer is tried */
  FLAM_UNWIND_KIND_SP,   /* CFA = stack pointer + 8 * cfa */
  FLAM_UNWIND_KIND_BP,   /* CFA = frame pointer + 8 * cfa */
  FLAM_UNWIND_KIND_PLT,  /* CFA = rsp + 8, 16 from byte `cfa` of an entry */
  FLAM_UNWIND_KIND_END,  /* return address undefined: the root */
  FLAM_UNWIND_KIND_RULE, /* rules[cfa] */
  FLAM_UNWIND_KIND_SCAN, /* like SP, but derived from the instructions: a guess
                          */
  FLAM_UNWIND_KIND_MANAGED, /* in no table: a runtime's code, whose frames only
                               its reader can follow */
} FlamUnwindKind;

typedef struct
{
  uint32_t pc;
  uint16_t cfa;
  uint8_t bp;
  uint8_t how;
} FlamUnwindRow;

#define FLAM_UNWIND_BX_UNKNOWN 31

typedef enum
{
  FLAM_UNWIND_AT_CFA,  /* saved at CFA + offset */
  FLAM_UNWIND_AT_REG,  /* saved at register + offset */
  FLAM_UNWIND_IN_REG,  /* in another register */
  FLAM_UNWIND_SAME,    /* unchanged */
  FLAM_UNWIND_UNKNOWN, /* lost */
} FlamUnwindWhere;

enum
{
  FLAM_UNWIND_RULE_DEREF = 1 << 0,  /* CFA = *(reg + cfa) + cfa2 */
  FLAM_UNWIND_RULE_SIGNAL = 1 << 1, /* the caller was interrupted */
  FLAM_UNWIND_RULE_SCAN = 1 << 2,   /* derived from the instructions: a guess */
};

/* Stack realignment (DRAP), signal frames, large or odd frames. A scanned rule
 * is valid only if `least` <= CFA - rsp < `least` + 2^align: this is all that
 * is known about a frame whose size depends on the alignment of the caller's.
 * The register in such a rule may be one that calls usually overwrite, since
 * assembler code calls its own functions, which preserve it. */
typedef struct
{
  uint8_t flags;
  uint8_t cfa_reg; /* DWARF numbers */
  uint8_t ra_where;
  uint8_t ra_reg;
  uint8_t bp_where;
  uint8_t bp_reg;
  uint8_t align; /* log2 */
  uint8_t unused;
  int32_t cfa; /* CFA = reg + cfa */
  int32_t cfa2;
  int32_t ra;
  int32_t bp;
  int32_t least;
} FlamUnwindRule;

#define FLAM_UNWIND_MAGIC 0x57554c46u /* "FLUW" */
#define FLAM_UNWIND_VERSION 2

typedef struct _FlamUnwindTable
{
  uint32_t magic;
  uint16_t version;
  uint16_t machine; /* FLAM_UNWIND_ELF_MACHINE */
  uint64_t size;    /* of the whole block */
  uint32_t n_rows;
  uint32_t n_rules;
  uint32_t n_index;
  uint32_t shift;
  uint32_t first; /* pc of the first row */
  uint32_t end;   /* one past the last byte covered */
  uint32_t n_fdes;
  uint32_t n_skipped; /* FDEs left out: bad, or not supported */
} FlamUnwindTable;

/* The known registers of one frame. Set pc, sp, bp; leave the rest 0. */
typedef struct
{
  uint64_t pc;
  uint64_t sp;
  uint64_t bp;
  uint64_t bx;          /* meaning defined by bx_state */
  const uint64_t *all;  /* all registers by DWARF number, or NULL: only for the
                           leaf, for code that keeps its frame elsewhere */
  const uint64_t *leaf; /* of callers: the leaf's registers, only for scanned
                           rules, which check them */
  bool bp_unknown;
  bool sp_unknown;  /* sp is only a lower bound (AArch64) */
  uint8_t bx_state; /* 0 unknown, 1 bx is the value, 2 bx is its address */
  bool caller;      /* pc is a return address: look up pc - 1 */
} FlamUnwindRegs;

/* Memory of the stopped or sampled thread. */
typedef struct
{
  const void *copy; /* `size` bytes of its stack from address `base` on */
  uint64_t base;
  uint64_t size;
  /* For addresses outside the copy; may be NULL. False: not readable. */
  bool (*read) (void *data, uint64_t address, uint64_t *value);
  void *data;
} FlamUnwindMemory;

/* Why a step or a walk ended. */
typedef enum
{
  FLAM_UNWIND_OK,        /* a step: there is a caller */
  FLAM_UNWIND_ROOT,      /* the outermost frame was reached */
  FLAM_UNWIND_TRUNCATED, /* the copied stack ends before the root */
  FLAM_UNWIND_BAD,       /* inconsistent data, or no code */
  FLAM_UNWIND_LIMIT,     /* more frames than fit */
  FLAM_UNWIND_NEEDS_BP,  /* bp_unknown, and the next step needs registers */
  FLAM_UNWIND_HANDMADE,  /* the root, unless the map of code is outdated */
} FlamUnwindEnd;

static inline const FlamUnwindRow *
flam_unwind_table_rows (const FlamUnwindTable *table)
{
  return (const FlamUnwindRow *)(table + 1);
}

static inline const FlamUnwindRule *
flam_unwind_table_rules (const FlamUnwindTable *table)
{
  return (const FlamUnwindRule *)(flam_unwind_table_rows (table) +
                                  table->n_rows);
}

static inline const uint32_t *
flam_unwind_table_index (const FlamUnwindTable *table)
{
  return (const uint32_t *)(flam_unwind_table_rules (table) + table->n_rules);
}

/* Whether a row was derived from the instructions. */
static inline bool
flam_unwind_is_guess (const FlamUnwindRow *row, const FlamUnwindRule *rules)
{
  unsigned kind = row->how & 7;

  return kind == FLAM_UNWIND_KIND_SCAN ||
         (kind == FLAM_UNWIND_KIND_RULE &&
          (rules[row->cfa].flags & FLAM_UNWIND_RULE_SCAN));
}

/* The row for a file offset; NULL if the table does not cover it. */
static inline const FlamUnwindRow *
flam_unwind_table_find (const FlamUnwindTable *table, uint64_t offset)
{
  const FlamUnwindRow *rows = flam_unwind_table_rows (table);
  const uint32_t *index = flam_unwind_table_index (table);
  uint32_t bucket, low, high;

  if (offset < table->first || offset >= table->end)
    return NULL;
  bucket = (uint32_t)(offset - table->first) >> table->shift;
  low = index[bucket];
  high = index[bucket + 1] + 1;
  while (high - low > 1)
    {
      uint32_t middle = low + (high - low) / 2;
      if (rows[middle].pc <= offset)
        low = middle;
      else
        high = middle;
    }
  return &rows[low];
}

/* One step: `regs` becomes the caller's. `row` NULL: frame pointer. `rules` are
 * those of the row's table. On any result but FLAM_UNWIND_OK regs keeps its pc.
 * A return address of 0 is the root. */
FlamUnwindEnd flam_unwind_step (const FlamUnwindRow *row,
                                const FlamUnwindRule *rules,
                                const FlamUnwindMemory *memory,
                                FlamUnwindRegs *regs);

/* Epilogues pop registers without CFI for it: a slot below the stack pointer
 * was popped, and its value is in the register again. */
static inline bool
flam_unwind_was_popped (const FlamUnwindRegs *regs, uint64_t slot)
{
  return slot < regs->sp;
}

#include "flam-unwind-machine.h"

/* The same for the common case: a frame of fixed size, completely in the copy,
 * frame pointer known. False: nothing was done; flam_unwind_step() must be
 * used. */
static inline bool
flam_unwind_step_plain (const FlamUnwindRow *row,
                        const FlamUnwindMemory *memory,
                        FlamUnwindRegs *regs)
{
  bool by_bp = (row->how & 7) == FLAM_UNWIND_KIND_BP;
  uint64_t frame = by_bp ? regs->bp : regs->sp;
  uint64_t cfa = frame + 8 * (uint64_t)row->cfa;
  uint64_t slot = cfa - 8 * (uint64_t)row->bp;
  uint64_t at = flam_unwind_return_slot (row, cfa);
  const char *top;
  uint64_t ra;

  if ((!by_bp && (row->how & 7) != FLAM_UNWIND_KIND_SP) ||
      !flam_unwind_is_certain (regs) || cfa <= regs->sp ||
      regs->sp < memory->base || at < memory->base ||
      cfa - memory->base > memory->size)
    return false;
  top = (const char *)memory->copy + (cfa - memory->base);
  memcpy (&ra, top - (cfa - at), 8);
  if (ra == 0)
    return false;
  if (row->bp && !flam_unwind_was_popped (regs, slot))
    memcpy (&regs->bp, top - 8 * (size_t)row->bp, 8);
  flam_unwind_step_bx (row, cfa, regs);
  regs->pc = flam_unwind_strip (ra);
  regs->sp = cfa;
  regs->caller = true;
  return true;
}

/* Why a walk ends at a frame (its row, and whether it has called another
 * function) whose return address is not in code.
 *
 * On a manually constructed stack (makecontext, coroutines), the first frame
 * "returns" to the first byte of a function that was never called; the byte
 * before, at which callers are looked up, is the end of another one: its CFA is
 * 8 above the stack pointer, and the supposed return address is undefined.
 * After a call that is rare, as the stack must be aligned to 16 there; but a
 * compiler omits the alignment if the callee does not depend on it (gcc's
 * -fipa-stack-alignment). Then the return address is valid, and the map is
 * outdated: before such a root is accepted, the map must be as recent as the
 * stack. */
static inline FlamUnwindEnd
flam_unwind_end_outside (const FlamUnwindRow *row, bool caller)
{
  return caller && flam_unwind_is_handmade (row) ? FLAM_UNWIND_HANDMADE
                                                 : FLAM_UNWIND_BAD;
}

/* For a map that is known to be recent enough. */
static inline bool
flam_unwind_is_root (FlamUnwindEnd end)
{
  return end == FLAM_UNWIND_ROOT || end == FLAM_UNWIND_HANDMADE;
}

/* --- building (malloc; not for signal handlers) --------------------------
 */

/* The properties of an ELF image, by address. */
typedef struct
{
  uint64_t vaddr;
  uint64_t offset;
  uint64_t size;
  const uint8_t *code; /* its `size` bytes; NULL: not readable */
} FlamUnwindSegment;

typedef struct
{
  const void *data; /* NULL: absent */
  size_t size;
  uint64_t vaddr;
} FlamUnwindSection;

typedef struct
{
  const FlamUnwindSegment *segments; /* executable PT_LOADs: file's extent */
  unsigned n_segments;
  FlamUnwindSection eh_frame;
  FlamUnwindSection debug_frame; /* for code that eh_frame does not cover */
  FlamUnwindSection go_table;    /* likewise, if there is no debug_frame */
  FlamUnwindSection symbols;     /* .symtab, else .dynsym */
  uint64_t text_vaddr;           /* base of DW_EH_PE_textrel; mostly 0 */
  uint64_t data_vaddr;           /* of DW_EH_PE_datarel; mostly 0 */
} FlamUnwindSections;

/* NULL with a static message if there is nothing to compile or no memory.
 * Hostile bytes cost time and memory in proportion to their size. Free with
 * flam_unwind_table_free() (a plain free()). */
FlamUnwindTable *flam_unwind_table_new (const FlamUnwindSections *sections,
                                        const char **why);
/* From the bytes of a whole ELF file (a mapping of it). */
FlamUnwindTable *
flam_unwind_table_new_file (const void *file, size_t size, const char **why);
/* From a loaded image: the vdso's bytes, or a module of this process. `image`
 * is the start of the lowest PT_LOAD, `size` the number of bytes that are
 * readable from there. */
FlamUnwindTable *
flam_unwind_table_new_memory (const void *image, size_t size, const char **why);
void flam_unwind_table_free (FlamUnwindTable *table);

#endif
