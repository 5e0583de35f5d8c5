/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_GO_TABLE_H
#define FLAM_GO_TABLE_H

/* The table of functions in every Go program, which its runtime needs for
 * tracebacks. It stays when the symbols and DWARF are removed (go build
 * -ldflags="-s -w", strip), as in most Go programs that people install.
 *
 *   .gopclntab   ┌────────┬───────┬───────┬───────┬───────────┬───────────┐
 *                │ header │ names │ units │ files │ pc tables │ functions │
 *                └────────┴───────┴───────┴───────┴───────────┴───────────┘
 *   functions:     entry ──▶ record: name, pc table of files, pc table of lines
 *   pc table:      (change of the value, length of the code) ..., from the
 * entry units:         of each compilation unit, number of a file ──▶ its path
 *
 * Lines are those of the innermost inlined function. A tree in .rodata
 * identifies it (flam-go-inlined.c); if that is not found, the line is shown in
 * the function that contains it.
 *
 * Supported are the layouts of Go 1.2, 1.16, 1.18 and 1.20, with 32 and 64 bits
 * and either byte order. Sources: "Go 1.2 Runtime Symbol Information"
 * (go.dev/s/go12symtab) and the types pcHeader and _func of Go's runtime. */

#include "flam-elf.h"

typedef struct _FlamGoTable FlamGoTable;

typedef struct
{
  guint64 start; /* vaddr */
  guint64 end;
  const char *name;
} FlamGoFunction;

typedef struct
{
  const char *name;
  const char *file;      /* of the definition, or NULL */
  guint32 first_line;    /* of the definition (Go 1.20); 0: unknown */
  const char *line_file; /* never NULL */
  guint32 line;
} FlamGoFrame;

/* If more functions are inlined into one another, the outer ones are left
 * out. */
#define FLAM_GO_FRAMES_MAX 32

/* NULL if there is no such table, or it is damaged, or the address to which its
 * entries are relative is unknown. `elf` must outlive it: names and paths point
 * into the file. */
FlamGoTable *flam_go_table_new (const FlamElf *elf);
void flam_go_table_free (FlamGoTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamGoTable, flam_go_table_free)

/* Ascending by start; they do not overlap. */
const FlamGoFunction *flam_go_table_get (const FlamGoTable *table, guint32 *n);
/* The function at `vaddr` and what is inlined there, innermost first; returns
 * how many, 0 if `vaddr` is in no function or its line is not known. */
guint flam_go_table_look_up (const FlamGoTable *table,
                             guint64 vaddr,
                             FlamGoFrame frames[FLAM_GO_FRAMES_MAX]);
/* Whether inlined functions are known (Go 1.18, 64 bits). */
gboolean flam_go_table_has_inlined (const FlamGoTable *table);

#endif
