/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GO_PRIVATE_H
#define FLAM_GO_PRIVATE_H

/* Shared by the files that read Go's table of functions. Offsets are checked
 * when something is read at them. */

#include "flam-go-table.h"

typedef enum
{
  FLAM_GO_1_2,
  FLAM_GO_1_16,
  FLAM_GO_1_18, /* entries are relative to the text, in 4 bytes */
  FLAM_GO_1_20, /* the record contains the line of the definition */
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
  guint word_size; /* size of a pointer: 4 or 8 */
  guint64 text;    /* the base of entries, or 0 */
  /* Offsets in `data`. */
  guint64 names, units, files, pc_tables, entries, records;
  guint64 n_entries;
  FlamGoFunction *functions;
  guint64 *record; /* for each function: offset in `data` */
  guint32 n;
  guint64 calls; /* vaddr of all trees of inlined functions; 0: unknown */
};

/* Indices of 4-byte fields in a record, counted from the end of its entry. */
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
  guint32 parent;     /* offset of the call's position in the function */
} FlamGoCall;

/* Numbers in the table; FALSE: outside the table. */
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
/* The first of the dynamic linker's relocations for which `test` is TRUE. */
typedef gboolean (*FlamGoRelocationTest) (const GElf_Rela *relocation,
                                          gpointer user_data);
gboolean flam_go_seek_relocation (const FlamElf *elf,
                                  FlamGoRelocationTest test,
                                  gpointer user_data,
                                  GElf_Rela *found);
/* The value to which the dynamic linker adds the load address and which it
 * writes to `vaddr`, in position-independent programs; 0: none. */
guint64 flam_go_find_relocation (const FlamElf *elf, guint64 vaddr);

/* The value of a pc table `offset` bytes into the function. */
gboolean flam_go_find_value (const FlamGoTable *table,
                             guint32 pc_table,
                             guint64 offset,
                             guint32 *value);

/* Sets `calls`. */
void flam_go_find_calls (FlamGoTable *table);
/* The innermost inlined function `offset` bytes into the function. */
gboolean flam_go_find_call (const FlamGoTable *table,
                            guint64 record,
                            guint64 offset,
                            FlamGoCall *call);

#endif
