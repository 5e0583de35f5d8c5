/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_RUBY_H
#define FLAM_RUBY_H

/* Ruby's call stack (CRuby, 2.6 to 3.4), read from outside.
 *
 *   ruby_current_ec (thread-local) ─▶ execution context ─▶ its stack:
 *
 *     low  ┌─────────────────────────┐
 *          │ values, environments    │
 *          ├─────────────────────────┤ ◀─ cfp
 *          │ control frame, a block  │   FINISH: the entry of a run of
 *          ├─────────────────────────┤           rb_vm_exec()
 *          │ Array#each, a cfunc     │   no iseq: its method entry is in the
 *          ├─────────────────────────┤           environment
 *          │ control frame, a method │
 *          ├─────────────────────────┤
 *          │ main, FINISH            │
 *          ├─────────────────────────┤
 *          │ two more, unused        │
 *     high └─────────────────────────┘
 *
 * A function written in C has a control frame, too; the native frames of that
 * function are between the runs.
 *
 * Sources: CRuby's vm_core.h, iseq.h, iseq.c (succ_index_lookup()), method.h,
 * symbol.c, id.h, include/ruby/internal/core/rstring.h of these versions. 3.1
 * and 3.3 were checked against a running Ruby, the other layouts are from the
 * headers.
 */

#include "flam-runtime-file.h"
#include "flam-runtime-memory.h"
#include "flam-runtime-name.h"
#include "flam-thread-data.h"

/* Offsets in bytes, 0: absent. */
typedef struct
{
  guint32 version; /* 0x0301 for 3.1 */
  guint16 frame_size;
  guint16 body_lines; /* insn_info.body, .size, .succ_index_table */
  guint16 body_n_lines;
  guint16 body_index;
  guint16 line_size;
  guint16 string_embedded;   /* data in an embedded RString */
  guint16 ractor_context;    /* running_ec */
  bool first_line_is_object; /* a VALUE in location; later a number elsewhere */
  guint16 last_operator;     /* tLAST_OP_ID */
  guint16 class_variables;   /* in a class's extension: of its variables */
  guint16 class_path;        /* from the class on; later than the variables */
  guint16 class_attached;    /* likewise, the object of a singleton class */
} FlamRubyLayout;

/* The type of FlamRuntimeFile.facts. Its addresses are those of the ELF file.
 */
typedef struct
{
  FlamRubyLayout layout;
  FlamThreadVariable context; /* ruby_current_ec */
  guint64 global_context;     /* else ruby_current_execution_context_ptr, 2.7 */
  guint64 main_ractor;        /* else ruby_single_main_ractor */
  guint64 symbols;            /* ruby_global_symbols, 0: unknown */
} FlamRubyFile;

/* The classes of a process's methods, found when a function is first seen: its
 * frame leads to its method, the function itself does not. */
typedef struct _FlamRubyOwners FlamRubyOwners;

/* g_free() frees it. */
FlamRubyOwners *flam_ruby_owners_new (void);

gboolean flam_ruby_find (const FlamElf *elf,
                         int fd,
                         const char *path,
                         FlamRuntimeFile *file);
/* NULL: this version is not supported. */
const FlamRubyLayout *flam_ruby_layout (guint32 version);

/* The frames of a thread, innermost first, each run closed by an entry without
 * an address. */
gsize flam_ruby_walk (const FlamRubyFile *ruby,
                      FlamRubyOwners *owners,
                      const FlamRuntimeMemory *memory,
                      guint64 base,
                      guint64 fs_base,
                      FlamRuntimeEntry *entries,
                      gsize limit);
/* Lines are pairs, see flam-runtime-lines.h. */
gboolean flam_ruby_name (const FlamRubyFile *ruby,
                         const FlamRubyOwners *owners,
                         const FlamRuntimeMemory *memory,
                         guint64 base,
                         const FlamRuntimeEntry *entry,
                         FlamRuntimeName *name);
/* succ_index_lookup(): the number of line entries up to `position`, by the
 * `size` bytes of an index; 0: none, or it lies outside. */
guint32
flam_ruby_index_rank (const guint8 *index, gsize size, guint32 position);

#endif
