/* SPDX-License-Identifier: LGPL-2.1-or-later */
#ifndef FLAM_RUNTIME_MEMORY_H
#define FLAM_RUNTIME_MEMORY_H

/* The input of the readers of runtimes, and the frames they find. Plain C
 * without GLib.
 *
 * A reader finds the functions of an interpreted or compiled-at-run-time
 * language in the memory of another process. It reads that memory only through
 * `read`, and any byte of it may be wrong: the process may be in the middle of
 * a change, or hostile. With any content a reader terminates, after a number of
 * steps that does not depend on the memory, and stays within its buffers. */

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

/* The memory of a process. False: not readable; `to` may then have been
 * written in part. */
typedef struct
{
  bool (*read) (void *data, uint64_t address, void *to, size_t size);
  void *data;
} FlamRuntimeMemory;

static inline bool
flam_runtime_read (const FlamRuntimeMemory *memory,
                   uint64_t address,
                   void *to,
                   size_t size)
{
  return memory->read (memory->data, address, to, size);
}

static inline bool
flam_runtime_read_u64 (const FlamRuntimeMemory *memory,
                       uint64_t address,
                       uint64_t *value)
{
  return memory->read (memory->data, address, value, sizeof *value);
}

static inline bool
flam_runtime_read_u32 (const FlamRuntimeMemory *memory,
                       uint64_t address,
                       uint32_t *value)
{
  return memory->read (memory->data, address, value, sizeof *value);
}

static inline bool
flam_runtime_read_u16 (const FlamRuntimeMemory *memory,
                       uint64_t address,
                       uint16_t *value)
{
  return memory->read (memory->data, address, value, sizeof *value);
}

static inline bool
flam_runtime_read_u8 (const FlamRuntimeMemory *memory,
                      uint64_t address,
                      uint8_t *value)
{
  return memory->read (memory->data, address, value, sizeof *value);
}

/* A number at an offset, aligned or not, of bytes that were read. */
static inline uint64_t
flam_runtime_u64 (const uint8_t *bytes, size_t offset)
{
  uint64_t value;

  memcpy (&value, bytes + offset, sizeof value);
  return value;
}

static inline uint32_t
flam_runtime_u32 (const uint8_t *bytes, size_t offset)
{
  uint32_t value;

  memcpy (&value, bytes + offset, sizeof value);
  return value;
}

/* The general registers by DWARF number (System V ABI, AMD64 supplement,
 * figure 3.36). */
enum
{
  FLAM_RUNTIME_RAX,
  FLAM_RUNTIME_RDX,
  FLAM_RUNTIME_RCX,
  FLAM_RUNTIME_RBX,
  FLAM_RUNTIME_RSI,
  FLAM_RUNTIME_RDI,
  FLAM_RUNTIME_RBP,
  FLAM_RUNTIME_RSP,
  FLAM_RUNTIME_R8,
  FLAM_RUNTIME_R9,
  FLAM_RUNTIME_R10,
  FLAM_RUNTIME_R11,
  FLAM_RUNTIME_R12,
  FLAM_RUNTIME_R13,
  FLAM_RUNTIME_R14,
  FLAM_RUNTIME_R15,
  FLAM_RUNTIME_N_REGS
};

/* The registers in a frame. At a stop all are known. For a thread that sleeps
 * and was not stopped, only rsp is; in the caller of another frame, rsp and
 * mostly rbp. */
typedef struct
{
  uint64_t general[FLAM_RUNTIME_N_REGS];
  uint64_t pc;
  uint64_t fs_base; /* the thread pointer; 0: unknown */
  uint64_t entry;   /* for `step`: the address of the first entry of the row's
                     * chain that is not below rsp; 0: none */
  uint32_t known;   /* 1 << register; an unknown register is 0 */
  bool leaf;        /* the innermost frame; else `pc` is a return address */
} FlamRuntimeRegs;

static inline bool
flam_runtime_knows (const FlamRuntimeRegs *regs, unsigned reg)
{
  return regs->known >> reg & 1;
}

/* A frame of a runtime, or an entry.
 *
 *   native stack                    a chain, innermost frame first
 *   ┌───────────────────────────┐
 *   │ a function in C           │   key   ◀─┐
 *   │ the interpreter's loop    │ ◀───────── entry
 *   │ a function in C           │   rank  ◀┐
 *   │ the interpreter's loop    │   main   │
 *   │ main                      │ ◀──────── entry
 *   └───────────────────────────┘
 *
 * An entry closes the frames since the one before: all of them ran in a single
 * native frame, whose place they take. `at` of an entry is any address within
 * that native frame, from its stack pointer up to that of its caller. Without
 * one (0), it is the next frame, from the leaf to the root, whose pc lies in
 * FlamRuntimeFile.evaluators. A chain that could not be followed to its end has
 * no entry at its end. */
typedef struct
{
  uint64_t function; /* the reader's key, such as an address; 0: an entry */
  uint64_t at;       /* a position within the function, in the reader's terms */
  uint64_t cookie;   /* the reader's: differs if another function has replaced
                      * the one with the same key; 0 if not used */
} FlamRuntimeEntry;

#endif
