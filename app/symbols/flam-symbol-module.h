/* SPDX-License-Identifier: GPL-3.0-or-later */
#ifndef FLAM_SYMBOL_MODULE_H
#define FLAM_SYMBOL_MODULE_H

/* One binary or library, prepared for look-ups by address.
 *
 *   address ──▶ FlamSymbolTable ──▶ the physical function, as linked
 *          └──▶ FlamDwarfIndex ──▶ inlined functions, files and lines
 *                                     │
 *   chain, outermost first:   compute      nest.c:20
 *                             spin_light   nest.c:13   (the call of mix2)
 *                             mix2         nest.c:10   (the call of mix1)
 *                             mix1         nest.c:9    (the address itself)
 *
 * The physical function's name is that of the symbol table (only that has
 * "foo.part.0" and functions in assembler); DWARF's if there is no symbol. A
 * function without any name is called by its address, "nginx+0x3f2a0", and is
 * of the kind UNRESOLVED: symbols that are found later replace that name.
 * Opening is cheap: the symbol table is read at the first look-up, a
 * compilation unit's DWARF at the first address in it.
 *
 * A module is used by one thread at a time; its strings live as long as it. */

#include "flam-elf.h"
#include "flam-symbol-table.h"

typedef struct _FlamSymbolModule FlamSymbolModule;

typedef enum
{
  FLAM_SYMBOL_DETAIL_FULL,   /* names, inlined functions, files and lines */
  FLAM_SYMBOL_DETAIL_SYMTAB, /* names only: fast */
  /* Everything for files that may be removed later; only names if the rest is
   * in a package's debug file, which can be found by build id when it is
   * needed. */
  FLAM_SYMBOL_DETAIL_LASTING,
} FlamSymbolDetail;

typedef struct
{
  const char *name;        /* demangled, as shown */
  const char *system_name; /* as linked; the same pointer if it is equal */
  const char *file;        /* the file of the definition, or "" */
  guint32 first_line;      /* the first line of the definition, or 0 */
  const char *line_file;   /* the file of `line`; NULL: `file` */
  guint32 line;            /* of this address; 0: unknown */
  guint flags;             /* FlamFunctionFlags: of an interpreter's own code */
} FlamSymbolFrame;

/* Valid until the next look-up in the same module. */
typedef struct
{
  guint n;                       /* 0: nothing found */
  const FlamSymbolFrame *frames; /* outermost first */
  FlamSymbolState state;         /* the source of the answer */
  FlamFunctionKind kind;
  guint64 since; /* when generated code was written, CLOCK_MONOTONIC; or 0 */
  guint flags;   /* FlamFunctionFlags of an unnamed function (n is 0) */
} FlamSymbolChain;

typedef struct
{
  const char *build_id; /* lower-case hex that the file must have; NULL or ""
                           takes any */
  const char *const *debug_directories; /* NULL-terminated, or NULL */
  const char *debug_path; /* a separate debug file to use before looking for
                             one, or NULL; its build id must be the binary's */
  FlamSymbolDetail detail;
  const char
      *name; /* the path or name in the capture; NULL: that of the file */
} FlamSymbolModuleOptions;

/* FLAM_ERROR_SYSTEM: cannot be read. FLAM_ERROR_INVALID: not ELF, or another
 * build ("build id differs: ..."). `options` may be NULL. */
FlamSymbolModule *flam_symbol_module_open (
    const char *path, const FlamSymbolModuleOptions *options, GError **error);
/* An image in memory, such as the vdso. */
FlamSymbolModule *flam_symbol_module_new_from_data (const char *name,
                                                    const void *data,
                                                    gsize size);
void flam_symbol_module_free (FlamSymbolModule *module);
G_DEFINE_AUTOPTR_CLEANUP_FUNC (FlamSymbolModule, flam_symbol_module_free)

const FlamElf *flam_symbol_module_get_elf (const FlamSymbolModule *module);
/* The function that contains `vaddr`, by its symbol or its call frame
 * information; `end` is exclusive. FALSE: neither bounds it. */
gboolean flam_symbol_module_find_bounds (FlamSymbolModule *module,
                                         guint64 vaddr,
                                         guint64 *start,
                                         guint64 *end);
/* The best data of this module: DWARF, SYMTAB, or NONE. */
FlamSymbolState flam_symbol_module_get_state (FlamSymbolModule *module);
/* The missing data, for users: "no symbol table", "no debug information ...";
 * "" if nothing is missing. Split debug information is only known to be missing
 * after a search for it, so call this after the look-ups. */
const char *flam_symbol_module_get_why (FlamSymbolModule *module);

/* `vaddr`: the file's own address. FALSE (and n = 0) if nothing was found: the
 * chain's flags then tell whether the binary is an interpreter's. */
gboolean flam_symbol_module_lookup (FlamSymbolModule *module,
                                    guint64 vaddr,
                                    FlamSymbolChain *chain);
/* `offset`: ip - mapping's start + mapping's offset. */
gboolean flam_symbol_module_lookup_offset (FlamSymbolModule *module,
                                           guint64 offset,
                                           FlamSymbolChain *chain);

#endif
