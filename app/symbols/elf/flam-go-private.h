/* SPDX-License-Identifier: GPL-3.0-or-later */
#pragma once

/* What the files that read Go's table of functions share. Offsets are
 * bounded when something is read at them. */

#include "flam-go-table.h"

typedef enum
{
  FLAM_GO_1_2,
  FLAM_GO_1_16,
  FLAM_GO_1_18, /* entries are relative to the text, in 4 bytes */
  FLAM_GO_1_20, /* the record has the line of the definition */
} FlamGoLayout;

struct _FlamGoTable
{
  const FlamElf *elf;
  const guint8 *data;
  gsize size;
  guint64 vaddr; /* of data[0] */
  FlamGoLayout layout;
  gboolean big_endian;
  guint quantum;   /* the unit of lengths in pc tables */
  guint word_size; /* of a pointer: 4 or 8 */
  guint64 text;    /* entries are relative to it, or 0 */
  /* Offsets in `data`. */
  guint64 names, units, files, pc_tables, entries, records;
  guint64 n_entries;
  FlamGoFunction *functions;
  guint64 *record; /* of each function: offset in `data` */
  guint32 n;
  guint64 calls; /* vaddr of all trees of inlined functions; 0: unknown */
};

/* Numbers of 4 bytes in a record, counted from behind its entry. */
enum
{
  FLAM_GO_FIELD_NAME = 0,
  FLAM_GO_FIELD_PC_FILES = 4,
  FLAM_GO_FIELD_PC_LINES = 5,
  FLAM_GO_FIELD_N_PC_TABLES = 6,
  FLAM_GO_FIELD_UNIT = 7,       /* from 1.16 on */
  FLAM_GO_FIELD_FIRST_LINE = 8, /* from 1.20 on */
};

/* An inlined function. */
typedef struct
{
  const char *name;
  guint32 first_line; /* 0: unknown */
  guint32 parent;     /* offset, in the function, of the call's position */
} FlamGoCall;

/* Numbers in the table itself; FALSE: not in it. */
gboolean
flam_go_read_u32 (const FlamGoTable *table, guint64 at, guint32 *value);
gboolean
flam_go_read_word (const FlamGoTable *table, guint64 at, guint64 *value);
/* NULL: no text ends there. */
const char *flam_go_read_text (const FlamGoTable *table, guint64 at);
guint flam_go_entry_size (const FlamGoTable *table);
gboolean flam_go_read_field (const FlamGoTable *table,
                             guint64 record,
                             guint field,
                             guint32 *value);
/* The first of the dynamic linker's relocations of which `test` is TRUE. */
typedef gboolean (*FlamGoRelocationTest) (const GElf_Rela *relocation,
                                          gpointer user_data);
gboolean flam_go_seek_relocation (const FlamElf *elf,
                                  FlamGoRelocationTest test,
                                  gpointer user_data,
                                  GElf_Rela *found);
/* What the dynamic linker adds the load address to and writes to `vaddr`, in
 * programs that may be loaded anywhere; 0: nothing. */
guint64 flam_go_find_relocation (const FlamElf *elf, guint64 vaddr);

/* The value of a pc table `offset` bytes into the function. */
gboolean flam_go_find_value (const FlamGoTable *table,
                             guint32 pc_table,
                             guint64 offset,
                             guint32 *value);

/* Sets `calls`. */
void flam_go_find_calls (FlamGoTable *table);
/* The innermost function that is inlined `offset` bytes into the function. */
gboolean flam_go_find_call (const FlamGoTable *table,
                            guint64 record,
                            guint64 offset,
                            FlamGoCall *call);
