/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_THREAD_DATA_H
#define FLAM_THREAD_DATA_H

/* A thread's own data in another process: thread-local variables and values by
 * key, with glibc.
 *
 *   fs_base ─▶ ┌────────────────────┐ struct pthread
 *              │ + 8: the DTV ──────┼──▶ 16 bytes per module: its block
 *              │ + 0x310: 32 values │    of pthread_setspecific(), 16 bytes
 * each: │          by key    │    the value is the second word │ + 0x510:
 * tables of │ │          32 more   │ └────────────────────┘
 *
 * Sources: ELF Handling For Thread-Local Storage (Ulrich Drepper), sections 3.4
 * and 4.4; glibc's nptl/descr.h and sysdeps/x86_64/nptl/tls.h, 2.2 on. */

#include "flam-elf.h"
#include "flam-runtime-memory.h"

typedef enum
{
  FLAM_THREAD_VARIABLE_NONE,
  FLAM_THREAD_VARIABLE_FIXED,  /* at fs_base + offset */
  FLAM_THREAD_VARIABLE_MODULE, /* in the block of the module whose number is in
                                  the word at `slot` */
  FLAM_THREAD_VARIABLE_OFFSET, /* at fs_base + the word at `slot` */
} FlamThreadVariableKind;

typedef struct
{
  FlamThreadVariableKind kind;
  guint64 slot; /* address as in the file */
  gint64 offset;
} FlamThreadVariable;

/* The thread-local variable of this name. In a stripped library it may have no
 * symbol: then `getter`, an exported function that returns its value, is
 * read (may be NULL). FALSE: not found. */
gboolean flam_thread_variable_find (const FlamElf *elf,
                                    const char *name,
                                    const char *getter,
                                    FlamThreadVariable *variable);
/* The thread-local data of a library that only the library itself refers to,
 * `offset` bytes from its start on. FALSE: not found. */
gboolean flam_thread_variable_local (const FlamElf *elf,
                                     guint64 offset,
                                     FlamThreadVariable *variable);
/* The address of the variable in a thread. `base` as in FlamRuntimeProcess. */
bool flam_thread_variable_address (const FlamThreadVariable *variable,
                                   const FlamRuntimeMemory *memory,
                                   uint64_t base,
                                   uint64_t fs_base,
                                   uint64_t *address);
/* pthread_getspecific(). */
bool flam_thread_value (const FlamRuntimeMemory *memory,
                        uint64_t fs_base,
                        uint32_t key,
                        uint64_t *value);

#endif
