/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SYMBOL_TABLE_H
#define FLAM_SYMBOL_TABLE_H

/* All functions in a module's symbol tables, sorted once.
 *
 *   .symtab of the file or of its separate debug file, else
 *   .dynsym + MiniDebugInfo (.gnu_debugdata: an xz-packed ELF with the rest)
 *           + Go's table of functions,
 *   + "name@plt" for the procedure linkage table
 *
 * Of several names for one address the same one is chosen as by perf: one with
 * a size before one without, strong before weak, global before local, fewer
 * leading underscores, the longer name, the first in the file. A symbol without
 * a size reaches to the next symbol or to the end of its section, unless it is
 * inside one that has a size: then it is a label, not a function. In .dynsym
 * alone, where most functions have no symbol, it ends with its own code, at a
 * return before padding (x86).
 *
 * Names point into the ELF files, which must outlive the table. */

#include "flam-elf.h"
#include "flam-go-table.h"
#include "flam-intervals.h"

typedef struct
{
  guint64 start; /* vaddr */
  guint64 end;
  const char *name; /* as linked, perhaps with "@VERSION"; or "name@plt" */
} FlamSymbol;

typedef struct _FlamSymbolTable FlamSymbolTable;

/* `debug` is the separate debug file, or NULL. Never fails; a module without
 * symbols gives an empty table. */
FlamSymbolTable *flam_symbol_table_new (const FlamElf *elf,
                                        const FlamElf *debug);
/* Go's table, or NULL: it is read only if there is no .symtab. */
const FlamGoTable *flam_symbol_table_get_go (const FlamSymbolTable *table);
/* Whether it only has names of exported functions. */
gboolean flam_symbol_table_is_stripped (const FlamSymbolTable *table);
void flam_symbol_table_free (FlamSymbolTable *table);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSymbolTable, flam_symbol_table_free)

/* NULL if no symbol covers `vaddr`. */
const FlamSymbol *flam_symbol_table_find (const FlamSymbolTable *table,
                                          guint64 vaddr);
/* Ascending by start, one per address; for tests and for annotating. */
const FlamSymbol *flam_symbol_table_get (const FlamSymbolTable *table,
                                         guint32 *n);
/* Calls `func` for the defined symbols of .dynsym, then of .symtab, until it
 * returns TRUE; whether it did. */
typedef gboolean (*FlamElfSymbolFunc) (gpointer data,
                                       const char *name,
                                       const GElf_Sym *symbol);
gboolean flam_elf_foreach_symbol (const FlamElf *elf,
                                  FlamElfSymbolFunc func,
                                  gpointer data);
/* The address of the function or object of this name (.symtab or .dynsym of
 * `elf`), such as "_PyRuntime". */
gboolean flam_elf_find_symbol (const FlamElf *elf,
                               const char *name,
                               guint64 *vaddr,
                               guint64 *size);

#endif
